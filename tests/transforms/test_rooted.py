import pickle

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch_geometric.data import Batch, Data, HeteroData

from escgnn import graphs
from escgnn.bags import BagTooLargeError, node_bag, pair_bag
from escgnn.kernels import threads
from escgnn.loader import Loader
from escgnn.store import GraphStore
from escgnn.transforms import RootedNodes, RootedPairs, rooted
from tests import naive_bags
from tests.strategies import messy_graphs, odd_shapes, relabelled

NODE_LABELS = ("hop", "more")
PAIR_LABELS = (*NODE_LABELS, "mate_hop", "mate_more")
ALL = (RootedNodes(2, resistance=True), RootedNodes(1, outside="keep"), RootedPairs(2, resistance=True))


def as_data(graph):
    return Data(edge_index=torch.from_numpy(graph.edge_index), num_nodes=graph.num_nodes)


def as_batch(members):
    return Batch.from_data_list([as_data(graph) for graph in members])


def assert_same(a, b):
    assert {*a.keys()} == {*b.keys()}
    for key in a.keys():  # noqa: SIM118, a Data is no mapping
        assert a[key].dtype == b[key].dtype if isinstance(a[key], torch.Tensor) else a[key] == b[key]
        assert torch.equal(torch.as_tensor(a[key]), torch.as_tensor(b[key])), key


def assert_subgraphs(found, expected):
    """Equal, resistances up to rounding."""
    assert len(found) == len(expected)
    for ours, theirs in zip(found, expected, strict=True):
        for name, value in ours.items():
            if "resistance" in name:
                assert value == pytest.approx(theirs[name], rel=1e-5, abs=1e-6)
            else:
                assert value == theirs[name], name


@pytest.mark.parametrize("outside", ["drop", "keep"])
@given(st.lists(messy_graphs(), min_size=1, max_size=3), st.integers(0, 4))
def test_node_bags_equal_the_slow_twin(outside, members, hops):
    bag = node_bag(RootedNodes(hops, outside=outside)(as_batch(members)))
    expected = naive_bags.node_subgraphs(graphs.disjoint_union(members), hops, keep=outside == "keep")
    assert_subgraphs(naive_bags.decoded(bag, *NODE_LABELS), expected)


@given(st.lists(messy_graphs(8), min_size=1, max_size=3), st.integers(1, 3))
@settings(max_examples=60)
def test_pair_bags_equal_the_slow_twin(members, hops):
    bag = pair_bag(RootedPairs(hops)(as_batch(members)))
    expected = naive_bags.pair_subgraphs(graphs.disjoint_union(members), hops)
    assert_subgraphs(naive_bags.decoded(bag, *PAIR_LABELS), expected)


@given(messy_graphs(8), st.integers(1, 3))
@settings(max_examples=40)
def test_resistances_equal_the_slow_twin(graph, hops):
    for outside in ("drop", "keep"):
        bag = node_bag(RootedNodes(hops, outside=outside, resistance=True)(as_data(graph)))
        expected = naive_bags.node_subgraphs(graph, hops, keep=outside == "keep")
        assert_subgraphs(naive_bags.decoded(bag, "resistance"), expected)
    bag = pair_bag(RootedPairs(hops, resistance=True)(as_data(graph)))
    expected = naive_bags.pair_subgraphs(graph, hops)
    assert_subgraphs(naive_bags.decoded(bag, "resistance", "mate_resistance"), expected)


@pytest.mark.parametrize("name", [*odd_shapes(), "long path"])
def test_odd_shapes(name):
    graph = graphs.path(40) if name == "long path" else odd_shapes()[name]
    hops = 253 if graph.num_nodes < 100 else 1
    bag = node_bag(RootedNodes(hops)(as_data(graph)))
    assert_subgraphs(naive_bags.decoded(bag, *NODE_LABELS), naive_bags.node_subgraphs(graph, hops))
    if graph.num_nodes < 100:
        bag = pair_bag(RootedPairs(hops)(as_data(graph)))
        assert_subgraphs(naive_bags.decoded(bag, *PAIR_LABELS), naive_bags.pair_subgraphs(graph, hops))


@pytest.mark.parametrize("transform", ALL, ids=repr)
@given(st.lists(messy_graphs(7), min_size=1, max_size=4))
@settings(max_examples=40)
def test_a_batch_is_its_graphs(transform, members):
    data = [as_data(graph) for graph in members]
    one_by_one = Batch.from_data_list([transform(d) for d in data])
    at_once = transform(Batch.from_data_list(data))
    assert_same(one_by_one, at_once)
    for single, cut in zip(data, at_once.to_data_list(), strict=True):
        assert_same(transform(single), cut)


@given(relabelled(), st.integers(1, 3))
@settings(max_examples=60)
def test_renaming_nodes_and_shuffling_columns_renames_the_subgraphs(case, hops):
    graph, order, columns, renamed = case
    place = np.argsort(columns)  # where each column went
    found = naive_bags.decoded(pair_bag(RootedPairs(hops)(as_data(renamed))), *PAIR_LABELS)
    found = {(subgraph["root"], subgraph["mate"]): subgraph for subgraph in found}
    for subgraph in naive_bags.decoded(pair_bag(RootedPairs(hops)(as_data(graph))), *PAIR_LABELS):
        twin = found.pop((order[subgraph["root"]], order[subgraph["mate"]]))
        edges = [(order[v], order[u], place[column]) for v, u, column in subgraph["edges"]]
        assert sorted(edges) == twin["edges"]
        for label in PAIR_LABELS:
            ours = dict(zip(order[subgraph["nodes"]].tolist(), subgraph[label], strict=True))
            assert ours == dict(zip(twin["nodes"], twin[label], strict=True))
    assert not found


@pytest.mark.parametrize("transform", ALL, ids=repr)
def test_any_number_of_threads_gives_the_same_arrays(transform, monkeypatch):
    batch = as_batch(graphs.molecule_like(12).split())
    expected = transform(batch)
    monkeypatch.setattr(rooted, "LEAST_BLOCK", 3)
    for number in (1, 2, 5):
        monkeypatch.setattr(threads, "count", lambda number=number: number)
        assert_same(transform(batch), expected)


def test_in_a_worker_one_thread_does_it(monkeypatch):
    asked = []
    over_blocks = threads.over_blocks

    def watched(task, total, block, workers):
        asked.append(workers)
        return over_blocks(task, total, block, workers)

    monkeypatch.setattr(threads, "over_blocks", watched)
    monkeypatch.setattr(torch.utils.data, "get_worker_info", object)
    RootedPairs(1, resistance=True)(as_data(graphs.petersen()))
    assert {*asked} == {1}


@pytest.mark.parametrize("transform", ALL, ids=repr)
def test_adds_what_it_says_and_leaves_the_given_object(transform):
    data = Data(edge_index=torch.tensor([[0, 1], [1, 0]]), x=torch.ones(5, 1))
    batch = Batch.from_data_list([data, data])
    known = {*batch._slice_dict}
    assert {*transform(data).keys()} == {"edge_index", "x"} | transform.adds
    assert {*transform(batch)._slice_dict} == known | transform.adds
    assert {*data.keys()} == {"edge_index", "x"}
    assert {*batch._slice_dict} == known
    assert transform(data).num_nodes == 5
    assert transform(batch).to_data_list()[1].num_nodes == 5


@pytest.mark.parametrize("transform", ALL, ids=repr)
def test_pickles_and_repr_round_trip(transform):
    data = as_data(graphs.petersen())
    for twin in (pickle.loads(pickle.dumps(transform)), eval(repr(transform))):
        assert repr(twin) == repr(transform)
        assert twin.adds == transform.adds
        assert_same(twin(data), transform(data))


def test_as_the_transform_of_a_loader():
    transform = RootedPairs(2)
    store = GraphStore.from_view(graphs.molecule_like(6))
    loader = Loader(store, 3, transform=transform)
    data = [*store]
    for batch, members in zip(loader, (data[:3], data[3:]), strict=True):
        expected = transform(Batch.from_data_list(members))
        for name in ("edge_index", *transform.adds):
            assert torch.equal(batch[name], expected[name]), name


def test_a_batch_that_would_not_fit_is_refused_with_its_size():
    batch = as_batch([graphs.complete(4), graphs.complete(6)])  # 4 * 4 + 6 * 6 copies, 4 * 12 + 6 * 30 edges
    assert RootedNodes(1, max_rows=228)(batch).bag_source.size(0) == 228
    with pytest.raises(
        BagTooLargeError, match=r"max_rows: the bag of these 2 graphs has 52 copies .* and 228 edges"
    ) as e:
        RootedNodes(1, max_rows=227)(batch)
    assert e.value.rows.tolist() == [48, 180]
    with pytest.raises(BagTooLargeError, match="graph 1 alone 180 and 900; expected at most 1,043 of each"):
        RootedPairs(1, max_rows=1043)(batch)  # 3 * 48 + 5 * 180 edges
    assert RootedPairs(1, max_rows=1044)(batch).bag_source.size(0) == 228
    lonely = as_batch([graphs.empty(5)])
    with pytest.raises(BagTooLargeError, match="25 copies"):
        RootedNodes(1, outside="keep", max_rows=24)(lonely)
    assert RootedNodes(1, max_rows=5)(lonely).bag_len.tolist() == [1] * 5


@pytest.mark.parametrize("hops", [-1, 254, 1.5, True, None])
def test_radii_that_make_no_sense_are_refused(hops):
    for transform in (RootedNodes, RootedPairs):
        with pytest.raises(ValueError, match=r"hops: .*; expected an integer from"):
            transform(hops)


def test_bad_arguments_are_refused():
    with pytest.raises(ValueError, match="hops: 0; expected an integer from 1 to 253"):
        RootedPairs(0)
    with pytest.raises(ValueError, match="outside: 'both'; expected one of drop, keep"):
        RootedNodes(1, outside="both")
    with pytest.raises(ValueError, match="max_rows: 0; expected an integer >= 1"):
        RootedNodes(1, max_rows=0)
    with pytest.raises(TypeError, match="data: cannot cut HeteroData"):
        RootedNodes(1)(HeteroData())
    with pytest.raises(ValueError, match="edge_index: not symmetric"):
        RootedNodes(1)(Data(edge_index=torch.tensor([[0], [1]]), num_nodes=2))


def test_columns_of_a_batch_must_be_grouped_by_graph():
    batch = as_batch([graphs.path(2), graphs.path(2)])
    batch.edge_index = batch.edge_index[:, [0, 2, 1, 3]]
    with pytest.raises(ValueError, match="edge_index: column 2 belongs to graph 0, but follows one of graph 1"):
        RootedNodes(1)(batch)


def test_subgraphs_too_large_to_solve_are_refused():
    rim = [(v, v % 4100 + 1) for v in range(1, 4101)]
    wheel = graphs.from_edges([*((0, v) for v in range(1, 4101)), *rim], 4101)
    with pytest.raises(ValueError, match="resistance: the subgraph rooted at node 0 has more than 4096 nodes"):
        RootedNodes(1, resistance=True)(as_data(wheel))
