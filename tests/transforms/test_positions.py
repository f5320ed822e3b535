"""Positional encodings of a whole store, against numpy."""

import numpy as np
import pytest
import torch

from escgnn import graphs
from escgnn.store import GraphStore
from escgnn.transforms import Positions

MEMBERS = [graphs.path(4), graphs.empty(1), graphs.star(3), graphs.path(2), graphs.empty(3)]


def adjacency(view):
    matrix = np.zeros((view.num_nodes, view.num_nodes))
    matrix[tuple(view.edge_index)] = 1
    return matrix


def rows_of(positional, members=MEMBERS):
    once = Positions(positional)
    store = once(GraphStore.from_view(graphs.disjoint_union(members)))
    (name,) = once.adds
    return torch.split(store.column(name), [view.num_nodes for view in members])


def test_walks_that_return():
    for view, rows in zip(MEMBERS, rows_of({"kind": "random_walk", "size": 3}), strict=True):
        matrix = adjacency(view)
        step = matrix / np.maximum(matrix.sum(0), 1)
        expected = [np.diag(np.linalg.matrix_power(step, k)) for k in (1, 2, 3)]
        np.testing.assert_allclose(rows, np.stack(expected, 1), atol=1e-6)


def test_eigenvectors():
    """Those that a graph does not have are zero; the largest entry of the others is positive, whatever was drawn."""
    torch.manual_seed(1)
    found = rows_of({"kind": "laplacian", "size": 2})
    torch.manual_seed(2)
    for rows, again in zip(found, rows_of({"kind": "laplacian", "size": 2}), strict=True):
        assert torch.equal(rows, again)
    matrix = adjacency(MEMBERS[0])
    degree = matrix.sum(0)
    laplacian = np.eye(4) - matrix / np.sqrt(np.outer(degree, degree))
    _, vectors = np.linalg.eigh(laplacian)
    np.testing.assert_allclose(found[0].abs(), np.abs(vectors[:, 1:3]), atol=1e-5)
    for column in found[0].T:
        assert column[column.abs().argmax()] > 0
    assert not found[1].any() and found[3][:, 1].eq(0).all()


def test_nothing_asked_nothing_done():
    store = GraphStore.from_view(graphs.path(3))
    assert Positions()(store) is store and Positions().adds == frozenset()
    empty = store[[]]
    assert Positions({"kind": "laplacian"})(empty) is empty
    assert Positions({"kind": "laplacian"}).positional == {"kind": "laplacian", "size": 8}
    with pytest.raises(ValueError, match="positional: 'sinus'; expected one of laplacian, random_walk"):
        Positions({"kind": "sinus"})
    assert repr(Positions({"kind": "laplacian"})) == "Positions({'kind': 'laplacian', 'size': 8})"
