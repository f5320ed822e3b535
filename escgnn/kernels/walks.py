"""Walks of a rooted subgraph from root to root, by length."""

import numpy as np
from numpy.typing import NDArray

from escgnn.kernels import kernel
from escgnn.kernels.rows import LARGEST_COUNT
from escgnn.kernels.subgraphs import Subgraph


@kernel
def count_walks(
    u: int, v: int, count: int, bins: NDArray[np.int32], sub: Subgraph, histogram: NDArray[np.uint32]
) -> None:
    """Walks of each length from u and from v, saturated at every step: so the last is min(number, largest), exactly.

    ``bins``, ``(3, lengths)``, are those of walks from u to v, u to u and v to v, by length from 2 on. On the path
    u - v - w, walks from u end at (u, v, w) in these numbers: (1, 0, 0) after no step, then (0, 1, 0), (1, 0, 1),
    (0, 2, 0): one walk of 2 edges from u to u, two of 3 edges from u to v.
    """
    now, then = sub.now, sub.then
    for i in range(count):
        now[i, 0] = i == u
        now[i, 1] = i == v
    for k in range(bins.shape[1] + 1):
        for i in range(count):
            from_u = from_v = 0
            for j in range(sub.csr.indptr[i], sub.csr.indptr[i + 1]):
                x = sub.csr.indices[j]
                from_u += now[x, 0]
                from_v += now[x, 1]
            then[i, 0] = min(from_u, LARGEST_COUNT)
            then[i, 1] = min(from_v, LARGEST_COUNT)
        now, then = then, now
        if k > 0:  # walks of one edge are the edge uv itself
            histogram[bins[0, k - 1]] = now[v, 0]
            histogram[bins[1, k - 1]] = now[u, 0]
            histogram[bins[2, k - 1]] = now[v, 1]
