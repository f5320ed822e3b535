"""Sparse rows as bytes: small numbers take one byte, and where every 16th row begins is kept.

A number is written seven bits a byte, lowest first; all bytes but its last have the high bit set. A row is its size in bytes,
then, for every bin that is not empty, the distance to the bin before and the count. Bins 3 and 5 with counts 1 and 200 are the
bytes 5, 3, 1, 2, 200, 1: the size, 3 (from 0), 1, 2 (from 3 to 5), and 200 = 72 + 1 * 128 as 72 + 128 (more follows) and 1.
"""

import numpy as np
from numpy.typing import NDArray

from escgnn.kernels import kernel

STRIDE = 16  # rows
MOST_BYTES = 5  # of a number
Bytes = NDArray[np.uint8]


@kernel
def size_of(number: int) -> int:
    """Bytes of a number."""
    size = 1
    while number >= 128:
        number >>= 7
        size += 1
    return size


@kernel
def write_number(number: int, place: int, content: Bytes) -> int:
    """Write a number and return where it ends."""
    while number >= 128:
        content[place] = 128 | (number & 127)
        number >>= 7
        place += 1
    content[place] = number
    return place + 1


@kernel
def read_number(content: Bytes, place: int) -> tuple[int, int]:
    """A number and where it ends; -1 for one that is too long or goes beyond the end."""
    number = np.int64(0)
    for k in range(MOST_BYTES):
        if place + k >= content.size:
            return -1, place
        byte = np.int64(content[place + k])
        number |= (byte & 127) << (7 * k)
        if byte < 128:
            return int(number), place + k + 1
    return -1, place


@kernel
def pack_rows(
    lengths: NDArray[np.int32],
    bins: NDArray[np.int32],
    counts: NDArray[np.int32],
    step: int,
    sizes: NDArray[np.int64],
    content: Bytes,
) -> int:
    """Write every ``step``-th row, one after the other, and the bytes of each into ``sizes``; return the bytes of all."""
    begin = 0
    place = 0
    for row in range(lengths.size):
        end = begin + lengths[row]
        if row % step == 0:
            first = place
            size = 0
            last = 0
            for k in range(begin, end):
                size += size_of(bins[k] - last) + size_of(counts[k])
                last = bins[k]
            place = write_number(size, place, content)
            last = 0
            for k in range(begin, end):
                place = write_number(bins[k] - last, place, content)
                place = write_number(counts[k], place, content)
                last = bins[k]
            sizes[row // step] = place - first
        begin = end
    return place


@kernel
def find_rows(
    content: Bytes,
    starts: NDArray[np.int64],
    ids: NDArray[np.int64],
    lengths: NDArray[np.int32],
    places: NDArray[np.int64],
) -> int:
    """Where each row's first bin is, and how many it has; return the first of ``ids`` that is damaged, by place, or -1."""
    for i in range(ids.size):
        place = starts[ids[i] // STRIDE]
        if place < 0:
            return i
        for _ in range(ids[i] % STRIDE):
            size, place = read_number(content, place)
            if size < 0:
                return i
            place += size
        size, place = read_number(content, place)
        if size < 0 or place + size > content.size:
            return i
        numbers = 0
        for k in range(place, place + size):
            numbers += content[k] < 128
        if numbers % 2 or (size and content[place + size - 1] >= 128):
            return i
        lengths[i] = numbers // 2
        places[i] = place
    return -1


@kernel
def unpack_rows(
    content: Bytes,
    lengths: NDArray[np.int32],
    places: NDArray[np.int64],
    begins: NDArray[np.int64],
    num_bins: int,
    rows: NDArray[np.int32],
) -> int:
    """Write bins and counts of the rows found into ``rows`` (2, nnz); return the first that is damaged, by place, or -1."""
    for i in range(lengths.size):
        place = places[i]
        last = 0
        for k in range(begins[i], begins[i] + lengths[i]):
            step, place = read_number(content, place)
            count, place = read_number(content, place)
            last += step
            if step < 0 or count < 0 or last >= num_bins:
                return i
            rows[0, k] = last
            rows[1, k] = count
    return -1


@kernel
def mirror_rows(
    lengths: NDArray[np.int32],
    mirrored: NDArray[np.bool_],
    begins: NDArray[np.int64],
    swap: NDArray[np.int32],
    rows: NDArray[np.int32],
) -> None:
    """Give the bins of some of the ``rows`` (2, nnz) their other names, and sort them again; they are few."""
    for i in range(lengths.size):
        if not mirrored[i]:
            continue
        for k in range(begins[i], begins[i] + lengths[i]):
            b = swap[rows[0, k]]
            count = rows[1, k]
            place = k
            while place > begins[i] and rows[0, place - 1] > b:
                rows[0, place] = rows[0, place - 1]
                rows[1, place] = rows[1, place - 1]
                place -= 1
            rows[0, place] = b
            rows[1, place] = count
