"""Graphs on their way from texts into arrays: one after another, the texts that are no graphs told apart."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from escgnn.graphs import decode_graph6

NO_EDGES = np.empty((0, 2), np.int64)


@dataclass(frozen=True, slots=True, eq=False)
class Parsed:
    """The graphs of some texts, one after another, and what is wrong with the texts that have none.

    Attributes:
        good: Numbers of the texts that are graphs, ascending, ``(graphs,)``.
        num_nodes: Nodes of each graph, ``(graphs,)``.
        num_edges: Edges of each graph, ``(graphs,)``.
        edges: Edges of all graphs, each once, ``(edges, 2)``; the nodes of every graph count from 0.
        reasons: What is wrong with the other texts, by number.
        node: Further columns by name, a row for every node.
        edge: Further columns by name, a row for every edge.
        scaffolds: Of molecules, where they were asked for: the SMILES of each one's scaffold.
    """

    good: NDArray[np.int64]
    num_nodes: NDArray[np.int64]
    num_edges: NDArray[np.int64]
    edges: NDArray[np.int64]
    reasons: Mapping[int, str]
    node: Mapping[str, NDArray[Any]] = field(default_factory=dict)
    edge: Mapping[str, NDArray[Any]] = field(default_factory=dict)
    scaffolds: Sequence[str] = ()


Parse = Callable[[Sequence[str]], Parsed]  # what makes graphs of texts; it can be sent to another process


def parse_graph6(texts: Sequence[str]) -> Parsed:
    """The graphs of graph6 and sparse6 texts; loops and repeated edges leave no trace.

    >>> parse_graph6(["Bw", "no graph"]).num_edges
    array([3])
    """
    good = []
    num_nodes = []
    edges = [NO_EDGES]
    reasons = {}
    for number, text in enumerate(texts):
        try:
            size, pairs = decode_graph6(text)
        except ValueError as error:
            reasons[number] = str(error)
            continue
        if ":" in text:  # sparse6, in any order; graph6, which has no such letter, is simple and sorted
            pairs = np.unique(pairs[pairs[:, 0] != pairs[:, 1]], axis=0)
        good.append(number)
        num_nodes.append(size)
        edges.append(pairs)
    return Parsed(
        good=np.array(good, np.int64),
        num_nodes=np.array(num_nodes, np.int64),
        num_edges=np.array([len(pairs) for pairs in edges[1:]], np.int64),
        edges=np.concatenate(edges),
        reasons=reasons,
    )
