"""What every row of the zoo keeps to, and a network of one's own that comes through the same door."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import load, save
from torch import nn
from torch_geometric.nn import MLP, GINEConv, global_add_pool

from escgnn import graphs, zoo
from escgnn.datasets import Feature
from escgnn.layers import StructuralEmbedding
from escgnn.loader import Loader
from escgnn.models import Network
from escgnn.store import GraphStore
from escgnn.task import Task
from escgnn.training import (
    Recipe,
    TrainConfig,
    evaluate,
    export,
    fit,
    fit_folds,
    fitting,
    load_run,
    predict,
    predict_file,
    read_config,
)
from escgnn.transforms import StructuralEncoding
from tests.training import tiny


class Toy(Network):
    """What a user would write: PyG's GINE with the structural embedding in its messages."""

    reads = frozenset({"edge_index", "batch", "ptr", "esc_len", "esc_bin", "esc_count"})

    def __init__(self, out_channels: int, level: str, num_bins: int, *, hidden: int = 4, scale: float = 1.0) -> None:
        super().__init__(locals())
        self.start = nn.Parameter(torch.ones(1, hidden))
        self.structure = StructuralEmbedding(num_bins, hidden)
        self.conv = GINEConv(MLP([hidden, hidden, hidden], norm=None))
        self.head = nn.Linear(hidden, out_channels)
        self.register_buffer("seen", torch.zeros(2))

    def prepare(self, training, validation, transform):
        self.structure.fit(training)
        self.seen += torch.tensor([len([*training]), len([*validation])])
        assert isinstance(transform, StructuralEncoding)
        assert abs(float(torch.cat([batch.y for batch in training]).nanmean())) < 1e-3

    def forward(self, batch):
        h = self.start.expand(batch.num_nodes, -1)
        h = self.conv(h, batch.edge_index, self.structure(batch))
        h = h if self.settings["level"] == "node" else global_add_pool(h, batch.batch, batch.num_graphs)
        return self.head(h) * self.settings["scale"]


TOY = Recipe(Toy, each=StructuralEncoding)
RECIPES = {**zoo.ZOO, "toy": TOY}
FROM_DATASETS = {"x", "edge_attr", "edge_index", "batch", "ptr"}
FEATURES = {"x": Feature("categorical", (3,)), "edge_attr": Feature("dense", (2,))}
SMALL = {"hidden": 4, "layers": 2, "heads": 2, "distance": 2}
SMALL["beta"] = 1e4  # of OSAN; gradients of so small a network would not change what it chooses
# a head of a quarter of 4 would be a single rectifier, which may be off
HALVED = ("lgp-gnn", "pna-towers", "dgn", "graphgps", "graph-transformer", "esc-graphgps")
WIDER = {name: {"hidden": 16} for name in HALVED}

every_row = pytest.mark.parametrize("name", RECIPES)
every_level = pytest.mark.parametrize(
    ("name", "level"), [(name, level) for name in RECIPES for level in RECIPES[name].network.levels if level != "edge"]
)


def settings_of(name):
    recipe = RECIPES[name]
    whole = read_config(recipe=recipe)
    small = {**SMALL, **WIDER.get(name, {})}
    network = {key: value for key, value in small.items() if key in whole.network}
    transform = {"hops": 1} if "hops" in whole.transform else {}
    return read_config(overrides={"network": network, "transform": transform}, recipe=recipe)


def store_of(views):
    """Graphs with features of nodes and edges, the same for both directions, that do not depend on the numbering."""
    store = GraphStore.from_view(graphs.disjoint_union(views))
    view = store.view()
    degree = torch.from_numpy(view.degrees)
    ends = degree[torch.from_numpy(view.edge_index)].double()
    return store.with_fields(
        node={"x": (degree % 3).unsqueeze(1)}, edge={"edge_attr": torch.stack([ends.sum(0), ends.prod(0)], 1) / 9}
    )


def build(name, level, views):
    """A tiny network in double precision, and a batch of these graphs as it wants them."""
    recipe, config = RECIPES[name], settings_of(name)
    each, once = recipe.transforms(config.transform)
    torch.manual_seed(0)
    task = Task(level, "regression", "mae", "min", ("a", "b"))
    store = store_of(views)
    network = recipe.build(config.network, each, once, task=task, features=FEATURES, graphs=store).double().eval()
    return network, lambda some: next(iter(Loader(ready(some, once), len(some), transform=each)))


def ready(views, once):
    store = store_of(views)
    return store if once is None else once(store)


MEMBERS = [graphs.petersen(), graphs.cycle(5), graphs.star(4), graphs.erdos_renyi(9, 0.4, seed=1), graphs.complete(4)]


@every_row
def test_reads_only_what_there_is(name):
    config = settings_of(name)
    added = {column for one in RECIPES[name].transforms(config.transform) if one is not None for column in one.adds}
    network, batch_of = build(name, "graph", MEMBERS)
    assert network.reads <= FROM_DATASETS | added
    assert added <= {*batch_of(MEMBERS).keys()}
    assert {*network.tensors(batch_of(MEMBERS))} == network.reads


@every_level
def test_numbers_of_nodes_mean_nothing(name, level):
    network, batch_of = build(name, level, MEMBERS)
    rng = np.random.default_rng(0)
    orders = [rng.permutation(view.num_nodes) for view in MEMBERS]
    renamed = [graphs.permute(view, order) for view, order in zip(MEMBERS, orders, strict=True)]
    out, again = network(batch_of(MEMBERS)), network(batch_of(renamed))
    if level == "node":
        starts = np.cumsum([0, *(view.num_nodes for view in MEMBERS)])
        place = np.concatenate([order + start for order, start in zip(orders, starts, strict=False)])
        again = again[torch.from_numpy(place)]
    torch.testing.assert_close(out, again, rtol=1e-9, atol=1e-9)
    assert out.std(0).min() > 1e-6, "the test could not fail"


@every_level
def test_a_batch_is_its_graphs_one_by_one(name, level):
    network, batch_of = build(name, level, MEMBERS)
    views = [*MEMBERS, graphs.empty(1), graphs.path(2), graphs.empty(3)]
    alone = torch.cat([network(batch_of([view])) for view in views])
    torch.testing.assert_close(network(batch_of(views)), alone, rtol=1e-9, atol=1e-9)
    assert alone.isfinite().all()
    assert len(alone) == (len(views) if level == "graph" else sum(view.num_nodes for view in views))


@every_row
def test_other_levels_are_refused(name):
    network = RECIPES[name].network
    for level in {"graph", "node"}.difference(network.levels):
        with pytest.raises(ValueError, match=f"level: {level!r}; .* is defined for {', '.join(network.levels)}"):
            build(name, level, MEMBERS)


@every_row
def test_every_parameter_learns(name):
    network, batch_of = build(name, "graph", MEMBERS)
    network.train()(batch_of(MEMBERS)).square().sum().backward()
    still = [key for key, one in network.named_parameters() if one.grad is None or not one.grad.any()]
    assert not still


@every_row
def test_settings_and_weights_make_it_again(name):
    network, batch_of = build(name, RECIPES[name].network.levels[:2][-1], MEMBERS)
    settings = json.loads(json.dumps(network.settings))
    torch.manual_seed(1)
    again = type(network)(**settings).double().eval()
    assert again.settings == settings
    again.load_state_dict(load(save(network.state_dict())))
    batch = batch_of(MEMBERS)
    assert torch.equal(again(batch), network(batch))


@pytest.fixture(scope="module", params=RECIPES)
def trained(request, tmp_path_factory):
    """A run of every row, two epochs in one go, and one after the other."""
    name, recipe = request.param, RECIPES[request.param]
    own = {} if name in zoo.ZOO else {"recipe": recipe}
    config = settings_of(name).model_copy(update={"epochs": 2, "batch_size": 8, "lr": 0.01})
    folder = tmp_path_factory.mktemp(name)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(fitting, "draw_curves", lambda *_: None)
        straight = fit(tiny.bundle(), config, folder / "straight", progress=False, **own)
        fit(tiny.bundle(), config.model_copy(update={"epochs": 1}), folder / "twice", progress=False, **own)
        resumed = fit(tiny.bundle(), config, folder / "twice", resume=True, progress=False, **own)
    return name, folder, own, (straight, resumed)


def test_it_trains_and_resumes(trained):
    name, folder, own, (straight, resumed) = trained
    assert straight == resumed
    weights = [(folder / run / "model.safetensors").read_bytes() for run in ("straight", "twice")]
    assert weights[0] == weights[1]
    bundle = tiny.bundle()
    run = load_run(folder / "straight", **own)
    assert run.name == RECIPES[name].name
    assert evaluate(run, bundle) == straight.test
    torch.testing.assert_close(predict(run, bundle.test, batch_size=1), predict(run, bundle.test), rtol=1e-4, atol=1e-4)
    assert read_config(folder / "straight/config.yaml", **own) == settings_of(name).model_copy(
        update={"epochs": 2, "batch_size": 8, "lr": 0.01}
    )


def test_it_is_exported_or_says_why_not(trained, tmp_path, monkeypatch):
    """The program that is written; it is read back in `test_exporting`, which takes as long as making it."""
    _, folder, own, _ = trained
    run = load_run(folder / "straight", **own)
    if run.model.cannot_export:
        with pytest.raises(ValueError, match="cannot be exported"):
            export(run, tmp_path / "model.pt2")
        return
    save, written = torch.export.save, []
    monkeypatch.setattr(
        torch.export, "save", lambda made, *to, **extra: (save(made, *to, **extra), written.append(made))
    )
    export(run, tmp_path / "model.pt2")
    program = written[0].module()
    for some in (tiny.bundle().test, tiny.bundle().test[[1]]):
        (batch,) = Loader(some if run.once is None else run.once(some), len(some), transform=run.transform)
        torch.testing.assert_close(program(run.model.tensors(batch)), predict(run, some), rtol=1e-5, atol=1e-5)


def test_a_run_of_ones_own_network_needs_its_recipe(trained, tmp_path):
    name, folder, own, _ = trained
    if name in zoo.ZOO:
        with pytest.raises(ValueError, match=r"recipe: one of Toy, but the network of .* is escgnn"):
            load_run(folder / "straight", recipe=TOY)
        return
    with pytest.raises(ValueError, match=r"network is tests\.test_zoo\.Toy, which is not in the zoo; give its recipe"):
        load_run(folder / "straight")
    run = load_run(folder / "straight", **own)
    assert run.model.seen.tolist() == [3, 2], "prepared once, and saved with the weights"
    assert {*run.features} == set(), "it reads none of those that the dataset has"
    (tmp_path / "in.g6").write_text("Dhc\nA_\n")
    assert predict_file(run, tmp_path / "in.g6", tmp_path / "out.csv").graphs == 2
    (folder / "straight/config.yaml").rename(folder / "straight/config.txt")
    assert load_run(folder / "straight", **own).name == "Toy", "two files are enough"
    (folder / "straight/config.txt").rename(folder / "straight/config.yaml")


def test_settings_of_ones_own_network(tmp_path):
    bundle = tiny.bundle(level="node")
    config = read_config(overrides=["network.scale=1e-1", "transform.hops=1", "epochs=1"], bundle=bundle, recipe=TOY)
    assert config.network == {"hidden": 4, "scale": 0.1}
    with pytest.raises(ValueError, match=r"unknown setting 'network\.scal'; did you mean 'network\.scale'\?"):
        read_config(overrides=["network.scal=3"], recipe=TOY)
    fit(bundle, config, tmp_path / "a", recipe=TOY, progress=False)
    assert load_run(tmp_path / "a", recipe=TOY).model.settings["level"] == "node"
    fit(bundle, TrainConfig(epochs=1), tmp_path / "b", recipe=TOY, progress=False)  # as good as any, if nothing is set
    with pytest.raises(ValueError, match=r"network\.scale was 0\.1 and is 1\.0"):
        changed = read_config(overrides=["transform.hops=1", "epochs=1"], bundle=bundle, recipe=TOY)
        fit(bundle, changed, tmp_path / "a", resume=True, recipe=TOY, progress=False)
    with pytest.raises(ValueError, match="config: it is one of esc-gnn, not of Toy"):
        fit(bundle, tiny.CONFIG, tmp_path / "c", recipe=TOY, progress=False)
    with pytest.raises(ValueError, match="model: 'Toy'; "):
        fit(bundle, config, tmp_path / "c", progress=False)


def test_it_is_tuned_and_cross_validated_like_ours(tmp_path, monkeypatch):
    from escgnn.tuning import tune

    monkeypatch.setattr(fitting, "draw_curves", lambda *_: None)
    bundle = tiny.bundle(folds=2)
    config = read_config(overrides=["epochs=1", "transform.hops=1"], recipe=TOY)
    assert len(fit_folds(bundle, config, tmp_path / "folds", recipe=TOY, progress=False).folds) == 2
    result = tune(bundle.fold(0), tmp_path / "search", trials=1, base=config, recipe=TOY)
    assert {"hops", "degree", "hidden", "lr"} <= {*result.best.settings} and "layers" not in result.best.settings
    assert result.config.network["hidden"] == result.best.settings["hidden"]
    assert tune(bundle.fold(0), tmp_path / "search", trials=1, base=config, recipe=TOY) == result


def test_what_is_no_recipe():
    with pytest.raises(ValueError, match=r"network: .*Linear.*; expected a class derived from"):
        Recipe(nn.Linear)
    with pytest.raises(ValueError, match=r"each: StructuralEncoding.*; expected a class"):
        Recipe(Toy, each=StructuralEncoding(hops=1))
    with pytest.raises(ValueError, match="no row is esc-gnn with"):
        zoo.without_transform("esc-gnn", {"backbone": "gcn"})


def test_a_network_that_cannot_be_traced_is_told(tmp_path):
    class Stubborn(Toy):
        def forward(self, batch):
            return super().forward(batch) if float(batch.esc_count.sum()) > 0 else None

    network, batch_of = build("toy", "graph", MEMBERS)
    with pytest.raises(ValueError, match="Stubborn cannot be exported: "):
        Stubborn(**network.settings).export(batch_of(MEMBERS))


def test_a_row_says_where_it_comes_from():
    for name, recipe in zoo.ZOO.items():
        assert recipe.paper and recipe.name == name
        for preset, settings in recipe.presets.items():
            assert preset == "default" or preset.startswith(("authors/", "ours/"))
            read_config(overrides={"model": name, **settings})
    assert replace(TOY, paper="mine").name == "Toy"


def test_the_map_of_the_zoo_has_every_network_and_what_it_costs():
    page = (Path(__file__).parents[1] / "docs" / "models.md").read_text()
    _, _, costs = page.partition("## What networks cost")
    for name in zoo.ZOO:
        assert f"`{name}`" in page.partition("## ESC-GNN")[0], name
        assert f"\n| `{name}` | " in costs, name
