import os
import pickle
import subprocess
import sys

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch_geometric.data import Batch, Data, HeteroData
from torch_geometric.loader import DataLoader

from escgnn import graphs
from escgnn.encoding import PARTS, RootedEncoding
from escgnn.transforms import StructuralEncoding
from tests.strategies import messy_graphs, odd_shapes

ALL = StructuralEncoding(2, PARTS, nodes=True)


def as_data(graph):
    return Data(edge_index=torch.from_numpy(graph.edge_index), num_nodes=graph.num_nodes)


def assert_same(a, b):
    assert {*a.keys()} == {*b.keys()}
    for key in a.keys():  # noqa: SIM118, a Data is no mapping
        assert torch.equal(torch.as_tensor(a[key]), torch.as_tensor(b[key])), key


@given(st.lists(messy_graphs(), min_size=1, max_size=4))
def test_a_batch_is_its_graphs(members):
    data = [as_data(graph) for graph in members]
    one_by_one = Batch.from_data_list([ALL(d) for d in data])
    at_once = ALL(Batch.from_data_list(data))
    assert_same(one_by_one, at_once)
    for single, cut in zip(data, at_once.to_data_list(), strict=True):
        assert_same(ALL(single), cut)


@pytest.mark.parametrize("name", odd_shapes())
def test_adds_the_rows_of_the_encoding(name):
    graph = odd_shapes()[name]
    data = ALL(as_data(graph))
    rows, node_rows = RootedEncoding(2, PARTS).rows(graph), RootedEncoding(2, PARTS).node_rows(graph)
    for prefix, expected in (("esc", rows), ("esc_node", node_rows)):
        assert np.array_equal(data[f"{prefix}_len"], expected.length)
        assert np.array_equal(data[f"{prefix}_bin"], expected.bin)
        assert np.array_equal(data[f"{prefix}_count"], expected.count)
    assert data.num_nodes == graph.num_nodes
    assert data.num_edges == graph.edge_index.shape[1]


def test_the_given_object_stays_as_it_was():
    data = as_data(graphs.cycle(5))
    batch = Batch.from_data_list([data])
    keys = {*batch._slice_dict}
    ALL(data), ALL(batch)
    assert {*data.keys()} == {"edge_index", "num_nodes"}
    assert {*batch._slice_dict} == keys


def test_node_rows_do_not_change_what_pyg_takes_for_the_number_of_nodes():
    data = Data(edge_index=torch.tensor([[0, 1], [1, 0]]), x=torch.ones(5, 1))
    assert ALL(data).num_nodes == 5


@pytest.mark.parametrize(("context", "workers"), [("fork", 2), ("spawn", 1)])
@pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning")
def test_inside_loader_workers(context, workers):
    dataset = [ALL(as_data(graph)) for graph in graphs.molecule_like(12).split()]
    plain = [as_data(graph) for graph in graphs.molecule_like(12).split()]
    loader = DataLoader(
        Encoded(plain), batch_size=4, num_workers=workers, multiprocessing_context=context, persistent_workers=False
    )
    for i, batch in enumerate(loader):
        assert_same(batch, Batch.from_data_list(dataset[4 * i : 4 * i + 4]))


class Encoded(torch.utils.data.Dataset):
    """Encodes in the worker that fetches."""

    def __init__(self, items):
        self.items = items

    def __len__(self):
        return len(self.items)

    def __getitem__(self, i):
        return ALL(self.items[i])


def test_pickles_and_repr_round_trip():
    for encoding in (ALL, pickle.loads(pickle.dumps(ALL)), eval(repr(ALL))):
        assert repr(encoding).startswith("StructuralEncoding(hops=2, parts=('degree', 'node', 'joint', 'edge', 're")
        assert encoding.bins == ALL.bins
        assert_same(encoding(as_data(graphs.petersen())), ALL(as_data(graphs.petersen())))


def test_environment_sets_the_threads():
    code = "from escgnn.kernels import threads; print(threads.count())"
    environment = {**os.environ, "NUMBA_NUM_THREADS": "1"}
    result = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "1"


def test_other_kinds_of_data_are_refused():
    with pytest.raises(TypeError, match="data: cannot encode HeteroData"):
        ALL(HeteroData())


def test_directed_graphs_are_refused():
    with pytest.raises(ValueError, match="edge_index: not symmetric"):
        ALL(Data(edge_index=torch.tensor([[0], [1]]), num_nodes=2))
