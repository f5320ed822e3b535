import numpy as np
import pytest
from matplotlib.figure import Figure

from escgnn import graphs
from escgnn.encoding import RootedEncoding
from escgnn.pictures import draw_curves, draw_errors, draw_graph, draw_graphs, draw_lines, draw_root
from tests.strategies import odd_shapes


def pixels(figure, tmp_path):
    from matplotlib.image import imread

    figure.savefig(tmp_path / "figure.png", dpi=50)
    return imread(tmp_path / "figure.png")


def test_every_part_has_a_panel_and_every_bar_its_count(tmp_path):
    encoding = RootedEncoding(2, ("degree", "edge"))
    figure = draw_root(graphs.cycle(6), 0, 1, encoding)
    _, degree, edge = figure.axes
    assert (degree.get_title(), edge.get_title()) == ("degree", "edge")
    assert [bar.get_height() for bar in degree.patches] == [6]
    row = encoding.row(graphs.cycle(6), 0, 1)
    assert sum(bar.get_height() for bar in edge.patches) == sum(c for name, c in row.items() if name[0] == "edge") == 6
    assert np.ptp(pixels(figure, tmp_path)) > 0.5


def test_several_radii_have_panels_each():
    figure = draw_root(graphs.cycle(6), 0, 1, RootedEncoding((1, 2), ("joint", "cycle"), max_nodes=5))
    titles = [axes.get_title() for axes in figure.axes]
    assert titles == ["root (0, 1), h = (1, 2)", "h1 joint", "h2 joint", "h2 clipped", "cycle"]


@pytest.mark.parametrize("name", [name for name in odd_shapes() if name not in ("nothing", "hub")])
def test_any_graph_can_be_drawn(name, tmp_path):
    figure = Figure()
    draw_graph(figure.subplots(), odd_shapes()[name], roots=(0,), title=name)
    assert np.ptp(pixels(figure, tmp_path)) > 0.3


def test_several_graphs_have_a_panel_each_and_numbers_where_there_are_roots():
    figure = draw_graphs(
        [("one", graphs.cycle(4), ()), ("two", graphs.cycle(5), (0, 1)), ("three", graphs.cycle(3), ())]
    )
    titles = [axes.get_title() for axes in figure.axes]
    assert titles == ["one", "two", "three", ""]
    words = [[text.get_text() for text in axes.texts] for axes in figure.axes]
    assert words == [[""] * 4, ["0", "1", "2", "3", "4"], [""] * 3, []]


def test_curves_show_all_epochs_and_the_best(tmp_path, monkeypatch):
    drawn = []
    monkeypatch.setattr("escgnn.pictures.save", lambda figure, path: drawn.append((figure, path)))
    epochs = [{"epoch": i, "loss": 1.0 / (i + 1), "validation_mae": value} for i, value in enumerate((3.0, 1.5, 2.0))]
    draw_curves(epochs, "mae", 1, tmp_path / "curves.png")
    ((figure, path),) = drawn
    loss, metric = figure.axes
    assert path.name == "curves.png"
    assert [*loss.lines[0].get_ydata()] == [1.0, 0.5, 1 / 3]
    assert [*metric.lines[0].get_ydata()] == [3.0, 1.5, 2.0]
    assert [*metric.lines[1].get_xydata()[0]] == [1, 1.5]
    assert metric.get_legend().get_texts()[0].get_text() == "1.5 at epoch 1"


def test_lines_have_their_names_and_values():
    figure = draw_lines([10, 100], {"a": [0.0, 1.0], "b": [0.5, 0.5]}, x_label="nodes", y_label="share")
    (axes,) = figure.axes
    assert {line.get_label(): [*line.get_ydata()] for line in axes.lines} == {"a": [0.0, 1.0], "b": [0.5, 0.5]}
    assert [text.get_text() for text in axes.get_xticklabels()] == ["10", "100"]


def test_errors_are_drawn_no_lower_than_the_floor_and_gaps_are_left_out():
    styles = {"one": ("o", "red", 6.0), "none": ("s", "blue", 9.0)}
    rows = {"one": [0.1, None, 1e-9], "none": [None, None, None]}
    figure = draw_errors(("a", "b", "c"), rows, styles=styles, title="t", y_label="MAE")
    (axes,) = figure.axes
    one, none = axes.lines
    assert one.get_xydata().tolist() == [[0, 0.1], [2, 1e-5]]
    assert none.get_xydata().size == 0
    assert [text.get_text() for text in axes.get_xticklabels()] == ["a", "b", "c"]
    assert [text.get_text() for text in axes.get_yticklabels()][:2] == ["≤ 0.00001", "0.0001"]
    assert axes.get_yticklabels()[-1].get_text() == "1"
