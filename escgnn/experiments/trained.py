"""Cells that train a network: from settings as plain values to the outcome that a record keeps."""

import csv
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from escgnn.datasets import DatasetBundle, Split, load
from escgnn.experiments.experiment import Cell, Outcome
from escgnn.experiments.machine_time import Afforded, afford
from escgnn.task import Task
from escgnn.training import (
    FoldResult,
    Result,
    TrainConfig,
    fit,
    fit_folds,
    load_run,
    predict,
    read_config,
    read_stored,
)

T = TypeVar("T")
Metrics = Mapping[str, float | None]
Settings = Mapping[str, Any]  # nested, as `escgnn.training.read_config` takes them

CURVE_POINTS = 80
SCATTER_POINTS = 150


@dataclass(frozen=True)
class Trained:
    """A finished run, the dataset it was trained on, and what it was allowed, if that was measured."""

    result: Result
    bundle: DatasetBundle
    folder: Path
    afforded: Afforded | None = None


@dataclass(frozen=True)
class TrainedFolds:
    """A finished cross-validation; the folder holds ``fold0`` and so on."""

    result: FoldResult
    folder: Path
    afforded: Afforded | None = None


def training(
    dataset: str,
    *layers: Settings,
    graphs: int | None = None,
    targets: Sequence[str] = (),
    cpu_minutes: float | None = None,
    members: int | None = None,
    **options: Any,
) -> dict[str, Any]:
    """The settings of a cell that trains.

    Args:
        dataset: Its name.
        layers: Settings of the run, each over those before it.
        graphs: At most so many graphs of each subset of the split; None for all.
        targets: Those to learn, if not all.
        cpu_minutes: Processor time that decides the number of epochs; None for that of the settings. See `machine_time`.
        members: Networks that are judged together; None for one network. See `together`.
        options: Of the dataset.
    """
    settings: dict[str, Any] = {"dataset": dataset, "options": options, "settings": merged(*layers), "graphs": graphs}
    if targets:
        settings["targets"] = [*targets]
    if cpu_minutes is not None:
        settings["cpu_minutes"] = cpu_minutes
    if members is not None:
        settings["members"] = members
    return settings


def encoded(hops: int | None) -> dict[str, Any]:
    """Settings: the encoding of that radius, or none, which makes the network the paper's MPNN."""
    return {"encoding": None if hops is None else {"hops": hops}}


def merged(*layers: Settings) -> dict[str, Any]:
    """Settings over each other, sections name by name; None in place of a section leaves it out, one after it begins anew.

    >>> merged({"model": {"hidden": 64, "layers": 4}, "encoding": {"hops": 2}}, {"model": {"hidden": 16}, "encoding": None})
    {'model': {'hidden': 16, 'layers': 4}, 'encoding': None}
    """
    settings: dict[str, Any] = {}
    for layer in layers:
        for name, value in layer.items():
            if isinstance(value, Mapping):
                below = settings.get(name)
                settings[name] = merged(below, value) if isinstance(below, Mapping) else merged(value)
            else:
                settings[name] = value
    return settings


def from_texts(settings: Settings) -> dict[str, Any]:
    """The settings of a cell that were recorded as texts, ``"set": ["model.hidden=64"]``, as they are now.

    >>> from_texts({"dataset": "exp", "set": ["model.hidden=64", "encoding.parts=joint,edge", "schedule=cosine"]})
    {'dataset': 'exp', 'settings': {'model': {'hidden': 64}, 'encoding': {'parts': ['joint', 'edge']}, 'schedule': 'cosine'}}
    """
    others = {name: value for name, value in settings.items() if name != "set"}
    return {**others, "settings": merged(*map(_nested, settings["set"]))}


def _nested(text: str) -> dict[str, Any]:
    key, _, written = text.partition("=")
    try:
        value = json.loads(written)
    except ValueError:
        value = written.split(",") if "," in written else written
    for name in reversed(key.split(".")):
        value = {name: value}
    nested: dict[str, Any] = value
    return nested


def bundle_of(settings: Settings) -> DatasetBundle:
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
    """The dataset with at most so many graphs in each subset of each split, to see that things run."""
    if graphs is None:
        return bundle
    splits = [Split(*(index[:graphs] for index in split)) for split in (bundle.split, *bundle.folds) if split]
    kept = np.unique(np.concatenate([index for split in splits for index in split]))
    few = [Split(*(np.searchsorted(kept, index) for index in split)) for split in splits]
    only = few.pop(0) if bundle.split else None
    texts = tuple(bundle.texts[number] for number in kept.tolist()) if bundle.texts else ()
    few_graphs = bundle.graphs[kept].compact()
    return replace(bundle, graphs=few_graphs, split=only, folds=tuple(few), pairs=None, texts=texts)


def config_for(cell: Cell, bundle: DatasetBundle) -> TrainConfig:
    """All settings of a cell's run: those of the cell over those of its dataset."""
    return read_config(overrides={**cell.settings["settings"], "seed": cell.seed}, bundle=bundle)


def train(cell: Cell, folder: Path, progress: bool, bundle: DatasetBundle | None = None) -> Trained:
    """Train the network of a cell, or go on with it; on another dataset than the cell's own, if given."""
    plan = _planned(cell, folder, bundle_of(cell.settings) if bundle is None else bundle)
    result = fit(plan.bundle, plan.config, plan.folder, resume=True, progress=progress)
    return Trained(result, plan.bundle, plan.folder, plan.afforded)


def train_folds(cell: Cell, folder: Path, progress: bool, bundle: DatasetBundle | None = None) -> TrainedFolds:
    """Train a network on every fold of a cell's dataset, or of another one, if given; or go on with it."""
    plan = _planned(cell, folder, bundle_of(cell.settings) if bundle is None else bundle)
    result = fit_folds(plan.bundle, plan.config, plan.folder, resume=True, progress=progress)
    return TrainedFolds(result, plan.folder, plan.afforded)


@dataclass(frozen=True)
class _Plan:
    bundle: DatasetBundle
    config: TrainConfig
    folder: Path
    afforded: Afforded | None


def _planned(cell: Cell, folder: Path, bundle: DatasetBundle) -> _Plan:
    """What is trained where; with as many epochs as its processor time allows, if the cell has such a limit."""
    config = config_for(cell, bundle)
    minutes = cell.settings.get("cpu_minutes")
    if minutes is None:
        return _Plan(bundle, config, folder, None)
    afforded = afford(bundle, config, minutes, folder)
    return _Plan(afforded.bundle(bundle), afforded.config(config), folder / "run", afforded)


def first_folds(bundle: DatasetBundle, count: int | None) -> DatasetBundle:
    """The dataset with the first so many of its folds; None for all."""
    return replace(bundle, folds=bundle.folds[:count])


def folds_outcome(trained: TrainedFolds, table: str, column: str, value: float, note: str = "") -> Outcome:
    """The outcome of a cross-validation with one number to show, such as the mean test accuracy; epochs are of all folds."""
    folds = trained.result.folds
    return Outcome(
        values={table: {column: value}},
        config={**config_of(trained.folder / "fold0"), **_about(trained.folder / "fold0", trained.afforded)},
        epochs=sum(fold.epochs for fold in folds),
        seconds=sum(fold.seconds for fold in folds),
        cpu_seconds=sum(fold.cpu_seconds for fold in folds),
        note=_notes(trained.afforded, note),
    )


def _about(folder: Path, afforded: Afforded | None) -> dict[str, Any]:
    """Beside the settings of a run with limited processor time: its number of parameters, and what it could afford."""
    if afforded is None:
        return {}
    parameters = sum(one.numel() for one in load_run(folder).model.parameters())
    return {"parameters": parameters, "afforded": asdict(afforded)}


def _notes(afforded: Afforded | None, note: str) -> str:
    return "; ".join(text for text in (note, afforded.note if afforded else "") if text)


def outcome(
    trained: Trained, table: str, columns: Mapping[str, str], *, percent: bool = False, note: str = ""
) -> Outcome:
    """The outcome of a run whose metrics are the columns of a table.

    Args:
        trained: The run.
        table: The table's label.
        columns: By column, the metric's name.
        percent: Whether the table has per cent of what the metric is.
        note: What a reader should know.
    """
    result = trained.result
    return Outcome(
        **metrics_of(result.validation, result.test, table, columns, percent=percent),
        config={**config_of(trained.folder), **_about(trained.folder, trained.afforded)},
        epochs=result.epochs,
        seconds=result.seconds,
        cpu_seconds=result.cpu_seconds,
        curve=curve(trained.folder, result.metric),
        note=_notes(trained.afforded, note),
    )


def metrics_of(
    validation: Metrics, test: Metrics, table: str, columns: Mapping[str, str], *, percent: bool
) -> dict[str, Any]:
    """Test and validation values of an outcome; what is unknown stays so."""
    factor = 100.0 if percent else 1.0

    def chosen(metrics: Metrics) -> dict[str, float | None]:
        found = {column: metrics[metric] for column, metric in columns.items()}
        return {column: None if value is None else value * factor for column, value in found.items()}

    return {"values": {table: chosen(test)}, "validation": chosen(validation)}


def per_target(bundle: DatasetBundle, metric: str) -> dict[str, str]:
    """The name of a metric for each target; there is no mean where there is only one."""
    return {name: f"{metric}/{name}" if len(bundle.targets) > 1 else metric for name in bundle.targets}


def config_of(folder: Path) -> dict[str, Any]:
    """All settings of a run, as its folder has them."""
    return read_stored(folder / "config.yaml").model_dump(mode="json")


def curve(folder: Path, metric: str) -> tuple[dict[str, float | None], ...]:
    """Some points of a run's learning curve, the last one among them."""
    with (folder / "metrics.csv").open(newline="") as stream:
        epochs = [*csv.DictReader(stream)]
    places = np.unique(np.linspace(0, len(epochs) - 1, CURVE_POINTS).round().astype(int))
    return tuple(
        {
            "epoch": int(epochs[i]["epoch"]),
            "loss": float(epochs[i]["loss"]),
            "validation": float(epochs[i][f"validation_{metric}"]),
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


def on_test(trained: Trained) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Targets of the test graphs, and what the best epoch says, both ``(rows, targets)``."""
    graphs = trained.bundle.test
    truth = graphs.column("y").double().numpy()
    predicted = predict(load_run(trained.folder), graphs).double().numpy()
    return truth, predicted


def classes_of_own(bundle: DatasetBundle) -> DatasetBundle:
    """A dataset in which every graph is a class of its own, to be learnt and recognised."""
    everything = np.arange(len(bundle.graphs))
    task = Task("graph", "multiclass", "accuracy", "max", ("graph",), len(everything))
    graphs = bundle.graphs.with_fields(graph={"y": everything[:, None]})
    return DatasetBundle(bundle.name, graphs, task, bundle.features, Split(everything, everything, everything))
