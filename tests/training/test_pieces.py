"""Batches that would not fit: pieces give what the whole batch gives, and are told of where they cannot."""

import warnings

import networkx
import pytest
import torch

from escgnn import bags, graphs, training, zoo
from escgnn.bags import BagTooLargeError
from escgnn.datasets import DatasetBundle
from escgnn.task import Task
from escgnn.training import fitting
from escgnn.training.pieces import Pieces, PiecesWarning, Splitting, run_network
from tests.training import tiny

BUNDLE = tiny.bundle()
SIZE = 20  # graphs, all of the training's
LIMITS = {"ngnn": 400, "i2-gnn": 1200, "dss-gnn": 700, "ppgn": 150}  # rows: each takes several pieces
SETTINGS = {
    "ngnn": {},
    "i2-gnn": {},
    "dss-gnn": {"policy": "NM"},
    "ppgn": {},
}  # the third is split by the network itself


def network_of(name, max_rows, **settings):
    """A network of two layers, and its transform."""
    transform = {**SETTINGS[name], "max_rows": max_rows}
    network = {"hidden": 6, "layers": 2, "norm": "layer", **settings}
    known = training.read_config(overrides={"model": name}).network
    network = {key: value for key, value in network.items() if key in known}
    config = training.read_config(overrides={"model": name, "transform": transform, "network": network})
    recipe = zoo.recipe_of(name)
    each, once = recipe.transforms(config.transform)
    torch.manual_seed(0)
    task = Task("graph", "regression", "mae", "min", ("a", "b"))
    made = recipe.build(config.network, each, once, task=task, features=BUNDLE.features, graphs=BUNDLE.train)
    return made.double(), Splitting(each)


def whole_batch():
    return BUNDLE.train.batch(range(SIZE))


def gradients(network, batch):
    """Outputs, gradients of a loss that is no sum over graphs, and in how many pieces it was."""
    network.zero_grad()
    out, pieces = run_network(network.train(), batch)
    (out.square().mean() * out.mean().sigmoid()).backward()
    return out.detach(), [one.grad for one in network.parameters()], pieces


@pytest.mark.parametrize("name", LIMITS)
def test_gradients_are_those_of_the_whole_batch(name):
    network, split = network_of(name, 10**6)
    expected = gradients(network, split(whole_batch()))
    assert expected[2] == 1
    narrow, split = network_of(name, LIMITS[name])
    batch = split(whole_batch())
    assert isinstance(batch, Pieces) == (name != "dss-gnn")
    found = gradients(narrow, batch)
    assert found[2] > 2
    torch.testing.assert_close(found[:2], expected[:2])


def test_pieces_keep_order_and_targets():
    _, split = network_of("ngnn", LIMITS["ngnn"])
    batch = split(whole_batch())
    assert torch.equal(batch.y, whole_batch().y) and torch.equal(batch.to("cpu").y, batch.y)
    assert sum(piece.num_graphs for piece in batch) == SIZE
    assert all(piece.bag_source.size(0) <= 400 for piece in batch)


def test_random_numbers_are_drawn_once_and_statistics_taken_once():
    """Dropout is the same when a piece is computed again, and what batch normalisation saw does not count twice."""
    network, split = network_of("ngnn", LIMITS["ngnn"], norm="batch", dropout=0.5)
    batch = split(whole_batch())
    state = {name: value.clone() for name, value in network.state_dict().items()}
    torch.manual_seed(1)
    found = gradients(network, batch)
    after = torch.rand(1)
    seen = {name: value.clone() for name, value in network.state_dict().items() if "running" in name}
    assert seen and all(part.momentum == 0.1 for part in network.modules() if hasattr(part, "momentum"))

    network.load_state_dict(state)
    network.zero_grad()
    torch.manual_seed(1)
    out = torch.cat([network.train()(piece) for piece in batch])
    assert torch.equal(torch.rand(1), after)
    (out.square().mean() * out.mean().sigmoid()).backward()
    torch.testing.assert_close(found[:2], (out.detach(), [one.grad for one in network.parameters()]))
    for name, value in seen.items():
        torch.testing.assert_close(value, network.state_dict()[name], msg=name)


def test_only_one_piece_at_a_time_is_in_memory():
    network, split = network_of("ngnn", LIMITS["ngnn"])
    batch = split(whole_batch())
    held = []

    def pack(tensor):
        held.append(tensor.numel())
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
        out, pieces = run_network(network.train(), batch)
    assert pieces > 2 and sum(held) <= 2 * out.numel()


def test_wide_networks_take_fewer_rows():
    narrow, _ = network_of("ngnn", 600, hidden=64)
    wide, split = network_of("ngnn", 600, hidden=128)
    batch = split(whole_batch())
    assert isinstance(batch, Pieces)
    piece = batch.batches[0]
    rows = max(piece.bag_member.size(0), piece.bag_source.size(0))
    assert 300 < rows <= 600 == bags.rows_that_fit(64, 600)
    assert run_network(narrow, piece)[1] == 1
    assert run_network(wide, piece)[1] > 1


def train(folder, name, max_rows, bundle=BUNDLE, **settings):
    network = {"hidden": 4, "layers": 2, **settings.pop("network", {})}
    chosen = {"model": name, "transform": {**SETTINGS[name], "max_rows": max_rows}, "network": network, "epochs": 2}
    config = training.read_config(overrides={**chosen, "batch_size": 20, "precision": "64", **settings})
    result = training.fit(bundle, config, folder, progress=False)
    return result, torch.load(folder / "last.ckpt", weights_only=True)["state_dict"]


@pytest.fixture(autouse=True)
def no_curves(monkeypatch):
    monkeypatch.setattr(fitting, "draw_curves", lambda *_: None)


@pytest.mark.parametrize(("name", "workers"), [("ngnn", 0), ("ngnn", 1), ("dss-gnn", 0)])
def test_training_is_the_same_in_pieces(name, workers, tmp_path):
    whole, expected = train(tmp_path / "whole", name, 10**6, network={"norm": "layer"})
    split, found = train(tmp_path / "split", name, LIMITS[name], network={"norm": "layer"}, workers=workers)
    for key, value in expected.items():
        torch.testing.assert_close(found[key], value, rtol=1e-6, atol=1e-8, msg=key)
    assert split.test == pytest.approx(whole.test, rel=1e-5)


def test_batch_normalisation_of_pieces_is_told_once(tmp_path):
    words = r"max_rows: a batch was split into \d pieces, and batch normalisation sees a piece at a time; .*norm=layer"
    with pytest.warns(PiecesWarning, match=words) as caught:
        train(tmp_path / "run", "ngnn", LIMITS["ngnn"])
    assert len([one for one in caught if one.category is PiecesWarning]) == 1
    run = training.load_run(tmp_path / "run")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        everything = training.predict(run, BUNDLE.test)
    torch.testing.assert_close(everything, training.predict(run, BUNDLE.test, batch_size=1))


@pytest.mark.parametrize("workers", [0, 1])
def test_a_graph_that_does_not_fit_alone_is_refused_by_name(workers, tmp_path):
    words = r"^max_rows: graph \d+ of 20 alone needs \d+ rows; expected at most 60: leave it out, take fewer hops"
    with pytest.raises(BagTooLargeError, match=words):
        train(tmp_path / "run", "ngnn", 60, workers=workers)
    with pytest.raises(BagTooLargeError, match=words):
        train(tmp_path / "other", "dss-gnn", 60, workers=workers)


def test_one_graph_that_is_too_large_does_not_end_a_prediction(tmp_path):
    bare = DatasetBundle("bare", BUNDLE.graphs, BUNDLE.task, {}, BUNDLE.split)
    train(tmp_path / "run", "ngnn", 400, bundle=bare, network={"norm": "layer"})
    run = training.load_run(tmp_path / "run")
    members = [graphs.cycle(4), graphs.complete(12), graphs.path(3)]
    lines = [networkx.to_graph6_bytes(one.to_networkx(), header=False).decode().strip() for one in members]
    (tmp_path / "in.g6").write_text("\n".join(lines) + "\n")
    summary = training.predict_file(run, tmp_path / "in.g6", tmp_path / "out.csv")
    assert (summary.rows, summary.predicted) == (3, 2)
    told = (tmp_path / "out.csv").read_text().splitlines()
    assert "max_rows: graph 0 of 1 alone needs 1,584 rows; expected at most 400" in told[2]
