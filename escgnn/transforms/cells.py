"""A graph as a complex of cells: nodes, undirected edges, and rings, which CIN reads."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from torch_geometric.data import Data
from torch_geometric.transforms import BaseTransform

from escgnn.bags import MAX_ROWS, BagTooLargeError
from escgnn.graphs import Graph, as_graph
from escgnn.kernels.rings import find_rings
from escgnn.limits import whole
from escgnn.transforms.attaching import attach

Ints = NDArray[np.int64]

MOST_LONGEST = 64
STEPS_A_ROW = 64  # of a search, before it is given up; molecules take two or three


class Cells(BaseTransform):
    """Numbers the undirected edges of each graph, and lists its rings: induced cycles, which no edge cuts short.

    Loops are no cells, and repeated edges are one.

    Args:
        longest: Most nodes of a ring, from 3; 0 for no rings.
        max_rows: A batch whose rings have more edges together, or take more than 64 times as many steps to find, is refused:
            `BagTooLargeError`. Dense graphs have more rings than anybody can list.

    Adds:
        For every graph: cell_len, how many edges and rings it has. For every column of ``edge_index``: cell_edge, the number of
        its edge within the graph, or -1 if it is a loop. For every edge: cell_end, its two nodes, numbered within the graph. For
        every ring: ring_len, its number of edges; and for all of these in turn: ring_edge, their numbers within the graph.

    >>> import torch
    >>> square = Data(edge_index=torch.tensor([[0, 1, 1, 2, 2, 3, 0, 3], [1, 0, 2, 1, 3, 2, 3, 0]]), num_nodes=4)
    >>> data = Cells()(square)
    >>> data.cell_len.tolist(), data.ring_len.tolist(), data.cell_end[data.ring_edge].tolist()
    ([[4, 1]], [4], [[0, 1], [1, 2], [2, 3], [0, 3]])
    """

    adds = frozenset({"cell_len", "cell_edge", "cell_end", "ring_len", "ring_edge"})
    keepable = True

    def __init__(self, *, longest: int = 6, max_rows: int = MAX_ROWS) -> None:
        is_whole = isinstance(longest, int) and not isinstance(longest, bool)
        if not is_whole or (longest != 0 and not 3 <= longest <= MOST_LONGEST):
            raise ValueError(f"longest: {longest!r}; expected an integer from 3 to {MOST_LONGEST}, or 0 for no rings")
        self.longest = longest
        self.max_rows = whole("max_rows", max_rows, 1)

    def forward(self, data: Any) -> Any:
        """Attach the arrays; `__call__` has made a shallow copy, so the caller's object stays as it was."""
        if not isinstance(data, Data):
            raise TypeError(f"data: cannot list cells of {type(data).__name__}; expected a PyG Data or Batch")
        view = as_graph(data)
        ring_len, ring_edge = self.rings(view)
        every = np.arange(view.num_graphs)
        home = view.owner(view.edges[:, 0])  # (M,)
        edges = np.searchsorted(home, np.append(every, view.num_graphs))  # (G + 1,)
        ends = np.concatenate([[0], ring_len.cumsum()])  # (R + 1,)
        rings = np.searchsorted(home[ring_edge[ends[:-1]]], np.append(every, view.num_graphs))  # (G + 1,)
        columns = np.searchsorted(view.owner(view.edge_index[0]), np.append(every, view.num_graphs))
        is_loop = view.arc < 0
        number = np.where(is_loop, 0, view.arc)
        own = view.edge[number] if view.edge.size else number  # (E,)
        local = own - edges[view.owner(view.edge_index[0])]
        arrays = {
            "cell_len": (np.stack([np.diff(edges), np.diff(rings)], 1), np.arange(view.num_graphs + 1)),
            "cell_edge": (np.where(is_loop, -1, local), columns),
            "cell_end": (view.edges - view.ptr[home, None], edges),
            "ring_len": (ring_len, rings),
            "ring_edge": (ring_edge - edges[home[ring_edge]], ends[rings]),
        }
        attach(data, arrays)
        return data

    def rings(self, view: Graph) -> tuple[Ints, Ints]:
        """How many edges each ring has, and the numbers of all of these, ring by ring.

        Raises:
            BagTooLargeError: There are too many.
        """
        if self.longest == 0:
            return np.zeros(0, np.int64), np.zeros(0, np.int64)
        room = [view.num_edges, 8 * view.num_edges]
        most_steps = STEPS_A_ROW * self.max_rows
        while True:
            ring_len = np.empty(room[0], np.int64)
            ring_edge = np.empty(room[1], np.int64)
            rings, entries, steps = find_rings(view.csr, view.edge, self.longest, most_steps, ring_len, ring_edge)
            if entries > self.max_rows or steps > most_steps:
                raise self._too_large(view.num_graphs, f"{entries:,} edges so far, after {steps:,} steps")
            if rings <= room[0] and entries <= room[1]:
                return ring_len[:rings], ring_edge[:entries]
            room = [rings, entries]

    def guard(self, batch: Any) -> Any:
        """The same batch, whose cells were kept, if it is small enough."""
        if batch.ring_edge.numel() > self.max_rows:
            raise self._too_large(batch.num_graphs, f"{batch.ring_edge.numel():,} edges")
        return batch

    def _too_large(self, graphs: int, found: str) -> BagTooLargeError:
        return BagTooLargeError(
            f"max_rows: rings of up to {self.longest} nodes of these {graphs:,} graphs have {found}; expected at most "
            f"{self.max_rows:,}, found in {STEPS_A_ROW * self.max_rows:,} steps: lower longest or batch_size, or raise max_rows"
        )

    def __repr__(self) -> str:
        return f"Cells(longest={self.longest}, max_rows={self.max_rows})"
