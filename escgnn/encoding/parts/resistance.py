"""Nodes by resistance distance. Kernel: `escgnn.kernels.resistance`."""

from collections.abc import Iterator, Sequence

import numpy as np

from escgnn.encoding.bin import Bin, Label
from escgnn.encoding.numbering import BinNumbers
from escgnn.encoding.parts.part import Part
from escgnn.encoding.settings import Settings
from escgnn.kernels.resistance import ROUNDING, ResistanceBins


class Resistance(Part):
    """``("resistance", "u", k)`` and ``("resistance", "v", k)``, in bins of ``resistance_width``, the last one open."""

    name = "resistance"
    counts = "nodes by resistance distance to u and, apart, to v, inside the subgraph"
    options = ("resistance_width",)

    def bins(self, settings: Settings, labels: Sequence[Label]) -> Iterator[Bin]:
        """By root, then by resistance, which exceeds h + 1 in no edge's subgraph."""
        last = int((settings.radius + 1) / settings.resistance_width + ROUNDING)
        for root in "uv":
            for b in range(last + 1):
                yield Bin("resistance", root, b)

    def mirror(self, name: Bin) -> Bin:
        """That of the other root."""
        return name.other_root()

    def table(self, settings: Settings, number: BinNumbers) -> ResistanceBins | None:
        """Bins by root and resistance, or None if nobody asked."""
        if "resistance" not in settings.parts:
            return None
        bins = [number.of_part("resistance", root) for root in "uv"]
        return ResistanceBins(np.array(bins, np.int32), settings.resistance_width)
