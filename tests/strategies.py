"""Random graphs for property tests: any shape, loops and repeats included, columns in any order."""

import numpy as np
from hypothesis import strategies as st

from escgnn import graphs


@st.composite
def messy_graphs(draw, max_nodes=10):
    """A view with loops, parallel edges and unsorted columns."""
    n = draw(st.integers(1, max_nodes))
    node = st.integers(0, n - 1)
    edges = draw(st.lists(st.tuples(node, node), max_size=3 * n))
    columns = np.array([*edges, *((v, u) for u, v in edges)], np.int64).reshape(-1, 2)
    order = draw(st.permutations(range(len(columns))))
    return graphs.from_edge_index(columns[order].T, n)


@st.composite
def relabelled(draw, source=None):
    """A graph, a permutation of its nodes, and the graph with nodes renamed and columns shuffled likewise."""
    graph = draw(messy_graphs() if source is None else source)
    order = np.array(draw(st.permutations(range(graph.num_nodes))))
    columns = np.array(draw(st.permutations(range(graph.arc.size))), np.int64)
    return graph, order, columns, graphs.permute(graph, order, columns)


def odd_shapes():
    """Shapes that break careless code, by name."""
    return {
        "nothing": graphs.empty(0),
        "one node": graphs.empty(1),
        "no edges": graphs.empty(5),
        "one edge": graphs.path(2),
        "two components": graphs.disjoint_union([graphs.cycle(5), graphs.star(3)]),
        "isolated nodes": graphs.from_edges([(1, 3), (3, 5)], 8),
        "self loops": graphs.from_edge_index([[0, 0, 1, 2], [0, 1, 0, 2]], 3),
        "parallel edges": graphs.from_edge_index([[0, 1, 0, 1, 1, 2], [1, 0, 1, 0, 2, 1]], 3),
        "unsorted": graphs.from_edge_index([[2, 0, 3, 1, 0, 3], [3, 1, 2, 0, 3, 0]], 4),
        "hub": graphs.star(300),
        "hub in a clique": graphs.disjoint_union([graphs.complete(9), graphs.star(40)]),
    }
