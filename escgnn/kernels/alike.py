"""Neighbours that look alike."""

import numpy as np
from numpy.typing import NDArray

from escgnn.kernels import kernel
from escgnn.kernels.graphs import Csr
from escgnn.kernels.tallies import Tally, add


@kernel
def tally_alike(csr: Csr, u: int, v: int, colour: NDArray[np.int64], bins: NDArray[np.int32], tally: Tally) -> None:
    """Count the other neighbours of v that have the colour of u, and those of u that have the colour of v.

    In a path a-b-c of three equal nodes, for (u, v) = (a, b): c is one more neighbour of b like a, and a has no other
    neighbour at all, so the two bins read 1 and 0, and for (b, a) they read 0 and 1.
    """
    for side in range(2):
        here = u if side else v
        there = v if side else u
        for k in range(csr.indptr[here], csr.indptr[here + 1]):
            w = csr.indices[k]
            if w != there and colour[w] == colour[there]:
                add(tally, 0, bins[side])
                add(tally, 1, bins[1 - side])
