"""Sparse histograms on their way into a network: which rows are equal, and rows as a matrix.

Row r has the entries from ``start[r]`` to ``start[r + 1]``, each a bin and its count.
"""

import numpy as np
from numpy.typing import NDArray

from escgnn.kernels import kernel

# Odd, and so small that neither products with bins below 2 ** 20 and counts below 2 ** 31 nor sums of 2 ** 20 entries overflow.
FACTORS = (1803437982391, 924437393)
MASK = 2**42 - 1

Ints = NDArray[np.int32]
Longs = NDArray[np.int64]
Floats = NDArray[np.float32] | NDArray[np.float64]


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
    codes = np.empty(start.size, np.int64)  # hashes of the distinct rows
    distinct = 0
    for row in range(start.size - 1):
        code = start[row + 1] - start[row]
        row_bins = bins[start[row] : start[row + 1]]  # in a slice, no place is looked at for its sign
        row_counts = counts[start[row] : start[row + 1]]
        for k in range(row_bins.size):
            entry = np.int64(row_bins[k]) * FACTORS[0] + np.int64(row_counts[k]) * FACTORS[1]
            code += (entry ^ (entry >> 23)) & MASK
        slot = (code ^ (code >> 20)) & mask
        number = table[slot]
        while number >= 0 and not (codes[number] == code and same_row(start, bins, counts, first[number], row)):
            slot = (slot + 1) & mask
            number = table[slot]
        if number < 0:
            number = distinct
            table[slot] = distinct
            codes[distinct] = code
            first[distinct] = row
            distinct += 1
        copy[row] = number
    return distinct


@kernel
def same_row(start: Longs, bins: Ints, counts: Ints, one: int, other: int) -> bool:
    """Whether two rows have the same entries."""
    size = start[one + 1] - start[one]
    if start[other + 1] - start[other] != size:
        return False
    one_bins = bins[start[one] : start[one] + size]
    other_bins = bins[start[other] : start[other] + size]
    one_counts = counts[start[one] : start[one] + size]
    other_counts = counts[start[other] : start[other] + size]
    different = np.int32(0)
    for k in range(size):  # to the end, as several at a time are faster than stopping early
        different |= (one_bins[k] ^ other_bins[k]) | (one_counts[k] ^ other_counts[k])
    return bool(different == 0)


@kernel
def number_bins(start: Longs, bins: Ints, rows: Longs, place: Longs) -> int:
    """Number the bins that occur in these rows, ascending, and say how many they are; others have the place -1."""
    place[:] = -1
    for row in rows:
        for b in bins[start[row] : start[row + 1]]:
            place[b] = 0
    used = 0
    for b in range(place.size):
        if place[b] == 0:
            place[b] = used
            used += 1
    return used


@kernel
def fill_matrix(start: Longs, bins: Ints, counts: Ints, rows: Longs, place: Longs, matrix: Floats) -> None:
    """Write the counts of these rows into a matrix of zeros, each bin into the column of its place."""
    for i in range(rows.size):
        line = matrix[i]
        row_bins = bins[start[rows[i]] : start[rows[i] + 1]]
        row_counts = counts[start[rows[i]] : start[rows[i] + 1]]
        for k in range(row_bins.size):
            line[place[row_bins[k]]] = row_counts[k]
