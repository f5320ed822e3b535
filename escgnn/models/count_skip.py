"""A linear path beside a network, from the summed encoding to the output, fitted in closed form: what keeps counts exact.

Many counts are linear in the encoding summed over the edges of a node, and most of the others in that and one more
aggregation (`escgnn.theorems`, ``ladder``). Least squares finds such maps to the last digit; gradient descent does not.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from escgnn.models.formulas import EXACT, SUSPECT, Moments

LEAST_SCALE = 1e-6


class CountSkip(nn.Module):
    r"""The linear map :math:`S W_1 + (A S) W_2 + b` of :math:`S_v = \sum_{u \in N(v)} s_{uv}`, summed for graphs.

    Weights come from `fit`, and no gradient changes them. Where they are a formula, which `exact` says, the network adds next to
    nothing; `gate` can switch it off. All numbers are in double precision: formulas of many bins need it.

    Args:
        num_bins: Bins of the encoding.
        out_channels: Targets.
        level: ``"node"`` or ``"graph"``.
    """

    weight: Tensor
    bias: Tensor
    scale: Tensor
    gate: Tensor
    exact: Tensor
    blind: Tensor

    def __init__(self, num_bins: int, out_channels: int, level: str) -> None:
        super().__init__()
        self.num_bins = num_bins
        self.out_channels = out_channels
        self.level = level
        self.register_buffer("weight", torch.zeros(num_bins, 2 * out_channels, dtype=torch.float64))
        self.register_buffer("bias", torch.zeros(out_channels, dtype=torch.float64))
        self.register_buffer("scale", torch.ones(out_channels, dtype=torch.float64))
        self.register_buffer("gate", torch.ones(out_channels, dtype=torch.float64))
        self.register_buffer("exact", torch.zeros(out_channels, dtype=torch.bool))
        self.register_buffer("blind", torch.zeros(num_bins, dtype=torch.bool))

    def forward(self, tensors: Mapping[str, Tensor], output: Tensor) -> Tensor:
        """The linear path plus what the network says."""
        total: Tensor = self.linear(tensors) + self.gate * self.scale * output.double()
        return total.to(output.dtype)

    def linear(self, tensors: Mapping[str, Tensor]) -> Tensor:
        """The linear path alone, in double precision."""
        edge_index = tensors["edge_index"]
        batch = tensors["batch"]
        length, bins, counts = (tensors[f"esc_{part}"] for part in ("len", "bin", "count"))
        start = (length.cumsum(0) - length).to(bins.dtype)  # (E,)
        weights = counts.to(self.weight.dtype)  # (nnz,)
        rows = functional.embedding_bag(
            bins, self.weight, start, mode="sum", per_sample_weights=weights
        )  # (E, 2 targets)
        summed = rows.new_zeros(batch.numel(), rows.size(1)).index_add(0, edge_index[1], rows)  # (N, 2 targets)
        near = summed[:, : self.out_channels]  # (N, targets), S W_1
        far = summed[:, self.out_channels :]  # (N, targets), S W_2
        nodes = near.index_add(0, edge_index[1], far.index_select(0, edge_index[0]))  # (N, targets)
        if self.level == "graph":
            nodes = nodes.new_zeros(tensors["ptr"].numel() - 1, self.out_channels).index_add(0, batch, nodes)
        out: Tensor = nodes + self.bias
        return out

    def features(self, tensors: Mapping[str, Tensor]) -> Tensor:
        """What the linear path is linear in: S and A S of every node, or their sums over every graph."""
        edge_index = tensors["edge_index"]
        batch = tensors["batch"]
        length, bins, counts = (tensors[f"esc_{part}"] for part in ("len", "bin", "count"))
        node = edge_index[1].repeat_interleave(length)  # (nnz,)
        summed = torch.zeros(batch.numel() * self.num_bins, dtype=torch.float64)
        summed = summed.index_add(0, node * self.num_bins + bins, counts.double()).view(-1, self.num_bins)
        further = torch.zeros_like(summed).index_add(0, edge_index[1], summed.index_select(0, edge_index[0]))
        found = torch.cat([summed, further], 1)  # (N, 2 bins)
        if self.level == "graph":
            found = found.new_zeros(tensors["ptr"].numel() - 1, found.size(1)).index_add(0, batch, found)
        return found

    def fit(
        self,
        training: Callable[[], Iterable[Mapping[str, Tensor]]],
        validation: Callable[[], Iterable[Mapping[str, Tensor]]],
        rank: Sequence[int] | None = None,
    ) -> None:
        """Look for formulas by least squares on streaming normal equations; each must hold on validation graphs, too.

        A formula is a map of few bins that leaves no error, so it also holds for other graphs, as far as their bins occur
        in the training graphs (`unseen`). Where there is none, the linear path is 0 and the network has the target to itself.

        Args:
            training: Gives batches, each a mapping with ``y``: standardised targets, not a number where unknown.
            validation: The same.
            rank: Of every bin, such as the place of its part in the encoding; formulas of bins of low rank are tried first.
        """
        ranks = torch.tensor(rank if rank is not None else [0] * self.num_bins)
        moments = Moments(2 * self.num_bins, self.out_channels)
        for features, y in self._pairs(training):
            moments.add(features, y)
        weight, bias = moments.solve(ranks)
        total = torch.zeros_like(bias)
        worst = torch.zeros_like(bias)
        rows = 0
        for features, y in self._pairs(validation):
            errors = (features @ weight + bias - y).abs()
            total += errors.sum(0)
            worst = torch.cat([errors, worst.unsqueeze(0)]).amax(0)
            rows += len(y)
        exact = (total < EXACT * rows) & (worst < SUSPECT)  # targets are rounded to single precision
        weight = weight * exact
        self.weight.copy_(torch.cat([weight[: self.num_bins], weight[self.num_bins :]], 1))
        self.bias.copy_(bias * exact)
        self.scale.fill_(1)[exact] = LEAST_SCALE
        self.exact.copy_(exact)
        used = weight.view(2, self.num_bins, -1).any(2).any(0)
        self.blind.copy_((moments.sums[: self.num_bins] == 0) & torch.isin(ranks, ranks[used]))

    def formulas(self, bins: Sequence[Sequence[str | int]]) -> dict[int, dict[tuple[str | int, ...], float]]:
        """The coefficients of every output that is exact, in its own units, by term.

        The constant is ``()``; ``("sum", *bin)`` is a bin summed over the edges of a node, and ``("sum of neighbours", *bin)``
        that of its neighbours together; for graphs, summed over all nodes.

        Args:
            bins: Names of the bins.
        """
        found: dict[int, dict[tuple[str | int, ...], float]] = {}
        for place in self.exact.nonzero()[:, 0].tolist():
            terms: dict[tuple[str | int, ...], float] = {(): float(self.bias[place])}
            for reach, column in (("sum", place), ("sum of neighbours", self.out_channels + place)):
                weights = self.weight[:, column]
                terms |= {(reach, *bins[b]): float(weights[b]) for b in weights.nonzero()[:, 0].tolist()}
            found[place] = terms
        return found

    def unseen(self, tensors: Mapping[str, Tensor]) -> int:
        """Number of graphs with bins, of a rank that formulas use, which no training graph had: nothing says what they weigh."""
        length = tensors["esc_len"]
        bins = tensors["esc_bin"]
        strange = self.blind[bins]  # (nnz,)
        edges = torch.repeat_interleave(length.long(), output_size=bins.numel())[strange]
        graphs = tensors["batch"][tensors["edge_index"][1, edges]]
        return int(torch.unique(graphs).numel())

    def _pairs(self, batches: Callable[[], Iterable[Mapping[str, Tensor]]]) -> Iterator[tuple[Tensor, Tensor]]:
        """Features and targets of the rows all of whose targets are known."""
        for tensors in batches():
            known = ~tensors["y"].isnan().any(1)
            yield self.features(tensors)[known], tensors["y"][known].double()


def part_ranks(encoding: Any) -> list[int]:
    """For every bin of a structural encoding the place of its part among the encoding's; clipped ones come last."""
    ranks = {part: rank for rank, part in enumerate((*encoding.parts, "clipped"))}
    return [next(ranks[word] for word in name if word in ranks) for name in encoding.bins]
