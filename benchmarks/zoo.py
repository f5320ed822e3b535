"""What every network of the zoo takes, at equal width and depth, and what it tells apart.

    python benchmarks/zoo.py [--data FOLDER] [--quick] [--only gin,ngnn]
    python benchmarks/zoo.py --power [--only gin,ngnn]

Processor time of one thread. Networks take turns, batch by batch, so that a busy machine slows all of them alike; each batch
counts with its best round. Memory is that of a process of its own. A row that is added to the zoo is measured without a change
here. Every run is appended to `history.jsonl`.
"""

import argparse
import ctypes
import json
import os
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numba
import numpy as np
import torch
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table
from torch_geometric.data import Data

sys.path.insert(0, str(Path(__file__).parents[1]))
from benchmarks.measure import in_new_process, record
from benchmarks.power import Asked, are_apart, as_data, classes, outputs, pairs_apart, renumbered, settings_of
from escgnn import datasets, graphs
from escgnn.bags import BagTooLargeError
from escgnn.datasets import Feature
from escgnn.store import GraphStore
from escgnn.task import Task
from escgnn.zoo import ZOO

EQUAL = {"hidden": 64, "layers": 4, "hops": 3}
BATCH = 128
TASK = Task("graph", "regression", "mae", "min", ("y",))
DATASETS = ("zinc-12k", "ogbg-molhiv")
# Beside the defaults, what else to ask for in the table of power. A row that is not here is there once.
VARIANTS: dict[str, tuple[dict[str, Any], ...]] = {
    "id-gnn": ({}, {"mark": "receiver"}),
    "ngnn": ({}, {"labels": "identity"}, {"labels": "none"}),
    "gin-ak": ({"inner": 2}, {"inner": 2, "plus": False}),
    "i2-gnn": ({"labels": "identity"}, {}, {"context": True}),
    "dss-gnn": tuple({"policy": policy} for policy in ("null", "NM", "ND", "ED", "EGO", "EGO+")),
    "sun": tuple({"policy": policy} for policy in ("null", "NM", "EGO", "EGO+")),
    "gsn": ({}, {"induced": True}),
    "graphormer-gd": ({"readout": "sum"}, {"readout": "sum", "distances": ["steps"]}),
    "graphgps": ({}, {"walks": 16, "local": "gatedgcn"}),
    "dgn": ({}, {"variant": "simple"}),
    "cin": ({"longest": 4}, {}, {"longest": 8}),
}
RADIUS_OF = ("EGO", "EGO+", "khop", "dual")  # policies that have one
CSL_SKIPS = (2, 3, 4, 5, 6, 9, 11, 12, 13, 16)
CUBIC = (  # nodes 0 and 1: as many 3- and 4-cycles, but 5 and 3 of the 5-cycles
    "02 04 05 12 13 15 27 34 36 47 56 67",
    "02 03 05 12 13 17 25 36 45 46 47 67",
)
console = Console(width=150)


class Trainee:
    """A network of the zoo with its transforms and optimizer, and a step that is timed."""

    def __init__(self, name: str, features: Mapping[str, Feature], graphs: GraphStore) -> None:
        config = settings_of(name, EQUAL)
        self.each, self.once = ZOO[name].transforms(config.transform)
        torch.manual_seed(0)
        store = graphs if self.once is None else self.once(graphs)
        self.network = ZOO[name].build(config.network, self.each, self.once, task=TASK, features=features, graphs=store)
        self.optimizer = torch.optim.Adam(self.network.parameters(), 1e-4)

    @property
    def parameters(self) -> int:
        """How many numbers it learns."""
        return sum(one.numel() for one in self.network.parameters())

    def steps(self, store: GraphStore, members: NDArray[np.int64]) -> tuple[float, float]:
        """Seconds of the transform, and of all; a batch that is refused is two halves."""
        try:
            return self.step(store.batch(members))
        except BagTooLargeError:
            if members.size == 1:
                raise
            halves = [self.steps(store, half) for half in np.array_split(members, 2)]
        cut, seconds = np.sum(halves, axis=0).tolist()
        return cut, seconds

    def step(self, batch: Any) -> tuple[float, float]:
        """Seconds of the transform, and of all."""
        start = time.process_time()  # what runs beside does not count
        ready = batch if self.each is None else self.each(batch)
        cut = time.process_time() - start
        self.optimizer.zero_grad()
        self.network(ready).square().mean().backward()
        self.optimizer.step()
        return cut, time.process_time() - start


def sample(name: str, count: int) -> tuple[GraphStore, Mapping[str, Feature], int, GraphStore]:
    """Some training graphs, what features they have, how many there are in all, and the largest graph of the dataset."""
    bundle = datasets.load(name)
    train = bundle.train
    chosen = np.sort(np.random.default_rng(0).choice(len(train), min(count, len(train)), replace=False))
    largest = int(bundle.graphs.num_nodes.argmax())
    return train[chosen], bundle.features, len(train), bundle.graphs[[largest]]


def side_by_side(names: Sequence[str], batches: int, rounds: int) -> dict[str, Any]:
    """Seconds an epoch, share of the transform, parameters and memory of each network, on each dataset."""
    figures: dict[str, Any] = {}
    for dataset in DATASETS:
        store, features, total, largest = sample(dataset, batches * BATCH)
        trainees = {name: Trainee(name, features, store) for name in names}
        ready = {name: store if one.once is None else one.once(store) for name, one in trainees.items()}
        best = {name: np.full((batches, 2), np.inf) for name in names}
        for number in range(rounds + 1):
            for i in range(batches):
                for name, trainee in trainees.items():
                    seconds = trainee.steps(ready[name], np.arange(i * BATCH, (i + 1) * BATCH))
                    if number:  # the first round warms up
                        best[name][i] = np.minimum(best[name][i], seconds)
        found = {}
        for name, trainee in trainees.items():
            memory, giant = peaks(name, [store[:BATCH], largest], features)
            cut, step = best[name].mean(0)
            found[name] = {
                "seconds_an_epoch": step * total / BATCH,
                "share_of_transform": cut / step,
                "parameters": trainee.parameters,
                "megabytes": memory["megabytes"],
                "largest_graph": giant,
            }
        figures[dataset] = found
        show(dataset, found, int(largest.num_nodes[0]))
    return figures


def peaks(name: str, stores: Sequence[GraphStore], features: Mapping[str, Feature]) -> list[dict[str, Any]]:
    """Megabytes and seconds of steps on the graphs of each store, in a process of its own; its words if it will not."""
    code = "import sys; from benchmarks.zoo import in_child; in_child(*sys.argv[1:])"
    described = json.dumps({key: asdict(feature) for key, feature in features.items()})
    with tempfile.TemporaryDirectory() as folder:
        paths = [str(Path(folder) / str(number)) for number in range(len(stores))]
        for store, path in zip(stores, paths, strict=True):
            store.compact().save(path)
        _, printed = in_new_process(code, {"PYTHONPATH": str(Path(__file__).parents[1])}, name, described, *paths)
    return [json.loads(line) for line in printed.splitlines()]


def in_child(name: str, described: str, *paths: str) -> None:
    """Print, as JSON, how much memory steps on these graphs take beyond what was there before, and how long one takes."""
    features = {key: Feature(one["kind"], tuple(one["sizes"])) for key, one in json.loads(described).items()}
    torch.set_num_threads(1)
    numba.set_num_threads(1)
    stores = [GraphStore.load(path) for path in paths]
    trainee = Trainee(name, features, stores[0])
    tiny = GraphStore.from_data_list([stores[0][0]])
    trainee.step(
        (tiny if trainee.once is None else trainee.once(tiny)).batch()
    )  # libraries and compilers are not the network's
    for store in stores:
        batch = (store if trainee.once is None else trainee.once(store)).batch()
        ctypes.CDLL(None).malloc_trim(0)  # Linux: give back what is free, and forget the peak so far
        Path("/proc/self/clear_refs").write_text("5")
        before = _megabytes("VmRSS")
        try:
            seconds = min(trainee.step(batch)[1] for _ in range(2))
        except BagTooLargeError as error:
            print(json.dumps({"megabytes": None, "seconds": None, "error": str(error)}))
            continue
        print(json.dumps({"megabytes": _megabytes("VmHWM") - before, "seconds": seconds}))


def _megabytes(which: str) -> float:
    """Resident memory of this process as Linux tells it, now (VmRSS) or at its peak (VmHWM)."""
    lines = Path("/proc/self/status").read_text().splitlines()
    (found,) = (line for line in lines if line.startswith(which))
    return int(found.split()[1]) / 1e3


def show(dataset: str, found: Mapping[str, Any], nodes: int) -> None:
    """The table of a dataset."""
    table = Table(
        "network", "parameters", "s an epoch", "times GIN", "transform", "MB a batch", f"MB, {nodes} nodes",
        f"ms, {nodes} nodes", title=f"{dataset}: batches of {BATCH}, width 64, 4 layers, radius 3",
    )  # fmt: skip
    base = found.get("gin", {}).get("seconds_an_epoch", float("nan"))
    for name, one in found.items():
        seconds = one["seconds_an_epoch"]
        giant = one["largest_graph"]
        alone = (
            ("refused", "-")
            if giant["seconds"] is None
            else (f"{giant['megabytes']:,.0f}", f"{1e3 * giant['seconds']:,.0f}")
        )
        batch = "refused" if one["megabytes"] is None else f"{one['megabytes']:,.0f}"
        table.add_row(
            name, f"{one['parameters']:,}", f"{seconds:,.1f}", f"{seconds / base:.1f}", f"{one['share_of_transform']:.1%}", batch,
            *alone,
        )  # fmt: skip
    console.print(table)


def power(names: Sequence[str], pairs: int | None) -> dict[str, Any]:
    """What untrained networks tell apart: exact, as theory has it, if weights are not unlucky.

    The control are graphs beside themselves, renumbered: none may be told apart.
    """
    union = graphs.disjoint_union([graphs.cycle(3), graphs.cycle(3)])
    circles = [as_data(graphs.cycle(6)), as_data(graphs.from_edge_index(union.edge_index, 6))]
    regular = [as_data(graphs.rook(4)), as_data(graphs.shrikhande())]
    csl = [as_data(graphs.circulant(41, 1, skip)) for skip in CSL_SKIPS]
    sr25 = list(datasets.load("sr25").graphs)
    exp = [Data(x=one.x, edge_index=one.edge_index, num_nodes=one.num_nodes) for one in datasets.load("exp").graphs]
    exp = exp if pairs is None else exp[: 2 * pairs]
    cubic = [_cubic(text) for text in CUBIC]
    twins = [one for member in exp[:10] for one in (member, renumbered(member))]
    table = Table(
        "network", "settings", "C6, 2 C3", "rook, Shrikhande", "SR25 of 15", "CSL of 10, h = 1 2 3 4",
        f"EXP of {len(exp) // 2}, h = 1 2", "cubic nodes, h = 1 2 3", "control",
        title="Told apart by untrained networks, sums everywhere",
    )  # fmt: skip
    figures = {}
    for name in names:
        for variant in VARIANTS.get(name, ({},)):
            chosen = settings_of(name, variant).transform
            has_radius = "hops" in chosen and chosen.get("policy", "EGO") in RADIUS_OF

            def over(
                radii: Sequence[int], ask: Any, name: str = name, variant: Any = variant, wide: bool = has_radius
            ) -> list[Any]:
                return [ask(name, variant, hops) for hops in (radii if wide else (None,))]

            found = {
                "circles": over((1,), lambda *which: _apart(circles, *which)),
                "regular": over((1,), lambda *which: _apart(regular, *which)),
                "sr25": over((1,), lambda *which: _classes(sr25, *which)),
                "csl": over((1, 2, 3, 4), lambda *which: _classes(csl, *which)),
                "exp": over((1, 2), lambda *which: _apart(exp, *which)),
                "cubic": over((1, 2, 3), lambda *which: _nodes_apart(cubic, *which)),
                "control": over((2,), lambda *which: _apart(twins, *which)),
            }
            words = ", ".join(f"{key}={value}" for key, value in variant.items())
            figures[f"{name} {words}".strip()] = found
            shown = [" ".join(map(str, values)) for values in found.values()]
            table.add_row(name, words, *shown)
            console.print(f"{name} {words}: {found}", highlight=False)
    console.print(table)
    return {"told_apart": figures}


def _cubic(text: str) -> Data:
    edges = torch.tensor([[int(a), int(b)] for a, b in text.split()]).T
    return Data(edge_index=torch.cat([edges, edges.flip(0)], 1), num_nodes=8)


def _asked(
    members: Sequence[Data], name: str, variant: Mapping[str, Any], hops: int | None, **more: Any
) -> torch.Tensor:
    categories = (2,) if members[0].x is not None else None
    return outputs(name, members, variant, hops=hops, categories=categories, chunk=10, **more)


def _apart(members: Sequence[Data], name: str, variant: Mapping[str, Any], hops: int | None) -> int | str:
    """Of pairs that follow each other, how many are told apart."""
    categories = (2,) if members[0].x is not None else None
    found = pairs_apart(Asked(name, members, variant, hops=hops, categories=categories), members)
    number = found.count(True)
    return f"{number} ({found.count(None)} unsure)" if None in found else number


def _classes(members: Sequence[Data], name: str, variant: Mapping[str, Any], hops: int | None) -> int | str:
    try:
        return classes(_asked(members, name, variant, hops))
    except ValueError:
        return "unsure"


def _nodes_apart(members: Sequence[Data], name: str, variant: Mapping[str, Any], hops: int | None) -> int | str:
    """Whether node 0 of the first graph and node 1 of the second are told apart; "-" if it is not defined for nodes."""
    if "node" not in ZOO[name].network.levels:
        return "-"
    rows = _asked(members, name, variant, hops, level="node")
    return int(are_apart(rows[0], rows[8 + 1]))


def main() -> None:
    """Run what was asked for, and record it."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", default=os.environ.get("ESCGNN_DATA"), help="folder of raw benchmark data")
    parser.add_argument("--quick", action="store_true", help="fewer batches, rounds and pairs, no record")
    parser.add_argument("--power", action="store_true", help="what networks tell apart, in place of what they take")
    parser.add_argument("--only", help="names of rows of the zoo, by commas")
    options = parser.parse_args()
    if options.data:
        os.environ["ESCGNN_DATA"] = options.data
    torch.set_num_threads(1)
    numba.set_num_threads(1)
    names = options.only.split(",") if options.only else [*ZOO]
    if options.power:
        figures = power(names, 20 if options.quick else None)
    else:
        figures = side_by_side(names, *((1, 1) if options.quick else (3, 3)))
    if not options.quick:
        record("zoo power" if options.power else "zoo", figures)


if __name__ == "__main__":
    main()
