"""What stands around a ring as one number, which does not depend on where one begins to read, nor in which direction."""

import numpy as np
from numpy.typing import NDArray

from escgnn.kernels import kernel
from escgnn.kernels.colours import COLOURS, FACTORS, mix, times


@kernel
def least_reading(reading: NDArray[np.int64], length: int) -> tuple[int, int]:
    """Where to begin, and in which direction to go, so that what is read around a ring is least.

    It is read from any node, either way: C-N=C, as 6 1 7 2 6 1 with the bond back to the first, is least as 6 1 6 1 7 2. What is
    to be read stands there twice, one behind the other, so that nobody comes to an end.
    """
    best, best_step = 0, 1
    for start in range(0, length, 2):
        for step in (1, -1):
            first = start if step == 1 else start + length
            for i in range(length):
                difference = reading[first + step * i] - reading[best + best_step * i]
                if difference < 0:
                    best, best_step = first, step
                if difference != 0:
                    break
    return best, best_step


@kernel
def hash_ring(reading: NDArray[np.int64], length: int) -> int:
    """A number below 2 ** 62, the same from wherever the ring is read, and in both directions."""
    for i in range(length):
        reading[length + i] = reading[i]
    first, step = least_reading(reading, length)
    found = 0
    for i in range(length):
        found = (times(found, FACTORS[0]) + reading[first + step * i] + 1) & COLOURS
    return mix(found)
