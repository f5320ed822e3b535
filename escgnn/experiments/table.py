"""What an experiment is: tables of the paper, with the published numbers, and the runs that fill them."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from escgnn.records import Values


@dataclass(frozen=True)
class Table:
    """A table as it is shown.

    Attributes:
        label: The paper's LaTeX label, such as ``"tab:count"``; one of our own has no colon.
        title: What it shows.
        metric: What its numbers are.
        columns: Names of the columns.
        rows: The rows that we run.
        better: Whether ``"lower"`` or ``"higher"`` numbers are better; ``"same"`` if they should equal the paper's.
        paper: By row, the published number of each column, None where there is none. Further rows are shown as published.
        digits: Digits after the point.
        note: What a reader should know.
    """

    label: str
    title: str
    metric: str
    columns: tuple[str, ...]
    rows: tuple[str, ...]
    better: Literal["lower", "higher", "same"] = "lower"
    paper: Mapping[str, Sequence[float | None]] = field(default_factory=dict)
    digits: int = 4
    note: str = ""

    def __post_init__(self) -> None:
        for row, values in self.paper.items():
            if len(values) != len(self.columns):
                raise ValueError(f"{self.label}: {len(values)} published numbers of {row}, {len(self.columns)} columns")

    def published(self, row: str, column: str) -> float | None:
        """The paper's number."""
        return self.paper[row][self.columns.index(column)] if row in self.paper else None


@dataclass(frozen=True)
class Cell:
    """One run: what `Record` says of row, seed and variant, and the experiment's own settings."""

    row: str
    seed: int = 0
    variant: str = ""
    settings: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Outcome:
    """What a run gives its record; see `escgnn.records.Record`."""

    values: Mapping[str, Values]
    validation: Values = field(default_factory=dict)
    config: Mapping[str, Any] = field(default_factory=dict)
    epochs: int = 0
    seconds: float | None = None  # None for the time that the whole run took
    curve: tuple[Mapping[str, float | None], ...] = ()
    scatter: Mapping[str, tuple[tuple[float, float], ...]] = field(default_factory=dict)
    note: str = ""


@dataclass(frozen=True)
class Experiment:
    """Tables and the runs that fill them.

    Attributes:
        name: What the command line calls it; the folder of its records, too.
        tables: What it fills.
        cells: The runs of a budget, for so many seeds.
        run: Runs one, in a folder in which it may stop and go on; a flag says whether to show progress.
    """

    name: str
    tables: tuple[Table, ...]
    cells: Callable[[str, int], Sequence[Cell]]
    run: Callable[[Cell, Path, bool], Outcome]
