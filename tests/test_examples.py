"""What the docs and examples show is run as it stands."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from escgnn import records
from escgnn.datasets.loading import DATASETS

ROOT = Path(__file__).parents[1]


QUICK = {"demo": ["--quick"]}


@pytest.fixture
def same_datasets():
    """Datasets that are registered in between are forgotten."""
    before = {**DATASETS}
    yield
    DATASETS.clear()
    DATASETS.update(before)


@pytest.mark.usefixtures("same_datasets")
@pytest.mark.parametrize(
    "page", ["index", "counting", "wl", "explorer", "datasets", "models", "training", "reproducing"]
)
def test_code_in_the_docs_runs(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / "docs" / f"{page}.md").read_text(), re.S)
    assert blocks
    exec("\n".join(blocks), {})


@pytest.mark.parametrize("example", sorted((ROOT / "examples").glob("*.py")), ids=lambda path: path.stem)
def test_examples_run(example, tmp_path):
    result = subprocess.run(
        [sys.executable, example, *QUICK.get(example.stem, [])],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert result.returncode == 0, result.stderr
    assert [*tmp_path.rglob("*.png")]


def test_the_results_page_shows_all_records():
    """`escgnn report -o docs/results.md` makes it again."""
    count = len(records.read(ROOT / "results"))
    assert f", {count} runs, " in (ROOT / "docs" / "results.md").read_text()
