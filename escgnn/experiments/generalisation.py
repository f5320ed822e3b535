"""Counting in graphs unlike those that were trained on, which a table learnt by heart cannot do. Not in the paper."""

import warnings
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from escgnn import graphs
from escgnn.counting import TARGETS, count_all
from escgnn.experiments import counting
from escgnn.experiments.experiment import Cell, Experiment, Outcome
from escgnn.experiments.trained import outcome, train
from escgnn.graphs import COUNTING_RECIPE, Graph
from escgnn.records import Table
from escgnn.store import GraphStore
from escgnn.training import UnseenShapesWarning, load_run, predict

ROWS = (counting.LADDER, counting.SKIP, "ESC-GNN", "MPNN")


def larger(rng: np.random.Generator) -> Graph:
    """A graph of the benchmark's recipe with twice as many nodes."""
    nodes, degree = COUNTING_RECIPE[rng.integers(len(COUNTING_RECIPE))]
    edges = graphs.random_regular(2 * nodes, degree, rng).edges
    kept = rng.permutation(len(edges))[: len(edges) - 2 * nodes]
    return graphs.from_edges(edges[np.sort(kept)].tolist(), 2 * nodes)


def erdos_renyi(rng: np.random.Generator) -> Graph:
    """Every edge is there with the same chance, three to a node."""
    nodes = int(rng.integers(10, 31))
    return graphs.erdos_renyi(nodes, 3 / (nodes - 1), seed=int(rng.integers(1 << 30)))


def barabasi_albert(rng: np.random.Generator) -> Graph:
    """New nodes prefer nodes with many neighbours, so there are hubs."""
    return graphs.barabasi_albert(int(rng.integers(10, 31)), 2, seed=int(rng.integers(1 << 30)))


def molecules(rng: np.random.Generator) -> Graph:
    """Rings and trees."""
    return graphs.molecule_like(1, seed=int(rng.integers(1 << 30)))


FAMILIES: dict[str, tuple[str, Callable[[np.random.Generator], Graph]]] = {
    "larger": ("graphs of the same kind with twice as many nodes", larger),
    "erdos-renyi": ("Erdős-Rényi graphs", erdos_renyi),
    "barabasi-albert": ("Barabási-Albert graphs", barabasi_albert),
    "molecules": ("molecule-like graphs", molecules),
}
TABLES = {
    family: Table(
        label=f"generalisation, {family}",
        title=f"Trained on the counting benchmark, tested on {title}",
        metric="MAE / deviation of the target in the benchmark",
        columns=counting.COLUMNS,
        rows=ROWS,
        note="Trained as for `tab:count` with two hops, ESC-GNN and MPNN half as long; nothing was chosen by these graphs.",
    )
    for family, (title, _) in FAMILIES.items()
}


def cells(budget: str, seeds: int) -> Sequence[Cell]:
    """A network of each kind, two hops."""
    count = 20 if budget == "smoke" else 1000
    shorter = {"epochs": 150} if budget == "hour" else {}
    settings = {
        counting.LADDER: counting.skip_settings(budget, counting.LADDER),
        counting.SKIP: counting.skip_settings(budget, counting.SKIP),
        "ESC-GNN": counting.settings(budget, 2, shorter),
        "MPNN": counting.settings(budget, None, shorter),
    }
    return [Cell(row, seed, "h=2", {**settings[row], "count": count}) for seed in range(seeds) for row in ROWS]


def run(cell: Cell, folder: Path, progress: bool) -> Outcome:
    """Train on the benchmark, and judge on every family."""
    trained = train(cell, folder, progress)
    network = load_run(folder)
    values = {}
    for family, table in TABLES.items():
        members = sample(family, cell.settings["count"])
        truth = count_all(members)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UnseenShapesWarning)  # that is the point
            predicted = predict(network, GraphStore.from_view(members)).numpy()
        errors = np.abs(predicted - truth).mean(axis=0) / network.scaling.unit
        values[table.label] = dict(zip(TARGETS, errors.tolist(), strict=True))
    return replace(outcome(trained, "", {}), values=values)


def sample(family: str, count: int) -> Graph:
    """So many graphs of a family, side by side; the same whenever it is called."""
    rng = np.random.default_rng(0)
    return graphs.disjoint_union([FAMILIES[family][1](rng) for _ in range(count)])


EXPERIMENT = Experiment("generalisation", tuple(TABLES.values()), cells, run)
