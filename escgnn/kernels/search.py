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
def search_graph(
    csr: Csr, initial: NDArray[np.int64], depth: int, words: int, books: tuple[Book, Book], colour: NDArray[np.int64]
) -> tuple[Book, Book]:
    """Number what is seen when each node in turn is singled out, and up to ``depth`` - 1 others after it.

    The first book holds colourings, the second what a colouring leads to; once they hold more than ``words`` numbers, it
    stops. Level by level, ``choice`` holds the nodes to single out: all at first, then those of the smallest cell.
    """
    known, trees = books
    n = initial.size
    room = np.zeros((depth + 1, 4, n), np.int64)  # a partition for each level
    choice, value = np.empty((2, depth + 1, n), np.int64)
    number_of, done, root, seen = np.zeros((4, depth + 1), np.int64)  # choices; of them done; latest root; colouring
    row = np.empty(2 * n + csr.indices.size, np.int64)
    tree = np.empty(n + 2, np.int64)
    waiting = splitters(n)
    level = 0
    first_cells(initial, Cells(room[0, 0], room[0, 1], room[0, 2], room[0, 3]))
    for i in range(n):
        if room[0, 3, i]:
            push(waiting, i)
    enters = True
    while True:
        cells = Cells(room[level, 0], room[level, 1], room[level, 2], room[level, 3])
        if enters:
            refine_cells(csr, cells, waiting)
            length = describe(csr, initial, cells, row)
            known = larger(known, length)
            seen[level] = number(known, row[:length])
            start, size = 0, n
            if level > 0:
                start = smallest_cell(cells)
                size = cells.size[start] if start >= 0 and level < depth else 0
            choice[level, :size] = cells.order[start : start + size]
            number_of[level], done[level] = size, 0
        if done[level] < number_of[level]:
            node = choice[level, done[level]]
            level += 1
            room[level] = room[level - 1]
            root[level] = node
            single_out(Cells(room[level, 0], room[level, 1], room[level, 2], room[level, 3]), node, waiting)
            enters = True
            continue
        if level == 0:
            break
        size = number_of[level]
        tree[0], tree[1], tree[2 : 2 + size] = seen[level], cells.place[root[level]], value[level, :size]
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
