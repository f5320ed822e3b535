import re
import shlex
import subprocess
import sys
from datetime import datetime

import torch

from escgnn import __version__, provenance
from escgnn.provenance import commit


def test_the_command_can_be_called_again(monkeypatch):
    monkeypatch.setattr(sys, "argv", ["/some/where/escgnn", "train", "my table.csv", "--set", "lr=1e-3"])
    assert provenance.command() == "escgnn train 'my table.csv' --set lr=1e-3"
    assert shlex.split(provenance.command())[2] == "my table.csv"


def test_versions_and_date():
    versions = provenance.versions()
    assert versions["escgnn"] == __version__ and versions["torch"] == torch.__version__
    assert datetime.fromisoformat(provenance.now()).utcoffset().total_seconds() == 0


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
