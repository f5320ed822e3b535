"""Training and predicting with an encoding that counts by the types of atoms and bonds."""

import csv

import pytest

from escgnn.datasets import load
from escgnn.training import fit, load_run, predict, predict_file, read_config

pytest.importorskip("rdkit")
SMILES = ["CCO", "c1ccccc1", "CC(=O)O", "CCN", "C1CCCCC1", "CC#N", "OCCO", "CCCC", "c1ccncc1", "CS", "N", "CCCl"] * 2
SETTINGS = [
    "transform.types=x,edge_attr",
    "transform.parts=degree,joint,edge,ring,colour",
    "transform.hops=1",
    "network.hidden=8",
    "network.layers=2",
    "epochs=1",
]


def test_from_a_table_to_predictions(tmp_path):
    lines = ["smiles,weight", *(f"{text},{len(text)}" for text in SMILES)]
    (tmp_path / "train.csv").write_text("\n".join(lines))
    bundle = load(tmp_path / "train.csv", targets=["weight"])
    config = read_config(overrides=SETTINGS, bundle=bundle)
    assert config.transform["types"] == ("x", "edge_attr")
    fit(bundle, config, tmp_path / "run", progress=False)
    run = load_run(tmp_path / "run")
    assert run.transform.types == ("x", "edge_attr") and ("joint", 0, 1, "t5") in run.transform.bins
    (tmp_path / "new.csv").write_text("smiles\nCCO\nnonsense\nc1ccccc1\n")
    predict_file(run, tmp_path / "new.csv", tmp_path / "out.csv")
    with (tmp_path / "out.csv").open(newline="") as stream:
        rows = [*csv.DictReader(stream)]
    assert [row["status"] for row in rows] == ["ok", "not a SMILES string", "ok"]
    expected = predict(run, bundle.graphs[[0, 1]])[:, 0].tolist()
    assert [float(rows[i]["pred_weight"]) for i in (0, 2)] == pytest.approx(expected, rel=1e-5)


def test_data_without_such_types_is_told(tmp_path):
    (tmp_path / "graphs.g6").write_text("Bw\nC~\nCF\nBw\nC~\nCF\nBw\nC~\nCF\nBw\n")
    (tmp_path / "labels.csv").write_text("\n".join(["graph,y", *(f"{i},{i % 3}.5" for i in range(10))]))
    bundle = load(tmp_path / "graphs.g6", targets=["y"], labels=tmp_path / "labels.csv")
    config = read_config(overrides=SETTINGS, bundle=bundle)
    with pytest.raises(ValueError, match="types: 'x', but the graph has no such attribute"):
        fit(bundle, config, tmp_path / "run", progress=False)
