"""Nodes of a rooted subgraph by their colour under 1-WL, in integers that no product or sum overflows."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from escgnn.kernels import kernel
from escgnn.kernels.rooted import Walk
from escgnn.kernels.subgraphs import Subgraph

LOW_HALF = 2**31 - 1  # the low 31 bits of a colour
COLOURS = 2**62 - 1  # all its 62 bits
FACTORS = (924437393, 1060642541, 786433001)  # odd and below 2 ** 30, so that no product or sum of colours overflows


class Colours(NamedTuple):
    """Where nodes go by colour; empty if nobody asked."""

    bins: NDArray[np.int32]  # (2, colours) for (u, v) and, behind the spare one, (v, u)
    start: NDArray[np.int64]  # (codes, 2) first colour of a node, for (u, v) and for (v, u)
    rounds: int


@kernel
def times(x: int, factor: int) -> int:
    """The product modulo 2 ** 62: x = high * 2 ** 31 + low, so two products of 31 by 30 bits, neither of which overflows."""
    low = (x & LOW_HALF) * factor
    high = ((x >> 31) * factor) & LOW_HALF  # what is beyond would land beyond 2 ** 62
    return (low + (high << 31)) & COLOURS


@kernel
def mix(x: int) -> int:
    """Shuffle the bits of a number below 2 ** 62, one to one, so that every bit depends on all."""
    for i in range(3):
        x = times(x ^ (x >> 29), FACTORS[i])
    return x ^ (x >> 31)


@kernel
def tally_colours(walk: Walk, count: int, colours: Colours, sub: Subgraph, histogram: NDArray[np.uint32]) -> None:
    """Rounds of 1-WL, for (u, v) and (v, u) at once; a sum stands for the multiset of neighbours' colours."""
    now, then = sub.now, sub.then
    for i in range(count):
        first = colours.start[walk.code[walk.nodes[i]]]
        now[i, 0] = first[0]
        now[i, 1] = first[1]
    for _ in range(colours.rounds):
        for i in range(count):
            a = times(now[i, 0], FACTORS[0])
            b = times(now[i, 1], FACTORS[0])
            for j in range(sub.csr.indptr[i], sub.csr.indptr[i + 1]):
                x = sub.csr.indices[j]
                a = (a + now[x, 0]) & COLOURS
                b = (b + now[x, 1]) & COLOURS
            then[i, 0] = mix(a)
            then[i, 1] = mix(b)
        now, then = then, now
    size = colours.bins.shape[1]
    for i in range(count):
        histogram[colours.bins[0, now[i, 0] % size]] += 1
        histogram[colours.bins[1, now[i, 1] % size]] += 1
