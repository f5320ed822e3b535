"""Exported programs give the numbers of the model, whatever the backbone and the sizes."""

import numpy as np
import onnxruntime
import pytest

from escgnn import graphs
from escgnn.layers import MATMUL_BINS
from escgnn.models import ESCGNN
from escgnn.models.backbones import BACKBONES
from escgnn.models.exporting import export_program, to_onnx
from escgnn.transforms import StructuralEncoding
from tests.models.test_esc_gnn import ENCODING, FEATURES, ON, batch_of, features, members

EXPORTABLE = sorted({*BACKBONES} - {"gps"})


def session_of(model, data, path, **metadata):
    program = to_onnx(export_program(model, data), model.level, metadata)
    program.save(path, external_data=False)
    return onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])


def run(session, model, data):
    return session.run(None, {name: tensor.numpy() for name, tensor in model.tensors(data).items()})[0]


@pytest.mark.parametrize(
    ("backbone", "options"),
    [
        *((name, {**ON, **FEATURES}) for name in EXPORTABLE),
        ("gin", {**ON, "virtual_node": True, "pool": "attention", "node_tuples": True}),
        ("gin", {**ON, "count_skip": True}),
    ],
    ids=[*(f"{name}, with encoding" for name in EXPORTABLE), "virtual", "count skip"],
)
def test_onnx_takes_any_sizes(backbone, options, tmp_path, capfd):
    """Without the encoding other backbones have fewer steps, none that are new: `test_exported_program_takes_any_sizes`."""
    model = ESCGNN(3, backbone=backbone, hidden=8, layers=2, **options).eval()
    session = session_of(model, batch_of(graphs.molecule_like(3).split()), tmp_path / "m.onnx")
    assert {entry.name for entry in session.get_inputs()} == model.reads
    for views in (members(9), [graphs.path(2)], [graphs.empty(1)], [graphs.empty(3)]):
        data = batch_of(views)
        np.testing.assert_allclose(run(session, model, data), model(data).detach(), rtol=1e-4, atol=1e-5)
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("level", ["node", "edge"])
def test_other_levels_and_many_bins(level, tmp_path):
    """With so many bins the embedding is computed in another way."""
    encoding = StructuralEncoding(3, max_degree=MATMUL_BINS)
    model = ESCGNN(2, level=level, hidden=8, layers=2, num_bins=encoding.num_bins, structure_mlp=True).eval()
    assert encoding.num_bins > MATMUL_BINS
    example, other, single = (encoding(batch_of(views)) for views in (members(3), members(9), [graphs.petersen()]))
    session = session_of(model, example, tmp_path / "m.onnx")
    for data in (other, single):
        np.testing.assert_allclose(run(session, model, data), model(data).detach(), rtol=1e-4, atol=1e-5)
    assert session.get_outputs()[0].shape == [f"{level}s", 2]


def test_names_of_sizes_and_metadata(tmp_path):
    model = ESCGNN(3, hidden=8, layers=1, positional={"kind": "random_walk", "size": 3}, **ON, **FEATURES).eval()
    session = session_of(model, batch_of(members()), tmp_path / "m.onnx", encoding=repr(ENCODING))
    assert {entry.name: entry.shape for entry in session.get_inputs()} == {
        "batch": ["nodes"],
        "edge_attr": ["edges", 2],
        "edge_index": [2, "edges"],
        "esc_bin": ["entries"],
        "esc_count": ["entries"],
        "esc_len": ["edges"],
        "ptr": ["graphs_plus_1"],
        "random_walk_pe": ["nodes", 3],
        "x": ["nodes", 2],
    }
    assert [(entry.name, entry.shape) for entry in session.get_outputs()] == [("prediction", ["graphs", 3])]
    assert session.get_modelmeta().custom_metadata_map == {"encoding": repr(ENCODING)}
    assert b"escgnn/" not in (tmp_path / "m.onnx").read_bytes()


def test_a_last_step_is_part_of_the_program():
    model = ESCGNN(1, hidden=8, layers=1, node_features=FEATURES["node_features"]).eval()
    data = features(graphs.petersen())
    program = export_program(model, batch_of(members()), lambda output: 2 * output).module()
    np.testing.assert_allclose(program(model.tensors(data)).detach(), 2 * model(data).detach(), rtol=1e-5)
