"""How tests are run on a fault: on a tree of three files, in a process of its own, for it is forked."""

import json
import subprocess
import sys

import pytest

from tests.mutants.__main__ import Results, chosen
from tests.mutants.running import GUESS, Order, Trial
from tests.mutants.stated import ROOT, Mutant

TESTS = """
from escgnn import answer

def test_slow():
    pass

def test_wrong():
    assert answer == 42

def test_quick():
    pass

def test_endless():
    while answer == 43:
        pass
"""
SCRIPT = """
import json, sys
from pathlib import Path
from tests.mutants.running import Manner, Order, Run, finished, put

def run(order):
    one = Run(tree, order, Manner(patience=1))
    ((_, trial),) = finished([one])
    return [trial.failed, [*one.seconds], trial.broken]

tree = Path(sys.argv[1])
module = tree / "escgnn/__init__.py"
tests = ("tests/test_it.py",)
endless = "tests/test_it.py::test_endless"
found = [run(Order(tests))]
put(module, "answer = 41")
found.append(run(Order(tests)))
found.append(run(Order(tests, seconds={"tests/test_it.py::test_quick": 0.1, "tests/test_it.py::test_slow": 3.0})))
found.append(run(Order(tests, first="tests/test_it.py::test_wrong")))
found.append(run(Order(tests, only=frozenset([endless]))))
put(module, "answer = 43")
found.append(run(Order(tests, first=endless)))
put(module, "answer = ")
found.append(run(Order(tests)))
found.append(run(Order(("tests/test_gone.py",))))
print(json.dumps(found))
"""


@pytest.fixture
def tree(tmp_path):
    for file, text in (("escgnn/__init__.py", "answer = 42"), ("tests/test_it.py", TESTS), ("pyproject.toml", "")):
        path = tmp_path / "tree" / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return tmp_path / "tree"


def test_whoever_may_notice_soon_comes_first(tree):
    command = [sys.executable, "-c", SCRIPT, str(tree)]
    output = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True, timeout=1800).stdout
    good, in_order, quickest, noticed_before, only, endless, unreadable, gone = json.loads(output)
    slow, wrong, quick, loop = (f"tests/test_it.py::test_{name}" for name in ("slow", "wrong", "quick", "endless"))
    assert good == ["", [slow, wrong, quick, loop], ""]
    assert in_order == [wrong, [slow, wrong], ""]
    assert quickest == [wrong, [quick, wrong], ""], "what was never run is thought to take a second"
    assert noticed_before == [wrong, [wrong], ""]
    assert only == ["", [loop], ""]
    assert endless[:2] == ["it never ends", []]
    assert unreadable[:2] == ["tests/test_it.py cannot be loaded", []]
    assert gone[0] == "" and "test_gone.py" in gone[2]
    assert {path.name for path in tree.parent.iterdir()} == {"tree", "tree.log"}


def test_some_are_chosen():
    first, second, third = (Mutant(area, "a Fault", "escgnn/x.py", "1", "2", ()) for area in ("a1", "b2", "c3"))
    assert chosen([first, second, third], [""]) == [first, second, third]
    assert chosen([first, second, third], ["C3:", "a fault"]) == [third, first, second]


def test_places():
    seconds = {"tests::a": GUESS / 2, "tests::d": 2 * GUESS, "tests::e[1]": 3 * GUESS}
    order = Order(("tests",), "tests::c", seconds)
    assert sorted(["tests::e[2]", "tests::d", "tests::b", "tests::a", "tests::c"], key=order.place) == [
        *("tests::c", "tests::a", "tests::b", "tests::d", "tests::e[2]")
    ], "what is known of a test with other parameters is a guess"


def test_results_are_kept(tmp_path, monkeypatch):
    """Those of two processes, the best of all times, and files of a time when seconds were not kept."""
    monkeypatch.setattr("tests.mutants.__main__.ROOT", tmp_path)
    for name in ("code.py", "test_a.py", "test_b.py"):
        (tmp_path / name).touch()
    path = tmp_path / "kept/results.json"
    one = Mutant("area", "fault", "code.py", "old", "new", ("test_a.py",))
    two = Mutant("area", "other", "code.py", "old", "new", ("test_b.py",))
    first = Results(path)
    second = Results(path)
    first.add(one, Trial("test_a.py::test_a", 1.0), tmp_path)
    second.add(two, Trial("", 2.0), tmp_path)
    first.learn(one, "test_a.py::test_a", {"test_a.py::test_c": 3.0, "test_a.py::test_b": 1.0})
    second.learn(two, "it never ends", {"test_a.py::test_c": 2.0, "test_a.py::test_b": 2.0})
    again = Results(path)
    assert (again.of(one), again.of(two)) == (Trial("test_a.py::test_a", 1.0), Trial("", 2.0))
    assert again.noticed == {one.name: "test_a.py::test_a"}
    assert again.seconds == {"compiled": {"test_a.py::test_c": 2.0, "test_a.py::test_b": 1.0}, "interpreted": {}}
    path.write_text(json.dumps({"trials": {}, "noticed": {}}))
    assert Results(path).seconds == {"compiled": {}, "interpreted": {}}
