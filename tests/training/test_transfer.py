"""Beginning with another run's weights, letting them rest, and rare classes that weigh as much as frequent ones."""

import csv
from dataclasses import replace

import pytest
import torch

from escgnn.datasets import Split
from escgnn.metrics import class_weights, task_loss
from escgnn.task import Task
from escgnn.training import evaluate, fit, load_run, predict
from tests.training import tiny
from tests.training.tiny import change

PLAIN = {"dropout": 0.0}


@pytest.fixture(scope="module")
def teacher(tmp_path_factory):
    folder = tmp_path_factory.mktemp("teacher")
    fit(tiny.bundle(), change(epochs=3), folder, progress=False)
    return load_run(folder)


@pytest.fixture
def other():
    """The same graphs with one target of another name."""
    bundle = tiny.bundle(targets=1)
    return replace(bundle, task=replace(bundle.task, targets=("new",)))


def state(folder):
    return load_run(folder).model.state_dict()


def test_the_same_targets_begin_where_the_other_ended(teacher, tmp_path):
    config = change(epochs=1, lr=1e-12, network=PLAIN, init_from=str(teacher.folder))
    fit(tiny.bundle(), config, tmp_path, progress=False)
    before = teacher.model.state_dict()
    for name, found in state(tmp_path).items():
        if "running" not in name and "num_batches" not in name:  # what batch normalisation sees goes on
            torch.testing.assert_close(found, before[name], atol=1e-5, rtol=1e-5)


def test_other_targets_have_a_new_head_and_the_rest_can_rest(teacher, other, tmp_path):
    config = change(epochs=3, init_from=str(teacher.folder), freeze=True)
    straight = fit(other, config, tmp_path / "straight", progress=False)
    before = teacher.model.state_dict()
    found = state(tmp_path / "straight")
    body = [name for name in found if not name.startswith("head")]
    assert len(body) > 5 and all(torch.equal(found[name], before[name]) for name in body), "batch normalisation, too"
    assert not torch.equal(found["head.0.weight"], before["head.0.weight"])
    fit(other, change(config, epochs=2), tmp_path / "resumed", progress=False)
    assert fit(other, config, tmp_path / "resumed", resume=True, progress=False) == straight
    assert torch.equal(
        predict(load_run(tmp_path / "resumed"), other.test), predict(load_run(tmp_path / "straight"), other.test)
    )


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"freeze": True, "init_from": None}, "freeze: there is nothing to keep as it is without init_from"),
        ({"network": {"hidden": 6}}, "init_from: no weights of .* fit; choose the same model and sizes"),
        ({"network": {"layers": 3}, "freeze": True}, r"freeze: .* has no layers\.2\..* of this size"),
        ({"init_from": "nowhere"}, "nowhere"),
    ],
)
def test_what_cannot_be_begun_with(teacher, settings, message, tmp_path):
    with pytest.raises(ValueError, match=message):
        fit(tiny.bundle(), change(**{"init_from": str(teacher.folder), **settings}), tmp_path / "run", progress=False)
    assert not (tmp_path / "run").exists()


def test_balanced_classes_weigh_the_same():
    y = torch.tensor([[0.0, 1.0], [0.0, torch.nan], [0.0, 1.0], [1.0, 1.0]])
    task = Task("graph", "multilabel", "rocauc", "max", ("a", "b"))
    weights = class_weights(task, y)
    assert [own.tolist() for own in weights] == [
        [pytest.approx(2 / 3), 2],
        [3, 1],
    ]  # a class that is not there counts not
    output = torch.randn(4, 2)
    expected = 0.0
    for row, column in ((0, 0), (1, 0), (2, 0), (3, 0), (0, 1), (2, 1), (3, 1)):
        answer = y[row, column]
        term = torch.nn.functional.binary_cross_entropy_with_logits(output[row, column], answer)
        expected += float(term * weights[column][int(answer)])
    total, known = task_loss(task, "bce", output, y, weights)
    assert float(total) == pytest.approx(expected, rel=1e-5) and int(known) == 7
    assert not torch.isclose(total, task_loss(task, "bce", output, y)[0])


def test_balanced_mixed_and_several_classes():
    number = Task("graph", "regression", "mae", "min", ("n",))
    classes = Task("graph", "multiclass", "accuracy", "max", ("c",), 3)
    task = Task.mixed([number, classes])
    y = torch.tensor([[1.0, 0.0], [2.0, 2.0], [torch.nan, 2.0], [0.0, torch.nan]])
    weights = class_weights(task, y)
    output = torch.randn(4, 4)
    numbers = (output[[0, 1, 3], 0] - y[[0, 1, 3], 0]).abs().sum()
    logs = output[:, 1:].log_softmax(1)
    chosen = -(1.5 * logs[0, 0] + 0.75 * (logs[1, 2] + logs[2, 2]))
    total, known = task_loss(task, "l1", output, y, weights)
    torch.testing.assert_close(total, numbers + chosen)
    assert int(known) == 6


def test_a_run_with_balance(tmp_path):
    bundle = tiny.bundle("multiclass")
    for name, balance in (("plain", False), ("balanced", True)):
        fit(bundle, change(epochs=2, balance=balance), tmp_path / name, progress=False)
    found = [predict(load_run(tmp_path / name), bundle.test) for name in ("plain", "balanced")]
    assert not torch.allclose(*found)
    assert 0 <= evaluate(load_run(tmp_path / "balanced"), bundle)["accuracy"] <= 1
    with pytest.raises(ValueError, match="balance: it is for classes, and these targets are numbers"):
        fit(tiny.bundle(), change(balance=True), tmp_path / "numbers", progress=False)
    with pytest.raises(ValueError, match="smoothing: it is for classes, and these targets are numbers"):
        fit(tiny.bundle(), change(smoothing=0.1), tmp_path / "numbers", progress=False)


def test_a_run_with_smoothing(tmp_path):
    """Only training rows are smoothed: before anything is learnt, both losses of a run would be the same otherwise."""
    bundle = tiny.bundle("multiclass")
    rows = bundle.split.train
    bundle = replace(bundle, split=Split(rows, rows, rows))
    still = {"norm": "none", "readout_norm": False, **PLAIN}
    losses = []
    for share in (0.0, 0.5):
        folder = tmp_path / str(share)
        config = change(epochs=1, lr=1e-12, average=None, network=still, smoothing=share)
        fit(bundle, config, folder, progress=False)
        with (folder / "metrics.csv").open(newline="") as stream:
            (row,) = csv.DictReader(stream)
        losses.append([float(row["loss"]), float(row["validation_loss"])])
    (plain, judged), (smoothed, judged_as_well) = losses
    assert plain == pytest.approx(judged, rel=1e-5) and judged_as_well == pytest.approx(judged, rel=1e-5)
    assert abs(smoothed - plain) > 1e-3
