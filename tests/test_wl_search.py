"""Search by singling nodes out; its naive twin and what holds for every test are in `tests/test_wl.py`."""

from itertools import combinations

import networkx as nx
import numpy as np
import pytest
from numpy.testing import assert_array_equal

from escgnn import datasets, graphs, wl
from escgnn.kernels.search import search
from escgnn.wl.systems import MAX_WORDS
from tests.test_wl import hard_graphs, refines


def test_distance_regular_pairs_of_brec(benchmark_data):
    """Where most others see nothing."""
    bundle = datasets.load("brec")
    pairs = [pair for pair, kind in zip(bundle.pairs, bundle.categories, strict=True) if kind == "Distance_Regular"]
    members = bundle.graphs[np.concatenate(pairs)].view()
    for test, apart in ((wl.FolkloreWL(2), 0), (wl.SearchWL(2), 0), (wl.SearchWL(3), 18), (wl.SearchWL(4), 20)):
        classes = wl.partition(members, test)
        assert (classes[::2] != classes[1::2]).sum() == apart


def test_search_at_depth_one_is_one_wl_rooted_at_nodes():
    members = [g for g in nx.graph_atlas_g()[1:] if nx.is_connected(g)]
    members += [g for g in hard_graphs() if nx.is_connected(g.to_networkx())]
    found, expected = (wl.partition(members, test) for test in (wl.SearchWL(1), wl.RootedWL(1, 1, 50, messages=True)))
    assert_array_equal(found, expected)
    assert_array_equal(wl.partition(nx.graph_atlas_g(), wl.SearchWL(2)), np.arange(1253))


def searched(members, depth):
    """Colours by the search alone, graph by graph, before 1-WL over the graph has the last word."""
    whole = graphs.disjoint_union(members)
    colour = np.empty(whole.num_nodes, np.int64)
    initial = np.zeros(whole.num_nodes, np.int64)
    assert search(whole.csr, whole.ptr, initial, depth, MAX_WORDS, colour) == -1
    return np.split(colour, whole.ptr[1:-1])


def hub(*members):
    """A node, the first, beside all nodes of these graphs."""
    rest = graphs.disjoint_union(members)
    spokes = [(0, v + 1) for v in range(rest.num_nodes)]
    return graphs.from_edges([*spokes, *(rest.edges + 1).tolist()], rest.num_nodes + 1)


TRIANGLES = (graphs.cycle(3), graphs.cycle(3))


def test_trees_of_choices_have_no_order():
    """Nodes of a hexagon and of triangles are one cell beside a hub, but lead to other colourings."""
    (first, *_), (second, *_) = searched([hub(graphs.cycle(6), *TRIANGLES), hub(*TRIANGLES, graphs.cycle(6))], 2)
    assert first == second


def test_names_do_not_matter():
    random = np.random.default_rng(0)
    for seed in range(40):
        graph = graphs.erdos_renyi(8, (0.3, 0.5)[seed % 2], seed)
        order = random.permutation(8)
        colour, other = searched([graph, graphs.permute(graph, order)], 1 + seed % 2)
        assert_array_equal(other[order], colour)


def test_the_smallest_cell_is_singled_out():
    """Two leaves, which tell nothing; without them it is the hexagon or the triangles, which are then told apart."""
    for leaves, is_told in (((graphs.empty(2),), False), ((), True)):
        (first, *_), (second, *_) = searched([hub(*ring, *leaves) for ring in ((graphs.cycle(6),), TRIANGLES)], 2)
        assert (first != second) == is_told


def test_how_many_are_left_is_seen():
    """By a node without edges, too."""
    three, four = searched([graphs.empty(3), graphs.empty(4)], 1)
    assert not {*three.tolist()} & {*four.tolist()}


def test_neighbours_tell_what_the_search_did_not():
    """With a hub and one more node singled out, the rook's graph is still like Shrikhande's; their own nodes know better."""
    members = [hub(graphs.rook(4)), hub(graphs.shrikhande())]
    (first, *_), (second, *_) = searched(members, 2)
    assert first == second
    (first, *_), (second, *_) = wl.colours(members, wl.SearchWL(2))
    assert first != second


def test_search_is_complete_when_deep_enough():
    members = hard_graphs()
    plain = [member.to_networkx() for member in members]
    coarse = None
    for depth in (1, 2, 3, 16):
        fine = wl.partition(members, wl.SearchWL(depth))
        assert coarse is None or refines(fine, coarse)
        coarse = fine
    for i, j in combinations(range(len(members)), 2):
        if plain[i].number_of_nodes() == plain[j].number_of_nodes():
            assert (fine[i] == fine[j]) == nx.is_isomorphic(plain[i], plain[j])


def test_colourings_that_do_not_fit(monkeypatch):
    monkeypatch.setattr("escgnn.wl.search.MAX_WORDS", 100)
    with pytest.raises(ValueError, match="depth: at depth 2, the colourings of 2 of 2 graphs"):
        wl.partition([graphs.rook(4), graphs.shrikhande()], wl.SearchWL(2))
