"""Judging a trained network: by which graphs, and by which classes."""

import copy
from dataclasses import replace

import numpy as np
import pytest
import torch

from escgnn.datasets import Split
from escgnn.training import evaluate, fit, load_run, predict
from escgnn.training.prediction import outputs, own_split, part_of
from tests.training import tiny
from tests.training.tiny import change

NAMES = ("high", "low", "none")


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("run")
    fit(tiny.bundle(), change(epochs=1), folder, progress=False)
    return load_run(folder)


@pytest.fixture(scope="module")
def classes():
    bundle = tiny.bundle("multiclass")
    return replace(bundle, task=replace(bundle.task, names=NAMES))


@pytest.fixture(scope="module")
def classifier(classes, tmp_path_factory):
    folder = tmp_path_factory.mktemp("classes")
    fit(classes, change(epochs=1), folder, progress=False)
    return load_run(folder)


def asked(bundle, **task):
    return replace(bundle, task=replace(bundle.task, **task))


def test_parts(run):
    bundle = tiny.bundle()
    with pytest.raises(ValueError, match="split: 'valid'; expected one of train, validation, test, all"):
        evaluate(run, bundle, "valid")
    assert {"mae", "norm-mae", "mae/t0"} <= {*evaluate(run, bundle, "train")}
    sizes = [len(part_of(bundle, part)) for part in ("train", "validation", "test", "all")]
    assert sizes == [20, 10, 10, 40]
    parts = [evaluate(run, bundle, part)["mae"] for part in ("train", "validation", "test")]
    assert evaluate(run, bundle, "all")["mae"] == pytest.approx(np.average(parts, weights=sizes[:3]))
    assert evaluate(run, replace(bundle, split=None), "all") == evaluate(run, bundle, "all")


def test_only_what_differs_is_named(run, classifier, classes):
    bundle = tiny.bundle(targets=3)
    with pytest.raises(ValueError, match=r"targets of tiny: 't0', 't1', 't2'; .* has 't0', 't1'$"):
        evaluate(run, bundle)
    with pytest.raises(ValueError, match=r"kind of tiny: multilabel; .* has regression$"):
        evaluate(run, tiny.bundle("multilabel"))
    with pytest.raises(ValueError, match=r"level of tiny: node; .* has graph$"):
        evaluate(run, tiny.bundle(level="node"))
    with pytest.raises(ValueError, match=r"classes of tiny: 5; .* has 3$"):
        evaluate(classifier, asked(classes, classes=5, names=()))
    assert evaluate(run, asked(tiny.bundle(), metric="rmse")) == evaluate(run, tiny.bundle()), "all are told anyway"


@pytest.fixture
def undecided(classifier, classes):
    """The classifier with its outputs shifted so that it names all classes, and not one for all graphs."""
    model = copy.deepcopy(classifier.model)
    shifted = replace(classifier, model=model)
    with torch.no_grad():
        model.head[-1].bias -= outputs(classifier, classes.graphs).mean(0)
    assert predict(shifted, classes.graphs).argmax(1).unique().tolist() == [0, 1, 2]
    return shifted


def test_classes_are_known_by_name(undecided, classes):
    """A table that lacks a class numbers the others anew."""
    classifier = undecided
    y = classes.graphs.column("y")
    some = np.flatnonzero((y != 1).numpy().ravel())
    fewer = (y[some] > 1).long()  # high, none
    fewer[0] = -1
    bundle = replace(
        asked(classes, classes=2, names=("high", "none")),
        graphs=classes.graphs[some].with_fields(graph={"y": fewer}),
        split=None,
    )
    best = predict(classifier, bundle.graphs).argmax(1)
    known = (best == torch.tensor([0, 2])[fewer.view(-1)])[1:]
    assert 0 < known.sum() < len(known)
    assert evaluate(classifier, bundle, "all")["accuracy"] == pytest.approx(float(known.double().mean()))
    with pytest.raises(
        ValueError, match=r"tiny has the classes 'High', which .* does not know; it knows 'high', 'low', 'none'"
    ):
        evaluate(classifier, asked(classes, names=("High", "low", "none")))


def test_its_own_split(run):
    bundle = tiny.bundle()
    y = bundle.graphs.column("y") + 1
    other = Split(bundle.split.test, bundle.split.validation, bundle.split.train)
    same = replace(bundle, graphs=bundle.graphs.with_fields(graph={"y": y}), split=other, folds=(other,))
    own = own_split(run, same)
    assert not own.folds
    for found, trained in zip(own.split, bundle.split, strict=True):
        assert found.tolist() == sorted(trained)
    assert own_split(run, bundle, given=True) is not None
    with pytest.raises(ValueError, match=r"split: .* was trained with another one of tiny, so that graphs it knows"):
        own_split(run, same, given=True)
    assert own_split(run, tiny.bundle(seed=1), given=True) is None
    assert own_split(replace(run, split=None), bundle) is None, "an earlier version kept none"
