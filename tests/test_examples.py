"""What the docs and examples show is run as it stands."""

import re
import runpy
import subprocess
import sys
import warnings
from pathlib import Path

import pytest

from escgnn import records
from escgnn.datasets.loading import DATASETS
from tests.site import tutorials

ROOT = Path(__file__).parents[1]
EXAMPLES = ROOT / "examples"


@pytest.fixture
def same_datasets():
    """Datasets that are registered in between are forgotten."""
    before = {**DATASETS}
    yield
    DATASETS.clear()
    DATASETS.update(before)


@pytest.mark.usefixtures("same_datasets")
@pytest.mark.parametrize(
    "page", ["index", "counting", "wl", "explorer", "datasets", "models", "training", "reproducing", "huge-graphs"]
)
def test_code_in_the_docs_runs(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / "docs" / f"{page}.md").read_text(), re.S)
    assert blocks
    exec("\n".join(blocks), {})


@pytest.mark.usefixtures("same_datasets")
@pytest.mark.parametrize("name", sorted({path.stem for path in EXAMPLES.glob("*.py")} - {"demo", *tutorials.NAMES}))
def test_examples_run(name, tmp_path, monkeypatch):
    """Here, where everything is loaded already; warnings end a test, but not an example. Tutorials: `tests/site`."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", [f"{name}.py"])
    with warnings.catch_warnings():
        warnings.simplefilter("default")
        runpy.run_path(str(EXAMPLES / f"{name}.py"), run_name="__main__")
    assert [*tmp_path.rglob("*.png")]


def test_the_demo_runs(tmp_path):
    """As a process of its own: it speaks before it loads, and says how many threads there are."""
    command = [sys.executable, EXAMPLES / "demo.py", "--quick"]
    result = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=1800, check=False)
    assert result.returncode == 0, result.stderr
    assert [*tmp_path.rglob("*.png")]


def test_the_results_page_shows_all_records():
    """`escgnn report -o docs/results.md` makes it again."""
    count = len(records.read(ROOT / "results"))
    assert f", {count} runs, " in (ROOT / "docs" / "results.md").read_text()
