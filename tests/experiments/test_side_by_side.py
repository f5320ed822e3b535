"""Systems take turns: every column of one row comes from one run."""

import pytest

from escgnn.experiments import side_by_side
from escgnn.training import read_config


@pytest.mark.parametrize("budget", ["smoke", "hour", "paper"])
def test_settings_of_all_columns_are_good(budget):
    for cell in side_by_side.cells(budget, 1):
        assert tuple(cell.settings["systems"]) == side_by_side.COLUMNS
        for settings in cell.settings["systems"].values():
            config = read_config(overrides=settings)
            if cell.row == "equal sizes":
                assert (config.network["hidden"], config.network["layers"]) == (64, 4)
                assert config.transform.get("hops", 3) == 3


def test_the_paper_is_shown_in_units_of_its_mpnn():
    assert side_by_side.RATIO.published("authors' sizes", "ESC-GNN") == pytest.approx(1.0007, abs=1e-4)


def test_a_cell_measures_all(tmp_path, benchmark_data):
    (cell,) = (one for one in side_by_side.cells("smoke", 1) if one.row == "equal sizes")
    found = side_by_side.run(cell, tmp_path, False)
    for table in side_by_side.EXPERIMENT.tables:
        values = found.values[table.label]
        assert tuple(values) == table.columns
    training, subgraphs = (found.values[label] for label in ("eff, training", "eff, subgraphs"))
    assert all(100 * subgraphs[name] < training[name] for name in training), "they are a part of each step"
    assert found.values["tab:eff, times MPNN"]["NGNN"] == training["NGNN"] / training["MPNN"]
    assert "Parameters: MPNN " in found.note
