"""Sampled neighbourhoods beside a twin in plain Python."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from escgnn import graphs
from escgnn.graphs import LeanGraph
from escgnn.huge import sample
from escgnn.kernels.sampling import draw, number_nodes, scramble
from tests import naive_huge
from tests.strategies import messy_graphs, odd_shapes


def check_same(graph, nodes, fan_outs, seed):
    found = sample(LeanGraph(graph.csr), nodes, fan_outs, seed=seed)
    n_id, columns, e_id = naive_huge.sample(graph.to_networkx(), nodes, fan_outs, seed)
    assert found.n_id.tolist() == n_id
    assert found.edge_index.T.tolist() == [*map(list, columns)]
    assert found.e_id.tolist() == e_id
    return found


@given(messy_graphs(), st.lists(st.integers(-1, 4), max_size=3), st.integers(0, 10**6), st.data())
def test_any_graph(graph, fan_outs, seed, data):
    nodes = data.draw(st.lists(st.integers(0, graph.num_nodes - 1), unique=True))
    check_same(graph, nodes, fan_outs, seed)


@pytest.mark.parametrize("name", odd_shapes())
def test_odd_shapes(name):
    graph = odd_shapes()[name]
    nodes = [*range(0, graph.num_nodes, 3)]
    for fan_outs in ([], [0], [2, 2], [-1, 5], [7, -1, 1]):
        check_same(graph, nodes, fan_outs, seed=(3, 1))


def test_columns_are_edges_of_the_graph():
    graph = LeanGraph(graphs.barabasi_albert(500, 4, seed=0).csr)
    part = sample(graph, np.arange(0, 500, 7), [5, 5], seed=1)
    ends = part.n_id[part.edge_index].T
    assert_array_equal(graph.edge_ids(ends), part.e_id)
    assert np.unique(part.e_id).size == part.e_id.size  # nobody is asked twice


def test_all_neighbours_of_all_nodes_are_the_graph():
    graph = LeanGraph(graphs.erdos_renyi(60, 0.1, seed=2).csr)
    part = sample(graph, np.arange(60), [-1])
    assert_array_equal(part.n_id, np.arange(60))
    assert_array_equal(np.sort(part.e_id), np.arange(2 * graph.num_edges))


def test_threads_and_company_do_not_matter():
    graph = LeanGraph(graphs.barabasi_albert(20_000, 5, seed=0).csr)
    nodes = np.arange(0, 20_000, 3)
    one = sample(graph, nodes, [4, 3], seed=5, threads=1)
    for threads in (2, 7):
        for mine, theirs in zip(sample(graph, nodes, [4, 3], seed=5, threads=threads), one, strict=True):
            assert_array_equal(mine, theirs)
    alone = sample(graph, nodes[100:101], [4], seed=5)
    assert_array_equal(alone.e_id, sample(graph, nodes, [4], seed=5).e_id.reshape(-1)[_place(graph, nodes, 4, 100)])


def _place(graph, nodes, fan_out, number):
    counts = np.minimum(graph.degrees[nodes], fan_out)
    begin = counts[:number].sum()
    return slice(begin, begin + counts[number])


def test_other_seeds_give_other_neighbours():
    graph = LeanGraph(graphs.star(100).csr)
    drawn = {tuple(sample(graph, [0], [5], seed=seed).n_id.tolist()) for seed in [*range(20), (1, 2), (1, 3)]}
    assert len(drawn) == 22


@given(st.integers(0, 2**64 - 1), st.integers(0, 60), st.data())
def test_drawing(key, size, data):
    count = data.draw(st.integers(0, size))
    places = np.empty(count, np.int64)
    draw(np.uint64(key), size, places)
    assert places.tolist() == naive_huge.draw(key, size, count)
    assert int(scramble(np.uint64(key))) == naive_huge.scramble(key)


def test_every_choice_is_as_likely_as_any_other():
    """Ten choices of two out of five, 20,000 times: the counts differ by chance only (chi-squared of nine freedoms)."""
    counts = {}
    places = np.empty(2, np.int64)
    for key in range(20_000):
        draw(np.uint64(scramble(np.uint64(key))), 5, places)
        chosen = tuple(places.tolist())
        counts[chosen] = counts.get(chosen, 0) + 1
    assert len(counts) == 10
    assert sum((count - 2000) ** 2 / 2000 for count in counts.values()) < 27.9  # passed by all but one in a thousand


@given(st.lists(st.integers(0, 50), unique=True), st.lists(st.integers(0, 50)))
def test_numbering(known, met):
    number = np.empty(len(met), np.int64)
    new = np.empty(len(met), np.int64)
    found = number_nodes(np.array(known, np.int64), np.array(met, np.int64), number, new)
    every = [*dict.fromkeys([*known, *met])]
    assert new[:found].tolist() == every[len(known) :]
    assert number.tolist() == [every.index(node) for node in met]


@pytest.mark.parametrize(
    ("nodes", "fan_outs", "message"),
    [
        ([4], [1], "nodes: 4; expected nodes from 0 to 3"),
        ([-1], [1], "nodes: -1; expected"),
        ([1, 2, 1], [1], "nodes: 1 is there 2 times; expected different nodes"),
        ([0.5], [1], "dtype float64"),
        ([0], [-2], "fan_outs: -2; expected integers from 0 on, or -1 for all"),
        ([0], [True], "fan_outs: True"),
        ([0], [1.5], "fan_outs: 1.5"),
    ],
)
def test_bad_arguments_are_named(nodes, fan_outs, message):
    with pytest.raises(ValueError, match=message):
        sample(LeanGraph(graphs.cycle(4).csr), nodes, fan_outs)
