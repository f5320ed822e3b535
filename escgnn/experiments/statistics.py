"""The datasets and the substructures in them: `tab:stat`, `tab:cycle_ogb` and `tab:cycle_zinc`. Nothing is trained."""

from collections.abc import Sequence
from pathlib import Path

from escgnn.counting import TARGETS
from escgnn.datasets import load, substructure_table
from escgnn.datasets.statistics import STAT_NOTES, SUBSTRUCTURES, TAB_STAT
from escgnn.experiments.experiment import Cell, Experiment, Outcome
from escgnn.records import Table

STAT_COLUMNS = ("graphs", "nodes", "edges")
TAB_STATISTICS = Table(
    label="tab:stat",
    title="The datasets",
    metric="number of graphs, mean numbers of nodes and of undirected edges",
    columns=STAT_COLUMNS,
    rows=tuple(TAB_STAT),
    better="same",
    paper={name: (size.graphs, size.nodes, size.edges) for name, size in TAB_STAT.items()},
    digits=1,
)
LABELS = {"ogbg-molhiv": "tab:cycle_ogb", "zinc-12k": "tab:cycle_zinc"}
COUNTS = {
    name: Table(
        label=label,
        title=f"Mean numbers of substructures in {name}",
        metric="per graph, and per node in the counted position",
        columns=TARGETS,
        rows=("graph", "node"),
        better="same",
        paper=dict(zip(("graph", "node"), SUBSTRUCTURES[name], strict=True)),
        digits=6,
    )
    for name, label in LABELS.items()
}


def cells(budget: str, seeds: int) -> Sequence[Cell]:
    """The same whatever the budget."""
    sizes = [Cell(name, 0, "size", {"dataset": name}) for name in TAB_STAT]
    return sizes + [Cell(row, 0, name, {"dataset": name}) for name in LABELS for row in ("graph", "node")]


def run(cell: Cell, folder: Path, progress: bool) -> Outcome:
    """Count."""
    name = cell.settings["dataset"]
    if cell.variant == "size":
        found = load(name).statistics
        values = dict(zip(STAT_COLUMNS, (float(found.graphs), found.nodes, found.edges), strict=True))
        return Outcome({TAB_STATISTICS.label: values}, note=STAT_NOTES.get(name, ""))
    rows = substructure_table(name)
    counts = {row.pattern: row.per_graph if cell.row == "graph" else row.per_node for row in rows}
    notes = {row.note for row in rows if f"paper's {cell.row} average" in row.note}
    return Outcome({LABELS[name]: counts}, note="; ".join(sorted(notes)))


EXPERIMENT = Experiment("statistics", (TAB_STATISTICS, *COUNTS.values()), cells, run)
