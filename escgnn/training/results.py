"""What a training run came to."""

import math
import statistics
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from escgnn import provenance
from escgnn.training.runs import RESULT, read_json

Metrics = Mapping[str, float | None]


@dataclass(frozen=True)
class Result:
    """One run: the epoch with the strictly best validation metric, and the test metrics of the same weights.

    Two results are equal if the same numbers were computed, whenever that was and however long it took.

    Attributes:
        dataset: What was trained on.
        metric: Which of the metrics judges.
        best_epoch: From 0.
        epochs: Epochs trained.
        stopped: Why no more: ``"epochs"``, ``"early"``, or ``"diverged"`` if the loss was no longer a number.
        validation: Metrics of that epoch; several targets' as ``metric/target``, too. None if undefined.
        test: The same of the test graphs.
        seed: Of the run.
        seconds: Spent on training and validation.
        command: What was called.
        versions: Of what decides the numbers.
        commit: Of this code, if known.
    """

    dataset: str
    metric: str
    best_epoch: int
    epochs: int
    stopped: str
    validation: Metrics
    test: Metrics
    seed: int
    seconds: float = field(compare=False, default=0.0)
    command: str = field(compare=False, default_factory=provenance.command)
    versions: Mapping[str, str] = field(compare=False, default_factory=provenance.versions)
    commit: str | None = field(compare=False, default_factory=provenance.commit)

    def to_json(self) -> dict[str, Any]:
        """Plain values."""
        return asdict(self)


@dataclass(frozen=True)
class FoldResult:
    """A cross-validation: mean and standard deviation over folds of the test metric, and the folds' own results.

    A fold in which the metric is undefined is left out of the two.
    """

    dataset: str
    metric: str
    mean: float
    std: float
    folds: tuple[Result, ...]

    @classmethod
    def of(cls, folds: Iterable[Result]) -> "FoldResult":
        """The summary of some folds, each of which counts the same."""
        folds = tuple(folds)
        metric = folds[0].metric
        values = [value for fold in folds if (value := fold.test[metric]) is not None]
        std = statistics.stdev(values) if len(values) > 1 else 0.0
        return cls(folds[0].dataset, metric, statistics.fmean(values), std, folds)

    def to_json(self) -> dict[str, Any]:
        """Plain values."""
        return {
            **{name: value for name, value in vars(self).items() if name != "folds"},
            "folds": [fold.to_json() for fold in self.folds],
        }


def read_result(folder: str | Path) -> Result:
    """The result of a run that has ended.

    Raises:
        ValueError: It is not there, or is damaged.
    """
    path = Path(folder, RESULT)
    try:
        return Result(**read_json(path))
    except TypeError as error:
        raise ValueError(f"{path}: not the result of a run; {error}") from error


def plain(metrics: Mapping[str, float]) -> dict[str, float | None]:
    """Metrics with None for what is not a number, which JSON does not know."""
    return {name: value if math.isfinite(value) else None for name, value in metrics.items()}
