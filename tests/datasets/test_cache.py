import subprocess
import sys

import pytest

from escgnn import datasets
from escgnn.datasets import cache
from tests.datasets.equality import assert_same


def entry(folder):
    (found,) = (path for path in (folder / "parsed").iterdir() if path.is_dir())
    return found


def test_what_is_read_is_what_was_made(empty_cache, monkeypatch):
    fresh = datasets.load("counting-random", count=30)
    monkeypatch.setattr(cache, "_write", None)  # so that nothing could be made again
    assert_same(datasets.load("counting-random", count=30), fresh)


@pytest.mark.parametrize("file", ["graphs.safetensors", "index.safetensors", "checksums.json"])
@pytest.mark.parametrize("harm", ["truncated", "changed", "gone", "empty"])
def test_a_damaged_entry_is_made_again(empty_cache, file, harm):
    fresh = datasets.load("counting-random", count=20)
    path = entry(empty_cache) / file
    good = path.read_bytes()
    path.unlink()  # the first bundle keeps the old file mapped
    if harm != "gone":
        path.write_bytes({"truncated": good[:-9], "changed": good[:-9] + b"123456789", "empty": b""}[harm])
    assert_same(datasets.load("counting-random", count=20), fresh)
    assert path.read_bytes() == good


def test_options_have_their_own_entries(empty_cache):
    datasets.load("counting-random", count=10)
    datasets.load("counting-random", count=10, seed=0)  # the default
    assert entry(empty_cache)
    datasets.load("counting-random", count=11)
    assert len([path for path in (empty_cache / "parsed").iterdir() if path.is_dir()]) == 2


def test_a_cache_that_cannot_be_written_costs_time_only(empty_cache, tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("ESCGNN_CACHE", str(tmp_path / "file"))
    with pytest.warns(UserWarning, match="counting-random is not cached"):
        assert datasets.load("counting-random", count=10).statistics.graphs == 10


def test_processes_do_not_disturb_each_other(empty_cache):
    program = "from escgnn.datasets import load; print(load('counting-random', count=400).statistics)"
    command = [sys.executable, "-W", "ignore", "-c", program]
    running = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(3)]
    answers = {process.communicate(timeout=120)[0] for process in running}
    assert len(answers) == 1
    assert answers == {f"{datasets.load('counting-random', count=400).statistics}\n"}
    assert all(process.returncode == 0 for process in running)
    assert not [*(empty_cache / "parsed").glob(".draft-*")]
