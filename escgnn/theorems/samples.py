"""Graphs to try statements on, and the question every counting claim asks of them."""

from collections.abc import Iterable, Sequence
from functools import cache

import networkx
import numpy as np
from numpy.typing import NDArray

from escgnn import wl
from escgnn.counting import count
from escgnn.graphs import Graph, as_graph, disjoint_union, erdos_renyi


@cache
def small_graphs(most: int = 7) -> tuple[Graph, ...]:
    """Every graph of 1 to ``most`` nodes (at most 7), once up to isomorphism."""
    atlas = (as_graph(graph) for graph in networkx.graph_atlas_g()[1:])
    return tuple(graph for graph in atlas if graph.num_nodes <= most)


@cache
def connected_patterns(nodes: int) -> tuple[tuple[tuple[int, int], ...], ...]:
    """Every connected graph of 2 to ``nodes`` nodes, as edges."""
    members = (graph.to_networkx() for graph in small_graphs(nodes) if graph.num_nodes > 1)
    return tuple(tuple(graph.edges) for graph in members if networkx.is_connected(graph))


def random_graphs(number: int, nodes: int, seed: int) -> list[Graph]:
    """Random graphs of that many nodes, from sparse to dense."""
    return [erdos_renyi(nodes, (0.2, 0.35, 0.5, 0.7)[i % 4], 1000 * seed + i) for i in range(number)]


def miscounted(
    members: Sequence[Graph], test: wl.WLTest, patterns: Iterable[Sequence[tuple[int, int]]]
) -> tuple[int, int, tuple[int, int] | None]:
    """Numbers of classes and of patterns, and two graphs that the test takes for equal though their counts differ."""
    classes = wl.partition(list(members), test)
    union = disjoint_union(members)
    first = np.unique(classes, return_index=True)[1][classes]  # of each graph's class
    tried = 0
    for pattern in patterns:
        counts = count(union, list(pattern))
        tried += 1
        wrong = np.flatnonzero(counts != counts[first])
        if wrong.size:
            return int(classes.max()) + 1, tried, (int(first[wrong[0]]), int(wrong[0]))
    return int(classes.max()) + 1, tried, None


def refines(fine: NDArray[np.int64], coarse: NDArray[np.int64]) -> bool:
    """Whether graphs in one class of ``fine`` are always in one class of ``coarse``."""
    first = np.unique(fine, return_index=True)[1][fine]
    return bool((coarse == coarse[first]).all())
