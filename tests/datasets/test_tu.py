import shutil
import warnings

import numpy as np
import pytest
import torch
import torch_geometric.datasets
from torch.nn.functional import one_hot

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
