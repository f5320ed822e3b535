"""Graphs that are hard to tell apart: EXP, CSL, SR25 and BREC."""

from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from escgnn.datasets.bundle import DatasetBundle, Feature, Split
from escgnn.datasets.raw import DatasetError, Raw
from escgnn.datasets.reading import categorical, damage_named, from_members, from_undirected, read_npz
from escgnn.datasets.registry import BREC_CATEGORIES
from escgnn.datasets.splits import block_folds, stratified_folds
from escgnn.graphs import circulant, permute
from escgnn.graphs.graph6 import decode

EXP_FOLDS = 10
CSL_SKIPS = (2, 3, 4, 5, 6, 9, 11, 12, 13, 16)
CSL_NODES, CSL_COPIES, CSL_FOLDS = 41, 15, 5


def exp(raw: Raw) -> DatasetBundle:
    """Pairs of formulas as graphs, one satisfiable and one not, that 1-WL cannot tell apart.

    Graphs 2i and 2i + 1 are a pair. The folds are those of the authors (Abboud et al. 2021), which the ESC-GNN code uses
    too: ten consecutive blocks. Pairs stay together, so every fold has as many graphs of either class.
    """
    (path,) = raw.paths.values()
    with damage_named(path):
        lines = [[int(word) for word in line.split()] for line in path.read_text().splitlines() if line.strip()]
        members: list[tuple[int, NDArray[np.int64]]] = []
        types: list[int] = []
        labels: list[int] = []
        at = 1
        for _ in range(lines[0][0]):
            num_nodes, label = lines[at]
            nodes = lines[at + 1 : at + 1 + num_nodes]
            if len(nodes) < num_nodes or any(len(node) != 2 + node[1] for node in nodes):
                raise ValueError(f"graph {len(labels)} ends early")
            edges = [(u, v) for u, (_, _, *neighbours) in enumerate(nodes) for v in neighbours if u < v]
            members.append((num_nodes, np.array(edges, np.int64).reshape(-1, 2)))
            types += [node[0] for node in nodes]
            labels.append(label)
            at += 1 + num_nodes
        graphs = from_members(members).with_fields(
            node={"x": categorical(types)}, graph={"y": np.array(labels, np.float32)[:, None]}
        )
    return DatasetBundle(
        raw.entry.name,
        graphs,
        raw.entry.task,
        {"x": Feature("categorical", (2,))},
        folds=block_folds(len(graphs), EXP_FOLDS),
        pairs=_couples(len(graphs)),
    )


def csl(raw: Raw, *, seed: int = 0) -> DatasetBundle:
    """Circular skip links: ten classes of 4-regular graphs on 41 nodes, 15 renamed copies of each.

    The graphs are constructed. If the published file is there, every graph of it must have the spectrum of its
    class, and if the published folds are there they are used; else folds are stratified.

    Args:
        raw: The files, all of them optional.
        seed: For the renaming and for folds that are not published.
    """
    rng = np.random.default_rng(seed)
    originals = [circulant(CSL_NODES, 1, skip) for skip in CSL_SKIPS]
    copies = [permute(graph, rng.permutation(CSL_NODES)) for graph in originals for _ in range(CSL_COPIES)]
    y = np.repeat(np.arange(len(CSL_SKIPS)), CSL_COPIES)
    if "csl.npz" in raw.paths:
        _check_csl(raw.paths["csl.npz"], [graph.edges for graph in originals], y)
    graphs = from_members([(graph.num_nodes, graph.edges) for graph in copies]).with_fields(graph={"y": y[:, None]})
    indices = [path for name, path in raw.paths.items() if name.endswith(".index")]  # of training, validation and test
    folds = _read_folds(indices, y.size) if len(indices) == 3 else stratified_folds(y, CSL_FOLDS, seed)
    return DatasetBundle(raw.entry.name, graphs, raw.entry.task, folds=folds)


def sr25(raw: Raw) -> DatasetBundle:
    """The 15 strongly regular graphs with parameters (25, 12, 5, 6), and all 105 pairs of them."""
    (path,) = raw.paths.values()
    with damage_named(path):
        graphs = from_members([decode(line) for line in path.read_text().split()])
    pairs = np.array(list(combinations(range(len(graphs)), 2)), np.int64)
    return DatasetBundle(raw.entry.name, graphs, raw.entry.task, pairs=pairs)


def brec(raw: Raw) -> DatasetBundle:
    """400 pairs of graphs in seven categories, in the order of the benchmark; graphs 2i and 2i + 1 are pair i."""
    members, categories = [], []
    for part, category in BREC_CATEGORIES.items():
        path = raw.paths[f"{part}.npy"]
        with damage_named(path):
            lines = np.load(path, allow_pickle=False).ravel().tolist()
            members += [decode(line) for line in lines]
            categories += [category] * (len(lines) // 2)
    graphs = from_members(members)
    return DatasetBundle(
        raw.entry.name, graphs, raw.entry.task, pairs=_couples(len(graphs)), categories=tuple(categories)
    )


def _couples(count: int) -> NDArray[np.int64]:
    return np.arange(count - count % 2).reshape(-1, 2)


def _read_folds(paths: list[Path], count: int) -> tuple[Split, ...]:
    parts = []
    for path in paths:
        with damage_named(path):
            parts.append([np.array(line.split(","), np.int64) for line in path.read_text().split()])
    with damage_named(paths[0].parent):
        folds = tuple(Split(*fold) for fold in zip(*parts, strict=True))
        if any(not np.array_equal(np.sort(np.concatenate(fold)), np.arange(count)) for fold in folds):
            raise ValueError("a fold does not hold every graph once")
    return folds


def _check_csl(path: Path, edges: list[NDArray[np.int64]], y: NDArray[np.int64]) -> None:
    arrays = read_npz(path)
    with damage_named(path):
        published = from_undirected(arrays["num_nodes"], arrays["num_edges"], arrays["edges"])
        expected = np.array([_spectrum(pairs) for pairs in edges])[arrays["y"]]
        found = np.array([_spectrum(data.edge_index.numpy().T) for data in published])
        same = np.array_equal(arrays["y"], y) and np.allclose(found, expected, atol=1e-6)
    if not same:
        raise DatasetError(f"{path} does not hold the graphs of CSL: a spectrum differs from that of its class")


def _spectrum(edges: NDArray[np.int64]) -> NDArray[np.floating[Any]]:
    adjacency = np.zeros((CSL_NODES, CSL_NODES))
    adjacency[edges[:, 0], edges[:, 1]] = adjacency[edges[:, 1], edges[:, 0]] = 1
    return np.linalg.eigvalsh(adjacency)
