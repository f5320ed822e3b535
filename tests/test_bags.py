"""Moves against loops over copies; bags of whole graphs against the slow twin."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch_geometric.data import Batch, Data

from escgnn import bags, graphs
from escgnn.transforms import RootedNodes, RootedPairs
from tests import naive_bags
from tests.strategies import messy_graphs, odd_shapes


def as_batch(members):
    return Batch.from_data_list(
        [Data(edge_index=torch.from_numpy(graph.edge_index), num_nodes=graph.num_nodes) for graph in members]
    )


MAKERS = {
    "nodes": lambda batch: bags.node_bag(RootedNodes(1)(batch)),
    "nodes, outside kept": lambda batch: bags.node_bag(RootedNodes(1, outside="keep")(batch)),
    "pairs": lambda batch: bags.pair_bag(RootedPairs(1)(batch)),
    "whole": bags.whole_bag,
    "node deleted": bags.node_deleted_bag,
    "edge deleted": bags.edge_deleted_bag,
    "copies": lambda batch: bags.copies_bag(batch, 3),
    "graphs": bags.graphs_bag,
}
TWINS = {
    "whole": naive_bags.whole_subgraphs,
    "node deleted": naive_bags.node_deleted_subgraphs,
    "edge deleted": naive_bags.edge_deleted_subgraphs,
    "copies": lambda graph: naive_bags.copied_subgraphs(graph, 3),
}
FEW = st.lists(messy_graphs(6), min_size=1, max_size=3)


def total(rows, how, width=2):
    """Sum or mean of a list of rows."""
    if not rows:
        return torch.zeros(width, dtype=torch.float64)
    stack = torch.stack(rows)
    return stack.sum(0) if how == "sum" else stack.mean(0)


@pytest.mark.parametrize("name", TWINS)
@given(FEW)
@settings(max_examples=50)
def test_bags_of_whole_graphs_equal_the_slow_twin(name, members):
    bag = MAKERS[name](as_batch(members))
    assert naive_bags.decoded(bag) == TWINS[name](graphs.disjoint_union(members))


@pytest.mark.parametrize("shape", [name for name in odd_shapes() if name != "hub"])
@pytest.mark.parametrize("name", TWINS)
def test_odd_shapes(name, shape):
    members = [odd_shapes()[shape], graphs.path(3)]
    members = [piece for member in members for piece in member.split()]  # a member may be several graphs side by side
    bag = MAKERS[name](as_batch(members))
    assert naive_bags.decoded(bag) == TWINS[name](graphs.disjoint_union(members))


@given(FEW)
@settings(max_examples=25)
def test_graphs_as_they_are(members):
    batch = as_batch(members)
    bag = bags.graphs_bag(batch)
    assert torch.equal(bag.edge_index, batch.edge_index)
    found = [{**one, "edges": sorted(one["edges"])} for one in naive_bags.decoded(bag)]
    assert found == naive_bags.copied_subgraphs(graphs.disjoint_union(members), 1)


def test_one_graph_needs_no_batch():
    path = Data(edge_index=torch.tensor([[0, 1, 1, 2], [1, 0, 2, 1]]), num_nodes=3)
    for name, maker in MAKERS.items():
        alone, batched = maker(path), maker(Batch.from_data_list([path]))
        assert naive_bags.decoded(alone) == naive_bags.decoded(batched), name
        assert alone.num_graphs == 1


@pytest.mark.parametrize("how", ["sum", "mean"])
@pytest.mark.parametrize("name", MAKERS)
@given(FEW)
@settings(max_examples=25)
def test_moves_equal_loops(name, how, members):
    batch = as_batch(members)
    bag = MAKERS[name](batch)
    subgraphs = naive_bags.decoded(bag)
    copies = [(s, node) for s, subgraph in enumerate(subgraphs) for node in subgraph["nodes"]]
    x = torch.randn(len(copies), 2, dtype=torch.float64)
    h = torch.randn(batch.num_nodes, 2, dtype=torch.float64)
    z = torch.randn(len(subgraphs), 2, dtype=torch.float64)
    graph_of = [int(batch.batch[subgraph["nodes"][0]]) for subgraph in subgraphs]
    at = {copy: x[i] for i, copy in enumerate(copies)}

    expected = {
        "lift": [h[node] for _, node in copies],
        "spread": [z[s] for s, _ in copies],
        "to_subgraphs": [total([at[s, v] for v in subgraph["nodes"]], how) for s, subgraph in enumerate(subgraphs)],
        "to_nodes": [total([at[copy] for copy in copies if copy[1] == v], how) for v in range(batch.num_nodes)],
        "to_graphs": [total([z[s] for s, g in enumerate(graph_of) if g == k], how) for k in range(len(members))],
    }
    found = {
        "lift": bag.lift(h),
        "spread": bag.spread(z),
        "to_subgraphs": bag.to_subgraphs(x, how),
        "to_nodes": bag.to_nodes(x, how),
        "to_graphs": bag.to_graphs(z, how),
    }
    if bag.root is not None:
        roots = [subgraph["root"] for subgraph in subgraphs]
        expected["at_centres"] = [at[s, root] for s, root in enumerate(roots)]
        found["at_centres"] = bag.at_centres(x)
        expected["add_at_centres"] = [at[s, v] + z[s] if v == roots[s] else at[s, v] for s, v in copies]
        found["add_at_centres"] = bag.add_at_centres(x, z)
        nodes = range(batch.num_nodes)
        expected["to_roots"] = [total([z[s] for s, root in enumerate(roots) if root == v], how) for v in nodes]
        found["to_roots"] = bag.to_roots(z, how)
        mates = [subgraph.get("mate") for subgraph in subgraphs]
        marks = [1 if v == roots[s] else 2 if v == mates[s] else 0 for s, v in copies]
        assert bag.identity.tolist() == marks
    if bag.mate is not None:
        expected["at_mates"] = [at[s, mate] for s, mate in enumerate(mates)]
        found["at_mates"] = bag.at_mates(x)
    elif bag.root is not None:
        expected["swap"] = [at[v, s] for s, v in copies]
        found["swap"] = bag.swap(x)
    assert expected.keys() == found.keys()
    for move, rows in expected.items():
        torch.testing.assert_close(found[move], torch.stack(rows), msg=move)


def test_gradients_pass_every_move():
    bag = MAKERS["pairs"](as_batch([graphs.path(4), graphs.empty(1)]))
    h = torch.randn(5, 2, dtype=torch.float64, requires_grad=True)

    def network(h):
        x = bag.lift(h)
        z = bag.to_subgraphs(x, "mean") + bag.at_centres(x) * bag.at_mates(x)
        return bag.to_graphs(z) + bag.to_nodes(bag.spread(z)).sum(0) + bag.to_roots(z, "mean").prod(0)

    assert torch.autograd.gradcheck(network, (h,))


def test_roots_of_other_nodes_and_of_the_subgraph():
    bag = MAKERS["nodes, outside kept"](as_batch([graphs.cycle(4), graphs.path(3)]))
    own = bag.at_centres(torch.arange(bag.num_copies).unsqueeze(1))
    where = {copy: i for i, copy in enumerate(zip(bag.subgraph.tolist(), bag.node.tolist(), strict=True))}
    assert bag.spread(own).flatten().tolist() == [where[k, k] for k, _ in where]
    assert bag.lift(own).flatten().tolist() == [where[v, v] for _, v in where]


def test_what_a_bag_does_not_have_is_named():
    batch = as_batch([graphs.cycle(4)])
    x = torch.ones(16, 1)
    with pytest.raises(ValueError, match="centre: the subgraphs of this bag have none"):
        bags.edge_deleted_bag(batch).at_centres(x)
    with pytest.raises(ValueError, match="mate: the subgraphs of this bag have none"):
        bags.whole_bag(batch).at_mates(x)
    with pytest.raises(ValueError, match="swap: this bag does not have one subgraph for each node"):
        MAKERS["pairs"](batch).swap(x)
    with pytest.raises(ValueError, match="how: 'max'; expected one of sum, mean"):
        bags.whole_bag(batch).to_nodes(x, "max")
    with pytest.raises(ValueError, match="count: 0"):
        bags.copies_bag(batch, 0)


def test_arrays_that_do_not_fit_their_graph_are_refused():
    data = RootedNodes(1)(as_batch([graphs.cycle(4)]))
    for name in ("bag_len", "bag_member", "bag_source"):
        torn = data.clone()
        torn[name] = torn[name][:-1]
        with pytest.raises(ValueError, match="let RootedNodes or RootedPairs be the last transform"):
            bags.node_bag(torn)


def test_whole_bags_are_guarded_too():
    batch = as_batch([graphs.complete(4), graphs.complete(6)])  # 6 * 30 edges in the larger one
    for name in ("whole_bag", "node_deleted_bag"):
        with pytest.raises(bags.BagTooLargeError, match="52 copies of nodes and 228 edges"):
            getattr(bags, name)(batch, max_rows=227)
        assert getattr(bags, name)(batch, max_rows=228).num_subgraphs == 10
    assert bags.rows_that_fit(256, 1 << 20) == 1 << 18
    assert bags.rows_that_fit(8, 100) == 100


def test_a_batch_is_split_into_pieces_that_fit():
    members = [graphs.complete(n) for n in (4, 6, 3, 3, 5)]
    batch = as_batch(members)
    with pytest.raises(bags.BagTooLargeError) as caught:
        RootedNodes(1, max_rows=200)(batch)
    pieces = list(bags.split(batch, caught.value))
    assert [piece.num_graphs for piece in pieces] == [1, 2, 2]  # 48, 180 + 18, 18 + 100
    again = [member.num_nodes for piece in pieces for member in piece.to_data_list()]
    assert again == [4, 6, 3, 3, 5]
    assert [RootedNodes(1, max_rows=200)(piece).bag_source.size(0) for piece in pieces] == [48, 198, 118]
    with pytest.raises(bags.BagTooLargeError) as caught:
        RootedNodes(1, max_rows=179)(batch)
    with pytest.raises(
        bags.BagTooLargeError, match="max_rows: graph 1 of 5 alone needs 180 rows; expected at most 179"
    ):
        list(bags.split(batch, caught.value))


PAIRS = {
    "C6, 2 C3": (graphs.cycle(6), graphs.disjoint_union([graphs.cycle(3), graphs.cycle(3)])),
    "rook, Shrikhande": (graphs.rook(4), graphs.shrikhande()),
}


def summary(bag, seed):
    """The least network on a bag: random weights, marks, six rounds of sums inside, sums over everything."""
    generator = torch.Generator().manual_seed(seed)
    draw = lambda *shape: torch.randn(*shape, dtype=torch.float64, generator=generator)  # noqa: E731
    mark, own, other, last = draw(3, 8), draw(8, 8), draw(8, 8), draw(8, 8)
    x = mark[bag.identity if bag.root is not None else torch.zeros_like(bag.node)]
    source, target = bag.edge_index
    for _ in range(6):
        x = torch.tanh(x @ own + torch.zeros_like(x).index_add(0, target, x[source] @ other) / 4)
    return bag.to_graphs(torch.tanh(bag.to_subgraphs(x) @ last / 4))


@pytest.mark.parametrize(
    ("name", "pair", "apart"),
    [
        ("copies", "C6, 2 C3", False),
        ("nodes", "C6, 2 C3", True),
        ("whole", "C6, 2 C3", True),
        ("node deleted", "C6, 2 C3", True),
        ("nodes", "rook, Shrikhande", False),
        ("whole", "rook, Shrikhande", False),
        ("node deleted", "rook, Shrikhande", False),
        ("edge deleted", "rook, Shrikhande", True),
        ("pairs", "rook, Shrikhande", True),
    ],
)
def test_bags_tell_apart_what_theory_says(name, pair, apart):
    first, second = PAIRS[pair]
    second = graphs.from_edge_index(second.edge_index, second.num_nodes)  # one graph, though not connected
    gaps = []
    for seed in range(3):
        one, other = summary(MAKERS[name](as_batch([first, second])), seed)
        gaps.append(float((one - other).abs().max()))
    assert max(gaps) > 1e-6 if apart else max(gaps) < 1e-9, gaps
