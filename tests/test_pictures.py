import numpy as np
import pytest
from matplotlib.figure import Figure

from escgnn import graphs
from escgnn.encoding import RootedEncoding
from escgnn.pictures import draw_graph, draw_root
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
