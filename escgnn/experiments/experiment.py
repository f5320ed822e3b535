"""What an experiment is: tables of the paper, with the published numbers, and the cells that fill them."""

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from escgnn.disk import locked
from escgnn.records import Table, Values, stem
from escgnn.zoo import DEFAULT, recipe_of


@dataclass(frozen=True)
class Cell:
    """One thing to compute.

    Attributes:
        row: The row of the tables that it fills.
        seed: Decides everything random.
        variant: What distinguishes it from others of the same row and seed; validation values choose among these.
        settings: The experiment's own, as plain values: they are recorded, and a cell with others is computed again.
    """

    row: str
    seed: int = 0
    variant: str = ""
    settings: Mapping[str, Any] = field(default_factory=dict)

    @property
    def folder(self) -> str:
        """The name of the folder that it is computed in; what is stopped must not go on with other settings.

        A preset is known by name, and may have changed since: what it stands for is a part of the settings.
        """
        chosen = [one for one in self.settings.values() if isinstance(one, Mapping) and "preset" in one]
        presets = [recipe_of(one.get("model", DEFAULT)).presets[one["preset"]] for one in chosen]
        settings = json.dumps([self.settings, *presets] if presets else self.settings, sort_keys=True)
        return f"{stem(self.row, self.variant, self.seed)}-{hashlib.sha256(settings.encode()).hexdigest()[:8]}"

    def members(self, row: str) -> "list[Cell]":
        """The cells of single networks, of another row, that a cell of several together, or with trees, consists of."""
        settings = {name: value for name, value in self.settings.items() if name not in ("members", "trees")}
        seeds = range(self.seed, self.seed + self.settings["members"])
        return [replace(self, row=row, seed=seed, settings=settings) for seed in seeds]


@contextmanager
def kept(cells: Path, cell: Cell) -> Iterator[Path]:
    """The folder that a cell is computed in, below that of all cells, for this process alone.

    Raises:
        TakenError: Another process is computing it.
    """
    cells.mkdir(parents=True, exist_ok=True)
    with locked(cells, f"computing {cell.folder}", lock=f".{cell.folder}.lock"):
        folder = cells / cell.folder
        folder.mkdir(exist_ok=True)
        yield folder


@dataclass(frozen=True)
class Outcome:
    """What a cell measured; `escgnn.records.Record` says what each value is.

    Without ``seconds`` or ``cpu_seconds``, the record has the time that the whole cell took.
    """

    values: Mapping[str, Values]
    validation: Values = field(default_factory=dict)
    config: Mapping[str, Any] = field(default_factory=dict)
    epochs: int = 0
    seconds: float | None = None
    cpu_seconds: float | None = None
    curve: tuple[Mapping[str, float | None], ...] = ()
    scatter: Mapping[str, tuple[tuple[float, float], ...]] = field(default_factory=dict)
    note: str = ""


@dataclass(frozen=True)
class Experiment:
    """Tables and the cells that fill them.

    Attributes:
        name: What the command line calls it; the folder of its records, too.
        tables: What it fills.
        cells: From a budget and a number of seeds to the cells.
        run: Computes one: from the cell, a folder in which it may stop and go on, and whether to show progress, to its outcome.
    """

    name: str
    tables: tuple[Table, ...]
    cells: Callable[[str, int], Sequence[Cell]]
    run: Callable[[Cell, Path, bool], Outcome]
