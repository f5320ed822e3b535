"""A number for each environment of nodes that is common among the training graphs, beside a network."""

from collections.abc import Iterable, Iterator
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from escgnn.pools import MeanPool, SizedSumPool

LEAST_GRAPHS = 3  # training graphs that must have an environment: what one graph alone has would be learnt by heart
NONE = torch.iinfo(torch.int64).max  # no environment's number


class EnvironmentTable(nn.Module):
    r"""What each node adds by its environments alone: a weight looked up for each radius, :math:`\sum_r W_{c_r(v)}`.

    A perceptron has to learn common environments from examples, each of which moves all weights; a table has a row for each.
    Graphs add up what their nodes say, in units of the mean size of training graphs, and beside it take the mean. At first all
    rows are zero; environments that are not in the table add nothing.

    Args:
        size: Rows: environments that are known at most, the most common ones.
        out_channels: Numbers to predict.
        level: ``"graph"`` or ``"node"``.

    Shapes:
        ``environment`` :math:`(N, radii)`, to :math:`(N, 2 \cdot out\_channels)`, what is summed before what is averaged, or to
        :math:`(N, out\_channels)` for nodes.
    """

    known: Tensor

    def __init__(self, size: int, out_channels: int, level: str) -> None:
        super().__init__()
        if level == "edge":
            raise ValueError("environments: they belong to nodes, but the level is edge")
        self.out_channels = out_channels
        is_pooled = level == "graph"
        self.weight = nn.Parameter(torch.zeros(size, out_channels * (2 if is_pooled else 1)))
        self.register_buffer("known", torch.full((size,), NONE))  # ascending
        self.sum = SizedSumPool(out_channels) if is_pooled else None
        self.mean = MeanPool(out_channels) if is_pooled else None

    def forward(self, environment: Tensor) -> Tensor:
        """What all nodes add."""
        place, is_known = self._found(environment)  # (N, radii) each
        rows = functional.embedding(place, self.weight)  # (N, radii, channels)
        out: Tensor = (rows * is_known.unsqueeze(2)).sum(1)  # (N, channels)
        return out

    def are_known(self, environment: Tensor) -> Tensor:
        """Which environments are in the table, 1 or 0, (N, radii)."""
        return self._found(environment)[1].to(self.weight.dtype)

    def _found(self, environment: Tensor) -> tuple[Tensor, Tensor]:
        """Where each number is in the table, or the next smaller one, and whether it is: a search that can be exported."""
        last = self.known.numel() - 1
        place = torch.zeros_like(environment)
        for bit in reversed(range(last.bit_length())):
            further = (place + (1 << bit)).clamp_max(last)
            place = torch.where(self.known[further] <= environment, further, place)
        return place, self.known[place] == environment

    def pooled(self, added: Tensor, batch: Tensor, num_graphs: int) -> Tensor:
        """What graphs, or nodes, add by what their nodes do, (rows, out_channels)."""
        if self.sum is None or self.mean is None:
            return added
        summed = self.sum(added[:, : self.out_channels], batch, num_graphs)[:, : self.out_channels]  # (G, out_channels)
        out: Tensor = summed + self.mean(added[:, self.out_channels :], batch, num_graphs)  # (G, out_channels)
        return out

    def measured(self, batches: Iterable[Any]) -> Iterator[Any]:
        """The same batches; when all have passed, the environments that most of their graphs have are known."""
        numbers: list[Tensor] = []
        for batch in batches:
            numbers.append(_once_a_graph(batch.environment, getattr(batch, "batch", None)))
            yield batch
        if numbers:
            self.know(torch.cat(numbers))

    def know(self, numbers: Tensor) -> None:
        """Fill the table with the numbers that occur most often."""
        found, times = torch.unique(numbers, return_counts=True)
        common = times >= LEAST_GRAPHS
        found, times = found[common], times[common]
        most = times.argsort(descending=True, stable=True)[: self.known.numel()]
        self.known.fill_(NONE)[: most.numel()] = found[most].sort().values


class KnownStart(nn.Module):
    r"""What nodes start with by which of their environments are known: a vector for each radius.

    Without it a network cannot tell for which nodes a table has spoken, and for which it has to speak itself, but by heart.

    Shapes:
        What `EnvironmentTable.are_known` says, :math:`(N, radii)`, to :math:`(N, hidden)`.
    """

    def __init__(self, radii: int, hidden: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(0.1 * torch.randn(radii, hidden))  # small beside what nodes are

    def forward(self, is_known: Tensor) -> Tensor:
        """What each node starts with."""
        return is_known @ self.weight


def _once_a_graph(environment: Tensor, batch: Tensor | None) -> Tensor:
    """The numbers of all nodes of a batch, each once for every graph that has it."""
    owner = environment.new_zeros(environment.size(0)) if batch is None else batch
    radii = environment.size(1)
    pairs = torch.stack([environment.reshape(-1), owner.repeat_interleave(radii)], 1)  # (N * radii, 2)
    distinct: Tensor = torch.unique(pairs, dim=0)  # (distinct, 2)
    return distinct[:, 0]
