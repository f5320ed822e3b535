"""Texts into arrays: as fast twins of one graph at a time, and the same graphs for every command."""

import tempfile
from pathlib import Path

import networkx as nx
import numpy as np
import pyarrow.parquet as pq
from hypothesis import given
from hypothesis import strategies as st

from escgnn import datasets
from escgnn.encoding import RootedEncoding
from escgnn.graphs.graph6 import decode
from escgnn.jobs import count_file, encode_file
from escgnn.readers import bonds, count_within, parse, parse_graph6, parse_smiles

PIECES = ["C", "[2H]", "c1ccccc1", "O=C", "[Na+].", "N#", "C(", "1", "", "[H][H]", "*", "C1CC1", "é", "F/C=C/"]


def one_by_one(texts):
    """The slow twin: graphs and reasons, by number."""
    graphs, reasons = {}, {}
    for number, text in enumerate(texts):
        try:
            molecule = parse(text)
            graphs[number] = (molecule.GetNumAtoms(), sorted(tuple(sorted(pair)) for pair in bonds(molecule)))
        except ValueError as error:
            reasons[number] = str(error)
    return graphs, reasons


def plain(parsed):
    ends = np.cumsum(parsed.num_edges)
    edges = [sorted(map(tuple, np.sort(part, axis=1).tolist())) for part in np.split(parsed.edges, ends[:-1])]
    assert parsed.edges.shape == (parsed.num_edges.sum(), 2)
    graphs = zip(parsed.good.tolist(), parsed.num_nodes.tolist(), edges, strict=False)
    return {number: (size, pairs) for number, size, pairs in graphs}, dict(parsed.reasons)


texts = st.lists(st.lists(st.sampled_from(PIECES), max_size=6).map("".join), max_size=12)


@given(texts)
def test_molecules_at_once_are_molecules_one_by_one(texts):
    assert plain(parse_smiles(texts)) == one_by_one(texts)


def test_features_do_not_change_the_graph():
    texts = ["[2H]C", "C1CC", "c1ccccc1[N+](=O)[O-]", "[Na+].[Cl-]", "C" * 300]
    assert plain(datasets.parse_molecules(texts, "ogb")) == plain(parse_smiles(texts))


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), max_size=12))
def test_sparse6_is_a_simple_graph(pairs):
    """Loops and repeated edges leave no trace, and edges come in their order, as those of graph6 do."""
    graph = nx.MultiGraph(pairs)
    graph.add_nodes_from(range(6))
    ordered = nx.MultiGraph()
    ordered.add_nodes_from(range(6))
    ordered.add_edges_from(graph.edges())
    line = nx.to_sparse6_bytes(ordered, header=True).decode()
    parsed = parse_graph6([line, "?~", nx.to_graph6_bytes(nx.Graph(ordered.edges()), header=False).decode()])
    expected = sorted({(min(pair), max(pair)) for pair in pairs if pair[0] != pair[1]})
    assert parsed.edges[: parsed.num_edges[0]].tolist() == [list(pair) for pair in expected]
    assert [*parsed.reasons] == [1]


def test_graph6_is_sorted_and_simple_by_itself():
    for seed in range(20):
        size, edges = decode(nx.to_graph6_bytes(nx.gnp_random_graph(12, 0.5, seed=seed), header=False))
        assert size == 12 and edges.tolist() == sorted(edges.tolist()) and (edges[:, 0] < edges[:, 1]).all()


@given(st.lists(st.integers(0, 4)))
def test_numbers_within_groups(sizes):
    assert count_within(np.array(sizes, np.int64)).tolist() == [i for size in sizes for i in range(size)]


def test_one_graph_of_a_smiles():
    """Encoding, counting and learning see the same nodes, isotopes of hydrogen among them."""
    texts = ["[2H]C", "[2H]OC([H])C", "[H]C", "*C", "[H][H]"]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "in.csv").write_text("smiles,y\n" + "".join(f"{text},{i}\n" for i, text in enumerate(texts)))
        encode_file(folder / "in.csv", folder / "encoded.parquet", RootedEncoding(1, ("node",), nodes=True))
        count_file(folder / "in.csv", folder / "counted.parquet", "2-path", per="node")
        encoded, counted = (pq.read_table(folder / f"{what}.parquet") for what in ("encoded", "counted"))
        sizes = datasets.load(folder / "in.csv", targets=["y"]).graphs.num_nodes.tolist()
    assert sizes == [2, 4, 1, 2]
    assert np.bincount(counted["graph"]).tolist() == sizes
    loops = encoded.filter(np.equal(encoded["source"], encoded["target"]))
    assert np.bincount(loops["graph"]).tolist() == sizes
