"""How the code reads: puzzles that the package is rid of stay out; `benchmarks/house.py` has all the numbers."""

import re
from pathlib import Path

import pytest

from benchmarks import house

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def package():
    return house.modules(ROOT)


@pytest.fixture
def module(tmp_path):
    def write(text, name="escgnn.unit.name"):
        path = tmp_path / f"{name}.py"
        path.write_text(text)
        return house.Module(path, name)

    return write


def test_no_nested_ternaries(package):
    places = [place for module in package for place in house.nested_ternaries(module)]
    assert not places


def test_no_texts_times_truth(package):
    places = [place for module in package for place in house.text_times_truth(module)]
    assert not places


def test_no_imports_past_a_front_door(package):
    assert not house.past_front_doors(package)


def test_what_is_counted(module):
    one = module(
        '''"""Words, "s" * True."""

a, b = 1, 2
a, b = b, a
c, d = f()
x = 1 if a else 2 if b else 3
y = (1 if a else 2) + (3 if b else 4)
z = "s" * (a != 1) + "-" * 20 + "=" * len(y) + "!" * x.endswith("y")  # (N, hidden) here, f(x) not
'''
    )
    assert house.tuple_assignments(one) == ["escgnn.unit.name:3"]
    assert house.nested_ternaries(one) == ["escgnn.unit.name:6"]
    assert house.text_times_truth(one) == ["escgnn.unit.name:8"] * 2
    assert one.code_lines == 6
    assert [bool(house.SHAPE.search(comment)) for comment in one.comments] == [True]
    assert not house.SHAPE.search("# calls f(x)")


def test_docstrings_comments_and_layout_are_no_tokens(module):
    one = module('"""Words."""\n\n# why\nx = f(\n    1\n)  # type: int\n')
    assert [token.string for token in one.tokens] == ["x", "=", "f", "(", "1", ")"]
    assert one.code_lines == 3
    assert one.comments == ["# why"]


def test_front_doors_and_importers(module):
    door = module("from escgnn.unit.name import x\n", "escgnn.unit")
    inside = module("import numpy\n")
    good = module("from escgnn.unit import x\nfrom escgnn import unit\n", "escgnn.other")
    past = module("from escgnn.unit.name import x, y\nfrom escgnn.kernels.name import z\n", "escgnn.third")
    found = [door, inside, good, past]
    assert house.past_front_doors(found) == ["escgnn.third: escgnn.unit.name"]
    assert house.with_one_importer([door, inside, good]) == ["escgnn.unit", "escgnn.unit.name"]
    assert house.with_one_importer(found) == ["escgnn.unit"]


def test_all_numbers_are_there():
    numbers = house.measure(ROOT)
    assert len(numbers) == 13 and all(numbers.values())


def test_the_tests_that_contributors_are_told_of_exist():
    references = re.findall(r"`(tests/[\w/]+\.py)::(\w+)`", (ROOT / "CONTRIBUTING.md").read_text())
    assert len(references) > 5
    for path, name in references:
        assert f"def {name}(" in (ROOT / path).read_text(), f"{path}::{name}"


def test_every_room_has_its_line_for_contributors():
    rooms = {module.unit for module in house.modules(ROOT)} - {""}
    text = (ROOT / "CONTRIBUTING.md").read_text()
    listed = text[text.index("| room |") : text.index("Which room may")]
    assert rooms <= {*re.findall(r"`(\w+)`", listed)}
