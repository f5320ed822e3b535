"""Parts beyond histograms of labels: walks and colours inside a rooted subgraph, and cycles of the whole graph."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from escgnn.kernels import kernel
from escgnn.kernels.cycles import add_cycles
from escgnn.kernels.graphs import Csr
from escgnn.kernels.rooted import Walk

MOST = 2**31 - 1  # rows are int32; larger numbers read this
LOW, MASK = 2**31 - 1, 2**62 - 1
FACTORS = (924437393, 1060642541, 786433001)  # odd and below 2 ** 30, so that no product or sum of colours overflows


class Further(NamedTuple):
    """Where numbers go; tables are empty if nobody asked."""

    walk: NDArray[np.int32]  # (3, lengths) bins of walks from u to v, u to u, v to v, by length from 2 on
    cycle: NDArray[np.int32]  # (lengths,) bins of cycles, by length from 3 on
    colour: NDArray[np.int32]  # (2, colours) bins of nodes by colour for (u, v) and, behind the spare one, (v, u)
    start: NDArray[np.int64]  # (codes, 2) first colour of a node, for (u, v) and for (v, u)
    rounds: int


class Room(NamedTuple):
    """Memory to work in."""

    place: NDArray[np.int32]  # (nodes,) number of a node within the subgraph
    sub: Csr  # the subgraph
    now: NDArray[np.int64]  # (nodes, 2) values that travel along edges, two at a time
    then: NDArray[np.int64]
    distance: NDArray[np.int8]  # (nodes,) see `add_cycles`
    queue: NDArray[np.int32]
    counts: NDArray[np.int64]  # (lengths,) of cycles


@kernel
def make_room(csr: Csr, further: Further) -> Room:
    """Memory for graphs of this size; what is not written costs nothing."""
    nodes = csr.indptr.size - 1
    copied = nodes if further.walk.size or further.colour.size else 0
    walked = nodes if further.cycle.size else 0
    sub = Csr(np.empty(copied + 1, np.int64), np.empty(csr.indices.size if copied else 0, np.int32))
    far = (further.cycle.size + 5) // 2  # distances help a search most in its second half
    return Room(
        np.empty(copied, np.int32),
        sub,
        np.empty((copied, 2), np.int64),
        np.empty((copied, 2), np.int64),
        np.full(walked, far, np.int8),
        np.empty(walked, np.int32),
        np.empty(further.cycle.size, np.int64),
    )


@kernel
def times(x: int, factor: int) -> int:
    """The product modulo 2 ** 62, in two halves."""
    return ((x & LOW) * factor + ((((x >> 31) * factor) & LOW) << 31)) & MASK


@kernel
def mix(x: int) -> int:
    """Shuffle the bits of a number below 2 ** 62, one to one, so that every bit depends on all."""
    for i in range(3):
        x = times(x ^ (x >> 29), FACTORS[i])
    return x ^ (x >> 31)


@kernel
def copy_subgraph(csr: Csr, walk: Walk, count: int, ball: NDArray[np.uint8], room: Room) -> None:
    """Adjacency lists of the rooted subgraph alone, its nodes numbered in the order they were met."""
    code, nodes = walk
    for i in range(count):
        room.place[nodes[i]] = i
    room.sub.indptr[0] = arcs = 0
    for i in range(count):
        w = nodes[i]
        mine = ball[code[w]]
        for k in range(csr.indptr[w], csr.indptr[w + 1]):
            x = csr.indices[k]
            if mine & ball[code[x]]:
                room.sub.indices[arcs] = room.place[x]
                arcs += 1
        room.sub.indptr[i + 1] = arcs


@kernel
def count_walks(u: int, v: int, count: int, further: Further, room: Room, histogram: NDArray[np.uint32]) -> None:
    """Walks of each length from u and from v, saturated at every step: then the last is min(number, MOST), exactly."""
    now, then = room.now, room.then
    for i in range(count):
        now[i, 0] = i == u
        now[i, 1] = i == v
    for k in range(further.walk.shape[1] + 1):
        for i in range(count):
            from_u = from_v = 0
            for j in range(room.sub.indptr[i], room.sub.indptr[i + 1]):
                x = room.sub.indices[j]
                from_u += now[x, 0]
                from_v += now[x, 1]
            then[i, 0] = min(from_u, MOST)
            then[i, 1] = min(from_v, MOST)
        now, then = then, now
        if k > 0:
            histogram[further.walk[0, k - 1]] = now[v, 0]
            histogram[further.walk[1, k - 1]] = now[u, 0]
            histogram[further.walk[2, k - 1]] = now[v, 1]


@kernel
def tally_colours(walk: Walk, count: int, further: Further, room: Room, histogram: NDArray[np.uint32]) -> None:
    """Rounds of 1-WL, for (u, v) and (v, u) at once; a sum stands for the multiset of neighbours' colours."""
    now, then = room.now, room.then
    for i in range(count):
        first = further.start[walk.code[walk.nodes[i]]]
        now[i, 0] = first[0]
        now[i, 1] = first[1]
    for _ in range(further.rounds):
        for i in range(count):
            a, b = times(now[i, 0], FACTORS[0]), times(now[i, 1], FACTORS[0])
            for j in range(room.sub.indptr[i], room.sub.indptr[i + 1]):
                x = room.sub.indices[j]
                a = (a + now[x, 0]) & MASK
                b = (b + now[x, 1]) & MASK
            then[i, 0] = mix(a)
            then[i, 1] = mix(b)
        now, then = then, now
    size = further.colour.shape[1]
    for i in range(count):
        histogram[further.colour[0, now[i, 0] % size]] += 1
        histogram[further.colour[1, now[i, 1] % size]] += 1


@kernel
def count_cycles(csr: Csr, u: int, v: int, further: Further, room: Room, histogram: NDArray[np.uint32]) -> None:
    """Cycles through the edge uv, or through the node u = v. Distances are found from the end with fewer neighbours."""
    room.counts[:] = 0
    if csr.indptr[u + 1] - csr.indptr[u] < csr.indptr[v + 1] - csr.indptr[v]:
        add_cycles(csr, v, u, room.distance, room.queue, room.counts)
    else:
        add_cycles(csr, u, v, room.distance, room.queue, room.counts)
    for i in range(room.counts.size):
        histogram[further.cycle[i]] = min(room.counts[i] // (1 + (u == v)), MOST)


@kernel
def tally_further(
    csr: Csr,
    root: NDArray[np.int64],
    walk: Walk,
    count: int,
    ball: NDArray[np.uint8],
    further: Further,
    room: Room,
    histogram: NDArray[np.uint32],
) -> None:
    """Add what was asked for."""
    if further.walk.size or further.colour.size:
        copy_subgraph(csr, walk, count, ball, room)
    if further.walk.size:
        count_walks(room.place[root[0]], room.place[root[1]], count, further, room, histogram)
    if further.colour.size:
        tally_colours(walk, count, further, room, histogram)
    if further.cycle.size:
        count_cycles(csr, root[0], root[1], further, room, histogram)
