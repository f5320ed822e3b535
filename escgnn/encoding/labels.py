"""Which labels nodes can have, what the kernels' codes for them mean, and which of them can meet in one graph."""

from collections.abc import Sequence
from itertools import product

from escgnn.encoding.bin import Label

Codes = dict[int, Label]  # what the kernel's number of a label means


def edge_codes(hops: int) -> Codes:
    """Codes for roots that are adjacent or equal: 4 * (smaller distance) + (who is nearest)."""
    nearest = ((1, (0, 1)), (2, (1, 0)), (3, (0, 0)))
    return {4 * m + near: (m + a, m + b) for m in range(hops + 1) for near, (a, b) in nearest}


def pair_codes(hops: int) -> Codes:
    """Codes for roots anywhere: 1 + (h + 2) * d_u + d_v; no node is out of reach of both."""
    labels = list(product(range(hops + 2), range(hops + 2)))[:-1]
    return {1 + (hops + 2) * a + b: (a, b) for a, b in labels}


def mirrored(labels: Sequence[Label]) -> list[Label]:
    """What the labels are for (v, u)."""
    return [(b, a) for a, b in labels]


def flat(labels: Sequence[Label]) -> tuple[int, ...]:
    """All distances in a row, as names of bins have them."""
    return tuple(distance for label in labels for distance in label)


def either_way(labels: Sequence[Label]) -> Sequence[Label]:
    """Labels along a path, read from the end that makes them smaller."""
    return min(list(labels), list(labels)[::-1])


def can_touch(p: Label, q: Label) -> bool:
    """Whether nodes with these labels can be adjacent: no distance differs by two, and no root is met twice."""
    return abs(p[0] - q[0]) <= 1 and abs(p[1] - q[1]) <= 1 and p[0] + q[0] > 0 and p[1] + q[1] > 0


def can_be_apart(p: Label, q: Label) -> bool:
    """Whether different nodes with these labels can be not adjacent: neither is a root and the other at distance 1."""
    return all(p[i] + q[i] > 1 for i in (0, 1))


def can_meet(*shape: Label) -> bool:
    """Whether different nodes with these labels can be in one graph: each root once, and u = v only on the diagonal."""
    roots = [label for label in shape if 0 in label]
    return len(roots) == len({*roots}) and ((0, 0) not in shape or all(a == b for a, b in shape))


def touching(labels: Sequence[Label]) -> dict[Label, list[Label]]:
    """Of every label those that nodes next to it can have."""
    return {p: [q for q in labels if can_touch(p, q)] for p in labels}
