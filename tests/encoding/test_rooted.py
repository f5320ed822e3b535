import random
from collections import Counter
from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from escgnn import graphs
from escgnn.encoding import PARTS, RootedEncoding
from escgnn.kernels import resistance
from tests import naive
from tests.strategies import messy_graphs, odd_shapes, relabelled

ENCODINGS = st.builds(
    RootedEncoding,
    st.integers(1, 4) | st.lists(st.integers(1, 3), min_size=1, unique=True).map(tuple),
    st.permutations([*PARTS]).flatmap(lambda parts: st.integers(1, len(PARTS)).map(lambda k: tuple(parts[:k]))),
    subgraph=st.sampled_from(["union", "balls"]),
    max_degree=st.sampled_from([0, 2, 32]),
    resistance_width=st.sampled_from([0.3, 0.5, 1.0]),
    max_nodes=st.sampled_from([None, 2, 5]),
    walk_length=st.sampled_from([2, 5, 50]),
    cycle_length=st.sampled_from([3, 4, 7, 8]),
    colour_rounds=st.integers(0, 3),
    colour_bins=st.sampled_from([1, 5, 64]),
)


def rows_of(encoding, graph, **options):
    rows = encoding.rows(graph, **options)
    return [rows[i] for i in range(len(rows))]


@pytest.mark.parametrize("hops", [1, 2, 3, 4, 5])
def test_equals_the_naive_twin(hops):
    """200 random graphs for each radius, both kinds of subgraph: an edge, and (v, v) or a pair that need not be adjacent."""
    choose = random.Random(hops)
    encodings = [
        RootedEncoding(hops, PARTS, subgraph=subgraph, **options)
        for subgraph in ("union", "balls")
        for options in (
            {"max_degree": 2, "resistance_width": 1.0, "walk_length": 30},
            {},
            {"max_degree": 0, "resistance_width": 0.3, "max_nodes": 3, "cycle_length": 5},
        )
    ]
    small = {"resistance_width": 0.25, "max_nodes": 6, "colour_rounds": 4}
    encodings += [RootedEncoding((hops, 1 + hops % 3), PARTS, subgraph=kind, **small) for kind in ("union", "balls")]
    for seed in range(200):
        density = choose.choice((0.15, 0.25, 0.4, 0.7))
        n = choose.randint(2, 7 if density > 0.5 else 11)  # the twin is slow on dense graphs
        graph = graphs.random_tree(n, seed) if seed % 3 == 0 else graphs.erdos_renyi(n, density, seed)
        plain = graph.to_networkx()
        encoding = encodings[seed % 8]
        if graph.arc.size:
            column = choose.randrange(graph.arc.size)
            u, v = graph.edge_index[:, column].tolist()
            assert encoding.rows(graph)[column] == naive.row(plain, u, v, encoding)
        u, v = choose.randrange(n), choose.randrange(n)
        if seed % 5 < 2:
            assert encoding.node_rows(graph)[u] == naive.row(plain, u, u, encoding)
        else:
            assert encoding.row(graph, u, v) == naive.row(plain, u, v, encoding)


@pytest.mark.parametrize("name", odd_shapes())
@pytest.mark.parametrize("hops", [1, 3, (2, 1)])
def test_odd_shapes(name, hops):
    graph = odd_shapes()[name]
    encoding = RootedEncoding(hops, PARTS)
    plain = graph.to_networkx()
    rows = encoding.rows(graph)
    assert len(rows) == graph.edge_index.shape[1]
    for column in {0, len(rows) // 2, len(rows) - 1} & {*range(len(rows))}:
        u, v = graph.edge_index[:, column].tolist()
        assert rows[column] == naive.row(plain, u, v, encoding)
    assert len(encoding.node_rows(graph)) == graph.num_nodes


def test_figure_1_by_hand():
    """The paper's own example: the 4-cycle at one hop, rooted at v1 v3."""
    row = RootedEncoding(hops=1).row(graphs.figure_1(), 0, 2)
    assert {name[1]: count for name, count in row.items() if name[0] == "degree"} == {2: 4}
    for root in "uv":
        assert [row.get(("node", root, d), 0) for d in range(4)] == [1, 2, 1, 0]
    edges = [(0, 1, 1, 0), (0, 1, 1, 1), (0, 1, 1, 2), (1, 0, 1, 1), (1, 0, 2, 1), (1, 2, 2, 1), (2, 1, 2, 1)]
    assert [row.get(("edge", *edge), 0) for edge in edges] == [1, 0, 1, 0, 1, 1, 0]
    assert {name[1:]: count for name, count in row.items() if name[0] == "joint"} == {
        (0, 1): 1,
        (1, 0): 1,
        (1, 2): 1,
        (2, 1): 1,
    }


def test_balls_cannot_see_the_4_cycle_of_figure_1():
    row = RootedEncoding(hops=1, parts=("edge",), subgraph="balls").row(graphs.figure_1(), 0, 2)
    assert ("edge", 1, 2, 2, 1) not in row
    assert sum(row.values()) == 3


@pytest.mark.parametrize("hops", [1, 2, 3, 4, 5])
def test_bins_are_the_feasible_labels(hops):
    """3h + 2 labels and 11h edges for adjacent roots, and (0, 0) with its edge for (v, v)."""
    parts = Counter(name[0] for name in RootedEncoding(hops).bins)
    assert parts == {"degree": 33, "node": 2 * (hops + 2), "joint": 3 * hops + 3, "edge": 11 * hops + 1}


@pytest.mark.parametrize(
    ("hops", "parts", "number", "sizes"),
    [
        (1, ("node", "joint", "edge", "wedge", "triangle", "path"), 600, (9,)),
        (2, ("node", "joint", "edge"), 600, (9,)),
        (2, ("wedge", "triangle", "path"), 6000, (9, 11, 13)),
    ],
)
def test_no_bin_is_idle(hops, parts, number, sizes):
    """Every bin is met in some graph, so each is feasible."""
    encoding = RootedEncoding(hops, parts)
    members = [graphs.erdos_renyi(sizes[i % len(sizes)], (0.2, 0.27, 0.35, 0.5)[i % 4], i) for i in range(number)]
    union = graphs.disjoint_union(members)
    met = {*encoding.rows(union).bin.tolist()} | {*encoding.node_rows(union).bin.tolist()}
    assert [encoding.bins[b] for b in range(encoding.num_bins) if b not in met] == []


@given(relabelled(), ENCODINGS)
@settings(max_examples=50)  # setting encodings up takes most of the time
def test_invariant_under_relabelling(case, encoding):
    graph, order, columns, renamed = case
    before = rows_of(encoding, graph)
    assert rows_of(encoding, renamed) == [before[column] for column in columns]
    assert_array_equal(encoding.node_rows(graph).dense(), encoding.node_rows(renamed).dense()[order])


@given(st.lists(messy_graphs(), max_size=5), ENCODINGS)
def test_graphs_side_by_side_do_not_see_each_other(members, encoding):
    union = graphs.disjoint_union(members)
    assert rows_of(encoding, union) == [row for member in members for row in rows_of(encoding, member)]
    assert union.num_graphs == len(members)


@given(messy_graphs(), ENCODINGS)
def test_reverse_edge_is_the_mirror_image(graph, encoding):
    def mirror(name):
        part, *rest = name
        if part.startswith("h"):
            return part, *mirror(rest)
        if part in ("node", "resistance", "walk") and len(rest) == 2:
            return part, "vu"["uv".index(rest[0])], rest[1]
        if part == "alike":
            return part, "vu"["uv".index(rest[0])]
        if part in ("joint", "edge", "triangle"):
            labels = sorted(tuple(reversed(rest[i : i + 2])) for i in range(0, len(rest), 2))
            return part, *(d for label in labels for d in label)
        if part in ("wedge", "path"):
            words, numbers = [w for w in rest if isinstance(w, str)], [w for w in rest if isinstance(w, int)]
            labels = [tuple(reversed(numbers[i : i + 2])) for i in range(0, len(numbers), 2)]
            return part, *words, *(d for label in min(labels, labels[::-1]) for d in label)
        return name

    rows = {(u, v): row for (u, v), row in zip(graph.edge_index.T.tolist(), rows_of(encoding, graph), strict=True)}
    for (u, v), row in rows.items():
        other, image = rows[v, u], {mirror(name): count for name, count in row.items()}
        for mine in (image, other):  # the hashed colours of (v, u) are others, and the naive twin knows them
            for name in [name for name in mine if "colour" in name]:
                del mine[name]
        assert other == image


@pytest.mark.parametrize("threads", [1, 2, 3, 8])
def test_any_number_of_threads_gives_the_same_arrays(threads):
    graph = graphs.molecule_like(200, seed=1)
    encoding = RootedEncoding((3, 2), PARTS)
    alone, together = encoding.rows(graph, threads=1), encoding.rows(graph, threads=threads)
    for field in ("length", "bin", "count"):
        assert_array_equal(getattr(alone, field), getattr(together, field))


@given(messy_graphs(), ENCODINGS, st.data())
@settings(max_examples=50)
def test_pairs_agree_with_edges_and_nodes(graph, encoding, data):
    rows = encoding.pairs(graph, graph.edge_index.T)
    assert [rows[i] for i in range(len(rows))] == rows_of(encoding, graph)
    assert encoding.pair_bins[: encoding.num_bins] == encoding.bins
    v = data.draw(st.integers(0, graph.num_nodes - 1))
    assert encoding.row(graph, v, v) == encoding.node_rows(graph)[v]


@cache
def complete(hops):
    return RootedEncoding(hops, PARTS, nodes=True)


@given(messy_graphs(), st.integers(1, 7), st.sampled_from([2, (1, 3)]))
def test_blocks_hold_both_directions_of_every_edge_and_every_node(graph, size, hops):
    encoding = complete(hops)
    seen = []
    for roots, rows in encoding.blocks(graph, size):
        assert len(rows) == len(roots) <= 2 * size
        for i, (u, v) in enumerate(roots.tolist()):
            assert rows[i] == encoding.row(graph, u, v)
            seen.append((u, v))
    edges = {(u, v) for u, v in graph.edge_index.T.tolist() if u != v}
    assert Counter(seen) == Counter(edges | {(v, v) for v in range(graph.num_nodes)})


def test_dense_holds_the_same_numbers():
    graph = graphs.petersen()
    encoding = RootedEncoding(2)
    dense = encoding.dense(graph)
    assert dense.shape == (30, encoding.num_bins)
    assert {encoding.bins[b]: dense[7, b] for b in np.flatnonzero(dense[7])} == encoding.rows(graph)[7]


@given(st.integers(2, 40), st.integers(0, 10**6), st.integers(1, 4))
def test_resistance_of_a_tree_is_the_distance(n, seed, hops):
    graph = graphs.random_tree(n, seed)
    encoding = RootedEncoding(hops, ("node", "resistance"), resistance_width=1.0)
    for row in rows_of(encoding, graph):
        distances = {name[1:]: count for name, count in row.items() if name[0] == "node"}
        assert distances == {name[1:]: count for name, count in row.items() if name[0] == "resistance"}


@given(st.integers(0, 10**6), st.sampled_from([0.1, 0.25, 0.5, 1.0]))
def test_resistance_is_invariant_on_molecules(seed, width):
    """Exact multiples of the width are everywhere in rings; rounding must not move them to another bin."""
    graph = graphs.molecule_like(1, seed)
    renaming = np.random.default_rng(seed).permutation(graph.num_nodes)
    encoding = RootedEncoding(3, ("resistance",), resistance_width=width)
    assert rows_of(encoding, graph) == rows_of(encoding, graphs.permute(graph, renaming))


def test_resistance_of_the_hexagon():
    """k (6 - k) / 6: 0, 5/6, 4/3, 3/2, whose bins of width 1/2 are 0, 1, 2, 3."""
    row = RootedEncoding(3, ("resistance",), resistance_width=0.5).row(graphs.cycle(6), 0, 1)
    assert [row.get(("resistance", "u", b), 0) for b in range(4)] == [1, 2, 2, 1]


def test_resistance_between_unconnected_roots_is_in_the_last_bin():
    graph = graphs.disjoint_union([graphs.path(2), graphs.path(2)])
    encoding = RootedEncoding(1, ("resistance",), resistance_width=1.0)
    assert encoding.row(graph, 0, 2) == {
        ("resistance", root, b): count for root in "uv" for b, count in ((0, 1), (1, 1), (2, 2))
    }


def test_a_core_too_large_to_solve_is_an_error_that_says_what_to_do(monkeypatch):
    n = resistance.MAX_CORE + 2
    graph = graphs.from_edges([(0, i) for i in range(1, n)] + [(i, i + 1) for i in range(1, n - 1)], n)
    with pytest.raises(ValueError, match=r"resistance: .*\(0, 1\).*max_nodes"):
        RootedEncoding(1, ("resistance",)).rows(graph)
    assert RootedEncoding(1, ("resistance",), max_nodes=50).rows(graph)[0]["clipped", 0] == 1


def test_clipping_uses_the_largest_radius_that_fits():
    graph = graphs.star(50)
    encoding = RootedEncoding(3, ("joint",), max_nodes=20)
    assert encoding.row(graph, 0, 1) == {("joint", 0, 1): 1, ("joint", 1, 0): 1, ("clipped", 0): 1}
    path = graphs.path(30)
    row = dict(RootedEncoding(4, max_nodes=6).row(path, 10, 11))
    assert row.pop(("clipped", 2)) == 1
    assert row == RootedEncoding(2).row(path, 10, 11)


def test_hubs_of_any_degree():
    """The published code stops at degree 200."""
    graph = graphs.star(5000)
    row = RootedEncoding(1).rows(graph)[0]
    assert row["degree", 32] == 1
    assert row["degree", 1] == 5000
    assert row["edge", 0, 1, 1, 2] == 4999


@pytest.mark.parametrize("value", ["StructuralEncoding", 3])
def test_what_is_no_graph_is_refused(value):
    with pytest.raises((TypeError, ValueError), match="graph"):
        RootedEncoding().rows(value)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"hops": 0}, "hops: 0"),
        ({"hops": 1.5}, "hops: 1.5"),
        ({"hops": True}, "hops: True"),
        ({"hops": "12"}, "hops: '12'"),
        ({"hops": ()}, r"hops: \(\); expected one or more different radii"),
        ({"hops": (1, 1)}, r"hops: \(1, 1\); expected one or more different radii"),
        ({"hops": (1, 0)}, "hops: 0; expected an integer from 1"),
        (
            {"parts": ("edges",)},
            "parts: unknown part 'edges'; expected some of degree, node, joint, edge, resistance, wedge",
        ),
        ({"parts": ()}, r"parts: \(\)"),
        ({"parts": "edge"}, "parts: 'edge' is a string"),
        ({"parts": ("edge", "edge")}, "parts: .* different"),
        ({"subgraph": "induced"}, "subgraph: 'induced'; expected one of union, balls"),
        ({"max_degree": -1}, "max_degree: -1"),
        ({"resistance_width": 0}, "resistance_width: 0"),
        ({"resistance_width": float("nan")}, "resistance_width: nan"),
        ({"max_nodes": 1}, "max_nodes: 1; expected an integer from 2"),
        ({"walk_length": 1}, "walk_length: 1; expected an integer from 2"),
        ({"cycle_length": 2}, "cycle_length: 2; expected an integer from 3 to 8"),
        ({"cycle_length": 9}, "cycle_length: 9; expected an integer from 3 to 8"),
        ({"colour_rounds": -1}, "colour_rounds: -1; expected an integer from 0"),
        ({"colour_bins": 0}, "colour_bins: 0; expected an integer from 1"),
        ({"colour_bins": 2.0}, "colour_bins: 2.0; expected an integer from 1"),
    ],
)
def test_bad_arguments_are_named(options, message):
    with pytest.raises(ValueError, match=message):
        RootedEncoding(**options)


def test_unknown_option_is_an_error():
    with pytest.raises(TypeError, match="hop"):
        RootedEncoding(hop=2)


@pytest.mark.parametrize("pairs", [[(0, 4)], [(-1, 0)], [(0, 1, 2)], [(0.5, 1.0)]])
def test_bad_pairs_are_named(pairs):
    with pytest.raises(ValueError, match="pairs: "):
        RootedEncoding().pairs(graphs.path(4), pairs)


@given(ENCODINGS)
def test_repr_round_trips(encoding):
    again = eval(repr(encoding))
    assert repr(again) == repr(encoding)
    assert again.bins == encoding.bins


@pytest.mark.parametrize("hops", [2, (1, 2)])
def test_rows_stay_as_they_are_when_more_are_made(hops):
    """Buffers are used again; nothing that was returned may lie in one."""
    encoding, graph, other = RootedEncoding(hops, PARTS), graphs.petersen(), graphs.molecule_like(20)
    pairs = [(0, 7), (3, 3), (1, 2)]
    made = [
        encoding.rows(graph),
        encoding.node_rows(graph),
        encoding.pairs(graph, pairs),
        next(encoding.blocks(graph))[1],
    ]
    before = [(rows.bin.copy(), rows.count.copy()) for rows in made]
    for _ in range(3):
        encoding.rows(other), encoding.node_rows(other), encoding.pairs(other, pairs)
    for rows, (bins, counts) in zip(made, before, strict=True):
        assert_array_equal(rows.bin, bins)
        assert_array_equal(rows.count, counts)
