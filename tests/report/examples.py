"""Made-up tables and runs, in which nothing takes time."""

import math

from escgnn.experiments import Experiment
from escgnn.records import Record, Table

COLUMNS = ("3-cycle", "4-cycle")
COUNT = Table(
    "tab:count",
    "Counting substructures",
    "norm MAE",
    COLUMNS,
    ("ESC-GNN", "MPNN"),
    paper={"ESC-GNN": (0.0074, 0.0044), "MPNN": (0.3515, None), "PPGN": (0.0005, 0.0013)},
    note="Nine targets, as `tab:count` has them.",
    sources={"PPGN": "96,001 parameters", "ESC-GNN": "a network per target"},
)
EXACT = Table("tab:stat", "Sizes", "graphs", ("graphs",), ("zinc",), "same", {"zinc": (12.38,)}, digits=4)
NOT_RUN = Table("tab:mol", "Molecules", "ROC-AUC", ("hiv",), ("ESC-GNN",), "higher", {"ESC-GNN": (78.36,)}, digits=2)


def experiment(name, *tables):
    def never(*_):
        raise AssertionError("a report runs nothing")

    return Experiment(name, tables, never, never)


EXPERIMENTS = (experiment("counting", COUNT), experiment("statistics", EXACT), experiment("molecules", NOT_RUN))


def run(
    value,
    *,
    validation=None,
    row="ESC-GNN",
    budget="hour",
    seed=0,
    variant="",
    column="3-cycle",
    label="tab:count",
    **more,
):
    scores = {} if validation is None else {column: validation}
    values = {label: {column: value}}
    return Record("counting", row, budget, seed, variant, values, scores, **more)


def full():
    """Runs of every kind: seeds, variants, curves, scatters, budgets, a failure, and one whose value is no number."""
    origin = {
        "command": "escgnn reproduce counting --seeds 2",
        "commit": "6b6fba2" * 5,
        "finished": "2025-01-02T03:04:05",
    }
    for seed in range(2):
        for h in (1, 2, 3):
            errors = {"3-cycle": 0.01 * h + 0.001 * seed, "4-cycle": 0.004 / h}
            yield Record(
                "counting",
                "ESC-GNN",
                "hour",
                seed,
                f"h={h}",
                {"tab:count": errors},
                {name: error * 1.1 for name, error in errors.items()},
                {"encoding": {"hops": h}, "parameters": 1000 * h},
                epochs=40,
                seconds=600.0,
                cpu_seconds=90.0,
                curve=tuple({"epoch": e, "loss": 1 / (e + 1), "validation": 0.5 / (e + h)} for e in range(1, 40)),
                scatter={
                    name: tuple((i, i + math.sin(i) * error) for i in range(50)) for name, error in errors.items()
                },
                versions={"torch": "2.4.1", "python": "3.11"},
                **origin,
            )
    yield Record(
        "counting", "MPNN", "smoke", 0, "", {"tab:count": {"3-cycle": 0.41, "4-cycle": None}}, epochs=2, seconds=3
    )
    yield Record("counting", "MPNN", "hour", 1, error="RuntimeError: out of memory", seconds=2.0, **origin)
    yield Record("statistics", "zinc", "paper", 0, "", {"tab:stat": {"graphs": 12.3821}}, note="without hydrogen")
    yield Record("counting", "gone", "smoke", 0, "", {"tab:old": {"x": 1.0}})
