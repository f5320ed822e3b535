"""Numbers of bins, for the tables that kernels look bins up in."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from escgnn.encoding.bin import Bin, Name


class BinNumbers:
    """Numbers of bins by name. What has no bin goes to the spare one, behind the last.

    Attributes:
        bins: The names.
        spare: Number of the spare bin.
        by_part: Numbers of all bins of each part, ascending.
    """

    def __init__(self, bins: Sequence[Bin]) -> None:
        self.bins = bins
        self.spare = len(bins)
        self._number: dict[Name, int] = {name: b for b, name in enumerate(bins)}
        self.by_part: dict[str, list[int]] = {}
        for b, name in enumerate(bins):
            self.by_part.setdefault(str(name[0]), []).append(b)  # there is one radius only, which no name begins with

    def __getitem__(self, name: Name) -> int:
        return self._number[name]

    def find(self, *name: str | int) -> int:
        """The number of a bin, or the spare one."""
        return self._number.get(name, self.spare)

    def nowhere(self, *shape: int) -> NDArray[np.int32]:
        """A table that sends everything to the spare bin."""
        return np.full(shape, self.spare, np.int32)

    def of_part(self, part: str, root: str | None = None) -> list[int]:
        """The numbers of all bins of a part, ascending, or of those that speak of one root."""
        mine = self.by_part.get(part, [])
        return mine if root is None else [b for b in mine if self.bins[b].root == root]
