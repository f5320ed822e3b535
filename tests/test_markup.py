"""What notebooks show of graphs, encodings, verdicts, results and runs: whole, escaped, and small."""

import xml.etree.ElementTree as ET

import pytest

from escgnn import graphs, theorems
from escgnn.encoding import RootedEncoding
from escgnn.explorer import compare, view
from escgnn.markup import Markup, drawing, join, table, tag
from escgnn.theorems.verdict import Finding, Theorem, Verdict, Witness
from escgnn.training import Ensemble, EnsembleResult, FoldResult, Result, load_run
from tests.strategies import odd_shapes
from tests.training.test_old_runs import RUNS


def parsed(html):
    """The elements of an HTML fragment that is XML, too, as ours is."""
    return ET.fromstring(html)


def words(html):
    return " ".join(parsed(html).itertext())


def result(**changes):
    return Result(**{"dataset": "<tiny>", "metric": "mae", "best_epoch": 3, "epochs": 5, "stopped": "epochs",
                     "validation": {"mae": 0.25, "rmse": None}, "test": {"mae": 0.5}, "seed": 1, **changes})  # fmt: skip


def test_texts_are_escaped():
    assert tag("p", "<b>", Markup("<i>x</i>")) == "<p>&lt;b&gt;<i>x</i></p>"
    assert join(["a", None, "&"]) == "a&amp;"
    assert words(table(["<a>"], [["<b>", "c & d"]], caption="<c>")) == "<c> <a> <b> c & d"


def test_a_drawing_has_every_node_and_edge():
    picture = parsed(drawing([[0, 0], [1, 0.5], [0.5, 1]], [(0, 1), (1, 2)], title="<three>", marked=(2,)))
    shapes = [child.tag for child in picture]
    assert shapes == ["title", "line", "line", "circle", "circle", "circle"]
    assert picture.get("aria-label") == "<three>"
    assert [child.get("fill") for child in picture][3:] == ["#9ecae1", "#9ecae1", "#e6550d"]
    assert float(picture[1].get("x2")) == 200


@pytest.mark.parametrize("name", odd_shapes())
def test_any_graph_can_be_shown(name):
    graph = odd_shapes()[name]
    found = parsed(graph._repr_html_())
    assert repr(graph) in "".join(found.itertext())
    if 0 < graph.num_nodes <= 150:
        assert len(found.findall(".//circle")) == graph.num_nodes
        assert len(found.findall(".//line")) == graph.num_edges
    else:
        assert found.tag == "code"


def test_an_encoding_says_what_it_counts():
    encoding = RootedEncoding(2, ("edge", "cycle"))
    text = words(encoding._repr_html_())
    assert "edges by the labels of their ends" in text
    assert f"hops=2, {encoding.num_bins} bins" in text


def test_rows_show_the_first_of_them():
    rows = RootedEncoding(1).rows(graphs.rook(4))
    text = words(rows._repr_html_())
    assert "96 rows" in text and "the first 10" in text
    assert "node u 0: 1" in text
    assert len(parsed(rows._repr_html_()).findall(".//tbody/tr")) == 10
    assert "0 rows" in words(RootedEncoding(1).rows(graphs.empty(2))._repr_html_())


def test_a_verdict_shows_its_witnesses():
    finding = Finding(
        "holds", "a < b", (Witness("C<4>", graphs.cycle(4), (0,)),), table=theorems.Table(("x",), (("y",),))
    )
    verdict = Verdict(Theorem("th:x", "1 < 2", lambda: finding), finding, 0.1)
    found = parsed(verdict._repr_html_())
    assert len(found.findall(".//circle")) == 4
    text = " ".join(found.itertext())
    assert "th:x: holds" in text and "1 < 2" in text and "a < b" in text and "C<4>" in text


def test_results():
    text = words(result()._repr_html_())
    assert "<tiny>: epoch 3 of 5" in text and "mae 0.25 0.5" in text and "rmse undefined undefined" in text
    assert words(result(test={})._repr_html_()).endswith("mae 0.25 rmse undefined")
    folds = FoldResult.of([result(), result(test={"mae": 0.7})])
    assert "mean and deviation 0.6 ± 0.14" in words(folds._repr_html_())


def test_epochs_that_are_counted_from_0_are_told_as_one_counts():
    assert result(seconds=6.6).summary == "5 epochs in 7 s; the weights after 4 of them are kept"


def test_runs():
    text = words(load_run(RUNS / "esc-gnn")._repr_html_())
    assert "weights of epoch" in text and "StructuralEncoding(" in text and "t0, t1 (graph regression)" in text


def test_ensembles():
    run = load_run(RUNS / "esc-gnn")
    both = Ensemble(run.folder, (run, run))
    assert f"2 times esc-gnn, {sum(weight.numel() for weight in run.model.parameters()):,} weights of epoch" in words(
        both._repr_html_()
    )
    assert repr(both) == f"Ensemble({str(run.folder)!r}, 2 of esc-gnn)"
    mean = EnsembleResult("zinc", "mae", {"mae": 0.25}, {"mae": 0.5}, (result(), result()))
    assert "zinc: 2 members in" in words(mean._repr_html_())
    assert "mae 0.25 0.5" in words(mean._repr_html_())


@pytest.mark.parametrize(
    "page", [lambda: view("0-1 1-2"), lambda: compare("0-1 1-2", "0-1 1-2 2-0")], ids=["view", "compare"]
)
def test_pages_are_frames_that_run_nothing_else(page):
    frame = page()._repr_html_()
    assert frame.startswith('<iframe srcdoc="&lt;!DOCTYPE html&gt;')
    assert 'sandbox="allow-scripts"' in frame
    assert frame.count("<") == 2
