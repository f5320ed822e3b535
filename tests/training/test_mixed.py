"""A network for numbers, yes or no, and classes at once."""

import csv
from dataclasses import replace

import numpy as np
import pytest
import torch

from escgnn.task import Task
from escgnn.training import evaluate, fit, load_run, predict, predict_file
from tests.training import tiny
from tests.training.tiny import change

NAMES = ("few", "many", "none")


@pytest.fixture(scope="module")
def bundle():
    numbers = tiny.bundle(targets=1, size=60)
    y = numbers.graphs.column("y")
    middle = y.median()
    sizes = torch.tensor(numbers.graphs.num_nodes.tolist())
    columns = [y[:, 0], (y[:, 0] > middle).float(), (sizes % 3).float()]
    table = torch.stack(columns, 1)
    table[::7, 0] = torch.nan
    table[1::7, 1] = torch.nan
    table[2::7, 2] = torch.nan
    task = Task.mixed(
        [
            Task("graph", "regression", "mae", "min", ("triangles",)),
            Task("graph", "binary", "rocauc", "max", ("above",)),
            Task("graph", "multiclass", "accuracy", "max", ("rest",), 3, NAMES),
        ]
    )
    return replace(numbers, graphs=numbers.graphs.with_fields(graph={"y": table}), task=task, features={})


@pytest.fixture(scope="module")
def run(bundle, tmp_path_factory):
    folder = tmp_path_factory.mktemp("mixed") / "run"
    fit(bundle, change(epochs=1), folder, progress=False)
    result = fit(bundle, change(epochs=3), folder, progress=False, resume=True)
    return load_run(folder), result


def test_one_number_chooses_and_every_target_has_its_own(run, bundle):
    trained, result = run
    assert trained.task == bundle.task and result.metric == "relative"
    assert {"relative/rest", "mae/triangles", "rmse/triangles", "rocauc/above", "accuracy/rest"} < {*result.test}
    assert evaluate(trained, bundle) == pytest.approx(result.test, nan_ok=True)
    found = predict(trained, bundle.test).numpy()
    y = bundle.test.column("y").numpy()
    assert found.shape == (len(y), 5)
    assert result.test["mae/triangles"] == pytest.approx(np.nanmean(np.abs(found[:, 0] - y[:, 0])), rel=1e-5)
    known = ~np.isnan(y[:, 2])
    assert result.test["accuracy/rest"] == pytest.approx((found[known, 2:].argmax(1) == y[known, 2]).mean())
    np.testing.assert_allclose(found[:, 2:].sum(1), 1)


def test_classes_are_known_by_name(run, bundle):
    """Another table numbers them otherwise."""
    trained, _ = run
    y = bundle.graphs.column("y").clone()
    y[:, 2] = 2 - y[:, 2]
    last = replace(bundle.task.parts[2], names=NAMES[::-1])
    mirrored = replace(
        bundle, graphs=bundle.graphs.with_fields(graph={"y": y}), task=Task.mixed([*bundle.task.parts[:2], last])
    )
    assert evaluate(trained, mirrored, "all") == pytest.approx(evaluate(trained, bundle, "all"), nan_ok=True)
    strange = replace(last, names=("few", "many", "lots"))
    other = replace(mirrored, task=Task.mixed([*bundle.task.parts[:2], strange]))
    with pytest.raises(ValueError, match="has the classes 'lots', which"):
        evaluate(trained, other)
    number = replace(bundle.task.parts[0], targets=("above",))
    with pytest.raises(ValueError, match=r"kind of tiny: regression; .* has binary"):
        evaluate(trained, replace(bundle, task=Task.mixed([bundle.task.parts[0], number, bundle.task.parts[2]])))


def test_predictions_for_a_file(run, tmp_path):
    trained, _ = run
    (tmp_path / "in.g6").write_text("Bw\nC~\nno\n")
    predict_file(trained, tmp_path / "in.g6", tmp_path / "out.csv")
    with (tmp_path / "out.csv").open(newline="") as stream:
        rows = [*csv.DictReader(stream)]
    names = ["triangles", "above", "rest", "rest_few", "rest_many", "rest_none"]
    assert [*rows[0]] == ["graph", *(f"pred_{name}" for name in names), "status"]
    for row in rows[:2]:
        assert row["pred_rest"] == max(NAMES, key=lambda name, row=row: float(row[f"pred_rest_{name}"]))
        assert 0 <= float(row["pred_above"]) <= 1 and row["status"] == "ok"
    assert rows[2]["pred_rest"] == rows[2]["pred_triangles"] == ""


def test_a_linear_path_predicts_numbers_only(bundle, tmp_path):
    with pytest.raises(ValueError, match="count_skip: it predicts numbers, but the targets are mixed"):
        fit(bundle, change(network={"count_skip": True}), tmp_path, progress=False)
