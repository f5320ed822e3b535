"""Graphs to measure on: the real ones where the data folder has them, else generated ones that are like them."""

from pathlib import Path

import numpy as np

from escgnn import graphs
from escgnn.graphs import Graph


def molecules(data: str | None, count: int) -> dict[str, Graph]:
    """The first molecules of ogbg-molhiv, side by side, by the name of where they come from."""
    raw = Path(data) / "ogbg_molhiv" / "raw" if data else None
    if raw is None or not raw.is_dir():
        return {"molecule-like": graphs.molecule_like(count)}
    num_nodes, num_edges = (
        np.loadtxt(raw / f"num-{kind}-list.csv.gz", dtype=np.int64, max_rows=count) for kind in ("node", "edge")
    )
    edges = np.loadtxt(raw / "edge.csv.gz", dtype=np.int64, delimiter=",", max_rows=int(num_edges.sum()))
    return {"ogbg-molhiv": side_by_side(num_nodes, num_edges, edges)}


def counting_graphs(data: str | None, count: int) -> dict[str, Graph]:
    """The graphs of the counting benchmark, side by side."""
    file = Path(data) / "count_synthetic" / "randomgraph.npz" if data else None
    if file is None or not file.is_file():
        return {"counting-random": graphs.counting_random(count)}
    with np.load(file, allow_pickle=False) as arrays:
        num_nodes, num_edges = (arrays[f"num_{kind}"].astype(np.int64)[:count] for kind in ("nodes", "edges"))
        return {"counting": side_by_side(num_nodes, num_edges, arrays["edges"][: num_edges.sum()].astype(np.int64))}


def side_by_side(num_nodes: np.ndarray, num_edges: np.ndarray, edges: np.ndarray) -> Graph:
    """One view of many graphs from their sizes and concatenated edges."""
    ptr = np.concatenate([[0], num_nodes.cumsum()])
    shifted = edges + np.repeat(ptr[:-1], num_edges)[:, None]
    both = np.concatenate([shifted, shifted[:, ::-1]])
    return graphs.from_edge_index(both[np.lexsort((both[:, 1], both[:, 0]))].T, int(ptr[-1]), ptr=ptr)
