"""Edges of a graph of which only the adjacency lists are kept: which there are, and the number of each.

`Forward` is where the edges (u, v), u < v, of every node u begin in the ascending list of all: ``forward[u]``. Lists ascend, so
the larger neighbours of u are the last ``forward[u + 1] - forward[u]`` of its list, and the number of an edge is found by a
search in the list of its smaller end. On the path 0 - 1 - 2 it is [0, 1, 2, 2]: edge 0 is (0, 1), edge 1 is (1, 2).
"""

import numpy as np
from numpy.typing import NDArray

from escgnn.kernels import kernel
from escgnn.kernels.graphs import Csr

Forward = NDArray[np.int64]  # (nodes + 1,)


@kernel
def first_larger(csr: Csr, node: int) -> int:
    """Where the neighbours of a node that are larger than it begin in ``csr.indices``."""
    low = csr.indptr[node]
    high = csr.indptr[node + 1]
    while low < high:
        middle = (low + high) // 2
        if csr.indices[middle] > node:
            high = middle
        else:
            low = middle + 1
    return int(low)


@kernel
def count_forward(csr: Csr, forward: Forward) -> None:
    """Fill ``forward``."""
    forward[0] = 0
    for node in range(forward.size - 1):
        forward[node + 1] = forward[node] + csr.indptr[node + 1] - first_larger(csr, node)


@kernel
def list_edges(csr: Csr, forward: Forward, first: int, edges: NDArray[np.int64]) -> None:
    """Write as many edges as there is room for, from that of number ``first`` on."""
    u = np.searchsorted(forward, first, side="right") - 1
    number = first
    for row in range(edges.shape[0]):
        while number == forward[u + 1]:
            u += 1
        edges[row, 0] = u
        edges[row, 1] = csr.indices[csr.indptr[u + 1] - forward[u + 1] + number]
        number += 1


@kernel
def edge_number(csr: Csr, forward: Forward, u: int, v: int) -> int:
    """The number of the edge between two nodes, -1 if there is none."""
    small = min(u, v)
    large = max(u, v)
    end = csr.indptr[small + 1]
    begin = end - (forward[small + 1] - forward[small])
    low = begin
    high = end
    while low < high:
        middle = (low + high) // 2
        if csr.indices[middle] < large:
            low = middle + 1
        else:
            high = middle
    if low == end or csr.indices[low] != large:
        return -1
    return int(forward[small] + low - begin)


@kernel
def find_edges(csr: Csr, forward: Forward, pairs: NDArray[np.int64], ids: NDArray[np.int64]) -> None:
    """The id of every ordered pair: 2k for edge k from its smaller end, 2k + 1 from its larger end, -1 for none."""
    for row in range(ids.size):
        u = pairs[row, 0]
        v = pairs[row, 1]
        number = edge_number(csr, forward, u, v)
        ids[row] = 2 * number + (u > v) if number >= 0 else -1
