"""The paper's parts: nodes by degree, by distance and by label, and edges by labels. Kernel: `escgnn.kernels.histograms`."""

from collections.abc import Iterator, Sequence
from itertools import combinations_with_replacement

import numpy as np
from numpy.typing import NDArray

from escgnn.encoding.bin import Bin, Label
from escgnn.encoding.labels import Codes, can_touch, flat, mirrored
from escgnn.encoding.numbering import BinNumbers
from escgnn.encoding.parts.part import Part
from escgnn.encoding.settings import Settings

Table = NDArray[np.int32]


class Degree(Part):
    """``("degree", d)``, d up to ``max_degree``, the last one open."""

    name = "degree"
    counts = "nodes by degree inside the subgraph"
    options = ("max_degree",)

    def bins(self, settings: Settings, labels: Sequence[Label]) -> Iterator[Bin]:
        """By degree."""
        for d in range(settings.max_degree + 1):
            yield Bin("degree", d)

    def table(self, settings: Settings, number: BinNumbers) -> Table:
        """Bin of each degree, ``(max_degree + 1,)``."""
        return np.array([number.find("degree", d) for d in range(settings.max_degree + 1)], np.int32)


class Node(Part):
    """``("node", "u", d)`` and ``("node", "v", d)``."""

    name = "node"
    counts = "nodes by distance to u; nodes by distance to v"

    def bins(self, settings: Settings, labels: Sequence[Label]) -> Iterator[Bin]:
        """By root, then by distance."""
        for root in "uv":
            for d in range(settings.radius + 2):
                yield Bin("node", root, d)

    def mirror(self, name: Bin) -> Bin:
        """That of the other root."""
        return name.other_root()

    def table(self, codes: Codes, number: BinNumbers) -> Table:
        """Bin of a node by root and code, ``(2, codes)``."""
        table = number.nowhere(2, max(codes) + 1)
        for code, (a, b) in codes.items():
            table[0, code] = number.find("node", "u", a)
            table[1, code] = number.find("node", "v", b)
        return table


class Joint(Part):
    """``("joint", a, b)``, or ``("joint", a, b, "t6")`` by types."""

    name = "joint"
    counts = "nodes by label, their distances to u and to v"

    def bins(self, settings: Settings, labels: Sequence[Label]) -> Iterator[Bin]:
        """By label, and by the type of the node if it counts by types."""
        words = _type_words(self, settings, settings.node_types)
        for label in labels:
            for word in words:
                yield Bin("joint", *label, *word)

    def mirror(self, name: Bin) -> Bin:
        """That of the swapped label."""
        return Bin("joint", *flat(mirrored(name.labels)), *name.words)

    def table(self, codes: Codes, number: BinNumbers) -> Table:
        """Bin of a node by code, ``(codes,)``."""
        table = number.nowhere(max(codes) + 1)
        for code, label in codes.items():
            table[code] = number.find("joint", *label)
        return table

    def typed_table(self, settings: Settings, codes: Codes, number: BinNumbers) -> Table:
        """Bin of a node by code and type, ``(codes, types)``; no codes if it does not count by types."""
        if "joint" not in number.by_part:
            return number.nowhere(0, 1)
        table = number.nowhere(max(codes) + 1, settings.node_types)
        for code, label in codes.items():
            for t in range(settings.node_types):
                table[code, t] = number.find("joint", *label, f"t{t}")
        return table


class Edge(Part):
    """``("edge", a, b, c, d)``, the smaller label first, or ``("edge", a, b, c, d, "t1")`` by types."""

    name = "edge"
    counts = "edges by the labels of their ends"
    met_twice = True

    def bins(self, settings: Settings, labels: Sequence[Label]) -> Iterator[Bin]:
        """By two labels that can be adjacent, and by the type of the edge if it counts by types."""
        words = _type_words(self, settings, settings.edge_types)
        for first, second in combinations_with_replacement(labels, 2):
            if can_touch(first, second):
                for word in words:
                    yield Bin("edge", *first, *second, *word)

    def mirror(self, name: Bin) -> Bin:
        """That of the swapped labels."""
        return Bin("edge", *flat(sorted(mirrored(name.labels))), *name.words)

    def table(self, codes: Codes, number: BinNumbers) -> Table:
        """Bin of an edge by the codes of its ends, ``(codes, codes)``."""
        size = max(codes) + 1
        table = number.nowhere(size, size)
        by_label = sorted(zip(codes.values(), codes, strict=True))
        for (first, code), (second, other) in combinations_with_replacement(by_label, 2):
            table[code, other] = table[other, code] = number.find("edge", *first, *second)
        return table

    def typed_table(self, settings: Settings, codes: Codes, number: BinNumbers) -> Table:
        """Bin of an edge by the codes of its ends and its type, ``(codes, codes, types)``; no codes without types."""
        if "edge" not in number.by_part:
            return number.nowhere(0, 0, 1)
        size = max(codes) + 1
        table = number.nowhere(size, size, settings.edge_types)
        for code, label in codes.items():
            for other, second in codes.items():
                ends = flat(sorted((label, second)))
                for t in range(settings.edge_types):
                    table[code, other, t] = number.find("edge", *ends, f"t{t}")
        return table


def _type_words(part: Part, settings: Settings, types: int) -> list[tuple[str, ...]]:
    """What the bins of each type end with; one without a word if the part does not count by types."""
    return [(f"t{t}",) for t in range(types)] if part.is_typed(settings) else [()]
