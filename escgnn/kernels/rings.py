"""Rings: cycles that no edge cuts short, of a graph or through a root, by searches that never leave without a way back."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from escgnn.kernels import kernel
from escgnn.kernels.cycles import ON_PATH, find_distances
from escgnn.kernels.graphs import Csr, Types
from escgnn.kernels.necklaces import hash_ring
from escgnn.kernels.tallies import Tally, add


@kernel
def find_rings(
    csr: Csr,
    edge: NDArray[np.int64],
    longest: int,
    most_steps: int,
    ring_len: NDArray[np.int64],
    ring_edge: NDArray[np.int64],
) -> tuple[int, int, int]:
    """List the induced cycles of 3 to ``longest`` nodes, in the order of their smallest nodes.

    A ring is met once: from its smallest node, the root, to the smaller of the root's two neighbours on it, and on. A path from
    the root grows by nodes that are joined to its end and to no other node of it; when the new node is joined to the root as
    well, that is a ring. Nodes that are too far from the root to come back in time are not tried.

    Example: the square 0-1-2-3-0 with the diagonal 0-2. From 0 to 1, and on to 2, which is joined to the root: the ring 0-1-2,
    and no further. From 0 to 2, and on to 3: the ring 0-2-3; not to 1, which is smaller than 2, so that this ring was met before.
    The square itself is none.

    Args:
        csr: Adjacency lists.
        edge: Number of the undirected edge of each arc, (arcs,).
        longest: Most nodes of a ring.
        most_steps: The search ends after so many.
        ring_len: For the number of edges of each ring; what does not fit is counted only.
        ring_edge: For the edges of all rings, one after another, along each.

    Returns:
        How many rings there are, how many edges they have together, and how many steps it took; the first two mean nothing if
        these are more than ``most_steps``.
    """
    nodes = csr.indptr.size - 1
    far = longest + 1
    distance = np.full(nodes, far, np.int64)  # to the root, by nodes above it, up to half of the longest ring; else far
    beside = np.zeros(nodes, np.int64)  # how many nodes of the path, but for the root, are adjacent
    closing = np.full(nodes, -1, np.int64)  # the edge to the root
    queue = np.empty(nodes, np.int64)
    path, arc, along = np.empty(
        (3, longest + 1), np.int64
    )  # nodes, the next arc to try of each, and edges that led there
    rings = 0
    entries = 0
    steps = 0
    for root in range(nodes):
        begin, stop = csr.indptr[root], csr.indptr[root + 1]
        distance[root] = 0
        queue[0] = root
        first, last = 0, 1
        while first < last and distance[queue[first]] < longest // 2:
            w = queue[first]
            first += 1
            for k in range(csr.indptr[w], csr.indptr[w + 1]):
                x = csr.indices[k]
                if x > root and distance[x] == far:
                    distance[x] = distance[w] + 1
                    queue[last] = x
                    last += 1
        for k in range(begin, stop):
            closing[csr.indices[k]] = edge[k]
        path[0], arc[0] = root, begin
        depth = 0
        while depth >= 0:
            node = path[depth]
            if arc[depth] == csr.indptr[node + 1]:  # all tried: take it back
                if depth > 0:
                    for k in range(csr.indptr[node], csr.indptr[node + 1]):
                        beside[csr.indices[k]] -= 1
                depth -= 1
                continue
            steps += 1
            if steps > most_steps:
                return rings, entries, steps
            k = arc[depth]
            arc[depth] += 1
            x = csr.indices[k]
            # depth + 1 nodes, then x, then those of a shortest way back
            if x <= root or beside[x] != min(depth, 1) or depth + 1 + distance[x] > longest:
                continue
            if depth > 0 and closing[x] >= 0:
                if x > path[1]:
                    size = depth + 2
                    if rings < ring_len.size and entries + size <= ring_edge.size:
                        ring_len[rings] = size
                        for i in range(1, depth + 1):
                            ring_edge[entries + i - 1] = along[i]
                        ring_edge[entries + size - 2] = edge[k]
                        ring_edge[entries + size - 1] = closing[x]
                    rings += 1
                    entries += size
                continue
            depth += 1
            path[depth], arc[depth], along[depth] = x, csr.indptr[x], edge[k]
            for i in range(csr.indptr[x], csr.indptr[x + 1]):
                beside[csr.indices[i]] += 1
        for k in range(begin, stop):
            closing[csr.indices[k]] = -1
        for i in range(last):
            distance[queue[i]] = far
    return rings, entries, steps


class RingSearch(NamedTuple):
    """Memory of a search for the rings through a root."""

    distance: NDArray[np.int8]  # (nodes,) to the end of the path, far between searches
    beside: NDArray[np.int32]  # (nodes,) how many nodes of the path are adjacent, zero between searches
    queue: NDArray[np.int32]  # (nodes,)
    path: NDArray[np.int64]  # (3, longest) nodes, the next arc to try of each, and the arcs that led there
    reading: NDArray[np.int64]  # (4 * longest,) types around a ring, twice: a node, an edge, a node, and so on


@kernel
def make_ring_search(csr: Csr, lengths: int) -> RingSearch:
    """Memory to look for rings of so many lengths from 3 on, none if there are none."""
    nodes = csr.indptr.size - 1 if lengths else 0
    longest = lengths + 2
    return RingSearch(
        np.full(nodes, longest // 2 + 1, np.int8),
        np.zeros(nodes, np.int32),
        np.empty(nodes, np.int32),
        np.empty((3, longest), np.int64),
        np.empty(4 * longest, np.int64),
    )


@kernel
def type_between(csr: Csr, arc_type: NDArray[np.int64], u: int, v: int) -> int:
    """Type of the edge uv, 0 if there is none."""
    found = 0
    for k in range(csr.indptr[u], csr.indptr[u + 1]):
        if csr.indices[k] == v:
            found = arc_type[k]
    return found


@kernel
def rings_between(
    csr: Csr,
    types: Types,
    s: int,
    t: int,
    above: int,
    bins: NDArray[np.int32],
    search: RingSearch,
    halt: NDArray[np.uint8],
    tally: Tally,
) -> None:
    """Count the rings that the edge st closes, be it there or not, in ``bins``, by length from 3 on and by hash.

    They are the paths from s to t that no edge cuts short. A path grows by nodes that are joined to its end, to no other node of
    it, and not to t; one that is joined to t ends it. Nodes that are too far from t to come there in time are not tried. Only
    rings are counted in which t's other neighbour is a node above ``above``. Once ``halt[0]`` is not 0 the search ends early,
    and means nothing.

    Example: the square s - t - a - b - s with the diagonal s - a. From s to a, which is next to t: the ring s a t. To b, but not
    on to a, which is joined to s as well: the square is none.
    """
    distance, beside, queue, path, reading = search
    longest = bins.shape[0] + 2
    far = distance[s]
    distance[s] = ON_PATH
    last = find_distances(csr, t, far, distance, queue)
    nodes, arc, along = path
    depth = 0
    nodes[0] = s
    arc[0] = csr.indptr[s]
    for k in range(csr.indptr[s], csr.indptr[s + 1]):
        beside[csr.indices[k]] += 1
    while depth >= 0:
        node = nodes[depth]
        if arc[depth] == csr.indptr[node + 1]:  # all tried: take it back
            if halt[0]:
                return
            for k in range(csr.indptr[node], csr.indptr[node + 1]):
                beside[csr.indices[k]] -= 1
            depth -= 1
            continue
        k = arc[depth]
        arc[depth] += 1
        x = csr.indices[k]
        size = depth + 2 + int(distance[x])  # nodes up to x, and those of a shortest way to t
        if distance[x] == 0 or size > longest or beside[x] != 1:
            continue
        if distance[x] > 1:
            depth += 1
            nodes[depth] = x
            arc[depth] = csr.indptr[x]
            along[depth] = k
            for j in range(csr.indptr[x], csr.indptr[x + 1]):
                beside[csr.indices[j]] += 1
        elif x > above:
            composition = 0
            if bins.shape[1] > 1:
                for i in range(depth + 1):
                    reading[2 * i] = types.node[nodes[i]]
                    reading[2 * i + 1] = types.arc[along[i + 1]] if i < depth else types.arc[k]
                reading[2 * depth + 2] = types.node[x]
                reading[2 * depth + 3] = type_between(csr, types.arc, x, t)
                reading[2 * depth + 4] = types.node[t]
                reading[2 * depth + 5] = type_between(csr, types.arc, s, t)
                composition = hash_ring(reading, 2 * size) % bins.shape[1]
            add(tally, 0, bins[size - 3, composition])
            add(tally, 1, bins[size - 3, composition])
    for i in range(last):
        distance[queue[i]] = far
    distance[s] = far


@kernel
def tally_rings(
    csr: Csr,
    types: Types,
    u: int,
    v: int,
    bins: NDArray[np.int32],
    search: RingSearch,
    halt: NDArray[np.uint8],
    tally: Tally,
) -> None:
    """Count the rings through the edge uv, or through the node u = v: each there from the lower of its two neighbours."""
    if u != v:
        rings_between(csr, types, u, v, -1, bins, search, halt, tally)
        return
    for k in range(csr.indptr[v], csr.indptr[v + 1]):
        a = csr.indices[k]
        rings_between(csr, types, a, v, a, bins, search, halt, tally)
