"""Numbers beside the graph: RDKit's own, the user's columns, and what becomes of those that are unknown."""

from dataclasses import asdict

import numpy as np
import pytest
from rdkit import Chem
from rdkit.Chem import Descriptors as Known
from rdkit.Chem import MACCSkeys, rdFingerprintGenerator

from escgnn import datasets
from escgnn.datasets import Descriptors, fingerprints, grouped_folds
from escgnn.datasets.bundle import read, save

SMILES = ["CCO", "c1ccccc1O", "CC(=O)N", "[Na+].[Cl-]", "C1CCCCC1", "CC#N"]


@pytest.fixture
def table(tmp_path):
    cells = ["1.5", "NA", "word", "1e999", "-3", ""]
    lines = [f"{text},{number},{cell}" for number, (text, cell) in enumerate(zip(SMILES, cells, strict=True))]
    (tmp_path / "in.csv").write_text("\n".join(["smiles,y,Assay", *lines, "C1CC,7,1"]))
    return tmp_path / "in.csv"


def test_they_are_what_rdkit_says():
    chosen = Descriptors.chosen(["rdkit", "morgan-count"])
    found = chosen.of(SMILES)
    assert found.shape == (6, chosen.width) and len(chosen.names) == chosen.width
    generator = rdFingerprintGenerator.GetMorganGenerator(radius=2, fpSize=1024)
    for row, text in zip(found, SMILES, strict=True):
        molecule = Chem.MolFromSmiles(text)
        np.testing.assert_array_equal(row[:1024], generator.GetCountFingerprintAsNumPy(molecule))
        expected = [Known.CalcMolDescriptors(molecule)[name] for name in chosen.rdkit]
        known = np.isfinite(row[1024:])
        np.testing.assert_allclose(row[1024:][known], np.array(expected, float)[known], rtol=1e-6)
        assert known.mean() > 0.9


def test_fingerprints_stand_in_one_order_whatever_was_asked_for():
    chosen = Descriptors.chosen(["maccs", "dose", "atom-pair-count", "feature-morgan-count"])
    assert chosen.chosen_by == ["feature-morgan-count", "atom-pair-count", "maccs", "dose"]
    assert chosen == Descriptors.read(asdict(chosen)) and chosen.width == 2 * 1024 + 167 + 1
    assert [chosen.names[place] for place in (0, 1024, 2048, -1)] == [
        "feature morgan 0",
        "atom pairs 0",
        "maccs 0",
        "dose",
    ]
    found = chosen.of(SMILES, {"dose": range(6)})
    kinds = rdFingerprintGenerator.GetMorganFeatureAtomInvGen()
    functional = rdFingerprintGenerator.GetMorganGenerator(radius=2, fpSize=1024, atomInvariantsGenerator=kinds)
    pairs = rdFingerprintGenerator.GetAtomPairGenerator(fpSize=1024)
    for number, (row, text) in enumerate(zip(found, SMILES, strict=True)):
        molecule = Chem.MolFromSmiles(text)
        keys = [*MACCSkeys.GenMACCSKeys(molecule)]
        counts = [generator.GetCountFingerprintAsNumPy(molecule) for generator in (functional, pairs)]
        np.testing.assert_array_equal(row, np.concatenate([*counts, keys, [number]]))


def test_columns_and_what_is_no_number(table, tmp_path):
    bundle = datasets.load(table, targets=["y"], descriptors=["Assay", "morgan-count"], split="80/10/10")
    numbers = bundle.graphs.column("descriptors").numpy()
    assert numbers.shape == (6, 1025) and bundle.features["descriptors"].sizes == (1025,)
    np.testing.assert_array_equal(numbers[:, -1], np.array([1.5, np.nan, np.nan, np.nan, -3, np.nan], np.float32))
    assert bundle.texts == tuple(SMILES) and len(bundle.rejected) == 1
    assert bundle.texts_of("train") == [SMILES[number] for number in bundle.split.train]
    save(bundle, tmp_path)
    again = read(tmp_path)
    assert (again.texts, again.descriptors) == (bundle.texts, bundle.descriptors)


def test_a_molecule_without_end_has_unknown_ones():
    chosen = Descriptors(rdkit=("MolWt",))
    assert np.isnan(chosen.of(["C" * 600, "CC"])).tolist() == [[True], [False]]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"descriptors": ["y"]}, "'y' is a target"),
        ({"descriptors": ["rdkit", "rdkit"]}, "expected a list of morgan-count, .*, rdkit and columns, each once"),
        ({"descriptors": ["Morgan-Counts"]}, "did you mean 'morgan-count'"),
        ({"descriptors": ["nothing"]}, "nothing"),
        ({"folds": 2}, "folds: 2 by 'random'; expected 3 or more"),
        ({"folds": 3, "split": "column:Assay"}, "expected 3 or more, by a random split or by scaffolds"),
        ({"folds": 7}, "folds: 7, but only 6 rows"),
        ({"folds": 4, "split": "scaffold"}, "folds: 4, but there are only 3 groups"),
    ],
)
def test_what_cannot_be_is_told(table, options, message):
    with pytest.raises(ValueError, match=message):
        datasets.load(table, targets=["y"], **options)


def test_a_column_without_numbers_is_told(tmp_path):
    (tmp_path / "in.csv").write_text("smiles,y,note\nCC,1,good\nCO,2,bad\n")
    with pytest.raises(ValueError, match="descriptors: the column note holds no numbers"):
        datasets.load(tmp_path / "in.csv", targets=["y"], descriptors=["note"])


def test_rdkit_of_another_version():
    with pytest.raises(ValueError, match="this RDKit has no 'Smell'; use the version"):
        Descriptors(rdkit=("Smell",)).of(["C"])
    with pytest.raises(ValueError, match="expected a number of bins, and names"):
        Descriptors.read({"morgan": "many"})
    with pytest.raises(ValueError, match="expected a number of bins, and names"):
        Descriptors.read({"maccs": 200})


def test_bare_graphs_have_none(tmp_path):
    (tmp_path / "graphs.g6").write_text("Bw\nCl\n")
    (tmp_path / "labels.csv").write_text("graph,y,size\n0,1,3\n1,2,4\n")
    options = {"targets": ["y"], "labels": tmp_path / "labels.csv"}
    with pytest.raises(ValueError, match="descriptors: they are of molecules"):
        datasets.load(tmp_path / "graphs.g6", descriptors=["rdkit"], **options)
    bundle = datasets.load(tmp_path / "graphs.g6", descriptors=["size"], **options)
    assert bundle.graphs.column("descriptors").tolist() == [[3], [4]] and not bundle.texts


def test_fingerprints():
    generator = rdFingerprintGenerator.GetMorganGenerator(radius=2, fpSize=2048)
    found = np.unpackbits(fingerprints([*SMILES, "C1CC"]), axis=1)
    for row, text in zip(found, SMILES, strict=False):
        np.testing.assert_array_equal(row, generator.GetFingerprintAsNumPy(Chem.MolFromSmiles(text)))
    assert not found[-1].any()


def test_folds_of_a_table(table):
    bundle = datasets.load(table, targets=["y"], folds=3)
    assert bundle.split is None and sorted(np.concatenate([fold.test for fold in bundle.folds])) == [*range(6)]


def test_folds_by_groups_keep_them_together():
    rng = np.random.default_rng(0)
    groups = rng.integers(0, 12, 100)
    folds = grouped_folds([str(group) for group in groups], 4)
    assert sorted(np.concatenate([fold.test for fold in folds])) == [*range(100)]
    for fold in folds:
        parts = [{*groups[part]} for part in fold]
        assert sum(map(len, parts)) == len(set.union(*parts)) == len({*groups})
        assert 15 <= len(fold.test) <= 35
