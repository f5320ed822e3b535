r"""The structural encoding of ESC-GNN: sparse histograms of the subgraph rooted at each edge.

Yan et al., An Efficient Subgraph GNN with Provable Substructure Counting Power, KDD 2024, section `subsec:frame`.

This module needs no torch; `escgnn.transforms.StructuralEncoding` is the same for PyTorch Geometric.
"""

from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import isfinite
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from escgnn.encoding.bins import (
    Bin,
    Label,
    Settings,
    edge_codes,
    layout,
    motif_tables,
    names,
    pair_codes,
    resistance_table,
)
from escgnn.graphs import Graph, as_graph
from escgnn.kernels import threads as pool
from escgnn.kernels.encoding import Layout, Output, Resistance, encode, link_columns, scatter
from escgnn.kernels.motifs import Motifs
from escgnn.kernels.resistance import MAX_CORE

PARTS = ("degree", "node", "joint", "edge", "resistance", "wedge", "triangle", "path")
SUBGRAPHS = ("union", "balls")


@dataclass(frozen=True, slots=True)
class Rows:
    """Sparse histograms, one after the other: row i holds ``length[i]`` bins, ascending, and their counts."""

    length: NDArray[np.int32]  # (rows,)
    bin: NDArray[np.int32]  # (nnz,)
    count: NDArray[np.int32]  # (nnz,)
    bins: tuple[Bin, ...]  # name of every bin

    def __len__(self) -> int:
        return self.length.size

    def __getitem__(self, row: int) -> dict[Bin, int]:
        """One row by the names of its bins."""
        stop = int(self.length[: range(len(self))[row] + 1].sum())
        start = stop - int(self.length[row])
        values = zip(self.bin[start:stop].tolist(), self.count[start:stop].tolist(), strict=True)
        return {self.bins[b]: count for b, count in values}

    def dense(self) -> NDArray[np.int32]:
        """The whole matrix ``(rows, bins)``, zeros included."""
        matrix = np.zeros((len(self), len(self.bins)), np.int32)
        matrix[np.repeat(np.arange(len(self)), self.length), self.bin] = self.count
        return matrix


class RootedEncoding:
    r"""Histograms of the :math:`h`-hop subgraph rooted at a 2-tuple :math:`(u, v)`.

    The subgraph holds the nodes within :math:`h` of :math:`u` or of :math:`v`. A node :math:`w` has the label
    :math:`f(w) = (d(w, u), d(w, v))`, distances in the whole graph.

    Args:
        hops: Radius :math:`h`, at least 1.
        parts: Histograms to keep, in this order. ``"degree"``: nodes by degree inside the subgraph. ``"node"``: nodes
            by distance to u and, apart, to v. ``"joint"``: nodes by label. ``"edge"``: edges by the labels of their
            ends. ``"resistance"``: nodes by resistance distance to u and, apart, to v, inside the subgraph. Beyond the
            paper: ``"wedge"``, ``"triangle"`` and ``"path"``: 2-paths (open or closed), triangles and 3-paths by the labels
            of their nodes.
        subgraph: ``"union"`` keeps every edge between nodes of the subgraph. ``"balls"`` keeps those within one of the
            two balls, as the authors' code does: for comparison with published numbers only.
        max_degree: Degrees from here on share the last bin.
        resistance_width: Width of a resistance bin; the last one is open.
        nodes: Encode the 2-tuples :math:`(v, v)`, too.
        max_nodes: A root whose subgraph would have more nodes is encoded at the largest radius k that fits, exactly,
            and counts 1 in the bin ``("clipped", k)``.

    >>> from escgnn import graphs
    >>> encoding = RootedEncoding(hops=1, parts=("edge",))
    >>> encoding.row(graphs.cycle(4), 0, 1)["edge", 1, 2, 2, 1]
    1
    """

    def __init__(
        self,
        hops: int = 2,
        parts: Sequence[str] = ("degree", "node", "joint", "edge"),
        *,
        subgraph: str = "union",
        max_degree: int = 32,
        resistance_width: float = 0.5,
        nodes: bool = False,
        max_nodes: int | None = None,
    ) -> None:
        self.hops = _at_least("hops", hops, 1)
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

    def __repr__(self) -> str:
        return (
            f"{type(self).__name__}(hops={self.hops}, parts={self.parts}, subgraph={self.subgraph!r}, "
            f"max_degree={self.max_degree}, resistance_width={self.resistance_width}, nodes={self.nodes}, "
            f"max_nodes={self.max_nodes})"
        )

    @cached_property
    def _settings(self) -> Settings:
        return Settings(self.hops, self.parts, self.subgraph, self.max_degree, self.resistance_width, self.max_nodes)

    @cached_property
    def bins(self) -> tuple[Bin, ...]:
        """Name of every bin that an edge or a node (v, v) can have."""
        return tuple(names(self._settings, [*edge_codes(self.hops).values()]))

    @cached_property
    def pair_bins(self) -> tuple[Bin, ...]:
        """The same, followed by the labels that only roots that are not adjacent can give."""
        return tuple(dict.fromkeys((*self.bins, *names(self._settings, [*pair_codes(self.hops).values()]))))

    @property
    def num_bins(self) -> int:
        """Number of bins of an edge."""
        return len(self.bins)

    def rows(self, graph: Any, *, threads: int | None = None) -> Rows:
        """The encoding of every column of ``edge_index``, in its order; a loop's row is that of (v, v)."""
        graph = as_graph(graph)
        loops = np.flatnonzero(graph.arc < 0)
        roots = np.concatenate([graph.edges, np.repeat(graph.edge_index[0, loops], 2).reshape(-1, 2)])
        blocks = self._encode(graph, roots, threads)
        lengths = np.concatenate([_NONE, *(block.length for block in blocks)])
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
        _give_back(blocks)
        return Rows(length, result[0], result[1], self.bins)

    def node_rows(self, graph: Any, *, threads: int | None = None) -> Rows:
        """The encoding of (v, v) for every node v."""
        graph = as_graph(graph)
        roots = np.repeat(np.arange(graph.num_nodes), 2).reshape(-1, 2)
        return _forward(self._encode(graph, roots, threads), self.bins)

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
        return _forward(self._encode(graph, roots.astype(np.int64), threads, anywhere=True), self.pair_bins)

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
        edges = graph.edges
        for start in range(0, len(edges), size):
            roots = edges[start : start + size]
            both = np.stack([roots, roots[:, ::-1]], axis=1).reshape(-1, 2)
            yield both, _joined(self._encode(graph, roots, None), self.bins)
        if self.nodes:
            for start in range(0, graph.num_nodes, size):
                roots = np.repeat(np.arange(start, min(start + size, graph.num_nodes)), 2).reshape(-1, 2)
                yield roots, _forward(self._encode(graph, roots, None), self.bins)

    @cached_property
    def _edge_tables(self) -> tuple[Layout, Resistance | None, Motifs | None]:
        return self._tables(edge_codes(self.hops), self.bins)

    @cached_property
    def _pair_tables(self) -> tuple[Layout, Resistance | None, Motifs | None]:
        return self._tables(pair_codes(self.hops), self.pair_bins)

    def _tables(
        self, codes: dict[int, Label], bins: tuple[Bin, ...]
    ) -> tuple[Layout, Resistance | None, Motifs | None]:
        settings = self._settings
        return layout(settings, codes, bins), resistance_table(settings, bins), motif_tables(settings, codes, bins)

    def _encode(
        self, graph: Graph, roots: NDArray[np.int64], threads: int | None, *, anywhere: bool = False
    ) -> list[Rows]:
        """Blocks of rows, those of (u, v) and (v, u) alternately, for every root."""
        tables = self._pair_tables if anywhere else self._edge_tables
        room = 2 * tables[0].swap.size

        def task(start: int, stop: int) -> Rows:
            lengths = np.empty(2 * (stop - start), np.int32)
            bins, counts = _borrow(room * (stop - start) + 1)
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


# New memory costs more than the numbers written to it, so a few buffers are used again and again.
BUFFER = 1 << 20  # numbers
_buffers: deque[NDArray[np.int32]] = deque(maxlen=8)


def _borrow(size: int) -> NDArray[np.int32]:
    """Two arrays for one block, with whatever they held before."""
    try:
        buffer = _buffers.pop()
    except IndexError:
        buffer = np.empty((2, BUFFER + 1), np.int32)
    return buffer if size <= buffer.shape[1] else np.empty((2, size), np.int32)


def _give_back(blocks: list[Rows]) -> None:
    """Allow the blocks' memory to be used again; nobody may look at them any more."""
    for block in blocks:
        buffer = block.bin.base
        if buffer is not None and buffer.shape == (2, BUFFER + 1):
            _buffers.append(buffer)


_NONE = np.empty(0, np.int32)


def _joined(blocks: list[Rows], names: tuple[Bin, ...]) -> Rows:
    length, bins, counts = (
        np.concatenate([_NONE, *(getattr(block, field) for block in blocks)]) for field in ("length", "bin", "count")
    )
    _give_back(blocks)
    return Rows(length, bins, counts, names)


def _forward(blocks: list[Rows], names: tuple[Bin, ...]) -> Rows:
    """Join blocks and keep the rows of (u, v) out of those of (u, v) and (v, u)."""
    rows = _joined(blocks, names)
    keep = np.repeat(np.arange(len(rows)) % 2 == 0, rows.length)
    return Rows(rows.length[::2].copy(), rows.bin[keep], rows.count[keep], names)


def _at_least(argument: str, value: Any, least: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < least:
        raise ValueError(f"{argument}: {value!r}; expected an integer >= {least}")
    return int(value)


def _checked_parts(parts: Sequence[str]) -> tuple[str, ...]:
    if isinstance(parts, str):
        raise ValueError(f"parts: {parts!r} is a string; expected a sequence such as ({parts!r},)")
    for part in parts:
        if part not in PARTS:
            raise ValueError(f"parts: unknown part {part!r}; expected some of {', '.join(PARTS)}")
    if not parts or len(set(parts)) < len(parts):
        raise ValueError(f"parts: {tuple(parts)!r}; expected one or more different parts")
    return tuple(parts)
