"""Rings and other cells, against a slow search, counts, and networkx."""

import networkx
import numpy as np
import pytest
import torch
from hypothesis import given
from torch_geometric.data import Batch, Data

from benchmarks.power import as_data
from escgnn import graphs
from escgnn.bags import BagTooLargeError
from escgnn.counting import count
from escgnn.store import GraphStore
from escgnn.transforms import Cells
from tests import naive
from tests.strategies import messy_graphs, odd_shapes, relabelled


def ring_sets(view, longest):
    """The nodes of each ring; that its edges are in order along it is checked on the way."""
    lengths, edges = Cells(longest=longest).rings(view)
    found = []
    for ends in np.split(view.edges[edges], lengths.cumsum()[:-1]) if lengths.size else []:
        nodes = sorted({*ends.ravel().tolist()})
        assert len(nodes) == len(ends)
        for one, other in zip(ends, np.roll(ends, -1, axis=0), strict=True):
            assert {*one.tolist()} & {*other.tolist()}
        found.append(tuple(nodes))
    assert len({*found}) == len(found), "each is met once"
    return {*found}


@given(messy_graphs(max_nodes=8))
def test_rings_are_those_of_a_slow_search(view):
    for longest in (3, 4, 8):
        assert ring_sets(view, longest) == naive.rings(view.to_networkx(), longest)


def test_rings_of_many_random_graphs():
    for seed in range(200):
        view = graphs.erdos_renyi(7, 0.3 + 0.1 * (seed % 5), seed=seed)
        longest = 3 + seed % 6
        assert ring_sets(view, longest) == naive.rings(view.to_networkx(), longest)


@given(relabelled())
def test_rings_do_not_mind_numbers(case):
    view, order, _, other = case
    assert ring_sets(other, 7) == {tuple(sorted(order[[*ring]].tolist())) for ring in ring_sets(view, 7)}


def test_rings_of_larger_graphs_are_those_of_networkx():
    for view in [graphs.erdos_renyi(16, 0.25, seed=seed) for seed in range(10)] + [graphs.petersen(), graphs.rook(4)]:
        expected = {tuple(sorted(ring)) for ring in networkx.chordless_cycles(view.to_networkx(), length_bound=9)}
        assert ring_sets(view, 9) == {ring for ring in expected if len(ring) > 2}


def test_rings_are_as_many_as_induced_cycles():
    for view in [graphs.erdos_renyi(12, 0.4, seed=seed) for seed in range(5)] + [*odd_shapes().values()]:
        sizes = [len(ring) for ring in ring_sets(view, 6)]
        assert [sizes.count(k) for k in range(3, 7)] == [
            int(count(view, f"{k}-cycle", per="graph", induced=True).sum()) for k in range(3, 7)
        ]


def test_chords_make_no_rings():
    assert sorted(ring_sets(graphs.complete(4), 8)) == [(0, 1, 2), (0, 1, 3), (0, 2, 3), (1, 2, 3)]
    assert ring_sets(graphs.from_edges([(0, 1), (1, 2), (2, 3), (0, 3), (0, 2)]), 8) == {(0, 1, 2), (0, 2, 3)}
    assert ring_sets(graphs.cycle(7), 6) == set()
    assert ring_sets(graphs.cycle(7), 7) == {tuple(range(7))}
    assert ring_sets(graphs.cycle(7), 0) == set()


def test_a_batch_is_its_graphs_one_by_one():
    members = [as_data(view) for view in odd_shapes().values() if view.num_graphs == 1 and view.num_nodes]
    members.insert(2, as_data(graphs.petersen()))
    members.append(as_data(graphs.complete(4)))  # whose rings come after edges of others
    batch = Cells()(Batch.from_data_list(members))
    for whole, one in zip(batch.to_data_list(), members, strict=True):
        alone = Cells()(one)
        for name in Cells.adds:
            assert torch.equal(whole[name], alone[name])
    again = Batch.from_data_list([Cells()(one) for one in members])
    for name in Cells.adds:
        assert torch.equal(again[name], batch[name]), "PyG batches it as it is"


@given(messy_graphs())
def test_columns_know_their_edges(view):
    data = Cells()(as_data(view))
    for (u, v), number in zip(view.edge_index.T.tolist(), data.cell_edge.tolist(), strict=True):
        assert (number < 0) == (u == v)
        if u != v:
            assert data.cell_end[number].tolist() == sorted([u, v])
    assert data.cell_len.tolist() == [[view.num_edges, data.ring_len.numel()]]
    assert int(data.ring_len.sum()) == data.ring_edge.numel()


def test_too_many_rings_are_refused():
    dense = as_data(graphs.erdos_renyi(30, 0.5, seed=0))
    with pytest.raises(
        BagTooLargeError, match=r"max_rows: rings of up to 6 nodes .*: lower longest or batch_size, or raise"
    ):
        Cells(max_rows=1000)(dense)
    with pytest.raises(BagTooLargeError, match=r"after 65 steps; expected at most 1, found in 64 steps"):
        Cells(max_rows=1, longest=20)(as_data(graphs.random_tree(200)))
    store = GraphStore.from_data_list([dense])
    assert Cells()(store.batch()).ring_len.numel() > 1000, "more than there was room for at first"
    for longest in (2, -1, 65, True, 3.0):
        with pytest.raises(ValueError, match=r"longest: .*; expected an integer from 3 to 64, or 0 for no rings"):
            Cells(longest=longest)
    with pytest.raises(ValueError, match="max_rows: 0; expected an integer >= 1"):
        Cells(max_rows=0)
    with pytest.raises(TypeError, match="data: cannot list cells of list"):
        Cells().forward([Data()])
    assert repr(Cells(longest=8, max_rows=9)) == "Cells(longest=8, max_rows=9)"
