"""What is written and seen of every epoch, so that a run that is killed loses at most the current one."""

import csv
import io
import logging
import math
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch
from lightning.fabric.plugins import TorchCheckpointIO
from lightning.fabric.utilities.warnings import PossibleUserWarning
from lightning.pytorch import LightningModule, Trainer
from lightning.pytorch.callbacks import Callback, Checkpoint
from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from torch import Tensor

from escgnn.disk import atomic
from escgnn.task import Task
from escgnn.training.checkpoints import read_values
from escgnn.training.folder import CHECKPOINT, METRICS, WEIGHTS, save_weights
from escgnn.training.module import Learner

LOGGERS = ("lightning.pytorch", "lightning.fabric")

Row = dict[str, float]
Watch = Callable[[Sequence[float]], None]  # gets the validation metric of every epoch so far


class History:
    """The epochs of a run, and the best of them: by the validation metric, among equals by the validation loss; or by the latter.

    A metric such as the accuracy of few graphs is often the same, and the loss still tells a good network from a better one.
    Where validation is too small to tell epochs apart, the last one that did not diverge may be taken for the best.

    Args:
        task: What is learnt.
        select: What decides: ``"metric"`` or ``"loss"``; or ``"last"``, nothing.

    Attributes:
        rows: A row of ``metrics.csv`` for each epoch.
        best_epoch: -1 before there is one.
        best_metrics: All validation metrics of that epoch.
        best_loss: The validation loss of that epoch; not a number if it was written before there was one.
        improved_epoch: The first epoch with the best metric, from which early stopping counts; -1 before there is one.
        best_weights: The network's, after that epoch.
    """

    def __init__(self, task: Task, select: str = "metric") -> None:
        self.task = task
        self.select = select
        self.rows: list[Row] = []
        self.best_epoch = -1
        self.best_metrics: dict[str, float] = {}
        self.best_loss = math.nan
        self.improved_epoch = -1
        self.best_weights: dict[str, Tensor] = {}

    def add(self, row: Row, metrics: dict[str, float], weights: dict[str, Tensor]) -> bool:
        """Add an epoch; True if it is the best: strictly better than all before, by the metric or else by the loss."""
        self.rows.append(row)
        loss = row.get("validation_loss", math.nan)
        by_loss = self.select == "loss"
        value = loss if by_loss else metrics[self.task.metric]
        best = self._reached(by_loss)
        smaller = by_loss or self.task.direction == "min"
        is_improved = not math.isnan(value) and (math.isnan(best) or (value < best if smaller else value > best))
        is_best = is_improved or (value == best and loss < self.best_loss)
        if self.select == "last":
            is_best = math.isfinite(row["loss"]) and not math.isnan(value)
        if is_improved:
            self.improved_epoch = len(self.rows) - 1
        if is_best:
            self.best_loss = loss
            self.best_epoch = len(self.rows) - 1
            self.best_metrics = metrics
            self.best_weights = {name: tensor.detach().cpu().clone() for name, tensor in weights.items()}
        return is_best

    def _reached(self, by_loss: bool) -> float:
        """What the epochs before the one that was added last have reached; not a number if there is none."""
        if by_loss:
            return self.best_loss
        if self.select != "last":
            return self.best_metrics.get(self.task.metric, math.nan)
        known = [value for value in self.values[:-1] if not math.isnan(value)]
        return (min if self.task.direction == "min" else max)(known, default=math.nan)

    @property
    def values(self) -> list[float]:
        """The validation metric of every epoch."""
        return [row[f"validation_{self.task.metric}"] for row in self.rows]

    def stopped(self, epochs: int, early_stopping: int | None) -> str:
        """Why there is nothing left to train; an empty text if there is."""
        if self.rows and not math.isfinite(self.rows[-1]["loss"]):
            return "diverged"
        if early_stopping is not None and len(self.rows) - 1 - self.improved_epoch >= early_stopping:
            return "early"
        return "epochs" if len(self.rows) >= epochs else ""

    def state(self) -> dict[str, Any]:
        """Everything, as plain values."""
        return {name: value for name, value in vars(self).items() if name not in ("task", "select")}

    def restore(self, state: dict[str, Any]) -> None:
        """Take everything from a `state`; one that was written when only metrics decided knows the best epoch alone."""
        vars(self).update({"improved_epoch": state["best_epoch"], **state})


class Recorder(Checkpoint):
    """Keeps the history in the checkpoint, and writes the files of the run folder."""

    def __init__(self, folder: Path, learner: Learner, watch: Watch | None = None) -> None:
        self.folder = folder
        self.watch = watch
        self.config = learner.config
        self.history = History(learner.task, learner.config.select)
        self.began = False  # then the checkpoint, if there was one, was good
        self._start = 0.0
        self._processor = 0.0

    def state_dict(self) -> dict[str, Any]:
        """The history, for Lightning to put into the checkpoint."""
        return self.history.state()

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Take the history from a checkpoint."""
        self.history.restore(state_dict)

    def on_train_start(self, trainer: Trainer, pl_module: LightningModule) -> None:
        """Note that everything is in its place."""
        self.began = True

    def on_train_epoch_start(self, trainer: Trainer, pl_module: LightningModule) -> None:
        """Note the time."""
        self._start = time.perf_counter()
        self._processor = time.process_time()

    def on_train_epoch_end(self, trainer: Trainer, pl_module: LightningModule) -> None:
        """Write the epoch. Lightning calls this after the module's own hook, because it is a ``Checkpoint``."""
        assert isinstance(pl_module, Learner)
        means = {f"validation_{name}": value for name, value in pl_module.metrics.items() if "/" not in name}
        row = {
            "epoch": trainer.current_epoch,
            "loss": pl_module.loss,
            "validation_loss": pl_module.validation_loss,
            **means,
            "lr": pl_module.lr,
            "seconds": time.perf_counter() - self._start,
            "cpu_seconds": time.process_time() - self._processor,
        }
        is_best = self.history.add(row, pl_module.metrics, pl_module.judged.state_dict())
        if trainer.is_global_zero:
            if is_best:
                save_weights(self.history.best_weights, self.folder / WEIGHTS, self.history.best_epoch)
            write_metrics(self.history.rows, self.folder / METRICS)
        trainer.save_checkpoint(self.folder / CHECKPOINT, weights_only=False)  # the truth: it holds all of the above
        trainer.should_stop = bool(self.history.stopped(self.config.epochs, self.config.early_stopping))
        if self.watch is not None and not trainer.should_stop:
            self.watch(self.history.values)


class AtomicIO(TorchCheckpointIO):
    """Checkpoints written whole or not at all, and read as plain values."""

    def save_checkpoint(self, checkpoint: dict[str, Any], path: Any, storage_options: Any = None) -> None:
        """Write the checkpoint."""
        content = io.BytesIO()  # given a file, torch speaks of positions in it when the disk is full
        torch.save(checkpoint, content)
        with atomic(path) as draft:
            draft.write_bytes(content.getbuffer())

    def load_checkpoint(self, path: Any, map_location: Any = None, weights_only: bool | None = True) -> dict[str, Any]:
        """Read the checkpoint, or what Lightning writes on the way from one process to another."""
        values: dict[str, Any] = read_values(Path(path))
        return values


def write_metrics(rows: list[Row], path: Path) -> None:
    """Write the table of epochs; a run that goes on keeps the columns that it began with."""
    with atomic(path) as draft, draft.open("w", newline="") as stream:
        writer = csv.DictWriter(stream, [*rows[0]], extrasaction="ignore")
        writer.writeheader()
        writer.writerows(rows)


def silence() -> None:
    """Keep Lightning's notes off the terminal for good; its errors are exceptions."""
    for name in LOGGERS:
        logging.getLogger(name).setLevel(logging.ERROR)
    warnings.filterwarnings("ignore", category=PossibleUserWarning)  # advice, mostly on workers
    warnings.filterwarnings("ignore", module=r"lightning\.")  # such as its use of what torch has deprecated
    warnings.filterwarnings("ignore", category=DeprecationWarning, module=r"torch\.")  # its own, when it compiles


@contextmanager
def quiet() -> Iterator[None]:
    """Keep Lightning's notes off the terminal for a while."""
    levels = {name: logging.getLogger(name).level for name in LOGGERS}
    with warnings.catch_warnings():
        try:
            silence()
            yield
        finally:
            for name, level in levels.items():
                logging.getLogger(name).setLevel(level)


class Bar(Callback):
    """A bar over all epochs, with the time left and, of the latest epoch, its loss, validation metric and seconds."""

    def __init__(self, title: str) -> None:
        self.title = title
        self._bar: Progress | None = None
        self._began = 0.0

    def on_train_start(self, trainer: Trainer, pl_module: LightningModule) -> None:
        """Show the bar, in the process that reports."""
        if trainer.is_global_zero:
            self._bar = Progress(
                TextColumn("{task.description}"),
                BarColumn(bar_width=12),
                MofNCompleteColumn(),
                TextColumn("{task.fields[news]}"),
                TimeRemainingColumn(compact=True),
                TextColumn("left"),
                console=Console(stderr=True),
                speed_estimate_period=600,
            )
            self._bar.add_task(escape(self.title), total=trainer.max_epochs, completed=trainer.current_epoch, news="")
            self._bar.start()

    def on_train_epoch_start(self, trainer: Trainer, pl_module: LightningModule) -> None:
        """Show the epoch before, and note the time."""
        self._report(trainer, pl_module)
        self._began = time.perf_counter()

    def on_train_end(self, trainer: Trainer, pl_module: LightningModule) -> None:
        """Leave the last report."""
        self._report(trainer, pl_module)
        self._stop()

    def on_exception(self, *_: Any) -> None:
        """Give the terminal back."""
        self._stop()

    def _report(self, trainer: Trainer, learner: LightningModule) -> None:
        assert isinstance(learner, Learner)
        if self._bar is not None and self._began:
            metric = learner.task.metric
            seconds = time.perf_counter() - self._began
            news = f"loss {learner.loss:.4g} {metric} {learner.metrics[metric]:.4g} {seconds:.2g} s/epoch"
            self._bar.update(self._bar.task_ids[0], completed=trainer.current_epoch, news=news)

    def _stop(self) -> None:
        if self._bar is not None:
            self._bar.stop()
            self._bar = None  # so that nothing that cannot be pickled stays
