"""How fast substructures are counted, beside igraph, orbit-count and networkx, and how the time grows.

    python benchmarks/counting.py [--data FOLDER] [--quick]

Each tool gets graphs in its own form, made beforehand; results are compared before times are. Ratios are taken within
one run, after the compiler has warmed up. Every run is appended to `history.jsonl`.
"""

import argparse
import os
import sys
import time
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import igraph
import networkx as nx
import numpy as np
import orbit_count
from networkx.algorithms.isomorphism import GraphMatcher
from rich.console import Console
from rich.table import Table

sys.path.insert(0, str(Path(__file__).parents[1]))
from benchmarks.measure import best_time, record
from benchmarks.samples import counting_graphs
from escgnn import graphs
from escgnn.counting import TARGETS, count, count_all, named

CYCLES = TARGETS[:4]
console = Console(width=110)


def with_igraph(graph: igraph.Graph) -> np.ndarray:
    """The nine targets by igraph: cycles and cliques listed, the rest by its LAD matcher, the faster of its two."""
    table = np.zeros((graph.vcount(), 9), np.int64)
    table[:, :4] = cycles_with_igraph(graph)
    for clique in graph.cliques(4, 4):
        table[list(clique), TARGETS.index("4-clique")] += 1
    for name in ("tailed-triangle", "chordal-cycle", "4-path", "triangle-rectangle"):
        pattern = igraph.Graph(named(name).edges)
        fixing_0 = 1 if name == "4-path" else 2
        found = np.array(graph.get_subisomorphisms_lad(pattern), np.int64).reshape(-1, pattern.vcount())
        table[:, TARGETS.index(name)] = np.bincount(found[:, 0], minlength=graph.vcount()) // fixing_0
    return table


def cycles_with_igraph(graph: igraph.Graph) -> np.ndarray:
    """Listed and counted per node: igraph has no count without a list."""
    table = np.zeros((graph.vcount(), 4), np.int64)
    for cycle in graph.simple_cycles(min=3, max=6):
        table[list(cycle), len(cycle) - 3] += 1
    return table


def with_networkx(graph: nx.Graph) -> np.ndarray:
    """The nine targets by networkx's matcher, each pattern once."""
    table = np.zeros((len(graph), 9), np.int64)
    for column, name in enumerate(TARGETS):
        pattern = named(name).to_networkx()
        fixing_0 = sum(image[0] == 0 for image in GraphMatcher(pattern, pattern).isomorphisms_iter())
        for image in GraphMatcher(graph, pattern).subgraph_monomorphisms_iter():
            table[next(node for node, position in image.items() if position == 0), column] += 1
        table[:, column] //= fixing_0
    return table


def cycles_with_networkx(graph: nx.Graph) -> np.ndarray:
    """Listed and counted per node."""
    table = np.zeros((len(graph), 4), np.int64)
    for cycle in nx.simple_cycles(graph, length_bound=6):
        table[cycle, len(cycle) - 3] += 1
    return table


def milliseconds(job: Callable[[Any], Any], some: list[Any]) -> float:
    """A graph, one after the other, once: nothing to warm up."""
    start = time.perf_counter()
    for graph in some:
        job(graph)
    return 1e3 * (time.perf_counter() - start) / len(some)


def beside_others(union: graphs.Graph, quick: bool) -> dict[str, Any]:
    """The same node counts by every tool; the slow ones on the first graphs only."""
    members = union.split()
    plain = [member.to_networkx() for member in members[:200]]
    drawn = [igraph.Graph(n=g.num_nodes, edges=g.edges.tolist()) for g in members[: 200 if quick else 1000]]
    sizes = np.array([member.num_nodes for member in members], int)
    edges = [member.edges for member in members]
    few = 2 if quick else 5

    truth = count_all(union)
    start = union.ptr
    orbits = np.concatenate(orbit_count._batched_motif_counts("node", 5, sizes, edges))
    np.testing.assert_array_equal(orbits[:, [3, 14]], truth[:, [0, 6]])  # the two whose copies are all induced
    for g in range(few):
        own = truth[start[g] : start[g + 1]]
        np.testing.assert_array_equal(with_igraph(drawn[g]), own)
        np.testing.assert_array_equal(with_networkx(plain[g]), own)
        np.testing.assert_array_equal(cycles_with_networkx(plain[g]), own[:, :4])

    def each(job: Callable[[], Any]) -> float:
        return 1e3 * best_time(job, 3 if quick else 7) / union.num_graphs

    def ours(threads: int) -> list[np.ndarray]:
        return [count(union, name, per="node", threads=threads) for name in CYCLES]

    rows = {
        "nine targets": {
            "escgnn, 1 thread": (each(lambda: count_all(union, threads=1)), union.num_graphs),
            "escgnn, 2 threads": (each(lambda: count_all(union, threads=2)), union.num_graphs),
            "igraph": (milliseconds(with_igraph, drawn), len(drawn)),
            "networkx": (milliseconds(with_networkx, plain[:few]), few),
        },
        "3- to 6-cycles": {
            "escgnn, 1 thread": (each(lambda: ours(1)), union.num_graphs),
            "escgnn, 2 threads": (each(lambda: ours(2)), union.num_graphs),
            "igraph": (milliseconds(cycles_with_igraph, drawn), len(drawn)),
            "networkx": (milliseconds(cycles_with_networkx, plain), len(plain)),
        },
        "induced orbits, up to 5 nodes": {
            "orbit-count": (
                each(lambda: orbit_count._batched_motif_counts("node", 5, sizes, edges)),
                union.num_graphs,
            ),
        },
    }
    table = Table("per node", "by", "graphs timed", "ms a graph", "times escgnn's", title=f"Beside others: {union!r}")
    for what, tools in rows.items():
        base = rows.get(what, {}).get("escgnn, 1 thread", rows["nine targets"]["escgnn, 1 thread"])[0]
        for tool, (each_ms, timed) in tools.items():
            table.add_row(what, tool, f"{timed:,}", f"{each_ms:.4f}", f"{each_ms / base:,.1f}")
    console.print(table)
    console.print(
        "All times are of this run, on this machine, without reading the graphs. orbit-count finds no 6-cycles and "
        "leaves induced counts to be combined; its row stands beside escgnn's nine targets."
    )
    return {what: {tool: ms for tool, (ms, _) in tools.items()} for what, tools in rows.items()}


def growth(sizes: list[int]) -> dict[str, Any]:
    """One graph, or many, of twice the size: seconds should double where the neighbourhoods stay the same."""
    families: dict[str, Callable[[int], graphs.Graph]] = {
        "6-regular": lambda edges: graphs.random_regular(edges // 3, 6),
        "power law": lambda edges: graphs.barabasi_albert(edges // 3 + 3, 3),
        "star": lambda edges: graphs.star(edges),
        "benchmark's": lambda edges: graphs.counting_random(edges // 31),
    }
    table = Table("graph", "edges", "top degree", "ms", "times the one before", title="Nine targets, one thread")
    results: dict[str, Any] = {}
    for name, make in families.items():
        times = []
        for size in sizes:
            graph = make(size)
            times.append(1e3 * best_time(lambda graph=graph: count_all(graph, threads=1), 3))
            ratio = f"{times[-1] / times[-2]:.2f}" if times[1:] else ""
            table.add_row(name, f"{graph.num_edges:,}", str(graph.degrees.max()), f"{times[-1]:.1f}", ratio)
        results[name] = {"ms": times, "ratios": [after / before for before, after in pairwise(times)]}
    console.print(table)
    return results


def main() -> None:
    """Print every table and keep the figures."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", default=os.environ.get("ESCGNN_DATA"), help="folder of raw benchmark data")
    parser.add_argument("--quick", action="store_true", help="fewer graphs and repeats")
    options = parser.parse_args()
    ((name, union),) = counting_graphs(options.data, 500 if options.quick else 5000).items()
    sizes = [2000, 4000] if options.quick else [8000, 16000, 32000, 64000]
    console.print(f"Graphs: {name}, from {options.data or 'the generator'}; {os.cpu_count()} cores")
    record("counting", {"graphs": name, "ms_a_graph": beside_others(union, options.quick), "growth": growth(sizes)})


if __name__ == "__main__":
    main()
