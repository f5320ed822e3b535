import inspect
from dataclasses import replace

import pytest
import yaml
from pydantic import ValidationError

from escgnn import datasets
from escgnn.models import ESCGNN, Network
from escgnn.training import Recipe, TrainConfig, difference, read_config, read_stored
from escgnn.transforms import StructuralEncoding
from escgnn.zoo import ZOO


def test_file_and_overrides(tmp_path):
    path = tmp_path / "config.yaml"
    path.write_text("lr: 1e-2\nnetwork:\n  hidden: 32\n  dropout: 1e-1\ntransform:\n  hops: 3\n")
    overrides = ["network.layers=2", "transform.parts=edge,node", "early_stopping=null", "precision=64"]
    config = read_config(path, overrides)
    assert (config.model, config.lr, config.network["hidden"], config.network["layers"]) == ("esc-gnn", 0.01, 32, 2)
    assert config.network["dropout"] == 0.1, "YAML takes it for a text"
    assert config.transform["hops"] == 3 and config.transform["parts"] == ("edge", "node")
    assert config.early_stopping is None and config.precision == "64"
    positional = read_config(overrides=["transform.positional.kind=laplacian"]).transform["positional"]
    assert positional == {"kind": "laplacian", "size": 8}
    nested = {"network": {"layers": 2}, "transform": {"parts": ("edge", "node")}, "precision": "64"}
    assert read_config(path, nested) == config


def test_parts_beyond_the_paper_and_several_radii(tmp_path):
    overrides = ["transform.parts=cycle, walk", "transform.cycle_length=6", "transform.colour_bins=7"]
    for hops in ("1,3", "[1, 3]"):
        config = read_config(overrides=[*overrides, f"transform.hops={hops}"])
        encoding, _ = ZOO[config.model].transforms(config.transform)
        assert (encoding.hops, encoding.parts, encoding.cycle_length) == ((1, 3), ("cycle", "walk"), 6)
        assert encoding.walk_length == 6 and encoding.colour_bins == 7
        config.save(tmp_path / "config.yaml")
        assert read_config(tmp_path / "config.yaml") == config


OLD_FILE = """
encoding: {hops: 3, parts: [edge, node]}
model: {backbone: pna, hidden: 8, positional: {kind: random_walk}}
optimiser: adamw
"""
NEW_FILE = """
model: esc-gnn
transform: {hops: 3, parts: [edge, node], positional: {kind: random_walk, size: 8}}
network: {backbone: pna, hidden: 8}
optimizer: adamw
"""


def test_the_old_spelling_is_understood(tmp_path):
    (tmp_path / "old.yaml").write_text(OLD_FILE)
    (tmp_path / "new.yaml").write_text(NEW_FILE)
    old, new = (read_config(tmp_path / f"{name}.yaml") for name in ("old", "new"))
    assert old == new and difference(old, new) is None
    assert TrainConfig(**yaml.safe_load(OLD_FILE)) == new
    assert read_config(overrides=yaml.safe_load(OLD_FILE)) == new
    for one, other in [("network.hidden=3", "model.hidden=3"), ("transform.hops=1", "encoding.hops=1")]:
        assert read_config(tmp_path / "old.yaml", [one]) == read_config(tmp_path / "new.yaml", [other])
    bare = read_config(overrides=["model=pna", "network.hidden=8", "transform.positional.kind=random_walk"])
    assert read_config(overrides={**yaml.safe_load(OLD_FILE), "encoding": None, "optimiser": "adam"}) == bare
    assert read_config(tmp_path / "old.yaml", ["encoding=null", "optimiser=adam"]) == bare
    assert read_config(tmp_path / "new.yaml", ["encoding=null", "optimiser=adam"]) == bare
    dumped = {**new.model_dump(), "encoding": None, "optimiser": "adam"}
    del dumped["optimizer"]
    assert TrainConfig(**dumped) == bare


def test_encoding_can_be_switched_off_and_on():
    assert TrainConfig(encoding=None) == TrainConfig(model="gin") == read_config(overrides=["encoding=null"])
    assert read_config(overrides=["encoding=null", "encoding.hops=1"]) == TrainConfig(transform={"hops": 1})
    zinc = datasets.DatasetBundle("zinc-12k", None, None)
    for off in (["encoding=null"], ["model=gin"]):
        config = read_config(overrides=off, bundle=zinc)
        assert (config.model, config.network["layers"], config.optimizer) == ("gin", 6, "adamw")
        assert config.transform == {"positional": None, "environments": (), "types": ()}
    with pytest.raises(ValueError, match=r"unknown setting 'network\.hiden'"):
        read_config(overrides=["encoding=null", "model.hiden=3"])


def test_settings_survive_the_file(tmp_path):
    config = TrainConfig(transform={"hops": 3, "max_nodes": 50}, gradient_clip=1.0, schedule="cosine", warmup=5)
    config.save(tmp_path / "config.yaml")
    assert read_config(tmp_path / "config.yaml") == config
    saved = yaml.safe_load(config.to_yaml())
    assert saved["model"] == "esc-gnn" and saved["network"]["hidden"] == 64 and saved["transform"]["max_nodes"] == 50


@pytest.mark.parametrize(
    ("override", "message"),
    [
        ("network.hiden=3", "unknown setting 'network.hiden'; did you mean 'network.hidden'?"),
        ("model.hiden=3", "unknown setting 'network.hiden'; did you mean 'network.hidden'?"),
        ("hidden=3", "did you mean 'network.hidden'?"),
        ("learningrate=3", "unknown setting 'learningrate'; settings are model, network, "),
        ("encodin.hops=3", "did you mean 'transform'?"),
        ("transform.positional.knd=laplacian", "did you mean 'transform.positional.kind'?"),
        ("network.positional.kind=laplacian", "did you mean 'transform.positional'?"),
        ("transform.positional=laplacian", "transform.positional: "),
        ("transform.positional.kind=sinus", "transform.positional.kind: Input should be 'laplacian' or 'random_walk'"),
        ("batchsize=3", "did you mean 'batch_size'?"),
        ("network.num_bins=3", "unknown setting 'network.num_bins'"),
        ("network.degrees=[3]", "unknown setting 'network.degrees'"),
        ("network.out_channels=3", "unknown setting 'network.out_channels'"),
        ("network.hidden=-1", "network.hidden: -1; expected an integer from 1"),
        ("network.hidden=wide", "network.hidden: Input should be a valid integer"),
        ("network.backbone=gcn", "network.backbone: 'gcn'; expected one of"),
        ("network=gin", "network: 'gin'; expected settings by name"),
        ("encoding=3", "transform: 3; expected settings by name"),
        ("model=esc-gn", "model: 'esc-gn'; did you mean 'esc-gnn'? There are esc-gnn, gin"),
        (
            "preset=authors/zinc-12k",
            "preset: 'authors/zinc-12k'; those of esc-gnn are: ours/ogbg-molhiv, ours/zinc-12k, ",
        ),
        ("epochs=many", "epochs: "),
        ("transform.hops=0", "transform: hops: 0; expected an integer from 1 to 256"),
        ("transform.hops=1,1", "transform: hops: (1, 1); expected one or more different radii"),
        ("transform.hops=far", "transform.hops: "),
        ("transform.parts=edges", "unknown part 'edges'"),
        ("transform.cycle_length=9", "transform: cycle_length: 9; expected an integer from 3 to 8"),
        ("schedule=step", "schedule: Input should be 'plateau', 'cosine' or 'constant'"),
        ("network.hidden", "'network.hidden': expected key=value"),
        ("lr=[1", "not YAML"),
    ],
)
def test_errors_say_what_is_wrong(override, message):
    with pytest.raises(ValueError) as error:
        read_config(overrides=[override])
    assert message in str(error.value) and "\n" not in str(error.value)


def test_direct_construction_names_the_nearest_too():
    with pytest.raises(ValidationError, match="did you mean 'weight_decay'"):
        TrainConfig(weight_decy=1)


def test_settings_cannot_be_changed():
    with pytest.raises(ValidationError, match="frozen"):
        TrainConfig().lr = 1


@pytest.mark.parametrize("text", ["- a", "just text"])
def test_a_file_of_something_else(tmp_path, text):
    (tmp_path / "c.yaml").write_text(text)
    with pytest.raises(ValueError, match="expected settings by name"):
        read_config(tmp_path / "c.yaml")


def test_a_file_that_would_run_something_is_refused_and_not_run(tmp_path):
    made = tmp_path / "made"
    text = f'lr: !!python/object/apply:os.mkdir ["{made}"]'
    (tmp_path / "c.yaml").write_text(text)
    with pytest.raises(ValueError, match=r"c\.yaml"):
        read_config(tmp_path / "c.yaml")
    with pytest.raises(ValueError, match="lr"):
        read_config(overrides=[text.replace(": ", "=", 1)])
    assert not made.exists()


def test_settings_are_the_arguments_of_the_classes():
    config = TrainConfig()
    encoding = {name: one.default for name, one in inspect.signature(StructuralEncoding).parameters.items()}
    assert config.transform == {**encoding, "positional": None, "environments": ()}
    parameters = inspect.signature(ESCGNN).parameters
    data = {"out_channels", "node_features", "edge_features", "level", "descriptors"}
    given = {*data, "num_bins", "node_tuples", "degrees", "environments"}
    assert {*config.network} == {*parameters} - given - {"positional"}
    assert config.network == {name: parameters[name].default for name in config.network}


class Wide(Network):
    def __init__(self, out_channels: int, width: int, *, names: tuple[str, ...] = (), power: float = 1.0) -> None:
        super().__init__(locals())


def test_presets_and_recipes_of_ones_own():
    presets = {"default": {"network": {"width": 3}}, "authors/zinc-12k": {"network": {"power": 2}, "lr": 0.5}}
    recipe = Recipe(Wide, presets=presets)
    zinc = datasets.DatasetBundle("zinc-12k", None, None)
    config = read_config(overrides=["network.names=a, b"], bundle=zinc, recipe=recipe)
    assert config.model == "Wide" and config.optimizer == "adamw", "what the dataset says of training"
    assert config.network == {"width": 3, "names": ("a", "b"), "power": 1.0} and config.transform == {}
    authors = read_config(overrides=["preset=authors/zinc-12k", "network.width=4"], recipe=recipe)
    assert (authors.lr, authors.network["power"], authors.network["width"]) == (0.5, 2.0, 4)
    with pytest.raises(ValueError, match=r"network\.width: not set, and it has no default"):
        read_config(recipe=Recipe(Wide))
    with pytest.raises(ValueError, match=r"unknown setting 'transform\.hops'"):
        read_config(overrides=["transform.hops=3"], recipe=recipe)
    with pytest.raises(ValueError, match="it is one of esc-gnn, not of Wide"):
        TrainConfig(network={"hidden": 3}).of(recipe)


def test_a_dataset_has_settings_of_its_own():
    bundle = datasets.load("counting-random", count=10)
    config = read_config(overrides=["lr=0.5"], bundle=bundle)
    assert config.epochs == datasets.defaults("counting-random")["epochs"] and config.lr == 0.5
    own = read_config(bundle=replace(bundle, name="my.csv"))
    assert (own.early_stopping, own.epochs) == (30, 200)


def test_own_molecules_have_cycles_and_means():
    """Of our networks; others stay as their authors have them, and so do graphs that may be dense."""
    own = replace(datasets.load("counting-random", count=10), name="my.csv")
    molecules = replace(own, smiles="smiles")
    config = read_config(bundle=molecules)
    assert (config.network["pool"], config.transform["parts"][-1]) == ("sum+mean", "cycle")
    assert read_config(overrides=["encoding=null"], bundle=molecules).network["pool"] == "sum+mean"
    assert read_config(overrides=["network.pool=sum"], bundle=molecules).network["pool"] == "sum"
    assert read_config(overrides=["model=ngnn"], bundle=molecules) == read_config(overrides=["model=ngnn"], bundle=own)
    graphs = read_config(bundle=own)
    assert graphs.network["pool"] == "sum" and "cycle" not in graphs.transform["parts"]
    assert graphs.epochs == config.epochs == 200


def test_first_difference():
    assert difference(TrainConfig(), TrainConfig()) is None
    changed = TrainConfig(lr=0.5, seed=3)
    assert difference(TrainConfig(), changed) == "lr was 0.001 and is 0.5"
    assert difference(TrainConfig(), changed, {"lr"}) == "seed was 0 and is 3"
    assert difference(TrainConfig(), TrainConfig(model="gin")) == "model was 'esc-gnn' and is 'gin'"


def test_stored_settings_are_as_old_as_their_file(tmp_path):
    path = tmp_path / "config.yaml"
    config = TrainConfig(average=0.5)
    config.save(path)
    assert read_stored(path) == config
    newer = ("average:", "  readout_norm:")
    path.write_text("".join(line for line in path.read_text().splitlines(True) if not line.startswith(newer)))
    assert read_stored(path) == TrainConfig(average=None, network={"readout_norm": False})
    assert read_config(path) == TrainConfig(), "a user's file that says nothing of them has the defaults"
