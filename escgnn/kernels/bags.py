"""Balls around every root, cut out as subgraphs: which nodes, how far, and which columns of ``edge_index`` join them.

Two passes: `measure` says how much room each root needs, `fill` writes. A root owns its stretch of every array, so the
output is the same for any number of threads. All numbers written are lengths, or places within a graph or a subgraph.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from escgnn.kernels import kernel
from escgnn.kernels.graphs import Csr
from escgnn.kernels.numbering import sort
from escgnn.kernels.resistance import resistances

OUTSIDE = 255  # hop of a node that is not in the ball


class Columns(NamedTuple):
    """Columns of ``edge_index`` by target, then source, then number; loops and repeats are among them."""

    start: NDArray[np.int64]  # (nodes + 1,) where each target's columns begin
    source: NDArray[np.int32]  # (columns,)
    column: NDArray[np.int32]  # (columns,) number within its graph


class Room(NamedTuple):
    """Where each root's copies and edges begin; ``first`` and ``last`` bound the nodes of its graph."""

    copies: NDArray[np.int64]  # (nodes + 1,)
    edges: NDArray[np.int64]  # (nodes + 1,)
    first: NDArray[np.int64]  # (nodes,)
    last: NDArray[np.int64]  # (nodes,)


class Bags(NamedTuple):
    """Subgraphs one after the other; their nodes ascend, their edges go by target, then source, then column."""

    member: NDArray[np.int32]  # (copies,) node within its graph
    hop: NDArray[np.uint8]  # (copies,) distance to the root
    more: NDArray[np.uint8]  # (copies,) 1 if two neighbours or more are one step closer to the root
    inward: NDArray[np.int32]  # (copies,) edges that end here
    source: NDArray[np.int32]  # (edges,) place of the source within the subgraph
    column: NDArray[np.int32]  # (edges,) number within its graph


class Views(NamedTuple):
    """From which nodes each ball is seen: the root, or its neighbours one by one. Copies repeat for each of them."""

    start: NDArray[np.int64]  # (nodes + 1,) where each root's views begin
    node: NDArray[np.int64]  # (views,) ascending for each root
    copies: NDArray[np.int64]  # (nodes + 1,) where the copies of each root's views begin


@kernel
def walk(columns: Columns, root: int, hops: int, reach: NDArray[np.int32], ball: NDArray[np.int64]) -> tuple[int, int]:
    """List the ball in the order met and set ``reach`` to distance + 1; return its size and that without its rim."""
    reach[root] = 1
    ball[0] = root
    count = 1
    inner = 0
    while inner < count and reach[ball[inner]] <= hops:
        v = ball[inner]
        inner += 1
        for k in range(columns.start[v], columns.start[v + 1]):
            u = columns.source[k]
            if reach[u] == 0:
                reach[u] = reach[v] + 1
                ball[count] = u
                count += 1
    return count, inner


@kernel
def measure(columns: Columns, bounds: tuple[int, int], hops: int, room: Room) -> None:
    """Write nodes and edges of the balls around the nodes from ``bounds[0]`` to ``bounds[1]``."""
    num_nodes = columns.start.size - 1
    reach = np.zeros(num_nodes, np.int32)
    ball = np.empty(num_nodes, np.int64)
    for root in range(bounds[0], bounds[1]):
        count, inner = walk(columns, root, hops, reach, ball)
        edges = np.int64(0)
        for i in range(inner):  # everything they touch is in the ball
            edges += columns.start[ball[i] + 1] - columns.start[ball[i]]
        for i in range(inner, count):
            for k in range(columns.start[ball[i]], columns.start[ball[i] + 1]):
                edges += reach[columns.source[k]] != 0
        room.copies[root + 1] = count
        room.edges[root + 1] = edges
        for i in range(count):
            reach[ball[i]] = 0


@kernel
def fill(columns: Columns, bounds: tuple[int, int], hops: int, room: Room, keep: bool, bags: Bags) -> None:
    """Write the subgraphs of the nodes from ``bounds[0]`` to ``bounds[1]``; ``keep`` lists all nodes of their graphs."""
    num_nodes = columns.start.size - 1
    reach = np.zeros(num_nodes, np.int32)
    ball = np.empty(num_nodes, np.int64)
    place = np.empty(num_nodes, np.int32)
    for root in range(bounds[0], bounds[1]):
        count, _ = walk(columns, root, hops, reach, ball)
        if keep:
            first = room.first[root]
            count = room.last[root] - first
            for i in range(count):
                ball[i] = first + i
        else:
            sort(ball[:count])
        for i in range(count):
            place[ball[i]] = i
        copy = room.copies[root]
        edge = room.edges[root]
        for i in range(count):
            v = ball[i]
            begin = edge
            closer = 0
            previous = -1
            if reach[v] != 0:
                for k in range(columns.start[v], columns.start[v + 1]):
                    u = columns.source[k]
                    if reach[u] == 0:
                        continue
                    bags.source[edge] = place[u]
                    bags.column[edge] = columns.column[k]
                    edge += 1
                    closer += u != previous and reach[u] < reach[v]  # repeats stand side by side
                    previous = u
            bags.member[copy] = v - room.first[root]
            bags.hop[copy] = reach[v] - 1 if reach[v] != 0 else OUTSIDE
            bags.more[copy] = closer > 1
            bags.inward[copy] = edge - begin
            copy += 1
        for i in range(count):
            reach[ball[i]] = 0


@kernel
def look(
    views: Views, bounds: tuple[int, int], room: Room, bags: Bags, hop: NDArray[np.uint8], more: NDArray[np.uint8]
) -> None:
    """Write distances inside the ball from every view, and which nodes have two neighbours or more one step closer."""
    num_nodes = room.first.size
    start = np.empty(num_nodes + 1, np.int64)  # of each copy's edges
    reach = np.empty(num_nodes, np.int32)
    queue = np.empty(num_nodes, np.int32)
    for root in range(bounds[0], bounds[1]):
        copy = room.copies[root]
        count = room.copies[root + 1] - copy
        start[0] = room.edges[root]
        for i in range(count):
            start[i + 1] = start[i] + bags.inward[copy + i]
        end = views.copies[root]
        position = 0
        for j in range(views.start[root], views.start[root + 1]):
            while bags.member[copy + position] != views.node[j] - room.first[root]:  # both ascend
                position += 1
            reach[:count] = 0
            reach[position] = 1
            queue[0] = position
            head = 0
            tail = 1
            while head < tail:
                v = queue[head]
                head += 1
                for k in range(start[v], start[v + 1]):
                    u = bags.source[k]
                    if reach[u] == 0:
                        reach[u] = reach[v] + 1
                        queue[tail] = u
                        tail += 1
            for v in range(count):
                closer = 0
                previous = -1
                for k in range(start[v], start[v + 1]):
                    u = bags.source[k]
                    closer += u != previous and reach[u] < reach[v]
                    previous = u
                hop[end] = reach[v] - 1
                more[end] = closer > 1
                end += 1


@kernel
def resist(csr: Csr, views: Views, bounds: tuple[int, int], room: Room, bags: Bags, values: NDArray[np.float32]) -> int:
    """Write resistances inside the ball from every view, infinite outside; return a root that is too large, or -1."""
    num_nodes = room.first.size
    code = np.zeros(num_nodes, np.int32)
    place = np.empty(num_nodes, np.int32)
    inside = np.array([0, 1], np.uint8)
    for root in range(bounds[0], bounds[1]):
        begin = room.copies[root]
        count = room.copies[root + 1] - begin
        kept = np.flatnonzero(bags.hop[begin : begin + count] != OUTSIDE)
        nodes = (bags.member[begin + kept] + room.first[root]).astype(np.int32)
        code[nodes] = 1
        end = views.copies[root]
        for j in range(views.start[root], views.start[root + 1]):
            found = resistances(csr, nodes, np.array([views.node[j], views.node[j]]), code, inside, place)
            if found.shape[1] == 0:
                return root
            values[end : end + count] = np.inf
            values[end + kept] = found[0]
            end += count
        code[nodes] = 0
    return -1
