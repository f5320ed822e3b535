"""From a network's outputs to losses, predictions and metrics, by task. Unknown targets count for nothing.

Torchmetrics is loaded by what judges: it takes longer to load than torch, and whoever predicts can do without.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from escgnn.datasets import DatasetBundle
from escgnn.task import Task

LOSSES = {
    "regression": ("l1", "mse"),
    "binary": ("bce",),
    "multilabel": ("bce",),
    "multiclass": ("ce",),
    "mixed": ("l1", "mse"),  # of its numbers; yes or no and classes have one loss each
}
METRICS = {
    "regression": ("mae", "rmse", "norm-mae"),
    "binary": ("rocauc", "ap", "accuracy"),
    "multilabel": ("rocauc", "ap", "accuracy"),
    "multiclass": ("accuracy",),
    "mixed": ("relative",),
}
LEAST_PROBABILITY = 1e-12  # or its logarithm would be infinite
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
        if not bundle.task.has_numbers:
            return cls((0.0,) * count, (1.0,) * count, (1.0,) * count)
        y = bundle.train.column("y").double()
        known = ~y.isnan()
        mean = y.nanmean(0)
        std = ((y - mean).nan_to_num().square().sum(0) / (known.sum(0) - 1).clamp(min=1)).sqrt()
        unit = [bundle.scale[name].std for name in bundle.targets]
        is_number = torch.tensor([target.kind == "regression" for target in bundle.task.singles])
        mean = mean.nan_to_num().where(is_number, 0.0)
        std = std.where(is_number, 1.0)
        unit = [size if number else 1.0 for size, number in zip(unit, is_number.tolist(), strict=True)]
        # in single precision, so that standardising there and restoring in double fit together
        return cls(tuple(mean.float().tolist()), _positive(std.float().tolist()), _positive(unit))

    def only(self, place: int) -> "Scaling":
        """That of one target."""
        return Scaling((self.mean[place],), (self.std[place],), (self.unit[place],))

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
    if task.parts:
        return sum(map(out_channels, task.parts))
    return task.classes if task.kind == "multiclass" else len(task.targets)


def choose_loss(name: str, task: Task) -> str:
    """The loss of that name, or the usual one; it must suit the task."""
    fitting = LOSSES[task.kind]
    if name not in ("auto", *fitting):
        raise ValueError(f"loss: {name!r} does not suit {task.kind} targets; expected auto, {', '.join(fitting)}")
    return fitting[0] if name == "auto" else name


def loss_terms(
    loss: str, output: Tensor, y: Tensor, weights: Sequence[Tensor] | None = None, smoothing: float = 0.0
) -> tuple[Tensor, Tensor]:
    """The sum of the losses of all known targets, and how many they are; numbers must be standardised.

    Args:
        loss: Its name.
        output: What the network says.
        y: The targets.
        weights: Of the classes of each target, as `class_weights` gives them.
        smoothing: Share of a row that belongs to all classes alike, whatever its class is; numbers have none.
    """
    if loss == "ce":
        target = y.view(-1)
        known = target >= 0
        terms = functional.cross_entropy(output, target.clamp(min=0), reduction="none", label_smoothing=smoothing)
    else:
        known = ~y.isnan()
        answers = y.nan_to_num().to(output.dtype)
        if loss == "bce":
            answers = (1 - smoothing) * answers + smoothing / 2
        terms = ELEMENTWISE[loss](output, answers, reduction="none")
    if weights is not None and loss in ("ce", "bce"):
        classes = y.view(len(y), -1).nan_to_num().long().clamp(min=0)  # (rows, targets)
        columns = [own.to(terms)[column] for own, column in zip(weights, classes.T, strict=True)]
        terms = terms * torch.stack(columns, 1).view_as(terms)
    return terms[known].sum(), known.sum()


def class_weights(task: Task, y: Tensor) -> list[Tensor]:
    """For each target a weight for every class, so that all classes weigh the same and a row 1 on average; none for numbers.

    >>> task = Task("graph", "binary", "rocauc", "max", ("active",))
    >>> class_weights(task, torch.tensor([[0.0], [0.0], [0.0], [1.0], [torch.nan]]))
    [tensor([0.6667, 2.0000])]
    """
    found = []
    for single, column in zip(task.singles, y.T, strict=True):
        if single.kind == "regression":
            found.append(torch.empty(0))
            continue
        known = column[column >= 0].long()  # nothing compares with what is not a number
        counts = torch.bincount(known, minlength=max(2, single.classes)).float()
        found.append(len(known) / ((counts > 0).sum() * counts.clamp(min=1)))
    return found


def task_loss(
    task: Task,
    loss: str,
    output: Tensor,
    y: Tensor,
    weights: Sequence[Tensor] | None = None,
    smoothing: float = 0.0,
) -> tuple[Tensor, Tensor]:
    """The same of a task; of a mixed one, of all its targets together, each with the loss of its kind."""
    if not task.parts:
        return loss_terms(loss, output, y, weights, smoothing)
    terms = []
    for part, place, columns, answers in _by_target(task, output, y):
        own = loss if loss in LOSSES[part.kind] else "auto"
        own_weights = None if weights is None else [weights[place]]
        terms.append(loss_terms(choose_loss(own, part), columns, answers, own_weights, smoothing))
    sums, counts = zip(*terms, strict=True)
    return torch.stack(sums).sum(), torch.stack(counts).sum()


def _by_target(task: Task, output: Tensor, y: Tensor) -> Iterator[tuple[Task, int, Tensor, Tensor]]:
    """The parts of a mixed task, the place of each, its outputs, and its targets as a task of its kind has them."""
    widths = [out_channels(part) for part in task.parts]
    for place, (part, columns) in enumerate(zip(task.parts, torch.split(output, widths, 1), strict=True)):
        answers = y[:, place : place + 1]
        yield part, place, columns, answers.nan_to_num(-1).long() if part.kind == "multiclass" else answers


def predictions(task: Task, scaling: Scaling, output: Tensor) -> Tensor:
    """What the outputs say: numbers in the targets' units, or probabilities, ``(rows, outputs)``."""
    if task.parts:
        columns = torch.split(output, [out_channels(part) for part in task.parts], 1)
        parts = enumerate(zip(task.parts, columns, strict=True))
        return torch.cat([predictions(part, scaling.only(place), own) for place, (part, own) in parts], 1)
    if task.kind == "regression":
        return scaling.restore(output)
    probability = output.double().cpu()
    return probability.softmax(-1) if task.kind == "multiclass" else probability.sigmoid()


def as_outputs(task: Task, scaling: Scaling, values: Tensor) -> Tensor:
    """Outputs that say these predictions: what `predictions` makes of them again; for means of several, and for other models.

    >>> task = Task("graph", "binary", "rocauc", "max", ("active",))
    >>> round(float(as_outputs(task, Scaling((0.0,), (1.0,), (1.0,)), torch.tensor([[0.75]]))), 4)
    1.0986
    """
    if task.parts:
        columns = torch.split(values, [out_channels(part) for part in task.parts], 1)
        parts = enumerate(zip(task.parts, columns, strict=True))
        return torch.cat([as_outputs(part, scaling.only(place), own) for place, (part, own) in parts], 1)
    if task.kind == "regression":
        return scaling.standardise(values.double())
    probability = values.double().clamp(LEAST_PROBABILITY, 1 - LEAST_PROBABILITY)
    return probability.log() if task.kind == "multiclass" else probability.logit()


def score(task: Task, scaling: Scaling, output: Tensor, y: Tensor) -> dict[str, float]:
    """Every metric that suits the task; where there are several targets, the mean and then each as ``metric/target``.

    A metric that a target does not have, as the ROC AUC of one class, is not a number and left out of the mean.
    Targets of several kinds have one metric in common, ``relative``: the error divided by that of the best constant, 0 if
    all is right and 1 if nothing was learnt; the mean absolute error of numbers, and the cross-entropy of classes.
    """
    output, y = output.cpu(), y.cpu()
    if task.parts:
        return _score_mixed(task, scaling, output, y)
    if task.kind == "multiclass":
        known = y.view(-1) >= 0
        if not known.any():
            return {"accuracy": torch.nan}
        from torchmetrics.functional.classification import multiclass_accuracy

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


def _score_mixed(task: Task, scaling: Scaling, output: Tensor, y: Tensor) -> dict[str, float]:
    """The metrics of every target, and of each its error relative to the best constant's, with the mean of these."""
    relative: dict[str, float] = {}
    others: dict[str, float] = {}
    for part, place, columns, answers in _by_target(task, output, y):
        name = part.targets[0]
        own = score(part, scaling.only(place), columns, answers)
        others |= {f"{metric}/{name}": value for metric, value in own.items()}
        relative[name] = _relative(part, scaling.only(place), columns.double(), answers)
    mean = float(torch.tensor([*relative.values()], dtype=torch.float64).nanmean())
    return {"relative": mean, **{f"relative/{name}": value for name, value in relative.items()}, **others}


def _relative(task: Task, scaling: Scaling, output: Tensor, y: Tensor) -> float:
    """The error of one target divided by that of the best constant; not a number if a constant is never wrong."""
    loss = choose_loss("auto", task)
    if task.kind == "regression":
        y = y.double()
        output = scaling.restore(output)  # in units of the target
    total, known = loss_terms(loss, output, y)
    if task.kind == "regression":
        constant = float((y - y.nanmedian()).abs().nansum())
    else:
        share = (
            torch.bincount(y[y >= 0].long()).double() / known
        )  # of each class; nothing compares with what is unknown
        constant = float(torch.special.entr(share).sum() * known)
    return float(total) / constant if constant > 0 else torch.nan


def _judge_numbers(prediction: Tensor, y: Tensor, unit: float) -> dict[str, float]:
    if not len(y):
        return dict.fromkeys(METRICS["regression"], torch.nan)
    from torchmetrics.functional import mean_absolute_error, mean_squared_error

    mae = float(mean_absolute_error(prediction, y))
    return {"mae": mae, "rmse": float(mean_squared_error(prediction, y, squared=False)), "norm-mae": mae / unit}


def _judge_yes_no(output: Tensor, y: Tensor, _: float) -> dict[str, float]:
    if not len(y):
        return dict.fromkeys(METRICS["binary"], torch.nan)
    from torchmetrics.functional.classification import binary_accuracy, binary_auroc, binary_average_precision

    accuracy = float(binary_accuracy((output > 0).long(), y.long()))
    if y.min() == y.max():
        return {"rocauc": torch.nan, "ap": torch.nan, "accuracy": accuracy}
    # ranks, because probabilities close to 1 would look the same
    place = torch.from_numpy(np.unique(output.numpy(), return_inverse=True)[1]).double() / len(y)
    rocauc, ap = (float(metric(place, y.long())) for metric in (binary_auroc, binary_average_precision))
    return {"rocauc": rocauc, "ap": ap, "accuracy": accuracy}
