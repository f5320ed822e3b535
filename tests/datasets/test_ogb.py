import gzip
from dataclasses import replace

import numpy as np
import pytest

from escgnn import datasets

TABLES = {
    "raw/num-node-list": "2\n3\n1\n",
    "raw/num-edge-list": "1\n2\n0\n",
    "raw/node-feat": "5,0,4,5,3,0,2,0,0\n" * 6,
    "raw/edge": "0,1\n0,1\n1,2\n",
    "raw/edge-feat": "0,0,0\n1,0,0\n0,0,1\n",
    "raw/graph-label": "".join(f"{first}{',' * 127}\n" for first in ("1", "", "0")),
    "split/scaffold/train": "2\n0\n",
    "split/scaffold/valid": "1\n",
    "split/scaffold/test": "1\n",
}


@pytest.fixture
def molpcba(tmp_path):
    """Three molecules in the layout of ogbg-molpcba, most of whose labels are unknown."""
    for name, text in TABLES.items():
        path = tmp_path / f"ogbg_molpcba/{name}.csv.gz"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(gzip.compress(text.encode()))
    return tmp_path


def test_labels_may_be_unknown(molpcba):
    bundle = datasets.load("ogbg-molpcba", root=molpcba)
    y = bundle.graphs.column("y").numpy()
    assert y.shape == (3, 128)
    assert np.array_equal(y[:, 0], [1, np.nan, 0], equal_nan=True)
    assert np.isnan(y[:, 1:]).all()
    assert bundle.statistics.targets["assay-0"].mean == 0.5
    assert np.isnan(bundle.statistics.targets["assay-1"].mean)
    assert bundle.split.train.tolist() == [2, 0]


def test_edges_go_both_ways(molpcba):
    data = datasets.load("ogbg-molpcba", root=molpcba).graphs[1]
    assert data.edge_index.tolist() == [[0, 1, 1, 2], [1, 0, 2, 1]]
    assert data.edge_attr.tolist() == [[1, 0, 0], [1, 0, 0], [0, 0, 1], [0, 0, 1]]


def test_a_split_that_names_no_graph(molpcba):
    (molpcba / "ogbg_molpcba/split/scaffold/test.csv.gz").write_bytes(gzip.compress(b"3\n"))
    with pytest.raises(ValueError, match="test: it names a graph that does not exist; there are 3"):
        datasets.load("ogbg-molpcba", root=molpcba)


SMILES = "assay-0,smiles,mol_id\n1,CO,a\n,CCO,b\n0,C(C)(C)(C)(C)C,c\n"


@pytest.fixture
def with_smiles(molpcba):
    """The same with the texts of the molecules, the last of which RDKit refuses."""
    (molpcba / "ogbg_molpcba/mapping").mkdir()
    (molpcba / "ogbg_molpcba/mapping/mol.csv.gz").write_bytes(gzip.compress(SMILES.encode()))
    return molpcba


def test_molecules_may_come_with_their_smiles(molpcba, with_smiles):
    bundle = datasets.load("ogbg-molpcba", root=with_smiles)
    assert bundle.texts == ("CO", "CCO", "C(C)(C)(C)(C)C")
    assert bundle.texts_of("train") == ["C(C)(C)(C)(C)C", "CO"]
    assert not bundle.descriptors.width and "descriptors" not in bundle.features


def test_descriptors_of_a_benchmark(with_smiles):
    chosen = ["morgan-count", "maccs", "rdkit"]
    bundle = datasets.load("ogbg-molpcba", root=with_smiles, descriptors=chosen)
    numbers = bundle.graphs.column("descriptors").numpy()
    assert np.isnan(numbers[2]).all()  # of the molecule that is none
    assert np.array_equal(numbers[:2], bundle.descriptors.of(["CO", "CCO"]), equal_nan=True)
    assert bundle.descriptors.chosen_by == chosen
    assert bundle.features["descriptors"].sizes == (bundle.descriptors.width,)


def test_descriptors_behind_a_molecule_that_is_none(with_smiles):
    bundle = datasets.load("ogbg-molpcba", root=with_smiles)
    mixed = replace(bundle, texts=("CO", "", "CCO")).described(["maccs"])
    numbers = mixed.graphs.column("descriptors").numpy()
    assert np.isnan(numbers).all(1).tolist() == [False, True, False]
    assert np.array_equal(numbers[[0, 2]], mixed.descriptors.of(["CO", "CCO"]))


def test_texts_are_those_of_all_graphs(with_smiles):
    bundle = datasets.load("ogbg-molpcba", root=with_smiles)
    with pytest.raises(ValueError, match="texts: 2 for 3 graphs"):
        replace(bundle, texts=bundle.texts[:2])
    with pytest.raises(ValueError, match="descriptors: ogbg-molpcba has no SMILES that they could be made of"):
        replace(bundle, texts=()).described(["maccs"])


def test_descriptors_that_a_benchmark_cannot_have(molpcba, with_smiles):
    with pytest.raises(ValueError, match="descriptors: 'dose'; ogbg-molpcba has no columns"):
        datasets.load("ogbg-molpcba", root=molpcba, descriptors=["maccs", "dose"])
    (molpcba / "ogbg_molpcba/mapping/mol.csv.gz").write_bytes(gzip.compress(b"smiles\nCO\nCC\n"))
    with pytest.raises(ValueError, match=r"mol\.csv\.gz has 2 molecules for 3 graphs"):
        datasets.load("ogbg-molpcba", root=molpcba)
    (molpcba / "ogbg_molpcba/mapping/mol.csv.gz").write_bytes(gzip.compress(b"text\nCO\nCC\nCN\n"))
    with pytest.raises(ValueError, match=r"mol\.csv\.gz has no column 'smiles'"):
        datasets.load("ogbg-molpcba", root=molpcba)
    (molpcba / "ogbg_molpcba/mapping/mol.csv.gz").unlink()
    with pytest.raises(ValueError, match=r"ogbg-molpcba is here without the SMILES .* put mapping/mol\.csv\.gz of"):
        datasets.load("ogbg-molpcba", root=molpcba, descriptors=["maccs"])
    assert datasets.load("ogbg-molpcba", root=molpcba).texts == ()
