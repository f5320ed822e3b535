"""The encodings of GraphGPS against numpy, graph by graph."""

import numpy as np
import pytest
import torch
from torch_geometric.transforms import AddRandomWalkPE

from escgnn import graphs
from escgnn.store import GraphStore
from escgnn.transforms import WalkAndSpectrum, spectra

ODD = [graphs.empty(1), graphs.empty(3), graphs.path(2), graphs.star(9), graphs.disjoint_union([graphs.cycle(3)] * 2)]
MEMBERS = [graphs.erdos_renyi(n, p, seed=seed) for n in (4, 7, 7, 11) for p in (0.2, 0.6) for seed in range(25)] + ODD


def one_graph(view):
    return graphs.from_edge_index(view.edge_index, view.num_nodes)


def adjacency(view):
    matrix = np.zeros((view.num_nodes, view.num_nodes))
    matrix[tuple(view.edge_index)] = 1
    return matrix


def columns(members, walks=0, frequencies=0):
    store = GraphStore.from_view(graphs.disjoint_union([one_graph(view) for view in members]))
    made = WalkAndSpectrum(walks, frequencies)
    found = made(store)
    sizes = [view.num_nodes for view in members]
    return {name: found.column(name).split(sizes) for name in made.adds}


@pytest.fixture(params=[1 << 22, 100], ids=["many at once", "few at once"])
def _at_once(request, monkeypatch):
    monkeypatch.setattr(spectra, "MOST_NUMBERS", request.param)


@pytest.mark.usefixtures("_at_once")
def test_chances_are_diagonals_of_powers():
    for view, rows in zip(MEMBERS, columns(MEMBERS, walks=6)["walk_returns"], strict=True):
        matrix = adjacency(view)
        step = matrix / np.maximum(matrix.sum(1, keepdims=True), 1)
        expected = [np.diag(np.linalg.matrix_power(step, k)) for k in range(1, 7)]
        np.testing.assert_allclose(rows, np.stack(expected, 1), atol=1e-7)


@pytest.mark.usefixtures("_at_once")
def test_eigenvectors_are_such_and_ascend():
    found = columns(MEMBERS, frequencies=5)
    for view, vectors, values in zip(MEMBERS, found["laplacian_vectors"], found["laplacian_values"], strict=True):
        matrix = adjacency(view)
        laplacian = np.diag(matrix.sum(1)) - matrix
        known = min(5, view.num_nodes)
        expected = np.linalg.eigvalsh(laplacian)[:known]
        np.testing.assert_allclose(values[:, :known], np.tile(expected, (view.num_nodes, 1)), atol=1e-5)
        assert values[:, :known].min() >= 0
        assert (values[:, known:] == -1).all() and (vectors[:, known:] == 0).all()
        some = vectors[:, :known].double().numpy()
        np.testing.assert_allclose(laplacian @ some, some * expected, atol=1e-5)
        np.testing.assert_allclose(some.T @ some, np.eye(known), atol=1e-6)
        assert (some.max(0) > -some.min(0) - 1e-6).all(), "largest entries are positive, but for ties"


def test_walks_do_not_depend_on_the_numbering():
    rng = np.random.default_rng(0)
    orders = [rng.permutation(view.num_nodes) for view in MEMBERS]
    renamed = [graphs.permute(one_graph(view), order) for view, order in zip(MEMBERS, orders, strict=True)]
    before = columns(MEMBERS, walks=20)["walk_returns"]
    after = columns(renamed, walks=20)["walk_returns"]
    for rows, again, order in zip(before, after, orders, strict=True):
        assert torch.equal(rows, again[torch.from_numpy(order)])


def test_walks_are_those_of_pyg():
    store = GraphStore.from_view(graphs.disjoint_union([one_graph(view) for view in MEMBERS[:40]]))
    found = WalkAndSpectrum(7)(store)
    for data in found:
        theirs = AddRandomWalkPE(7, attr_name="theirs")(data).theirs
        torch.testing.assert_close(data.walk_returns, theirs)


def test_loops_and_repeated_edges_do_not_count():
    plain = GraphStore([3], [4], [[0, 1, 1, 2], [1, 0, 2, 1]])
    more = GraphStore([3], [7], [[2, 1, 0, 1, 0, 0, 1], [1, 2, 1, 0, 1, 0, 0]])
    made = WalkAndSpectrum(3, 2)
    for name in made.adds:
        assert torch.equal(made(plain).column(name), made(more).column(name))


def test_nothing_asked_nothing_done():
    store = GraphStore.from_view(graphs.path(3))
    assert WalkAndSpectrum(0, 0)(store) is store and WalkAndSpectrum(0, 0).adds == frozenset()
    assert WalkAndSpectrum(2, 2)(store[[]]).column("laplacian_values").shape == (0, 2)
    assert repr(WalkAndSpectrum(3)) == "WalkAndSpectrum(walks=3, frequencies=0)"
    with pytest.raises(ValueError, match="frequencies: -1; expected an integer from 0 to"):
        WalkAndSpectrum(3, -1)
