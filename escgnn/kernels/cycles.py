"""Cycles of the whole graph through one edge or one node, one by one: a search that never leaves without a way back."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from escgnn.kernels import kernel
from escgnn.kernels.graphs import Csr
from escgnn.kernels.rows import LARGEST_COUNT

ON_PATH = 127  # farther than any search goes


class CycleSearch(NamedTuple):
    """Memory of a search."""

    distance: NDArray[np.int8]  # (nodes,) to the end of the path, see `add_cycles`
    queue: NDArray[np.int32]  # (nodes,)
    counts: NDArray[np.int64]  # (lengths,) of cycles


@kernel
def make_cycle_search(csr: Csr, lengths: int) -> CycleSearch:
    """Memory to look for cycles of so many lengths from 3 on, none if there are none."""
    nodes = csr.indptr.size - 1 if lengths else 0
    far = (lengths + 5) // 2  # distances help a search most in its second half
    return CycleSearch(np.full(nodes, far, np.int8), np.empty(nodes, np.int32), np.empty(lengths, np.int64))


@kernel
def find_distances(csr: Csr, t: int, far: int, distance: NDArray[np.int8], queue: NDArray[np.int32]) -> int:
    """Write distances to t below ``far``, around nodes that do not read that number; return how many nodes ``queue`` then has."""
    distance[t] = 0
    queue[0] = t
    first, last = 0, 1
    for step in range(1, far):
        stop = last
        for i in range(first, stop):
            w = queue[i]
            for k in range(csr.indptr[w], csr.indptr[w + 1]):
                x = csr.indices[k]
                if distance[x] == far:
                    distance[x] = step
                    queue[last] = x
                    last += 1
        first = stop
    return last


@kernel
def add_cycles(
    csr: Csr,
    s: int,
    t: int,
    distance: NDArray[np.int8],
    queue: NDArray[np.int32],
    counts: NDArray[np.int64],
    halt: NDArray[np.uint8],
) -> None:
    """Add the k-cycles that the edge st closes to ``counts[k - 3]``, up to as many lengths as there is room for.

    They are the simple paths of k - 1 edges from s to t, be these adjacent or not. With s = t they are the k-cycles
    through s, each met in both directions. Distances to t are found up to ``distance`` - 1, which reads the same
    everywhere, before and after; farther nodes keep that number, and it is never too large. A search ends early, and its
    counts and distances mean nothing, once ``halt[0]`` is not 0.

    Example: the square s - t - a - b - s, cycles of up to 4 nodes. Distances to t, around s, are a: 1, b: 2. From s the
    search skips t (that is the edge itself) and goes to b, from where 2 edges are left and 2 are needed; then to a, which
    is next to t: one 4-cycle. With a tail b - c - d, the step to c is not taken: its way back has more edges than are left.
    """
    closed = int(s == t)
    longest = counts.size + 1 + closed  # edges of the longest path
    far = distance[s]
    distance[s] = ON_PATH  # paths from t back to s go around s
    last = find_distances(csr, t, far, distance, queue)
    if last > 1:
        # path[i] is the i-th node, arc[i] the next of its neighbours to try, before[i] its distance while it is on the path
        path, arc, before = np.empty((3, longest + 1), np.int64)
        depth = 0
        path[0], arc[0] = s, csr.indptr[s]
        while depth >= 0:
            node = path[depth]
            if arc[depth] == csr.indptr[node + 1]:  # all tried: take it back
                if halt[0]:
                    return
                if depth > 0:
                    distance[node] = before[depth]
                depth -= 1
                continue
            x = csr.indices[arc[depth]]
            arc[depth] += 1
            back = distance[x]
            left = longest - depth - 1  # edges that may follow the one to x
            if back == 0 or back > left:  # t itself, on the path, or too far to come back
                continue
            if back == 1 and depth >= closed:  # a neighbour of t: one more edge and the path ends
                counts[depth - closed] += 1
            if left > 1:
                depth += 1
                path[depth], arc[depth], before[depth] = x, csr.indptr[x], back
                distance[x] = ON_PATH
    for i in range(last):
        distance[queue[i]] = far
    distance[s] = far


@kernel
def count_cycles(
    csr: Csr,
    u: int,
    v: int,
    bins: NDArray[np.int32],
    search: CycleSearch,
    halt: NDArray[np.uint8],
    histogram: NDArray[np.uint32],
) -> None:
    """Cycles through the edge uv, or through the node u = v. Distances are found from the end with fewer neighbours."""
    search.counts[:] = 0
    if csr.indptr[u + 1] - csr.indptr[u] < csr.indptr[v + 1] - csr.indptr[v]:
        add_cycles(csr, v, u, search.distance, search.queue, search.counts, halt)
    else:
        add_cycles(csr, u, v, search.distance, search.queue, search.counts, halt)
    directions = 1 + (u == v)
    for i in range(search.counts.size):
        histogram[bins[i]] = min(search.counts[i] // directions, LARGEST_COUNT)
