"""A linear path beside a network, from the summed encoding to the output, fitted in closed form: what keeps counts exact.

Many counts are linear in the encoding summed over the edges of a node, and most of the others in that and one more
aggregation (`escgnn.theorems`, ``ladder``). Least squares finds such maps to the last digit; gradient descent does not.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

import torch
from torch import Tensor, nn
from torch.nn import functional

RIDGE = 1e-10  # relative to the mean eigenvalue, which is 1
LEAST_SCALE = 1e-6
EXACT = 1e-6  # error, in deviations of the target, below which a map counts as exact
SUSPECT = 1e-4  # the same where it is worth while to look for the map
MOST_FEATURES = 200


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

    def __init__(self, num_bins: int, out_channels: int, level: str) -> None:
        super().__init__()
        self.num_bins, self.out_channels, self.level = num_bins, out_channels, level
        self.register_buffer("weight", torch.zeros(num_bins, 2 * out_channels, dtype=torch.float64))
        self.register_buffer("bias", torch.zeros(out_channels, dtype=torch.float64))
        self.register_buffer("scale", torch.ones(out_channels, dtype=torch.float64))
        self.register_buffer("gate", torch.ones(out_channels, dtype=torch.float64))
        self.register_buffer("exact", torch.zeros(out_channels, dtype=torch.bool))

    def forward(self, tensors: Mapping[str, Tensor], output: Tensor) -> Tensor:
        """The linear path plus what the network says."""
        total: Tensor = self.linear(tensors) + self.gate * self.scale * output.double()
        return total.to(output.dtype)

    def linear(self, tensors: Mapping[str, Tensor]) -> Tensor:
        """The linear path alone, in double precision."""
        edge_index, batch = tensors["edge_index"], tensors["batch"]
        length, bins, counts = (tensors[f"esc_{part}"] for part in ("len", "bin", "count"))
        start = (length.cumsum(0) - length).to(bins.dtype)
        weights = counts.to(self.weight.dtype)
        rows = functional.embedding_bag(bins, self.weight, start, mode="sum", per_sample_weights=weights)
        summed = rows.new_zeros(batch.numel(), rows.size(1)).index_add(0, edge_index[1], rows)
        near, far = summed[:, : self.out_channels], summed[:, self.out_channels :]
        nodes = near.index_add(0, edge_index[1], far.index_select(0, edge_index[0]))
        if self.level == "graph":
            nodes = nodes.new_zeros(tensors["ptr"].numel() - 1, self.out_channels).index_add(0, batch, nodes)
        out: Tensor = nodes + self.bias
        return out

    def features(self, tensors: Mapping[str, Tensor]) -> Tensor:
        """What the linear path is linear in: S and A S of every node, or their sums over every graph."""
        edge_index, batch = tensors["edge_index"], tensors["batch"]
        length, bins, counts = (tensors[f"esc_{part}"] for part in ("len", "bin", "count"))
        node = edge_index[1].repeat_interleave(length)
        summed = torch.zeros(batch.numel() * self.num_bins, dtype=torch.float64)
        summed = summed.index_add(0, node * self.num_bins + bins, counts.double()).view(-1, self.num_bins)
        further = torch.zeros_like(summed).index_add(0, edge_index[1], summed.index_select(0, edge_index[0]))
        found = torch.cat([summed, further], 1)
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

        A formula is a map of few bins that leaves no error, so it also holds for other graphs. Where there is none, the
        linear path is 0 and the network has the target to itself.

        Args:
            training: Gives batches, each a mapping with ``y``: standardised targets, not a number where unknown.
            validation: The same.
            rank: Of every bin, such as the place of its part in the encoding; formulas of bins of low rank are tried first.
        """
        ranks = torch.tensor(rank if rank is not None else [0] * self.num_bins)
        moments = _Moments(2 * self.num_bins, self.out_channels)
        for features, y in self._pairs(training):
            moments.add(features, y)
        weight, bias = moments.solve(ranks)
        errors, rows = torch.zeros_like(bias), 0
        for features, y in self._pairs(validation):
            errors += (features @ weight + bias - y).abs().sum(0)
            rows += len(y)
        exact = errors < EXACT * rows
        weight = weight * exact
        self.weight.copy_(torch.cat([weight[: self.num_bins], weight[self.num_bins :]], 1))
        self.bias.copy_(bias * exact)
        self.scale.fill_(1)[exact] = LEAST_SCALE
        self.exact.copy_(exact)

    def _pairs(self, batches: Callable[[], Iterable[Mapping[str, Tensor]]]) -> Iterator[tuple[Tensor, Tensor]]:
        """Features and targets of the rows all of whose targets are known."""
        for tensors in batches():
            known = ~tensors["y"].isnan().any(1)
            yield self.features(tensors)[known], tensors["y"][known].double()


class _Moments:
    """Sums over rows of products of features and targets: all that least squares needs."""

    def __init__(self, features: int, targets: int) -> None:
        self.rows, self.features = 0, features
        self.sums = torch.zeros(features + targets, dtype=torch.float64)
        self.products = torch.zeros(features + targets, features + targets, dtype=torch.float64)

    def add(self, features: Tensor, y: Tensor) -> None:
        """Add rows."""
        joined = torch.cat([features, y], 1)
        self.rows += len(joined)
        self.sums += joined.sum(0)
        self.products.addmm_(joined.T, joined)

    def _covariances(self) -> tuple[Tensor, Tensor]:
        """Means and covariances of features and targets."""
        mean = self.sums / max(self.rows, 1)
        return mean, self.products / max(self.rows, 1) - torch.outer(mean, mean)

    def solve(self, ranks: Tensor) -> tuple[Tensor, Tensor]:
        """Weights and constants of the formulas that were found; the mean where none was."""
        d = self.features
        mean = self.sums / max(self.rows, 1)
        covariance = self.products / max(self.rows, 1) - torch.outer(mean, mean)
        variance = covariance.diagonal()
        varies = variance[:d] > 1e-12 * (mean[:d] ** 2 + variance[:d])
        deviation = torch.where(varies, variance[:d].clamp_min(0).sqrt(), torch.inf)  # a constant gets no weight
        square = covariance[:d, :d] / torch.outer(deviation, deviation)
        found = _formulas(square, covariance[:d, d:] / deviation.unsqueeze(1), variance[d:], ranks)
        weight = found / deviation.unsqueeze(1)
        return weight, mean[d:] - mean[:d] @ weight


def _formulas(square: Tensor, cross: Tensor, variance: Tensor, ranks: Tensor) -> Tensor:
    """For each target, weights of few features that explain all of it, those of low rank and one aggregation first.

    Where there are none, weights are 0.

    Args:
        square: Correlations of features.
        cross: Covariances of features with targets.
        variance: Of targets.
        ranks: Of bins, of which there are half as many as features.
    """
    found = torch.zeros_like(cross)
    missing = {*range(cross.size(1))}
    for rank in sorted({*ranks.tolist()}):
        near = (ranks <= rank).nonzero()[:, 0]
        for allowed in (near, torch.cat([near, near + len(ranks)])):
            inner, outer = square[allowed][:, allowed], cross[allowed]
            solved = torch.linalg.solve(inner + RIDGE * torch.eye(len(allowed), dtype=inner.dtype), outer)
            left = variance - (outer * solved).sum(0)
            for target in [t for t in missing if left[t] < SUSPECT**2 * variance[t]]:
                weights = _few(inner, outer[:, target], float(variance[target]))
                if weights is not None:
                    found[allowed, target] = weights
                    missing.remove(target)
    return found


def _few(square: Tensor, cross: Tensor, variance: float) -> Tensor | None:
    """Orthogonal matching pursuit until nothing is left; then features that can go are dropped. None if it takes too many.

    Pati et al., Orthogonal Matching Pursuit, 1993.
    """
    chosen: list[int] = []
    weights, left = cross.new_zeros(0), variance
    while left > EXACT**2 * variance and len(chosen) < MOST_FEATURES:
        unexplained = (cross - square[:, chosen] @ weights).abs()
        unexplained[chosen] = 0
        chosen.append(int(unexplained.argmax()))
        weights, left = _regress(square, cross, variance, chosen)
    if left > EXACT**2 * variance:
        return None
    for feature in [*chosen]:
        fewer = [other for other in chosen if other != feature]
        found, remains = _regress(square, cross, variance, fewer)
        if remains <= EXACT**2 * variance:
            chosen, weights = fewer, found
    result = torch.zeros_like(cross)
    result[chosen] = weights
    return result


def _regress(square: Tensor, cross: Tensor, variance: float, chosen: list[int]) -> tuple[Tensor, float]:
    """Least squares on some features: their weights, and the variance that is left."""
    weights = torch.linalg.solve(square[chosen][:, chosen], cross[chosen])
    return weights, variance - float(cross[chosen] @ weights)
