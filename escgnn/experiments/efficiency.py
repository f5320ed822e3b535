"""What the encoding costs in time: `tab:eff`, both networks measured in one run."""

import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from escgnn.datasets import load
from escgnn.experiments.experiment import Cell, Experiment, Outcome
from escgnn.experiments.trained import cut, encoded, merged
from escgnn.records import Table
from escgnn.training import fit, read_config
from escgnn.transforms import StructuralEncoding

EPOCHS = 100  # of the paper's measurement
TAB_EFF = Table(
    label="tab:eff",
    title="Time on ogbg-molhiv before and during training",
    metric="seconds; ratio of the training times",
    columns=("MPNN, before", "MPNN, training", "ESC-GNN, before", "ESC-GNN, training", "ratio"),
    rows=("seconds",),
    paper={"seconds": (2.7, 6296.8, 1782.5, 6301.0, 6301.0 / 6296.8)},
    digits=1,
    note=f"Ours: 2 cores; {EPOCHS} epochs are extrapolated from one, after another that warms up. Times before training are "
    "those of loading the dataset from its cache; nothing is precomputed, as each batch is encoded while training. The "
    "paper's: a GPU.",
)
SIZES: dict[str, dict[str, int | None]] = {
    "smoke": {"graphs": 64, "hidden": 16, "layers": 2},
    "hour": {"graphs": 4000, "hidden": 300, "layers": 6},
    "paper": {"graphs": None, "hidden": 300, "layers": 6},
}


def cells(budget: str, seeds: int) -> Sequence[Cell]:
    """One cell measures all."""
    return [Cell("seconds", 0, "", {**SIZES[budget], "hops": 3})]


def run(cell: Cell, folder: Path, progress: bool) -> Outcome:
    """Train for two epochs each, of which the second counts."""
    hops = cell.settings["hops"]
    start = time.perf_counter()
    everything = load("ogbg-molhiv")
    loading = time.perf_counter() - start
    bundle = cut(everything, cell.settings["graphs"])
    assert everything.split is not None and bundle.split is not None
    share = len(bundle.split.train) / len(everything.split.train)
    size = {name: cell.settings[name] for name in ("hidden", "layers")}
    seconds = {}
    for row, radius in {"MPNN": None, "ESC-GNN": hops}.items():
        config = read_config(overrides=merged({"model": size, "epochs": 2}, encoded(radius)), bundle=bundle)
        with tempfile.TemporaryDirectory(dir=folder) as place:
            first = fit(bundle, config.model_copy(update={"epochs": 1}), place, progress=progress)
            both = fit(bundle, config, place, resume=True, progress=progress)
        seconds[row] = EPOCHS * (both.seconds - first.seconds) / share
    start = time.perf_counter()
    StructuralEncoding(hops).rows(everything.graphs.view())
    encoding_all = time.perf_counter() - start
    values = (loading, seconds["MPNN"], loading, seconds["ESC-GNN"], seconds["ESC-GNN"] / seconds["MPNN"])
    note = (
        f"An epoch had {share:.0%} of the training graphs. Encoding all {len(everything.graphs):,} graphs at once, which is not "
        f"needed, takes {encoding_all:.1f} s."
    )
    return Outcome({TAB_EFF.label: dict(zip(TAB_EFF.columns, values, strict=True))}, epochs=4, note=note)


EXPERIMENT = Experiment("efficiency", (TAB_EFF,), cells, run)
