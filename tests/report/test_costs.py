"""Error against cost: which rows are shown where, and which of them no other beats."""

from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from escgnn import records
from escgnn.records import Record, Table
from escgnn.report import Report, build, write
from escgnn.report.content import Content
from escgnn.report.costs import Point, cost_charts, front, picture, points
from tests.report.examples import experiment

NAMES = ("ESC-GNN", "MPNN", "NGNN", "PPGN")
ERRORS = Table("tab:errors", "Errors", "MAE", ("a", "b"), NAMES)
SCORES = Table("tab:scores", "Scores", "accuracy, %", ("a",), NAMES, "higher")
COSTS = st.lists(st.tuples(st.integers(1, 5), st.integers(1, 5)), min_size=1, max_size=9)


def run(row, label, values, *, cpu=60.0, epochs=10, **more):
    return Record("x", row, "hour", values={label: values}, epochs=epochs, cpu_seconds=cpu, **more)


def content(*runs, tables=(ERRORS, SCORES)):
    return Report((experiment("x", *tables),), runs, "now")


def all_rows(label, values):
    return [run(name, label, values, cpu=60.0 * (i + 1)) for i, name in enumerate(NAMES)]


def test_a_point_is_seconds_an_epoch_and_the_geometric_mean():
    runs = [
        run("MPNN", "tab:errors", {"a": 0.1, "b": 0.4}, cpu=30.0),
        run("MPNN", "tab:errors", {"a": 0.1, "b": 0.4}, cpu=50.0, seed=1),
        run("NGNN", "tab:errors", {"a": 0.1}),
        run("PPGN", "tab:errors", {"a": 0.1, "b": 0.1}, cpu=0.0),
        Record("x", "ESC-GNN", "smoke", values={"tab:errors": {"a": 1.0, "b": 1.0}}, epochs=1, cpu_seconds=1.0),
    ]
    (point,) = points(content(*runs).sections[0])
    assert (point.row, point.cost, point.value) == ("MPNN", 4.0, pytest.approx(0.2))


def test_columns_of_different_runs_add_up():
    runs = [run("MPNN", "tab:errors", {name: 0.5}, variant=name, cpu=20.0, epochs=5) for name in ("a", "b")]
    assert points(content(*runs).sections[0]) == [Point("MPNN", 4.0, pytest.approx(0.5))]


@given(COSTS, st.sampled_from(["lower", "higher"]))
def test_the_front_is_what_no_other_beats(pairs, better):
    found = [Point(str(i), cost, value) for i, (cost, value) in enumerate(pairs)]
    kept = front(found, better)

    def beats(one, other):
        ahead = one.value <= other.value if better == "lower" else one.value >= other.value
        return one.cost <= other.cost and ahead and (one.cost, one.value) != (other.cost, other.value)

    expected = {(p.cost, p.value) for p in found if not any(beats(other, p) for other in found)}
    assert [(p.cost, p.value) for p in kept] == sorted(expected)


def test_a_chart_for_every_table_with_costs():
    few = [run("MPNN", "tab:scores", {"a": 50.0})]
    assert cost_charts(content(*few)) == [] and picture(content(*few)) is None
    both = content(*all_rows("tab:errors", {"a": 0.5, "b": 0.1}), *all_rows("tab:scores", {"a": 60.0}))
    assert len(cost_charts(both)) == 2
    (drawn,) = cost_charts(content(*all_rows("tab:errors", {"a": 0.5, "b": 0.1})))
    labels = [text.text for text in ElementTree.fromstring(drawn).iter("text") if "label" in text.get("class", "")]
    assert sorted(labels) == sorted(NAMES)
    assert drawn.count("<circle") == 1, "ours is marked"
    assert "Error against cost" in both.html() and both.html().index("Error against cost") < both.html().index("<nav")


def test_an_error_of_zero_has_a_place():
    shown = content(*all_rows("tab:errors", {"a": 0.0, "b": 0.0}))
    assert all(point.value == pytest.approx(1e-4) for point in points(shown.sections[0]))
    ElementTree.fromstring(cost_charts(shown)[0])


def test_the_picture_stands_alone_beside_the_page(tmp_path):
    for record in all_rows("tab:errors", {"a": 0.5, "b": 0.1}):
        records.write(record, tmp_path / "results")
    page = write(tmp_path / "results", tmp_path / "out.md", [experiment("x", ERRORS, SCORES)])
    assert "](out.svg)" in page.read_text().split("## ")[0], "before all tables"
    drawn = ElementTree.parse(tmp_path / "out.svg").getroot()
    assert drawn.tag == "{http://www.w3.org/2000/svg}svg"
    assert "--c0" in (tmp_path / "out.svg").read_text(), "its style is in it"
    assert isinstance(build(tmp_path / "results", [experiment("x", ERRORS)]), Content)
