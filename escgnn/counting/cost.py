"""A bound on the steps that a count takes, before it begins."""

import numpy as np

from escgnn.counting.patterns import Pattern
from escgnn.graphs import Graph, cost

LIGHT = 3e7  # steps of all graphs that are not worth a closer look


def steps(graph: Graph, pattern: Pattern | None, by_formula: bool) -> cost.Steps:
    """No fewer than the steps for each of the graphs side by side, but for a factor; often far too many.

    Args:
        graph: The graphs.
        pattern: What is counted; None for the benchmark's nine targets.
        by_formula: Whether only cycles and cliques are searched for, and the pattern is not.
    """
    edges = _cycle_and_clique_depth(pattern) if by_formula or pattern is None else pattern.num_nodes - 1
    highest = np.maximum(cost.highest_degrees(graph), 1).astype(np.float64)
    with np.errstate(over="ignore"):  # infinitely many are enough to know
        most: cost.Steps = cost.arcs(graph) * highest ** (edges - 1)
    if most.sum() <= LIGHT or not (by_formula or pattern is None):
        return most
    *_, ways = cost.walks(graph, edges)
    ways[graph.degrees < 2] = 0  # no cycle and no clique begins there
    return np.minimum(most, cost.per_graph(graph, ways) + cost.arcs(graph))


def _cycle_and_clique_depth(pattern: Pattern | None) -> int:
    """Edges of the longest paths that a search walks along."""
    if pattern is None:
        return 4  # of 6-cycles: their last node, and so the last two edges, are known unvisited
    family = pattern.name.partition("-")[2]
    if family == "star":
        return 1
    if family == "cycle" and pattern.num_nodes > 4:
        return pattern.num_nodes - 2
    if family == "clique":
        return pattern.num_nodes - 1
    return 2  # triangles, 4-cycles, and what hangs on them
