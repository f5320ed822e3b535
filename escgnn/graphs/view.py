"""One view of a graph, or of many at once: sorted, symmetric, simple adjacency lists."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import networkx
import numpy as np
from numpy.typing import ArrayLike, NDArray

from escgnn.graphs.graph6 import decode
from escgnn.graphs.layout import layout
from escgnn.kernels.graphs import Csr, Types, build_csr, counting_sort, find_torn, pair_arcs
from escgnn.markup import drawing, tag

MOST_DRAWN = 150  # nodes of a small picture
LARGEST_TYPE = 2**62 - 1  # of a node or an edge; what hashes types has room for no more


@dataclass(frozen=True, slots=True, eq=False)
class Graph:
    """A simple undirected graph, or several side by side: components do not see each other.

    Loops and repeated edges of the input leave no trace in the adjacency lists, but every column of ``edge_index``
    is kept in its place, so that results come back in the order in which the edges were given.

    Attributes:
        csr: Adjacency lists.
        edge_index: The directed edges as given, ``(2, E)``.
        arc: Position of each column in ``csr.indices``, -1 for a loop, ``(E,)``.
        edge: Number of the undirected edge that each arc belongs to, ``(arcs,)``.
        edges: The undirected edges (u, v), u < v, in ascending order, ``(num_edges, 2)``.
        ptr: Where each graph's nodes begin, ``(graphs + 1,)``.
        types: What kind nodes and edges are of, if somebody said; see `typed`.
    """

    csr: Csr
    edge_index: NDArray[np.int64]
    arc: NDArray[np.int64]
    edge: NDArray[np.int64]
    edges: NDArray[np.int64]
    ptr: NDArray[np.int64]
    types: Types | None = None

    @property
    def num_nodes(self) -> int:
        """Number of nodes."""
        return self.csr.indptr.size - 1

    @property
    def num_edges(self) -> int:
        """Number of undirected edges, loops and repeats left out."""
        return self.csr.indices.size // 2

    @property
    def num_graphs(self) -> int:
        """Number of graphs side by side."""
        return self.ptr.size - 1

    @property
    def degrees(self) -> NDArray[np.int64]:
        """Degree of every node."""
        return self.csr.indptr[1:] - self.csr.indptr[:-1]

    @property
    def max_degree(self) -> int:
        """Highest degree of all nodes, 0 if there are none."""
        return int(self.degrees.max(initial=0))

    def edge_slices(self, size: int) -> Iterator[NDArray[np.int64]]:
        """The undirected edges in their order, so many at a time."""
        for start in range(0, len(self.edges), size):
            yield self.edges[start : start + size]

    def neighbours(self, node: int) -> NDArray[np.int32]:
        """Neighbours of a node, ascending."""
        return self.csr.indices[self.csr.indptr[node] : self.csr.indptr[node + 1]]

    def has_edge(self, u: int, v: int) -> bool:
        """Whether u and v are adjacent."""
        return v in self.neighbours(u)

    def owner(self, nodes: NDArray[np.int64]) -> NDArray[np.int64]:
        """Which of the graphs side by side each of these nodes belongs to, by number."""
        return np.searchsorted(self.ptr, nodes, side="right") - 1

    def typed(self, nodes: ArrayLike | None = None, columns: ArrayLike | None = None) -> "Graph":
        """The same graph, whose nodes and edges are of different kinds.

        >>> from_edges([(0, 1), (1, 2)]).typed([6, 6, 8], [1, 1, 2, 2]).types.node
        array([6, 6, 8])

        Args:
            nodes: Type of every node, an integer from 0 on; all are 0 if None.
            columns: Type of every column of ``edge_index``. Where those of one edge differ, the largest counts; loops have none.

        Raises:
            ValueError: They are no such integers, or not as many as there are nodes or columns.
        """
        node = _checked_types("nodes", nodes, self.num_nodes)
        given = _checked_types("columns", columns, self.arc.size)
        largest = np.zeros(self.num_edges, np.int64)
        is_edge = self.arc >= 0
        np.maximum.at(largest, self.edge[self.arc[is_edge]], given[is_edge])
        types = Types(node, largest[self.edge])
        return Graph(self.csr, self.edge_index, self.arc, self.edge, self.edges, self.ptr, types)

    @property
    def column_types(self) -> NDArray[np.int64]:
        """Type of every column of ``edge_index``, 0 for loops and where nothing is known."""
        found = np.zeros(self.arc.size, np.int64)
        if self.types is not None:
            is_edge = self.arc >= 0
            found[is_edge] = self.types.arc[self.arc[is_edge]]
        return found

    def split(self) -> list["Graph"]:
        """The graphs that stand side by side, one by one, columns in the same order."""
        home = self.owner(self.edge_index[0])
        order = np.argsort(home, kind="stable")
        bounds = np.searchsorted(home[order], np.arange(self.num_graphs + 1))
        column_types = self.column_types
        found = []
        for g in range(self.num_graphs):
            columns = order[bounds[g] : bounds[g + 1]]
            start = self.ptr[g]
            stop = self.ptr[g + 1]
            one = from_edge_index(self.edge_index[:, columns] - start, stop - start)
            found.append(one if self.types is None else one.typed(self.types.node[start:stop], column_types[columns]))
        return found

    def to_networkx(self) -> "networkx.Graph[int]":
        """The same graph for networkx, nodes 0 to n-1, without loops and repeats; types are the attribute ``type``."""
        graph: networkx.Graph[int] = networkx.empty_graph(self.num_nodes)
        graph.add_edges_from(self.edges.tolist())
        if self.types is not None:
            networkx.set_node_attributes(graph, dict(enumerate(self.types.node.tolist())), "type")
            first = np.unique(self.edge, return_index=True)[1]  # an arc of each edge
            of_edge = zip(map(tuple, self.edges.tolist()), self.types.arc[first].tolist(), strict=True)
            networkx.set_edge_attributes(graph, dict(of_edge), "type")
        return graph

    @property
    def reverse(self) -> NDArray[np.int64]:
        """Of every arc (u, v), the arc (v, u); ``(arcs,)``."""
        two_by_two = self.edge.argsort(kind="stable").reshape(-1, 2)
        back = np.empty_like(self.edge)
        back[two_by_two] = two_by_two[:, ::-1]
        return back

    def _repr_html_(self) -> str:
        """A small picture, if nodes can be told apart in it; the explorer shows more."""
        if not 0 < self.num_nodes <= MOST_DRAWN or self.num_edges > 4 * MOST_DRAWN:
            return tag("code", repr(self))
        points = layout(self.to_networkx()).tolist()
        return tag("figure", drawing(points, self.edges.tolist(), title=repr(self)), tag("figcaption", repr(self)))

    def __repr__(self) -> str:
        many = f"graphs={self.num_graphs}, " if self.num_graphs != 1 else ""
        return f"Graph({many}nodes={self.num_nodes}, edges={self.num_edges})"


def from_edge_index(edge_index: ArrayLike, num_nodes: int, *, ptr: NDArray[np.int64] | None = None) -> Graph:
    """The view of a directed edge list that holds both directions of every edge, as PyG's ``edge_index`` does.

    Raises:
        ValueError: The array has the wrong shape or dtype, names nodes that do not exist, or is not symmetric; or ``ptr``
            cuts through an edge.
    """
    columns = np.asarray(edge_index)
    if columns.ndim != 2 or columns.shape[0] != 2:
        raise ValueError(f"edge_index: shape {columns.shape}; expected (2, number of edges)")
    if columns.size and columns.dtype.kind not in "iu":
        raise ValueError(f"edge_index: dtype {columns.dtype}; node ids must be integers")
    num_nodes = _checked_count(num_nodes)
    if columns.dtype == np.uint64 and columns.size and columns.max() >= num_nodes:
        raise ValueError(f"edge_index: node {columns.max()} does not exist; there are {num_nodes} nodes")
    source, target = columns = np.ascontiguousarray(columns, dtype=np.int64)
    if columns.size and (columns.min() < 0 or columns.max() >= num_nodes):
        bad = int(np.flatnonzero((columns < 0).any(0) | (columns >= num_nodes).any(0))[0])
        raise ValueError(
            f"edge_index: column {bad} is ({source[bad]}, {target[bad]}), but node ids run from 0 to {num_nodes - 1}"
        )
    by_target, order = np.empty((2, source.size), np.int64)
    counting_sort(target, num_nodes, np.arange(source.size), by_target)
    counting_sort(source, num_nodes, by_target, order)
    indptr = np.empty(num_nodes + 1, np.int64)
    arc = np.empty(source.size, np.int64)
    indices = np.empty(source.size, np.int32)
    arcs = build_csr(source, target, order, indptr, indices, arc)
    csr = Csr(indptr, indices[:arcs])
    edge = np.empty(arcs, np.int64)
    edges = np.empty((arcs // 2, 2), np.int64)
    one_way = pair_arcs(csr, edge, edges)
    if one_way >= 0:
        u = int(np.searchsorted(indptr, one_way, side="right")) - 1
        v = int(indices[one_way])
        raise ValueError(
            f"edge_index: not symmetric, it holds ({u}, {v}) but not ({v}, {u}); "
            "make it undirected first, e.g. with torch_geometric.utils.to_undirected"
        )
    return Graph(csr, columns, arc, edge, edges, np.array([0, num_nodes]) if ptr is None else _checked_ptr(ptr, csr))


def from_edges(edges: Iterable[tuple[int, int]] | ArrayLike, num_nodes: int | None = None) -> Graph:
    """The graph with these undirected edges, each named once or more, in any direction.

    >>> from_edges([(0, 1), (2, 1)], num_nodes=4)
    Graph(nodes=4, edges=2)
    """
    pairs = np.asarray(edges if hasattr(edges, "__array__") else list(edges))  # type: ignore[arg-type]
    if pairs.size == 0:
        pairs = np.empty((0, 2), np.int64)
    if pairs.ndim != 2 or pairs.shape[1] != 2:
        raise ValueError(f"edges: shape {pairs.shape}; expected one (u, v) pair per edge")
    if num_nodes is None:
        num_nodes = int(pairs.max()) + 1 if pairs.size else 0
    both = np.concatenate([pairs, pairs[:, ::-1]]).T
    whole = from_edge_index(both, num_nodes)
    source = np.repeat(np.arange(num_nodes), whole.degrees)
    columns = np.stack([source, whole.csr.indices.astype(np.int64)])
    return Graph(whole.csr, columns, np.arange(source.size), whole.edge, whole.edges, whole.ptr)


def as_graph(graph: Any, num_nodes: int | None = None) -> Graph:
    """The view of whatever holds a graph.

    Args:
        graph: A `Graph`; a PyG ``Data`` or ``Batch``; a networkx graph (nodes in its own order); a graph6 or sparse6
            string; a sequence of (u, v) pairs with ``num_nodes``; or a sequence of any of the others, side by side.
        num_nodes: Number of nodes, for a sequence of pairs only.

    >>> as_graph("Cl")
    Graph(nodes=4, edges=4)
    >>> as_graph(["Cl", [(0, 1)]])
    Graph(graphs=2, nodes=6, edges=5)
    """
    if num_nodes is not None:
        return from_edges(graph, num_nodes)
    if isinstance(graph, Graph):
        return graph
    if isinstance(graph, str | bytes):
        size, edges = decode(graph)
        return from_edges(edges, size)
    if isinstance(graph, networkx.Graph):
        return _from_networkx(graph)
    if hasattr(graph, "edge_index") and hasattr(graph, "num_nodes"):
        return _from_pyg(graph)
    if isinstance(graph, Sequence):
        if graph and all(isinstance(pair, Sequence) and _is_pair(pair) for pair in graph):
            return from_edges(graph)
        return disjoint_union([as_graph(member) for member in graph])
    raise TypeError(
        f"graph: cannot read {type(graph).__name__}; give a PyG Data or Batch, a networkx graph, graph6 text, "
        "(u, v) pairs with num_nodes, or a list of these"
    )


def disjoint_union(members: Sequence[Graph]) -> Graph:
    """The graphs side by side, as PyG batches them; their types, too, if all have some."""
    sizes = np.array([0, *(member.num_nodes for member in members)])
    columns = [member.edge_index + shift for member, shift in zip(members, sizes.cumsum(), strict=False)]
    ptr = [member.ptr[1:] + shift for member, shift in zip(members, sizes.cumsum(), strict=False)]
    union = from_edge_index(
        np.concatenate([np.empty((2, 0), np.int64), *columns], axis=1),
        int(sizes.sum()),
        ptr=np.concatenate([np.zeros(1, np.int64), *ptr]),
    )
    types = [member.types.node for member in members if member.types is not None]
    if not types or len(types) < len(members):
        return union
    return union.typed(np.concatenate(types), np.concatenate([member.column_types for member in members]))


def permute(graph: Graph, order: ArrayLike, columns: ArrayLike | None = None) -> Graph:
    """The same graph with node v called ``order[v]``, and its edge columns listed as ``columns`` says."""
    order = np.asarray(order)
    if not np.array_equal(np.sort(order), np.arange(graph.num_nodes)):
        raise ValueError(f"order: not a permutation of 0 to {graph.num_nodes - 1}")
    kept = np.arange(graph.arc.size) if columns is None else np.asarray(columns)
    renamed = from_edge_index(order[graph.edge_index][:, kept], graph.num_nodes)
    if graph.types is None:
        return renamed
    nodes = np.empty_like(graph.types.node)
    nodes[order] = graph.types.node
    return renamed.typed(nodes, graph.column_types[kept])


def _is_pair(pair: Sequence[Any]) -> bool:
    return not isinstance(pair, str | bytes) and len(pair) == 2 and all(isinstance(i, int | np.integer) for i in pair)


def _checked_ptr(ptr: NDArray[np.int64], csr: Csr) -> NDArray[np.int64]:
    num_nodes = csr.indptr.size - 1
    ptr = np.ascontiguousarray(ptr, np.int64)
    if ptr.ndim != 1 or not ptr.size or ptr[0] != 0 or ptr[-1] != num_nodes or (np.diff(ptr) < 0).any():
        raise ValueError(f"ptr: expected numbers that rise from 0 to the number of nodes, {num_nodes}")
    torn = find_torn(csr, ptr)
    if torn >= 0:
        raise ValueError(f"ptr: an edge of node {torn} joins two of the graphs side by side")
    return ptr


def _checked_types(name: str, given: ArrayLike | None, size: int) -> NDArray[np.int64]:
    if given is None:
        return np.zeros(size, np.int64)
    types = np.asarray(given)
    if types.shape != (size,) or (size and types.dtype.kind not in "iub"):
        raise ValueError(f"{name}: shape {types.shape}, dtype {types.dtype}; expected {size} integers")
    if size and not 0 <= types.min() <= types.max() <= LARGEST_TYPE:
        raise ValueError(f"{name}: types from {types.min()} to {types.max()}; expected integers from 0 to 2 ** 62 - 1")
    return types.astype(np.int64)


def _checked_count(num_nodes: Any) -> int:
    if isinstance(num_nodes, bool) or not isinstance(num_nodes, int | np.integer) or num_nodes < 0:
        raise ValueError(f"num_nodes: {num_nodes!r}; expected an integer >= 0")
    if num_nodes > np.iinfo(np.int32).max:
        raise ValueError(f"num_nodes: {num_nodes}; at most {np.iinfo(np.int32).max} nodes fit in one view")
    return int(num_nodes)


def _from_networkx(graph: "networkx.Graph[Any]") -> Graph:
    number = {node: i for i, node in enumerate(graph)}
    arcs = [(number[u], number[v]) for u, v in graph.edges()]
    if graph.is_directed():
        return from_edge_index(np.array(arcs, np.int64).reshape(-1, 2).T, len(number))
    return from_edges(arcs, len(number))


def _from_pyg(data: Any) -> Graph:
    if data.edge_index is None or not hasattr(data.edge_index, "detach"):
        raise ValueError(f"edge_index: the {type(data).__name__} has none; expected a (2, number of edges) tensor")
    ptr = getattr(data, "ptr", None)
    return from_edge_index(
        data.edge_index.detach().cpu().numpy(),
        data.num_nodes,
        ptr=None if ptr is None else ptr.detach().cpu().numpy(),
    )
