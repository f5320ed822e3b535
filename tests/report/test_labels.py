import itertools

from hypothesis import given
from hypothesis import strategies as st

from escgnn.report.labels import LINE, RADIUS, Box, apart, near

CHART = Box(0, 0, 420, 300)
heights = st.lists(st.floats(0, 300), min_size=1, max_size=12)
points = st.lists(st.tuples(st.integers(0, 6), st.integers(0, 5)), min_size=1, max_size=9, unique=True)


@given(heights)
def test_heights_are_apart_and_in_order(given_heights):
    found = apart(given_heights, bottom=300)
    pairs = sorted(zip(given_heights, found, strict=True))
    for (_, above), (_, below) in itertools.pairwise(pairs):
        assert below - above > LINE - 1e-6
    assert max(found) <= 303
    if len(found) == 1:
        assert found == given_heights


@given(points)
def test_labels_cover_nothing_where_there_is_room(cells):
    places = [(40.0 + 55 * x, 30.0 + 50 * y) for x, y in cells]
    boxes = near(places, ["GNN"] * len(places), CHART)
    for box in boxes:
        assert box.outside(CHART) == 0
        for x, y in places:
            assert box.overlap(Box(x - RADIUS, y - RADIUS, x + RADIUS, y + RADIUS)) == 0
    for one, other in itertools.combinations(boxes, 2):
        assert one.overlap(other) == 0


def test_points_in_one_place_have_labels_in_several():
    boxes = near([(200.0, 150.0)] * 5, ["GIN", "NGNN", "I²-GNN", "PPGN", "ESC-GNN"], CHART)
    assert all(one.overlap(other) == 0 for one, other in itertools.combinations(boxes, 2))


def test_a_label_by_itself_is_to_the_right_and_the_first_choose_first():
    (alone,) = near([(200.0, 150.0)], ["GIN"], CHART)
    assert alone.left > 200 and alone.top < 150 < alone.bottom
    (before,) = near([(410.0, 150.0)], ["ESC-GNN"], CHART)
    assert before.right < 410, "there is no room to the right"
    together = near([(200.0, 150.0), (200.0, 150.0)], ["GIN", "GIN"], CHART, first=[1])
    assert together[1] == alone and together[0] != alone
