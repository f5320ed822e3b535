import pickle

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from escgnn import counting, graphs
from escgnn.encoding import RootedEncoding
from escgnn.graphs import LeanGraph
from tests import naive_huge
from tests.strategies import messy_graphs, odd_shapes, relabelled

ENCODING = RootedEncoding(hops=1, parts=("joint", "edge"), nodes=True, max_nodes=5)


def plain(graph):
    """The same graph without loops and repeats, its columns in order."""
    return graphs.from_edges(graph.edges, graph.num_nodes)


def check_same(lean, graph):
    assert (lean.num_nodes, lean.num_edges, lean.num_graphs) == (graph.num_nodes, graph.num_edges, 1)
    for name in ("edge_index", "arc", "edge", "edges", "degrees"):
        assert_array_equal(getattr(lean, name), getattr(graph, name), err_msg=name)
        assert getattr(lean, name).dtype == getattr(graph, name).dtype
    assert lean.max_degree == graph.max_degree == max(graph.degrees.tolist(), default=0)
    for size in (1, 3, 100):
        pieces = [*lean.edge_slices(size)]
        assert_array_equal(np.concatenate([np.empty((0, 2), np.int64), *pieces]), graph.edges)
        assert [len(piece) for piece in pieces] == [len(piece) for piece in graph.edge_slices(size)]


@given(messy_graphs())
def test_it_is_the_graph(graph):
    check_same(LeanGraph(graph.csr), plain(graph))


@pytest.mark.parametrize("name", odd_shapes())
def test_odd_shapes(name):
    graph = plain(odd_shapes()[name])
    check_same(LeanGraph(graph.csr), graph)


@given(messy_graphs(), st.data())
def test_edge_ids_are_those_of_the_naive_twin(graph, data):
    lean = LeanGraph(graph.csr)
    ids = naive_huge.edge_ids(graph.to_networkx())
    node = st.integers(0, graph.num_nodes - 1)
    pairs = [*ids, *data.draw(st.lists(st.tuples(node, node), max_size=20))]
    assert lean.edge_ids(pairs).tolist() == [ids.get(pair, -1) for pair in pairs]


@given(relabelled())
def test_renaming_nodes_renames_edges(case):
    graph, order, _, renamed = case
    before = LeanGraph(graph.csr)
    after = LeanGraph(renamed.csr)
    ids = after.edge_ids(order[before.edges])
    assert sorted((ids >> 1).tolist()) == [*range(before.num_edges)]
    assert_array_equal(after.edge_ids(order[before.edges[:, ::-1]]), ids ^ 1)


def test_whatever_takes_a_graph_takes_it():
    graph = graphs.erdos_renyi(40, 0.2, seed=3)
    lean = LeanGraph(graph.csr)
    assert graphs.as_graph(lean) is lean
    for ours, theirs in zip(ENCODING.blocks(lean, 7), ENCODING.blocks(graph, 7), strict=True):
        assert_array_equal(ours[0], theirs[0])
        assert_array_equal(ours[1].dense(), theirs[1].dense())
    assert_array_equal(ENCODING.dense(lean), ENCODING.dense(graph))
    pairs = [(0, 1), (3, 3), (0, 39)]
    assert_array_equal(ENCODING.pairs(lean, pairs).dense(), ENCODING.pairs(graph, pairs).dense())
    rings = RootedEncoding(1, ("ring", "joint"), types=("x",), ring_length=4)
    kinds = np.arange(40) % 3
    assert_array_equal(rings.dense(lean.typed(kinds)), rings.dense(graph.typed(kinds)))
    assert_array_equal(RootedEncoding(1, ("ring",)).dense(lean), RootedEncoding(1, ("ring",)).dense(graph))
    assert counting.count(lean, "4-cycle") == counting.count(graph, "4-cycle")
    assert nx.utils.graphs_equal(lean.to_networkx(), graph.to_networkx())


def test_checksums_tell_graphs_apart():
    one = LeanGraph(graphs.cycle(6).csr)
    assert one.checksum == LeanGraph(graphs.cycle(6).csr).checksum
    assert one.checksum != LeanGraph(graphs.circulant(6, 2).csr).checksum


@pytest.mark.parametrize(
    ("pairs", "message"),
    [
        ([(0, 4)], r"pairs: \(0, 4\), but node ids run from 0 to 3"),
        ([(-1, 0)], r"pairs: \(-1, 0\)"),
        ([0, 1], r"pairs: shape \(2,\)"),
        ([(0.5, 1.0)], "dtype float64"),
    ],
)
def test_bad_pairs_are_named(pairs, message):
    with pytest.raises(ValueError, match=message):
        LeanGraph(graphs.cycle(4).csr).edge_ids(pairs)


def test_it_can_be_sent_to_other_processes():
    lean = LeanGraph(graphs.petersen().csr)
    again = pickle.loads(pickle.dumps(lean))
    check_same(again, graphs.petersen())
    assert again.checksum == lean.checksum


def test_it_does_not_change():
    with pytest.raises(AttributeError):
        LeanGraph(graphs.cycle(4).csr).csr = None
