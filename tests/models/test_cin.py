"""CIN: its slow twin, what it tells apart, and how many weights it has."""

import numpy as np
import pytest
import torch
from torch_geometric.data import Batch

from benchmarks.power import are_apart, as_data, classes, gap, outputs
from escgnn import datasets, graphs
from escgnn.models import CIN
from escgnn.models.cin import CellLayer, Complex
from escgnn.store import GraphStore
from escgnn.transforms import Cells
from escgnn.zoo import presets
from tests.strategies import odd_shapes

CSL = [graphs.circulant(41, 1, skip) for skip in (2, 3, 4, 5, 6, 9, 11, 12, 13, 16)]
REGULAR = [graphs.rook(4), graphs.shrikhande()]
FEATURES = {
    "node_features": {"kind": "categorical", "sizes": [3]},
    "edge_features": {"kind": "dense", "sizes": [1]},
}


def renamed(view, seed=0):
    return graphs.permute(view, np.random.default_rng(seed).permutation(view.num_nodes))


def batch_of(views, longest=6):
    """With features that depend on degrees, those of edges the same in both directions."""
    members = [as_data(graphs.from_edge_index(view.edge_index, view.num_nodes)) for view in views]
    store = GraphStore.from_data_list(members)
    degree = torch.from_numpy(store.view().degrees)
    ends = degree[torch.from_numpy(store.view().edge_index)].double()
    fields = {"node": {"x": (degree % 3).unsqueeze(1)}, "edge": {"edge_attr": ends.sum(0).unsqueeze(1) / 9}}
    return Cells(longest=longest)(store.with_fields(**fields).batch())


def build(**settings):
    torch.manual_seed(0)
    return CIN(4, **{"hidden": 16, "layers": 3, **FEATURES, **settings}).double().eval()


def weights(network):
    return sum(one.numel() for one in network.parameters())


# Most nodes of a ring; of CSL's classes, how many are told apart; whether pairs of EXP are; of SR25's classes, how many.
POWER = [
    (0, 1, False, 1),
    (3, 2, False, 1),
    (4, 3, False, 15),
    (5, 5, True, 15),
    (6, 6, True, None),
    (8, 10, True, None),
]


@pytest.mark.parametrize(("longest", "circulants", "exp", "regular"), POWER)
def test_untrained_networks_tell_apart_what_theory_says(benchmark_data, longest, circulants, exp, regular):
    settings = {"norm": "none", "longest": longest, "layers": 4}
    rows = outputs("cin", [as_data(view) for view in [*CSL, renamed(CSL[3])]], settings, seeds=1)
    assert classes(rows[:10]) == circulants
    assert gap(rows[3], rows[10]) < 1e-9, "a graph and itself, renumbered"
    first, second, third = outputs("cin", [as_data(v) for v in [*REGULAR, renamed(REGULAR[0])]], settings, seeds=1)
    assert are_apart(first, second) == (longest > 3)
    assert gap(first, third) < 1e-9
    store = datasets.load("exp", root=benchmark_data).graphs
    members = [as_data(graphs.as_graph(store[i]), store[i].x) for i in range(8)]
    order = np.random.default_rng(0).permutation(members[0].num_nodes)
    members.append(as_data(graphs.permute(graphs.as_graph(members[0]), order), members[0].x[order.argsort()]))
    rows = outputs("cin", members, settings, categories=(2,), seeds=1)
    assert [are_apart(rows[i], rows[i + 1]) for i in range(0, 8, 2)] == [exp] * 4
    assert gap(rows[0], rows[8]) < 1e-9
    if regular is not None:
        sr25 = datasets.load("sr25", root=benchmark_data).graphs
        assert classes(outputs("cin", [*sr25], settings, seeds=1)) == regular


def slow_round(layer, vectors, edges, rings):
    """The formula of the paper, cell by cell and pair by pair."""
    nodes, states, circles = vectors
    hears = [[torch.zeros_like(h) for h in of] for of in vectors]
    below = [[torch.zeros_like(h) for h in of] for of in vectors]
    for c, (a, b) in enumerate(edges):
        below[1][c] = nodes[a] + nodes[b]
        for s, t in ((a, b), (b, a)):
            hears[0][s] = hears[0][s] + (layer.sender[0](nodes[t]) + layer.carrier[0](states[c])).relu()
    for c, ring in enumerate(rings):
        below[2][c] = states[ring].sum(0)
        for s in ring:
            for t in ring:
                if s != t:
                    hears[1][s] = hears[1][s] + (layer.sender[1](states[t]) + layer.carrier[1](circles[c])).relu()
    new = []
    for i, of in enumerate(vectors):
        upper = layer.above[i](torch.stack([h + up for h, up in zip(of, hears[i], strict=True)]))
        lower = layer.below[i](torch.stack([h + down for h, down in zip(of, below[i], strict=True)]))
        new.append(layer.join[i](torch.cat([upper, lower], 1)))
    return new


def test_a_round_is_that_of_pairs_of_cells():
    for seed in range(20):
        view = graphs.erdos_renyi(8, 0.5, seed=seed)
        data = Cells()(as_data(view))
        torch.manual_seed(seed)
        layer = CellLayer(3, "layer", 3, 3).double()
        sizes = (view.num_nodes, view.num_edges, data.ring_len.numel())
        assert min(sizes) > 1
        vectors = [torch.randn(size, 3, dtype=torch.float64) for size in sizes]
        ring = torch.repeat_interleave(data.ring_len)
        found = layer(vectors, Complex(data.cell_end, ring, data.ring_edge, []))
        rings = [data.ring_edge[ring == c].tolist() for c in range(sizes[2])]
        for one, expected in zip(found, slow_round(layer, vectors, view.edges.tolist(), rings), strict=True):
            torch.testing.assert_close(one, expected)


def test_cells_start_as_their_features_and_nodes():
    network = build()
    view = graphs.from_edges([(0, 1), (1, 2), (2, 3), (0, 3), (2, 4)])
    batch = batch_of([graphs.path(2), view])
    tensors = network.tensors(batch)
    nodes, edges, rings = network._start(tensors, network._complex(tensors))
    torch.testing.assert_close(rings, nodes[2:6].sum(0, keepdim=True))
    columns = network.edge_vectors(tensors)
    for i, (u, v) in enumerate(batch.edge_index.T.tolist()):
        (row,) = [k for k, pair in enumerate([(0, 1), (2, 3), (2, 5), (3, 4), (4, 5), (4, 6)]) if {*pair} == {u, v}]
        torch.testing.assert_close(edges[row], columns[i])
    bare = build(edge_features=None)
    tensors = bare.tensors(batch)
    nodes, edges, _ = bare._start(tensors, bare._complex(tensors))
    torch.testing.assert_close(edges[5], nodes[4] + nodes[6])


@pytest.mark.parametrize("settings", [{}, {"longest": 0}, {"pool": "mean", "norm": "layer"}, {"edge_features": None}])
def test_odd_shapes_alone_and_together(settings):
    views = [view for view in odd_shapes().values() if view.num_graphs == 1 and view.num_nodes] + [graphs.petersen()]
    for level in ("graph", "node"):
        network = build(level=level, **settings)
        alone = torch.cat([network(batch_of([view])) for view in views])
        assert alone.isfinite().all()
        torch.testing.assert_close(network(batch_of(views)), alone, rtol=1e-9, atol=1e-9)
        again = network(batch_of([renamed(view) for view in views]))
        if level == "graph":
            torch.testing.assert_close(again, alone, rtol=1e-9, atol=1e-9)


def test_repeated_edges_and_loops_change_nothing():
    edges = [(0, 1), (1, 2), (0, 2), (2, 3)]
    plain = graphs.from_edges(edges)
    often = [*edges, *((v, u) for u, v in edges), (3, 3), (0, 1), (1, 0)]
    messy = graphs.from_edge_index(np.random.default_rng(0).permutation(often).T, 4)
    network = build()
    torch.testing.assert_close(network(batch_of([messy])), network(batch_of([plain])))


@pytest.mark.parametrize("views", [[graphs.path(4)] * 3, [graphs.cycle(5), graphs.path(3)], [graphs.empty(1)]])
def test_it_trains_with_no_ring_or_one(views):
    """Where a batch has no variance, running statistics stand in."""
    network = build().train()
    out = network(batch_of(views))
    out.square().sum().backward()
    assert out.isfinite().all()
    assert all(one.grad.isfinite().all() for one in network.parameters() if one.grad is not None)


def test_half_precision():
    network = build().float()
    batch = batch_of([graphs.petersen(), graphs.cycle(5), graphs.path(3)])
    with torch.autocast("cpu", torch.bfloat16):
        half = network(batch)
    torch.testing.assert_close(half.float(), network(batch), rtol=0.1, atol=0.1)


def test_without_rings_there_are_two_dimensions():
    network = build(longest=0)
    assert network.reads == {"x", "edge_attr", "edge_index", "batch", "ptr", "cell_len", "cell_end", "cell_edge"}
    assert not {name for name, _ in network.named_parameters() if ".2." in name and "layers.2." not in name}


def test_a_node_knows_its_rings():
    """The last rounds are of what nodes hear alone, so every weight learns."""
    network = build(level="node")
    views = [graphs.cycle(6), graphs.disjoint_union([graphs.cycle(3)] * 2), graphs.petersen()]
    out = network.train()(batch_of(views))
    assert out.shape == (22, 4) and gap(out[0], out[6]) > 1e-6
    out.square().sum().backward()
    assert all(one.grad is not None and one.grad.any() for one in network.parameters())


def test_published_numbers_of_weights():
    """Those of ogbg-molhiv are from when OGB's atoms had 173 categories."""
    atoms = {"kind": "categorical", "sizes": [119, 4, 12, 12, 10, 6, 6, 2, 2]}
    bonds = {"kind": "categorical", "sizes": [5, 6, 2]}
    zinc = {"kind": "categorical", "sizes": [28]}, {"kind": "categorical", "sizes": [4]}
    for benchmark, (nodes, edges), number in (
        ("ogbg-molhiv", (atoms, bonds), 239_745),
        ("ogbg-molhiv-small", (atoms, bonds), 138_337),
        ("zinc-12k", zinc, 1_700_865),
        ("zinc-12k-small", zinc, 130_945),
    ):
        network = presets.CIN[f"authors/{benchmark}"]["network"]
        hidden = network["hidden"]
        unread = network["layers"] * (
            2 * hidden * hidden + hidden
        )  # theirs has messages to rings through what is above them
        assert weights(CIN(1, node_features=nodes, edge_features=edges, **network)) + unread == number


def test_settings_that_mean_nothing_are_refused():
    with pytest.raises(ValueError, match="pool: 'attention'; expected one of sum, mean"):
        CIN(1, pool="attention")
    with pytest.raises(ValueError, match="level: 'edge'; CIN is defined for graph, node"):
        CIN(1, level="edge")
    with pytest.raises(ValueError, match="data: no cell_edge, cell_end"):
        build()(Batch.from_data_list([as_data(graphs.path(3), torch.zeros(3, 1, dtype=torch.int64))]))
