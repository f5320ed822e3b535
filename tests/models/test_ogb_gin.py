"""OGB's GIN, with and without its virtual node, and ESC-GNN on it: weights to the digit, and what they are equal to."""

import pytest
import torch
from torch_geometric.nn import GINEConv, global_add_pool, global_mean_pool

from escgnn import graphs
from escgnn.models import OGBGIN
from escgnn.models.ogb_gin import OGBLayer
from escgnn.transforms import StructuralEncoding
from tests.models.test_graph_gps import MEMBERS, OGB, batch_of, weights_of

BONDS = {"kind": "categorical", "sizes": [3, 2]}


def network_of(**settings):
    torch.manual_seed(0)
    network = OGBGIN(2, **{"hidden": 8, "layers": 3, **settings}).double()
    for one in network.parameters():
        one.data += 0.1 * torch.randn_like(one)  # none is zero, as some are at first
    return network.eval()


def with_bonds(batch):
    both = torch.sort(batch.edge_index, 0).values.sum(0)  # the same for both directions
    batch.edge_attr = torch.stack([both % 3, both % 2], 1)
    return batch


def test_published_numbers_of_weights():
    assert weights_of("ogb-gin", "authors/ogbg-molhiv", OGB)[0] == 1_885_206
    assert weights_of("ogb-gin-vn", "authors/ogbg-molhiv", OGB)[0] == 3_336_306


def test_a_layer_is_that_of_pyg():
    torch.manual_seed(0)
    own = OGBLayer(8, "batch", BONDS, False)
    own.epsilon.data.fill_(0.3)
    theirs = GINEConv(own.mlp, eps=0.3)
    batch = with_bonds(batch_of(MEMBERS))
    h = torch.randn(batch.num_nodes, 8)
    edge = own.edges(batch.edge_attr, batch.num_edges)
    found = own(h, batch.edge_index, batch.edge_attr, None)
    torch.testing.assert_close(found, theirs(h, batch.edge_index, edge_attr=edge))


def test_rounds_are_those_of_the_formula():
    network = network_of(virtual_node=True, edge_features=BONDS)
    batch = with_bonds(batch_of(MEMBERS))
    h = network.nodes(None, batch.num_nodes)
    virtual = network.virtual.repeat(len(MEMBERS), 1)
    for i in range(3):
        h = h + virtual[batch.batch]
        heard = virtual + global_add_pool(h, batch.batch, len(MEMBERS))
        h = network.norms[i](network.layers[i](h, batch.edge_index, batch.edge_attr, None))
        if i < 2:
            h = h.relu()
            virtual = network.exchanges[i](heard)
    expected = network.head(global_mean_pool(h, batch.batch, len(MEMBERS)))
    torch.testing.assert_close(network(batch), expected)
    assert expected.std(0).min() > 1e-6


def test_a_virtual_node_that_says_nothing_is_none():
    network = network_of(virtual_node=True)
    plain = network_of()
    kept = {key: one for key, one in network.state_dict().items() if not key.startswith(("virtual", "exchanges"))}
    plain.load_state_dict(kept)
    batch = batch_of(MEMBERS)
    assert (network(batch) - plain(batch)).abs().max() > 1e-3
    torch.nn.init.zeros_(network.virtual)
    for exchange in network.exchanges:
        torch.nn.init.zeros_(exchange[4].weight)  # the last norm
        torch.nn.init.zeros_(exchange[4].bias)
    torch.testing.assert_close(network(batch), plain(batch))


def test_without_its_structure_esc_gnn_is_gin():
    encoding = StructuralEncoding(hops=1)
    network = network_of(num_bins=encoding.num_bins, edge_features=BONDS)
    batch = encoding(with_bonds(batch_of(MEMBERS)))
    network.prepare([batch], [batch], encoding)
    assert not torch.equal(network.structure.counts.mean, torch.zeros(encoding.num_bins))
    plain = network_of(edge_features=BONDS)
    kept = {key: one for key, one in network.state_dict().items() if "structure" not in key}
    plain.load_state_dict(kept)
    assert (network(batch) - plain(batch)).abs().max() > 1e-3
    for layer in network.layers:
        torch.nn.init.zeros_(layer.structure.weight)
        torch.nn.init.zeros_(layer.structure.bias)
    torch.testing.assert_close(network(batch), plain(batch))


@pytest.mark.parametrize("level", ["graph", "node", "edge"])
@pytest.mark.parametrize("virtual_node", [False, True])
def test_odd_graphs_alone_and_in_a_batch(level, virtual_node):
    network = network_of(level=level, virtual_node=virtual_node, edge_features=BONDS)
    views = [*MEMBERS, graphs.disjoint_union([graphs.cycle(3), graphs.path(2)])]
    alone = torch.cat([network(with_bonds(batch_of([view]))) for view in views])
    whole = batch_of(views)
    whole.edge_attr = torch.cat([with_bonds(batch_of([view])).edge_attr for view in views])
    torch.testing.assert_close(network(whole), alone)
    assert alone.isfinite().all() and alone.std(0).min() > 1e-6


def test_embeddings_begin_as_those_of_ogb():
    torch.manual_seed(0)
    features = {"kind": "categorical", "sizes": [500, 2]}
    network = OGBGIN(1, node_features=features, hidden=300)
    bounds = [(6 / (size + 300)) ** 0.5 for size in (500, 2)]
    for table, bound in zip(network.nodes.weight.split([500, 2]), bounds, strict=True):
        assert 0.95 * bound < table.abs().max() <= bound
