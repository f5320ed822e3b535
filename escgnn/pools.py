"""How the vectors of nodes make one of their graph."""

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional
from torch_geometric.utils import softmax

LOGARITHMS = 4  # numbers of a graph whose logarithms are read out
FIRST_SHARE = -2.0  # at first a node adds about 0.1 to each: a molecule's logarithms are near 1
FIRST_SPREAD = 8.0  # and nodes differ: where all add the same, logarithms stay with the number of nodes


class SumPool(nn.Module):
    """A graph is the sum of its nodes.

    Attributes:
        out_channels: Size of a graph's vector.
    """

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.out_channels = channels

    def forward(self, h: Tensor, batch: Tensor, num_graphs: int) -> Tensor:
        """Vectors of all graphs; that of a graph without nodes is zero."""
        return h.new_zeros(num_graphs, h.size(1)).index_add(0, batch, h)


class SizedSumPool(SumPool):
    """A graph is the sum of its nodes, and their number, in units of the mean training graph's size, saved with the weights.

    Twice the graph is twice the vector, as for a sum, but vectors are as large as those of a mean: a step of Adam moves
    every weight of the head by about the learning rate, and the output by that times the size of what the head reads.
    The number of nodes is the last channel: in a sum of vectors that batch normalisation has centred it can hardly be seen.
    """

    size: Tensor

    def __init__(self, channels: int) -> None:
        super().__init__(channels)
        self.out_channels = channels + 1
        self.register_buffer("size", torch.ones(()))

    def forward(self, h: Tensor, batch: Tensor, num_graphs: int) -> Tensor:
        """Vectors of all graphs, of one channel more; that of a graph without nodes is zero."""
        counted = torch.cat([h, h.new_ones(h.size(0), 1)], 1)  # (nodes, channels + 1)
        return super().forward(counted, batch, num_graphs) / self.size

    def measured(self, batches: Iterable[Any]) -> Iterator[Any]:
        """The same batches; when all have passed, `size` is the mean number of nodes of their graphs."""
        nodes = 0
        graphs = 0
        for batch in batches:
            nodes += batch.num_nodes
            graphs += getattr(batch, "num_graphs", 1)  # a single graph has no such number
            yield batch
        self.size.fill_(max(1.0, nodes / max(1, graphs)))


class MeanPool(SumPool):
    """A graph is the mean of its nodes."""

    def forward(self, h: Tensor, batch: Tensor, num_graphs: int) -> Tensor:
        """Vectors of all graphs; that of a graph without nodes is zero."""
        sizes = h.new_zeros(num_graphs).index_add(0, batch, h.new_ones(h.size(0)))
        return super().forward(h, batch, num_graphs) / sizes.clamp_min(1).unsqueeze(1)


class AttentionPool(SumPool):
    """A graph is a weighted mean of its nodes; each node's vector says how much it weighs.

    Li et al., Gated Graph Sequence Neural Networks, ICLR 2016.
    """

    def __init__(self, channels: int) -> None:
        super().__init__(channels)
        self.gate = nn.Linear(channels, 1, bias=False)  # weights add up to 1, so a bias would not change them

    def forward(self, h: Tensor, batch: Tensor, num_graphs: int) -> Tensor:
        """Vectors of all graphs; that of a graph without nodes is zero."""
        return super().forward(h * softmax(self.gate(h), batch, num_nodes=num_graphs), batch, num_graphs)


class SumMeanPool(SumPool):
    """A graph is the sum of its nodes and, beside it, their mean: no perceptron divides one by the number of nodes as well.

    Args:
        channels: Size of a node's vector.
        sum_pool: How sums are taken.
    """

    def __init__(self, channels: int, sum_pool: Callable[[int], SumPool] = SumPool) -> None:
        super().__init__(channels)
        self.sum = sum_pool(channels)
        self.mean = MeanPool(channels)
        self.out_channels = self.sum.out_channels + channels

    def forward(self, h: Tensor, batch: Tensor, num_graphs: int) -> Tensor:
        """Vectors of all graphs, sums first; that of a graph without nodes is zero."""
        return torch.cat([self.sum(h, batch, num_graphs), self.mean(h, batch, num_graphs)], 1)


class LogPool(SumPool):
    r"""A graph is the logarithms of a few numbers that its nodes add to, :math:`\log(1 + \sum_v \mathrm{softplus}(w h_v + b))`.

    No sum over nodes is the logarithm of a sum, whatever they know of their surroundings, and a perceptron behind the pool learns
    graphs by heart; a few numbers leave little room for that.
    """

    def __init__(self, channels: int) -> None:
        super().__init__(channels)
        self.share = nn.Linear(channels, LOGARITHMS)
        self.share.weight.data.mul_(FIRST_SPREAD)
        self.share.bias.data.add_(FIRST_SHARE)
        self.out_channels = LOGARITHMS

    def forward(self, h: Tensor, batch: Tensor, num_graphs: int) -> Tensor:
        """Logarithms of all graphs; those of a graph without nodes are zero."""
        shares = functional.softplus(self.share(h))  # (nodes, LOGARITHMS)
        return super().forward(shares, batch, num_graphs).log1p()


class SumMeanLogPool(SumMeanPool):
    """A graph is the sum of its nodes, their mean, and logarithms of what they add up to; see `LogPool`."""

    def __init__(self, channels: int, sum_pool: Callable[[int], SumPool] = SumPool) -> None:
        super().__init__(channels, sum_pool)
        self.log = LogPool(channels)
        self.out_channels += self.log.out_channels

    def forward(self, h: Tensor, batch: Tensor, num_graphs: int) -> Tensor:
        """Vectors of all graphs, logarithms last; that of a graph without nodes is zero."""
        return torch.cat([super().forward(h, batch, num_graphs), self.log(h, batch, num_graphs)], 1)


POOLS: dict[str, Callable[[int], SumPool]] = {
    "sum": SumPool,
    "mean": MeanPool,
    "attention": AttentionPool,
    "sum+mean": SumMeanPool,
    "sum+mean+log": SumMeanLogPool,
}
STEADY_POOLS: dict[str, Callable[[int], SumPool]] = {  # the same where vectors of nodes are normalised
    **POOLS,
    "sum": SizedSumPool,
    "sum+mean": partial(SumMeanPool, sum_pool=SizedSumPool),
    "sum+mean+log": partial(SumMeanLogPool, sum_pool=SizedSumPool),
}
