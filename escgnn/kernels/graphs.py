"""From an edge list in any order to sorted, symmetric, simple adjacency lists, in linear time."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from escgnn.kernels import kernel


class Csr(NamedTuple):
    """Neighbours of node v: ``indices[indptr[v]:indptr[v + 1]]``, ascending, without v itself."""

    indptr: NDArray[np.int64]  # (nodes + 1,)
    indices: NDArray[np.int32]  # (arcs,)


class Types(NamedTuple):
    """What kind each node and each edge is of, as integers from 0 on: elements and bonds of a molecule, for one."""

    node: NDArray[np.int64]  # (nodes,)
    arc: NDArray[np.int64]  # (arcs,) the same in both directions of an edge


def one_kind(csr: Csr) -> Types:
    """Types where nothing is known: all nodes and all edges are of one kind."""
    return Types(np.zeros(csr.indptr.size - 1, np.int64), np.zeros(csr.indices.size, np.int64))


@kernel
def counting_sort(key: NDArray[np.int64], num_keys: int, before: NDArray[np.int64], after: NDArray[np.int64]) -> None:
    """Write the columns listed in ``before`` into ``after``, stably sorted by ``key[column]``."""
    start = np.zeros(num_keys + 1, np.int64)
    for column in key:
        start[column + 1] += 1
    for k in range(num_keys):
        start[k + 1] += start[k]
    for column in before:
        after[start[key[column]]] = column
        start[key[column]] += 1


@kernel
def build_csr(
    source: NDArray[np.int64],
    target: NDArray[np.int64],
    order: NDArray[np.int64],
    indptr: NDArray[np.int64],
    indices: NDArray[np.int32],
    arc: NDArray[np.int64],
) -> int:
    """Fill the adjacency lists, dropping loops and repeats; ``arc`` tells where each column went (-1: a loop)."""
    indptr[:] = 0
    last = np.int64(-1)
    arcs = 0
    for i in range(order.size):
        column = order[i]
        u, v = source[column], target[column]
        if u == v:
            arc[column] = -1
            continue
        if last < 0 or source[last] != u or target[last] != v:
            indices[arcs] = v
            indptr[u + 1] += 1
            arcs += 1
            last = column
        arc[column] = arcs - 1
    for node in range(indptr.size - 1):
        indptr[node + 1] += indptr[node]
    return arcs


@kernel
def pair_arcs(csr: Csr, edge: NDArray[np.int64], edges: NDArray[np.int64]) -> int:
    """List undirected ``edges``, smaller end first, and each arc's ``edge``; return an arc without reverse, or -1."""
    following = csr.indptr[:-1].copy()  # the first arc of each node that no reverse has claimed
    found = 0
    for u in range(csr.indptr.size - 1):
        for arc in range(following[u], csr.indptr[u + 1]):
            v = csr.indices[arc]
            if v < u:
                return arc
            reverse = following[v]
            if reverse == csr.indptr[v + 1] or csr.indices[reverse] != u:
                return arc
            following[v] += 1
            edge[arc] = edge[reverse] = found
            edges[found, 0] = u
            edges[found, 1] = v
            found += 1
    return -1


@kernel
def find_torn(csr: Csr, ptr: NDArray[np.int64]) -> int:
    """A node with a neighbour outside its graph, or -1; lists ascend, so their ends tell."""
    for g in range(ptr.size - 1):
        for v in range(ptr[g], ptr[g + 1]):
            start, stop = csr.indptr[v], csr.indptr[v + 1]
            if start < stop and (csr.indices[start] < ptr[g] or csr.indices[stop - 1] >= ptr[g + 1]):
                return v
    return -1
