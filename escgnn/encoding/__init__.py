r"""The structural encoding of ESC-GNN: sparse histograms of the subgraph rooted at each edge.

Yan et al., An Efficient Subgraph GNN with Provable Substructure Counting Power, KDD 2024, section `subsec:frame`.

This module needs no torch; `escgnn.transforms.StructuralEncoding` is the same for PyTorch Geometric.
"""

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from inspect import Parameter, signature
from math import isfinite
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from escgnn.encoding.bins import (
    Bin,
    Label,
    Settings,
    edge_codes,
    further_tables,
    layout,
    motif_tables,
    names,
    pair_codes,
    resistance_table,
)
from escgnn.encoding.rows import BUFFER, NONE, Rows, borrow, forward, give_back, joined, side_by_side
from escgnn.graphs import Graph, as_graph
from escgnn.kernels import threads as pool
from escgnn.kernels.encoding import Layout, Output, Resistance, encode
from escgnn.kernels.further import Further
from escgnn.kernels.motifs import Motifs
from escgnn.kernels.resistance import MAX_CORE
from escgnn.kernels.rows import link_columns, scatter

__all__ = ["PARTS", "SUBGRAPHS", "Bin", "RootedEncoding", "Rows"]

PARTS = ("degree", "node", "joint", "edge", "resistance", "wedge", "triangle", "path", "walk", "cycle", "colour")
SUBGRAPHS = ("union", "balls")
LONGEST_CYCLE = 8
Tables = tuple[Layout, Resistance | None, Motifs | None, Further | None]


class RootedEncoding:
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
            the subgraph that begin with the labels, hashed to ``colour_bins``. Walks and cycles beyond 2,147,483,647
            read that number.
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
    """

    def __init__(
        self,
        hops: int | Sequence[int] = 2,
        parts: Sequence[str] = ("degree", "node", "joint", "edge"),
        *,
        subgraph: str = "union",
        max_degree: int = 32,
        resistance_width: float = 0.5,
        nodes: bool = False,
        max_nodes: int | None = None,
        walk_length: int = 6,
        cycle_length: int = LONGEST_CYCLE,
        colour_rounds: int = 2,
        colour_bins: int = 64,
    ) -> None:
        self.hops = _checked_hops(hops)
        self.parts = _checked_parts(parts)
        if subgraph not in SUBGRAPHS:
            raise ValueError(f"subgraph: {subgraph!r}; expected one of {', '.join(SUBGRAPHS)}")
        self.subgraph = subgraph
        self.max_degree = _at_least("max_degree", max_degree, 0)
        if not (isfinite(resistance_width) and resistance_width > 0):
            raise ValueError(f"resistance_width: {resistance_width!r}; expected a number above 0")
        self.resistance_width = float(resistance_width)
        self.nodes = bool(nodes)
        self.max_nodes = None if max_nodes is None else _at_least("max_nodes", max_nodes, 2)
        self.walk_length = _at_least("walk_length", walk_length, 2)
        self.cycle_length = _at_least("cycle_length", cycle_length, 3, LONGEST_CYCLE)
        self.colour_rounds = _at_least("colour_rounds", colour_rounds, 0)
        self.colour_bins = _at_least("colour_bins", colour_bins, 1)

    def __repr__(self) -> str:
        return f"{type(self).__name__}(hops={self.hops}, parts={self.parts}, {_listed(self._options)})"

    @property
    def _options(self) -> dict[str, Any]:
        """The keyword arguments."""
        return {name: getattr(self, name) for name in OPTIONS}

    @property
    def radius(self) -> int:
        """The radius, or the largest."""
        return self.hops if isinstance(self.hops, int) else max(self.hops)

    @cached_property
    def _members(self) -> dict[Bin, "RootedEncoding"]:
        """With several radii, an encoding for each by what its bins begin with, and one for what is the same in all."""
        if isinstance(self.hops, int):
            return {}
        here = tuple(part for part in self.parts if part != "cycle")
        members: dict[Bin, RootedEncoding] = {
            (f"h{radius}",): RootedEncoding(radius, here, **self._options) for radius in (self.hops if here else ())
        }
        if "cycle" in self.parts:  # the smallest radius, as it does not matter; for the same reason nothing is clipped
            members[()] = RootedEncoding(1, ("cycle",), **{**self._options, "max_nodes": None})
        return members

    @cached_property
    def _settings(self) -> Settings:
        options = self._options
        del options["nodes"]
        return Settings(self.radius, self.parts, **options)

    @cached_property
    def bins(self) -> tuple[Bin, ...]:
        """Name of every bin that an edge or a node (v, v) can have."""
        if self._members:
            return tuple((*word, *name) for word, member in self._members.items() for name in member.bins)
        return tuple(names(self._settings, [*edge_codes(self.radius).values()]))

    @cached_property
    def pair_bins(self) -> tuple[Bin, ...]:
        """The same, followed by the labels that only roots that are not adjacent can give."""
        more: Iterator[Bin] = (
            ((*word, *name) for word, member in self._members.items() for name in member.pair_bins)
            if self._members
            else names(self._settings, [*pair_codes(self.radius).values()])
        )
        return tuple(dict.fromkeys((*self.bins, *more)))

    @property
    def num_bins(self) -> int:
        """Number of bins of an edge."""
        return len(self.bins)

    def rows(self, graph: Any, *, threads: int | None = None) -> Rows:
        """The encoding of every column of ``edge_index``, in its order; a loop's row is that of (v, v)."""
        graph = as_graph(graph)
        if self._members:
            return self._merged([m.rows(graph, threads=threads) for m in self._members.values()], self.bins)
        loops = np.flatnonzero(graph.arc < 0)
        roots = np.concatenate([graph.edges, np.repeat(graph.edge_index[0, loops], 2).reshape(-1, 2)])
        blocks = self._encode(graph, roots, threads)
        lengths = np.concatenate([NONE, *(block.length for block in blocks)])
        row, following = np.empty((2, graph.arc.size), np.int64)
        first = np.empty(lengths.size, np.int64)
        link_columns(graph.edge_index, graph.arc, graph.edge, row, first, following)
        length = lengths[row]
        starts = length.cumsum(dtype=np.int64) - length
        result = np.empty((2, length.sum(dtype=np.int64)), np.int32)
        begins = np.cumsum([0, *(block.length.size for block in blocks)])

        def task(start: int, stop: int) -> None:
            for block, begin in zip(blocks[start:stop], begins[start:stop], strict=True):
                mine = first[begin : begin + block.length.size]
                scatter(block.length, mine, following, starts, block.bin, result[0])
                scatter(block.length, mine, following, starts, block.count, result[1])

        pool.over_blocks(task, len(blocks), 1, threads)
        give_back(blocks)
        return Rows(length, result[0], result[1], self.bins)

    def node_rows(self, graph: Any, *, threads: int | None = None) -> Rows:
        """The encoding of (v, v) for every node v."""
        graph = as_graph(graph)
        if self._members:
            return self._merged([m.node_rows(graph, threads=threads) for m in self._members.values()], self.bins)
        roots = np.repeat(np.arange(graph.num_nodes), 2).reshape(-1, 2)
        return forward(self._encode(graph, roots, threads), self.bins)

    def pairs(self, graph: Any, pairs: ArrayLike, *, threads: int | None = None) -> Rows:
        """The encoding of any 2-tuples, adjacent, equal or neither; its bins are `pair_bins`."""
        graph = as_graph(graph)
        roots = np.asarray(pairs)
        if roots.size == 0:
            roots = np.empty((0, 2), np.int64)
        if roots.ndim != 2 or roots.shape[1] != 2 or roots.dtype.kind not in "iu":
            raise ValueError(f"pairs: shape {roots.shape}, dtype {roots.dtype}; expected integers (number of pairs, 2)")
        if roots.size and (roots.min() < 0 or roots.max() >= graph.num_nodes):
            bad = roots[((roots < 0) | (roots >= graph.num_nodes)).any(1)][0].tolist()
            raise ValueError(f"pairs: {tuple(bad)}, but node ids run from 0 to {graph.num_nodes - 1}")
        if self._members:
            pieces = [member.pairs(graph, roots, threads=threads) for member in self._members.values()]
            return self._merged(pieces, self.pair_bins)
        return forward(self._encode(graph, roots.astype(np.int64), threads, anywhere=True), self.pair_bins)

    def row(self, graph: Any, u: int, v: int) -> Mapping[Bin, int]:
        """The encoding of one 2-tuple, as a mapping from bins to counts above 0."""
        return self.pairs(graph, [(u, v)])[0]

    def dense(self, graph: Any) -> NDArray[np.int32]:
        """All edges' rows as one matrix ``(E, num_bins)``; for small work."""
        return self.rows(graph).dense()

    def blocks(self, graph: Any, size: int = 1 << 16) -> Iterator[tuple[NDArray[np.int64], Rows]]:
        """The encoding of a large graph piece by piece: each piece's roots ``(rows, 2)`` and rows.

        Both directions of an edge follow each other. Memory is the graph plus one piece. With ``nodes=True`` the
        tuples (v, v) come last.
        """
        graph = as_graph(graph)
        if self._members:
            for pieces in zip(*(member.blocks(graph, size) for member in self._members.values()), strict=True):
                yield pieces[0][0], self._merged([rows for _, rows in pieces], self.bins)
            return
        edges = graph.edges
        for start in range(0, len(edges), size):
            roots = edges[start : start + size]
            both = np.stack([roots, roots[:, ::-1]], axis=1).reshape(-1, 2)
            yield both, joined(self._encode(graph, roots, None), self.bins)
        if self.nodes:
            for start in range(0, graph.num_nodes, size):
                roots = np.repeat(np.arange(start, min(start + size, graph.num_nodes)), 2).reshape(-1, 2)
                yield roots, forward(self._encode(graph, roots, None), self.bins)

    def _merged(self, pieces: list[Rows], bins: tuple[Bin, ...]) -> Rows:
        return side_by_side(pieces, [*self._members], bins)

    @cached_property
    def _edge_tables(self) -> Tables:
        return self._tables(edge_codes(self.radius), self.bins)

    @cached_property
    def _pair_tables(self) -> Tables:
        return self._tables(pair_codes(self.radius), self.pair_bins)

    def _tables(self, codes: dict[int, Label], bins: tuple[Bin, ...]) -> Tables:
        settings = self._settings
        motifs, further = motif_tables(settings, codes, bins), further_tables(settings, codes, bins)
        return layout(settings, codes, bins), resistance_table(settings, bins), motifs, further

    def _encode(
        self, graph: Graph, roots: NDArray[np.int64], threads: int | None, *, anywhere: bool = False
    ) -> list[Rows]:
        """Blocks of rows, those of (u, v) and (v, u) alternately, for every root."""
        tables = self._pair_tables if anywhere else self._edge_tables
        room = 2 * tables[0].swap.size

        def task(start: int, stop: int) -> Rows:
            lengths = np.empty(2 * (stop - start), np.int32)
            bins, counts = borrow(room * (stop - start) + 1)
            output = Output(lengths, bins, counts)
            used = encode(graph.csr, roots[start:stop], *tables, anywhere or None, output)
            if used < 0:
                u, v = roots[start - 1 - used].tolist()
                raise ValueError(
                    f"resistance: the subgraph rooted at ({u}, {v}) has more than {MAX_CORE} nodes left when its tree "
                    "parts are removed, too many to solve; set max_nodes or lower hops"
                )
            return Rows(lengths, bins[:used], counts[:used], ())

        threads = threads or pool.count()
        fair = -(-len(roots) // (2 * threads))
        block = max(min(fair, BUFFER // room), min(512, BUFFER // room), 1)  # few roots are not worth another thread
        return pool.over_blocks(task, len(roots), block, threads)


OPTIONS = tuple(name for name, p in signature(RootedEncoding).parameters.items() if p.kind is Parameter.KEYWORD_ONLY)


def _listed(options: Mapping[str, Any]) -> str:
    return ", ".join(f"{name}={value!r}" for name, value in options.items())


def _at_least(argument: str, value: Any, least: int, most: int | None = None) -> int:
    whole = isinstance(value, int | np.integer) and not isinstance(value, bool)
    if not whole or value < least or (most is not None and value > most):
        expected = f"an integer >= {least}" if most is None else f"an integer from {least} to {most}"
        raise ValueError(f"{argument}: {value!r}; expected {expected}")
    return int(value)


def _checked_hops(hops: int | Sequence[int]) -> int | tuple[int, ...]:
    if isinstance(hops, str) or not isinstance(hops, Sequence | np.ndarray):
        return _at_least("hops", hops, 1)
    radii = tuple(_at_least("hops", radius, 1) for radius in hops)
    if not radii or len({*radii}) < len(radii):
        raise ValueError(f"hops: {radii!r}; expected one or more different radii")
    return radii


def _checked_parts(parts: Sequence[str]) -> tuple[str, ...]:
    if isinstance(parts, str):
        raise ValueError(f"parts: {parts!r} is a string; expected a sequence such as ({parts!r},)")
    for part in parts:
        if part not in PARTS:
            raise ValueError(f"parts: unknown part {part!r}; expected some of {', '.join(PARTS)}")
    if not parts or len(set(parts)) < len(parts):
        raise ValueError(f"parts: {tuple(parts)!r}; expected one or more different parts")
    return tuple(parts)
