"""Rings of a graph: cycles that no edge cuts short, one by one, by a search that never leaves without a way back."""

import numpy as np
from numpy.typing import NDArray

from escgnn.kernels import kernel
from escgnn.kernels.graphs import Csr


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
