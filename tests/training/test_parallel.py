"""Several processes, and compiled code."""

import shutil
from functools import partialmethod

import pytest
import torch
import torch._inductor.config

from escgnn.training import fit
from tests.training import tiny
from tests.training.test_fitting import rows
from tests.training.tiny import change


def test_two_processes_get_the_numbers_of_one(tmp_path, capfd):
    """In one go or resumed. A graph that was trained or judged twice, or not at all, would show.

    The last batch has one graph, so that the second process has none left. Weights decay, or a gradient of another size
    would not show: Adam takes steps of one size.
    """
    bundle = tiny.bundle(size=30, missing=0.3)
    config = change(epochs=3, batch_size=2, weight_decay=0.3, network={"norm": "layer", "dropout": 0.0})
    assert len(bundle.train) % config.batch_size == len(bundle.validation) % config.batch_size == 1
    one = fit(bundle, config, tmp_path / "one", progress=False)
    for epochs in (1, 3):
        two = fit(bundle, change(config, devices=2, epochs=epochs), tmp_path / "two", resume=True, progress=False)
    for alone, shared in zip(rows(tmp_path / "one"), rows(tmp_path / "two"), strict=True):
        for name in ("loss", "validation_mae", "validation_norm-mae", "lr"):
            assert shared[name] == pytest.approx(alone[name], rel=1e-5)
    assert two.test["mae"] == pytest.approx(one.test["mae"], rel=1e-5)
    assert capfd.readouterr() == ("", "")


def test_compiled(tmp_path, monkeypatch):
    """Without the C++ compiler behind it, which takes half a minute for the smallest network."""
    compile_network = torch.nn.Module.compile
    monkeypatch.setattr(torch.nn.Module, "compile", partialmethod(compile_network, backend="aot_eager"))
    bundle = tiny.bundle(size=16)
    config = change(epochs=1, network={"dropout": 0.0, "layers": 1})
    plain, compiled = (fit(bundle, change(config, compile=c), tmp_path / str(c), progress=False) for c in (False, True))
    assert compiled.validation["mae"] == pytest.approx(plain.validation["mae"], rel=1e-4)


@pytest.mark.skipif(not any(map(shutil.which, ("g++", "clang++"))), reason="needs a C++ compiler")
def test_compiled_to_machine_code(tmp_path, monkeypatch):
    """As ``--set compile=true`` does it, but without helpers, which torch would start: they take as long to load as it does."""
    monkeypatch.setattr(torch._inductor.config, "compile_threads", 1)
    bundle = tiny.bundle(size=16)
    config = change(epochs=1, network={"dropout": 0.0, "layers": 1, "norm": "none", "hidden": 4})
    plain, compiled = (fit(bundle, change(config, compile=c), tmp_path / str(c), progress=False) for c in (False, True))
    assert compiled.validation["mae"] == pytest.approx(plain.validation["mae"], rel=1e-4)
