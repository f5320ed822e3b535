"""Cycles of the whole graph through one edge or one node, one by one: a search that never leaves without a way back."""

import numpy as np
from numpy.typing import NDArray

from escgnn.kernels import kernel
from escgnn.kernels.graphs import Csr

ON_PATH = 127  # farther than any search goes


@kernel
def add_cycles(
    csr: Csr, s: int, t: int, distance: NDArray[np.int8], queue: NDArray[np.int32], counts: NDArray[np.int64]
) -> None:
    """Add the k-cycles that the edge st closes to ``counts[k - 3]``, up to as many lengths as there is room for.

    They are the simple paths of k - 1 edges from s to t, be these adjacent or not. With s = t they are the k-cycles
    through s, each met in both directions. Distances to t are found up to ``distance`` - 1, which reads the same
    everywhere, before and after; farther nodes keep that number, and it is never too large.
    """
    closed = int(s == t)
    longest = counts.size + 1 + closed
    far = distance[s]
    distance[s] = ON_PATH  # paths from t back to s go around s
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
    if last > 1:
        path, arc, before = np.empty((3, longest + 1), np.int64)
        depth = 0
        path[0], arc[0] = s, csr.indptr[s]
        while depth >= 0:
            node = path[depth]
            if arc[depth] == csr.indptr[node + 1]:
                if depth > 0:
                    distance[node] = before[depth]
                depth -= 1
                continue
            x = csr.indices[arc[depth]]
            arc[depth] += 1
            back = distance[x]
            left = longest - depth - 1
            if back == 0 or back > left:
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
