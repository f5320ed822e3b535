"""1-WL by splitting cells, which is quick when a node is singled out in colours that are stable already.

A colouring is kept as an ordered partition: cells in a row, and in each its nodes. Cells are split by numbers of neighbours
in other cells, and every choice on the way follows from positions and numbers, never from names of nodes. So colourings
that 1-WL cannot tell apart end with the same cells in the same places. McKay, Practical Graph Isomorphism, 1981.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from escgnn.kernels import kernel
from escgnn.kernels.graphs import Csr
from escgnn.kernels.numbering import sort


class Cells(NamedTuple):
    """An ordered partition of the nodes of a graph."""

    order: NDArray[np.int64]  # (nodes,) cell after cell
    place: NDArray[np.int64]  # (nodes,) where each node is
    cell: NDArray[np.int64]  # (nodes,) place where the cell of each node begins
    size: NDArray[np.int64]  # (nodes,) of the cell that begins at a place


class Splitters(NamedTuple):
    """Cells by which others are yet to be split, first come first served, and memory to do it."""

    queue: NDArray[np.int64]  # (nodes,) a ring
    waits: NDArray[np.bool_]  # (nodes,) whether the cell that begins here is in it
    ends: NDArray[np.int64]  # (2,) first in the ring, and how many
    hits: NDArray[np.int64]  # (nodes,) neighbours in the splitter, zero between
    touched: NDArray[np.int64]  # (nodes,) cells that have any
    members: NDArray[np.int64]  # (nodes,) of the splitter


@kernel
def splitters(nodes: int) -> Splitters:
    """An empty queue, for a graph of so many nodes."""
    room = np.zeros((4, nodes), np.int64)
    return Splitters(room[0], np.zeros(nodes, np.bool_), np.zeros(2, np.int64), room[1], room[2], room[3])


@kernel
def push(waiting: Splitters, start: int) -> None:
    """Queue the cell that begins here, unless it waits already."""
    if not waiting.waits[start]:
        waiting.waits[start] = True
        waiting.queue[(waiting.ends[0] + waiting.ends[1]) % waiting.queue.size] = start
        waiting.ends[1] += 1


@kernel
def put(cells: Cells, at: int, node: int, start: int) -> None:
    """Write a node to a place, and where its cell starts."""
    cells.order[at] = node
    cells.place[node] = at
    cells.cell[node] = start


@kernel
def split(cells: Cells, start: int, waiting: Splitters) -> None:
    """Split a cell by hits, fewest first; all its pieces become splitters, but the largest need not if the cell was none."""
    hits, order = waiting.hits, cells.order
    stop = start + cells.size[start]
    low, high = hits[order[start]], hits[order[start]]
    for i in range(start + 1, stop):
        low, high = min(low, hits[order[i]]), max(high, hits[order[i]])
    if low == high:
        return
    for i in range(start + 1, stop):  # by insertion: cells are small, and few numbers occur
        node = order[i]
        k = i
        while k > start and hits[order[k - 1]] > hits[node]:
            order[k] = order[k - 1]
            k -= 1
        order[k] = node
    first, largest = start, start
    for i in range(start, stop):
        if hits[order[i]] != hits[order[first]]:
            cells.size[first] = i - first
            first = i
        put(cells, i, order[i], first)
    cells.size[first] = stop - first
    at = start
    while at < stop:
        if cells.size[at] > cells.size[largest]:
            largest = at
        at += cells.size[at]
    was = waiting.waits[start]
    at = start
    while at < stop:
        if was or at != largest:
            push(waiting, at)
        at += cells.size[at]


@kernel
def refine_cells(csr: Csr, cells: Cells, waiting: Splitters) -> None:
    """Split until the nodes of a cell have equally many neighbours in every cell: the stable colours of 1-WL."""
    indptr, indices = csr
    while waiting.ends[1]:
        start = waiting.queue[waiting.ends[0]]
        waiting.ends[0] = (waiting.ends[0] + 1) % waiting.queue.size
        waiting.ends[1] -= 1
        waiting.waits[start] = False
        count = cells.size[start]
        waiting.members[:count] = cells.order[start : start + count]
        met = 0
        for v in waiting.members[:count]:
            for k in range(indptr[v], indptr[v + 1]):
                waiting.hits[indices[k]] += 1
                c = cells.cell[indices[k]]
                if cells.size[c] > 0:  # not met yet
                    waiting.touched[met] = c
                    cells.size[c] = -cells.size[c]
                    met += 1
        sort(waiting.touched[:met])
        for c in waiting.touched[:met]:
            cells.size[c] = -cells.size[c]
            if cells.size[c] > 1:
                split(cells, c, waiting)
        for v in waiting.members[:count]:
            for k in range(indptr[v], indptr[v + 1]):
                waiting.hits[indices[k]] = 0


@kernel
def single_out(cells: Cells, node: int, waiting: Splitters) -> None:
    """Give a node a cell of its own, in front of the rest of its cell."""
    start = cells.cell[node]
    count = cells.size[start]
    if count == 1:
        return
    first, at = cells.order[start], cells.place[node]
    put(cells, at, first, start)
    put(cells, start, node, start)
    for i in range(start + 1, start + count):
        cells.cell[cells.order[i]] = start + 1
    cells.size[start], cells.size[start + 1] = 1, count - 1
    push(waiting, start)


@kernel
def describe(csr: Csr, initial: NDArray[np.int64], cells: Cells, row: NDArray[np.int64]) -> int:
    """Write each cell's size, first colour, and its nodes' neighbours by cell: all that 1-WL knows. Return the words."""
    indptr, indices = csr
    end = 0
    at = 0
    while at < cells.order.size:
        v = cells.order[at]
        row[end], row[end + 1] = -cells.size[at], initial[v]
        first = end + 2
        end = first + indptr[v + 1] - indptr[v]
        for k in range(indptr[v], indptr[v + 1]):
            row[first + k - indptr[v]] = cells.cell[indices[k]]
        sort(row[first:end])
        at += cells.size[at]
    return end
