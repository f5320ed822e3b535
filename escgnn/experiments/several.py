"""Cells of several networks together: each is that of a cell of another row, trained once for both."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from escgnn.datasets import DatasetBundle
from escgnn.experiments.experiment import Cell, Outcome, kept
from escgnn.experiments.trained import Metrics, TrainedFolds, config_of, metrics_of, train, train_folds
from escgnn.training import Ensemble, Result, evaluate, load_run

T = TypeVar("T")


def together(
    cell: Cell, row: str, folder: Path, progress: bool, table: str, columns: Mapping[str, str], *, percent: bool = False
) -> Outcome:
    """The outcome of the mean of several networks; see `train_several`."""
    networks = train_several(cell, row, folder, progress)
    bundle = networks.bundle
    metrics = (evaluate(networks.ensemble, bundle, "validation"), evaluate(networks.ensemble, bundle))
    return several_outcome(networks, *metrics, table, columns, percent=percent)


@dataclass(frozen=True)
class Several:
    """Trained networks that are judged together, and the dataset that they were trained on."""

    ensemble: Ensemble
    bundle: DatasetBundle
    results: Sequence[Result]


def train_several(cell: Cell, row: str, folder: Path, progress: bool) -> Several:
    """Train the networks that a cell consists of, cells of a row of their own, where that would.

    Raises:
        TakenError: Another process is training one of them.
    """
    members = _each_member(cell, row, folder, lambda member, place: train(member, place, progress))
    ensemble = Ensemble(folder, tuple(load_run(member.folder) for member in members))
    return Several(ensemble, members[0].bundle, [member.result for member in members])


def several_outcome(
    networks: Several,
    validation: Metrics,
    test: Metrics,
    table: str,
    columns: Mapping[str, str],
    *,
    percent: bool = False,
) -> Outcome:
    """The outcome of networks together, whose metrics are the columns of a table, as those of one are in `outcome`."""
    values = metrics_of(validation, test, table, columns, percent=percent)
    return _of_several(values, networks.ensemble.members[0].folder, networks.ensemble.size, networks.results)


def _each_member(cell: Cell, row: str, folder: Path, train_one: Callable[[Cell, Path], T]) -> list[T]:
    """What training gives of each network that a cell consists of, in the folder of that network's own cell."""
    members = cell.members(row)
    for member in members:
        with kept(folder.parent, member):  # before anything is loaded: who has to wait comes again every moment
            pass
    found = []
    for member in members:
        with kept(folder.parent, member) as place:
            found.append(train_one(member, place))
    return found


def _of_several(values: Mapping[str, Any], folder: Path, members: int, results: Sequence[Result]) -> Outcome:
    """An outcome of several networks, given the folder of one, with the time of all."""
    return Outcome(
        **values,
        config={**config_of(folder), "members": members},
        epochs=sum(result.epochs for result in results),
        seconds=sum(result.seconds for result in results),
        cpu_seconds=sum(result.cpu_seconds for result in results),
    )


def folds_together(cell: Cell, row: str, folder: Path, progress: bool, bundle: DatasetBundle) -> list[TrainedFolds]:
    """Train the networks that a cell consists of, as `together` does, on every fold of a dataset.

    Raises:
        TakenError: Another process is training some of them.
    """
    return _each_member(cell, row, folder, lambda member, place: train_folds(member, place, progress, bundle))


def folds_together_metrics(members: Sequence[TrainedFolds], bundle: DatasetBundle) -> list[dict[str, float]]:
    """The test metrics of the mean of what they say, fold by fold."""
    ensembles = [
        Ensemble(members[0].folder, tuple(load_run(member.folder / f"fold{i}") for member in members))
        for i in range(len(bundle.folds))
    ]
    return [evaluate(ensemble, bundle.fold(i)) for i, ensemble in enumerate(ensembles)]


def folds_together_outcome(members: Sequence[TrainedFolds], table: str, column: str, value: float) -> Outcome:
    """Their outcome, with one number to show."""
    results = [result for member in members for result in member.result.folds]
    return _of_several({"values": {table: {column: value}}}, members[0].folder / "fold0", len(members), results)
