"""Decoded equals counted: every formula, every level, hundreds of graphs, every radius."""

import random
from itertools import combinations

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from escgnn import graphs
from escgnn.counting import count
from escgnn.decoding import FORMULAS, decode, formula_for, paths_between
from escgnn.encoding import RootedEncoding
from tests.strategies import messy_graphs, odd_shapes

PER_NODE = [
    "3-cycle",
    "4-cycle",
    "4-clique",
    "2-star",
    "3-star",
    "4-star",
    "7-star",
    "tailed-triangle",
    "chordal-cycle",
    "4-path",
]
INDUCED_PER_NODE = ["3-cycle", "4-cycle", "4-clique", "3-star", "4-star"]


def some_graphs(number, seed):
    choose = random.Random(seed)
    for i in range(number):
        yield graphs.erdos_renyi(choose.randint(1, 12), choose.choice((0.15, 0.3, 0.5, 0.8)), 1000 * seed + i)


@pytest.mark.parametrize("hops", [1, 2, 3, 4])
@pytest.mark.parametrize("induced", [False, True])
def test_per_node_and_graph(hops, induced):
    encoding = RootedEncoding(hops)
    for graph in some_graphs(60, hops):
        for pattern in INDUCED_PER_NODE if induced else PER_NODE:
            per_node = decode(graph, encoding, pattern, per="node", induced=induced)
            assert_array_equal(per_node, count(graph, pattern, per="node", induced=induced), err_msg=pattern)
        for pattern in [*(INDUCED_PER_NODE if induced else PER_NODE), "3-path"]:
            whole = decode(graph, encoding, pattern, induced=induced)
            assert_array_equal(whole, count(graph, pattern, induced=induced), err_msg=pattern)


@pytest.mark.parametrize("induced", [False, True])
@pytest.mark.parametrize("pattern", ["3-cycle", "4-cycle", "4-clique", "3-path"])
def test_per_edge(pattern, induced):
    middle = (1, 2) if pattern == "3-path" else None
    for graph in some_graphs(150, 7):
        decoded = decode(graph, RootedEncoding(1), pattern, per="edge", induced=induced)
        assert_array_equal(decoded, count(graph, pattern, per="edge", induced=induced, orbit=middle))


@pytest.mark.parametrize("hops", [2, 3])
@pytest.mark.parametrize("pattern", ["5-cycle", "6-cycle", "5-clique"])
def test_beyond_the_paper(pattern, hops):
    """What the paper's encoding cannot count, the parts wedge, path and triangle can."""
    encoding = RootedEncoding(hops, ("wedge", "triangle", "path"))
    for graph in some_graphs(50, 11 + hops):
        for per in ("edge", "node", "graph"):
            assert_array_equal(decode(graph, encoding, pattern, per=per), count(graph, pattern, per=per))


@pytest.mark.parametrize("induced", [False, True])
@pytest.mark.parametrize("leaves", [2, 3])
def test_stars_by_centre_and_leaf(leaves, induced):
    """At (u, v): ways to choose the other leaves among u's other neighbours, none adjacent if induced."""
    for graph in some_graphs(60, 8):
        plain = graph.to_networkx()
        decoded = decode(graph, RootedEncoding(1), f"{leaves + 1}-star", per="edge", induced=induced)
        for (u, v), value in zip(graph.edge_index.T.tolist(), decoded.tolist(), strict=True):
            sets = [{v, *rest} for rest in combinations(set(plain[u]) - {v}, leaves - 1)]
            assert value == sum(not induced or not plain.subgraph(chosen).edges for chosen in sets)


@pytest.mark.parametrize("hops", [1, 2, 3])
def test_paths_between_nodes_that_are_not_adjacent(hops):
    for graph in some_graphs(30, 9):
        plain = graph.to_networkx()
        pairs = [(u, v) for u in plain for v in plain if u != v and not plain.has_edge(u, v)]
        if not pairs:
            continue
        for length in (2, 3):
            paths = [[p for p in nx.all_simple_paths(plain, u, v, length) if len(p) == length + 1] for u, v in pairs]
            assert_array_equal(paths_between(graph, RootedEncoding(hops), pairs, length), [len(p) for p in paths])
            induced = [sum(plain.subgraph(p).number_of_edges() == length for p in ps) for ps in paths]
            assert_array_equal(paths_between(graph, RootedEncoding(hops), pairs, length, induced=True), induced)


def test_the_papers_formula_for_induced_4_stars_is_wrong():
    """Erratum: C(N12, 2) counts leaves that are adjacent to each other."""
    wrong = edges = 0
    for graph in some_graphs(200, 10):
        n12 = decode(graph, RootedEncoding(1), "3-star", per="edge", induced=True)
        right = decode(graph, RootedEncoding(1), "4-star", per="edge", induced=True)
        wrong += np.count_nonzero(n12 * (n12 - 1) // 2 != right)
        edges += right.size
    assert 0.1 < wrong / edges < 0.6


@given(messy_graphs(), st.sampled_from(PER_NODE))
def test_loops_and_repeats_change_nothing(graph, pattern):
    simple = graphs.from_edges(graph.edges, graph.num_nodes)
    for per in ("node", "graph"):
        assert_array_equal(decode(graph, RootedEncoding(2), pattern, per=per), count(simple, pattern, per=per))


def test_a_loop_is_an_edge_of_nothing():
    graph = graphs.from_edge_index([[0, 0, 1, 1, 2, 2, 2, 3], [0, 1, 0, 2, 1, 3, 2, 2]], 4)
    loops = graph.edge_index[0] == graph.edge_index[1]
    for pattern in {*PER_NODE} - {"4-path"}:
        assert decode(graph, RootedEncoding(1), pattern, per="edge")[loops].tolist() == [0, 0]


@pytest.mark.parametrize("name", odd_shapes())
def test_odd_shapes(name):
    graph = odd_shapes()[name]
    for pattern in PER_NODE:
        assert_array_equal(decode(graph, RootedEncoding(1), pattern), count(graph, pattern))


def test_joint_stands_in_for_node():
    graph = graphs.petersen()
    assert decode(graph, RootedEncoding(1, ("joint",)), "5-star") == count(graph, "5-star")


def test_every_formula_says_what_it_means():
    for pattern, induced in FORMULAS:
        assert formula_for(pattern, induced=induced).means


@pytest.mark.parametrize(
    ("encoding", "pattern", "options", "message"),
    [
        (RootedEncoding(1, ("degree",)), "4-cycle", {}, "encoding: 4-cycle needs the part 'edge'; it has degree"),
        (RootedEncoding(1, ("edge",)), "5-star", {}, "encoding: 5-star needs the part 'node'"),
        (RootedEncoding(1, subgraph="balls"), "3-cycle", {}, "encoding: 3-cycle needs subgraph='union'"),
        (RootedEncoding(1, max_nodes=3), "3-cycle", {}, "encoding: 3-cycle needs a radius of 1, but max_nodes=3"),
        (RootedEncoding(2), "5-cycle", {}, "encoding: 5-cycle needs the part 'wedge'"),
        (RootedEncoding(1, ("wedge",)), "5-cycle", {}, "encoding: 5-cycle needs hops >= 2"),
        (RootedEncoding(2, ("path",), max_nodes=5), "6-cycle", {}, "needs a radius of 2, but max_nodes=5"),
        (RootedEncoding((1, 2)), "3-cycle", {}, r"encoding: 3-cycle is read off one radius; it has hops=\(1, 2\)"),
        (RootedEncoding(1), "7-cycle", {}, "pattern: .* does not tell '7-cycle'; it tells 3-cycle"),
        (RootedEncoding(1), "5-star", {"induced": True}, "does not tell induced '5-star'"),
        (RootedEncoding(1), "3-path", {"per": "node"}, "per: .*middle edge"),
        (RootedEncoding(1), "4-path", {"per": "edge"}, "per: 4-paths"),
        (RootedEncoding(1), "3-cycle", {"per": "nodes"}, "per: 'nodes'"),
    ],
)
def test_what_cannot_be_decoded_is_refused(encoding, pattern, options, message):
    with pytest.raises(ValueError, match=message):
        decode(graphs.petersen(), encoding, pattern, **options)


@pytest.mark.parametrize("pair", [(0, 0), (0, 1)])
def test_paths_between_refuses_edges_and_nodes(pair):
    with pytest.raises(ValueError, match="pairs: "):
        paths_between(graphs.cycle(5), RootedEncoding(1), [pair], 2)


def test_overflow_is_an_error():
    for leaves in (66, 80):  # one too many in all, one too many at an edge
        with pytest.raises(OverflowError, match="34-star"):
            decode(graphs.star(leaves), RootedEncoding(1), "34-star")


def test_counts_at_their_limit_are_not_read(monkeypatch):
    """They may be larger than the encoding says."""
    graph, encoding = graphs.complete(6), RootedEncoding(1)
    largest = int(encoding.rows(graph).count.max())
    monkeypatch.setattr("escgnn.decoding.LARGEST_COUNT", largest + 1)
    assert decode(graph, encoding, "3-cycle").tolist() == [20]
    monkeypatch.setattr("escgnn.decoding.LARGEST_COUNT", largest)
    with pytest.raises(OverflowError, match="3-cycle: a count of the encoding is at its limit"):
        decode(graph, encoding, "3-cycle")


def test_paths_between_refuses_rows_that_are_cut_short():
    graph, ends = graphs.path(3), [(0, 2)]
    assert paths_between(graph, RootedEncoding(1, max_nodes=4), ends, 2).tolist() == [1]
    with pytest.raises(ValueError, match="needs a radius of 1, but max_nodes=2"):
        paths_between(graph, RootedEncoding(1, max_nodes=2), ends, 2)
