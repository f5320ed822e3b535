"""What the encoding costs in training: processor time and memory an epoch, beside plain GIN and PyG's own stack.

    python benchmarks/training.py [--graphs 2048] [--rounds 5] [--datasets zinc-12k,ogbg-molhiv] [--widths 64,300]
        [--memory] [--growth] [--quick] [--data FOLDER]

All rows train on the same graphs in the same order, in one process and one thread: batches of 128, five layers, Adam, L1 loss.
They take turns batch by batch, and of every batch the fastest of some rounds counts, in processor time, so that other programs
on the machine hardly matter. What ESC-GNN's encoding adds is kept between epochs, as training does, or made anew for each batch.
With ``--growth`` the same for more and more graphs, with the time and the memory that keeping takes.
"""

import argparse
import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

os.environ["NUMBA_NUM_THREADS"] = "1"  # before it is loaded

import numpy as np
import psutil
import torch
from rich.console import Console
from rich.table import Table
from torch import nn
from torch_geometric.loader import DataLoader
from torch_geometric.nn import GINEConv, global_add_pool

sys.path.insert(0, str(Path(__file__).parents[1]))
from benchmarks.measure import in_new_process, record
from escgnn import datasets
from escgnn.keeping import keep
from escgnn.loader import Loader
from escgnn.models import ESCGNN
from escgnn.transforms import StructuralEncoding

PARTS = ("degree", "node", "joint", "edge")
PLAIN = "GIN"
KEPT = "ESC-GNN, h = 3"
ROWS = (
    PLAIN,
    KEPT,
    "ESC-GNN, h = 3, resistance",
    "ESC-GNN, h = 3, encoded anew",
    "ESC-GNN, h = 3, resistance, encoded anew",
    "PyG: GINEConv and DataLoader",
)
BATCH = 128
console = Console(width=110)


class PyGStack(nn.Module):
    """The same network out of PyG's own parts."""

    def __init__(self, node_sizes, edge_sizes, hidden, layers=5):
        super().__init__()
        self.nodes = nn.ModuleList(nn.Embedding(size, hidden) for size in node_sizes)
        self.edges = nn.ModuleList(nn.Embedding(size, hidden) for size in edge_sizes)
        self.convs = nn.ModuleList(
            GINEConv(
                nn.Sequential(nn.Linear(hidden, hidden), nn.BatchNorm1d(hidden), nn.ReLU(), nn.Linear(hidden, hidden))
            )
            for _ in range(layers)
        )
        self.norms = nn.ModuleList(nn.BatchNorm1d(hidden) for _ in range(layers))
        self.head = nn.Sequential(nn.Linear(hidden, hidden), nn.ReLU(), nn.Linear(hidden, 1))

    def forward(self, batch):
        """One number a graph."""
        h = sum(embed(column) for embed, column in zip(self.nodes, batch.x.T, strict=True))
        e = sum(embed(column) for embed, column in zip(self.edges, batch.edge_attr.T, strict=True))
        for conv, norm in zip(self.convs, self.norms, strict=True):
            h = h + norm(conv(h, batch.edge_index, e)).relu()
        return self.head(global_add_pool(h, batch.batch, batch.num_graphs))


class Job(NamedTuple):
    """A network that trains, batch by batch."""

    model: Any
    loader: Any
    optimizer: Any


def make(row, bundle, graphs, hidden):
    """The job of a row."""
    torch.manual_seed(0)
    order = np.random.default_rng(0).permutation(len(graphs)).tolist()
    node, edge = (bundle.features[name] for name in ("x", "edge_attr"))
    if row.startswith("PyG"):
        model = PyGStack(node.sizes, edge.sizes, hidden)
        return Job(model, DataLoader(list(graphs), BATCH, sampler=order), torch.optim.Adam(model.parameters(), 1e-3))
    encoding = None
    if row.startswith("ESC"):
        encoding = StructuralEncoding(3, (*PARTS, "resistance") if "resistance" in row else PARTS)
    features = {
        f"{kind}_features": {"kind": feature.kind, "sizes": list(feature.sizes)}
        for kind, feature in (("node", node), ("edge", edge))
    }
    model = ESCGNN(1, hidden=hidden, layers=5, num_bins=encoding and encoding.num_bins, **features)
    is_kept = encoding is not None and "anew" not in row
    loader = Loader(keep(graphs, encoding, 1e12), BATCH, sampler=order) if is_kept else None
    loader = loader or Loader(graphs, BATCH, sampler=order, transform=encoding)
    if encoding is not None:
        model.fit_structure(loader)
    return Job(model, loader, torch.optim.Adam(model.parameters(), 1e-3))


def steps(job) -> Iterator[float]:
    """Seconds of processor time of each step of an epoch, the making of its batch included."""
    start = time.process_time()
    for batch in job.loader:
        job.optimizer.zero_grad()
        (job.model(batch).squeeze() - batch.y.squeeze()).abs().mean().backward()
        job.optimizer.step()
        yield time.process_time() - start
        start = time.process_time()


def load(name, data, count):
    """A dataset and its first training graphs."""
    bundle = datasets.load(name, root=data)
    return bundle, bundle.train[list(range(min(count, len(bundle.train))))]


def side_by_side(jobs, rounds):
    """Seconds an epoch of every job: all take turns batch by batch, and of each batch the fastest round counts."""
    fastest = {}
    for turn in range(rounds + 1):
        for place, seconds in enumerate(zip(*map(steps, jobs.values()), strict=True)):
            if turn:  # the first warms up
                before = fastest.get(place, seconds)
                fastest[place] = tuple(map(min, before, seconds))
    return dict(zip(jobs, map(sum, zip(*fastest.values(), strict=True)), strict=True))


def peak_memory(row, name, data, count, hidden):
    """Megabytes that training a row adds at its peak, in a process of its own."""
    code = (
        "import sys; from benchmarks.training import measure_memory;"
        "row, name, data, count, hidden = sys.argv[1:]; measure_memory(row, name, data, int(count), int(hidden))"
    )
    root = str(Path(__file__).parents[1])
    _, output = in_new_process(code, {"PYTHONPATH": root}, row, name, data, str(count), str(hidden))
    return float(output)


def measure_memory(row, name, data, count, hidden):
    """Print the megabytes above those before the model was made."""
    bundle, graphs = load(name, data, count)
    Path("/proc/self/clear_refs").write_text("5")
    before = psutil.Process().memory_info().rss
    for _ in steps(make(row, bundle, graphs, hidden)):
        pass
    peak = next(line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmHWM"))
    print(int(peak.split()[1]) / 1024 - before / 2**20)


def growth(name, data, counts, hidden, rounds):
    """For more and more graphs: milliseconds a batch with and without encoding, and what keeping takes."""
    table = Table(
        "graphs", "GIN, ms a batch", "ESC-GNN", "times GIN", "made in s", "kept MB", title=f"{name}, width {hidden}"
    )
    figures = {}
    for count in counts:
        bundle, graphs = load(name, data, count)
        encoding = StructuralEncoding(3, PARTS)
        start = time.process_time()
        kept = keep(graphs, encoding, 1e12)
        made = time.process_time() - start
        seconds = side_by_side({row: make(row, bundle, graphs, hidden) for row in (PLAIN, KEPT)}, rounds)
        batches = -(-len(graphs) // BATCH)
        ratio = seconds[KEPT] / seconds[PLAIN]
        times = [f"{1000 * seconds[row] / batches:.1f}" for row in (PLAIN, KEPT)]
        table.add_row(str(len(graphs)), *times, f"{ratio:.3f}", f"{made:.2f}", f"{kept.num_bytes / 1e6:.1f}")
        figures[str(len(graphs))] = {"seconds": seconds, "made": made, "kept_bytes": kept.num_bytes}
    console.print(table)
    return figures


def main():
    """Run everything and record it."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", default=os.environ.get("ESCGNN_DATA"), help="folder of raw benchmark data")
    parser.add_argument("--graphs", type=int, default=2048, help="training graphs an epoch")
    parser.add_argument("--rounds", type=int, default=5, help="epochs of each, the fastest of every batch counts")
    parser.add_argument("--datasets", default="zinc-12k,ogbg-molhiv", help="which, divided by commas")
    parser.add_argument("--widths", default="64,300", help="of the networks, divided by commas")
    parser.add_argument("--memory", action="store_true", help="measure the peak memory, too, in processes of their own")
    parser.add_argument("--growth", action="store_true", help="more and more graphs instead")
    parser.add_argument("--quick", action="store_true", help="few graphs, no record")
    options = parser.parse_args()
    torch.set_num_threads(1)
    count, rounds = (256, 1) if options.quick else (options.graphs, options.rounds)
    figures = {}
    for name in options.datasets.split(","):
        for hidden in map(int, options.widths.split(",")):
            if options.growth:
                counts = [count // 4, count // 2, count, 2 * count, 4 * count]
                figures[f"{name} {hidden} growth"] = growth(name, options.data, counts, hidden, rounds)
                continue
            bundle, graphs = load(name, options.data, count)
            seconds = side_by_side({row: make(row, bundle, graphs, hidden) for row in ROWS}, rounds)
            measured = ROWS[:2] if options.memory else ()
            memory = {row: peak_memory(row, name, options.data, count, hidden) for row in measured}
            table = Table(
                "", "CPU seconds an epoch", "times GIN", "peak MB", title=f"{name}, {count} graphs, width {hidden}"
            )
            for row in ROWS:
                used = f"{memory[row]:.0f}" if row in memory else ""
                table.add_row(row, f"{seconds[row]:.3f}", f"{seconds[row] / seconds[PLAIN]:.3f}", used)
            console.print(table)
            figures[f"{name} {hidden}"] = {"seconds": seconds, "peak_mb": memory}
    if not options.quick:
        record("training", figures)


if __name__ == "__main__":
    main()
