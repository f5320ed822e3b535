"""Exact numbering of integer rows.

A row gets the number of the first equal row. Hashes only say where to look: rows are compared word by word, so
two colours are the same if and only if what they stand for is the same.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from escgnn.kernels import kernel

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
def sort(row: NDArray[Any]) -> None:
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
