"""Tutorials are run, and what the docs show of them is what they give now."""

import json
import re
import warnings

import pytest

from escgnn.datasets.loading import DATASETS
from escgnn.encoding import PARTS
from tests.pages import unpacked
from tests.site import explorers, tutorials

REMEDY = "python -m tests.site makes it anew"


@pytest.fixture
def same_names():
    """Datasets and parts that are registered in between are forgotten."""
    tables = [(table, {**table}) for table in (DATASETS, PARTS)]
    yield
    for table, before in tables:
        table.clear()
        table.update(before)


@pytest.mark.usefixtures("same_names")
@pytest.mark.parametrize("name", tutorials.NAMES)
def test_the_docs_show_what_a_tutorial_gives(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with warnings.catch_warnings():
        warnings.simplefilter("default")
        now = tutorials.run(name)
    kept = (tutorials.SHOWN / f"{name}.md").read_text(encoding="utf-8")
    assert code_of(kept) == code_of(now.page), REMEDY
    assert tutorials.differences(kept, now.page) == [], REMEDY
    beside = {path.name for path in tutorials.SHOWN.glob(f"{name}*")}
    assert beside == {f"{name}.md", f"{name}.ipynb", *now.files}, REMEDY
    for file, content in now.files.items():
        if file.endswith(".html"):
            known = (tutorials.SHOWN / file).read_text(encoding="utf-8")
            assert page_differences(known, content.decode()) == [], REMEDY


def code_of(page):
    return re.findall(r"```python\n(.*?)\n```", page, re.S)


@pytest.mark.parametrize("name", tutorials.NAMES)
def test_the_notebook_is_that_of_the_script(name):
    kept = (tutorials.SHOWN / f"{name}.ipynb").read_text(encoding="utf-8")
    assert kept == tutorials.notebook(name), REMEDY
    cells = json.loads(kept)["cells"]
    assert {cell["cell_type"] for cell in cells} == {"markdown", "code"}
    assert not [cell for cell in cells if cell["cell_type"] == "markdown" and "](../" in "".join(cell["source"])]


def test_every_example_with_text_is_a_tutorial():
    with_text = {path.stem for path in tutorials.EXAMPLES.glob("*.py") if "# %% [markdown]" in path.read_text()}
    assert with_text == {*tutorials.NAMES}


def test_the_pages_of_the_explorer_are_those_of_now():
    pages = explorers.pages()
    assert {path.name for path in explorers.SHOWN.iterdir()} == {*pages}
    for name, page in pages.items():
        kept = (explorers.SHOWN / name).read_text(encoding="utf-8")
        assert page_differences(kept, page.html) == [], REMEDY


def page_differences(kept, now):
    """Between two pages of the explorer, which are packed."""
    return [
        line for pieces in zip(unpacked(kept), unpacked(now), strict=True) for line in tutorials.differences(*pieces)
    ]


SCRIPT = r'''"""Title.

More \\(x\\).
"""

# %% [markdown]
# ## Head
#
# See [it](../a.md).

# %%
x = 1
print(x)
x + 1
'''


def test_blocks(tmp_path, monkeypatch):
    (tmp_path / "one.py").write_text(SCRIPT)
    monkeypatch.setattr(tutorials, "EXAMPLES", tmp_path)
    assert [(block.is_code, block.source) for block in tutorials.read("one")] == [
        (False, "# Title\n\nMore \\(x\\)."),
        (False, "## Head\n\nSee [it](../a.md)."),
        (True, "x = 1\nprint(x)\nx + 1"),
    ]
    page = tutorials.run("one").page
    assert page.startswith("# Title\n\n[Download this page")
    assert page.endswith("```python\nx = 1\nprint(x)\nx + 1\n```\n\n```text\n1\n```\n\n```text\n2\n```\n")
    sources = ["".join(cell["source"]) for cell in json.loads(tutorials.notebook("one"))["cells"]]
    assert sources == ["# Title\n\nMore $x$.", "## Head\n\nSee it.", "x = 1\nprint(x)\nx + 1"]
