"""A run as one file: it gives what `predict` gives, without this library."""

import json
import random
import subprocess
import sys
from dataclasses import replace

import numpy as np
import onnxruntime
import pytest
import torch

from escgnn.loader import Loader
from escgnn.training import export, fit, load_run, predict
from tests.training import tiny
from tests.training.tiny import change


def trained(folder, kind="regression", **settings):
    bundle = tiny.bundle(kind)
    fit(bundle, change(epochs=1, **settings), folder, progress=False)
    return load_run(folder), bundle


def inputs(run, graphs):
    graphs = run.once(graphs)
    (batch,) = Loader(graphs, len(graphs), transform=run.transform)
    return {name: tensor.numpy() for name, tensor in run.model.tensors(batch).items()}


@pytest.mark.parametrize(
    ("kind", "settings"),
    [
        ("regression", {}),
        ("regression", {"model": "gin", "transform": {"positional": {"kind": "random_walk", "size": 3}}}),
        ("regression", {"transform": {"hops": 1, "environments": ["ring1", 2], "types": ["x"]}}),
        ("regression", {"model": "graphgps", "network": {"layers": 2}, "transform": {"walks": 3, "frequencies": 2}}),
        ("binary", {}),
        ("multiclass", {}),
    ],
    ids=["numbers", "no encoding", "environments", "attention", "yes or no", "classes"],
)
def test_onnx_predicts_what_the_run_predicts(tmp_path, kind, settings):
    run, bundle = trained(tmp_path / "run", kind, **settings)
    exported = export(run, tmp_path / "model.onnx")
    session = onnxruntime.InferenceSession(tmp_path / "model.onnx", providers=["CPUExecutionProvider"])
    assert {entry.name for entry in session.get_inputs()} == run.model.reads == {*exported.inputs}
    for graphs in (bundle.test, bundle.test[[3]]):
        found = session.run(["prediction"], inputs(run, graphs))[0]
        np.testing.assert_allclose(found, predict(run, graphs), rtol=1e-4)
    about = session.get_modelmeta().custom_metadata_map
    assert about == exported.about
    assert json.loads(about["targets"]) == [*run.task.targets]
    assert about.get("encoding", "None") == repr(run.transform)
    assert [path.name for path in tmp_path.iterdir() if path.is_file()] == ["model.onnx"]


def test_program_runs_in_another_process(tmp_path):
    """Without this library, and whatever the order of its inputs."""
    run, bundle = trained(tmp_path / "run")
    exported = export(run, tmp_path / "model.pt2")
    assert exported.inputs["x"] == "int64 (nodes, 1)" and exported.inputs["edge_index"] == "int64 (2, edges)"
    given = [*inputs(run, bundle.test).items()]
    random.Random(0).shuffle(given)
    np.savez(tmp_path / "in.npz", **dict(given))
    code = (
        "import sys, json, numpy, torch\n"
        "extra = {'about.json': ''}\n"
        "program = torch.export.load('model.pt2', extra_files=extra).module()\n"
        "given = numpy.load('in.npz')\n"
        "out = program({name: torch.from_numpy(given[name]) for name in given.files})\n"
        "numpy.save('out.npy', out.detach().numpy())\n"
        "assert 'escgnn' not in sys.modules and json.loads(extra['about.json'])['epoch'] == '0'\n"
    )
    subprocess.run([sys.executable, "-W", "ignore", "-c", code], cwd=tmp_path, check=True)
    np.testing.assert_allclose(np.load(tmp_path / "out.npy"), predict(run, bundle.test), rtol=1e-5)


def test_what_cannot_be_exported(tmp_path, monkeypatch):
    run, _ = trained(tmp_path / "run", network={"backbone": "gps", "heads": 2})
    (tmp_path / "model.onnx").write_text("from before")
    with pytest.raises(ValueError, match="backbone: gps cannot be exported"):
        export(run, tmp_path / "model.onnx")
    with pytest.raises(ValueError, match=r"model\.pb: networks are written to \.onnx or \.pt2"):
        export(run, tmp_path / "model.pb")
    with pytest.raises(ValueError, match="does not exist"):
        export(run, tmp_path / "no" / "model.onnx")
    gin, _ = trained(tmp_path / "gin")
    monkeypatch.setitem(sys.modules, "onnxscript", None)
    with pytest.raises(ImportError, match=r"pip install 'escgnn\[onnx\]'"):
        export(gin, tmp_path / "model.onnx")
    assert (tmp_path / "model.onnx").read_text() == "from before"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["gin", "model.onnx", "run"]


def test_the_model_stays_as_it_is(tmp_path):
    run, bundle = trained(tmp_path / "run")
    before = predict(run, bundle.test)
    moved = replace(run, model=run.model.to(torch.float32).train())
    export(moved, tmp_path / "model.pt2")
    assert moved.model.training
    run.model.eval()
    assert torch.equal(predict(run, bundle.test), before)
