"""The list does not rot: every fault can still be put in, and what should notice it is there."""

import ast
import re
import tomllib

import pytest

from tests.mutants.stated import HERE, ROOT, Mutant, read

MUTANTS = read()


def test_there_are_enough_of_them():
    assert len(MUTANTS) >= 150
    assert len({mutant.name for mutant in MUTANTS}) == len(MUTANTS)
    assert {mutant.area for mutant in MUTANTS} == {path.stem for path in HERE.glob("*.toml")}


def test_every_fault_can_be_put_in():
    for mutant in MUTANTS:
        ast.parse(mutant.applied(ROOT))


def test_what_should_notice_is_there():
    for mutant in MUTANTS:
        for test in mutant.tests:
            path, *names = test.split("::")
            assert (ROOT / path).exists(), mutant.name
            for name in names:
                assert re.search(rf"(def|class) {re.escape(name.partition('[')[0])}\b", (ROOT / path).read_text()), (
                    mutant.name
                )


def test_a_fault_must_be_where_it_is_stated(tmp_path):
    (tmp_path / "code.py").write_text("x = 1\nx = 1\ny = 2\n")
    one = Mutant("area", "twice", "code.py", "x = 1", "x = 2", ("tests",))
    with pytest.raises(ValueError, match="occurs 2 times"):
        one.applied(tmp_path)
    gone = Mutant("area", "gone", "code.py", "z = 1", "z = 2", ("tests",))
    with pytest.raises(ValueError, match="occurs 0 times"):
        gone.applied(tmp_path)
    same = Mutant("area", "same", "code.py", "y = 2", "y = 2", ("tests",))
    with pytest.raises(ValueError, match="another text"):
        same.applied(tmp_path)
    assert Mutant("area", "good", "code.py", "y = 2", "y = 3", ("tests",)).applied(tmp_path).endswith("y = 3\n")


def test_what_changes_a_digest(tmp_path):
    """Of a fault that was noticed the test that did it, of one that was not every test; and what these stand on."""
    (tmp_path / "code.py").write_text("x = 1")
    parts = {
        "top": "import os",
        "a": "@mark\ndef test_a():\n    pass",
        "help": "def help():\n    pass",
        "b": "def test_b(): 1",
    }
    one = Mutant("area", "fault", "code.py", "1", "2", ("test_it.py",))

    def digests(**changed):
        (tmp_path / "test_it.py").write_text("\n".join({**parts, **changed}.values()))
        return [one.digest(tmp_path, witness) for witness in ("test_it.py::test_a[1]", "test_it.py::test_b", "")]

    before = digests()
    assert len({*before}) == 3 and digests() == before
    for changed, differ in [
        ({"a": "@other\ndef test_a():\n    pass"}, [True, False, True]),
        ({"b": "def test_b(): 2"}, [False, True, True]),
        ({"help": "def help():\n    1"}, [True, True, True]),
        ({"c": "def test_c(): 1"}, [False, False, True]),
    ]:
        assert [new != old for new, old in zip(digests(**changed), before, strict=True)] == differ
    digests()
    (tmp_path / "code.py").write_text("x = 1 ")
    assert not {*digests()} & {*before}
    elsewhere = Mutant("area", "fault", "code.py", "1", "2", ("test_other.py",))
    assert elsewhere.digest(tmp_path, "test_it.py::test_b") != digests()[1], "a test that is not named any more"
    assert elsewhere.digest(tmp_path, "test_gone.py::test_b") != digests()[1]


def test_what_is_shared_and_what_is_not(tmp_path):
    (tmp_path / "here.toml").write_text(
        """
        [tests]
        "escgnn/kernels/a.py" = ["tests/test_a.py"]
        [[mutant]]
        fault = "one"
        file = "escgnn/kernels/a.py"
        old = "1"
        new = "2"
        [[mutant]]
        fault = "two"
        file = "escgnn/kernels/a.py"
        old = "1"
        new = "3"
        tests = ["tests/test_b.py"]
        interpreted = false
        equivalent = "because"
        [[mutant]]
        fault = "three"
        file = "escgnn/b.py"
        old = "1"
        new = "3"
        tests = ["tests/test_b.py"]
        """
    )
    one, two, three = read(tmp_path)
    assert (one.area, one.tests, one.interpreted, one.equivalent) == ("here", ("tests/test_a.py",), True, "")
    assert (two.tests, two.interpreted, two.equivalent) == (("tests/test_b.py",), False, "because")
    assert not three.interpreted, "kernels that nobody changed are compiled already"
    with pytest.raises(tomllib.TOMLDecodeError):
        (tmp_path / "bad.toml").write_text("mutant")
        read(tmp_path)
