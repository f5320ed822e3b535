"""DSS-GNN and SUN: what each policy can tell apart, how they are wired, and what they turn into where parts are switched off."""

from dataclasses import replace

import pytest
import torch
from torch_geometric.data import Batch, Data

from benchmarks.power import are_apart, as_data, classes, outputs, renumbered
from escgnn import bags, datasets, graphs, training
from escgnn.bags import BagTooLargeError
from escgnn.models import DSSGNN, SUN
from escgnn.models.convs import CopyGINE
from escgnn.models.sun import SUNLayer
from escgnn.transforms import PolicyBags, RootedNodes
from tests.training import tiny

CUBIC = (  # of 8 nodes; through node 0 of the first and 1 of the second go as many 4-cycles, but 5 and 3 5-cycles
    "02 04 05 12 13 15 27 34 36 47 56 67",
    "02 03 05 12 13 17 25 36 45 46 47 67",
)
CSL_STEPS = (2, 3, 4, 5, 6, 9, 11, 12, 13, 16)
NAMES = {DSSGNN: "dss-gnn", SUN: "sun"}


def two_triangles():
    return graphs.as_graph([(0, 1), (1, 2), (0, 2), (3, 4), (4, 5), (3, 5)], num_nodes=6)


def cubic(text):
    return graphs.as_graph([(int(u), int(v)) for u, v in text.split()], num_nodes=8)


def said(kind, policy, members, *, hops=2, seeds=2, **options):
    """What untrained networks say about each graph, or node; see `benchmarks.power`."""
    return outputs(NAMES[kind], members, {"policy": policy, "hidden": 8}, hops=hops, seeds=seeds, **options)


PAIRS = {
    "hexagon": (graphs.cycle(6), two_triangles()),
    "rook": (graphs.rook(4), graphs.shrikhande()),
}
ALL = [(DSSGNN, policy) for policy in DSSGNN.policies] + [(SUN, policy) for policy in SUN.policies]
every_policy = pytest.mark.parametrize(("kind", "policy"), ALL, ids=lambda value: getattr(value, "__name__", value))


@every_policy
def test_exact_power(kind, policy):
    for name, pair in PAIRS.items():
        members = [as_data(one) for one in pair]
        out = said(kind, policy, [*members, renumbered(members[0])])
        expected = policy == "ED" if name == "rook" else (kind, policy) != (DSSGNN, "null")
        assert are_apart(out[0], out[1]) == expected, name
        assert not are_apart(out[0], out[2]), name


@every_policy
def test_skip_links_need_large_balls(kind, policy):
    members = [as_data(graphs.circulant(41, 1, step)) for step in CSL_STEPS]
    if bags.is_cut(policy):
        assert [classes(said(kind, policy, members, hops=hops)) for hops in (1, 2, 3, 4)] == [2, 5, 9, 10]
    else:
        assert classes(said(kind, policy, members)) == (1 if (kind, policy) == (DSSGNN, "null") else 10)


@every_policy
def test_strongly_regular_graphs_need_edges_deleted(kind, policy, benchmark_data):
    members = [*datasets.load("sr25", root=benchmark_data).graphs]
    plain = [Data(edge_index=one.edge_index, num_nodes=one.num_nodes) for one in members]
    assert classes(said(kind, policy, plain, hops=1)) == (15 if policy == "ED" else 1)


@every_policy
def test_satisfiable_formulas(kind, policy, benchmark_data):
    every = datasets.load("exp", root=benchmark_data).graphs
    members = [every[2 * pair + side] for pair in (0, 301) for side in (0, 1)]
    for hops in (1, 2) if bags.is_cut(policy) else (1,):
        expected = (kind, policy) != (DSSGNN, "null") and not (hops == 1 and bags.is_cut(policy))
        out = said(kind, policy, members, hops=hops, categories=(2,))
        assert [are_apart(out[i], out[i + 1]) for i in (0, 2)] == [expected, expected], hops


@every_policy
def test_nodes_of_a_cubic_pair(kind, policy):
    left, right = (as_data(cubic(text)) for text in CUBIC)
    out = said(kind, policy, [left, right], level="node")
    assert are_apart(out[0], out[8 + 1]) == ((kind, policy) != (DSSGNN, "null"))


@pytest.mark.parametrize("policy", ["ND", "NM"])
def test_without_exchange_the_cubic_pair_is_equal(policy):
    """What tells the pair apart is the exchange between subgraphs: a network whose second branch is silent cannot."""
    torch.manual_seed(0)
    network = DSSGNN(1, policy=policy, level="node", hidden=8, layers=6).double().eval()
    for layer in network.layers:
        silence(layer.across_norm)
    out = network(Batch.from_data_list([as_data(cubic(text)) for text in CUBIC])).detach()
    assert not are_apart(out[0], out[8 + 1])


def silence(part):
    for parameter in part.parameters():
        torch.nn.init.zeros_(parameter)


def test_null_is_two_branches_on_the_graph():
    torch.manual_seed(0)
    network = DSSGNN(2, policy="null", hidden=8, layers=3, level="node").double().eval()
    batch = Batch.from_data_list([as_data(graphs.petersen()), as_data(graphs.star(4))])
    graph = bags.graphs_bag(batch)
    h = network.nodes(None, batch.num_nodes)
    for layer in network.layers:
        h = (layer.inside_norm(layer.inside(h, graph)) + layer.across_norm(layer.across(h, graph))).relu()
    mean = torch.stack([h[:10].mean(0)] * 10 + [h[10:].mean(0)] * 5)
    torch.testing.assert_close(network(batch), network.head(mean))


@pytest.mark.parametrize("policy", ["NM", "EGO+"])
def test_sun_without_its_maps_is_dss(policy):
    settings = {"hidden": 8, "layers": 3, "policy": policy, "edge_features": {"kind": "categorical", "sizes": [3]}}
    torch.manual_seed(0)
    sun = SUN(2, **settings).double().eval()
    dss = DSSGNN(2, **settings).double().eval()
    for layer, plain in zip(sun.layers, dss.layers, strict=True):
        for one in layer.maps.values():
            silence(one)
        for i, conv in enumerate((plain.inside, plain.across) * 2):
            layer.convs[i].load_state_dict(conv.state_dict())
    for name in ("nodes", "mark", "head"):
        getattr(dss, name).load_state_dict(getattr(sun, name).state_dict())
    batch = Batch.from_data_list([as_data(graphs.erdos_renyi(9, 0.4, seed=i)) for i in range(3)])
    batch.edge_attr = batch.edge_index.sum(0).remainder(3).unsqueeze(1)
    batch = PolicyBags(policy, hops=1)(batch)
    torch.testing.assert_close(sun(batch), dss(batch))


def test_what_a_root_of_sun_is_heard_by():
    """With U2, U3 and U6 alone, a root's row is heard by its subgraph, by its other copies, and by itself."""
    torch.manual_seed(0)
    layer = SUNLayer(4, "none", None, linear=True, whole="sum", transposed=True).double()
    for name, one in layer.maps.items():
        if name not in "236":
            silence(one)
    for conv in layer.convs:
        silence(conv)
    data = as_data(graphs.erdos_renyi(6, 0.5, seed=0))
    bag = bags.whole_bag(data)
    into_root = bag.is_centre[bag.edge_index[1]]
    stars = replace(bag, edge_index=bag.edge_index[:, into_root], column=bag.column[into_root])
    x = torch.rand(36, 4, dtype=torch.float64) + 5
    changed = x.clone()
    changed[bag.centre[2]] += 1
    with torch.no_grad():
        for one in layer.maps.values():  # nothing may fall below zero, where the rectifier hides it
            one.bias += 50 * (one.bias != 0)
        out = [layer(rows, bag, stars, bags.graphs_bag(data), None) for rows in (x, changed)]
    moved = (out[0] != out[1]).any(1)
    assert torch.equal(moved, (bag.subgraph == 2) | (bag.node == 2))


def test_transposed_rows_are_heard():
    torch.manual_seed(0)
    layer = SUNLayer(4, "none", None, linear=True, whole="none", transposed=True).double()
    assert [*layer.maps] == ["1", "2", "3", "5", "6"]
    for name, one in layer.maps.items():
        if name != "5":
            silence(one)
    for conv in layer.convs:
        silence(conv)
    data = as_data(graphs.path(3))
    bag = bags.whole_bag(data)
    x = torch.rand(9, 4, dtype=torch.float64)
    with torch.no_grad():
        out = layer(x, bag, bag, bags.graphs_bag(data), None)
    expected = layer.maps["5"](x.view(3, 3, 4).transpose(0, 1).reshape(9, 4)).relu()
    torch.testing.assert_close(out, expected.masked_fill(bag.is_centre.unsqueeze(1), 0))


def test_root_convolution_is_the_convolution_at_roots():
    torch.manual_seed(0)
    features = {"kind": "categorical", "sizes": [3]}
    layer = SUNLayer(4, "batch", features, linear=False, whole="sum", transposed=False).double().eval()
    batch = Batch.from_data_list([as_data(graphs.erdos_renyi(7, 0.4, seed=i)) for i in range(3)])
    edge_attr = batch.edge_index.sum(0).remainder(3).unsqueeze(1)
    bag = bags.policy_bag("EGO", PolicyBags("EGO", hops=1)(batch))
    into_root = bag.is_centre[bag.edge_index[1]]
    stars = replace(bag, edge_index=bag.edge_index[:, into_root], column=bag.column[into_root])
    everywhere = CopyGINE(4, edge_features=features).double().eval()
    everywhere.load_state_dict(layer.convs[2].state_dict())
    x = torch.rand(bag.num_copies, 4, dtype=torch.float64)
    torch.testing.assert_close(layer.convs[2](x, stars, edge_attr), bag.at_centres(everywhere(x, bag, edge_attr)))


@every_policy
def test_lonely_nodes_and_large_balls(kind, policy):
    """A batch of graphs that hardly have edges trains; and balls that reach everywhere are whole graphs."""
    few = Batch.from_data_list([as_data(one) for one in (graphs.empty(1), graphs.empty(3), graphs.path(2))])
    network = kind(1, policy=policy, hidden=4, layers=2).train()
    out = network(PolicyBags(policy, hops=1)(few))
    out.sum().backward()
    assert out.isfinite().all() and out.shape == (3, 1)
    if bags.is_cut(policy):
        member = as_data(graphs.erdos_renyi(8, 0.6, seed=1))
        near = said(kind, policy, [member], hops=9)
        assert torch.allclose(near, said(kind, {"EGO": "null", "EGO+": "NM"}[policy], [member]))


def test_what_is_refused():
    with pytest.raises(ValueError, match="policy: 'ED'; expected one of null, NM, EGO"):
        SUN(1, policy="ED")
    with pytest.raises(ValueError, match="policy: 'ego'; expected one of null, NM, ND, ED, EGO"):
        PolicyBags("ego")
    with pytest.raises(ValueError, match="policy: 'ego'; expected one of"):
        bags.policy_bag("ego", as_data(graphs.path(2)))
    with pytest.raises(ValueError, match="whole: 'max'; expected one of sum, mean, none"):
        SUN(1, whole="max")
    with pytest.raises(
        ValueError, match=r"policy: EGO, but the balls have 7 of 9 nodes; expected those of RootedNodes"
    ):
        DSSGNN(1, policy="EGO")(RootedNodes(1)(as_data(graphs.path(3))))
    with pytest.raises(BagTooLargeError, match=r"has 100 copies of nodes and 300 edges .*lower batch_size"):
        DSSGNN(1, policy="NM", max_rows=200)(as_data(graphs.petersen()))
    with pytest.raises(BagTooLargeError, match=r"has 100 copies of nodes .*lower batch_size"):
        PolicyBags("EGO", max_rows=50)(as_data(graphs.petersen()))


def test_predictions_take_as_many_graphs_as_fit(tmp_path, monkeypatch):
    monkeypatch.setattr(training.fitting, "draw_curves", lambda *_: None)
    config = {"model": "dss-gnn", "transform": {"policy": "NM", "max_rows": 700}, "network": {"hidden": 4, "layers": 1}}
    bundle = tiny.bundle()
    chosen = training.read_config(overrides={**config, "epochs": 1, "batch_size": 2})
    result = training.fit(bundle, chosen, tmp_path / "run", progress=False)
    run = training.load_run(tmp_path / "run")
    torch.testing.assert_close(training.predict(run, bundle.test), training.predict(run, bundle.test, batch_size=1))
    assert result.test
    large = as_data(graphs.complete(30))
    large.x = torch.zeros(30, 1, dtype=torch.long)
    with pytest.raises(BagTooLargeError, match="graph 0 of 1 alone needs"):
        training.predict(run, [large])
    with pytest.raises(ValueError, match=r"unknown setting 'network.policy'; did you mean 'transform.policy'\?"):
        training.read_config(overrides=["model=dss-gnn", "network.policy=ED"])
    with pytest.raises(ValueError, match="policy: 'ED'; expected one of null, NM, EGO"):
        training.read_config(overrides=["model=sun", "transform.policy=ED"])
