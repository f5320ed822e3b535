"""The page of explanations: every row of a file, drawn, also in a browser."""

import numpy as np
import pytest
import torch
from rdkit import Chem
from typer.testing import CliRunner

from escgnn import depiction, explain
from escgnn.cli import app
from escgnn.datasets import load
from escgnn.training import fit, load_run, predict
from tests import browser
from tests.training.tiny import change

SMILES = ["CCO", "c1ccccc1O", "CC(=O)[O-]", "CC#N", "C1CCCCC1", "OCCO", "[2H]C", "C"] * 3


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    torch.set_num_threads(1)
    folder = tmp_path_factory.mktemp("molecules")
    kinds = ["acid", "base", "salt"]
    lines = [f"{text},{len(text)},{number % 2},{kinds[number % 3]}" for number, text in enumerate(SMILES)]
    (folder / "train.csv").write_text("\n".join(["smiles,weight,active,kind", *lines]))
    bundle = load(folder / "train.csv", targets=["weight", "active", "kind"])
    fit(bundle, change(epochs=1), folder / "run", progress=False)
    return load_run(folder / "run")


def test_every_row_is_there_or_says_why(run, tmp_path):
    source = tmp_path / "some.csv"
    source.write_text("name,smiles\na,CCO\nb,nonsense\nc,c1ccccc1\nd," + "C" * 501 + "\n")
    found = explain.explain_file(run, source, tmp_path / "page.html", steps=4)
    text = (tmp_path / "page.html").read_text()
    assert found.explained == 2
    assert [(row.line, row.reason) for row in found.rejected] == [
        (3, "not a SMILES string"),
        (5, "a molecule of 501 atoms; at most 500 are explained"),
    ]
    for words in ("Line 2", "Line 4", "weight: ", "active: probability", "not a SMILES string", "encoding, edge"):
        assert words in text
    assert "<script" not in text and "http" not in text.replace("http://www.w3.org", "")


def test_numbers_of_the_page_are_those_of_the_library(run, tmp_path):
    source = tmp_path / "some.smi"
    source.write_text("CCO\n")
    found = explain.Explanation(tmp_path / "page.html")
    (one,) = explain.explain_molecules(run, source, found, steps=8)
    graphs = explain.molecules.read_given(next(explain.molecules.GraphFile(source).rows(None)), "ogb").graphs
    torch.testing.assert_close(one.masked, explain.masked(run, graphs)[0])
    torch.testing.assert_close(one.prediction, predict(run, graphs)[0])
    assert one.masked.shape == (3, 5)
    assert explain.names_of(run.task) == ("weight", "active", "kind: acid", "kind: base", "kind: salt")
    explain.explain_file(run, source, tmp_path / "page.html", steps=8)
    assert f"O 3: {float(one.masked[2, 0]):+.3g}" in (tmp_path / "page.html").read_text()


def test_only_so_many_rows(run, tmp_path):
    source = tmp_path / "many.smi"
    source.write_text("C1\n" + "CO\n" * 5)
    found = explain.explain_file(run, source, tmp_path / "page.html", rows=3, steps=2)
    assert (found.explained, len(found.rejected), found.left_out) == (2, 1, 3)
    assert "3 further rows were not looked at" in (tmp_path / "page.html").read_text()


def test_what_is_refused(run, tmp_path):
    (tmp_path / "graphs.g6").write_text("A_\n")
    with pytest.raises(ValueError, match="holds bare graphs; expected molecules"):
        explain.explain_file(run, tmp_path / "graphs.g6", tmp_path / "page.html")
    with pytest.raises(ValueError, match=r"output: .*page.csv; expected a file that ends in .html"):
        explain.explain_file(run, tmp_path / "graphs.g6", tmp_path / "page.csv")
    assert not (tmp_path / "page.html").exists()


def test_command(run, tmp_path):
    done = CliRunner().invoke(app, ["explain", str(run.folder), "CC(=O)O", "-o", str(tmp_path / "page.html")])
    assert done.exit_code == 0, done.output
    assert "CC(=O)O" in (tmp_path / "page.html").read_text()


@pytest.mark.parametrize("width", [375, 1280])
def test_in_a_browser(run, tmp_path, width):
    (tmp_path / "some.smi").write_text("CC(=O)Oc1ccccc1C(=O)O\nC1\n" + "C" * 60 + "\n")
    explain.explain_file(run, tmp_path / "some.smi", tmp_path / "page.html", steps=2)
    found = browser.layout(tmp_path / "page.html", tmp_path, width)
    assert found.page <= width
    assert found.flat_charts == 0
    assert browser.pdf(tmp_path / "page.html", tmp_path).read_bytes().startswith(b"%PDF")


def test_a_drawing_has_every_atom_and_bond():
    drawn = depiction.molecule("C[N+](C)(C)CC#N name", "choline", [1.0, -1.0, 0.0, 0.0, np.nan, 0.5, 0.25])
    assert drawn.count("<circle") == 7
    assert drawn.count("<path") == 5 + 3
    assert "N+" in drawn and "N 2: -1" in drawn
    assert depiction.molecule("C", "methane").count("CH4") == 1
    with pytest.raises(ValueError, match="values: 1 of 2 atoms"):
        depiction.molecule("CC", "ethane", [1.0])
    with pytest.raises(ValueError, match="not a SMILES"):
        depiction.molecule("C1", "nothing")
    assert Chem.MolFromSmiles("c1ccccc1").GetNumBonds() * 2 == depiction.molecule("c1ccccc1", "benzene").count("<path")
