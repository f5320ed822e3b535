"""What reading yields: graphs side by side."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from escgnn.graphs import Graph, from_edges


@dataclass(frozen=True, slots=True, eq=False)
class Chunk:
    """Some graphs of a file, side by side.

    Attributes:
        graphs: The graphs; ``graphs.ptr`` says where the nodes of each begin.
        ids: What the file calls each graph, ``(graphs,)``.
        node_ids: What the file calls each node, ``(nodes,)``.
    """

    graphs: Graph
    ids: Any  # pyarrow.Array
    node_ids: NDArray[np.int64]


class Member(NamedTuple):
    """One graph on its way into a chunk: its record number, its nodes' names, and edges ``(m, 2)`` from 0."""

    record: int
    node_ids: NDArray[np.int64]
    edges: NDArray[np.int64]


def pack(members: Iterable[Member], chunk_size: int) -> Iterator[Chunk]:
    """Chunks, each ending with the graph that brings it to ``chunk_size`` nodes and edges."""
    held: list[Member] = []
    size = 0
    for member in members:
        held.append(member)
        size += len(member.node_ids) + len(member.edges)
        if size >= chunk_size:
            yield _packed(held)
            held, size = [], 0
    if held:
        yield _packed(held)


def side_by_side(ids: Any, node_ids: NDArray[np.int64], sizes: NDArray[np.int64], edges: NDArray[np.int64]) -> Chunk:
    """The chunk of graphs with these numbers of nodes, whose edges already count through all of them."""
    ptr = np.concatenate([np.zeros(1, np.int64), np.cumsum(sizes)])
    return Chunk(replace(from_edges(edges, len(node_ids)), ptr=ptr), ids, node_ids)


def _packed(members: list[Member]) -> Chunk:
    records, node_ids, edges = zip(*members, strict=True)
    sizes = np.array([len(nodes) for nodes in node_ids])
    shift = np.repeat(np.cumsum(sizes) - sizes, [len(pairs) for pairs in edges])
    return side_by_side(
        pa.array(records, pa.int64()), np.concatenate(node_ids), sizes, np.concatenate(edges) + shift[:, None]
    )
