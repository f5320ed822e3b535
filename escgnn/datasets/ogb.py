"""The molecules of the Open Graph Benchmark, from its raw tables: one row per node, edge or graph, without a header."""

import numpy as np

from escgnn.datasets.bundle import DatasetBundle, Split
from escgnn.datasets.molecules import OGB_FEATURES
from escgnn.datasets.raw import Raw
from escgnn.datasets.reading import damage_named, from_undirected, read_numbers


def ogb(raw: Raw) -> DatasetBundle:
    """An ``ogbg-mol*`` dataset and its scaffold split."""
    tables = {
        name: read_numbers(raw.paths[f"{name}.csv.gz"])
        for name in ("num-node-list", "num-edge-list", "node-feat", "edge", "edge-feat")
    }
    y = read_numbers(raw.paths["graph-label.csv.gz"], np.float32)
    with damage_named(raw.paths["edge.csv.gz"].parent):
        graphs = from_undirected(
            tables["num-node-list"][:, 0],
            tables["num-edge-list"][:, 0],
            tables["edge"],
            node={"x": tables["node-feat"]},
            edge={"edge_attr": tables["edge-feat"]},
            graph={"y": y},
        )
    split = Split(*(read_numbers(raw.paths[f"{part}.csv.gz"])[:, 0] for part in ("train", "valid", "test")))
    return DatasetBundle(raw.entry.name, graphs, raw.entry.task, OGB_FEATURES, split)
