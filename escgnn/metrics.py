"""From a network's outputs to losses, predictions and metrics, by task. Unknown targets count for nothing."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional
from torchmetrics import Metric
from torchmetrics.functional import mean_absolute_error, mean_squared_error
from torchmetrics.functional.classification import (
    binary_accuracy,
    binary_auroc,
    binary_average_precision,
    multiclass_accuracy,
)
from torchmetrics.utilities import dim_zero_cat

from escgnn.datasets import DatasetBundle
from escgnn.task import Task

LOSSES = {"regression": ("l1", "mse"), "binary": ("bce",), "multilabel": ("bce",), "multiclass": ("ce",)}
METRICS = {
    "regression": ("mae", "rmse", "norm-mae"),
    "binary": ("rocauc", "ap", "accuracy"),
    "multilabel": ("rocauc", "ap", "accuracy"),
    "multiclass": ("accuracy",),
}
ELEMENTWISE: dict[str, Callable[..., Tensor]] = {
    "l1": functional.l1_loss,
    "mse": functional.mse_loss,
    "bce": functional.binary_cross_entropy_with_logits,
}


@dataclass(frozen=True)
class Scaling:
    """How targets relate to outputs: ``target = output * std + mean``, a number for each target.

    Attributes:
        mean: Of the training targets; 0 where they are not numbers.
        std: Their standard deviation; 1 where they are not numbers, or all the same.
        unit: What the normalised error divides by: the standard deviation over training and validation targets.
    """

    mean: tuple[float, ...]
    std: tuple[float, ...]
    unit: tuple[float, ...]

    @classmethod
    def of(cls, bundle: DatasetBundle) -> "Scaling":
        """The scaling of a dataset's training targets."""
        count = len(bundle.targets)
        if bundle.task.kind != "regression":
            return cls((0.0,) * count, (1.0,) * count, (1.0,) * count)
        y = bundle.train.column("y").double()
        known = ~y.isnan()
        mean = y.nanmean(0)
        std = ((y - mean).nan_to_num().square().sum(0) / (known.sum(0) - 1).clamp(min=1)).sqrt()
        unit = [bundle.scale[name].std for name in bundle.targets]
        # in single precision, so that standardising there and restoring in double fit together
        return cls(tuple(mean.nan_to_num().float().tolist()), _positive(std.float().tolist()), _positive(unit))

    def standardise(self, y: Tensor) -> Tensor:
        """Targets as the network sees them."""
        return (y - y.new_tensor(self.mean)) / y.new_tensor(self.std)

    def restore(self, output: Tensor) -> Tensor:
        """Outputs as targets, with the digits that large means need."""
        mean, std = (torch.tensor(values, dtype=torch.float64) for values in (self.mean, self.std))
        return output.double().cpu() * std + mean


def _positive(values: Sequence[float]) -> tuple[float, ...]:
    return tuple(value if value > 0 else 1.0 for value in values)


def out_channels(task: Task) -> int:
    """Outputs that a network needs."""
    return task.classes if task.kind == "multiclass" else len(task.targets)


def choose_loss(name: str, task: Task) -> str:
    """The loss of that name, or the usual one; it must suit the task."""
    fitting = LOSSES[task.kind]
    if name not in ("auto", *fitting):
        raise ValueError(f"loss: {name!r} does not suit {task.kind} targets; expected auto, {', '.join(fitting)}")
    return fitting[0] if name == "auto" else name


def loss_terms(loss: str, output: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
    """The sum of the losses of all known targets, and how many they are; numbers must be standardised."""
    if loss == "ce":
        target = y.view(-1)
        known = target >= 0
        terms = functional.cross_entropy(output, target.clamp(min=0), reduction="none")
    else:
        known = ~y.isnan()
        terms = ELEMENTWISE[loss](output, y.nan_to_num().to(output.dtype), reduction="none")
    return terms[known].sum(), known.sum()


def predictions(task: Task, scaling: Scaling, output: Tensor) -> Tensor:
    """What the outputs say: numbers in the targets' units, or probabilities, ``(rows, outputs)``."""
    if task.kind == "regression":
        return scaling.restore(output)
    probability = output.double().cpu()
    return probability.softmax(-1) if task.kind == "multiclass" else probability.sigmoid()


def score(task: Task, scaling: Scaling, output: Tensor, y: Tensor) -> dict[str, float]:
    """Every metric that suits the task; where there are several targets, the mean and then each as ``metric/target``.

    A metric that a target does not have, as the ROC AUC of one class, is not a number and left out of the mean.
    """
    output, y = output.cpu(), y.cpu()
    if task.kind == "multiclass":
        known = y.view(-1) >= 0
        if not known.any():
            return {"accuracy": torch.nan}
        value = multiclass_accuracy(output[known], y.view(-1)[known], task.classes, average="micro")
        return {"accuracy": float(value)}
    values = scaling.restore(output) if task.kind == "regression" else output.double()
    judge = _judge_numbers if task.kind == "regression" else _judge_yes_no
    rows = []
    for place, unit in enumerate(scaling.unit):
        known = ~y[:, place].isnan()
        rows.append(judge(values[known, place], y[known, place].double(), unit))
    result = {}
    for metric in METRICS[task.kind]:
        column = [row[metric] for row in rows]
        result[metric] = float(torch.tensor(column, dtype=torch.float64).nanmean())
        if len(column) > 1:
            result |= {f"{metric}/{name}": value for name, value in zip(task.targets, column, strict=True)}
    return result


def _judge_numbers(prediction: Tensor, y: Tensor, unit: float) -> dict[str, float]:
    if not len(y):
        return dict.fromkeys(METRICS["regression"], torch.nan)
    mae = float(mean_absolute_error(prediction, y))
    return {"mae": mae, "rmse": float(mean_squared_error(prediction, y, squared=False)), "norm-mae": mae / unit}


def _judge_yes_no(output: Tensor, y: Tensor, _: float) -> dict[str, float]:
    if not len(y):
        return dict.fromkeys(METRICS["binary"], torch.nan)
    accuracy = float(binary_accuracy((output > 0).long(), y.long()))
    if y.min() == y.max():
        return {"rocauc": torch.nan, "ap": torch.nan, "accuracy": accuracy}
    # ranks, because probabilities close to 1 would look the same
    place = torch.from_numpy(np.unique(output.numpy(), return_inverse=True)[1]).double() / len(y)
    rocauc, ap = (float(metric(place, y.long())) for metric in (binary_auroc, binary_average_precision))
    return {"rocauc": rocauc, "ap": ap, "accuracy": accuracy}


class Scores(Metric):
    """The metrics of an epoch, exactly: outputs and targets are kept, of all processes, and judged together."""

    full_state_update = False
    output: list[Tensor]
    y: list[Tensor]

    def __init__(self, task: Task, scaling: Scaling) -> None:
        super().__init__()
        self.task, self.scaling = task, scaling
        self.add_state("output", [], dist_reduce_fx="cat")
        self.add_state("y", [], dist_reduce_fx="cat")

    def update(self, output: Tensor, y: Tensor) -> None:
        """Add a batch."""
        self.output.append(output.detach().float())
        self.y.append(y)

    def compute(self) -> dict[str, float]:
        """The metrics of all batches."""
        output, y = dim_zero_cat(self.output), dim_zero_cat(self.y)
        return score(self.task, self.scaling, output, y)
