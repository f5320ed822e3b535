"""Computing what is missing of an experiment. Every cell leaves a record, those that fail too."""

import json
from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from os import PathLike
from pathlib import Path
from time import perf_counter, process_time, sleep
from typing import Any

from escgnn import provenance, records
from escgnn.disk import TakenError
from escgnn.experiments.experiment import Cell, Experiment, kept
from escgnn.experiments.trained import from_texts, merged
from escgnn.records import BUDGETS, Record
from escgnn.zoo import recipe_of

FOLDERS = ("--work", "--results")  # where files lay on one machine is no part of a result
PAUSE = 0.5  # seconds until we ask again whether others have finished
Report = Callable[[Record, int, int], None]  # a record, its number from 1, and how many there are


def reproduce(
    experiment: Experiment,
    budget: str = "hour",
    *,
    seeds: int = 1,
    rows: Collection[str] = (),
    variants: Collection[str] = (),
    results: str | PathLike[str] = "results",
    work: str | PathLike[str] = "runs",
    progress: bool = True,
    report: Report | None = None,
) -> list[Record]:
    """Compute the cells that have no good record yet, and give the records of all.

    What is stopped goes on where it was the next time, if the work folder is still there. Several processes with the same
    folders share the cells: each takes one that nobody is at, and all give the records of all.

    Args:
        experiment: What to compute.
        budget: ``"smoke"`` shows that it runs, ``"hour"`` is for two cores, ``"paper"`` is the paper's own setting.
        seeds: Each cell is computed for so many seeds, from 0.
        rows: Only cells of these rows of the tables; of all if there are none.
        variants: Only cells in whose variant one of these texts occurs, such as the name of a dataset or of a protocol; all if
            there are none.
        results: Folder of the records.
        work: Folder for what a stopped cell goes on from.
        progress: Show bars.
        report: Called after every cell.

    Raises:
        ValueError: There is no such budget, row or variant.
    """
    if budget not in BUDGETS:
        raise ValueError(f"budget: {budget!r}; expected one of {', '.join(BUDGETS)}")
    cells = [*experiment.cells(budget, seeds)]
    known = dict.fromkeys(cell.row for cell in cells)
    for row in rows:
        if row not in known:
            raise ValueError(f"rows: {experiment.name} has no row {row!r}; it has {', '.join(map(repr, known))}")
    for text in variants:
        if not any(text in cell.variant for cell in cells):
            names = ", ".join(map(repr, dict.fromkeys(cell.variant for cell in cells)))
            raise ValueError(f"variants: {experiment.name} has none with {text!r}; it has {names}")
    cells = [cell for cell in cells if not rows or cell.row in rows]
    cells = [cell for cell in cells if not variants or any(text in cell.variant for text in variants)]
    found: dict[int, Record] = {}
    left = [*enumerate(cells)]
    while left:
        taken = []  # by other processes
        for place, cell in left:
            try:
                found[place] = _recorded(experiment, cell, budget, Path(results), Path(work), progress)
            except TakenError:
                taken.append((place, cell))
                continue
            if report is not None:
                report(found[place], len(found), len(cells))
        if len(taken) == len(left):
            sleep(PAUSE)
        left = taken
    return [found[place] for place in range(len(cells))]


def _recorded(experiment: Experiment, cell: Cell, budget: str, results: Path, work: Path, progress: bool) -> Record:
    """The record of a cell, computed if there is none, or none that is good.

    Raises:
        TakenError: Another process is computing it.
    """
    blank = _blank(experiment, cell, budget)

    def on_disk() -> Record | None:
        record = records.read_one(blank.path, results)
        return record if record is not None and is_done(record, blank) else None

    if (before := on_disk()) is not None:
        return before
    with kept(Path(work, experiment.name, budget), cell) as folder:
        if (meanwhile := on_disk()) is not None:  # by the process that has just left
            return meanwhile
        record = _compute(experiment, cell, blank, folder, progress)
        records.write(record, results)
        return record


def is_done(record: Record, blank: Record) -> bool:
    """Whether a record on disk is that of a cell, given by its blank record, with these settings, and no failure."""
    before: Any = record.config.get("cell")
    now = blank.config["cell"]
    if record.error is not None:
        return False
    if isinstance(before, dict) and "set" in before and "settings" in now:
        before = from_texts(before)
    return bool(before == now) and is_preset_of_today(record.config)


def is_preset_of_today(config: Mapping[str, Any]) -> bool:
    """Whether the settings of a recorded run are those that its cell's preset, known by name, stands for today."""
    cell: Any = config.get("cell")
    own = cell.get("settings", {}) if isinstance(cell, dict) else {}
    if "preset" not in own:
        return True
    wanted = merged(recipe_of(config["model"]).presets[own["preset"]], own)
    measured = ("epochs", "warmup") if "cpu_minutes" in cell else ()  # these follow from the processor time
    given = {name: value for name, value in wanted.items() if name not in ("preset", *measured)}
    return merged(config, given) == config


def _blank(experiment: Experiment, cell: Cell, budget: str) -> Record:
    """The record of a cell before anything was computed."""
    settings = json.loads(json.dumps(cell.settings))
    return Record(experiment.name, cell.row, budget, cell.seed, cell.variant, config={"cell": settings})


def _compute(experiment: Experiment, cell: Cell, blank: Record, folder: Path, progress: bool) -> Record:
    command = provenance.command(leave_out=FOLDERS)
    blank = replace(blank, command=command, commit=provenance.commit(), versions=provenance.versions())
    start = perf_counter()
    processor = process_time()
    try:
        outcome = experiment.run(cell, folder, progress)
    except TakenError:  # a network that this cell shares with another
        raise
    except (ValueError, OSError, RuntimeError, ImportError) as error:  # one bad cell must not end the others
        measured: dict[str, Any] = {"error": f"{type(error).__name__}: {error}"}
    else:
        measured = {**vars(outcome), "config": {**blank.config, **outcome.config}}
    spent = {"seconds": perf_counter() - start, "cpu_seconds": process_time() - processor}
    for name, seconds in spent.items():
        if measured.get(name) is None:
            measured[name] = seconds
    return replace(blank, **measured, finished=provenance.now())
