"""A run that stops, however it stops, and goes on gives what it would have given."""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
import torch
from filelock import FileLock

from escgnn.training import fit, fitting, recording
from tests.training import tiny
from tests.training.tiny import CONFIG, change

ROOT = Path(__file__).parents[2]


def table(folder):
    """The epochs without what the clock says."""
    return [line.rsplit(",", 2)[0] for line in (folder / "metrics.csv").read_text().splitlines()]


def assert_same_run(a, b):
    assert (a / "model.safetensors").read_bytes() == (b / "model.safetensors").read_bytes()
    assert table(a) == table(b)
    states = [torch.load(folder / "last.ckpt", weights_only=True) for folder in (a, b)]
    assert states[0]["lr_schedulers"] == states[1]["lr_schedulers"]
    for part in ("state_dict", "optimizer_states"):
        torch.testing.assert_close(states[0][part], states[1][part], rtol=0, atol=0)


@pytest.fixture(scope="module")
def straight(tmp_path_factory):
    folder = tmp_path_factory.mktemp("straight")
    return folder, fit(tiny.bundle(), CONFIG, folder, progress=False)


def test_two_epochs_and_two_more(straight, tmp_path):
    fit(tiny.bundle(), change(epochs=2), tmp_path, progress=False)
    assert fit(tiny.bundle(), CONFIG, tmp_path, resume=True, progress=False) == straight[1]
    assert_same_run(tmp_path, straight[0])


def test_watched(straight, tmp_path):
    """Whoever watches sees every epoch but the last, may end the run, and is asked again before it goes on."""
    seen = []

    def watch(values):
        seen.append(len(values))
        if seen == [1, 2]:
            raise InterruptedError

    with pytest.raises(InterruptedError):
        fit(tiny.bundle(), CONFIG, tmp_path, progress=False, watch=watch)
    assert fit(tiny.bundle(), CONFIG, tmp_path, resume=True, progress=False, watch=watch) == straight[1]
    assert seen == [1, 2, 2, 3]
    assert_same_run(tmp_path, straight[0])
    with pytest.raises(ValueError, match="watch: it cannot follow 2 devices"):
        fit(tiny.bundle(), change(devices=2), tmp_path / "two", watch=watch)


KILLED = """
import torch
torch.set_num_threads(1)
from escgnn.training import fit, fitting
from tests.training import tiny

write = fitting.Recorder.on_train_epoch_end

def slowly(*arguments):
    write(*arguments)
    import time; time.sleep(0.4)

fitting.Recorder.on_train_epoch_end = slowly
fit(tiny.bundle(), tiny.CONFIG, {folder!r}, progress=False)
"""


def test_killed(straight, tmp_path):
    command = [sys.executable, "-c", KILLED.format(folder=str(tmp_path / "run"))]
    with subprocess.Popen(command, cwd=ROOT, env={**os.environ, "PYTHONPATH": str(ROOT)}) as process:
        metrics = tmp_path / "run/metrics.csv"
        while process.poll() is None and not (metrics.exists() and len(table(tmp_path / "run")) > 2):
            time.sleep(0.02)
        process.kill()
    assert process.returncode == -9
    assert 2 <= len(table(tmp_path / "run")) - 1 < CONFIG.epochs
    assert not (tmp_path / "run/result.json").exists()
    assert fit(tiny.bundle(), CONFIG, tmp_path / "run", resume=True, progress=False) == straight[1]
    assert_same_run(tmp_path / "run", straight[0])


@pytest.mark.parametrize("moment", ["save_weights", "write_metrics", "save_checkpoint"])
@pytest.mark.parametrize("epoch", [0, 2])
def test_stopped_between_two_files(straight, tmp_path, monkeypatch, moment, epoch):
    """Whatever was written last, going on repeats the epoch that was not complete."""

    class Stop(BaseException):
        pass

    home = recording.AtomicIO if moment == "save_checkpoint" else recording
    original, calls = getattr(home, moment), []

    def stopping(*arguments, **options):
        calls.append(arguments)
        if len(calls) > epoch:
            (tmp_path / ".last.ckpt.0123abcd").write_text("half a file")
            raise Stop
        return original(*arguments, **options)

    with monkeypatch.context() as patch:
        patch.setattr(home, moment, stopping)
        with pytest.raises(Stop):
            fit(tiny.bundle(), CONFIG, tmp_path, progress=False)
    assert fit(tiny.bundle(), CONFIG, tmp_path, resume=True, progress=False) == straight[1]
    assert_same_run(tmp_path, straight[0])
    assert not [*tmp_path.glob(".last*")]


def test_a_finished_run_is_not_trained_again(straight, monkeypatch):
    monkeypatch.setattr(fitting, "_train", None)
    assert fit(tiny.bundle(), CONFIG, straight[0], resume=True, progress=False) == straight[1]


def test_resume_into_nothing_starts(straight, tmp_path):
    assert fit(tiny.bundle(), CONFIG, tmp_path / "new", resume=True, progress=False) == straight[1]


def test_other_settings_are_refused(straight):
    for config, message in [
        (change(lr=0.5), "lr was 0.01 and is 0.5"),
        (change(network={"hidden": 9}), "network.hidden was 8 and is 9"),
        (change(model="gin"), "model was 'esc-gnn' and is 'gin'"),
        (change(epochs=2), "epochs: 2, but .* has trained 4"),
    ]:
        with pytest.raises(ValueError, match=message):
            fit(tiny.bundle(), config, straight[0], resume=True, progress=False)


def test_cosine_depends_on_the_number_of_epochs(tmp_path):
    config = change(schedule="cosine", epochs=1)
    fit(tiny.bundle(), config, tmp_path, progress=False)
    with pytest.raises(ValueError, match="epochs was 1 and is 2"):
        fit(tiny.bundle(), change(config, epochs=2), tmp_path, resume=True, progress=False)


def test_other_data_are_refused(straight):
    bundle = tiny.bundle()
    split = bundle.split._replace(train=bundle.split.train[:-1])
    for other in (tiny.bundle(seed=1), type(bundle)("tiny", bundle.graphs, bundle.task, bundle.features, split)):
        with pytest.raises(ValueError, match="cannot resume with other data; it was trained on tiny"):
            fit(other, CONFIG, straight[0], resume=True, progress=False)


def test_folders_that_hold_something_are_refused(straight, tmp_path):
    with pytest.raises(ValueError, match="is not empty; resume"):
        fit(tiny.bundle(), CONFIG, straight[0], progress=False)
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(ValueError, match="holds no run to resume"):
        fit(tiny.bundle(), CONFIG, tmp_path, resume=True, progress=False)


def test_one_process_at_a_time(tmp_path):
    with FileLock(tmp_path / ".lock"), pytest.raises(ValueError, match="another process is training"):
        fit(tiny.bundle(), CONFIG, tmp_path, progress=False)


def test_a_damaged_checkpoint_is_told(tmp_path):
    fit(tiny.bundle(), change(epochs=1), tmp_path, progress=False)
    (tmp_path / "last.ckpt").write_bytes(b"no")
    with pytest.raises(ValueError, match="ckpt is damaged"):
        fit(tiny.bundle(), CONFIG, tmp_path, resume=True, progress=False)
