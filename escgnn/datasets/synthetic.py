"""Substructure counting on random graphs: the published ones, and any number of the same kind from a seed.

Each graph is a random regular graph on n nodes less n edges, with (n, degree) one of (10, 6), (15, 6), (20, 5), (30, 5):
Chen et al., Can Graph Neural Networks Count Substructures?, NeurIPS 2020. Targets are counted, not read: SPEC section 4.
"""

import numpy as np

from escgnn.counting import TARGETS, count_all
from escgnn.datasets.bundle import DatasetBundle, Split
from escgnn.datasets.raw import Raw
from escgnn.datasets.reading import damage_named, from_undirected, read_npz
from escgnn.datasets.splits import random_split
from escgnn.graphs import counting_random as random_graphs
from escgnn.store import GraphStore

FRACTIONS = (0.3, 0.2, 0.5)  # of the published split


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
        split = Split(*(arrays[f"{part}_idx"].astype(np.int64) for part in ("train", "val", "test")))
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
