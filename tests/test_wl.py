from dataclasses import replace
from itertools import combinations, pairwise

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from escgnn import datasets, graphs, wl
from escgnn.encoding import RootedEncoding
from escgnn.wl.systems import Nodes
from tests import naive_wl
from tests.strategies import messy_graphs, odd_shapes, relabelled

CSL_STEPS = (2, 3, 4, 5, 6, 9, 11, 12, 13, 16)
NODES, BALLS = RootedEncoding(1, nodes=True), RootedEncoding(2, ("edge", "resistance"), subgraph="balls")
TWINS = {
    wl.OneWL(): naive_wl.one_wl,
    **{wl.ObliviousWL(k): lambda *given, k=k: naive_wl.oblivious(*given, k) for k in (2, 3)},
    **{wl.FolkloreWL(k): lambda *given, k=k: naive_wl.folklore(*given, k) for k in (2, 3)},
    **{
        wl.ESCWL(*several): lambda *given, several=several: naive_wl.esc(*given, several)
        for several in ([RootedEncoding(1)], [RootedEncoding(3)], [NODES, RootedEncoding(2)], [BALLS])
    },
    **{
        wl.RootedWL(k, m, hops, messages): lambda *given, k=k, m=m, hops=hops, messages=messages: naive_wl.rooted(
            *given, k, m, hops, messages=messages
        )
        for k, m, hops, messages in (
            (1, 1, 1, False),
            (1, 1, 2, True),
            (1, 2, 1, False),
            (2, 1, 1, False),
            (2, 1, 2, True),
            (2, 1, 9, False),
            (2, 2, 1, True),
        )
    },
    **{wl.SearchWL(depth): lambda *given, depth=depth: naive_wl.search(*given, depth) for depth in (1, 2, 3, 9)},
}


def whole(*members):
    """One graph of several components."""
    union = graphs.disjoint_union(members)
    return replace(union, ptr=np.array([0, union.num_nodes]))


def few_small_graphs():
    """Twins that are easily confused, odd shapes, and random graphs of all densities."""
    return [
        whole(graphs.cycle(3), graphs.cycle(3)),
        graphs.cycle(6),
        graphs.empty(0),
        graphs.empty(1),
        graphs.empty(4),
        graphs.from_edge_index([[0, 0, 1, 2, 1, 0], [0, 1, 0, 2, 0, 1]], 4),
        graphs.complete_bipartite(3, 3),
        graphs.from_edges([(0, 1), (1, 2), (0, 2), (3, 4), (4, 5), (3, 5), (0, 3), (1, 4), (2, 5)]),  # a prism
        *(graphs.erdos_renyi(3 + seed % 4, (0.3, 0.5, 0.7)[seed % 3], seed) for seed in range(24)),
        *(graphs.random_tree(6, seed) for seed in range(5)),
    ]


def hard_graphs():
    """Graphs that 1-WL cannot tell apart, and 3-WL only some of them."""
    return [
        graphs.rook(4),
        graphs.shrikhande(),
        *(graphs.circulant(n, 1, s) for n in (13, 15, 16) for s in range(2, n // 2 + 1)),
        *(graphs.random_regular(n, 3, seed) for n in (8, 10, 12) for seed in range(12)),
        *(whole(graphs.cycle(n), graphs.cycle(12 - n)) for n in (3, 4, 5, 6)),
    ]


def same(first, second):
    """Whether two numberings say the same up to names."""
    first, second = list(first), list(second)
    return len({*first}) == len({*second}) == len({*zip(first, second, strict=True)})


def refines(fine, coarse):
    return len({*zip(fine.tolist(), coarse.tolist(), strict=True)}) == len({*fine.tolist()})


@pytest.fixture(scope="module")
def atlas():
    """All 1,253 graphs with up to 7 nodes."""
    return graphs.as_graph(nx.graph_atlas_g())


@pytest.mark.parametrize("coloured", [False, True])
@pytest.mark.parametrize("test", TWINS, ids=str)
def test_equals_the_naive_twin(test, coloured):
    members = few_small_graphs()
    sizes = [member.num_nodes for member in members]
    initial = np.random.default_rng(0).integers(0, 2, sum(sizes)) if coloured else np.zeros(sum(sizes), int)
    ends = np.cumsum(sizes)
    each = [dict(enumerate(initial[end - size : end].tolist())) for end, size in zip(ends, sizes, strict=True)]
    expected = TWINS[test]([member.to_networkx() for member in members], each)
    found = wl.colours(members, test, initial=initial if coloured else None)
    assert [colour.size for colour in found] == [len(colour) for colour in expected]
    assert same(np.concatenate(found).tolist(), [number for colour in expected for number in colour.values()])
    classes = wl.partition(members, test, initial=initial if coloured else None)
    assert classes.tolist() == naive_wl.classes(expected)


def test_any_labels_on_arcs():
    """One round with random labels, which say more than those of an encoding."""
    for seed in range(20):
        rng = np.random.default_rng(seed)
        graph = graphs.random_regular(60, 1 + seed % 2, seed)
        label, initial = rng.integers(0, 3, graph.csr.indices.size), rng.integers(0, 3, 60)
        heard = [[] for _ in range(60)]
        for (v, u), name in zip(graph.edge_index.T.tolist(), label.tolist(), strict=True):
            heard[v].append((name, initial[u].item()))
        expected = [(initial[v].item(), naive_wl.bag(heard[v])) for v in range(60)]
        assert same(Nodes(graph.csr, graph.ptr, label).refine(initial).tolist(), expected)


def test_rows_of_nodes_are_in_the_first_colours():
    graph = graphs.as_graph(hard_graphs() + few_small_graphs())
    rows = NODES.node_rows(graph)
    initial = np.arange(graph.num_nodes) % 2
    for encodings in ([NODES], [RootedEncoding(2), NODES]):
        _, first = wl.ESCWL(*encodings).start(graph, initial)
        assert same(first.tolist(), [(tuple(rows[v].items()), v % 2) for v in range(graph.num_nodes)])


def test_a_graph_that_leaves_does_not_stop_the_others():
    """The first graph leaves with a colour of its own just when the others gain one."""
    spider = graphs.from_edges([(0, 1), (0, 2), (0, 3), *((node, node + 1) for node in range(3, 8))])
    members = [spider, graphs.path(9), whole(graphs.path(4), graphs.cycle(5))]
    assert wl.partition(members, wl.OneWL()).tolist() == [0, 1, 2]


@pytest.mark.parametrize("m", [1, 2])
@pytest.mark.parametrize("k", [1, 2])
def test_root_marks_see_what_distances_see(k, m):
    members = few_small_graphs()
    plain = [member.to_networkx() for member in members]
    expected = naive_wl.rooted(plain, [dict.fromkeys(graph, 0) for graph in plain], k, m, 2, marks=True)
    found = wl.colours(members, wl.RootedWL(k, m, 2))
    assert same(np.concatenate(found).tolist(), [number for colour in expected for number in colour.values()])


@settings(max_examples=25)
@given(case=relabelled(messy_graphs(6)), colour=st.integers(1, 3))
@pytest.mark.parametrize("test", TWINS, ids=str)
def test_names_do_not_matter(test, case, colour):
    graph, order, _, renamed = case
    initial = np.arange(graph.num_nodes) % colour
    moved = np.empty_like(initial)
    moved[order] = initial
    both = np.concatenate([initial, moved])
    assert not wl.distinguishes(graph, renamed, test, initial=both)
    first, second = wl.colours([graph, renamed], test, initial=both)
    if first.size == graph.num_nodes:  # nodes are coloured
        assert_array_equal(second[order], first)
    assert_array_equal(np.sort(first), np.sort(second))


@settings(max_examples=15)
@given(members=st.lists(messy_graphs(5), min_size=2, max_size=6))
@pytest.mark.parametrize("test", TWINS, ids=str)
def test_partition_agrees_with_pairs(test, members):
    classes = wl.partition(members, test)
    assert classes[0] == 0
    assert {*classes.tolist()} == {*range(classes.max() + 1)}
    for i, j in combinations(range(len(members)), 2):
        assert wl.distinguishes(members[i], members[j], test) == (classes[i] != classes[j])


@pytest.mark.parametrize("test", TWINS, ids=str)
def test_odd_shapes(test):
    shapes = odd_shapes()
    slow = getattr(test, "k", 0) == 3 or getattr(test, "m", 0) == 2 or getattr(test, "depth", 0) > 1
    large = {"hub", "hub in a clique"} if slow else set()
    members = [whole(shape) for name, shape in shapes.items() if name not in large]
    classes = wl.partition(members, test)
    assert len({*classes.tolist()}) == len(members)  # no two alike
    assert_array_equal(wl.partition(members + members, test), np.tile(classes, 2))
    assert wl.partition([], test).tolist() == []
    assert wl.colours([], test) == []
    assert not wl.distinguishes(graphs.empty(0), graphs.empty(0), test)
    assert wl.distinguishes(graphs.empty(0), graphs.empty(1), test)


def test_one_wl_of_all_small_graphs(atlas):
    classes = wl.partition(atlas, wl.OneWL())
    members = nx.graph_atlas_g()
    for member in members:
        nx.set_node_attributes(member, 0, "same")
    hashes = [nx.weisfeiler_lehman_graph_hash(member, node_attr="same", iterations=7) for member in members]
    assert same(classes.tolist(), [(len(member), word) for member, word in zip(members, hashes, strict=True)])
    assert classes.max() + 1 == 1227


def test_every_small_graph_is_told_apart(atlas):
    """Encoding and 1-WL separate every graph with up to 7 nodes; so does folklore 2-WL."""
    tests = [wl.FolkloreWL(2), *(wl.ESCWL(RootedEncoding(h)) for h in (1, 2, 3)), wl.RootedWL(2, 1, 1)]
    for test in tests:
        assert_array_equal(wl.partition(atlas, test), np.arange(1253))


@pytest.mark.parametrize("source", ["atlas", "hard"])
def test_hierarchy(source, atlas):
    graph = atlas if source == "atlas" else graphs.as_graph(hard_graphs())
    one, two, three = (wl.partition(graph, test) for test in (wl.OneWL(), wl.ObliviousWL(2), wl.ObliviousWL(3)))
    folklore_two, folklore_three = (wl.partition(graph, wl.FolkloreWL(k)) for k in (2, 3))
    assert_array_equal(one, two)
    assert_array_equal(three, folklore_two)
    assert refines(three, one)
    assert refines(folklore_three, three)
    for hops in (1, 2):
        esc = wl.partition(graph, wl.ESCWL(RootedEncoding(hops)))
        assert refines(esc, one)
        for k, bound in ((1, folklore_two), (2, folklore_three)):  # (k + 2)-WL, `pro:sub`
            rooted, further = (wl.partition(graph, wl.RootedWL(k, 1, hops, messages)) for messages in (False, True))
            assert_array_equal(rooted, wl.partition(graph, wl.RootedWL(k, 2, hops)))
            assert refines(further, rooted)
            assert refines(bound, further)
        assert refines(further, esc)  # k = 2


def test_convention():
    pair = graphs.rook(4), graphs.shrikhande()
    assert not wl.distinguishes(*pair, wl.ObliviousWL(3))
    assert not wl.distinguishes(*pair, wl.FolkloreWL(2))
    assert wl.distinguishes(*pair, wl.FolkloreWL(3))
    assert wl.distinguishes(*pair, wl.ESCWL(RootedEncoding(1)))


@pytest.mark.parametrize("hops", [1, 2, 3, 4])
def test_without_messages_the_framework_misses_what_one_wl_sees(hops):
    """`rm:esc` needs message passing over the graph: a leaf on the middle of a long path, or on the node beside it."""
    n = 4 * hops + 3
    middle, beside = (graphs.from_edges([*graphs.path(n).edges.tolist(), (at, n)]) for at in (n // 2, n // 2 - 1))
    assert wl.distinguishes(middle, beside, wl.OneWL())
    for k in (1, 2):
        assert not wl.distinguishes(middle, beside, wl.RootedWL(k, 1, hops))
        assert wl.distinguishes(middle, beside, wl.RootedWL(k, 1, hops, messages=True))


@pytest.mark.parametrize("hops", [1, 2, 3, 4])
def test_a_pair_that_the_whole_model_confuses(hops):
    pair = graphs.circulant(15, 1, 4), graphs.circulant(15, 1, 6)
    assert not wl.distinguishes(*pair, wl.ESCWL(RootedEncoding(hops)))
    assert not wl.distinguishes(*pair, wl.ESCWL(*map(RootedEncoding, range(1, 5))))
    assert wl.distinguishes(*pair, wl.FolkloreWL(2))


@pytest.mark.parametrize(("hops", "classes"), [(1, 3), (2, 6), (3, 10), (4, 10)])
def test_csl(hops, classes):
    members = [graphs.circulant(41, 1, step) for step in CSL_STEPS]
    assert wl.partition(members, wl.ESCWL(RootedEncoding(hops))).max() + 1 == classes


@pytest.mark.parametrize("hops", [1, 2, 3])
def test_sr25(benchmark_data, hops):
    members = (benchmark_data / "sr25" / "sr251256.g6").read_text().split()
    assert wl.partition(members, wl.ESCWL(RootedEncoding(hops))).tolist() == [*range(15)]
    assert wl.partition(members, wl.FolkloreWL(2)).tolist() == [0] * 15


@pytest.fixture(scope="module")
def exp(benchmark_data):
    """The graphs of EXP, pair after pair, and the types of their nodes."""
    lines = iter((benchmark_data / "exp" / "GRAPHSAT_standard_from_pkl.txt").read_text().splitlines())
    members, types = [], []
    for _ in range(int(next(lines))):
        edges = []
        size = int(next(lines).split()[0])
        for node in range(size):
            kind, _, *neighbours = map(int, next(lines).split())
            types.append(kind)
            edges += [(node, other) for other in neighbours]
        members.append(graphs.from_edges(edges, size))
    return graphs.disjoint_union(members), types


@pytest.mark.parametrize("typed", [False, True])
@pytest.mark.parametrize(("hops", "pairs"), [(1, 0), (2, 600), (3, 600)])
def test_exp(exp, hops, pairs, typed):
    graph, types = exp
    classes = wl.partition(graph, wl.ESCWL(RootedEncoding(hops)), initial=types if typed else None)
    assert (classes[::2] != classes[1::2]).sum() == pairs


@pytest.fixture(scope="module")
def brec(benchmark_data):
    """The graphs of BREC, pair after pair."""
    bundle = datasets.load("brec")
    return bundle.graphs[bundle.pairs.ravel()].view()


@pytest.mark.parametrize(("hops", "pairs"), [((1,), 275), ((2,), 255), ((3,), 255), ((1, 2, 3, 4), 279)])
def test_brec(brec, hops, pairs):
    classes = wl.partition(brec, wl.ESCWL(*map(RootedEncoding, hops)))
    assert (classes[::2] != classes[1::2]).sum() == pairs


@pytest.mark.parametrize("hops", [1, 2])
def test_brec_nodes_add_nothing(brec, hops):
    plain, nodes = (wl.ESCWL(RootedEncoding(hops, nodes=also)) for also in (False, True))
    assert_array_equal(wl.partition(brec, plain), wl.partition(brec, nodes))


def test_brec_rooted_at_nodes(brec):
    """166 of 400 is what BREC's authors report of NGNN."""
    classes = wl.partition(brec, wl.RootedWL(1, 1, 1))
    assert (classes[::2] != classes[1::2]).sum() == 166


def test_hashed_colours_are_those_of_the_message():
    """(u, v) and (v, u) may differ in what their hashes confuse; what v hears from u is s_uv."""
    encoding = RootedEncoding(2, ("colour",), colour_rounds=1, colour_bins=2)
    graph = graphs.as_graph([graphs.erdos_renyi(9, 0.3, seed) for seed in range(30)])
    system, _ = wl.ESCWL(encoding).start(graph, np.zeros(graph.num_nodes, np.int64))
    rows = encoding.rows(graph)
    number = {column: tuple(rows[i].items()) for i, column in enumerate(map(tuple, graph.edge_index.T.tolist()))}
    at = np.repeat(np.arange(graph.num_nodes), graph.degrees).tolist()
    assert same(system.label.tolist(), [number[u, v] for v, u in zip(at, graph.csr.indices.tolist(), strict=True)])
    assert not same([number[u, v] for u, v in number], [number[v, u] for u, v in number])


def test_initial_colours_tell_apart():
    g = graphs.path(3)
    for test in TWINS:
        assert wl.distinguishes(g, g, test, initial=[0, 1, 0, 1, 0, 0])
        assert not wl.distinguishes(g, g, test, initial=[0, 1, 7, 7, 1, 0])


def test_colours_are_shared_and_in_order():
    first, second = wl.colours([graphs.star(3), graphs.path(4)], wl.OneWL())
    assert first.tolist() == [0, 1, 1, 1]
    assert second[0] == second[3] != second[1] == second[2]
    assert not {*first.tolist()} & {*second.tolist()}
    (pairs,) = wl.colours(graphs.path(3), wl.ObliviousWL(2))
    table = pairs.reshape(3, 3)
    assert table[0, 1] == table[2, 1] != table[1, 0] == table[1, 2]
    assert table[0, 2] == table[2, 0] not in {table[0, 1], table[1, 0]}
    (roots,) = wl.colours(graphs.path(3), wl.RootedWL(2, 1, 1))  # (0,0) (0,1) (1,0) (1,1) (1,2) (2,1) (2,2)
    assert same(roots.tolist(), "abcdcba")


def test_values_and_names():
    assert wl.ESCWL(RootedEncoding(1)) == wl.ESCWL(RootedEncoding(hops=1)) != wl.ESCWL(RootedEncoding(2))
    assert wl.ObliviousWL(2) == wl.ObliviousWL(2) != wl.FolkloreWL(2)
    assert repr(wl.FolkloreWL(2)) == "FolkloreWL(k=2)"
    assert len({*TWINS}) == len({*map(str, TWINS)}) == len(TWINS)
    for test in TWINS:
        assert eval(repr(test), {**vars(wl), "RootedEncoding": RootedEncoding}) == test
    assert [str(test) for test in (wl.OneWL(), wl.ObliviousWL(3), wl.FolkloreWL(2))] == [
        "1-WL",
        "3-WL",
        "folklore 2-WL",
    ]
    assert str(wl.ESCWL(*map(RootedEncoding, (1, 2)))) == "ESC-WL, h = 1, 2"
    assert str(wl.ESCWL(RootedEncoding(2, ("edge",), nodes=True))) == "ESC-WL, h = 2 [edge, (v, v)]"
    assert str(wl.RootedWL(2, 1, 3, messages=True)) == "1-WL rooted at 2-tuples, h = 3, then 1-WL"


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: wl.ObliviousWL(4), "k: 4"),
        (lambda: wl.FolkloreWL(1), "k: 1"),
        (lambda: wl.RootedWL(3, 1, 1), "k: 3"),
        (lambda: wl.RootedWL(1, 3, 1), "m: 3"),
        (lambda: wl.RootedWL(1, 1, 0), "hops: 0"),
        (lambda: wl.SearchWL(0), "depth: 0"),
        (lambda: wl.SearchWL(True), "depth: True"),
        (lambda: wl.ESCWL(), "encodings: "),
        (lambda: wl.ESCWL(1), "encodings: "),
        (lambda: wl.partition(graphs.empty(3), wl.OneWL(), initial=[0, 1]), r"initial: shape \(2,\)"),
        (lambda: wl.partition(graphs.empty(1), wl.OneWL(), initial=[0.5]), "initial: .* float64"),
        (lambda: wl.partition(graphs.empty(150), wl.FolkloreWL(3)), "k: 3-WL .* 150 nodes"),
        (lambda: wl.partition(graphs.empty(400), wl.ObliviousWL(3)), "k: 3-WL .* 400 nodes"),
        (lambda: wl.partition(graphs.empty(3_000_000), wl.ObliviousWL(3)), "k: 3-WL .* 3000000 nodes"),
        (lambda: wl.partition(graphs.empty(700), wl.FolkloreWL(2)), "k: 2-WL .* 700 nodes"),
        (lambda: wl.partition(graphs.star(8000), wl.RootedWL(1, 2, 1)), "m: 2-WL .* 8001 nodes"),
    ],
)
def test_errors_name_the_argument(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_subgraphs_that_do_not_fit(monkeypatch):
    monkeypatch.setattr("escgnn.wl.variants.MAX_WORDS", 100)
    with pytest.raises(ValueError, match="hops: the subgraphs of 61 roots have 901 nodes and 1680 arcs"):
        wl.partition(graphs.star(20), wl.RootedWL(2, 1, 1))


@pytest.mark.parametrize("test", TWINS, ids=str)
def test_rounds_end_with_the_final_colours_and_only_ever_split(test):
    members = few_small_graphs()[:14]
    rounds = [np.concatenate(after) for after in wl.rounds(members, test)]
    assert_array_equal(rounds[-1], np.concatenate(wl.colours(members, test)))
    for before, after in pairwise(rounds):
        assert len({*zip(before.tolist(), after.tolist(), strict=True)}) == after.max() + 1 > before.max() + 1


def test_rounds_of_1_wl_one_by_one():
    members = [member.to_networkx() for member in few_small_graphs()]
    colour = [dict.fromkeys(graph, 0) for graph in members]
    for after in wl.rounds(few_small_graphs(), wl.OneWL()):
        expected = [number for own in colour for number in own.values()]
        assert same(np.concatenate(after).tolist(), expected)
        colour = [
            {v: (own[v], tuple(sorted((own[u] for u in graph[v]), key=repr))) for v in graph}
            for graph, own in zip(members, colour, strict=True)
        ]
    assert len({number for own in colour for number in own.values()}) == len({*expected})


def test_graphs_of_several_components_are_taken_whole():
    both = wl.side_by_side([graphs.cycle(3), graphs.cycle(3)], graphs.cycle(6))
    assert both.ptr.tolist() == [0, 6, 12]
    assert [colour.size for colour in wl.colours(both, wl.OneWL())] == [6, 6]
