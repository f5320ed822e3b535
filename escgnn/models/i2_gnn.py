"""I²-GNN: a network in the ball of every node, once for each of its neighbours, with both marked.

Huang et al., Boosting the Cycle Counting Power of Graph Neural Networks with I²-GNNs, ICLR 2023.
"""

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor, nn

from escgnn.bags import MAX_ROWS, PAIR_ARRAYS, Bag, pair_bag
from escgnn.layers import NORMS, perceptron
from escgnn.models.bagged import Bagged, CopyLabels, check_bagged
from escgnn.models.convs import CopyGINE, CopyLayer

HOWS = ("sum", "mean")


class Exchange(nn.Module):
    """The step between rounds in the authors' code for ZINC, which is not in the paper: balls hear of each other.

    A node i gathers means over its pairs (of the ball, of i's copy, of j's copy) and over all copies of i in any ball, and gives
    them to all its copies.
    """

    def __init__(self, hidden: int, norm: str) -> None:
        super().__init__()
        self.gate = nn.Linear(hidden, hidden)
        self.update = perceptron(5 * hidden, 2 * hidden, hidden, norm, bias=norm != "batch")
        self.norm = NORMS[norm](hidden)

    def forward(self, x: Tensor, bag: Bag, label: Tensor | None) -> Tensor:
        """New vectors of all copies, (M, hidden)."""
        gated = x if label is None else x * self.gate(label).sigmoid()  # (M, hidden)
        of_pair = torch.cat([bag.to_subgraphs(gated, "mean"), bag.at_centres(gated), bag.at_mates(gated)], 1)
        node = torch.cat([bag.to_roots(of_pair, "mean"), bag.to_nodes(gated, "mean")], 1)  # (N, 4 hidden)
        out: Tensor = self.norm(self.update(torch.cat([x, bag.lift(node)], 1))).relu()  # (M, hidden)
        return x + out


class I2GNN(Bagged):
    r"""For every node i and each neighbour j a network on the ball of i, whose nodes know their distances to i and j.

    .. math::
        h_{ij,k}^{t+1} = \mathrm{GINE}^t(h_{ij}^t)_k, \qquad
        z_i = R_1 \Big( \sum_{j \in N(i)} R_2 \Big( \sum_{k \in B(i)} h_{ij,k}^L \Big) \Big)

    with perceptrons R; a graph is the pool of its nodes. A node without neighbours is its own j, so that it does not vanish.

    Args:
        out_channels: Numbers to predict for every graph, node or edge.
        hops: Radius of the balls, ``transform.hops``.
        node_features: What ``x`` holds, as for `escgnn.models.ESCGNN`.
        edge_features: What ``edge_attr`` holds.
        level: Whether to predict for every ``"graph"``, ``"node"`` or ``"edge"``.
        hidden: Size of all vectors.
        layers: Number of rounds.
        labels: What copies know: ``"distance"`` to both and whether there are two ways there, as in the authors' code for
            molecules; ``"hop"``, the distances alone; ``"identity"``, the marks of i and j, as in the paper's theory and for
            counting.
        resistance: Whether they know the resistances to both, too: ``transform.resistance``.
        ball_pool: ``"sum"`` or ``"mean"`` over the copies of a pair; the authors' means are for molecules.
        pair_pool: The same over the pairs of a node.
        context: Whether balls hear of each other between rounds, as in the authors' code for ZINC; see `Exchange`. That is
            stronger than the network of the paper, and the published figures of ZINC are of it.
        residual: Whether a round is added to the one before.
        norm: ``"batch"`` (over copies), ``"layer"`` or ``"none"``.
        dropout: Share of values dropped after every round.
        pool: How nodes make a graph: ``"sum"``, ``"mean"`` or ``"attention"``.
        max_rows: A bag with more copies or edges is refused, with fewer if vectors are longer than 64; see `rows_that_fit`.

    Shapes:
        A batch to (graphs, out_channels), (nodes, out_channels) or (edges, out_channels).
    """

    arrays = PAIR_ARRAYS

    def __init__(
        self,
        out_channels: int,
        hops: int,
        *,
        node_features: Mapping[str, Any] | None = None,
        edge_features: Mapping[str, Any] | None = None,
        level: str = "graph",
        hidden: int = 64,
        layers: int = 5,
        labels: str = "distance",
        resistance: bool = False,
        ball_pool: str = "sum",
        pair_pool: str = "sum",
        context: bool = False,
        residual: bool = True,
        norm: str = "batch",
        dropout: float = 0.0,
        pool: str = "sum",
        max_rows: int = MAX_ROWS,
    ) -> None:
        super().__init__(locals())
        self.check(self.settings)
        self.add_features(hidden)
        self.labels = CopyLabels(labels, hops, hidden, pairs=True, resistance=resistance)
        self.layers = nn.ModuleList()
        for _ in range(layers):
            conv = CopyGINE(hidden, edge_features=edge_features, norm=norm)
            self.layers.append(CopyLayer(conv, hidden, norm, dropout, residual))
        self.exchanges = nn.ModuleList(Exchange(hidden, norm) for _ in range(layers if context else 0))
        self.pair = perceptron(hidden, hidden, hidden)
        self.node = perceptron(hidden, hidden, hidden)
        self.add_read_out(hidden, 0, hidden)

    @classmethod
    def check(cls, settings: Mapping[str, Any]) -> None:
        """Refuse values that mean nothing."""
        check_bagged(settings, {"ball_pool": HOWS, "pair_pool": HOWS})
        if settings.get("labels") == "none":
            raise ValueError("labels: 'none'; expected distance, hop or identity, or no pair differs from another")

    def bag(self, data: Any) -> Bag:
        """The bag of a batch: one of pairs."""
        return pair_bag(data)

    def vectors(self, h: Tensor, bag: Bag, edge_attr: Tensor | None) -> Tensor:
        """Vectors of all nodes, from those of their pairs."""
        x = bag.lift(h)  # (M, hidden)
        label = self.labels(bag)  # (M, hidden)
        x = x + label  # (M, hidden)
        for i, layer in enumerate(self.layers):
            x = layer(x, bag, edge_attr)  # (M, hidden)
            if self.settings["context"]:
                x = self.exchanges[i](x, bag, label)  # (M, hidden)
        pair = self.pair(bag.to_subgraphs(x, self.settings["ball_pool"]))  # (S, hidden)
        out: Tensor = self.node(bag.to_roots(pair, self.settings["pair_pool"]))  # (N, hidden)
        return out
