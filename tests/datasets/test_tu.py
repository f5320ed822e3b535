import shutil
import warnings

import numpy as np
import pytest
import torch
import torch_geometric.datasets
from torch.nn.functional import one_hot

from escgnn.datasets import tu
from escgnn.datasets.raw import Raw

NAMES = {"mutag": "MUTAG", "ptc-mr": "PTC_MR", "enzymes": "ENZYMES", "imdb-b": "IMDB-BINARY"}


@pytest.mark.parametrize("name", NAMES)
def test_equal_to_pyg(load, benchmark_data, tmp_path, name):
    shutil.copytree(benchmark_data / "tu" / NAMES[name], tmp_path / NAMES[name])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        theirs = torch_geometric.datasets.TUDataset(str(tmp_path), NAMES[name])
    ours = load(name)
    assert len(ours.graphs) == len(theirs)
    for data, other in zip(ours.graphs, theirs, strict=True):
        assert data.num_nodes == other.num_nodes
        assert torch.equal(data.edge_index, other.edge_index)
        assert data.y.item() == other.y.item()
        for field in ("x", "edge_attr"):
            if other.get(field) is not None:
                (size,) = ours.features[field].sizes
                assert torch.equal(one_hot(data[field][:, 0], size).float(), other[field])


def test_arcs_in_any_order_with_loops_and_repeats(tmp_path):
    """A path of three nodes and an edge; labels of edges belong to them, wherever they stand."""
    arcs = {"2, 3": 8, "5, 4": 6, "1, 2": 7, "2, 2": 9, "3, 2": 8, "2, 1": 7, "4, 5": 6, "3, 2 ": 8}
    texts = {
        "A": [*arcs],
        "edge_labels": [str(label) for label in arcs.values()],
        "graph_indicator": ["1", "1", "1", "2", "2"],
        "graph_labels": ["1", "-1"],
        "node_labels": ["3", "4", "3", "4", "4"],
    }
    entry = next(entry for entry in tu.ENTRIES if entry.name == "mutag")
    paths = {}
    for what, lines in texts.items():
        name = f"MUTAG_{what}.txt"
        paths[name] = tmp_path / name
        paths[name].write_text("\n".join(lines) + "\n")
    graphs = tu.tu(Raw(entry, paths, "")).graphs
    assert [graph.edge_index.tolist() for graph in graphs] == [[[0, 1, 1, 2], [1, 0, 2, 1]], [[0, 1], [1, 0]]]
    assert [graph.edge_attr[:, 0].tolist() for graph in graphs] == [[1, 1, 2, 2], [0, 0]]
    assert [graph.x[:, 0].tolist() for graph in graphs] == [[0, 1, 0], [1, 1]]


def test_folds_are_stratified_and_seeded(load):
    bundle, other = load("mutag"), load("mutag", seed=1)
    y = bundle.graphs.column("y")[:, 0].numpy()
    assert np.array_equal(np.sort(np.concatenate([fold.test for fold in bundle.folds])), np.arange(188))
    for fold in bundle.folds:
        assert np.array_equal(np.sort(np.concatenate(fold)), np.arange(188))
        assert abs(y[fold.test].mean() - y.mean()) < 0.05
        assert abs(fold.validation.size - fold.test.size) <= 1
    assert not np.array_equal(bundle.folds[0].test, other.folds[0].test)


def test_attributes(load):
    bundle = load("enzymes", attributes=True)
    assert bundle.features["x"].sizes == (21,)
    row = bundle.graphs[0].x[0].tolist()
    assert row[:3] == pytest.approx([11, 15.887014, 37.78])
    assert row[18:] == [1, 0, 0]
    with pytest.raises(ValueError, match="attributes: imdb-b has none"):
        load("imdb-b", attributes=True)
