"""Nodes by their colour under 1-WL inside the subgraph. Kernel: `escgnn.kernels.colours`."""

from collections.abc import Iterator, Sequence

import numpy as np

from escgnn.encoding.bin import Bin, Label
from escgnn.encoding.labels import Codes
from escgnn.encoding.numbering import BinNumbers
from escgnn.encoding.parts.part import Part
from escgnn.encoding.settings import Settings
from escgnn.kernels.colours import Colours, mix


class Colour(Part):
    """``("colour", c)``: colours are hashed."""

    name = "colour"
    counts = "nodes by their colour after rounds of 1-WL inside the subgraph that begin with the labels, hashed"
    options = ("colour_rounds", "colour_bins")

    def bins(self, settings: Settings, labels: Sequence[Label]) -> Iterator[Bin]:
        """By hash."""
        for c in range(settings.colour_bins):
            yield Bin("colour", c)

    def mirror(self, name: Bin) -> None:
        """Colours of (v, u) begin with other labels, so their hashes are others: they are counted apart."""
        return

    def table(self, settings: Settings, codes: Codes, number: BinNumbers) -> Colours:
        """Bins for (u, v) and, behind the spare one, for (v, u), and first colours; empty if nobody asked."""
        mine = number.of_part("colour")
        mirrored = range(number.spare + 1, number.spare + 1 + len(mine))
        start = np.zeros((max(codes) + 1 if mine else 0, 2), np.int64)
        if mine:
            for code, (a, b) in codes.items():
                start[code] = mix(1 + (a << 31) + b), mix(1 + (b << 31) + a)
        return Colours(np.array([mine, mirrored], np.int32), start, settings.colour_rounds)
