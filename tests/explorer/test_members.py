"""What a bin counts, listed: as many things as the kernels count, each what the bin says."""

from itertools import combinations, pairwise

import networkx as nx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from escgnn import graphs
from escgnn.encoding import PARTS, Bin, RootedEncoding
from escgnn.explorer import members as module
from escgnn.explorer.members import MEMBERS, members
from escgnn.explorer.words import WORDS, describe
from tests import naive
from tests.strategies import messy_graphs, odd_shapes


def all_pairs(graph):
    """Roots of every kind: adjacent, equal, and neither."""
    edges = graph.edges.tolist()
    return [*map(tuple, edges), *((v, u) for u, v in edges), *((v, v) for v in range(graph.num_nodes))]


def check(graph, u, v, encoding):
    plain = graph.to_networkx()
    found = members(plain, u, v, encoding, most=10**6)
    row = encoding.row(graph, u, v)
    assert {name: len(nodes) for name, nodes in found.items()} == dict(row) == naive.row(plain, u, v, encoding)
    for name, listed in found.items():
        size = describe(name, encoding).size
        assert all(len(nodes) == size for nodes in listed)
        same = [frozenset(nodes) if name.part == "triangle" else min(nodes, nodes[::-1]) for nodes in listed]
        if name.part != "walk":  # a walk and its reverse are two where they end at one root
            assert len({*same}) == len(same), name
        if size > 1 and name.part != "clipped":
            is_closed = name.part == "triangle" or (name.part in ("cycle", "ring") and (u == v or plain.has_edge(u, v)))
            for nodes in listed:
                around = (*nodes, nodes[0]) if is_closed else nodes
                assert all(plain.has_edge(a, b) for a, b in pairwise(around)), (name, nodes)


@pytest.mark.parametrize("part", PARTS)
@pytest.mark.parametrize("hops", [1, 2, 3])
def test_as_many_as_the_kernel_counts(part, hops):
    encoding = RootedEncoding(hops, (part,), walk_length=5, cycle_length=6)
    for seed in range(6):
        graph = graphs.erdos_renyi(4 + seed, (0.25, 0.4, 0.6)[seed % 3], seed)
        for u, v in all_pairs(graph)[::3]:
            check(graph, u, v, encoding)


@pytest.mark.parametrize(
    "encoding",
    [
        RootedEncoding((1, 2), ("joint", "edge", "cycle")),
        RootedEncoding((2, 1), ("cycle",), max_nodes=4),
        RootedEncoding(2, ("edge", "degree"), subgraph="balls", max_degree=2),
        RootedEncoding(3, ("node", "resistance"), max_nodes=5, resistance_width=0.3),
        RootedEncoding((1, 3), ("wedge",), max_nodes=5),
        RootedEncoding(2, ("colour",), colour_rounds=4, colour_bins=7),
    ],
    ids=repr,
)
@given(graph=messy_graphs(8), data=st.data())
@settings(max_examples=25)
def test_any_graph_and_options(encoding, graph, data):
    node = st.integers(0, graph.num_nodes - 1)
    u, v = data.draw(node), data.draw(node)
    if graph.has_edge(u, v) or u == v:
        check(graph, u, v, encoding)


def test_roots_that_are_not_adjacent():
    graph = graphs.erdos_renyi(9, 0.3, 5)
    encoding = RootedEncoding(2, tuple(PARTS), walk_length=4)
    apart = [(u, v) for u, v in combinations(range(9), 2) if not graph.has_edge(u, v)]
    assert len(apart) > 10
    for u, v in apart[:8]:
        check(graph, u, v, encoding)


@pytest.mark.parametrize("name", [name for name in odd_shapes() if name not in ("nothing", "hub")])
def test_odd_shapes(name):
    graph = odd_shapes()[name]
    for u, v in all_pairs(graph)[:3]:
        check(graph, u, v, RootedEncoding(1, ("degree", "edge", "cycle", "colour"), cycle_length=4))


def test_every_part_has_its_members_and_words():
    assert MEMBERS.keys() == PARTS.keys()
    assert WORDS.keys() == PARTS.keys() | {"clipped"}


def test_an_unknown_part_is_shown_without_members():
    encoding = RootedEncoding(1, ("degree",))
    words = describe(Bin("h2", "mine", "u", 3), encoding)
    assert words == ("h2 mine", "u 3", "in the bin u 3", 1)


def test_a_dense_graph_keeps_nobody_waiting(monkeypatch):
    """A clique of 40 has some 10^8 walks of 6 edges at a root; the first ones are listed."""
    looked_at = []
    walks = module._walks

    def counted(at, encoding):
        for found in walks(at, encoding):
            looked_at.append(1)
            yield found

    monkeypatch.setitem(MEMBERS, "walk", counted)
    found = members(nx.complete_graph(40), 0, 1, RootedEncoding(1, ("walk",)), look=2000)
    assert len(looked_at) == 2000
    assert len(found["walk", 2]) == 38
    assert max(map(len, found.values())) == module.MOST
