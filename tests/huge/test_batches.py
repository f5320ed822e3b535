"""Batches of sampled neighbourhoods with rows of the whole graph, and networks that learn on them."""

import numpy as np
import pytest
import torch
from numpy.testing import assert_array_equal

from escgnn import graphs
from escgnn.encoding import RootedEncoding
from escgnn.graphs import LeanGraph
from escgnn.huge import NeighbourLoader, PairLoader, PlantedGroups, encode_graph, open_graph, write_graph
from escgnn.layers import StructuralEmbedding
from escgnn.models import ESCGNN

ENCODING = RootedEncoding(hops=1, parts=("joint", "edge"), nodes=True)


@pytest.fixture(scope="module")
def planted():
    return PlantedGroups(40, seed=1)


@pytest.fixture(scope="module")
def graph(planted, tmp_path_factory):
    folder = tmp_path_factory.mktemp("planted")
    edges = np.concatenate([*planted.edges()])
    write_graph(graphs.from_edges(edges[edges[:, 0] != edges[:, 1]], planted.num_nodes), folder / "g.escg")
    return open_graph(folder / "g.escg")


@pytest.fixture(scope="module")
def rows(graph, tmp_path_factory):
    return encode_graph(graph, ENCODING, tmp_path_factory.mktemp("rows") / "g.escr")


def dense(data, prefix, bins):
    length, b, count = (data[f"{prefix}_{part}"].numpy() for part in ("len", "bin", "count"))
    matrix = np.zeros((length.size, bins), np.int32)
    matrix[np.repeat(np.arange(length.size), length), b] = count
    return matrix


def test_planted_classes_show_in_triangles_only(planted, graph):
    inside = graph.degrees - 2 * planted.noise
    by_class = [inside[planted.labels == label].mean() for label in (0, 1)]
    assert by_class == pytest.approx([4, 4], abs=0.2)
    again = PlantedGroups(40, seed=1)
    assert_array_equal(np.concatenate([*again.edges()]), np.concatenate([*planted.edges()]))
    assert_array_equal(again.labels, planted.labels)
    triangles = np.zeros(planted.num_nodes)
    clean = PlantedGroups(40, noise=0, seed=1)
    ring = graphs.from_edges(np.concatenate([*clean.edges()]), clean.num_nodes)
    matrix = np.zeros((clean.num_nodes, clean.num_nodes), np.int64)
    matrix[tuple(ring.edge_index)] = 1
    triangles = np.diag(matrix @ matrix @ matrix) // 2
    assert_array_equal(triangles, np.where(clean.labels == 0, 3, 0))
    assert set(ring.degrees.tolist()) == {4}
    with pytest.raises(ValueError, match="groups: 0"):
        PlantedGroups(0)


def test_batches_have_rows_of_the_whole_graph(graph, rows, planted):
    x = np.random.default_rng(0).normal(size=(graph.num_nodes, 3)).astype(np.float32)
    nodes = np.arange(0, graph.num_nodes, 2)
    loader = NeighbourLoader(
        graph, nodes, [3, 2], rows=rows, x=x, y=planted.labels, batch_size=50, shuffle=True, seed=3
    )
    whole = ENCODING.node_rows(graph).dense()
    seen = []
    for batch in loader:
        mine = batch.n_id[: batch.batch_size].numpy()
        seen.append(mine)
        assert_array_equal(batch.y.numpy(), planted.labels[mine])
        assert_array_equal(batch.x.numpy(), x[batch.n_id.numpy()])
        ends = batch.n_id[batch.edge_index].numpy().T
        assert_array_equal(graph.edge_ids(ends), batch.e_id.numpy())
        expected = ENCODING.pairs(graph, ends).dense()[:, : ENCODING.num_bins]
        assert_array_equal(dense(batch, "esc", ENCODING.num_bins), expected)
        assert_array_equal(dense(batch, "esc_node", ENCODING.num_bins), whole[batch.n_id.numpy()])
        assert batch.num_nodes == batch.n_id.numel()
    assert len(seen) == len(loader) == 5
    assert_array_equal(np.sort(np.concatenate(seen)), nodes)


def test_epochs_differ_and_come_again(graph):
    loader = NeighbourLoader(graph, np.arange(100), [2], batch_size=30, shuffle=True, seed=1)
    first = [batch.n_id.tolist() for batch in loader]
    second = [batch.n_id.tolist() for batch in loader]
    assert first != second
    loader.set_epoch(0)
    assert [batch.n_id.tolist() for batch in loader] == first
    assert [batch.n_id.tolist() for batch in loader] == second


def test_in_order_the_same_nodes_have_other_neighbours_in_every_epoch(graph):
    loader = NeighbourLoader(graph, np.arange(100), [2], batch_size=100)
    one, two = next(iter(loader)), next(iter(loader))
    assert one.n_id[:100].tolist() == two.n_id[:100].tolist() == [*range(100)]
    assert one.e_id.tolist() != two.e_id.tolist()


def test_all_neighbours_give_what_the_whole_graph_gives(graph, rows):
    """With every neighbour in as many rounds as there are layers, the nodes of a batch have the outputs of the whole graph."""
    torch.manual_seed(0)
    network = ESCGNN(2, num_bins=rows.num_bins, level="node", layers=2, hidden=8, node_tuples=True).eval()
    with torch.no_grad():
        (everything,) = NeighbourLoader(graph, np.arange(graph.num_nodes), [-1], rows=rows, batch_size=graph.num_nodes)
        expected = network(everything)
        for batch in NeighbourLoader(graph, np.arange(0, 99), [-1, -1], rows=rows, batch_size=33):
            found = network(batch)[: batch.batch_size]
            torch.testing.assert_close(found, expected[batch.n_id[: batch.batch_size]], rtol=1e-4, atol=1e-4)


def accuracy(graph, rows, planted, epochs=6):
    torch.manual_seed(0)
    order = np.random.default_rng(0).permutation(graph.num_nodes)
    options = {"rows": rows, "y": planted.labels, "batch_size": 60}
    train = NeighbourLoader(graph, order[:300], [5, 5], shuffle=True, **options)
    network = ESCGNN(2, num_bins=rows and rows.num_bins, level="node", layers=2, hidden=16)
    network.fit_structure(train)
    optimiser = torch.optim.Adam(network.parameters(), lr=1e-2)
    for _ in range(epochs):
        for batch in train:
            optimiser.zero_grad()
            torch.nn.functional.cross_entropy(network(batch)[: batch.batch_size], batch.y).backward()
            optimiser.step()
    network.eval()
    with torch.no_grad():
        right = [
            (network(batch)[: batch.batch_size].argmax(1) == batch.y).float()
            for batch in NeighbourLoader(graph, order[300:], [5, 5], **options)
        ]
    return torch.cat(right).mean().item()


def test_a_network_learns_classes_from_the_rows_alone(graph, rows, planted):
    assert accuracy(graph, rows, planted) > 0.9
    assert accuracy(graph, None, planted) < 0.7


def test_batches_of_pairs(graph, rows):
    rng = np.random.default_rng(0)
    pairs = np.concatenate([graph.edges[:40], rng.integers(graph.num_nodes, size=(41, 2))])
    labels = torch.arange(81) < 40
    loader = PairLoader(
        graph, pairs, [2], labels=labels, pair_encoding=ENCODING, rows=rows, batch_size=20, shuffle=True, seed=2
    )
    expected = ENCODING.pairs(graph, pairs).dense()
    number = {tuple(pair): row for row, pair in enumerate(pairs.tolist())}
    seen = []
    for batch in loader:
        ends = batch.n_id[batch.edge_label_index].T.tolist()
        places = [number[tuple(pair)] for pair in ends]
        seen += places
        assert_array_equal(batch.edge_label, labels[places])
        assert_array_equal(dense(batch, "pair", len(ENCODING.pair_bins)), expected[places])
        assert StructuralEmbedding(len(ENCODING.pair_bins), 4, prefix="pair")(batch).shape == (len(places), 4)
        assert batch.esc_len.numel() == batch.e_id.numel() == batch.edge_index.shape[1]
    assert sorted(seen) == [*range(81)]
    (alone,) = PairLoader(graph, pairs[:3])
    assert alone.edge_index.shape == (2, 0) and "esc_len" not in alone and "edge_label" not in alone


def test_bad_arguments_are_named(graph, rows):
    other = LeanGraph(graphs.cycle(graph.num_nodes).csr)
    with pytest.raises(ValueError, match=r"rows: .* was made of another graph"):
        NeighbourLoader(other, [0], [1], rows=rows)
    with pytest.raises(ValueError, match="batch_size: 0"):
        NeighbourLoader(graph, [0], [1], batch_size=0)
    with pytest.raises(ValueError, match="x: 3 rows; expected one for each of 480 nodes"):
        NeighbourLoader(graph, [0], [1], x=np.zeros((3, 1)))
    with pytest.raises(ValueError, match="y: 3 rows; expected one for each of 480 nodes"):
        NeighbourLoader(graph, [0], [1], y=np.zeros(3))
    with pytest.raises(ValueError, match="labels: 3; expected one for each of 1 pairs"):
        PairLoader(graph, [(0, 1)], labels=[0, 1, 1])
    with pytest.raises(ValueError, match=r"pairs: \(0, 480\), but node ids run from 0 to 479"):
        PairLoader(graph, [(0, 480)])
