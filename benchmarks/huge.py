"""One huge graph: what its file, its encoding and batches of it cost, from 10^5 to 10^7 edges, and what 10^8 would.

    python benchmarks/huge.py [--quick | --build EDGES]

Edges are those of planted groups, numbered at random, in a Parquet file. Building and encoding (h = 1, the paper's parts) run in
a process each. Memory is what that process has of its own at the peak (RssAnon) above what it has before it begins: pages of
mapped files are the system's to take back. Seconds are those of the processor, all threads together, so that they say something
on a busy machine, too. Hubs: a power-law graph with and without `max_nodes`. A graph of 10^8 edges is built, but not encoded:
that is worked out. Seconds grow on by the factor of the last step, memory by its bytes an edge, the file is as large for each
edge. Every run is appended to `history.jsonl`.
"""

import argparse
import json
import os
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pyarrow as pa
from rich.console import Console
from rich.table import Table

sys.path.insert(0, str(Path(__file__).parents[1]))
from benchmarks.measure import in_new_process, record
from escgnn import graphs
from escgnn.disk import TableWriter
from escgnn.encoding import RootedEncoding
from escgnn.huge import NeighbourLoader, PlantedGroups, RowStore, encode_graph, open_graph, sample

console = Console(width=130)
EDGES_OF_A_GROUP = 36
SCHEMA = pa.schema({"source": pa.int64(), "target": pa.int64()})
MEASURED = """
import json, re, sys, threading, time

def own():
    return int(re.search(r"RssAnon:\\s+(\\d+)", open("/proc/self/status").read())[1]) * 1024

def measured(job):
    over = threading.Event()
    peak = [own()]
    before = peak[0]
    def watch():
        while not over.wait(0.02):
            peak[0] = max(peak[0], own())
    threading.Thread(target=watch, daemon=True).start()
    begin = time.perf_counter()
    cpu = time.process_time()
    job()
    seconds = time.perf_counter() - begin
    cpu = time.process_time() - cpu
    over.set()
    print(json.dumps({"seconds": seconds, "cpu": cpu, "own_bytes": peak[0] - before, "all_bytes": peak[0]}))
"""
BUILD = (
    MEASURED
    + """
from pathlib import Path
from escgnn.huge import build_graph
folder = Path(sys.argv[1])
(folder / "few.csv").write_text("source,target\\n0,1\\n")
build_graph(folder / "few.csv", folder / "few.escg")  # compiles
measured(lambda: build_graph(folder / "edges.parquet", folder / "graph.escg"))
"""
)
ENCODE = (
    MEASURED
    + """
from pathlib import Path
from escgnn import graphs
from escgnn.encoding import RootedEncoding
from escgnn.huge import encode_graph, open_graph
folder = Path(sys.argv[1])
encode_graph(graphs.cycle(4), RootedEncoding(1), folder / "few.escr")  # compiles
graph = open_graph(folder / "graph.escg")
measured(lambda: encode_graph(graph, RootedEncoding(1), folder / "graph.escr"))
"""
)


def processor_time(job, repeats=3):
    """Seconds of the processor that the best of some runs takes, after one that warms up."""
    job()
    seconds = []
    for _ in range(repeats):
        begin = time.process_time()
        job()
        seconds.append(time.process_time() - begin)
    return min(seconds)


def write_edges(folder, edges):
    """An edge list of about so many edges; returns the seconds it took."""
    begin = time.process_time()
    with TableWriter(folder / "edges.parquet", SCHEMA) as table:
        for pairs in PlantedGroups(edges // EDGES_OF_A_GROUP).edges():
            table.write(pa.table([pairs[:, 0], pairs[:, 1]], schema=SCHEMA))
    return time.process_time() - begin


def stage(code, folder):
    """What a process that does one step says of itself."""
    _, printed = in_new_process(code, {"PYTHONPATH": str(Path(__file__).parents[1])}, str(folder))
    return json.loads(printed)


def measure_building(folder, edges):
    """Figures of the file of a graph of about so many edges, and the graph."""
    folder.mkdir()
    generated = write_edges(folder, edges)
    built = stage(BUILD, folder)
    graph = open_graph(folder / "graph.escg")
    figures = {
        "nodes": graph.num_nodes,
        "edges": graph.num_edges,
        "list_bytes": (folder / "edges.parquet").stat().st_size,
        "generating_seconds": generated,
        "graph_bytes": (folder / "graph.escg").stat().st_size,
        "build": built,
    }
    return figures, graph


def measure_size(folder, edges):
    """All figures of a graph of about so many edges."""
    figures, graph = measure_building(folder, edges)
    encoded = stage(ENCODE, folder)
    rows = RowStore(folder / "graph.escr")
    rng = np.random.default_rng(0)
    ids = rng.integers(2 * graph.num_edges, size=100_000)
    nodes = rng.permutation(graph.num_nodes)[:1024]
    loader = NeighbourLoader(graph, nodes, [10, 10], rows=rows, batch_size=1024)
    part = sample(graph, nodes, [10, 10])
    figures |= {
        "rows_bytes": rows.nbytes,
        "encode": encoded,
        "take_seconds_per_row": processor_time(lambda: rows.take(ids)) / ids.size,
        "sample_edges": part.e_id.size,
        "sample_seconds": processor_time(lambda: sample(graph, nodes, [10, 10])),
        "batch_seconds": processor_time(lambda: next(iter(loader))),
    }
    for path in folder.iterdir():
        path.unlink()
    return figures


def with_encoding(built, before, last):
    """The figures of a graph that is built only, with what encoding it would take, from the two largest that are encoded."""
    edges = built["edges"]
    steps = np.log(edges / last["edges"]) / np.log(last["edges"] / before["edges"])
    slope = (last["encode"]["own_bytes"] - before["encode"]["own_bytes"]) / (last["edges"] - before["edges"])
    encode = {
        "cpu": last["encode"]["cpu"] * (last["encode"]["cpu"] / before["encode"]["cpu"]) ** steps,
        "own_bytes": last["encode"]["own_bytes"] + slope * (edges - last["edges"]),
    }
    return {**built, "encode": encode, "rows_bytes": last["rows_bytes"] / last["edges"] * edges}


def show(sizes):
    """The growth curve as a table."""
    table = Table(
        "edges",
        "build, s",
        "MB of its own",
        "graph, B an edge",
        "encode, s",
        "us an edge",
        "MB of its own",
        "rows, B an edge",
        "take, us a row",
        "batch of 1024, ms",
    )
    for figures in sizes:
        edges = figures["edges"]
        measured = "take_seconds_per_row" in figures
        table.add_row(
            f"{edges:,}" if measured else f"{edges:,} (encoding worked out)",
            f"{figures['build']['cpu']:,.1f}",
            f"{figures['build']['own_bytes'] / 1e6:,.0f}",
            f"{figures['graph_bytes'] / edges:.1f}",
            f"{figures['encode']['cpu']:,.1f}",
            f"{figures['encode']['cpu'] / edges * 1e6:.2f}",
            f"{figures['encode']['own_bytes'] / 1e6:,.0f}",
            f"{figures['rows_bytes'] / edges:.1f}",
            f"{figures['take_seconds_per_row'] * 1e6:.2f}" if measured else "",
            f"{figures['batch_seconds'] * 1e3:.0f}" if measured else "",
        )
    console.print(table)


def hubs(folder, counts, limits):
    """Seconds an edge of a power-law graph by the largest subgraph allowed, both directions together."""
    table = Table("edges", "highest degree", *(f"max_nodes {limit or 'none'}, us an edge" for limit in limits))
    figures = {}
    for count in counts:
        graph = graphs.LeanGraph(graphs.barabasi_albert(count // 3 + 3, 3).csr)
        seconds = {}
        for limit in limits:
            encoding = RootedEncoding(1, max_nodes=limit)
            encode_graph(graphs.cycle(4), encoding, folder / "few.escr")  # compiles
            begin = time.process_time()
            encode_graph(graph, encoding, folder / "hubs.escr")
            seconds[str(limit)] = (time.process_time() - begin) / graph.num_edges
        figures[graph.num_edges] = {"max_degree": graph.max_degree, "seconds_per_edge": seconds}
        shown = (f"{seconds[str(limit)] * 1e6:.1f}" for limit in limits)
        table.add_row(f"{graph.num_edges:,}", f"{graph.max_degree:,}", *shown)
    console.print(table)
    return figures


def main():
    """Run everything and record it."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="small graphs, no record")
    parser.add_argument("--folder", help="where to put files, some 100 bytes for each edge")
    parser.add_argument("--build", type=int, help="only build a graph of so many edges, and record that")
    options = parser.parse_args()
    if options.build:
        with TemporaryDirectory(dir=options.folder) as place:
            built, _ = measure_building(Path(place) / "graph", options.build)
        console.print(built)
        record("huge", {"sizes": [built], "load": os.getloadavg()})
        return
    *counts, largest = (10**4, 10**5, 10**6) if options.quick else (10**5, 10**6, 10**7, 10**8)
    with TemporaryDirectory(dir=options.folder) as place:
        folder = Path(place)
        sizes = [measure_size(folder / str(count), count) for count in counts]
        built, _ = measure_building(folder / str(largest), largest)
        sizes.append(with_encoding(built, *sizes[-2:]))
        show(sizes)
        figures = {"sizes": sizes, "hubs": hubs(folder, counts[:2], (None, 1000, 100))}
    figures["load"] = os.getloadavg()
    if not options.quick:
        record("huge", figures)


if __name__ == "__main__":
    main()
