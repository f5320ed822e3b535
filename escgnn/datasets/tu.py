"""The text format of TUDataset: edges as pairs of nodes, and for every node the graph that it belongs to, all from 1."""

import numpy as np
from numpy.typing import NDArray

from escgnn.datasets.bundle import DatasetBundle, Feature
from escgnn.datasets.raw import Raw
from escgnn.datasets.reading import damage_named, read_numbers
from escgnn.datasets.splits import stratified_folds
from escgnn.store import GraphStore

FOLDS = 10


def tu(raw: Raw, *, attributes: bool = False, seed: int = 0) -> DatasetBundle:
    """A dataset and ten stratified folds. Loops and repeated edges are left out, as PyG does.

    Args:
        raw: The files.
        attributes: Whether ``x`` holds the nodes' real-valued attributes, followed by their one-hot labels, rather than
            the labels alone.
        seed: For the folds.
    """
    prefix = raw.entry.files[0].name.removesuffix("_A.txt")
    paths = {name.removeprefix(f"{prefix}_").removesuffix(".txt"): path for name, path in raw.paths.items()}
    if attributes and "node_attributes" not in paths:
        raise ValueError(f"attributes: {raw.entry.name} has none")
    owner = read_numbers(paths["graph_indicator"])[:, 0] - 1
    arcs = read_numbers(paths["A"]) - 1
    y = np.unique(read_numbers(paths["graph_labels"])[:, 0], return_inverse=True)[1]
    features: dict[str, Feature] = {}
    node: dict[str, NDArray[np.int64] | NDArray[np.float32]] = {}
    edge: dict[str, NDArray[np.int64]] = {}
    with damage_named(paths["A"]):
        kept = _simple(arcs, owner.size)
        source = arcs[kept, 0]
        if (np.diff(owner) < 0).any() or (owner[arcs[kept, 1]] != owner[source]).any():
            raise ValueError("a graph's nodes are apart, or an edge joins two graphs")
        start = np.searchsorted(owner, np.arange(y.size))
        if "node_labels" in paths:
            node["x"], features["x"] = _labels(read_numbers(paths["node_labels"]))
        if attributes:
            dense = read_numbers(paths["node_attributes"], np.float32)
            hot = [np.eye(size, dtype=np.float32)[node["x"][:, i]] for i, size in enumerate(features["x"].sizes)]
            node["x"] = np.concatenate([dense, *hot], axis=1)
            features["x"] = Feature("dense", (node["x"].shape[1],))
        if "edge_labels" in paths:
            labels, features["edge_attr"] = _labels(read_numbers(paths["edge_labels"]))
            edge["edge_attr"] = labels[kept]
        graphs = GraphStore(
            np.bincount(owner, minlength=y.size),
            np.bincount(owner[source], minlength=y.size),
            (arcs[kept] - start[owner[source], None]).T,
            node=node,
            edge=edge,
            graph={"y": (y if raw.entry.task.kind == "multiclass" else y.astype(np.float32))[:, None]},
        )
    return DatasetBundle(raw.entry.name, graphs, raw.entry.task, features, folds=stratified_folds(y, FOLDS, seed))


def _simple(arcs: NDArray[np.int64], num_nodes: int) -> NDArray[np.int64]:
    """Rows of the arcs to keep, in ascending order of their nodes."""
    if arcs.min(initial=0) < 0 or arcs.max(initial=-1) >= num_nodes:
        raise ValueError("an edge names a node that no graph has")
    codes, first = np.unique(arcs[:, 0] * num_nodes + arcs[:, 1], return_index=True)
    if not np.array_equal(codes, np.sort(codes % num_nodes * num_nodes + codes // num_nodes)):
        raise ValueError("an edge is listed in one direction only")
    kept: NDArray[np.int64] = first[arcs[first, 0] != arcs[first, 1]]
    return kept


def _labels(columns: NDArray[np.int64]) -> tuple[NDArray[np.int64], Feature]:
    shifted = columns - columns.min(axis=0)
    return shifted, Feature("categorical", tuple((shifted.max(axis=0) + 1).tolist()))
