"""A bound on the steps that encoding takes, before it begins."""

import numpy as np
from numpy.typing import NDArray

from escgnn.encoding.settings import Settings
from escgnn.graphs import Graph, cost
from escgnn.kernels.resistance import MAX_CORE

FARTHEST = 8  # hops from which on a root is taken to see its whole graph
LIGHT = 3e7  # steps of all graphs that are not worth a closer look


def steps(graph: Graph, settings: Settings) -> cost.Steps:
    """No fewer than the steps for each of the graphs side by side, but for a factor; often far too many.

    First as if every node had the highest degree of its graph, which takes no time; if that is much, from walks.
    """
    sizes = np.diff(graph.ptr)
    arcs = cost.arcs(graph)
    most: cost.Steps = (arcs + settings.nodes * sizes) * _at_degree(settings, arcs, sizes, cost.highest_degrees(graph))
    if most.sum() <= LIGHT:
        return most
    ways = np.cumsum([*cost.walks(graph, _longest_walks(settings))], axis=0)  # (walks, nodes)
    owner = np.repeat(np.arange(graph.num_graphs), sizes)
    per_root = _per_root(settings, arcs[owner], sizes[owner], ways)
    closer: cost.Steps = cost.per_graph(graph, (graph.degrees + settings.nodes) * per_root)
    return np.minimum(most, closer)


class Lightness:
    """Whether some roots are done at once for certain; asked of every batch, so it looks at the largest numbers only."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self._anywhere: dict[int, float] = {}  # by degree

    def __call__(self, graph: Graph, roots: int) -> bool:
        """Whether so many roots of a graph are."""
        if not (roots and graph.num_nodes):
            return True
        degree = graph.max_degree
        if degree not in self._anywhere:
            self._anywhere[degree] = self._per_end(np.inf, np.inf, degree)
        if 2 * roots * self._anywhere[degree] <= LIGHT:
            return True
        return 2 * roots * self._per_end(graph.csr.indices.size, np.diff(graph.ptr).max(), degree) <= LIGHT

    def _per_end(self, arcs: float, size: float, degree: int) -> float:
        """Steps for one end of a root in graphs that are no larger; however large they are, they are bounded by degrees."""
        return float(_at_degree(self.settings, np.array([arcs]), np.array([size]), np.array([degree]))[0])


def _at_degree(
    settings: Settings, arcs: NDArray[np.int64], sizes: NDArray[np.int64], degrees: NDArray[np.int64]
) -> cost.Steps:
    """Steps for one end of a root in graphs whose nodes all have that degree."""
    branches = np.maximum(degrees - 1, 1).astype(np.float64)
    powers = branches ** np.arange(_longest_walks(settings))[:, None]  # (walks, graphs)
    return _per_root(settings, arcs, sizes, np.cumsum((branches + 1) * powers, axis=0))


def _longest_walks(settings: Settings) -> int:
    """Edges of the longest walks that matter."""
    around = min(settings.radius, FARTHEST - 1) + 2
    return max(around, *(length - 2 for length in _round_lengths(settings)), 0)


def _round_lengths(settings: Settings) -> list[int]:
    """Nodes of the longest cycles, and of the longest rings, that are looked for."""
    lengths = {"cycle": settings.cycle_length, "ring": settings.ring_length}
    return [length for part, length in lengths.items() if part in settings.parts]


def _per_root(settings: Settings, whole: NDArray[np.int64], sizes: NDArray[np.int64], ways: cost.Steps) -> cost.Steps:
    """Steps for one end of a root.

    Args:
        settings: The encoding.
        whole: Arcs of its graph.
        sizes: Nodes of its graph.
        ways: Row k - 1: walks of up to k edges from there.
    """
    total = np.zeros(whole.shape)
    is_motifs = not {"wedge", "triangle", "path"}.isdisjoint(settings.parts)
    for radius in (settings.hops,) if isinstance(settings.hops, int) else settings.hops:
        near = min(radius, FARTHEST)
        seen = np.minimum(whole, ways[radius]) if radius < FARTHEST else whole * 1.0  # arcs within the radius
        total += seen * _passes(settings)
        if is_motifs:
            total += seen * sizes if near == FARTHEST else np.minimum(seen * sizes, ways[near + 1])
        if "resistance" in settings.parts:
            total += np.minimum(np.minimum(seen, sizes), MAX_CORE) ** 3 / 8
    for length in _round_lengths(settings):
        total += ways[length - 3]
    return total


def _passes(settings: Settings) -> int:
    """How often a root's subgraph is gone through."""
    rounds = {"walk": settings.walk_length, "colour": settings.colour_rounds}
    return 1 + sum(times for part, times in rounds.items() if part in settings.parts)
