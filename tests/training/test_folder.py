import json
import re

import numpy as np
import pytest
import torch
from torch_geometric.data import Data

from escgnn import graphs
from escgnn.datasets import DatasetBundle
from escgnn.store import GraphStore
from escgnn.training import checkpoints, fingerprint, fit, load_run, predict, read_result
from tests.training import tiny
from tests.training.tiny import change


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("run")
    fit(tiny.bundle(), change(epochs=1, transform={"hops": 1, "nodes": True}), folder, progress=False)
    return folder


@pytest.fixture
def copy(folder, tmp_path):
    for name in ("model.json", "model.safetensors"):
        (tmp_path / name).write_bytes((folder / name).read_bytes())
    return tmp_path


def test_two_files_are_enough(folder, copy):
    bundle = tiny.bundle()
    run = load_run(copy)
    assert not run.model.training
    assert run.transform.hops == 1 and run.transform.nodes
    assert run.encoding is run.transform, "its earlier name"
    assert (run.task, run.features) == (bundle.task, bundle.features)
    assert torch.equal(predict(run, bundle.test), predict(load_run(folder), bundle.test))


def test_mean_size_is_kept(folder):
    nodes = np.diff(tiny.bundle().train.batch(range(len(tiny.bundle().train))).ptr)
    assert float(load_run(folder).model.pool.size) == pytest.approx(nodes.mean())


def test_run_from_before_a_setting(tmp_path):
    """What is stored without it means what networks did then, whatever new ones do; and such a run goes on as it began."""
    bundle = tiny.bundle()
    before = change(epochs=1, average=None, network={"readout_norm": False})
    fit(bundle, before, tmp_path, progress=False)
    expected = predict(load_run(tmp_path), bundle.test)
    about = json.loads((tmp_path / "model.json").read_text())
    del about["network"]["readout_norm"]
    (tmp_path / "model.json").write_text(json.dumps(about))
    config = tmp_path / "config.yaml"
    config.write_text(config.read_text().replace("  readout_norm: false\n", "").replace("average: null\n", ""))
    assert torch.equal(predict(load_run(tmp_path), bundle.test), expected)
    with pytest.raises(ValueError, match=r"other settings; average was None and is 0\.5"):
        fit(bundle, change(epochs=1, average=0.5), tmp_path, resume=True, progress=False)
    result = fit(bundle, change(epochs=2), tmp_path, resume=True, progress=False)
    assert result == fit(bundle, change(before, epochs=2), tmp_path / "straight", progress=False)


def test_description(folder):
    about = json.loads((folder / "model.json").read_text())
    assert about["transform_repr"] == repr(load_run(folder).transform)
    assert about["dataset"]["name"] == "tiny" and about["dataset"]["content"] == fingerprint(tiny.bundle())
    assert {"escgnn", "torch", "lightning", "torch_geometric"} <= {*about["versions"]}


@pytest.mark.parametrize(
    ("file", "content", "message"),
    [
        ("model.json", None, "model.json is not there"),
        ("model.json", b"{", "model.json is damaged"),
        ("model.json", b"{}", "not a description of a model"),
        ("model.json", b'{"format": "x"}', "not a description of a model; .*format is 'x'"),
        ("model.safetensors", None, "model.safetensors is not there"),
        ("model.safetensors", b"damaged", "model.safetensors is damaged"),
    ],
)
def test_bad_files_are_told(copy, file, content, message):
    (copy / file).unlink() if content is None else (copy / file).write_bytes(content)
    with pytest.raises(ValueError, match=message):
        load_run(copy)


def test_files_that_do_not_belong_together(copy):
    about = json.loads((copy / "model.json").read_text())
    about["network"]["hidden"] = 9
    (copy / "model.json").write_text(json.dumps(about))
    with pytest.raises(ValueError, match=re.escape("does not fit model.json")):
        load_run(copy)


def test_no_folder(tmp_path):
    with pytest.raises(ValueError, match="nor is its folder"):
        load_run(tmp_path / "nothing")
    with pytest.raises(ValueError, match="not there"):
        read_result(tmp_path)


def test_predictions_do_not_depend_on_the_batch(folder):
    run, store = load_run(folder), tiny.bundle().test
    together = predict(run, store)
    assert together.shape == (len(store), 2) and together.dtype == torch.float64
    torch.testing.assert_close(predict(run, store, batch_size=1), together, rtol=1e-5, atol=1e-5)
    torch.testing.assert_close(predict(run, [*store]), together, rtol=1e-5, atol=1e-5)
    assert predict(run, store[[]]).shape == (0, 2)


def test_graphs_of_every_kind(tmp_path):
    bundle = tiny.bundle(level="node")
    bare = DatasetBundle("bare", bundle.graphs, bundle.task, {}, bundle.split)
    fit(bare, change(epochs=1), tmp_path, progress=False)
    run, cycle = load_run(tmp_path), graphs.cycle(5)
    expected = predict(run, [cycle, graphs.star(4)])
    assert len(expected) == 5 + graphs.star(4).num_nodes
    data = Data(edge_index=torch.from_numpy(cycle.edge_index), num_nodes=5)
    for same in (cycle, [cycle], [cycle.to_networkx()], [data], GraphStore.from_data_list([data])):
        torch.testing.assert_close(predict(run, same), expected[:5])
    with pytest.raises(ValueError, match="expected a GraphStore or a list of graphs"):
        predict(run, "graphs.g6")


def test_features_are_needed(folder):
    with pytest.raises(ValueError, match=r"the network reads x of shape \(1,\) for each row; there is none"):
        predict(load_run(folder), [graphs.cycle(5)])


def test_a_folder_of_folds(tmp_path):
    (tmp_path / "fold0").mkdir()
    with pytest.raises(ValueError, match=r"holds a cross-validation; choose a fold, such as .*fold0"):
        load_run(tmp_path)


@pytest.mark.parametrize(
    "content", [{"state_dict": {}}, {"callbacks": {"ModelCheckpoint": {}}}, [1], {"callbacks": np.random.default_rng()}]
)
def test_foreign_checkpoints_are_told(tmp_path, content):
    torch.save(content, tmp_path / "last.ckpt")
    with pytest.raises(ValueError, match="is no checkpoint of escgnn; train in a new folder"):
        checkpoints.read_checkpoint(tmp_path / "last.ckpt")


@pytest.mark.parametrize("length", [0, 5, 300])
def test_damaged_checkpoints_are_told(tmp_path, length):
    torch.save({"state_dict": {}}, tmp_path / "last.ckpt")
    (tmp_path / "last.ckpt").write_bytes((tmp_path / "last.ckpt").read_bytes()[:length])
    with pytest.raises(ValueError, match=re.escape("last.ckpt is damaged; train again in a new folder (model")):
        checkpoints.read_checkpoint(tmp_path / "last.ckpt")


def test_fingerprint_sees_everything():
    bundle = tiny.bundle()
    y = bundle.graphs.column("y").clone()
    y[int(bundle.split.test[0]), 0] += 1
    swapped = bundle.split._replace(train=np.roll(bundle.split.train, 1))
    others = [
        DatasetBundle("b", bundle.graphs.with_fields(graph={"y": y}), bundle.task, bundle.features, bundle.split),
        DatasetBundle("b", bundle.graphs, bundle.task, {}, bundle.split),
        DatasetBundle("b", bundle.graphs, bundle.task, bundle.features, swapped),
    ]
    assert len({fingerprint(other) for other in (bundle, *others)}) == 4
    assert fingerprint(tiny.bundle()) == fingerprint(bundle)
