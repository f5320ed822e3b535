"""Which graphs judge a trained network."""

from dataclasses import replace

import pytest

from escgnn.datasets import Split
from escgnn.training import Judgement, evaluate, fit, judge, load_run
from escgnn.training.prediction import own_split
from tests.training import tiny
from tests.training.tiny import change


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("run")
    fit(tiny.bundle(), change(epochs=1), folder, progress=False)
    return load_run(folder)


@pytest.fixture
def known():
    return tiny.bundle()


@pytest.fixture
def new(known):
    """Graphs that the run was not trained on."""
    graphs = known.graphs[range(30)]
    return replace(known, graphs=graphs, split=Split(*(index[index < 30] for index in known.split)))


def test_known_data_is_judged_by_the_split_of_the_training(run, known):
    own = own_split(run, known)  # the graphs of each subset in order
    expected = Judgement(evaluate(run, own, "test"), "test", len(known.test), own=True)
    unsplit = replace(known, split=None)
    for bundle in (known, unsplit):
        assert judge(run, bundle) == judge(run, bundle, is_sheet=True) == expected
    assert judge(run, unsplit, "all") == Judgement(evaluate(run, known, "all"), "all", 40, own=True)
    assert judge(run, unsplit, "validation").graphs == len(known.validation)
    swapped = replace(known, split=Split(known.split.test, known.split.validation, known.split.train))
    assert judge(run, swapped) == expected, "a split that nobody chose does not count"
    with pytest.raises(ValueError, match="was trained with another one of tiny"):
        judge(run, swapped, is_split_chosen=True)


def test_new_data_is_judged_by_its_test_graphs_and_a_table_by_all(run, new):
    assert judge(run, new) == Judgement(evaluate(run, new, "test"), "test", len(new.test), own=False)
    assert judge(run, new, is_sheet=True) == Judgement(evaluate(run, new, "all"), "all", 30, own=False)
    assert judge(run, new, is_sheet=True, is_split_chosen=True) == judge(run, new)
    assert judge(run, new, "train", is_sheet=True).graphs == len(new.train)


def test_a_cross_validation_is_judged_by_a_fold(run, new):
    folds = replace(new, split=None, folds=(new.split, new.split))
    with pytest.raises(ValueError, match="fold: none given; tiny is judged by 2 folds, choose one, from 0"):
        judge(run, folds)
    assert judge(run, folds, fold=1) == judge(run, new)
    assert judge(run, folds, "all").graphs == 30
