"""The paper's parts: nodes by degree, by distance and by label, and edges by labels. Kernel: `escgnn.kernels.histograms`."""

from collections.abc import Iterator, Sequence
from itertools import combinations_with_replacement

import numpy as np
from numpy.typing import NDArray

from escgnn.encoding.bin import Bin, Label
from escgnn.encoding.labels import Codes, flat, mirrored, touching
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
    """``("joint", a, b)``."""

    name = "joint"
    counts = "nodes by label, their distances to u and to v"

    def bins(self, settings: Settings, labels: Sequence[Label]) -> Iterator[Bin]:
        """By label."""
        for label in labels:
            yield Bin("joint", *label)

    def mirror(self, name: Bin) -> Bin:
        """That of the swapped label."""
        return Bin("joint", *flat(mirrored(name.labels)))

    def table(self, codes: Codes, number: BinNumbers) -> Table:
        """Bin of a node by code, ``(codes,)``."""
        table = number.nowhere(max(codes) + 1)
        for code, label in codes.items():
            table[code] = number.find("joint", *label)
        return table


class Edge(Part):
    """``("edge", a, b, c, d)``, the smaller label first."""

    name = "edge"
    counts = "edges by the labels of their ends"
    met_twice = True

    def bins(self, settings: Settings, labels: Sequence[Label]) -> Iterator[Bin]:
        """By two labels that can be adjacent."""
        near = touching(labels)
        for first, second in combinations_with_replacement(labels, 2):
            if second in near[first]:
                yield Bin("edge", *first, *second)

    def mirror(self, name: Bin) -> Bin:
        """That of the swapped labels."""
        return Bin("edge", *flat(sorted(mirrored(name.labels))))

    def table(self, codes: Codes, number: BinNumbers) -> Table:
        """Bin of an edge by the codes of its ends, ``(codes, codes)``."""
        size = max(codes) + 1
        table = number.nowhere(size, size)
        for code, label in codes.items():
            for other, second in codes.items():
                table[code, other] = number.find("edge", *flat(sorted((label, second))))
        return table
