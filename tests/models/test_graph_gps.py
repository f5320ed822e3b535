"""GraphGPS, the Graph Transformer and ESC-GNN on them: weights to the digit, attention, encodings, simple cases."""

from itertools import pairwise
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from torch import nn
from torch_geometric.data import Batch
from torch_geometric.nn import GINEConv, GPSConv

from benchmarks.power import as_data
from escgnn import graphs
from escgnn.datasets import Feature
from escgnn.models import GraphGPS, attention
from escgnn.models.attention import GraphAttention, rooms_of
from escgnn.models.edge_gated import EdgeGatedLayer
from escgnn.models.graph_gps import SpectrumEncoder
from escgnn.store import GraphStore
from escgnn.task import Task
from escgnn.training import read_config
from escgnn.transforms import StructuralEncoding, WalkAndSpectrum
from escgnn.zoo import ZOO

MOLECULES = {"x": Feature("categorical", (28,)), "edge_attr": Feature("categorical", (4,))}
OGB = {  # when networks were published; today there is one chirality more
    "x": Feature("categorical", (119, 4, 12, 12, 10, 6, 6, 2, 2)),
    "edge_attr": Feature("categorical", (5, 6, 2)),
}
MEMBERS = [graphs.erdos_renyi(n, 0.4, seed=n) for n in (7, 1, 12, 3, 8)] + [graphs.empty(4), graphs.cycle(5)]


def weights_of(name, preset, features, targets=1):
    """How many there are in the network of a row of the zoo with a preset, which lies over the defaults of its dataset."""
    recipe = ZOO[name]
    dataset = preset.removeprefix("authors/").removesuffix("-laplacian")
    config = read_config(overrides={"model": name, "preset": preset}, bundle=SimpleNamespace(name=dataset))
    each, once = recipe.transforms(config.transform)
    task = Task("graph", "regression", "mae", "min", tuple(map(str, range(targets))))
    network = recipe.build(config.network, each, once, task=task, features=features, graphs=None)
    return sum(one.numel() for one in network.parameters()), each


def batch_of(views, transform=None):
    views = [graphs.from_edge_index(view.edge_index, view.num_nodes) for view in views]
    store = GraphStore.from_data_list([as_data(view) for view in views])
    return (store if transform is None else transform(store)).batch()


def network_of(**settings):
    torch.manual_seed(0)
    return GraphGPS(2, **{"hidden": 16, "layers": 3, "heads": 2, **settings}).double().eval()


def test_published_numbers_of_weights():
    gated = 2 * 64  # theirs also normalises the last state of edges, which nothing reads
    assert weights_of("graphgps", "authors/zinc-12k", MOLECULES)[0] == 423_717
    assert weights_of("graph-transformer", "authors/zinc-12k", MOLECULES)[0] == 423_873
    assert weights_of("graphgps", "authors/zinc-12k-laplacian", MOLECULES)[0] == 423_833
    assert weights_of("graphgps", "authors/ogbg-molhiv", OGB)[0] + gated == 558_625
    assert weights_of("graphgps", "authors/ogbg-molpcba", OGB, 128)[0] + 6 * gated == 9_744_496


def test_esc_gnn_on_zinc_has_the_weights_of_its_authors():
    """Theirs has 1,800 bins, of which most stay empty, and in every layer a bias of attention that nothing reads."""
    found, encoding = weights_of("esc-graphgps", "authors/zinc-12k", MOLECULES)
    unread = 10 * (101 * 4 + 3 * (4 * 4 + 4))
    assert found + (1800 - encoding.num_bins) * 64 * 10 + unread == 1_624_633


def test_attention_is_that_of_torch_in_every_graph():
    rng = np.random.default_rng(0)
    torch.manual_seed(0)
    own = GraphAttention(8, 2, dropout=0.5).double().eval()
    for _ in range(100):
        sizes = rng.integers(0, 20, rng.integers(1, 8))
        ptr = torch.from_numpy(np.cumsum([0, *sizes]))
        number = torch.repeat_interleave(torch.arange(len(sizes)), torch.from_numpy(sizes))
        h = torch.randn(int(ptr[-1]), 8, dtype=torch.float64)
        found = own(h, rooms_of(ptr, number))
        parts = [h[None, begin:end] for begin, end in pairwise(ptr) if begin < end]
        expected = torch.cat([h[:0], *(own.inside(part, part, part)[0][0] for part in parts)])
        torch.testing.assert_close(found, expected)


def test_weights_are_dropped_in_training_and_keep_their_mean():
    torch.manual_seed(0)
    own = GraphAttention(8, 2, dropout=0.5).train()
    rooms = rooms_of(torch.tensor([0, 9]), torch.zeros(9, dtype=torch.int64))
    h = torch.randn(9, 8)
    drawn = torch.stack([own(h, rooms) for _ in range(4000)])
    assert drawn.std(0).min() > 1e-3
    torch.testing.assert_close(drawn.mean(0), own.eval()(h, rooms), rtol=0, atol=0.02)


def test_what_nodes_contribute_is_read_out_by_a_linear_map():
    network = network_of(walks=0, pool="sum+mean", additive=True, readout_norm=True)
    batch = batch_of(MEMBERS)
    network.prepare([batch], [batch], None)
    found = []
    network.contribution.register_forward_hook(lambda _, __, out: found.append(out))
    said = network(batch)
    (contributions,) = found
    sums = network.pool(contributions, batch.batch, batch.num_graphs)
    assert isinstance(network.head, nn.Linear) and contributions.min() == 0
    torch.testing.assert_close(said, sums @ network.head.weight.T + network.head.bias)
    torch.testing.assert_close(network(batch_of([MEMBERS[1]])), said[[1]])


def test_a_graph_has_at_most_twice_as_many_places_as_nodes():
    ptr = torch.tensor([0, 1, 1, 4, 10, 26, 43, 143])
    number = torch.repeat_interleave(torch.arange(7), ptr.diff())
    rooms = rooms_of(ptr, number)
    assert [room.places.shape for room in rooms] == [(1, 1), (1, 3), (1, 6), (1, 16), (1, 17), (1, 100)]
    for places, is_empty, _ in rooms_of(torch.tensor([0, 9, 25]), torch.tensor([0] * 9 + [1] * 16)):
        assert places.shape == (2, 16) and (~is_empty).sum(1).tolist() == [9, 16]
    assert rooms_of(torch.tensor([0]), ptr[:0]) == [] == rooms_of(torch.tensor([0, 0]), ptr[:0])


def test_what_is_exported_says_the_same(monkeypatch):
    network = network_of(walks=4)
    batch = batch_of(MEMBERS, WalkAndSpectrum(4))
    expected = network(batch)
    monkeypatch.setattr(attention, "_is_exported", lambda: True)
    torch.testing.assert_close(network(batch), expected)


def test_a_layer_is_that_of_pyg():
    torch.manual_seed(0)
    (own,) = GraphGPS(1, hidden=8, layers=1, heads=2).layers
    plain = nn.Sequential(nn.Linear(8, 8), nn.ReLU(), nn.Linear(8, 8))  # without a norm
    theirs = GPSConv(8, GINEConv(plain), 2, attn_kwargs={"dropout": 0.5})
    same = [
        (plain[0], own.local.mlp[0]),
        (plain[2], own.local.mlp[3]),
        (theirs.attn, own.attention.inside),
        (theirs.norm1.module, own.local_norm),
        (theirs.norm2.module, own.attention_norm),
        (theirs.norm3.module, own.norm),
        (theirs.mlp[0], own.mlp[0]),
        (theirs.mlp[3], own.mlp[3]),
    ]
    for other, mine in same:
        other.load_state_dict(mine.state_dict())
    batch = batch_of(MEMBERS)
    h = torch.randn(batch.num_nodes, 8)
    edge = torch.randn(batch.num_edges, 8)
    own.attention.inside.dropout = 0.0  # drawn in another order
    theirs.attn.dropout = 0.0
    found, _ = own(h, edge, batch.edge_index, rooms_of(batch.ptr, batch.batch))
    torch.testing.assert_close(found, theirs(h, batch.edge_index, batch.batch, edge_attr=edge))


def test_gated_messages_are_those_of_a_slow_loop():
    torch.manual_seed(0)
    layer = EdgeGatedLayer(4, "layer", 0.5).eval()
    batch = batch_of(MEMBERS)
    h = torch.randn(batch.num_nodes, 4)
    edge = torch.randn(batch.num_edges, 4)
    joint = torch.zeros(batch.num_edges, 4)
    heard = torch.zeros(batch.num_nodes, 4)
    gates = torch.zeros(batch.num_nodes, 4)
    for i, (u, v) in enumerate(batch.edge_index.T.tolist()):
        joint[i] = layer.sender(h[u]) + layer.receiver(h[v]) + layer.edge(edge[i])
        heard[v] += joint[i].sigmoid() * layer.value(h[u])
        gates[v] += joint[i].sigmoid()
    nodes, edges = layer(h, edge, batch.edge_index)
    torch.testing.assert_close(nodes, h + layer.norm(layer.own(h) + heard / (gates + 1e-6)).relu())
    torch.testing.assert_close(edges, edge + layer.edge_norm(joint).relu())


@pytest.mark.parametrize("local", ["gine", "gatedgcn"])
def test_loops_repeated_edges_and_their_order(local):
    ends = torch.tensor([[2, 1, 0, 1, 0, 0, 1], [1, 2, 1, 0, 1, 0, 0]])  # a loop, and one edge twice
    network = network_of(local=local, walks=3)
    transform = WalkAndSpectrum(3)
    odd = GraphStore([3], [7], ends)
    turned = GraphStore([3], [7], ends[:, torch.randperm(7)])
    expected = network(transform(odd).batch())
    torch.testing.assert_close(network(transform(turned).batch()), expected)
    beside = GraphStore.concatenate([odd, GraphStore.from_view(graphs.star(9)), turned])
    torch.testing.assert_close(network(transform(beside).batch())[[0, 2]], expected.expand(2, -1))
    assert (network(transform(GraphStore.from_view(graphs.path(3))).batch()) - expected).abs().max() > 1e-6


@pytest.mark.parametrize("local", ["gine", "gatedgcn", "none"])
@pytest.mark.parametrize("level", ["graph", "node", "edge"])
def test_every_kind_on_odd_graphs(local, level):
    transform = WalkAndSpectrum(3, 4)
    settings = {"walks": 3, "frequencies": 4, "local": local, "level": level}
    network = network_of(**settings)
    alone = torch.cat([network(batch_of([view], transform)) for view in MEMBERS])
    torch.testing.assert_close(network(batch_of(MEMBERS, transform)), alone)
    assert alone.isfinite().all() and alone.std(0).min() > 1e-6
    network.train()(batch_of(MEMBERS, transform)).sum().backward()
    for key, one in network.named_parameters():
        assert one.grad is not None and one.grad.isfinite().all(), key
    features = {"kind": "categorical", "sizes": [3]}
    labelled = network_of(**settings, node_features=features, edge_features=features)
    batch = batch_of(MEMBERS, transform)
    batch.x = torch.arange(batch.num_nodes) % 3
    batch.edge_attr = torch.arange(batch.num_edges) % 3
    assert labelled(batch).isfinite().all()


def test_attention_alone_does_not_see_edges():
    network = network_of(walks=0, local="none", level="node")
    rows = network(batch_of([graphs.path(6), graphs.complete(6)]))
    torch.testing.assert_close(rows[:6], rows[6:])


def test_a_flipped_eigenvector_changes_what_is_said():
    """A known failure of the encoding; walks have no signs."""
    batch = batch_of([graphs.path(5), graphs.star(4)], WalkAndSpectrum(4, 3))
    network = network_of(walks=4, frequencies=3, spectrum_channels=6)
    before = network(batch)
    batch.laplacian_vectors = -batch.laplacian_vectors
    assert (network(batch) - before).abs().min() > 1e-9


def test_signs_are_drawn_once_for_a_batch():
    torch.manual_seed(0)
    encoder = SpectrumEncoder(4).train()
    vectors = torch.randn(6, 1)
    values = torch.rand(6, 1)
    both = [encoder.eval()(sign * vectors, values) for sign in (1, -1)]
    encoder.train()
    drawn = [encoder(vectors, values) for _ in range(30)]
    times = [sum(torch.equal(one, either) for one in drawn) for either in both]
    assert sum(times) == 30 and min(times) > 0


def test_eigenvectors_that_a_small_graph_does_not_have_leave_no_trace():
    encoder = SpectrumEncoder(4).eval()
    vectors = torch.randn(3, 2)
    values = torch.rand(3, 2)
    padded = [torch.cat([one, torch.full((3, 2), fill)], 1) for one, fill in ((vectors, 0.0), (values, -1.0))]
    torch.testing.assert_close(encoder(*padded), encoder(vectors, values))


def test_without_its_structure_esc_gnn_is_the_graph_transformer():
    encoding = StructuralEncoding(hops=1)
    network = network_of(walks=0, num_bins=encoding.num_bins)
    batch = encoding(batch_of(MEMBERS))
    network.prepare([batch], [batch], encoding)
    scales = [one.counts.deviation for one in network.structures]
    assert not torch.equal(scales[0], torch.ones_like(scales[0]))
    assert all(torch.equal(one, scales[0]) for one in scales)
    plain = network_of(walks=0)
    plain.load_state_dict({key: one for key, one in network.state_dict().items() if not key.startswith("structures")})
    assert (network(batch) - plain(batch)).abs().max() > 1e-3
    for one in network.structures:
        nn.init.zeros_(one.mlp[5].weight)  # the last norm; its shift is zero
    torch.testing.assert_close(network(batch), plain(batch))


def test_later_layers_see_the_structure_of_earlier_ones():
    encoding = StructuralEncoding(hops=1)
    network = network_of(walks=0, num_bins=encoding.num_bins, layers=2)
    batch = encoding(batch_of(MEMBERS))
    seen = []
    for layer in network.layers:
        layer.register_forward_pre_hook(lambda _, given: seen.append(given[1]))
    network(batch)
    terms = [one(batch) for one in network.structures]
    torch.testing.assert_close(seen[0], terms[0])
    torch.testing.assert_close(seen[1], terms[0] + terms[1])


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"heads": 3}, "heads: 3; expected a divisor of hidden, which is 16"),
        ({"local": "gcn"}, "local: 'gcn'; expected one of gine, gatedgcn, none"),
        ({"walk_channels": 16}, "hidden: 16, of which 16 are for walks and 0 for eigenvectors; expected more"),
        ({"spectrum_channels": 0}, "spectrum_channels: 0; expected an integer from 1, or None"),
        ({"attention_dropout": 1.0}, "attention_dropout: 1.0; expected a share from 0 to below 1"),
        ({"local": "none", "num_bins": 9}, "local: 'none', but the structural encoding is one of edges"),
        ({"num_bins": 0}, "num_bins: 0; expected an integer from 1, or None for no encoding"),
        ({"structure_scale": "log"}, "structure_scale: 'log'; expected one of fitted, none"),
    ],
)
def test_settings_that_mean_nothing_are_refused(settings, message):
    with pytest.raises(ValueError, match=message):
        network_of(**settings)


def test_a_batch_without_nodes():
    empty = Batch.from_data_list([as_data(graphs.empty(0))])
    empty.walk_returns = torch.zeros(0, 20)
    assert network_of()(empty).shape == (1, 2)
