"""A bound on the steps that encoding takes, before it begins."""

import numpy as np
from numpy.typing import NDArray

from escgnn.encoding.settings import Settings
from escgnn.graphs import Graph
from escgnn.graphs.cost import Steps, arcs, per_graph, walks
from escgnn.kernels.resistance import MAX_CORE

FARTHEST = 8  # hops from which on a root is taken to see its whole graph
LIGHT = 3e7  # steps of all graphs that are not worth a closer look


def steps(graph: Graph, settings: Settings) -> Steps:
    """No fewer than the steps for each of the graphs side by side, but for a factor; often far too many."""
    whole = arcs(graph).astype(np.float64)
    plain = {"degree", "node", "joint", "edge"} >= {*settings.parts}
    most = whole * whole * _passes(settings)
    if plain and most.sum() <= LIGHT:
        return most
    owner = np.repeat(np.arange(graph.num_graphs), np.diff(graph.ptr))
    per_root = np.zeros(graph.num_nodes)  # steps that a root's end costs, half of them for each
    radii = (settings.hops,) if isinstance(settings.hops, int) else settings.hops
    longest = max(min(max(radii), FARTHEST - 1) + 2, settings.cycle_length - 2 if "cycle" in settings.parts else 0)
    so_far = np.cumsum([*walks(graph, longest)], axis=0)  # row k - 1: walks of up to k edges, from each node
    for radius in radii:
        seen = whole[owner]  # arcs within the radius
        if radius < FARTHEST:
            seen = np.minimum(seen, so_far[radius])
        per_root += seen * _passes(settings)
        if {"wedge", "triangle", "path"} & {*settings.parts}:
            wedges = per_graph(graph, graph.degrees.astype(np.float64) ** 2)[owner]
            per_root += np.minimum(wedges, so_far[radius + 1]) if radius < FARTHEST else wedges
        if "resistance" in settings.parts:
            per_root += np.minimum(np.minimum(seen, np.diff(graph.ptr)[owner]), MAX_CORE) ** 3 / 8
    if "cycle" in settings.parts:
        per_root += so_far[settings.cycle_length - 3]
    roots: NDArray[np.int64] = graph.degrees + settings.nodes
    return per_graph(graph, per_root * roots)


def _passes(settings: Settings) -> int:
    """How often a root's subgraph is gone through."""
    rounds = {"walk": settings.walk_length, "colour": settings.colour_rounds}
    return 1 + sum(times for part, times in rounds.items() if part in settings.parts)
