"""Texts and graphs as people give them, good and hostile ones."""

import networkx as nx
import numpy as np
import pytest

from escgnn import graphs
from escgnn.explorer import Server, read, read_file
from escgnn.explorer.reading import MOST_EDGES, MOST_NODES, moved


def edges(subject):
    return [(subject.names[u], subject.names[v]) for u, v in subject.graph.edges.tolist()]


@pytest.mark.parametrize(
    ("text", "kind", "found"),
    [
        ("0-1 1-2", "auto", [("0", "1"), ("1", "2")]),
        ("0 1\n1 2\n", "auto", [("0", "1"), ("1", "2")]),
        ("10-9, 9-2; 2-10", "auto", [("2", "9"), ("2", "10"), ("9", "10")]),
        ("a b, b c, lone", "edges", [("a", "b"), ("b", "c")]),
        ("a - b", "edges", [("a", "b")]),
        ("5-5 5-6 6-5", "edges", [("5", "6")]),
        (">>graph6<<Bw", "auto", [("0", "1"), ("0", "2"), ("1", "2")]),
        ("Bw", "graph6", [("0", "1"), ("0", "2"), ("1", "2")]),
        ("CCO ethanol", "auto", [("C", "C"), ("C", "O")]),
        ("[NH4+]", "smiles", []),
    ],
)
def test_texts(text, kind, found):
    assert edges(read(text, kind)) == found


def test_a_molecule_has_symbols_and_bonds():
    subject = read("C[N+](=O)[O-]")
    assert subject.names == ("C", "N+", "O", "O-")
    assert subject.orders == (1.0, 2.0, 1.0)
    assert subject.smiles == "C[N+](=O)[O-]"
    assert set(read("c1ccccc1").orders) == {1.5}


@pytest.mark.parametrize(
    ("text", "kind", "complaint"),
    [
        ("", "auto", "the text is empty"),
        ("C1CC", "auto", "not a SMILES string"),
        ("0-1-2", "edges", "edges: '0-1-2'; expected two names"),
        ("0 1 2", "auto", "expected two names"),
        ("0-1", "json", "kind: 'json'; expected one of auto, smiles"),
        ("x" * 200_000, "auto", "200,000 letters; at most 100,000"),
        (
            " ".join(f"{i}-{i + 1}" for i in range(5000)),
            "edges",
            "5,001 nodes and 5,000 edges; the explorer draws at most",
        ),
        ("~??~" + "?" * 3, "graph6", "graph6"),
        ("C" * 500, "smiles", "500 nodes and 499 edges"),
        ("-", "edges", "expected two names"),
    ],
)
def test_what_cannot_be_read_is_told(text, kind, complaint):
    with pytest.raises(ValueError, match=complaint):
        read(text, kind)


def test_a_hundred_thousand_nodes_are_told_before_anything_is_drawn():
    with pytest.raises(ValueError, match=f"100,000 nodes and 0 edges; the explorer draws at most {MOST_NODES}"):
        read(graphs.empty(100_000))
    with pytest.raises(ValueError, match=f"at most {MOST_NODES} and {MOST_EDGES:,}"):
        read(graphs.complete(100))
    with pytest.raises(ValueError, match="it has no nodes"):
        read(graphs.empty(0))


def test_spaces_without_end_are_read_quickly():
    with pytest.raises(ValueError, match="expected two names"):
        read("0" + " " * 50_000 + "1" + " " * 40_000 + "2", "edges")


def test_networkx_nodes_keep_their_names():
    plain = nx.Graph([("<script>alert(1)</script>", "b" * 50)])
    first, second = read(plain).names
    assert first == "<script>alert(1)</scrip…"
    assert len(second) == 24


def test_without_rdkit_texts_are_graph6(monkeypatch):
    def missing(text):
        raise ImportError("reading molecules needs RDKit: pip install 'escgnn[chem]'")

    monkeypatch.setattr("escgnn.explorer.reading.parse", missing)
    assert read("Cl").graph.num_edges == 4
    assert read("0-1").graph.num_edges == 1
    with pytest.raises(ImportError, match="needs RDKit"):
        read("CCO", "smiles")
    monkeypatch.setattr("escgnn.explorer.server.ThreadingHTTPServer", _Nothing)
    assert Server().subject.title == "0-1 1-2 2-0 2-3"


class _Nothing:
    server_address = ("127.0.0.1", 1)

    def __init__(self, *_):
        pass


def test_points_can_be_given():
    subject = moved(read("0-1"), [[0.1, 0.2], [3, -1]])
    assert subject.points.tolist() == [[0.1, 0.2], [1, 0]]
    with pytest.raises(ValueError, match="two finite numbers"):
        moved(read("0-1"), [[0.1, 0.2], [np.nan, 0]])
    with pytest.raises(ValueError, match="two finite numbers"):
        moved(read("0-1"), [[0.1, 0.2]])


def test_files(tmp_path):
    (tmp_path / "a.smi").write_text("CCO\nCCN amine\n")
    (tmp_path / "b.csv").write_text("graph,source,target\nx,0,1\ny,4,5\ny,5,6\n")
    (tmp_path / "c.g6").write_text("Bw\nC~\n")
    assert read_file(tmp_path / "a.smi", 1).names == ("C", "C", "N")
    assert read_file(tmp_path / "b.csv", 1).graph.num_nodes == 3
    assert read_file(tmp_path / "c.g6", 1).graph.num_edges == 6
    for name, count in (("a.smi", 2), ("b.csv", 2), ("c.g6", 2)):
        with pytest.raises(ValueError, match=f"row: {count}; .* has fewer graphs"):
            read_file(tmp_path / name, count)
