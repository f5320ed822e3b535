"""Rows of the encoding: label the nodes around a root by their distances, let every part count, write what is not zero.

What the codes of nodes mean is in the tables of `Layout`, which send every node, edge or degree to a bin. Whatever
nobody asked for goes to a last, spare bin.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from escgnn.kernels import kernel
from escgnn.kernels.colours import Colours, tally_colours
from escgnn.kernels.cycles import count_cycles, make_cycle_search
from escgnn.kernels.graphs import Csr
from escgnn.kernels.histograms import tally
from escgnn.kernels.motifs import Motifs, make_around, tally_paths, tally_triples
from escgnn.kernels.resistance import ResistanceBins, resistances, tally_resistances
from escgnn.kernels.rooted import Balls, Walk, label_adjacent, label_any
from escgnn.kernels.rows import LARGEST_COUNT
from escgnn.kernels.subgraphs import copy_subgraph, make_subgraph
from escgnn.kernels.walks import count_walks


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


class WalksCyclesColours(NamedTuple):
    """Where walks, cycles and colours go; tables are empty if nobody asked."""

    walk: NDArray[np.int32]  # (3, lengths) bins of walks from u to v, u to u, v to v, by length from 2 on
    cycle: NDArray[np.int32]  # (lengths,) bins of cycles, by length from 3 on
    colour: Colours


class Output(NamedTuple):
    """Rows one after the other; ``bins`` and ``counts`` have room for two full histograms a root and one number."""

    lengths: NDArray[np.int32]  # (2 * roots,)
    bins: NDArray[np.int32]
    counts: NDArray[np.int32]
    halt: NDArray[np.uint8]  # (1,) not 0 once nobody waits for the rows any more


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
def encode(
    csr: Csr,
    roots: NDArray[np.int64],
    layout: Layout,
    resistance: ResistanceBins | None,
    motifs: Motifs | None,
    others: WalksCyclesColours | None,
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
    if others is not None:
        copied = others.walk.size > 0 or others.colour.bins.size > 0
        sub = make_subgraph(csr, copied)
        search = make_cycle_search(csr, others.cycle.size)
        mirrored = others.colour.bins.shape[1]
    histogram = np.zeros(num_bins + 1 + mirrored, layout.shift.dtype)
    tables = (layout.edge, layout.joint, layout.node, layout.degree)
    same = np.arange(num_bins).astype(np.int32)
    if anywhere is not None:
        balls = Balls(np.zeros((2, num_nodes), np.int32), np.empty((2, num_nodes), np.int32))
    if resistance is not None:
        place = np.empty(num_nodes, np.int32)
    if motifs is not None:
        mark, around = np.zeros(num_nodes, np.int32), make_around(num_nodes if motifs.path.size else 0, motifs)
    halt = output.halt
    end = 0
    for i in range(roots.shape[0]):
        if i % 16 == 0 and halt[0]:
            break
        if anywhere is None:
            count, radius = label_adjacent(csr, roots[i, 0], roots[i, 1], layout.hops, layout.max_nodes, walk)
        else:
            count, radius = label_any(csr, roots[i], layout.hops, layout.max_nodes, walk, balls)
        ball = layout.ball[radius]
        # What is met twice comes before the shift that halves it, all else behind it.
        top = tally(csr, walk, count, ball, tables, histogram)
        if motifs is not None:
            if motifs.wedge.size or motifs.triangle.size:
                tally_triples(csr, walk, count, ball, motifs, mark, halt, histogram)
            if motifs.path.size:
                tally_paths(csr, walk, count, ball, motifs, mark, around, halt, histogram)
        if motifs is None:
            for b in range(num_bins):
                histogram[b] >>= layout.shift[b]
        else:
            for b in range(num_bins):
                histogram[b] = min(histogram[b] >> layout.shift[b], LARGEST_COUNT)
        if radius < layout.hops:
            histogram[layout.clipped[radius]] += 1
        if resistance is not None:
            values = resistances(csr, nodes[:count], roots[i], code, ball, place)
            if values.size == 0:
                return -1 - i
            tally_resistances(values, resistance, histogram)
        if others is not None:
            if copied:
                copy_subgraph(csr, walk, count, ball, sub)
            if others.walk.size:
                count_walks(sub.place[roots[i, 0]], sub.place[roots[i, 1]], count, others.walk, sub, histogram)
            if others.colour.bins.size:
                tally_colours(walk, count, others.colour, sub, histogram)
            if others.cycle.size:
                count_cycles(csr, roots[i, 0], roots[i, 1], others.cycle, search, halt, histogram)
        for j in range(count):
            code[nodes[j]] = 0
        # Degrees above the top one are all zero, and the bins of degrees are consecutive.
        idle = (min(layout.degree[top] + 1, num_bins), min(layout.degree[-1] + 1, num_bins))
        middle = write_row(histogram, same, idle, end, output)
        output.lengths[2 * i] = middle - end
        end = write_row(histogram, layout.swap, idle, middle, output)
        output.lengths[2 * i + 1] = end - middle
        histogram[:] = 0
    return end
