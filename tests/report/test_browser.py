"""The page as a browser lays it out: on a phone, at a desk, on paper."""

import re

import pytest

from escgnn import records
from escgnn.records import Table
from escgnn.report import write
from tests import browser
from tests.report.examples import EXPERIMENTS, experiment, full, run

COLUMNS = tuple(f"a rather long name {i}" for i in range(12))
WIDE = Table("tab:wide", "Many columns", "norm MAE", COLUMNS, ("ESC-GNN",), paper={"ESC-GNN": (0.1,) * 12})


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    browser.chromium()
    folder = tmp_path_factory.mktemp("report")
    long = "an_error_without_a_space_" * 20
    wide = run(0.1, label="tab:wide", column=COLUMNS[0], seed=7, command=f"escgnn {long}")
    for record in [*full(), wide, run(None, row="MPNN", seed=9, error=long)]:
        records.write(record, folder / "results")
    return write(folder / "results", folder / "report.html", [*EXPERIMENTS, experiment("wide", WIDE)])


@pytest.mark.parametrize("width", [375, 1280])
def test_the_page_is_no_wider_than_the_window(page, tmp_path, width):
    found = browser.layout(page, tmp_path, width)
    assert found.window == width
    assert found.page <= width
    assert found.tables >= 6
    assert found.flat_charts == 0


@pytest.mark.parametrize("width", [375, 1280])
def test_it_can_be_seen(page, tmp_path, width):
    picture = browser.screenshot(page, tmp_path, width).read_bytes()
    assert picture.startswith(b"\x89PNG")
    assert int.from_bytes(picture[16:20], "big") == width
    assert len(picture) > 10_000


def test_it_can_be_printed(page, tmp_path):
    paper = browser.pdf(page, tmp_path).read_bytes()
    assert paper.startswith(b"%PDF")
    assert len(re.findall(rb"/Type\s*/Page\b", paper)) >= 1


def test_a_script_that_fails_is_noticed(tmp_path):
    bad = tmp_path / "bad.html"
    bad.write_text("<!DOCTYPE html><body><script>nothing.here</script></body>")
    with pytest.raises(AssertionError, match="Uncaught"):
        browser.run(bad, tmp_path, "--dump-dom")
