import gzip

import numpy as np
import pytest

from escgnn import datasets

TABLES = {
    "raw/num-node-list": "2\n3\n1\n",
    "raw/num-edge-list": "1\n2\n0\n",
    "raw/node-feat": "5,0,4,5,3,0,2,0,0\n" * 6,
    "raw/edge": "0,1\n0,1\n1,2\n",
    "raw/edge-feat": "0,0,0\n1,0,0\n0,0,1\n",
    "raw/graph-label": "".join(f"{first}{',' * 127}\n" for first in ("1", "", "0")),
    "split/scaffold/train": "2\n0\n",
    "split/scaffold/valid": "1\n",
    "split/scaffold/test": "1\n",
}


@pytest.fixture
def molpcba(tmp_path):
    """Three molecules in the layout of ogbg-molpcba, most of whose labels are unknown."""
    for name, text in TABLES.items():
        path = tmp_path / f"ogbg_molpcba/{name}.csv.gz"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(gzip.compress(text.encode()))
    return tmp_path


def test_labels_may_be_unknown(molpcba):
    bundle = datasets.load("ogbg-molpcba", root=molpcba)
    y = bundle.graphs.column("y").numpy()
    assert y.shape == (3, 128)
    assert np.array_equal(y[:, 0], [1, np.nan, 0], equal_nan=True)
    assert np.isnan(y[:, 1:]).all()
    assert bundle.statistics.targets["assay-0"].mean == 0.5
    assert np.isnan(bundle.statistics.targets["assay-1"].mean)
    assert bundle.split.train.tolist() == [2, 0]


def test_edges_go_both_ways(molpcba):
    data = datasets.load("ogbg-molpcba", root=molpcba).graphs[1]
    assert data.edge_index.tolist() == [[0, 1, 1, 2], [1, 0, 2, 1]]
    assert data.edge_attr.tolist() == [[1, 0, 0], [1, 0, 0], [0, 0, 1], [0, 0, 1]]


def test_a_split_that_names_no_graph(molpcba):
    (molpcba / "ogbg_molpcba/split/scaffold/test.csv.gz").write_bytes(gzip.compress(b"3\n"))
    with pytest.raises(ValueError, match="test: it names a graph that does not exist; there are 3"):
        datasets.load("ogbg-molpcba", root=molpcba)
