"""Walks inside the subgraph. Kernel: `escgnn.kernels.walks`."""

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from escgnn.encoding.bin import Bin, Label
from escgnn.encoding.numbering import BinNumbers
from escgnn.encoding.parts.part import Part
from escgnn.encoding.settings import Settings


class Walk(Part):
    """``("walk", k)`` from u to v, ``("walk", "u", k)`` from u back to u, ``("walk", "v", k)``; k from 2 on."""

    name = "walk"
    counts = "walks of k edges inside the subgraph, from u to v and from either root back to it"
    options = ("walk_length",)

    def bins(self, settings: Settings, labels: Sequence[Label]) -> Iterator[Bin]:
        """By where they begin and end, then by length."""
        for root in ("", "u", "v"):
            for k in range(2, settings.walk_length + 1):
                yield Bin("walk", *root, k)

    def mirror(self, name: Bin) -> Bin:
        """That of the other root; walks from u to v are those from v to u, read backwards."""
        return name.other_root()

    def table(self, number: BinNumbers) -> NDArray[np.int32]:
        """Bins by ends and length, ``(3, lengths)``; no lengths if nobody asked."""
        return np.array(number.of_part("walk"), np.int32).reshape(3, -1)
