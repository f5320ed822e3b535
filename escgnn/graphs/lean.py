"""A graph of which only the adjacency lists are kept, which may lie in a file; all else is made when somebody asks for it."""

import zlib
from collections.abc import Iterator

import numpy as np
from numpy.typing import ArrayLike, NDArray

from escgnn.graphs.view import Graph
from escgnn.kernels.graphs import Csr
from escgnn.kernels.lean import Forward, count_forward, find_edges, list_edges


class LeanGraph(Graph):
    """A simple undirected graph in 8 bytes an edge and 16 a node, for graphs with very many edges.

    It is a `Graph` and can be given wherever one is wanted, but what `Graph` keeps for every edge (``edge_index``, ``arc``,
    ``edge``, ``edges``) is made anew, in memory, each time it is asked for. `RootedEncoding.blocks` and ``pairs``, and all of
    `escgnn.huge`, do without.

    Edges are numbered as they are in `Graph.edges`: (u, v), u < v, in ascending order. A direction of an edge has an *id*: 2k for
    edge k from its smaller to its larger end, 2k + 1 for the other way. So ``id ^ 1`` is the way back.

    Args:
        csr: Adjacency lists, sorted, symmetric and without loops, as they are in any `Graph`.
        forward: For every node the number of edges (u, v), u < v, whose u comes before it; counted if it is not given.
        checksum: CRC-32 of the neighbours, by which one graph is told from another; computed if it is not given.

    >>> from escgnn.graphs import cycle
    >>> square = LeanGraph(cycle(4).csr)
    >>> square
    LeanGraph(nodes=4, edges=4)
    >>> square.edges.tolist()
    [[0, 1], [0, 3], [1, 2], [2, 3]]
    >>> square.edge_ids([(0, 1), (1, 0), (3, 2), (0, 2)]).tolist()
    [0, 1, 7, -1]
    """

    __slots__ = ("checksum", "forward", "max_degree")

    checksum: int
    forward: Forward
    max_degree: int

    def __init__(self, csr: Csr, forward: Forward | None = None, checksum: int | None = None) -> None:
        num_nodes = csr.indptr.size - 1
        if forward is None:
            forward = np.empty(num_nodes + 1, np.int64)
            count_forward(csr, forward)
        values = {
            "csr": csr,
            "ptr": np.array([0, num_nodes]),
            "types": None,
            "forward": forward,
            "checksum": zlib.crc32(csr.indices.data) if checksum is None else checksum,
            "max_degree": int(np.diff(csr.indptr).max(initial=0)),
        }
        for name, value in values.items():
            object.__setattr__(self, name, value)  # as all graphs, it does not change

    def __reduce__(self) -> tuple[type["LeanGraph"], tuple[Csr, Forward, int]]:
        """Pickled, and sent to other processes, as it is kept; arrays of a file are copied."""
        return LeanGraph, (self.csr, self.forward, self.checksum)

    @property
    def edge_index(self) -> NDArray[np.int64]:
        """Both directions of all edges, by source, then target; ``(2, 2 num_edges)``, in new memory."""
        source = np.repeat(np.arange(self.num_nodes), self.degrees)
        return np.stack([source, self.csr.indices.astype(np.int64)])

    @property
    def arc(self) -> NDArray[np.int64]:
        """Position of each column in ``csr.indices``: its own."""
        return np.arange(self.csr.indices.size)

    @property
    def edge(self) -> NDArray[np.int64]:
        """Number of the undirected edge that each arc belongs to, in new memory."""
        return self.edge_ids(self.edge_index.T) >> 1

    @property
    def edges(self) -> NDArray[np.int64]:
        """All undirected edges in new memory; `edge_slices` gives some at a time."""
        return self.edges_from(0, self.num_edges)

    def edges_from(self, start: int, stop: int) -> NDArray[np.int64]:
        """Edges by number, from the first to that before the second, ``(stop - start, 2)``."""
        edges = np.empty((stop - start, 2), np.int64)
        if len(edges):
            list_edges(self.csr, self.forward, start, edges)
        return edges

    def edge_slices(self, size: int) -> Iterator[NDArray[np.int64]]:
        """The undirected edges in their order, so many at a time."""
        for start in range(0, self.num_edges, size):
            yield self.edges_from(start, min(start + size, self.num_edges))

    def edge_ids(self, pairs: ArrayLike) -> NDArray[np.int64]:
        """The id of every ordered pair of nodes, -1 where they are not adjacent.

        Raises:
            ValueError: The array has the wrong shape or dtype, or names nodes that do not exist.
        """
        wanted = np.asarray(pairs)
        if wanted.size == 0:
            return np.empty(0, np.int64)
        if wanted.ndim != 2 or wanted.shape[1] != 2 or wanted.dtype.kind not in "iu":
            raise ValueError(
                f"pairs: shape {wanted.shape}, dtype {wanted.dtype}; expected integers (number of pairs, 2)"
            )
        if wanted.min() < 0 or wanted.max() >= self.num_nodes:
            bad = wanted[((wanted < 0) | (wanted >= self.num_nodes)).any(1)][0].tolist()
            raise ValueError(f"pairs: {tuple(bad)}, but node ids run from 0 to {self.num_nodes - 1}")
        ids = np.empty(len(wanted), np.int64)
        find_edges(self.csr, self.forward, np.ascontiguousarray(wanted, np.int64), ids)
        return ids

    def __repr__(self) -> str:
        return f"LeanGraph(nodes={self.num_nodes}, edges={self.num_edges})"
