"""Classes of graphs: `tab:tu`, and the same networks by another protocol under a name of its own.

Nested, as in the paper: of ten folds, fold i is the test, fold i - 1 chooses the epoch by its loss, the others teach. Max of
mean, as in many other papers: fold i judges, all others teach, and the epoch is the one at which the mean over folds is best on
what is then reported. The second is higher, because the test graphs chose; the two must not stand in one table.
"""

import csv
import statistics
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from escgnn.datasets import DatasetBundle, Feature, Split
from escgnn.experiments.experiment import Cell, Experiment, Outcome
from escgnn.experiments.machine_time import CPU_MINUTES
from escgnn.experiments.rivals import NOTE, SHARED
from escgnn.experiments.several import folds_together, folds_together_metrics, folds_together_outcome
from escgnn.experiments.systems import present, settings_of, tiny
from escgnn.experiments.trained import (
    Settings,
    TrainedFolds,
    bundle_of,
    first_folds,
    folds_outcome,
    merged,
    train_folds,
    training,
)
from escgnn.records import Table

DATASETS = {"MUTAG": "mutag", "PTC-MR": "ptc-mr", "PROTEINS": "proteins", "ENZYMES": "enzymes", "IMDB-B": "imdb-b"}
COLUMNS = tuple(DATASETS)
ROWS = ("GIN", "PPGN", "NGNN", "GIN-AK+", "SUN", "I²-GNN", "ESC-GNN (h2)", "ESC-GNN (h3)")
OURS = ("ESC-GNN (h2), our recipe", "ESC-GNN (h3), our recipe")
TOGETHER = ("ESC-GNN (h2), three of our recipe", "ESC-GNN (h3), three of our recipe")  # the mean of what they say
ALONE = dict(zip(TOGETHER, OURS, strict=True))
PUBLISHED_H2 = (86.2, 52.9, 73.3, 53.2, 72.0)
PUBLISHED_H3 = (85.6, 56.4, 76.0, 43.3, 73.7)
FEATURES = (
    "Node labels alone, for IMDB-B degrees; labels of edges are left out. Processor time is that of all folds together."
)
TAB_TU = Table(
    label="tab:tu",
    title="Classes of graphs, nested cross-validation",
    metric="mean test accuracy over ten folds, %",
    columns=COLUMNS,
    rows=(*present((*ROWS, *OURS)), *TOGETHER),
    better="higher",
    paper={
        "GIN": (84.5, 51.2, 70.6, 38.3, 73.3),
        "PPGN": (84.7, 55.0, 74.8, 55.0, 71.5),
        "NGNN": (87.9, 54.1, 73.9, 29.0, 73.1),
        "GIN-AK+": (88.8, 60.5, 75.5, 58.9, 72.4),
        "SUN": (86.1, 60.2, 72.1, 16.7, 73.7),
        "I²-GNN": (87.9, 61.4, 74.8, 40.3, 73.6),
        "ESC-GNN (h2)": PUBLISHED_H2,
        "ESC-GNN (h3)": PUBLISHED_H3,
        "ESC-GNN (h2), our recipe": PUBLISHED_H2,
        "ESC-GNN (h3), our recipe": PUBLISHED_H3,
        "ESC-GNN (h2), three of our recipe": PUBLISHED_H2,
        "ESC-GNN (h3), three of our recipe": PUBLISHED_H3,
    },
    digits=1,
    note=f"Fold i is the test, fold i - 1 chooses the epoch of least loss, eight folds teach. {NOTE} {FEATURES} "
    "PPGN is 64 wide, not 400. With the budget paper the least validation loss chooses among two to five layers. Rows of our "
    "recipe have 100 epochs, as in the paper, 50 on PROTEINS and IMDB-B, and not the same time; they are twice as wide, and a "
    "fifth of each training graph belongs to all classes alike, but on IMDB-B; on ENZYMES they have a table of "
    "environments beside the network, as validation found. Three are the mean of three such networks in each fold, which differ "
    "in their seeds. On IMDB-B two and three hops are the same network, so the two published numbers differ by chance.",
    sources={
        "GIN": "NestedGNN's paper: nested, 100 epochs, 2 to 5 layers of width 32 chosen by mean validation loss",
        "NGNN": "NestedGNN's paper: nested, 100 epochs, layers and hops chosen together",
        "PPGN": "PTC-MR and ENZYMES have the same text; its own paper has 90.6, 66.2, 77.2, -, 73.0 by max of mean",
        "GIN-AK+": "its own paper has 91.3, 68.2, 77.1, -, 75.6 by another protocol",
        "SUN": "ENZYMES: one logit for six classes, so it is the share of one class",
        "ESC-GNN (h2)": "as GIN",
        "ESC-GNN (h3)": "as GIN",
    },
)
MAX_OF_MEAN = Table(
    label="tu, max of mean",
    title="Classes of graphs, the best epoch of the mean over folds",
    metric="highest mean accuracy over ten folds, %",
    columns=COLUMNS,
    rows=present(ROWS),
    better="higher",
    digits=1,
    note=f"Nine folds teach, one judges; the epoch is chosen by the numbers that are reported. {NOTE} {FEATURES}",
)
PROTOCOLS = {"nested": TAB_TU, "max of mean": MAX_OF_MEAN}
BATCH = {"batch_size": 32, "select": "loss"}
LAYERS = (2, 3, 4, 5)  # of the budget paper
# At its authors' width of 400, one step on the largest protein, 620 nodes, takes a dozen gigabytes.
NARROWER: dict[str, Settings] = {"PPGN": {"network": {"hidden": 64}}}
MOST_DEGREE = 63  # larger ones are taken as equal to it


def cells(budget: str, seeds: int) -> Sequence[Cell]:
    """Ten networks for every protocol, dataset and row; with the budget paper, for every number of layers too."""
    found = []
    for seed in range(seeds):
        for protocol in PROTOCOLS:
            for column, dataset in DATASETS.items():
                for row in PROTOCOLS[protocol].rows:
                    if row in TOGETHER and seed > 0:
                        continue  # these are seeds 0 to 2 already
                    for words, settings in _settings(row, dataset, budget).items():
                        variant = ", ".join(filter(None, (column, protocol, words)))
                        found.append(Cell(row, seed, variant, {**settings, "protocol": protocol, "column": column}))
    return found


def _settings(row: str, dataset: str, budget: str) -> dict[str, dict[str, object]]:
    """By what distinguishes them, the settings of a row."""
    members = 3 if row in TOGETHER else None
    row = ALONE.get(row, row)
    own = settings_of(row, dataset)
    if budget == "smoke":
        return {"": training(dataset, SHARED, BATCH, own, tiny(row), graphs=20, members=members)}
    if budget == "hour" and row in OURS:
        return {"": training(dataset, SHARED, BATCH, own, members=members)}
    if budget == "hour":
        narrower = NARROWER.get(row, {})
        return {"": training(dataset, SHARED, BATCH, own, narrower, cpu_minutes=CPU_MINUTES[dataset])}
    depths = {f"{layers} layers": merged(own, {"network": {"layers": layers}}) for layers in LAYERS}
    return {
        words: training(dataset, {"select": "loss"}, settings, members=members) for words, settings in depths.items()
    }


def run(cell: Cell, folder: Path, progress: bool) -> Outcome:
    """Train on every fold, and take the mean that the protocol says."""
    protocol = cell.settings["protocol"]
    column = cell.settings["column"]
    is_smoke = cell.settings["graphs"] is not None
    bundle = with_folds(bare(bundle_of(cell.settings)), protocol)
    bundle = first_folds(bundle, 2 if is_smoke else None)
    label = PROTOCOLS[protocol].label
    if "members" in cell.settings:
        members = folds_together(cell, ALONE[cell.row], folder, progress, bundle)
        accuracies = [metrics["accuracy"] for metrics in folds_together_metrics(members, bundle)]
        found = folds_together_outcome(members, label, column, 100 * statistics.fmean(accuracies))
        return _with_loss(found, column, members, accuracies)
    trained = train_folds(cell, folder, progress, bundle)
    places = [trained.folder / f"fold{i}" for i in range(len(trained.result.folds))]
    accuracies = [fold.test["accuracy"] or 0.0 for fold in trained.result.folds]
    if protocol == "max of mean":
        best = max_of_mean([_curve(place, "validation_accuracy") for place in places])
        if trained.afforded is not None and trained.afforded.share < 1:  # one epoch, validated by a share of the fold
            best = statistics.fmean(accuracies)
        return folds_outcome(trained, label, column, 100 * best)
    found = folds_outcome(trained, label, column, 100 * statistics.fmean(accuracies))
    return _with_loss(found, column, [trained], accuracies)


def _with_loss(found: Outcome, column: str, members: Sequence[TrainedFolds], accuracies: Sequence[float]) -> Outcome:
    """The outcome with the mean validation loss of all networks, and the deviation between folds."""
    losses = [
        _curve(member.folder / f"fold{i}", "validation_loss")[result.best_epoch]
        for member in members
        for i, result in enumerate(member.result.folds)
    ]
    deviation = 100 * statistics.stdev(accuracies)
    # the smallest loss should be chosen, in a table in which higher is better
    return replace(
        found, validation={column: -statistics.fmean(losses)}, config={**found.config, "deviation": deviation}
    )


def max_of_mean(curves: Sequence[Sequence[float]]) -> float:
    """The highest mean over folds, epoch by epoch, of curves that are as long as the shortest.

    >>> max_of_mean([[0.5, 0.75, 1.0], [0.5, 0.75, 0.25]])
    0.75
    """
    return max(map(statistics.fmean, zip(*curves, strict=False)))


def _curve(folder: Path, name: str) -> list[float]:
    with (folder / "metrics.csv").open(newline="") as stream:
        return [float(row[name]) for row in csv.DictReader(stream)]


def with_folds(bundle: DatasetBundle, protocol: str) -> DatasetBundle:
    """The dataset with the folds of a protocol, made of the graphs that are tested together."""
    blocks = [fold.test for fold in bundle.folds]
    folds = []
    for i, test in enumerate(blocks):
        is_nested = protocol == "nested"
        chooses = (i - 1) % len(blocks) if is_nested else i
        others = [block for j, block in enumerate(blocks) if j not in (i, chooses)]
        folds.append(Split(np.sort(np.concatenate(others)), blocks[chooses], test))
    return replace(bundle, folds=tuple(folds))


def bare(bundle: DatasetBundle) -> DatasetBundle:
    """The dataset without labels of edges; nodes without labels have their degree for one."""
    features = {name: feature for name, feature in bundle.features.items() if name == "x"}
    if features:
        return replace(bundle, features=features)
    degrees = np.minimum(bundle.graphs.view().degrees, MOST_DEGREE).astype(np.int64)
    graphs = bundle.graphs.with_fields(node={"x": degrees[:, None]})
    return replace(bundle, graphs=graphs, features={"x": Feature("categorical", (MOST_DEGREE + 1,))})


EXPERIMENT = Experiment("classification", (TAB_TU, MAX_OF_MEAN), cells, run)
