"""Patterns: what can be counted, by name or as a small graph, and their symmetries."""

import difflib
import re
from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import combinations
from typing import Any

import networkx

MOST_NODES_WITHOUT_NAME = 6  # nodes of a pattern that has no name
SIZES = {"cycle": range(3, 9), "clique": range(3, 7), "path": range(1, 7), "star": range(2, 1_000_001)}

Edge = tuple[int, int]


@dataclass(frozen=True)
class Pattern:
    """A connected graph on nodes 0 to num_nodes - 1.

    Attributes:
        name: What errors call it.
        num_nodes: Number of nodes.
        edges: Each edge once.
        orbit: The positions counted by default per node, all equal by symmetry; () for any position.
    """

    name: str
    num_nodes: int
    edges: tuple[Edge, ...]
    orbit: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        if not self.edges:
            raise ValueError("pattern: it has no edges; give at least one")
        for u, v in self.edges:
            if u == v:
                raise ValueError(f"pattern: node {u} is joined to itself; leave self loops out")
            if min(u, v) < 0 or max(u, v) >= self.num_nodes:
                raise ValueError(f"pattern: edge {(u, v)} names a node outside 0 to {self.num_nodes - 1}")
        if any(node not in range(self.num_nodes) for node in self.orbit):
            raise ValueError(f"pattern: orbit {self.orbit} names a node outside 0 to {self.num_nodes - 1}")
        if not networkx.is_connected(self.to_networkx()):
            raise ValueError("pattern: it is disconnected; count its components one by one")

    def to_networkx(self) -> "networkx.Graph[int]":
        """The same graph for networkx."""
        graph: networkx.Graph[int] = networkx.empty_graph(self.num_nodes)
        graph.add_edges_from(self.edges)
        return graph

    @property
    def is_complete(self) -> bool:
        """Whether every two nodes are joined, so that each copy is induced."""
        return len(self.edges) == self.num_nodes * (self.num_nodes - 1) // 2


FIXED = {
    pattern.name: pattern
    for pattern in (
        Pattern("tailed-triangle", 4, ((0, 1), (1, 2), (1, 3), (2, 3)), (0,)),
        Pattern("chordal-cycle", 4, ((0, 1), (0, 2), (1, 2), (1, 3), (2, 3)), (0, 3)),
        Pattern("triangle-rectangle", 5, ((0, 1), (0, 2), (1, 2), (2, 3), (3, 4), (1, 4)), (0,)),
    )
}


def _cycle(name: str, k: int) -> Pattern:
    return Pattern(name, k, tuple((i, (i + 1) % k) for i in range(k)), tuple(range(k)))


def _clique(name: str, k: int) -> Pattern:
    return Pattern(name, k, tuple(combinations(range(k), 2)), tuple(range(k)))


def _path(name: str, k: int) -> Pattern:
    return Pattern(name, k + 1, tuple((i, i + 1) for i in range(k)), (0, k))


def _star(name: str, k: int) -> Pattern:
    return Pattern(name, k, tuple((0, leaf) for leaf in range(1, k)), (0,) if k > 2 else (0, 1))


FAMILIES = {"cycle": _cycle, "clique": _clique, "path": _path, "star": _star}


@lru_cache(64)
def _lookup(name: str) -> Pattern | None:
    sized = re.fullmatch(r"([1-9]\d{0,6})-(cycle|clique|path|star)", name)
    if sized and int(sized[1]) in SIZES[sized[2]]:
        return FAMILIES[sized[2]](name, int(sized[1]))
    return FIXED.get(name)


def named(name: str) -> Pattern:
    """The pattern of that name.

    Names are ``3-cycle`` to ``8-cycle``, ``3-clique`` to ``6-clique``, ``1-path`` to ``6-path`` by number of
    *edges*, ``k-star`` by number of *nodes* (k >= 2, node 0 the centre), ``tailed-triangle``,
    ``chordal-cycle`` (a 4-cycle with a diagonal) and ``triangle-rectangle`` (the house). In the last three
    node 0 is the end of the tail, a corner off the diagonal and the apex of the roof.

    >>> named("tailed-triangle").edges
    ((0, 1), (1, 2), (1, 3), (2, 3))

    Raises:
        ValueError: No pattern has that name.
    """
    pattern = _lookup(name)
    if pattern:
        return pattern
    names = [*FIXED, *(f"{k}-{family}" for family, sizes in SIZES.items() for k in sizes[:7])]
    near = difflib.get_close_matches(name, names, 1)
    raise ValueError(
        f"pattern: unknown name {name!r}{f'; did you mean {near[0]!r}?' if near else ''}; names are "
        "3-cycle to 8-cycle, 3-clique to 6-clique, 1-path to 6-path (edges), k-star for k >= 2 (nodes), "
        f"{', '.join(FIXED)}"
    )


def is_named(pattern: Pattern) -> bool:
    """Whether this is the pattern that its name says."""
    return pattern == _lookup(pattern.name)


def as_pattern(pattern: Any) -> tuple[Pattern, Mapping[Hashable, int]]:
    """What a name, a `Pattern`, (u, v) pairs or a networkx graph means, and the numbers of its nodes."""
    if isinstance(pattern, str):
        pattern = named(pattern)
    if isinstance(pattern, Pattern):
        number: dict[Hashable, int] = {node: node for node in range(pattern.num_nodes)}
    else:
        try:
            graph = networkx.Graph(pattern if isinstance(pattern, networkx.Graph) else [(u, v) for u, v in pattern])
        except (TypeError, ValueError, networkx.NetworkXError):
            raise ValueError(
                f"pattern: cannot read {pattern!r}; give a name, (u, v) pairs or a networkx graph"
            ) from None
        number = {node: i for i, node in enumerate(graph)}
        pattern = Pattern("given", len(number), tuple((number[u], number[v]) for u, v in graph.edges()))
    if pattern.num_nodes > MOST_NODES_WITHOUT_NAME and not is_named(pattern):
        raise ValueError(
            f"pattern: {pattern.num_nodes} nodes; patterns without a name have at most {MOST_NODES_WITHOUT_NAME}"
        )
    return pattern, number


def has_symmetry(pattern: Pattern, image: Mapping[int, int]) -> bool:
    """Whether some automorphism sends nodes as ``image`` says."""
    arcs = _arcs(pattern)
    nodes = [*image, *(node for node in range(pattern.num_nodes) if node not in image)]
    done: dict[int, int] = {}

    def fits(u: int, v: int) -> bool:
        return v not in done.values() and all(((u, w) in arcs) == ((v, x) in arcs) for w, x in done.items())

    def extend() -> bool:
        if len(done) == len(nodes):
            return True
        u = nodes[len(done)]
        for v in (image[u],) if u in image else range(pattern.num_nodes):
            if fits(u, v):
                done[u] = v
                if extend():
                    return True
                del done[u]
        return False

    return extend()


@cache
def _arcs(pattern: Pattern) -> frozenset[Edge]:
    return frozenset(pattern.edges) | {(v, u) for u, v in pattern.edges}


@lru_cache(256)
def node_orbits(pattern: Pattern) -> tuple[int, ...]:
    """One node of each orbit.

    >>> node_orbits(named("triangle-rectangle"))
    (0, 1, 3)
    """
    found: list[int] = []
    for node in range(pattern.num_nodes):
        if not any(has_symmetry(pattern, {node: other}) for other in found):
            found.append(node)
    return tuple(found)


@lru_cache(256)
def edge_orbits(pattern: Pattern) -> tuple[Edge, ...]:
    """One edge of each orbit of undirected edges.

    >>> edge_orbits(named("tailed-triangle"))
    ((0, 1), (1, 2), (2, 3))
    """
    found: list[Edge] = []
    for u, v in pattern.edges:
        if not any(has_symmetry(pattern, {u: a, v: b}) or has_symmetry(pattern, {u: b, v: a}) for a, b in found):
            found.append((u, v))
    return tuple(found)


def read_pattern(text: str) -> str | list[Edge]:
    """What `count` takes, from what people type: a name, or edges such as ``0-1 1-2 2-0``.

    >>> read_pattern("5-cycle"), read_pattern("0-1 1-2, 2-0")
    ('5-cycle', [(0, 1), (1, 2), (2, 0)])
    """
    words = text.replace(",", " ").split()
    edges = [re.fullmatch(r"(\d+)-(\d+)", word) for word in words]
    if not all(edges) or not words:
        return text
    return [(int(edge[1]), int(edge[2])) for edge in edges if edge]


def read_orbit(text: str) -> int | Edge:
    """A position in a pattern, from what people type: a node such as ``2``, or an edge such as ``2-3``."""
    match = re.fullmatch(r"(\d+)(?:-(\d+))?", text.strip())
    if match is None:
        raise ValueError(f"orbit: {text!r}; expected a node such as 2 or an edge such as 2-3")
    return int(match[1]) if match[2] is None else (int(match[1]), int(match[2]))
