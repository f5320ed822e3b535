"""Every experiment runs with the smallest budget, fills its tables, and repeats no published number by hand."""

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from escgnn import datasets, records
from escgnn.counting import TARGETS, count
from escgnn.disk import TakenError
from escgnn.experiments import (
    EXPERIMENTS,
    classification,
    counting,
    experiment,
    find,
    isomorphism,
    qm9,
    reproduce,
    rivals,
    running,
    several,
    substructures,
    trained,
)
from escgnn.experiments.experiment import Cell, Experiment, kept
from escgnn.records import BUDGETS, Table
from escgnn.training import Result, load_run, predict, read_config

NAMES = [*EXPERIMENTS]
ELSEWHERE = (
    "brec",
    "qm9",
    "classification",
    *(one.name for one in rivals.EXPERIMENTS),
)  # files of their own run some cells of these
TINY = {"model": {"hidden": 8, "layers": 1}, "epochs": 1}


def smoke(name, folder, **options):
    found = reproduce(
        EXPERIMENTS[name], "smoke", results=folder / "results", work=folder / "work", progress=False, **options
    )
    assert [record.error for record in found if record.error and "not found" not in record.error] == []
    return found


@pytest.mark.parametrize("name", [name for name in NAMES if name not in ELSEWHERE])
def test_smoke(name, tmp_path, benchmark_data):
    tables = EXPERIMENTS[name].tables
    found = [record for record in smoke(name, tmp_path) if record.error is None]
    filled = {
        (label, record.row, column) for record in found for label in record.values for column in record.values[label]
    }
    wanted = {(table.label, row, column) for table in tables for row in table.rows for column in table.columns}
    if name == "statistics" and not any(record.row == "qm9" for record in found):  # its file may not be there
        wanted -= {("tab:stat", "qm9", column) for column in tables[0].columns}
    if name == "substructures":  # three columns show that it runs
        wanted = {cell for cell in wanted if cell[2] in ("baseline", "6-cycle", "all")}
    assert filled == wanted


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("budget", BUDGETS)
def test_cells_differ_and_their_settings_are_good(name, budget):
    cells = EXPERIMENTS[name].cells(budget, 2)
    assert len({(cell.row, cell.seed, cell.variant) for cell in cells}) == len(cells)
    for cell in cells:
        if "settings" in cell.settings:
            read_config(overrides=cell.settings["settings"])


def test_labels_are_unique():
    labels = [table.label for experiment in EXPERIMENTS.values() for table in experiment.tables]
    assert len(labels) == len({*labels})


def test_published_numbers_are_the_papers():
    paper = Path(__file__).parents[3] / "shared" / "paper.tex"
    if not paper.exists():
        pytest.skip("the paper's source is not here")
    text = re.sub(r"\\cellcolor\{yellow\}|\\textbf|[\s{}$^]", "", paper.read_text())
    for row in ("MPNN", "ID-GNN", "GIN-AK+", "PPGN", "I²-GNN", "GraphGPS", "ESC-GNN"):
        written = [f"{value:.4f}" for value in counting.TAB_COUNT.paper[row]]
        assert f"{row.replace('²', '2')}&{'&'.join(written)}" in text
    for row, numbers in classification.TAB_TU.paper.items():
        assert re.search("&".join(rf"{value:.1f}\\pm[\d.]+" for value in numbers), text), row
    published = {**qm9.LENGTHS, **qm9.COORDINATES}
    for place, column in enumerate(qm9.COLUMNS):
        values = [f"{published[row][place]:g}" for row in qm9.ROWS]
        assert re.search("&".join(f"{value}0*" for value in values), text), column


def test_unknown_name():
    with pytest.raises(ValueError, match="unknown experiment 'conting'; expected one of counting"):
        find("conting")


def test_counts_as_features(benchmark_data):
    bundle = trained.cut(datasets.load("zinc-12k"), 5)
    found = substructures.with_counts(bundle, ("6-cycle", "4-path"))
    assert found.features["x"].sizes == (*bundle.features["x"].sizes, 64, 64)
    data = found.train[3]
    for column, pattern in ((-2, "6-cycle"), (-1, "4-path")):
        expected = np.minimum(count(bundle.train[3], pattern, per="node"), 63)
        assert data.x[:, column].tolist() == expected.tolist()
    assert substructures.with_counts(bundle, ()) is bundle


def test_a_cut_dataset_keeps_the_beginning_of_every_part():
    bundle = datasets.load("counting-random", count=40)
    few = trained.cut(bundle, 3)
    assert [len(part) for part in few.split] == [3, 3, 3]
    assert len(few.graphs) == 9
    for part in ("train", "validation", "test"):
        for i in range(3):
            kept, original = getattr(few, part)[i], getattr(bundle, part)[i]
            assert kept.edge_index.equal(original.edge_index) and kept.y.equal(original.y)
    assert trained.cut(bundle, None) is bundle


def test_error_per_graph_is_the_sum_over_its_nodes(tmp_path):
    bundle = datasets.load("counting-random", count=30)
    settings = trained.training("counting-random", TINY, count=30)
    done = trained.train(counting.Cell("x", settings=settings), tmp_path, False, bundle)
    truth, predicted = trained.on_test(done)
    np.testing.assert_array_equal(truth, bundle.test.column("y").numpy())
    found = counting.error_per_graph(done)
    sizes = bundle.test.num_nodes.tolist()
    errors = np.split(np.abs(truth - predicted), np.cumsum(sizes)[:-1])
    for place, name in enumerate(TARGETS):
        assert found[name] == pytest.approx(np.mean([graph[:, place].sum() for graph in errors]))


def test_a_cell_is_trained_with_its_own_seed():
    bundle = datasets.load("counting-random", count=30)
    settings = trained.training("counting-random", TINY, count=30)
    cells = [counting.Cell("x", seed=seed, settings=settings) for seed in (0, 3)]
    assert [trained.config_for(cell, bundle).seed for cell in cells] == [0, 3]


def test_an_outcome_keeps_test_and_validation_apart(tmp_path):
    config = read_config()
    config.save(tmp_path / "config.yaml")
    (tmp_path / "metrics.csv").write_text("epoch,loss,validation_mae\n0,3,2.5\n1,2,1.5\n")
    metrics = {"mae": 1.5, "mae/a": 1.25, "mae/b": None}
    result = Result("d", "mae", 1, 2, "epochs", metrics, {"mae": 4.0, "mae/a": 5.0, "mae/b": 6.0}, 0, seconds=7.0)
    done = trained.Trained(result, None, tmp_path)
    found = trained.outcome(done, "tab:x", {"first": "mae/a", "second": "mae/b"}, percent=True, note="n")
    assert found.values == {"tab:x": {"first": 500.0, "second": 600.0}}
    assert found.validation == {"first": 125.0, "second": None}
    assert (found.epochs, found.seconds, found.note) == (2, 7.0, "n")
    assert found.config == config.model_dump(mode="json")
    assert found.curve == (
        {"epoch": 0, "loss": 3.0, "validation": 2.5},
        {"epoch": 1, "loss": 2.0, "validation": 1.5},
    )


def test_networks_together_are_judged_by_their_mean(tmp_path):
    settings = trained.training("counting-random", TINY, targets=["3-cycle"], members=2, count=30)
    cell = counting.Cell("two", settings=settings)
    found = several.together(cell, "one", tmp_path / cell.folder, False, "tab:x", {"c": "mae"}, percent=True)
    bundle = trained.bundle_of(settings)
    folders = [tmp_path / one.folder for one in cell.members("one")]
    members = [load_run(folder) for folder in folders]
    for index, values in ((bundle.split.validation, found.validation), (bundle.split.test, found.values["tab:x"])):
        graphs = bundle.graphs[index]
        mean = sum(predict(member, graphs) for member in members) / 2
        assert values == {"c": pytest.approx(100 * float((mean - graphs.column("y")).abs().mean()), rel=1e-4)}
    assert [trained.config_of(folder)["seed"] for folder in folders] == [0, 1]
    assert found.epochs == found.config["members"] == 2


def test_a_cell_waits_for_networks_that_another_process_trains(tmp_path):
    """It has no record then, not that of a failure."""
    settings = trained.training("counting-random", TINY, targets=["3-cycle"], members=2, count=30)
    both = Cell("two", settings=settings)

    def run(cell, folder, progress):
        return several.together(cell, "one", folder, progress, "tab:x", {"c": "mae"})

    table = Table("tab:x", "", "", ("c",), ("two",))
    made = Experiment("e", (table,), lambda budget, seeds: [both], run)
    second = both.members("one")[1]
    work = (tmp_path / "results", tmp_path / "work")
    with kept(tmp_path / "work" / "e" / "hour", second), pytest.raises(TakenError, match="one_seed1"):
        running._recorded(made, both, "hour", *work, False)
    assert not [*tmp_path.glob("**/*.json")], "it asks before it trains the first"
    record = running._recorded(made, both, "hour", *work, False)
    assert record.error is None and record.epochs == 2


def test_renamed_copies_are_the_control(benchmark_data):
    bundle = datasets.load("sr25")
    apart, control = isomorphism.pair_distances(bundle, bundle.pairs, hops=1)
    assert apart.shape == (105,) and apart.min() > 1e3 * control
    apart, control = isomorphism.pair_distances(bundle, bundle.pairs, hops=None)
    assert apart.max() < 1e-9


@pytest.mark.parametrize("targets", [("4-cycle",), ("4-cycle", "3-cycle")])
def test_a_network_for_fewer_targets_fills_their_columns(targets, tmp_path):
    settings = counting.settings("smoke", 1, targets=targets)
    found = counting.run(counting.Cell("ESC-GNN", settings=settings), tmp_path, False)
    assert {*found.values["tab:count"]} == {*found.validation} == {*found.scatter} == {*targets}
    bundle = trained.bundle_of(settings)
    whole = trained.bundle_of({**settings, "targets": TARGETS})
    columns = [TARGETS.index(name) for name in targets]
    assert bundle.graphs.column("y").equal(whole.graphs.column("y")[:, columns])


def test_settings_may_be_any_plain_values(tmp_path):
    bundle = datasets.load("counting-random", count=30)
    several = {"encoding": {"hops": (1, 2), "parts": ("joint",)}, "early_stopping": None}
    settings = trained.training("counting-random", TINY, several, count=30)
    done = trained.train(counting.Cell("x", settings=settings), tmp_path, False, bundle)
    assert load_run(done.folder).encoding.hops == (1, 2)


def test_what_was_recorded_is_not_computed_again():
    """Also records whose settings were written as texts."""
    done = {record.path: record for record in records.read(Path(__file__).parents[2] / "results")}
    texts = 0
    for name in NAMES:
        for cell in EXPERIMENTS[name].cells("hour", 3):
            blank = running._blank(EXPERIMENTS[name], cell, "hour")
            record = done.pop(blank.path, None)
            if record is not None and record.error is None:
                assert running.is_done(record, blank), blank.path
                texts += "set" in record.config["cell"]
                if "settings" in cell.settings:
                    changed = trained.merged(blank.config["cell"], {"settings": {"epochs": 7}})
                    assert not running.is_done(record, replace(blank, config={"cell": changed}))
    assert not done, "records that no cell stands for"
    assert texts > 50


def test_a_preset_that_has_changed_is_computed_again(monkeypatch):
    """A cell knows it by name only; how long a run with limited processor time took was measured, not set."""
    preset = {"network": {"hidden": 8}, "epochs": 3, "transform": {"parts": ["joint"]}}
    recipe = replace(running.recipe_of("esc-gnn"), presets={"ours/x": preset})
    monkeypatch.setattr(running, "recipe_of", {"esc-gnn": recipe}.__getitem__)
    config = {**preset, "model": "esc-gnn", "network": {"hidden": 8, "layers": 5}, "lr": 0.1}
    cell = {"settings": {"preset": "ours/x"}}
    other = {"network": {"hidden": 9}}

    def is_done(cell, **changes):
        record = records.Record("molecules", "ESC-GNN", "hour", 0, "", config={**config, **changes, "cell": cell})
        return running.is_done(record, replace(record, config={"cell": cell}))

    assert is_done(cell)
    assert not is_done(cell, epochs=2)
    assert is_done({**cell, "cpu_minutes": 1.0}, epochs=2, warmup=1)
    assert not is_done(cell, **other)
    assert is_done({"settings": {"preset": "ours/x", **other}}, **other)


@pytest.mark.parametrize("section", ["settings", "system"])
def test_what_was_stopped_with_another_preset_begins_anew(section, monkeypatch):
    """The folder of a cell follows what its preset stands for, as it follows its own settings."""
    presets = {"ours/x": {"epochs": 3}}
    recipe = replace(experiment.recipe_of("esc-gnn"), presets=presets)
    monkeypatch.setattr(experiment, "recipe_of", {"esc-gnn": recipe}.__getitem__)
    cell = Cell("ESC-GNN", settings={"dataset": "exp", section: {"preset": "ours/x"}})
    plain = Cell("ESC-GNN", settings={"dataset": "exp", section: {"epochs": 3}})
    before = cell.folder, plain.folder
    assert (cell.folder, plain.folder) == before
    presets["ours/x"] = {"epochs": 4}
    assert cell.folder != before[0]
    assert plain.folder == before[1]
