"""Any pattern, subgraph or induced: the plan by which the compiled matcher meets each copy exactly once."""

from functools import lru_cache

import numpy as np

from escgnn.counting.patterns import Pattern, has_symmetry, node_orbits
from escgnn.counting.work import Work
from escgnn.kernels.counting import HERE, Counts
from escgnn.kernels.matching import Plan
from escgnn.kernels.matching import match as match_kernel

MOST_NODES_TO_MATCH = 16  # nodes; beyond it are only stars, whose induced copies are too many to meet one by one


def match(work: Work, pattern: Pattern, anchor: tuple[int, ...], induced: bool) -> Counts:
    """Copies by the node, or the edge, that takes the anchor's place; without anchor, each copy at some node.

    Args:
        work: The graphs.
        pattern: What to count.
        anchor: Nothing, a node, or two nodes joined by an edge.
        induced: Whether nodes that the pattern does not join must not be joined.

    Returns:
        One number per node, or per edge if the anchor is one.
    """
    if pattern.num_nodes > MOST_NODES_TO_MATCH:
        raise ValueError(
            f"pattern: {pattern.name} is too large to match; at most {MOST_NODES_TO_MATCH} nodes, or induced=False"
        )
    plan = _plan(pattern, anchor, induced)
    per_edge = len(anchor) == 2
    counts = work.tally(
        lambda job, out: match_kernel(job.adjacency, job.roots, plan, per_edge, out),
        "edge" if per_edge else "node",
    )
    return counts[:, 0]


@lru_cache(256)
def _plan(pattern: Pattern, anchor: tuple[int, ...], induced: bool) -> Plan:
    starts = [anchor] if anchor else [(node,) for node in node_orbits(pattern)]
    plans = [_plan_in_order(pattern, _order(pattern, start), anchor, induced) for start in starts]
    return max(plans, key=lambda plan: plan.tail >= 0)  # the first that spares the last level, if any


def _order(pattern: Pattern, start: tuple[int, ...]) -> list[int]:
    """Most constrained node next, so that dead ends show early and pendant nodes come last."""
    order = list(start)
    neighbours: dict[int, set[int]] = {node: set() for node in range(pattern.num_nodes)}
    for u, v in pattern.edges:
        neighbours[u].add(v)
        neighbours[v].add(u)
    while len(order) < pattern.num_nodes:
        left = [node for node in neighbours if node not in order and neighbours[node] & set(order)]
        order.append(max(left, key=lambda node: (len(neighbours[node] & set(order)), len(neighbours[node]))))
    return order


def _plan_in_order(pattern: Pattern, order: list[int], anchor: tuple[int, ...], induced: bool) -> Plan:
    """Break symmetry as Grochow and Kellis (RECOMB 2007) do, among automorphisms that keep the anchor.

    Once the nodes before it are fixed, each gets the smallest number among all that could take its place.
    """
    size = len(order)
    place = {node: i for i, node in enumerate(order)}
    joined, look, above = np.zeros((3, size), np.int64)
    for u, v in pattern.edges:
        early, late = sorted((place[u], place[v]))
        joined[late] |= 1 << early
    look[:] = HERE | (((1 << np.arange(size)) - 1) if induced else joined)
    for i, node in enumerate(order):
        fixed = {other: other for other in order[:i]}
        for other in order[i + 1 :]:
            if node in anchor:  # the two ends of an anchored edge may swap, an anchored node stays
                symmetric = other in anchor and has_symmetry(pattern, {node: other, other: node})
            else:
                symmetric = has_symmetry(pattern, {**fixed, node: other})
            if symmetric:
                above[place[other]] |= 1 << i
    last = int(joined[-1])
    spare = size > 2 and not induced and last.bit_count() == 1 and not above[-1]
    mark = (1 << (size - 2)) - 1 if spare else int(np.bitwise_or.reduce(look & ~HERE))
    return Plan(joined, look, above, mark, last.bit_length() - 1 if spare else -1)
