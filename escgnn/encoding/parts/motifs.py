"""The ladder beyond edges: wedges, triangles and 3-paths by the labels of their nodes. Kernel: `escgnn.kernels.motifs`."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations_with_replacement, permutations, product

import numpy as np

from escgnn.encoding.bin import Bin, Label
from escgnn.encoding.labels import Codes, can_be_apart, can_meet, can_touch, either_way, flat, mirrored, touching
from escgnn.encoding.numbering import BinNumbers
from escgnn.encoding.parts.part import Part
from escgnn.encoding.settings import Settings
from escgnn.kernels.motifs import Motifs


class Wedge(Part):
    """``("wedge", "open" or "closed", ...)`` and three labels in order, read from the end that makes them smaller."""

    name = "wedge"
    counts = "2-paths by the labels of their nodes in order, and whether the ends are adjacent"
    met_twice = True

    def bins(self, settings: Settings, labels: Sequence[Label]) -> Iterable[Bin]:
        """In the order in which middles and ends come, each once."""
        return dict.fromkeys(self._shapes(labels))

    def _shapes(self, labels: Sequence[Label]) -> Iterator[Bin]:
        for x, y, z in _triples(labels):
            if can_touch(x, z):
                yield Bin("wedge", "closed", *flat(either_way((x, y, z))))
            if can_be_apart(x, z):
                yield Bin("wedge", "open", *flat(either_way((x, y, z))))

    def mirror(self, name: Bin) -> Bin:
        """That of the swapped labels."""
        return Bin("wedge", *name.words, *flat(either_way(mirrored(name.labels))))


class Triangle(Part):
    """``("triangle", ...)`` and three labels, ascending."""

    name = "triangle"
    counts = "triangles by the labels of their nodes"

    def bins(self, settings: Settings, labels: Sequence[Label]) -> Iterable[Bin]:
        """In the order in which they come, each once."""
        closed = (shape for shape in _triples(labels) if can_touch(shape[0], shape[2]))
        return dict.fromkeys(Bin("triangle", *flat(sorted(shape))) for shape in closed)

    def mirror(self, name: Bin) -> Bin:
        """That of the swapped labels."""
        return Bin("triangle", *flat(sorted(mirrored(name.labels))))


class Path(Part):
    """``("path", ...)`` and four labels in order, read from the end that makes them smaller."""

    name = "path"
    counts = "3-paths by the labels of their nodes in order"

    def bins(self, settings: Settings, labels: Sequence[Label]) -> Iterable[Bin]:
        """In the order in which middles and ends come, each once."""
        return dict.fromkeys(self._shapes(labels))

    def _shapes(self, labels: Sequence[Label]) -> Iterator[Bin]:
        near = touching(labels)
        for y in labels:
            for x, w, z in product(near[y], labels, near[y]):
                if w in near[x] and can_meet(w, x, y, z):
                    yield Bin("path", *flat(either_way((w, x, y, z))))

    def mirror(self, name: Bin) -> Bin:
        """That of the swapped labels."""
        return Bin("path", *flat(either_way(mirrored(name.labels))))


def _triples(labels: Sequence[Label]) -> Iterator[tuple[Label, Label, Label]]:
    """Labels x, y, z of different nodes of which y can touch both others."""
    near = touching(labels)
    for y in labels:
        for x, z in combinations_with_replacement(near[y], 2):
            if can_meet(x, y, z):
                yield x, y, z


MOTIFS = {"wedge": (2, 3), "triangle": (1, 3), "path": (1, 4)}  # kinds, and nodes


def motif_tables(settings: Settings, codes: Codes, number: BinNumbers) -> Motifs | None:
    """Bins of wedges, triangles and paths, however they are read, or None if nobody asked."""
    if not MOTIFS.keys() & {*settings.parts}:
        return None
    labels = sorted({*codes.values()})
    place = {label: i for i, label in enumerate(labels)}
    tables = {}
    for part, (kinds, nodes) in MOTIFS.items():
        shape = (kinds, *(len(labels),) * nodes) if part in settings.parts else (0,)
        tables[part] = number.nowhere(*shape)
        for b in number.of_part(part):
            name = number.bins[b]
            at = [place[label] for label in name.labels]
            orders = permutations(at) if part == "triangle" else (at, at[::-1])
            for order in orders:
                tables[part][int("closed" in name.words), *order] = b
    label_of = np.zeros(max(codes) + 1, np.int32)
    for code, label in codes.items():
        label_of[code] = place[label]
    return Motifs(label_of, len(labels), *(tables[part].ravel() for part in MOTIFS))
