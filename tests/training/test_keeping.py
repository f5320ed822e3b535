"""Encodings are made once where they fit, and nothing else changes."""

import pytest

from escgnn import limits
from escgnn.training import fit
from escgnn.training.module import Batches
from escgnn.transforms import StructuralEncoding
from tests.training import tiny
from tests.training.test_resuming import assert_same_run
from tests.training.tiny import CONFIG, change


@pytest.fixture
def encoded(monkeypatch):
    """How many graphs each call of the encoding had."""
    calls = []
    forward = StructuralEncoding.forward

    def counted(self, data):
        calls.append(data.num_graphs)
        return forward(self, data)

    monkeypatch.setattr(StructuralEncoding, "forward", counted)
    return calls


def test_the_same_run_to_the_last_bit(tmp_path, encoded):
    bundle = tiny.bundle()
    kept = fit(bundle, CONFIG, tmp_path / "kept", progress=False)
    once = sum(encoded)
    encoded.clear()
    assert fit(bundle, change(keep=0), tmp_path / "anew", progress=False) == kept
    assert_same_run(tmp_path / "kept", tmp_path / "anew")
    training = len(bundle.train) + len(bundle.validation)
    assert sum(encoded) - once == CONFIG.epochs * training + len(bundle.train) - training


@pytest.mark.parametrize(
    "settings",
    [
        {"transform": {"hops": 1, "nodes": True}, "network": {"count_skip": True, "norm": "layer"}},
        {"model": "cin"},
        {"model": "graphormer-gd"},
        {"model": "1-2-3-gnn"},
        {"model": "esc-graphgps"},
        {"workers": 1},
    ],
    ids=str,
)
def test_of_other_networks_too(settings, tmp_path):
    bundle = tiny.bundle(size=24)
    config = change(epochs=2, **settings)
    fit(bundle, config, tmp_path / "kept", progress=False)
    fit(bundle, config.model_copy(update={"keep": 0.0}), tmp_path / "anew", progress=False)
    assert_same_run(tmp_path / "kept", tmp_path / "anew")


def test_a_run_goes_on_with_or_without(tmp_path):
    bundle = tiny.bundle(size=24)
    fit(bundle, CONFIG, tmp_path / "straight", progress=False)
    for epochs, keep in ((2, 0.0), (3, 0.5), (4, 0.0)):
        fit(bundle, change(epochs=epochs, keep=keep), tmp_path / "on", resume=True, progress=False)
    assert_same_run(tmp_path / "straight", tmp_path / "on")


def test_a_share_of_the_memory(monkeypatch):
    """Training graphs come first; validation graphs are kept if they fit beside these."""
    bundle = tiny.bundle()
    transform = StructuralEncoding(2)
    parts = Batches(bundle, change(keep=0.5), transform).parts
    sizes = [part.graphs.num_bytes for part in parts.values()]
    for room, expected in ((sum(sizes), [True, True]), (sum(sizes) - 1, [True, False]), (1, [False, False])):
        monkeypatch.setattr(limits, "free_memory", lambda room=room, **_: 2 * room)
        parts = Batches(bundle, change(keep=0.5), transform).parts
        assert [hasattr(part.graphs, "num_bytes") for part in parts.values()] == expected
        assert [part.transform.transform is None for part in parts.values()] == expected


def test_what_is_for_several_processes_must_fit_where_they_share_memory(monkeypatch):
    asked = []
    monkeypatch.setattr(limits, "free_memory", lambda *, shared: asked.append(shared) or 0)
    for settings in ({}, {"devices": 2}, {"workers": 1}, {"keep": 0}):
        Batches(tiny.bundle(), change(**settings), StructuralEncoding(1))
    assert asked == [False, True, True]


def test_shares_that_make_no_sense():
    for keep in (-0.1, 1.5):
        with pytest.raises(ValueError, match="keep: Input should be"):
            change(keep=keep)
