"""What stands in a table of predictions: the columns of one predictor, and what fills them."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np
import pyarrow as pa
import torch
from numpy.typing import NDArray

from escgnn.metrics import out_channels
from escgnn.store import GraphStore
from escgnn.task import Task
from escgnn.training.calibration import middle_of
from escgnn.training.ensemble import Predictor
from escgnn.training.neighbours import similarity

Values = NDArray[np.float64]


@dataclass(frozen=True)
class Extras:
    """What is wanted beside predictions.

    Attributes:
        interval: The probability with which an interval holds a number, such as 0.9: ``pred_NAME_low`` and ``_high``.
        calibrated: Whether probabilities are those that the validation rows bear out.
        similarity: Whether to say how close the nearest training molecule is, as ``similarity`` from 0 to 1.
        embedding: Whether to give the vectors that predictions are read off, as ``embedding_0`` and so on.
    """

    interval: float | None = None
    calibrated: bool = False
    similarity: bool = False
    embedding: bool = False

    def __post_init__(self) -> None:
        if self.interval is not None and not 0 < self.interval < 1:
            raise ValueError(f"interval: {self.interval}; expected a probability between 0 and 1, such as 0.9")


NO_EXTRAS = Extras()


def check_extras(predictors: Sequence[Predictor], extras: Extras) -> None:
    """Complain about what cannot be given, before anything is read.

    Raises:
        ValueError: There are no numbers, no classes, or no file that would tell.
    """
    kinds = {single.kind for predictor in predictors for single in predictor.task.singles}
    if extras.interval is not None and "regression" not in kinds:
        raise ValueError(
            "interval: intervals are of numbers, and these targets are classes; calibrated is what they have"
        )
    if extras.calibrated and kinds == {"regression"}:
        raise ValueError("calibrated: probabilities are of classes, and these targets are numbers; they have intervals")
    for predictor in predictors:
        if extras.interval is not None:
            _bounds(predictor, torch.zeros(predictor.size, 1, out_channels(predictor.task)), extras.interval)
        if extras.calibrated:
            _ = predictor.calibration
        if extras.similarity:
            _ = predictor.known
        if extras.embedding:
            _ = predictor.channels


class Column(NamedTuple):
    """A column that is added.

    Attributes:
        name: What it is called.
        kind: Its pyarrow type.
        role: A prediction, the probability of a class, a bound of an interval, or what else is said of a row.
        target: What it is of; empty if of the whole row.
    """

    name: str
    kind: Any
    role: Literal["value", "class", "bound", "other"] = "other"
    target: str = ""


RANKS = {"value": 0, "class": 2}  # who keeps a name that several would have; those of classes are a user's own


def added_columns(predictor: Predictor, extras: Extras, prefix: str = "") -> list[Column]:
    """The columns of one predictor, no two of the same name."""
    number = pa.float64()
    added: list[Column] = []
    for single in predictor.task.singles:
        target = single.targets[0]
        name = f"pred_{target}"
        is_classes = single.kind == "multiclass"
        added.append(Column(name, class_names(single).type if is_classes else number, "value", target))
        if predictor.size > 1:
            added.append(Column(f"{name}_std", number, "other", target))
        if extras.interval is not None and single.kind == "regression":
            added += [Column(f"{name}_{end}", number, "bound", target) for end in ("low", "high")]
        if is_classes:
            added += [Column(f"{name}_{one}", number, "class", target) for one in class_names(single).to_pylist()]
    if extras.similarity:
        added.append(Column("similarity", number))
    if extras.embedding:
        added += [Column(f"embedding_{place}", number) for place in range(predictor.channels)]
    names = _told_apart(added)
    return [column._replace(name=f"{prefix}{name}") for name, column in zip(names, added, strict=True)]


def _told_apart(columns: Sequence[Column]) -> list[str]:
    """Names of columns; of those that are the same the first by rank keeps it, others end in ``_2`` or the next free number."""
    names = [column.name for column in columns]
    wanted = {*names}
    kept: set[str] = set()
    for place in sorted(range(len(columns)), key=lambda place: RANKS.get(columns[place].role, 1)):
        number = 1
        while names[place] in kept or (number > 1 and names[place] in wanted):
            number += 1
            names[place] = f"{columns[place].name}_{number}"
        kept.add(names[place])
    return names


def values_of(predictor: Predictor, graphs: GraphStore, batch_size: int, extras: Extras) -> Values:
    """All that is computed for graphs: the predictions of every member side by side, then the embedding, ``(rows, width)``."""
    answers = predictor.answers(graphs, batch_size)  # (members, rows, outputs)
    beside = [answers.permute(1, 0, 2).flatten(1)]  # (rows, members * outputs)
    if extras.embedding:
        beside.append(predictor.embedding(graphs, batch_size).double())  # (rows, channels)
    found: Values = torch.cat(beside, 1).numpy()
    return found


def width_of(predictor: Predictor, extras: Extras) -> int:
    """How wide `values_of` is."""
    return predictor.size * out_channels(predictor.task) + (predictor.channels if extras.embedding else 0)


def filled_columns(predictor: Predictor, values: Values, texts: Sequence[str], extras: Extras) -> list[Any]:
    """The columns of one predictor, as pyarrow arrays.

    Args:
        predictor: Whose they are.
        values: What `values_of` gives, not a number in rows without predictions.
        texts: The SMILES of each row, where similarities are wanted; empty in rows without a molecule.
        extras: What else is wanted.
    """
    task = predictor.task
    width = out_channels(task)
    members = torch.from_numpy(values[:, : predictor.size * width]).view(len(values), predictor.size, width)
    answers = members.permute(1, 0, 2)  # (members, rows, outputs)
    middle, deviation = middle_of(answers)  # (rows, outputs), (rows, outputs)
    if extras.calibrated:
        middle = predictor.calibration.corrected(task, middle)
    bounds = {} if extras.interval is None else _bounds(predictor, answers, extras.interval)
    columns = []
    place = 0
    for number, single in enumerate(task.singles):
        own = middle[:, place : place + out_channels(single)].numpy()
        spread = deviation[:, place : place + out_channels(single)].numpy()
        place += own.shape[1]
        best = own.argmax(1)
        if single.kind == "multiclass":
            columns.append(class_names(single).take(pa.array(best, mask=np.isnan(own[:, 0]))))
        else:
            columns.append(_numbers(own[:, 0]))
        if predictor.size > 1:
            columns.append(_numbers(np.take_along_axis(spread, best[:, None], 1)[:, 0]))
        if number in bounds:
            columns += [_numbers(bound) for bound in bounds[number]]
        if single.kind == "multiclass":
            columns += [_numbers(column) for column in own.T]
    if extras.similarity:
        nearest = similarity(texts, predictor.known)
        nearest[[not text for text in texts]] = np.nan
        columns.append(_numbers(nearest))
    return [*columns, *(_numbers(column) for column in values[:, predictor.size * width :].T)]


def class_names(task: Task) -> Any:
    """What the classes are called: words, or numbers if they are written as such or have no names."""
    names = task.names or tuple(str(number) for number in range(task.classes))
    if all(re.fullmatch("0|-?[1-9][0-9]*", name, re.ASCII) for name in names):
        return pa.array([int(name) for name in names], pa.int64())
    return pa.array(names, pa.string())


def _bounds(predictor: Predictor, answers: torch.Tensor, level: float) -> dict[int, tuple[Values, Values]]:
    """Lower and upper bound of every number, by the place of its target."""
    middle, deviation = middle_of(answers)  # (rows, outputs), (rows, outputs)
    found = {}
    column = 0
    for place, single in enumerate(predictor.task.singles):
        if single.kind == "regression":
            half = predictor.calibration.half_width(place, deviation[:, column], level)
            found[place] = ((middle[:, column] - half).numpy(), (middle[:, column] + half).numpy())
        column += out_channels(single)
    return found


def _numbers(column: Values) -> Any:
    """A column in which what is not a number is left empty."""
    return pa.array(column, from_pandas=True)
