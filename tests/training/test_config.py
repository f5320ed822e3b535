import inspect

import pytest
import yaml
from pydantic import ValidationError

from escgnn import datasets
from escgnn.datasets.registry import ENTRIES
from escgnn.encoding import RootedEncoding
from escgnn.models import ESCGNN
from escgnn.training import EncodingConfig, ModelConfig, TrainConfig, read_config
from escgnn.training.config import DEFAULTS, difference, read_stored


def test_file_and_overrides(tmp_path):
    path = tmp_path / "config.yaml"
    path.write_text("lr: 1e-2\nmodel:\n  hidden: 32\nencoding:\n  hops: 3\n")
    config = read_config(path, ["model.layers=2", "encoding.parts=edge,node", "early_stopping=null", "precision=64"])
    assert (config.lr, config.model.hidden, config.model.layers) == (0.01, 32, 2)
    assert config.encoding.hops == 3 and config.encoding.parts == ("edge", "node")
    assert config.early_stopping is None and config.precision == "64"
    assert read_config(overrides=["model.positional.kind=laplacian"]).model.positional.size == 8


def test_parts_beyond_the_paper_and_several_radii(tmp_path):
    overrides = ["encoding.parts=cycle, walk", "encoding.cycle_length=6", "encoding.colour_bins=7"]
    for hops in ("1,3", "[1, 3]"):
        config = read_config(overrides=[*overrides, f"encoding.hops={hops}"])
        encoding = config.encoding.build()
        assert (encoding.hops, encoding.parts, encoding.cycle_length) == ((1, 3), ("cycle", "walk"), 6)
        assert encoding.walk_length == 6 and encoding.colour_bins == 7
        config.save(tmp_path / "config.yaml")
        assert read_config(tmp_path / "config.yaml") == config


def test_encoding_can_be_switched_off_and_on():
    assert read_config(overrides=["encoding=null"]).encoding is None
    assert read_config(overrides=["encoding=null", "encoding.hops=1"]).encoding.hops == 1


def test_settings_survive_the_file(tmp_path):
    config = TrainConfig(encoding={"hops": 3, "max_nodes": 50}, gradient_clip=1.0, schedule="cosine", warmup=5)
    config.save(tmp_path / "config.yaml")
    assert read_config(tmp_path / "config.yaml") == config
    assert yaml.safe_load(TrainConfig(encoding=None).to_yaml())["encoding"] is None


@pytest.mark.parametrize(
    ("override", "message"),
    [
        ("model.hiden=3", "unknown setting 'model.hiden'; did you mean 'model.hidden'?"),
        ("hidden=3", "did you mean 'model.hidden'?"),
        ("learningrate=3", "unknown setting 'learningrate'"),
        ("encodin.hops=3", "did you mean 'encoding'?"),
        ("model.positional.knd=laplacian", "did you mean 'model.positional.kind'?"),
        ("model.positional=laplacian", "model.positional: "),
        ("batchsize=3", "did you mean 'batch_size'?"),
        ("model.hidden=-1", "model.hidden: Input should be greater than or equal to 1 (got -1)"),
        ("epochs=many", "epochs: "),
        ("encoding.hops=0", "encoding: hops: 0; expected an integer >= 1"),
        ("encoding.hops=1,1", "encoding: hops: (1, 1); expected one or more different radii"),
        ("encoding.hops=far", "encoding.hops"),
        ("encoding.parts=edges", "unknown part 'edges'"),
        ("encoding.cycle_length=9", "encoding: cycle_length: 9; expected an integer from 3 to 8"),
        ("schedule=step", "schedule: Input should be 'plateau', 'cosine' or 'constant'"),
        ("model.hidden", "'model.hidden': expected key=value"),
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


def test_sections_match_what_they_configure():
    parameters = inspect.signature(RootedEncoding).parameters
    assert EncodingConfig().model_dump() == {name: parameter.default for name, parameter in parameters.items()}
    assert list(EncodingConfig.model_fields) == list(parameters)
    parameters = inspect.signature(ESCGNN).parameters
    decided = {"out_channels", "num_bins", "node_features", "edge_features", "level", "node_tuples", "degrees"}
    assert {*ModelConfig.model_fields} == {*parameters} - decided
    assert ModelConfig().model_dump() == {name: parameters[name].default for name in ModelConfig.model_fields}


def test_every_dataset_to_learn_from_has_defaults():
    assert {*DEFAULTS} == {name for name, entry in ENTRIES.items() if entry.task.level != "pair"}
    bundle = datasets.load("counting-random", count=10)
    config = read_config(overrides=["lr=0.5"], bundle=bundle)
    assert config.epochs == DEFAULTS["counting-random"]["epochs"] and config.lr == 0.5
    for defaults in DEFAULTS.values():
        TrainConfig.model_validate(defaults)


def test_first_difference():
    assert difference(TrainConfig(), TrainConfig()) is None
    changed = TrainConfig(lr=0.5, seed=3)
    assert difference(TrainConfig(), changed) == "lr was 0.001 and is 0.5"
    assert difference(TrainConfig(), changed, {"lr"}) == "seed was 0 and is 3"
    assert difference(TrainConfig(), TrainConfig(encoding=None)) == "encoding.hops was 2 and is None"


def test_stored_settings_are_as_old_as_their_file(tmp_path):
    path = tmp_path / "config.yaml"
    config = TrainConfig(average=0.5)
    config.save(path)
    assert read_stored(path) == config
    newer = ("average:", "  readout_norm:")
    path.write_text("".join(line for line in path.read_text().splitlines(True) if not line.startswith(newer)))
    assert read_stored(path) == TrainConfig(average=None, model={"readout_norm": False})
    assert read_config(path) == TrainConfig(), "a user's file that says nothing of them has the defaults"
