"""Trees on descriptors: as arrays they say what scikit-learn says, and they are judged as a network is."""

import csv
import json
import shutil
import sys

import numpy as np
import pytest
import torch
from sklearn import ensemble

from escgnn.baseline import Trees, boosted_trees, fit_baseline, forest_trees, load_baseline, load_predictor
from escgnn.cli import main
from escgnn.datasets import load
from escgnn.training import Extras, evaluate, fit, load_ensemble, predict, predict_file
from tests.training.tiny import change

SMILES = ["CCO", "c1ccccc1", "CC(=O)O", "CCN", "C1CCCCC1", "CC#N", "OCCO", "CCCC", "c1ccncc1", "CS", "CCCl", "CCBr"]


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    rng = np.random.default_rng(0)
    lines = ["smiles,y,active,dose"]
    for number in range(72):
        text = SMILES[number % 12]
        dose = rng.normal()
        lines.append(f"{text},{len(text) + dose:.4f},{int(dose > 0)},{dose:.4f}")
    path = tmp_path_factory.mktemp("table") / "molecules.csv"
    path.write_text("\n".join([*lines, "C1CC,1,1,1"]))
    return path


@pytest.fixture(scope="module")
def bundle(table):
    return load(table, targets=["y"], descriptors=["morgan-count", "dose"], split="60/20/20")


@pytest.fixture(scope="module")
def network(bundle, table, tmp_path_factory):
    """It reads no descriptors, so it cannot know the dose."""
    folder = tmp_path_factory.mktemp("network") / "net"
    fit(load(table, targets=["y"], split="60/20/20"), change(epochs=2), folder, progress=False)
    return load_ensemble(folder)


@pytest.mark.parametrize("kind", ["number", "yes", "classes"])
def test_trees_say_what_scikit_learn_says(kind):
    rng = np.random.default_rng(1)
    x = rng.normal(size=(200, 6)).astype(np.float32)
    x[:, 2] = rng.integers(0, 4, 200)
    x[0, 3] = 1e30
    signal = x[:, 0] + x[:, 2] * x[:, 1]
    if kind == "number":
        forest = ensemble.RandomForestRegressor(20, random_state=0).fit(x, signal)
        boosted = ensemble.HistGradientBoostingRegressor(max_iter=20).fit(x, signal)
        np.testing.assert_allclose(forest_trees(forest, 1)(x)[:, 0], forest.predict(x), rtol=1e-5, atol=1e-5)
        np.testing.assert_allclose(boosted_trees(boosted)(x)[:, 0], boosted.predict(x), rtol=1e-5, atol=1e-5)
        return
    y = np.digitize(signal, [0] if kind == "yes" else [-1, 1])
    forest = ensemble.RandomForestClassifier(20, random_state=0).fit(x, y)
    boosted = ensemble.HistGradientBoostingClassifier(max_iter=20).fit(x, y)
    np.testing.assert_allclose(forest_trees(forest, y.max() + 1)(x), forest.predict_proba(x), rtol=1e-5, atol=1e-6)
    sums = boosted_trees(boosted)(x)
    np.testing.assert_allclose(sums.squeeze(), boosted.decision_function(x), rtol=1e-4, atol=1e-5)


def test_numbers_on_a_threshold_go_the_same_way():
    """Thresholds are between two training numbers; of neighbours in single precision they may round to the upper one."""
    low = np.float32(1)
    x = np.array([[low], [np.nextafter(low, np.float32(2))]] * 20, np.float32)
    y = np.tile([0.0, 1.0], 20)
    forest = ensemble.RandomForestRegressor(5, random_state=0).fit(x, y)
    np.testing.assert_allclose(forest_trees(forest, 1)(x)[:, 0], forest.predict(x), atol=1e-6)


def test_no_rows_and_damaged_trees():
    x = np.arange(20, dtype=np.float32)[:, None]
    trees = forest_trees(ensemble.RandomForestRegressor(3, random_state=0).fit(x, x[:, 0]), 1)
    assert trees(x[:0]).shape == (0, 1)
    arrays = trees.arrays("0")
    assert np.array_equal(Trees.read(arrays, "0", 1, 1)(x), trees(x))
    for name, value in (("left", 0), ("feature", 9), ("value", np.nan), ("right", 1 << 20)):
        wrong = {key: array.copy() for key, array in arrays.items()}
        wrong[f"0.{name}"][0] = value
        with pytest.raises(ValueError, match="lead nowhere, or numbers that are not finite"):
            Trees.read(wrong, "0", 1, 1)
    with pytest.raises(ValueError, match="other types or sizes"):
        Trees.read({**arrays, "0.left": arrays["0.left"][:-1]}, "0", 1, 1)


@pytest.fixture(scope="module")
def found(bundle, network, tmp_path_factory):
    folder = tmp_path_factory.mktemp("baseline") / "trees"
    return fit_baseline(bundle, folder, beside=network, blend=True, trees=20), folder


def test_the_same_split_and_metric(found, bundle, network):
    comparison, folder = found
    assert {*comparison.scores} == {"random forest", "boosted trees", "network", "average"}
    for subset in ("validation", "test"):
        assert comparison.scores["network"][subset] == pytest.approx(evaluate(network, bundle, subset)["mae"], rel=1e-5)
    assert comparison.verdict.startswith("the network is not worth it"), "it cannot know what decides"
    gain, low, high = comparison.difference
    assert low <= gain <= high < 0
    scores = comparison.scores
    expected = scores[comparison.chosen]["test"] - scores["network"]["test"]
    assert gain == pytest.approx(expected, rel=1e-4)
    best = min(scores["network"]["validation"], scores[comparison.chosen]["validation"])
    assert scores["average"]["validation"] <= best + 1e-9
    assert json.loads((folder / "result.json").read_text())["verdict"] == comparison.verdict


def test_the_average_is_kept_and_predicts(found, bundle, network, tmp_path):
    comparison, folder = found
    kept = load_predictor(folder)
    graphs = bundle.test
    alone = kept.of_numbers(graphs.column("descriptors").numpy())
    expected = kept.weight * predict(network, graphs) + (1 - kept.weight) * alone
    torch.testing.assert_close(kept.answers(graphs)[0], expected)
    assert kept.weight == pytest.approx(comparison.weight) and (kept.folder / "network" / "model.json").is_file()
    (tmp_path / "in.csv").write_text("smiles,dose\nCCO,0.5\nC1CC,1\nCCN,\n")
    predict_file(kept, tmp_path / "in.csv", tmp_path / "out.csv", extras=Extras(interval=0.8, similarity=True))
    with (tmp_path / "out.csv").open(newline="") as stream:
        rows = [*csv.DictReader(stream)]
    assert [row["status"] for row in rows] == ["ok", "not a SMILES string", "ok"]
    assert float(rows[0]["pred_y_low"]) < float(rows[0]["pred_y"]) < float(rows[0]["pred_y_high"])
    assert float(rows[2]["similarity"]) == 1
    with pytest.raises(ValueError, match="holds trees, which have no vectors"):
        predict_file(kept, tmp_path / "in.csv", tmp_path / "out.csv", extras=Extras(embedding=True))


def test_damage_is_told(found, tmp_path):
    _, folder = found
    copy = shutil.copytree(folder, tmp_path / "copy")
    content = (copy / "trees.safetensors").read_bytes()
    (copy / "trees.safetensors").write_bytes(content[:-7])
    with pytest.raises(ValueError, match=r"trees.safetensors is damaged"):
        load_baseline(copy)
    (copy / "baseline.json").write_text('{"format": "other"}')
    with pytest.raises(ValueError, match=r"baseline.json: not a description of a baseline"):
        load_baseline(copy)


@pytest.mark.parametrize("kind", ["binary", "mixed"])
def test_classes_and_unknown_targets(kind, tmp_path):
    rng = np.random.default_rng(2)
    lines = ["smiles,active,group"]
    for number in range(60):
        dose = rng.normal()
        lines.append(f"{SMILES[number % 12]},{int(dose > 0) if number % 7 else ''},{'abc'[number % 3]}")
    (tmp_path / "in.csv").write_text("\n".join(lines))
    targets = ["active"] if kind == "binary" else ["active", "group"]
    options = {} if kind == "binary" else {"kind": ["binary", "multiclass"]}
    bundle = load(tmp_path / "in.csv", targets=targets, descriptors=["morgan-count"], split="60/20/20", **options)
    comparison = fit_baseline(bundle, tmp_path / "out", trees=5)
    assert comparison.verdict == f"better by validation: {comparison.chosen}"
    answers = load_baseline(tmp_path / "out").answers(bundle.test)[0]
    assert ((answers >= 0) & (answers <= 1)).all()
    if kind == "mixed":
        torch.testing.assert_close(answers[:, 1:].sum(1), torch.ones(len(answers), dtype=torch.float64))


def test_test_rows_of_one_class_tell_nothing(tmp_path):
    subsets = ["train"] * 24 + ["valid"] * 12 + ["test"] * 12
    rows = [f"{SMILES[i % 12]},{int(i % 2 and part != 'test')},{part}" for i, part in enumerate(subsets)]
    (tmp_path / "in.csv").write_text("\n".join(["smiles,active,set", *rows]))
    options = {"targets": ["active"], "split": "column:set"}
    fit(load(tmp_path / "in.csv", **options), change(epochs=1), tmp_path / "net", progress=False)
    bundle = load(tmp_path / "in.csv", descriptors=["morgan-count"], **options)
    comparison = fit_baseline(bundle, tmp_path / "out", beside=load_ensemble(tmp_path / "net"), trees=3)
    assert comparison.difference is None and comparison.scores["network"]["test"] is None
    assert load_baseline(tmp_path / "out").kind == comparison.chosen


def test_what_cannot_be_compared(bundle, network, table, found, tmp_path):
    with pytest.raises(ValueError, match="has no descriptors; load it with descriptors="):
        fit_baseline(load(table, targets=["y"]), tmp_path / "out")
    with pytest.raises(ValueError, match="is not empty; choose another folder"):
        fit_baseline(bundle, found[1])
    with pytest.raises(ValueError, match="was trained on another table, or other targets"):
        fit_baseline(load(table, targets=["active"], descriptors=["dose"]), beside=network)
    with pytest.raises(ValueError, match="blend: there is no network"):
        fit_baseline(bundle, blend=True)
    with pytest.raises(ValueError, match="leaf: 0; expected an integer from 1"):
        fit_baseline(bundle, leaf=0)


def test_a_forest_of_leaves_that_hold_everything_says_the_mean(bundle):
    whole = fit_baseline(bundle, trees=400, leaf=len(bundle.train))
    mean = bundle.train.column("y").mean()
    error = (bundle.validation.column("y") - mean).abs().mean()
    assert whole.scores["random forest"]["validation"] == pytest.approx(float(error), rel=0.02)
    assert whole.scores["boosted trees"] == fit_baseline(bundle, trees=400).scores["boosted trees"]


@pytest.fixture
def escgnn(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)

    def run(*arguments, code=0):
        monkeypatch.setattr(sys, "argv", ["escgnn", *map(str, arguments)])
        with pytest.raises(SystemExit) as end:
            main()
            sys.exit(0)
        printed, complaint = capsys.readouterr()
        assert end.value.code == code, complaint
        return printed + complaint

    return run


def test_the_round_trip_of_a_chemist(escgnn, table, tmp_path):
    """From a table to predictions one can act on, as it is typed."""
    small = ["--epochs", "1", "--hidden", "8", "--set", "network.layers=1", "--set", "transform.hops=1"]
    own = ["--targets", "y", "--split", "60/20/20"]
    printed = escgnn("train", table, "-o", "net", *own, "--ensemble", "2", *small)
    assert "2 members" in printed
    assert "2 members" in escgnn("train", table, "-o", "net", *own, "--resume", *small)
    assert "judged by 15 test graphs" in escgnn("evaluate", "net", table)
    printed = escgnn("baseline", table, "--beside", "net", "--trees", "5", "--descriptors", "morgan-count,dose")
    assert "random forest" in printed and "network" in printed
    more = ["--descriptors", "morgan-count,dose", "-o", "both"]
    assert "average" in escgnn("baseline", table, "--blend", "net", "--trees", "5", *more)
    (tmp_path / "new.csv").write_text("smiles,dose\nCCO,1\n")
    escgnn("predict", "net", "both", "new.csv", "-o", "out.csv", "--interval", "0.8", "--similarity")
    header = (tmp_path / "out.csv").read_text().split("\n")[0].replace('"', "").split(",")
    ours = [f"net.{name}" for name in ("pred_y", "pred_y_std", "pred_y_low", "pred_y_high", "similarity")]
    theirs = [f"both.{name}" for name in ("pred_y", "pred_y_low", "pred_y_high", "similarity")]
    assert header == ["smiles", "dose", *ours, *theirs, "status"]
    assert "over 3 folds" in escgnn("train", table, "-o", "cv", "--targets", "y", "--folds", "3", *small)
    start = ["--init-from", "net/member0", "--freeze"]
    escgnn("train", table, "-o", "active", "--targets", "active", "--split", "60/20/20", "--balance", *start, *small)
    assert "leave --folds or --ensemble out" in escgnn(
        "train", table, "-o", "no", "--targets", "y", "--folds", "3", "--ensemble", "2", code=2
    )
    assert "name it, -o FOLDER" in escgnn("baseline", table, "--blend", "net", code=2)
