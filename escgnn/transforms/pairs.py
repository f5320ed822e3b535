"""Networks with a row for every two nodes of a graph: what keeps batches of them small enough, and distances between nodes."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.sparse import csr_matrix  # type: ignore[import-untyped]
from scipy.sparse.csgraph import connected_components, shortest_path  # type: ignore[import-untyped]
from torch import Tensor
from torch_geometric.data import Batch, Data
from torch_geometric.transforms import BaseTransform

from escgnn.bags import MAX_ROWS, BagTooLargeError
from escgnn.graphs import Graph, as_graph
from escgnn.limits import whole
from escgnn.transforms.attaching import attach

DISTANCES = ("steps", "resistance")
FAR = 254  # the largest number of steps that is told
APART = 255  # nodes of different components


class PairRows(BaseTransform):
    """Refuses batches with too many pairs of nodes, which networks such as PPGN have a row for; it adds nothing.

    Args:
        max_rows: A batch with more is refused: `BagTooLargeError`.

    >>> PairRows(max_rows=4)(Data(edge_index=torch.empty(2, 0, dtype=torch.int64), num_nodes=3))  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    escgnn.bags.guard.BagTooLargeError: max_rows: the pairs of nodes of these 1 graphs are 9, ...
    """

    adds: frozenset[str] = frozenset()

    def __init__(self, *, max_rows: int = MAX_ROWS) -> None:
        self.max_rows = whole("max_rows", max_rows, 1)

    def forward(self, data: Any) -> Any:
        """The same batch, if it is small enough."""
        ptr = data.ptr if isinstance(data, Batch) else torch.tensor([0, data.num_nodes])
        self.check(ptr)
        return data

    def check(self, ptr: Tensor) -> None:
        """Refuse graphs whose nodes begin there."""
        rows = ptr.diff() ** 2
        total = int(rows.sum())
        if total > self.max_rows:
            raise BagTooLargeError(
                f"max_rows: the pairs of nodes of these {rows.numel():,} graphs are {total:,}, of the largest alone "
                f"{int(rows.max()):,}; expected at most {self.max_rows:,} in all: lower batch_size, or raise max_rows",
                rows,
                self.max_rows,
            )

    def __repr__(self) -> str:
        return f"{type(self).__name__}(max_rows={self.max_rows})"


class PairDistances(PairRows):
    r"""Adds distances between all pairs of nodes of a graph: steps, and resistances if every edge is a unit resistor.

    Resistance is :math:`P_{ii} + P_{jj} - 2 P_{ij}` for the pseudo-inverse P of a component's Laplacian, in double precision.
    Loops and repeated edges change neither.

    Args:
        distances: Which of ``"steps"`` and ``"resistance"``.
        max_rows: As in `PairRows`.

    Adds:
        For every ordered pair, graph by graph and row by row of its matrix: pair_steps, at most 254, and 255 if there is no way;
        pair_resistance, infinite then.

    >>> path = Data(edge_index=torch.tensor([[0, 1, 1, 2], [1, 0, 2, 1]]), num_nodes=3)
    >>> PairDistances()(path).pair_steps.view(3, 3)
    tensor([[0, 1, 2],
            [1, 0, 1],
            [2, 1, 0]], dtype=torch.uint8)
    """

    keepable = True

    def __init__(self, distances: Sequence[str] = DISTANCES, *, max_rows: int = MAX_ROWS) -> None:
        super().__init__(max_rows=max_rows)
        wrong = isinstance(distances, str) or not distances or not {*distances} <= {*DISTANCES}
        if wrong:
            raise ValueError(f"distances: {distances!r}; expected one or more of {', '.join(DISTANCES)}")
        self.distances = [name for name in DISTANCES if name in distances]
        self.adds = frozenset(f"pair_{name}" for name in self.distances)

    def forward(self, data: Any) -> Any:
        """Attach the columns; `__call__` has made a shallow copy, so the caller's object stays as it was."""
        if not isinstance(data, Data):
            raise TypeError(f"data: cannot measure {type(data).__name__}; expected a PyG Data or Batch")
        view = as_graph(data)
        ptr = torch.from_numpy(view.ptr)
        self.check(ptr)
        found: dict[str, list[NDArray[Any]]] = {name: [] for name in self.distances}
        for g in range(view.num_graphs):
            adjacency = _adjacency(view, g)
            for name in self.distances:
                found[name].append(MAKERS[name](adjacency).ravel())
        starts = np.concatenate([[0], (np.diff(view.ptr) ** 2).cumsum()])
        attach(data, {f"pair_{name}": (np.concatenate(rows), starts) for name, rows in found.items()})
        return data

    def guard(self, batch: Any) -> Any:
        """The same batch, whose distances were kept, if it is small enough."""
        return super().forward(batch)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.distances}, max_rows={self.max_rows})"


def _adjacency(view: Graph, g: int) -> csr_matrix:
    """The matrix of one of the graphs side by side."""
    begin, end = view.ptr[g : g + 2]
    indptr = view.csr.indptr[begin : end + 1]
    indices = view.csr.indices[indptr[0] : indptr[-1]] - begin
    n = int(end - begin)
    return csr_matrix((np.ones(indices.size), indices, indptr - indptr[0]), (n, n))


def _steps(adjacency: csr_matrix) -> NDArray[np.uint8]:
    if not adjacency.shape[0]:
        return np.zeros((0, 0), np.uint8)
    steps = shortest_path(adjacency, unweighted=True)
    return np.where(np.isinf(steps), APART, np.minimum(steps, FAR)).astype(np.uint8)


def _resistance(adjacency: csr_matrix) -> NDArray[np.float64]:
    if not adjacency.shape[0]:
        return np.zeros((0, 0))
    _, label = connected_components(adjacency)
    together = label[:, None] == label
    laplacian = np.diag(np.asarray(adjacency.sum(1)).ravel()) - adjacency.toarray()
    inverse = np.linalg.inv(
        laplacian + together / np.bincount(label)[label]
    )  # J / n of each component makes it regular
    own = inverse.diagonal()
    resistance = np.maximum(own[:, None] + own - 2 * inverse, 0)
    return np.where(together, resistance, np.inf)


MAKERS: dict[str, Callable[[csr_matrix], NDArray[Any]]] = {"steps": _steps, "resistance": _resistance}
