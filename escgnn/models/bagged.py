"""What networks on bags of rooted subgraphs share: they read a bag beside the features, and end in vectors of nodes."""

from collections.abc import Mapping
from typing import Any, ClassVar

import torch
from torch import Tensor, nn
from torch_geometric.data import Batch

from escgnn.bags import NODE_ARRAYS, Bag, check_bag, node_bag, rows_that_fit
from escgnn.layers import check_choice
from escgnn.models.frame import Frame, check_shared

LABELS = ("none", "identity", "hop", "distance")


class Bagged(Frame):
    """A network on the bag of a batch: derive from it, and write `vectors`, which gives a vector to every node.

    Graphs, nodes and edges are read out of these as `Frame` does: the sum of nodes, a node's own, those of both ends.

    Attributes:
        arrays: What the bag is made of.
    """

    arrays: ClassVar[frozenset[str]] = NODE_ARRAYS

    def add_features(self, hidden: int) -> None:
        """Make the encoder of nodes, and that of edges where edges are read out: convolutions have their own."""
        super().add_features(hidden)
        if self.settings["level"] != "edge":
            self.edges = None
        self.position = None

    def add_read_out(self, width: int, edge_width: int, hidden: int) -> None:
        """Make the last step, from vectors of nodes."""
        super().add_read_out(width, hidden if self.edges is not None else edge_width, hidden)

    @property
    def reads(self) -> frozenset[str]:
        """The attributes of a batch that the network reads."""
        more = {name for name in RESISTANCES if name.replace("resistance", "hop") in self.arrays}
        return super().reads | self.arrays | (more if self.settings.get("resistance") else set())

    def bag(self, data: Any) -> Bag:
        """The bag of a batch."""
        return node_bag(data)

    def vectors(self, h: Tensor, bag: Bag, edge_attr: Tensor | None) -> Tensor:
        """Vectors of all nodes.

        Args:
            h: By their features, (N, hidden).
            bag: The subgraphs.
            edge_attr: Features of edges, (E, columns); None if they have none.
        """
        raise NotImplementedError(f"{type(self).__name__}: write vectors")

    def forward_tensors(self, tensors: Mapping[str, Tensor]) -> Tensor:
        """Predictions from plain tensors by name, those that `reads` lists."""
        bag = self.bag(Batch(**tensors))
        if not torch.compiler.is_compiling():
            check_bag(bag, rows_that_fit(self.settings["hidden"], self.settings["max_rows"]))
        h = self.node_vectors(tensors)  # (N, hidden)
        h = self.vectors(h, bag, tensors.get("edge_attr"))  # (N, width)
        edge = self.edge_vectors(tensors)  # (E, hidden)
        return self._read_out(h, tensors["edge_index"], edge, tensors["batch"], bag.num_graphs)


RESISTANCES = ("bag_resistance", "bag_mate_resistance")


class CopyLabels(nn.Module):
    """Vectors for where in its subgraph a copy is.

    Args:
        kind: ``"identity"``: whether it is the root; ``"hop"``: its distance to the root; ``"distance"``: that, and once more
            if two neighbours or more are one step closer, as in NGNN's code; ``"none"``: nothing. In bags of pairs the same
            for the mate.
        hops: Radius of the subgraphs.
        channels: Size of the result.
        pairs: Whether the bag is one of pairs.
        resistance: Whether resistances are added, by a linear map.

    Shapes:
        A bag to :math:`(M, channels)`.
    """

    def __init__(self, kind: str, hops: int, channels: int, *, pairs: bool = False, resistance: bool = False) -> None:
        super().__init__()
        check_choice("labels", kind, LABELS)
        self.kind = kind
        self.mark = nn.Embedding(3 if pairs else 2, channels) if kind == "identity" else None
        by_distance = kind in ("hop", "distance")
        self.root = nn.Embedding(hops + 2, channels) if by_distance else None
        self.mate = nn.Embedding(hops + 3, channels) if by_distance and pairs else None  # one step further
        self.resistance = nn.Linear(2 if pairs else 1, channels) if resistance else None

    def forward(self, bag: Bag) -> Tensor | None:
        """Vectors of all copies; None if there is nothing to tell."""
        terms: list[Tensor] = []
        if self.mark is not None:
            terms.append(self.mark(bag.identity))  # (M, channels)
        if self.root is not None:
            terms += self._distances(self.root, bag.hop, bag.more)
        if self.mate is not None:
            terms += self._distances(self.mate, bag.mate_hop, bag.mate_more)
        if self.resistance is not None:
            known = [values for values in (bag.resistance, bag.mate_resistance) if values is not None]
            terms.append(self.resistance(torch.stack(known, 1).to(self.resistance.weight.dtype)))
        return sum(terms[1:], terms[0]) if terms else None

    def _distances(self, table: nn.Embedding, hop: Tensor | None, more: Tensor | None) -> list[Tensor]:
        assert hop is not None and more is not None
        rows = [hop + 1, (hop + 1) * more] if self.kind == "distance" else [hop + 1]
        return [table(row) for row in rows]


def check_bagged(settings: Mapping[str, Any], choices: Mapping[str, Any] | None = None) -> None:
    """Refuse values that mean nothing."""
    check_shared(settings, {"labels": LABELS, **(choices or {})})
