import math

import numpy as np
import pytest
import torch
from sklearn.metrics import average_precision_score, roc_auc_score

from escgnn.metrics import Scaling, choose_loss, loss_terms, out_channels, predictions, score, task_loss
from escgnn.task import Task
from escgnn.training.scores import Scores
from tests.training import tiny

NAN = math.nan


def task(kind, targets=1, classes=1, metric="mae"):
    return Task("graph", kind, metric, "min", tuple(f"t{i}" for i in range(targets)), classes)


def plain(targets=1):
    return Scaling((0.0,) * targets, (1.0,) * targets, (1.0,) * targets)


def test_scaling_ignores_what_is_unknown():
    bundle = tiny.bundle(missing=0.3)
    scaling = Scaling.of(bundle)
    y = bundle.train.column("y").double().numpy()
    np.testing.assert_allclose(scaling.mean, np.nanmean(y, 0), rtol=1e-6)
    np.testing.assert_allclose(scaling.std, np.nanstd(y, 0, ddof=1), rtol=1e-6)
    assert scaling.unit == tuple(bundle.scale[name].std for name in bundle.targets)


def test_large_means_lose_no_digits():
    scaling = Scaling((-11178.966796875,), (10.0,), (1.0,))
    y = torch.tensor([[-11178.9], [-11170.3]])
    torch.testing.assert_close(scaling.restore(scaling.standardise(y)), y.double(), rtol=0, atol=1e-6)


def test_targets_that_never_change_are_not_blown_up():
    bundle = tiny.bundle(targets=1)
    constant = bundle.graphs.with_fields(graph={"y": torch.full((len(bundle.graphs), 1), 5.0)})
    scaling = Scaling.of(type(bundle)("c", constant, bundle.task, bundle.features, bundle.split))
    assert (scaling.mean, scaling.std, scaling.unit) == ((5.0,), (1.0,), (1.0,))


@pytest.mark.parametrize(("kind", "name"), [("regression", "ce"), ("binary", "l1"), ("multiclass", "bce")])
def test_losses_that_do_not_suit(kind, name):
    with pytest.raises(ValueError, match="does not suit"):
        choose_loss(name, task(kind, classes=2 if kind == "multiclass" else 1))


def test_usual_losses():
    kinds = {"regression": "l1", "binary": "bce", "multilabel": "bce", "multiclass": "ce"}
    for kind, loss in kinds.items():
        assert choose_loss("auto", task(kind, classes=2 if kind == "multiclass" else 1)) == loss


@pytest.mark.parametrize(("loss", "expected"), [("l1", 4.0), ("mse", 10.0)])
def test_missing_targets_are_masked(loss, expected):
    output = torch.tensor([[1.0, 5.0], [3.0, 7.0]], requires_grad=True)
    total, known = loss_terms(loss, output, torch.tensor([[0.0, NAN], [NAN, 4.0]]))
    total.backward()
    assert (total.item(), known.item()) == (expected, 2)
    assert output.grad[0, 1] == output.grad[1, 0] == 0


def test_unknown_classes_are_masked():
    output = torch.tensor([[2.0, 0.0], [0.0, 9.0]], requires_grad=True)
    total, known = loss_terms("ce", output, torch.tensor([[0], [-1]]))
    total.backward()
    assert total.item() == pytest.approx(math.log(1 + math.exp(-2))) and int(known) == 1
    assert not output.grad[1].any()


@pytest.mark.parametrize("share", [0.0, 0.3])
def test_a_share_of_a_row_belongs_to_all_classes(share):
    output = torch.tensor([[2.0, 0.0, -1.0], [0.0, 9.0, 3.0]], dtype=torch.float64)
    logs = output.log_softmax(1)
    expected = -(1 - share) * (logs[0, 0] + logs[1, 2]) - share * logs.mean(1).sum()
    torch.testing.assert_close(loss_terms("ce", output, torch.tensor([[0], [2]]), None, share)[0], expected)
    chance = output.sigmoid()
    yes = torch.tensor([[1.0, 0.0, NAN], [0.0, 1.0, 1.0]], dtype=torch.float64)
    known = ~yes.isnan()
    right = torch.where(yes == 1, chance, 1 - chance).log()
    wrong = torch.where(yes == 1, 1 - chance, chance).log()
    binary = -((1 - share / 2) * right + share / 2 * wrong)[known].sum()
    torch.testing.assert_close(loss_terms("bce", output, yes, None, share)[0], binary)
    numbers = torch.zeros_like(output)
    assert torch.equal(loss_terms("l1", output, numbers, None, share)[0], loss_terms("l1", output, numbers)[0])


def test_regression_metrics():
    output = torch.tensor([[1.0, 10.0], [2.0, 20.0], [3.0, 30.0]])
    y = torch.tensor([[1.0, 10.0], [4.0, NAN], [NAN, 26.0]])
    result = score(task("regression", 2), Scaling((0, 0), (1, 1), (2, 4)), output, y)
    assert (result["mae/t0"], result["mae/t1"], result["mae"]) == (1.0, 2.0, 1.5)
    assert (result["norm-mae/t0"], result["norm-mae/t1"], result["norm-mae"]) == (0.5, 0.5, 0.5)
    assert result["rmse/t0"] == pytest.approx(math.sqrt(2))


def test_binary_metrics_are_exact():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 5000)
    logits = torch.tensor(rng.normal(size=5000) + 0.5 * y, dtype=torch.float32)[:, None] * 30
    result = score(task("binary"), plain(), logits, torch.tensor(y)[:, None].float())
    assert result["rocauc"] == pytest.approx(roc_auc_score(y, logits), abs=1e-5)
    assert result["ap"] == pytest.approx(average_precision_score(y, logits), abs=1e-5)
    assert result["accuracy"] == pytest.approx(((logits[:, 0].numpy() > 0) == y).mean(), abs=1e-6)


def test_targets_of_one_class_are_left_out():
    y = torch.tensor([[1.0, 0.0, NAN], [0.0, 0.0, NAN]])
    result = score(task("multilabel", 3), plain(3), torch.tensor([[2.0, -1, 0], [-1, -1, 0]]), y)
    assert result["rocauc"] == result["rocauc/t0"] == 1.0
    assert math.isnan(result["rocauc/t1"]) and math.isnan(result["accuracy/t2"])
    assert result["accuracy"] == 1.0


def test_classes():
    kind, output = task("multiclass", classes=3), torch.tensor([[0.0, 1, 2], [5, 1, 1], [0, 9, 0]])
    torch.testing.assert_close(predictions(kind, plain(), output).sum(1), torch.ones(3).double())
    assert score(kind, plain(), output, torch.tensor([[2], [1], [-1]])) == {"accuracy": 0.5}


def test_batches_are_judged_together():
    """The mean of the batches' values would be another number."""
    kind = task("binary")
    output, y = torch.tensor([[3.0], [1.0], [2.0], [0.0]]), torch.tensor([[1.0], [0.0], [1.0], [0.0]])
    scores = Scores(kind, plain())
    for rows in (slice(0, 1), slice(1, 4)):
        scores.update(output[rows], y[rows])
    assert scores.compute() == score(kind, plain(), output, y)


class TestMixed:
    """Targets of several kinds: a number, yes or no, and one of three classes."""

    task = Task.mixed(
        [
            Task("graph", "regression", "mae", "min", ("n",)),
            Task("graph", "binary", "rocauc", "max", ("b",)),
            Task("graph", "multiclass", "accuracy", "max", ("c",), 3, ("x", "y", "z")),
        ]
    )
    scaling = Scaling((10.0, 0.0, 0.0), (2.0, 1.0, 1.0), (4.0, 1.0, 1.0))
    output = torch.tensor([[1.0, 2.0, 0.0, 3.0, 0.0], [0.0, -1.0, 1.0, 0.0, 0.0], [-1.0, 3.0, 0.0, 0.0, 2.0]])
    y = torch.tensor([[13.0, 1.0, 1.0], [10.0, 0.0, NAN], [NAN, 0.0, 2.0]])

    def test_the_loss_is_the_mean_over_known_targets(self):
        output = self.output.clone().requires_grad_()
        total, known = task_loss(self.task, "l1", output, self.scaling.standardise(self.y))
        number = abs(1 - 1.5)
        yes_or_no = math.log1p(math.exp(-2)) + math.log1p(math.exp(-1)) + math.log1p(math.exp(3))
        classes = math.log(2 + math.exp(3)) - 3 + math.log(2 + math.exp(2)) - 2
        assert total.item() == pytest.approx(number + yes_or_no + classes) and int(known) == 7
        total.backward()
        assert output.grad[2, 0] == 0 and not output.grad[1, 2:].any()
        squared, _ = task_loss(self.task, "mse", self.output, self.scaling.standardise(self.y))
        assert squared.item() == pytest.approx(number**2 + yes_or_no + classes)

    def test_predictions_are_those_of_each_target(self):
        found = predictions(self.task, self.scaling, self.output)
        assert found.shape == (3, out_channels(self.task)) == (3, 5)
        assert found[:, 0].tolist() == [12, 10, 8]
        torch.testing.assert_close(found[:, 1], self.output[:, 1].double().sigmoid())
        torch.testing.assert_close(found[:, 2:], self.output[:, 2:].double().softmax(1))

    def test_errors_are_relative_to_the_best_constant(self):
        found = score(self.task, self.scaling, self.output, self.y)
        bce = (math.log1p(math.exp(-2)) + math.log1p(math.exp(-1)) + math.log1p(math.exp(3))) / 3
        ce = (math.log(2 + math.exp(3)) - 3 + math.log(2 + math.exp(2)) - 2) / 2
        entropy = -(math.log(1 / 3) / 3 + 2 * math.log(2 / 3) / 3)
        expected = {"n": 0.5 / 1.5, "b": bce / entropy, "c": ce / math.log(2)}
        for name, value in expected.items():
            assert found[f"relative/{name}"] == pytest.approx(value)
        assert found["relative"] == pytest.approx(sum(expected.values()) / 3)
        assert (found["mae/n"], found["norm-mae/n"], found["accuracy/b"], found["accuracy/c"]) == (
            0.5,
            0.125,
            pytest.approx(2 / 3),
            1,
        )
        assert found["rocauc/b"] == 0.5

    def test_a_constant_has_error_1_and_what_is_always_the_same_does_not_count(self):
        output = torch.tensor([[0.0, math.log(1 / 2), 0.0, 0.0, 0.0]]).expand(3, -1)
        y = torch.tensor([[10.0, 1.0, 2.0], [10.0, 0.0, 2.0], [10.0, 0.0, NAN]])
        found = score(self.task, self.scaling, output, y)
        assert found["relative"] == found["relative/b"] == pytest.approx(1)
        assert math.isnan(found["relative/n"]) and math.isnan(found["relative/c"])

    def test_only_numbers_are_scaled(self):
        bundle = tiny.bundle(targets=3, missing=0.2)
        scaling = Scaling.of(type(bundle)("m", bundle.graphs, self.task, bundle.features, bundle.split))
        numbers = Scaling.of(bundle)
        assert (scaling.mean, scaling.std) == ((numbers.mean[0], 0.0, 0.0), (numbers.std[0], 1.0, 1.0))
        assert scaling.unit == (bundle.scale["t0"].std, 1.0, 1.0)
