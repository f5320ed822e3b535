"""Parts that count by types of nodes and edges, and the part ring, beyond what `test_rooted` asks of every part."""

import pickle
import random

import networkx as nx
import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from torch_geometric.data import Batch, Data

from escgnn import graphs
from escgnn.decoding import decode
from escgnn.encoding import PARTS, Bin, RootedEncoding, sources
from escgnn.encoding.typed import TypedPass
from escgnn.encoding.types import types_of
from escgnn.kernels.rings import find_rings
from escgnn.kernels.typed import refine
from escgnn.transforms import StructuralEncoding
from tests import naive
from tests.strategies import messy_graphs, odd_shapes, relabelled

BOTH = ("x", "edge_attr")
TYPED = ("joint", "edge", "ring", "colour", "alike")
OPTIONS = [
    {"hops": 2, "parts": TYPED, "types": BOTH},
    {"hops": 1, "parts": ("ring", "edge"), "types": BOTH, "edge_types": 2, "ring_bins": 5, "ring_length": 5},
    {
        "hops": (1, 3),
        "parts": ("colour", "degree", "ring", "joint"),
        "types": ("x",),
        "node_types": 3,
        "colour_bins": 7,
    },
    {"hops": 2, "parts": ("node", "joint", "edge"), "types": ("edge_attr",), "subgraph": "balls"},
    {"hops": 3, "parts": TYPED, "types": BOTH, "max_nodes": 5, "colour_rounds": 3, "ring_length": 12},
    {"hops": 2, "parts": ("cycle", *TYPED), "types": BOTH, "typed": ("ring",), "nodes": True},
    {"hops": 1, "parts": ("colour", "edge"), "types": ("edge_attr",), "colour_rounds": 1, "subgraph": "balls"},
    {"hops": (2, 1), "parts": ("edge", "alike", "cycle"), "types": ("x",), "alike_rounds": 1, "nodes": True},
]
few = settings(max_examples=30)


def with_types(graph, seed=0, kinds=4):
    """The graph with random types; some of them, as those of repeated edges, differ between columns."""
    rng = np.random.default_rng(seed)
    return graph.typed(rng.integers(0, kinds, graph.num_nodes), rng.integers(0, kinds, graph.arc.size))


def test_of_several_types_of_an_edge_the_largest_counts():
    graph = graphs.from_edge_index([[0, 1, 0, 1, 1, 2], [1, 0, 1, 2, 1, 1]], 3).typed(None, [1, 3, 2, 5, 9, 4])
    assert graph.column_types.tolist() == [3, 3, 3, 5, 0, 5]


def every_row(rows):
    return [rows[i] for i in range(len(rows))]


@pytest.mark.parametrize("number", range(len(OPTIONS)))
def test_equals_the_naive_twin(number):
    """70 random graphs for each encoding: an edge, and (v, v) or a pair that need not be adjacent."""
    choose = random.Random(number)
    encoding = RootedEncoding(**OPTIONS[number])
    for seed in range(70):
        n = choose.randint(2, 10)
        density = choose.choice((0.2, 0.35, 0.6))
        graph = with_types(graphs.erdos_renyi(n, density if n < 8 else 0.3, seed), seed, choose.choice((1, 2, 4, 50)))
        plain = graph.to_networkx()
        if graph.arc.size:
            column = choose.randrange(graph.arc.size)
            u, v = graph.edge_index[:, column].tolist()
            assert encoding.rows(graph)[column] == naive.row(plain, u, v, encoding)
        u, v = choose.randrange(n), choose.randrange(n)
        assert encoding.node_rows(graph)[u] == naive.row(plain, u, u, encoding)
        assert encoding.row(graph, u, v) == naive.row(plain, u, v, encoding)


@pytest.mark.parametrize("name", odd_shapes())
def test_odd_shapes(name):
    graph = with_types(odd_shapes()[name], 3)
    for options in OPTIONS[:3]:
        encoding = RootedEncoding(**options)
        rows = encoding.rows(graph)
        assert len(rows) == graph.edge_index.shape[1] and len(encoding.node_rows(graph)) == graph.num_nodes
        for column in {0, len(rows) - 1} & {*range(len(rows))}:
            u, v = graph.edge_index[:, column].tolist()
            assert rows[column] == naive.row(graph.to_networkx(), u, v, encoding)


@few
@given(relabelled(messy_graphs().map(lambda graph: with_types(graph, graph.num_nodes))), st.sampled_from(OPTIONS))
def test_invariant_under_relabelling(case, options):
    graph, order, columns, renamed = case
    encoding = RootedEncoding(**options)
    before = every_row(encoding.rows(graph))
    assert every_row(encoding.rows(renamed)) == [before[column] for column in columns]
    assert_array_equal(encoding.node_rows(graph).dense(), encoding.node_rows(renamed).dense()[order])


@few
@given(messy_graphs(), st.sampled_from(OPTIONS))
def test_reverse_edge_is_the_mirror_image(graph, options):
    graph = with_types(graph)
    encoding = RootedEncoding(**options)
    rows = dict(zip(map(tuple, graph.edge_index.T.tolist()), every_row(encoding.rows(graph)), strict=True))
    for (u, v), row in rows.items():
        image = {}
        for name, count in row.items():
            twin = PARTS[name.part].mirror(Bin(*name.inner)) if name.part in PARTS else Bin(*name.inner)
            if twin is not None:
                image[twin.at(name.radius)] = count
        assert image == {name: count for name, count in rows[v, u].items() if name.part != "colour"}


@few
@given(st.lists(messy_graphs(), max_size=3), st.sampled_from(OPTIONS))
def test_graphs_side_by_side_do_not_see_each_other(members, options):
    encoding = RootedEncoding(**options)
    members = [with_types(member, seed) for seed, member in enumerate(members)]
    union = graphs.disjoint_union(members)
    if members:
        assert every_row(encoding.rows(union)) == [
            row for member in members for row in every_row(encoding.rows(member))
        ]
        again = [every_row(encoding.rows(member)) for member in union.split()]
        assert again == [every_row(encoding.rows(member)) for member in members]


@pytest.mark.parametrize("options", OPTIONS)
def test_any_number_of_threads_gives_the_same_arrays(options, monkeypatch):
    monkeypatch.setattr("escgnn.encoding.sources.BUFFER", 1 << 12)  # so that few roots are several blocks
    graph = with_types(graphs.molecule_like(3, seed=1))
    encoding = RootedEncoding(**options)
    alone, together = encoding.rows(graph, threads=1), encoding.rows(graph, threads=3)
    for field in ("length", "bin", "count"):
        assert_array_equal(getattr(alone, field), getattr(together, field))
        assert getattr(alone, field).dtype == np.int32


def test_environments_are_found_once_for_all_blocks(monkeypatch):
    """They go over the whole graph, so that each block would cost as much as all of them."""
    calls = []

    def counted(*arguments):
        calls.append(arguments)
        return refine(*arguments)

    monkeypatch.setattr("escgnn.encoding.typed.refine", counted)
    graph = with_types(graphs.molecule_like(3, seed=1))
    encoding = RootedEncoding(1, ("colour", "alike"), types=BOTH)
    assert len([*encoding.blocks(graph, 5)]) > 2
    assert [rounds for _, _, rounds in calls] == [encoding.colour_rounds, encoding.alike_rounds]


@few
@given(messy_graphs(), st.sampled_from(OPTIONS), st.integers(1, 5))
def test_pairs_and_blocks_agree_with_rows(graph, options, size):
    graph = with_types(graph)
    encoding = RootedEncoding(**options)
    assert every_row(encoding.pairs(graph, graph.edge_index.T)) == every_row(encoding.rows(graph))
    for roots, rows in encoding.blocks(graph, size):
        assert every_row(rows) == [encoding.row(graph, u, v) for u, v in roots.tolist()]
        ends = np.cumsum(rows.length)
        assert all((np.diff(bins) > 0).all() for bins in np.split(rows.bin, ends[:-1]))


@pytest.mark.parametrize("hops", [1, (1, 2)])
def test_without_types_all_is_as_it_was(hops):
    """Types that a graph happens to have change nothing unless they are asked for; and summed over types, counts are the same."""
    graph = with_types(graphs.molecule_like(20, 5))
    bare = graphs.from_edge_index(graph.edge_index, graph.num_nodes)
    plain = RootedEncoding(hops, ("degree", "joint", "edge", "cycle", "ring", "colour"))
    assert_array_equal(plain.dense(graph), plain.dense(bare))
    one = RootedEncoding(1, ("joint", "edge", "ring"))
    typed = RootedEncoding(1, ("joint", "edge", "ring"), types=BOTH, node_types=3, edge_types=2, ring_bins=9)
    summed = np.zeros_like(one.dense(bare))
    number = {name: b for b, name in enumerate(one.bins)}
    for name, counts in zip(typed.bins, typed.dense(graph).T, strict=True):
        bare_name = Bin("ring", name.numbers[0]) if name.part == "ring" else Bin(name.part, *name.numbers)
        summed[:, number[bare_name]] += counts
    assert_array_equal(summed, one.dense(bare))


def test_rows_with_many_bins():
    """More than are sorted one by one: a hub whose leaves are all of different types, in descending order."""
    star = graphs.star(100).typed(np.arange(101)[::-1])
    encoding = RootedEncoding(1, ("joint",), types=("x",), node_types=128)
    rows = encoding.rows(star)
    assert rows.length.min() == 101 and rows.count.max() == 1
    assert all((np.diff(bins) > 0).all() for bins in np.split(rows.bin, rows.length.cumsum()[:-1]))
    u, v = star.edge_index[:, 7].tolist()
    assert rows[7] == naive.row(star.to_networkx(), u, v, encoding)


def test_bins_say_types():
    encoding = RootedEncoding(
        1, ("joint", "edge", "ring"), types=BOTH, node_types=2, edge_types=1, ring_length=3, ring_bins=2
    )
    names = [name for name in encoding.bins if name.part == "joint"]
    assert names[:3] == [("joint", 0, 0, "t0"), ("joint", 0, 0, "t1"), ("joint", 0, 1, "t0")]
    assert (names[1].type, names[1].labels) == (1, ((0, 0),))
    assert [name for name in encoding.bins if name.part == "ring"] == [("ring", 3, 0), ("ring", 3, 1)]
    assert RootedEncoding(1, ("ring",), ring_length=4).bins == (("ring", 3), ("ring", 4))
    assert eval(repr(encoding)) == encoding


def test_rings_are_those_that_cells_lists():
    """Ring by ring, the search through every edge finds as many as the search through the whole graph."""
    for graph in (graphs.molecule_like(60, 2), graphs.petersen(), graphs.rook(4), graphs.erdos_renyi(20, 0.2, 1)):
        ring_len, ring_edge = np.empty(10**5, np.int64), np.empty(10**6, np.int64)
        rings, entries, _ = find_rings(graph.csr, graph.edge, 8, 10**9, ring_len, ring_edge)
        assert rings > 0
        expected = np.zeros((graph.num_edges, 6), np.int64)
        size = np.repeat(ring_len[:rings], ring_len[:rings])
        np.add.at(expected, (ring_edge[:entries], size - 3), 1)
        encoding = RootedEncoding(1, ("ring",))
        counts = encoding.pairs(graph, graph.edges).dense()
        assert_array_equal(counts, expected)
        at_nodes = np.zeros((graph.num_nodes, 6), np.int64)
        for end in (0, 1):
            np.add.at(at_nodes, graph.edges[:, end], counts)
        assert_array_equal(encoding.node_rows(graph).dense(), at_nodes // 2)


def ring(nodes, edges):
    """A cycle with these types, in order; edge i joins nodes i and i + 1."""
    size = len(nodes)
    graph = nx.cycle_graph(size)
    nx.set_node_attributes(graph, dict(enumerate(nodes)), "x")
    nx.set_edge_attributes(graph, {(i, (i + 1) % size): edge for i, edge in enumerate(edges)}, "edge_attr")
    return graph


def test_rings_are_told_apart_by_their_composition_and_by_nothing_else():
    """Pyridazine, pyrimidine and pyrazine have the same atoms in other places; however a ring is turned, it stays the same."""
    encoding = RootedEncoding(1, ("ring",), types=BOTH, ring_length=6, ring_bins=1 << 12)
    aromatic = [4] * 6
    kinds = [[7, 7, 6, 6, 6, 6], [7, 6, 7, 6, 6, 6], [7, 6, 6, 7, 6, 6], [6, 6, 6, 6, 6, 6]]
    found = set()
    for kind in kinds:
        rows = {tuple(encoding.row(ring(kind, aromatic), u, v).items()) for u, v in ((0, 1), (1, 0), (2, 3), (4, 4))}
        turned = encoding.row(ring([*kind[2:], *kind[:2]][::-1], aromatic), 5, 0)
        assert rows == {tuple(turned.items())} and len(turned) == 1
        found |= rows
    assert len(found) == len(kinds)
    first = encoding.row(ring([6] * 6, [1, 2, 1, 2, 1, 2]), 0, 1)
    assert (
        first
        == encoding.row(ring([6] * 6, [2, 1, 2, 1, 2, 1]), 0, 1)
        != encoding.row(ring([6] * 6, [1, 1, 1, 2, 2, 2]), 0, 1)
    )
    assert first != encoding.row(ring([6] * 6, aromatic), 0, 1)


def data_of(graph, columns=1):
    """PyG's form of a graph with types, in the first of so many columns."""
    x = np.zeros((graph.num_nodes, columns), np.int64)
    x[:, 0] = graph.types.node
    return Data(
        edge_index=torch.from_numpy(graph.edge_index),
        num_nodes=graph.num_nodes,
        x=torch.from_numpy(x),
        edge_attr=torch.from_numpy(graph.column_types),
    )


def test_types_are_read_off_data_networkx_and_lists():
    graph = with_types(graphs.molecule_like(1, 4))
    encoding = RootedEncoding(2, TYPED, types=BOTH)
    expected = encoding.dense(graph)
    assert_array_equal(encoding.dense(data_of(graph)), expected)
    assert_array_equal(encoding.dense(data_of(graph, 3)), expected)
    assert_array_equal(RootedEncoding(2, TYPED, types=("x:0", "edge_attr:0")).dense(data_of(graph, 3)), expected)
    assert_array_equal(encoding.dense([data_of(graph), data_of(graph)]), np.vstack([expected, expected]))
    plain = graph.to_networkx()
    for values in (plain.nodes(data=True), ((edge, held) for *edge, held in plain.edges(data=True))):
        for _, held in values:
            held |= {"x": held["type"], "edge_attr": held["type"]}
    rows = encoding.rows(plain)
    by_root = dict(zip(map(tuple, graph.edge_index.T.tolist()), every_row(encoding.rows(graph)), strict=True))
    roots = map(tuple, graphs.as_graph(plain).edge_index.T.tolist())
    assert every_row(rows) == [by_root[root] for root in roots]


def test_several_columns_are_one_type():
    rows = np.array([[6, 0], [6, 1], [0, 6], [6, 0]])
    together = types_of(rows, "x:0+1")
    assert together[0] == together[3] and len({*together.tolist()}) == 3 and together.min() >= 0
    assert_array_equal(types_of(rows, "x:1"), rows[:, 1])
    assert_array_equal(types_of(rows[:, 0] > 0, "x"), [1, 1, 0, 1])


def test_as_a_transform():
    encoding = StructuralEncoding((1, 2), ("degree", *TYPED), nodes=True, types=BOTH)
    data = [
        data_of(with_types(graph, seed))
        for seed, graph in enumerate((graphs.star(3), graphs.empty(2), graphs.petersen()))
    ]
    at_once = encoding(Batch.from_data_list(data))
    one_by_one = Batch.from_data_list([encoding(d) for d in data])
    for key in ("esc_len", "esc_bin", "esc_count", "esc_node_len", "esc_node_bin", "esc_node_count"):
        assert torch.equal(at_once[key], one_by_one[key])
    again = pickle.loads(pickle.dumps(encoding))
    assert torch.equal(again(data[0]).esc_bin, encoding(data[0]).esc_bin)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"types": "x"}, "types: 'x' is a string"),
        ({"types": ("x", "z")}, "one attribute of nodes, one of edges"),
        ({"types": ("x.0",)}, r"types: 'x.0'; expected an attribute such as x"),
        ({"types": (0,)}, "types: 0; expected an attribute"),
        ({"typed": ("degree",)}, "typed: 'degree' does not count by types; expected some of joint, edge, ring, colour"),
        ({"node_types": 0}, "node_types: 0; expected an integer from 1"),
        ({"ring_length": 17}, "ring_length: 17; expected an integer from 3 to 16"),
    ],
)
def test_wrong_options_are_refused(options, message):
    with pytest.raises(ValueError, match=message):
        RootedEncoding(2, **options)


def test_types_that_are_not_there_are_named():
    encoding = RootedEncoding(1, ("joint",), types=("x",))
    square = Data(edge_index=torch.tensor([[0, 1], [1, 0]]), num_nodes=2)
    with pytest.raises(ValueError, match=r"types: 'x', but the graph has no such attribute; .* a row for each node"):
        encoding.rows(square)
    with pytest.raises(ValueError, match=r"the graph has none; give them to it with Graph\.typed"):
        encoding.rows(graphs.cycle(4))
    with pytest.raises(ValueError, match="but the graph has no such attribute"):
        encoding.rows(nx.cycle_graph(4))
    for x, message in (
        (torch.zeros(2), "holds float32"),
        (torch.tensor([0, -1]), "holds int64 from -1; expected integers >= 0"),
        (torch.zeros(2, 0, dtype=torch.int64), "expected 1 columns"),
    ):
        square.x = x
        with pytest.raises(ValueError, match=message):
            encoding.rows(square)
    with pytest.raises(ValueError, match=r"nodes: shape .*expected 4 integers"):
        graphs.cycle(4).typed([1, 2])
    with pytest.raises(ValueError, match="columns: types from -1"):
        graphs.path(2).typed(None, [-1, 0])


def test_counts_are_not_read_off_typed_parts():
    graph = with_types(graphs.petersen())
    with pytest.raises(ValueError, match="without types; leave it out of typed"):
        decode(graph, RootedEncoding(1, types=BOTH), "3-cycle")
    assert decode(graph, RootedEncoding(1, types=BOTH, typed=("ring",)), "3-cycle").tolist() == [0]


def test_who_has_no_types_pays_nothing_for_them():
    """The kernel of before, alone, whenever no part counts by types."""
    for options in ({}, {"types": ("edge_attr",), "parts": ("joint", "node")}, {"types": BOTH, "typed": ()}):
        assert isinstance(RootedEncoding(1, **options)._source, sources.CompiledPass)
    assert isinstance(RootedEncoding(1, ("edge", "joint"), types=BOTH)._source, TypedPass)
