"""From the rows of edges, each computed once, to the columns of an ``edge_index`` that show them, or to one row for each root."""

import numpy as np
from numpy.typing import NDArray

from escgnn.kernels import kernel

LARGEST_COUNT = 2**31 - 1  # rows are int32; larger numbers read this


@kernel
def link_columns(
    edge_index: NDArray[np.int64],
    arc: NDArray[np.int64],
    edge: NDArray[np.int64],
    row: NDArray[np.int64],
    first: NDArray[np.int64],
    following: NDArray[np.int64],
) -> None:
    """Find the row of every column, and chain each row's columns: ``first[row]``, then ``following``, -1 at the end.

    Edge k, u < v, has the rows 2k for (u, v) and 2k + 1 for (v, u); the rows of loops come behind those of edges.
    """
    first[:] = -1
    loop = np.int64(edge.size)
    for column in range(row.size):
        if arc[column] < 0:
            row[column] = loop
            loop += 2
        else:
            row[column] = 2 * edge[arc[column]] + (edge_index[0, column] > edge_index[1, column])
    for column in range(row.size - 1, -1, -1):
        following[column] = first[row[column]]
        first[row[column]] = column


@kernel
def scatter(
    lengths: NDArray[np.int32],
    first: NDArray[np.int64],
    following: NDArray[np.int64],
    starts: NDArray[np.int64],
    bins: NDArray[np.int32],
    counts: NDArray[np.int32],
    target: NDArray[np.int32],
) -> None:
    """Copy rows to every column of ``target``, bins and counts, that shows them."""
    begin = 0
    for row in range(lengths.size):
        column = first[row]
        while column >= 0:
            start = starts[column]
            for k in range(lengths[row]):
                target[0, start + k] = bins[begin + k]
                target[1, start + k] = counts[begin + k]
            column = following[column]
        begin += lengths[row]


@kernel
def append_rows(
    lengths: NDArray[np.int32],
    bins: NDArray[np.int32],
    counts: NDArray[np.int32],
    renumber: NDArray[np.int32],
    end: NDArray[np.int64],
    target: NDArray[np.int32],
) -> None:
    """Write rows behind what ``target``, bins and counts, has of them up to ``end``, which moves on."""
    begin = 0
    for row in range(lengths.size):
        for k in range(lengths[row]):
            target[0, end[row] + k] = renumber[bins[begin + k]]
            target[1, end[row] + k] = counts[begin + k]
        begin += lengths[row]
        end[row] += lengths[row]
