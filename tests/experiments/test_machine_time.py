"""How many epochs fit, measured once and kept."""

from dataclasses import replace

import numpy as np
import pytest

from escgnn import datasets
from escgnn.datasets import Split
from escgnn.experiments import Cell, machine_time, trained
from escgnn.experiments.machine_time import Afforded, afford
from escgnn.training import read_config

TINY = {"model": {"hidden": 8, "layers": 1}, "schedule": "cosine", "epochs": 3, "batch_size": 8}


@pytest.fixture(scope="module")
def bundle():
    return datasets.load("counting-random", count=60)


@pytest.mark.parametrize(
    ("minutes", "seconds", "folds", "epochs", "share"),
    [(1, 2.0, 1, 30, 1.0), (1, 2.0, 10, 3, 1.0), (1, 0.1, 1, 50, 1.0), (1, 120.0, 1, 1, 0.5), (1, 0.0, 1, 50, 1.0)],
)
def test_what_fits(minutes, seconds, folds, epochs, share):
    found = Afforded.of(minutes, seconds, 50, folds)
    assert (found.epochs, found.share) == (epochs, share)
    assert (found.note == "") == (share == 1)


def test_a_share_leaves_the_test_graphs_alone(bundle):
    few = Afforded.of(1.0, 120.0, 50).bundle(bundle)
    assert [len(index) for index in few.split] == [len(bundle.split.train) // 2, len(bundle.split.validation) // 2, 30]
    assert {*few.split.train} <= {*bundle.split.train} and {*few.split.validation} <= {*bundle.split.validation}
    assert np.array_equal(few.split.test, bundle.split.test)
    folded = replace(bundle, split=None, folds=(bundle.split, Split(*reversed(bundle.split))))
    assert [len(fold.train) for fold in Afforded.of(1.0, 60.0, 50, 2).bundle(folded).folds] == [9, 15]
    assert Afforded.of(1.0, 1.0, 50).bundle(bundle) is bundle


def test_it_is_measured_once(bundle, tmp_path, monkeypatch):
    monkeypatch.setattr(machine_time, "measured", lambda *_: 4.0)
    config = read_config(overrides={**TINY, "epochs": 100}, bundle=bundle)
    first = afford(bundle, config, 2.0, tmp_path)
    assert (first.epochs, first.config(config).epochs, first.config(config).warmup) == (30, 30, 1)
    monkeypatch.setattr(machine_time, "measured", lambda *_: 1.0)
    assert afford(bundle, config, 2.0, tmp_path) == first
    assert [path.name for path in tmp_path.iterdir()] == ["epochs.json"], "drafts are gone"


def test_the_measured_time_is_that_of_all_graphs(bundle, tmp_path, monkeypatch):
    """With an eighth of the graphs an epoch counts eight times."""
    monkeypatch.setattr(machine_time, "SAMPLES", (3,))
    times = iter(["5.0", "0.5"])

    def fit(some, config, folder, progress):
        assert len(some.split.train) == 3 and config.epochs == 2
        rows = "\n".join(f"{epoch},{next(times)}" for epoch in range(2))
        (tmp_path / folder / "metrics.csv").write_text(f"epoch,cpu_seconds\n{rows}\n")

    monkeypatch.setattr(machine_time, "fit", fit)
    config = read_config(overrides=TINY, bundle=bundle)
    assert machine_time.measured(bundle, config, tmp_path) == pytest.approx(0.5 * len(bundle.split.train) / 3)


def test_a_cell_with_a_limit_of_time(tmp_path):
    """It is trained in a folder of its own, goes on with the same epochs, and says what it took."""
    settings = trained.training("counting-random", TINY, cpu_minutes=10.0, count=60)
    done = trained.train(Cell("x", settings=settings), tmp_path, False)
    assert done.result.epochs == done.afforded.epochs == 3, "at most those of the settings"
    found = trained.outcome(done, "tab:x", trained.per_target(done.bundle, "norm-mae"))
    assert found.config["afforded"]["cpu_minutes"] == 10.0 and found.config["parameters"] > 100
    assert found.cpu_seconds == done.result.cpu_seconds > 0
    again = trained.train(Cell("x", settings=settings), tmp_path, False)
    assert again.result == done.result
