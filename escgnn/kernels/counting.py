"""Counting loops for cycles, cliques and triangles. Each copy is met at its highest-ranked node.

Ranking by degree keeps hubs cheap: below a node there are only nodes of no higher degree, so triangles and
4-cycles take time O(edges x arboricity): Chiba and Nishizeki, Arboricity and subgraph listing, 1985.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from escgnn.kernels import kernel

Counts = NDArray[np.int64]  # (nodes or edges, width)

# Masks speak of a path that grows from a root: bit i of ``near[w]`` says that w is joined to the i-th node of the path.
NEXT_TO_ROOT = 1  # bit 0, as the root is the path's first node
HERE = 1 << 62  # w itself is on the path
SAFE = 1 << 60  # a sum of closings up to here cannot have made any entry of ``out`` wrap


class Adjacency(NamedTuple):
    """Adjacency lists of one or more whole graphs, nodes and edges numbered from 0."""

    indptr: NDArray[np.int64]  # (nodes + 1,)
    indices: NDArray[np.int32]  # (arcs,)
    edge: NDArray[np.int64]  # (arcs,), the undirected edge of each arc
    rank: NDArray[np.int64]  # (nodes,), all different, higher for higher degree
    halt: NDArray[np.uint8]  # (1,), not 0 once nobody waits for the counts any more; searches look at it now and then


@kernel
def cycles(graphs: Adjacency, roots: tuple[int, int], lengths: tuple[int, int], per_edge: bool, out: Counts) -> bool:
    """Add to column l - shortest of ``out`` twice the l-cycles through each node, or each edge (l >= 4).

    A cycle is met as a path from its highest node that lacks one more node, y, to close; in both directions.
    How many y there are is known unvisited: 2-paths back to the root, less those through the path itself.

    Example: 4-cycles of the complete graph on r > a > b > c, root r. The path r - a goes on to w = b, and y closes
    r - a - b - y - r. There are ``two[b]`` = 2 ways r - x - b, by x = a and by x = c. But a is on the path: it is next to
    the root, bit 1 of ``beside``, and next to b, bit 1 of ``near[b]``. That leaves one y, which is c. The cycle's places
    are r: 0, a: 1, b: 2, y: 3. Read the other way round, r - c - b - a, they are r: 0, a: 3, b: 2, and there a is the y that
    nobody visits. So a, at place 1, counts for both directions here, and r and b for one in each.

    Args:
        graphs: Their adjacency lists.
        roots: First root and step to the next.
        lengths: Shortest and longest cycle, at most 62.
        per_edge: Whether rows of ``out`` are edges.
        out: ``(rows, longest - shortest + 1)``.

    Returns:
        False if numbers grew so large that an entry may have wrapped.
    """
    indptr, indices, edge, rank, halt = graphs
    shortest, longest = lengths
    two = np.zeros(rank.size, np.int64)  # 2-paths from the root, by end
    near = np.zeros(rank.size, np.int64)  # see the masks above; bits of nodes that are not next to the root stay 0
    # by depth: the path; its next arc to try; bits of its nodes that are next to the root; its nodes or edges in ``out``
    path, following, beside, ids = np.zeros((4, longest), np.int64)
    total = 0
    for root in range(roots[0], rank.size, roots[1]):
        lower = 0
        for arc in range(indptr[root], indptr[root + 1]):
            lower += rank[indices[arc]] < rank[root]
        if lower < 2:  # a cycle whose highest node is the root has two neighbours of it below
            continue
        for arc in range(indptr[root], indptr[root + 1]):
            x = indices[arc]
            near[x] = NEXT_TO_ROOT
            if rank[x] < rank[root]:
                for second in range(indptr[x], indptr[x + 1]):
                    two[indices[second]] += 1
        depth = 0
        path[0], following[0] = root, indptr[root]
        if not per_edge:
            ids[0] = root
        while depth >= 0:
            node, arc = path[depth], following[depth]
            if arc == indptr[node + 1]:  # all tried: take the node back, and its bit from its neighbours
                if halt[0]:
                    return True
                near[node] &= ~HERE
                if beside[depth] >> depth & 1:
                    for arc in range(indptr[node], indptr[node + 1]):
                        near[indices[arc]] ^= 1 << depth
                depth -= 1
                continue
            following[depth] += 1
            w = indices[arc]
            if rank[w] >= rank[root] or near[w] & HERE:
                continue
            ids[depth + 1 - per_edge] = edge[arc] if per_edge else w
            length = depth + 3  # of the cycle: root, ..., node, w and y
            if length >= shortest:
                closings = two[w]
                taken = near[w] & beside[depth]  # nodes of the path that the 2-paths went through
                while taken:
                    taken &= taken - 1  # one bit less
                    closings -= 1
                total += closings
                if total > SAFE:
                    return False
                if closings > 0:
                    for i in range(depth + 2 - per_edge):
                        mirror = (length - per_edge - i) % length  # where the other direction meets the same one
                        if i <= mirror:  # else it is counted when that direction comes
                            out[ids[i], length - shortest] += closings << (i < mirror)
            if length < longest:  # go on from w
                depth += 1
                path[depth], following[depth] = w, indptr[w]
                beside[depth] = beside[depth - 1] | (near[w] & NEXT_TO_ROOT) << depth
                if near[w] & NEXT_TO_ROOT:  # only neighbours of the root can be mistaken for y
                    for arc in range(indptr[w], indptr[w + 1]):
                        near[indices[arc]] |= 1 << depth
                near[w] |= HERE
        for arc in range(indptr[root], indptr[root + 1]):  # zero again for the next root
            x = indices[arc]
            near[x] = 0
            if rank[x] < rank[root]:
                for second in range(indptr[x], indptr[x + 1]):
                    two[indices[second]] = 0
    return True


@kernel
def cliques(graphs: Adjacency, roots: tuple[int, int], size: int, per_edge: bool, out: Counts) -> bool:
    """Add to ``out`` (one column) the cliques of ``size`` >= 3 nodes that hold each node, or each edge.

    A clique is met once, as a path from its highest node down. Example: triangles of the complete graph on r > a > b > c.
    With the path r, ``joined`` is 1 at a, b and c. The path r - a has size - 1 nodes, and the lower ones joined to all of
    it, b and c, complete two triangles: b and c get one each, r and a two.
    """
    indptr, indices, edge, rank, halt = graphs
    joined = np.zeros(rank.size, np.int64)  # to how many nodes of the path, counted from its start
    via = np.zeros((size, rank.size if per_edge else 0), np.int64)  # by which edge
    path, following = np.zeros((2, size), np.int64)
    ids = np.zeros(size * size, np.int64)  # nodes or edges of the path, in the order they came
    for root in range(roots[0], rank.size, roots[1]):
        depth = 0
        path[0], following[0], ids[0] = root, -1, root
        while depth >= 0:
            node = path[depth]
            low, high = indptr[node], indptr[node + 1]
            if depth == size - 2:  # each lower node joined to the whole path completes a clique
                found = 0
                for arc in range(low, high):
                    w = indices[arc]
                    if joined[w] == depth and rank[w] < rank[node]:
                        found += 1
                        out[edge[arc] if per_edge else w, 0] += 1
                        for i in range(depth * per_edge):
                            out[via[i, w], 0] += 1
                if found:  # what lies on the path is in all of them
                    for i in range(depth * (depth + 1) // 2 if per_edge else depth + 1):
                        out[ids[i], 0] += found
                depth -= 1
                continue
            if following[depth] < 0:  # new here: candidates are the lower nodes joined to the whole path
                following[depth] = low
                for arc in range(low, high):
                    w = indices[arc]
                    if joined[w] == depth and rank[w] < rank[node]:
                        joined[w] = depth + 1
                        if per_edge:
                            via[depth, w] = edge[arc]
            while following[depth] < high and joined[indices[following[depth]]] != depth + 1:
                following[depth] += 1
            if following[depth] == high:  # all tried: candidates are joined to one node less
                if halt[0]:
                    return True
                for arc in range(low, high):
                    if joined[indices[arc]] == depth + 1:
                        joined[indices[arc]] = depth
                depth -= 1
                continue
            w = indices[following[depth]]
            following[depth] += 1
            depth += 1
            path[depth], following[depth] = w, -1
            if per_edge:
                for i in range(depth):
                    ids[depth * (depth - 1) // 2 + i] = via[i, w]
            else:
                ids[depth] = w
    return True


@kernel
def corners(graphs: Adjacency, roots: tuple[int, int], triangles: Counts, squares: Counts, out: Counts) -> bool:
    """Add, per corner of each triangle, the triangles and the 4-cycles on the far side that avoid the corner.

    Of the triangles on the far side one is the triangle itself. Of the 4-cycles on it, those through the corner are as many
    as there are further triangles on the other two sides: ``around`` less the triangles on the far side.

    Args:
        graphs: Their adjacency lists.
        roots: First root and step to the next.
        triangles: 3-cycles through each edge.
        squares: 4-cycles through each edge.
        out: Per node: chordal cycles at a degree-2 corner, triangle-rectangles at the apex.
    """
    indptr, indices, edge, rank, halt = graphs
    side = np.full(rank.size, -1, np.int64)  # the edge to the root
    for root in range(roots[0], rank.size, roots[1]):
        if halt[0]:
            return True
        for arc in range(indptr[root], indptr[root + 1]):
            side[indices[arc]] = edge[arc]
        for arc in range(indptr[root], indptr[root + 1]):
            x = indices[arc]
            if rank[x] > rank[root]:
                continue
            for second in range(indptr[x], indptr[x + 1]):
                w = indices[second]
                if side[w] >= 0 and rank[w] < rank[x]:
                    a, b, c = edge[arc], side[w], edge[second]
                    around = triangles[a] + triangles[b] + triangles[c] - 2
                    for corner, far in ((root, c), (np.int64(x), b), (np.int64(w), a)):
                        out[corner, 0] += triangles[far] - 1
                        out[corner, 1] += squares[far] + triangles[far] - around
        for arc in range(indptr[root], indptr[root + 1]):
            side[indices[arc]] = -1
    return True
