"""Histograms of rooted subgraphs: label the nodes by their distances to the roots, then count.

What the codes of nodes mean is in the tables of `Layout`, which send every node, edge or degree to a bin. Whatever
nobody asked for goes to a last, spare bin.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from escgnn.kernels import kernel
from escgnn.kernels.graphs import Csr
from escgnn.kernels.resistance import resistances
from escgnn.kernels.rooted import Balls, Walk, label_adjacent, label_any


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
