"""What was computed, as files, and the tables it is shown in.

One cell of an experiment = one JSON file (`Record`), in which everything stands that a reader needs to trust its numbers or to
make them again. A `Table` says which rows and columns such numbers fill, and what was published.
"""

import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from os import PathLike
from pathlib import Path
from typing import Any, Literal, Protocol

from escgnn.disk import atomic

BUDGETS = ("smoke", "hour", "paper")  # each says more than those before it

Values = Mapping[str, float | None]


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
        sources: By row, how its published number was made: parameters, protocol.
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
    sources: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for row, values in self.paper.items():
            if len(values) != len(self.columns):
                raise ValueError(f"{self.label}: {len(values)} published numbers of {row}, {len(self.columns)} columns")

    def published(self, row: str, column: str) -> float | None:
        """The paper's number; None if it has none."""
        if row not in self.paper:
            return None
        return self.paper[row][self.columns.index(column)]


class Chapter(Protocol):
    """Tables that belong together, such as those of an `escgnn.experiments.Experiment`: all that a report must know of it."""

    @property
    def name(self) -> str:
        """What the command line calls it; the folder of its records, too."""

    @property
    def tables(self) -> tuple[Table, ...]:
        """What it fills."""


@dataclass(frozen=True)
class Record:
    """What one cell of an experiment came to, or why it failed.

    Attributes:
        experiment: Its name, such as ``"counting"``.
        row: The row of the tables that it belongs to, such as ``"ESC-GNN"``.
        budget: ``"smoke"``, ``"hour"`` or ``"paper"``.
        seed: Decides everything random.
        variant: What distinguishes it from others of the same row and seed, among which the validation values decide,
            such as ``"h=2"``.
        values: By label of the table, then by column: the numbers of the table, on test data.
        validation: By column: the same on validation data. Nothing is chosen by anything else.
        config: All settings.
        epochs: Epochs trained; 0 if nothing was.
        seconds: Time that it took.
        cpu_seconds: Processor time of all threads, which other work on the machine does not change; 0 if it was not measured.
        curve: Points of the learning curve, each with ``epoch``, ``loss`` and ``validation``.
        scatter: By column, some pairs of true and predicted value, on test data.
        note: What a reader should know.
        error: Why it failed; None if it did not.
        command: What was called.
        commit: Of the code.
        versions: Of what decides the numbers.
        finished: Date and time, UTC.
    """

    experiment: str
    row: str
    budget: str
    seed: int = 0
    variant: str = ""
    values: Mapping[str, Values] = field(default_factory=dict)
    validation: Values = field(default_factory=dict)
    config: Mapping[str, Any] = field(default_factory=dict)
    epochs: int = 0
    seconds: float = 0.0
    cpu_seconds: float = 0.0
    curve: tuple[Mapping[str, float | None], ...] = ()
    scatter: Mapping[str, tuple[tuple[float, float], ...]] = field(default_factory=dict)
    note: str = ""
    error: str | None = None
    command: str = ""
    commit: str | None = None
    versions: Mapping[str, str] = field(default_factory=dict)
    finished: str = ""

    def __post_init__(self) -> None:
        if self.budget not in BUDGETS:
            raise ValueError(f"budget: {self.budget!r}; expected one of {', '.join(BUDGETS)}")

    @property
    def path(self) -> Path:
        """Where it is kept, below the folder of all results.

        >>> Record("counting", "ESC-GNN", "hour", variant="h=2").path.as_posix()
        'counting/hour/esc-gnn_h-2_seed0.json'
        """
        return Path(self.experiment, self.budget, f"{stem(self.row, self.variant, self.seed)}.json")


def stem(row: str, variant: str, seed: int) -> str:
    """What files of a cell are called.

    >>> stem("ESC-GNN", "h=2", 0)
    'esc-gnn_h-2_seed0'
    """
    words = (_slug(row), _slug(variant), f"seed{seed}")
    return "_".join(word for word in words if word)


def write(record: Record, results: str | PathLike[str]) -> Path:
    """Write a record below a folder, whole or not at all, in place of an earlier one of the same cell."""
    path = Path(results) / record.path
    path.parent.mkdir(parents=True, exist_ok=True)
    text = json.dumps(_plain(asdict(record)), indent=1, allow_nan=False)
    short = _INNERMOST.sub(_on_one_line, text)
    with atomic(path) as draft:
        draft.write_text(f"{short}\n")
    return path


def read(results: str | PathLike[str]) -> list[Record]:
    """All records below a folder, in the order of their paths.

    Raises:
        ValueError: A file is not a record; the message names it.
    """
    paths = sorted(path.relative_to(results) for path in Path(results).glob("*/*/*.json"))
    return [record for path in paths if (record := read_one(path, results)) is not None]


def read_one(path: Path, results: str | PathLike[str]) -> Record | None:
    """The record at a path below a folder, `Record.path`; None if it is not there.

    Raises:
        ValueError: The file is not that record; the message names it.
    """
    file = Path(results, path)
    try:
        record = Record(**json.loads(file.read_text()))
    except FileNotFoundError:
        return None
    except (TypeError, ValueError, RecursionError) as error:
        raise ValueError(f"{file}: not a record of a run; {error}") from error
    if record.path != path:
        raise ValueError(f"{file}: holds the run of {record.path}; do not rename records")
    return record


_INNERMOST = re.compile(r"[\[{][^\[\]{}]*[\]}]")  # lists and objects that hold no others


def _on_one_line(match: re.Match[str]) -> str:
    return re.sub(r"\s+", " ", match[0])


def _slug(text: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")


def _plain(value: Any) -> Any:
    """Values that JSON knows: None for NaN and infinities, six digits of what was computed in float32."""
    if isinstance(value, Mapping):
        return {str(key): _plain(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(inner) for inner in value]
    if isinstance(value, float):
        return float(f"{value:.6g}") if math.isfinite(value) else None
    return value
