"""Random neighbours, the same whoever draws them: the numbers drawn for a node depend on a key and on the node, nothing else."""

import numpy as np
from numpy.typing import NDArray

from escgnn.kernels import kernel
from escgnn.kernels.graphs import Csr
from escgnn.kernels.lean import Forward, edge_number

GOLDEN = np.uint64(0x9E3779B97F4A7C15)
FIRST = np.uint64(0xBF58476D1CE4E5B9)
SECOND = np.uint64(0x94D049BB133111EB)


@kernel
def scramble(x: np.uint64) -> np.uint64:
    """The numbers of Steele, Lea and Flood's SplitMix64, of which each is a hash of the one asked for."""
    x = (x ^ (x >> np.uint64(30))) * FIRST
    x = (x ^ (x >> np.uint64(27))) * SECOND
    return x ^ (x >> np.uint64(31))


@kernel
def draw(key: np.uint64, size: int, places: NDArray[np.int64]) -> None:
    """Fill ``places`` with different numbers below ``size``, ascending, every choice as likely as any other.

    Robert Floyd's way: for top = size - k, ..., size - 1 take a random number up to top, or top itself if that is taken already.
    """
    count = places.size
    for taken in range(count):
        top = np.int64(size - count + taken)
        key += GOLDEN
        chosen = np.int64(scramble(key) % np.uint64(top + 1))
        for k in range(taken):
            if places[k] == chosen:
                chosen = top
                break
        place = taken
        while place > 0 and places[place - 1] > chosen:
            places[place] = places[place - 1]
            place -= 1
        places[place] = chosen


@kernel
def sample_neighbours(
    csr: Csr,
    forward: Forward,
    nodes: NDArray[np.int64],
    key: np.uint64,
    begins: NDArray[np.int64],
    sampled: NDArray[np.int64],
) -> None:
    """Write neighbours of every node and the ids of the edges from there, ``sampled`` (2, ...), between its two ``begins``.

    Where there is room for all neighbours, all are taken; else as many as there is room for, at random.
    """
    for i in range(nodes.size):
        node = nodes[i]
        first = csr.indptr[node]
        degree = csr.indptr[node + 1] - first
        begin = begins[i]
        count = begins[i + 1] - begin
        places = sampled[0, begin : begin + count]
        if count < degree:
            draw(scramble(key ^ scramble(np.uint64(node) + GOLDEN)), degree, places)
        else:
            for k in range(count):
                places[k] = k
        for k in range(begin, begin + count):
            neighbour = csr.indices[first + sampled[0, k]]
            sampled[0, k] = neighbour
            sampled[1, k] = 2 * edge_number(csr, forward, node, neighbour) + (neighbour > node)


@kernel
def number_nodes(
    known: NDArray[np.int64], met: NDArray[np.int64], number: NDArray[np.int64], new: NDArray[np.int64]
) -> int:
    """Number nodes: those known by their place, others behind them as they are met; return how many are new."""
    size = 2
    while size < 2 * (known.size + met.size):
        size *= 2
    slot = np.full(size, -1)  # the number of the node whose hash leads here
    last = np.uint64(size - 1)
    found = 0
    for i in range(known.size + met.size):
        node = known[i] if i < known.size else met[i - known.size]
        place = np.int64(scramble(np.uint64(node)) & last)
        while True:
            other = slot[place]
            if other < 0:
                if i < known.size:
                    slot[place] = i
                else:
                    slot[place] = known.size + found
                    new[found] = node
                    found += 1
                break
            if (known[other] if other < known.size else new[other - known.size]) == node:
                break
            place = (place + 1) % size
        if i >= known.size:
            number[i - known.size] = slot[place]
    return found
