"""Where to draw the nodes of a graph."""

from math import ceil, sqrt
from typing import Any

import networkx
import numpy as np
from numpy.typing import NDArray

CAREFUL = 60  # nodes up to which distances on paper follow those in the graph, which takes the cube of their number
GAP = 0.35  # between components, beside which each is about 1 wide
SEED = 0

Points = NDArray[np.float64]


def layout(plain: "networkx.Graph[Any]") -> Points:
    """Points between 0 and 1 for the nodes 0 to n - 1, ``(n, 2)``; the same for the same graph, components side by side.

    >>> layout(networkx.path_graph(2)).shape
    (2, 2)
    """
    points = np.zeros((len(plain), 2))
    components = sorted(networkx.connected_components(plain), key=lambda nodes: (-len(nodes), min(nodes)))
    if not components:
        return points
    widths = np.array([sqrt(len(nodes) / len(components[0])) for nodes in components])
    columns = ceil(sqrt(len(components)))
    cell = widths[0] + GAP
    for number, nodes in enumerate(components):
        order = sorted(nodes)
        corner = np.array([number % columns, number // columns]) * cell
        points[order] = corner + widths[number] * _component(plain.subgraph(order), order)
    return _fitted(points)


def _component(plain: "networkx.Graph[Any]", order: list[int]) -> Points:
    """Points of a connected graph, between 0 and 1."""
    if len(order) <= 2:
        return np.array([[0.0, 0.5], [1.0, 0.5]])[: len(order)]
    start = networkx.planar_layout(plain) if networkx.is_planar(plain) else None  # no twists where none are needed
    if len(order) <= CAREFUL:
        found = networkx.kamada_kawai_layout(plain, pos=start)
    else:
        found = networkx.spring_layout(plain, pos=start, seed=SEED)
    return _fitted(np.array([found[node] for node in order]))


def _fitted(points: Points) -> Points:
    """The same picture between 0 and 1, its middle in the middle."""
    low = points.min(0)
    high = points.max(0)
    span = max(float((high - low).max()), 1e-9)
    fitted: Points = (points - (low + high) / 2) / span + 0.5
    return fitted
