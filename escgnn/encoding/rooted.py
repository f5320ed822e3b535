r"""The structural encoding of ESC-GNN: sparse histograms of the subgraph rooted at each edge.

Yan et al., An Efficient Subgraph GNN with Provable Substructure Counting Power, KDD 2024, section `subsec:frame`.
"""

from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from escgnn.encoding.bin import Bin, Name
from escgnn.encoding.cost import steps
from escgnn.encoding.parts import PARTS, check_parts
from escgnn.encoding.rows import Rows
from escgnn.encoding.settings import Settings
from escgnn.encoding.several_radii import source_of
from escgnn.encoding.sources import Source
from escgnn.encoding.types import typed_graph
from escgnn.graphs import Graph, as_graph
from escgnn.markup import table


class RootedEncoding(Settings):
    r"""Histograms of the :math:`h`-hop subgraph rooted at a 2-tuple :math:`(u, v)`.

    The subgraph holds the nodes within :math:`h` of :math:`u` or of :math:`v`. A node :math:`w` has the label
    :math:`f(w) = (d(w, u), d(w, v))`, distances in the whole graph.

    Args:
        hops: Radius :math:`h`, at least 1; or several, such as ``(1, 2, 3)``: then the encodings of each radius one after
            the other, bins beginning with it, as in ``("h2", "edge", 0, 1, 1, 0)``. Parts that do not depend on the radius
            come once, last, under their own name.
        parts: Histograms to keep, in this order. ``"degree"``: nodes by degree inside the subgraph. ``"node"``: nodes
            by distance to u and, apart, to v. ``"joint"``: nodes by label. ``"edge"``: edges by the labels of their
            ends. ``"resistance"``: nodes by resistance distance to u and, apart, to v, inside the subgraph. Beyond the
            paper: ``"wedge"``, ``"triangle"`` and ``"path"``: 2-paths (open or closed), triangles and 3-paths by the labels
            of their nodes. ``"walk"``: walks of 2 to ``walk_length`` edges inside the subgraph, :math:`(A^k)_{uv}` in
            ``("walk", k)`` and the closed ones :math:`(A^k)_{uu}` and :math:`(A^k)_{vv}` in ``("walk", "u", k)`` and
            ``("walk", "v", k)``; those within reach, up to 2h edges, are the whole graph's. ``"cycle"``: k-cycles of the
            whole graph through the edge, k from 3 to ``cycle_length``, whatever ``hops`` and ``max_nodes``: no node of
            one is farther than (k - 1) // 2 from the nearer root. For (v, v), those through v; for roots not adjacent,
            those that an edge between them would close, or paths of k - 1 edges. They are met one by one: quick in
            molecules, slow in dense graphs. ``"colour"``: nodes by their colour after ``colour_rounds`` of 1-WL inside
            the subgraph that begin with the labels, hashed to ``colour_bins``. ``"ring"``: as ``"cycle"``, but only cycles
            that no edge cuts short, of up to ``ring_length`` nodes. ``"alike"``: other neighbours of v that look like u, and of u
            that look like v, as far as ``alike_rounds`` of 1-WL see. Walks and cycles beyond 2,147,483,647 read that number.
        subgraph: ``"union"`` keeps every edge between nodes of the subgraph. ``"balls"`` keeps those within one of the
            two balls, as the authors' code does: for comparison with published numbers only.
        max_degree: Degrees from here on share the last bin.
        resistance_width: Width of a resistance bin; the last one is open.
        nodes: Encode the 2-tuples :math:`(v, v)`, too.
        max_nodes: A root whose subgraph would have more nodes is encoded at the largest radius k that fits, exactly,
            and counts 1 in the bin ``("clipped", k)``.
        walk_length: Edges of the longest walks, at least 2.
        cycle_length: Nodes of the longest cycles, from 3 to 8.
        colour_rounds: Rounds of 1-WL, at least 0.
        colour_bins: Number of hashed colours, at least 1.
        ring_length: Nodes of the longest rings, from 3 to 16.
        ring_bins: Number of hashed rings of each length, if there are types.
        alike_rounds: Rounds of 1-WL after which nodes may still look alike, at least 0.
        types: Attributes of a graph that say what kind its nodes and edges are of, integers from 0 on, such as
            ``("x", "edge_attr")``; those that begin with ``edge`` belong to edges. ``"x:4"`` is another column than the first,
            ``"x:0+4"`` are two together, hashed. Then ``"joint"`` counts by label and type of the node, as in
            ``("joint", 0, 1, "t6")``, ``"edge"`` by labels and type of the edge, ``"ring"`` by length and by the types around
            the ring, hashed, as in ``("ring", 6, 17)``; and ``"colour"`` begins with types, has those of edges in its messages
            and goes over the whole graph, so that after t rounds it knows Morgan's environments of radius t; labels come in
            at the end; ``"alike"`` begins with types, too.
        typed: The parts that count by types; by default all that can.
        node_types: Types of nodes that ``"joint"`` tells apart; from here on they begin anew.
        edge_types: The same for edges.

    >>> from escgnn import graphs
    >>> encoding = RootedEncoding(hops=1, parts=("edge",))
    >>> encoding.row(graphs.cycle(4), 0, 1)["edge", 1, 2, 2, 1]
    1
    >>> RootedEncoding(hops=1, parts=("cycle",)).row(graphs.complete(4), 0, 1)
    {('cycle', 3): 2, ('cycle', 4): 2}
    >>> RootedEncoding(hops=1, parts=("walk",), walk_length=3).row(graphs.path(3), 0, 1)
    {('walk', 3): 2, ('walk', 'u', 2): 1, ('walk', 'v', 2): 2}
    >>> RootedEncoding(hops=(1, 2), parts=("joint",)).row(graphs.path(4), 0, 1)["h2", "joint", 3, 2]
    1
    >>> RootedEncoding(hops=1, parts=("alike",)).row(graphs.star(3), 0, 1)
    {('alike', 'v'): 2}
    >>> ethanol = graphs.path(3).typed([6, 6, 8])
    >>> RootedEncoding(hops=1, parts=("joint",), types=("x",)).row(ethanol, 0, 1)
    {('joint', 0, 1, 't6'): 1, ('joint', 1, 0, 't6'): 1, ('joint', 2, 1, 't8'): 1}
    """

    def __post_init__(self) -> None:
        super().__post_init__()
        check_parts(self.parts)

    @cached_property
    def _source(self) -> Source:
        """What computes the rows."""
        return source_of(self)

    @property
    def bins(self) -> tuple[Bin, ...]:
        """Name of every bin that an edge or a node (v, v) can have."""
        return self._source.bins

    @property
    def pair_bins(self) -> tuple[Bin, ...]:
        """The same, followed by the labels that only roots that are not adjacent can give."""
        return self._source.pair_bins

    @property
    def num_bins(self) -> int:
        """Number of bins of an edge."""
        return len(self.bins)

    def _repr_html_(self) -> str:
        lines = []
        for part in self.parts:
            mine = [name for name in self.bins if name.part == part]
            lines.append((part, PARTS[part].counts, str(len(mine))))
        return table(
            ("part", "counts", "bins"), lines, f"{type(self).__name__}, hops={self.hops}, {self.num_bins:,} bins"
        )

    def view(self, graph: Any) -> Graph:
        """The view of whatever holds a graph, with its types if ``types`` asks for some."""
        return typed_graph(graph, self.types)

    def rows(self, graph: Any, *, threads: int | None = None) -> Rows:
        """The encoding of every column of ``edge_index``, in its order; a loop's row is that of (v, v)."""
        return self._source.rows(self.view(graph), threads)

    def node_rows(self, graph: Any, *, threads: int | None = None) -> Rows:
        """The encoding of (v, v) for every node v."""
        return self._source.node_rows(self.view(graph), threads)

    def pairs(self, graph: Any, pairs: ArrayLike, *, threads: int | None = None) -> Rows:
        """The encoding of any 2-tuples, adjacent, equal or neither; its bins are `pair_bins`."""
        graph = self.view(graph)
        roots = np.asarray(pairs)
        if roots.size == 0:
            roots = np.empty((0, 2), np.int64)
        if roots.ndim != 2 or roots.shape[1] != 2 or roots.dtype.kind not in "iu":
            raise ValueError(f"pairs: shape {roots.shape}, dtype {roots.dtype}; expected integers (number of pairs, 2)")
        if roots.size and (roots.min() < 0 or roots.max() >= graph.num_nodes):
            bad = roots[((roots < 0) | (roots >= graph.num_nodes)).any(1)][0].tolist()
            raise ValueError(f"pairs: {tuple(bad)}, but node ids run from 0 to {graph.num_nodes - 1}")
        return self._source.pairs(graph, roots.astype(np.int64), threads)

    def row(self, graph: Any, u: int, v: int) -> Mapping[Name, int]:
        """The encoding of one 2-tuple, as a mapping from bins to counts above 0."""
        return self.pairs(graph, [(u, v)])[0]

    def dense(self, graph: Any) -> NDArray[np.int32]:
        """All edges' rows as one matrix ``(E, num_bins)``; for small work."""
        return self.rows(graph).dense()

    def expected_steps(self, graph: Any) -> NDArray[np.float64]:
        """A bound on the steps that encoding takes, for each graph, from degrees alone; a second has some 10^8 of them."""
        return steps(as_graph(graph), self)

    def blocks(self, graph: Any, size: int = 1 << 16) -> Iterator[tuple[NDArray[np.int64], Rows]]:
        """The encoding of a large graph piece by piece: each piece's roots ``(rows, 2)`` and rows.

        Both directions of an edge follow each other. Memory is the graph plus one piece. With ``nodes=True`` the
        tuples (v, v) come last.
        """
        graph = self.view(graph)
        yield from self._source.edge_blocks(graph, size)
        if self.nodes:
            yield from self._source.node_blocks(graph, size)
