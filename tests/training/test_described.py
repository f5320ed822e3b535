"""Descriptors beside the graph: standardised on training rows, kept with the run, computed again for predictions."""

import csv
from dataclasses import replace

import numpy as np
import pytest
import torch

from escgnn.datasets import Descriptors, Split, load
from escgnn.models.descriptors import FARTHEST, DescriptorEncoder
from escgnn.training import (
    evaluate,
    export,
    fit,
    judge,
    load_run,
    predict,
    predict_file,
    table_options,
)
from tests.training.tiny import change

SMILES = ["CCO", "c1ccccc1", "CC(=O)O", "CCN", "C1CCCCC1", "CC#N", "OCCO", "CCCC"] * 6


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    """A target that is a column, which the graph does not say, with a hole, a word and an infinity in it."""
    rng = np.random.default_rng(0)
    hidden = rng.normal(size=len(SMILES))
    cells = [f"{value:.4f}" for value in hidden]
    cells[:3] = ["", "word", "inf"]
    lines = [f"{text},{3 * value + 1:.4f},{cell}" for text, value, cell in zip(SMILES, hidden, cells, strict=True)]
    path = tmp_path_factory.mktemp("table") / "train.csv"
    path.write_text("\n".join(["smiles,y,Dose", *lines]))
    return path


@pytest.fixture(scope="module")
def bundle(table):
    whole = load(table, targets=["y"], descriptors=["morgan-count", "Dose"])
    order = np.arange(len(SMILES))
    return replace(whole, split=Split(order[:32], order[32:40], order[40:]))


@pytest.fixture(scope="module")
def run(bundle, tmp_path_factory):
    folder = tmp_path_factory.mktemp("run")
    fit(bundle, change(epochs=40, network={"dropout": 0.0}), folder, progress=False)
    return load_run(folder)


class Some:
    """A batch that holds descriptors and nothing else."""

    def __init__(self, numbers):
        self.descriptors = numbers


def test_they_are_standardised_and_what_is_no_number_says_nothing():
    encoder = DescriptorEncoder(3, 4)
    numbers = torch.tensor([[1.0, 5.0, torch.nan], [3.0, 5.0, torch.inf], [torch.nan, 5.0, 7e20]])
    assert len([*encoder.measured([Some(numbers[:1]), Some(numbers[1:])])]) == 2
    assert encoder.mean.tolist() == [2, 5, torch.tensor(7e20).item()]
    assert encoder.deviation.tolist() == [1, 1, 1], "of constants it is one"
    seen = []
    encoder.mlp[0].register_forward_pre_hook(lambda _, inputs: seen.append(inputs[0]))
    encoder.eval()(torch.tensor([[3.0, torch.nan, torch.inf], [1e9, -torch.inf, 0.0]]))
    assert seen[0].tolist() == [[1, 0, 0], [FARTHEST, 0, -FARTHEST]]


def test_half_of_them_are_dropped_in_training_and_the_graph_is_heard_first():
    """Of those that are left each counts twice."""
    encoder = DescriptorEncoder(1000, 4)
    assert encoder(torch.randn(3, 1000)).tolist() == [[0.0] * 4] * 3
    seen = []
    for layer in (encoder.mlp[0], encoder.mlp[-1]):
        layer.register_forward_pre_hook(lambda _, inputs: seen.append(inputs[0]))
    for is_training in (True, False):
        encoder.train(is_training)(torch.ones(8, 1000))
    dropped, inner, whole, plain = seen
    assert {*dropped.unique().tolist()} == {0.0, 2.0} and 0.4 < (dropped == 0).float().mean() < 0.6
    assert (whole == 1).all()
    assert (inner != plain).any()
    few = DescriptorEncoder(4, 4)
    few.mlp[0].register_forward_pre_hook(lambda _, inputs: seen.append(inputs[0]))
    few(torch.ones(8, 4))
    assert (seen[-1] == 1).all(), "each may be all that matters"


def test_the_network_learns_from_them(run, bundle):
    assert evaluate(run, bundle, "train")["mae"] < 0.5 * float(bundle.train.column("y").std())
    assert run.descriptors == bundle.descriptors and "descriptors" in run.features
    training = bundle.train.column("descriptors")
    dose = training[:, -1][training[:, -1].isfinite()]
    assert float(run.model.described.mean[-1]) == pytest.approx(float(dose.mean()), rel=1e-5)
    assert float(run.model.described.deviation[-1]) == pytest.approx(float(dose.std(unbiased=False)), rel=1e-5)


def test_predictions_compute_them_again(run, bundle, tmp_path):
    rows = ["CCO,x,1.5", "C1CC,y,2", "CCN,z,word"]
    (tmp_path / "in.csv").write_text("\n".join(["SMILES,note,dose", *rows]))
    predict_file(run, tmp_path / "in.csv", tmp_path / "out.csv")
    with (tmp_path / "out.csv").open(newline="") as stream:
        found = [*csv.DictReader(stream)]
    assert [row["status"] for row in found] == ["ok", "not a SMILES string", "ok"]
    order = [SMILES.index("CCO"), SMILES.index("CCN")]
    numbers = Descriptors.chosen(["morgan-count", "Dose"]).of(["CCO", "CCN"], {"Dose": ["1.5", "word"]})
    graphs = bundle.graphs[order].with_fields(graph={"descriptors": numbers})
    expected = predict(run, graphs)[:, 0].tolist()
    assert [float(found[0]["pred_y"]), float(found[2]["pred_y"])] == pytest.approx(expected, rel=1e-5)
    (tmp_path / "in.csv").write_text("smiles\nCCO\n")
    with pytest.raises(ValueError, match="Dose"):
        predict_file(run, tmp_path / "in.csv", tmp_path / "out.csv")
    with pytest.raises(ValueError, match="the network reads descriptors of shape"):
        predict(run, load(tmp_path_table(tmp_path), targets=["y"]).graphs)


def tmp_path_table(folder):
    (folder / "bare.csv").write_text("smiles,y\nCCO,1\nCC,2\n")
    return folder / "bare.csv"


def test_its_own_table_is_known_again(run, table):
    options = table_options(run, table)
    assert options["descriptors"] == ["morgan-count", "Dose"]
    assert judge(run, load(table, **options), is_sheet=True).own


def test_models_that_read_none_say_so(bundle, tmp_path):
    with pytest.raises(ValueError, match="model: ngnn reads no descriptors; those that do are esc-gnn, gin,"):
        fit(bundle, change(model="ngnn", network={"dropout": 0.0}), tmp_path / "run", progress=False)


def test_they_are_an_input_of_an_exported_network(run, bundle, tmp_path):
    found = export(run, tmp_path / "model.pt2")
    assert found.inputs["descriptors"] == "float32 (graphs, 1025)"
    program = torch.export.load(tmp_path / "model.pt2").module()
    batch = run.transform(bundle.test.batch())
    torch.testing.assert_close(program(run.model.tensors(batch)), predict(run, bundle.test))
