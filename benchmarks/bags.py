"""How fast bags of subgraphs are cut: beside networkx, by radius, by size, and as a share of a training step.

    python benchmarks/bags.py [--data FOLDER] [--quick]

Ratios are taken within one run, after the compiler has warmed up. Every run is appended to `history.jsonl`.
"""

import argparse
import os
import sys
import time
from pathlib import Path

import networkx as nx
import torch
from rich.console import Console
from rich.table import Table
from torch import nn
from torch_geometric.data import Batch, Data
from torch_geometric.nn import GINEConv

sys.path.insert(0, str(Path(__file__).parents[1]))
from benchmarks.measure import best_time, record
from benchmarks.samples import counting_graphs, molecules
from escgnn import graphs
from escgnn.bags import node_bag, pair_bag
from escgnn.layers import perceptron
from escgnn.transforms import RootedNodes, RootedPairs

ANY = 1 << 40  # rows: no guard while measuring
console = Console(width=110)


def as_batches(union, size):
    """PyG batches of some graphs each."""
    data = [Data(edge_index=torch.from_numpy(g.edge_index), num_nodes=g.num_nodes) for g in union.split()]
    return [Batch.from_data_list(data[i : i + size]) for i in range(0, len(data), size)]


def with_networkx(union, hops, count):
    """Seconds a graph of `ego_graph` for every node of the first graphs."""
    some = [graph.to_networkx() for graph in union.split()[:count]]
    start = time.perf_counter()
    for plain in some:
        for root in plain:
            nx.ego_graph(plain, root, hops)
    return (time.perf_counter() - start) / len(some)


def beside_networkx(samples):
    """The ratio to `ego_graph`, which only cuts: no labels, no numbering, no tensors. The target is 50."""
    table = Table(
        "graphs", "hops", "copies", "edges", "ego_graph, µs a graph", "nodes, µs", "ratio", "pairs, µs", "resistance, µs",
        title="Cutting balls around all nodes, batches of 128",
    )  # fmt: skip
    results = {}
    for name, union in samples.items():
        batches = as_batches(union, 128)
        for hops in (1, 2, 3, 4):
            transforms = {
                "nodes": RootedNodes(hops, max_rows=ANY),
                "pairs": RootedPairs(hops, max_rows=ANY),
                "resistance": RootedNodes(hops, resistance=True, max_rows=ANY),
            }
            slow = with_networkx(union, hops, 60)
            seconds = {}
            for kind, transform in transforms.items():
                job = lambda transform=transform, batches=batches: [transform(batch) for batch in batches]  # noqa: E731
                seconds[kind] = best_time(job) / union.num_graphs
            cut = [transforms["nodes"](batch) for batch in batches]
            copies = sum(batch.bag_member.size(0) for batch in cut) / union.num_graphs
            edges = sum(batch.bag_source.size(0) for batch in cut) / union.num_graphs
            ratio = slow / seconds["nodes"]
            results[f"{name} h={hops}"] = {"ratio": ratio, "networkx": slow, **seconds}
            table.add_row(
                name, str(hops), f"{copies:.0f}", f"{edges:.0f}", f"{1e6 * slow:,.0f}", f"{1e6 * seconds['nodes']:.1f}",
                f"{ratio:,.0f}", f"{1e6 * seconds['pairs']:.1f}", f"{1e6 * seconds['resistance']:.1f}",
            )  # fmt: skip
    console.print(table)
    return {"beside_networkx": results}


def by_size(sizes):
    """One graph of growing size: seconds must grow with what is written, not with the square of the nodes."""
    table = Table("graph", "nodes", "hops", "edges between copies", "ms", "ns an edge", title="One large graph")
    results = {}
    for size in sizes:
        for name, graph, hops in (
            ("6-regular", graphs.random_regular(size, 6), 2),
            ("power-law", graphs.barabasi_albert(size, 3), 1),
        ):
            data = Data(edge_index=torch.from_numpy(graph.edge_index), num_nodes=graph.num_nodes)
            transform = RootedNodes(hops, max_rows=ANY)
            edges = transform(data).bag_source.size(0)
            seconds = best_time(lambda data=data, transform=transform: transform(data), 3)
            results[f"{name} {size}"] = {"seconds": seconds, "ns_an_edge": 1e9 * seconds / edges}
            table.add_row(
                name, f"{size:,}", str(hops), f"{edges:,}", f"{1e3 * seconds:.1f}", f"{1e9 * seconds / edges:.1f}"
            )
    console.print(table)
    return {"by_size": results}


class Inside(nn.Module):
    """The least that a network on a bag does: lift, six GINE layers of width 64 inside, two sums."""

    def __init__(self, make_bag, width=64, layers=6):
        super().__init__()
        self.make_bag = make_bag
        self.node = nn.Parameter(torch.randn(1, width))
        self.edge = nn.Parameter(torch.randn(1, width))
        self.mark = nn.Embedding(3, width)
        self.convs = nn.ModuleList(GINEConv(perceptron(width, width, width, "batch")) for _ in range(layers))
        self.head = nn.Linear(width, 1)

    def forward(self, batch):
        """One number for every graph."""
        bag = self.make_bag(batch)
        x = bag.lift(self.node.expand(bag.num_nodes, -1)) + self.mark(bag.identity)  # (M, width)
        edge = self.edge.expand(bag.column.size(0), -1)  # (K, width)
        for conv in self.convs:
            x = torch.relu(conv(x, bag.edge_index, edge))
        return self.head(bag.to_graphs(bag.to_subgraphs(x)))


def beside_a_training_step(samples):
    """Cutting, and making the view, beside one step of the least network that uses the bag. The target is 10 %."""
    table = Table(
        "graphs", "bag", "hops", "cut, ms", "view, ms", "step with view, ms", "cut / step", "both / step",
        title="A batch of 128, six layers of width 64",
    )  # fmt: skip
    results = {}
    for name, union in samples.items():
        batch = as_batches(union, 128)[0]
        for kind, transform, make_bag in (("nodes", RootedNodes, node_bag), ("pairs", RootedPairs, pair_bag)):
            for hops in (1, 2, 3):
                cutter = transform(hops, max_rows=ANY)
                ready = cutter(batch)
                model = Inside(make_bag)
                optimizer = torch.optim.Adam(model.parameters())

                def step(model=model, optimizer=optimizer, ready=ready):
                    optimizer.zero_grad()
                    model(ready).square().mean().backward()
                    optimizer.step()

                cut = best_time(lambda cutter=cutter, batch=batch: cutter(batch))
                view = best_time(lambda make_bag=make_bag, ready=ready: make_bag(ready))
                train = best_time(step, 3)
                results[f"{name} {kind} h={hops}"] = {"cut": cut / train, "with view": (cut + view) / (cut + train)}
                table.add_row(
                    name, kind, str(hops), f"{1e3 * cut:.2f}", f"{1e3 * view:.2f}", f"{1e3 * train:.0f}",
                    f"{cut / train:.1%}", f"{(cut + view) / (cut + train):.1%}",
                )  # fmt: skip
    console.print(table)
    return {"share_of_a_step": results}


def main():
    """Run everything and record it."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", default=os.environ.get("ESCGNN_DATA"), help="folder of raw benchmark data")
    parser.add_argument("--quick", action="store_true", help="smaller samples, no record")
    options = parser.parse_args()
    count = 256 if options.quick else 2560
    samples = molecules(options.data, count) | counting_graphs(options.data, count)
    figures = beside_networkx(samples) | beside_a_training_step(samples)
    figures |= by_size((1_000, 10_000) if options.quick else (1_000, 10_000, 100_000))
    if not options.quick:
        record("bags", figures)


if __name__ == "__main__":
    main()
