"""The bins of the encoding: which labels can occur, what each bin is called, and the tables that kernels look them up in."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations_with_replacement, permutations, product

import numpy as np

from escgnn.kernels.encoding import Layout, Resistance
from escgnn.kernels.further import Further, mix
from escgnn.kernels.motifs import Motifs

Bin = tuple[str | int, ...]
Label = tuple[int, int]  # distances to u and to v

SHAPES = ("edge", "wedge", "triangle", "path")  # parts that count by the labels of several nodes
MET_TWICE = ("edge", "wedge")  # kernels meet these from both ends
MOTIFS = {"wedge", "triangle", "path"}


@dataclass(frozen=True, slots=True)
class Settings:
    """What the bins depend on."""

    hops: int
    parts: tuple[str, ...]
    subgraph: str
    max_degree: int
    resistance_width: float
    max_nodes: int | None
    walk_length: int
    cycle_length: int
    colour_rounds: int
    colour_bins: int


def edge_codes(hops: int) -> dict[int, Label]:
    """What the kernel's codes mean for roots that are adjacent or equal: 4 * (smaller distance) + (who is nearest)."""
    nearest = ((1, (0, 1)), (2, (1, 0)), (3, (0, 0)))
    return {4 * m + near: (m + a, m + b) for m in range(hops + 1) for near, (a, b) in nearest}


def pair_codes(hops: int) -> dict[int, Label]:
    """The same for roots anywhere: 1 + (h + 2) * d_u + d_v; no node is out of reach of both."""
    labels = list(product(range(hops + 2), range(hops + 2)))[:-1]
    return {1 + (hops + 2) * a + b: (a, b) for a, b in labels}


def names(settings: Settings, labels: Sequence[Label]) -> Iterator[Bin]:
    """Every bin, part by part, given the labels that nodes can have."""
    labels = sorted(labels)
    for part in settings.parts:
        if part == "degree":
            yield from ((part, d) for d in range(settings.max_degree + 1))
        elif part == "node":
            yield from ((part, root, d) for root in "uv" for d in range(settings.hops + 2))
        elif part == "joint":
            yield from ((part, *label) for label in labels)
        elif part == "resistance":  # which exceeds h + 1 in no edge's subgraph
            last = int((settings.hops + 1) / settings.resistance_width + 1e-6)
            yield from ((part, root, b) for root in "uv" for b in range(last + 1))
        elif part == "walk":
            yield from ((part, *root, k) for root in ("", "u", "v") for k in range(2, settings.walk_length + 1))
        elif part == "cycle":
            yield from ((part, k) for k in range(3, settings.cycle_length + 1))
        elif part == "colour":
            yield from ((part, c) for c in range(settings.colour_bins))
        else:
            yield from dict.fromkeys(_shapes(part, labels))
    if settings.max_nodes is not None:
        yield from (("clipped", radius) for radius in range(settings.hops))


def mirror(name: Bin) -> Bin:
    """The bin of (v, u) that counts what this bin of (u, v) counts."""
    part, *rest = name
    if part in ("node", "resistance", "walk") and len(rest) == 2:
        return part, {"u": "v", "v": "u"}[str(rest[0])], rest[1]
    if part == "joint":
        return part, rest[1], rest[0]
    if part in SHAPES:
        kind, labels = read_shape(name)
        return _shape(kind, [(b, a) for a, b in labels])
    return name


def read_shape(name: Bin) -> tuple[tuple[str, ...], list[Label]]:
    """The words and the labels of a bin: ``("wedge", "open", 1, 2, ...)`` is wedge, open, (1, 2), ..."""
    words = tuple(word for word in name if isinstance(word, str))
    numbers = [number for number in name if isinstance(number, int)]
    return words, list(zip(numbers[::2], numbers[1::2], strict=True))


def _shape(words: tuple[str, ...], labels: Sequence[Label]) -> Bin:
    """The bin of a shape however it is read: edges and triangles have no order, wedges and paths two."""
    ordered = sorted(labels) if words[0] in ("edge", "triangle") else min(list(labels), list(labels)[::-1])
    return (*words, *(distance for label in ordered for distance in label))


def _shapes(part: str, labels: list[Label]) -> Iterator[Bin]:
    """The shapes whose labels can meet in a graph, some more than once."""
    near = {p: [q for q in labels if _can_touch(p, q)] for p in labels}
    if part == "edge":
        yield from (
            _shape((part,), pair) for pair in combinations_with_replacement(labels, 2) if pair[1] in near[pair[0]]
        )
        return
    for y in labels:
        for x, z in combinations_with_replacement(near[y], 2):
            if part != "path" and _can_meet(x, y, z):
                if z in near[x]:
                    yield _shape((part, "closed") if part == "wedge" else (part,), (x, y, z))
                if part == "wedge" and _can_be_apart(x, z):
                    yield _shape((part, "open"), (x, y, z))
        if part == "path":
            for x, w, z in product(near[y], labels, near[y]):
                if w in near[x] and _can_meet(w, x, y, z):
                    yield _shape((part,), (w, x, y, z))


def _can_touch(p: Label, q: Label) -> bool:
    """Whether nodes with these labels can be adjacent: no distance differs by two, and no root is met twice."""
    return abs(p[0] - q[0]) <= 1 and abs(p[1] - q[1]) <= 1 and p[0] + q[0] > 0 and p[1] + q[1] > 0


def _can_be_apart(p: Label, q: Label) -> bool:
    """Whether different nodes with these labels can be not adjacent: neither is a root and the other at distance 1."""
    return all(p[i] + q[i] > 1 for i in (0, 1))


def _can_meet(*shape: Label) -> bool:
    """Whether different nodes with these labels can be in one graph: each root once, and u = v only on the diagonal."""
    roots = [label for label in shape if 0 in label]
    return len(roots) == len({*roots}) and ((0, 0) not in shape or all(a == b for a, b in shape))


def layout(settings: Settings, codes: dict[int, Label], bins: tuple[Bin, ...]) -> Layout:
    """Tables from what the kernel meets to bins; ``codes`` says what its codes mean."""
    number = {name: b for b, name in enumerate(bins)}
    size, spare = max(codes) + 1, len(bins)

    def lookup(*name: str | int) -> int:
        return number.get(name, spare)

    joint, node = np.full(size, spare, np.int32), np.full((2, size), spare, np.int32)
    edge = np.full((size, size), spare, np.int32)
    ball = np.zeros((settings.hops + 1, size), np.uint8)
    for code, (a, b) in codes.items():
        joint[code] = lookup("joint", a, b)
        node[:, code] = lookup("node", "u", a), lookup("node", "v", b)
        for radius in range(settings.hops + 1):
            ball[radius, code] = 3 if settings.subgraph == "union" else (a <= radius) + 2 * (b <= radius)
        for other, label in codes.items():
            edge[code, other] = lookup(*_shape(("edge",), ((a, b), label)))
    return Layout(
        hops=settings.hops,
        max_nodes=np.iinfo(np.int64).max if settings.max_nodes is None else settings.max_nodes,
        joint=joint,
        node=node,
        edge=edge,
        ball=ball,
        degree=np.array([lookup("degree", d) for d in range(settings.max_degree + 1)], np.int32),
        clipped=np.array([lookup("clipped", radius) for radius in range(settings.hops)], np.int32),
        # twice the number of edges fits in 32 bits, the number of paths may not
        shift=np.array(
            [*(name[0] in MET_TWICE for name in bins), 0], np.int64 if MOTIFS & {*settings.parts} else np.uint32
        ),
        # the colours of (v, u) are others than those of (u, v), so they are counted apart, behind the spare bin
        swap=np.array(
            [spare + 1 + int(name[1]) if name[0] == "colour" else number[mirror(name)] for name in bins], np.int32
        ),
    )


def resistance_table(settings: Settings, bins: tuple[Bin, ...]) -> Resistance | None:
    """Bins of nodes by resistance, or None if nobody asked."""
    table = [[b for b, name in enumerate(bins) if name[:2] == ("resistance", root)] for root in "uv"]
    return Resistance(np.array(table, np.int32), settings.resistance_width) if table[0] else None


def motif_tables(settings: Settings, codes: dict[int, Label], bins: tuple[Bin, ...]) -> Motifs | None:
    """Bins of wedges, triangles and paths, or None if nobody asked."""
    if not MOTIFS & {*settings.parts}:
        return None
    labels = sorted({*codes.values()})
    place = {label: i for i, label in enumerate(labels)}
    shapes = {"wedge": (2, 3), "triangle": (1, 3), "path": (1, 4)}
    tables = {
        part: np.full((kinds, *(len(labels),) * nodes) if part in settings.parts else (0,), len(bins), np.int32)
        for part, (kinds, nodes) in shapes.items()
    }
    for b, name in enumerate(bins):
        if name[0] in shapes:
            words, shape = read_shape(name)
            at = tuple(place[label] for label in shape)
            for order in permutations(at) if words[0] == "triangle" else (at, at[::-1]):
                tables[words[0]][int("closed" in words), *order] = b
    label = np.zeros(max(codes) + 1, np.int32)
    for code, value in codes.items():
        label[code] = place[value]
    return Motifs(label, len(labels), *(tables[part].ravel() for part in shapes))


def further_tables(settings: Settings, codes: dict[int, Label], bins: tuple[Bin, ...]) -> Further | None:
    """Bins of walks, cycles and colours, or None if nobody asked."""
    if not {"walk", "cycle", "colour"} & {*settings.parts}:
        return None
    place: dict[str, list[int]] = {part: [] for part in ("walk", "cycle", "colour")}
    for b, name in enumerate(bins):
        place.get(str(name[0]), []).append(b)
    colour = np.array([place["colour"], range(len(bins) + 1, len(bins) + 1 + len(place["colour"]))], np.int32)
    start = np.zeros((max(codes) + 1 if colour.size else 0, 2), np.int64)
    for code, (a, b) in codes.items() if colour.size else ():
        start[code] = mix(1 + (a << 31) + b), mix(1 + (b << 31) + a)
    walk = np.array(place["walk"], np.int32).reshape(3, -1)
    return Further(walk, np.array(place["cycle"], np.int32), colour, start, settings.colour_rounds)
