"""What more processes bring, memory against rows, what an engine costs, and what very many molecules would take.

    python benchmarks/scale.py [--data FOLDER] [--quick]

Molecules are ZINC's, as often as it takes, cut into files of equal size; every process has one thread. A row of `encode` and
`predict` is one of the input, from SMILES to a written table. The clock tells the truth only where nothing else runs, so that
there is processor time, too: of a row, and of what comes once for every worker, such as loading torch, which no other worker
shortens. From these follows what a second core brings if it is idle, and from how many rows on that is 1.8. The last table is
worked out from these rates, not run. Tables are written to `docs/scaling.md`, and every run is appended to `history.jsonl`.
Takes ten minutes on two idle cores.
"""

import argparse
import json
import os
import re
import resource
import statistics
import sys
import time
from importlib.util import find_spec
from itertools import cycle, islice
from operator import itemgetter
from pathlib import Path
from tempfile import TemporaryDirectory

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

# Workers load this file, too, so whatever a worker should not load is imported where it is used.

HOUR = 3600.0
MOLECULES = 1e9
EDGES = 1e8
ROUNDS = {"encode": 4, "predict": 2}  # of which the fastest counts, as other work on the machine only ever slows
PAGE = ROOT / "docs" / "scaling.md"
BEGIN = "<!-- measured -->"
END = "<!-- /measured -->"
THREADS = ("OMP_NUM_THREADS", "NUMBA_NUM_THREADS")
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
    return [str(folder)]


def trained_run(folder, texts):
    """A small network; what its weights are does not matter."""
    from escgnn import training
    from escgnn.datasets import load

    table = folder / "train.csv"
    table.write_text("smiles,y\n" + "".join(f"{text},{len(text)}\n" for text in texts[:60]))
    bundle = load(table, targets=["y"])
    config = training.read_config(None, ["epochs=1", "network.hidden=64"], bundle=bundle)
    training.fit(bundle, config, folder / "run", progress=False)
    return training.load_run(folder / "run")


def jobs(run=None):
    """What is measured, by name: functions of inputs, folder and engine."""
    from escgnn import training
    from escgnn.encoding import RootedEncoding
    from escgnn.jobs import Encode
    from escgnn.shards import run_shards

    def encode(inputs, out, **options):
        run_shards(Encode(RootedEncoding(2)), inputs, out, **options)

    def predict(inputs, out, **options):
        training.predict_files(run, inputs, out, **options)

    return {"encode": encode, "predict": predict} if run is not None else {"encode": encode}


def processor_time(who):
    """Seconds of this process, or of its children that have ended."""
    used = resource.getrusage(who)
    return used.ru_utime + used.ru_stime


def measured(job, inputs, out, workers):
    """One job with so many processes: seconds and processor time, of rows, of a worker's start and of this process."""
    from escgnn.engines import LocalEngine

    begin = time.perf_counter()
    children = processor_time(resource.RUSAGE_CHILDREN)
    own = processor_time(resource.RUSAGE_SELF)
    job(inputs, str(out), engine=LocalEngine(workers))
    children = processor_time(resource.RUSAGE_CHILDREN) - children
    done = [json.loads(path.read_text()) for path in out.glob("*.done.json")]
    rows = sum(shard["graphs"] for shard in done)
    a_row = statistics.median(shard["cpu_seconds"] / shard["graphs"] for shard in done)  # the first ones load, too
    return {
        "rows": rows,
        "seconds": time.perf_counter() - begin,
        "cpu_a_row": a_row,
        "cpu_of_a_start": max(0.0, children - rows * a_row) / workers,
        "cpu_of_the_parent": processor_time(resource.RUSAGE_SELF) - own,
        "bytes_a_row": sum(path.stat().st_size for path in out.glob("*.parquet")) / rows,
    }


def by_processes(folder, texts, files, rows, is_quick):
    """Encode and predict with one process, and with as many as there are cores, taking turns; the fastest of some rounds."""
    inputs = write_shards(folder / "in", texts, files, rows)
    run = trained_run(folder, texts)
    counts = sorted({1, 2, os.cpu_count() or 1})
    warm_up = write_shards(folder / "warm-up", texts, 1, 10)
    found = {}
    for name, job in jobs(run).items():
        job(warm_up, str(folder / f"{name}-warm-up"))  # compiles, if nobody has
        runs = {count: [] for count in counts}
        for turn in range(1 if is_quick else ROUNDS[name]):
            for count in counts:
                runs[count].append(measured(job, inputs, folder / f"{name}-{count}-{turn}", count))
        found[name] = {count: min(ones, key=itemgetter("seconds")) for count, ones in runs.items()}
        one = found[name][1]
        for count, figures in found[name].items():
            alone = one["cpu_of_a_start"] + one["cpu_of_the_parent"] + one["rows"] * one["cpu_a_row"]
            once = figures["cpu_of_a_start"] + figures["cpu_of_the_parent"]
            figures["speed_up"] = one["seconds"] / figures["seconds"]
            figures["speed_up_by_cpu"] = alone / (once + figures["rows"] * figures["cpu_a_row"] / count)
            figures["rows_for_most"] = rows_for(0.9 * count, one, figures, count)
    return found


def rows_for(speed_up, one, several, count):
    """From how many rows on several processes are so many times as fast as one, each with a core of its own."""
    once = several["cpu_of_a_start"] + several["cpu_of_the_parent"]
    before = one["cpu_of_a_start"] + one["cpu_of_the_parent"]
    gain = one["cpu_a_row"] - speed_up * several["cpu_a_row"] / count  # of a row
    return max(0.0, speed_up * once - before) / gain if gain > 0 else None


def memory(folder, texts, files, rows):
    """MB of the largest worker, at its peak so far, by the rows that all of them have done."""
    from escgnn.engines import LocalEngine

    inputs = write_shards(folder / "many", texts, files, rows)
    peaks = {}

    def look(read, total, words):
        done = int(words.split(" of ")[0].replace(",", ""))
        if done:
            peaks[done * rows] = max(map(peak_of, children()), default=0.0)

    jobs()["encode"](inputs, str(folder / "encoded"), engine=LocalEngine(2), progress=look)
    return {count: peak for count, peak in peaks.items() if peak}


def children():
    """Processes that this one has started."""
    return Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()


def peak_of(process):
    """MB of a process at its peak."""
    found = re.search(r"VmHWM:\s+(\d+)", Path(f"/proc/{process}/status").read_text())
    return int(found[1]) / 1024 if found else 0.0


def empty_jobs(items):
    """Seconds of each engine for one item that is nothing, and for each further one, where nothing else is loaded."""
    from benchmarks.measure import in_new_process
    from escgnn.engines import ENGINES

    costs = {}
    for name in ENGINES:
        if find_spec(name) is None and name != "local":
            costs[name] = None
            continue
        one, many = (
            float(in_new_process(EMPTY, {"PYTHONPATH": str(ROOT)}, name, str(count))[1]) for count in (1, items)
        )
        costs[name] = {"start": one, "item": max(0.0, many - one) / (items - 1)}
    return costs


def edges_of_a_large_graph(folder, count):
    """Processor seconds and bytes on disk of an edge, both directions, of a graph with hubs, at one hop."""
    from escgnn import graphs
    from escgnn.encoding import RootedEncoding
    from escgnn.huge import encode_graph

    encoding = RootedEncoding(1, max_nodes=1000)
    rows = folder / "graph.escr"
    encode_graph(graphs.barabasi_albert(1000, 3), encoding, rows)  # compiles, if nobody has
    graph = graphs.barabasi_albert(count // 3 + 3, 3)
    begin = time.process_time()
    encode_graph(graph, encoding, rows)
    seconds = time.process_time() - begin
    return {
        "edges": graph.num_edges,
        "seconds": seconds / graph.num_edges,
        "bytes": rows.stat().st_size / graph.num_edges,
    }


def bill(figures):
    """Core-hours and gigabytes of very much, from the rates of this run."""
    costs = {}
    for name, counts in figures["processes"].items():
        one = counts[1]
        costs[f"{name} 10^9 molecules"] = {
            "core_hours": MOLECULES * one["cpu_a_row"] / HOUR,
            "gigabytes": MOLECULES * one["bytes_a_row"] / 1e9,
        }
    graph = figures["large_graph"]
    costs["encode 10^8 edges of one graph, h = 1"] = {
        "core_hours": EDGES * graph["seconds"] / HOUR,
        "gigabytes": EDGES * graph["bytes"] / 1e9,
    }
    return costs


def tables(figures):
    """The tables, each as its title, its columns and its rows."""
    some = next(iter(figures["processes"].values()))[1]["rows"]
    rows = [
        [
            name,
            str(count),
            f"{one['rows'] / one['seconds']:,.0f}",
            f"{one['speed_up']:.2f}",
            f"{one['cpu_a_row'] * 1e6:.0f}",
            f"{one['cpu_of_a_start'] + one['cpu_of_the_parent']:.1f}",
            f"{one['speed_up_by_cpu']:.2f}",
            "" if count == 1 else told_rows(one["rows_for_most"]),
        ]
        for name, counts in figures["processes"].items()
        for count, one in counts.items()
    ]
    columns = [
        "",
        "processes",
        "rows/s",
        "times one",
        "CPU us a row",
        "CPU s once",
        "times one by CPU",
        "90 % from rows",
    ]
    yield f"{some:,} molecules; one thread a process", columns, rows
    peaks = figures["memory_mb"]
    wanted = sorted(peaks)
    shown = [count for count in wanted if count == wanted[-1] or count in thinned(wanted)]
    rows = [[f"{count:,}", f"{peaks[count]:.0f}"] for count in shown]
    yield "Memory of `encode`, the larger of two workers", ["rows done", "MB at the peak so far"], rows
    rows = [
        [name, "not installed", ""] if one is None else [name, f"{one['start']:.2f}", f"{one['item'] * 1e3:.2f}"]
        for name, one in figures["engines"].items()
    ]
    yield "Jobs that do nothing, two workers", ["engine", "start and end, s", "ms a further item"], rows
    rows = [[name, f"{cost['core_hours']:,.1f}", f"{cost['gigabytes']:,.0f}"] for name, cost in figures["bill"].items()]
    yield "Worked out from these rates", ["", "core-hours", "GB written"], rows


def told_rows(rows):
    """A number of rows, with two digits that mean something."""
    return "never" if rows is None else f"{float(f'{rows:.1e}'):,.0f}"


def thinned(counts):
    """The first of every doubling."""
    shown = counts[:1]
    for count in counts:
        if count >= 2 * shown[-1]:
            shown.append(count)
    return shown


def show(figures):
    """Print the tables."""
    from rich.console import Console
    from rich.table import Table

    console = Console(width=120)
    for title, columns, rows in tables(figures):
        table = Table(*columns, title=title)
        for row in rows:
            table.add_row(*row)
        console.print(table)


def write_page(figures):
    """Put the tables into the docs, in place of the last ones."""
    lines = [BEGIN, "", f"Measured on {os.cpu_count()} cores, molecules of {figures['molecules']}:", ""]
    for title, columns, rows in tables(figures):
        lines += [f"{title}:", "", f"| {' | '.join(columns)} |", f"| --- |{' ---: |' * (len(columns) - 1)}"]
        lines += [f"| {' | '.join(row)} |" for row in rows]
        lines.append("")
    text = PAGE.read_text()
    before, _, others = text.partition(BEGIN)
    _, _, after = others.partition(END)
    PAGE.write_text(before + "\n".join([*lines, END]) + after)


def main():
    """Run everything and record it."""
    os.environ.update(dict.fromkeys(THREADS, "1"))  # before anything is loaded, here and in all workers
    from benchmarks.measure import record
    from benchmarks.reading import smiles_of

    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", default=os.environ.get("ESCGNN_DATA"), help="folder of raw benchmark data")
    parser.add_argument("--quick", action="store_true", help="few molecules, neither a page nor a record")
    options = parser.parse_args()
    name, texts = smiles_of(options.data, 10000)
    files, rows = (4, 500) if options.quick else (12, 20_000)
    many, of_each = (4, 500) if options.quick else (40, 25_000)
    with TemporaryDirectory() as place:
        folder = Path(place)
        figures = {
            "molecules": name,
            "processes": by_processes(folder, texts, files, rows, options.quick),
            "memory_mb": memory(folder, texts, many, of_each),
            "engines": empty_jobs(10 if options.quick else 200),
            "large_graph": edges_of_a_large_graph(folder, 3000 if options.quick else 3_000_000),
        }
    figures["bill"] = bill(figures)
    show(figures)
    if not options.quick:
        write_page(figures)
        record("scale", figures)


if __name__ == "__main__":
    main()
