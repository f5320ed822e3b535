"""Neighbours of one root that look like the other. Kernel: `escgnn.kernels.alike`."""

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from escgnn.encoding.bin import Bin, Label
from escgnn.encoding.numbering import BinNumbers
from escgnn.encoding.parts.part import Part
from escgnn.encoding.settings import Settings


class Alike(Part):
    """``("alike", "u")``, further neighbours of v that look like u, and ``("alike", "v")``, those of u that look like v."""

    name = "alike"
    counts = "further neighbours of v that look like u, and of u that look like v, as far as rounds of 1-WL see"
    options = ("alike_rounds",)
    needs_radius = False

    def is_typed(self, settings: Settings) -> bool:
        """Always: its kernel is there, and without types all nodes, and all edges, look alike at first."""
        return True

    def bins(self, settings: Settings, labels: Sequence[Label]) -> Iterator[Bin]:
        """By the root that is looked like."""
        for root in "uv":
            yield Bin("alike", root)

    def mirror(self, name: Bin) -> Bin:
        """That of the other root."""
        return name.other_root()

    def table(self, number: BinNumbers) -> NDArray[np.int32]:
        """The two bins, ``(2,)``; none if nobody asked."""
        return np.array(number.of_part("alike"), np.int32)
