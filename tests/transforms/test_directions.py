"""First eigenvectors, against their definition."""

import networkx
import numpy as np
import pytest
import torch
from hypothesis import given

from escgnn import graphs
from escgnn.store import GraphStore
from escgnn.transforms import Directions
from escgnn.transforms.directions import directions
from tests.strategies import messy_graphs, odd_shapes


def laplacian(view):
    matrix = np.zeros((view.num_nodes, view.num_nodes))
    matrix[tuple(view.edges.T)] = -1
    matrix += matrix.T
    return matrix - np.diag(matrix.sum(0))


@given(messy_graphs())
def test_rows_make_the_projector_of_each_component(view):
    rows = directions(view, 9)
    for component in networkx.connected_components(view.to_networkx()):
        nodes = sorted(component)
        values, vectors = np.linalg.eigh(laplacian(view)[np.ix_(nodes, nodes)])
        is_first = np.abs(values - values[1:2].sum()) < 1e-7
        chosen = vectors[:, is_first & (values > 1e-9)]
        np.testing.assert_allclose(rows[nodes] @ rows[nodes].T, chosen @ chosen.T, atol=1e-8)


def test_sizes_of_the_space():
    for view, size in (
        (graphs.path(7), 1),
        (graphs.cycle(7), 2),
        (graphs.complete(5), 4),
        (graphs.petersen(), 0),  # five, which are too many
        (graphs.complete(6), 0),
        (graphs.empty(3), 0),
        (graphs.path(2), 1),
    ):
        rows = directions(view, 4)
        assert rows.any(0).sum() == size
        assert rows.shape == (view.num_nodes, 4)
    along = directions(graphs.path(7), 1)[:, 0]
    assert (np.diff(along * np.sign(along[-1])) > 0).all(), "from one end to the other"


def test_a_store_is_its_graphs_one_by_one():
    views = [view for view in odd_shapes().values() if view.num_graphs == 1]
    store = Directions()(GraphStore.from_view(graphs.disjoint_union(views)))
    assert store.column("direction").dtype == torch.float64
    rows = np.split(store.column("direction").numpy(), np.cumsum([view.num_nodes for view in views])[:-1])
    for view, some in zip(views, rows, strict=True):
        alone = directions(view, 4)
        together = np.linalg.matrix_power(np.eye(view.num_nodes) + (laplacian(view) < 0), 8) > 0
        np.testing.assert_allclose(together * (some @ some.T), together * (alone @ alone.T), atol=1e-12)


def test_widths_that_mean_nothing():
    for width in (0, 65, 2.0, True):
        with pytest.raises(ValueError, match=r"width: .*; expected an integer from 1 to 64"):
            Directions(width)
    assert repr(Directions(2)) == "Directions(width=2)"
