"""What a row of the zoo decides, and what is left to be set."""

from torch import nn

from escgnn import zoo
from escgnn.models import Network
from escgnn.task import Task
from escgnn.training import Recipe
from escgnn.transforms import Positions, StructuralEncoding

TASK = Task("graph", "regression", "mae", "min", ("a", "b"))


class Plain(Network):
    """As little as a network may be."""

    def __init__(self, out_channels: int, num_bins: int, *, hidden: int = 4, scale: float = 1.0) -> None:
        super().__init__(locals())
        self.head = nn.Linear(hidden, out_channels)


def test_what_a_row_is_wins_over_settings():
    recipe = Recipe(Plain, each=StructuralEncoding, fixed={"scale": 2.0})
    each, once = recipe.transforms({"hops": 1})
    given = {"scale": 3.0, "hidden": 5, "num_bins": 1}
    network = recipe.build(given, each, once, task=TASK, features={}, graphs=None)
    assert network.settings == {"out_channels": 2, "num_bins": each.num_bins, "hidden": 5, "scale": 2.0}


def test_settings_find_their_transform():
    """That of batches, and that of the whole dataset."""
    place = {"kind": "random_walk", "size": 3}
    each, once = zoo.ZOO["esc-gnn"].transforms({"hops": 1, "positional": place})
    assert isinstance(each, StructuralEncoding) and each.hops == 1
    assert isinstance(once, Positions) and once.positional == place


def test_plain_rows_do_not_read_the_encoding():
    for name in ("gin", "mpnn", "gps", "pna", "gatedgcn"):
        each, once = zoo.ZOO[name].transforms({"hops": 1})
        assert each is None and isinstance(once, Positions)


def test_what_a_dataset_decides_is_no_option():
    for name, recipe in zoo.ZOO.items():
        found = recipe.options(*recipe.transforms({}))
        assert not {"out_channels", "level", "node_features", "edge_features"} & {*found}, name
    assert {*Recipe(Plain, each=StructuralEncoding).options(StructuralEncoding(1), None)} == {"hidden", "scale"}
