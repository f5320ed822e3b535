"""DSS-GNN: subgraphs that exchange what their copies of a node know, after every round.

Bevilacqua et al., Equivariant Subgraph Aggregation Networks, ICLR 2022.
"""

from collections.abc import Mapping
from typing import Any

from torch import Tensor, nn
from torch.nn import functional

from escgnn.bags import MAX_ROWS, POLICIES, Bag
from escgnn.layers import NORMS
from escgnn.models.convs import CopyGINE
from escgnn.models.on_policy import OnPolicy


class DSSGNN(OnPolicy):
    r"""Message passing in every subgraph, beside message passing in the graph between the means over subgraphs.

    .. math::
        x'_{s,v} = \mathrm{ReLU}\big( \mathrm{GNN}_1(x_s, A_s)_v + \mathrm{GNN}_2(\bar{x}, A)_v \big), \qquad
        \bar{x}_v = \frac{1}{S} \sum_s x_{s,v}

    with GINE for both, a norm after each. All copies of a node start with its features, and with a vector for the mark if the
    policy has one (the authors append two columns in its place). Then the mean over nodes and subgraphs.

    The bag decides what the network can tell apart: with ``ED`` strongly regular graphs, with all others no two of the same
    parameters; with ``null`` no more than plain message passing.

    Args:
        out_channels: Numbers to predict for every graph, node or edge.
        policy: ``"null"``, ``"NM"``, ``"ND"``, ``"ED"``, ``"EGO"`` or ``"EGO+"``; see `escgnn.bags.policy_bag`. The last two
            read what `escgnn.transforms.PolicyBags` cuts.
        node_features: What ``x`` holds, as for `FeatureEncoder`.
        edge_features: What ``edge_attr`` holds, likewise; every convolution has its own encoder.
        level: ``"graph"``, ``"node"`` or ``"edge"``; see `OnPolicy`.
        hidden: Size of all vectors.
        layers: Number of rounds.
        norm: ``"batch"``, ``"layer"`` or ``"none"``; over copies, so that large graphs weigh more.
        dropout: Share of values dropped after every round; none in the paper.
        residual: Whether a round is added to the one before; not in the paper.
        pool: How nodes make a graph: the paper's ``"mean"``, ``"sum"`` or ``"attention"``.
        max_rows: A bag with more copies or edges is refused, with fewer if vectors are longer than 64; see `rows_that_fit`.

    Shapes:
        A batch to (graphs, out_channels), (nodes, out_channels) or (edges, out_channels).

    >>> import torch
    >>> from torch_geometric.data import Data
    >>> triangle = Data(edge_index=torch.tensor([[0, 1, 1, 2, 2, 0], [1, 0, 2, 1, 0, 2]]), num_nodes=3)
    >>> DSSGNN(out_channels=3, policy="ED").eval()(triangle).shape
    torch.Size([1, 3])
    """

    policies = POLICIES

    def __init__(
        self,
        out_channels: int,
        *,
        policy: str = "EGO+",
        node_features: Mapping[str, Any] | None = None,
        edge_features: Mapping[str, Any] | None = None,
        level: str = "graph",
        hidden: int = 64,
        layers: int = 4,
        norm: str = "batch",
        dropout: float = 0.0,
        residual: bool = False,
        pool: str = "mean",
        max_rows: int = MAX_ROWS,
    ) -> None:
        super().__init__(locals())
        self.check(self.settings)
        self.add_features(hidden)
        self.layers = nn.ModuleList(DSSLayer(hidden, norm, edge_features) for _ in range(layers))
        self.dropout = dropout
        self.residual = residual
        self.add_read_out(hidden, hidden, hidden)

    def vectors(self, x: Tensor, bag: Bag, graphs: Bag, edge_attr: Tensor | None) -> Tensor:
        """Vectors of all copies after the last round, (M, hidden)."""
        for layer in self.layers:
            new = functional.dropout(layer(x, bag, graphs, edge_attr), self.dropout, self.training)  # (M, hidden)
            x = x + new if self.residual else new
        return x


class DSSLayer(nn.Module):
    """One round, from (M, channels) to (M, channels)."""

    def __init__(self, channels: int, norm: str, edge_features: Mapping[str, Any] | None) -> None:
        super().__init__()
        self.inside = CopyGINE(channels, edge_features=edge_features, norm=norm)
        self.across = CopyGINE(channels, edge_features=edge_features, norm=norm)
        self.inside_norm = NORMS[norm](channels)
        self.across_norm = NORMS[norm](channels)

    def forward(self, x: Tensor, bag: Bag, graphs: Bag, edge_attr: Tensor | None) -> Tensor:
        """New vectors of all copies."""
        own = self.inside_norm(self.inside(x, bag, edge_attr))  # (M, channels)
        mean = bag.to_nodes(x, "mean")  # (N, channels)
        shared = self.across_norm(self.across(mean, graphs, edge_attr))  # (N, channels)
        out: Tensor = (own + bag.lift(shared)).relu()
        return out
