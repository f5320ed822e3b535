"""Which parts of the encoding pay on molecules: ZINC-12k with each, everything else the same. Not in the paper."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from escgnn.experiments.experiment import Cell, Experiment, Outcome
from escgnn.experiments.trained import outcome, train, training
from escgnn.records import Table

PAPER = ("degree", "node", "joint", "edge", "resistance")
ROWS: dict[str, tuple[str, ...]] = {
    "none": (),
    "paper's parts": PAPER,
    "paper's and wedge": (*PAPER, "wedge"),
    "paper's and path": (*PAPER, "path"),
    "paper's and cycle": (*PAPER, "cycle"),
}
TABLE = Table(
    label="parts, ZINC-12k",
    title="Penalised solubility with different parts of the encoding",
    metric="test MAE",
    columns=("zinc-12k",),
    rows=tuple(ROWS),
    digits=3,
    note="The same short run of a GIN (6 layers of 64) in every row: differences count, not the numbers. Two hops.",
)
EPOCHS = {"smoke": 1, "hour": 100, "paper": 1000}  # 100 take a core about 10 minutes


def cells(budget: str, seeds: int) -> Sequence[Cell]:
    """One network for each row."""
    shared: dict[str, Any] = {"schedule": "cosine", "warmup": 5, "epochs": EPOCHS[budget]}
    graphs = None
    if budget == "smoke":
        shared["model"] = {"hidden": 16, "layers": 2}
        graphs = 200
    found = []
    for seed in range(seeds):
        for row, parts in ROWS.items():
            encoding = {"hops": 2, "parts": parts} if parts else None
            found.append(Cell(row, seed, "", training("zinc-12k", shared, {"encoding": encoding}, graphs=graphs)))
    return found


def run(cell: Cell, folder: Path, progress: bool) -> Outcome:
    """Train with the parts of the row."""
    return outcome(train(cell, folder, progress), TABLE.label, {"zinc-12k": "mae"})


EXPERIMENT = Experiment("parts", (TABLE,), cells, run)
