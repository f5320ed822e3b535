import random
from math import comb, perm

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from escgnn import graphs
from escgnn.counting import TARGETS, Pattern, count, count_all, formulas, named, work
from escgnn.kernels import counting as kernels
from escgnn.kernels import matching
from tests.naive_counting import Copies
from tests.strategies import messy_graphs, odd_shapes, relabelled

NAMES = [
    *(f"{k}-cycle" for k in range(3, 9)),
    *(f"{k}-clique" for k in range(3, 7)),
    *(f"{k}-star" for k in range(2, 7)),
    *(f"{k}-path" for k in range(1, 7)),
    "tailed-triangle",
    "chordal-cycle",
    "triangle-rectangle",
]
LEVELS = ("graph", "node", "edge")


def random_pattern(choose: random.Random) -> nx.Graph:
    """A connected graph of 2 to 6 nodes: a tree and some more edges."""
    size = choose.randint(2, 6)
    pattern = nx.Graph([(choose.randrange(node), node) for node in range(1, size)])
    pattern.add_edges_from(pair for pair in nx.non_edges(pattern) if choose.random() < choose.choice((0.1, 0.5)))
    return pattern


def assert_equals_naive(graph, pattern, shape: nx.Graph, induced, default=None):
    """Each level and each position, and the position meant when none is given."""
    copies = Copies(graph.to_networkx(), shape, induced)
    assert count(graph, pattern, induced=induced).tolist() == [copies.per_graph()]
    for orbit in (None, *shape):
        expected = [copies.per_node(v, default if orbit is None else orbit) for v in range(graph.num_nodes)]
        assert count(graph, pattern, per="node", induced=induced, orbit=orbit).tolist() == expected
    for orbit in (None, *shape.edges):
        expected = [copies.per_edge(u, v, orbit) for u, v in graph.edge_index.T.tolist()]
        assert count(graph, pattern, per="edge", induced=induced, orbit=orbit).tolist() == expected


@pytest.mark.parametrize("induced", [False, True])
@pytest.mark.parametrize("name", NAMES)
def test_named_patterns_equal_the_naive_twin(name, induced):
    pattern = named(name)
    size = pattern.num_nodes
    for seed, density in enumerate((0.3, 0.5, 0.7, 1.0) if size < 8 else (0.5, 0.7)):
        graph = graphs.erdos_renyi(max(size, 6 + seed % 2), density, seed)
        assert_equals_naive(graph, name, pattern.to_networkx(), induced, pattern.orbit[0])


@pytest.mark.parametrize("induced", [False, True])
def test_any_pattern_equals_the_naive_twin(induced):
    choose = random.Random(induced)
    for seed in range(120):
        shape = random_pattern(choose)
        letters = dict(zip(shape, choose.sample("abcdefgh", len(shape)), strict=True))
        shape = nx.relabel_nodes(shape, letters)
        graph = graphs.erdos_renyi(choose.randint(1, 7), choose.choice((0.3, 0.5, 0.8)), seed)
        assert_equals_naive(graph, shape if seed % 2 else list(shape.edges), shape, induced)


def test_monomorphisms_over_automorphisms():
    """The definition that the documentation gives, by networkx's matcher."""
    choose = random.Random(0)
    for seed in range(20):
        pattern, graph = random_pattern(choose), graphs.erdos_renyi(9, 0.4, seed)
        matcher = nx.isomorphism.GraphMatcher
        symmetries = sum(1 for _ in matcher(pattern, pattern).isomorphisms_iter())
        found = matcher(graph.to_networkx(), pattern)
        subgraphs = sum(1 for _ in found.subgraph_monomorphisms_iter())
        induced = sum(1 for _ in found.subgraph_isomorphisms_iter())
        assert count(graph, pattern) == subgraphs // symmetries
        assert count(graph, pattern, induced=True) == induced // symmetries


def test_cycles_equal_networkx_on_larger_graphs():
    for seed in range(5):
        graph = graphs.barabasi_albert(25, 2, seed)
        cycles = [len(cycle) for cycle in nx.simple_cycles(graph.to_networkx(), length_bound=8)]
        for k in range(3, 9):
            assert count(graph, f"{k}-cycle") == cycles.count(k)


def test_nine_targets_equal_the_naive_twin():
    for seed in range(20):
        graph = graphs.erdos_renyi(7, (0.3, 0.5, 0.7, 0.9)[seed % 4], seed)
        plain = graph.to_networkx()
        naive = {name: Copies(plain, named(name).to_networkx()) for name in TARGETS}
        expected = [[naive[name].per_node(v, 0) for name in TARGETS] for v in range(7)]
        assert count_all(graph).tolist() == expected


@pytest.mark.parametrize(
    "graph",
    [graphs.counting_random(50), graphs.molecule_like(50), graphs.barabasi_albert(300, 4), graphs.complete(12)],
    ids=str,
)
def test_nine_targets_equal_count(graph):
    table = count_all(graph)
    assert table.dtype == np.int64
    for column, name in enumerate(TARGETS):
        assert_array_equal(table[:, column], count(graph, name, per="node"))


@pytest.mark.parametrize("pattern", [*NAMES, [(0, 1), (0, 2), (0, 3), (3, 4), (4, 5), (5, 3)]], ids=str)
def test_known_counts(pattern):
    """In a complete graph every injection is a copy; a cycle holds its own paths and nothing else."""
    shape = nx.Graph(pattern if isinstance(pattern, list) else named(pattern).edges)
    k = len(shape)
    symmetries = sum(1 for _ in nx.isomorphism.GraphMatcher(shape, shape).isomorphisms_iter())
    assert count(graphs.complete(11), pattern) == perm(11, k) // symmetries
    is_path = max(degree for _, degree in shape.degree) <= 2 and shape.number_of_edges() < k
    assert count(graphs.cycle(20), pattern) == 20 * is_path


@pytest.mark.parametrize("induced", [False, True])
@pytest.mark.parametrize("pattern", [*NAMES, [(0, 1), (1, 2), (2, 0), (2, 3), (3, 4)]], ids=str)
def test_odd_shapes(pattern, induced):
    """Loops and repeats change nothing, levels agree, and nothing is found where nothing is."""
    shape = named(pattern) if isinstance(pattern, str) else None
    for name, graph in odd_shapes().items():
        if name.startswith("hub") and induced and "star" in pattern:
            continue  # millions of copies, one by one
        whole, nodes, edges = (count(graph, pattern, per=per, induced=induced) for per in LEVELS)
        plain = graphs.from_edges(graph.edges, graph.num_nodes)
        assert_array_equal(nodes, count(plain, pattern, per="node", induced=induced))
        assert (whole.shape, nodes.shape, edges.shape) == ((graph.num_graphs,), (graph.num_nodes,), graph.arc.shape)
        assert not edges[graph.arc < 0].any()
        once = np.zeros(graph.num_edges, np.int64)
        once[graph.edge[graph.arc[graph.arc >= 0]]] = edges[graph.arc >= 0]
        sizes = (len(shape.orbit), len(shape.edges)) if shape else (5, 5)
        assert nodes.sum() == whole.sum() * sizes[0]
        assert once.sum() == whole.sum() * sizes[1]


def test_no_graphs():
    assert count([], "3-cycle").shape == (0,)
    assert count_all([]).shape == (0, 9)
    assert count(["@", "?"], "3-path").tolist() == [0, 0]


@settings(max_examples=60)
@given(
    relabelled(),
    st.sampled_from([*NAMES, [(0, 1), (1, 2), (2, 3), (3, 1), (3, 4)], [(0, 1), (0, 2), (1, 2), (2, 3), (2, 4)]]),
    st.booleans(),
)
def test_renaming_nodes_renames_counts(case, pattern, induced):
    graph, order, columns, renamed = case
    options = {"pattern": pattern, "induced": induced}
    assert_array_equal(count(graph, **options), count(renamed, **options))
    assert_array_equal(count(graph, per="node", **options), count(renamed, per="node", **options)[order])
    assert_array_equal(count(graph, per="edge", **options)[columns], count(renamed, per="edge", **options))


@settings(max_examples=30)
@given(st.lists(messy_graphs(), max_size=5), st.sampled_from(NAMES), st.booleans())
def test_together_equals_one_by_one(members, pattern, induced):
    together = graphs.disjoint_union(members)
    for per in LEVELS:
        alone = [count(member, pattern, per=per, induced=induced) for member in members]
        assert count(together, pattern, per=per, induced=induced).tolist() == [n for part in alone for n in part]
    assert count_all(members).tolist() == [row for member in members for row in count_all(member).tolist()]


@pytest.mark.parametrize("pattern", ["6-cycle", "4-clique", "5-path", "triangle-rectangle", [(0, 1), (1, 2), (1, 3)]])
def test_neither_threads_nor_blocks_show(pattern, monkeypatch):
    graph = graphs.disjoint_union([graphs.counting_random(20), graphs.barabasi_albert(80, 2), graphs.empty(7)])
    expected = {per: count(graph, pattern, per=per, threads=1) for per in LEVELS}
    table = count_all(graph, threads=1)
    for block in (1, 3, 50):
        monkeypatch.setattr(work, "BLOCK", block)
        for threads in (1, 2):
            for per in LEVELS:
                assert_array_equal(count(graph, pattern, per=per, threads=threads), expected[per])
            assert_array_equal(count_all(graph, threads=threads), table)


def test_large_stars():
    graph = graphs.star(60)
    assert count(graph, "31-star") == comb(60, 30)
    assert count(graph, "31-star", per="node").tolist() == [comb(60, 30)] + 60 * [0]
    assert count(graph, "31-star", per="node", orbit=7).tolist() == [0] + 60 * [comb(59, 29)]
    assert count(graph, "31-star", per="edge").tolist() == 120 * [comb(59, 29)]
    assert count(graph, "1000-star") == 0
    assert count(graphs.star(12), "10-star", induced=True) == comb(12, 9)
    with pytest.raises(ValueError, match="too large to match"):
        count(graph, "40-star", induced=True)


def test_overflow_is_an_error():
    def two_hubs(leaves, joined):
        bridge = [(0, 1)] if joined else []
        return graphs.from_edges([*bridge, *((hub, 2 + 2 * i + hub) for hub in (0, 1) for i in range(leaves))])

    hubs, bridged = two_hubs(66, joined=False), two_hubs(66, joined=True)
    assert count(hubs, "34-star", per="node")[0] == comb(66, 33)  # one fits, two do not
    for graph, pattern, options in (
        (graphs.star(100), "51-star", {}),
        (graphs.star(100), "51-star", {"per": "node"}),
        (hubs, "34-star", {}),
        (bridged, "34-star", {"per": "edge"}),
        (graphs.complete_bipartite(3, 66), "34-star", {"per": "node", "orbit": 1}),
    ):
        with pytest.raises(OverflowError, match=f"pattern: {pattern}"):
            count(graph, pattern, **options)


def test_overflow_of_formulas_is_seen_before_they_start(monkeypatch):
    monkeypatch.setattr(formulas, "MOST_EDGES", 5)
    for pattern in ("4-path", "triangle-rectangle"):
        with pytest.raises(OverflowError, match=pattern):
            count(graphs.cycle(5), pattern)
    with pytest.raises(OverflowError, match="graphs"):
        count_all(graphs.cycle(5))


def test_overflow_of_kernels_is_seen(monkeypatch):
    job = work.share(graphs.complete(5)).jobs[0]
    brim = np.full((5, 1), np.iinfo(np.int64).max)
    plan = matching.Plan(np.array([0, 1, 2]), np.array([0, 1, 2]) | kernels.HERE, np.zeros(3, np.int64), 1, 1)
    with np.errstate(over="ignore"):
        assert not matching.match(job.adjacency, job.roots, plan, False, brim)
    cycles = getattr(kernels.cycles, "py_func", kernels.cycles)
    for safe, fits in ((29, False), (30, True)):  # fifteen squares, in both directions
        monkeypatch.setattr(kernels, "SAFE", safe)
        assert cycles(job.adjacency, job.roots, (4, 4), False, np.zeros((5, 1), np.int64)) == fits
    shared = work.share(graphs.complete(5))
    for fill in (lambda job, out: False, lambda job, out: bool(np.copyto(out, -1) or True)):
        with pytest.raises(OverflowError):
            shared.tally(fill)


def test_overflow_of_a_sum_over_positions_is_seen(monkeypatch):
    """Copies at one position of an edge fit, those at all positions together do not."""
    monkeypatch.setattr("escgnn.counting.match", lambda *_: np.array([2**62]))
    with pytest.raises(OverflowError):
        count(graphs.from_edges([(0, 1)]), [(0, 1), (1, 2), (2, 0), (2, 3), (3, 4)], per="edge")


@given(st.lists(st.lists(st.integers(0, 2**63 - 1), max_size=4), max_size=5), st.integers(1, 8))
def test_sums_are_exact(runs, divisor):
    runs = [[divisor * (value // divisor) for value in run] for run in runs]
    bounds = np.cumsum([0, *map(len, runs)])
    values = np.array([value for run in runs for value in run], np.int64)
    expected = [sum(run) // divisor for run in runs]
    if max(expected, default=0) < 2**63:
        assert work.run_sums(values, bounds, divisor).tolist() == expected
    else:
        with pytest.raises(OverflowError):
            work.run_sums(values, bounds, divisor)


def test_the_pattern_may_come_in_any_form():
    graph = graphs.petersen()
    house = named("triangle-rectangle")
    for pattern in (house, house.edges, np.array(house.edges), house.to_networkx(), nx.DiGraph(house.edges)):
        assert count(graphs.complete(6), pattern) == count(graphs.complete(6), house.name)
    assert count(graph, named("8-cycle")) == count(graph, "8-cycle")
    misnamed = Pattern("4-clique", 3, ((0, 1), (1, 2)), (1,))
    assert count(graph, misnamed, per="node").tolist() == 10 * [3]


@pytest.mark.parametrize(
    ("pattern", "options", "message"),
    [
        ("5-cicle", {}, "pattern: unknown name '5-cicle'; did you mean '5-cycle'?.*tailed-triangle"),
        ("9-cycle", {}, "pattern: unknown name"),
        ("2-cycle", {}, "pattern: unknown name"),
        ("1-star", {}, "pattern: unknown name"),
        ("03-cycle", {}, "pattern: unknown name"),
        ([(0, 1), (2, 3)], {}, "pattern: it is disconnected"),
        ([(i, i + 1) for i in range(6)], {}, "pattern: 7 nodes"),
        ([(0, 1), (1, 1)], {}, "pattern: node 1 is joined to itself"),
        ([], {}, "pattern: it has no edges"),
        (nx.empty_graph(1), {}, "pattern: it has no edges"),
        ([0, 1], {}, "pattern: cannot read"),
        (7, {}, "pattern: cannot read"),
        ("3-cycle", {"per": "arc"}, "per: 'arc'; expected one of 'graph', 'node', 'edge'"),
        ("3-cycle", {"orbit": 0}, "orbit: .*leave it out"),
        ("3-cycle", {"per": "node", "orbit": 3}, "orbit: 3 is no node"),
        ("3-cycle", {"per": "node", "orbit": [0]}, "orbit: "),
        ("4-cycle", {"per": "edge", "orbit": (0, 2)}, r"orbit: \(0, 2\) is no edge"),
        ("4-cycle", {"per": "edge", "orbit": 1}, "orbit: 1 is no edge"),
        ([("a", "b")], {"per": "node", "orbit": 0}, "orbit: 0 is no node"),
    ],
)
def test_errors_name_the_argument(pattern, options, message):
    with pytest.raises(ValueError, match=message):
        count(graphs.cycle(5), pattern, **options)


def test_a_pattern_must_fit_its_nodes():
    with pytest.raises(ValueError, match="outside 0 to 1"):
        Pattern("mine", 2, ((0, 1), (1, 2)))
    with pytest.raises(ValueError, match="outside 0 to 1"):
        Pattern("mine", 2, ((0, 1),), (2,))


def test_published_standard_deviations(benchmark_data):
    """Those of the true counts: the published 4-clique labels, twice as large, would give 0.3446, not 0.1723."""
    with np.load(benchmark_data / "count_synthetic" / "randomgraph.npz") as file:
        sizes, num_edges = file["num_nodes"].astype(np.int64), file["num_edges"].astype(np.int64)
        edges, seen = file["edges"].astype(np.int64), np.union1d(file["train_idx"], file["val_idx"])
    ptr = np.concatenate([[0], sizes.cumsum()])
    edges += np.repeat(ptr[:-1], num_edges)[:, None]
    graph = graphs.from_edge_index(np.concatenate([edges, edges[:, ::-1]]).T, int(ptr[-1]), ptr=ptr)
    targets = count_all(graph)[np.isin(np.repeat(np.arange(sizes.size), sizes), seen)]
    published = [1.1715, 3.0478, 7.6137, 17.1356, 2.4642, 0.9723, 0.1723, 36.9943, 2.2969]
    assert_array_equal(targets.std(0, ddof=1).round(4), published)
