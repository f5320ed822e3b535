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
    shift: NDArray[np.uint32]  # (bins + 1,) 1 where everything is met twice
    swap: NDArray[np.int32]  # bin of (u, v) that is bin b of (v, u)


class Walk(NamedTuple):
    """The subgraph at hand. Kernels below take only the arrays they need: long argument lists cost time."""

    code: NDArray[np.int32]  # (nodes,) zero between roots
    nodes: NDArray[np.int32]  # (nodes,) of the subgraph, in the order they were met


class Balls(NamedTuple):
    """Two balls that grow one sphere at a time."""

    distance: NDArray[np.int32]  # (2, nodes) plus one, 0 unknown, zero between roots
    queue: NDArray[np.int32]  # (2, nodes)


@kernel
def label_adjacent(csr: Csr, u: int, v: int, hops: int, max_nodes: int, walk: Walk) -> tuple[int, int]:
    """Walk both balls at once; return the number of nodes and the radius that fitted.

    Adjacent roots' distances differ by at most one, so the smaller one and who is nearest tell both.
    """
    code, nodes = walk.code, walk.nodes
    code[u] |= ONLY_U
    code[v] |= ONLY_V
    nodes[0] = u
    last = 1
    if u != v:
        nodes[1] = v
        last = 2
    first = 0
    for radius in range(hops):
        stop = last
        level = 4 * (radius + 1)
        for i in range(first, stop):
            w = nodes[i]
            nearest = code[w] & BOTH
            for k in range(csr.indptr[w], csr.indptr[w + 1]):
                x = csr.indices[k]
                known = code[x]
                if known == 0:
                    if last == max_nodes:
                        for j in range(stop, last):
                            code[nodes[j]] = 0
                        return stop, radius
                    code[x] = level | nearest
                    nodes[last] = x
                    last += 1
                elif known >= level:
                    code[x] = known | nearest
        if last == stop:
            break
        first = stop
    return last, hops


@kernel
def next_sphere(csr: Csr, side: int, start: int, stop: int, room: int, balls: Balls) -> tuple[int, int]:
    """Add what lies one step beyond ``queue[side, start:stop]`` to that ball, while new nodes fit in ``room``."""
    queue, distance = balls.queue[side], balls.distance[side]
    end = stop
    for i in range(start, stop):
        w = queue[i]
        for k in range(csr.indptr[w], csr.indptr[w + 1]):
            x = csr.indices[k]
            if distance[x] == 0:
                distance[x] = distance[w] + 1
                queue[end] = x
                end += 1
                room -= balls.distance[1 - side, x] == 0
                if room < 0:
                    return end, room
    return end, room


@kernel
def label_any(csr: Csr, root: NDArray[np.int64], hops: int, max_nodes: int, walk: Walk, balls: Balls) -> tuple[int, int]:
    """The same for roots anywhere: two balls, sphere by sphere; distances beyond the radius read radius + 1."""
    distance, queue = balls.distance, balls.queue
    for side in range(2):
        distance[side, root[side]] = 1
        queue[side, 0] = root[side]
    start_u, start_v, stop_u, stop_v = 0, 0, 1, 1
    room = max_nodes - 1 - (root[0] != root[1])
    radius = 0
    while radius < hops:
        end_u, room = next_sphere(csr, 0, start_u, stop_u, room, balls)
        end_v = stop_v
        if room >= 0:
            end_v, room = next_sphere(csr, 1, start_v, stop_v, room, balls)
        if room < 0:
            distance[0][queue[0, stop_u:end_u]] = 0
            distance[1][queue[1, stop_v:end_v]] = 0
            break
        radius += 1
        start_u, start_v, stop_u, stop_v = stop_u, stop_v, end_u, end_v
    count = 0
    for side, stop in ((0, stop_u), (1, stop_v)):
        for i in range(stop):
            w = queue[side, i]
            if walk.code[w] == 0:
                a = distance[0, w] - 1 if distance[0, w] else radius + 1
                b = distance[1, w] - 1 if distance[1, w] else radius + 1
                walk.code[w] = 1 + (hops + 2) * a + b
                walk.nodes[count] = w
                count += 1
    for i in range(count):
        distance[:, walk.nodes[i]] = 0
    return count, radius


@kernel
def tally(
    csr: Csr,
    walk: Walk,
    count: int,
    tables: tuple[NDArray[np.int32], NDArray[np.uint8], NDArray[np.int32]],
    histogram: NDArray[np.uint32],
    labels: NDArray[np.uint32],
) -> None:
    """Count edges and degrees of the labelled subgraph, and its nodes by code. Every edge is met from both ends."""
    code, nodes = walk
    edge, ball, degree = tables
    for i in range(count):
        w = nodes[i]
        label = code[w]
        mine = ball[label]
        found = 0
        for k in range(csr.indptr[w], csr.indptr[w + 1]):
            other = code[csr.indices[k]]
            kept = (mine & ball[other]) != 0
            histogram[edge[label, other]] += kept
            found += kept
        histogram[degree[min(found, degree.size - 1)]] += 1
        labels[label] += 1


@kernel
def tally_labels(labels: NDArray[np.uint32], layout: Layout, histogram: NDArray[np.uint32]) -> None:
    """Count nodes by label and by distance to each root; what was met twice is halved."""
    for code in range(labels.size):
        histogram[layout.joint[code]] += labels[code]
        histogram[layout.node[0, code]] += labels[code]
        histogram[layout.node[1, code]] += labels[code]
        labels[code] = 0
    for b in range(histogram.size):
        histogram[b] >>= layout.shift[b]


@kernel
def write_row(
    histogram: NDArray[np.uint32],
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
def tally_resistances(values: NDArray[np.float64], layout: Layout, histogram: NDArray[np.uint32]) -> None:
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
    code, nodes = np.zeros(num_nodes, np.int32), np.empty(num_nodes, np.int32)
    walk = Walk(code, nodes)
    anywhere = 0 if layout.adjacent else num_nodes
    balls = Balls(np.zeros((2, anywhere), np.int32), np.empty((2, anywhere), np.int32))
    place = np.empty(num_nodes if layout.resistance.size else 0, np.int32)
    histogram, labels = np.zeros(num_bins + 1, np.uint32), np.zeros(layout.joint.size, np.uint32)
    same = np.arange(num_bins).astype(np.int32)
    end = 0
    for i in range(roots.shape[0]):
        if layout.adjacent:
            count, radius = label_adjacent(csr, roots[i, 0], roots[i, 1], layout.hops, layout.max_nodes, walk)
        else:
            count, radius = label_any(csr, roots[i], layout.hops, layout.max_nodes, walk, balls)
        ball = layout.ball[radius]
        tally(csr, walk, count, (layout.edge, ball, layout.degree), histogram, labels)
        tally_labels(labels, layout, histogram)
        if radius < layout.hops:
            histogram[layout.clipped[radius]] += 1
        if layout.resistance.size:
            values = resistances(csr, nodes[:count], roots[i], code, ball, place)
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
def link_columns(
    edge_index: NDArray[np.int64],
    arc: NDArray[np.int64],
    edge: NDArray[np.int64],
    row: NDArray[np.int64],
    first: NDArray[np.int64],
    following: NDArray[np.int64],
) -> None:
    """Find the row of every column, and chain each row's columns: ``first[row]``, then ``following``, -1 at the end.

    Edge k, u < v, has the rows 2k for (u, v) and 2k + 1 for (v, u); the rows of loops come behind those of edges.
    """
    first[:] = -1
    loop = np.int64(edge.size)
    for column in range(row.size):
        if arc[column] < 0:
            row[column] = loop
            loop += 2
        else:
            row[column] = 2 * edge[arc[column]] + (edge_index[0, column] > edge_index[1, column])
    for column in range(row.size - 1, -1, -1):
        following[column] = first[row[column]]
        first[row[column]] = column


@kernel
def scatter(
    lengths: NDArray[np.int32],
    first: NDArray[np.int64],
    following: NDArray[np.int64],
    starts: NDArray[np.int64],
    source: NDArray[np.int32],
    target: NDArray[np.int32],
) -> None:
    """Copy the rows that lie in ``source`` to every column that shows them."""
    begin = 0
    for row in range(lengths.size):
        column = first[row]
        while column >= 0:
            start = starts[column]
            for k in range(lengths[row]):
                target[start + k] = source[begin + k]
            column = following[column]
        begin += lengths[row]
