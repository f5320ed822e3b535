"""Exact numbering of integer rows, and the rounds of colour refinement that are made of it.

A row gets the number of the first equal row. Hashes only say where to look: rows are compared word by word, so
two colours are the same if and only if what they stand for is the same.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from escgnn.kernels import kernel
from escgnn.kernels.graphs import Csr
from escgnn.kernels.rooted import Walk, label_adjacent

MASK = (1 << 40) - 1
FACTOR = 3960563  # odd and below 2 ** 22, so that products of 40-bit numbers never overflow


class Book(NamedTuple):
    """The different rows met so far. Room is for the worst case; what is not written costs no memory."""

    slot: NDArray[np.int64]  # number of the row whose hash leads here, -1 none
    start: NDArray[np.int64]  # where each row's words begin
    text: NDArray[np.int64]
    used: NDArray[np.int64]  # (1,) number of rows


@kernel
def open_book(rows: int, words: int) -> Book:
    """An empty book with room for so many rows and, in all, words."""
    size = 2
    while size < 2 * rows:
        size *= 2
    return Book(np.full(size, -1), np.zeros(rows + 1, np.int64), np.empty(words, np.int64), np.zeros(1, np.int64))


@kernel
def number(book: Book, row: NDArray[np.int64]) -> int:
    """The number of the row, a new one if it is new."""
    place = np.int64(0)
    for word in row:
        place = ((place ^ (place >> 19)) * FACTOR + ((word ^ (word >> 32)) & MASK)) & MASK
    place = ((place ^ (place >> 19)) * FACTOR) & MASK
    place ^= place >> 21
    last = book.slot.size - 1
    while book.slot[place & last] >= 0:
        known = book.slot[place & last]
        start = book.start[known]
        if book.start[known + 1] - start == row.size:
            k = 0
            while k < row.size and book.text[start + k] == row[k]:
                k += 1
            if k == row.size:
                return int(known)
        place += 1
    new = book.used[0]
    start = book.start[new]
    book.text[start : start + row.size] = row
    book.start[new + 1] = start + row.size
    book.slot[place & last] = new
    book.used[0] = new + 1
    return int(new)


@kernel
def sort(row: NDArray[np.int64]) -> None:
    """Sort in place: rows are short, and insertion beats the general method up to about 100 words."""
    if row.size > 100:
        row.sort()
        return
    for k in range(1, row.size):
        word = row[k]
        place = k
        while place > 0 and row[place - 1] > word:
            row[place] = row[place - 1]
            place -= 1
        row[place] = word


@kernel
def number_rows(ptr: NDArray[np.int64], words: NDArray[np.int64]) -> NDArray[np.int64]:
    """Numbers of the rows ``words[ptr[i]:ptr[i + 1]]``, in the order in which they first occur."""
    book = open_book(ptr.size - 1, words.size)
    result = np.empty(ptr.size - 1, np.int64)
    for i in range(result.size):
        result[i] = number(book, words[ptr[i] : ptr[i + 1]])
    return result


@kernel
def number_multisets(ptr: NDArray[np.int64], words: NDArray[np.int64]) -> NDArray[np.int64]:
    """The same whatever the order within a row."""
    words = words.copy()
    for i in range(ptr.size - 1):
        sort(words[ptr[i] : ptr[i + 1]])
    return number_rows(ptr, words)


@kernel
def refine_nodes(csr: Csr, label: NDArray[np.int64], colour: NDArray[np.int64]) -> NDArray[np.int64]:
    """One round of 1-WL: own colour, and the multiset of (arc's label, neighbour's colour); no labels, all alike."""
    book = open_book(colour.size, colour.size + csr.indices.size)
    result = np.empty_like(colour)
    colours = colour.max() + 1 if colour.size else 0
    row = np.empty(np.diff(csr.indptr).max() + 1 if colour.size else 0, np.int64)
    for v in range(colour.size):
        first, degree = csr.indptr[v], csr.indptr[v + 1] - csr.indptr[v]
        for k in range(degree):
            row[k] = colour[csr.indices[first + k]]
            if label.size:
                row[k] += label[first + k] * colours
        sort(row[:degree])
        row[degree] = colour[v]
        result[v] = number(book, row[: degree + 1])
    return result


@kernel
def isomorphism_types(
    csr: Csr, ptr: NDArray[np.int64], k: int, initial: NDArray[np.int64], result: NDArray[np.int64]
) -> None:
    """Number the k-tuples of each graph by their nodes' initial colours, and which are equal and adjacent."""
    width = k + k * (k - 1) // 2
    book = open_book(result.size, width * result.size)
    row = np.empty(width, np.int64)
    nodes = np.empty(k, np.int64)
    end = 0
    for g in range(ptr.size - 1):
        first, n = ptr[g], ptr[g + 1] - ptr[g]
        relation = np.zeros((n, n), np.uint8)
        for u in range(n):
            relation[u, u] = 2
            for i in range(csr.indptr[first + u], csr.indptr[first + u + 1]):
                relation[u, csr.indices[i] - first] = 1
        for t in range(n**k):
            rest = t
            for i in range(k - 1, -1, -1):
                nodes[i] = rest % n
                rest //= n
                row[i] = initial[first + nodes[i]]
            at = k
            for i in range(k):
                for j in range(i):
                    row[at] = relation[nodes[j], nodes[i]]
                    at += 1
            result[end] = number(book, row)
            end += 1


@kernel
def refine_oblivious(sizes: NDArray[np.int64], k: int, colour: NDArray[np.int64]) -> NDArray[np.int64]:
    """One round of oblivious k-WL: own colour and, place by place, the multiset over all nodes put there.

    That multiset is the same for the n tuples that differ in this place only, so it is sorted once.
    """
    widest = max(sizes.max(), k + 1) if sizes.size else k + 1
    bags = open_book(k * (sizes ** (k - 1)).sum(), k * colour.size)
    book = open_book(colour.size, (k + 1) * colour.size)
    bag = np.empty((k, widest ** (k - 1)), np.int64)
    row = np.empty(widest, np.int64)
    result = np.empty_like(colour)
    start = 0
    for n in sizes:
        for i in range(k):
            stride = n ** (k - 1 - i)
            for rest in range(n ** (k - 1)):
                base = start + rest // stride * stride * n + rest % stride
                for w in range(n):
                    row[w] = colour[base + w * stride]
                sort(row[:n])
                bag[i, rest] = number(bags, row[:n])
        for t in range(n**k):
            for i in range(k):
                stride = n ** (k - 1 - i)
                row[i] = bag[i, t // (stride * n) * stride + t % stride]
            row[k] = colour[start + t]
            result[start + t] = number(book, row[: k + 1])
        start += n**k
    return result


@kernel
def refine_folklore(sizes: NDArray[np.int64], k: int, colour: NDArray[np.int64]) -> NDArray[np.int64]:
    """One round of folklore k-WL: own colour, and the multiset, over nodes w, of the k colours with w put in."""
    widest = sizes.max() if sizes.size else 0
    book = open_book(colour.size, (sizes**k * (sizes + 1)).sum())
    row = np.empty(widest + 1, np.int64)
    result = np.empty_like(colour)
    colours = colour.max() + 1 if colour.size else 0
    start = 0
    for n in sizes:
        for t in range(n**k):
            row[:n] = 0
            for i in range(k):
                stride = n ** (k - 1 - i)
                base = start + t - t // stride % n * stride
                for w in range(n):
                    row[w] = row[w] * colours + colour[base + w * stride]
            sort(row[:n])
            row[n] = colour[start + t]
            result[start + t] = number(book, row[: n + 1])
        start += n**k
    return result


@kernel
def rooted_subgraphs(
    csr: Csr, roots: NDArray[np.int64], hops: int, ptr: NDArray[np.int64], sub: Csr, inside: NDArray[np.int64]
) -> int:
    """Write the subgraphs rooted at adjacent or equal (u, v) side by side; return their number of arcs.

    ``inside`` says of each of their nodes which it is, and the code of its distances to u and v. Without room there,
    only say in ``ptr`` where each subgraph begins.
    """
    num_nodes = csr.indptr.size - 1
    walk = Walk(np.zeros(num_nodes, np.int32), np.empty(num_nodes, np.int32))
    place = np.empty(num_nodes, np.int64)
    arcs = 0
    ptr[0] = 0
    for r in range(roots.shape[0]):
        count, _ = label_adjacent(csr, roots[r, 0], roots[r, 1], hops, num_nodes, walk)
        ptr[r + 1] = ptr[r] + count
        for i in range(count):
            place[walk.nodes[i]] = ptr[r] + i
        for i in range(count):
            w = walk.nodes[i]
            for k in range(csr.indptr[w], csr.indptr[w + 1]):
                x = csr.indices[k]
                if walk.code[x]:
                    if inside.size:
                        sub.indices[arcs] = place[x]
                    arcs += 1
            if inside.size:
                sub.indptr[place[w] + 1] = arcs
                inside[place[w], 0] = w
                inside[place[w], 1] = walk.code[w]
        for i in range(count):
            walk.code[walk.nodes[i]] = 0
    return arcs
