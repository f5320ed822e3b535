"""PNA and DGN: slow twins of their aggregation, what they are equal to, what they tell apart, and how many weights they have."""

import numpy as np
import pytest
import torch
from hypothesis import given
from torch_geometric.nn import PNAConv

from benchmarks.power import are_apart, as_data, classes, gap, outputs
from escgnn import datasets, graphs
from escgnn.models import DGN, PNA
from escgnn.models.towers import AGGREGATORS, DIRECTED, SCALERS, DegreeScaled, TowerLayer
from escgnn.store import GraphStore
from escgnn.transforms import Directions
from escgnn.transforms.directions import directions
from escgnn.zoo import presets
from tests.strategies import messy_graphs, odd_shapes

CSL = [graphs.circulant(41, 1, skip) for skip in (2, 3, 4, 5, 6, 9, 11, 12, 13, 16)]
REGULAR = [graphs.rook(4), graphs.shrikhande()]
SYMMETRIC = [graphs.cycle(8), graphs.complete(4), graphs.star(4), graphs.circulant(12, 1, 3), graphs.petersen()]
DEGREES = [0, 3, 5, 2]
ATOMS = {"kind": "categorical", "sizes": [119, 4, 12, 12, 10, 6, 6, 2, 2]}
BONDS = {"kind": "categorical", "sizes": [5, 6, 2]}
ZINC = {"node_features": {"kind": "categorical", "sizes": [28]}, "edge_features": {"kind": "categorical", "sizes": [4]}}


def renamed(view, seed=0):
    return graphs.permute(view, np.random.default_rng(seed).permutation(view.num_nodes))


def batch_of(views):
    """With a feature that depends on the degree, and the direction."""
    store = Directions()(
        GraphStore.from_data_list([as_data(graphs.from_edge_index(v.edge_index, v.num_nodes)) for v in views])
    )
    degree = torch.from_numpy(store.view().degrees)
    return store.with_fields(node={"x": (degree % 3).unsqueeze(1)}).batch()


def weights(network):
    return sum(one.numel() for one in network.parameters())


def build(kind, seed=0, **settings):
    torch.manual_seed(seed)
    features = {"kind": "categorical", "sizes": [3]}
    small = {"hidden": 32, "layers": 3, "towers": 2, "node_features": features, "degrees": DEGREES, **settings}
    return kind(4, **small).double().eval()


@given(messy_graphs())
def test_aggregation_is_that_of_a_slow_loop(view):
    rng = np.random.default_rng(view.num_nodes)
    h = rng.normal(size=(view.num_nodes, 3))
    messages = rng.normal(size=(view.edge_index.shape[1], 3))
    direction = rng.normal(size=(view.edge_index.shape[1], 2))
    aggregation = DegreeScaled([*AGGREGATORS, *DIRECTED], SCALERS, DEGREES)
    delta = (3 * np.log(2) + 5 * np.log(3) + 2 * np.log(4)) / 10
    target = view.edge_index[1]
    found = aggregation(*(torch.from_numpy(one) for one in (messages, h, target, direction)))
    for v in range(view.num_nodes):
        mine = messages[target == v]
        weight = direction[target == v]
        ways = np.zeros((6, 3))
        if len(mine):
            deviation = np.sqrt(mine.var(0) + 1e-5)
            smoothed = sum(np.linalg.norm(w) * m for w, m in zip(weight, mine, strict=True))
            derived = sum(np.outer(w, m - h[v]) for w, m in zip(weight, mine, strict=True))
            ways = np.stack(
                [mine.mean(0), mine.max(0), mine.min(0), deviation, smoothed, np.linalg.norm(derived, axis=0)]
            )
        scale = np.log(len(mine) + 1) / delta
        expected = np.concatenate([ways, ways * scale, ways / (scale or 1)])
        np.testing.assert_allclose(found[v], expected, atol=1e-9)


def test_towers_are_those_of_pyg():
    """But for edges, deviations, and what follows."""
    ways = ["mean", "max", "min"]
    view = graphs.erdos_renyi(12, 0.3, seed=1)
    edge_index = torch.from_numpy(view.edge_index)
    torch.manual_seed(0)
    own = TowerLayer(6, 4, None, 2, DegreeScaled(ways, SCALERS, DEGREES))
    theirs = PNAConv(6, 4, ways, [*SCALERS], torch.tensor(DEGREES), towers=2, divide_input=True)
    with torch.no_grad():
        for i in range(2):
            theirs.pre_nns[i][0].weight.copy_(torch.cat([own.receiver.weight[i], own.sender.weight[i]]).T)
            theirs.pre_nns[i][0].bias.copy_(own.receiver.bias[3 * i : 3 * i + 3])
            theirs.post_nns[i][0].weight.copy_(own.update.weight[i].T)
            theirs.post_nns[i][0].bias.copy_(own.update.bias[2 * i : 2 * i + 2])
        theirs.lin.load_state_dict(own.mix.state_dict())
    h = torch.randn(12, 6)
    expected = torch.nn.functional.leaky_relu(theirs(h, edge_index))
    torch.testing.assert_close(own(h, edge_index, None), expected, rtol=1e-4, atol=1e-5)


def test_scalers_agree_where_all_degrees_are_the_mean():
    view = graphs.petersen()
    aggregation = DegreeScaled(AGGREGATORS, SCALERS, [0, 0, 0, 10])
    h = torch.randn(10, 3, dtype=torch.float64)
    source, target = torch.from_numpy(view.edge_index)
    plain, amplified, attenuated = aggregation(h[source], h, target).unflatten(1, (3, 4)).unbind(1)
    torch.testing.assert_close(plain, amplified)
    torch.testing.assert_close(plain, attenuated)


def test_one_way_without_scales_is_a_mean_of_neighbours():
    network = build(
        PNA, variant="simple", aggregators=["mean"], scalers=["identity"], layers=1, norm="none", graph_norm=False
    )
    batch = batch_of([graphs.erdos_renyi(9, 0.4, seed=2), graphs.star(3)])
    h = network.node_vectors(network.tensors(batch))
    matrix = torch.zeros(13, 13, dtype=torch.float64)
    matrix[batch.edge_index[1], batch.edge_index[0]] = 1
    means = matrix @ h / matrix.sum(1, keepdim=True).clamp_min(1)
    new = h + network.layers[0].update(means).relu()
    sums = torch.stack([new[:9].sum(0), new[9:].sum(0)])
    torch.testing.assert_close(network(batch), network.head(sums))


@pytest.mark.parametrize("variant", ["towers", "simple"])
def test_dgn_without_directions_is_pna(variant):
    plain = build(PNA, variant=variant, seed=1, edge_hidden=16)
    directed = build(DGN, variant=variant, aggregators=AGGREGATORS)
    directed.load_state_dict(plain.state_dict())
    batch = batch_of([graphs.petersen(), graphs.path(5), graphs.empty(2)])
    assert "direction" not in directed.reads
    assert torch.equal(plain(batch), directed(batch))


@pytest.mark.parametrize("variant", ["towers", "simple"])
@pytest.mark.parametrize("kind", [PNA, DGN])
def test_odd_shapes_alone_and_together(kind, variant):
    for level in ("graph", "node", "edge"):
        network = build(kind, variant=variant, level=level)
        views = [view for view in odd_shapes().values() if view.num_graphs == 1 and view.num_nodes] + SYMMETRIC
        alone = torch.cat([network(batch_of([view])) for view in views])
        assert alone.isfinite().all()
        torch.testing.assert_close(network(batch_of(views)), alone, rtol=1e-9, atol=1e-9)
        alone.square().sum().backward()
        assert all(one.grad.isfinite().all() for one in network.parameters() if one.grad is not None)
    network.train()(batch_of([graphs.empty(1)]))  # no edges to predict for, one row to normalise


@pytest.mark.parametrize("variant", ["towers", "simple"])
def test_directions_do_not_depend_on_signs_bases_and_numbers(variant):
    network = build(DGN, variant=variant)
    views = [
        *SYMMETRIC,
        graphs.path(6),
        graphs.erdos_renyi(9, 0.4, seed=1),
        graphs.disjoint_union([graphs.cycle(5)] * 2),
    ]
    batch = batch_of(views)
    out = network(batch).detach()
    flipped = batch.clone()
    flipped.direction = -batch.direction
    assert torch.equal(network(flipped), out)
    turned = batch.clone()
    turn, _ = np.linalg.qr(np.random.default_rng(0).normal(size=(4, 4)))
    turned.direction = batch.direction @ torch.from_numpy(turn)
    torch.testing.assert_close(network(turned), out, rtol=1e-9, atol=1e-9)
    torch.testing.assert_close(network(batch_of([renamed(view) for view in views])), out, rtol=1e-9, atol=1e-9)
    without = batch.clone()
    without.direction = torch.zeros_like(batch.direction)
    blind = [gap(one, other) for one, other in zip(network(without).detach(), out, strict=True)]
    assert blind[4] < 1e-12, "five eigenvectors of Petersen's graph are too many for a direction"
    assert min(blind[:4] + blind[5:]) > 1e-6, "all others have one"


def test_the_derivative_on_a_path():
    """In the middle it is half the difference of the two neighbours, at the ends that to the only one."""
    view = graphs.path(7)
    batch = batch_of([view])
    network = build(DGN)
    weight = network.direction(network.tensors(batch))
    h = torch.randn(7, 2, dtype=torch.float64)
    source, target = batch.edge_index
    found = DegreeScaled(["dir-dx", "dir-av"], ["identity"], DEGREES)(h[source], h, target, weight)
    torch.testing.assert_close(found[3, 0], (h[4] - h[2]).abs() / 2)
    torch.testing.assert_close(found[3, 1], (h[4] + h[2]) / 2)
    torch.testing.assert_close(found[0, 0], (h[1] - h[0]).abs())
    phi = torch.from_numpy(directions(view, 1))[:, 0]
    steps = (phi[1:] - phi[:-1]).abs()
    inner = torch.stack([(steps[i] * (h[i + 1] - h[i]) - steps[i - 1] * (h[i - 1] - h[i])) for i in range(1, 6)])
    lengths = (steps[1:] + steps[:-1]).unsqueeze(1)
    torch.testing.assert_close(found[1:6, 0], (inner / lengths).abs())


# Of CSL's ten classes, how many are told apart, and whether pairs of EXP are. Strongly regular graphs never are.
POWER = [
    ("pna-towers", {}, 1, False),
    ("pna-towers", {"variant": "simple"}, 1, False),
    ("dgn", {}, 10, True),  # projectors of 1-regular classes differ, as their eigenvalues do
    ("dgn", {"variant": "simple"}, 1, True),  # all neighbours are the same, so derivatives are zero
]


@pytest.mark.parametrize(("name", "settings", "circulants", "exp"), POWER)
def test_untrained_networks_tell_apart_what_theory_says(benchmark_data, name, settings, circulants, exp):
    settings = {"norm": "none", **settings}
    rows = outputs(name, [as_data(view) for view in [*CSL, renamed(CSL[3])]], settings, seeds=1)
    assert classes(rows[:10]) == circulants
    assert gap(rows[3], rows[10]) < 1e-9, "a graph and itself, renumbered"
    first, second, third = outputs(name, [as_data(v) for v in [*REGULAR, renamed(REGULAR[0])]], settings, seeds=1)
    assert max(gap(first, second), gap(first, third)) < 1e-9
    sr25 = datasets.load("sr25", root=benchmark_data).graphs
    assert classes(outputs(name, [*sr25], settings, seeds=1)) == 1
    store = datasets.load("exp", root=benchmark_data).graphs
    members = [as_data(graphs.as_graph(store[i]), store[i].x) for i in range(8)]
    order = torch.from_numpy(np.random.default_rng(0).permutation(members[0].num_nodes))
    members.append(as_data(graphs.permute(graphs.as_graph(members[0]), order.argsort().numpy()), members[0].x[order]))
    rows = outputs(name, members, settings, categories=(2,), seeds=1)
    assert [are_apart(rows[i], rows[i + 1]) for i in range(0, 8, 2)] == [exp] * 4
    assert gap(rows[0], rows[8]) < 1e-9


def test_published_numbers_of_weights():
    """Those of ogbg-molhiv are from when OGB's atoms had 173 categories."""
    molhiv = {"node_features": ATOMS, "edge_features": BONDS}
    for kind, recipe, benchmark, data, number in (
        (PNA, presets.PNA_TOWERS, "zinc-12k", ZINC, 95_111),
        (PNA, presets.PNA_TOWERS, "zinc-12k-large", ZINC, 369_235),
        (PNA, presets.PNA_TOWERS, "ogbg-molhiv", molhiv, 326_081),
        (DGN, presets.DGN, "zinc-12k", ZINC, 98_035),
        (DGN, presets.DGN, "ogbg-molhiv", molhiv, 114_065),
    ):
        assert weights(kind(1, **data, **recipe[f"authors/{benchmark}"]["network"])) == number


@pytest.mark.parametrize("variant", ["towers", "simple"])
def test_half_precision(variant):
    network = build(DGN, variant=variant, aggregators=[*AGGREGATORS, *DIRECTED]).float()
    batch = batch_of([graphs.petersen(), graphs.cycle(5), graphs.path(3)])
    with torch.autocast("cpu", torch.bfloat16):
        half = network(batch)
    torch.testing.assert_close(half.float(), network(batch), rtol=0.1, atol=0.1)


def test_degrees_are_measured_and_none_is_too_large():
    store = GraphStore.from_view(graphs.disjoint_union([graphs.star(3), graphs.path(2), graphs.empty(1)]))
    assert PNA.measure({}, None, store) == {"degrees": [1, 5, 0, 1]}
    for degrees in ([7], [], None):
        assert DegreeScaled(["mean"], SCALERS, degrees or ()).unit == 1, "without edges there is nothing to scale by"
    assert build(PNA)(batch_of([graphs.star(50)])).isfinite().all()


def test_settings_that_mean_nothing_are_refused():
    cases = (
        (lambda: PNA(1, variant="complex"), "variant: 'complex'; expected one of towers, simple"),
        (lambda: PNA(1, towers=5), "towers: 5; expected a divisor of hidden, which is 64"),
        (lambda: PNA(1, last=6), "towers: 4; expected a divisor of last, which is 6"),
        (
            lambda: PNA(1, aggregators=["dir-dx"]),
            r"aggregators: \['dir-dx'\]; expected one or more of mean, max, min, std",
        ),
        (lambda: DGN(1, aggregators=[]), r"aggregators: \[\]; expected one or more of mean, .* dir-dx"),
        (lambda: DGN(1, scalers="identity"), "scalers: 'identity'; expected one or more of identity"),
        (lambda: PNA(1, edge_hidden=0), "edge_hidden: 0; expected an integer from 1"),
        (lambda: PNA(1, towers=0), "towers: 0; expected an integer from 1"),
        (lambda: PNA(1, last=-4), "last: -4; expected an integer from 1"),
    )
    for make, message in cases:
        with pytest.raises(ValueError, match=message):
            make()
    assert weights(PNA(1, variant="simple", towers=5)) > 0, "without towers nothing has to divide"
