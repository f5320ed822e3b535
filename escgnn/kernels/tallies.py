"""Counts in many bins of which few are not zero: which these are is kept, so that the others cost nothing."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from escgnn.kernels import kernel
from escgnn.kernels.numbering import sort
from escgnn.kernels.rows import LARGEST_COUNT


class Tally(NamedTuple):
    """Counts of (u, v) and of (v, u), all zero between roots."""

    counts: NDArray[np.int64]  # (2, bins + 1), the last one spare
    met: NDArray[np.int32]  # (2, bins + 1) bins that are not zero, in the order they were met
    size: NDArray[np.int64]  # (2,) how many these are


@kernel
def make_tally(bins: int) -> Tally:
    """An empty one, with a spare bin behind the last."""
    return Tally(np.zeros((2, bins + 1), np.int64), np.empty((2, bins + 1), np.int32), np.zeros(2, np.int64))


@kernel
def add(tally: Tally, side: int, b: int) -> None:
    """Count one more: side 0 is (u, v), side 1 is (v, u)."""
    if tally.counts[side, b] == 0:
        tally.met[side, tally.size[side]] = b
        tally.size[side] += 1
    tally.counts[side, b] += 1


@kernel
def take_row(tally: Tally, side: int, start: int, bins: NDArray[np.int32], counts: NDArray[np.int32]) -> int:
    """Move the counts of a side, bins ascending, behind those written up to ``start``, and return the end."""
    spare = tally.counts.shape[1] - 1
    met = tally.met[side, : tally.size[side]]
    sort(met)
    end = start
    for b in met:
        if b != spare:
            bins[end] = b
            counts[end] = min(tally.counts[side, b], LARGEST_COUNT)
            end += 1
        tally.counts[side, b] = 0
    tally.size[side] = 0
    return end
