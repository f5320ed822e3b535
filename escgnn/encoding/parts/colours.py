"""Nodes by their colour under 1-WL inside the subgraph. Kernel: `escgnn.kernels.colours`."""

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from escgnn.encoding.bin import Bin, Label
from escgnn.encoding.labels import Codes
from escgnn.encoding.numbering import BinNumbers
from escgnn.encoding.parts.part import Part
from escgnn.encoding.settings import Settings
from escgnn.kernels.colours import Colours, mix


class Colour(Part):
    """``("colour", c)``: colours are hashed. By types they begin with these, and labels come in at the end."""

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
        return Colours(
            np.array([mine, mirrored], np.int32), label_colours(codes if mine else {}), settings.colour_rounds
        )


def label_colours(codes: Codes) -> NDArray[np.int64]:
    """A number for each label by its code, seen from (u, v) and from (v, u), ``(codes, 2)``."""
    start = np.zeros((max(codes, default=-1) + 1, 2), np.int64)
    for code, (a, b) in codes.items():
        start[code, 0] = mix(1 + (a << 31) + b)
        start[code, 1] = mix(1 + (b << 31) + a)
    return start
