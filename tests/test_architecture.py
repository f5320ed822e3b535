"""Data flows one way, and the table below is the map: which unit of the package may import which."""

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1] / "escgnn"
ALLOWED = {
    "__init__": "graphs counting encoding datasets decoding models transforms wl theorems training explain explorer",
    "bags": "",
    "disk": "",
    "engines": "",
    "kernels": "",
    "layers": "kernels",
    "limits": "",
    "markup": "",
    "pools": "",
    "provenance": "",
    "task": "",
    "graphs": "kernels markup",
    "hub": "disk",
    "records": "disk",
    "counting": "kernels graphs",
    "encoding": "kernels limits markup graphs",
    "readers": "disk kernels graphs",
    "report": "disk markup provenance records",
    "store": "disk kernels graphs",
    "datasets": "disk kernels task graphs counting readers store",
    "decoding": "graphs encoding",
    "depiction": "markup readers",
    "huge": "disk kernels limits graphs encoding readers",
    "keeping": "bags store",
    "models": "bags layers limits pools counting",
    "pictures": "disk graphs encoding",
    "transforms": "bags kernels limits graphs counting encoding store",
    "wl": "kernels graphs encoding",
    "jobs": "disk engines kernels graphs counting encoding readers datasets",
    "loader": "store keeping",
    "metrics": "task datasets",
    "theorems": "disk markup graphs counting encoding decoding pictures wl",
    "shards": "disk engines readers jobs",
    "zoo": "models transforms metrics",
    "training": "bags disk engines limits markup provenance task graphs hub readers store "
    "datasets keeping models pictures jobs loader metrics shards zoo",
    "baseline": "disk task hub store datasets metrics training",
    "estimators": "disk task store datasets zoo training",
    "experiments": "bags disk provenance task graphs records counting encoding store "
    "datasets models transforms wl loader metrics zoo training baseline",
    "explain": "disk layers markup task hub readers report store depiction metrics training",
    "explorer": "disk kernels graphs hub counting encoding readers datasets decoding wl training explain",
    "review": "disk markup task hub report datasets depiction metrics training",
    "tuning": "disk task datasets training",
    "terminal": "disk records encoding report datasets jobs theorems training baseline experiments tuning",
    "cli": "engines provenance hub records counting encoding readers report datasets huge jobs theorems "
    "shards training baseline experiments explain explorer review tuning terminal",
    "__main__": "cli",
}
# So that commands start quickly.
TORCH_FREE = {
    "limits",
    "markup",
    "kernels",
    "disk",
    "task",
    "graphs",
    "engines",
    "readers",
    "encoding",
    "counting",
    "wl",
    "jobs",
    "explorer",
    "cli",
}


def unit_of(path: Path) -> str:
    return path.relative_to(ROOT).parts[0].removesuffix(".py")


def imported(path: Path) -> set[str]:
    """Every absolute module name that a file imports, inside functions too."""
    names = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path.name}: relative import"
            names |= {f"{node.module}.{alias.name}" for alias in node.names}
    return names


@pytest.mark.parametrize("path", sorted(ROOT.rglob("*.py")), ids=lambda path: str(path.relative_to(ROOT)))
def test_imports_follow_the_data(path):
    unit = unit_of(path)
    names = imported(path)
    units = {name.split(".")[1] for name in names if name.startswith("escgnn.")} - {"__version__"}
    assert units <= {unit, *ALLOWED[unit].split()}
    if unit in TORCH_FREE:
        assert not {name for name in names if name.split(".")[0].startswith("torch")}


def test_the_table_allows_no_more_than_is_used():
    used: dict[str, set[str]] = {unit: set() for unit in ALLOWED}
    for path in ROOT.rglob("*.py"):
        used[unit_of(path)] |= {name.split(".")[1] for name in imported(path) if name.startswith("escgnn.")}
    assert {unit: {*words.split()} - used[unit] for unit, words in ALLOWED.items()} == {unit: set() for unit in ALLOWED}


@pytest.mark.parametrize("path", sorted((ROOT / "training").glob("*.py")), ids=lambda path: path.name)
def test_training_names_no_model(path):
    """Which network it trains it is told, by a recipe."""
    contract = {"Bounded", "Network", "Term", "export_program", "size_of", "to_onnx"}
    assert {name.split(".")[-1] for name in imported(path) if name.startswith("escgnn.models")} <= contract


@pytest.mark.parametrize("path", sorted(ROOT.rglob("*.py")), ids=lambda path: str(path.relative_to(ROOT)))
def test_files_stay_short_and_named_for_what_they_do(path):
    assert len(path.read_text().splitlines()) <= 400
    assert path.stem not in {"utils", "core", "common", "helpers", "misc"}
