"""BREC, exactly: how many of its 400 pairs each test tells apart, by category, and how long all 800 graphs take.

    ESCGNN_DATA=... python benchmarks/brec.py [words in the name of a test ...]
    ESCGNN_DATA=... python benchmarks/brec.py --networks [words in its name ...]

With `--networks` untrained networks of the zoo are asked; see `benchmarks/power.py`. Their control are the graphs of pairs that
they tell apart, with other numbers. Prints a Markdown table, seconds of a processor; with `--record` it is kept in
`history.jsonl`.
"""

import sys
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numba
import torch
from torch_geometric.data import Data

sys.path.insert(0, str(Path(__file__).parents[1]))
from benchmarks.measure import record
from benchmarks.power import Asked, pairs_apart_by_waves
from escgnn import datasets, wl
from escgnn.encoding import RootedEncoding
from escgnn.graphs import Graph, as_graph

DEFAULT = ("degree", "node", "joint", "edge")
FURTHER = ("resistance", "wedge", "triangle", "path", "walk", "cycle", "colour")
UNBOUNDED = 60  # no graph of BREC has a larger diameter


def tests() -> dict[str, wl.WLTest]:
    """The tests by name, weak ones first."""
    chosen: dict[str, wl.WLTest] = {"1-WL": wl.OneWL()}
    for hops in (1, 2, 3, (1, 2, 3, 4)):
        chosen[f"ESC-WL, default parts, h = {hops}"] = wl.ESCWL(RootedEncoding(hops))
    for part in FURTHER:
        for hops in (1, 2):
            encoding = RootedEncoding(hops, (*DEFAULT, part))
            chosen[f"ESC-WL, default and {part}, h = {hops}"] = wl.ESCWL(encoding)
    deep = RootedEncoding(UNBOUNDED, ("colour",), colour_rounds=12, colour_bins=4096)
    chosen["ESC-WL, colour, 12 rounds, 4096 bins, h unbounded"] = wl.ESCWL(deep)
    fine = RootedEncoding(1, ("resistance",), resistance_width=0.005)
    chosen["ESC-WL, resistance in bins of 0.005, h = 1"] = wl.ESCWL(fine)
    chosen["ESC-WL, this resistance and this colour together"] = wl.ESCWL(fine, deep)
    chosen["folklore 2-WL"] = wl.FolkloreWL(2)
    chosen["1-WL rooted at 2-tuples, h unbounded, then 1-WL"] = wl.RootedWL(2, 1, UNBOUNDED, messages=True)
    for depth in range(1, 7):
        chosen[str(wl.SearchWL(depth))] = wl.SearchWL(depth)
    return chosen


# As small as they may be: see `benchmarks/power.py`. The second network is asked about pairs that the first does not tell apart.
SMALL = {"hidden": 4, "heads": 2, "distance": 2, "kernels": 8, "walk_channels": 2, "max_rows": 1 << 26}
DEPTHS = (3, 12)
NODES_OF_FOUR = ("3-path", "4-star", "4-cycle", "tailed-triangle", "chordal-cycle", "4-clique")
NETWORKS: dict[str, tuple[str, dict[str, Any], int | None]] = {  # row of the zoo, settings, radius
    "gin": ("gin", {}, None),
    "ngnn, no labels, h = 1": ("ngnn", {"labels": "none"}, 1),
    "ngnn, no labels, h = 2": ("ngnn", {"labels": "none"}, 2),
    "ngnn, identity, h = 1": ("ngnn", {"labels": "identity"}, 1),
    "ngnn, identity, h = 2": ("ngnn", {"labels": "identity"}, 2),
    "ngnn, identity, h = 3": ("ngnn", {"labels": "identity"}, 3),
    "ngnn, identity, h unbounded": ("ngnn", {"labels": "identity"}, UNBOUNDED),
    "ngnn, distances, h unbounded": ("ngnn", {"labels": "hop"}, UNBOUNDED),
    "id-gnn, sum, h = 2": ("id-gnn", {}, 2),
    "id-gnn, sum, h unbounded": ("id-gnn", {}, UNBOUNDED),
    "gin-ak, inner = 2, without plus, h = 1": ("gin-ak", {"inner": 2, "plus": False}, 1),
    "gin-ak, inner = 2, without plus, h = 2": ("gin-ak", {"inner": 2, "plus": False}, 2),
    "gin-ak, inner = 2, h = 1": ("gin-ak", {"inner": 2}, 1),
    "gin-ak, inner = 2, h = 2": ("gin-ak", {"inner": 2}, 2),
    "gin-ak, inner = 2, h = 3": ("gin-ak", {"inner": 2}, 3),
    "gin-ak, inner = 2, h = 6": ("gin-ak", {"inner": 2}, 6),
    "dss-gnn, null": ("dss-gnn", {"policy": "null"}, None),
    "dss-gnn, EGO, h = 6": ("dss-gnn", {"policy": "EGO"}, 6),
    "dss-gnn, EGO+, h = 6": ("dss-gnn", {"policy": "EGO+"}, 6),
    "dss-gnn, NM": ("dss-gnn", {"policy": "NM"}, None),
    "dss-gnn, ND": ("dss-gnn", {"policy": "ND"}, None),
    "dss-gnn, ED": ("dss-gnn", {"policy": "ED"}, None),
    "sun, null": ("sun", {"policy": "null"}, None),
    "sun, EGO, h = 6": ("sun", {"policy": "EGO"}, 6),
    "sun, EGO+, h = 6": ("sun", {"policy": "EGO+"}, 6),
    "sun, NM": ("sun", {"policy": "NM"}, None),
    "i2-gnn, identity, h = 1": ("i2-gnn", {"labels": "identity"}, 1),
    "i2-gnn, identity, h = 2": ("i2-gnn", {"labels": "identity"}, 2),
    "i2-gnn, identity, h = 3": ("i2-gnn", {"labels": "identity"}, 3),
    "i2-gnn, distances, h = 8": ("i2-gnn", {"labels": "hop"}, 8),
    "i2-gnn, identity, h unbounded": ("i2-gnn", {"labels": "identity"}, UNBOUNDED),
    "ppgn": ("ppgn", {}, None),
    "gsn, graphs of four nodes, induced": ("gsn", {"patterns": NODES_OF_FOUR, "induced": True, "per": "edge"}, None),
    "gsn, cycles up to 6": ("gsn", {}, None),
    "graphormer-gd": ("graphormer-gd", {}, None),
    "graphormer-gd, steps": ("graphormer-gd", {"distances": ["steps"]}, None),
    "graphgps, 20 steps": ("graphgps", {}, None),
    "lgp-gnn, closed walks up to 6": ("lgp-gnn", {}, None),
    "lgp-gnn, closed walks up to 8": ("lgp-gnn", {"lengths": [3, 4, 5, 6, 7, 8]}, None),
    "cin, rings up to 4": ("cin", {"longest": 4}, None),
    "cin, rings up to 6": ("cin", {"longest": 6}, None),
    "1-gnn": ("1-gnn", {}, None),
    "1-2-3-gnn": ("1-2-3-gnn", {}, None),
    "3-gnn": ("3-gnn", {}, None),
}

Verdicts = Callable[[list[Graph]], tuple[list[bool | None], str]]  # of all pairs, and a remark


def ask(name: str, settings: dict[str, Any], hops: int | None, members: list[Graph]) -> tuple[list[bool | None], str]:
    """Which pairs untrained networks tell apart, and how many they are unsure of, as a copy with other numbers is another."""
    data = [Data(edge_index=torch.from_numpy(one.edge_index), num_nodes=one.num_nodes) for one in members]
    asked = [
        Asked(name, data, {**SMALL, "layers": depth, "set_layers": depth, **settings}, hops=hops) for depth in DEPTHS
    ]
    found = pairs_apart_by_waves(asked, data)
    return found, f"{found.count(None)} unsure"


def main() -> None:
    """Run the tests whose names have all the words given."""
    torch.set_num_threads(1)
    numba.set_num_threads(1)
    words = [word for word in sys.argv[1:] if not word.startswith("--")]
    bundle = datasets.load("brec")
    members = [as_graph(bundle.graphs[i]) for i in range(len(bundle.graphs))]
    rows: dict[str, Verdicts] = {}
    if "--networks" in sys.argv:
        for name, (network, settings, hops) in NETWORKS.items():
            rows[name] = lambda some, which=(network, settings, hops): ask(*which, some)
    else:
        for name, test in tests().items():
            rows[name] = lambda some, test=test: (compare(some, test), "")
    sizes = Counter(bundle.categories)
    print("| test | " + " | ".join(f"{name} ({size})" for name, size in sizes.items()) + " | all | seconds | |")
    print("| --- " * (len(sizes) + 4) + "|")
    figures = {}
    for name, verdicts in rows.items():
        if not all(word in name for word in words):
            continue
        verdicts(members[:2])  # compiles
        start = time.process_time()
        found, remark = verdicts(members)
        seconds = time.process_time() - start
        apart = Counter(category for category, is_apart in zip(bundle.categories, found, strict=True) if is_apart)
        row = [apart[category] for category in sizes]
        figures[name] = {"pairs": row, "all": sum(row), "seconds": round(seconds, 1), "remark": remark}
        print(f"| {name} | {' | '.join(map(str, row))} | {sum(row)} | {seconds:.1f} | {remark} |", flush=True)
    if "--record" in sys.argv:
        record("brec, networks" if "--networks" in sys.argv else "brec", figures)


def compare(members: list[Graph], test: wl.WLTest) -> list[bool | None]:
    """Which of graphs 2i and 2i + 1 a test tells apart."""
    return [wl.distinguishes(first, second, test) for first, second in zip(members[::2], members[1::2], strict=True)]


if __name__ == "__main__":
    main()
