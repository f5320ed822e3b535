"""The text format of TUDataset: edges as pairs of nodes, and for every node the graph that it belongs to, all from 1."""

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from escgnn.datasets.bundle import DatasetBundle, Feature
from escgnn.datasets.entry import Entry, Size, raw_files
from escgnn.datasets.raw import Raw
from escgnn.datasets.reading import damage_named, read_numbers
from escgnn.datasets.splits import stratified_folds
from escgnn.store import GraphStore
from escgnn.task import Task

FOLDS = 10
HOME = "https://www.chrsmrrs.com/graphkerneldatasets"
TWO_CLASSES = Task("graph", "binary", "accuracy", "max", ("class",))
SIX_CLASSES = Task("graph", "multiclass", "accuracy", "max", ("class",), 6)
DEFAULTS = {"encoding": {"hops": 2}, "model": {"layers": 4, "dropout": 0.5}, "batch_size": 32, "epochs": 100}


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
    labels_of_graphs = read_numbers(paths["graph_labels"])[:, 0]
    y = np.unique(labels_of_graphs, return_inverse=True)[1]  # classes from 0, in ascending order of their labels
    features: dict[str, Feature] = {}
    node: dict[str, NDArray[np.int64] | NDArray[np.float32]] = {}
    edge: dict[str, NDArray[np.int64]] = {}
    with damage_named(paths["A"]):
        kept = _simple(arcs, owner.size)
        source = arcs[kept, 0]
        if (np.diff(owner) < 0).any() or (owner[arcs[kept, 1]] != owner[source]).any():
            raise ValueError("a graph's nodes are apart, or an edge joins two graphs")
        start = np.searchsorted(owner, np.arange(y.size))  # first node of each graph
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
        answers = y if raw.entry.task.kind == "multiclass" else y.astype(np.float32)
        graphs = GraphStore(
            np.bincount(owner, minlength=y.size),
            np.bincount(owner[source], minlength=y.size),
            (arcs[kept] - start[owner[source], None]).T,
            node=node,
            edge=edge,
            graph={"y": answers[:, None]},
        )
    return DatasetBundle(raw.entry.name, graphs, raw.entry.task, features, folds=stratified_folds(y, FOLDS, seed))


def _simple(arcs: NDArray[np.int64], num_nodes: int) -> NDArray[np.int64]:
    """Rows of the arcs to keep, in ascending order of their nodes."""
    if arcs.min(initial=0) < 0 or arcs.max(initial=-1) >= num_nodes:
        raise ValueError("an edge names a node that no graph has")
    codes, first = np.unique(arcs[:, 0] * num_nodes + arcs[:, 1], return_index=True)
    source, target = np.divmod(codes, num_nodes)
    if not np.array_equal(codes, np.sort(target * num_nodes + source)):
        raise ValueError("an edge is listed in one direction only")
    kept: NDArray[np.int64] = first[arcs[first, 0] != arcs[first, 1]]
    return kept


def _labels(columns: NDArray[np.int64]) -> tuple[NDArray[np.int64], Feature]:
    """Labels counted from 0, column by column, and what they are to a model."""
    shifted = columns - columns.min(axis=0)
    return shifted, Feature("categorical", tuple((shifted.max(axis=0) + 1).tolist()))


def _entry(name: str, prefix: str, task: Task, size: Size, checksums: Mapping[str, str]) -> Entry:
    """A dataset of files such as ``MUTAG_A.txt``; the checksums are by what follows the prefix."""
    return Entry(
        name=name,
        parse=tu,
        task=task,
        size=size,
        source="TUDataset, https://chrsmrrs.github.io/datasets",
        files=raw_files(
            f"tu/{prefix}/raw",
            {f"{prefix}_{what}.txt": sha256 for what, sha256 in checksums.items()},
            archive=f"{HOME}/{prefix}.zip",
            inside=f"{prefix}/",
        ),
        defaults=DEFAULTS,
    )


ENTRIES = (
    _entry(
        "mutag",
        "MUTAG",
        TWO_CLASSES,
        Size(188, 17.93, 19.79),
        {
            "A": "d9656ca7493f3445d737c711710bb36fd432dddd1c0ea32e1d4713c86ebd28e2",
            "graph_indicator": "7d520a4d6c7961c0cdeabe076d8fe27e795b6d373485c9a2b744987e560a2056",
            "graph_labels": "a1518ea39ba3426bd42f57396b9c4baffe68e9adc718caeeab0119c6591a5f2c",
            "node_labels": "678f429965490e84dd27713017538c995fc05d1621beac910848b600015ee863",
            "edge_labels": "4669ce755075ff86c3240709345745886400908fa637a49310459b9c267b3e56",
        },
    ),
    _entry(
        "ptc-mr",
        "PTC_MR",
        TWO_CLASSES,
        Size(344, 14.29, 14.69),
        {
            "A": "f79523ff94dfbef539e5602a8ac1931a50a2800f33fa1d30e5e31725289b5202",
            "graph_indicator": "d52754f3cbc54e29324f884b4c17200c16e06db0c499afae300b4fa1bb6d794b",
            "graph_labels": "64210accbe4c6c027535b1294e0da652b1f539667f7a2d4bf5121dcd8b00a224",
            "node_labels": "cc50d1e1c5f4c98b2100cf50c5ddd88ff28b419a9180d531046b75ce22983235",
            "edge_labels": "acee2f93b52175a329009dc837bea9db7c2a121c2ef0b1587b38bbe6fc9b8177",
        },
    ),
    _entry(
        "proteins",
        "PROTEINS",
        TWO_CLASSES,
        Size(1113, 39.06, 72.82),
        {
            "A": "4c4b33e272fc95cac6d27ed6d5d12b9a852c8610e91fff59f8f0dbdd5a20df67",
            "graph_indicator": "8d4ff1e852a5c28561e9bffb44cf9490bc552b13a3b6156dd12dc7f44e9afc4a",
            "graph_labels": "c0ef9810c440775252872318d0c8adc385588e14bc4c47a2c34aa96ee3c7cdcd",
            "node_labels": "f758e8ad3d6e3c026b50833d75f6f90735b94eb3345e4243707f495ca8afea8d",
            "node_attributes": "54eef829abb37e458a5fbf3a3c581e48e5810e220463c2cd951856b9ceb08f07",
        },
    ),
    _entry(
        "enzymes",
        "ENZYMES",
        SIX_CLASSES,
        Size(600, 32.63, 62.14),
        {
            "A": "5553c84f8f562f3e199dfd27192174f485e85c44c1357661098668937a739cbf",
            "graph_indicator": "95ba0fa47eba6f02e6b754a215dc66d5b49de3f45f57a128514301a8d7ed5f46",
            "graph_labels": "04743e08967e61e65cdacbb90f8df6ee53742b3d2e7b84675b85ebac70506856",
            "node_labels": "8263eb9b64efa231a5886343483ccfc0342f2407014763a8f738fd51c32ce770",
            "node_attributes": "305a8fc3b12f79fb844ef3374d6a3c8ceeb4887dd4f86bbfe37932c4c5434e7b",
        },
    ),
    _entry(
        "imdb-b",
        "IMDB-BINARY",
        TWO_CLASSES,
        Size(1000, 19.77, 96.53),
        {
            "A": "28846bc9e57f46248765211df251c11b8665d8fcfb246a174860e81095f45389",
            "graph_indicator": "415cc3ba25b8c647dcf34d3de034f675ee070616f3b803be939cb26773489f26",
            "graph_labels": "63a44411fd6342b9c4429828c16e144a2a11ef5244e25bb60f0ffa8b3ee2ffce",
        },
    ),
)
