import networkx as nx
import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from torch_geometric.data import Batch, Data

from escgnn import graphs
from tests.strategies import messy_graphs, odd_shapes

SQUARE = [[0, 1, 1, 2, 2, 3, 3, 0], [1, 0, 2, 1, 3, 2, 0, 3]]


@given(messy_graphs())
def test_view_holds_the_simple_graph_and_every_column(graph):
    expected = nx.Graph()
    expected.add_nodes_from(range(graph.num_nodes))
    expected.add_edges_from((u, v) for u, v in graph.edge_index.T.tolist() if u != v)
    assert graph.num_edges == expected.number_of_edges()
    for node in expected:
        assert graph.neighbours(node).tolist() == sorted(expected[node])
    assert graph.edges.tolist() == sorted(sorted(edge) for edge in expected.edges)
    for (u, v), arc in zip(graph.edge_index.T.tolist(), graph.arc.tolist(), strict=True):
        assert (arc < 0) == (u == v)
        if u != v:
            assert graph.csr.indptr[u] <= arc < graph.csr.indptr[u + 1]
            assert graph.csr.indices[arc] == v
            assert graph.edges[graph.edge[arc]].tolist() == sorted((u, v))


@given(st.lists(messy_graphs(), min_size=1, max_size=4))
def test_split_undoes_the_union(members):
    again = graphs.disjoint_union(members).split()
    for member, copy in zip(members, again, strict=True):
        assert copy.num_nodes == member.num_nodes
        assert_array_equal(copy.edge_index, member.edge_index)


@pytest.mark.parametrize(
    ("given_graph", "shape"),
    [
        (Data(edge_index=torch.tensor(SQUARE), num_nodes=4), (1, 4, 4)),
        (Batch.from_data_list([Data(edge_index=torch.tensor(SQUARE), num_nodes=5)] * 3), (3, 15, 12)),
        ([Data(edge_index=torch.tensor(SQUARE, dtype=torch.int32), num_nodes=4)] * 2, (2, 8, 8)),
        (nx.petersen_graph(), (1, 10, 15)),
        (nx.MultiGraph([("a", "b"), ("b", "a"), ("b", "b")]), (1, 2, 1)),
        (nx.DiGraph([(0, 1), (1, 0)]), (1, 2, 1)),
        ("Bw", (1, 3, 3)),
        (b":An", (1, 2, 1)),
        ([(0, 1), (1, 2)], (1, 3, 2)),
        (["Bw", nx.path_graph(3), graphs.empty(2)], (3, 8, 5)),
        ([], (0, 0, 0)),
    ],
)
def test_reads_what_people_have(given_graph, shape):
    graph = graphs.as_graph(given_graph)
    assert (graph.num_graphs, graph.num_nodes, graph.num_edges) == shape


def test_edge_list_with_a_node_count():
    assert repr(graphs.as_graph([(0, 1), (1, 0)], num_nodes=5)) == "Graph(nodes=5, edges=1)"
    assert repr(graphs.as_graph([], num_nodes=2)) == "Graph(nodes=2, edges=0)"


def test_views_are_read_without_copying():
    graph = graphs.cycle(5)
    assert graphs.as_graph(graph) is graph


@pytest.mark.parametrize(
    ("edge_index", "num_nodes", "message"),
    [
        ([[0, 1], [1, 2]], 3, r"edge_index: not symmetric, it holds \(0, 1\) but not \(1, 0\)"),
        ([[0, 1, 1], [1, 0, 2]], 3, r"edge_index: not symmetric, it holds \(1, 2\) but not \(2, 1\)"),
        ([[0, 1, 2], [1, 0, 1]], 3, r"edge_index: not symmetric, it holds \(2, 1\) but not \(1, 2\)"),
        ([[0, 3], [3, 0]], 3, r"edge_index: column 0 is \(0, 3\), but node ids run from 0 to 2"),
        ([[1, -1], [-1, 1]], 3, r"edge_index: column 0 is \(1, -1\)"),
        ([[0.0, 1.0], [1.0, 0.0]], 2, "edge_index: dtype float64"),
        ([[True, False], [False, True]], 2, "edge_index: dtype bool"),
        ([0, 1], 2, r"edge_index: shape \(2,\)"),
        ([[0, 1, 2]], 3, r"edge_index: shape \(1, 3\)"),
        (np.array([[0, 2**63 + 1], [2**63 + 1, 0]], np.uint64), 3, "edge_index: node 9223372036854775809"),
        ([[], []], -1, "num_nodes: -1"),
        ([[], []], 2.5, "num_nodes: 2.5"),
        ([[], []], 2**31, "num_nodes: 2147483648; at most"),
    ],
)
def test_bad_edge_index_is_named(edge_index, num_nodes, message):
    with pytest.raises(ValueError, match=message):
        graphs.from_edge_index(edge_index, num_nodes)


@pytest.mark.parametrize("ptr", [[0, 7], [0, 2], [1, 3], [0, 2, 1, 3], [], [[0, 3]]])
def test_ptr_must_rise_from_0_to_the_number_of_nodes(ptr):
    with pytest.raises(ValueError, match=r"ptr: .* to the number of nodes, 3"):
        graphs.from_edge_index([[0, 1], [1, 0]], 3, ptr=np.array(ptr, np.int64))


@pytest.mark.parametrize("cut", [[0, 1, 3], [0, 1, 1, 3], [0, 0, 1, 3]])
def test_ptr_must_not_cut_through_an_edge(cut):
    with pytest.raises(ValueError, match="ptr: an edge of node 0 joins two"):
        graphs.from_edge_index([[0, 1], [1, 0]], 3, ptr=np.array(cut))
    whole = graphs.from_edge_index([[0, 1], [1, 0]], 3, ptr=np.array([0, 2, 2, 3]))
    assert [member.num_nodes for member in whole.split()] == [2, 0, 1]


@pytest.mark.parametrize("dtype", [np.int8, np.int32, np.uint16, np.uint64])
def test_any_integer_dtype_will_do(dtype):
    graph = graphs.from_edge_index(np.array(SQUARE, dtype), 4)
    assert_array_equal(graph.edge_index, SQUARE)
    assert graph.num_edges == 4


def test_what_is_no_graph_is_refused():
    with pytest.raises(TypeError, match="graph: cannot read float"):
        graphs.as_graph(3.0)
    with pytest.raises(ValueError, match="edge_index: the Data has none"):
        graphs.as_graph(Data(x=torch.ones(3, 1)))
    with pytest.raises(ValueError, match=r"edges: shape \(1, 3\)"):
        graphs.from_edges([(0, 1, 2)])


@pytest.mark.parametrize("name", odd_shapes())
def test_permute_keeps_the_shape(name):
    graph = odd_shapes()[name]
    order = np.random.default_rng(0).permutation(graph.num_nodes)
    assert nx.is_isomorphic(graphs.permute(graph, order).to_networkx(), graph.to_networkx())


def test_permute_refuses_what_is_no_permutation():
    with pytest.raises(ValueError, match="order: not a permutation of 0 to 2"):
        graphs.permute(graphs.path(3), [0, 0, 1])
