"""A run looked at: metrics with intervals, curves against scikit-learn's, the page in a browser, the card, the hub."""

import json
import math
import sys
from dataclasses import replace
from html import escape
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
import torch
from sklearn import metrics as known
from typer.testing import CliRunner

from escgnn.cli import app
from escgnn.datasets import Split, load
from escgnn.metrics import Scaling, score
from escgnn.review import bootstrap, card, page, precision_recall, reliability, review, roc, write_page
from escgnn.task import Task
from escgnn.training import evaluate, fit, fit_ensemble, load_ensemble, load_run, predict, similarity
from tests import browser
from tests.training.tiny import change

SMILES = ["CCO", "c1ccccc1O", "CC(=O)O", "CC#N", "C1CCCCC1", "OCCO", "CCN", "CCCCl", "c1ccncc1", "CS"] * 6


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    torch.set_num_threads(1)
    path = tmp_path_factory.mktemp("data") / "train.csv"
    kinds = ["acid", "base", "salt"]
    lines = [f"{text},{len(text)},{number % 2},{kinds[number % 3]}" for number, text in enumerate(SMILES)]
    path.write_text("\n".join(["smiles,weight,active,kind", *lines]))
    whole = load(path, targets=["weight", "active", "kind"])
    order = np.arange(len(SMILES))
    return path, replace(whole, split=Split(order[:25], order[25:40], order[40:]))


@pytest.fixture(scope="module")
def run(data, tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs") / "two"
    fit_ensemble(data[1], change(epochs=2), folder, 2, progress=False)
    return load_ensemble(folder)


@pytest.fixture(scope="module")
def reviewed(run, data):
    return replace(review(run, data[1]), resamples=20)


def test_intervals_hold_the_metric_and_are_seeded():
    task = Task("graph", "regression", "mae", "min", ("a",))
    scaling = Scaling((0.0,), (1.0,), (1.0,))
    generator = torch.Generator().manual_seed(0)
    output = torch.randn(400, 1, generator=generator)
    y = torch.zeros(400, 1)
    found = bootstrap(task, scaling, output, y, seed=3, resamples=300)
    assert found == bootstrap(task, scaling, output, y, seed=3, resamples=300)
    assert found != bootstrap(task, scaling, output, y, seed=4, resamples=300)
    assert {name: one.value for name, one in found.items()} == score(task, scaling, output, y)
    mae = found["mae"]
    half = 1.96 * float(output.abs().std()) / 20  # as theory has it
    assert mae.low == pytest.approx(mae.value - half, abs=0.2 * half)
    assert mae.high == pytest.approx(mae.value + half, abs=0.2 * half)


@pytest.mark.parametrize("seed", range(20))
def test_curves_are_those_of_scikit_learn(seed):
    rng = np.random.default_rng(seed)
    scores = np.round(rng.random(60), 1 if seed % 2 else 9)  # ties, too
    truth = (rng.random(60) < 0.4).astype(float)
    x, y = np.array(roc(scores, truth)).T
    assert np.trapezoid(y, x) == pytest.approx(known.roc_auc_score(truth, scores))
    recall, precision = np.array(precision_recall(scores, truth)).T
    steps = np.diff(np.append(0, recall))
    assert (steps * precision).sum() == pytest.approx(known.average_precision_score(truth, scores))


def test_reliability_by_hand():
    assert reliability(np.array([0.05, 0.05, 0.55, 1.0]), np.array([0, 1, 1, 1])) == [
        (0.05, 0.5),
        (0.55, 1.0),
        (1.0, 1.0),
    ]


def test_what_is_measured(reviewed, run, data):
    assert reviewed.subset == "test" and reviewed.rows == 20
    expected = evaluate(run, data[1])
    assert {name: one.value for name, one in reviewed.metrics.items()} == pytest.approx(expected, nan_ok=True)
    assert all(one.low <= one.value <= one.high for one in reviewed.metrics.values() if math.isfinite(one.low))
    errors = (predict(run, data[1].test)[:, 0] - data[1].test.column("y")[:, 0]).abs().numpy()
    np.testing.assert_allclose(reviewed.errors(0), errors)
    assert reviewed.worst(0, 3) == np.argsort(-errors, kind="stable")[:3].tolist()
    np.testing.assert_array_equal(reviewed.nearest, similarity(data[1].texts_of("test"), run.known))
    assert sum(band.rows for band in reviewed.bands(0)) == 20
    assert {*reviewed.coverage} == {"weight"} and 0 <= reviewed.coverage["weight"] <= 1
    right = predict(run, data[1].test)[np.arange(20), 2 + data[1].test.column("y")[:, 2].long()]
    np.testing.assert_allclose(reviewed.errors(2), 1 - right.numpy())


def test_other_data_judges_with_all_rows(run, data, tmp_path):
    other = tmp_path / "other.csv"
    other.write_text("smiles,weight,active,kind\nCCO,1,0,acid\nCCC,2,1,base\nCCCC,3,1,salt\nC,1,0,acid\nCC,1,1,base\n")
    bundle = load(other, targets=["weight", "active", "kind"], kind=["regression", "binary", "multiclass"])
    found = review(run, bundle)
    assert (found.subset, found.rows) == ("all", 5)


def test_the_page_says_it_all(reviewed, tmp_path):
    text = page(reviewed)
    for words in ("Predicted against true", "ROC", "Precision and recall", "Reliability", "How often the most likely"):
        assert f"<figcaption>{words}" in text
    for words in (
        "Learning curves",
        "The worst molecules",
        "Error by similarity",
        "95 % by bootstrap",
        "hidden: 8",
        "Intervals of 90%",
    ):
        assert words in text
    assert "<script" not in text
    assert escape(reviewed.result["members"][0]["command"], quote=False) in text
    with pytest.raises(ValueError, match=r"expected a file that ends in \.html"):
        write_page(reviewed, tmp_path / "page.txt")


def test_without_data_it_says_what_the_folder_has(run):
    bare = review(run)
    text = page(bare)
    assert "The data was not at hand" in text and "Learning curves" in text
    assert f"{bare.result['test']['relative']:.4g}" in text
    assert "It has not been judged" not in card(bare)


@pytest.mark.parametrize("width", [375, 1280])
def test_in_a_browser(reviewed, tmp_path, width):
    path = write_page(reviewed, tmp_path / "report.html")
    found = browser.layout(path, tmp_path, width)
    assert found.page <= width
    assert found.flat_charts == 0
    assert browser.pdf(path, tmp_path).read_bytes().startswith(b"%PDF")


def test_the_card(reviewed, tmp_path):
    (tmp_path / "result.json").write_text(
        json.dumps(
            {"metric": "relative", "scores": {"forest": {"validation": 0.5, "test": 0.75}}, "verdict": "trees win"}
        )
    )
    text = card(reviewed, baseline=tmp_path)
    for words in (
        "25, 15, 20",
        "seeds | 0, 1",
        "## Limits",
        "| forest | 0.5 | 0.75 |",
        "trees win",
        "## Coverage",
        "train.csv",
    ):
        assert words in text
    with pytest.raises(ValueError, match="is not the result of a baseline"):
        card(reviewed, baseline=tmp_path / "nowhere")


class Hub(ModuleType):
    """What `huggingface_hub` does, in a folder."""

    def __init__(self, root: Path) -> None:
        super().__init__("huggingface_hub")
        self.root = root
        self.errors = ModuleType("errors")
        self.errors.HfHubHTTPError = type("HfHubHTTPError", (OSError,), {})

    class CommitOperationAdd:
        def __init__(self, path_in_repo, path_or_fileobj):
            self.place = path_in_repo
            self.content = path_or_fileobj if isinstance(path_or_fileobj, bytes) else Path(path_or_fileobj).read_bytes()

    def create_repo(self, repo_id, *, private=False, exist_ok=False):
        (self.root / repo_id).mkdir(parents=True, exist_ok=exist_ok)

    def create_commit(self, repo_id, operations, *, commit_message):
        for one in operations:
            path = self.root / repo_id / one.place
            path.parent.mkdir(exist_ok=True)
            path.write_bytes(one.content)

    def snapshot_download(self, repo_id, *, revision=None, allow_patterns=None):
        if not (self.root / repo_id).is_dir() or revision:
            raise self.errors.HfHubHTTPError("404: no such repository")
        copy = self.root / "cache" / f"models--{repo_id.replace('/', '--')}" / "snapshots" / "0a1b2c"
        for path in (self.root / repo_id).rglob("*"):
            place = path.relative_to(self.root / repo_id)
            if path.is_file() and any(
                place.match(pattern) and len(place.parts) == pattern.count("/") + 1 for pattern in allow_patterns
            ):
                (copy / place).parent.mkdir(parents=True, exist_ok=True)
                (copy / place).write_bytes(path.read_bytes())
        return str(copy)


def test_there_and_back(run, data, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "huggingface_hub", Hub(tmp_path))
    done = CliRunner().invoke(app, ["push", str(run.folder), "me/logp", "--private"])
    assert done.exit_code == 0, done.output
    assert done.output.strip().endswith("hf://me/logp")
    names = {path.name for path in (tmp_path / "me" / "logp").rglob("*") if path.is_file()}
    assert {"README.md", "ensemble.json", "model.safetensors", "model.json", "calibration.safetensors"} <= names
    assert not [name for name in names if name.endswith((".ckpt", ".pt", ".pkl", ".png")) or name.startswith("known")]
    (tmp_path / "me" / "logp" / "evil.pkl").write_bytes(b"code")
    again = load_ensemble("hf://me/logp")
    assert not [*again.folder.rglob("*.pkl")]
    torch.testing.assert_close(predict(again, data[1].test), predict(run, data[1].test))
    torch.testing.assert_close(
        predict(load_ensemble(Path("hf://me/logp")), data[1].test), predict(run, data[1].test)
    )  # as a command has it
    monkeypatch.chdir(tmp_path)
    done = CliRunner().invoke(app, ["report", "hf://me/logp"])
    assert done.exit_code == 0 and done.output.strip() == "written to logp.html", done.output
    assert "<title>Run logp</title>" in (tmp_path / "logp.html").read_text()
    assert not (tmp_path / "hf:").exists()
    assert "\n# logp\n" in CliRunner().invoke(app, ["card", "hf://me/logp"]).output
    with pytest.raises(ValueError, match="hf://me/other: 404"):
        load_run("hf://me/other")
    with pytest.raises(ValueError, match=r"name: 'me/\.\./x'; expected user/name"):
        load_run("hf://me/../x")
    done = CliRunner().invoke(app, ["push", str(tmp_path), "me/empty"])
    assert isinstance(done.exception, ValueError)


def test_without_the_hub_it_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "huggingface_hub", None)
    with pytest.raises(ImportError, match=r"pip install 'escgnn\[hub\]'"):
        load_run("hf://me/logp")


def test_commands(run, data, tmp_path):
    one = tmp_path / "one"
    fit(data[1], change(epochs=1), one, progress=False)
    done = CliRunner().invoke(app, ["report", str(one), "--data", str(data[0])])
    assert done.exit_code == 0, done.output
    assert "The worst molecules" in (one / "report.html").read_text()
    found = replace(review(load_ensemble(one), data[1]), resamples=1)
    assert {name: one.value for name, one in found.metrics.items()} == evaluate(load_run(one), data[1])
    done = CliRunner().invoke(app, ["report", str(one), "-o", str(tmp_path / "short.html")])
    assert done.exit_code == 0, done.output
    assert "The data was not at hand" in (tmp_path / "short.html").read_text()
    done = CliRunner().invoke(app, ["card", str(run.folder), "-o", str(tmp_path / "card.md")])
    assert done.exit_code == 0, done.output
    assert "## Limits" in (tmp_path / "card.md").read_text()
