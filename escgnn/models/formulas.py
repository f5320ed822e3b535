"""Maps of few features that leave no error, found by least squares on sums over all rows."""

import math

import torch
from torch import Tensor

EXACT = 1e-6  # error, in deviations of the target, below which a map counts as exact
SUSPECT = 1e-4  # the same where it is worth while to look for the map
RIDGE = 1e-10  # relative to the mean eigenvalue, which is 1
ROUNDING = 1e-9  # a correlation that is next to nothing
MOST_FEATURES = 200


class Moments:
    """Sums over rows of products of features and targets: all that least squares needs."""

    def __init__(self, features: int, targets: int) -> None:
        self.rows = 0
        self.features = features
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
        mean, covariance = self._covariances()
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
    weights = cross.new_zeros(0)
    left = variance
    while left > EXACT**2 * variance and len(chosen) < MOST_FEATURES:
        unexplained = (cross - square[:, chosen] @ weights).abs()
        unexplained[chosen] = 0
        best = int(unexplained.argmax())
        chosen.append(best)
        weights, left = _regress(square, cross, variance, chosen)
        if unexplained[best] <= ROUNDING * variance**0.5 or math.isinf(left):
            return None  # what is left is noise, which no feature tells
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
    """Least squares on some features: their weights, and the variance that is left; infinite if they depend on each other."""
    weights, singular = torch.linalg.solve_ex(square[chosen][:, chosen], cross[chosen])
    return weights, math.inf if singular else variance - float(cross[chosen] @ weights)
