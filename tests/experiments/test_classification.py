"""`tab:tu`: which graphs teach, choose and judge, and what number is taken."""

import json
import statistics
from dataclasses import replace

import numpy as np
import pytest

from escgnn import datasets
from escgnn.experiments import EXPERIMENTS, classification, trained
from escgnn.experiments.machine_time import Afforded
from escgnn.training import load_run, predict, read_config


def test_folds(benchmark_data):
    bundle = datasets.load("mutag")
    blocks = [{*fold.test.tolist()} for fold in bundle.folds]
    nested = classification.with_folds(bundle, "nested").folds
    flat = classification.with_folds(bundle, "max of mean").folds
    for i in range(10):
        train, validation, test = ({*subset.tolist()} for subset in nested[i])
        assert test == blocks[i] and validation == blocks[i - 1]
        assert train == {*range(188)} - test - validation
        train, validation, test = ({*subset.tolist()} for subset in flat[i])
        assert test == validation == blocks[i] and train == {*range(188)} - test


def test_features(benchmark_data):
    mutag = datasets.load("mutag")
    assert "edge_attr" in mutag.features and [*classification.bare(mutag).features] == ["x"]
    imdb = classification.bare(datasets.load("imdb-b"))
    degrees = np.bincount(imdb.graphs[3].edge_index[0], minlength=imdb.graphs[3].num_nodes)
    assert imdb.graphs[3].x[:, 0].tolist() == np.minimum(degrees, 63).tolist()
    assert imdb.features["x"].sizes == (64,)


def test_the_mean_comes_before_the_maximum():
    curves = [[0.1, 0.9, 0.2], [0.8, 0.3, 0.2]]
    assert classification.max_of_mean(curves) == pytest.approx(0.6)


def test_layers_are_chosen_in_the_paper():
    cells = EXPERIMENTS["classification"].cells("paper", 1)
    own = [one for one in cells if one.row == "GIN" and one.variant.startswith("MUTAG, nested")]
    assert [one.variant for one in own] == [f"MUTAG, nested, {layers} layers" for layers in (2, 3, 4, 5)]
    assert [read_config(overrides=one.settings["settings"]).network["layers"] for one in own] == [2, 3, 4, 5]


@pytest.mark.parametrize(("row", "protocol"), [("ESC-GNN (h2)", "nested"), ("GIN", "max of mean")])
def test_a_cell(row, protocol, tmp_path, benchmark_data):
    experiment = EXPERIMENTS["classification"]
    cells = {(one.row, one.variant): one for one in experiment.cells("smoke", 1)}
    found = experiment.run(cells[row, f"MUTAG, {protocol}"], tmp_path, False)
    label = classification.PROTOCOLS[protocol].label
    results = [json.loads((tmp_path / f"fold{i}" / "result.json").read_text()) for i in range(2)]
    if protocol == "nested":
        mean = statistics.fmean(result["test"]["accuracy"] for result in results)
        assert found.values == {label: {"MUTAG": pytest.approx(100 * mean)}}
        assert found.validation["MUTAG"] < 0, "the negative loss, as higher is better"
    else:
        best = max(statistics.fmean(result["validation"]["accuracy"] for result in results), 0)
        assert found.values[label]["MUTAG"] == pytest.approx(100 * best), "of one epoch"
    assert found.epochs == 2


def test_three_networks_in_each_fold(tmp_path, benchmark_data):
    """They are those of the row of single networks, judged by the mean of what they say, and chosen by what each loses."""
    experiment = EXPERIMENTS["classification"]
    cells = {(one.row, one.seed, one.variant): one for one in experiment.cells("smoke", 3)}
    row = "ESC-GNN (h2), our recipe"
    several = cells["ESC-GNN (h2), three of our recipe", 0, "MUTAG, nested"]
    members = [cells[row, seed, "MUTAG, nested"] for seed in range(3)]
    assert several.members(row) == members and ("ESC-GNN (h2), three of our recipe", 1, "MUTAG, nested") not in cells
    found = experiment.run(several, tmp_path / "together", False)
    alone = [experiment.run(member, tmp_path / member.folder, False) for member in members]
    assert found.cpu_seconds == pytest.approx(sum(one.cpu_seconds for one in alone)), "none was trained again"
    assert found.epochs == sum(one.epochs for one in alone) == 6 and found.config["members"] == 3
    losses = [one.validation["MUTAG"] for one in alone]
    assert found.validation == {"MUTAG": pytest.approx(statistics.fmean(losses))}
    bundle = classification.with_folds(classification.bare(trained.bundle_of(several.settings)), "nested")
    right = []
    for i in range(2):
        graphs = bundle.fold(i).test
        runs = [load_run(tmp_path / member.folder / f"fold{i}") for member in members]
        mean = sum(predict(run, graphs) for run in runs)
        right.append(float((mean.argmax(1) == graphs.column("y")[:, 0]).double().mean()))
    assert found.values == {"tab:tu": {"MUTAG": pytest.approx(100 * statistics.fmean(right))}}


def test_a_network_that_had_no_time_for_all_graphs_is_judged_by_all(tmp_path, monkeypatch, benchmark_data):
    """Of those that choose the epoch it has a share, and by this protocol they are those that judge."""
    experiment = EXPERIMENTS["classification"]
    cells = {(one.row, one.variant): one for one in experiment.cells("smoke", 1)}
    train_folds = classification.train_folds
    hurried = Afforded(cpu_minutes=1.0, cpu_seconds=120.0, epochs=1, share=0.5)
    monkeypatch.setattr(classification, "train_folds", lambda *given: replace(train_folds(*given), afforded=hurried))
    monkeypatch.setattr(classification, "_curve", lambda *_: [0.0])
    found = experiment.run(cells["GIN", "MUTAG, max of mean"], tmp_path, False)
    results = [json.loads((tmp_path / f"fold{i}" / "result.json").read_text()) for i in range(2)]
    mean = statistics.fmean(result["test"]["accuracy"] for result in results)
    assert mean > 0 and found.values[classification.MAX_OF_MEAN.label]["MUTAG"] == pytest.approx(100 * mean)
