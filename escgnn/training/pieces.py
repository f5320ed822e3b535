"""Batches whose subgraphs would not fit, taken in pieces: outputs and gradients are those of the whole batch.

What is random draws once for each piece, and batch normalisation sees a piece at a time: see `run_network`.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.modules.batchnorm import _BatchNorm
from torch.utils.checkpoint import checkpoint

from escgnn.bags import BagTooLargeError, split


class PiecesWarning(UserWarning):
    """Batches are split, and batch normalisation sees one piece at a time."""


class Pieces:
    """The graphs of a batch, in order, in several smaller batches."""

    def __init__(self, batches: Sequence[Any]) -> None:
        self.batches = [*batches]

    def __iter__(self) -> Iterator[Any]:
        return iter(self.batches)

    @property
    def y(self) -> Tensor:
        """The targets of the whole batch."""
        return torch.cat([batch.y for batch in self.batches])

    def to(self, *arguments: Any, **options: Any) -> "Pieces":
        """The same on another device."""
        return Pieces([batch.to(*arguments, **options) for batch in self.batches])


class Splitting:
    """A transform of batches that gives `Pieces` of those that it finds too large.

    Args:
        transform: What is done to a batch; None for nothing.

    Raises:
        BagTooLargeError: A single graph is too large.
    """

    def __init__(self, transform: Callable[[Any], Any] | None) -> None:
        self.transform = transform

    def __call__(self, batch: Any) -> Any:
        """The batch, transformed, or its pieces."""
        if self.transform is None:
            return batch
        try:
            return self.transform(batch)
        except BagTooLargeError as error:
            return Pieces([self.transform(piece) for piece in split(batch, error)])


def run_network(network: nn.Module, batch: Any) -> tuple[Tensor, int]:
    """What a network says of a batch or of `Pieces`, and in how many pieces it was.

    A batch that the network itself finds too large is split, too.

    Of pieces only the outputs are kept; to take gradients each is computed a second time, one after the other. So memory is that
    of the largest piece, a step takes a third longer, and the loss may be any function of all outputs. Random numbers are the
    same both times.

    Raises:
        BagTooLargeError: A single graph is too large.
    """
    if not isinstance(batch, Pieces):
        try:
            return network(batch), 1
        except BagTooLargeError as error:
            batch = Pieces([*split(batch, error)])
    if not torch.is_grad_enabled():
        return torch.cat([network(piece) for piece in batch]), len(batch.batches)

    def contexts() -> tuple[AbstractContextManager[None], AbstractContextManager[None]]:
        return nullcontext(), _statistics_kept(network)

    outputs = [checkpoint(network, piece, use_reentrant=False, context_fn=contexts) for piece in batch]
    return torch.cat(outputs), len(batch.batches)


def has_batch_norm(network: nn.Module) -> bool:
    """Whether what a network makes of a graph depends on its batch while it learns."""
    return any(isinstance(part, _BatchNorm) for part in network.modules())


def fit_normalisation(network: nn.Module, batches: Iterable[Any]) -> None:
    """Let batch normalisation begin with the statistics of graphs, not with a mean of 0 and a variance of 1.

    As it begins it changes nothing: in regular graphs, whose nodes are alike, all nodes are then on the same side of every
    rectifier, and a network without bends counts walks, of which strongly regular graphs of the same parameters have as many.
    """
    norms = [part for part in network.modules() if isinstance(part, _BatchNorm)]
    if not norms:
        return
    momenta = [norm.momentum for norm in norms]
    for norm in norms:
        norm.reset_running_stats()
        norm.momentum = None  # the mean over all batches
    network.train()
    with torch.no_grad():
        for batch in batches:
            run_network(network, batch)
    for norm, momentum in zip(norms, momenta, strict=True):
        norm.momentum = momentum


@contextmanager
def _statistics_kept(network: nn.Module) -> Iterator[None]:
    """What batch normalisation has seen already, it does not count again."""
    norms = [part for part in network.modules() if isinstance(part, _BatchNorm)]
    momenta = [norm.momentum for norm in norms]
    for norm in norms:
        norm.momentum = 0.0
    try:
        yield
    finally:
        for norm, momentum in zip(norms, momenta, strict=True):
            norm.momentum = momentum
