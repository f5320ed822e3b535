import pytest
import torch
from torch.testing import assert_close
from torch_geometric.data import Batch, Data

from escgnn.pools import POOLS, STEADY_POOLS, SizedSumPool


@pytest.mark.parametrize("name", ["sum", "mean", "attention"])
def test_pools_read_every_graph_apart(name):
    pool = POOLS[name](4)
    h, batch = torch.randn(5, 4), torch.tensor([0, 0, 2, 2, 2])
    out = pool(h, batch, 4)
    for graph in range(4):
        mine = h[batch == graph]
        weight = {
            "sum": torch.ones(len(mine)),
            "mean": torch.ones(len(mine)) / max(len(mine), 1),
            "attention": (mine @ pool.gate.weight[0]).softmax(0) if name == "attention" else None,
        }[name]
        assert_close(out[graph], weight @ mine)


@pytest.mark.parametrize("pools", [POOLS, STEADY_POOLS])
def test_the_mean_beside_the_sum(pools):
    """Each as it is alone, in one vector; of a graph without nodes, too."""
    h, batch = torch.randn(5, 4), torch.tensor([0, 0, 2, 2, 2])
    out = pools["sum+mean"](4)(h, batch, 4)
    assert_close(out, torch.cat([pools["sum"](4)(h, batch, 4), pools["mean"](4)(h, batch, 4)], 1))


@pytest.mark.parametrize("pools", [POOLS, STEADY_POOLS])
def test_logarithms_of_what_nodes_add_up_to(pools):
    """Beside sum and mean; written out for every graph, one without nodes among them."""
    h, batch = torch.randn(5, 4), torch.tensor([0, 0, 2, 2, 2])
    pool = pools["sum+mean+log"](4)
    out = pool(h, batch, 4)
    both = pools["sum+mean"](4)(h, batch, 4)
    assert_close(out[:, : both.size(1)], both)
    shares = (h @ pool.log.share.weight.T + pool.log.share.bias).exp().log1p().detach()  # (5, 4)
    for graph in range(4):
        assert_close(out[graph, both.size(1) :], (1 + shares[batch == graph].sum(0)).log())


def test_a_new_pool_of_logarithms_is_of_the_size_of_other_vectors():
    """Nodes that say nothing yet add a tenth each, so that 20 of them are neither nothing nor many."""
    torch.manual_seed(0)
    pool = STEADY_POOLS["sum+mean+log"](64).log
    out = pool(torch.zeros(20, 64), torch.zeros(20, dtype=torch.int64), 1).detach()
    assert float(out.min()) > 0.5 and float(out.max()) < 2


@pytest.mark.parametrize("name", POOLS)
def test_pools_say_how_wide_a_graph_is(name):
    for pools in (POOLS, STEADY_POOLS):
        pool = pools[name](4)
        assert pool(torch.randn(3, 4), torch.zeros(3, dtype=torch.int64), 1).size(1) == pool.out_channels


def test_sums_in_units_of_the_mean_size():
    """Fitted to graphs of 2 and 4 nodes, a sum is a third, as is the number of nodes; twice the graph is twice the vector."""
    pool, h = SizedSumPool(4), torch.randn(6, 4)
    plain = torch.cat([h.sum(0), torch.tensor([6.0])]).unsqueeze(0)
    assert_close(pool(h, torch.zeros(6, dtype=torch.int64), 1), plain)
    sizes = [Data(num_nodes=2), Data(num_nodes=4)]
    for batches in ([Batch.from_data_list(sizes)], sizes, iter(sizes)):
        pool.size.fill_(1)
        assert len([*pool.measured(batches)]) in (1, 2)
        assert float(pool.size) == 3
    assert_close(pool(h, torch.zeros(6, dtype=torch.int64), 1), plain / 3)
    assert_close(pool(torch.cat([h, h]), torch.zeros(12, dtype=torch.int64), 1), 2 * plain / 3)


@pytest.mark.parametrize("batches", [[], [Data(num_nodes=0)]])
def test_no_nodes_to_measure(batches):
    pool = SizedSumPool(4)
    assert len([*pool.measured(batches)]) == len(batches)
    assert float(pool.size) == 1


def test_logarithms_begin_with_nodes_that_differ():
    """Of nodes of unit deviation some add several times as much as others, so that no logarithm is that of the size alone."""
    torch.manual_seed(0)
    pool = POOLS["sum+mean+log"](64).log
    shares = torch.nn.functional.softplus(pool.share(torch.randn(1000, 64)))  # (nodes, numbers)
    assert (shares.std(0) > shares.mean(0)).all()
