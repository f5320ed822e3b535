"""SUN: message passing in every node's subgraph with weights of their own for roots, and six further exchanges.

Frasca et al., Understanding and Extending Subgraph GNNs by Rethinking their Symmetries, NeurIPS 2022.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from escgnn.bags import MAX_ROWS, Bag
from escgnn.layers import NORMS, perceptron
from escgnn.models.convs import CopyGINE
from escgnn.models.on_policy import OnPolicy

SUMS = ("sum", "mean", "none")


class SUN(OnPolicy):
    r"""Subgraph union network: the row of node v in the subgraph of node k, :math:`x^k_v`, hears from all that is near it.

    With :math:`p^k = \sum_w x^k_w`, the whole subgraph, and :math:`y_v`, the mean of the copies of v: for :math:`v \ne k`

    .. math::
        x'^k_v = \mathrm{ReLU}\big( U_1 x^k_v + U_2 x^v_v + U_3 x^k_k + U_4 p^k + G_1(x^k, A^k)_v + G_2(y, A)_v \big),

    and for roots :math:`x'^k_k = \mathrm{ReLU}(U_6 x^k_k + U_7 p^k + G_3(x^k, A^k)_k + G_4(y, A)_k)`, where U are
    perceptrons and G are GINE, each with a norm behind it, over what it is read for. As roots have weights of their own, even
    whole graphs without a mark (``null``) are more than plain message passing, other than in `DSSGNN`.

    Args:
        out_channels: Numbers to predict for every graph, node or edge.
        policy: ``"null"``, ``"NM"``, ``"EGO"`` or ``"EGO+"``; see `escgnn.bags.policy_bag`. The last two read what
            `escgnn.transforms.PolicyBags` cuts.
        node_features: What ``x`` holds, as for `FeatureEncoder`.
        edge_features: What ``edge_attr`` holds, likewise; every convolution has its own encoder.
        level: ``"graph"``, ``"node"`` or ``"edge"``; see `OnPolicy`.
        hidden: Size of all vectors.
        layers: Number of rounds.
        norm: ``"batch"``, ``"layer"`` or ``"none"``; over copies, so that large graphs weigh more.
        dropout: Share of values dropped after every round.
        residual: Whether a round is added to the one before; the authors do so for ogbg-molhiv.
        linear: Whether U are linear maps in place of perceptrons; so for ogbg-molhiv.
        whole: What :math:`p^k` is: the ``"sum"`` over the subgraph, its ``"mean"``, or ``"none"`` for no such terms, so for
            ogbg-molhiv.
        transposed: Whether there is :math:`U_5 x^v_k`, too; the authors leave it out.
        pool: How nodes make a graph: the paper's ``"mean"``, ``"sum"`` or ``"attention"``.
        max_rows: A bag with more copies or edges is refused, with fewer if vectors are longer than 64; see `rows_that_fit`.

    Shapes:
        A batch to (graphs, out_channels), (nodes, out_channels) or (edges, out_channels).

    >>> from torch_geometric.data import Data
    >>> triangle = Data(edge_index=torch.tensor([[0, 1, 1, 2, 2, 0], [1, 0, 2, 1, 0, 2]]), num_nodes=3)
    >>> SUN(out_channels=3, policy="NM").eval()(triangle).shape
    torch.Size([1, 3])
    """

    policies = ("null", "NM", "EGO", "EGO+")

    def __init__(
        self,
        out_channels: int,
        *,
        policy: str = "EGO+",
        node_features: Mapping[str, Any] | None = None,
        edge_features: Mapping[str, Any] | None = None,
        level: str = "graph",
        hidden: int = 64,
        layers: int = 6,
        norm: str = "batch",
        dropout: float = 0.0,
        residual: bool = False,
        linear: bool = False,
        whole: str = "sum",
        transposed: bool = False,
        pool: str = "mean",
        max_rows: int = MAX_ROWS,
    ) -> None:
        super().__init__(locals())
        self.check(self.settings)
        self.add_features(hidden)
        self.layers = nn.ModuleList(
            SUNLayer(hidden, norm, edge_features, linear=linear, whole=whole, transposed=transposed)
            for _ in range(layers)
        )
        self.dropout = dropout
        self.residual = residual
        self.add_read_out(hidden, hidden, hidden)

    @classmethod
    def check(cls, settings: Mapping[str, Any]) -> None:
        """Refuse values that mean nothing."""
        super().check(settings)
        if settings.get("whole", "sum") not in SUMS:
            raise ValueError(f"whole: {settings['whole']!r}; expected one of {', '.join(SUMS)}")

    def vectors(self, x: Tensor, bag: Bag, graphs: Bag, edge_attr: Tensor | None) -> Tensor:
        """Vectors of all copies after the last round, (M, hidden)."""
        into_root = bag.is_centre[bag.edge_index[1]]  # (K,)
        stars = replace(bag, edge_index=bag.edge_index[:, into_root], column=bag.column[into_root])
        for layer in self.layers:
            new = layer(x, bag, stars, graphs, edge_attr)  # (M, hidden)
            new = functional.dropout(new, self.dropout, self.training)
            x = x + new if self.residual else new  # (M, hidden)
        return x


class RootGINE(CopyGINE):
    """`CopyGINE` at roots only, of a bag that has no other edges than those that end there: a fraction of the work."""

    def forward(self, x: Tensor, bag: Bag, edge_attr: Tensor | None = None, *, weight: Tensor | None = None) -> Tensor:
        """New vectors of all roots, (N, channels)."""
        source, target = bag.edge_index
        messages = x.index_select(0, source)  # (edges to roots, channels)
        if self.edges is not None and edge_attr is not None:
            edge = self.edges(edge_attr, edge_attr.size(0))  # (E, channels)
            messages = messages + edge.index_select(0, bag.column)
        roots = bag.at_centres(x)  # (N, channels)
        received = (roots + self.epsilon * roots).index_add(0, bag.subgraph[target], messages.relu())
        out: Tensor = self.mlp(received)
        return out


class SUNLayer(nn.Module):
    """One round, from (M, channels) to (M, channels)."""

    def __init__(
        self,
        channels: int,
        norm: str,
        edge_features: Mapping[str, Any] | None,
        *,
        linear: bool,
        whole: str,
        transposed: bool,
    ) -> None:
        super().__init__()
        self.whole = whole
        numbers = [1, 2, 3, 6] + ([4, 7] if whole != "none" else []) + ([5] if transposed else [])
        self.maps = nn.ModuleDict(
            {
                str(number): nn.Linear(channels, channels) if linear else perceptron(channels, channels, channels, norm)
                for number in sorted(numbers)
            }
        )
        kinds = (CopyGINE, CopyGINE, RootGINE, CopyGINE)
        self.convs = nn.ModuleList(kind(channels, edge_features=edge_features, norm=norm) for kind in kinds)
        self.norms = nn.ModuleList(NORMS[norm](channels) for _ in range(4))

    def forward(self, x: Tensor, bag: Bag, stars: Bag, graphs: Bag, edge_attr: Tensor | None) -> Tensor:
        """New vectors of all copies; ``stars`` is the bag with those edges only that end in roots."""
        centre = bag.is_centre.nonzero().squeeze(1)  # (N,)
        others = (~bag.is_centre).nonzero().squeeze(1)  # (M - N,)
        of_node = bag.node[others]
        of_subgraph = bag.subgraph[others]
        roots = x.index_select(0, centre)  # (N, channels)
        mean = bag.to_nodes(x, "mean")  # (N, channels)

        inside = self.norms[0](self.convs[0](x, bag, edge_attr).index_select(0, others))  # (M - N, channels)
        across = self.norms[1](self.convs[1](mean, graphs, edge_attr))  # (N, channels)
        by_node = self.maps["2"](roots) + across  # (N, channels)
        by_subgraph = self.maps["3"](roots)  # (N, channels)
        at_root = self.maps["6"](roots) + self.norms[2](self.convs[2](x, stars, edge_attr))  # (N, channels)
        at_root = at_root + self.norms[3](self.convs[3](mean, graphs, edge_attr))
        if self.whole != "none":
            pooled = bag.to_subgraphs(x, self.whole)  # (N, channels)
            by_subgraph = by_subgraph + self.maps["4"](pooled)
            at_root = at_root + self.maps["7"](pooled)
        other = self.maps["1"](x.index_select(0, others)) + inside  # (M - N, channels)
        other = other + by_node.index_select(0, of_node) + by_subgraph.index_select(0, of_subgraph)
        if "5" in self.maps:
            other = other + self.maps["5"](bag.swap(x).index_select(0, others))
        out = torch.empty_like(x).index_copy(0, others, other.to(x.dtype)).index_copy(0, centre, at_root.to(x.dtype))
        return out.relu()
