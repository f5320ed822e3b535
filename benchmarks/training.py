"""What the encoding costs in training: seconds and memory an epoch, beside plain GIN and PyG's own stack.

    python benchmarks/training.py [--data FOLDER] [--graphs 2048] [--quick]

All rows train on the same graphs in one run: batches of 128, five layers, Adam, L1 loss. ESC-GNN encodes every batch as it
is made. Epochs of the rows alternate, and the fastest of each counts.
"""

import argparse
import os
import sys
import time
from pathlib import Path

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
from escgnn.loader import Loader
from escgnn.models import ESCGNN
from escgnn.transforms import StructuralEncoding

ROWS = ("GIN", "ESC-GNN, h = 3", "ESC-GNN, h = 3, resistance", "PyG: GINEConv and DataLoader")
PARTS = ("degree", "node", "joint", "edge")
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


def make(row, bundle, graphs, hidden):
    """The model and the loader of a row."""
    node, edge = (bundle.features[name] for name in ("x", "edge_attr"))
    if row.startswith("PyG"):
        return PyGStack(node.sizes, edge.sizes, hidden), DataLoader(list(graphs), batch_size=128, shuffle=True)
    encoding = None
    if row.startswith("ESC"):
        encoding = StructuralEncoding(3, (*PARTS, "resistance") if "resistance" in row else PARTS)
    features = {
        f"{kind}_features": {"kind": feature.kind, "sizes": list(feature.sizes)}
        for kind, feature in (("node", node), ("edge", edge))
    }
    model = ESCGNN(1, hidden=hidden, layers=5, num_bins=encoding and encoding.num_bins, **features)
    return model, Loader(graphs, 128, shuffle=True, transform=encoding)


def epoch(model, loader, optimizer):
    """Seconds of one pass over the graphs."""
    start = time.perf_counter()
    for batch in loader:
        optimizer.zero_grad()
        (model(batch).squeeze() - batch.y.squeeze()).abs().mean().backward()
        optimizer.step()
    return time.perf_counter() - start


def load(name, data, count):
    """A dataset and its first training graphs."""
    bundle = datasets.load(name, root=data)
    return bundle, bundle.train[list(range(min(count, len(bundle.train))))]


def side_by_side(name, data, count, hidden, repeats):
    """Seconds an epoch of every row, taking turns."""
    bundle, graphs = load(name, data, count)
    jobs = {}
    for row in ROWS:
        torch.manual_seed(0)
        model, loader = make(row, bundle, graphs, hidden)
        jobs[row] = (model, loader, torch.optim.Adam(model.parameters(), 1e-3))
        epoch(*jobs[row])
    seconds = dict.fromkeys(ROWS, float("inf"))
    for _ in range(repeats):
        for row, job in jobs.items():
            seconds[row] = min(seconds[row], epoch(*job))
    return seconds


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
    model, loader = make(row, bundle, graphs, hidden)
    Path("/proc/self/clear_refs").write_text("5")
    before = psutil.Process().memory_info().rss
    epoch(model, loader, torch.optim.Adam(model.parameters()))
    peak = next(line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmHWM"))
    print(int(peak.split()[1]) / 1024 - before / 2**20)


def main():
    """Run everything and record it."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", default=os.environ.get("ESCGNN_DATA"), help="folder of raw benchmark data")
    parser.add_argument("--graphs", type=int, default=2048, help="training graphs an epoch")
    parser.add_argument("--quick", action="store_true", help="few graphs, no record")
    options = parser.parse_args()
    count, repeats = (256, 1) if options.quick else (options.graphs, 3)
    figures = {}
    for name in ("zinc-12k", "ogbg-molhiv"):
        for hidden in (64, 300):
            seconds = side_by_side(name, options.data, count, hidden, repeats)
            memory = {row: peak_memory(row, name, options.data, count, hidden) for row in ROWS[:2]}
            table = Table(
                "", "seconds an epoch", "times GIN", "peak MB", title=f"{name}, {count} graphs, width {hidden}"
            )
            for row in ROWS:
                used = f"{memory[row]:.0f}" if row in memory else ""
                table.add_row(row, f"{seconds[row]:.2f}", f"{seconds[row] / seconds['GIN']:.3f}", used)
            console.print(table)
            figures[f"{name} {hidden}"] = {"seconds": seconds, "peak_mb": memory}
    if not options.quick:
        record("training", figures)


if __name__ == "__main__":
    main()
