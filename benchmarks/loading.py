"""Batches a second from the contiguous store, beside PyG's collation of the same molecules.

    python benchmarks/loading.py [--data FOLDER] [--quick]

PyG collates a list of Data, and an in-memory dataset that cuts each Data first. Where batches are encoded, all three
do it to the whole batch, in the process that made it. Every run is appended to `history.jsonl`.
"""

import argparse
import os
import sys
from pathlib import Path

import numpy as np
import torch
from rich.console import Console
from rich.table import Table
from torch.utils.data import DataLoader
from torch_geometric.data import Batch, InMemoryDataset

sys.path.insert(0, str(Path(__file__).parents[1]))
from benchmarks.measure import best_time, record
from escgnn import graphs
from escgnn.loader import Loader
from escgnn.store import GraphStore
from escgnn.transforms import StructuralEncoding

console = Console(width=110)


class Collate:
    """What PyG's DataLoader does to a list of Data, then perhaps a transform."""

    def __init__(self, transform):
        self.transform = transform

    def __call__(self, members):
        """One batch."""
        batch = Batch.from_data_list(members)
        return self.transform(batch) if self.transform else batch


class InMemory(InMemoryDataset):
    """PyG's own contiguous storage of the same graphs."""

    def __init__(self, members):
        super().__init__()
        self.data, self.slices = self.collate(members)


def zinc(data, count):
    """The first molecules of ZINC-12k with atom and bond types, or generated ones that are like them."""
    file = Path(data) / "zinc" / "zinc12k.npz" if data else None
    if file is None or not file.is_file():
        union = graphs.molecule_like(count)
        nodes = np.diff(union.ptr)
        columns = np.diff(np.searchsorted(union.edge_index[0], union.ptr))
        edge_index = union.edge_index - np.repeat(union.ptr[:-1], columns)
        atoms, bonds, target = np.arange(nodes.sum()) % 28, np.arange(columns.sum()) % 4, np.arange(count) / count
        return "molecule-like", store_of(nodes, columns, edge_index, atoms, bonds, target)
    with np.load(file, allow_pickle=False) as arrays:
        nodes, edges = (arrays[f"num_{kind}"][:count].astype(np.int64) for kind in ("nodes", "edges"))
        atoms, target = arrays["x"][: nodes.sum()], arrays["y"][:count]
        ends, bonds = arrays["edges"][: edges.sum()], arrays["bond"][: edges.sum()]
    both = np.stack([ends, ends[:, ::-1]], axis=1).reshape(-1, 2).T  # each edge, then its reverse
    return "ZINC-12k", store_of(nodes, 2 * edges, both, atoms, np.repeat(bonds, 2), target)


def store_of(num_nodes, num_edges, edge_index, atoms, bonds, target):
    """The types that PyG's ZINC has."""
    return GraphStore(
        num_nodes,
        num_edges,
        edge_index,
        node={"x": atoms.astype(np.int64)[:, None]},
        edge={"edge_attr": bonds.astype(np.int64)},
        graph={"y": target.astype(np.float32)},
    )


def loaders(store, size, transform, workers):
    """The three ways to the same batches."""
    members = list(store)
    options = {"num_workers": workers, "persistent_workers": workers > 0, "collate_fn": Collate(transform)}
    return {
        "list": DataLoader(members, size, shuffle=True, **options),
        "in-memory": DataLoader(InMemory(members), size, shuffle=True, **options),
        "store": Loader(store, size, shuffle=True, transform=transform, workers=workers),
    }


def epoch_time(loader):
    """Seconds of one epoch, the one before it not counted."""
    return best_time(lambda: sum(1 for _ in loader), repeats=1)


def beside_pyg(name, store):
    """Batches a second, the best of some epochs, taken in turns so that a busy moment hits all alike."""
    table = Table(
        "graphs", "encoded", "workers", "batch", "PyG, list", "PyG, in-memory", "escgnn", "ratio to list",
        title=f"Batches a second, {len(store):,} graphs",
    )  # fmt: skip
    rates, ratios = {}, {}
    for transform in (None, StructuralEncoding(hops=3)):
        for workers in (0, 2):
            for size in (32, 128, 512):
                key = f"{name} {'h=3 ' if transform else ''}workers={workers} batch={size}"
                ways = loaders(store, size, transform, workers)
                rounds = [{kind: epoch_time(loader) for kind, loader in ways.items()} for _ in range(4)]
                rates[key] = {kind: len(ways[kind]) / min(seconds[kind] for seconds in rounds) for kind in ways}
                ratios[key] = rates[key]["store"] / rates[key]["list"]
                table.add_row(
                    name,
                    "h=3" if transform else "",
                    str(workers),
                    str(size),
                    *(f"{rate:,.0f}" for rate in rates[key].values()),
                    f"{ratios[key]:.1f}",
                )
    console.print(table)
    return {"batches_per_second": rates, "ratio_to_pyg_list": ratios}


def main():
    """Run everything and record it."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", default=os.environ.get("ESCGNN_DATA"), help="folder of raw benchmark data")
    parser.add_argument("--quick", action="store_true", help="fewer graphs, no record")
    options = parser.parse_args()
    name, store = zinc(options.data, 2000 if options.quick else 12000)
    batch, same = store.batch([5, 3]), Batch.from_data_list([store[5], store[3]])
    assert all(torch.equal(torch.as_tensor(batch[key]), torch.as_tensor(same[key])) for key in same.keys())  # noqa: SIM118
    figures = beside_pyg(name, store)
    if not options.quick:
        record("loading", figures)


if __name__ == "__main__":
    main()
