"""Numbers that describe whole graphs, such as fingerprints of molecules, as a vector beside that of the graph."""

from collections.abc import Iterable, Iterator
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from escgnn.layers import perceptron

FARTHEST = 5.0  # deviations that a descriptor may be away from its mean
DROPPED = 0.5  # share of the numbers, and of what the perceptron makes of them: fingerprints of few molecules are learnt by heart
LEAST_SPREAD = 1e-6  # of a descriptor, in units of its mean; one that varies less is constant but for rounding


class DescriptorEncoder(nn.Module):
    """Numbers that describe whole graphs as a vector each: standardised, cut off, and through a perceptron.

    The mean and the deviation are those of the training graphs, saved with the weights. What is not a finite number counts as
    the mean, so that it says nothing; what is far from all that was seen counts as `FARTHEST` deviations. At first the vectors
    are zero, so that the graph is heard first. If the numbers are more than ``channels``, half of them are dropped in training.

    Args:
        size: How many numbers a graph has.
        channels: Size of the result.
    """

    mean: Tensor
    deviation: Tensor

    def __init__(self, size: int, channels: int) -> None:
        super().__init__()
        self.register_buffer("mean", torch.zeros(size))
        self.register_buffer("deviation", torch.ones(size))
        self.dropped = DROPPED if size > channels else 0.0
        self.mlp = perceptron(size, channels, channels)
        last = self.mlp[-1]
        assert isinstance(last, nn.Linear)
        nn.init.zeros_(last.weight)
        nn.init.zeros_(last.bias)

    def forward(self, numbers: Tensor) -> Tensor:
        """The vectors of graphs, (graphs, channels)."""
        distance = (numbers.to(self.mean.dtype) - self.mean) / self.deviation  # (graphs, size)
        known = distance.where(distance.isfinite(), 0.0).clamp(-FARTHEST, FARTHEST)
        inner = self.mlp[:-1](functional.dropout(known, self.dropped, self.training))  # (graphs, channels)
        out: Tensor = self.mlp[-1](functional.dropout(inner, self.dropped, self.training))  # (graphs, channels)
        return out

    def measured(self, batches: Iterable[Any]) -> Iterator[Any]:
        """The same batches; when all have passed, mean and deviation are those of their graphs."""
        found = []
        for batch in batches:
            found.append(batch.descriptors.double())
            yield batch
        numbers = torch.cat(found)  # (graphs, size)
        known = numbers.isfinite()
        count = known.sum(0).clamp_min(1)
        mean = numbers.where(known, 0.0).sum(0) / count
        deviation = ((numbers - mean).where(known, 0.0).square().sum(0) / count).sqrt()
        self.mean.copy_(mean)
        self.deviation.copy_(deviation.where(deviation > LEAST_SPREAD * mean.abs().clamp_min(1.0), 1.0))
