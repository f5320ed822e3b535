"""The door for new parts: two toy ones come in from outside, as docs/encoding.md says, and the whole contract runs over them."""

import json
import pickle
from collections import Counter

import numpy as np
import pyarrow.parquet as pq
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from torch_geometric.data import Batch, Data

from escgnn import graphs
from escgnn.encoding import LARGEST_COUNT, PARTS, Bin, OwnPart, RootedEncoding, sources
from escgnn.jobs import encode_file
from escgnn.transforms import StructuralEncoding
from tests import naive
from tests.strategies import messy_graphs, odd_shapes, relabelled

FAR = 1000  # beyond any radius


class Leaf(OwnPart):
    """Needs the radius and the labels, and u and v change places in its bins."""

    name = "leaf"
    counts = "nodes that have one neighbour, by label"

    def bins(self, settings, labels):
        return [Bin("leaf", *label) for label in labels]

    def mirror(self, name):
        a, b = name.numbers
        return Bin("leaf", b, a)

    def count(self, graph, roots, settings, bins):
        number = {name: b for b, name in enumerate(bins)}
        counts = np.zeros((len(roots), len(bins)), np.int64)
        for row, root in zip(counts, roots, strict=True):
            labels = np.minimum([self.distances(graph, node) for node in root], settings.radius + 1)
            for w in np.flatnonzero((graph.degrees == 1) & (labels.min(0) <= settings.radius)):
                row[number["leaf", *labels[:, w].tolist()]] += 1
        return counts

    @staticmethod
    def distances(graph, start):
        distance = np.full(graph.num_nodes, FAR)
        distance[start] = 0
        edge = [start]
        while edge:
            found = {int(x) for w in edge for x in graph.neighbours(w) if distance[x] == FAR}
            distance[[*found]] = distance[edge[0]] + 1
            edge = [*found]
        return distance


class Slope(OwnPart):
    """Needs no radius, and knows no bin of (v, u) from one of (u, v)."""

    name = "slope"
    counts = "one, by the degrees of u and v, hashed"
    needs_radius = False

    def bins(self, settings, labels):
        return [Bin("slope", "hash", k) for k in range(5)]

    def mirror(self, name):
        return None

    def count(self, graph, roots, settings, bins):
        first, second = graph.degrees[roots].T
        return np.eye(5, dtype=np.int32)[(first + 2 * second) % 5]


def leaf_twin(rooted, encoding):
    leaves = [w for w in rooted.inside if rooted.graph.degree(w) == 1]
    return Counter(("leaf", *rooted.label[w]) for w in leaves)


def slope_twin(rooted, encoding):
    degree = rooted.graph.degree
    return Counter([("slope", "hash", (degree(rooted.u) + 2 * degree(rooted.v)) % 5)])


@pytest.fixture(autouse=True, scope="module")
def toys():
    """The rows in the table, and the twins; taken out again when the tests of this file are done."""
    PARTS["leaf"] = Leaf()
    PARTS["slope"] = Slope()
    naive.TWINS |= {"leaf": leaf_twin, "slope": slope_twin}
    naive.EVERYWHERE.add("slope")
    yield
    for name in ("leaf", "slope"):
        del PARTS[name], naive.TWINS[name]
    naive.EVERYWHERE.remove("slope")


OPTIONS = [
    {"hops": 1, "parts": ("leaf",)},
    {"hops": 2, "parts": ("slope", "joint", "leaf", "cycle")},
    {"hops": (2, 1), "parts": ("leaf", "cycle", "edge", "slope")},
    {"hops": (1, 3), "parts": ("slope",)},
    {"hops": 3, "parts": ("edge", "leaf", "colour"), "subgraph": "balls", "nodes": True},
]
ENCODINGS = st.sampled_from(OPTIONS).map(lambda options: RootedEncoding(**options))
few = settings(max_examples=30)


def every_row(rows):
    return [rows[i] for i in range(len(rows))]


@few
@given(messy_graphs(), ENCODINGS, st.data())
def test_equals_the_twin(graph, encoding, data):
    plain = graph.to_networkx()
    for (u, v), row in zip(graph.edge_index.T.tolist(), every_row(encoding.rows(graph)), strict=True):
        assert row == naive.row(plain, u, v, encoding)
    u, v = (data.draw(st.integers(0, graph.num_nodes - 1)) for _ in range(2))
    assert encoding.row(graph, u, v) == naive.row(plain, u, v, encoding)
    assert encoding.node_rows(graph)[u] == naive.row(plain, u, u, encoding)


@pytest.mark.parametrize("name", odd_shapes())
def test_odd_shapes(name):
    graph = odd_shapes()[name]
    for options in OPTIONS[1:3]:
        encoding = RootedEncoding(**options)
        rows = encoding.rows(graph)
        assert len(rows) == graph.edge_index.shape[1] and len(encoding.node_rows(graph)) == graph.num_nodes
        if len(rows):
            u, v = graph.edge_index[:, -1].tolist()
            assert rows[-1] == naive.row(graph.to_networkx(), u, v, encoding)


@few
@given(messy_graphs())
def test_reverse_edge_is_the_mirror_image(graph):
    encoding = RootedEncoding(2, ("leaf", "joint"))
    rows = dict(zip(map(tuple, graph.edge_index.T.tolist()), every_row(encoding.rows(graph)), strict=True))
    for (u, v), row in rows.items():
        assert rows[v, u] == {PARTS[name.part].mirror(name): count for name, count in row.items()}


@few
@given(relabelled(), ENCODINGS)
def test_invariant_under_relabelling(case, encoding):
    graph, order, columns, renamed = case
    before = every_row(encoding.rows(graph))
    assert every_row(encoding.rows(renamed)) == [before[column] for column in columns]
    assert_array_equal(encoding.node_rows(graph).dense(), encoding.node_rows(renamed).dense()[order])


@few
@given(st.lists(messy_graphs(), max_size=3), ENCODINGS)
def test_graphs_side_by_side_do_not_see_each_other(members, encoding):
    union = graphs.disjoint_union(members)
    assert every_row(encoding.rows(union)) == [row for member in members for row in every_row(encoding.rows(member))]


@pytest.mark.parametrize("options", OPTIONS)
def test_any_number_of_threads_gives_the_same_arrays(options, monkeypatch):
    monkeypatch.setattr(sources, "BUFFER", 1 << 12)  # so that few roots are several blocks
    graph = graphs.molecule_like(3, seed=1)
    encoding = RootedEncoding(**options)
    alone, together = encoding.rows(graph, threads=1), encoding.rows(graph, threads=3)
    for field in ("length", "bin", "count"):
        assert_array_equal(getattr(alone, field), getattr(together, field))
        assert getattr(alone, field).dtype == np.int32


@few
@given(messy_graphs(), ENCODINGS, st.integers(1, 5))
def test_pairs_and_blocks_agree_with_rows(graph, encoding, size):
    assert every_row(encoding.pairs(graph, graph.edge_index.T)) == every_row(encoding.rows(graph))
    for roots, rows in encoding.blocks(graph, size):
        assert every_row(rows) == [encoding.row(graph, u, v) for u, v in roots.tolist()]
        ends = np.cumsum(rows.length)
        assert all((np.diff(bins) > 0).all() for bins in np.split(rows.bin, ends[:-1]))


def test_bins_are_in_the_order_of_the_parts():
    encoding = RootedEncoding(1, ("slope", "joint", "leaf"), max_nodes=4)
    assert list(dict.fromkeys(name.part for name in encoding.bins)) == ["slope", "joint", "leaf", "clipped"]
    several = RootedEncoding((2, 1), ("slope", "leaf"))
    assert list(dict.fromkeys((name.radius, name.part) for name in several.bins)) == [
        (2, "leaf"),
        (1, "leaf"),
        (None, "slope"),
    ]
    assert several.pair_bins[: several.num_bins] == several.bins
    assert eval(repr(several)).bins == several.bins


def test_clipped_roots_are_named_beside_it():
    encoding = RootedEncoding(2, ("slope",), max_nodes=3)
    graph = graphs.star(5)
    assert encoding.row(graph, 0, 1) == {("slope", "hash", 2): 1, ("clipped", 0): 1}


def test_a_table_of_encodings(tmp_path):
    (tmp_path / "in.g6").write_text("Bw\nC~\nCF\n")
    encoding = RootedEncoding((1, 2), ("leaf", "edge", "slope"))
    encode_file(tmp_path / "in.g6", tmp_path / "out.parquet", encoding)
    table = pq.read_table(tmp_path / "out.parquet")
    names = json.loads(table.schema.metadata[b"bins"])
    assert [tuple(name) for name in names] == [*encoding.bins]
    graph = graphs.disjoint_union([graphs.complete(3), graphs.complete(4), graphs.star(3)])
    written = table.to_pylist()
    assert len(written) == graph.edge_index.shape[1]
    last = {tuple(names[b]): count for b, count in zip(written[-1]["bins"], written[-1]["counts"], strict=True)}
    star = graphs.from_edges([(3, 0), (3, 1), (3, 2)], 4)
    assert last == encoding.row(star, written[-1]["source"], written[-1]["target"])


def test_as_a_transform():
    encoding = StructuralEncoding((1, 2), ("leaf", "edge", "slope"), nodes=True)
    members = [graphs.star(3), graphs.empty(2), graphs.petersen()]
    data = [Data(edge_index=torch.from_numpy(g.edge_index), num_nodes=g.num_nodes) for g in members]
    at_once = encoding(Batch.from_data_list(data))
    one_by_one = Batch.from_data_list([encoding(d) for d in data])
    for key in ("esc_len", "esc_bin", "esc_count", "esc_node_len", "esc_node_bin", "esc_node_count"):
        assert torch.equal(at_once[key], one_by_one[key])
    again = pickle.loads(pickle.dumps(encoding))
    assert torch.equal(again(data[0]).esc_bin, encoding(data[0]).esc_bin)


class Wrong(Slope):
    name = "wrong"

    def __init__(self, given):
        self.given = given

    def bins(self, settings, labels):
        return [Bin("wrong", 0)]

    def count(self, graph, roots, settings, bins):
        return np.full((len(roots), 1), self.given) if self.given is not None else np.zeros((len(roots), 2), np.int64)


@pytest.mark.parametrize(
    ("given", "message"),
    [(None, r"shape \(3, 2\)"), (0.5, "dtype float64"), (-1, "expected integers from 0 on, \\(3, 1\\)")],
)
def test_what_cannot_be_counts_is_refused(monkeypatch, given, message):
    monkeypatch.setitem(PARTS, "wrong", Wrong(given))
    with pytest.raises(ValueError, match=f"wrong: its counts.*{message}"):
        RootedEncoding(1, ("wrong",)).rows(graphs.star(3))


def test_large_counts_saturate(monkeypatch):
    monkeypatch.setitem(PARTS, "wrong", Wrong(2**40))
    assert RootedEncoding(1, ("wrong",)).row(graphs.star(3), 0, 1) == {("wrong", 0): LARGEST_COUNT}


def test_unknown_parts_are_named_with_those_that_there_are():
    with pytest.raises(
        ValueError, match=r"unknown part 'leaves'; expected some of degree, .*, colour, alike, leaf, slope"
    ):
        RootedEncoding(1, ("leaves",))
