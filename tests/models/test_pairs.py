"""Rows of pairs of nodes, one by one, and what PPGN reads of them."""

import pytest
import torch
from torch_geometric.data import Batch

from benchmarks.power import as_data
from escgnn import graphs
from escgnn.counting import count
from escgnn.models import PPGN
from escgnn.models.pairs import Pairs, RawFeatures

VIEWS = [graphs.erdos_renyi(n, 0.5, seed=n) for n in (4, 1, 6, 4)]


def batch_of(views):
    return Batch.from_data_list([as_data(view) for view in views])


def test_a_product_has_an_order():
    """Adjacency matrices and their powers would not tell, as they commute."""
    pairs = Pairs(batch_of(VIEWS).ptr)
    torch.manual_seed(0)
    left, right = (torch.randn(pairs.rows, 2, dtype=torch.float64) for _ in range(2))
    found = pairs.product(left, right, pairs.equal_sizes())
    for graph, n in enumerate(pairs.size.tolist()):
        rows = pairs.graph == graph
        first, second, product = (one[rows].view(n, n, 2).movedim(-1, 0) for one in (left, right, found))
        torch.testing.assert_close(product, first @ second)


def test_an_edge_is_there_or_not():
    batch = batch_of(VIEWS)
    pairs = Pairs(batch.ptr)
    once = pairs.adjacency(batch.edge_index, batch.batch, torch.float64)
    twice = pairs.adjacency(batch.edge_index.repeat(1, 2), batch.batch, torch.float64)
    assert torch.equal(once, twice) and once.unique().tolist() == [0, 1]


def test_every_column_of_categories_has_channels_of_its_own():
    features = RawFeatures({"kind": "categorical", "sizes": [2, 3]})
    found = features(torch.tensor([[1, 2], [0, 1]]), 2, torch.ones(1))
    assert found.tolist() == [[0, 1, 0, 0, 1], [1, 0, 0, 1, 0]]


def read_by(network, batch):
    """What the perceptron at the end of a network gets."""
    seen = []
    handle = network.heads[0].register_forward_pre_hook(lambda _, given: seen.append(given[0].detach()))
    network(batch)
    handle.remove()
    return seen[0]


def network_of(level, **settings):
    torch.manual_seed(0)
    return PPGN(1, level=level, hidden=4, **settings).double().eval()


def test_an_edge_is_its_pair_and_that_of_its_reverse():
    batch = batch_of(VIEWS)
    there, back = read_by(network_of("edge"), batch).chunk(2, 1)
    column = {edge: i for i, edge in enumerate(zip(*batch.edge_index.tolist(), strict=True))}
    reverse = [column[v, u] for u, v in column]
    torch.testing.assert_close(there, back[reverse])
    assert (there - back).abs().max() > 1e-6, "the two differ"


def test_a_graph_is_its_diagonal_and_the_rest():
    own, rest = read_by(network_of("graph"), batch_of([graphs.empty(1), graphs.path(2)])).chunk(2, 1)
    assert own[0].any() and not rest[0].any(), "one node has no rest"
    assert rest[1].any()


@pytest.mark.parametrize(("settings", "factor"), [({}, 1.0), ({"scaled": True, "mean_nodes": 2.0}, 0.25)])
def test_products_are_divided_by_the_mean_size(settings, factor):
    """Weights that count: two products, each divided."""
    network = network_of("node", layers=2, head=(), **settings)
    with torch.no_grad():
        for one in network.parameters():
            one.zero_()
        for block in network.blocks:
            for side in (block.left, block.right):
                side[0].weight[:2, :2] = torch.eye(2)
                side[2].weight[:2, :2] = torch.eye(2)
        network.blocks[0].skip.weight[0, 0] = 1  # A
        network.blocks[0].skip.weight[1, 2] = 1  # its square
        network.blocks[1].left[0].weight[:2, :2] = torch.tensor([[0.0, 1.0], [0.0, 0.0]])
        network.blocks[1].skip.weight[0, 4] = 1  # the square times A
        network.heads[0][0].weight[0, 0] = 0.5
    found = network(batch_of(VIEWS)).squeeze(1)
    assert found.tolist() == [factor * n for view in VIEWS for n in count(view, "3-cycle", per="node")]
