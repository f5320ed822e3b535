"""Run folders that are damaged or forged: one line says which file is wrong, and the folder stays as it was."""

import base64
import errno
import json
import os
import shutil
import zlib

import pytest
import torch
from safetensors.torch import load_file, save_file

from escgnn import limits
from escgnn.training import fit, load_run, read_config, recording
from tests.training import tiny
from tests.training.tiny import CONFIG, change


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    folder = tmp_path_factory.mktemp("trained")
    fit(tiny.bundle(), change(epochs=2), folder, progress=False)
    return folder


@pytest.fixture
def run(trained, tmp_path):
    return shutil.copytree(trained, tmp_path / "run")


def content(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.name != ".lock"}


def nested(levels):
    return "[" * levels + "]" * levels


@pytest.mark.parametrize(
    ("place", "value", "message"),
    [
        ("network.hidden", 10**8, "hidden: 100000000; expected an integer from 1 to 65536"),
        ("network.hidden", 60000, "x 60000 numbers"),
        ("network.layers", 10**6, "layers: 1000000; expected"),
        ("network.num_bins", 10**12, "num_bins of the network is 1000000000000, but the transform gives 18"),
        ("network.num_bins", 17, "num_bins of the network is 17, but the transform gives 18"),
        ("network.node_features.sizes", [10**15], "an array of 1000000000000000 x 8 numbers, 32 PB, is too much"),
        ("network.node_features.sizes", [10**40], "is too much"),
        ("network.out_channels", 3, "out_channels of the network is 3, but the task asks for 2"),
        ("network.level", "node", "level of the network is 'node', but the task asks for 'graph'"),
        ("transform.hops", 2**40, "hops: 1099511627776; expected"),
        ("transform.hops", 2, "num_bins of the network is 18, but the transform gives 3"),
        ("transform.colour_bins", 10**10, "colour_bins: 10000000000; expected"),
        ("transform.positional", {"kind": "laplacian", "size": 10**6}, "positional, size: 1000000; expected"),
        ("scaling.std", [1.0], "scaling, std: (1.0,); expected a finite number for each target, 2 in all"),
        ("scaling.std", [], "scaling, std: (); expected a finite number for each target, 2 in all"),
        ("scaling.std", [1.0, 0.0], "scaling, std: "),
        ("scaling.std", [1.0, float("nan")], "scaling, std: (1.0, nan); expected a finite number"),
        ("scaling.mean", [1.0, float("inf")], "scaling, mean: (1.0, inf); expected a finite number"),
        ("scaling.unit", ["a", "b"], "could not convert string to float"),
        ("task.targets", ["t0"], "out_channels of the network is 2, but the task asks for 1"),
        ("split", "AAAA", "not a description of a model; error("),
    ],
)
def test_descriptions(run, place, value, message):
    path = run / "model.json"
    about = json.loads(path.read_text())
    *outer, last = place.split(".")
    inner = about
    for name in outer:
        inner = inner[name]
    inner[last] = value
    path.write_text(json.dumps(about))
    with pytest.raises(ValueError) as error:
        load_run(run)
    words = str(error.value)
    assert words.startswith(f"{path}: not a description of a model; ") and "\n" not in words
    assert message in words


def test_a_split_of_more_graphs_than_there_are(run, monkeypatch):
    monkeypatch.setattr(limits, "MOST_GRAPHS", 1000)
    about = json.loads((run / "model.json").read_text())
    about["split"] = base64.b64encode(zlib.compress(bytes(10**6))).decode()
    (run / "model.json").write_text(json.dumps(about))
    with pytest.raises(ValueError, match=r"model.json: .*split: damaged, or of more than 1,000 graphs"):
        load_run(run)


@pytest.mark.parametrize("text", [nested(3000), nested(200), f'{{"a": {nested(100)}}}'])
def test_deep_descriptions(run, text):
    (run / "model.json").write_text(text)
    with pytest.raises(ValueError, match=r"model.json: lists or mappings are nested more than 50 levels deep"):
        load_run(run)


@pytest.mark.parametrize("name", ["config.yaml", "model.json"])
@pytest.mark.parametrize("text", ["[1]", "{}", nested(3000), '{"model": [1]}', "lr: .inf", '{"dataset": 3}'])
def test_other_files_on_resuming(run, name, text):
    (run / name).write_text(text)
    before = content(run)
    defaults = (name, text) == ("config.yaml", "{}")  # settings that are all newer than the file
    with pytest.raises(ValueError, match="other settings" if defaults else name):
        fit(tiny.bundle(), CONFIG, run, resume=True, progress=False)
    assert content(run) == before


WEIGHT = "layers.0.norm.weight"


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (torch.full((8,), torch.nan), "holds numbers that are not finite"),
        (torch.full((8,), -torch.inf), "holds numbers that are not finite"),
        (torch.ones(8, dtype=torch.complex64), "holds numbers of type torch.complex64; expected torch.float32"),
        (torch.ones(8, dtype=torch.int64), "holds numbers of type torch.int64; expected torch.float32"),
        (torch.ones(9), "does not fit model.json"),
    ],
)
def test_weights(run, value, message):
    path = run / "model.safetensors"
    save_file({**load_file(path), WEIGHT: value}, path, {"epoch": "1"})
    with pytest.raises(ValueError) as error:
        load_run(run)
    assert str(error.value).startswith(f"{path}: ") and message in str(error.value)


@pytest.mark.parametrize("epoch", ["one", "", "1e3", "9" * 5000, "-7"])
def test_epoch_of_the_weights(run, epoch):
    path = run / "model.safetensors"
    save_file(load_file(path), path, {"epoch": epoch})
    with pytest.raises(ValueError, match=r"model.safetensors is damaged: epoch .*; expected a number"):
        load_run(run)


def test_weights_of_double_precision(run):
    path = run / "model.safetensors"
    expected = load_run(run).model.state_dict()
    doubles = {name: value.double() if value.is_floating_point() else value for name, value in load_file(path).items()}
    save_file(doubles, path, {"epoch": "1"})
    torch.testing.assert_close(load_run(run).model.state_dict(), expected)


def at(*places, value):
    """Puts a value into a checkpoint, or takes one out of it."""

    def forge(checkpoint):
        inner = checkpoint
        for place in places[:-1]:
            inner = inner[place]
        if value is None:
            del inner[places[-1]]
        else:
            inner[places[-1]] = value

    return forge


HISTORY = ("callbacks", "Recorder")
MOMENTS = ("optimizer_states", 0, "state")
LOOP = ("loops", "fit_loop")
FORGERIES = {
    "no epoch": at("epoch", value=None),
    "negative epoch": at("epoch", value=-1),
    "huge epoch": at("epoch", value=10**30),
    "epoch as text": at("epoch", value="one"),
    "other step": at("global_step", value=10**9),
    "version": at("pytorch-lightning_version", value="new"),
    "no version": at("pytorch-lightning_version", value=None),
    "history is a list": at(*HISTORY, value=[1]),
    "rows are numbers": at(*HISTORY, "rows", value=[1, 2]),
    "no rows": at(*HISTORY, "rows", value=None),
    "fewer rows": at(*HISTORY, "rows", 1, value=None),
    "row without loss": at(*HISTORY, "rows", 0, "loss", value=None),
    "loss is text": at(*HISTORY, "rows", 1, "loss", value="low"),
    "rate is not a number": at(*HISTORY, "rows", 1, "lr", value=float("nan")),
    "best epoch to come": at(*HISTORY, "best_epoch", value=7),
    "best epoch is text": at(*HISTORY, "best_epoch", value="1"),
    "no best epoch": at(*HISTORY, "best_epoch", value=-1),
    "best metrics": at(*HISTORY, "best_metrics", value=[]),
    "other best metric": at(*HISTORY, "best_metrics", "mae", value=0.0),
    "best weights": at(*HISTORY, "best_weights", value={}),
    "best weights are not finite": at(*HISTORY, "best_weights", WEIGHT, value=torch.full((8,), torch.nan)),
    "history of more": at(*HISTORY, "task", value="mine"),
    "no weights": at("state_dict", value=None),
    "weights are a list": at("state_dict", value=[]),
    "weight missing": at("state_dict", f"network.{WEIGHT}", value=None),
    "weight of another shape": at("state_dict", f"averaged.{WEIGHT}", value=torch.ones(9)),
    "weight of another type": at("state_dict", f"network.{WEIGHT}", value=torch.ones(8, dtype=torch.int32)),
    "weight is not finite": at("state_dict", f"network.{WEIGHT}", value=torch.full((8,), torch.inf)),
    "weight is a text": at("state_dict", f"network.{WEIGHT}", value="ones"),
    "weight too many": at("state_dict", "network.more", value=torch.ones(1)),
    "huge view": at("state_dict", f"network.{WEIGHT}", value=torch.ones(1).expand(10**14)),
    "no optimizer": at("optimizer_states", value=None),
    "two optimizers": at("optimizer_states", value=[{}, {}]),
    "optimizer is a number": at("optimizer_states", 0, value=3),
    "other groups": at("optimizer_states", 0, "param_groups", value=[]),
    "infinite rate": at("optimizer_states", 0, "param_groups", 0, "lr", value=float("inf")),
    "negative rate": at("optimizer_states", 0, "param_groups", 0, "lr", value=-1.0),
    "betas": at("optimizer_states", 0, "param_groups", 0, "betas", value="many"),
    "fewer parameters": at("optimizer_states", 0, "param_groups", 0, "params", value=[0]),
    "moments are a list": at(*MOMENTS, value=[1]),
    "moments of nothing": at(*MOMENTS, 99, value={}),
    "moment missing": at(*MOMENTS, 0, "exp_avg", value=None),
    "moment of another shape": at(*MOMENTS, 0, "exp_avg", value=torch.ones(1)),
    "moment is not finite": at(*MOMENTS, 0, "exp_avg_sq", value=torch.full((3, 8), torch.nan)),
    "negative moment": at(*MOMENTS, 0, "exp_avg_sq", value=torch.full((3, 8), -1.0)),
    "no schedule": at("lr_schedulers", value=[]),
    "schedule is text": at("lr_schedulers", 0, "best", value="low"),
    "schedule elsewhere": at("lr_schedulers", 0, "last_epoch", value=10**9),
    "no loops": at("loops", value=None),
    "loops are a list": at("loops", value=[]),
    "loop of many epochs": at(*LOOP, "epoch_progress", "current", "completed", value=10**9),
    "loop of text": at(*LOOP, "epoch_progress", value="done"),
    "loop of many steps": at(*LOOP, "epoch_loop.batch_progress", "current", "ready", value=10**9),
    "loop without optimizer": at(*LOOP, "epoch_loop.automatic_optimization.optim_progress", value=None),
    "loader elsewhere": at(*LOOP, "state_dict", "combined_loader", value=[{"epoch": 1, "position": 10**9}]),
}


@pytest.mark.parametrize("name", FORGERIES)
def test_checkpoints(run, name):
    path = run / "last.ckpt"
    checkpoint = torch.load(path, weights_only=True)
    FORGERIES[name](checkpoint)
    torch.save(checkpoint, path)
    before = content(run)
    with pytest.raises(ValueError) as error:
        fit(tiny.bundle(), CONFIG, run, resume=True, progress=False)
    words = str(error.value)
    assert words.startswith(f"{path} is damaged: ") and "train again in a new folder" in words
    assert "\n" not in words and len(words) < 600
    del before["config.yaml"]
    assert content(run).items() >= before.items()


@pytest.mark.parametrize(
    "settings",
    [
        {"schedule": "cosine", "warmup": 1, "optimizer": "adamw", "weight_decay": 0.1},
        {"schedule": "constant", "precision": "64", "average": None},
        {"workers": 2, "batch_size": 100, "model": "pna"},
        {"precision": "bf16-mixed", "gradient_clip": 1.0, "model": "gps", "network": {"heads": 2}},
    ],
)
def test_honest_checkpoints_of_other_settings(tmp_path, settings):
    """What is refused must be wrong."""

    def stop(values):
        if len(values) == 2:
            raise InterruptedError

    config = change(**settings, epochs=3)
    with pytest.raises(InterruptedError):
        fit(tiny.bundle(), config, tmp_path, progress=False, watch=stop)
    assert fit(tiny.bundle(), config, tmp_path, resume=True, progress=False).epochs == 3


def test_a_run_that_diverged_says_what_to_do(tmp_path):
    config = change(lr=1e30, network={"norm": "none", "readout_norm": False}, average=None)
    message = "training diverged.* Lower lr, or clip gradients, in another folder, or delete this one"
    for _ in range(2):
        with pytest.raises(ValueError, match=message):
            fit(tiny.bundle(), config, tmp_path, resume=True, progress=False)


@pytest.mark.parametrize("name", ["model.safetensors", "metrics.csv", "last.ckpt", "result.json"])
def test_full_disk(trained, tmp_path, monkeypatch, name):
    """The file is named, the last good checkpoint stays, and the run goes on when there is room."""
    folder = tmp_path / "run"
    fit(tiny.bundle(), change(epochs=1), folder, progress=False)
    before = (folder / "last.ckpt").read_bytes()
    replace = type(folder).replace

    def full(draft, target):
        if target.name == name:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return replace(draft, target)

    with monkeypatch.context() as patch:
        patch.setattr(type(folder), "replace", full)
        with pytest.raises(OSError, match="No space left on device") as error:
            fit(tiny.bundle(), change(epochs=2), folder, resume=True, progress=False)
    assert (error.value.errno, error.value.filename) == (errno.ENOSPC, str(folder / name))
    assert name == "result.json" or (folder / "last.ckpt").read_bytes() == before
    assert not [path for path in folder.iterdir() if path.name.startswith(".last")]
    fit(tiny.bundle(), change(epochs=2), folder, resume=True, progress=False)
    states = [torch.load(place / "last.ckpt", weights_only=True)["state_dict"] for place in (folder, trained)]
    torch.testing.assert_close(*states, rtol=0, atol=0)


def test_a_checkpoint_for_which_there_is_no_room(tmp_path, monkeypatch):
    """A disk that becomes full in the middle of it; torch alone would speak of positions in the file."""

    def full(draft, content):
        raise OSError(errno.ENOSPC, "no space")

    monkeypatch.setattr(type(tmp_path), "write_bytes", full)
    with pytest.raises(OSError, match="No space left on device") as error:
        recording.AtomicIO().save_checkpoint({"a": torch.ones(3)}, tmp_path / "last.ckpt")
    assert error.value.filename == str(tmp_path / "last.ckpt")


def test_brackets_in_names(tmp_path, capsys):
    """Rich would take them for styles."""
    bundle = tiny.bundle()
    odd = type(bundle)("[/data] [red]", bundle.graphs, bundle.task, bundle.features, bundle.split)
    fit(odd, read_config(overrides={**change(epochs=1).model_dump()}), tmp_path)
    assert "[/data] [red]" in capsys.readouterr().err
