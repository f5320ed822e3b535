"""A real browser for tests of pages: Chromium, without a window."""

import os
import re
import shutil
import subprocess
from dataclasses import dataclass
from html import escape
from pathlib import Path

import pytest

NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")
FLAGS = (
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--hide-scrollbars",
    "--no-first-run",
)
MEASURE = """<script>
addEventListener("load", () => {
  const root = document.documentElement, seen = e => e.checkVisibility() && !e.closest("details:not([open])");
  const flat = [...document.querySelectorAll("svg")].filter(seen).filter(e => {
    const box = e.getBoundingClientRect();
    return box.width < 1 || box.height < 1;
  });
  const found = [innerWidth, root.scrollWidth, document.querySelectorAll("table").length, flat.length];
  parent.document.documentElement.dataset.measured = found.join(" ");
});
</script>"""


@dataclass(frozen=True)
class Layout:
    """What the browser measured: pixels across, as wide as the page is, tables, and charts that take no room."""

    window: int
    page: int
    tables: int
    flat_charts: int


def chromium() -> str:
    """The browser's path; without one the test does not run."""
    found = os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, NAMES)), None)
    if not found:
        pytest.skip(f"no browser: set CHROMIUM, or install one of {', '.join(NAMES)}")
    return found


def run(page: Path, folder: Path, *flags: str, timeout: float = 120) -> str:
    """Open a page with a profile of its own; what the browser printed.

    Raises:
        AssertionError: It failed, or the page's scripts did.
    """
    profile = folder / "profile"
    command = [
        chromium(),
        *FLAGS,
        f"--user-data-dir={profile}",
        "--enable-logging=stderr",
        "--v=0",
        *flags,
        page.as_uri(),
    ]
    done = subprocess.run(command, capture_output=True, text=True, timeout=timeout, check=False)
    assert done.returncode == 0, done.stderr
    assert "Uncaught" not in done.stderr, done.stderr
    return done.stdout


def layout(page: Path, folder: Path, width: int, height: int = 900) -> Layout:
    """Measure a page in a frame of a width; no window of the browser can be as narrow as a phone."""
    inner = page.read_text(encoding="utf-8").replace("</body>", f"{MEASURE}</body>")
    frame = f'<iframe srcdoc="{escape(inner)}" style="width:{width}px;height:{height}px;border:0"></iframe>'
    outer = folder / f"measured-{width}.html"
    outer.write_text(f"<!DOCTYPE html><meta charset=utf-8><body>{frame}</body>", encoding="utf-8")
    dom = run(outer, folder, "--window-size=1400,1000", "--dump-dom")
    found = re.search(r'data-measured="([^"]*)"', dom)
    assert found, "the page was not measured"
    return Layout(*map(int, found[1].split()))


def screenshot(page: Path, folder: Path, width: int, height: int = 900, *flags: str) -> Path:
    """A picture of a page in a window."""
    picture = folder / f"{width}.png"
    run(page, folder, f"--window-size={width},{height}", f"--screenshot={picture}", *flags)
    return picture


def pdf(page: Path, folder: Path) -> Path:
    """A page as printed."""
    paper = folder / "page.pdf"
    run(page, folder, "--no-pdf-header-footer", f"--print-to-pdf={paper}")
    return paper
