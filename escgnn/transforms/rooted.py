"""Bags of rooted subgraphs as PyTorch Geometric transforms, for one graph or a whole batch, cut while training.

What the arrays mean to a network is in `escgnn.bags`, whose `node_bag` and `pair_bag` read them.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch_geometric.data import Data
from torch_geometric.transforms import BaseTransform

from escgnn.bags import MAX_ROWS, NODE_ARRAYS, PAIR_ARRAYS, check_rows
from escgnn.graphs import Graph, as_graph
from escgnn.kernels import threads as pool
from escgnn.kernels.bags import Bags, Columns, Room, Views, fill, look, measure, resist
from escgnn.kernels.graphs import counting_sort
from escgnn.kernels.resistance import MAX_CORE
from escgnn.limits import whole
from escgnn.transforms.attaching import attach

OUTSIDES = ("drop", "keep")
MAX_HOPS = 253  # a mate sees one step further, and 255 means outside
LEAST_BLOCK = 256  # roots; fewer are not worth another thread
Array = NDArray[Any]


class RootedNodes(BaseTransform):
    r"""Cuts out the subgraph of all nodes within :math:`h` steps of each node, the bag of ID-GNN, NGNN and GIN-AK+.

    Subgraph k belongs to node k. Its edges are all columns of ``edge_index`` between its nodes, loops and repeats
    included, so that a network sees in it what it would see in the whole graph. With ``outside="keep"`` it also has the
    other nodes of the graph, without edges: the ego policies of ESAN and SUN.

    Works on a single graph and on a whole batch with one call. Inside a ``DataLoader`` worker it uses one thread,
    elsewhere ``NUMBA_NUM_THREADS``; the result is the same. Let it be the last transform: nodes and edges must stay.

    Args:
        hops: Radius :math:`h`, from 0 to 253.
        outside: ``"drop"`` or ``"keep"`` nodes beyond the radius.
        resistance: Whether to add resistance distances to the root inside the subgraph.
        max_rows: A batch with more copies of nodes, or more edges between them, is refused: `BagTooLargeError`. One tensor
            of messages has this many rows. Networks with longer vectors than 64 refuse batches with fewer: `rows_that_fit`.

    Adds:
        For every subgraph (S = N of them): bag_len, its number of copies. For every copy: bag_member, its node;
        bag_hop, the distance to the root, 255 outside; bag_more, 1 if two neighbours or more are one step closer to the
        root; bag_in, the number of edges that end there; bag_resistance, infinite outside. For every edge between
        copies, by target, source, column: bag_source, the source's place in its subgraph; bag_column. Members and
        columns are numbered within their graph, so all of them concatenate, and PyG batches them as they are. (Names
        with "node" in them would mislead PyG about the number of nodes.)

    >>> path = Data(edge_index=torch.tensor([[0, 1, 1, 2, 2, 3], [1, 0, 2, 1, 3, 2]]), num_nodes=4)
    >>> data = RootedNodes(hops=1)(path)
    >>> data.bag_len.tolist(), data.bag_member.tolist(), data.bag_hop.tolist()
    ([2, 3, 3, 2], [0, 1, 0, 1, 2, 1, 2, 3, 2, 3], [0, 1, 1, 0, 1, 1, 0, 1, 1, 0])
    """

    adds = NODE_ARRAYS

    def __init__(
        self, hops: int = 3, *, outside: str = "drop", resistance: bool = False, max_rows: int = MAX_ROWS
    ) -> None:
        if outside not in OUTSIDES:
            raise ValueError(f"outside: {outside!r}; expected one of {', '.join(OUTSIDES)}")
        self.hops = whole("hops", hops, 0, MAX_HOPS)
        self.outside = outside
        self.resistance = resistance
        self.max_rows = whole("max_rows", max_rows, 1)
        if resistance:
            self.adds = self.adds | {"bag_resistance"}

    def forward(self, data: Any) -> Any:
        """Attach the arrays; `__call__` has made a shallow copy, so the caller's object stays as it was."""
        cut = _cut(data, self.hops, self.outside == "keep", self.max_rows)
        arrays = cut.arrays()
        if self.resistance:
            own = np.arange(cut.graph.num_nodes + 1)
            views = Views(own, own[:-1], cut.room.copies)
            arrays["bag_resistance"] = (cut.resistances(views), cut.room.copies)
        attach(data, cut.by_graph(arrays))
        return data

    def __repr__(self) -> str:
        return (
            f"{type(self).__name__}(hops={self.hops}, outside={self.outside!r}, resistance={self.resistance}, "
            f"max_rows={self.max_rows})"
        )


class RootedPairs(BaseTransform):
    r"""Cuts out, for each node i and each neighbour j of it, the ball around i with both marked: the bag of I²-GNN.

    The pairs of node i follow each other, neighbours ascending; a node without neighbours has the pair (i, i), so that
    it does not vanish. All pairs of i share one ball, which is kept once: what is kept for a pair is only how the ball
    looks from j. `escgnn.bags.pair_bag` puts both together.

    Args:
        hops: Radius :math:`h`, from 1 to 253.
        resistance: Whether to add resistance distances to both nodes inside the subgraph.
        max_rows: As in `RootedNodes`, for copies and edges of pairs.

    Adds:
        What `RootedNodes` adds; and for every node, bag_mates, its number of pairs; for every copy of every pair,
        bag_mate_hop, bag_mate_more and bag_mate_resistance, as seen from j inside the ball.

    >>> path = Data(edge_index=torch.tensor([[0, 1, 1, 2, 2, 3], [1, 0, 2, 1, 3, 2]]), num_nodes=4)
    >>> data = RootedPairs(hops=1)(path)
    >>> data.bag_mates.tolist(), data.bag_mate_hop.tolist()[:5]
    ([1, 2, 2, 1], [1, 0, 0, 1, 2])
    """

    adds = PAIR_ARRAYS

    def __init__(self, hops: int = 3, *, resistance: bool = False, max_rows: int = MAX_ROWS) -> None:
        self.hops = whole("hops", hops, 1, MAX_HOPS)
        self.resistance = resistance
        self.max_rows = whole("max_rows", max_rows, 1)
        if resistance:
            self.adds = self.adds | {"bag_resistance", "bag_mate_resistance"}

    def forward(self, data: Any) -> Any:
        """Attach the arrays; `__call__` has made a shallow copy, so the caller's object stays as it was."""
        cut = _cut(data, self.hops, False, self.max_rows, pairs=True)
        views = cut.mates()
        arrays = cut.arrays()
        hop, more = cut.looks(views)
        every = np.arange(cut.graph.num_nodes + 1)
        arrays["bag_mates"] = (np.diff(views.start).astype(np.int32), every)
        arrays["bag_mate_hop"] = (hop, views.copies)
        arrays["bag_mate_more"] = (more, views.copies)
        if self.resistance:
            own = Views(every, every[:-1], cut.room.copies)
            arrays["bag_resistance"] = (cut.resistances(own), cut.room.copies)
            arrays["bag_mate_resistance"] = (cut.resistances(views), views.copies)
        attach(data, cut.by_graph(arrays))
        return data

    def __repr__(self) -> str:
        return f"{type(self).__name__}(hops={self.hops}, resistance={self.resistance}, max_rows={self.max_rows})"


@dataclass(frozen=True, slots=True)
class _Cut:
    """The balls around all nodes of a graph or batch, and what can be asked about them."""

    graph: Graph
    room: Room
    bags: Bags
    threads: int

    def arrays(self) -> dict[str, tuple[Array, Array]]:
        """What to attach under which name, and where each node's part of it begins."""
        copies, edges = self.room.copies, self.room.edges
        return {
            "bag_len": (np.diff(copies).astype(np.int32), np.arange(copies.size)),
            "bag_member": (self.bags.member, copies),
            "bag_hop": (self.bags.hop, copies),
            "bag_more": (self.bags.more, copies),
            "bag_in": (self.bags.inward, copies),
            "bag_source": (self.bags.source, edges),
            "bag_column": (self.bags.column, edges),
        }

    def mates(self) -> Views:
        """Each ball seen from every neighbour of its root, or from the root if there is none."""
        return _mates(self.graph, np.diff(self.room.copies))

    def looks(self, views: Views) -> tuple[Array, Array]:
        """Distance, and whether two neighbours or more are closer, of every copy from every view."""
        hop, more = np.empty((2, views.copies[-1]), np.uint8)
        self._over_roots(lambda start, stop: look(views, (start, stop), self.room, self.bags, hop, more))
        return hop, more

    def resistances(self, views: Views) -> Array:
        """Resistance of every copy from every view."""
        values = np.empty(views.copies[-1], np.float32)

        def task(start: int, stop: int) -> None:
            large = resist(self.graph.csr, views, (start, stop), self.room, self.bags, values)
            if large >= 0:
                raise ValueError(
                    f"resistance: the subgraph rooted at node {large} has more than {MAX_CORE} nodes left when its tree "
                    "parts are removed, too many to solve; expected fewer hops"
                )

        self._over_roots(task)
        return values

    def by_graph(self, arrays: Mapping[str, tuple[Array, Array]]) -> dict[str, tuple[Array, Array]]:
        """Arrays of which it is known where each node's rows begin, with where each graph's do."""
        return {name: (rows, starts[self.graph.ptr]) for name, (rows, starts) in arrays.items()}

    def _over_roots(self, task: Any) -> None:
        _over_roots(task, self.graph.num_nodes, self.threads)


def _cut(data: Any, hops: int, keep: bool, max_rows: int, *, pairs: bool = False) -> _Cut:
    """Find the balls, refuse them if they are too large, and write them down."""
    if not isinstance(data, Data):
        raise TypeError(f"data: cannot cut {type(data).__name__}; expected a PyG Data or Batch")
    graph = as_graph(data)
    threads = 1 if torch.utils.data.get_worker_info() else pool.count()
    columns = _columns(graph)
    sizes = np.diff(graph.ptr)
    first = np.repeat(graph.ptr[:-1], sizes)
    last = np.repeat(graph.ptr[1:], sizes)
    copies, edges = np.zeros((2, graph.num_nodes + 1), np.int64)
    room = Room(copies, edges, first, last)
    _over_roots(lambda start, stop: measure(columns, (start, stop), hops, room), graph.num_nodes, threads)
    if keep:
        copies[1:] = last - first
    often = np.maximum(graph.degrees, 1) if pairs else 1
    check_rows(_by_graph(copies[1:] * often, graph), _by_graph(edges[1:] * often, graph), max_rows)
    np.cumsum(copies, out=copies)
    np.cumsum(edges, out=edges)
    member, inward = np.empty((2, copies[-1]), np.int32)
    hop, more = np.empty((2, copies[-1]), np.uint8)
    source, column = np.empty((2, edges[-1]), np.int32)
    bags = Bags(member, hop, more, inward, source, column)
    _over_roots(lambda start, stop: fill(columns, (start, stop), hops, room, keep, bags), graph.num_nodes, threads)
    return _Cut(graph, room, bags, threads)


def _columns(graph: Graph) -> Columns:
    """Columns of ``edge_index`` by target, then source, then number."""
    source, target = graph.edge_index
    by_source, order = np.empty((2, source.size), np.int64)
    counting_sort(source, graph.num_nodes, np.arange(source.size), by_source)
    counting_sort(target, graph.num_nodes, by_source, order)
    start = np.zeros(graph.num_nodes + 1, np.int64)
    np.cumsum(np.bincount(target, minlength=graph.num_nodes), out=start[1:])
    home = np.repeat(np.arange(graph.num_graphs), np.diff(graph.ptr))[source]
    if (np.diff(home) < 0).any():
        late = int(np.flatnonzero(np.diff(home) < 0)[0]) + 1
        raise ValueError(
            f"edge_index: column {late} belongs to graph {home[late]}, but follows one of graph {home[late - 1]}; "
            "expected the columns of each graph together, as Batch.from_data_list puts them"
        )
    local = np.arange(source.size) - np.searchsorted(home, home)
    return Columns(start, source[order].astype(np.int32), local[order].astype(np.int32))


def _mates(graph: Graph, copies: Array) -> Views:
    """Neighbours of every node, ascending; a node without any is its own mate."""
    lonely = np.flatnonzero(graph.degrees == 0)
    node = np.insert(graph.csr.indices.astype(np.int64), graph.csr.indptr[lonely], lonely)
    often = np.maximum(graph.degrees, 1)
    start, begin = np.zeros((2, graph.num_nodes + 1), np.int64)
    np.cumsum(often, out=start[1:])
    np.cumsum(often * copies, out=begin[1:])
    return Views(start, node, begin)


def _over_roots(task: Any, num_nodes: int, threads: int) -> None:
    fair = -(-num_nodes // (2 * threads))
    pool.over_blocks(task, num_nodes, max(fair, LEAST_BLOCK), threads)


def _by_graph(per_node: Array, graph: Graph) -> Tensor:
    ends = np.concatenate([np.zeros(1, np.int64), per_node.cumsum()])
    return torch.from_numpy(np.diff(ends[graph.ptr]))
