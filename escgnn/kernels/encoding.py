"""Histograms of rooted subgraphs: label the nodes by their distances to the roots, then count.

A root's nodes get a *code*, 0 outside the subgraph. Codes are cheap to make and to look up; what they mean is in the
tables of `Layout`, which send every node, edge or degree to a bin. Whatever nobody asked for goes to a last, spare bin.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from escgnn.kernels import kernel
from escgnn.kernels.graphs import Csr
from escgnn.kernels.resistance import resistances

ONLY_U, ONLY_V, BOTH = 1, 2, 3  # which roots are nearest: the two low bits of an adjacent pair's code


class Layout(NamedTuple):
    """Where counts go. Bins run from 0 to ``swap.size - 1``; the one after them is spare."""

    adjacent: bool  # roots are adjacent or equal: codes are 4 * distance + nearest, else 1 + (h + 2) * d_u + d_v
    hops: int
    max_nodes: int
    joint: NDArray[np.int32]  # (codes,) bin of a node's label
    node: NDArray[np.int32]  # (2, codes) bin of its distance to each root
    edge: NDArray[np.int32]  # (codes, codes) bin of an edge
    ball: NDArray[np.uint8]  # (hops + 1, codes) which balls of that radius hold the node; 0 outside
    degree: NDArray[np.int32]  # (max_degree + 1,)
    resistance: NDArray[np.int32]  # (2, bins), no bins if nobody asked
    width: float  # of a resistance bin
    clipped: NDArray[np.int32]  # (hops,) bin that says which smaller radius was used
    swap: NDArray[np.int32]  # bin of (u, v) that is bin b of (v, u)


class Scratch(NamedTuple):
    """What one thread needs, zero between roots."""

    code: NDArray[np.int32]  # (nodes,)
    nodes: NDArray[np.int32]  # (nodes,) of the subgraph, in the order they were met
    distance: NDArray[np.int32]  # (2, nodes) plus one, 0 unknown
    queue: NDArray[np.int32]  # (2, nodes)
    histogram: NDArray[np.int64]  # (bins + 1,)


@kernel
def label_adjacent(csr: Csr, u: int, v: int, layout: Layout, scratch: Scratch) -> tuple[int, int]:
    """Walk both balls at once; return the number of nodes and the radius that fitted.

    Adjacent roots' distances differ by at most one, so the smaller one and who is nearest tell both.
    """
    code, nodes = scratch.code, scratch.nodes
    code[u] |= ONLY_U
    code[v] |= ONLY_V
    nodes[0] = u
    nodes[1] = v
    first, last = 0, 1 + (u != v)
    for radius in range(layout.hops):
        stop = last
        level = 4 * (radius + 1)
        for i in range(first, stop):
            nearest = code[nodes[i]] & BOTH
            for k in range(csr.indptr[nodes[i]], csr.indptr[nodes[i] + 1]):
                x = csr.indices[k]
                if code[x] == 0:
                    if last == layout.max_nodes:
                        for j in range(stop, last):
                            code[nodes[j]] = 0
                        return stop, radius
                    code[x] = level | nearest
                    nodes[last] = x
                    last += 1
                elif code[x] >= level:
                    code[x] |= nearest
        if last == stop:
            break
        first = stop
    return last, layout.hops


@kernel
def next_sphere(csr: Csr, side: int, start: int, stop: int, room: int, scratch: Scratch) -> tuple[int, int]:
    """Add what lies one step beyond ``queue[side, start:stop]`` to that ball, while new nodes fit in ``room``."""
    queue, distance = scratch.queue[side], scratch.distance[side]
    end = stop
    for i in range(start, stop):
        w = queue[i]
        for k in range(csr.indptr[w], csr.indptr[w + 1]):
            x = csr.indices[k]
            if distance[x] == 0:
                distance[x] = distance[w] + 1
                queue[end] = x
                end += 1
                room -= scratch.distance[1 - side, x] == 0
                if room < 0:
                    return end, room
    return end, room


@kernel
def label_any(csr: Csr, u: int, v: int, layout: Layout, scratch: Scratch) -> tuple[int, int]:
    """The same for roots anywhere: two balls, sphere by sphere; distances beyond the radius read radius + 1."""
    distance, queue = scratch.distance, scratch.queue
    distance[0, u] = distance[1, v] = 1
    queue[0, 0] = u
    queue[1, 0] = v
    start_u, start_v, stop_u, stop_v = 0, 0, 1, 1
    room = layout.max_nodes - 1 - (u != v)
    radius = 0
    while radius < layout.hops:
        end_u, room = next_sphere(csr, 0, start_u, stop_u, room, scratch)
        end_v = stop_v
        if room >= 0:
            end_v, room = next_sphere(csr, 1, start_v, stop_v, room, scratch)
        if room < 0:
            for i in range(stop_u, end_u):
                distance[0, queue[0, i]] = 0
            for i in range(stop_v, end_v):
                distance[1, queue[1, i]] = 0
            break
        radius += 1
        start_u, start_v, stop_u, stop_v = stop_u, stop_v, end_u, end_v
    count = 0
    for side, stop in ((0, stop_u), (1, stop_v)):
        for i in range(stop):
            w = queue[side, i]
            if scratch.code[w] == 0:
                a = distance[0, w] - 1 if distance[0, w] else radius + 1
                b = distance[1, w] - 1 if distance[1, w] else radius + 1
                scratch.code[w] = 1 + (layout.hops + 2) * a + b
                scratch.nodes[count] = w
                count += 1
    for i in range(count):
        distance[:, scratch.nodes[i]] = 0
    return count, radius


@kernel
def tally(csr: Csr, count: int, radius: int, layout: Layout, scratch: Scratch) -> None:
    """Count nodes, degrees and edges of the labelled subgraph. Every edge is met from both ends."""
    code, histogram = scratch.code, scratch.histogram
    ball = layout.ball[radius]
    for i in range(count):
        w = scratch.nodes[i]
        label = code[w]
        mine, bins = ball[label], layout.edge[label]
        degree = 0
        for k in range(csr.indptr[w], csr.indptr[w + 1]):
            other = code[csr.indices[k]]
            if mine & ball[other]:
                histogram[bins[other]] += 1
                degree += 1
        histogram[layout.degree[min(degree, layout.degree.size - 1)]] += 1
        histogram[layout.joint[label]] += 1
        histogram[layout.node[0, label]] += 1
        histogram[layout.node[1, label]] += 1


@kernel
def write_row(
    histogram: NDArray[np.int64],
    order: NDArray[np.int32],
    start: int,
    bins: NDArray[np.int32],
    counts: NDArray[np.int32],
) -> int:
    """Append the non-zero bins, ascending; without a branch, for no branch could be guessed."""
    end = start
    for b in range(order.size):
        c = histogram[order[b]]
        bins[end] = b
        counts[end] = c
        end += c != 0
    return end


@kernel
def tally_resistances(values: NDArray[np.float64], layout: Layout, histogram: NDArray[np.int64]) -> None:
    """Count nodes by resistance. Exact multiples of the width are common; rounding must not decide their bin."""
    last = layout.resistance.shape[1] - 1
    for side in range(2):
        for value in values[side]:
            place = min(value / layout.width + 1e-6, np.float64(last))  # infinite, too, is the last bin
            histogram[layout.resistance[side, int(place)]] += 1


@kernel
def encode(
    csr: Csr,
    roots: NDArray[np.int64],
    layout: Layout,
    lengths: NDArray[np.int32],
    bins: NDArray[np.int32],
    counts: NDArray[np.int32],
) -> int:
    """Write the rows of (u, v) and (v, u) for every root; return the size written, or -1 - root on failure.

    ``bins`` and ``counts`` need room for two full histograms a root and one number more.
    """
    num_nodes, num_bins = csr.indptr.size - 1, layout.swap.size
    scratch = Scratch(
        np.zeros(num_nodes, np.int32),
        np.empty(num_nodes, np.int32),
        np.zeros((2, num_nodes), np.int32),
        np.empty((2, num_nodes), np.int32),
        np.zeros(num_bins + 1, np.int64),
    )
    nodes, code, histogram = scratch.nodes, scratch.code, scratch.histogram
    same = np.arange(num_bins).astype(np.int32)
    met_twice = np.unique(layout.edge)
    end = 0
    for i in range(roots.shape[0]):
        u, v = roots[i]
        if layout.adjacent:
            count, radius = label_adjacent(csr, u, v, layout, scratch)
        else:
            count, radius = label_any(csr, u, v, layout, scratch)
        tally(csr, count, radius, layout, scratch)
        for b in met_twice:
            histogram[b] //= 2
        if radius < layout.hops:
            histogram[layout.clipped[radius]] += 1
        if layout.resistance.size:
            values = resistances(csr, nodes[:count], roots[i], code, layout.ball[radius], scratch.queue[0])
            if values.size == 0:
                return -1 - i
            tally_resistances(values, layout, histogram)
        for j in range(count):
            code[nodes[j]] = 0
        middle = write_row(histogram, same, end, bins, counts)
        lengths[2 * i] = middle - end
        end = write_row(histogram, layout.swap, middle, bins, counts)
        lengths[2 * i + 1] = end - middle
        histogram[:] = 0
    return end


@kernel
def gather(
    starts: NDArray[np.int64],
    rows: NDArray[np.int64],
    ends: NDArray[np.int64],
    source: NDArray[np.int32],
    target: NDArray[np.int32],
) -> None:
    """Copy row ``rows[i]`` of ``source`` so that it ends at ``ends[i]`` of ``target``."""
    start = np.int64(0)
    for i in range(rows.size):
        first = starts[rows[i]]
        for k in range(ends[i] - start):
            target[start + k] = source[first + k]
        start = ends[i]
