"""The slow, obvious twin of `escgnn.counting`: try every placement, keep the set of copies."""

from collections import defaultdict
from itertools import permutations

import networkx as nx


def placements(graph: nx.Graph, pattern: nx.Graph, induced: bool = False):
    """Every way to lay the pattern's nodes on different nodes of the graph so that edges fall on edges."""
    nodes = list(pattern)
    for image in permutations(graph, len(nodes)):
        place = dict(zip(nodes, image, strict=True))
        if not all(graph.has_edge(place[u], place[v]) for u, v in pattern.edges):
            continue
        if not induced or graph.subgraph(image).number_of_edges() == pattern.number_of_edges():
            yield place


class Copies:
    """The copies of a pattern, each one a set of edges, by what sits in each position."""

    def __init__(self, graph: nx.Graph, pattern: nx.Graph, induced: bool = False) -> None:
        self.all = set()
        self.at_node = defaultdict(lambda: defaultdict(set))
        self.at_edge = defaultdict(lambda: defaultdict(set))
        for place in placements(graph, pattern, induced):
            copy = frozenset(frozenset((place[u], place[v])) for u, v in pattern.edges)
            self.all.add(copy)
            for position, node in place.items():
                self.at_node[position][node].add(copy)
            for u, v in pattern.edges:
                self.at_edge[frozenset((u, v))][frozenset((place[u], place[v]))].add(copy)

    def per_graph(self) -> int:
        return len(self.all)

    def per_node(self, node, position=None) -> int:
        """Copies with the node in this position, or in any."""
        positions = list(self.at_node) if position is None else [position]
        return len(set().union(*(self.at_node[p][node] for p in positions)))

    def per_edge(self, u, v, position=None) -> int:
        """Copies with the edge in this position, or in any."""
        positions = list(self.at_edge) if position is None else [frozenset(position)]
        return len(set().union(*(self.at_edge[p][frozenset((u, v))] for p in positions)))
