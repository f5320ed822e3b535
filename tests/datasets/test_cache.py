import subprocess
import sys

import pytest
from safetensors import safe_open
from safetensors.torch import save_file

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


def test_numbers_that_change_on_the_disk_are_not_believed(empty_cache):
    """Nothing but the checksum can tell: the file is whole, and all of it makes sense."""
    fresh = datasets.load("counting-random", count=20)
    path = entry(empty_cache) / "graphs.safetensors"
    good = path.read_bytes()
    with safe_open(path, framework="pt") as file:
        about = file.metadata()
        columns = {name: file.get_tensor(name).clone() for name in file.keys()}  # noqa: SIM118, it is no mapping
    (targets,) = (name for name, column in columns.items() if column.is_floating_point())
    path.unlink()
    save_file({**columns, targets: columns[targets] + 1}, path, about)
    assert_same(datasets.load("counting-random", count=20), fresh)
    assert path.read_bytes() == good


def test_what_another_version_made_is_not_taken(empty_cache):
    ten, eleven = (datasets.load("counting-random", count=count) for count in (10, 11))
    for version, made in ((1, ten), (2, eleven), (1, ten)):
        found = cache.cached("0" * 64, {}, "mine", lambda made=made: made, version=version)
        assert len(found.graphs) == len(made.graphs)


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
    running = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(2)]
    answers = {process.communicate(timeout=1800)[0] for process in running}
    assert len(answers) == 1
    assert answers == {f"{datasets.load('counting-random', count=400).statistics}\n"}
    assert all(process.returncode == 0 for process in running)
    assert not [*(empty_cache / "parsed").glob(".draft-*")]
