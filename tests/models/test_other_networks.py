"""What other networks than those on subgraphs tell apart; what some are equal to, and how many weights they have."""

from itertools import combinations

import numpy as np
import pytest
import torch
from torch_geometric.data import Batch
from torch_geometric.nn import GraphConv, NNConv

from benchmarks.power import are_apart, as_data, classes, gap, outputs
from escgnn import datasets, graphs
from escgnn.bags import BagTooLargeError
from escgnn.counting import count, per_orbit
from escgnn.models import GSN, KGNN, LGPGNN, PPGN, GraphormerGD, OneGNN
from escgnn.models.graphormer_gd import DistanceAttention
from escgnn.models.k_gnn import SetConv
from escgnn.models.pairs import Pairs
from escgnn.store import GraphStore
from escgnn.transforms import ClosedWalks, PairDistances, PairRows, PatternCounts, Triples

CSL = [graphs.circulant(41, 1, skip) for skip in (2, 3, 4, 5, 6, 9, 11, 12, 13, 16)]
REGULAR = [graphs.rook(4), graphs.shrikhande()]  # strongly regular, of the same parameters
ODD = [graphs.empty(1), graphs.empty(3), graphs.path(2), graphs.star(4), graphs.disjoint_union([graphs.cycle(3)] * 2)]


def one_graph(view):
    return graphs.from_edge_index(view.edge_index, view.num_nodes)


def renamed(view, seed=0):
    return graphs.permute(view, np.random.default_rng(seed).permutation(view.num_nodes))


def batch_of(views):
    return Batch.from_data_list([as_data(one_graph(view)) for view in views])


def said(name, views, **settings):
    return outputs(name, [as_data(view) for view in views], {"norm": "none", **settings}, seeds=1)


def cycles(longest):
    return [f"{k}-cycle" for k in range(3, longest + 1)]


def weights(network):
    return sum(one.numel() for one in network.parameters())


# Of CSL's ten classes, how many are told apart, and whether the two strongly regular graphs are.
POWER = [
    ("gsn", {"patterns": cycles(4)}, 3, False),
    ("gsn", {"patterns": cycles(6)}, 6, False),
    ("gsn", {"patterns": cycles(8)}, 10, True),
    ("gsn", {"patterns": cycles(4), "induced": True}, 3, True),
    ("gsn", {"patterns": cycles(5), "per": "edge"}, 5, False),
    ("graphormer-gd", {"layers": 2, "readout": "sum", "heads": 4}, 10, False),
    ("graphormer-gd", {"layers": 2, "readout": "sum", "heads": 4, "distances": ["steps"]}, 9, False),
    ("lgp-gnn", {"layers": 3, "lengths": [3, 4]}, 3, False),
    ("lgp-gnn", {"layers": 3, "lengths": [3, 4, 5, 6]}, 6, False),
    ("lgp-gnn", {"layers": 3, "lengths": [3, 4, 5, 6, 7, 8]}, 10, False),
    ("1-gnn", {"layers": 3}, 1, False),
    ("graphgps", {"layers": 3}, 10, False),
    ("graphgps", {"layers": 3, "local": "gatedgcn", "walks": 16}, 10, False),
    ("graph-transformer", {"layers": 3}, 1, False),
    ("esc-graphgps", {"layers": 3, "hops": 1}, 3, True),
    ("ogb-gin", {"layers": 3}, 1, False),
    ("ogb-gin-vn", {"layers": 3}, 1, False),
    ("esc-ogb-gin", {"layers": 3, "hops": 1}, 3, True),
]


@pytest.mark.parametrize(("name", "settings", "circulants", "regular"), POWER)
def test_untrained_networks_tell_apart_what_theory_says(name, settings, circulants, regular):
    rows = said(name, [*CSL, renamed(CSL[3])], **settings)
    assert classes(rows[:10]) == circulants
    assert gap(rows[3], rows[10]) < 1e-9, "a graph and itself, renumbered"
    first, second, third = said(name, [*REGULAR, renamed(REGULAR[0])], **settings)
    assert are_apart(first, second) == regular
    assert gap(first, third) < 1e-9


def test_ppgn_tells_apart_what_folklore_2_wl_does():
    """Numbers shrink from block to block, and differences with them; rounding is at 1e-14."""
    for layers, expected in ((1, 1), (2, 3), (3, 10)):
        rows = said("ppgn", [*CSL, renamed(CSL[3])], layers=layers)
        gaps = [[gap(first, second) for second in rows[:10]] for first in rows[:10]]
        assert not [one for line in gaps for one in line if 1e-13 < one < 1e-10]
        assert len({tuple(one > 1e-10 for one in line) for line in gaps}) == expected
        assert gap(rows[3], rows[10]) < 1e-13, "a graph and itself, renumbered"
        first, second, third = said("ppgn", [*REGULAR, renamed(REGULAR[0])], layers=layers)
        assert max(gap(first, second), gap(first, third)) < 1e-13


def test_ppgn_tells_pairs_of_exp_apart(benchmark_data):
    store = datasets.load("exp", root=benchmark_data).graphs
    rows = outputs("ppgn", [store[i] for i in range(8)], {"layers": 4}, categories=(2,), seeds=1)
    assert min(gap(first, second) for first, second in zip(rows[::2], rows[1::2], strict=True)) > 1e-10


def test_sets_of_three_tell_strongly_regular_graphs_apart():
    for name in ("3-gnn", "1-2-3-gnn"):
        first, second, third = said(name, [*REGULAR, renamed(REGULAR[0])], layers=3)
        assert are_apart(first, second) and gap(first, third) < 1e-9
    views = [*CSL[:6], renamed(CSL[0])]
    batch = Triples()(batch_of(views))
    for sets, expected in (([2], 6), ([3], 3)):  # pairs; three nodes that hang together
        torch.manual_seed(0)
        network = KGNN(4, sets=sets, hidden=8, layers=4, set_layers=4).double().eval()
        rows = network(batch).detach()
        assert classes(rows[:6]) == expected and gap(rows[0], rows[6]) < 1e-9


@pytest.mark.parametrize(
    ("name", "settings", "apart"),
    [
        ("gsn", {"patterns": cycles(4)}, False),
        ("gsn", {"patterns": cycles(5)}, True),
        ("graphormer-gd", {"layers": 2, "readout": "sum", "heads": 4, "distances": ["steps"]}, True),
        ("graphormer-gd", {"layers": 2, "readout": "sum", "heads": 4, "distances": ["resistance"]}, True),
        ("lgp-gnn", {"layers": 4, "lengths": [3, 4]}, False),
        ("lgp-gnn", {"layers": 4}, True),
        ("1-gnn", {"layers": 4}, False),
        ("graphgps", {"layers": 4}, True),
        ("graph-transformer", {"layers": 4}, False),
        ("ogb-gin-vn", {"layers": 4}, False),
    ],
)
def test_pairs_of_exp(benchmark_data, name, settings, apart):
    store = datasets.load("exp", root=benchmark_data).graphs
    rows = outputs(name, [store[i] for i in range(8)], {"norm": "none", **settings}, categories=(2,), seeds=1)
    for first, second in zip(rows[::2], rows[1::2], strict=True):
        assert are_apart(first, second) == apart


@pytest.mark.parametrize(
    ("name", "settings", "expected"),
    [
        ("gsn", {"patterns": cycles(6)}, 1),
        ("gsn", {"patterns": cycles(4), "induced": True}, 15),
        ("gsn", {"patterns": ["4-clique"]}, 15),
        ("ppgn", {"layers": 3, "scaled": True}, 1),
        ("graphormer-gd", {"layers": 2, "readout": "sum", "heads": 4}, 1),
        ("lgp-gnn", {"layers": 3, "lengths": [4, 6, 8]}, 1),
        ("graphgps", {"layers": 3}, 1),
        ("graph-transformer", {"layers": 3}, 1),
        ("esc-graphgps", {"layers": 3, "hops": 1}, 15),
        ("ogb-gin-vn", {"layers": 3}, 1),
    ],
)
def test_classes_of_sr25(benchmark_data, name, settings, expected):
    store = datasets.load("sr25", root=benchmark_data).graphs
    assert classes(outputs(name, [*store], {"norm": "none", **settings}, seeds=1)) == expected


def test_gsn_has_the_published_number_of_weights():
    """3,338,701 on ogbg-molhiv, when OGB's atoms had 173 categories; its counts had eight values."""
    atoms = {"kind": "categorical", "sizes": [119, 4, 12, 12, 10, 6, 6, 2, 2]}
    bonds = {"kind": "categorical", "sizes": [5, 6, 2]}
    network = GSN(
        1,
        [[0, 1]] * 4,
        per="edge",
        induced=True,
        node_features=atoms,
        edge_features=bonds,
        hidden=300,
        layers=5,
        variant="gine",
        virtual_node=True,
        linear_head=True,
    )
    assert weights(network) == 3_338_701


def test_other_published_numbers_of_weights():
    assert weights(PPGN(1, level="node", hidden=64, layers=4, head=[64])) == 96_001
    atoms = {"kind": "categorical", "sizes": [28]}
    bonds = {"kind": "categorical", "sizes": [4]}
    place = {"kind": "laplacian", "size": 8}
    network = LGPGNN(1, node_features=atoms, edge_features=bonds, positional=place)
    unread = 2 * 70  # theirs also normalises the last state of edges, which nothing reads
    assert weights(network) + unread == 408_415
    dense = {"kind": "dense", "sizes": [11]}
    lengths = {"kind": "dense", "sizes": [5]}
    assert weights(OneGNN(1, sets=[1], node_features=dense, edge_features=lengths, first=32, head=[32, 16])) == 849_569


def test_gsn_takes_new_values_for_the_next_smaller_one():
    network = GSN(1, [[0, 2, 5], [1]], patterns=["3-cycle", "4-cycle"])
    counts = torch.tensor([[0, 0], [1, 1], [2, 2], [4, 1], [5, 1], [99, 99]])
    assert network.places(counts).tolist() == [[0, 0], [0, 0], [1, 0], [1, 0], [2, 0], [2, 0]]


def test_gsn_reads_the_counts_of_counting():
    view = graphs.disjoint_union([graphs.erdos_renyi(9, 0.5, seed=seed) for seed in range(4)] + ODD)
    store = GraphStore.from_view(view)
    for per in ("node", "edge"):
        for induced in (False, True):
            found = PatternCounts(["4-cycle", "3-path"], per=per, induced=induced)(store).column("pattern_count")
            orbits = {"node": (0, 0, 1), "edge": ((0, 1), (0, 1), (1, 2))}[per]
            for column, name, orbit in zip(found.T, ("4-cycle", "3-path", "3-path"), orbits, strict=True):
                expected = count(store.view(), name, per=per, induced=induced, orbit=orbit)
                assert column.tolist() == expected.tolist()
    with pytest.raises(ValueError, match="per: 'graph'; expected 'node' or 'edge'"):
        PatternCounts(per="graph")
    assert per_orbit(view, []).shape == (view.num_nodes, 0)


def test_a_pair_product_is_that_of_each_graphs_matrices():
    views = [graphs.erdos_renyi(n, 0.5, seed=n) for n in (4, 1, 6, 4, 6)]
    batch = batch_of(views)
    pairs = Pairs(batch.ptr)
    adjacency = pairs.adjacency(batch.edge_index, batch.batch, torch.float64)
    square = pairs.product(adjacency, adjacency, pairs.equal_sizes())
    cube = pairs.product(square, adjacency, pairs.equal_sizes())
    assert cube[pairs.diagonal, 0].tolist() == [2 * n for view in views for n in count(view, "3-cycle", per="node")]
    start = 0
    for view in views:
        n = view.num_nodes
        dense = torch.from_numpy(_dense(view))
        assert torch.equal(square[start : start + n * n, 0].view(n, n), dense @ dense)
        start += n * n
    assert torch.equal(pairs.swapped[pairs.swapped], torch.arange(pairs.rows))


def _dense(view):
    dense = np.zeros((view.num_nodes, view.num_nodes))
    dense[tuple(view.edge_index)] = 1
    return dense


def test_ppgn_counts_triangles_with_weights_set_by_hand():
    views = [graphs.erdos_renyi(8, 0.5, seed=seed) for seed in range(3)] + ODD
    network = PPGN(1, level="node", hidden=2, layers=2, head=()).double()
    with torch.no_grad():
        for one in network.parameters():
            one.zero_()
        for block in network.blocks:
            for side in (block.left, block.right):
                side[0].weight.copy_(torch.eye(2))
                side[2].weight.copy_(torch.eye(2))
        network.blocks[0].skip.weight[0, 0] = 1  # A
        network.blocks[0].skip.weight[1, 2] = 1  # its square
        network.blocks[1].left[0].weight.copy_(torch.tensor([[0.0, 1.0], [0.0, 0.0]]))
        network.blocks[1].skip.weight[0, 2] = 1  # the square times A
        network.heads[0][0].weight[0, 0] = 0.5
    found = network(batch_of(views)).squeeze(1)
    assert found.tolist() == [n for view in views for n in count(view, "3-cycle", per="node")]


def test_edges_of_ppgn_and_graphormer_do_not_mind_numbers():
    view = graphs.erdos_renyi(7, 0.5, seed=3)
    order = np.random.default_rng(1).permutation(7)
    other = graphs.permute(view, order)
    for kind, options in ((PPGN, {}), (GraphormerGD, {"layers": 2, "heads": 2})):
        torch.manual_seed(0)
        network = kind(2, level="edge", hidden=8, **options).double().eval()
        out = [network(PairDistances()(batch_of([one]))).detach() for one in (view, other)]
        places = {(int(u), int(v)): i for i, (u, v) in enumerate(other.edge_index.T)}
        match = [places[int(order[u]), int(order[v])] for u, v in view.edge_index.T]
        torch.testing.assert_close(out[0], out[1][match])
        assert out[0].std(0).min() > 1e-6


@pytest.mark.parametrize("heads", [1, 4])
def test_attention_without_distances_is_that_of_torch(heads):
    torch.manual_seed(0)
    own = DistanceAttention(8, heads).double()
    theirs = torch.nn.MultiheadAttention(8, heads, batch_first=True, dtype=torch.float64)
    with torch.no_grad():
        keyless = torch.zeros(8, dtype=torch.float64)
        theirs.in_proj_weight.copy_(torch.cat([own.query.weight, own.key.weight, own.value.weight]))
        theirs.in_proj_bias.copy_(torch.cat([own.query.bias, keyless, own.value.bias]))
        theirs.out_proj.weight.copy_(own.out.weight)
        theirs.out_proj.bias.copy_(own.out.bias)
    pairs = Pairs(torch.tensor([0, 5, 8]))
    h = torch.randn(8, 8, dtype=torch.float64)
    one = torch.ones(pairs.rows, heads, dtype=torch.float64)
    found = own(h, pairs.first, pairs.second, one, one * 0)
    expected = torch.cat([theirs(part, part, part)[0] for part in (h[None, :5], h[None, 5:])], 1)[0]
    torch.testing.assert_close(found, expected)


def test_factors_after_the_softmax_make_it_a_sum_over_neighbours():
    view = graphs.erdos_renyi(9, 0.4, seed=2)
    batch = PairDistances()(batch_of([view]))
    pairs = Pairs(batch.ptr)
    attention = DistanceAttention(3, 1).double()
    with torch.no_grad():
        for one in attention.parameters():
            one.zero_()
        attention.value.weight.copy_(torch.eye(3))
        attention.out.weight.copy_(torch.eye(3))
    h = torch.randn(9, 3, dtype=torch.float64)
    phi1 = 9 * (batch.pair_steps == 1).double().unsqueeze(1)
    found = attention(h, pairs.first, pairs.second, phi1, phi1 * 0)
    torch.testing.assert_close(found, torch.from_numpy(_dense(view)) @ h)


def test_what_is_farther_or_has_more_neighbours_than_tables_know_is_the_last_entry():
    """As when a molecule is longer than all that were seen in training; what has no way at all stays another thing."""
    shared = {"distances": ["steps"], "hidden": 8, "heads": 2, "layers": 2, "readout": "sum"}
    torch.manual_seed(0)
    small = GraphormerGD(2, max_steps=3, max_degree=2, **shared).double().eval()
    large = GraphormerGD(2, max_steps=9, max_degree=6, **shared).double().eval()
    rows = [0, 1, 2, *[3] * 7, 4]
    with torch.no_grad():
        state = small.state_dict()
        for key in ("factors.0.steps.weight", "factors.1.steps.weight"):
            state[key] = state[key][rows]
        state["degree.weight"] = state["degree.weight"][[0, 1, *[2] * 5]]
        large.load_state_dict(state)
    batch = PairDistances(["steps"])(batch_of([graphs.path(10), graphs.star(6), graphs.grid(2, 3), *ODD]))
    torch.testing.assert_close(small(batch), large(batch))
    assert small(batch).isfinite().all()


def test_distances_are_those_of_networkx():
    import networkx

    views = [graphs.erdos_renyi(8, 0.3, seed=seed) for seed in range(6)] + [graphs.random_tree(9), *ODD]
    batch = PairDistances()(batch_of(views))
    pairs = Pairs(batch.ptr)
    steps, resistance = [], []
    for view in views:
        graph = view.to_networkx()
        lengths = dict(networkx.all_pairs_shortest_path_length(graph))
        inverse = np.linalg.pinv(np.diag(view.degrees.astype(float)) - _dense(view))
        for i in range(view.num_nodes):
            for j in range(view.num_nodes):
                known = j in lengths[i]
                steps.append(lengths[i].get(j, 255))
                resistance.append(inverse[i, i] + inverse[j, j] - 2 * inverse[i, j] if known else np.inf)
    assert batch.pair_steps.tolist() == steps
    np.testing.assert_allclose(batch.pair_resistance.numpy(), resistance, atol=1e-9)
    tree = pairs.graph == 6
    torch.testing.assert_close(batch.pair_resistance[tree], batch.pair_steps[tree].double())
    alone = [PairDistances()(as_data(one_graph(view))).pair_steps for view in views]
    for data, expected in zip(batch.to_data_list(), alone, strict=True):
        assert torch.equal(data.pair_steps, expected)
    with pytest.raises(BagTooLargeError, match="lower batch_size, or raise max_rows"):
        PairRows(max_rows=50)(batch)


def test_closed_walks_are_diagonals_of_powers():
    views = [graphs.erdos_renyi(8, 0.4, seed=seed) for seed in range(5)] + ODD
    store = ClosedWalks([1, 2, 3, 6, 7])(GraphStore.from_view(graphs.disjoint_union([one_graph(v) for v in views])))
    powers = [np.linalg.matrix_power(_dense(view), k).diagonal() for view in views for k in (1, 2, 3, 6, 7)]
    expected = [np.stack(powers[i : i + 5], 1) for i in range(0, len(powers), 5)]
    assert store.column("closed_walks").tolist() == np.concatenate(expected).tolist()
    with pytest.raises(OverflowError, match="more walks than int64 can count"):
        ClosedWalks([40])(GraphStore.from_view(graphs.complete(9)))
    assert ClosedWalks([])(store[:2]).fields.keys() == store.fields.keys()


def test_lgp_gnn_without_walks_is_its_backbone():
    batch = batch_of([graphs.petersen(), *CSL[:2]])
    network = LGPGNN(2, lengths=[], hidden=16, layers=3).double().eval()
    assert "closed_walks" not in network.reads
    assert network(batch).shape == (3, 2)


def test_triples_are_those_of_a_slow_search():
    views = [graphs.erdos_renyi(7, p, seed=seed) for seed in range(6) for p in (0.2, 0.6)] + ODD
    for connected in (True, False):
        batch = Triples(connected=connected)(batch_of(views))
        for data, view in zip(batch.to_data_list(), views, strict=True):
            sets = [s for s in combinations(range(view.num_nodes), 3) if not connected or _edges(view, s) > 1]
            assert data.triple_member.tolist() == [[*s] for s in sets]
            assert data.triple_len.tolist() == [len(sets)]
            assert data.triple_inside.tolist() == [[sum(view.has_edge(u, v) for v in s) for u in s] for s in sets]
            arcs = [j for s in sets for j, t in enumerate(sets) if _are_neighbours(view, s, t)]
            assert data.triple_source.tolist() == arcs
            assert data.triple_in.tolist() == [sum(_are_neighbours(view, s, t) for t in sets) for s in sets]


def _edges(view, nodes):
    return sum(view.has_edge(u, v) for u, v in combinations(nodes, 2))


def _are_neighbours(view, first, second):
    gone, comes = {*first} - {*second}, {*second} - {*first}
    return len(gone) == 1 and view.has_edge(gone.pop(), comes.pop())


def test_rounds_on_sets_of_two_are_those_of_a_slow_search():
    views = [graphs.erdos_renyi(6, 0.5, seed=seed) for seed in range(3)]
    for aggregate in ("sum", "mean"):
        torch.manual_seed(0)
        network = KGNN(1, sets=[2], hidden=4, set_layers=2, aggregate=aggregate).double()
        found, _ = network._on_pairs(torch.ones(18, 1).double(), None, network.tensors(batch_of(views)))
        rows = []
        for view in views:
            sets = [*combinations(range(6), 2)]
            adjacent = torch.tensor([float(view.has_edge(*s)) for s in sets]).double()
            h = 2 * torch.stack([1 - adjacent, adjacent], 1)
            arcs = [(j, i) for i, s in enumerate(sets) for j, t in enumerate(sets) if _are_neighbours(view, s, t)]
            for conv in network.pairs:
                h = conv.along(h, *torch.tensor(arcs).T)
            rows.append(h)
        torch.testing.assert_close(found, torch.cat(rows))


def test_rounds_on_nodes_are_those_of_pyg():
    view = graphs.erdos_renyi(9, 0.4, seed=1)
    edge_index = torch.from_numpy(view.edge_index)
    x = torch.randn(9, 3)
    for aggregate in ("sum", "mean"):
        conv = SetConv(3, 5, aggregate)
        theirs = GraphConv(3, 5, aggr=aggregate)
        theirs.load_state_dict(
            {"lin_rel.weight": conv.other.weight, "lin_rel.bias": conv.own.bias, "lin_root.weight": conv.own.weight}
        )
        torch.testing.assert_close(conv.along(x, *edge_index), torch.nn.functional.elu(theirs(x, edge_index)))
    edge = torch.randn(edge_index.size(1), 2)
    conv = SetConv(3, 5, "sum", 2, 8)
    theirs = NNConv(3, 5, conv.other, aggr="add")
    theirs.lin.weight, theirs.bias = conv.own.weight, conv.own.bias
    torch.testing.assert_close(conv.along(x, *edge_index, edge), torch.nn.functional.elu(theirs(x, edge_index, edge)))


def test_the_type_of_three_nodes_knows_the_label_of_the_middle():
    """The authors' does not, and depends on the numbering."""
    path = graphs.path(3)
    torch.manual_seed(0)
    features = {"kind": "categorical", "sizes": [2]}
    network = KGNN(3, sets=[3], node_features=features, hidden=4, layers=1).double()

    def of(view, labels):
        data = as_data(view)
        data.x = torch.tensor(labels).unsqueeze(1)
        return network(Triples()(Batch.from_data_list([data]))).detach()

    centre = graphs.as_graph([(0, 1), (0, 2)], num_nodes=3)  # the same path with its middle first
    assert torch.equal(of(path, [0, 1, 0]), of(centre, [1, 0, 0]))
    assert not torch.allclose(of(path, [0, 1, 0]), of(path, [1, 0, 0]))


def test_settings_that_mean_nothing_are_refused():
    cases = (
        (lambda: GSN(1, [[0]], variant="gcn"), "variant: 'gcn'; expected one of general, gine"),
        (lambda: PPGN(1, suffix="first"), "suffix: 'first'; expected one of"),
        (lambda: GraphormerGD(1, hidden=8, heads=3), "heads: 3; expected a divisor of hidden, which is 8"),
        (lambda: KGNN(1, sets=[4]), r"sets: \[4\]; expected one or more of 1, 2, 3"),
        (lambda: PairDistances([]), r"distances: \[\]; expected one or more of steps, resistance"),
        (lambda: ClosedWalks([0]), r"lengths: \[0\]; expected integers from 1"),
        (lambda: PatternCounts([]), r"patterns: \[\]; expected names"),
        (lambda: Triples(max_rows=0), "max_rows: 0; expected an integer >= 1"),
    )
    for make, message in cases:
        with pytest.raises(ValueError, match=message):
            make()
