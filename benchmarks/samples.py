"""Graphs to measure on: the real ones where the data folder has them, else generated ones that are like them."""

from pathlib import Path

import numpy as np

from escgnn import graphs
from escgnn.graphs import Graph


def molecules(data: str | None, count: int) -> dict[str, Graph]:
    """The first molecules of ogbg-molhiv, side by side, by the name of where they come from; types are elements and bonds."""
    raw = Path(data) / "ogbg_molhiv" / "raw" if data else None
    if raw is None or not raw.is_dir():
        plain = graphs.molecule_like(count)
        choose = np.random.default_rng(0)
        elements = choose.choice([5, 6, 7, 8, 15, 16], plain.num_nodes, p=[0.73, 0.11, 0.12, 0.01, 0.02, 0.01])
        return {"molecule-like": plain.typed(elements, choose.integers(0, 4, plain.arc.size))}
    num_nodes, num_edges = (
        np.loadtxt(raw / f"num-{kind}-list.csv.gz", dtype=np.int64, max_rows=count) for kind in ("node", "edge")
    )
    edges = np.loadtxt(raw / "edge.csv.gz", dtype=np.int64, delimiter=",", max_rows=int(num_edges.sum()))
    elements, bonds = (
        np.loadtxt(raw / f"{kind}-feat.csv.gz", dtype=np.int64, delimiter=",", usecols=0, max_rows=int(rows.sum()))
        for kind, rows in (("node", num_nodes), ("edge", num_edges))
    )
    return {"ogbg-molhiv": side_by_side(num_nodes, num_edges, edges, elements, bonds)}


def counting_graphs(data: str | None, count: int) -> dict[str, Graph]:
    """The graphs of the counting benchmark, side by side."""
    file = Path(data) / "count_synthetic" / "randomgraph.npz" if data else None
    if file is None or not file.is_file():
        return {"counting-random": graphs.counting_random(count)}
    with np.load(file, allow_pickle=False) as arrays:
        num_nodes, num_edges = (arrays[f"num_{kind}"].astype(np.int64)[:count] for kind in ("nodes", "edges"))
        return {"counting": side_by_side(num_nodes, num_edges, arrays["edges"][: num_edges.sum()].astype(np.int64))}


def side_by_side(
    num_nodes: np.ndarray,
    num_edges: np.ndarray,
    edges: np.ndarray,
    node_types: np.ndarray | None = None,
    edge_types: np.ndarray | None = None,
) -> Graph:
    """One view of many graphs from their sizes and concatenated edges, with types of nodes and edges where there are some."""
    ptr = np.concatenate([[0], num_nodes.cumsum()])
    shifted = edges + np.repeat(ptr[:-1], num_edges)[:, None]
    both = np.concatenate([shifted, shifted[:, ::-1]])
    order = np.lexsort((both[:, 1], both[:, 0]))
    graph = graphs.from_edge_index(both[order].T, int(ptr[-1]), ptr=ptr)
    if node_types is None or edge_types is None:
        return graph
    return graph.typed(node_types, np.tile(edge_types, 2)[order])
