"""Every system of the paper has good settings on every benchmark of its tables; a few are run."""

import pytest

from escgnn.experiments import EXPERIMENTS, rivals, systems
from escgnn.experiments.machine_time import CPU_MINUTES
from escgnn.experiments.systems import System, present, settings_of
from escgnn.training import read_config
from escgnn.zoo import ZOO

NAMES = [experiment.name for experiment in rivals.EXPERIMENTS]


@pytest.mark.parametrize("name", NAMES)
def test_rows_are_published_or_ours(name):
    for table in EXPERIMENTS[name].tables:
        extra = {*systems.OURS, "GIN, OGB's", "GIN + virtual node, OGB's"}
        assert {*table.rows} <= {*table.paper} | extra
        assert {*table.sources} <= {*table.paper}
        missing = {row for row in table.paper if row not in table.rows}
        assert not present(missing & {*systems.SYSTEMS}), "the zoo has it, so it is a row"


@pytest.mark.parametrize("name", NAMES)
def test_rows_of_a_table_differ_in_nothing_but_the_network(name):
    by_column = {}
    for cell in EXPERIMENTS[name].cells("hour", 1):
        config = read_config(overrides=cell.settings["settings"])
        others = {
            key: value
            for key, value in config.model_dump().items()
            if key not in ("model", "network", "transform", "epochs", "patience", "factor")
        }
        assert config.schedule == "cosine", "so neither patience nor factor counts"
        by_column.setdefault(cell.variant, []).append(others | {"minutes": cell.settings["cpu_minutes"]})
        assert cell.settings["cpu_minutes"] == CPU_MINUTES[cell.settings["dataset"]]
    for found in by_column.values():
        assert all(other == found[0] for other in found)


def test_the_paper_budget_is_the_authors():
    cells = {(cell.row, cell.variant): cell for cell in EXPERIMENTS["rivals-molecules"].cells("paper", 1)}
    config = read_config(overrides=cells["GIN-AK+", "zinc-12k"].settings["settings"])
    assert (config.epochs, config.network["hidden"], config.transform["hops"]) == (310, 128, 3)
    assert "cpu_minutes" not in cells["GIN-AK+", "zinc-12k"].settings


def test_a_system_appears_when_the_zoo_has_it(monkeypatch):
    monkeypatch.setitem(systems.SYSTEMS, "new", System(("newest", "new"), {"exp": {"lr": 0.5}}))
    assert present(["new", "NGNN"]) == ("NGNN",)
    with pytest.raises(ValueError, match="row: 'new'; the zoo has none of newest, new"):
        settings_of("new", "exp")
    monkeypatch.setitem(ZOO, "new", ZOO["ngnn"])
    assert present(["new"]) == ("new",)
    assert settings_of("new", "exp") == {"model": "new", "preset": "authors/exp", "lr": 0.5}
    assert settings_of("new", "csl") == {"model": "new", "preset": "authors/exp"}


@pytest.mark.parametrize(
    ("name", "row", "variant"),
    [
        ("rivals-counting", "I²-GNN", "equal time"),
        ("rivals-cycles", "NGNN", "equal time"),
        ("rivals-isomorphism", "PPGN", "SR25"),
        ("rivals-isomorphism", "GIN-AK+", "CSL"),
        ("rivals-molecules", "GSN", "zinc-12k"),
    ],
)
def test_a_cell_fills_its_columns(name, row, variant, tmp_path, benchmark_data):
    experiment = EXPERIMENTS[name]
    (cell,) = (one for one in experiment.cells("smoke", 1) if (one.row, one.variant) == (row, variant))
    found = experiment.run(cell, tmp_path, False)
    ((label, values),) = found.values.items()
    (table,) = (table for table in experiment.tables if table.label == label)
    assert {*values} <= {*table.columns} and row in table.rows
    assert all(value is not None for value in values.values())
    assert found.epochs == 1 and found.cpu_seconds > 0
