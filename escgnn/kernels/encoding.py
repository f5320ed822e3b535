"""Histograms of rooted subgraphs: label the nodes by their distances to the roots, then count.

What the codes of nodes mean is in the tables of `Layout`, which send every node, edge or degree to a bin. Whatever
nobody asked for goes to a last, spare bin.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from escgnn.kernels import kernel
from escgnn.kernels.further import MOST, Further, make_room, tally_further
from escgnn.kernels.graphs import Csr
from escgnn.kernels.motifs import Motifs, make_around, tally_paths, tally_triples
from escgnn.kernels.resistance import resistances
from escgnn.kernels.rooted import Balls, Walk, label_adjacent, label_any


class Layout(NamedTuple):
    """Where counts go. Bins run from 0 to ``swap.size - 1``; then one is spare, then come the colours of (v, u)."""

    hops: int
    max_nodes: int
    joint: NDArray[np.int32]  # (codes,) bin of a node's label
    node: NDArray[np.int32]  # (2, codes) bin of its distance to each root
    edge: NDArray[np.int32]  # (codes, codes) bin of an edge
    ball: NDArray[np.uint8]  # (hops + 1, codes) which balls of that radius hold the node; 0 outside
    degree: NDArray[np.int32]  # (max_degree + 1,) consecutive, or all spare
    clipped: NDArray[np.int32]  # (hops,) bin that says which smaller radius was used
    shift: NDArray[Any]  # (bins + 1,) 1 where everything is met twice; its type is that of all counts
    swap: NDArray[np.int32]  # (bins,) bin of (u, v) that is bin b of (v, u)


class Resistance(NamedTuple):
    """Where counts of nodes by resistance go."""

    bins: NDArray[np.int32]  # (2, bins a root), the last one open
    width: float


class Output(NamedTuple):
    """Rows one after the other; ``bins`` and ``counts`` have room for two full histograms a root and one number."""

    lengths: NDArray[np.int32]  # (2 * roots,)
    bins: NDArray[np.int32]
    counts: NDArray[np.int32]


@kernel
def tally(
    csr: Csr,
    walk: Walk,
    count: int,
    ball: NDArray[np.uint8],
    tables: tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.int32], NDArray[np.int32]],
    histogram: NDArray[np.uint32],
) -> int:
    """Count edges, nodes and degrees of the labelled subgraph; return the place of the top degree.

    Every edge is met from both ends.
    """
    code, nodes = walk
    edge, joint, node, degree = tables
    top = 0
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
        found = min(found, degree.size - 1)
        histogram[degree[found]] += 1
        top = max(top, found)
        histogram[joint[label]] += 1
        histogram[node[0, label]] += 1
        histogram[node[1, label]] += 1
    return top


@kernel
def write_row(
    histogram: NDArray[np.uint32], order: NDArray[np.int32], idle: tuple[int, int], start: int, output: Output
) -> int:
    """Append the non-zero bins, ascending, and return the end; ``idle`` is a stretch of bins known to be zero."""
    end = start
    for first, last in ((0, idle[0]), (idle[1], order.size)):
        for b in range(first, last):
            count = histogram[order[b]]
            output.bins[end] = b
            output.counts[end] = count
            end += count != 0  # no branch: none could be guessed
    return end


@kernel
def tally_resistances(values: NDArray[np.float64], resistance: Resistance, histogram: NDArray[np.uint32]) -> None:
    """Count nodes by resistance. Exact multiples of the width are common; rounding must not decide their bin."""
    last = resistance.bins.shape[1] - 1
    for side in range(2):
        for value in values[side]:
            place = min(value / resistance.width + 1e-6, np.float64(last))  # infinite, too, is the last bin
            histogram[resistance.bins[side, int(place)]] += 1


@kernel
def encode(
    csr: Csr,
    roots: NDArray[np.int64],
    layout: Layout,
    resistance: Resistance | None,
    motifs: Motifs | None,
    further: Further | None,
    anywhere: bool | None,
    output: Output,
) -> int:
    """Write the rows of (u, v) and (v, u) for every root; return the size written, or -1 - root on failure.

    ``anywhere`` is None if all roots are adjacent or equal. None, not False: what it rules out is not compiled.
    """
    num_nodes, num_bins = csr.indptr.size - 1, layout.swap.size
    code, nodes = np.zeros(num_nodes, np.int32), np.empty(num_nodes, np.int32)
    walk = Walk(code, nodes)
    mirrored = 0
    if further is not None:
        room = make_room(csr, further)
        mirrored = further.colour.shape[1]
    histogram = np.zeros(num_bins + 1 + mirrored, layout.shift.dtype)
    tables = (layout.edge, layout.joint, layout.node, layout.degree)
    same = np.arange(num_bins).astype(np.int32)
    if anywhere is not None:
        balls = Balls(np.zeros((2, num_nodes), np.int32), np.empty((2, num_nodes), np.int32))
    if resistance is not None:
        place = np.empty(num_nodes, np.int32)
    if motifs is not None:
        mark, around = np.zeros(num_nodes, np.int32), make_around(num_nodes if motifs.path.size else 0, motifs)
    end = 0
    for i in range(roots.shape[0]):
        if anywhere is None:
            count, radius = label_adjacent(csr, roots[i, 0], roots[i, 1], layout.hops, layout.max_nodes, walk)
        else:
            count, radius = label_any(csr, roots[i], layout.hops, layout.max_nodes, walk, balls)
        ball = layout.ball[radius]
        top = tally(csr, walk, count, ball, tables, histogram)
        if motifs is not None:
            if motifs.wedge.size or motifs.triangle.size:
                tally_triples(csr, walk, count, ball, motifs, mark, histogram)
            if motifs.path.size:
                tally_paths(csr, walk, count, ball, motifs, mark, around, histogram)
        for b in range(num_bins):
            histogram[b] >>= layout.shift[b]
        if motifs is not None:
            for b in range(num_bins):
                histogram[b] = min(histogram[b], MOST)
        if radius < layout.hops:
            histogram[layout.clipped[radius]] += 1
        if resistance is not None:
            values = resistances(csr, nodes[:count], roots[i], code, ball, place)
            if values.size == 0:
                return -1 - i
            tally_resistances(values, resistance, histogram)
        if further is not None:
            tally_further(csr, roots[i], walk, count, ball, further, room, histogram)
        for j in range(count):
            code[nodes[j]] = 0
        idle = (min(layout.degree[top] + 1, num_bins), min(layout.degree[-1] + 1, num_bins))
        middle = write_row(histogram, same, idle, end, output)
        output.lengths[2 * i] = middle - end
        end = write_row(histogram, layout.swap, idle, middle, output)
        output.lengths[2 * i + 1] = end - middle
        histogram[:] = 0
    return end
