"""What is seen of a training run: one line, and nothing of Lightning's."""

import logging
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from lightning.fabric.utilities.warnings import PossibleUserWarning
from lightning.pytorch import LightningModule, Trainer
from lightning.pytorch.callbacks import Callback
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from escgnn.training.module import Learner

LOGGERS = ("lightning.pytorch", "lightning.fabric")


def hush() -> None:
    """Keep Lightning's notes off the terminal for good; its errors are exceptions."""
    for name in LOGGERS:
        logging.getLogger(name).setLevel(logging.ERROR)
    warnings.filterwarnings("ignore", category=PossibleUserWarning)  # advice, mostly on workers
    warnings.filterwarnings("ignore", module=r"lightning\.")  # such as its use of what torch has deprecated
    warnings.filterwarnings("ignore", category=DeprecationWarning, module=r"torch\.")  # its own, when it compiles


@contextmanager
def quiet() -> Iterator[None]:
    """The same for a while."""
    levels = {name: logging.getLogger(name).level for name in LOGGERS}
    with warnings.catch_warnings():
        try:
            hush()
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
            self._bar.add_task(self.title, total=trainer.max_epochs, completed=trainer.current_epoch, news="")
            self._bar.start()

    def on_train_epoch_start(self, trainer: Trainer, pl_module: LightningModule) -> None:
        """Look at the clock."""
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
