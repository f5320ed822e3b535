"""What the encoding costs in space: `tab:space`, on disk and in memory."""

import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors.numpy import save_file

from escgnn.datasets import DatasetBundle, DatasetError, load
from escgnn.experiments.experiment import Cell, Experiment, Outcome
from escgnn.experiments.trained import cut
from escgnn.records import Table
from escgnn.store import GraphStore
from escgnn.transforms import RootedNodes, RootedPairs, StructuralEncoding

COLUMNS = ("OGBG-HIV", "ZINC", "QM9")
DATASETS = {"OGBG-HIV": "ogbg-molhiv", "ZINC": "zinc-12k", "QM9": "qm9"}
QM9_MOLECULES = 129433  # of the paper
HOPS = 3
ENCODED = "ESC-GNN, stored"
BAGS: dict[
    str, RootedNodes | RootedPairs
] = {  # subgraphs as arrays: nodes, edges by their numbers in the graph, distances and, where authors have them, resistances
    "NGNN": RootedNodes(HOPS, resistance=True),
    "GIN-AK+": RootedNodes(HOPS),
    "I²-GNN": RootedPairs(HOPS, resistance=True),
}
ROWS = ("original", *BAGS, ENCODED)
CHUNK = 2000  # graphs whose subgraphs are cut together
NOTE = (
    f"ESC-GNN stored: the graphs with the encoding of every edge, {HOPS} hops. It need not be stored: each batch is encoded "
    "while training, so in use ESC-GNN takes the space of the original. Nothing of the others is stored here either; what their "
    "subgraphs would take are numbers in arrays, every ball once, where the authors keep a copy of each subgraph with its "
    "features. MPNN and OSAN, which chooses subgraphs as it goes, take the space of the original."
)
TAB_SPACE = Table(
    label="tab:space",
    title="Space on disk",
    metric="MB",
    columns=COLUMNS,
    rows=ROWS,
    paper={
        "original": (159, 16.2, 281),
        "NGNN": (2320, 218, 2900),
        "I²-GNN": (5950, 627, 8250),
        "ESC-GNN, stored": (2570, 427, 4460),
    },
    digits=1,
    note=NOTE,
)
MEMORY = Table(label="space, memory", title="Space in memory", metric="MB", columns=COLUMNS, rows=ROWS, digits=1)


def cells(budget: str, seeds: int) -> Sequence[Cell]:
    """The graphs alone, with subgraphs, and with the encoding."""
    graphs = 200 if budget == "smoke" else None
    return [Cell(row, 0, column, {"graphs": graphs}) for column in COLUMNS for row in ROWS]


def run(cell: Cell, folder: Path, progress: bool) -> Outcome:
    """Write the files, and look how large they are."""
    bundle, factor, note = _molecules(cell.variant)
    graphs = cut(bundle, cell.settings["graphs"]).graphs
    memory = sum(values.nbytes for name, values in graphs.batch() if name not in ("batch", "num_nodes"))
    with tempfile.TemporaryDirectory(dir=folder) as place:
        graphs.save(Path(place, "graphs.safetensors"))
        for number, arrays in enumerate(_beside(graphs, cell.row)):
            memory += sum(array.nbytes for array in arrays.values())
            save_file(arrays, Path(place, f"{number}.safetensors"))
        disk = sum(path.stat().st_size for path in Path(place).iterdir())
    sizes = {TAB_SPACE.label: disk, MEMORY.label: memory}
    return Outcome({label: {cell.variant: factor * size / 1e6} for label, size in sizes.items()}, note=note)


def _beside(graphs: GraphStore, row: str) -> Iterator[dict[str, NDArray[Any]]]:
    """What stands beside the graphs, chunk by chunk, as arrays by name."""
    if row == ENCODED:
        rows = StructuralEncoding(HOPS).rows(graphs.view())
        found = {"length": rows.length, "bin": rows.bin, "count": rows.count}
        yield {name: np.ascontiguousarray(array) for name, array in found.items()}
    elif row in BAGS:
        for start in range(0, len(graphs), CHUNK):
            cut = BAGS[row](graphs.batch(slice(start, start + CHUNK)))
            yield {name: np.ascontiguousarray(cut[name].numpy()) for name in sorted(BAGS[row].adds)}


def _molecules(column: str) -> tuple[DatasetBundle, float, str]:
    """The dataset, what to multiply its size by, and why."""
    try:
        return load(DATASETS[column]), 1.0, ""
    except DatasetError:
        if column != "QM9":
            raise
    bundle = load("qm9-20k")
    factor = QM9_MOLECULES / len(bundle.graphs)
    return bundle, factor, f"QM9: {len(bundle.graphs):,} molecules measured, times {factor:.2f} for {QM9_MOLECULES:,}"


EXPERIMENT = Experiment("storage", (TAB_SPACE, MEMORY), cells, run)
