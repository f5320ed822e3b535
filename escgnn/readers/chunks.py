"""Graphs side by side: what encoding and counting work on."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from escgnn.graphs import Graph, Types, from_edge_index, from_edges
from escgnn.readers.parsed import Parsed


@dataclass(frozen=True, slots=True, eq=False)
class Chunk:
    """Some graphs of a file, side by side.

    Attributes:
        graphs: The graphs; ``graphs.ptr`` says where the nodes of each begin.
        ids: What the file calls each graph, ``(graphs,)``.
        lines: Line or row of the file where each begins, from 1, ``(graphs,)``.
        node_ids: What the file calls each node, ``(nodes,)``.
    """

    graphs: Graph
    ids: Any  # pyarrow.Array
    lines: NDArray[np.int64]
    node_ids: NDArray[np.int64]

    def part(self, start: int, stop: int) -> "Chunk":
        """Some of the graphs."""
        low, high = self.graphs.ptr[[start, stop]].tolist()
        first, last = np.searchsorted(self.graphs.edges[:, 0], [low, high])  # no edge joins two graphs
        edges = self.graphs.edges[first:last] - low
        sizes = np.diff(self.graphs.ptr[start : stop + 1])
        some = side_by_side(self.ids[start:stop], self.lines[start:stop], self.node_ids[low:high], sizes, edges)
        if self.graphs.types is None:
            return some
        arcs = slice(*self.graphs.csr.indptr[[low, high]].tolist())
        types = Types(self.graphs.types.node[low:high], self.graphs.types.arc[arcs])
        return replace(some, graphs=replace(some.graphs, types=types))

    def typed(self, edges: NDArray[np.int64], node: NDArray[np.int64], edge: NDArray[np.int64]) -> "Chunk":
        """The same graphs with types.

        Args:
            edges: The edges, each once, which count through all graphs, ``(edges, 2)``.
            node: Type of every node.
            edge: Type of every edge.
        """
        columns = np.concatenate([edges, edges[:, ::-1]]).T
        whole = from_edge_index(columns, self.graphs.num_nodes).typed(node, np.tile(edge, 2))
        return replace(self, graphs=replace(self.graphs, types=whole.types))


@dataclass(frozen=True, slots=True, eq=False)
class _Piece:
    """Graphs that follow each other, on their way into a chunk: record numbers, lines, sizes, and edges of each from 0."""

    records: NDArray[np.int64]
    lines: NDArray[np.int64]
    num_nodes: NDArray[np.int64]
    num_edges: NDArray[np.int64]
    edges: NDArray[np.int64]


def pack(blocks: Iterable[tuple[NDArray[np.int64], NDArray[np.int64], Parsed]], chunk_size: int) -> Iterator[Chunk]:
    """Chunks, each ending with the graph that brings it to ``chunk_size`` nodes and edges.

    Args:
        blocks: The record number and the line of each graph, and the graphs.
        chunk_size: Where chunks end.
    """
    held: list[_Piece] = []
    room = chunk_size  # until the chunk in hand is full
    for records, lines, graphs in blocks:
        size = np.cumsum(graphs.num_nodes + graphs.num_edges)  # of all graphs up to and with each
        edge = np.append(0, np.cumsum(graphs.num_edges))
        start = 0
        while start < records.size:
            done = size[start - 1] if start else 0
            last = int(np.searchsorted(size[start:], done + room)) + start  # the graph that fills the chunk
            stop = min(last + 1, records.size)
            held.append(
                _Piece(
                    records[start:stop],
                    lines[start:stop],
                    graphs.num_nodes[start:stop],
                    graphs.num_edges[start:stop],
                    graphs.edges[edge[start] : edge[stop]],
                )
            )
            room -= size[stop - 1] - done
            if last < records.size:
                yield _joined(held)
                held = []
                room = chunk_size
            start = stop
    if held:
        yield _joined(held)


def side_by_side(
    ids: Any,
    lines: NDArray[np.int64],
    node_ids: NDArray[np.int64],
    sizes: NDArray[np.int64],
    edges: NDArray[np.int64],
) -> Chunk:
    """The chunk of graphs with these numbers of nodes, whose edges already count through all of them."""
    ptr = np.concatenate([np.zeros(1, np.int64), np.cumsum(sizes)])
    return Chunk(replace(from_edges(edges, len(node_ids)), ptr=ptr), ids, lines, node_ids)


def count_within(sizes: NDArray[np.int64]) -> NDArray[np.int64]:
    """Numbers from 0 for the members of each of some groups of these sizes.

    >>> count_within(np.array([2, 0, 3]))
    array([0, 1, 0, 1, 2])
    """
    return np.arange(sizes.sum()) - np.repeat(np.cumsum(sizes) - sizes, sizes)


def _joined(pieces: list[_Piece]) -> Chunk:
    sizes = np.concatenate([piece.num_nodes for piece in pieces])
    num_edges = np.concatenate([piece.num_edges for piece in pieces])
    edges = np.concatenate([piece.edges for piece in pieces])
    shift = np.repeat(np.cumsum(sizes) - sizes, num_edges)
    ids = pa.array(np.concatenate([piece.records for piece in pieces]), pa.int64())
    lines = np.concatenate([piece.lines for piece in pieces])
    return side_by_side(ids, lines, count_within(sizes), sizes, edges + shift[:, None])
