"""Intervals keep their promise, probabilities are honest, and what is kept of them survives damage."""

import numpy as np
import pytest
import torch

from escgnn.task import Task
from escgnn.training import Calibration, middle_of

NUMBER = Task("graph", "regression", "mae", "min", ("y",))
YES = Task("graph", "binary", "rocauc", "max", ("y",))
CLASSES = Task("graph", "multiclass", "accuracy", "max", ("y",), 3)


def noisy(rows, members, rng):
    """Rows that are harder the larger their noise, of which the members' deviation is a hint."""
    noise = rng.uniform(0.1, 2, rows)
    truth = rng.normal(size=rows)
    y = truth + noise * rng.normal(size=rows)
    answers = truth + noise * rng.normal(size=(members, rows)) * (members > 1)
    return torch.from_numpy(answers)[..., None], torch.from_numpy(y)[:, None]


def covered(calibration, answers, y, level):
    middle, deviation = middle_of(answers[..., 0])
    half = calibration.half_width(0, deviation, level)
    return float(((y[:, 0] - middle).abs() <= half).double().mean()), half


@pytest.mark.parametrize("members", [1, 5])
@pytest.mark.parametrize("level", [0.5, 0.9])
def test_coverage_is_what_was_promised(members, level):
    """On average over many tables; of a single one it is within what chance allows."""
    rng = np.random.default_rng(0)
    shares = []
    for _ in range(100):
        calibration = Calibration.of(NUMBER, *noisy(99, members, rng))
        shares.append(covered(calibration, *noisy(300, members, rng), level)[0])
    assert abs(np.mean(shares) - level) < 0.012
    assert np.std(shares) < 0.07


def test_intervals_are_wider_where_members_disagree():
    rng = np.random.default_rng(1)
    calibration = Calibration.of(NUMBER, *noisy(2000, 5, rng))
    answers, y = noisy(4000, 5, rng)
    _, half = covered(calibration, answers, y, 0.9)
    deviation = middle_of(answers[..., 0])[1]
    assert torch.corrcoef(torch.stack([half, deviation]))[0, 1] > 0.99
    hard = deviation > deviation.median()
    wrong = (y[:, 0] - answers[..., 0].mean(0)).abs()
    plain = Calibration.of(NUMBER, answers.mean(0, keepdim=True), y)
    one_width = plain.half_width(0, torch.zeros(1), 0.9)
    by_unit = abs(float((wrong <= half)[hard].double().mean()) - 0.9)
    by_none = abs(float((wrong <= one_width)[hard].double().mean()) - 0.9)
    assert by_unit < by_none, "hard rows keep the promise better than with one width for all"


def test_the_rank_is_the_exact_one():
    y = torch.arange(1.0, 10).unsqueeze(1)  # errors 1 to 9
    calibration = Calibration.of(NUMBER, torch.zeros(1, 9, 1), y)
    assert calibration.half_width(0, torch.zeros(2), 0.9).tolist() == [9, 9]
    assert calibration.half_width(0, torch.zeros(1), 0.5).tolist() == [5]
    with pytest.raises(
        ValueError, match=r"interval: 0.95; it takes 19 validation rows with this target, and there were 9"
    ):
        calibration.half_width(0, torch.zeros(1), 0.95)
    y[3:] = torch.nan
    with pytest.raises(ValueError, match="there were 3"):
        Calibration.of(NUMBER, torch.zeros(1, 9, 1), y).half_width(0, torch.zeros(1), 0.9)


def log_loss(task, values, y):
    values = values.clamp(1e-9, 1 - 1e-9)
    if task.kind == "multiclass":
        return float(-values.log().gather(1, y).mean())
    return float(torch.nn.functional.binary_cross_entropy(values, y))


@pytest.mark.parametrize("task", [YES, CLASSES], ids=["binary", "multiclass"])
def test_probabilities_that_are_too_sure_are_corrected(task):
    rng = np.random.default_rng(2)
    logits = torch.from_numpy(rng.normal(size=(6000, task.classes))) * 1.5
    if task is YES:
        honest = logits.sigmoid()
        y = torch.from_numpy(rng.random((6000, 1)) < honest.numpy()).double()
        sure = (logits * 3 + 1).sigmoid()
    else:
        honest = logits.softmax(1)
        y = torch.tensor([[rng.choice(3, p=row)] for row in honest.numpy()])
        sure = (logits * 3 + torch.tensor([0.0, 1, 0])).softmax(1)
    calibration = Calibration.of(task, sure[None, :3000], y[:3000])
    found = calibration.corrected(task, sure[3000:])
    assert abs(calibration.slopes[0] - 1 / 3) < 0.05
    best = log_loss(task, honest[3000:], y[3000:])
    assert log_loss(task, found, y[3000:]) < best + 0.01 < log_loss(task, sure[3000:], y[3000:])
    torch.testing.assert_close(found, honest[3000:], atol=0.06, rtol=0)


def test_few_rows_make_no_certainties():
    values = torch.tensor([[0.6], [0.4]])
    calibration = Calibration.of(YES, values[None], torch.tensor([[1.0], [0.0]]))
    found = calibration.corrected(YES, values)
    assert 0.6 < found[0, 0] < 0.8
    unknown = Calibration.of(YES, values[None], torch.full((2, 1), torch.nan))
    torch.testing.assert_close(unknown.corrected(YES, values), values.double())


def test_mixed_targets_and_files(tmp_path):
    task = Task.mixed([NUMBER, CLASSES, YES])
    rng = np.random.default_rng(3)
    answers = torch.from_numpy(rng.dirichlet(np.ones(3), (2, 50)))
    answers = torch.cat([torch.from_numpy(rng.normal(size=(2, 50, 1))), answers, answers[..., :1]], 2)
    y = torch.stack([torch.randn(50), torch.randint(3, (50,)).double(), torch.randint(2, (50,)).double()], 1)
    calibration = Calibration.of(task, answers, y)
    path = tmp_path / "calibration.safetensors"
    calibration.save(path)
    again = Calibration.read(path, task)
    middle = answers.mean(0)
    found = calibration.corrected(task, middle)
    assert torch.equal(again.corrected(task, middle), found) and torch.equal(found[:, 0], middle[:, 0])
    torch.testing.assert_close(found[:, 1:4].sum(1), torch.ones(50, dtype=torch.float64))
    deviation = torch.rand(3)
    assert torch.equal(again.half_width(0, deviation, 0.9), calibration.half_width(0, deviation, 0.9))
    with pytest.raises(ValueError, match="damaged"):
        Calibration.read(path, CLASSES)
    path.write_bytes(path.read_bytes()[:-5])
    with pytest.raises(ValueError, match=r"calibration.safetensors is damaged"):
        Calibration.read(path, task)
    path.unlink()
    with pytest.raises(ValueError, match="is not there; resume the run, which writes it"):
        Calibration.read(path, task)
