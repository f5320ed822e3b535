"""Equal machine time: how many epochs a row of a table can have, measured once and kept.

What rows of a table are compared by is what a user gets for the same processor time. A clock would stop the same run at another
epoch every time, so the time of an epoch is measured before, on some of the graphs; it says how many epochs there are, and
they are trained as ever. The number is kept in the cell's folder: a cell that goes on has the same.
"""

import csv
import json
import tempfile
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from escgnn.datasets import DatasetBundle, Split
from escgnn.disk import atomic
from escgnn.training import TrainConfig, fit

# Minutes of processor time that a row has in a column or in all columns of a table, with the budget hour. Folds share it.
CPU_MINUTES = {
    "counting": 6.0,
    "zinc-cycles": 1.5,
    "exp": 4.0,
    "sr25": 0.5,
    "csl": 1.5,
    "zinc-12k": 2.0,
    "ogbg-molhiv": 12.0,
    "qm9-3k": 3.0,
    "mutag": 1.0,
    "ptc-mr": 1.0,
    "proteins": 1.0,
    "enzymes": 2.0,
    "imdb-b": 1.0,
}
SAMPLES = (128, 1024)  # training graphs of the first measurement, and of the second
ENOUGH = 5.0  # seconds: an epoch that takes so long is not measured again with more graphs
WARM_UP = 20  # one of so many epochs
KEPT = "epochs.json"


@dataclass(frozen=True)
class Afforded:
    """What a run can have.

    Attributes:
        cpu_minutes: What it was given, for all folds together.
        cpu_seconds: Processor time of an epoch with all training and validation graphs, as it was measured.
        epochs: As many as fit, at most those of the settings.
        share: Of the training and validation graphs; less than 1 if not even one epoch with all of them fits.
    """

    cpu_minutes: float
    cpu_seconds: float
    epochs: int
    share: float

    @classmethod
    def of(cls, cpu_minutes: float, cpu_seconds: float, most: int, folds: int = 1) -> "Afforded":
        """What fits.

        >>> Afforded.of(2.0, cpu_seconds=0.5, most=100, folds=10).epochs
        24
        >>> Afforded.of(2.0, cpu_seconds=48, most=100, folds=10).share
        0.25
        """
        fitting = 60 * cpu_minutes / (folds * max(cpu_seconds, 1e-9))
        return cls(cpu_minutes, cpu_seconds, min(most, max(1, int(fitting))), min(1.0, fitting))

    def config(self, config: TrainConfig) -> TrainConfig:
        """The settings with that number of epochs."""
        return config.model_copy(update={"epochs": self.epochs, "warmup": self.epochs // WARM_UP})

    def bundle(self, bundle: DatasetBundle) -> DatasetBundle:
        """The dataset with that share of its graphs to learn from and to choose by; those to report on are all there."""
        if self.share == 1:
            return bundle
        split = None if bundle.split is None else _part(bundle.split, self.share)
        return replace(bundle, split=split, folds=tuple(_part(fold, self.share) for fold in bundle.folds))

    @property
    def note(self) -> str:
        """What a reader should know of it."""
        if self.share == 1:
            return ""
        return f"An epoch takes longer than the time there was: trained once on {self.share:.1%} of the training graphs"


def afford(bundle: DatasetBundle, config: TrainConfig, cpu_minutes: float, folder: Path) -> Afforded:
    """What a run on a dataset, or on all its folds, can have; measured if the folder does not say it.

    Args:
        bundle: The dataset.
        config: The settings, whose ``epochs`` are the most.
        cpu_minutes: For all folds together.
        folder: That of the cell.
    """
    path = folder / KEPT
    if path.exists():
        return Afforded(**json.loads(path.read_text()))
    one = bundle.fold(0) if bundle.folds else bundle
    found = Afforded.of(cpu_minutes, measured(one, config, folder), config.epochs, max(1, len(bundle.folds)))
    with atomic(path) as draft:
        draft.write_text(json.dumps(asdict(found)))
    return found


def measured(bundle: DatasetBundle, config: TrainConfig, folder: Path) -> float:
    """Processor time of an epoch: of the second of two, on some of the graphs, in proportion."""
    assert bundle.split is not None
    seconds = 0.0
    for most in SAMPLES:
        share = min(1.0, most / len(bundle.split.train))
        some = replace(bundle, split=_part(bundle.split, share))
        with tempfile.TemporaryDirectory(dir=folder) as place:
            fit(some, config.model_copy(update={"epochs": 2, "warmup": 0}), place, progress=False)
            with Path(place, "metrics.csv").open(newline="") as stream:
                _, second = csv.DictReader(stream)
        seconds = float(second["cpu_seconds"])
        if share == 1 or seconds > ENOUGH:
            break
    return seconds / share


def _part(split: Split, share: float) -> Split:
    """Some of the training and validation graphs, drawn at random, the same ones every time."""
    return Split(_some(split.train, share), _some(split.validation, share), split.test)


def _some(index: NDArray[np.int64], share: float) -> NDArray[np.int64]:
    count = min(len(index), max(2, round(share * len(index))))
    return np.sort(np.random.default_rng(0).permutation(index)[:count])
