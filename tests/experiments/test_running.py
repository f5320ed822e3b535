import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import pytest

from escgnn import records
from escgnn.disk import locked
from escgnn.experiments import Cell, Experiment, Outcome, Table, experiment, reproduce, running

TABLE = Table("tab:x", "Title", "MAE", ("a", "b"), ("one", "two"), paper={"one": (1.0, None), "other": (2.0, 3.0)})


class Lab:
    """An experiment that notes what is run."""

    def __init__(self, fails=(), stops=()):
        self.ran, self.fails, self.stops, self.factor = [], {*fails}, {*stops}, 1

    def cells(self, budget, seeds):
        return [Cell(row, seed, "", {"factor": self.factor}) for seed in range(seeds) for row in TABLE.rows]

    def run(self, cell, folder, progress):
        self.ran.append((cell.row, cell.seed))
        assert folder.is_dir()
        if cell.row in self.stops:
            (folder / "half").write_text("done")
            raise KeyboardInterrupt
        if cell.row in self.fails:
            raise ValueError("no data")
        note = "went on" if (folder / "half").exists() else ""
        return Outcome({"tab:x": {"a": 0.5}}, epochs=3, config={"own": 1}, note=note)

    @property
    def experiment(self):
        return Experiment("lab", (TABLE,), self.cells, self.run)


def run(lab, folder, **options):
    return reproduce(lab.experiment, "smoke", results=folder / "results", work=folder / "work", **options)


def test_every_run_leaves_a_record(tmp_path):
    found = run(Lab(), tmp_path, seeds=2)
    assert [(record.row, record.seed) for record in found] == [("one", 0), ("two", 0), ("one", 1), ("two", 1)]
    assert {record.path for record in records.read(tmp_path / "results")} == {record.path for record in found}
    for record in found:
        assert record.values == {"tab:x": {"a": 0.5}}
        assert record.config == {"cell": {"factor": 1}, "own": 1}
        assert record.seconds > 0 and record.epochs == 3 and record.error is None
        assert record.command and record.finished and record.versions["torch"]


def test_only_what_is_missing_is_run(tmp_path):
    lab = Lab()
    run(lab, tmp_path)
    assert run(lab, tmp_path, seeds=2)[0].values == {"tab:x": {"a": 0.5}}
    assert lab.ran == [("one", 0), ("two", 0), ("one", 1), ("two", 1)]


def test_other_settings_are_run_again(tmp_path):
    lab = Lab()
    run(lab, tmp_path)
    lab.factor = 2
    assert run(lab, tmp_path)[0].config["cell"] == {"factor": 2}
    assert lab.ran == [("one", 0), ("two", 0)] * 2


def test_a_failure_is_recorded_and_the_others_go_on(tmp_path):
    first, second = run(Lab(fails=["one"]), tmp_path)
    assert first.error == "ValueError: no data" and first.values == {}
    assert second.error is None
    again, _ = run(Lab(), tmp_path)
    assert again.error is None, "what failed is tried again"


def test_a_run_that_was_stopped_goes_on(tmp_path):
    with pytest.raises(KeyboardInterrupt):
        run(Lab(stops=["two"]), tmp_path)
    assert [record.row for record in records.read(tmp_path / "results")] == ["one"]
    lab = Lab()
    assert [record.note for record in run(lab, tmp_path)] == ["", "went on"]
    assert lab.ran == [("two", 0)]


class TwoAtOnce(Lab):
    """Every cell waits until another one is being computed."""

    def __init__(self):
        super().__init__()
        self.meeting = threading.Barrier(2, timeout=20)

    def run(self, cell, folder, progress):
        self.meeting.wait()
        return super().run(cell, folder, progress)


def test_several_processes_share_the_cells(tmp_path, monkeypatch):
    monkeypatch.setattr(running, "PAUSE", 0.01)
    lab = TwoAtOnce()
    with ThreadPoolExecutor(2) as pool:
        first, second = (pool.submit(run, lab, tmp_path, seeds=3) for _ in range(2))
        assert [record.path for record in first.result()] == [record.path for record in second.result()]
    assert sorted(lab.ran) == [(row, seed) for row in ("one", "two") for seed in range(3)], "each once"
    assert all(record.error is None for record in records.read(tmp_path / "results"))


def test_what_another_process_has_not_finished_is_waited_for(tmp_path, monkeypatch):
    """One that was killed has left half of a cell: it goes on as soon as nobody holds it."""
    with pytest.raises(KeyboardInterrupt):
        run(Lab(stops=["one"]), tmp_path)
    (lock,) = (tmp_path / "work" / "lab" / "smoke").glob(".one*.lock")
    held = locked(lock.parent, "computing", lock=lock.name)
    held.__enter__()
    pauses = []

    def pause(seconds):
        pauses.append(seconds)
        held.__exit__(None, None, None)

    monkeypatch.setattr(running, "sleep", pause)
    lab = Lab()
    seen = []
    found = run(lab, tmp_path, report=lambda record, number, total: seen.append((record.row, number, total)))
    assert lab.ran == [("two", 0), ("one", 0)], "what is free comes first"
    assert seen == [("two", 1, 2), ("one", 2, 2)]
    assert [(record.row, record.note) for record in found] == [("one", "went on"), ("two", "")]
    assert pauses == [running.PAUSE]


def test_a_cell_that_was_finished_meanwhile_is_not_computed_again(tmp_path, monkeypatch):
    by_another = run(Lab(), tmp_path / "elsewhere")

    @contextmanager
    def free_at_last(*about, **further):
        for record in by_another:
            records.write(record, tmp_path / "results")
        yield

    monkeypatch.setattr(experiment, "locked", free_at_last)
    lab = Lab()
    assert [record.values for record in run(lab, tmp_path)] == [record.values for record in by_another]
    assert lab.ran == []


def test_rows_can_be_chosen(tmp_path):
    seen = []
    run(Lab(), tmp_path, rows=["two"], report=lambda record, number, total: seen.append((record.row, number, total)))
    assert seen == [("two", 1, 1)]
    with pytest.raises(ValueError, match="no row 'three'; it has 'one', 'two'"):
        run(Lab(), tmp_path, rows=["three"])
    with pytest.raises(ValueError, match="budget: 'long'"):
        reproduce(Lab().experiment, "long", results=tmp_path)


def test_variants_can_be_chosen(tmp_path):
    cells = [Cell("one", 0, f"{column}, {protocol}") for protocol in ("nested", "plain") for column in "ab"]
    lab = Lab()
    experiment = Experiment("lab", (TABLE,), lambda budget, seeds: cells, lab.run)

    def chosen(*texts):
        found = reproduce(experiment, "smoke", variants=texts, results=tmp_path / "results", work=tmp_path / "work")
        return [record.variant for record in found]

    assert chosen("nested") == ["a, nested", "b, nested"]
    assert chosen("b,", "a, plain") == ["b, nested", "a, plain", "b, plain"]
    with pytest.raises(
        ValueError, match="variants: lab has none with 'c'; it has 'a, nested', 'b, nested', 'a, plain'"
    ):
        chosen("c")


def test_published_numbers():
    assert TABLE.published("one", "a") == 1.0
    assert TABLE.published("one", "b") is None
    assert TABLE.published("two", "a") is None
    with pytest.raises(ValueError, match="tab:y: 1 published numbers of one, 2 columns"):
        Table("tab:y", "", "", ("a", "b"), ("one",), paper={"one": (1.0,)})
