"""Networks that would not fit into memory are told while they are built, before the array that is too large is made."""

from collections.abc import Iterator
from math import prod
from typing import Any

import torch
from torch.overrides import TorchFunctionMode

from escgnn import limits

# What makes new arrays, whose sizes are numbers or lists of numbers among the arguments.
MAKERS = {torch.empty, torch.zeros, torch.ones, torch.rand, torch.randn}
FILLERS = {torch.full, torch.randint}  # here they are always a list


class Bounded(TorchFunctionMode):
    """While it lasts, torch makes arrays of so many numbers in all, and no more.

    >>> with Bounded(100):
    ...     torch.nn.Linear(10**6, 10**6)
    Traceback (most recent call last):
    ...
    ValueError: network: an array of 1000000 x 1000000 numbers, 4 TB, is too much; expected at most 100 in all

    Args:
        most: Numbers in all; `escgnn.limits.MOST_NUMBERS` if None.
    """

    def __init__(self, most: int | None = None) -> None:
        super().__init__()
        self.most = limits.MOST_NUMBERS if most is None else most
        self.left = self.most

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Count what is about to be made."""
        options = kwargs or {}
        if func in MAKERS or func in FILLERS:
            sizes = [*_sizes((*args, options.get("size", ())), only_lists=func in FILLERS)]
            self.left -= prod(sizes)
            if self.left < 0:
                shape = " x ".join(map(str, sizes))
                raise ValueError(
                    f"network: an array of {shape} numbers, {limits.memory(4 * prod(sizes))}, is too much; "
                    f"expected at most {self.most:,} in all"
                )
        return func(*args, **options)


def _sizes(arguments: Any, only_lists: bool) -> Iterator[int]:
    for argument in arguments:
        if isinstance(argument, list | tuple):
            yield from argument
        elif isinstance(argument, int) and not only_lists:
            yield argument
