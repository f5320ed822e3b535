"""How far predictions can be trusted, learnt from the validation rows: intervals with a promise, honest probabilities.

Intervals are split-conformal: of n validation rows, the ⌈(n + 1) level⌉-th smallest error is at least that of a new row
with this probability, if new rows are like those (Vovk et al., Algorithmic Learning in a Random World, 2005). Of an ensemble,
errors are in units of its deviation plus the mean one, so that rows on which its members disagree get wider intervals (Lei
et al., Distribution-Free Predictive Inference for Regression, JASA 2018). The validation rows have chosen the epoch, too, so
the promise is a little optimistic; and rows far from the training table are not like the validation rows.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save
from torch import Tensor
from torch.nn import functional

from escgnn.disk import atomic
from escgnn.metrics import Scaling, as_outputs, out_channels, predictions
from escgnn.task import Task

PRIOR = 1.0  # rows that say that nothing is to be corrected, so that few rows cannot make certainties
STEPS = 100  # at most, of the search for the best correction

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Calibration:
    """What the validation rows say, target by target.

    Attributes:
        errors: Sorted errors of a number, in units of `unit`; none of classes.
        softness: What is added to the deviation of the members; 0 if there was one member, then the unit is 1.
        slopes: What outputs of classes are multiplied by; 1 for numbers.
        offsets: What is then added, one for each output.
    """

    errors: tuple[Array, ...]
    softness: tuple[float, ...]
    slopes: tuple[float, ...]
    offsets: tuple[Array, ...]

    @classmethod
    def of(cls, task: Task, answers: Tensor, y: Tensor) -> "Calibration":
        """The calibration by rows whose targets are known.

        Args:
            task: What is predicted.
            answers: Predictions of each member, ``(members, rows, outputs)``.
            y: Targets, ``(rows, targets)``.
        """
        errors = []
        softness = []
        slopes = []
        offsets = []
        for place, (single, own) in enumerate(_by_target(task, answers)):
            target = y[:, place]
            if single.kind == "regression":
                known = ~target.isnan()
                middle, deviation = middle_of(own[:, known, 0])
                soft = float(deviation.mean()) if len(own) > 1 and known.any() else 0.0
                wrong = (target[known].double() - middle).abs() / unit_of(deviation, soft)
                errors.append(np.sort(wrong.numpy()))
                softness.append(soft)
                slope, offset = 1.0, np.zeros(1)
            else:
                errors.append(np.empty(0))
                softness.append(0.0)
                slope, offset = _corrected(single, own.mean(0), target)
            slopes.append(slope)
            offsets.append(offset)
        return cls(tuple(errors), tuple(softness), tuple(slopes), tuple(offsets))

    def half_width(self, place: int, deviation: Tensor, level: float) -> Tensor:
        """Half the width of the interval that holds a number with this probability, for every row.

        Args:
            place: Of the target.
            deviation: Of the members, ``(rows,)``.
            level: Such as 0.9.

        Raises:
            ValueError: There were too few validation rows for this level.
        """
        errors = self.errors[place]
        rank = math.ceil((len(errors) + 1) * level)
        if rank > len(errors):
            needed = math.ceil(level / (1 - level))
            raise ValueError(
                f"interval: {level}; it takes {needed} validation rows with this target, and there were {len(errors)}"
            )
        return float(errors[rank - 1]) * unit_of(deviation, self.softness[place])

    def corrected(self, task: Task, values: Tensor) -> Tensor:
        """Predictions with calibrated probabilities, ``(rows, outputs)``; numbers stay as they are."""
        found = []
        for place, (single, own) in enumerate(_by_target(task, values[None])):
            columns = own[0]
            if single.kind != "regression":
                columns = _probabilities(single, columns, self.slopes[place], torch.from_numpy(self.offsets[place]))
            found.append(columns)
        return torch.cat(found, 1)

    def save(self, path: Path) -> None:
        """Write it, whole or not at all."""
        arrays = {}
        for place, errors in enumerate(self.errors):
            arrays[f"errors.{place}"] = errors
            arrays[f"numbers.{place}"] = np.array([self.softness[place], self.slopes[place], *self.offsets[place]])
        with atomic(path) as draft:
            draft.write_bytes(save({name: np.ascontiguousarray(array) for name, array in arrays.items()}))

    @classmethod
    def read(cls, path: Path, task: Task) -> "Calibration":
        """What `save` wrote.

        Raises:
            ValueError: It is not there, or damaged, or that of another task.
        """
        if not path.is_file():
            raise ValueError(f"{path} is not there; resume the run, which writes it at its end")
        try:
            with safe_open(path, framework="numpy") as file:
                arrays = [
                    (file.get_tensor(f"errors.{i}"), file.get_tensor(f"numbers.{i}")) for i in range(len(task.singles))
                ]
        except (SafetensorError, ValueError, TypeError) as error:
            raise ValueError(f"{path} is damaged: {error}") from error
        for single, (errors, numbers) in zip(task.singles, arrays, strict=True):
            shapes = errors.ndim == 1 and numbers.shape == (2 + out_channels(single),)
            real = errors.dtype == numbers.dtype == np.float64
            if not (shapes and real and np.isfinite(errors).all() and np.isfinite(numbers).all()):
                raise ValueError(f"{path} is damaged: {single.targets[0]} has other numbers than expected")
        return cls(
            tuple(np.sort(np.abs(errors)) for errors, _ in arrays),
            tuple(abs(float(numbers[0])) for _, numbers in arrays),
            tuple(float(numbers[1]) for _, numbers in arrays),
            tuple(numbers[2:] for _, numbers in arrays),
        )


def middle_of(answers: Tensor) -> tuple[Tensor, Tensor]:
    """Mean and deviation over members, of ``(members, ...)``; one member has deviation 0."""
    values = answers.double()
    deviation = values.std(0) if len(values) > 1 else torch.zeros_like(values[0])
    return values.mean(0), deviation


def unit_of(deviation: Tensor, softness: float) -> Tensor:
    """What errors are measured in; 1 where nobody can disagree."""
    return deviation + softness if softness > 0 else torch.ones_like(deviation)


def _by_target(task: Task, answers: Tensor) -> Iterator[tuple[Task, Tensor]]:
    """Each target alone, with its columns of ``(members, rows, outputs)``."""
    widths: Sequence[int] = [out_channels(single) for single in task.singles]
    return zip(task.singles, torch.split(answers, [*widths], 2), strict=True)


def _no_scaling() -> Scaling:
    return Scaling((0.0,), (1.0,), (1.0,))


def _probabilities(task: Task, values: Tensor, slope: float | Tensor, offset: Tensor) -> Tensor:
    outputs = as_outputs(task, _no_scaling(), values)  # (rows, outputs)
    return predictions(task, _no_scaling(), outputs * slope + offset)


def _corrected(task: Task, values: Tensor, target: Tensor) -> tuple[float, Array]:
    """Slope and offsets that make the known rows most likely; one over the slope is what is called temperature."""
    outputs = as_outputs(task, _no_scaling(), values)  # (rows, outputs)
    is_known = target >= 0  # which unknown ones are not, be they -1 or not a number
    outputs = outputs[is_known]
    answers = target[is_known]
    log_slope = torch.zeros((), dtype=torch.float64, requires_grad=True)
    offset = torch.zeros(outputs.shape[1], dtype=torch.float64, requires_grad=True)
    search = torch.optim.LBFGS([log_slope, offset], max_iter=STEPS, line_search_fn="strong_wolfe")

    def loss() -> Tensor:
        search.zero_grad()
        shifted = outputs * log_slope.exp() + offset
        if task.kind == "multiclass":
            total = functional.cross_entropy(shifted, answers.long(), reduction="sum")
        else:
            total = functional.binary_cross_entropy_with_logits(shifted[:, 0], answers.double(), reduction="sum")
        total = total + PRIOR * (log_slope.square() + offset.square().sum())
        total.backward()  # type: ignore[no-untyped-call]
        return total

    if len(outputs):
        search.step(loss)  # type: ignore[no-untyped-call]
    return float(log_slope.detach().exp()), offset.detach().numpy().copy()
