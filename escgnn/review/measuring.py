"""How good a run is, from its folder and, where it is at hand, its data: metrics with intervals, errors by distance, coverage."""

import csv
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from escgnn.datasets import DatasetBundle
from escgnn.metrics import predictions, score
from escgnn.task import Task
from escgnn.training import Ensemble, middle_of, outputs_and_answers, own_split, read_json, similarity

RESAMPLES = 500  # of the rows, for the interval of a metric
LEVEL = 0.95  # of these intervals
COVERAGE = 0.9  # of intervals of predictions
BANDS = (0.0, 0.3, 0.4, 0.5, 0.6, 0.8, 1.0)  # of similarity

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Measured:
    """A metric of a run and, by bootstrap, where it would lie with other rows of the same kind."""

    value: float
    low: float
    high: float


@dataclass(frozen=True)
class Band:
    """Rows that are about as far from the training molecules: similarities, their number, and the mean error."""

    low: float
    high: float
    rows: int
    error: float


@dataclass(frozen=True, eq=False)
class Review:
    """What is known of a run.

    Attributes:
        run: The network or networks.
        result: What ``result.json`` says; empty while it trains.
        curves: The epochs of every member, rows of ``metrics.csv``.
        settings: Lines of ``config.yaml``.
        bundle: The data with the split of the training; None if it is not at hand.
        subset: Which rows judge: ``"test"`` or, of other data, ``"all"``.
        seed: Of the bootstrap.
        resamples: How often it draws.
    """

    run: Ensemble
    result: Mapping[str, Any]
    curves: Sequence[Sequence[Mapping[str, float]]]
    settings: str
    bundle: DatasetBundle | None = None
    subset: str = "test"
    seed: int = 0
    resamples: int = RESAMPLES

    @property
    def made(self) -> Mapping[str, Any]:
        """The result that says how it was made: of an ensemble that of its first member."""
        first: Mapping[str, Any] = next(iter(self.result.get("members") or [self.result]))
        return first

    @cached_property
    def judged(self) -> tuple[Tensor, Tensor]:
        """Outputs and targets of the rows that judge; none without data."""
        if self.bundle is None:
            return torch.empty(0, 1), torch.empty(0, 1)
        alone = self.run.members[0] if self.run.size == 1 else self.run  # its own outputs, to the last bit
        return outputs_and_answers(alone, self.bundle, self.subset)

    @cached_property
    def predicted(self) -> Tensor:
        """Predictions for these rows."""
        return predictions(self.run.task, self.run.scaling, self.judged[0])

    @property
    def rows(self) -> int:
        """How many rows judge."""
        return len(self.judged[1])

    @cached_property
    def metrics(self) -> dict[str, Measured]:
        """Every metric of these rows with its interval."""
        if not self.rows:
            return {}
        return bootstrap(self.run.task, self.run.scaling, *self.judged, seed=self.seed, resamples=self.resamples)

    @cached_property
    def texts(self) -> list[str]:
        """The SMILES of these rows, if they are molecules."""
        if self.bundle is None or not self.bundle.texts or self.run.task.level != "graph":
            return []
        return [*self.bundle.texts] if self.subset == "all" else self.bundle.texts_of(self.subset)

    @cached_property
    def nearest(self) -> Array | None:
        """Similarity of each row to the nearest training molecule; None if these are not known."""
        if not self.texts:
            return None
        try:
            return similarity(self.texts, self.run.known)
        except ValueError:
            return None

    def errors(self, place: int) -> Array:
        """How wrong each row is: the distance of a number, or the probability that the right class was not given."""
        single, own, target = columns_of(self.run.task, self.predicted, self.judged[1])[place]
        return errors_of(single, own, target)

    def bands(self, place: int) -> list[Band]:
        """Mean errors by similarity to the nearest training molecule."""
        if self.nearest is None:
            return []
        errors = self.errors(place)
        found = []
        for low, high in pairwise(BANDS):
            inside = (self.nearest >= low) & ((self.nearest < high) | (high == 1.0)) & ~np.isnan(errors)
            if inside.any():
                found.append(Band(low, high, int(inside.sum()), float(errors[inside].mean())))
        return found

    def worst(self, place: int, count: int) -> list[int]:
        """The rows that are most wrong, the worst first."""
        errors = self.errors(place)
        order = np.argsort(-np.nan_to_num(errors, nan=-1.0), kind="stable")[:count]
        return [int(row) for row in order if not math.isnan(errors[row])]

    @cached_property
    def coverage(self) -> dict[str, float]:
        """By target, the share of rows whose number lies in its interval of 90 %; none where nothing was kept."""
        if self.bundle is None or not self.rows:
            return {}
        graphs = self.bundle.graphs if self.subset == "all" else getattr(self.bundle, self.subset)
        found = {}
        try:
            middle, deviation = middle_of(self.run.answers(graphs))  # (rows, outputs) each
            column = 0
            for place, (single, own, target) in enumerate(columns_of(self.run.task, self.predicted, self.judged[1])):
                if single.kind == "regression":
                    half = self.run.calibration.half_width(place, deviation[:, column], COVERAGE)
                    known = ~target.isnan()
                    inside = (target.double() - middle[:, column]).abs() <= half
                    found[single.targets[0]] = float(inside[known].double().mean())
                column += own.shape[1]
        except ValueError:  # it was not calibrated, or by too few rows
            return {}
        return found


def columns_of(task: Task, values: Tensor, y: Tensor) -> list[tuple[Task, Tensor, Tensor]]:
    """Each target alone: its task, its predictions (rows, outputs), and its answers (rows,), not a number if unknown."""
    found = []
    column = 0
    for place, single in enumerate(task.singles):
        width = single.classes if single.kind == "multiclass" else 1
        target = y[:, place].double()
        if single.kind != "regression":
            target = target.where(target >= 0, torch.nan)
        found.append((single, values[:, column : column + width], target))
        column += width
    return found


def errors_of(task: Task, values: Tensor, target: Tensor) -> Array:
    """How wrong predictions of one target are; not a number where the answer is unknown."""
    if task.kind == "regression":
        return (values[:, 0] - target).abs().numpy()
    if task.kind == "multiclass":
        right = values.gather(1, target.nan_to_num(0).long().unsqueeze(1))[:, 0]
        return torch.where(target.isnan(), torch.nan, 1 - right).numpy()
    return (values[:, 0] - target).abs().numpy()


def bootstrap(
    task: Task, scaling: Any, output: Tensor, y: Tensor, *, seed: int = 0, resamples: int = RESAMPLES
) -> dict[str, Measured]:
    """Every metric, and between which values 95 % of those of rows drawn again, with repeats, lie."""
    whole = score(task, scaling, output, y)
    rng = np.random.default_rng(seed)
    drawn: dict[str, list[float]] = {name: [] for name in whole}
    for _ in range(resamples):
        rows = torch.from_numpy(rng.integers(0, len(y), len(y)))
        for name, value in score(task, scaling, output[rows], y[rows]).items():
            drawn[name].append(value)
    found = {}
    for name, value in whole.items():
        finite = [one for one in drawn[name] if math.isfinite(one)]
        ends = np.quantile(finite, [(1 - LEVEL) / 2, (1 + LEVEL) / 2]) if finite else [math.nan, math.nan]
        found[name] = Measured(value, float(ends[0]), float(ends[1]))
    return found


def review(run: Ensemble, bundle: DatasetBundle | None = None, *, seed: int = 0) -> Review:
    """What is known of a run; with its data much more.

    Args:
        run: What `load_ensemble` gives, also of a folder with one network.
        bundle: Its dataset, or another one for the same task, all of which then judges.
        seed: Of the bootstrap.
    """
    own = None if bundle is None else own_split(run, bundle)
    path = run.folder / "result.json"
    settings = run.members[0].folder / "config.yaml"
    return Review(
        run,
        read_json(path) if path.is_file() else {},
        [read_curve(member.folder / "metrics.csv") for member in run.members],
        settings.read_text() if settings.is_file() else "",
        bundle if own is None else own,
        "all" if own is None else "test",
        seed,
    )


def read_curve(path: Path) -> list[dict[str, float]]:
    """The epochs of a run; none if they were not written."""
    if not path.is_file():
        return []
    with path.open(newline="") as stream:
        return [{name: float(cell) for name, cell in row.items() if cell} for row in csv.DictReader(stream)]


def roc(scores: Array, truth: Array) -> list[tuple[float, float]]:
    """Points of the ROC curve, from (0, 0) to (1, 1): shares of no and of yes above each threshold.

    >>> roc(np.array([0.9, 0.8, 0.1]), np.array([1, 0, 0]))
    [(0.0, 0.0), (0.0, 1.0), (0.5, 1.0), (1.0, 1.0)]
    """
    hits, misses = _above(scores, truth)
    return [(0.0, 0.0), *zip((misses / max(1, misses[-1])).tolist(), (hits / max(1, hits[-1])).tolist(), strict=True)]


def precision_recall(scores: Array, truth: Array) -> list[tuple[float, float]]:
    """Points of recall and precision, threshold by threshold.

    >>> precision_recall(np.array([0.9, 0.8, 0.1]), np.array([1, 0, 1]))
    [(0.5, 1.0), (0.5, 0.5), (1.0, 0.6666666666666666)]
    """
    hits, misses = _above(scores, truth)
    return [*zip((hits / max(1, hits[-1])).tolist(), (hits / (hits + misses)).tolist(), strict=True)]


def _above(scores: Array, truth: Array) -> tuple[Array, Array]:
    """How many of yes and of no have at least each of the scores, from the highest on; equal scores are one step."""
    order = np.argsort(-scores, kind="stable")
    is_last = np.append(np.diff(scores[order]) != 0, True)
    hits = np.cumsum(truth[order] == 1)[is_last].astype(float)
    misses = np.cumsum(truth[order] == 0)[is_last].astype(float)
    return hits, misses


def reliability(scores: Array, truth: Array, bins: int = 10) -> list[tuple[float, float]]:
    """Mean probability and share of yes of rows with about the same probability.

    >>> reliability(np.array([0.05, 0.02, 0.95]), np.array([0, 0, 1]))
    [(0.035, 0.0), (0.95, 1.0)]
    """
    place = np.minimum((scores * bins).astype(int), bins - 1)
    groups = [(scores[place == i], truth[place == i]) for i in range(bins) if (place == i).any()]
    return [(float(given.mean()), float(right.mean())) for given, right in groups]
