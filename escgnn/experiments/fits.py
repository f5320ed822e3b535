"""Cells that train a network: from settings as plain values to the outcome that a record keeps."""

import csv
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from escgnn.datasets import DatasetBundle, Split, load
from escgnn.experiments.table import Cell, Outcome
from escgnn.metrics import Task
from escgnn.training import Result, fit, fit_folds, load_run, predict, read_config
from escgnn.training.config import read_stored

CURVE_POINTS, SCATTER_POINTS = 80, 150


@dataclass(frozen=True)
class Trained:
    """A finished run, and the dataset it was trained on."""

    result: Result
    bundle: DatasetBundle
    folder: Path


def training(
    dataset: str, settings: Iterable[str], *, graphs: int | None = None, targets: Sequence[str] = (), **options: Any
) -> dict[str, Any]:
    """Settings of a cell: dataset and options, what is set for the run, graphs of a split and targets to use if not all."""
    chosen = {"targets": [*targets]} if targets else {}
    return {"dataset": dataset, "options": options, "set": [*settings], "graphs": graphs, **chosen}


def bundle_of(settings: Mapping[str, Any]) -> DatasetBundle:
    """The dataset of a cell."""
    bundle = cut(load(settings["dataset"], **settings["options"]), settings["graphs"])
    return with_targets(bundle, settings["targets"]) if "targets" in settings else bundle


def with_targets(bundle: DatasetBundle, targets: Sequence[str]) -> DatasetBundle:
    """The dataset with some of its targets."""
    y = bundle.graphs.column("y")[:, [bundle.targets.index(name) for name in targets]]
    return replace(
        bundle,
        graphs=bundle.graphs.with_fields(**{bundle.task.level: {"y": y}}),
        task=replace(bundle.task, targets=tuple(targets)),
    )


def cut(bundle: DatasetBundle, graphs: int | None) -> DatasetBundle:
    """The dataset with at most so many graphs in each part of each split, to see that things run."""
    if graphs is None:
        return bundle
    splits = [Split(*(index[:graphs] for index in split)) for split in (bundle.split, *bundle.folds) if split]
    kept = np.unique(np.concatenate([index for split in splits for index in split]))
    few = [Split(*(np.searchsorted(kept, index) for index in split)) for split in splits]
    only = few.pop(0) if bundle.split else None
    return replace(bundle, graphs=bundle.graphs[kept].compact(), split=only, folds=tuple(few), pairs=None)


def train(cell: Cell, folder: Path, progress: bool, bundle: DatasetBundle | None = None) -> Trained:
    """Train the network of a cell, or go on with it."""
    bundle = bundle or bundle_of(cell.settings)
    config = read_config(overrides=[*cell.settings["set"], f"seed={cell.seed}"], bundle=bundle)
    return Trained(fit(bundle, config, folder, resume=True, progress=progress), bundle, folder)


def train_folds(cell: Cell, folder: Path, progress: bool, most: int | None) -> tuple[float, int, float]:
    """Mean test accuracy over the folds of a dataset in per cent, epochs, and seconds; at most so many folds."""
    bundle = bundle_of(cell.settings)
    bundle = replace(bundle, folds=bundle.folds[:most])
    config = read_config(overrides=[*cell.settings["set"], f"seed={cell.seed}"], bundle=bundle)
    result = fit_folds(bundle, config, folder, resume=True, progress=progress)
    return 100 * result.mean, sum(fold.epochs for fold in result.folds), sum(fold.seconds for fold in result.folds)


def outcome(
    trained: Trained, table: str, columns: Mapping[str, str], *, percent: bool = False, note: str = ""
) -> Outcome:
    """The outcome of a run whose metrics are the columns of a table: by column, the metric's name."""
    result = trained.result
    factor = 100.0 if percent else 1.0

    def chosen(metrics: Mapping[str, float | None]) -> dict[str, float | None]:
        return {column: _times(metrics[metric], factor) for column, metric in columns.items()}

    return Outcome(
        values={table: chosen(result.test)},
        validation=chosen(result.validation),
        config=config_of(trained.folder),
        epochs=result.epochs,
        seconds=result.seconds,
        curve=curve(trained.folder, result.metric),
        note=note,
    )


def per_target(bundle: DatasetBundle, metric: str) -> dict[str, str]:
    """The name of a metric for each target; there is no mean where there is only one."""
    return {name: f"{metric}/{name}" if len(bundle.targets) > 1 else metric for name in bundle.targets}


def config_of(folder: Path) -> dict[str, Any]:
    """All settings of a run."""
    return read_stored(folder / "config.yaml").model_dump(mode="json")


def curve(folder: Path, metric: str) -> tuple[dict[str, float | None], ...]:
    """Some points of a run's learning curve, the last one among them."""
    with (folder / "metrics.csv").open(newline="") as stream:
        rows = [*csv.DictReader(stream)]
    places = np.unique(np.linspace(0, len(rows) - 1, CURVE_POINTS).round().astype(int))
    return tuple(
        {
            "epoch": int(rows[i]["epoch"]),
            "loss": float(rows[i]["loss"]),
            "validation": float(rows[i][f"validation_{metric}"]),
        }
        for i in places
    )


def scatter(trained: Trained) -> dict[str, tuple[tuple[float, float], ...]]:
    """True and predicted values of some test nodes or graphs, by target."""
    truth, predicted = on_test(trained)
    some = np.sort(np.random.default_rng(0).permutation(len(truth))[:SCATTER_POINTS])
    return {
        name: tuple((float(truth[i, place]), float(predicted[i, place])) for i in some)
        for place, name in enumerate(trained.bundle.targets)
    }


def on_test(trained: Trained) -> tuple[Any, Any]:
    """Targets of the test graphs, and what the best epoch says, ``(rows, targets)``."""
    graphs = trained.bundle.test
    return graphs.column("y").double().numpy(), predict(load_run(trained.folder), graphs).double().numpy()


def classes_of_own(bundle: DatasetBundle) -> DatasetBundle:
    """A dataset in which every graph is a class of its own, to be learnt and recognised."""
    everything = np.arange(len(bundle.graphs))
    task = Task("graph", "multiclass", "accuracy", "max", ("graph",), len(everything))
    graphs = bundle.graphs.with_fields(graph={"y": everything[:, None]})
    return DatasetBundle(bundle.name, graphs, task, bundle.features, Split(everything, everything, everything))


def encoded(hops: int | None) -> dict[str, Any]:
    """Settings for `flags`: the encoding of that radius, or none, which makes the network the paper's MPNN."""
    return {"encoding": None} if hops is None else {"encoding__hops": hops}


def flags(**settings: Any) -> list[str]:
    """Settings as `read_config` takes them; two underscores stand for a point.

    >>> flags(epochs=3, model__hidden=64, encoding=None)
    ['epochs=3', 'model.hidden=64', 'encoding=null']
    """
    return [f"{name.replace('__', '.')}={_yaml(value)}" for name, value in settings.items()]


def _yaml(value: Any) -> str:
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    return ",".join(value) if isinstance(value, Sequence) and not isinstance(value, str) else str(value)


def _times(value: float | None, factor: float) -> float | None:
    return None if value is None else value * factor
