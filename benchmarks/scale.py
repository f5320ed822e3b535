"""Rows a second by number of processes, memory against rows, what an engine costs, and what very many molecules would take.

    python benchmarks/scale.py [--data FOLDER] [--quick]

Molecules are ZINC's, as often as it takes, cut into files of equal size. A row a second of `encode` and `predict` is one of the
input, from SMILES to a written table, from when the first file is begun to when the last is done. Memory is that of a process of
its own at its peak. The last table is worked out from these rates, not run. Every run is appended to `history.jsonl`.
"""

import argparse
import os
import sys
import time
from importlib.util import find_spec
from itertools import cycle, islice
from pathlib import Path
from tempfile import TemporaryDirectory

from rich.console import Console
from rich.table import Table

sys.path.insert(0, str(Path(__file__).parents[1]))
from benchmarks.measure import in_new_process, record
from benchmarks.reading import smiles_of
from escgnn import graphs, training
from escgnn.datasets import load
from escgnn.encoding import RootedEncoding
from escgnn.engines import ENGINES
from escgnn.jobs import Encode
from escgnn.shards import read_status, run_shards

console = Console(width=110)
HOUR = 3600.0
MOLECULES = 1e9
EDGES = 1e8
ENCODE = """
import re, sys
from escgnn.encoding import RootedEncoding
from escgnn.jobs import encode_file
encode_file(sys.argv[1], sys.argv[2], RootedEncoding(2))
print(int(re.search(r"VmHWM:\\s+(\\d+)", open("/proc/self/status").read())[1]) / 1024)
"""
EMPTY = """
import sys, time
from escgnn.engines import ENGINES
begin = time.perf_counter()
assert len([*ENGINES[sys.argv[1]](2).map(range, [1] * int(sys.argv[2]))]) == int(sys.argv[2])
print(time.perf_counter() - begin)
"""


def write_shards(folder, texts, files, rows):
    """Files of so many molecules each."""
    folder.mkdir()
    source = cycle(texts)
    for number in range(files):
        (folder / f"{number:03d}.smi").write_text("\n".join(islice(source, rows)) + "\n")


def trained_run(folder, texts):
    """A small network; what its weights are does not matter."""
    table = folder / "train.csv"
    table.write_text("smiles,y\n" + "".join(f"{text},{len(text)}\n" for text in texts[:60]))
    bundle = load(table, targets=["y"])
    config = training.read_config(None, ["epochs=1", "network.hidden=64"], bundle=bundle)
    training.fit(bundle, config, folder / "run", progress=False)
    return training.load_run(folder / "run")


def by_processes(folder, texts, files, rows):
    """Rows a second of encode and predict with 1, 2, 4 ... processes, up to the cores there are."""
    write_shards(folder / "in", texts, files, rows)
    inputs = [str(folder / "in")]
    run = trained_run(folder, texts)
    jobs = {
        "encode": lambda out, engine: run_shards(Encode(RootedEncoding(2)), inputs, out, engine=engine),
        "predict": lambda out, engine: training.predict_files(run, inputs, out, engine=engine),
    }
    counts = [count for count in (1, 2, 4, 8, 16, 32, 64) if count <= (os.cpu_count() or 1)]
    table = Table(
        "processes", *(f"{name}, rows/s" for name in jobs), title=f"{files * rows:,} molecules in {files} files"
    )
    rates = {name: {} for name in jobs}
    sizes = {}
    for count in counts:
        for name, job in jobs.items():
            out = folder / f"{name}-{count}"
            job(str(out), ENGINES["local"](count))
            rates[name][count] = read_status(str(out)).rate
            sizes[name] = sum(path.stat().st_size for path in out.glob("*.parquet")) / (files * rows)
        table.add_row(str(count), *(f"{rates[name][count]:,.0f}" for name in jobs))
    console.print(table)
    return {"rows_per_second": rates, "bytes_per_row": sizes}


def memory(folder, texts, counts):
    """MB at the peak of a process that encodes so many rows."""
    table = Table("rows", "MB at the peak", title="encode in one process")
    peaks = {}
    for count in counts:
        source = folder / "memory.smi"
        with source.open("w") as file:
            file.writelines(f"{text}\n" for text in islice(cycle(texts), count))
        _, printed = in_new_process(
            ENCODE, {"PYTHONPATH": str(Path(__file__).parents[1])}, str(source), str(folder / "m.parquet")
        )
        peaks[count] = float(printed)
        table.add_row(f"{count:,}", f"{peaks[count]:.0f}")
    console.print(table)
    return peaks


def empty_jobs(items):
    """Seconds of each engine for one item that is nothing, and for each further one, where nothing else is loaded."""
    table = Table("engine", "start and end, s", "ms a further item", title="Jobs that do nothing, two workers")
    costs = {}
    here = {"PYTHONPATH": str(Path(__file__).parents[1])}
    for name in ENGINES:
        if find_spec(name) is None and name != "local":
            table.add_row(name, "not installed", "")
            continue
        one, many = (float(in_new_process(EMPTY, here, name, str(count))[1]) for count in (1, items))
        costs[name] = {"start": one, "item": max(0.0, many - one) / (items - 1)}
        table.add_row(name, f"{one:.2f}", f"{costs[name]['item'] * 1e3:.2f}")
    console.print(table)
    return costs


def edges_of_a_large_graph(count):
    """Processor seconds and non-zero bins of an edge, both directions, of a graph with hubs, at one hop."""
    graph = graphs.barabasi_albert(count // 3 + 3, 3)
    encoding = RootedEncoding(1)
    entries = sum(len(rows.bin) for _, rows in encoding.blocks(graph, 1 << 14))
    begin = time.process_time()  # of all threads
    for _ in encoding.blocks(graph, 1 << 14):
        pass
    seconds = time.process_time() - begin
    return {"edges": graph.num_edges, "seconds": seconds / graph.num_edges, "bins": entries / graph.num_edges}


def bill(figures):
    """What very much would cost, from the rates of this run."""
    table = Table("", "core-hours", "GB written", title="Worked out from the rates above")
    costs = {}
    for name, rates in figures["processes"]["rows_per_second"].items():
        hours = MOLECULES / rates[1] / HOUR
        size = MOLECULES * figures["processes"]["bytes_per_row"][name] / 1e9
        costs[f"{name} 10^9 molecules"] = {"core_hours": hours, "gigabytes": size}
    graph = figures["large_graph"]
    costs["encode 10^8 edges, h = 1"] = {
        "core_hours": EDGES * graph["seconds"] / HOUR,
        "gigabytes": EDGES * graph["bins"] * 8 / 1e9,  # a bin and a count of 4 bytes each, not compressed
    }
    for name, cost in costs.items():
        table.add_row(name, f"{cost['core_hours']:,.1f}", f"{cost['gigabytes']:,.0f}")
    console.print(table)
    return costs


def main():
    """Run everything and record it."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", default=os.environ.get("ESCGNN_DATA"), help="folder of raw benchmark data")
    parser.add_argument("--quick", action="store_true", help="few molecules, no record")
    options = parser.parse_args()
    name, texts = smiles_of(options.data, 10000)
    files, rows = (4, 500) if options.quick else (16, 10000)
    counts = (1000, 4000) if options.quick else (10**4, 10**5, 10**6)
    with TemporaryDirectory() as place:
        folder = Path(place)
        figures = {
            "molecules": name,
            "processes": by_processes(folder, texts, files, rows),
            "memory_mb": memory(folder, texts, counts),
            "engines": empty_jobs(10 if options.quick else 200),
            "large_graph": edges_of_a_large_graph(3000 if options.quick else 300_000),
        }
    figures["bill"] = bill(figures)
    if not options.quick:
        record("scale", figures)


if __name__ == "__main__":
    main()
