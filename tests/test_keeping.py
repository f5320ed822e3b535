"""What is kept is what the transform would make, number by number."""

import pickle

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch_geometric.data import Batch, Data

from escgnn import graphs, keeping
from escgnn.bags import BagTooLargeError
from escgnn.keeping import keep
from escgnn.loader import Loader
from escgnn.store import GraphStore
from escgnn.transforms import Cells, PairDistances, RootedNodes, StructuralEncoding, Triples
from escgnn.zoo import ZOO
from tests.strategies import messy_graphs, odd_shapes
from tests.test_store import assert_same, molecules

TRANSFORMS = {
    "encoding": StructuralEncoding(2, nodes=True),
    "resistance": StructuralEncoding(3, ("edge", "resistance")),
    "several radii": StructuralEncoding((1, 2), ("degree", "cycle", "colour")),
    "cells": Cells(),
    "distances": PairDistances(),
    "triples": Triples(),
}
ODD = odd_shapes()


class Noisy(StructuralEncoding):
    """Another thing every time, and derived from what is not."""

    def forward(self, data):
        data = super().forward(data)
        data.esc_count = data.esc_count + torch.randint_like(data.esc_count, 2)
        return data


def as_data(graph):
    return Data(edge_index=torch.from_numpy(graph.edge_index), num_nodes=graph.num_nodes)


def same_batches(store, transform, chosen):
    kept = keep(store, transform, 10**9)
    for some in chosen:
        assert_same(kept.batch(some), transform(store.batch(some)))


@pytest.mark.parametrize("name", TRANSFORMS)
def test_batches_are_those_of_the_transform(name, monkeypatch):
    """In any order, in repeated graphs, of parts of a store, and in whatever chunks they were made."""
    monkeypatch.setattr(keeping, "CHUNK", 300)
    rng = np.random.default_rng(0)
    chosen = [rng.integers(0, 20, 7), [3], slice(4, 9), rng.permutation(20)]
    same_batches(molecules(), TRANSFORMS[name], chosen)
    same_batches(molecules(40)[rng.permutation(40)[:20]], TRANSFORMS[name], chosen)


@pytest.mark.parametrize("name", TRANSFORMS)
@settings(max_examples=40)
@given(st.lists(messy_graphs(6), min_size=1, max_size=5), st.integers(0, 99))
def test_any_graphs(name, members, seed):
    store = GraphStore.from_data_list([as_data(one) for one in members])
    numbers = np.random.default_rng(seed).integers(0, len(store), 6)
    same_batches(store, TRANSFORMS[name], [numbers])


@pytest.mark.parametrize("name", TRANSFORMS)
def test_odd_shapes(name):
    store = GraphStore.from_data_list([as_data(graph) for graph in ODD.values() if graph.num_nodes < 100])
    same_batches(store, TRANSFORMS[name], [np.arange(len(store))[::-1]])


def test_counts_that_need_more_than_a_byte():
    store = GraphStore.from_data_list([as_data(one) for one in (graphs.path(3), graphs.star(300))])
    encoding = StructuralEncoding(1)
    for some, expected in ((store[:1], torch.uint8), (store, torch.int16)):
        kept = {column.name: column.values.dtype for column in keep(some, encoding, 10**9).columns}
        assert kept == {"esc_len": torch.uint8, "esc_bin": torch.uint8, "esc_count": expected}
    same_batches(store, encoding, [[0], [1, 0], [1, 1]])


class Given:
    """Adds the column ``extra`` of graphs as it is, one row for each graph."""

    keepable = True
    adds = frozenset({"extra"})

    def __call__(self, batch):
        batch.extra = batch.y
        batch._slice_dict["extra"] = torch.arange(batch.num_graphs + 1)
        batch._inc_dict["extra"] = None
        return batch


@pytest.mark.parametrize(
    ("values", "dtype", "expected"),
    [
        ([0, 255], torch.int64, torch.uint8),
        ([0, 256], torch.int64, torch.int16),
        ([-1, 0], torch.int32, torch.int16),
        ([0, 32768], torch.int32, torch.int32),
        ([-32769, 0], torch.int64, torch.int32),
        ([0, 2**31], torch.int64, torch.int64),
        ([0.5, 1.0], torch.float64, torch.float64),
        ([True, False], torch.bool, torch.bool),
    ],
    ids=str,
)
def test_the_smallest_type_that_holds_all(values, dtype, expected, monkeypatch):
    """Of all graphs together, whatever chunks they were in; batches have the type that the transform gave."""
    monkeypatch.setattr(keeping, "CHUNK", 1)
    store = GraphStore([1, 1], [0, 0], np.zeros((2, 0), int), graph={"y": torch.tensor(values, dtype=dtype)})
    (column,) = keep(store, Given(), 10**9).columns
    assert column.values.dtype == expected
    same_batches(store, Given(), [[1, 0]])


def test_batches_come_apart_and_together_again():
    kept = keep(molecules(), TRANSFORMS["encoding"], 10**9)
    batch = kept.batch([5, 2, 7])
    assert_same(batch[1], TRANSFORMS["encoding"](molecules()[2]))
    again = Batch.from_data_list(batch.to_data_list())
    for name in ("esc_len", "esc_bin", "esc_count", "esc_node_bin"):
        assert torch.equal(again[name], batch[name])


@pytest.mark.parametrize("workers", [0, 1])
@pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning")
def test_loaders_take_it(workers):
    encoding = StructuralEncoding(2)
    expected = Loader(molecules(), 6, shuffle=True, transform=encoding, seed=3)
    found = Loader(keep(molecules(), encoding, 10**9), 6, shuffle=True, seed=3, workers=workers)
    for _ in range(2):
        for one, other in zip(found, expected, strict=True):
            assert_same(one, other)


def test_crosses_to_another_process():
    kept = keep(molecules(), StructuralEncoding(1), 10**9)
    assert_same(pickle.loads(pickle.dumps(kept)).batch([3, 1]), kept.batch([3, 1]))


def test_no_more_memory_than_allowed():
    store = molecules(50)
    size = keep(store, StructuralEncoding(2), 10**9).num_bytes
    assert keep(store, StructuralEncoding(2), size).num_bytes == size
    assert keep(store, StructuralEncoding(2), size - 1) is None
    assert keep(store, StructuralEncoding(2), 0) is None
    assert keep(store[:0], StructuralEncoding(2), 10**9) is None


def test_little_is_made_of_what_will_not_fit(monkeypatch):
    """The first graphs tell, so that no time goes into the others."""
    monkeypatch.setattr(keeping, "CHUNK", 300)
    store = molecules(50)
    seen = []

    class Counting(StructuralEncoding):
        keepable = True

        def __call__(self, data):
            seen.append(data.num_graphs)
            return super().__call__(data)

    size = keep(store, Counting(2), 10**9).num_bytes
    everything = len(seen)
    seen.clear()
    assert keep(store, Counting(2), size / 4) is None
    assert len(seen) == 1 < everything


def test_what_is_not_kept():
    """Bags of subgraphs are too large, what draws random numbers is another thing every time, and others do not say."""
    assert keep(molecules(), RootedNodes(2), 10**9) is None
    assert keep(molecules(), None, 10**9) is None
    assert keep(molecules(), lambda batch: batch, 10**9) is None
    assert keep(molecules(), Noisy(2), 10**9) is None  # nobody knows what it does beside
    keepable = {name for name, row in ZOO.items() if row.each and vars(row.each).get("keepable")}
    assert keepable == {"esc-gnn", "esc-graphgps", "esc-ogb-gin", "graphormer-gd", "cin", "1-2-3-gnn", "3-gnn"}


@pytest.mark.parametrize(
    "transform", [PairDistances(max_rows=2000), Triples(max_rows=2000), Cells(max_rows=30)], ids=repr
)
def test_large_batches_are_refused_as_before(transform, monkeypatch):
    monkeypatch.setattr(keeping, "CHUNK", 30)
    store = molecules(6)
    kept = keep(store, transform, 10**9)
    transform.guard(kept.batch([1]))
    with pytest.raises(BagTooLargeError) as found:
        transform.guard(kept.batch())
    with pytest.raises(BagTooLargeError) as expected:
        transform(store.batch())
    assert found.value.max_rows == expected.value.max_rows
    assert (found.value.rows is None) == (expected.value.rows is None)
    if found.value.rows is not None:
        assert torch.equal(found.value.rows, expected.value.rows)


def test_a_graph_that_is_too_large_alone_is_not_kept():
    assert keep(molecules(6), PairDistances(max_rows=10), 10**9) is None


def test_chunks_that_are_too_large_are_made_in_pieces():
    same_batches(molecules(), PairDistances(max_rows=2000), [[0, 1]])
