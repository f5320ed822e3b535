"""Running what is missing of an experiment. Every run leaves a record, those that fail too."""

import hashlib
import json
import shlex
import shutil
import sys
import time
from collections.abc import Callable, Collection
from dataclasses import replace
from datetime import UTC, datetime
from os import PathLike
from pathlib import Path

from escgnn import records
from escgnn.experiments.table import Cell, Experiment
from escgnn.records import BUDGETS, Record
from escgnn.training import commit, versions

Report = Callable[[Record, int, int], None]  # a record, its number from 1, and how many there are


def reproduce(
    experiment: Experiment,
    budget: str = "hour",
    *,
    seeds: int = 1,
    rows: Collection[str] = (),
    results: str | PathLike[str] = "results",
    work: str | PathLike[str] = "runs",
    progress: bool = True,
    report: Report | None = None,
) -> list[Record]:
    """Run the cells that have no good record yet, and give the records of all.

    A run that is stopped goes on where it was the next time, if the work folder is still there.

    Args:
        experiment: What to run.
        budget: ``"smoke"`` shows that it runs, ``"hour"`` is for two cores, ``"paper"`` is the paper's own setting.
        seeds: Runs of each cell, with seeds from 0.
        rows: Only these rows of the tables; all if there are none.
        results: Folder of the records.
        work: Folder for what can be thrown away afterwards.
        progress: Show bars.
        report: Called after every cell.

    Raises:
        ValueError: There is no such budget or row.
    """
    if budget not in BUDGETS:
        raise ValueError(f"budget: {budget!r}; expected one of {', '.join(BUDGETS)}")
    cells = [*experiment.cells(budget, seeds)]
    known = dict.fromkeys(cell.row for cell in cells)
    for row in rows:
        if row not in known:
            raise ValueError(f"rows: {experiment.name} has no row {row!r}; it has {', '.join(map(repr, known))}")
    cells = [cell for cell in cells if not rows or cell.row in rows]
    done = {record.path: record for record in records.read(results)}
    found = []
    for number, cell in enumerate(cells, 1):
        record = _blank(experiment, cell, budget)
        old = done.get(record.path)
        if old is None or old.error is not None or old.config.get("cell") != record.config["cell"]:
            folder = Path(work, experiment.name, budget, f"{record.path.stem}-{_hash(cell)}")
            record = _run(experiment, cell, record, folder, progress)
            records.write(record, results)
        else:
            record = old
        found.append(record)
        if report is not None:
            report(record, number, len(cells))
    return found


def _blank(experiment: Experiment, cell: Cell, budget: str) -> Record:
    settings = json.loads(json.dumps(cell.settings))
    return Record(experiment.name, cell.row, budget, cell.seed, cell.variant, config={"cell": settings})


def _run(experiment: Experiment, cell: Cell, record: Record, folder: Path, progress: bool) -> Record:
    record = replace(record, command=_command(), commit=commit(), versions=versions())
    folder.mkdir(parents=True, exist_ok=True)
    start = time.perf_counter()
    try:
        outcome = experiment.run(cell, folder, progress)
    except (ValueError, OSError, RuntimeError, ImportError) as error:  # one bad cell must not end the others
        failed = f"{type(error).__name__}: {error}"
        return replace(record, error=failed, seconds=time.perf_counter() - start, finished=_now())
    seconds = time.perf_counter() - start if outcome.seconds is None else outcome.seconds
    shutil.rmtree(folder / "scratch", ignore_errors=True)
    return replace(
        record,
        **{name: value for name, value in vars(outcome).items() if name not in ("config", "seconds")},
        config={**record.config, **outcome.config},
        seconds=seconds,
        finished=_now(),
    )


def _command() -> str:
    return shlex.join([Path(sys.argv[0]).name, *sys.argv[1:]])


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


def _hash(cell: Cell) -> str:
    """A run that stopped must not go on with other settings."""
    return hashlib.sha256(json.dumps(cell.settings, sort_keys=True).encode()).hexdigest()[:8]
