"""Where nodes are drawn: every one at a place of its own, and the same place each time."""

import numpy as np
import pytest

from escgnn import graphs
from escgnn.graphs import layout
from tests.strategies import odd_shapes

SHAPES = {**odd_shapes(), "rook": graphs.rook(4), "large": graphs.erdos_renyi(150, 0.03, 1), "path": graphs.path(7)}


@pytest.mark.parametrize("name", SHAPES)
def test_points_are_apart_within_the_picture_and_always_the_same(name):
    graph = SHAPES[name]
    points = layout(graph.to_networkx())
    assert points.shape == (graph.num_nodes, 2)
    assert ((points >= -1e-9) & (points <= 1 + 1e-9)).all()
    np.testing.assert_array_equal(points, layout(graph.to_networkx()))
    if graph.num_nodes > 1:
        apart = np.linalg.norm(points[:, None] - points[None], axis=-1) + np.eye(len(points))
        assert apart.min() > 1e-3
        assert max(np.ptp(points[:, 0]), np.ptp(points[:, 1])) == pytest.approx(1)


def test_components_have_fields_of_their_own():
    points = layout(graphs.disjoint_union([graphs.cycle(8), graphs.cycle(5), graphs.path(3)]).to_networkx())
    boxes = [(own.min(0), own.max(0)) for own in (points[:8], points[8:13], points[13:])]
    for i, (low, high) in enumerate(boxes):
        for other_low, other_high in boxes[:i]:
            assert (high < other_low).any() or (other_high < low).any()


def test_a_ring_is_drawn_as_one():
    points = layout(graphs.cycle(12).to_networkx())
    around = np.linalg.norm(points - points.mean(0), axis=1)
    assert np.ptp(around) < 0.05
