"""The faults, as the TOML files beside this one state them: one file for each area."""

import ast
import hashlib
import re
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

HERE = Path(__file__).parent
ROOT = HERE.parents[1]


@dataclass(frozen=True)
class Mutant:
    """One fault.

    Attributes:
        area: Name of the file that states it.
        fault: What goes wrong, in words.
        file: File of the package that it is put into.
        old: Text that occurs there exactly once.
        new: Text in its place.
        tests: What should notice, as pytest takes it.
        interpreted: Whether kernels run as plain Python, because to compile a changed one takes longer than its tests.
        equivalent: Why nobody can notice; empty if somebody should.
        patience: Seconds of a processor after which it is plain that it never ends; 0 for the usual ones.
    """

    area: str
    fault: str
    file: str
    old: str
    new: str
    tests: tuple[str, ...]
    interpreted: bool = False
    equivalent: str = ""
    patience: int = 0

    @property
    def name(self) -> str:
        """What the table and ``--only`` call it."""
        return f"{self.area}: {self.file.removeprefix('escgnn/')}: {self.fault}"

    def digest(self, root: Path, witness: str = "") -> str:
        """A new one whenever the fault or its file change, or the test that noticed it; or any of its tests, if none did."""
        texts = [self.fault, self.old, self.new, str(self.interpreted), (root / self.file).read_text()]
        if "::" in witness:
            file, _, name = witness.partition("::")
            is_asked = witness.startswith(self.tests)
            texts += [str(is_asked), file, needed((root / file).read_text(), name) if (root / file).is_file() else ""]
        else:
            for test in self.tests:
                path = root / test.partition("::")[0]
                files = sorted(path.rglob("*.py")) if path.is_dir() else [path]
                texts += [test, *(file.read_text() for file in files)]
        return hashlib.sha256("\0".join(texts).encode()).hexdigest()[:16]

    def applied(self, root: Path) -> str:
        """The text of the file with the fault in it.

        Raises:
            ValueError: The text to replace is not there exactly once, or nothing would change.
        """
        text = (root / self.file).read_text()
        times = text.count(self.old)
        if times != 1 or self.old == self.new:
            raise ValueError(f"{self.name}: {self.old!r} occurs {times} times; expected once, and another text for it")
        return text.replace(self.old, self.new)


def needed(text: str, test: str) -> str:
    """A file of tests without all tests but one, of which ``test`` is the name, and perhaps the class and the parameters.

    >>> print(needed("N = 2\\ndef test_a():\\n    pass\\ndef test_b():\\n    assert N", "test_b[3]"))
    N = 2
    def test_b():
        assert N
    """
    name = re.split(r"::|\[", test)[0]
    lines = text.splitlines()
    kept = [lines[first:last] for owner, first, last in _statements(text) if not _is_test(owner) or owner == name]
    return "\n".join(line for statement in kept for line in statement)


def _is_test(name: str) -> bool:
    return name.lower().startswith("test")


@cache
def _statements(text: str) -> list[tuple[str, int, int]]:
    """What a file consists of: the name that a statement defines, and its lines."""
    found = []
    for statement in ast.parse(text).body:
        decorators = getattr(statement, "decorator_list", [])
        first = min(one.lineno for one in [statement, *decorators]) - 1
        found.append((getattr(statement, "name", ""), first, statement.end_lineno or first))
    return found


def read(folder: Path = HERE) -> list[Mutant]:
    """All that are stated, area by area.

    A file begins with ``tests`` by file of the package, which its mutants share; a mutant may have its own. What is wrong in a
    kernel is ``interpreted`` unless it says otherwise.
    """
    found = []
    for path in sorted(folder.glob("*.toml")):
        stated = tomllib.loads(path.read_text())
        shared: dict[str, Sequence[str]] = stated.get("tests", {})
        for one in stated["mutant"]:
            tests = tuple(one.pop("tests", ()) or shared[one["file"]])
            options = {"interpreted": one["file"].startswith("escgnn/kernels/"), **one}
            found.append(Mutant(area=path.stem, tests=tests, **options))
    return found
