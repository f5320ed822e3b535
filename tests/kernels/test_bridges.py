"""Edges on cycles, against networkx's bridges."""

import networkx
import numpy as np
import pytest
from hypothesis import given

from escgnn import graphs
from escgnn.kernels.bridges import on_cycles
from tests.strategies import messy_graphs, odd_shapes


def expected(view):
    """For every arc in order, whether its edge is no bridge."""
    graph = networkx.Graph()
    graph.add_nodes_from(range(view.num_nodes))
    graph.add_edges_from((u, v) for u, v in view.edge_index.T.tolist() if u != v)
    bridges = {frozenset(edge) for edge in networkx.bridges(graph)}
    return [frozenset((u, v)) not in bridges for u in graph for v in sorted(graph[u])]


@given(messy_graphs())
def test_all_but_bridges(view):
    assert on_cycles(view.csr).tolist() == expected(view)


@pytest.mark.parametrize("shape", odd_shapes())
def test_odd_shapes(shape):
    view = odd_shapes()[shape]
    assert on_cycles(view.csr).tolist() == expected(view)


@pytest.mark.parametrize("seed", range(200))
def test_random_graphs(seed):
    """Of any density, where trees hang at cycles and cycles at trees; in any order."""
    rng = np.random.default_rng(seed)
    nodes = int(rng.integers(1, 40))
    view = graphs.from_edges(rng.integers(0, nodes, (int(rng.integers(0, 2 * nodes)), 2)).tolist(), nodes)
    assert on_cycles(view.csr).tolist() == expected(view)


def test_a_deep_graph_needs_no_recursion():
    line = graphs.path(200_000)
    assert not on_cycles(line.csr).any()
    assert on_cycles(graphs.cycle(200_000).csr).all()
