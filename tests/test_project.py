"""A project that others can join, a package that others can install: what its files say of each other is true."""

import os
import re
import shutil
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from email.parser import Parser
from fnmatch import fnmatch
from pathlib import Path

import pytest
import yaml

from escgnn import __version__

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
FORMS = sorted(path for path in (ROOT / ".github" / "ISSUE_TEMPLATE").glob("*.yml") if path.stem != "config")
NOT_COPIED = shutil.ignore_patterns(".*", "*.egg-info", "__pycache__", "results", "images", "site", "build", "dist")


def jobs_of(path):
    return yaml.safe_load(path.read_text())["jobs"]


def steps_of(path):
    return [step for job in jobs_of(path).values() for step in job.get("steps", ())]


def artifacts(path, action):
    return {step["with"]["name"] for step in steps_of(path) if action in step.get("uses", "")}


def build(kind, folder, output):
    """What a build of that folder writes, as packagers call it, without a network."""
    output.mkdir(exist_ok=True)
    code = f"from setuptools import build_meta; build_meta.build_{kind}({str(output)!r})"
    clean = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=folder, env=clean, capture_output=True, text=True, timeout=1800, check=False
    )
    assert done.returncode == 0, done.stderr
    (found,) = output.iterdir()
    return found


@pytest.fixture(scope="module")
def unpacked(tmp_path_factory):
    """The source package, made of a copy of this repository, as those have it who unpack it."""
    place = tmp_path_factory.mktemp("packages")
    shutil.copytree(ROOT, place / "tree", ignore=NOT_COPIED)
    with tarfile.open(build("sdist", place / "tree", place / "sdist")) as archive:
        archive.extractall(place, filter="data")
    return place / f"escgnn-{__version__}"


@pytest.fixture(scope="module")
def wheel(unpacked, tmp_path_factory):
    """The wheel that is built from it: what stands in its files, by name."""
    with zipfile.ZipFile(build("wheel", unpacked, tmp_path_factory.mktemp("wheel"))) as archive:
        return {name: archive.read(name).decode("utf-8", "replace") for name in archive.namelist()}


@pytest.fixture(scope="module")
def metadata(wheel):
    return Parser().parsestr(wheel[f"escgnn-{__version__}.dist-info/METADATA"])


def package_files():
    files = {path for path in (ROOT / "escgnn").rglob("*") if path.is_file() and "__pycache__" not in path.parts}
    return {path.relative_to(ROOT).as_posix() for path in files}


def test_the_source_package_holds_what_the_wheel_is_built_from(unpacked):
    found = {path.relative_to(unpacked).as_posix() for path in unpacked.rglob("*") if path.is_file()}
    beside = {name for name in found if not name.startswith(("escgnn/", "escgnn.egg-info/"))}
    ours = {"CHANGELOG.md", "CITATION.cff", "LICENSE", "MANIFEST.in", "README.md", "pyproject.toml", "setup.py"}
    assert beside == ours | {"PKG-INFO", "setup.cfg"}
    assert {name for name in found if name.startswith("escgnn/")} == package_files()


def test_the_wheel_is_the_package_and_nothing_else(wheel):
    assert {name for name in wheel if ".dist-info/" not in name} == package_files()
    assert "escgnn = escgnn.cli:main" in wheel[f"escgnn-{__version__}.dist-info/entry_points.txt"]
    assert f"escgnn-{__version__}.dist-info/licenses/LICENSE" in wheel


def test_what_an_index_shows(metadata):
    assert metadata["Version"] == __version__
    assert metadata["Author"] == "escgnn contributors"
    assert metadata["License-Expression"] == "MIT"
    assert {line.split(", ")[0] for line in metadata.get_all("Project-URL")} >= {"Source", "Documentation", "Paper"}
    assert metadata["Description-Content-Type"] == "text/markdown"
    shown = metadata.get_payload()
    source = PROJECT["urls"]["Source"]
    links = re.findall(r"(!?)\[[^\]]*\]\(([^)\s]+)\)", re.sub(r"```.*?```", "", shown, flags=re.S))
    assert len(links) > 20
    assert all(place.startswith("https://") for _, place in links)
    assert ("!", f"{source}/raw/v{__version__}/docs/results.svg") in links
    assert ("", f"{source}/blob/v{__version__}/docs/models.md#counts-that-stay-exact") in links
    for code in re.findall(r"```.*?```", (ROOT / "README.md").read_text(), re.S):
        assert code in shown


def test_every_link_of_the_readme_leads_somewhere():
    text = (ROOT / "README.md").read_text()
    for place in re.findall(r"\]\((?!https?:)([^)#\s]+)", text):
        assert (ROOT / place).exists(), place


def test_pythons_are_the_same_everywhere():
    """In the classifiers, in the oldest that is admitted and in the tests."""
    named = [line.rpartition(" ")[2] for line in PROJECT["classifiers"] if ":: 3." in line]
    assert PROJECT["requires-python"] == f">={named[0]}"
    matrix = jobs_of(ROOT / ".github/workflows/test.yml")["installed"]["strategy"]["matrix"]
    assert matrix["python"] == named
    assert {system.split("-")[0] for system in matrix["system"]} == {"ubuntu", "macos", "windows"}


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
class TestWorkflows:
    def test_every_job_can_run(self, path):
        workflow = yaml.safe_load(path.read_text())
        assert {"name", True, "permissions", "jobs"} <= {*workflow}  # YAML reads `on` as True
        assert workflow["permissions"] == {"contents": "read"}
        for name, job in workflow["jobs"].items():
            needed = job.get("needs", [])
            assert ({needed} if isinstance(needed, str) else {*needed}) <= {*workflow["jobs"]}
            if "uses" in job:
                assert (ROOT / job["uses"]).is_file(), name
                called = yaml.safe_load((ROOT / job["uses"]).read_text())
                assert "workflow_call" in called[True]
            else:
                assert job["timeout-minutes"] and job["steps"], name

    def test_actions_are_pinned(self, path):
        used = [step["uses"] for step in steps_of(path) if "uses" in step]
        for action in used:
            assert re.fullmatch(r"[\w-]+/[\w-]+@[0-9a-f]{40}", action)
            assert re.search(rf"{action} # v\d+\.\d+\.\d+\n", path.read_text()), "a comment says which version it is"

    def test_commands_name_what_there_is(self, path):
        targets = set(re.findall(r"^(\w+):", (ROOT / "Makefile").read_text(), re.M))
        for step in steps_of(path):
            command = step.get("run", "")
            assert {*re.findall(r"\bmake (\w+)", command)} <= targets
            for place in re.findall(r"(?<=\s)(?:\./)?[\w./-]+\.(?:toml|lock|py|yml)\b", command):
                assert (ROOT / place).is_file(), place
            options = step.get("with", {})
            assert (ROOT / options.get("cache-dependency-path", ".")).exists()

    def test_artifacts_are_made_before_they_are_used(self, path):
        """By the workflow that builds, which those that take something call, or need one that does."""
        taken = artifacts(path, "download-artifact")
        assert taken <= artifacts(ROOT / ".github/workflows/build.yml", "upload-artifact")
        called = {Path(job["uses"]).stem for job in jobs_of(path).values() if "uses" in job}
        assert not taken or called & {"build", "test"}


def test_only_what_publishes_may_write():
    rights = {
        (path.stem, name): job["permissions"]
        for path in WORKFLOWS
        for name, job in jobs_of(path).items()
        if "permissions" in job
    }
    assert {*rights} == {("release", "publish"), ("docs", "deploy")}


@pytest.mark.parametrize("path", FORMS, ids=lambda path: path.stem)
def test_forms_of_issues(path):
    form = yaml.safe_load(path.read_text())
    assert form["name"] and form["description"]
    ids = [field["id"] for field in form["body"]]
    assert len({*ids}) == len(ids)
    for field in form["body"]:
        assert field["type"] in {"textarea", "input", "dropdown", "checkboxes"}
        assert field["attributes"]["label"]
    assert path.stem != "bug" or "escgnn --version --verbose" in path.read_text()


def test_hooks_are_those_of_the_lock():
    locked = {line.split("==")[0].lower() for line in (ROOT / "requirements.lock").read_text().split()}
    hooks = [
        hook
        for repo in yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text())["repos"]
        for hook in repo["hooks"]
    ]
    assert [hook["id"] for hook in hooks] == ["format", "lint", "types"]
    lint = (ROOT / "Makefile").read_text()
    for hook in hooks:
        program = hook["entry"].split()[0]
        assert program.startswith(".venv/bin/") and Path(program).name in locked
        assert f"$(BIN)/{Path(program).name}" in lint
        assert hook["language"] == "system"


def test_the_citation():
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    assert citation["version"] == __version__
    assert citation["license"] == PROJECT["license"]
    assert citation["repository-code"] == PROJECT["urls"]["Source"]
    paper = citation["preferred-citation"]
    assert [author["family-names"] for author in paper["authors"]] == ["Yan", "Zhou", "Gao", "Tang", "Zhang"]
    assert PROJECT["urls"]["Paper"] == f"https://doi.org/{paper['doi']}"
    assert f"https://doi.org/{paper['doi']}" in (ROOT / "README.md").read_text()


def test_the_image_is_built_from_what_is_let_through():
    lines = (ROOT / "Dockerfile").read_text().replace("\\\n", " ").splitlines()
    kept = [line[1:] for line in (ROOT / ".dockerignore").read_text().split() if line.startswith("!")]
    copied = [name for line in lines if line.startswith("COPY") for name in line.split()[1:-1]]
    assert copied and {*copied} <= {*kept}
    assert all((ROOT / name).exists() for name in kept)
    assert {"setup.py", "pyproject.toml", PROJECT["license-files"][0]} <= {*copied}
    assert any(line.startswith("USER ") and line != "USER root" for line in lines)
    assert lines.index('ENTRYPOINT ["escgnn"]') > max(i for i, line in enumerate(lines) if line.startswith("USER "))
    version = next(line.split(":")[1].split("-")[0] for line in lines if line.startswith("FROM"))
    assert any(fnmatch(line, f"*:: {version}") for line in PROJECT["classifiers"])


@pytest.mark.parametrize(
    "name", ["SECURITY.md", "CODE_OF_CONDUCT.md", "CONTRIBUTING.md", ".github/PULL_REQUEST_TEMPLATE.md"]
)
def test_files_that_are_named_exist(name):
    text = (ROOT / name).read_text()
    for place in re.findall(r"`((?:escgnn|tests|docs|benchmarks|examples)/[\w/.-]+\.\w+)`", text):
        assert (ROOT / place).exists(), place
