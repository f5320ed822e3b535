"""Substructure counting on random graphs: the published ones, and any number of the same kind from a seed.

Each graph is a random regular graph on n nodes less n edges, with (n, degree) one of (10, 6), (15, 6), (20, 5), (30, 5):
Chen et al., Can Graph Neural Networks Count Substructures?, NeurIPS 2020. Targets are counted, not read: of
4-cliques the published labels say twice as many as there are.
"""

import numpy as np

from escgnn.counting import TARGETS, count_all
from escgnn.datasets.bundle import DatasetBundle, Split
from escgnn.datasets.entry import PICKLED, Entry, Size, raw_files
from escgnn.datasets.raw import Raw
from escgnn.datasets.reading import damage_named, from_undirected, read_npz
from escgnn.datasets.splits import random_split
from escgnn.graphs import counting_random as random_graphs
from escgnn.store import GraphStore
from escgnn.task import Task

FRACTIONS = (0.3, 0.2, 0.5)  # of the published split
TASK = Task("node", "regression", "norm-mae", "min", TARGETS)
DEFAULTS = {  # the paper's settings where they are a matter of taste
    "encoding": {"hops": 2},
    "model": {"hidden": 128, "jumping": "concat", "residual": False},
    "lr": 5e-3,
    "epochs": 1000,
}


def counting(raw: Raw, *, doubled_cliques: bool = False) -> DatasetBundle:
    """The published graphs and split.

    Args:
        raw: The file.
        doubled_cliques: Whether to give the 4-clique target as published, which is twice the number of cliques. The
            normalised error is the same.
    """
    path = raw.paths["randomgraph.npz"]
    arrays = read_npz(path)
    with damage_named(path):
        graphs = from_undirected(arrays["num_nodes"], arrays["num_edges"], arrays["edges"])
        split = Split(*(arrays[f"{subset}_idx"].astype(np.int64) for subset in ("train", "val", "test")))
    return _with_targets(raw, graphs, split, doubled_cliques)


def counting_random(raw: Raw, *, count: int = 5000, seed: int = 0, doubled_cliques: bool = False) -> DatasetBundle:
    """Graphs of the same recipe, made from a seed.

    Args:
        raw: The entry; no file is needed.
        count: Number of graphs.
        seed: The same for the same graphs.
        doubled_cliques: See `counting`.
    """
    if count < 1:
        raise ValueError(f"count: {count}; expected at least 1")
    view = random_graphs(count, seed)
    sizes = np.diff(view.ptr)
    owner = view.owner(view.edge_index[0])
    graphs = GraphStore(sizes, np.bincount(owner, minlength=count), view.edge_index - view.ptr[owner])
    return _with_targets(raw, graphs, random_split(count, FRACTIONS, seed), doubled_cliques)


def _with_targets(raw: Raw, graphs: GraphStore, split: Split, doubled_cliques: bool) -> DatasetBundle:
    y = count_all(graphs.view()).astype(np.float32)
    if doubled_cliques:
        y[:, TARGETS.index("4-clique")] *= 2
    return DatasetBundle(raw.entry.name, graphs.with_fields(node={"y": y}), raw.entry.task, split=split)


ENTRIES = (
    Entry(
        name="counting",
        parse=counting,
        task=TASK,
        size=Size(5000, 18.800, 31.339),
        source="Chen et al. 2020, dataset 2, as converted from subgraph23/homomorphism-expressivity",
        files=raw_files(
            "count_synthetic",
            {
                "randomgraph.npz": "f262354e8a1f26e2e0c962486c134da8e0b3f4a7bd490ade4e406c7ec5eeadcf",
            },
        ),
        advice=f"{PICKLED}; counting-random follows the same recipe and needs no file",
        defaults=DEFAULTS,
    ),
    Entry(
        name="counting-random",
        parse=counting_random,
        task=TASK,
        size=Size(5000, 18.8, 31.3),
        source="generated: Chen et al. 2020",
        defaults=DEFAULTS,
    ),
)
