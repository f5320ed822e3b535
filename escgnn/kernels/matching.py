"""One backtracking matcher for every small pattern, node by node, by a plan that meets each copy once."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from escgnn.kernels import kernel
from escgnn.kernels.counting import HERE, Adjacency, Counts


class Plan(NamedTuple):
    """How to grow a copy. Bit i of a mask speaks of the i-th node placed.

    Example: the tailed triangle 0-1 1-2 2-0 2-3, placed in the order 2, 0, 1, 3. ``joined`` is (0b0, 0b1, 0b11, 0b1): the
    second node is joined to the first, the third to both, the fourth to the first. Nodes 0 and 1 can change places, so the
    third must have a larger number than the second: ``above`` is (0b0, 0b0, 0b10, 0b0). The last node hangs on the first
    alone: ``tail`` is 0, and how many there are is the first one's degree less its neighbours among the others.
    """

    joined: NDArray[np.int64]  # (nodes,), earlier nodes that each one must be joined to
    look: NDArray[np.int64]  # (nodes,), bits that must agree with ``joined``: all of them if induced
    above: NDArray[np.int64]  # (nodes,), earlier nodes that must have a smaller number, one per symmetry
    mark: int  # nodes whose neighbours must be known
    tail: int  # the only node that the last one hangs on, if its choices need no visit; else -1


@kernel
def match(graphs: Adjacency, roots: tuple[int, int], plan: Plan, per_edge: bool, out: Counts) -> bool:
    """Add to ``out`` (one column) the copies whose first node is each node, or whose first two are each edge.

    Returns:
        False if an entry wrapped.
    """
    indptr, indices, edge, rank, halt = graphs
    size = plan.joined.size
    near = np.zeros(rank.size, np.int64)  # bit i: joined to path[i], if that is marked; HERE: on the path
    # by depth: the node placed; its next arc and the end of the list; numbers up to here are too small
    path, following, stop, floor = np.zeros((4, size), np.int64)
    for root in range(roots[0], rank.size, roots[1]):
        owner = root
        depth, w = 0, root
        while True:
            # Place w, then list the candidates for the next node.
            path[depth] = w
            near[w] |= HERE
            if plan.mark >> depth & 1:
                for arc in range(indptr[w], indptr[w + 1]):
                    near[indices[arc]] |= 1 << depth
            depth += 1
            host, floor[depth] = -1, -1  # the host is that neighbour on the path whose list is shortest
            for i in range(depth):
                p = path[i]
                if plan.joined[depth] >> i & 1 and (
                    host < 0 or indptr[p + 1] - indptr[p] < indptr[host + 1] - indptr[host]
                ):
                    host = p
                if plan.above[depth] >> i & 1:
                    floor[depth] = max(floor[depth], p)
            following[depth], stop[depth] = indptr[host], indptr[host + 1]
            # Find the next w to place: leaves are counted on the way, exhausted nodes taken back.
            placed = False
            while depth > 0 and not placed:
                arc = following[depth]
                if arc == stop[depth]:  # all tried: take the last node back, and its bit from its neighbours
                    if halt[0]:
                        return True
                    depth -= 1
                    near[path[depth]] &= ~HERE
                    if plan.mark >> depth & 1:
                        for arc in range(indptr[path[depth]], indptr[path[depth] + 1]):
                            near[indices[arc]] ^= 1 << depth
                    continue
                following[depth] += 1
                w = indices[arc]
                if w <= floor[depth] or near[w] & plan.look[depth] != plan.joined[depth]:
                    continue
                if per_edge and depth == 1:
                    owner = edge[arc]
                if depth == size - 1:  # the copy is complete
                    out[owner, 0] += 1
                elif depth == size - 2 and plan.tail >= 0:
                    p = w if plan.tail == depth else path[plan.tail]
                    choices = indptr[p + 1] - indptr[p] - (near[w] >> plan.tail & 1)  # w is not marked, so apart
                    taken = near[p] & ~HERE  # neighbours of p that are on the path
                    while taken:
                        taken &= taken - 1  # one bit less
                        choices -= 1
                    out[owner, 0] += choices
                    if out[owner, 0] < 0:
                        return False
                else:
                    placed = True
            if depth == 0:
                break
    return True
