"""Sparse histograms, one after the other: how they are kept, joined and put side by side."""

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from escgnn.encoding.bin import Bin, Name
from escgnn.kernels.rows import append_rows
from escgnn.markup import table

SHOWN = 10  # rows in a notebook, and bins of each


@dataclass(frozen=True, slots=True)
class Rows:
    """Sparse histograms, one after the other: row i holds ``length[i]`` bins, ascending, and their counts."""

    length: NDArray[np.int32]  # (rows,)
    bin: NDArray[np.int32]  # (nnz,)
    count: NDArray[np.int32]  # (nnz,)
    bins: tuple[Bin, ...]  # name of every bin

    def __len__(self) -> int:
        return self.length.size

    def __getitem__(self, row: int) -> dict[Name, int]:
        """One row by the names of its bins, each a `Bin`."""
        stop = int(self.length[: range(len(self))[row] + 1].sum())
        start = stop - int(self.length[row])
        values = zip(self.bin[start:stop].tolist(), self.count[start:stop].tolist(), strict=True)
        return {self.bins[b]: count for b, count in values}

    def _repr_html_(self) -> str:
        lines = []
        for row in range(min(len(self), SHOWN)):
            named = [f"{' '.join(map(str, name))}: {count}" for name, count in self[row].items()]
            more = f", and {len(named) - SHOWN} more" if len(named) > SHOWN else ""
            lines.append((str(row), ", ".join(named[:SHOWN]) + more))
        few = f", the first {SHOWN}" if len(self) > SHOWN else ""
        return table(("row", "counts by bin"), lines, f"{len(self):,} rows of {len(self.bins):,} bins{few}")

    def dense(self) -> NDArray[np.int32]:
        """The whole matrix ``(rows, bins)``, zeros included."""
        matrix = np.zeros((len(self), len(self.bins)), np.int32)
        matrix[np.repeat(np.arange(len(self)), self.length), self.bin] = self.count
        return matrix


# New memory costs more than the numbers written to it, so a few buffers are used again and again.
BUFFER = 1 << 20  # numbers
_buffers: deque[NDArray[np.int32]] = deque(maxlen=8)


def borrow(size: int) -> NDArray[np.int32]:
    """Two arrays for one block, with whatever they held before."""
    try:
        buffer = _buffers.pop()
    except IndexError:
        buffer = np.empty((2, BUFFER + 1), np.int32)
    return buffer if size <= buffer.shape[1] else np.empty((2, size), np.int32)


def give_back(blocks: list[Rows]) -> None:
    """Allow the blocks' memory to be used again; nobody may look at them any more."""
    for block in blocks:
        buffer = block.bin.base
        if buffer is not None and buffer.shape == (2, BUFFER + 1):
            _buffers.append(buffer)


NONE = np.empty(0, np.int32)


def joined(blocks: list[Rows], names: tuple[Bin, ...]) -> Rows:
    """The blocks' rows one after the other, in memory of their own."""
    length, bins, counts = (
        np.concatenate([NONE, *(getattr(block, field) for block in blocks)]) for field in ("length", "bin", "count")
    )
    give_back(blocks)
    return Rows(length, bins, counts, names)


def forward(blocks: list[Rows], names: tuple[Bin, ...]) -> Rows:
    """Join blocks and keep the rows of (u, v) out of those of (u, v) and (v, u)."""
    rows = joined(blocks, names)
    keep = np.repeat(np.arange(len(rows)) % 2 == 0, rows.length)
    return Rows(rows.length[::2].copy(), rows.bin[keep], rows.count[keep], names)


def side_by_side(pieces: Sequence[Rows], numbers: Sequence[NDArray[np.int32]], names: tuple[Bin, ...]) -> Rows:
    """Rows of the same roots from several sources as one; ``numbers`` are those of each one's bins among all."""
    length = np.stack([piece.length for piece in pieces]).sum(0, np.int32)
    end = length.cumsum(dtype=np.int64) - length
    result = np.empty((2, length.sum(dtype=np.int64)), np.int32)
    ascending = True
    last = -1
    for piece, number in zip(pieces, numbers, strict=True):
        ascending &= bool((np.diff(number, prepend=last) > 0).all())
        last = number[-1]
        append_rows(piece.length, piece.bin, piece.count, number, end, result)
    if not ascending:  # bins of pairs, where those that only pairs have come last, or parts between others
        result = result.take(np.lexsort((result[0], np.repeat(np.arange(length.size), length))), axis=1)
    return Rows(length, result[0], result[1], names)
