"""Counting cycles, which message passing cannot: three networks side by side, trained live, in about two minutes of one core.

Everything is embedded: graphs are made from a seed. The report, all records and two pictures go to the folder `demo`.
"""

# %% Something to read while everything is loaded
import os
import sys

print("Three networks learn how many 3- to 6-cycles go through each node of a graph:", flush=True)
print("  MPNN passes messages, and is blind to cycles; ESC-GNN sees histograms around each edge;", flush=True)
print("  the last one also sees labelled paths, and finds formulas that are exact.", flush=True)
os.environ.setdefault("OMP_NUM_THREADS", "1")  # a second thread waits more than it helps in networks of this size

# %% Graphs of the counting benchmark's recipe
import webbrowser
from dataclasses import replace
from pathlib import Path

from rich.console import Console
from rich.live import Live
from rich.table import Table as Grid

from escgnn import datasets, graphs, report
from escgnn.experiments import Cell, Experiment, Outcome, Table, counting, reproduce, trained
from escgnn.pictures import draw_root
from escgnn.training import evaluate, fit, formulas, load_run, read_config
from escgnn.transforms import StructuralEncoding

quick = "--quick" in sys.argv  # for tests: all of it, but nothing is learnt
console = Console(width=110)
out = Path("demo")
out.mkdir(exist_ok=True)

CYCLES = counting.CYCLES
bundle = trained.with_targets(datasets.load("counting-random", count=60 if quick else 1000), CYCLES)
console.print(
    f"{len(bundle.train)} training graphs, {len(bundle.test)} test graphs, {bundle.graphs.num_nodes_total:,} nodes in all"
)

# %% What the network gets to see of an edge: histograms of the subgraph around it
two_rings = graphs.from_edges([(0, 1), (1, 2), (2, 3), (3, 4), (4, 5), (5, 0), (5, 6), (6, 7), (7, 8), (8, 9), (9, 4)])
draw_root(two_rings, 4, 5, StructuralEncoding(hops=2)).savefig(out / "fused_rings.png", dpi=130)
draw_root(graphs.figure_1(), 0, 2, StructuralEncoding(hops=1)).savefig(out / "figure_1.png", dpi=130)

# %% Three networks, the same but for what their edges know
size = {"model": {"hidden": 16 if quick else 64, "layers": 4}, "warmup": 3}
long = 2 if quick else 120
networks = {
    "MPNN": {"encoding": None, "epochs": long},
    "ESC-GNN": {"encoding": {"hops": 2}, "epochs": long},
    counting.LADDER: {
        "encoding": {"hops": 2, "parts": counting.LADDER_PARTS},
        "model": {"count_skip": True},
        "epochs": 2 if quick else 4,
    },
}
table = Table(
    label="demo",
    title="Counting cycles at every node of random graphs",
    metric="norm MAE",
    columns=CYCLES,
    rows=tuple(networks),
    paper={row: counting.TAB_COUNT.paper[row][-len(CYCLES) :] for row in counting.TAB_COUNT.paper},
    note=f"Ours: {len(bundle.train)} training graphs, {long} epochs. The paper: 1,500 graphs of the same recipe, 2,000 epochs.",
)

# %% Train them, with the errors on validation graphs as they fall
seen: dict[str, list[str]] = {}
EVERY = 3 if console.is_terminal else 30  # epochs: a table that changes, or lines in a file


def board() -> Grid:
    """The live table."""
    grid = Grid("error / deviation", *CYCLES, "epoch", title="How many cycles go through each node?")
    for row in networks:
        grid.add_row(row, *seen.get(row, [""] * (len(CYCLES) + 1)))
    return grid


def run(cell: Cell, folder: Path, progress: bool) -> Outcome:
    """Train one of them."""
    config = read_config(overrides=cell.settings, bundle=bundle)

    def show(epoch: int, errors: dict[str, float]) -> None:
        seen[cell.row] = [f"{errors[f'norm-mae/{name}']:.4f}" for name in CYCLES] + [f"{epoch}/{config.epochs}"]
        if console.is_terminal:
            live.update(board(), refresh=True)
        else:
            shown = "  ".join(f"{name} {error}" for name, error in zip((*CYCLES, "epoch"), seen[cell.row], strict=True))
            print(f"{cell.row}: {shown}", flush=True)

    def watch(values: list[float]) -> None:
        if len(values) % EVERY == 0:
            show(len(values), evaluate(load_run(folder), bundle, "validation"))

    result = fit(bundle, config, folder, resume=True, progress=False, watch=watch)
    show(config.epochs, dict(result.test))
    done = trained.Trained(result, bundle, folder)
    found = trained.outcome(done, "demo", {name: f"norm-mae/{name}" for name in CYCLES})
    return replace(found, scatter=trained.scatter(done))


def cells(budget: str, seeds: int) -> list[Cell]:
    """One cell for each network."""
    return [Cell(row, settings=trained.merged(counting.NETWORK, size, own)) for row, own in networks.items()]


experiment = Experiment("demo", (table,), cells, run)
with Live(board() if console.is_terminal else None, console=console, auto_refresh=False) as live:
    reproduce(experiment, "hour", results=out / "results", work=out / "work", progress=False)

if not console.is_terminal:
    console.print(board())

# %% The last network also says what it has found: formulas in the counts of the encoding
console.print()
ladder = max((out / "work" / "demo" / "hour").glob("esc-gnn-wedge*"), key=lambda folder: folder.stat().st_mtime)
for target, terms in formulas(load_run(ladder)).items():
    some = [f"{factor:.3g} {' '.join(map(str, term))}" for term, factor in terms.items() if term][:4]
    console.print(f"[bold]{target}[/] = {' + '.join(some)}{' + ...' if len(terms) > 5 else ''}", soft_wrap=True)

# %% The report
page = report.write(out / "results", out / "report.html", [experiment]).resolve()
console.print(f"report: {page}", soft_wrap=True)
if sys.stdout.isatty():
    webbrowser.open(page.as_uri())
