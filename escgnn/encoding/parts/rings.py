"""Rings of the whole graph through the root, by what they are made of. Kernel: `escgnn.kernels.rings`."""

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from escgnn.encoding.bin import Bin, Label
from escgnn.encoding.numbering import BinNumbers
from escgnn.encoding.parts.part import Part
from escgnn.encoding.settings import Settings


class Ring(Part):
    """``("ring", k)``, k from 3 on, or ``("ring", k, c)`` by types: the types around the ring, hashed."""

    name = "ring"
    counts = "cycles of k nodes that no edge cuts short, through the edge uv or the node u = v; by types, what they are made of"
    options = ("ring_length", "ring_bins")
    needs_radius = False

    def is_typed(self, settings: Settings) -> bool:
        """Always: its kernel is there, and without types all rings of a length are the same."""
        return True

    def bins(self, settings: Settings, labels: Sequence[Label]) -> Iterator[Bin]:
        """By length, then by hash."""
        for k in range(3, settings.ring_length + 1):
            if settings.counts_by_types("ring"):
                for c in range(settings.ring_bins):
                    yield Bin("ring", k, c)
            else:
                yield Bin("ring", k)

    def table(self, settings: Settings, number: BinNumbers) -> NDArray[np.int32]:
        """Bins by length and hash, ``(lengths, hashes)``; no lengths if nobody asked."""
        mine = number.of_part("ring")
        lengths = settings.ring_length - 2 if mine else 0
        return np.array(mine, np.int32).reshape(lengths, len(mine) // lengths if lengths else 1)
