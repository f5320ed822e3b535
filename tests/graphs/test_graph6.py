import networkx as nx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from escgnn.graphs.graph6 import decode


@st.composite
def simple_graphs(draw):
    n = draw(st.one_of(st.integers(0, 12), st.integers(60, 70)))
    graph = nx.empty_graph(n)
    if n > 1:
        graph.add_edges_from(draw(st.lists(st.tuples(st.integers(0, n - 1), st.integers(0, n - 1)), max_size=30)))
        graph.remove_edges_from(list(nx.selfloop_edges(graph)))
    return graph


@given(simple_graphs(), st.booleans(), st.sampled_from([nx.to_graph6_bytes, nx.to_sparse6_bytes]))
def test_reads_what_networkx_writes(graph, header, write):
    n, edges = decode(write(graph, header=header))
    assert n == len(graph)
    assert {tuple(edge) for edge in edges.tolist()} == {tuple(sorted(edge)) for edge in graph.edges}


def test_a_graph_of_many_nodes():
    graph = nx.path_graph(300)
    for write in (nx.to_graph6_bytes, nx.to_sparse6_bytes):
        n, edges = decode(write(graph))
        assert (n, len(edges)) == (300, 299)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "empty"),
        ("C", "0 characters after the node count; 4 nodes need 1"),
        ("Cll", "2 characters"),
        ("C\x01", "outside"),
        ("Cé", "outside ASCII"),
        ("B~", "padding"),
        ("~?", "ends within the node count"),
        ("&C??", "not supported"),
        (":~~~~~~~~", "68719476735 nodes; at most 2147483647 fit"),
        ("~~~~~~~~", "at most"),
    ],
)
def test_what_is_no_graph_is_refused(text, message):
    with pytest.raises(ValueError, match=f"graph6: .*{message}"):
        decode(text)


def test_some_bytes_do_not_ask_for_gigabytes():
    """sparse6 names its nodes first: nine bytes could claim a billion."""
    with pytest.raises(
        ValueError, match="graph6: 1000000000 nodes, almost all of them without an edge, in 8 characters"
    ):
        decode(b":~~?zekg?")
    assert decode(nx.to_sparse6_bytes(nx.empty_graph(100_000), header=False))[0] == 100_000
