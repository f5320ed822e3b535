"""What a bin counts, one by one: the nodes, edges, paths, walks or cycles themselves, for people to look at.

The kernels of the encoding only count. Here the same things are listed, root by root, in plain Python; that the numbers agree
for every part is a test. A part of your own is shown without its members unless it has a row in `MEMBERS`.
"""

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations, islice, product
from typing import Any

import networkx
import numpy as np

from escgnn.encoding import PARTS, Bin, Label, RootedEncoding
from escgnn.kernels.colours import COLOURS, FACTORS
from escgnn.kernels.resistance import ROUNDING

Nodes = tuple[int, ...]
Found = Iterator[tuple[Bin, Nodes]]

MOST = 300  # members of a bin that are listed
MOST_LOOKED_AT = 50_000  # things of one part, so that a dense graph cannot keep anybody waiting


@dataclass(frozen=True)
class Rooted:
    """The subgraph rooted at (u, v).

    Attributes:
        graph: The whole graph.
        u: The first root.
        v: The second one.
        hops: The radius that was asked for.
        radius: The one that was taken; smaller where ``max_nodes`` says so.
        inside: The subgraph.
        label: Distances of its nodes to u and to v, at most one beyond the radius.
    """

    graph: "networkx.Graph[int]"
    u: int
    v: int
    hops: int
    radius: int
    inside: "networkx.Graph[int]"
    label: Mapping[int, Label]


def rooted(graph: "networkx.Graph[int]", u: int, v: int, encoding: RootedEncoding, hops: int) -> Rooted:
    """The subgraph of that radius, or of the largest below it that has no more than ``max_nodes`` nodes."""
    to_u = networkx.single_source_shortest_path_length(graph, u, cutoff=hops + 1)
    to_v = networkx.single_source_shortest_path_length(graph, v, cutoff=hops + 1)
    radius = hops
    most = graph.number_of_nodes() if encoding.max_nodes is None else encoding.max_nodes
    while len(_within(to_u, radius) | _within(to_v, radius)) > most:
        radius -= 1
    ball_u = _within(to_u, radius)
    ball_v = _within(to_v, radius)
    nodes = sorted(ball_u | ball_v)
    inside: networkx.Graph[int] = networkx.Graph()
    inside.add_nodes_from(nodes)
    for a, b in graph.subgraph(nodes).edges:
        if encoding.subgraph == "union" or {a, b} <= ball_u or {a, b} <= ball_v:
            inside.add_edge(a, b)
    far = radius + 1
    label = {w: (min(to_u.get(w, far), far), min(to_v.get(w, far), far)) for w in nodes}
    return Rooted(graph, u, v, hops, radius, inside, label)


def _within(distances: Mapping[int, int], radius: int) -> set[int]:
    return {node for node, distance in distances.items() if distance <= radius}


def members(
    graph: "networkx.Graph[int]", u: int, v: int, encoding: RootedEncoding, most: int = MOST, look: int = MOST_LOOKED_AT
) -> dict[Bin, list[Nodes]]:
    """The first members of every bin of (u, v), each by its nodes, in order where order matters.

    At most ``most`` of a bin are listed; ``look`` things of a part are looked at, so of parts with more there may be fewer.

    >>> square = networkx.cycle_graph(4)
    >>> members(square, 0, 1, RootedEncoding(1, ("edge",)))["edge", 1, 2, 2, 1]
    [(3, 2)]
    """
    found: dict[Bin, list[Nodes]] = defaultdict(list)
    is_single = isinstance(encoding.hops, int)
    radii = [encoding.hops] if isinstance(encoding.hops, int) else [*encoding.hops]
    for hops in radii:
        place = rooted(graph, u, v, encoding, hops)
        prefix = None if is_single else hops
        for part in encoding.parts:
            needs_radius = PARTS[part].needs_radius
            if part not in MEMBERS or (hops != radii[0] and not needs_radius):
                continue
            for name, nodes in islice(MEMBERS[part](place, encoding), look):
                own = found[name.at(prefix if needs_radius else None)]
                if len(own) < most:
                    own.append(nodes)
        if place.radius < hops and (is_single or any(PARTS[part].needs_radius for part in encoding.parts)):
            found[Bin("clipped", place.radius).at(prefix)].append((u, v))
    return dict(found)


def _flat(labels: Any) -> list[int]:
    return [distance for label in labels for distance in label]


def _degrees(at: Rooted, encoding: RootedEncoding) -> Found:
    for node, degree in at.inside.degree:
        yield Bin("degree", min(degree, encoding.max_degree)), (node,)


def _nodes(at: Rooted, encoding: RootedEncoding) -> Found:
    for node, (a, b) in at.label.items():
        yield Bin("node", "u", a), (node,)
        yield Bin("node", "v", b), (node,)


def _joint(at: Rooted, encoding: RootedEncoding) -> Found:
    for node, label in at.label.items():
        yield Bin("joint", *label), (node,)


def _edges(at: Rooted, encoding: RootedEncoding) -> Found:
    for edge in at.inside.edges:
        a, b = sorted(edge, key=lambda node: at.label[node])
        yield Bin("edge", *at.label[a], *at.label[b]), (a, b)


def _read(at: Rooted, nodes: Nodes) -> tuple[list[int], Nodes]:
    """The labels along a path, and its nodes, from the end that makes the labels smaller."""
    labels = [at.label[node] for node in nodes]
    back = labels[::-1]
    return (_flat(back), nodes[::-1]) if back < labels else (_flat(labels), nodes)


def _wedges(at: Rooted, encoding: RootedEncoding) -> Found:
    for middle in at.inside:
        for x, z in combinations(at.inside[middle], 2):
            labels, nodes = _read(at, (x, middle, z))
            yield Bin("wedge", "closed" if at.inside.has_edge(x, z) else "open", *labels), nodes


def _triangles(at: Rooted, encoding: RootedEncoding) -> Found:
    for x, y in at.inside.edges:
        for z in networkx.common_neighbors(at.inside, x, y):
            if z > max(x, y):
                a, b, c = sorted((x, y, z), key=lambda node: at.label[node])
                yield Bin("triangle", *at.label[a], *at.label[b], *at.label[c]), (a, b, c)


def _paths(at: Rooted, encoding: RootedEncoding) -> Found:
    for x, y in at.inside.edges:
        for w, z in product(at.inside[x], at.inside[y]):
            if w not in (y, z) and z != x:
                labels, nodes = _read(at, (w, x, y, z))
                yield Bin("path", *labels), nodes


def _resistances(at: Rooted, encoding: RootedEncoding) -> Found:
    """Each edge a unit resistor, by the pseudo-inverse of the Laplacian."""
    last = int((at.hops + 1) / encoding.resistance_width + ROUNDING)
    for name, root in (("u", at.u), ("v", at.v)):
        component = sorted(networkx.node_connected_component(at.inside, root))
        own = at.inside.subgraph(component)
        green = np.linalg.pinv(networkx.laplacian_matrix(own, nodelist=component).toarray().astype(float))
        r = component.index(root)
        to_root = {w: green[i, i] + green[r, r] - 2 * green[i, r] for i, w in enumerate(component)}
        for node in at.inside:
            place = min(to_root.get(node, np.inf) / encoding.resistance_width + ROUNDING, last)
            yield Bin("resistance", name, int(place)), (node,)


def _walks(at: Rooted, encoding: RootedEncoding) -> Found:
    """Walks from u to v, and from either root back to it, the short ones first."""
    ends = [((), at.u, at.v), (("u",), at.u, at.u), (("v",), at.v, at.v)]
    for length in range(2, encoding.walk_length + 1):
        for words, start, end in ends:
            back = networkx.single_source_shortest_path_length(at.inside, end)
            for nodes in _walks_of(at.inside, (start,), length, back):
                yield Bin("walk", *words, length), nodes


def _walks_of(graph: "networkx.Graph[int]", nodes: Nodes, left: int, back: Mapping[int, int]) -> Iterator[Nodes]:
    """The walks that begin like this, have so many edges more, and end where ``back`` is 0."""
    if back.get(nodes[-1], left + 1) > left:
        return
    if not left:
        yield nodes
        return
    for neighbour in graph[nodes[-1]]:
        yield from _walks_of(graph, (*nodes, neighbour), left - 1, back)


def _cycles(at: Rooted, encoding: RootedEncoding) -> Found:
    for nodes in _around(at, encoding.cycle_length):
        yield Bin("cycle", len(nodes)), nodes


def _rings(at: Rooted, encoding: RootedEncoding) -> Found:
    """Cycles of which no two nodes are adjacent but those that follow each other."""
    missing = int(at.u != at.v and not at.graph.has_edge(at.u, at.v))  # the edge that would close it
    for nodes in _around(at, encoding.ring_length):
        if at.graph.subgraph(nodes).number_of_edges() + missing == len(nodes):
            yield Bin("ring", len(nodes)), nodes


def _around(at: Rooted, longest: int) -> Iterator[Nodes]:
    """Cycles of the whole graph through the edge, or through the node u = v."""
    if at.u != at.v:
        for path in networkx.all_simple_paths(at.graph, at.u, at.v, cutoff=longest - 1):
            if len(path) > 2:
                yield tuple(path)
        return
    around = at.graph.subgraph({*at.graph} - {at.u})
    for a, b in combinations(at.graph[at.u], 2):
        for path in networkx.all_simple_paths(around, a, b, cutoff=longest - 2):
            yield (at.u, *path)


def _mix(x: int) -> int:
    for factor in FACTORS:
        x = (x ^ x >> 29) * factor & COLOURS
    return x ^ x >> 31


def _colours(at: Rooted, encoding: RootedEncoding) -> Found:
    colour = {node: _mix(1 + (a << 31) + b) for node, (a, b) in at.label.items()}
    for _ in range(encoding.colour_rounds):
        heard = {node: FACTORS[0] * colour[node] + sum(colour[x] for x in at.inside[node]) for node in at.inside}
        colour = {node: _mix(number & COLOURS) for node, number in heard.items()}
    for node, number in colour.items():
        yield Bin("colour", number % encoding.colour_bins), (node,)


def _alike(at: Rooted, encoding: RootedEncoding) -> Found:
    """Neighbours of one root that 1-WL cannot tell from the other, as far as its rounds go."""
    colour = dict.fromkeys(at.graph, 0)
    for _ in range(encoding.alike_rounds):
        seen = {node: (colour[node], tuple(sorted(colour[x] for x in at.graph[node]))) for node in at.graph}
        number = {one: i for i, one in enumerate(sorted({*seen.values()}))}
        colour = {node: number[one] for node, one in seen.items()}
    for name, like, beside in (("u", at.u, at.v), ("v", at.v, at.u)):
        for node in at.graph[beside]:
            if node != like and colour[node] == colour[like]:
                yield Bin("alike", name), (node,)


MEMBERS: dict[str, Callable[[Rooted, RootedEncoding], Found]] = {
    "degree": _degrees,
    "node": _nodes,
    "joint": _joint,
    "edge": _edges,
    "resistance": _resistances,
    "wedge": _wedges,
    "triangle": _triangles,
    "path": _paths,
    "walk": _walks,
    "cycle": _cycles,
    "ring": _rings,
    "colour": _colours,
    "alike": _alike,
}
