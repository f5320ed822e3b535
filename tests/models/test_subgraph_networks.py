"""Networks on bags: what they tell apart, what they are equal to, and weights set by hand that count."""

import pytest
import torch
from torch_geometric.data import Batch, Data

from benchmarks.power import (
    Asked,
    are_apart,
    as_data,
    classes,
    gap,
    outputs,
    pairs_apart_by_waves,
    renumbered,
)
from escgnn import datasets, graphs
from escgnn.bags import copies_bag, node_bag
from escgnn.counting import count
from escgnn.models import GINAK, I2GNN, IDGNN, NGNN
from escgnn.models.convs import CopyGINE
from escgnn.transforms import RootedNodes, RootedPairs
from tests import naive_wl

ON_BALLS = ("id-gnn", "ngnn", "gin-ak")
OURS = (*ON_BALLS, "i2-gnn")
PLAIN = {"plus": False, "inner": 2}


def shuffled(view, seed=0):
    order = torch.randperm(view.num_nodes, generator=torch.Generator().manual_seed(seed)).numpy()
    return graphs.permute(view, order)


def one_graph(*parts):
    """A disjoint union that counts as one graph."""
    union = graphs.disjoint_union(parts)
    return graphs.from_edge_index(union.edge_index, union.num_nodes)


CIRCLES = (graphs.cycle(6), one_graph(graphs.cycle(3), graphs.cycle(3)))
REGULAR = (graphs.rook(4), graphs.shrikhande())  # strongly regular, of the same parameters
CSL = [graphs.circulant(41, 1, skip) for skip in (2, 3, 4, 5, 6, 9, 11, 12, 13, 16)]


def said(name, views, settings=None, **options):
    return outputs(name, [as_data(view) for view in views], settings, **options)


@pytest.mark.parametrize(
    ("name", "settings", "circles", "regular"),
    [
        ("gin", None, False, False),
        ("id-gnn", None, True, False),
        ("id-gnn", {"mark": "receiver"}, True, False),
        ("ngnn", None, True, False),
        ("ngnn", {"labels": "none"}, True, False),
        ("gin-ak", None, True, False),
        ("gin-ak", PLAIN, True, False),
        ("i2-gnn", None, True, True),
        ("i2-gnn", {"labels": "identity"}, True, True),
        ("i2-gnn", {"context": True}, True, True),
    ],
)
def test_pairs_are_told_apart_as_theory_says(name, settings, circles, regular):
    for pair, expected in ((CIRCLES, circles), (REGULAR, regular)):
        first, second, third = said(name, (*pair, shuffled(pair[0])), settings, hops=1)
        assert are_apart(first, second) == expected
        assert gap(first, third) < 1e-9, "a graph and itself, renumbered"


@pytest.mark.parametrize("name", OURS)
def test_circulants_by_radius(name):
    found = [classes(said(name, CSL, {"hidden": 8}, hops=hops, seeds=2)) for hops in (1, 2, 3, 4)]
    assert found == [2, 5, 9, 10]


def test_roots_of_id_gnn_know_less_after_few_rounds():
    """At radius 4; a receiver's mark is heard of one round later. After five rounds roots know where their ball ends."""
    for mark, expected in (("sender", [1, 1, 2, 3, 10]), ("receiver", [1, 1, 1, 2, 10])):
        for layers, number in enumerate(expected, 1):
            settings = {"layers": layers, "readout": "centre", "mark": mark, "hidden": 32}
            assert classes(said("id-gnn", CSL, settings, hops=4)) == number
    assert classes(said("id-gnn", CSL, {"layers": 1, "readout": "sum"}, hops=4)) == 10


def cubic(text):
    """A graph of eight nodes from its edges, two digits each."""
    edges = torch.tensor([[int(a), int(b)] for a, b in text.split()]).T
    return Data(edge_index=torch.cat([edges, edges.flip(0)], 1), num_nodes=8)


CUBIC = (  # nodes 0 and 1 are on as many triangles and squares, but not on as many 5- and 6-cycles
    cubic("02 04 05 12 13 15 27 34 36 47 56 67"),
    cubic("02 03 05 12 13 17 25 36 45 46 47 67"),
)


@pytest.mark.parametrize(
    ("name", "settings", "radii"),
    [
        ("id-gnn", {"mark": "sender", "readout": "centre"}, ()),
        ("id-gnn", {"mark": "receiver"}, ()),
        ("ngnn", {"labels": "identity"}, ()),
        ("ngnn", {"labels": "distance"}, ()),
        ("gin-ak", None, (1, 2, 3)),
        ("gin-ak", PLAIN, (1, 2)),  # at radius 3 each ball is the graph, and without plus nothing marks its root
        ("i2-gnn", {"labels": "identity"}, (2, 3)),
        ("i2-gnn", {"labels": "distance"}, (2, 3)),
    ],
)
def test_two_nodes_on_as_many_short_cycles(name, settings, radii):
    found = {}
    for hops in (1, 2, 3):
        rows = outputs(name, CUBIC, settings, hops=hops, level="node")
        found[hops] = are_apart(rows[0], rows[8 + 1])
    assert [hops for hops, apart in found.items() if apart] == [*radii]


# Small pairs of the categories of BREC, and which of them each network tells apart, as exact colours do. The two of Cai, Fürer
# and Immerman differ at few nodes, after many rounds; balls of six steps are too small for the second.
PAIRS_OF_BREC = {
    "Basic": 0,
    "simple": 60,
    "strongly": 110,
    "extension": 160,
    "CFI": 272,
    "far CFI": 278,
    "distance": 381,
}
EASY = ("Basic", "simple", "extension")
BREC = {
    "ngnn, no labels": ("ngnn", {"labels": "none"}, 1, EASY),
    "ngnn, h = 2": ("ngnn", {"labels": "identity"}, 2, EASY),
    "ngnn": ("ngnn", {"labels": "identity"}, 60, (*EASY, "CFI", "far CFI")),
    "id-gnn": ("id-gnn", {"readout": "sum"}, 60, (*EASY, "CFI", "far CFI")),
    "gin-ak, h = 2": ("gin-ak", {"inner": 2}, 2, EASY),
    "dss-gnn, null": ("dss-gnn", {"policy": "null"}, None, ()),
    "dss-gnn, EGO+, h = 6": ("dss-gnn", {"policy": "EGO+"}, 6, (*EASY, "CFI")),
    "dss-gnn, NM": ("dss-gnn", {"policy": "NM"}, None, (*EASY, "CFI", "far CFI")),
    "sun, NM": ("sun", {"policy": "NM"}, None, (*EASY, "CFI", "far CFI")),
    "i2-gnn, h = 2": ("i2-gnn", {"labels": "identity"}, 2, (*EASY, "strongly")),
}


@pytest.mark.parametrize("name", BREC)
def test_pairs_of_brec(name, benchmark_data):
    """All 400, and more networks, are in `benchmarks/brec.py --networks`."""
    store = datasets.load("brec", root=benchmark_data).graphs
    members = [store[2 * pair + side] for pair in PAIRS_OF_BREC.values() for side in (0, 1)]
    network, settings, hops, expected = BREC[name]
    asked = [Asked(network, members, {"hidden": 4, "distance": 2, "layers": 12, **settings}, hops=hops)]
    found = dict(zip(PAIRS_OF_BREC, pairs_apart_by_waves(asked, members), strict=True))
    assert found == {one: one in expected for one in PAIRS_OF_BREC}
    twins = [one for first in members[::2] for one in (first, renumbered(first, seed=1))]
    assert not any(pairs_apart_by_waves(asked, twins))


TWINS = {
    "gin-ak, h = 1": ("gin-ak", {"inner": 2, "plus": False}, 1, lambda *two: naive_wl.gin_ak(*two, 1, 2, False)),
    "gin-ak, h = 2": ("gin-ak", {"inner": 2, "plus": False}, 2, lambda *two: naive_wl.gin_ak(*two, 2, 2, False)),
    "gin-ak+, h = 2": ("gin-ak", {"inner": 2}, 2, lambda *two: naive_wl.gin_ak(*two, 2, 2, True)),
    "dss-gnn, ND": ("dss-gnn", {"policy": "ND"}, None, lambda *two: naive_wl.dss_gnn(*two, "ND")),
    "dss-gnn, NM": ("dss-gnn", {"policy": "NM"}, None, lambda *two: naive_wl.dss_gnn(*two, "NM")),
    "dss-gnn, ED": ("dss-gnn", {"policy": "ED"}, None, lambda *two: naive_wl.dss_gnn(*two, "ED")),
}


@pytest.mark.parametrize("name", TWINS)
def test_networks_tell_apart_what_exact_colours_do(name, benchmark_data):
    """Pair by pair: colours are refined as the network's vectors are, by a slow twin."""
    store = datasets.load("brec", root=benchmark_data).graphs
    network, settings, hops, twin = TWINS[name]
    chosen = [*range(0, 60, 6), *range(60, 110, 10), 110, *range(160, 260, 8)]
    members = [store[2 * pair + side] for pair in chosen for side in (0, 1)]
    asked = [Asked(network, members, {"hidden": 4, "distance": 2, "layers": 8, **settings}, hops=hops)]
    expected = []
    for first, second in zip(members[::2], members[1::2], strict=True):
        two = [graphs.as_graph(one).to_networkx() for one in (first, second)]
        one, other = naive_wl.classes(twin(two, [dict.fromkeys(graph, 0) for graph in two]))
        expected.append(one != other)
    assert pairs_apart_by_waves(asked, members) == expected
    assert any(expected) and expected[chosen.index(110)] == (name == "dss-gnn, ED")


def test_a_pair_that_satisfies_the_four_vertex_condition(benchmark_data):
    """It has 1,890 pairs of neighbours, so a network on their balls is asked for two rounds only, which are enough."""
    store = datasets.load("brec", root=benchmark_data).graphs
    members = [store[720], store[721]]
    for name, settings, expected in (("i2-gnn", {"labels": "identity"}, True), ("ngnn", {"labels": "identity"}, False)):
        asked = [Asked(name, members, {"hidden": 4, "layers": 2, **settings}, hops=1)]
        assert pairs_apart_by_waves(asked, members) == [expected]


def test_sines_keep_what_is_the_same():
    """Numbers of nodes and places in a batch change nothing, so small differences may grow as they like."""
    views = [graphs.erdos_renyi(9, 0.4, seed=seed) for seed in range(4)]
    members = [as_data(view) for view in views]
    asked = Asked("gin-ak", members, {"hidden": 4, "layers": 8}, hops=2)
    rows = asked.answers_by_waves(0, members)
    torch.testing.assert_close(asked.answers_by_waves(0, members[::-1]).flip(0), rows, rtol=1e-13, atol=1e-13)
    renamed = asked.answers_by_waves(0, [renumbered(one) for one in members])
    torch.testing.assert_close(renamed, rows, rtol=1e-13, atol=1e-13)
    assert gap(rows[0], rows[1]) > 0.01
    assert len(asked.answers_by_waves(0, [])) == 0


MEMBERS = [graphs.erdos_renyi(8, 0.4, seed=3), graphs.cycle(5), graphs.empty(2), graphs.star(3)]


def batch_of(views):
    return Batch.from_data_list([as_data(view) for view in views])


def network(kind, *arguments, seed=0, **settings):
    torch.manual_seed(seed)
    return kind(2, *arguments, hidden=6, **settings).double().eval()


def plain(model, batch):
    """The layers of a network on the graph as it is."""
    bag = copies_bag(batch, 1)
    x = model.nodes(None, batch.num_nodes)
    for layer in model.layers:
        x = layer(x, bag)
    return x


def test_id_gnn_without_its_own_weights_is_a_network_on_the_ball():
    batch = RootedNodes(7)(batch_of(MEMBERS))  # each ball is a component
    for mark in ("sender", "receiver"):
        model = network(IDGNN, mark=mark)
        with torch.no_grad():
            for layer in model.layers:
                for one in layer.conv.own.parameters():
                    one.zero_()
        found = model.vectors(model.nodes(None, batch.num_nodes), node_bag(batch), None)
        for layer in model.layers:
            layer.conv.mark = "none"
        torch.testing.assert_close(found, plain(model, batch))


def test_ngnn_on_whole_graphs_without_labels_is_its_base():
    views = [graphs.petersen(), graphs.cycle(5), graphs.star(3)]
    batch = RootedNodes(7)(batch_of(views))
    model = network(NGNN, 7, labels="none", ball_pool="sum")
    sums = torch.zeros(3, 6, dtype=torch.float64).index_add(0, batch.batch, plain(model, batch))
    found = model.vectors(model.nodes(None, batch.num_nodes), node_bag(batch), None)
    torch.testing.assert_close(found, sums[batch.batch])


def test_gin_ak_of_radius_0_is_a_perceptron_of_each_node():
    batch = RootedNodes(0)(batch_of(MEMBERS))
    model = network(GINAK, 0, level="node")
    out = model(batch)
    torch.testing.assert_close(out, out[:1].expand_as(out))
    other = RootedNodes(0)(batch_of([graphs.complete(4)]))
    torch.testing.assert_close(model(other), out[:4])


@pytest.mark.parametrize("labels", ["identity", "distance"])
def test_i2_gnn_that_does_not_see_the_mate_is_ngnn_by_degree(labels):
    hops = 2
    views = [view for view in MEMBERS if view.num_edges]
    pairs, balls = RootedPairs(hops)(batch_of(views)), RootedNodes(hops)(batch_of(views))
    model = network(I2GNN, hops, labels=labels)
    twin = network(NGNN, hops, labels=labels, ball_pool="sum", layers=5)
    with torch.no_grad():
        if labels == "identity":
            model.labels.mark.weight[2] = model.labels.mark.weight[0]
            twin.labels.mark.weight.copy_(model.labels.mark.weight[:2])
        else:
            model.labels.mate.weight.zero_()
            twin.labels.root.weight.copy_(model.labels.root.weight)
        twin.nodes.load_state_dict(model.nodes.state_dict())
        twin.layers.load_state_dict(model.layers.state_dict())
    h = model.nodes(None, pairs.num_nodes)
    degree = torch.bincount(pairs.edge_index[0], minlength=pairs.num_nodes).clamp_min(1).unsqueeze(1)
    expected = model.node(degree * model.pair(twin.vectors(h, node_bag(balls), None)))
    torch.testing.assert_close(model.vectors(h, model.bag(pairs), None), expected)


def test_a_convolution_with_weights_0_and_1_is_one_on_fewer_edges():
    view = graphs.erdos_renyi(9, 0.5, seed=2)
    torch.manual_seed(0)
    conv = CopyGINE(3, edge_features={"kind": "dense", "sizes": [2]}).double().eval()
    data, edge_attr = as_data(view), torch.randn(view.edge_index.shape[1], 2, dtype=torch.float64)
    x = torch.randn(9, 3, dtype=torch.float64)
    kept = torch.rand(edge_attr.size(0)) < 0.5
    bag = copies_bag(data, 1)
    fewer = Data(edge_index=data.edge_index[:, kept], num_nodes=9)
    found = conv(x, bag, edge_attr, weight=kept[bag.column].double())
    torch.testing.assert_close(found, conv(x, copies_bag(fewer, 1), edge_attr[kept]))
    pieces = [x[v] * (1 + conv.epsilon) for v in range(9)]
    edge = conv.edges(edge_attr, len(edge_attr))
    for column, (u, v) in enumerate(data.edge_index.T.tolist()):
        pieces[v] = pieces[v] + (x[u] + edge[column]).relu()
    torch.testing.assert_close(conv(x, bag, edge_attr), conv.mlp(torch.stack(pieces)))


def identity_(layer, width):
    """Make a layer without residual the sum of a node's neighbours' vectors: the perceptron the identity, no self term."""
    with torch.no_grad():
        layer.conv.epsilon.fill_(-1.0)
        for linear in (layer.conv.mlp[0], layer.conv.mlp[3]):
            linear.weight.copy_(torch.eye(width))
            if linear.bias is not None:
                linear.bias.zero_()


def test_ngnn_counts_triangles_with_weights_set_by_hand():
    """Two sums at radius 1: edges among the neighbours of the root are triangles through it."""
    view = graphs.erdos_renyi(12, 0.5, seed=5)
    model = NGNN(
        1, 1, hidden=2, layers=1, labels="identity", ball_pool="sum", residual=False, norm="none", level="node"
    )
    identity_(model.layers[0], 2)
    with torch.no_grad():
        model.nodes.weight.zero_()
        model.labels.mark.weight.copy_(torch.tensor([[1.0, 0.0], [0.0, 0.0]]))  # others 1, the root 0
    batch = RootedNodes(1)(batch_of([view]))
    x = model.vectors(model.nodes(None, 12), node_bag(batch), None)[:, 0]
    degree = torch.from_numpy(view.degrees)
    assert ((x - degree) / 2).tolist() == count(view, "3-cycle", per="node").tolist()


def test_i2_gnn_counts_triangles_of_an_edge_with_weights_set_by_hand():
    """The root hears from the mate's neighbours in the ball: one walk i, k, j for each triangle of (i, j)."""
    view = graphs.erdos_renyi(12, 0.5, seed=6)
    model = I2GNN(1, 1, hidden=2, layers=2, labels="identity", residual=False, norm="none")
    bag = model.bag(RootedPairs(1)(batch_of([view])))
    for layer in model.layers:
        identity_(layer, 2)
    with torch.no_grad():
        model.labels.mark.weight.copy_(torch.tensor([[0.0, 0.0], [0.0, 0.0], [1.0, 0.0]]))  # the mate alone
    x = model.labels(bag)
    for layer in model.layers:
        x = layer(x, bag)
    walks = bag.at_centres(x)[:, 0]  # i, k, j
    expected = count(view, "3-cycle", per="edge")
    columns = {(int(u), int(v)): int(expected[i]) for i, (u, v) in enumerate(view.edge_index.T)}
    mates = bag.node[bag.mate].tolist()
    assert [columns[i, j] for i, j in zip(bag.root.tolist(), mates, strict=True)] == walks.int().tolist()


FLAGS = ("i", "j", "one")  # what copies know at the start: whether they are the root, or its mate, and a constant
BLOCK = 1e5  # more than any number of walks here
NOT_ENDS = {"i": -BLOCK, "j": -BLOCK}


def only_if(*flags):
    """What a value is reduced by unless a copy has these flags: all of it."""
    return {"one": -len(flags) * BLOCK, **dict.fromkeys(flags, BLOCK)}


# A round makes numbers of sums over neighbours (those in the first place) and of what the copy has (in the second), each
# rectified. With a, b, c, d the nodes between j and i, in this order: ``at_i`` and ``at_j`` say who is next to the ends,
# ``walks_3`` how many walks j, a, b, here there are. What is no path is taken away: a = c, b = d, or a = d.
ROUNDS = (
    {
        "at_i": ({"i": 1}, NOT_ENDS),
        "at_j": ({"j": 1}, NOT_ENDS),
        "degree": ({"one": 1, "i": -1, "j": -1}, NOT_ENDS),
    },
    {
        "walks_2": ({"at_j": 1}, NOT_ENDS),
        "degree_at_i": ({}, {"degree": 1, **only_if("at_i")}),
        "degree_at_j": ({}, {"degree": 1, **only_if("at_j")}),
        "degree_at_both": ({}, {"degree": 1, **only_if("at_i", "at_j")}),  # j, a, b, a, i
    },
    {
        "walks_3": ({"walks_2": 1}, NOT_ENDS),
        "squares": ({}, {"walks_2": 1, **only_if("at_i")}),  # and j, a, b, a, b, i
        "triangles": ({}, {"walks_2": 1, **only_if("at_j")}),  # of j
        "between": ({}, {"walks_2": 1, **only_if("at_i", "at_j")}),  # those of j that go through a triangle of (i, j)
        "first_twice": ({"degree_at_j": 1}, only_if("at_i")),  # j, a, b, a, d, i
        "last_twice": ({"degree_at_i": 1}, only_if("at_j")),  # j, a, b, c, b, i
    },
    {
        "walks_4": ({"walks_3": 1}, NOT_ENDS),
        "pentagons": ({}, {"walks_3": 1, **only_if("at_i")}),
        "all_triangles": ({"triangles": 1}, only_if("j")),
    },
    {
        "hexagons": ({}, {"walks_4": 1, **only_if("at_i")}),
        "bow_ties": ({"all_triangles": 1}, only_if("at_i")),  # j in the place of a = d: two triangles, one with i
    },
)
CYCLES = {
    "4-cycle": {"squares": 1},
    "5-cycle": {"pentagons": 1, "degree_at_both": -1},
    "6-cycle": {"hexagons": 1, "first_twice": -1, "last_twice": -1, "squares": 1, "bow_ties": -1, "between": 2},
}


def programmed(hops):
    """I²-GNN with weights that are ``ROUNDS``.

    Every number is there twice: as it is, which neighbours hear of, and less ``BLOCK``, which they do not, as messages are
    rectified. What a copy receives is then its own number and a sum in the first place, and its own alone in the second.
    """
    names = [*FLAGS, *(name for round in ROUNDS for name in round)]
    width = 2 * len(names)
    place = {name: number for number, name in enumerate(names)}
    own = {name: number + len(names) for name, number in place.items()}
    model = I2GNN(
        len(CYCLES), hops, hidden=width, layers=len(ROUNDS), labels="identity", norm="none", level="node"
    ).double()
    with torch.no_grad():
        for one in model.parameters():
            one.zero_()
        model.nodes.weight[:, [own[name] for name in names]] = -BLOCK
        for row, flag in ((1, "i"), (2, "j")):
            model.labels.mark.weight[row, [place[flag], own[flag]]] = 1
        for ends in (place["one"], own["one"]):
            model.nodes.weight[:, ends] += 1
        for layer, round in zip(model.layers, ROUNDS, strict=True):
            first, last = layer.conv.mlp[0], layer.conv.mlp[3]
            for name, (sums, owns) in round.items():
                row = place[name]
                for other, factor in sums.items():  # both, less its own
                    first.weight[row, place[other]] += factor
                    first.weight[row, own[other]] -= factor
                    first.bias[row] -= factor * BLOCK
                for other, factor in owns.items():
                    first.weight[row, own[other]] += factor
                    first.bias[row] += factor * BLOCK
                last.weight[[place[name], own[name]], row] = 1
        for part in (model.pair, model.node):
            part[0].weight.copy_(torch.eye(width))
            part[3].weight.copy_(torch.eye(width))
        model.head[0].weight.copy_(torch.eye(width))
        for row, factors in enumerate(CYCLES.values()):
            for name, factor in factors.items():
                model.head[3].weight[row, place[name]] = factor / 2  # both neighbours of the root on the cycle count it
    return model.eval()


def test_i2_gnn_counts_cycles_of_up_to_six_nodes_with_weights_set_by_hand():
    """What its paper says it can: at every node, exactly, from balls that reach to the far side of a cycle."""
    views = [graphs.erdos_renyi(11, p, seed=seed) for seed, p in enumerate((0.25, 0.35, 0.45, 0.6))]
    views += [graphs.petersen(), graphs.complete(6), graphs.grid(3, 4), graphs.circulant(13, 1, 5), graphs.empty(2)]
    batch = RootedPairs(3)(batch_of(views))
    found = programmed(3)(batch)
    for column, pattern in enumerate(CYCLES):
        expected = torch.cat([torch.as_tensor(count(view, pattern, per="node")) for view in views])
        torch.testing.assert_close(found[:, column], expected.double(), rtol=0, atol=1e-6)
        assert expected.sum() > 50
    small = programmed(2)(RootedPairs(2)(batch_of(views)))
    torch.testing.assert_close(small[:, :2], found[:, :2])  # two steps reach round a pentagon
    assert (small[:, 2] < found[:, 2] - 0.5).any()


def test_the_context_of_a_leaf_is_what_all_balls_say_of_it():
    """In a star at radius 1 a leaf is in its own ball and that of the middle."""
    batch = RootedNodes(1)(batch_of([graphs.star(4)]))
    bag = node_bag(batch)
    assert bag.to_nodes(torch.ones(bag.num_copies, 1)).flatten().tolist() == [5.0, 2.0, 2.0, 2.0, 2.0]
    model = network(GINAK, 1, layers=1, terms=["context"])
    layer = model.layers[0]
    x = torch.randn(bag.num_copies, 6, dtype=torch.float64)
    hop = layer.hops(bag.hop)
    told = layer.maps["context"](x) * layer.gates["context"](hop).sigmoid()
    leaf = [copy for copy, node in enumerate(bag.node.tolist()) if node == 3]
    assert sorted(bag.subgraph[leaf].tolist()) == [0, 3]
    torch.testing.assert_close(layer._back("context", x, hop, bag)[3], told[leaf].sum(0))


@pytest.mark.parametrize("name", OURS)
@pytest.mark.parametrize("level", ["node", "edge"])
def test_isolated_nodes_and_edges_have_an_answer(name, level):
    from escgnn.zoo import ZOO

    kind = ZOO[name].network
    arguments = () if kind is IDGNN else (2,)
    features = {"kind": "dense", "sizes": [3]}
    model = network(kind, *arguments, level=level, edge_features=features)
    batch = batch_of([graphs.empty(1), graphs.cycle(4), graphs.empty(3)])
    batch.edge_attr = torch.ones(batch.num_edges, 3)
    out = model(ZOO[name].each(2)(batch))
    assert out.shape == (8, 2)
    assert out.isfinite().all()
    batch.edge_attr = 2 * batch.edge_attr
    assert gap(out, model(ZOO[name].each(2)(batch))) > 1e-6


VARIANTS = [
    (IDGNN, {"normalise": True, "mark": "receiver", "readout": "sum", "residual": True}),
    (NGNN, {"virtual_node": True, "resistance": True, "labels": "hop", "ball_pool": "centre"}),
    (GINAK, {"terms": ["centroid", "context"], "join": "add", "ball_pool": "mean"}),
    (GINAK, PLAIN),
    (I2GNN, {"context": True, "resistance": True, "ball_pool": "mean", "pair_pool": "mean"}),
]


@pytest.mark.parametrize(("kind", "settings"), VARIANTS)
def test_variants_learn_with_every_parameter_and_do_not_mind_numbers(kind, settings):
    """A relabelled batch, and a batch of one after the other, say the same."""
    views = [graphs.erdos_renyi(8, 0.4, seed=3), graphs.petersen(), graphs.star(3)]
    cutter = RootedPairs if kind is I2GNN else RootedNodes
    cut = cutter(2, resistance=settings.get("resistance", False))
    arguments = () if kind is IDGNN else (2,)
    model = network(kind, *arguments, layers=2, **settings)
    out = model(cut(batch_of(views)))
    torch.testing.assert_close(model(cut(batch_of([shuffled(view) for view in views]))), out)
    torch.testing.assert_close(torch.cat([model(cut(as_data(view))) for view in views]), out)
    model.train()(cut(batch_of(views))).square().sum().backward()
    assert not [key for key, one in model.named_parameters() if one.grad is None or not one.grad.any()]


def test_settings_that_mean_nothing_are_refused():
    for make, words in (
        (lambda: IDGNN(1, readout="all"), "readout: 'all'; expected one of centre, sum"),
        (lambda: NGNN(1, 2, labels="drnl"), "labels: 'drnl'; expected one of"),
        (lambda: GINAK(1, 2, terms=[]), r"terms: \[\]; expected one or more of"),
        (lambda: GINAK(1, 2, inner=0), "inner: 0; expected an integer from 1"),
        (lambda: I2GNN(1, 2, labels="none"), "labels: 'none'; expected distance, hop or identity"),
        (lambda: I2GNN(1, 2, level="pair"), "level: 'pair'; I2GNN is defined for graph, node, edge"),
    ):
        with pytest.raises(ValueError, match=words):
            make()
