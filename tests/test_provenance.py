import re
import shlex
import subprocess
import sys
from datetime import datetime
from importlib import metadata
from pathlib import Path

import torch

from escgnn import __version__, kernels, provenance
from escgnn.datasets.raw import cache_folder
from escgnn.provenance import commit


def test_the_command_can_be_called_again(monkeypatch):
    monkeypatch.setattr(sys, "argv", ["/some/where/escgnn", "train", "my table.csv", "--set", "lr=1e-3"])
    assert provenance.command() == "escgnn train 'my table.csv' --set lr=1e-3"
    assert shlex.split(provenance.command())[2] == "my table.csv"


def test_folders_are_no_part_of_what_was_computed(monkeypatch):
    called = ["escgnn", "reproduce", "--work", "/a", "counting", "--results=/b", "--row", "GIN", "--work"]
    monkeypatch.setattr(sys, "argv", called)
    assert provenance.command(leave_out=("--work", "--results")) == "escgnn reproduce counting --row GIN"


def test_versions_and_date():
    versions = provenance.versions()
    assert versions["escgnn"] == __version__ and versions["torch"] == torch.__version__
    assert datetime.fromisoformat(provenance.now()).utcoffset().total_seconds() == 0


def test_what_a_bug_report_says(monkeypatch, tmp_path):
    """Versions of all that is needed, extras, threads and caches; nothing that is private, and nothing is loaded for it."""
    monkeypatch.setenv("NUMBA_NUM_THREADS", "7")
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    monkeypatch.setenv("ESCGNN_CACHE", str(Path.home() / "my data"))
    found = provenance.surroundings()
    assert {name: found[name] for name in provenance.versions()} == provenance.versions()
    assert (found["NUMBA_NUM_THREADS"], found["OMP_NUM_THREADS"]) == ("7", "not set")
    assert Path(found["data cache"]).expanduser() == cache_folder()
    assert Path(found["kernel cache"]).expanduser() == kernels._cache_folder().parent
    assert str(Path.home()) not in "".join(found.values())
    assert "chem" in found["extras"] and found["rdkit"] == metadata.version("rdkit")
    assert not {"pytest", "ruff", "hypothesis"} & {*found}, "what contributors need"


def test_a_bug_report_of_what_is_not_installed(monkeypatch):
    stated = [
        "numpy>=1.26",
        "nothing_there>=1; extra == 'gone'",
        'rdkit>=2024.3; extra == "chem"',
        "pytest; extra == 'dev'",
    ]
    monkeypatch.setattr(metadata, "requires", lambda name: stated)
    found = provenance.surroundings()
    assert (found["extras"], found["nothing_there"]) == ("chem", "not installed")
    assert [*found][-3:] == ["numpy", "nothing_there", "rdkit"]

    def unknown(name):
        raise metadata.PackageNotFoundError(name)

    monkeypatch.setattr(metadata, "requires", unknown)
    found = provenance.surroundings()
    assert (found["extras"], found["torch"]) == ("none", torch.__version__)


def test_commit_tells_changed_code(tmp_path, monkeypatch):
    def git(*arguments):
        who = ("-c", "user.name=me", "-c", "user.email=me@here")
        subprocess.run(["git", "-C", str(tmp_path), *who, *arguments], check=True, capture_output=True)

    code, other = tmp_path / "escgnn" / "provenance.py", tmp_path / "README.md"
    monkeypatch.setattr(provenance, "__file__", str(code))
    code.parent.mkdir(parents=True)
    for path in (code, other):
        path.write_text("one\n")
    assert commit() is None, "no repository"
    git("init")
    git("add", ".")
    git("commit", "-m", "First")
    clean = commit()
    assert re.fullmatch("[0-9a-f]{40}", clean)
    other.write_text("two\n")
    (code.parent / "new.py").touch()
    assert commit() == clean, "no code, and none that was committed"
    code.write_text("two\n")
    assert commit() == f"{clean}-dirty"
