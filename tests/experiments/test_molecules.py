"""Networks and trees together on ogbg-molhiv."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from escgnn import baseline, datasets
from escgnn.experiments import molecules, trained
from escgnn.training import Ensemble, load_run, neighbours, table_options

TREES = {"descriptors": ["maccs"], "number": 3, "leaf": 2}


@pytest.fixture(scope="module")
def cell():
    (full,) = (one for one in molecules.EXPERIMENT.cells("smoke", 1) if one.row == molecules.WITH_TREES)
    return replace(full, settings={**full.settings, "members": 2, "graphs": 200, "trees": TREES})


def test_its_networks_are_those_of_the_row_of_single_ones(cell):
    alone = [
        one
        for one in molecules.EXPERIMENT.cells("smoke", 3)
        if (one.row, one.variant) == (molecules.OURS, "ogbg-molhiv")
    ]
    (full,) = (one for one in molecules.EXPERIMENT.cells("smoke", 3) if one.row == molecules.WITH_TREES)
    assert full.members(molecules.OURS) == alone and len(alone) == 3
    assert all("trees" not in one.settings for one in cell.members(molecules.OURS))


def test_the_average_is_that_of_networks_and_trees(cell, tmp_path, benchmark_data):
    found = molecules.EXPERIMENT.run(cell, tmp_path / cell.folder, False)
    bundle = trained.bundle_of(cell.settings)
    folders = [tmp_path / one.folder for one in cell.members(molecules.OURS)]
    networks = Ensemble(tmp_path, tuple(load_run(folder) for folder in folders))
    again = baseline.fit_baseline(bundle.described(["maccs"]), beside=networks, trees=3, leaf=2)
    scores = again.scores["average"]
    assert found.values == {"tab:mol, OGBG-HIV": {"ogbg-molhiv": pytest.approx(100 * scores["test"])}}
    assert found.validation == {"ogbg-molhiv": pytest.approx(100 * scores["validation"])}
    assert found.note.startswith(f"{again.weight:.2f} of the networks; the {again.chosen} alone: test ")
    assert found.config["members"] == 2 and found.seconds > 0


def test_some_of_the_graphs_keep_their_own_smiles(benchmark_data):
    bundle = datasets.load("ogbg-molhiv")
    few = trained.cut(bundle, 5)
    for subset in ("train", "validation", "test"):
        assert few.texts_of(subset) == bundle.texts_of(subset)[:5]
    numbers = few.described(["maccs"]).train.column("descriptors").numpy()
    assert np.array_equal(numbers, few.descriptors.chosen(["maccs"]).of(bundle.texts_of("train")[:5]), equal_nan=True)


def test_a_benchmark_is_read_with_the_descriptors_of_its_network(benchmark_data):
    bundle = trained.cut(datasets.load("ogbg-molhiv"), 5)
    for chosen in ([], ["maccs"]):
        run = SimpleNamespace(descriptors=bundle.descriptors.chosen(chosen))
        assert table_options(run, "ogbg-molhiv") == ({"descriptors": chosen} if chosen else {})


def test_molecules_can_be_learnt_without_rdkit(tmp_path, monkeypatch):
    def missing(texts):
        raise ImportError("reading molecules needs RDKit")

    monkeypatch.setattr(neighbours, "fingerprints", missing)
    neighbours.save_known(["CCO"], tmp_path / "known.safetensors")
    assert not [*tmp_path.iterdir()]
    with pytest.raises(ValueError, match="only runs that were trained on a table of SMILES, with RDKit, know"):
        neighbours.read_known(tmp_path / "known.safetensors")
