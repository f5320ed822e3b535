"""How much there is to look at around the nodes of graphs: bounds from degrees, known before any search begins."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from escgnn.graphs.view import Graph

Steps = NDArray[np.float64]


def walks(graph: Graph, longest: int) -> Iterator[Steps]:
    """Walks of 1, 2, ..., ``longest`` edges from each node that never turn back at once; no fewer than the simple paths.

    A walk of k + 1 edges goes on from one of k edges, in all ways but back.

    >>> from escgnn.graphs import star
    >>> [lengths.tolist() for lengths in walks(star(3), 2)]
    [[3.0, 1.0, 1.0, 1.0], [0.0, 2.0, 2.0, 2.0]]
    """
    degrees = graph.degrees.astype(np.float64)
    source = np.repeat(np.arange(graph.num_nodes), graph.degrees)

    def around(values: Steps) -> Steps:
        sums: Steps = np.bincount(source, values[graph.csr.indices], graph.num_nodes).astype(np.float64)
        return sums

    before = degrees
    if longest > 0:
        yield before
    if longest > 1:
        now = around(degrees) - degrees
        yield now
    for _ in range(longest - 2):
        before, now = now, np.maximum(around(now) - (degrees - 1) * before, 0)  # numbers are rounded, never below 0
        yield now


def per_graph(graph: Graph, values: Steps) -> Steps:
    """Sums over the nodes of each of the graphs side by side."""
    owner = np.repeat(np.arange(graph.num_graphs), np.diff(graph.ptr))
    sums: Steps = np.bincount(owner, values, graph.num_graphs).astype(np.float64)
    return sums


def arcs(graph: Graph) -> NDArray[np.int64]:
    """Adjacency entries of each graph, twice its edges."""
    return np.diff(graph.csr.indptr[graph.ptr])


def highest_degrees(graph: Graph) -> NDArray[np.int64]:
    """The highest degree of each graph, 0 if it has no nodes."""
    highest = np.zeros(graph.num_graphs, np.int64)
    full = np.flatnonzero(np.diff(graph.ptr))
    if full.size:
        highest[full] = np.maximum.reduceat(graph.degrees, graph.ptr[full])
    return highest
