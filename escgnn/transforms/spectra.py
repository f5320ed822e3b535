"""What GraphGPS reads of the place of a node: how likely random walks return to it, and its entries of eigenvectors."""

from collections.abc import Iterator

import numpy as np
import torch
from numpy.typing import NDArray

from escgnn import limits
from escgnn.graphs import Graph
from escgnn.store import GraphStore

MOST_NUMBERS = 1 << 22  # of the matrices that are worked on together


class WalkAndSpectrum:
    r"""Adds the encodings of GraphGPS to every node of a store: of random walks, of the Laplacian, or of both.

    - Walks: the chance to be back after k steps, :math:`(D^{-1} A)^k_{vv}` for k from 1 on ("RWSE"). A node without
      neighbours never is.
    - Spectrum: entries of the eigenvectors of :math:`D - A` of smallest eigenvalues, the constant one included, each of length
      1, and the eigenvalues beside them ("LapPE"). Their signs, and which vectors of a repeated eigenvalue are taken, mean
      nothing; here the largest entry is positive. So they may change when nodes are renumbered.

    Loops and repeated edges do not count. Numbers are computed in double precision and rounded to single, so that walks do not
    depend on the numbering. It takes matrices of :math:`n \times n`, and :math:`n^3` steps for a graph of n nodes.

    Args:
        walks: Steps of the longest walks; 0 for no column.
        frequencies: How many eigenvectors; 0 for no columns.

    Adds:
        walk_returns: a row of chances for every node. laplacian_vectors and laplacian_values: a row of entries and one of
        eigenvalues; where a graph has fewer nodes, the last entries are 0 and the last eigenvalues -1.

    >>> store = GraphStore([3], [4], [[0, 1, 1, 2], [1, 0, 2, 1]])
    >>> WalkAndSpectrum(2)(store).column("walk_returns")
    tensor([[0.0000, 0.5000],
            [0.0000, 1.0000],
            [0.0000, 0.5000]])
    """

    def __init__(self, walks: int = 20, frequencies: int = 0) -> None:
        self.walks = limits.whole("walks", walks, 0, limits.MOST_POSITIONS)
        self.frequencies = limits.whole("frequencies", frequencies, 0, limits.MOST_POSITIONS)

    @property
    def adds(self) -> frozenset[str]:
        """The columns."""
        walks = {"walk_returns"} if self.walks else set()
        spectrum = {"laplacian_vectors", "laplacian_values"} if self.frequencies else set()
        return frozenset(walks | spectrum)

    def __call__(self, graphs: GraphStore) -> GraphStore:
        """The graphs with the columns; themselves if there are none."""
        if not self.adds:
            return graphs
        view = graphs.view()
        returns = np.zeros((view.num_nodes, self.walks), np.float32)
        vectors = np.zeros((view.num_nodes, self.frequencies), np.float32)
        values = np.full((view.num_nodes, self.frequencies), -1, np.float32)
        for nodes, adjacency in _equal_sizes(view):
            if self.walks:
                returns[nodes] = walk_returns(adjacency, self.walks)
            if self.frequencies:
                found, entries = spectrum(adjacency, self.frequencies)
                vectors[nodes, : entries.shape[2]] = entries
                values[nodes, : entries.shape[2]] = found[:, None, :]
        made = {"walk_returns": returns, "laplacian_vectors": vectors, "laplacian_values": values}
        return graphs.with_fields(node={name: torch.from_numpy(made[name]) for name in sorted(self.adds)})

    def __repr__(self) -> str:
        return f"WalkAndSpectrum(walks={self.walks}, frequencies={self.frequencies})"


def _equal_sizes(view: Graph) -> Iterator[tuple[NDArray[np.int64], NDArray[np.float64]]]:
    """Graphs of equal size, some at a time: their nodes, (graphs, n), and their matrices, (graphs, n, n)."""
    sizes = np.diff(view.ptr)
    for n in np.unique(sizes[sizes > 0]):
        alike = np.flatnonzero(sizes == n)
        at_once = max(1, MOST_NUMBERS // int(n) ** 2)
        for begin in range(0, alike.size, at_once):
            some = alike[begin : begin + at_once]
            adjacency = np.zeros((some.size, n, n))
            for matrix, start in zip(adjacency, view.ptr[some], strict=True):
                bounds = view.csr.indptr[start : start + n + 1]
                source = np.repeat(np.arange(n), np.diff(bounds))
                matrix[source, view.csr.indices[bounds[0] : bounds[-1]] - start] = 1
            yield view.ptr[some, None] + np.arange(n), adjacency


def walk_returns(adjacency: NDArray[np.float64], steps: int) -> NDArray[np.float64]:
    """How likely a walk from each node is back after 1, 2, ... steps: (graphs, n, n) to (graphs, n, steps)."""
    degree = adjacency.sum(2, keepdims=True)
    step = adjacency / np.maximum(degree, 1)
    chances = step
    found = [np.diagonal(chances, axis1=1, axis2=2)]
    for _ in range(steps - 1):
        chances = chances @ step
        found.append(np.diagonal(chances, axis1=1, axis2=2))
    return np.stack(found, 2)


def spectrum(adjacency: NDArray[np.float64], size: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The smallest eigenvalues of Laplacians and their vectors: (graphs, n, n) to (graphs, m) and (graphs, n, m)."""
    degree = adjacency.sum(2)
    laplacian = degree[:, :, None] * np.eye(degree.shape[1]) - adjacency
    values, vectors = np.linalg.eigh(laplacian)
    vectors = vectors[:, :, :size]
    largest = np.take_along_axis(vectors, np.abs(vectors).argmax(1, keepdims=True), 1)  # (graphs, 1, m)
    return values[:, :size].clip(0), vectors * np.sign(largest)
