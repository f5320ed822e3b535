"""ID-GNN: message passing in the ball of every node, in which the root has messages of its own.

You et al., Identity-aware Graph Neural Networks, AAAI 2021.
"""

from collections.abc import Mapping
from typing import Any

from torch import Tensor, nn
from torch.nn import functional

from escgnn.bags import MAX_ROWS, Bag
from escgnn.models.bagged import Bagged, check_bagged
from escgnn.models.convs import CopyGINE, CopyLayer

READOUTS = ("centre", "sum")
MARKS = ("sender", "receiver")


class IDGNN(Bagged):
    r"""For every node s a network on its ball B(s), in which messages know whether their sender is s.

    .. math::
        h_{s,v}^{t+1} = \mathrm{MLP}^t \Big( (1 + \epsilon) h_{s,v}^t +
        \sum_{u \in N(v) \cap B(s)} \mathrm{ReLU}\big(h_{s,u}^t + [u = s] W^t h_{s,u}^t + e_{uv}\big) \Big),
        \qquad z_s = h_{s,s}^L

    The paper has radius and number of layers equal: set ``transform.hops`` to ``network.layers``.

    Args:
        out_channels: Numbers to predict for every graph, node or edge.
        node_features: What ``x`` holds, as for `escgnn.models.ESCGNN`.
        edge_features: What ``edge_attr`` holds.
        level: Whether to predict for every ``"graph"``, ``"node"`` or ``"edge"``.
        hidden: Size of all vectors.
        layers: Number of rounds.
        mark: Where the root differs: as ``"sender"``, the paper's form, or as ``"receiver"`` after adding up, as in the authors'
            GIN, where others hear of it one round later.
        readout: What becomes of a ball: ``"centre"`` takes its root, the paper's form; ``"sum"`` adds up all its nodes, as in the
            runs that the counting tables of I²-GNN and ESC-GNN quote. Roots know less after few rounds.
        normalise: Whether to divide vectors by their length at the end, as the authors' configurations do; counts are lost.
        residual: Whether a round is added to the one before; not in the authors' code.
        norm: ``"batch"`` (over copies, so a node counts once for each ball it is in), ``"layer"`` or ``"none"``.
        dropout: Share of values dropped after every round.
        pool: How nodes make a graph: ``"sum"``, ``"mean"`` or ``"attention"``.
        max_rows: A bag with more copies or edges is refused, with fewer if vectors are longer than 64; see `rows_that_fit`.

    Shapes:
        A batch to (graphs, out_channels), (nodes, out_channels) or (edges, out_channels).
    """

    def __init__(
        self,
        out_channels: int,
        *,
        node_features: Mapping[str, Any] | None = None,
        edge_features: Mapping[str, Any] | None = None,
        level: str = "graph",
        hidden: int = 64,
        layers: int = 3,
        mark: str = "sender",
        readout: str = "centre",
        normalise: bool = False,
        residual: bool = False,
        norm: str = "batch",
        dropout: float = 0.0,
        pool: str = "sum",
        max_rows: int = MAX_ROWS,
    ) -> None:
        super().__init__(locals())
        self.check(self.settings)
        self.add_features(hidden)
        self.layers = nn.ModuleList()
        for _ in range(layers):
            conv = CopyGINE(hidden, edge_features=edge_features, norm=norm, mark=mark)
            self.layers.append(CopyLayer(conv, hidden, norm, dropout, residual))
        self.add_read_out(hidden, 0, hidden)

    @classmethod
    def check(cls, settings: Mapping[str, Any]) -> None:
        """Refuse values that mean nothing."""
        check_bagged(settings, {"mark": MARKS, "readout": READOUTS})

    def vectors(self, h: Tensor, bag: Bag, edge_attr: Tensor | None) -> Tensor:
        """Vectors of all nodes: what is read out of their balls."""
        x = bag.lift(h)  # (M, hidden)
        for layer in self.layers:
            x = layer(x, bag, edge_attr)  # (M, hidden)
        if self.settings["normalise"]:
            x = functional.normalize(x, dim=1)  # (M, hidden)
        return bag.at_centres(x) if self.settings["readout"] == "centre" else bag.to_subgraphs(x)  # (N, hidden)
