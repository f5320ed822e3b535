"""The site as people get it: every link, every picture, every public name, and formulas that are formulas."""

import ast
import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass, field
from functools import partial
from html.parser import HTMLParser
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from urllib.parse import unquote, urlsplit

import pytest
import yaml
from filelock import FileLock

import escgnn
from tests import browser
from tests.site.tutorials import ROOT

PACKAGE = ROOT / "escgnn"
# Units without a page.
OWN_BUSINESS = {"__main__", "cli", "depiction", "disk", "kernels", "markup", "provenance", "terminal"}
FORMULA = re.compile(r"\\\(|\\\[")
FONT_IS_LOADED = """document.fonts.ready.then(
  fonts => [...fonts].some(font => font.family.startsWith("KaTeX") && font.status === "loaded")
)"""


@dataclass
class Seen(HTMLParser):
    """What a page refers to, and what can be referred to in it."""

    targets: list[str] = field(default_factory=list)
    anchors: set[str] = field(default_factory=set)
    images_without_words: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__init__()

    def handle_starttag(self, tag, attrs):
        given = dict(attrs)
        self.anchors |= {given[name] for name in ("id", "name") if given.get(name)}
        self.targets += [given[name] for name in ("href", "src") if given.get(name)]
        if tag == "img" and not given.get("alt"):
            self.images_without_words.append(given.get("src", ""))


@pytest.fixture(scope="session")
def site(tmp_path_factory):
    """The site, built once for all processes that test, from the same files as by `make site`."""
    own = tmp_path_factory.getbasetemp()
    folder = (own.parent if "PYTEST_XDIST_WORKER" in os.environ else own) / "built"
    with FileLock(f"{folder}.lock"):
        if not (folder / "done").exists():
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir()
            shutil.copy(ROOT / "mkdocs.yml", folder)
            shutil.copytree(ROOT / "docs", folder / "docs")
            for name in ("escgnn", "tests"):  # whose docstrings are read, and what reads them
                (folder / name).symlink_to(ROOT / name)
            command = [sys.executable, "-m", "zensical", "build", "--clean", "--strict"]
            done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=1800, check=False)
            assert done.returncode == 0, done.stdout + done.stderr
            (folder / "done").touch()
    return folder / "site"


@pytest.fixture(scope="session")
def pages(site):
    """By path, what each page of the site holds; pages of the explorer are pages of their own."""
    found = {}
    for path in sorted(site.rglob("*.html")):
        seen = Seen()
        seen.feed(path.read_text(encoding="utf-8"))
        found[path] = seen
    assert len(found) > 50
    return found


def test_every_link_and_every_picture_is_there(site, pages):
    missing = []
    for path, seen in pages.items():
        for target in seen.targets:
            parts = urlsplit(target)
            if parts.scheme or parts.netloc or path.name == "404.html":
                continue
            aim = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            aim = aim / "index.html" if aim.is_dir() else aim
            if not aim.is_file():
                missing.append(f"{path.relative_to(site)}: {target}")
            elif parts.fragment and aim in pages and unquote(parts.fragment) not in pages[aim].anchors | {"__top"}:
                missing.append(f"{path.relative_to(site)}: {target}, no such anchor")
    assert not missing


def test_pictures_have_words(pages):
    assert not {path.name: seen.images_without_words for path, seen in pages.items() if seen.images_without_words}


def test_every_page_is_in_the_navigation():
    def listed(entry):
        if isinstance(entry, str):
            return {entry}
        return {path for inner in (entry.values() if isinstance(entry, dict) else entry) for path in listed(inner)}

    settings = yaml.safe_load((ROOT / "mkdocs.yml").read_text())
    docs = ROOT / "docs"
    assert listed(settings["nav"]) == {path.relative_to(docs).as_posix() for path in docs.rglob("*.md")}


def public_names(unit):
    """What ``from escgnn.unit import *`` would give, without importing it."""
    path = PACKAGE / unit / "__init__.py"
    tree = ast.parse((path if path.exists() else PACKAGE / f"{unit}.py").read_text())
    found = []
    for node in tree.body:
        if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == "__all__":
            return ast.literal_eval(node.value)
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            found.append(node.name)
    return [name for name in found if not name.startswith("_")]


UNITS = {path.stem for path in PACKAGE.iterdir() if path.suffix == ".py" or (path / "__init__.py").exists()}


def test_every_unit_has_a_page_or_is_our_own_business():
    described = {path.stem for path in (ROOT / "docs" / "api").glob("*.md")} - {"index"}
    assert described == UNITS - OWN_BUSINESS - {"__init__"}
    assert not OWN_BUSINESS & {*escgnn.ROOMS, *escgnn.NAMES.values()}


@pytest.mark.parametrize("unit", sorted(UNITS - OWN_BUSINESS - {"__init__"}))
def test_every_public_name_is_described(unit, site, pages):
    names = public_names(unit)
    assert names
    anchors = pages[site / "api" / f"{unit}.html"].anchors
    assert {f"escgnn.{unit}.{name}" for name in names} - anchors == set()


def test_docstrings_are_translated(site):
    pages = {path.stem: path.read_text(encoding="utf-8") for path in (site / "api").glob("*.html")}
    assert not [unit for unit, page in pages.items() if ":math:" in page or ".. math::" in page]
    assert not [unit for unit, page in pages.items() if "<blockquote>" in page]  # an example that is not fenced
    assert "Edges; counts are cut off at 2,147,483,647" in pages["limits"]  # the comment on the line of a constant


def test_the_front_door_is_described():
    page = (ROOT / "docs" / "api" / "index.md").read_text()
    for name, room in escgnn.NAMES.items():
        assert f"[`escgnn.{name}`]({room}.md#escgnn.{room}.{name})" in page
    for room in escgnn.ROOMS:
        assert f"[`{room}`]({room}.md)" in page


class Quiet(SimpleHTTPRequestHandler):
    """A server of files that does not tell whom it serves."""

    def log_message(self, *_):
        """Nothing."""


@pytest.fixture
def served(site):
    """The address of the site on this machine."""
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=site)) as server:
        thread = Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


def test_formulas_are_rendered(served, tmp_path):
    with browser.Tab(tmp_path) as tab:
        for page in ("counting", "encoding", "models", "tutorials/count_and_see", "api/layers", "api/models"):
            tab.goto(f"{served}/{page}.html")
            tab.until("document.querySelectorAll('.arithmatex').length > 0")
            tab.until("document.querySelectorAll('.arithmatex:not(:has(.katex))').length === 0")
            assert tab.number(".katex-error") == 0
            assert tab.js("document.querySelector('.katex-html').getBoundingClientRect().height > 1")
            assert tab.js(FONT_IS_LOADED)
            shown = tab.js("document.querySelector('article').innerText")
            assert not FORMULA.search(shown), page
        assert tab.complaints == []


def test_pages_of_the_explorer_work_where_they_are_shown(served, tmp_path):
    with browser.Tab(tmp_path) as tab:
        tab.goto(f"{served}/explorer.html")
        assert tab.number("iframe.explorer") == 3
        for number in range(3):
            frame = f"document.querySelectorAll('iframe.explorer')[{number}]"
            tab.js(f"{frame}.scrollIntoView()")
            tab.until(f"{frame}.contentDocument.querySelectorAll('svg circle').length > 5")
            assert tab.js(f"{frame}.clientHeight") > 300
        assert tab.complaints == []


def test_nothing_is_fetched_from_elsewhere(site, pages):
    """Scripts, styles and fonts are the site's own: it works without a network, and tells nobody who reads it."""
    outside = re.compile(r"""<(?:script|link|img|iframe)[^>]+(?:src|href)=["']?(?:https?:)?//""")
    for path in pages:
        found = [tag for tag in outside.findall(path.read_text(encoding="utf-8")) if "canonical" not in tag]
        assert not found, path
    used = re.findall(r"url\(([^)]*)\)", (site / "assets" / "katex" / "katex.min.css").read_text())
    assert used
    assert all((site / "assets" / "katex" / name).is_file() for name in used)


def test_what_was_copied_has_its_licence():
    folder = ROOT / "docs" / "assets" / "katex"
    assert "The MIT License" in (folder / "LICENSE").read_text()
    assert {path.suffix for path in (folder / "fonts").iterdir()} == {".woff2"}
