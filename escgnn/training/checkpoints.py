"""The checkpoint of a run: read as plain values, and held against what this run would have written before it is trusted."""

import math
import zipfile
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from pickle import UnpicklingError
from typing import Any

import torch
from torch import Tensor

from escgnn.task import Task
from escgnn.training.folder import WEIGHTS
from escgnn.training.module import Learner

RECORDER = "Recorder"  # the part of a checkpoint that only ours have
FOREIGN = "is no checkpoint of escgnn; train in a new folder"
AGAIN = f"train again in a new folder ({WEIGHTS} can still be used)"


def read_values(path: Path) -> Any:
    """What torch has saved, as plain values.

    Raises:
        ValueError: It is damaged, or holds more than values.
    """
    try:
        return torch.load(path, map_location="cpu", weights_only=True)
    except (RuntimeError, ValueError, LookupError, TypeError, AttributeError, EOFError, UnpicklingError) as error:
        if isinstance(error, UnpicklingError) and zipfile.is_zipfile(path):  # it is whole, and holds more than values
            raise ValueError(f"{path} {FOREIGN}") from error
        raise ValueError(f"{path} is damaged; {AGAIN}") from error


def read_checkpoint(path: Path) -> dict[str, Any]:
    """A checkpoint of this program, whose values are still to be checked.

    Raises:
        ValueError: It is damaged, or another program's.
    """
    checkpoint = read_values(path)
    callbacks = checkpoint.get("callbacks") if isinstance(checkpoint, dict) else None
    if not isinstance(callbacks, dict) or RECORDER not in callbacks:
        raise ValueError(f"{path} {FOREIGN}")
    return {**checkpoint}


def history_in(
    checkpoint: Mapping[str, Any], path: Path, task: Task, weights: Mapping[str, Tensor], known: Collection[str]
) -> dict[str, Any]:
    """What a checkpoint says of the epochs of its run.

    Args:
        checkpoint: What `read_checkpoint` gives.
        path: Where it was read from.
        task: Of the run.
        weights: Those of a network such as the run trains.
        known: Names of all that a history may hold.

    Raises:
        ValueError: It cannot be, or contradicts itself.
    """
    found: Any = checkpoint["callbacks"][RECORDER]
    with _told(path):
        _need(isinstance(found, dict), "its history", found)
        wrong = {"rows", "best_epoch", "best_metrics", "best_weights"} - {*found} | {*found} - {*known}
        _need(not wrong, "names in its history", wrong)
        _check_rows(found["rows"], task)
        best = found["best_epoch"]
        _need(_is_whole(best) and -1 <= best < len(found["rows"]), "best_epoch", best)
        if best < 0:
            _need(found["best_metrics"] == {} == found["best_weights"], "best_epoch", best)
            return {**found}
        metrics = found["best_metrics"]
        _need(isinstance(metrics, dict) and all(map(_is_number, metrics.values())), "best_metrics", metrics)
        same = metrics.get(task.metric) == found["rows"][best][f"validation_{task.metric}"]
        _need(same, f"{task.metric} of its best epoch", metrics.get(task.metric))
        _need_like(found["best_weights"], dict(weights), "best_weights")
    return {**found}


def _check_rows(rows: Any, task: Task) -> None:
    """The table of epochs; losses and metrics need not be numbers."""
    _need(isinstance(rows, list), "its epochs", rows)
    names = {"epoch", "loss", "lr", "seconds", f"validation_{task.metric}"}
    _need(all(isinstance(row, dict) for row in rows), "its epochs", rows)
    for number, row in enumerate(rows):
        known = names | {*rows[0]}  # a run that went on later may have more
        _need(known <= row.keys(), f"epoch {number}", row)
        _need(all(map(_is_number, row.values())), f"epoch {number}", row)
        finite = all(math.isfinite(row[name]) and row[name] >= 0 for name in ("lr", "seconds"))
        _need(finite and row["epoch"] == number, f"epoch {number}", row)


def check_state(checkpoint: Mapping[str, Any], path: Path, learner: Learner, epochs: int, steps: int) -> None:
    """Hold what training goes on from against what this run would have after so many epochs of so many steps.

    Raises:
        ValueError: They differ.
    """
    with _told(path):
        for name, expected in (("epoch", epochs - 1), ("global_step", epochs * steps)):
            _need(_is_whole(checkpoint.get(name)) and checkpoint[name] == expected, name, checkpoint.get(name))
        _need_like(checkpoint.get("state_dict"), _weights(learner), "state_dict")
        _check_optimizer(checkpoint, learner, epochs)
        _check_loop(checkpoint.get("loops"), epochs, steps)


def _weights(learner: Learner) -> dict[str, Tensor]:
    prefixes = ["network"] if learner.config.average is None else ["network", "averaged"]
    weights = learner.network.state_dict()
    return {f"{prefix}.{name}": value for prefix in prefixes for name, value in weights.items()}


def _check_optimizer(checkpoint: Mapping[str, Any], learner: Learner, epochs: int) -> None:
    made = learner.configure_optimizers()
    optimizer = made["optimizer"] if isinstance(made, dict) else made
    schedules = [made["lr_scheduler"]["scheduler"]] if isinstance(made, dict) else []
    states: Any = checkpoint.get("optimizer_states")
    _need(isinstance(states, list) and len(states) == 1 and isinstance(states[0], dict), "optimizer_states", states)
    groups = states[0].get("param_groups")
    _need_like(groups, optimizer.state_dict()["param_groups"], "param_groups", all_keys=False)
    rates = [group.get("lr", -1) for group in groups]
    _need(min(rates) >= 0, "lr of param_groups", rates)
    parameters = [*learner.network.parameters()]
    moments = states[0].get("state")
    _need(isinstance(moments, dict), "state of the optimizer", moments)
    for number, moment in moments.items():
        _need(number in range(len(parameters)), "number in the state of the optimizer", number)
        like = {"step": torch.tensor(0.0), **dict.fromkeys(("exp_avg", "exp_avg_sq"), parameters[number].detach())}
        _need_like(moment, like, f"state {number} of the optimizer")
        _need(bool((moment["exp_avg_sq"] >= 0).all()), f"state {number} of the optimizer", "negative squares")
    found: Any = checkpoint.get("lr_schedulers")
    _need_like(found, [schedule.state_dict() for schedule in schedules], "lr_schedulers", all_keys=False)
    for schedule in found:
        _need(schedule.get("last_epoch") == epochs, "last_epoch of lr_schedulers", schedule.get("last_epoch"))


def _check_loop(loops: Any, epochs: int, steps: int) -> None:
    """Where Lightning is: it believes these numbers, and would train nothing, or without end."""
    loop: Any = loops.get("fit_loop") if isinstance(loops, dict) else None
    _need(isinstance(loop, dict), "loops", loops)
    done = {"ready": epochs, "completed": epochs - 1, "started": epochs, "processed": epochs}
    _need(loop.get("epoch_progress") == {"total": done, "current": done}, "epochs", loop.get("epoch_progress"))
    batches = loop.get("epoch_loop.batch_progress")
    expected = {"total": dict.fromkeys(done, epochs * steps), "current": dict.fromkeys(done, steps)}
    _need(batches == {**expected, "is_last_batch": True}, "steps", batches)
    place: Any = loop.get("epoch_loop.automatic_optimization.optim_progress")
    for name in ("optimizer", "step", "total"):
        place = place.get(name) if isinstance(place, dict) else None
    _need(place == dict.fromkeys(("ready", "completed"), epochs * steps), "steps of the optimizer", place)
    inner = loop.get("state_dict")
    loaders: Any = inner.get("combined_loader", []) if isinstance(inner, dict) else None
    _need(isinstance(loaders, list), "state_dict of the loop", inner)
    for loader in loaders:
        _need_like(loader, {"epoch": 0, "position": 0}, "combined_loader")
        _need(loader["epoch"] <= epochs and loader["position"] < steps, "combined_loader", loader)


@contextmanager
def _told(path: Path) -> Iterator[None]:
    try:
        yield
    except ValueError as error:
        raise ValueError(f"{path} is damaged: {error}; {AGAIN}") from None


def _need(truth: bool, name: str, value: Any) -> None:
    if not truth:
        words = " ".join(repr(value).split())
        raise ValueError(f"{name}: {words if len(words) <= 80 else words[:79] + '…'}")


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _need_like(found: Any, expected: Any, name: str, *, all_keys: bool = True) -> None:
    """Refuse what has another form than expected: type, shape, names, texts; numbers may be others, but must be numbers.

    Args:
        found: What a file holds.
        expected: Its like.
        name: What it is.
        all_keys: Whether mappings must have the same names; if not, only those that both have are compared.
    """
    if isinstance(expected, Tensor):
        _need_tensor(found, expected, name)
    elif isinstance(expected, Mapping):
        _need(isinstance(found, dict), name, found)
        wrong = {*found} ^ {*expected}
        _need(not (wrong and all_keys), f"names in {name}", wrong)
        for key in found.keys() & expected.keys():
            _need_like(found[key], expected[key], f"{name}, {key}", all_keys=all_keys)
    elif isinstance(expected, list | tuple):
        _need(isinstance(found, list | tuple) and len(found) == len(expected), name, found)
        for place, like in enumerate(expected):
            _need_like(found[place], like, name, all_keys=all_keys)
    elif isinstance(expected, float):
        _need(_is_number(found) and (math.isfinite(found) or found in (expected, -expected)), name, found)
    elif _is_whole(expected):
        _need(_is_number(found) and 0 <= found < math.inf, name, found)
    else:
        _need(type(found) is type(expected), name, found)


def _need_tensor(found: Any, expected: Tensor, name: str) -> None:
    _need(isinstance(found, Tensor) and found.layout == expected.layout, name, found)
    same = found.shape == expected.shape and found.is_floating_point() == expected.is_floating_point()
    same = same and (found.is_floating_point() or found.dtype == expected.dtype)
    _need(same, name, f"{found.dtype} {tuple(found.shape)}")
    finite = not expected.isfinite().all() or bool(found.isfinite().all())  # a buffer may mean infinity
    _need(finite, name, "numbers that are not finite")
