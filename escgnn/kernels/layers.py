"""Sparse histograms on their way into a network: which rows are equal, and rows as a matrix.

Row r has the entries from ``start[r]`` to ``start[r + 1]``, each a bin and its count.
"""

import numpy as np
from numpy.typing import NDArray

from escgnn.kernels import kernel

MIX = np.int64(-7046029254386353131)  # 2^64 divided by the golden ratio: spreads what differs in few bits

Ints = NDArray[np.int32]
Longs = NDArray[np.int64]


@kernel
def number_rows(start: Longs, bins: Ints, counts: Ints, table: Ints, first: Longs, copy: Longs) -> int:
    """Number the distinct rows in the order in which they come, and say how many they are.

    Of the rows (0: 3, 4: 1), (2: 5), (0: 3, 4: 1) two are distinct, whose ``first`` are 0 and 1; ``copy`` is 0, 1, 0.

    Args:
        start: Where rows begin.
        bins: Of every entry.
        counts: Of every entry.
        table: To find rows in by their hash: all -1, a power of two, larger than the number of rows.
        first: Takes the first row that is equal to each distinct one.
        copy: Takes the number of each row's distinct row.
    """
    mask = table.size - 1
    distinct = 0
    for row in range(start.size - 1):
        code = start[row + 1] - start[row]
        for k in range(start[row], start[row + 1]):
            code = (code ^ ((np.int64(bins[k]) << 32) + counts[k])) * MIX
            code ^= code >> 29
        slot = (code ^ (code >> 32)) & mask
        while table[slot] >= 0 and not same_row(start, bins, counts, first[table[slot]], row):
            slot = (slot + 1) & mask
        if table[slot] < 0:
            table[slot] = distinct
            first[distinct] = row
            distinct += 1
        copy[row] = table[slot]
    return distinct


@kernel
def same_row(start: Longs, bins: Ints, counts: Ints, one: int, other: int) -> bool:
    """Whether two rows have the same entries."""
    size = start[one + 1] - start[one]
    if start[other + 1] - start[other] != size:
        return False
    shift = start[other] - start[one]
    for k in range(start[one], start[one] + size):
        if bins[k] != bins[k + shift] or counts[k] != counts[k + shift]:
            return False
    return True


@kernel
def take_rows(start: Longs, bins: Ints, counts: Ints, rows: Longs, taken_bins: Ints, taken_counts: Ints) -> None:
    """The entries of these rows, one after another."""
    filled = 0
    for row in rows:
        for k in range(start[row], start[row + 1]):
            taken_bins[filled] = bins[k]
            taken_counts[filled] = counts[k]
            filled += 1


@kernel
def number_bins(bins: Ints, place: Longs) -> int:
    """Number the bins that occur, ascending, and say how many they are; others have the place -1."""
    place[:] = -1
    for b in bins:
        place[b] = 0
    used = 0
    for b in range(place.size):
        if place[b] == 0:
            place[b] = used
            used += 1
    return used


@kernel
def fill_matrix(start: Longs, bins: Ints, counts: Ints, place: Longs, matrix: NDArray[np.float32]) -> None:
    """Write the counts of all rows into a matrix of zeros, each bin into the column of its place."""
    for row in range(start.size - 1):
        for k in range(start[row], start[row + 1]):
            matrix[row, place[bins[k]]] = counts[k]
