"""Several networks as one: their mean and deviation, resumed member by member, and what predictions stand beside."""

import csv
import json
from dataclasses import replace

import numpy as np
import pytest
import torch
from rdkit import Chem, DataStructs
from rdkit.Chem import rdFingerprintGenerator

from escgnn.datasets import Split, fingerprints, load
from escgnn.training import (
    Extras,
    embedded,
    evaluate,
    fit,
    fit_ensemble,
    load_ensemble,
    load_run,
    members,
    predict,
    predict_file,
    similarity,
)
from tests.training import tiny
from tests.training.tiny import change

SMILES = ["CCO", "c1ccccc1", "CC(=O)O", "CCN", "C1CCCCC1", "CC#N", "OCCO", "CCCC", "c1ccncc1", "CS", "CCCl", "CCBr"] * 3


@pytest.fixture(scope="module")
def bundle(tmp_path_factory):
    folder = tmp_path_factory.mktemp("table")
    lines = [f"{text},{len(text)},{'high' if 'O' in text else 'low'}" for text in SMILES]
    (folder / "train.csv").write_text("\n".join(["smiles,weight,acid", *lines]))
    whole = load(folder / "train.csv", targets=["weight", "acid"])
    order = np.arange(len(SMILES))
    return replace(whole, split=Split(order[:15], order[15:30], order[30:]))


@pytest.fixture(scope="module")
def ensemble(bundle, tmp_path_factory):
    folder = tmp_path_factory.mktemp("ensembles") / "three"
    fit_ensemble(bundle, change(epochs=2), folder, 3, progress=False)
    return load_ensemble(folder)


def read(path):
    with path.open(newline="") as stream:
        return [*csv.DictReader(stream)]


def test_the_mean_of_its_members(ensemble, bundle):
    graphs = bundle.test
    each = [predict(member, graphs) for member in ensemble.members]
    assert len({tuple(answers.flatten().tolist()) for answers in each}) == 3
    torch.testing.assert_close(predict(ensemble, graphs), torch.stack(each).mean(0))
    result = json.loads((ensemble.folder / "result.json").read_text())
    assert result["test"] == pytest.approx(evaluate(ensemble, bundle))
    assert [member["seed"] for member in result["members"]] == [0, 1, 2]


def test_it_goes_on_member_by_member(bundle, ensemble, tmp_path, monkeypatch):
    def killed(*arguments, **options):
        if arguments[2].name == "member1":
            raise KeyboardInterrupt
        return fit(*arguments, **options)

    monkeypatch.setattr(members, "fit", killed)
    with pytest.raises(KeyboardInterrupt):
        fit_ensemble(bundle, change(epochs=2), tmp_path / "run", 3, progress=False)
    with pytest.raises(ValueError, match="member1"):
        load_ensemble(tmp_path / "run")
    monkeypatch.setattr(members, "fit", fit)
    with pytest.raises(ValueError, match="is not empty; resume the ensemble in it"):
        fit_ensemble(bundle, change(epochs=2), tmp_path / "run", 3, progress=False)
    kept = (tmp_path / "run" / "member0" / "model.safetensors").stat().st_mtime_ns
    fit_ensemble(bundle, change(epochs=2), tmp_path / "run", resume=True, progress=False)
    assert torch.equal(predict(load_ensemble(tmp_path / "run"), bundle.test), predict(ensemble, bundle.test))
    assert (tmp_path / "run" / "member0" / "last.ckpt").stat().st_mtime_ns <= kept, "it was not trained again"
    with pytest.raises(ValueError, match=r"ensemble: 2 members, and .* has 3; expected a number from 3 to"):
        fit_ensemble(bundle, change(epochs=2), tmp_path / "run", 2, resume=True, progress=False)


def test_what_is_no_ensemble(ensemble, bundle, tmp_path):
    with pytest.raises(ValueError, match="holds an ensemble; choose a member, such as"):
        load_run(ensemble.folder)
    with pytest.raises(ValueError, match="ensemble: 1 members; expected a number from 2"):
        fit_ensemble(bundle, change(), tmp_path / "run", 1)
    assert not (tmp_path / "run").exists()
    (tmp_path / "ensemble.json").write_text('{"members": -3}')
    with pytest.raises(ValueError, match=r"ensemble.json: members is -3"):
        load_ensemble(tmp_path)


def test_a_file_with_everything_beside_its_predictions(ensemble, bundle, tmp_path):
    (tmp_path / "in.csv").write_text("smiles\nCCO\nC1CC\nCCCCCCCCN\n")
    extras = Extras(interval=0.8, calibrated=True, similarity=True, embedding=True)
    predict_file(ensemble, tmp_path / "in.csv", tmp_path / "out.csv", extras=extras)
    first, bad, last = read(tmp_path / "out.csv")
    names = [name for name in first if not name.startswith("embedding_")]
    weight = ["pred_weight", "pred_weight_std", "pred_weight_low", "pred_weight_high"]
    acid = ["pred_acid", "pred_acid_std", "pred_acid_high", "pred_acid_low"]
    assert names == ["smiles", *weight, *acid, "similarity", "status"]
    assert bad["status"] == "not a SMILES string" and {
        bad[name] for name in first if name not in ("smiles", "status")
    } == {""}
    assert float(first["similarity"]) == 1 > float(last["similarity"]) > 0
    graphs = load_graphs(["CCO", "CCCCCCCCN"])
    answers = ensemble.answers(graphs)
    for row, (text, own) in enumerate(zip(["CCO", "CCCCCCCCN"], (first, last), strict=True)):
        assert own["smiles"] == text
        middle = float(answers[:, row, 0].mean())
        assert float(own["pred_weight"]) == pytest.approx(middle, rel=1e-5)
        assert float(own["pred_weight_std"]) == pytest.approx(float(answers[:, row, 0].std()), rel=1e-4)
        half = float(ensemble.calibration.half_width(0, answers[:, row, 0].std(0), 0.8))
        assert float(own["pred_weight_low"]) == pytest.approx(middle - half, rel=1e-4)
        assert float(own["pred_weight_high"]) == pytest.approx(middle + half, rel=1e-4)
        chances = {name: float(own[f"pred_acid_{name}"]) for name in ("high", "low")}
        assert sum(chances.values()) == pytest.approx(1) and own["pred_acid"] == max(chances, key=chances.get)
        honest = ensemble.calibration.corrected(ensemble.task, answers.mean(0))[row, 1:]
        assert [*chances.values()] == pytest.approx(honest.tolist(), rel=1e-4)
    vectors = torch.cat([embedded(member, graphs) for member in ensemble.members], 1)
    found = [[float(row[f"embedding_{i}"]) for i in range(vectors.shape[1])] for row in (first, last)]
    np.testing.assert_allclose(found, vectors, rtol=1e-4, atol=1e-5)


def test_no_two_columns_have_the_same_name(tmp_path):
    """Classes are called what a user calls them, and so are targets."""
    lines = [f"{text},{('std', 'mean', 'std_2')[number % 3]},{number}" for number, text in enumerate(SMILES)]
    (tmp_path / "train.csv").write_text("\n".join(["smiles,acid,acid_mean", *lines]))
    fit_ensemble(
        load(tmp_path / "train.csv", targets=["acid", "acid_mean"]),
        change(epochs=1),
        tmp_path / "run",
        2,
        progress=False,
    )
    ensemble = load_ensemble(tmp_path / "run")
    (tmp_path / "in.csv").write_text("smiles\nCCO\n")
    for name in ("out.csv", "out.parquet"):
        predict_file(ensemble, tmp_path / "in.csv", tmp_path / name)
    (row,) = read(tmp_path / "out.csv")
    acid = ["pred_acid", "pred_acid_std", "pred_acid_mean_2", "pred_acid_std_3", "pred_acid_std_2"]
    assert [*row] == ["smiles", *acid, "pred_acid_mean", "pred_acid_mean_std", "status"]
    answers = ensemble.answers(load_graphs(["CCO"]))[:, 0]  # (members, outputs)
    chances = [float(row[name]) for name in acid[2:]]
    assert chances == pytest.approx(answers[:, :3].mean(0).tolist(), rel=1e-5)
    best = int(np.argmax(chances))
    assert row["pred_acid"] == ("mean", "std", "std_2")[best]
    assert float(row["pred_acid_std"]) == pytest.approx(float(answers[:, best].std()), rel=1e-4)
    assert float(row["pred_acid_mean"]) == pytest.approx(float(answers[:, 3].mean()), rel=1e-5)


def load_graphs(texts):
    from escgnn.datasets import read_smiles

    return read_smiles(texts).graphs


def test_an_embedding_is_what_the_head_reads(ensemble):
    run = ensemble.members[0]
    graphs = load_graphs(["CCO", "c1ccccc1"])
    with torch.no_grad():
        read_off = run.model.head(embedded(run, graphs))
    torch.testing.assert_close(run.scaling.only(0).restore(read_off[:, :1]), predict(run, graphs)[:, :1])


def test_several_runs_side_by_side(ensemble, tmp_path):
    first, second, _ = ensemble.members
    (tmp_path / "in.csv").write_text("smiles\nCCO\nC1CC\n")
    predict_file([first, second], tmp_path / "in.csv", tmp_path / "out.csv")
    good, bad = read(tmp_path / "out.csv")
    own = ["pred_weight", "pred_acid", "pred_acid_high", "pred_acid_low"]
    assert [*good] == ["smiles", *(f"{run}.{name}" for run in ("member0", "member1") for name in own), "status"]
    graphs = load_graphs(["CCO"])
    for name, run in (("member0", first), ("member1", second)):
        assert float(good[f"{name}.pred_weight"]) == pytest.approx(float(predict(run, graphs)[0, 0]), rel=1e-5)
    assert (good["status"], bad["status"]) == ("ok", "not a SMILES string")
    with pytest.raises(ValueError, match="two have the same name"):
        predict_file([first, first], tmp_path / "in.csv", tmp_path / "out.csv")


@pytest.fixture(scope="module")
def numbers(tmp_path_factory):
    """A network that reads no features, and has learnt from no molecules."""
    folder = tmp_path_factory.mktemp("numbers")
    tiny_one = tiny.bundle()
    fit(replace(tiny_one, features={}), change(epochs=1), folder, progress=False)
    return load_run(folder)


@pytest.mark.parametrize(
    ("extras", "message"),
    [
        ({"interval": 0.99}, "interval: 0.99; it takes 99 validation rows with this target, and there were 10"),
        ({"calibrated": True}, "calibrated: probabilities are of classes, and these targets are numbers"),
        ({"similarity": True}, "known.safetensors is not there; only runs that were trained on a table of SMILES"),
    ],
)
def test_what_cannot_be_given_is_told_before_anything_is_read(numbers, extras, message, tmp_path):
    with pytest.raises(ValueError, match=message):
        predict_file(numbers, tmp_path / "none.csv", tmp_path / "out.csv", extras=Extras(**extras))


def test_an_interval_is_a_probability():
    with pytest.raises(ValueError, match=r"interval: 90.0; expected a probability between 0 and 1, such as 0.9"):
        Extras(interval=90.0)


def test_similarity_is_rdkits_tanimoto():
    known = sorted({*SMILES})
    asked = ["CCO", "OCC(C)N", "c1ccccc1CCl", "[Na+].[Cl-]", "CCCCCCCC"]
    generator = rdFingerprintGenerator.GetMorganGenerator(radius=2, fpSize=2048)
    prints = [generator.GetFingerprint(Chem.MolFromSmiles(text)) for text in known]
    expected = [
        max(DataStructs.BulkTanimotoSimilarity(generator.GetFingerprint(Chem.MolFromSmiles(text)), prints))
        for text in asked
    ]
    np.testing.assert_allclose(similarity(asked, fingerprints(known)), expected, rtol=1e-6)
    assert similarity([], fingerprints(known)).shape == (0,)


def test_known_molecules_that_are_damaged(ensemble, tmp_path):
    path = ensemble.folder / "known.safetensors"
    content = path.read_bytes()
    try:
        path.write_bytes(content[:-1])
        with pytest.raises(ValueError, match=r"known.safetensors is damaged"):
            _ = load_ensemble(ensemble.folder).known
    finally:
        path.write_bytes(content)
    assert load_ensemble(ensemble.folder).known.shape == (15, 256)
