import networkx as nx
import numpy as np
from hypothesis import given

from escgnn import graphs
from escgnn.counting import count, expected_steps
from escgnn.encoding import RootedEncoding
from escgnn.graphs.cost import arcs, highest_degrees, per_graph, walks
from tests.strategies import messy_graphs


def naive_walks(graph, node, length):
    """Walks that never turn back at once, one by one."""
    found = [[node]]
    for _ in range(length):
        found = [[*walk, w] for walk in found for w in graph[walk[-1]] if len(walk) < 2 or w != walk[-2]]
    return len(found)


@given(messy_graphs(max_nodes=7))
def test_walks_one_by_one(graph):
    graph = graphs.as_graph(graph)
    slow = graph.to_networkx()
    for length, found in enumerate(walks(graph, 4), 1):
        assert found.tolist() == [naive_walks(slow, node, length) for node in slow]


def test_several_graphs_side_by_side():
    members = [graphs.empty(2), graphs.star(3), graphs.empty(0), graphs.cycle(5)]
    union = graphs.disjoint_union(members)
    assert arcs(union).tolist() == [0, 6, 0, 10]
    assert highest_degrees(union).tolist() == [0, 3, 0, 2]
    assert per_graph(union, np.ones(union.num_nodes)).tolist() == [2, 4, 0, 5]
    assert arcs(graphs.empty(0)).tolist() == [0]
    assert expected_steps(union).size == RootedEncoding(2).expected_steps(union).size == 4


def test_every_copy_is_a_step():
    """What is met one by one cannot be more than the bound, but for a cycle's last node, which is not visited."""
    graph = graphs.from_edges([*nx.gnp_random_graph(40, 0.5, seed=1).edges()], 40)
    for pattern in ("5-cycle", "7-cycle", "5-clique", "6-path"):
        highest = graph.degrees.max()
        assert expected_steps(graph, pattern)[0] * highest >= count(graph, pattern)[0]
    induced = [(0, 1), (1, 2), (2, 3)]
    assert expected_steps(graph, induced, induced=True)[0] >= count(graph, induced, induced=True)[0]


def test_what_is_quick_is_known_to_be():
    star = graphs.star(200_000)
    assert expected_steps(star, "4-cycle")[0] < 1e6  # every leaf sees the centre only
    assert expected_steps(star, "1000-star")[0] < 1e6
    molecule = graphs.molecule_like(100)
    assert RootedEncoding(3, ("cycle", "path", "edge")).expected_steps(molecule)[0] < 1e7
    assert RootedEncoding(2).expected_steps(star)[0] > 1e10
    broom = graphs.from_edges([(i, i + 1) for i in range(100_000)] + [(0, 100_001 + i) for i in range(1000)], 101_001)
    assert RootedEncoding(1).expected_steps(broom)[0] < 1e7  # one node of many is a hub
    assert RootedEncoding(1, ("cycle",)).expected_steps(graphs.complete(120))[0] > 1e12
    assert expected_steps(graphs.complete(120), "8-cycle")[0] > 1e12
