"""What is explained: numbers that a network says of a graph, one for each target, or for each class of it."""

from collections.abc import Sequence

import torch
from torch import Tensor

from escgnn.metrics import Scaling, out_channels
from escgnn.task import Task
from escgnn.training import Ensemble, Run


def members_of(run: Run | Ensemble) -> Sequence[Run]:
    """The networks of an ensemble, or the one.

    Raises:
        ValueError: It does not predict for graphs.
    """
    if run.task.level != "graph":
        raise ValueError(f"{run.folder}: it predicts for each {run.task.level}; what can be explained is of graphs")
    return run.members if isinstance(run, Ensemble) else (run,)


def names_of(task: Task) -> tuple[str, ...]:
    """What is explained: targets, and of several classes each.

    >>> names_of(Task("graph", "multiclass", "accuracy", "max", ("acid",), 2, ("no", "yes")))
    ('acid: no', 'acid: yes')
    """
    found = []
    for single in task.singles:
        target = single.targets[0]
        classes = single.names or tuple(map(str, range(single.classes)))
        found += [f"{target}: {name}" for name in classes] if single.kind == "multiclass" else [target]
    return tuple(found)


def units_of(task: Task) -> tuple[str, ...]:
    """In what contributions are measured, for each output."""
    units = {"regression": "units of the target", "binary": "log-odds", "multiclass": "log-probability"}
    return tuple(units[single.kind] for single in task.singles for _ in range(out_channels(single)))


def said(task: Task, scaling: Scaling, output: Tensor) -> Tensor:
    """What is explained, in double precision and with gradients, (rows, outputs).

    These are numbers in units of the target, log-odds of yes, and log-probabilities of classes.
    """
    columns = torch.split(output.double(), [out_channels(single) for single in task.singles], 1)
    found = []
    for place, (single, own) in enumerate(zip(task.singles, columns, strict=True)):
        if single.kind == "regression":
            own = own * scaling.std[place] + scaling.mean[place]
        elif single.kind == "multiclass":
            own = own.log_softmax(1)
        found.append(own)
    return torch.cat(found, 1)
