"""From pairs of nodes in any order, loops and repeats among them, to sorted adjacency lists, a range of nodes at a time.

A range [low, high) is done in three steps, whatever the number of pairs: `place_arcs` sees all pairs once and puts the neighbours
of its nodes into their lists, each list's length being known from `count_ends`; `sort_lists` sorts the lists and joins repeats.
"""

import numpy as np
from numpy.typing import NDArray

from escgnn.kernels import kernel

Pairs = NDArray[np.int32]  # (pairs, 2)


@kernel
def count_ends(pairs: Pairs, degree: NDArray[np.int64]) -> int:
    """Add up how often each node has a neighbour, repeats included; return the number of loops, which have none."""
    loops = 0
    for row in range(pairs.shape[0]):
        u = pairs[row, 0]
        v = pairs[row, 1]
        if u == v:
            loops += 1
        else:
            degree[u] += 1
            degree[v] += 1
    return loops


@kernel
def end_of_range(degree: NDArray[np.int64], low: int, most: int) -> int:
    """Where the range that begins at ``low`` ends: at most so many neighbours in all, but at least one node."""
    total = 0
    for node in range(low, degree.size):
        total += degree[node]
        if total > most and node > low:
            return node
    return degree.size


@kernel
def place_arcs(pairs: Pairs, low: int, following: NDArray[np.int64], neighbours: NDArray[np.int32]) -> None:
    """Put the neighbours of nodes from ``low`` on into their lists; ``following`` is the next free place in each."""
    high = low + following.size
    for row in range(pairs.shape[0]):
        u = pairs[row, 0]
        v = pairs[row, 1]
        if u == v:
            continue
        if low <= u < high:
            neighbours[following[u - low]] = v
            following[u - low] += 1
        if low <= v < high:
            neighbours[following[v - low]] = u
            following[v - low] += 1


@kernel
def sort_lists(
    low: int,
    degree: NDArray[np.int64],
    larger: NDArray[np.int64],
    neighbours: NDArray[np.int32],
) -> int:
    """Sort the lists of nodes from ``low`` on, which follow each other, and close the gaps that repeats leave.

    ``degree``, the lengths of the lists, becomes what is left of them, ``larger`` the number of those beyond the node itself.
    Returns the sum of what is left.
    """
    begin = 0
    kept = 0
    for i in range(degree.size):
        end = begin + degree[i]
        neighbours[begin:end].sort()
        first = kept
        larger[i] = 0
        for place in range(begin, end):
            if kept == first or neighbours[place] != neighbours[kept - 1]:
                neighbours[kept] = neighbours[place]
                larger[i] += neighbours[place] > low + i
                kept += 1
        degree[i] = kept - first
        begin = end
    return kept
