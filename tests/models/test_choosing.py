"""OSAN and PL-GNN: choices and their gradients against their definitions, and what the networks turn into without choices."""

import networkx as nx
import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch_geometric.data import Batch

from benchmarks.power import are_apart, as_data, classes, outputs, renumbered
from escgnn import bags, graphs
from escgnn.models import OSAN, PLGNN
from escgnn.models.choosing import best_forest, best_rows, both_ends, implicit_mle, ranks, straight_through, with_loss
from escgnn.models.osan import CHOICES, adjacent_chosen, from_uniform, undirected
from escgnn.transforms import ChoiceBags, RootedNodes

MEMBERS = [graphs.erdos_renyi(n, 0.4, seed=n) for n in (7, 4, 9)]


def a_batch(members=MEMBERS):
    batch = Batch.from_data_list([as_data(one) for one in members])
    batch.x = torch.arange(batch.num_nodes).remainder(3).unsqueeze(1)
    return batch


FEATURES = {"kind": "categorical", "sizes": [3]}


@given(st.lists(st.integers(0, 6), min_size=1, max_size=5), st.integers(0, 8), st.integers(0, 10**6))
@settings(max_examples=100)
def test_best_rows_equal_a_loop(sizes, number, seed):
    rng = np.random.default_rng(seed)
    graph = rng.permutation(np.repeat(np.arange(len(sizes)), sizes))
    scores = rng.integers(0, 4, (graph.size, 2)).astype(float)  # with ties
    numbers = np.full(len(sizes), number)
    expected = np.zeros(scores.shape, bool)
    for g in range(len(sizes)):
        rows = np.flatnonzero(graph == g)
        for t in range(2):
            expected[sorted(rows, key=lambda row, t=t: (-scores[row, t], row))[:number], t] = True
    found = best_rows(torch.from_numpy(scores), torch.from_numpy(graph), torch.from_numpy(numbers))
    assert np.array_equal(found.numpy(), expected)


@given(st.integers(0, 10**6))
@settings(max_examples=100)
def test_best_forests_are_those_of_networkx(seed):
    rng = np.random.default_rng(seed)
    size = int(rng.integers(1, 12))
    pairs = [(u, v) for u in range(size) for v in range(u, size) if rng.random() < 0.4]  # loops too
    edge = torch.tensor(pairs, dtype=torch.long).reshape(-1, 2)
    scores = torch.from_numpy(rng.permutation(3 * len(pairs)).reshape(-1, 3).astype(float))
    found = best_forest(scores, edge, size)
    for t in range(3):
        graph = nx.Graph()
        graph.add_weighted_edges_from((u, v, float(scores[i, t])) for i, (u, v) in enumerate(pairs) if u != v)
        expected = {tuple(sorted(one)) for one in nx.maximum_spanning_edges(graph, data=False)}
        assert {pairs[i] for i in found[:, t].nonzero().flatten().tolist()} == expected


def test_equal_scores_give_a_forest_too():
    edge = torch.tensor([(u, v) for u in range(6) for v in range(u + 1, 6)])
    found = best_forest(torch.zeros(len(edge), 1), edge, 7).squeeze(1)
    assert edge[found].tolist() == [[0, v] for v in range(1, 6)]  # the first ones


@given(st.integers(0, 10**6))
@settings(max_examples=50)
def test_neighbours_among_the_chosen_equal_a_loop(seed):
    rng = np.random.default_rng(seed)
    view = graphs.disjoint_union([graphs.erdos_renyi(int(n), 0.5, seed=seed) for n in rng.integers(1, 7, 2)])
    home = torch.from_numpy(np.repeat([0, 1], np.diff(view.ptr)))
    place = ranks(torch.from_numpy(rng.normal(size=(view.num_nodes, 2))), home, 2)
    found = adjacent_chosen(place, torch.from_numpy(view.edge_index), 3)
    expected = torch.zeros(view.num_nodes, 2, 3, dtype=torch.long)
    for u, v in view.edge_index.T.tolist():
        for t in range(2):
            if place[u, t] < 3 and place[v, t] < 3:
                expected[v, t, place[u, t]] = 1
    assert torch.equal(found, expected)


@given(st.integers(0, 10**6), st.floats(0.01, 50))
@settings(max_examples=100)
def test_implicit_mle_on_a_linear_loss(seed, beta):
    generator = torch.Generator().manual_seed(seed)
    theta, noise, slope = torch.randn(3, 12, 2, generator=generator, dtype=torch.float64)
    graph = torch.tensor([0] * 5 + [1] * 7)
    number = torch.tensor([2, 3])

    def choose(scores):
        return best_rows(scores, graph, number)

    theta.requires_grad_()
    chosen = implicit_mle(theta, noise, choose, beta)
    (slope * chosen).sum().backward()
    before = choose(theta.detach() + noise).double()
    after = choose(theta.detach() - beta * slope + noise).double()
    assert torch.equal(chosen.detach(), before)
    assert torch.equal(theta.grad, before - after)
    assert float((theta.grad * slope).sum()) >= 0, "no step raises a linear loss"


def test_without_a_step_there_is_no_gradient():
    theta = torch.randn(5, 1, requires_grad=True)
    graph, number = torch.zeros(5, dtype=torch.long), torch.tensor([2])
    implicit_mle(theta, torch.zeros(5, 1), lambda scores: best_rows(scores, graph, number), 0.0).sum().backward()
    assert not theta.grad.any()


def test_nodes_learn_from_the_mean_over_edges_that_end_there():
    edge_index = torch.tensor([[0, 1, 2, 1], [1, 0, 1, 2]])
    chosen = torch.tensor([[1.0, 0.0], [1.0, 1.0], [0.0, 1.0], [1.0, 1.0]], requires_grad=True)
    weight = both_ends(chosen, edge_index)
    assert weight.tolist() == [[1, 0], [1, 0], [0, 1], [0, 1]]
    slope = torch.tensor([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0], [7.0, 8.0]])
    (weight * slope).sum().backward()
    assert chosen.grad.tolist() == [[3, 4], [3, 4], [7, 8], [0, 0]]


def test_straight_through():
    logits = torch.randn(9, dtype=torch.float64, requires_grad=True)
    batch = torch.tensor([0] * 4 + [2] * 5)
    sizes = torch.tensor([4, 0, 5])
    mark = straight_through(logits, batch, sizes)
    assert {*mark.tolist()} == {0.0, 1.0} and mark[:4].sum() == mark[4:].sum() == 1
    assert int(mark[:4].argmax()) == int(logits[:4].argmax()) and int(mark[4:].argmax()) == int(logits[4:].argmax())
    jacobian = torch.autograd.functional.jacobian(lambda some: straight_through(some, batch, sizes), logits)
    expected = torch.autograd.functional.jacobian(
        lambda some: torch.cat([some[:4].softmax(0), some[4:].softmax(0)]), logits
    )
    torch.testing.assert_close(jacobian, expected)


def test_a_further_loss_is_added():
    output = torch.ones(2, requires_grad=True)
    further = torch.tensor(3.0, requires_grad=True)
    (5 * with_loss(output, 2 * further).sum()).backward()
    assert output.grad.tolist() == [5, 5] and float(further.grad) == 2


def test_the_auxiliary_loss_is_the_divergence_from_uniform():
    often = torch.tensor([2.0, 0.0, 1.0, 1.0, 1.0])
    home = torch.tensor([0, 0, 0, 1, 1])
    chances = often[:3].softmax(0)
    expected = (1 / 3 * (torch.log(torch.tensor(1 / 3)) - chances.log())).sum() / 3
    torch.testing.assert_close(from_uniform(often, home, 2), expected)


def osan(**settings):
    torch.manual_seed(0)
    return OSAN(2, hidden=8, layers=2, node_features=FEATURES, **settings).double()


@pytest.mark.parametrize("policy", ["khop", "dual"])
@pytest.mark.parametrize("hops", [1, 2])
def test_the_best_ball_equals_brute_force(hops, policy):
    batch = ChoiceBags(policy, hops=hops)(a_batch())
    network = osan(policy=policy)
    scores = torch.randn(batch.num_nodes, 3, dtype=torch.float64)
    found = network._balls(network.tensors(batch))(scores)
    balls = naive_balls(batch, hops)
    for g in range(batch.num_graphs):
        roots = range(int(batch.ptr[g]), int(batch.ptr[g + 1]))
        for t in range(3):
            mean = {root: float(scores[balls[root], t].mean()) for root in roots}
            kept = {*balls[max(mean, key=mean.get)]}
            if policy == "dual":
                kept = {*roots} - {*balls[min(mean, key=mean.get)]} | {max(roots, key=lambda v, t=t: scores[v, t])}
            assert {v for v in roots if found[v, t]} == kept


def naive_balls(batch, hops):
    reached = torch.eye(batch.num_nodes, dtype=torch.bool)
    step = torch.zeros(batch.num_nodes, batch.num_nodes, dtype=torch.bool)
    step[batch.edge_index[0], batch.edge_index[1]] = True
    for _ in range(hops):
        reached = reached | (reached.double() @ step.double() > 0)
    return [row.nonzero().flatten().tolist() for row in reached]


def plain(network, batch):
    """What the second network makes of whole graphs, before the last map."""
    graph = bags.graphs_bag(batch)
    x = network.nodes(batch.x, batch.num_nodes)
    for conv, norm in zip(network.convs, network.norms, strict=True):
        x = (x + norm(conv(x, graph)).relu()) / 2**0.5
    return network.subgraphs(graph.to_subgraphs(x, "mean"))


def test_osan_that_keeps_all_is_plain_message_passing():
    network = osan(keep=100).eval()
    torch.testing.assert_close(network(a_batch()), network.last(plain(network, a_batch())))


def test_weights_of_zero_are_edges_that_are_not_there():
    batch = a_batch()
    network = osan(policy="edge", picks=1, keep=-2).eval()
    edge, home, columns = undirected(batch.edge_index, batch.batch)
    scores = network.first(network.tensors(batch))[edge].sum(1)
    kept = network._map(home, batch.num_graphs)(scores).squeeze(1)
    assert int((~kept).sum()) == 2 * batch.num_graphs
    fewer = batch.clone()
    fewer.edge_index = batch.edge_index[:, kept[columns]]
    mean = (plain(network, batch) + plain(network, fewer)) / 2
    torch.testing.assert_close(network(batch), network.last(mean))
    assert not torch.allclose(network(batch), network.last(plain(network, batch)))


def test_nodes_left_out_are_as_if_they_were_not_there():
    batch = a_batch()
    network = osan(policy="node", picks=1, keep=-2).eval()
    kept = network._map(batch.batch, 3)(network.first(network.tensors(batch))).squeeze(1)
    fewer = batch.subgraph(kept)
    fewer.ptr = torch.tensor([0, 5, 7, 14])
    mean = (plain(network, batch) + plain(network, fewer)) / 2
    torch.testing.assert_close(network(batch), network.last(mean))


def test_a_tree_is_what_messages_pass_along():
    batch = a_batch()
    network = osan(policy="mst", picks=1).eval()
    edge, _, columns = undirected(batch.edge_index, batch.batch)
    kept = best_forest(network.first(network.tensors(batch))[edge].sum(1), edge, batch.num_nodes).squeeze(1)
    fewer = batch.clone()
    fewer.edge_index = batch.edge_index[:, kept[columns]]
    mean = (plain(network, batch) + plain(network, fewer)) / 2
    torch.testing.assert_close(network(batch), network.last(mean))


def test_ordered_nodes_know_which_of_the_chosen_they_are_next_to():
    """By hand: features from the order, messages everywhere, and a sum over the copies in which a node is chosen."""
    batch = a_batch()
    network = osan(policy="ordered", picks=2, keep=3).eval()
    place = ranks(network.first(network.tensors(batch)), batch.batch, 3)
    graph = bags.graphs_bag(batch)
    total = torch.zeros(batch.num_nodes, 8, dtype=torch.float64)
    for t in (None, 0, 1):
        x = network.nodes(batch.x, batch.num_nodes)
        rows = torch.zeros(batch.num_nodes, 3, dtype=torch.float64)
        chosen = torch.ones(batch.num_nodes, 1)
        if t is not None:
            rows = adjacent_chosen(place, batch.edge_index, 3)[:, t].double()
            chosen = (place[:, t : t + 1] < 3).double()
        x = x + network.order(rows)
        for conv, norm in zip(network.convs, network.norms, strict=True):
            x = (x + norm(conv(x, graph)).relu()) / 2**0.5
        total = total + chosen * x
    expected = network.last(network.subgraphs(graph.to_subgraphs(total, "mean")))
    torch.testing.assert_close(network(batch), expected)


# On these all nodes are alike, and all edges but those of CSL: one choice says what the bag of all says.
ALIKE = [
    graphs.cycle(6),
    graphs.disjoint_union([graphs.cycle(3), graphs.cycle(3)]),
    graphs.rook(4),
    graphs.shrikhande(),
]
TRANSITIVE = [graphs.circulant(41, 1, step) for step in (2, 3, 4, 5, 6, 9, 11, 12, 13, 16)]


@pytest.mark.parametrize(
    ("name", "own", "like"),
    [("osan", {"policy": "node"}, "ND"), ("osan", {"policy": "edge"}, "ED"), ("pl-gnn", {}, "NM")],
)
def test_where_all_nodes_are_alike_a_choice_is_as_good_as_the_bag(name, own, like):
    members = [as_data(graphs.from_edge_index(view.edge_index, view.num_nodes)) for view in ALIKE]
    rows = outputs(name, [*members, *map(renumbered, members)], {"picks": 1, **own})
    assert are_apart(rows[0], rows[1])
    assert are_apart(rows[2], rows[3]) == (like == "ED")
    for number in range(4):
        assert not are_apart(rows[number], rows[number + 4]), "a graph and itself, renumbered"
    if like != "ED":
        assert classes(outputs(name, [as_data(view) for view in TRANSITIVE], {"picks": 1, "hidden": 8, **own})) == 10


def test_without_choices_they_tell_apart_what_message_passing_does():
    members = [as_data(graphs.from_edge_index(view.edge_index, view.num_nodes)) for view in ALIKE[:2]]
    for name, own in (("pl-gnn", {"picks": 0}), ("osan", {"policy": "node", "keep": 100})):
        rows = outputs(name, members, own)
        assert not are_apart(rows[0], rows[1])


def test_going_back_draws_nothing():
    """The second choice of the estimator is made with the noise of the first."""
    network = osan(policy="node").train()
    out = network(a_batch()).square().sum()
    state = torch.random.get_rng_state()
    out.backward()
    assert torch.equal(torch.random.get_rng_state(), state)


def policies(kind):
    if kind is OSAN:
        return [{"policy": policy, "keep": 2 if policy == "ordered" else -1} for policy in CHOICES]
    return [{}, {"drop_nodes": 0.6}]


@pytest.mark.parametrize(("kind", "own"), [(kind, own) for kind in (OSAN, PLGNN) for own in policies(kind)])
def test_seeds_decide_and_evaluation_draws_nothing(kind, own):
    torch.manual_seed(0)
    network = kind(1, hidden=8, layers=2, node_features=FEATURES, norm="layer", **own)
    batch = RootedNodes(1)(a_batch())
    outs = []
    for seed in (1, 1, 2, 3, 4):
        torch.manual_seed(seed)
        outs.append(network.train()(batch))
    assert torch.equal(outs[0], outs[1])
    assert any(not torch.equal(outs[0], other) for other in outs[2:])
    state = torch.random.get_rng_state()
    network.eval()(batch)
    assert torch.equal(torch.random.get_rng_state(), state)


@pytest.mark.parametrize("policy", CHOICES)
def test_osan_trains_on_odd_graphs(policy):
    members = [graphs.empty(1), graphs.empty(3), graphs.path(2), *MEMBERS]
    keep = 2 if policy == "ordered" else -1
    network = osan(policy=policy, keep=keep, auxiliary=1.0, beta=1e4).train()  # or so small a network changes no choice
    out = network(ChoiceBags(policy, hops=1)(a_batch(members)))
    out.square().sum().backward()
    assert out.isfinite().all() and out.shape == (6, 2)
    assert all(one.grad.isfinite().all() for one in network.parameters() if one.grad is not None)
    assert network.first.head.weight.grad.any(), "the auxiliary loss reaches the scores"


def pl(**settings):
    torch.manual_seed(0)
    return PLGNN(2, hidden=8, layers=2, node_features=FEATURES, **settings).double()


@pytest.mark.parametrize("training", [True, False])
def test_no_node_is_chosen_twice_while_others_are_left(training, monkeypatch):
    seen = []
    network = pl(picks=4, drop_nodes=0.9).train(training)
    old = network.prediction.forward

    def spy(marks, bag, tensors):
        seen.append(marks.detach())
        return old(marks, bag, tensors)

    monkeypatch.setattr(network.prediction, "forward", spy)
    sizes = [1, 3, 7, 4]
    network(a_batch([graphs.erdos_renyi(n, 0.5, seed=n) for n in sizes]))
    (marks,) = seen
    assert not marks[:, 0].any() and {*marks.flatten().tolist()} == {0.0, 1.0}
    for part in marks.split(sizes):
        assert part[:, 1:].sum(0).tolist() == [1.0] * 4
        assert int((part.sum(1) > 0).sum()) == min(4, len(part))


def test_selection_learns_from_the_loss():
    network = pl(picks=3).train()
    network(a_batch()).square().sum().backward()
    assert all(one.grad.any() for one in network.selection.parameters())
    assert network.logit[-1].weight.grad.any()


def test_without_picks_it_is_message_passing():
    network = pl(picks=0).eval()
    assert network.selection is None and network.logit is None
    batch = a_batch()
    h = network.prediction(torch.zeros(batch.num_nodes, 1).double(), bags.graphs_bag(batch), network.tensors(batch))
    mean = torch.stack([part.mean(0) for part in h.split([7, 4, 9])])
    torch.testing.assert_close(network(batch), network.head(mean))


def test_one_graph_is_a_batch():
    alone = as_data(MEMBERS[0])
    alone.x = a_batch().x[:7]
    for network in (pl().eval(), osan().eval()):
        torch.testing.assert_close(network(alone), network(a_batch())[:1])


@pytest.mark.parametrize(
    ("kind", "wrong", "message"),
    [
        (OSAN, {"policy": "tree"}, "policy: 'tree'; expected one of node, edge, khop, dual, mst, ordered"),
        (OSAN, {"policy": "ordered"}, "keep: -1; expected an integer from 1, as nodes are put in order"),
        (OSAN, {"keep": 0}, "keep: 0; expected how many"),
        (OSAN, {"picks": 0}, "picks: 0; expected an integer from 1"),
        (OSAN, {"beta": 0}, "beta: 0; expected"),
        (OSAN, {"auxiliary": -1}, "auxiliary: -1; expected"),
        (PLGNN, {"picks": -1}, "picks: -1; expected an integer from 0"),
        (PLGNN, {"temperature": 0}, "temperature: 0; expected"),
        (PLGNN, {"drop_nodes": 1}, "drop_nodes: 1; expected a share"),
        (PLGNN, {"level": "node"}, "level: 'node'; PLGNN is defined for graph"),
    ],
)
def test_what_is_refused(kind, wrong, message):
    with pytest.raises(ValueError, match=message):
        kind(1, **wrong)
