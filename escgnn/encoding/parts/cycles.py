"""Cycles of the whole graph through the root. Kernel: `escgnn.kernels.cycles`."""

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from escgnn.encoding.bin import Bin, Label
from escgnn.encoding.numbering import BinNumbers
from escgnn.encoding.parts.part import Part
from escgnn.encoding.settings import Settings


class Cycle(Part):
    """``("cycle", k)``, k from 3 on."""

    name = "cycle"
    counts = "k-cycles of the whole graph through the edge uv, or through the node u = v"
    options = ("cycle_length",)
    needs_radius = False

    def bins(self, settings: Settings, labels: Sequence[Label]) -> Iterator[Bin]:
        """By length."""
        for k in range(3, settings.cycle_length + 1):
            yield Bin("cycle", k)

    def table(self, number: BinNumbers) -> NDArray[np.int32]:
        """Bins by length, ``(lengths,)``; none if nobody asked."""
        return np.array(number.of_part("cycle"), np.int32)
