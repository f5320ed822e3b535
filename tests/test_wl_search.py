"""Search by singling nodes out; its naive twin and what holds for every test are in `tests/test_wl.py`."""

from itertools import combinations

import networkx as nx
import numpy as np
import pytest
from numpy.testing import assert_array_equal

from escgnn import datasets, graphs, wl
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
