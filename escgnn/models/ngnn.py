"""NGNN: a network in the ball of every node, whose result is that node's vector.

Zhang and Li, Nested Graph Neural Networks, NeurIPS 2021.
"""

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor, nn

from escgnn.bags import MAX_ROWS, Bag
from escgnn.layers import VirtualNode
from escgnn.models.bagged import Bagged, CopyLabels, check_bagged
from escgnn.models.convs import CopyGINE, CopyLayer

BALL_POOLS = ("sum", "mean", "centre")


class NGNN(Bagged):
    r"""For every node s a network on its ball B(s), whose nodes know their distance to s.

    .. math::
        h_{s,v}^0 = x_v + \ell_{s,v}, \quad
        h_{s,v}^{t+1} = \mathrm{GINE}^t(h_s^t)_v, \quad
        z_s = \mathrm{pool}_{v \in B(s)} h_{s,v}^L, \quad
        z_G = \mathrm{pool}_s z_s

    Balls do not talk to each other. What the paper calls the outer network is, in all its runs, the second pool.

    Args:
        out_channels: Numbers to predict for every graph, node or edge.
        hops: Radius of the balls, ``transform.hops``.
        node_features: What ``x`` holds, as for `escgnn.models.ESCGNN`.
        edge_features: What ``edge_attr`` holds.
        level: Whether to predict for every ``"graph"``, ``"node"`` or ``"edge"``.
        hidden: Size of all vectors.
        layers: Number of rounds.
        labels: What copies know: ``"distance"`` to the root and whether there are two ways there, as the authors' code has it;
            ``"hop"``, the distance alone; ``"identity"``, whether it is 0, as in the counting tables; ``"none"``.
        resistance: Whether they know the resistance to the root, too: ``transform.resistance``.
        ball_pool: How a ball makes a vector: ``"mean"`` as in the authors' runs, ``"sum"`` for counting, ``"centre"`` the root's.
        residual: Whether a round is added to the one before.
        virtual_node: Whether a further node of each graph hears from and sends to all copies between rounds, as in the authors'
            run on ogbg-molhiv. Balls then talk to each other, which the theory of the paper excludes.
        norm: ``"batch"`` (over copies), ``"layer"`` or ``"none"``.
        dropout: Share of values dropped after every round.
        pool: How nodes make a graph: ``"mean"`` as in the authors' runs, ``"sum"`` or ``"attention"``.
        max_rows: A bag with more copies or edges is refused, with fewer if vectors are longer than 64; see `rows_that_fit`.

    Shapes:
        A batch to (graphs, out_channels), (nodes, out_channels) or (edges, out_channels).
    """

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
        ball_pool: str = "mean",
        residual: bool = True,
        virtual_node: bool = False,
        norm: str = "batch",
        dropout: float = 0.0,
        pool: str = "mean",
        max_rows: int = MAX_ROWS,
    ) -> None:
        super().__init__(locals())
        self.check(self.settings)
        self.add_features(hidden)
        self.labels = CopyLabels(labels, hops, hidden, resistance=resistance)
        self.layers = nn.ModuleList()
        for _ in range(layers):
            conv = CopyGINE(hidden, edge_features=edge_features, norm=norm)
            self.layers.append(CopyLayer(conv, hidden, norm, dropout, residual))
        self.virtual = nn.Parameter(torch.zeros(1, hidden)) if virtual_node else None
        exchanges = layers - 1 if virtual_node else 0
        self.exchanges = nn.ModuleList(VirtualNode(hidden, norm, dropout) for _ in range(exchanges))
        self.add_read_out(hidden, 0, hidden)

    @classmethod
    def check(cls, settings: Mapping[str, Any]) -> None:
        """Refuse values that mean nothing."""
        check_bagged(settings, {"ball_pool": BALL_POOLS})

    def vectors(self, h: Tensor, bag: Bag, edge_attr: Tensor | None) -> Tensor:
        """Vectors of all nodes: the pools of their balls."""
        x = bag.lift(h)  # (M, hidden)
        label = self.labels(bag)
        x = x if label is None else x + label  # (M, hidden)
        graph = bag.graph[bag.subgraph]  # (M,)
        virtual = self.virtual.expand(bag.num_graphs, -1) if self.virtual is not None else None  # (G, hidden)
        for i, layer in enumerate(self.layers):
            if virtual is not None:
                virtual = self.exchanges[i - 1](virtual, x, graph) if i else virtual  # (G, hidden)
                x = x + virtual[graph]  # (M, hidden)
            x = layer(x, bag, edge_attr)  # (M, hidden)
        how = self.settings["ball_pool"]
        return bag.at_centres(x) if how == "centre" else bag.to_subgraphs(x, how)  # (N, hidden)
