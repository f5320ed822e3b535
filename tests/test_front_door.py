"""What ``import escgnn`` gives: the nouns of the library, and nothing before it is used."""

import subprocess
import sys

import pytest

import escgnn
from escgnn import training


def in_new_process(code):
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return done.stdout.strip()


def test_importing_loads_nothing_heavy():
    heavy = ("torch", "numba", "numpy", "networkx", "matplotlib", "lightning", "pydantic", "rich", "typer")
    assert in_new_process(f"import sys, escgnn; print(*({{*{heavy}}} & {{*sys.modules}}))") == ""
    assert "torch" not in in_new_process("import sys, escgnn; escgnn.count; print(*sys.modules)").split()


def test_predicting_needs_no_trainer():
    """Nor pictures: workers of predict load what they are sent, and should be at work soon."""
    code = (
        "import sys, escgnn.training.job; print({'lightning', 'matplotlib', 'optuna', 'sklearn'} & {*sys.modules})\n"
        "from escgnn import training; print(training.fit.__name__, training.team.__name__)"
    )
    assert in_new_process(code).splitlines() == ["set()", "fit escgnn.training.team"]
    assert {*training.LATER} <= {*training.__all__}
    assert all(getattr(training, name).__name__ == name for name in training.LATER)


def test_every_public_name_resolves():
    for name in escgnn.__all__:
        assert getattr(escgnn, name) is not None
        assert name in dir(escgnn)
    for name, room in escgnn.NAMES.items():
        assert getattr(escgnn, name) is getattr(getattr(escgnn, room), name)


def test_it_counts():
    assert escgnn.count(escgnn.graphs.petersen(), "5-cycle") == 12


def test_other_rooms_are_found_too():
    assert in_new_process("import escgnn; print(escgnn.records.__name__)") == "escgnn.records"


@pytest.mark.parametrize(("name", "near"), [("cont", "count"), ("dataset", "datasets"), ("ESCGIN", "ESCGNN")])
def test_an_unknown_name_has_a_hint(name, near):
    with pytest.raises(AttributeError, match=f"module 'escgnn' has no attribute '{name}'; did you mean '{near}'"):
        getattr(escgnn, name)
    with pytest.raises(AttributeError, match=r"no attribute 'zzz'$"):
        _ = escgnn.zzz
    with pytest.raises(ImportError, match="cannot import name"):
        exec(f"from escgnn import {name}")


def test_type_checkers_see_the_same_names():
    """The imports for type checkers and the tables are written by hand; they must agree."""
    import ast
    from pathlib import Path

    tree = ast.parse(Path(escgnn.__file__).read_text())
    (block,) = [node for node in tree.body if isinstance(node, ast.If) and isinstance(node.test, ast.Name)]
    seen = {(node.module.removeprefix("escgnn").lstrip("."), alias.name) for node in block.body for alias in node.names}
    assert seen == {("", room) for room in escgnn.ROOMS} | {(room, name) for name, room in escgnn.NAMES.items()}
