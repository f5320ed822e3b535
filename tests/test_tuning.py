import csv
import errno
import itertools
import json
import shutil
import sqlite3

import optuna
import pytest

from escgnn import datasets, training, tuning
from escgnn.training import TrainConfig, fitting, read_config, read_result
from escgnn.tuning import tune
from tests.training import tiny

BASE = TrainConfig(transform={"max_degree": 16}, network={"dropout": 0.1}, epochs=1, batch_size=16)


def make_tiny(patch):
    """Small networks, and no pictures, which take longer to draw than these to train."""
    patch.setattr(fitting, "draw_curves", lambda *_: None)
    patch.setitem(tuning.NETWORK, "hidden", tuning.CategoricalDistribution([4, 8]))
    patch.setitem(tuning.NETWORK, "layers", tuning.IntDistribution(1, 2))


@pytest.fixture(autouse=True)
def tiny_runs(monkeypatch):
    make_tiny(monkeypatch)


@pytest.fixture
def runs(monkeypatch):
    """Names of the run folders that were trained in."""
    names = []

    def fit(bundle, config, out, **options):
        names.append(out.name)
        return fitting.fit(bundle, config, out, **options)

    monkeypatch.setattr(training, "fit", fit)
    return names


@pytest.fixture(scope="module")
def bundle():
    return datasets.load("counting-random", count=20)


def table(folder):
    with (folder / "trials.csv").open(newline="") as stream:
        return list(csv.DictReader(stream))


def test_search_goes_on_where_it_was_left(tmp_path, bundle, runs):
    seen = []
    first = tune(bundle, tmp_path / "a", trials=2, base=BASE, progress=seen.append)
    assert [trial.number for trial in seen] == [0, 1] and seen == [*first.trials]
    result = tune(bundle, tmp_path / "a", trials=3, base=BASE)
    assert runs == ["trial-000", "trial-001", "trial-002"]
    assert result.trials[:2] == first.trials
    assert len({json.dumps(trial.settings) for trial in result.trials}) == 3
    assert tune(bundle, tmp_path / "a", trials=3, base=BASE) == result and len(runs) == 3

    metric = bundle.task.metric
    assert (result.metric, result.folder) == (metric, tmp_path / "a")
    for trial in result.trials:
        assert trial.value == read_result(tmp_path / f"a/trial-{trial.number:03}").validation[metric]
    assert result.best.value == min(trial.value for trial in result.trials)
    assert read_config(tmp_path / "a/best.yaml") == result.config
    assert read_config(tmp_path / f"a/trial-{result.best.number:03}/config.yaml") == result.config
    assert result.config.network["dropout"] == 0.1 and result.config.transform["max_degree"] == 16
    rows = table(tmp_path / "a")
    assert [float(row[f"validation_{metric}"]) for row in rows] == [trial.value for trial in result.trials]
    assert {"hops", "degree", "resistance", "hidden", "layers", "lr", "state", "error"} <= {*rows[0]}

    straight = tune(bundle, tmp_path / "b", trials=3, base=BASE)
    assert straight.trials == result.trials


def test_a_killed_run_goes_on(tmp_path, bundle, runs, monkeypatch):
    finish = fitting._finish

    def kill(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(fitting, "_finish", kill)
    with pytest.raises(KeyboardInterrupt):
        tune(bundle, tmp_path, trials=1, base=BASE)
    monkeypatch.setattr(fitting, "_finish", finish)
    result = tune(bundle, tmp_path, trials=1, base=BASE)
    assert runs == ["trial-000", "trial-000"] and len(result.trials) == 1


CURVES = [[5, 4, 3, 2, 1], [6, 5, 4, 3, 2], [9, 4.2, 0.5, 0.5, 0.5], [7, 6, 5, 4, 3], [1, 9, 9, 9, 9]]


def follow(curves):
    """A stand-in for training: the validation metric of every epoch is known beforehand."""

    def fit(bundle, config, out, *, watch, **_):
        curve = curves[int(out.name[-3:])]
        for epoch in range(1, len(curve)):
            if watch is not None:
                watch(curve[:epoch])
        return type("Result", (), {"validation": {bundle.task.metric: min(curve)}})

    return fit


def test_runs_worse_than_the_median_are_cut_short(tmp_path, bundle, monkeypatch):
    monkeypatch.setattr(training, "fit", follow(CURVES))
    monkeypatch.setattr(tuning, "STARTUP", 2)
    result = tune(bundle, tmp_path / "a", trials=5, base=BASE, epochs=5)
    # the first fifth is free; then the third is better than the median, the fourth is not, the last was once
    assert [trial.state for trial in result.trials] == ["complete", "complete", "complete", "pruned", "complete"]
    assert [trial.value for trial in result.trials] == [1, 2, 0.5, 6, 1]
    assert result.best.number == 2
    rows = table(tmp_path / "a")
    assert [row["state"] for row in rows] == [trial.state for trial in result.trials]
    assert float(rows[3][f"validation_{bundle.task.metric}"]) == 6

    whole = tune(bundle, tmp_path / "b", trials=5, base=BASE, epochs=5, prune=False)
    assert {trial.state for trial in whole.trials} == {"complete"}
    several = BASE.model_copy(update={"devices": 2})
    assert tune(bundle, tmp_path / "c", trials=5, base=several, epochs=5).trials == whole.trials


def test_a_pruned_trial_is_never_the_best(tmp_path, bundle, monkeypatch):
    """Not even if it is the only one."""
    monkeypatch.setattr(training, "fit", follow([[5, 4, 3], [4.5, 0.1, 0.1], [6, 4.5, 0]]))
    monkeypatch.setattr(tuning, "STARTUP", 1)
    result = tune(bundle, tmp_path, trials=3, base=BASE, epochs=3)
    assert [trial.state for trial in result.trials] == ["complete", "complete", "pruned"]
    assert result.best.number == 1


TRIALS = 8  # of which some are cut short


def test_a_run_killed_before_it_is_judged_is_judged_alike(tmp_path, bundle, monkeypatch):
    """The epoch is in the checkpoint, but the study has not heard of it."""
    monkeypatch.setattr(tuning, "STARTUP", 1)
    monkeypatch.setitem(tuning.NETWORK, "lr", tuning.FloatDistribution(1e-6, 1e-1, log=True))
    base = BASE.model_copy(update={"epochs": 4})
    straight = tune(bundle, tmp_path / "straight", trials=TRIALS, base=base)
    states = [trial.state for trial in straight.trials]
    assert states[0] == "complete" and "pruned" in states
    report = optuna.Trial.report
    for moment in (2, 3 * states.index("pruned") + 1):  # a run that comes to its end reports all epochs but the last
        calls = itertools.count(1)

        def kill(*arguments, calls=calls, moment=moment):
            if next(calls) == moment:
                raise KeyboardInterrupt
            report(*arguments)

        monkeypatch.setattr(optuna.Trial, "report", kill)
        folder = tmp_path / f"killed{moment}"
        with pytest.raises(KeyboardInterrupt):
            tune(bundle, folder, trials=TRIALS, base=base)
        assert tune(bundle, folder, trials=TRIALS, base=base).trials == straight.trials


def test_failures_are_recorded(tmp_path, bundle, monkeypatch):
    def fit(bundle, config, out, **options):
        if out.name == "trial-000":
            raise RuntimeError("out of memory")
        return fitting.fit(bundle, config, out, **options)

    monkeypatch.setattr(training, "fit", fit)
    with pytest.raises(ValueError, match="none of 1 trials came to an end; the first: RuntimeError: out of memory"):
        tune(bundle, tmp_path, trials=1, base=BASE)
    assert not (tmp_path / "best.yaml").exists()
    result = tune(bundle, tmp_path, trials=2, base=BASE)
    assert [trial.error for trial in result.trials] == ["RuntimeError: out of memory", ""]
    assert [trial.state for trial in result.trials] == ["failed", "complete"]
    assert result.trials[0].value is None and result.best.number == 1
    assert [row["error"] for row in table(tmp_path)] == ["RuntimeError: out of memory", ""]


def test_larger_is_better_where_it_is(tmp_path, monkeypatch):
    values = iter([0.2, 0.7, 0.7])
    monkeypatch.setattr(
        training, "fit", lambda *_, **__: type("Result", (), {"validation": {"accuracy": next(values)}})
    )
    assert tune(tiny.bundle("multiclass"), tmp_path, trials=3, base=BASE).best.number == 1


def test_proposals(tmp_path, bundle, monkeypatch):
    tried = []

    def fit(bundle, config, out, **_):
        tried.append(config)
        return type("Result", (), {"validation": {bundle.task.metric: config.lr}})

    monkeypatch.setattr(training, "fit", fit)
    tune(bundle, tmp_path / "all", trials=15, base=BASE, epochs=7)
    assert {config.transform["hops"] for config in tried} == {1, 2, 3, 4}
    assert all("edge" in config.transform["parts"] and config.epochs == 7 for config in tried)
    assert len({config.transform["parts"] for config in tried}) > 5
    assert all(1e-4 <= config.lr <= 1e-2 for config in tried)
    tried.clear()
    tune(bundle, tmp_path / "bare", trials=2, base=TrainConfig(model="gin", epochs=1))
    plain = {"positional": None, "environments": (), "types": ()}
    assert [(config.model, config.transform) for config in tried] == [("gin", plain)] * 2


def test_what_cannot_be_used(tmp_path, bundle, monkeypatch):
    monkeypatch.setattr(training, "fit", lambda *_, **__: type("Result", (), {"validation": {bundle.task.metric: 1.0}}))
    tune(bundle, tmp_path / "search", trials=1, base=BASE)
    with pytest.raises(ValueError, match="other settings; epochs was 1 and is 2"):
        tune(bundle, tmp_path / "search", trials=2, base=BASE, epochs=2)
    with pytest.raises(ValueError, match="other data"):
        tune(datasets.load("counting-random", count=21), tmp_path / "search", trials=2, base=BASE)
    (tmp_path / "full").mkdir()
    (tmp_path / "full/notes.txt").touch()
    with pytest.raises(ValueError, match="is not empty"):
        tune(bundle, tmp_path / "full", base=BASE)
    with pytest.raises(ValueError, match="folds"):
        tune(tiny.bundle(folds=2), tmp_path / "folds", base=BASE)
    with pytest.raises(ValueError, match="none of 0 trials"):
        tune(bundle, tmp_path / "late", base=BASE, timeout=0)


def test_one_process_at_a_time(tmp_path, bundle, monkeypatch):
    def fit(*_, **__):
        with pytest.raises(ValueError, match="another process is searching"):
            tune(bundle, tmp_path, trials=1, base=BASE)
        return type("Result", (), {"validation": {bundle.task.metric: 1.0}})

    monkeypatch.setattr(training, "fit", fit)
    assert tune(bundle, tmp_path, trials=1, base=BASE).best.value == 1


@pytest.fixture(scope="module")
def searched(tmp_path_factory, bundle):
    """A search of one trial, and what one of two comes to."""
    folder = tmp_path_factory.mktemp("searched")
    with pytest.MonkeyPatch.context() as patch:
        make_tiny(patch)
        tune(bundle, folder / "one", trials=1, base=BASE)
        shutil.copytree(folder / "one", folder / "two")
        result = tune(bundle, folder / "two", trials=2, base=BASE)
    return folder / "one", result


@pytest.mark.parametrize("name", ["last.ckpt", "trials.csv", "study.db"])
def test_a_full_disk_ends_the_search_until_there_is_room(searched, tmp_path, bundle, monkeypatch, name):
    """It is no trial's fault: none fails, and the search comes to what it would have come to."""
    one, straight = searched
    folder = shutil.copytree(one, tmp_path / "search")
    replace = type(folder).replace

    def full(draft, target):
        if target.name == name:
            raise OSError(errno.ENOSPC, "no space")
        return replace(draft, target)

    def full_database(*_, **__):
        cause = sqlite3.OperationalError("database or disk is full")
        raise optuna.exceptions.StorageInternalError("An exception is raised during the commit") from cause

    with monkeypatch.context() as patch:
        patch.setattr(type(folder), "replace", full)
        if name == "study.db":
            patch.setattr(optuna.storages.RDBStorage, "set_trial_state_values", full_database)
        with pytest.raises(OSError, match=r"No space left|disk is full") as error:
            tune(bundle, folder, trials=2, base=BASE)
    assert error.value.filename.endswith(name)
    result = tune(bundle, folder, trials=2, base=BASE)
    assert [trial.state for trial in result.trials] == ["complete", "complete"]
    assert result.trials == straight.trials
