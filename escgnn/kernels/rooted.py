"""The subgraph rooted at a 2-tuple: which nodes lie within the radius, and how far from each root.

A root's nodes get a *code*, 0 outside the subgraph, which is cheap to make and to look up. For adjacent or equal roots
it is 4 * (smaller distance) + (who is nearest); for others 1 + (h + 2) * d_u + d_v.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from escgnn.kernels import kernel
from escgnn.kernels.graphs import Csr

ONLY_U, ONLY_V, BOTH = 1, 2, 3  # which roots are nearest: the two low bits of an adjacent pair's code


class Walk(NamedTuple):
    """The subgraph at hand. Kernels below take only the arrays they need: long argument lists cost time."""

    code: NDArray[np.int32]  # (nodes,) zero between roots
    nodes: NDArray[np.int32]  # (nodes,) of the subgraph, in the order they were met


class Balls(NamedTuple):
    """Two balls that grow one sphere at a time."""

    distance: NDArray[np.int32]  # (2, nodes) plus one, 0 unknown, zero between roots
    queue: NDArray[np.int32]  # (2, nodes)


@kernel
def label_adjacent(csr: Csr, u: int, v: int, hops: int, max_nodes: int, walk: Walk) -> tuple[int, int]:
    """Walk both balls at once; return the number of nodes and the radius that fitted.

    Adjacent roots' distances differ by at most one, so the smaller one and who is nearest tell both. On the path
    u - v - w the walk begins with the codes u: ONLY_U and v: ONLY_V. From v it meets w first at level 4 * 1, and w takes over
    who is nearest to v: 4 | ONLY_V, that is d(w, v) = 1 and d(w, u) = 2. In a triangle w is met from u, too, at the same
    level, and becomes 4 | BOTH.
    """
    code, nodes = walk.code, walk.nodes
    code[u] |= ONLY_U
    code[v] |= ONLY_V
    nodes[0] = u
    last = 1
    if u != v:
        nodes[1] = v
        last = 2
    first = 0
    for radius in range(hops):
        stop = last
        level = 4 * (radius + 1)
        for i in range(first, stop):
            w = nodes[i]
            nearest = code[w] & BOTH
            for k in range(csr.indptr[w], csr.indptr[w + 1]):
                x = csr.indices[k]
                known = code[x]
                if known == 0:
                    if last == max_nodes:  # one too many: take this sphere back
                        for j in range(stop, last):
                            code[nodes[j]] = 0
                        return stop, radius
                    code[x] = level | nearest
                    nodes[last] = x
                    last += 1
                elif known >= level:  # met in this sphere: who led here is as near
                    code[x] = known | nearest
        if last == stop:
            break
        first = stop
    return last, hops


@kernel
def next_sphere(csr: Csr, side: int, start: int, stop: int, room: int, balls: Balls) -> tuple[int, int]:
    """Add what lies one step beyond ``queue[side, start:stop]`` to that ball, while new nodes fit in ``room``."""
    queue, distance = balls.queue[side], balls.distance[side]
    end = stop
    for i in range(start, stop):
        w = queue[i]
        for k in range(csr.indptr[w], csr.indptr[w + 1]):
            x = csr.indices[k]
            if distance[x] == 0:
                distance[x] = distance[w] + 1
                queue[end] = x
                end += 1
                room -= balls.distance[1 - side, x] == 0
                if room < 0:
                    return end, room
    return end, room


@kernel
def label_any(
    csr: Csr, root: NDArray[np.int64], hops: int, max_nodes: int, walk: Walk, balls: Balls
) -> tuple[int, int]:
    """The same for roots anywhere: two balls, sphere by sphere; distances beyond the radius read radius + 1."""
    distance, queue = balls.distance, balls.queue
    for side in range(2):
        distance[side, root[side]] = 1
        queue[side, 0] = root[side]
    start_u, start_v, stop_u, stop_v = 0, 0, 1, 1
    room = max_nodes - 1 - (root[0] != root[1])
    radius = 0
    while radius < hops:
        end_u, room = next_sphere(csr, 0, start_u, stop_u, room, balls)
        end_v = stop_v
        if room >= 0:
            end_v, room = next_sphere(csr, 1, start_v, stop_v, room, balls)
        if room < 0:  # one too many: take these spheres back
            distance[0][queue[0, stop_u:end_u]] = 0
            distance[1][queue[1, stop_v:end_v]] = 0
            break
        radius += 1
        start_u, start_v, stop_u, stop_v = stop_u, stop_v, end_u, end_v
    count = 0
    for side, stop in ((0, stop_u), (1, stop_v)):
        for i in range(stop):
            w = queue[side, i]
            if walk.code[w] == 0:
                a = distance[0, w] - 1 if distance[0, w] else radius + 1
                b = distance[1, w] - 1 if distance[1, w] else radius + 1
                walk.code[w] = 1 + (hops + 2) * a + b
                walk.nodes[count] = w
                count += 1
    for i in range(count):
        distance[:, walk.nodes[i]] = 0
    return count, radius
