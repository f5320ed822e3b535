"""Rows in a file, by edge."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from escgnn import graphs
from escgnn.encoding import RootedEncoding
from escgnn.graphs import LeanGraph
from escgnn.huge import RowStore, encode_graph, open_graph, write_graph
from escgnn.huge.array_file import PAGE
from escgnn.kernels.row_store import MOST_BYTES, pack_rows
from tests import naive, naive_huge
from tests.strategies import messy_graphs, odd_shapes

SMALL = RootedEncoding(hops=1, parts=("joint", "edge"))


def both_ways(graph):
    """All directed edges by id."""
    edges = np.asarray(graph.edges)
    return np.stack([edges, edges[:, ::-1]], axis=1).reshape(-1, 2).tolist()


@settings(max_examples=40)
@given(messy_graphs())
def test_rows_are_those_of_the_naive_twin(tmp_path_factory, graph):
    encoding = RootedEncoding(hops=1, parts=("degree", "edge"), nodes=True)
    store = encode_graph(graph, encoding, tmp_path_factory.mktemp("rows") / "g.escr", block=3)
    expected = graph.to_networkx()
    rows = store.take(np.arange(2 * graph.num_edges))
    for number, (u, v) in enumerate(both_ways(graph)):
        assert rows[number] == naive.row(expected, u, v, encoding)
    rows = store.take_nodes(np.arange(graph.num_nodes))
    for node in range(graph.num_nodes):
        assert rows[node] == naive.row(expected, node, node, encoding)


@pytest.mark.parametrize("name", odd_shapes())
@pytest.mark.parametrize(
    "encoding",
    [SMALL, RootedEncoding(hops=(1, 2), parts=("degree", "joint", "colour"), nodes=True, max_nodes=12)],
    ids=["one radius", "two radii"],
)
def test_odd_shapes(tmp_path, name, encoding):
    graph = odd_shapes()[name]
    store = encode_graph(graph, encoding, tmp_path / "g.escr", block=5)
    blocks = [rows.dense() for _, rows in encoding.blocks(LeanGraph(graph.csr), 100)]
    expected = np.concatenate([np.zeros((0, encoding.num_bins), np.int32), *blocks])
    found = [store.take(np.arange(2 * graph.num_edges)).dense()]
    if encoding.nodes:
        found.append(store.take_nodes(np.arange(graph.num_nodes)).dense())
    assert_array_equal(np.concatenate(found), expected)
    assert len(store) == len(expected)
    assert store.encoding == encoding and store.bins == encoding.bins


PARTS_WITH_TWINS = ("degree", "node", "joint", "edge", "resistance", "wedge", "triangle", "path", "walk", "cycle")


def test_one_of_two_directions_is_kept_where_the_other_follows(tmp_path):
    graph = graphs.erdos_renyi(12, 0.4, seed=5)
    sizes = {}
    for name, encoding in {
        "all": RootedEncoding((1, 2), PARTS_WITH_TWINS, max_nodes=8, cycle_length=5),
        "edge": RootedEncoding(1, ("edge",)),
        "edge and colour": RootedEncoding(1, ("edge", "colour"), colour_bins=1),
    }.items():
        store = encode_graph(graph, encoding, tmp_path / "g.escr")
        rows = store.take(np.arange(2 * graph.num_edges))
        for number, (u, v) in enumerate(both_ways(graph)):
            assert rows[number] == encoding.row(graph, u, v)
        for i, end in enumerate(rows.length.cumsum()):
            assert (np.diff(rows.bin[end - rows.length[i] : end]) > 0).all()
        sizes[name] = store.nbytes
    assert sizes["edge and colour"] > 2 * sizes["edge"]


def test_any_order_repeats_and_threads(tmp_path):
    graph = graphs.barabasi_albert(3000, 3, seed=4)
    store = encode_graph(graph, SMALL, tmp_path / "g.escr")
    every = store.take(np.arange(2 * graph.num_edges)).dense()
    ids = np.random.default_rng(0).integers(2 * graph.num_edges, size=10_000)
    for threads in (1, 2, 5):
        assert_array_equal(store.take(ids, threads=threads).dense(), every[ids])
    assert store.take([]).length.size == 0
    assert_array_equal(store.take(np.array([7], np.uint8)).dense(), every[[7]])


def test_the_file_does_not_depend_on_the_blocks(tmp_path):
    graph = graphs.erdos_renyi(60, 0.1, seed=1)
    for block in (1, 7, 8, 1000):
        encode_graph(graph, SMALL, tmp_path / f"{block}.escr", block=block)
    assert len({path.read_bytes() for path in tmp_path.iterdir()}) == 1


def test_progress_counts_rows(tmp_path):
    told = []
    graph = graphs.cycle(10)
    encode_graph(graph, SMALL, tmp_path / "g.escr", block=4, progress=lambda *words: told.append(words))
    assert told == [(32, 80, ""), (64, 80, ""), (80, 80, "")]


@given(st.lists(st.dictionaries(st.integers(0, 2**20), st.integers(0, 2**31 - 1), max_size=8), max_size=20))
def test_bytes_are_those_of_the_naive_twin(rows):
    lengths = np.array([len(row) for row in rows], np.int32)
    bins = np.array([b for row in rows for b in sorted(row)], np.int32)
    counts = np.array([row[b] for row in rows for b in sorted(row)], np.int32)
    sizes = np.empty(len(rows), np.int64)
    content = np.empty(MOST_BYTES * (2 * bins.size + len(rows)), np.uint8)
    used = pack_rows(lengths, bins, counts, 1, sizes, content)
    expected = [naive_huge.packed_row(sorted(row), [row[b] for b in sorted(row)]) for row in rows]
    assert content[:used].tobytes() == b"".join(expected)
    assert sizes.tolist() == [*map(len, expected)]
    used = pack_rows(lengths, bins, counts, 2, sizes, content)
    assert content[:used].tobytes() == b"".join(expected[::2])
    assert sizes[: len(expected[::2])].tolist() == [*map(len, expected[::2])]


def test_large_counts_come_back(tmp_path):
    encoding = RootedEncoding(hops=1, parts=("walk",), walk_length=40)
    graph = graphs.complete(6)
    store = encode_graph(graph, encoding, tmp_path / "g.escr")
    rows = store.take([0])
    assert rows.count.max() == 2**31 - 1
    assert rows[0] == encoding.row(graph, 0, 1)


def test_rows_belong_to_a_graph(tmp_path):
    write_graph(graphs.cycle(6), tmp_path / "g.escg")
    graph = open_graph(tmp_path / "g.escg")
    store = encode_graph(graph, SMALL, tmp_path / "g.escr")
    store.check_graph(graph)
    store.check_graph(LeanGraph(graphs.cycle(6).csr))
    with pytest.raises(ValueError, match=r"rows: .*g\.escr was made of another graph, of 6 nodes and 6 edges"):
        store.check_graph(LeanGraph(graphs.circulant(6, 2).csr))


@pytest.mark.parametrize(
    ("ids", "message"),
    [
        ([8], "edge_ids: 8; expected numbers from 0 to 7"),
        ([-1], "edge_ids: -1; expected"),
        ([[0]], r"edge_ids: shape \(1, 1\)"),
        ([0.5], "dtype float64"),
    ],
)
def test_bad_ids_are_named(tmp_path, ids, message):
    store = encode_graph(graphs.cycle(4), SMALL, tmp_path / "g.escr")
    with pytest.raises(ValueError, match=message):
        store.take(ids)
    with pytest.raises(ValueError, match="has rows of edges only; encode with nodes=True"):
        store.take_nodes([0])


def test_damage_is_told_and_nothing_worse_happens(tmp_path):
    """Bytes of rows changed at random: an error that names the row, or other numbers, but never a number that is no bin."""
    path = tmp_path / "g.escr"
    graph = graphs.erdos_renyi(20, 0.3, seed=0)
    store = encode_graph(graph, SMALL, path)
    good = path.read_bytes()
    size = store.nbytes
    rng = np.random.default_rng(0)
    errors = 0
    for _ in range(300):
        content = bytearray(good)
        for place in rng.integers(PAGE, PAGE + size, size=3):
            content[place] = rng.integers(256)
        path.write_bytes(content)
        damaged = RowStore(path)
        try:
            rows = damaged.take(np.arange(2 * graph.num_edges))
            assert (rows.bin >= 0).all() and (rows.bin < SMALL.num_bins).all() and (rows.count >= 0).all()
        except ValueError as error:
            errors += 1
            assert "is damaged: row " in str(error)
    assert errors > 50
    with pytest.raises(ValueError, match=r"is damaged: (content|starts) is not what was written"):
        RowStore(path, check=True)
    path.write_bytes(good)
    RowStore(path, check=True)


def test_a_graph_is_no_row_store(tmp_path):
    write_graph(graphs.cycle(4), tmp_path / "g.escg")
    with pytest.raises(ValueError, match="holds a graph; expected a row store"):
        RowStore(tmp_path / "g.escg")
    encode_graph(graphs.cycle(4), SMALL, tmp_path / "g.escr")
    with pytest.raises(ValueError, match="holds a row store; expected a graph"):
        open_graph(tmp_path / "g.escr")
