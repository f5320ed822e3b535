"""Telling graphs apart: `tab:exp` by training, beside what is possible at all (exact ESC-WL) and float64 distances."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch_geometric.data import Data

from escgnn import wl
from escgnn.datasets import DatasetBundle, load
from escgnn.encoding import RootedEncoding
from escgnn.experiments.experiment import Cell, Experiment, Outcome
from escgnn.experiments.trained import (
    Settings,
    bundle_of,
    classes_of_own,
    encoded,
    first_folds,
    folds_outcome,
    outcome,
    train,
    train_folds,
    training,
)
from escgnn.loader import Loader
from escgnn.models import ESCGNN
from escgnn.records import Table
from escgnn.store import GraphStore
from escgnn.transforms import StructuralEncoding

COLUMNS = ("EXP", "SR25", "CSL")
DATASETS = {"EXP": "exp", "SR25": "sr25", "CSL": "csl"}
HOPS = {"EXP": 3, "SR25": 1, "CSL": 4}

TAB_EXP = Table(
    label="tab:exp",
    title="Trained accuracy on graphs that are hard to tell apart",
    metric="test accuracy, %",
    columns=COLUMNS,
    rows=("ESC-GNN", "MPNN"),
    better="higher",
    paper={
        "MPNN": (50, 6.67, 10),
        "NGNN": (100, 6.67, None),
        "GIN-AK+": (100, 6.67, None),
        "PPGN": (100, 6.67, None),
        "3-GNN": (99.7, 6.67, 95.7),
        "I²-GNN": (100, 100, 100),
        "ESC-GNN": (100, 100, 100),
    },
    digits=2,
    note="EXP: ten folds, three hops. SR25: each of the 15 graphs is a class, learnt and recognised. CSL: five folds, four "
    "hops. Validation decides which epoch counts.",
)
EXACT_HOPS: dict[str, int | None] = {"1-WL": None, **{f"ESC-WL h={h}": h for h in (1, 2, 3, 4)}}
EXACT = Table(
    label="exp, exact",
    title="What can be told apart at all: ESC-WL with exact colours",
    metric="EXP: pairs of 600; SR25: classes of 15; CSL: classes of 10",
    columns=COLUMNS,
    rows=tuple(EXACT_HOPS),
    better="higher",
    digits=0,
    note="No training and no rounding: an upper bound for any network with this encoding.",
)
DISTANCES = Table(
    label="exp, distances",
    title="Pairs that an untrained float64 network maps to different vectors",
    metric="% of pairs farther apart than 1,000 times the farthest renamed copies of one graph",
    columns=COLUMNS,
    rows=("ESC-GNN", "MPNN"),
    better="higher",
    digits=2,
    note="The authors' float32 threshold of 0.01 also separates renamed copies of one graph; copies are the control here.",
)
MARGIN = 1000.0

NETWORK: Settings = {
    "model": {"backbone": "mpnn", "hidden": 64, "norm": "layer"},
    "schedule": "cosine",
    "lr": 1e-3,
}
BUDGETS: dict[str, dict[str, Settings]] = {
    "smoke": {name: {"model": {"hidden": 16, "layers": 2}, "epochs": 2} for name in COLUMNS},
    "hour": {
        "EXP": {"model": {"layers": 4}, "epochs": 30},
        "SR25": {"model": {"layers": 3}, "epochs": 600, "batch_size": 15, "lr": 3e-3},
        "CSL": {"model": {"layers": 4}, "epochs": 60},
    },
    "paper": {
        "EXP": {"model": {"backbone": "gin", "norm": "batch", "layers": 8}, "epochs": 400},
        "SR25": {"model": {"backbone": "gin", "norm": "batch", "layers": 5}, "epochs": 400, "batch_size": 15},
        "CSL": {"model": {"backbone": "gin", "norm": "batch", "layers": 5, "hidden": 128}, "epochs": 400},
    },
}


def cells(budget: str, seeds: int) -> Sequence[Cell]:
    """Trained accuracy for every seed; exact tests and distances once."""
    is_smoke = budget == "smoke"
    graphs = 20 if is_smoke else None
    folds = 1 if is_smoke else None
    pairs = 20 if is_smoke else None
    found = []
    for seed in range(seeds):
        for row in TAB_EXP.rows:
            for name in COLUMNS:
                encoding = encoded(None if row == "MPNN" else HOPS[name])
                settings = training(DATASETS[name], NETWORK, BUDGETS[budget][name], encoding, graphs=graphs)
                found.append(Cell(row, seed, name, {"what": "train", **settings, "folds": folds}))
    for row, hops in EXACT_HOPS.items():
        found.append(Cell(row, 0, "exact", {"what": "exact", "hops": hops or 0, "pairs": pairs}))
    found += [Cell(row, 0, "distances", {"what": "distances", "pairs": pairs}) for row in DISTANCES.rows]
    return found


def run(cell: Cell, folder: Path, progress: bool) -> Outcome:
    """Train, colour or measure, as the cell says."""
    if cell.settings["what"] == "train":
        return _train(cell, folder, progress)
    return _exact(cell) if cell.settings["what"] == "exact" else _distances(cell)


def _train(cell: Cell, folder: Path, progress: bool) -> Outcome:
    column = cell.variant
    if column == "SR25":
        trained = train(cell, folder, progress, classes_of_own(load("sr25")))
        return outcome(trained, TAB_EXP.label, {column: "accuracy"}, percent=True)
    bundle = first_folds(bundle_of(cell.settings), cell.settings["folds"])
    trained_folds = train_folds(cell, folder, progress, bundle)
    return folds_outcome(trained_folds, TAB_EXP.label, column, 100 * trained_folds.result.mean)


def _exact(cell: Cell) -> Outcome:
    hops = cell.settings["hops"]
    test = wl.ESCWL(RootedEncoding(hops)) if hops else wl.OneWL()
    exp, sr25, csl = (_to_compare(name) for name in COLUMNS)
    assert exp.pairs is not None
    kept = exp.graphs[exp.pairs[: cell.settings["pairs"]].ravel()]
    kinds = wl.partition(kept.view(), test, initial=kept.column("x").view(-1).numpy()).reshape(-1, 2)
    values = {
        "EXP": float((kinds[:, 0] != kinds[:, 1]).sum()),
        "SR25": float(wl.partition(sr25.graphs.view(), test).max() + 1),
        "CSL": float(wl.partition(csl.graphs.view(), test).max() + 1),
    }
    return Outcome({EXACT.label: values})


def _distances(cell: Cell) -> Outcome:
    values = {}
    notes = []
    for name in COLUMNS:
        bundle = _to_compare(name)
        assert bundle.pairs is not None
        pairs = bundle.pairs[: cell.settings["pairs"]]
        apart, control = pair_distances(bundle, pairs, None if cell.row == "MPNN" else HOPS[name])
        values[name] = 100 * float((apart > MARGIN * control).mean())
        notes.append(f"{name}: nearest pair {apart.min():.1e}, farthest renamed copies {control:.1e}")
    return Outcome({DISTANCES.label: values}, note="; ".join(notes))


def _to_compare(name: str) -> DatasetBundle:
    """A dataset with pairs of graphs to tell apart; of CSL, one graph of each class and all pairs of them."""
    bundle = load(DATASETS[name])
    if bundle.pairs is not None:
        return bundle
    firsts = np.flatnonzero(np.diff(bundle.graphs.column("y").view(-1).numpy(), prepend=-1))
    pairs = np.stack(np.triu_indices(len(firsts), 1), axis=1)
    return DatasetBundle(name, bundle.graphs[firsts], bundle.task, pairs=pairs)


def pair_distances(bundle: DatasetBundle, pairs: Any, hops: int | None) -> tuple[Any, float]:
    """Distance of each pair under a random network in float64, and the largest of a graph and a renamed copy of it."""
    encoding = None if hops is None else StructuralEncoding(hops)
    bins = None if encoding is None else encoding.num_bins
    x = {"kind": "categorical", "sizes": bundle.features["x"].sizes} if "x" in bundle.features else None
    torch.manual_seed(0)
    model = ESCGNN(16, backbone="mpnn", layers=4, num_bins=bins, node_features=x, norm="layer").double().eval()
    used = np.unique(pairs)
    graphs = [bundle.graphs[i] for i in used]
    loaders = [Loader(GraphStore.from_data_list(each), 64, transform=encoding) for each in (graphs, _renamed(graphs))]
    model.fit_structure(loaders[0])
    with torch.inference_mode():
        originals, copies = (torch.cat([model(batch) for batch in loader]).numpy() for loader in loaders)
    first, second = np.searchsorted(used, pairs).T
    apart = np.linalg.norm(originals[first] - originals[second], axis=1)
    control = float(np.linalg.norm(originals - copies, axis=1).max())
    return apart, max(control, 1e-15)


def _renamed(graphs: list[Data]) -> list[Data]:
    """Each graph with its nodes in another order."""
    generator = torch.Generator().manual_seed(0)
    copies = []
    for graph in graphs:
        copy = graph.clone()
        order = torch.randperm(graph.num_nodes, generator=generator)
        copy.edge_index = order[graph.edge_index]
        if "x" in graph:
            copy.x = graph.x[order.argsort()]
        copies.append(copy)
    return copies


EXPERIMENT = Experiment("isomorphism", (TAB_EXP, EXACT, DISTANCES), cells, run)
