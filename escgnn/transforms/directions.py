"""Directions of graphs: first eigenvectors of their Laplacians, which DGN reads."""

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.sparse import csr_matrix  # type: ignore[import-untyped]
from scipy.sparse.csgraph import connected_components  # type: ignore[import-untyped]

from escgnn.graphs import Graph
from escgnn.limits import whole
from escgnn.store import GraphStore

SAME = 1e-6  # a share of the largest eigenvalue; those that are nearer to each other count as one
MOST_WIDTH = 64

Rows = NDArray[np.float64]


class Directions:
    r"""Adds the eigenvectors of the smallest eigenvalue of :math:`D - A` that is not zero, apart for each component.

    If it is simple, that is one vector, whose sign means nothing. If it repeats, any basis of its space is as good: only lengths
    of differences of rows mean anything, which are those of the projector. Loops and repeated edges do not count.

    Args:
        width: Largest dimension of the space; a component with a larger one has no direction, which is zeros. That of a path
            is 1, of a ring 2, of a complete graph one less than nodes: there no direction is better than others.

    Adds:
        direction: a row of so many numbers for every node, in double precision; columns that are not needed are zero.

    >>> store = GraphStore([3], [4], [[0, 1, 1, 2], [1, 0, 2, 1]])
    >>> rows = Directions(width=1)(store).column("direction")
    >>> (rows * rows[0].sign()).round(decimals=3).flatten().abs()
    tensor([0.7070, 0.0000, 0.7070], dtype=torch.float64)
    """

    adds = frozenset({"direction"})

    def __init__(self, width: int = 4) -> None:
        self.width = whole("width", width, 1, MOST_WIDTH)

    def __call__(self, graphs: GraphStore) -> GraphStore:
        """The graphs with the column."""
        return graphs.with_fields(node={"direction": torch.from_numpy(directions(graphs.view(), self.width))})

    def __repr__(self) -> str:
        return f"Directions(width={self.width})"


def directions(view: Graph, width: int) -> Rows:
    """The eigenvectors of all components of the graphs side by side, (nodes, width)."""
    n = view.num_nodes
    found = np.zeros((n, width))
    if n == 0:
        return found
    ones = np.ones(view.csr.indices.size)
    adjacency = csr_matrix((ones, view.csr.indices, view.csr.indptr), (n, n))
    components, label = connected_components(adjacency, directed=False)
    order = np.argsort(label, kind="stable")
    starts = np.searchsorted(label[order], np.arange(components + 1))
    place = np.empty(n, np.int64)  # of each node in its component
    place[order] = np.arange(n) - np.repeat(starts[:-1], np.diff(starts))
    for begin, end in zip(starts[:-1].tolist(), starts[1:].tolist(), strict=True):
        if end - begin > 1:
            nodes = order[begin:end]
            found[nodes] = _first_space(_laplacian(view, nodes, place), width)
    return found


def _laplacian(view: Graph, nodes: NDArray[np.int64], place: NDArray[np.int64]) -> Rows:
    """That of a component, by the order of its nodes."""
    degrees = view.degrees[nodes]
    laplacian = np.diag(degrees.astype(np.float64))
    neighbours = np.concatenate([view.neighbours(node) for node in nodes])
    laplacian[np.repeat(np.arange(nodes.size), degrees), place[neighbours]] = -1
    return laplacian


def _first_space(laplacian: Rows, width: int) -> Rows:
    """Eigenvectors of the smallest eigenvalue but zero, (nodes, width); zeros if they are more."""
    values, vectors = np.linalg.eigh(laplacian)
    size = int((values[1:] - values[1] <= SAME * values[-1]).sum())
    rows = np.zeros((values.size, width))
    if size <= width:
        rows[:, :size] = vectors[:, 1 : 1 + size]
    return rows
