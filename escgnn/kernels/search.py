"""Individualisation and refinement: nodes are singled out one after the other, 1-WL run after each, every way on record."""

import numpy as np
from numpy.typing import NDArray

from escgnn.kernels import kernel
from escgnn.kernels.graphs import Csr
from escgnn.kernels.numbering import Book, number, open_book, sort
from escgnn.kernels.refinement import Cells, describe, push, put, refine_cells, single_out, splitters


@kernel
def larger(book: Book, words: int) -> Book:
    """A book with the same rows under the same numbers, and room for one more of so many words."""
    used = book.used[0]
    if used + 1 < book.start.size and book.start[used] + words <= book.text.size:
        return book
    new = open_book(2 * (used + 1), 2 * (book.start[used] + words))
    for i in range(used):
        number(new, book.text[book.start[i] : book.start[i + 1]])
    return new


@kernel
def on_record(known: Book, trees: Book) -> int:
    """How many numbers two books hold."""
    return int(known.start[known.used[0]] + trees.start[trees.used[0]])


@kernel
def first_cells(initial: NDArray[np.int64], cells: Cells) -> None:
    """One cell for each first colour, in the order of their numbers."""
    start = 0
    by_colour = np.argsort(initial)
    for i in range(initial.size):
        if initial[by_colour[i]] != initial[by_colour[start]]:
            start = i
        put(cells, i, by_colour[i], start)
        cells.size[start] = i - start + 1


@kernel
def smallest_cell(cells: Cells) -> int:
    """Where the smallest cell of two nodes or more begins, the first of them; -1 if all cells are single nodes."""
    best = -1
    at = 0
    while at < cells.order.size:
        if cells.size[at] > 1 and (best < 0 or cells.size[at] < cells.size[best]):
            best = at
        at += cells.size[at]
    return best


@kernel
def cells_of(room: NDArray[np.int64], level: int) -> Cells:
    """The partition of a level."""
    return Cells(room[level, 0], room[level, 1], room[level, 2], room[level, 3])


@kernel
def search_graph(
    csr: Csr, initial: NDArray[np.int64], depth: int, words: int, books: tuple[Book, Book], colour: NDArray[np.int64]
) -> tuple[Book, Book]:
    """Number what is seen when each node in turn is singled out, and up to ``depth`` - 1 others after it.

    The first book holds colourings, the second what a colouring leads to; once they hold more than ``words`` numbers, it
    stops. Level by level, ``choice`` holds the nodes to single out: all at first, then those of the smallest cell.

    Example: the 4-cycle 0 - 1 - 2 - 3, depth 2. On level 0 all nodes are one cell, and all are choices. Singling out 0 leads
    to level 1 with the cells {0}, {2}, {1, 3}; its choices are 1 and 3. Singling out 1 leads to level 2, the last: four
    cells, no choices, and the tree (colouring, place of 1). Node 3 leads to the same colouring in other names, hence to a tree
    with the same number. So the tree of 0 is (colouring of level 1, place of 0, that number, twice), and the other three nodes
    of level 0 come to the same tree: the 4-cycle's nodes share a colour.
    """
    known, trees = books
    n = initial.size
    room = np.zeros((depth + 1, 4, n), np.int64)  # a partition for each level
    choice, value = np.empty((2, depth + 1, n), np.int64)  # nodes to single out, and the number of the tree of each
    number_of = np.zeros(depth + 1, np.int64)  # choices
    done = np.zeros(depth + 1, np.int64)  # of the choices
    root = np.zeros(depth + 1, np.int64)  # node singled out last
    seen = np.zeros(depth + 1, np.int64)  # number of the colouring
    row = np.empty(2 * n + csr.indices.size, np.int64)
    tree = np.empty(n + 2, np.int64)
    waiting = splitters(n)
    level = 0
    first_cells(initial, cells_of(room, 0))
    for i in range(n):
        if room[0, 3, i]:
            push(waiting, i)
    enters = True  # this level for the first time
    while True:
        cells = cells_of(room, level)
        if enters:  # refine, put the colouring on record, list the choices
            refine_cells(csr, cells, waiting)
            length = describe(csr, initial, cells, row)
            known = larger(known, length)
            seen[level] = number(known, row[:length])
            start, size = 0, n
            if level > 0:
                start = smallest_cell(cells)
                size = cells.size[start] if start >= 0 and level < depth else 0
            choice[level, :size] = cells.order[start : start + size]
            number_of[level] = size
            done[level] = 0
        if done[level] < number_of[level]:  # go down by the next choice
            node = choice[level, done[level]]
            level += 1
            room[level] = room[level - 1]
            root[level] = node
            single_out(cells_of(room, level), node, waiting)
            enters = True
            continue
        if level == 0:
            break
        # All choices are done: their trees, whatever their order, make the tree of this level's root; go up with its number.
        size = number_of[level]
        tree[0] = seen[level]
        tree[1] = cells.place[root[level]]
        tree[2 : 2 + size] = value[level, :size]
        sort(tree[2 : 2 + size])
        trees = larger(trees, size + 2)
        level -= 1
        value[level, done[level]] = number(trees, tree[: size + 2])
        done[level] += 1
        enters = False
        if on_record(known, trees) > words:
            break
    for i in range(n):
        colour[choice[0, i]] = value[0, i]
    return known, trees


@kernel
def search(
    csr: Csr, ptr: NDArray[np.int64], initial: NDArray[np.int64], depth: int, words: int, colour: NDArray[np.int64]
) -> int:
    """Colour the nodes of graphs; return the graph at which more than ``words`` were on record, -1 if at none."""
    books = open_book(64, 1024), open_book(64, 1024)
    for g in range(ptr.size - 1):
        first, last = ptr[g], ptr[g + 1]
        arcs = csr.indices[csr.indptr[first] : csr.indptr[last]]
        own = Csr(csr.indptr[first : last + 1] - csr.indptr[first], (arcs - first).astype(np.int32))
        levels = min(depth, last - first)
        books = search_graph(own, initial[first:last], levels, words, books, colour[first:last])
        if on_record(*books) > words:
            return g
    return -1
