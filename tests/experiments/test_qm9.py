"""`tab:qm9`: what networks are told of a molecule's shape, and cells of each shape."""

import numpy as np
import pytest

from escgnn import datasets
from escgnn.experiments import EXPERIMENTS, qm9, trained


@pytest.fixture(scope="module")
def bundle(benchmark_data):
    return trained.cut(datasets.load("qm9-3k"), 6)


@pytest.mark.parametrize("shape", qm9.SHAPES)
def test_what_is_known(bundle, shape):
    found = qm9.with_shape(bundle, shape)
    for before, after in zip(bundle.graphs, found.graphs, strict=True):
        u, v = before.edge_index
        assert after.edge_index.equal(before.edge_index) and after.y.equal(before.y)
        if shape == "topology":
            assert after.edge_attr.equal(before.edge_attr) and after.x.equal(before.x)
            continue
        lengths = [float(np.linalg.norm(before.pos[a] - before.pos[b])) for a, b in zip(u, v, strict=True)]
        assert after.edge_attr[:, 4].numpy() == pytest.approx(np.array(lengths) / max(lengths), rel=1e-5)
        assert after.edge_attr[:, :4].argmax(1).equal(before.edge_attr[:, 0])
        assert after.x[:, :11].equal(before.x)
        if shape == "coordinates":
            assert after.x[:, 11:].equal(before.pos)
    widths = {name: found.graphs.column(name).shape[1] for name in ("x", "edge_attr")}
    expected = {"topology": (11, 1), "bond lengths": (11, 5), "coordinates": (14, 5)}
    assert (widths["x"], widths["edge_attr"]) == expected[shape]
    if shape != "topology":
        assert all(found.features[name].sizes == (width,) for name, width in widths.items())


@pytest.mark.parametrize(("row", "shape"), [("1-2-3-GNN", "coordinates"), ("ESC-GNN", "bond lengths")])
def test_a_cell(row, shape, tmp_path, benchmark_data):
    experiment = EXPERIMENTS["qm9"]
    (cell,) = (one for one in experiment.cells("smoke", 1) if (one.row, one.variant) == (row, shape))
    found = experiment.run(cell, tmp_path, False)
    assert {*found.values} == {qm9.TABLES[shape].label}
    values = found.values[qm9.TABLES[shape].label]
    assert tuple(values) == qm9.COLUMNS and all(value > 0 for value in values.values())


def test_one_network_per_target_in_the_paper(tmp_path, benchmark_data):
    cells = EXPERIMENTS["qm9"].cells("paper", 1)
    assert len(cells) == len(qm9.TABLES) * len(qm9.TABLES["topology"].rows) * 12
    (cell,) = (one for one in cells if (one.row, one.variant) == ("ESC-GNN", "topology, gap"))
    assert cell.settings["targets"] == ["gap"]
    small = trained.merged(cell.settings["settings"], {"network": {"hidden": 8, "layers": 1}, "epochs": 1})
    changed = {**cell.settings, "dataset": "qm9-3k", "graphs": 12, "settings": small}
    found = qm9.run(qm9.Cell(cell.row, 0, cell.variant, changed), tmp_path, False)
    assert {*found.values["tab:qm9, topology"]} == {"gap"}
