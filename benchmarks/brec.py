"""BREC, exactly: how many of its 400 pairs each test tells apart, by category, and how long all 800 graphs take.

    ESCGNN_DATA=... python benchmarks/brec.py [words in the name of a test ...]

Prints a Markdown table; with `--record` it is kept in `history.jsonl`.
"""

import sys
import time
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))
from benchmarks.measure import record
from escgnn import datasets, wl
from escgnn.encoding import RootedEncoding
from escgnn.graphs import as_graph

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


def main() -> None:
    """Run the tests whose names have all the words given."""
    words = [word for word in sys.argv[1:] if word != "--record"]
    bundle = datasets.load("brec")
    members = [as_graph(bundle.graphs[i]) for i in range(len(bundle.graphs))]
    sizes = Counter(bundle.categories)
    print("| test | " + " | ".join(f"{name} ({size})" for name, size in sizes.items()) + " | all | seconds |")
    print("| --- " * (len(sizes) + 3) + "|")
    figures = {}
    for name, test in tests().items():
        if not all(word in name for word in words):
            continue
        wl.distinguishes(members[0], members[1], test)  # compiles
        start = time.perf_counter()
        apart: Counter[str] = Counter()
        for (first, second), category in zip(bundle.pairs.tolist(), bundle.categories, strict=True):
            apart[category] += wl.distinguishes(members[first], members[second], test)
        seconds = time.perf_counter() - start
        row = [apart[category] for category in sizes]
        figures[name] = {"pairs": row, "all": sum(row), "seconds": round(seconds, 1)}
        print(f"| {name} | {' | '.join(map(str, row))} | {sum(row)} | {seconds:.1f} |", flush=True)
    if "--record" in sys.argv:
        record("brec", figures)


if __name__ == "__main__":
    main()
