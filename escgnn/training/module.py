"""What Lightning trains."""

import copy
import math
import random
from typing import Any

import numpy as np
import torch
from lightning.pytorch import LightningModule
from torch import Tensor, nn
from torch.optim.lr_scheduler import LambdaLR, ReduceLROnPlateau

from escgnn.metrics import Task
from escgnn.models import ESCGNN
from escgnn.training.batches import Batches
from escgnn.training.config import TrainConfig
from escgnn.training.scoring import Scaling, Scores, choose_loss, loss_terms

AVERAGE_DELAY = 9  # at first the average is over a ninth of the steps so far
OPTIMISERS = {"adam": torch.optim.Adam, "adamw": torch.optim.AdamW}


def seed_all(*numbers: int) -> None:
    """Begin the random numbers of Python, numpy and torch anew."""
    seed = int(np.random.SeedSequence(numbers).generate_state(1)[0])
    random.seed(seed)
    np.random.seed(seed)  # noqa: NPY002, others may draw from it
    torch.manual_seed(seed)


class Learner(LightningModule):
    """A network with its loss, its optimiser and its metrics.

    Every epoch begins with random numbers of its own, so that one that is repeated is the same. Loss and gradient are
    means over the known targets of the whole batch, however many processes share it.

    Attributes:
        averaged: The network with the mean of its latest weights, if that is what is judged and kept; see `judged`.
        loss: Mean loss of the latest training epoch.
        lr: Learning rate of that epoch.
        metrics: Of the latest validation.
    """

    def __init__(self, network: ESCGNN, task: Task, scaling: Scaling, config: TrainConfig) -> None:
        super().__init__()
        self.network, self.task, self.scaling, self.config = network, task, scaling, config
        self.averaged: ESCGNN | None = None
        self.scores = Scores(task, scaling)
        self.loss_name = choose_loss(config.loss, task)
        self.loss, self.lr = math.nan, config.lr
        self.metrics: dict[str, float] = {}
        self._terms: list[Tensor] = []  # of every batch, the sum of its losses and their number

    def setup(self, stage: str) -> None:
        """Begin the average with what the network was fitted to, and compile, in the process that trains."""
        if self.config.average is not None:
            self.averaged = copy.deepcopy(self.network).requires_grad_(False)
        if self.config.compile:
            self.network.compile(dynamic=True)

    @property
    def judged(self) -> ESCGNN:
        """What is validated, and kept if it is the best."""
        return self.network if self.averaged is None else self.averaged

    def configure_optimizers(self) -> Any:
        """The optimiser and the schedule of its learning rate."""
        config = self.config
        kind = OPTIMISERS[config.optimiser]
        optimiser = kind(self.network.parameters(), lr=config.lr, weight_decay=config.weight_decay)
        if config.schedule == "constant":
            return optimiser
        schedule = (
            ReduceLROnPlateau(optimiser, self.task.direction, config.factor, config.patience)
            if config.schedule == "plateau"
            else LambdaLR(optimiser, self._cosine)
        )
        return {
            "optimizer": optimiser,
            "lr_scheduler": {"scheduler": schedule, "monitor": self.task.metric, "reduce_on_plateau": False},
        }

    def _cosine(self, epoch: int) -> float:
        warmup = self.config.warmup
        if epoch < warmup:
            return (epoch + 1) / (warmup + 1)
        return 0.5 * (1 + math.cos(math.pi * (epoch - warmup) / max(1, self.config.epochs - warmup)))

    def lr_scheduler_step(self, scheduler: Any, metric: Any) -> None:
        """Nothing: Lightning would do it after the epoch has been saved; see `on_train_epoch_end`."""

    def forward(self, batch: Any) -> Tensor:
        """Outputs, in single precision at least; in validation those of the network that is judged."""
        output: Tensor = (self.network if self.training else self.judged)(batch)
        return output.to(torch.promote_types(output.dtype, torch.float32))

    def on_train_epoch_start(self) -> None:
        """Let the epoch depend on its number only."""
        seed_all(self.config.seed, self.current_epoch, self.global_rank)
        self._terms = []
        self.lr = float(self.trainer.optimizers[0].param_groups[0]["lr"])

    def training_step(self, batch: Any, index: int) -> Tensor:
        """The loss of a batch."""
        y = self.scaling.standardise(batch.y) if self.task.kind == "regression" else batch.y
        total, known = loss_terms(self.loss_name, self(batch), y)
        if not self._batches.shares[True].counts(index):
            total, known = total * 0, known * 0
        self._terms.append(torch.stack([total.detach(), known]))
        everywhere = self.trainer.strategy.reduce(known.clone(), reduce_op="sum")
        return total * self.trainer.world_size / everywhere.clamp(min=1)

    def on_train_batch_end(self, outputs: Any, batch: Any, batch_idx: int) -> None:
        """Follow the weights, and what batch normalisation has seen, with their running mean."""
        if self.averaged is not None and self.config.average is not None:
            steps = self.trainer.global_step
            update_average(self.averaged, self.network, min(self.config.average, steps / (AVERAGE_DELAY + steps)))

    def validation_step(self, batch: Any, index: int) -> None:
        """Remember the outputs of a batch."""
        mine = slice(None) if self._batches.shares[False].counts(index) else slice(0)
        self.scores.update(self(batch)[mine], batch.y[mine])

    def on_validation_epoch_end(self) -> None:
        """Judge all outputs together."""
        self.metrics = self.scores.compute()
        self.scores.reset()

    def on_train_epoch_end(self) -> None:
        """Finish the epoch: its loss over all processes, and the learning rate of the next."""
        terms = torch.stack(self._terms).double().sum(0)
        total, known = self.trainer.strategy.reduce(terms, reduce_op="sum").tolist()
        self.loss = total / max(1, known)
        for schedule in self.trainer.lr_scheduler_configs:
            if isinstance(schedule.scheduler, ReduceLROnPlateau):
                schedule.scheduler.step(self.metrics[self.task.metric])
            else:
                schedule.scheduler.step()

    @property
    def _batches(self) -> Batches:
        batches = self.trainer.datamodule  # type: ignore[attr-defined]
        assert isinstance(batches, Batches)
        return batches


@torch.no_grad()
def update_average(averaged: nn.Module, network: nn.Module, decay: float) -> None:
    """Move every number of the average towards the network's by 1 - ``decay``; what is no real number is taken over."""
    means = averaged.state_dict()
    for name, value in network.state_dict().items():
        if value.is_floating_point():
            means[name].lerp_(value, 1 - decay)
        else:
            means[name].copy_(value)
