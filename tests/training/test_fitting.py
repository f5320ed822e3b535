import csv
import itertools
import json
import math
import signal
from dataclasses import replace

import numpy as np
import pytest
import torch
from sklearn.metrics import roc_auc_score

from escgnn import training, zoo
from escgnn.datasets import DatasetBundle
from escgnn.task import Task
from escgnn.training import evaluate, fit, fit_folds, load_run, predict, read_config, read_result
from escgnn.training.folder import FILES
from escgnn.training.module import Learner, seed_all
from escgnn.training.recording import History
from escgnn.training.scores import Scores
from escgnn.transforms import StructuralEncoding
from tests.training import tiny
from tests.training.tiny import CONFIG, change


def rows(folder):
    with (folder / "metrics.csv").open() as stream:
        return [{name: float(value) for name, value in row.items()} for row in csv.DictReader(stream)]


def silent_fit(bundle, config, folder, **options):
    return fit(bundle, config, folder, progress=False, **options)


def test_run_folder(tmp_path):
    bundle = tiny.bundle()
    result = silent_fit(bundle, CONFIG, tmp_path / "run")
    assert {path.name for path in (tmp_path / "run").iterdir()} - {".lock"} == {*FILES}
    assert read_config(tmp_path / "run/config.yaml") == CONFIG
    assert read_result(tmp_path / "run") == result
    table = rows(tmp_path / "run")
    assert [row["epoch"] for row in table] == [0, 1, 2, 3]
    assert {"loss", "validation_mae", "validation_norm-mae", "lr", "seconds"} <= {*table[0]}
    values = [row["validation_mae"] for row in table]
    assert result.best_epoch == values.index(min(values)) and result.validation["mae"] == min(values)
    assert result.seconds == pytest.approx(sum(row["seconds"] for row in table))
    assert (result.epochs, result.stopped, result.seed, result.metric) == (4, "epochs", 0, "mae")
    assert {"mae", "mae/t0", "mae/t1", "norm-mae"} <= {*result.test}
    assert result.versions["torch"] == torch.__version__ and result.command
    torch.load(tmp_path / "run/last.ckpt", weights_only=True)
    assert (tmp_path / "run/curves.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize(
    "encoding",
    [{"hops": 2, "parts": ["degree", "edge", "cycle"]}, {"hops": [1, 2], "parts": ["walk", "colour"], "nodes": True}],
    ids=["cycle", "several radii"],
)
def test_parts_beyond_the_paper_train(tmp_path, encoding):
    bundle, config = tiny.bundle(), change(transform=encoding, epochs=1)
    assert math.isfinite(silent_fit(bundle, config, tmp_path / "run").test["mae"])
    run = load_run(tmp_path / "run")
    assert read_config(tmp_path / "run/config.yaml") == config
    assert run.transform.bins == StructuralEncoding(**encoding).bins
    assert predict(run, bundle.graphs).isfinite().all()


@pytest.mark.parametrize(("average", "judged"), [(None, "network"), (0.9, "averaged")])
def test_weights_are_those_of_the_best_epoch(average, judged, tmp_path, monkeypatch):
    values = iter([3.0, 1.0, 2.0, 1.5, 3.0, 1.0])
    monkeypatch.setattr(Scores, "compute", lambda self: {"mae": next(values)})
    config = change(schedule="constant", average=average)
    assert silent_fit(tiny.bundle(), config, tmp_path / "long").best_epoch == 1
    silent_fit(tiny.bundle(), change(config, epochs=2), tmp_path / "short")
    weights = torch.load(tmp_path / "short/last.ckpt", weights_only=True)["state_dict"]
    run = load_run(tmp_path / "long")
    assert run.epoch == 1
    assert len(run.model.state_dict()) == len([name for name in weights if name.startswith(judged)])
    for name, tensor in run.model.state_dict().items():
        assert torch.equal(tensor, weights[f"{judged}.{name}"])


def test_what_is_loaded_is_what_was_judged(tmp_path):
    bundle = tiny.bundle(level="node")
    result = silent_fit(bundle, CONFIG, tmp_path)
    run = load_run(tmp_path)
    assert evaluate(run, bundle, "validation")["mae"] == pytest.approx(result.validation["mae"], rel=1e-6)
    assert evaluate(run, bundle) == result.test


def test_numbers_are_recomputed_by_hand(tmp_path):
    bundle = tiny.bundle(targets=3, missing=0.3)
    result = silent_fit(bundle, CONFIG, tmp_path)
    error = np.abs(predict(load_run(tmp_path), bundle.test).numpy() - bundle.test.column("y").numpy())
    assert result.test["mae/t1"] == pytest.approx(np.nanmean(error[:, 1]), rel=1e-6)
    assert result.test["mae"] == pytest.approx(np.nanmean(error, axis=0).mean(), rel=1e-6)
    normal = np.nanmean(error, axis=0) / [bundle.scale[name].std for name in bundle.targets]
    assert result.test["norm-mae"] == pytest.approx(normal.mean(), rel=1e-6)


@pytest.mark.parametrize("kind", ["binary", "multilabel", "multiclass"])
def test_kinds(kind, tmp_path):
    bundle = tiny.bundle(kind, missing=0.2, size=60)
    result = silent_fit(bundle, change(seed=1), tmp_path)
    prediction, y = predict(load_run(tmp_path), bundle.test).numpy(), bundle.test.column("y").numpy()
    assert prediction.shape == (len(bundle.test), {"binary": 1, "multilabel": 2, "multiclass": 3}[kind])
    assert (prediction >= 0).all() and (prediction <= 1).all()
    if kind == "multiclass":
        assert result.test["accuracy"] == pytest.approx((prediction.argmax(1) == y[:, 0]).mean())
    else:
        known = ~np.isnan(y[:, 0])
        expected = roc_auc_score(y[known, 0], prediction[known, 0])
        assert result.test["rocauc/t0" if kind == "multilabel" else "rocauc"] == pytest.approx(expected, abs=1e-6)


def test_metrics_that_are_undefined_are_null(tmp_path):
    bundle = tiny.bundle("multilabel")
    y = bundle.graphs.column("y").clone()
    y[bundle.split.test, 1] = 0
    bundle = DatasetBundle("b", bundle.graphs.with_fields(graph={"y": y}), bundle.task, bundle.features, bundle.split)
    result = silent_fit(bundle, change(epochs=1), tmp_path)
    assert result.test["rocauc/t1"] is None and result.test["rocauc"] == result.test["rocauc/t0"]
    assert json.loads((tmp_path / "result.json").read_text())["test"]["rocauc/t1"] is None
    assert read_result(tmp_path) == result


def test_it_learns(tmp_path):
    bundle = tiny.bundle(level="node", targets=1, size=120)
    config = change(epochs=30, batch_size=16, network={"dropout": 0.0, "hidden": 16})
    with_encoding = silent_fit(bundle, config, tmp_path / "esc")
    without = silent_fit(bundle, change(config, model="gin", network={"dropout": 0.0, "hidden": 16}), tmp_path / "mpnn")
    assert with_encoding.test["mae"] < 0.8 * without.test["mae"]
    assert load_run(tmp_path / "mpnn").transform is None
    losses = [row["loss"] for row in rows(tmp_path / "esc")]
    assert losses[-1] < losses[0] / 2


@pytest.mark.parametrize("backbone", ["mpnn", "gps", "pna", "pna-towers", "gatedgcn"])
def test_backbones(backbone, tmp_path):
    bundle = tiny.bundle()
    result = silent_fit(bundle, change(epochs=1, network={"backbone": backbone}), tmp_path)
    run = load_run(tmp_path)
    assert evaluate(run, bundle) == result.test
    if backbone.startswith("pna"):
        assert sum(run.model.settings["degrees"]) == bundle.train.num_nodes_total


@pytest.mark.parametrize("kind", ["laplacian", "random_walk"])
def test_positions(kind, tmp_path):
    """Some graphs have fewer nodes than there are eigenvectors."""
    bundle = tiny.bundle()
    config = change(epochs=2, transform={"hops": 1, "positional": {"kind": kind, "size": 5}})
    result = silent_fit(bundle, change(config, epochs=1), tmp_path / "a")
    result = silent_fit(bundle, config, tmp_path / "a", resume=True)
    assert result == silent_fit(bundle, config, tmp_path / "b")
    assert evaluate(load_run(tmp_path / "a"), bundle) == result.test


def test_the_last_epoch_is_kept(tmp_path):
    """Whatever validation says; in one go, or after a stop."""
    bundle = tiny.bundle()
    config = change(epochs=3, lr=0.1, average=None)  # large steps, so that the last epoch is not the best
    best = silent_fit(bundle, config, tmp_path / "best")
    assert best.best_epoch < 2, "or the test says nothing"
    last = change(config, select="last")
    silent_fit(bundle, change(last, epochs=2), tmp_path / "last")
    result = silent_fit(bundle, last, tmp_path / "last", resume=True)
    assert result.best_epoch == 2 and result.validation["mae"] > best.validation["mae"]
    assert rows(tmp_path / "best")[2]["validation_mae"] == result.validation["mae"]
    assert evaluate(load_run(tmp_path / "last"), bundle) == result.test


def test_same_seed_same_result(tmp_path):
    bundle = tiny.bundle()
    results = [silent_fit(bundle, change(seed=seed), tmp_path / str(i)) for i, seed in enumerate((5, 5, 6))]
    assert results[0] == results[1] != results[2]


def test_workers_change_nothing(tmp_path):
    bundle = tiny.bundle()
    results = [silent_fit(bundle, change(epochs=2, workers=n), tmp_path / str(n)) for n in (0, 1)]
    assert results[0] == results[1]


def test_random_numbers_of_others_stay(tmp_path):
    torch.manual_seed(0)
    before = torch.get_rng_state()
    silent_fit(tiny.bundle(), change(epochs=1), tmp_path)
    assert torch.equal(before, torch.get_rng_state())


class TestBestEpoch:
    def history(self, values, direction="min"):
        history = History(Task("graph", "regression", "mae", direction, ("t",)))
        for epoch, value in enumerate(values):
            history.add({"epoch": epoch, "loss": 1.0}, {"mae": value}, {"w": torch.tensor(float(epoch))})
        return history

    @pytest.mark.parametrize(
        ("values", "direction", "best"),
        [
            ([3, 1, 1, 2], "min", 1),
            ([1, 3, 3], "max", 1),
            ([math.nan, 2, math.nan, 2], "min", 1),
            ([2, 2, 2], "max", 0),
            ([math.nan], "min", -1),
        ],
    )
    def test_strictly_best_and_ties_go_to_the_earlier(self, values, direction, best):
        history = self.history(values, direction)
        assert history.best_epoch == best
        assert best < 0 or history.best_weights["w"] == best

    def test_ties_are_broken_by_the_validation_loss(self):
        """Early stopping counts from the first epoch with the best metric all the same."""
        history = History(Task("graph", "binary", "accuracy", "max", ("t",)))
        nan = math.nan
        for epoch, (value, loss) in enumerate([(0.9, 0.1), (1, 0.7), (1, 0.5), (1, nan), (1, 0.5), (1, 0.6), (nan, 0)]):
            row = {"epoch": epoch, "loss": 1.0, "validation_loss": loss}
            history.add(row, {"accuracy": value}, {"w": torch.tensor(float(epoch))})
        assert (history.best_epoch, history.best_loss, history.improved_epoch) == (2, 0.5, 1)
        assert history.best_weights["w"] == 2
        assert history.stopped(10, 5) == "early" and history.stopped(10, 6) == ""

    def test_the_loss_alone_may_decide(self):
        history = History(Task("graph", "binary", "accuracy", "max", ("t",)), "loss")
        for epoch, (value, loss) in enumerate([(0.9, 0.7), (0.5, 0.4), (1, math.nan), (0.8, 0.4), (1, 0.6)]):
            row = {"epoch": epoch, "loss": 1.0, "validation_loss": loss}
            history.add(row, {"accuracy": value}, {"w": torch.tensor(float(epoch))})
        assert (history.best_epoch, history.best_loss, history.best_metrics) == (1, 0.4, {"accuracy": 0.5})
        assert history.stopped(10, 3) == "early", "early stopping counts from there"
        assert "select" not in history.state()

    def test_the_last_may_be_taken(self):
        """But none that diverged; early stopping counts from the best metric all the same."""
        history = History(Task("graph", "binary", "accuracy", "max", ("t",)), "last")
        epochs = [(0.5, 1.0), (0.9, 1.0), (math.nan, 1.0), (0.7, 1.0), (0.9, 1.0), (0.6, 1.0), (0.8, math.nan)]
        kept = []
        for epoch, (value, loss) in enumerate(epochs):
            row = {"epoch": epoch, "loss": loss, "validation_loss": 1.0, "validation_accuracy": value}
            kept.append(history.add(row, {"accuracy": value}, {"w": torch.tensor(float(epoch))}))
            assert history.improved_epoch == (0 if epoch == 0 else 1)
        assert kept == [True, True, False, True, True, True, False]
        assert (history.best_epoch, history.best_metrics) == (5, {"accuracy": 0.6}) and history.best_weights["w"] == 5
        assert history.stopped(10, 6) == "diverged"

    def test_a_history_without_losses_goes_on(self):
        """Of a time when the first of several equal epochs was the best."""
        old = {name: value for name, value in vars(self.history([3, 1, 1])).items() if name != "task"}
        history = History(Task("graph", "regression", "mae", "min", ("t",)))
        history.restore({name: value for name, value in old.items() if name not in ("best_loss", "improved_epoch")})
        assert (history.improved_epoch, history.best_epoch) == (1, 1) and history.stopped(10, 1) == "early"
        for value, loss in ((1, 0.5), (0.5, 0.4), (0.5, 0.3)):
            history.add({"loss": 1.0, "validation_loss": loss}, {"mae": value}, {"w": torch.tensor(0.0)})
        assert (history.best_epoch, history.best_loss) == (5, 0.3)

    def test_stopping(self):
        history = self.history([3, 1, 2, 2])
        assert history.stopped(10, None) == "" and history.stopped(4, None) == "epochs"
        assert history.stopped(10, 2) == "early" and history.stopped(10, 3) == ""
        history.rows[-1]["loss"] = math.nan
        assert history.stopped(10, None) == "diverged"


def test_early_stopping(tmp_path):
    """Nothing is learnt, so every epoch ties with the first."""
    still = change(lr=1e-30, early_stopping=2, epochs=50, network={"norm": "layer"})
    result = silent_fit(tiny.bundle(), still, tmp_path)
    assert (result.best_epoch, result.epochs, result.stopped) == (0, 3, "early")
    assert silent_fit(tiny.bundle(), still, tmp_path, resume=True) == result


def test_divergence_is_told(tmp_path):
    with pytest.raises(ValueError, match="diverged"):
        silent_fit(tiny.bundle(), change(lr=1e30, epochs=5), tmp_path)
    assert len(rows(tmp_path)) == 1


def test_plateau(tmp_path, monkeypatch):
    """An error that grows is no progress."""
    errors = itertools.count(1.0)
    monkeypatch.setattr(Scores, "compute", lambda self: {"mae": next(errors)})
    silent_fit(tiny.bundle(), change(factor=0.5, patience=1, epochs=6), tmp_path)
    assert [row["lr"] / 0.01 for row in rows(tmp_path)] == [1, 1, 1, 0.5, 0.5, 0.25]


def test_cosine_with_warmup(tmp_path):
    silent_fit(tiny.bundle(), change(lr=0.1, schedule="cosine", warmup=2, epochs=6), tmp_path)
    expected = [1 / 3, 2 / 3, *(0.5 * (1 + math.cos(math.pi * i / 4)) for i in range(4))]
    assert [row["lr"] / 0.1 for row in rows(tmp_path)] == pytest.approx(expected)


def test_constant_rate(tmp_path):
    silent_fit(tiny.bundle(), change(schedule="constant", epochs=2), tmp_path)
    assert {row["lr"] for row in rows(tmp_path)} == {0.01}


@pytest.mark.parametrize("precision", ["bf16-mixed", "64"])
def test_precision(precision, tmp_path):
    bundle = tiny.bundle()
    usual = silent_fit(bundle, CONFIG, tmp_path / "usual")
    other = silent_fit(bundle, change(precision=precision), tmp_path / "other")
    assert other.validation["mae"] == pytest.approx(usual.validation["mae"], rel=0.1)
    assert other != usual


def test_folds(tmp_path):
    bundle = tiny.bundle(folds=3)
    result = fit_folds(bundle, CONFIG, tmp_path / "a", progress=False)
    values = [fold.test["mae"] for fold in result.folds]
    assert len({*values}) == 3
    assert (result.mean, result.std) == (pytest.approx(np.mean(values)), pytest.approx(np.std(values, ddof=1)))
    alone = silent_fit(bundle.fold(1), CONFIG, tmp_path / "b")
    assert result.folds[1] == alone  # a new network for every fold
    assert json.loads((tmp_path / "a/result.json").read_text())["mean"] == result.mean
    with pytest.raises(ValueError, match="not empty"):
        fit_folds(bundle, CONFIG, tmp_path / "a", progress=False)
    (tmp_path / "a/fold2/result.json").unlink()
    assert fit_folds(bundle, CONFIG, tmp_path / "a", resume=True, progress=False) == result


def test_folds_are_needed(tmp_path):
    with pytest.raises(ValueError, match="has no folds"):
        fit_folds(tiny.bundle(), CONFIG, tmp_path)
    with pytest.raises(ValueError, match="choose one with"):
        silent_fit(tiny.bundle(folds=2), CONFIG, tmp_path)


def test_what_cannot_be_trained(tmp_path):
    bundle = tiny.bundle("binary")
    y = bundle.graphs.column("y").clone()
    y[bundle.split.validation] = 1
    one_class = DatasetBundle("b", bundle.graphs.with_fields(graph={"y": y}), bundle.task, {}, bundle.split)
    empty = DatasetBundle("b", bundle.graphs, bundle.task, {}, bundle.split._replace(train=np.empty(0, np.int64)))
    for wrong, config, message in [
        (one_class, CONFIG, "rocauc of the validation targets is undefined"),
        (
            empty,
            CONFIG,
            "has no train graphs; its 40 usable rows give 0 train, 10 validation, 10 test.*by the argument split",
        ),
        (bundle, change(loss="l1"), "does not suit binary"),
        (bundle, change(accelerator="abacus"), "accelerator abacus, devices 1"),
        (tiny.bundle(metric="rocauc"), CONFIG, "'rocauc' does not suit regression"),
        (DatasetBundle("p", bundle.graphs, Task("pair", "binary", "separated", "max")), CONFIG, "nothing to learn"),
    ]:
        with pytest.raises(ValueError, match=message):
            silent_fit(wrong, config, tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_without_test_graphs_there_are_no_test_metrics(tmp_path):
    """And those who would have been tested are not learnt from."""
    bundle = tiny.bundle()
    fewer = replace(bundle, split=bundle.split._replace(test=np.empty(0, np.int64)))
    usual = silent_fit(bundle, change(epochs=1), tmp_path / "usual")
    result = silent_fit(fewer, change(epochs=1), tmp_path / "fewer")
    assert result == replace(usual, test={})
    assert read_result(tmp_path / "fewer") == result
    weights = [(tmp_path / name / "model.safetensors").read_bytes() for name in ("usual", "fewer")]
    assert weights[0] == weights[1]
    folds = replace(fewer, split=None, folds=(bundle.split, fewer.split))
    with pytest.raises(ValueError, match="fold 1 of tiny has no test graphs"):
        fit_folds(folds, CONFIG, tmp_path / "folds")


def test_nothing_is_printed(tmp_path, capfd):
    silent_fit(tiny.bundle(), change(epochs=1), tmp_path / "a")
    assert capfd.readouterr() == ("", "")


def test_bar(tmp_path, capfd):
    fit(tiny.bundle(), change(epochs=2), tmp_path)
    out, err = capfd.readouterr()
    assert out == ""
    assert "tiny" in err and "2/2" in err and "loss" in err and "mae" in err
    assert "lightning" not in err.lower() and "GPU" not in err


def test_interrupt_can_be_caught(tmp_path, monkeypatch):
    times = itertools.count()

    def interrupted(*_):
        if next(times) == 4:
            raise KeyboardInterrupt

    bundle, handler = tiny.bundle(), signal.getsignal(signal.SIGINT)
    with monkeypatch.context() as patch:
        patch.setattr(training.module.Learner, "on_train_batch_start", interrupted)
        with pytest.raises(KeyboardInterrupt):
            silent_fit(bundle, CONFIG, tmp_path / "a")
    assert signal.getsignal(signal.SIGINT) is handler
    assert silent_fit(bundle, CONFIG, tmp_path / "a", resume=True) == silent_fit(bundle, CONFIG, tmp_path / "b")


def built(bundle, config):
    """The network of a run before it is trained."""
    recipe = zoo.recipe_of(config.model)
    each, once = recipe.transforms(config.transform)
    return recipe.build(config.network, each, once, task=bundle.task, features=bundle.features, graphs=bundle.train)


@pytest.mark.parametrize("average", [None, 0.0, 0.9])
def test_mean_of_the_weights_is_judged(average, monkeypatch, tmp_path):
    """Against a mean written down step by step; one that forgets all is the weights themselves."""
    seen = []
    follow = Learner.on_train_batch_end

    def watched(self, *arguments):
        seen.append({name: value.clone() for name, value in self.network.state_dict().items()})
        follow(self, *arguments)

    monkeypatch.setattr(Learner, "on_train_batch_end", watched)
    fit(tiny.bundle(), change(average=average, epochs=1), tmp_path, progress=False)
    run = load_run(tmp_path)
    kept = run.model.state_dict()
    assert len(seen) == 3
    for name in ("head.0.weight", "final_norm.running_mean"):
        seed_all(CONFIG.seed)
        mean = built(tiny.bundle(), CONFIG).state_dict()[name]
        for step, weights in enumerate(seen, start=1):
            decay = 0 if average is None else min(average, step / (9 + step))
            mean = decay * mean + (1 - decay) * weights[name]
        torch.testing.assert_close(kept[name], mean)
    assert int(kept["final_norm.num_batches_tracked"]) == 3
    judged = evaluate(run, tiny.bundle(), "validation")["mae"]
    assert judged == pytest.approx(read_result(tmp_path).validation["mae"], rel=1e-5)
