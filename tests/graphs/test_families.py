import networkx as nx
import numpy as np
import pytest
from numpy.testing import assert_array_equal

from escgnn import graphs


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        (graphs.empty(4), nx.empty_graph(4)),
        (graphs.path(5), nx.path_graph(5)),
        (graphs.cycle(6), nx.cycle_graph(6)),
        (graphs.star(4), nx.star_graph(4)),
        (graphs.complete(5), nx.complete_graph(5)),
        (graphs.complete_bipartite(2, 3), nx.complete_bipartite_graph(2, 3)),
        (graphs.circulant(15, 1, 4), nx.circulant_graph(15, [1, 4])),
        (graphs.grid(3, 4), nx.grid_2d_graph(3, 4)),
        (graphs.hypercube(4), nx.hypercube_graph(4)),
        (graphs.petersen(), nx.petersen_graph()),
        (graphs.rook(4), nx.line_graph(nx.complete_bipartite_graph(4, 4))),
        (graphs.figure_1(), nx.cycle_graph(4)),
    ],
)
def test_named_graphs_are_what_their_names_say(ours, theirs):
    assert nx.is_isomorphic(ours.to_networkx(), theirs)


def test_shrikhande_is_strongly_regular_but_not_rook():
    for graph in (graphs.shrikhande(), graphs.rook(4)):
        A = nx.to_numpy_array(graph.to_networkx())
        assert_array_equal(A @ A, 6 * np.eye(16) + 2 * A + 2 * (1 - A - np.eye(16)))
    assert max(len(c) for c in nx.find_cliques(graphs.shrikhande().to_networkx())) == 3
    assert max(len(c) for c in nx.find_cliques(graphs.rook(4).to_networkx())) == 4


@pytest.mark.parametrize(("n", "degree"), [(2, 1), (10, 6), (11, 4), (30, 5), (2000, 3), (8, 7), (5, 0), (0, 0)])
def test_random_regular(n, degree):
    graph = graphs.random_regular(n, degree, seed=3)
    assert graph.degrees.tolist() == [degree] * n
    assert_array_equal(graph.edges, graphs.random_regular(n, degree, seed=3).edges)


@pytest.mark.parametrize(("n", "degree"), [(5, 3), (4, 4), (3, -1)])
def test_random_regular_refuses_the_impossible(n, degree):
    with pytest.raises(ValueError, match=f"degree: no simple graph has {n} nodes of degree {degree}"):
        graphs.random_regular(n, degree)


def test_random_families_have_the_sizes_they_promise():
    assert graphs.random_tree(50).num_edges == 49
    assert nx.is_tree(graphs.random_tree(50).to_networkx())
    popular = graphs.barabasi_albert(3000, 3, seed=1)
    assert popular.num_edges == 3 * 2997
    assert popular.degrees.max() > 100
    dense = graphs.erdos_renyi(400, 0.3, seed=2)
    assert abs(dense.num_edges / (200 * 399) - 0.3) < 0.01
    assert graphs.erdos_renyi(5, 1.0).num_edges == 10
    assert graphs.erdos_renyi(1, 0.5).num_edges == 0


def test_counting_recipe():
    """(n, m) of the benchmark's graphs, about a quarter each."""
    members = graphs.counting_random(400, seed=5).split()
    sizes, counts = np.unique([(g.num_nodes, g.num_edges) for g in members], axis=0, return_counts=True)
    assert sizes.tolist() == [[10, 20], [15, 30], [20, 30], [30, 45]]
    assert counts.min() > 60


def test_molecule_like_graphs_look_like_molecules():
    union = graphs.molecule_like(300, seed=0)
    assert union.num_graphs == 300
    assert union.degrees.max() <= 4
    assert 23 < union.num_nodes / 300 < 29
    assert 24 < union.num_edges / 300 < 31
    assert all(nx.is_connected(member.to_networkx()) for member in union.split()[:50])


@pytest.mark.parametrize("make", [lambda: graphs.cycle(2), lambda: graphs.barabasi_albert(3, 3)])
def test_impossible_sizes_are_refused(make):
    with pytest.raises(ValueError, match=r"n: 2|links: 3"):
        make()
