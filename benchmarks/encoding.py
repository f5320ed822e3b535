"""How fast the structural encoding is, how near to its limit, and what it costs a training step.

    python benchmarks/encoding.py [--data FOLDER] [--quick] [--parts]

Ratios are taken within one run, after the compiler has warmed up. Every run is appended to `history.jsonl`.
"""

import argparse
import os
import sys
import tempfile
import time
from pathlib import Path

import numba
import numpy as np
import torch
from rich.console import Console
from rich.table import Table
from torch_geometric.data import Batch, Data
from torch_geometric.nn import GIN, global_add_pool

sys.path.insert(0, str(Path(__file__).parents[1]))
from benchmarks.measure import best_time, in_new_process, record
from benchmarks.samples import counting_graphs, molecules
from escgnn.encoding import PARTS, RootedEncoding
from escgnn.encoding.settings import TYPED
from escgnn.encoding.sources import CompiledPass
from escgnn.kernels.encoding import Output, encode
from escgnn.kernels.rooted import Walk, label_adjacent
from escgnn.transforms import StructuralEncoding
from tests import naive

DEFAULT_PARTS = ("degree", "node", "joint", "edge")
console = Console(width=110)


@numba.njit(nogil=True)
def bare_pass(csr, roots, hops):
    """The limit: walk to every node of every rooted subgraph, look at every edge of it, count nothing else."""
    walk = Walk(np.zeros(csr.indptr.size - 1, np.int32), np.empty(csr.indptr.size - 1, np.int32))
    edges = 0
    for i in range(roots.shape[0]):
        count, _ = label_adjacent(csr, roots[i, 0], roots[i, 1], hops, np.int64(1 << 60), walk)
        for j in range(count):
            w = walk.nodes[j]
            for k in range(csr.indptr[w], csr.indptr[w + 1]):
                edges += walk.code[csr.indices[k]] != 0
        for j in range(count):
            walk.code[walk.nodes[j]] = 0
    return edges


def as_batches(union, size):
    """PyG batches of some graphs each."""
    data = [Data(edge_index=torch.from_numpy(g.edge_index), num_nodes=g.num_nodes) for g in union.split()]
    return [Batch.from_data_list(data[i : i + size]) for i in range(0, len(data), size)]


def first_call():
    """Seconds from `import` to the first result, compiling and with compiled code from an earlier process."""
    code = "from escgnn import graphs; from escgnn.encoding import RootedEncoding as E; E(2).rows(graphs.cycle(5))"
    with tempfile.TemporaryDirectory() as folder:
        environment = {"XDG_CACHE_HOME": folder}
        compiling, _ = in_new_process(code, environment)
        cached, _ = in_new_process(code, environment)
    table = Table("first result in a new process", "seconds", title="First call")
    table.add_row("nothing compiled yet (once per version)", f"{compiling:.1f}")
    table.add_row("compiled code found", f"{cached:.2f}")
    console.print(table)
    return {"compiling_seconds": compiling, "cached_seconds": cached}


def throughput(samples):
    """Graphs and roots a second on PyG batches of 1,000: reading edge_index, encoding, attaching tensors."""
    table = Table("graphs", "hops", "resistance", "graphs/s", "edges/s", "bins", "non-zeros a row", title="Throughput")
    results = {}
    for name, union in samples.items():
        batches = as_batches(union, 1000)
        for resistance in (False, True):
            for hops in (1, 2, 3, 4):
                encoding = StructuralEncoding(hops, (*DEFAULT_PARTS, "resistance") if resistance else DEFAULT_PARTS)
                seconds = best_time(lambda encoding=encoding, batches=batches: [encoding(batch) for batch in batches])
                rows = encoding.rows(batches[0])
                results[f"{name} h={hops}{' resistance' if resistance else ''}"] = union.num_graphs / seconds
                table.add_row(
                    name,
                    str(hops),
                    "yes" if resistance else "",
                    f"{union.num_graphs / seconds:,.0f}",
                    f"{union.num_edges / seconds:,.0f}",
                    str(encoding.num_bins),
                    f"{rows.bin.size / len(rows):.1f}",
                )
    console.print(table)
    return {"graphs_per_second": results}


def beside_the_naive_twin(samples):
    """The ratio to plain networkx, both doing every edge of the same graphs."""
    table = Table("graphs", "hops", "naive, ms a graph", "escgnn, ms a graph", "ratio", title="Beside networkx")
    results = {}
    for name, union in samples.items():
        some = union.split()[:12]
        for hops in (1, 3):
            encoding = RootedEncoding(hops, DEFAULT_PARTS)
            start = time.perf_counter()
            for graph in some:
                plain = graph.to_networkx()
                for u, v in graph.edge_index.T.tolist():
                    naive.row(plain, u, v, encoding)
            slow = (time.perf_counter() - start) / len(some)
            fast = best_time(lambda encoding=encoding, union=union: encoding.rows(union)) / union.num_graphs
            results[f"{name} h={hops}"] = slow / fast
            table.add_row(name, str(hops), f"{1e3 * slow:.1f}", f"{1e3 * fast:.4f}", f"{slow / fast:,.0f}")
    console.print(table)
    return {"ratio_to_naive": results}


def beside_the_limit(samples):
    """The ratio to a pass that only walks every rooted subgraph's edges, one thread each."""
    table = Table(
        "graphs", "hops", "bare walk, ns an edge", "histograms", "ratio", title="Beside the limit, one thread"
    )
    results = {}
    for name, union in samples.items():
        for hops in (1, 2, 3, 4):
            encoding = RootedEncoding(hops, DEFAULT_PARTS)
            tables = CompiledPass(encoding).edge_tables
            lengths = np.empty(2 * union.num_edges, np.int32)
            bins, counts = (np.empty(2 * encoding.num_bins * union.num_edges + 1, np.int32) for _ in range(2))
            job = (union.csr, union.edges, *tables, None, Output(lengths, bins, counts, np.zeros(1, np.uint8)))
            limit = best_time(lambda hops=hops, union=union: bare_pass(union.csr, union.edges, hops))
            ours = best_time(lambda job=job: encode(*job))
            results[f"{name} h={hops}"] = ours / limit
            per_edge = 1e9 / union.num_edges
            table.add_row(name, str(hops), f"{limit * per_edge:.0f}", f"{ours * per_edge:.0f}", f"{ours / limit:.2f}")
    console.print(table)
    return {"ratio_to_limit": results}


def part_by_part(name, union, hops=2):
    """Every part alone beside `edge` alone, one thread; their turns alternate, so that all meet the same machine."""
    encodings = {part: RootedEncoding(hops, (part,)) for part in ("edge", *(part for part in PARTS if part != "edge"))}
    types = {"types": ("x", "edge_attr")}
    encodings |= {f"{part} by types": RootedEncoding(hops, (part,), **types) for part in TYPED}
    encodings |= {"default": RootedEncoding(hops), "default by types": RootedEncoding(hops, **types)}
    encodings |= {"default, h = 1, 2, 3": RootedEncoding((1, 2, 3))}
    seconds = dict.fromkeys(encodings, np.inf)
    for _ in range(5):
        for part, encoding in encodings.items():
            job = lambda encoding=encoding: encoding.rows(union, threads=1)  # noqa: E731
            seconds[part] = min(seconds[part], best_time(job, 1))
    title = f"Part by part, {name}, h = {hops}, one thread"
    table = Table("part", "bins", "non-zeros an edge", "graphs/s", "ratio to edge", title=title)
    results = {}
    for part, encoding in encodings.items():
        rows = encoding.rows(union)
        nonzeros, ratio = rows.bin.size / len(rows), seconds[part] / seconds["edge"]
        speed = union.num_graphs / seconds[part]
        results[part] = {
            "bins": encoding.num_bins, "nonzeros": nonzeros, "graphs_per_second": speed, "ratio_to_edge": ratio
        }  # fmt: skip
        table.add_row(part, str(encoding.num_bins), f"{nonzeros:.1f}", f"{speed:,.0f}", f"{ratio:.2f}")
    console.print(table)
    return {f"parts h={hops}": results}


def beside_a_training_step(union):
    """Encoding one batch of 128 molecules beside one step of a 5-layer GIN of width 300 on it."""
    batch = as_batches(union, 128)[0]
    batch.x = torch.randn(batch.num_nodes, 300)
    model = GIN(300, 300, num_layers=5, out_channels=1)
    optimizer = torch.optim.Adam(model.parameters())

    def step():
        optimizer.zero_grad()
        out = global_add_pool(model(batch.x, batch.edge_index), batch.batch, batch.num_graphs)
        out.square().mean().backward()
        optimizer.step()

    train = best_time(step)
    table = Table("encoding", "ms a batch of 128", "share of a step", title=f"A GIN step takes {1e3 * train:.0f} ms")
    results = {}
    for resistance in (False, True):
        for hops in (1, 2, 3, 4):
            encoding = StructuralEncoding(hops, (*DEFAULT_PARTS, "resistance") if resistance else DEFAULT_PARTS)
            seconds = best_time(lambda encoding=encoding: encoding(batch))
            name = f"h={hops}{' resistance' if resistance else ''}"
            results[name] = seconds / train
            table.add_row(name, f"{1e3 * seconds:.2f}", f"{seconds / train:.1%}")
    console.print(table)
    return {"share_of_a_gin_step": results}


LARGE = """
import sys, time
from escgnn import graphs
from escgnn.encoding import RootedEncoding
def megabytes():
    return next(int(line.split()[1]) / 1024 for line in open("/proc/self/status") if line.startswith("VmHWM"))
kind, edges, hops = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
encoding = RootedEncoding(hops)
encoding.rows(graphs.cycle(5))
graph = graphs.barabasi_albert(edges // 3 + 3, 3) if kind == "power-law" else graphs.random_regular(edges // 3, 6)
open("/proc/self/clear_refs", "w").write("5")  # forget the peak of making the graph
before = megabytes()
start = time.perf_counter()
numbers = sum(rows.bin.size for _, rows in encoding.blocks(graph, 1 << 14))
seconds = time.perf_counter() - start
after = megabytes()
print(seconds, numbers, before, after, graph.num_edges, graph.degrees.max())
"""


def large_graphs(sizes):
    """One large graph in blocks: seconds and memory must grow with the work, not with its square."""
    table = Table(
        "graph", "edges", "top degree", "hops", "seconds", "edges/s", "output, MB", "memory above the graph, MB",
        title="One large graph, streamed in blocks of 16,384 edges",
    )  # fmt: skip
    results = {}
    for kind, hops in (("power-law", 1), ("6-regular", 2)):
        for size in sizes:
            _, output = in_new_process(LARGE, {}, kind, str(size), str(hops))
            seconds, numbers, before, after, edges, top = (float(word) for word in output.split())
            results[f"{kind} {size}"] = {"seconds": seconds, "extra_mb": after - before}
            table.add_row(
                kind, f"{edges:,.0f}", f"{top:.0f}", str(hops), f"{seconds:.2f}", f"{edges / seconds:,.0f}",
                f"{8 * numbers / 1e6:,.0f}", f"{after - before:,.0f}",
            )  # fmt: skip
    console.print(table)
    return {"large": results}


def main():
    """Run everything and record it."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", default=os.environ.get("ESCGNN_DATA"), help="folder of raw benchmark data")
    parser.add_argument("--quick", action="store_true", help="smaller samples, no record")
    parser.add_argument("--parts", action="store_true", help="only the table of parts, no record")
    options = parser.parse_args()
    count = 1000 if options.quick else 10000
    samples = molecules(options.data, count)
    figures = part_by_part(*next(iter(samples.items())))
    if options.parts:
        return
    samples |= counting_graphs(options.data, count // 2)
    figures |= first_call()
    figures |= throughput(samples) | beside_the_naive_twin(samples) | beside_the_limit(samples)
    figures |= beside_a_training_step(next(iter(samples.values())))
    figures |= large_graphs((10_000, 100_000) if options.quick else (10_000, 100_000, 1_000_000))
    if not options.quick:
        record("encoding", figures)


if __name__ == "__main__":
    main()
