"""Molecules of files, encoded by the types of their atoms and bonds."""

import json

import numpy as np
import pyarrow.parquet as pq
import pytest

from escgnn import graphs
from escgnn.datasets import smiles_to_graph
from escgnn.encoding import RootedEncoding, types_of
from escgnn.engines import LocalEngine
from escgnn.jobs import encode_file, long

pytest.importorskip("rdkit")
SMILES = ["CCO", "nonsense", "c1ccncc1", "C", "CC(=O)Oc1ccccc1", "[Na+].[Cl-]", "C1CC1=O"]
ENCODING = RootedEncoding(2, ("degree", "joint", "edge", "ring", "colour"), types=("x:0+4", "edge_attr"), nodes=True)


def typed(text):
    found = smiles_to_graph(text)
    columns = np.concatenate([found.edges, found.edges[:, ::-1]]).T
    bonds = types_of(found.edge_attr, "edge_attr")
    return graphs.from_edge_index(columns, len(found.x)).typed(types_of(found.x, "x:0+4"), np.tile(bonds, 2))


def check(path):
    table = pq.read_table(path)
    names = json.loads(table.schema.metadata[b"bins"])
    assert [tuple(name) for name in names] == [*ENCODING.bins]
    molecules = {number: typed(text) for number, text in enumerate(SMILES) if text != "nonsense"}
    for row in table.to_pylist():
        counted = {tuple(names[b]): count for b, count in zip(row["bins"], row["counts"], strict=True)}
        assert counted == ENCODING.row(molecules[row["graph"]], row["source"], row["target"])
    assert table.num_rows == sum(graph.arc.size + graph.num_nodes for graph in molecules.values())


def test_every_edge_of_every_molecule(tmp_path):
    (tmp_path / "in.csv").write_text("\n".join(["smiles", *SMILES]))
    summary = encode_file(tmp_path / "in.csv", tmp_path / "out.parquet", ENCODING)
    assert (summary.graphs, summary.rejected) == (6, 1)
    check(tmp_path / "out.parquet")


def test_molecules_that_are_worked_on_alone_keep_their_types(tmp_path, monkeypatch):
    monkeypatch.setattr(long, "long_ones", lambda steps, seconds: [1, 3])
    (tmp_path / "in.smi").write_text("\n".join(SMILES))
    encode_file(tmp_path / "in.smi", tmp_path / "out.parquet", ENCODING, engine=LocalEngine())
    check(tmp_path / "out.parquet")


def test_what_has_no_types_is_refused(tmp_path):
    (tmp_path / "in.g6").write_text("Bw\n")
    with pytest.raises(ValueError, match=r"types: .* but the graph has none"):
        encode_file(tmp_path / "in.g6", tmp_path / "out.parquet", ENCODING)
    (tmp_path / "in.smi").write_text("CCO\n")
    with pytest.raises(ValueError, match="types: 'charge'; molecules have x, edge_attr"):
        encode_file(tmp_path / "in.smi", tmp_path / "out.parquet", RootedEncoding(1, types=("charge",)))
    assert not (tmp_path / "out.parquet").exists()
