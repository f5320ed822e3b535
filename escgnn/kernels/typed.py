"""Rows of the parts that see what kind nodes and edges are of: a pass of its own, so that others stay as quick as they are."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from escgnn.kernels import kernel
from escgnn.kernels.alike import tally_alike
from escgnn.kernels.colours import COLOURS, FACTORS, mix, times
from escgnn.kernels.encoding import Output
from escgnn.kernels.graphs import Csr, Types
from escgnn.kernels.rings import make_ring_search, tally_rings
from escgnn.kernels.rooted import Balls, Walk, label_adjacent, label_any
from escgnn.kernels.tallies import Tally, add, make_tally, take_row


class TypedLayout(NamedTuple):
    """Where counts go. Tables of parts that nobody asked for are empty."""

    hops: int
    max_nodes: int
    ball: NDArray[np.uint8]  # (hops + 1, codes) which balls of that radius hold the node; 0 outside
    joint: NDArray[np.int32]  # (codes, types) bin of a node; types begin anew when they are more
    edge: NDArray[np.int32]  # (codes, codes, types) bin of an edge
    colour: NDArray[np.int32]  # (colours,) bin of a node by its colour and label
    label: NDArray[np.int64]  # (codes, 2) a number for each label, seen from (u, v) and from (v, u)
    ring: NDArray[np.int32]  # (lengths, hashes) bin of a ring
    alike: NDArray[np.int32]  # (2,) bins of neighbours of v like u, and of u like v
    swap: NDArray[np.int32]  # (bins + 1,) bin of (v, u) that counts what bin b of (u, v) counts, but for colours


class Environments(NamedTuple):
    """Colours of nodes by what is around them, for each part that goes by them; empty if nobody asked."""

    colour: NDArray[np.int64]  # (nodes,)
    alike: NDArray[np.int64]  # (nodes,)


@kernel
def hash_rows(rows: NDArray[np.int64]) -> NDArray[np.int64]:
    """One number below 2 ** 62 for all values of a row, in their order."""
    found = np.zeros(rows.shape[0], np.int64)
    for i in range(rows.shape[0]):
        for value in rows[i]:
            found[i] = mix((times(found[i], FACTORS[0]) + value + 1) & COLOURS)
    return found


@kernel
def refine(csr: Csr, types: Types, rounds: int) -> NDArray[np.int64]:
    """Colours of all nodes after rounds of 1-WL that begin with types, the types of edges in their messages.

    After t rounds nodes share a colour if and only if the trees of t steps around them are the same: these are the Morgan
    environments of radius t. A sum stands for the multiset of messages, which are mixed, so that each keeps its edge.
    """
    nodes = csr.indptr.size - 1
    now = np.empty(nodes, np.int64)
    then = np.empty(nodes, np.int64)
    for w in range(nodes):
        now[w] = mix(types.node[w])
    for _ in range(rounds):
        for w in range(nodes):
            heard = times(now[w], FACTORS[0])
            for k in range(csr.indptr[w], csr.indptr[w + 1]):
                heard = (heard + mix((now[csr.indices[k]] + times(types.arc[k] + 1, FACTORS[1])) & COLOURS)) & COLOURS
            then[w] = mix(heard)
        now, then = then, now
    return now


@kernel
def tally_typed(
    csr: Csr,
    walk: Walk,
    count: int,
    ball: NDArray[np.uint8],
    types: Types,
    colour: NDArray[np.int64],
    layout: TypedLayout,
    tally: Tally,
) -> None:
    """Count nodes and edges of the labelled subgraph, each once."""
    code, nodes = walk
    for i in range(count):
        w = nodes[i]
        label = code[w]
        if layout.joint.size:
            b = layout.joint[label, types.node[w] % layout.joint.shape[1]]
            add(tally, 0, b)
            add(tally, 1, layout.swap[b])
        if layout.colour.size:
            for side in range(2):
                seen = mix((colour[w] + layout.label[label, side]) & COLOURS)
                add(tally, side, layout.colour[seen % layout.colour.size])
        if layout.edge.size:
            mine = ball[label]
            for k in range(csr.indptr[w], csr.indptr[w + 1]):
                x = csr.indices[k]
                if x > w and mine & ball[code[x]]:
                    b = layout.edge[label, code[x], types.arc[k] % layout.edge.shape[2]]
                    add(tally, 0, b)
                    add(tally, 1, layout.swap[b])


@kernel
def encode_typed(
    csr: Csr,
    roots: NDArray[np.int64],
    layout: TypedLayout,
    types: Types,
    environments: Environments,
    anywhere: bool,
    output: Output,
) -> int:
    """Write the rows of (u, v) and (v, u) for every root, and return the size written; ``anywhere`` they may be apart."""
    num_nodes = csr.indptr.size - 1
    walk = Walk(np.zeros(num_nodes, np.int32), np.empty(num_nodes, np.int32))
    apart = num_nodes if anywhere else 0
    balls = Balls(np.zeros((2, apart), np.int32), np.empty((2, apart), np.int32))
    search = make_ring_search(csr, layout.ring.shape[0])
    tally = make_tally(layout.swap.size - 1)
    has_subgraph = layout.joint.size > 0 or layout.edge.size > 0 or layout.colour.size > 0
    halt = output.halt
    end = 0
    for i in range(roots.shape[0]):
        if i % 16 == 0 and halt[0]:
            break
        u, v = roots[i]
        if has_subgraph:
            if anywhere:
                count, radius = label_any(csr, roots[i], layout.hops, layout.max_nodes, walk, balls)
            else:
                count, radius = label_adjacent(csr, u, v, layout.hops, layout.max_nodes, walk)
            tally_typed(csr, walk, count, layout.ball[radius], types, environments.colour, layout, tally)
            for j in range(count):
                walk.code[walk.nodes[j]] = 0
        if layout.ring.size:
            tally_rings(csr, types, u, v, layout.ring, search, halt, tally)
        if layout.alike.size:
            tally_alike(csr, u, v, environments.alike, layout.alike, tally)
        middle = take_row(tally, 0, end, output.bins, output.counts)
        output.lengths[2 * i] = middle - end
        end = take_row(tally, 1, middle, output.bins, output.counts)
        output.lengths[2 * i + 1] = end - middle
    return end
