"""The targets of a table: which kind they are of, what their cells say, and which rows say nothing."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from escgnn.datasets.raw import DatasetError
from escgnn.datasets.sheets import Sheet
from escgnn.task import Direction, Kind, Task

METRICS: dict[Kind, tuple[str, Direction]] = {
    "regression": ("mae", "min"),
    "binary": ("rocauc", "max"),
    "multiclass": ("accuracy", "max"),
    "multilabel": ("rocauc", "max"),
}
KINDS_OF_ONE = ("regression", "binary", "multiclass")  # target among those of other kinds
LARGEST_TARGET = float(np.finfo(np.float32).max)
UNKNOWN = {"", "na", "n/a", "nan", "null", "none", "-"}  # targets, in lower case
NO_VALUE = "no target has a value"


def read_targets(
    sheet: Sheet, targets: Sequence[str], kind: Kind | Sequence[Kind] | None
) -> tuple[NDArray[Any], Task, dict[int, str]]:
    """The values, the task, and the rows without values with the reason."""
    columns = [["" if cell.lower() in UNKNOWN else cell for cell in sheet.cells[name]] for name in targets]
    has_words = kind is None and any(_guess_words(cells) for cells in columns)
    if has_words or kind == "multiclass" or isinstance(kind, tuple):
        if len(columns) > 1:
            return _read_mixed(sheet, targets, kind)
        classes = sorted({cell for cell in columns[0] if cell}, key=_natural)
        number = {name: i for i, name in enumerate(classes)}
        chosen = np.array([[number.get(cell, -1)] for cell in columns[0]], np.int64)
        if len(classes) < 2:
            raise ValueError(f"targets: {targets[0]} has {len(classes)} different values; classes are two or more")
        task = Task("graph", "multiclass", *METRICS["multiclass"], tuple(targets), len(classes), tuple(classes))
        return chosen, task, dict.fromkeys(np.flatnonzero(chosen < 0).tolist(), NO_VALUE)
    y = np.full((len(columns[0]), len(columns)), np.nan, np.float32)
    problems: dict[int, str] = {}
    for place, (name, cells) in enumerate(zip(targets, columns, strict=True)):
        for row, cell in enumerate(cells):
            try:
                value = float(cell) if cell else math.nan
            except ValueError:
                problems[row] = f"{name}: {cell[:30]!r} is not a number"
                continue
            if abs(value) > LARGEST_TARGET:
                problems[row] = f"{name}: {cell[:30]!r} is not a finite number"
            else:
                y[row, place] = value
    for row in np.flatnonzero(np.isnan(y).all(axis=1)).tolist():
        problems.setdefault(row, NO_VALUE)
    chosen_kind: Kind = kind if isinstance(kind, str) else _guess(y)
    if kind in ("binary", "multilabel"):
        _check_yes_or_no(sheet, chosen_kind, dict(zip(targets, y.T, strict=True)))
    return y, Task("graph", chosen_kind, *METRICS[chosen_kind], tuple(targets)), problems


def _read_mixed(
    sheet: Sheet, targets: Sequence[str], kind: Kind | Sequence[Kind] | None
) -> tuple[NDArray[Any], Task, dict[int, str]]:
    """The same of targets of several kinds: each is read alone, and classes are numbered."""
    kinds = kind if isinstance(kind, tuple) else (kind,) * len(targets)
    values = []
    parts = []
    reasons: list[dict[int, str]] = []
    for name, own_kind in zip(targets, kinds, strict=True):
        alone, part, problems = read_targets(sheet, [name], own_kind)
        known = alone.astype(np.float32)
        values.append(np.where(known < 0, np.nan, known) if part.kind == "multiclass" else known)
        parts.append(part)
        reasons.append(problems)
    y = np.concatenate(values, axis=1)
    problems = {row: reason for found in reasons for row, reason in found.items() if reason != NO_VALUE}
    for row in np.flatnonzero(np.isnan(y).all(axis=1)).tolist():
        problems.setdefault(row, NO_VALUE)
    return y, Task.mixed(parts), problems


def _check_yes_or_no(sheet: Sheet, kind: Kind, columns: Mapping[str, NDArray[np.float32]]) -> None:
    """Complain about a number that is not 0 or 1, and about a column of words; a word among numbers is a bad row."""
    for name, values in columns.items():
        known = np.flatnonzero(~np.isnan(values))
        wrong = known[~np.isin(values[known], (0, 1))]
        advice = "kind='multiclass' takes all values for classes, and kind='regression' for numbers"
        if not known.size:
            wrong = np.flatnonzero([cell.lower() not in UNKNOWN for cell in sheet.cells[name]])
            advice = "words are classes by themselves, without a kind"
        if wrong.size:
            raise DatasetError(f"{sheet.quote(name, int(wrong[0]))}; {kind} needs 0 and 1: {advice}")


def _guess_words(column: Sequence[str]) -> bool:
    """Whether a column holds words that name classes; names of single rows do not."""
    cells = [cell for cell in column if cell]
    is_words = all(_natural(cell)[0] == math.inf for cell in cells)
    return is_words and 1 < len({*cells}) <= len(cells) / 2


def _guess(y: NDArray[np.float32]) -> Kind:
    if not np.isin(y[~np.isnan(y)], (0, 1)).all():
        return "regression"
    return "binary" if y.shape[1] == 1 else "multilabel"


def _natural(name: str) -> tuple[float, str]:
    """Numbers in their order, then other names, such as inf."""
    try:
        number = float(name)
    except ValueError:
        return math.inf, name
    return number if math.isfinite(number) else math.inf, name
