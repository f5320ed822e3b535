"""Graphs cut out of contiguous arrays: the rows of some graphs, and their edges shifted to stand side by side."""

import numpy as np
from numpy.typing import NDArray

from escgnn.kernels import kernel


@kernel
def find_bad_column(edge_index: NDArray[np.int64], start: NDArray[np.int64], num_nodes: NDArray[np.int64]) -> int:
    """First column that names a node its graph does not have, or -1."""
    for graph in range(num_nodes.size):
        for column in range(start[graph], start[graph + 1]):
            for end in range(2):
                if edge_index[end, column] < 0 or edge_index[end, column] >= num_nodes[graph]:
                    return column
    return -1


@kernel
def find_bounds(graphs: NDArray[np.int64], start: NDArray[np.int64], bounds: NDArray[np.int64]) -> None:
    """Where the rows of each of these graphs begin and end when they follow one another."""
    bounds[0] = 0
    for i in range(graphs.size):
        bounds[i + 1] = bounds[i] + start[graphs[i] + 1] - start[graphs[i]]


@kernel
def list_rows(graphs: NDArray[np.int64], start: NDArray[np.int64], rows: NDArray[np.int64]) -> None:
    """The rows of these graphs, one after another."""
    filled = 0
    for graph in graphs:
        for row in range(start[graph], start[graph + 1]):
            rows[filled] = row
            filled += 1


@kernel
def list_owners(bounds: NDArray[np.int64], owner: NDArray[np.int64]) -> None:
    """Which graph each row belongs to."""
    for i in range(bounds.size - 1):
        owner[bounds[i] : bounds[i + 1]] = i


@kernel
def join_columns(
    graphs: NDArray[np.int64],
    start: NDArray[np.int64],
    edge_index: NDArray[np.int32],
    shift: NDArray[np.int64],
    joined: NDArray[np.int64],
) -> None:
    """The columns of these graphs, one after another, node ids raised by each graph's ``shift``."""
    filled = 0
    for i in range(graphs.size):
        first = start[graphs[i]]
        size = start[graphs[i] + 1] - first
        for end in range(2):
            for k in range(size):
                joined[end, filled + k] = edge_index[end, first + k] + shift[i]
        filled += size
