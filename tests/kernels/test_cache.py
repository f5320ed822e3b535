"""Compiled code is kept between processes, and never trusted more than it deserves."""

import os
import subprocess
import sys

import pytest

SCRIPT = """
from escgnn import graphs
from escgnn.encoding import RootedEncoding
from escgnn.kernels.encoding import encode
row = RootedEncoding(1, ("edge",)).rows(graphs.cycle(4))[0]
assert row["edge", 1, 2, 2, 1] == 1
print("hits", sum(encode.stats.cache_hits.values()))
"""
SMALL = """
from escgnn import graphs
from escgnn.kernels.graphs import build_csr
assert graphs.cycle(4).degrees.tolist() == [2, 2, 2, 2]
print("hits", sum(build_csr.stats.cache_hits.values()))
"""


def run(home, script=SCRIPT, **environment):
    result = subprocess.run(
        [sys.executable, "-c", script],
        env={**os.environ, "XDG_CACHE_HOME": str(home), **environment},
        capture_output=True,
        text=True,
        timeout=1800,
        check=False,
    )
    assert result.returncode == 0, result.stderr
    return result.stdout.strip()


@pytest.fixture(scope="module")
def warm(tmp_path_factory):
    home = tmp_path_factory.mktemp("cache")
    assert run(home) == "hits 0"
    return home


def test_the_second_process_compiles_nothing(warm):
    assert run(warm) == "hits 1"


def test_the_folder_is_private(warm):
    (folder,) = (warm / "escgnn").iterdir()
    assert folder.stat().st_mode & 0o077 == 0


def test_damaged_files_mean_compiling_again(warm, tmp_path):
    (folder,) = (warm / "escgnn").iterdir()
    copy = tmp_path / "escgnn" / folder.name
    copy.mkdir(parents=True)
    for file in folder.iterdir():
        (copy / file.name).write_bytes(file.read_bytes()[:20])
    assert run(tmp_path, SMALL) == "hits 0"
    assert run(tmp_path, SMALL) == "hits 1", "and kept anew"


def test_no_place_to_write_is_no_failure(tmp_path):
    blocked = tmp_path / "a file, not a folder"
    blocked.touch()
    assert run(blocked, SMALL, NUMBA_DISABLE_JIT="0") == "hits 0"
