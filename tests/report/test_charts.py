import math
import re
from itertools import pairwise
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from escgnn.report.charts import Axis, Series, chart, hop_charts, hops, learning_curves, scatters
from escgnn.report.content import Content
from tests.report.examples import EXPERIMENTS, full, run

ANY = st.floats(allow_nan=True, allow_infinity=True)
TAME = st.floats(-1e6, 1e6)


@given(st.lists(TAME, min_size=1), st.booleans())
def test_an_axis_holds_its_values(values, whole):
    axis = Axis.of(values, whole=whole)
    assert all(0 <= axis.place(value) <= 1 for value in values)
    assert len(axis.ticks) <= 12
    assert all(axis.low <= tick <= axis.high for tick in axis.ticks)


@given(st.lists(st.floats(1e-9, 1e9), min_size=1))
def test_a_log_axis_holds_its_values_and_has_ticks(values):
    axis = Axis.of(values, log=True)
    assert all(0 <= axis.place(value) <= 1 for value in values)
    assert 2 <= len(axis.ticks) <= 6
    assert all(axis.low <= tick <= axis.high for tick in axis.ticks)


@given(
    st.lists(st.tuples(TAME | ANY.filter(lambda v: not math.isfinite(v)), TAME)),
    st.booleans(),
    st.booleans(),
    st.sampled_from(["line", "marks", "dots", "rings", "rule"]),
)
def test_every_chart_is_well_formed(points, log, square, kind):
    drawn = chart(
        "a < b", [Series(points, kind, "it's", 9)], x_label="x", y_label="y", log=log, square=square and not log
    )
    svg = ElementTree.fromstring(drawn).find("svg")
    assert svg.find("title").text == "a < b"
    assert svg.get("role") == "img"
    assert not re.search(r"\b(nan|inf)\b", drawn)


def test_labels_do_not_overlap():
    lines = [Series([(0, 1.0), (1, 1.0 + i / 1000)], "line", f"line {i}", i) for i in range(8)]
    drawn = ElementTree.fromstring(chart("many", lines, log=True))
    places = sorted(float(text.get("y")) for text in drawn.iter("text") if "label" in text.get("class"))
    assert len(places) == 8
    assert min(b - a for a, b in pairwise(places)) > 10


@pytest.fixture(scope="module")
def content():
    return Content(EXPERIMENTS, tuple(full()), "now")


def test_learning_curves_have_a_line_for_each_variant_and_seed(content):
    (drawn,) = learning_curves("counting", content.records)
    texts = [text.text for text in ElementTree.fromstring(drawn).iter("text") if "label" in text.get("class")]
    assert texts == ["h=1", "h=2", "h=3"]
    assert drawn.count('class="line') == 6


def test_rows_without_variants_share_a_chart():
    curve = tuple({"epoch": e, "loss": 1.0 / (e + 1), "validation": None} for e in range(4))
    records = [run(0.1, row=row, curve=curve) for row in ("ESC-GNN", "MPNN")]
    (drawn,) = learning_curves("counting", records, ["MPNN"])
    assert "loss" in drawn
    assert drawn.index(">MPNN<") and drawn.index(">ESC-GNN<")


def test_curves_of_the_most_telling_budget_only():
    curve = tuple({"epoch": e, "loss": 1.0, "validation": 0.5} for e in range(4))
    records = [run(0.1, budget=budget, curve=curve) for budget in ("smoke", "paper")]
    (drawn,) = learning_curves("counting", records)
    assert "paper" in drawn
    assert "smoke" not in drawn


def test_scatters_are_of_the_chosen_runs(content):
    found = scatters(content.sections[0])
    assert list(found) == ["ESC-GNN"]
    assert [re.search("<figcaption>(.*?)<", drawn)[1] for drawn in found["ESC-GNN"]] == ["3-cycle", "4-cycle"]
    assert found["ESC-GNN"][0].count("h0") == 100  # both seeds' 50 points, none of the other variants


def test_hops_are_marked_where_validation_chose(content):
    three, four = (ElementTree.fromstring(drawn) for drawn in hop_charts(content.sections[0]))

    def ring(drawn):
        (circle,) = drawn.iter("circle")
        return float(circle.get("cx"))

    assert ring(three) < ring(four)  # one hop is best for triangles here, three for 4-cycles
    assert not hop_charts(content.sections[1])


@pytest.mark.parametrize("config", [{}, {"encoding": None}, {"encoding": {"hops": True}}, {"encoding": {"hops": "2"}}])
def test_runs_without_hops(config):
    assert hops(run(0.1, config=config)) is None


def test_both_names_of_the_encoding_are_read():
    for name in ("encoding", "transform"):
        assert hops(run(0.1, config={name: {"hops": 3}})) == 3
