"""What Lightning trains, and the batches it gets: the same ones however many processes share them."""

import copy
import math
import random
import warnings
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import torch
from lightning.pytorch import LightningDataModule, LightningModule
from torch import Tensor, nn
from torch.optim.lr_scheduler import LambdaLR, ReduceLROnPlateau
from torch.utils.data import Sampler, SequentialSampler

from escgnn import limits
from escgnn.datasets import DatasetBundle
from escgnn.keeping import Kept, keep
from escgnn.loader import Loader, Shuffle
from escgnn.metrics import Scaling, choose_loss, task_loss
from escgnn.models import Network
from escgnn.store import GraphStore
from escgnn.task import Task
from escgnn.training.config import TrainConfig
from escgnn.training.pieces import Pieces, PiecesWarning, Splitting, has_batch_norm, run_network
from escgnn.training.scores import Scores
from escgnn.training.transfer import rest

AVERAGE_DELAY = 9  # at first the average is over a ninth of the steps so far
OPTIMIZERS = {"adam": torch.optim.Adam, "adamw": torch.optim.AdamW}


class Shares(Sampler[list[int]]):
    """The part of every batch that one of several processes takes.

    The batches are those that a single process would see, so that training does not depend on how many there are. All
    processes take a step at the same time, so one for which there is no graph left takes another's; see `counts`.

    >>> first, second = (Shares(SequentialSampler(range(5)), 4, rank, 2) for rank in (0, 1))
    >>> list(first), list(second)
    ([[0, 2], [4]], [[1, 3], [4]])
    >>> first.counts(1), second.counts(1)
    (True, False)

    Args:
        sampler: Numbers of graphs, epoch by epoch. Lightning tells it the epoch.
        batch_size: Graphs in a batch, over all processes.
        rank: Which process this is.
        world: Number of processes.
    """

    def __init__(self, sampler: Shuffle | SequentialSampler, batch_size: int, rank: int = 0, world: int = 1) -> None:
        self.sampler = sampler
        self.batch_size = batch_size
        self.rank = rank
        self.world = world

    def counts(self, batch: int) -> bool:
        """Whether the graphs that this process takes of a batch are its own."""
        return self.rank < min(self.batch_size, len(self.sampler) - batch * self.batch_size)

    def __len__(self) -> int:
        return -(-len(self.sampler) // self.batch_size)

    def __iter__(self) -> Iterator[list[int]]:
        numbers = list(self.sampler)
        for start in range(0, len(numbers), self.batch_size):
            batch = numbers[start : start + self.batch_size]
            yield batch[self.rank :: self.world] or batch[:1]


class Part(NamedTuple):
    """Graphs, and what is done to each batch of them."""

    graphs: GraphStore | Kept
    transform: Splitting


class Batches(LightningDataModule):
    """The batches of a dataset for Lightning, transformed on the way; those that would not fit in `Pieces`.

    What the transform adds is kept, if it is the same every time and fits in the share of memory that the settings allow.

    Args:
        bundle: The dataset.
        config: The settings.
        transform: What is done to each batch; None for nothing.

    Attributes:
        parts: Training and validation graphs, the former first, each with what is still to be done to its batches.
    """

    def __init__(self, bundle: DatasetBundle, config: TrainConfig, transform: Any) -> None:
        super().__init__()
        self.config = config
        self.parts: dict[str, Part] = {}
        self.shares: dict[bool, Shares] = {}  # by whether they are for training
        among_several = config.devices > 1 or config.workers > 0
        room = config.keep * limits.free_memory(shared=among_several) if config.keep else 0.0
        for name in ("train", "validation"):
            graphs = getattr(bundle, name)
            kept = keep(graphs, transform, room)
            if kept is None:
                self.parts[name] = Part(graphs, Splitting(transform))
            else:
                self.parts[name] = Part(kept, Splitting(getattr(transform, "guard", None)))
                room -= kept.num_bytes

    def train_dataloader(self) -> Loader:
        """Batches to learn from, those of the current epoch first."""
        return self._loader("train", training=True)

    def val_dataloader(self) -> Loader:
        """Batches to choose the epoch by."""
        return self._loader("validation", training=False)

    def _loader(self, name: str, *, training: bool) -> Loader:
        assert self.trainer is not None
        graphs, transform = self.parts[name]
        order: Shuffle | SequentialSampler = SequentialSampler(graphs)
        if training:
            order = Shuffle(graphs, self.config.seed)
            order.set_epoch(self.trainer.current_epoch)  # Lightning does so only after it has asked for the first batch
        shares = Shares(order, self.config.batch_size, self.trainer.global_rank, self.trainer.world_size)
        self.shares[training] = shares
        return Loader(graphs, transform=transform, workers=self.config.workers, batch_sampler=shares)


class Standardised:
    """Batches whose targets are as the network sees them, as often as they are asked for; classes stay as they are.

    Of one that was split each piece is a batch.

    Args:
        batches: The batches.
        task: What the targets are.
        scaling: How they are standardised.
        dtype: In which precision; that of the targets if None.
    """

    def __init__(
        self, batches: Iterable[Any], task: Task, scaling: Scaling, *, dtype: torch.dtype | None = None
    ) -> None:
        self.batches = batches
        self.task = task
        self.scaling = scaling
        self.dtype = dtype

    def __iter__(self) -> Iterator[Any]:
        for batch in self.batches:
            for piece in batch if isinstance(batch, Pieces) else [batch]:
                if self.task.has_numbers:
                    piece.y = self.scaling.standardise(piece.y if self.dtype is None else piece.y.to(self.dtype))
                yield piece


def seed_all(*numbers: int) -> None:
    """Begin the random numbers of Python, numpy and torch anew."""
    seed = int(np.random.SeedSequence(numbers).generate_state(1)[0])
    random.seed(seed)
    np.random.seed(seed)  # noqa: NPY002, others may draw from it
    torch.manual_seed(seed)


class Learner(LightningModule):
    """A network with its loss, its optimizer and its metrics.

    Every epoch begins with random numbers of its own, so that one that is repeated is the same. Loss and gradient are
    means over the known targets of the whole batch, however many processes share it.

    Attributes:
        averaged: The network with the mean of its latest weights, if that is what is judged and kept; see `judged`.
        loss: Mean loss of the latest training epoch.
        lr: Learning rate of that epoch.
        metrics: Of the latest validation.
        validation_loss: Mean loss of the latest validation.
    """

    def __init__(
        self,
        network: Network,
        task: Task,
        scaling: Scaling,
        config: TrainConfig,
        weights: Sequence[Tensor] | None = None,
    ) -> None:
        super().__init__()
        self.network = network
        self.averaged: Network | None = None
        self.task = task
        self.scaling = scaling
        self.config = config
        self.weights = weights  # of classes, if they are balanced
        self.scores = Scores(task, scaling)
        self.loss_name = choose_loss(config.loss, task)
        self.loss = math.nan
        self.lr = config.lr
        self.metrics: dict[str, float] = {}
        self.validation_loss = math.nan
        self._is_told = False  # that batches are split
        self._terms: list[Tensor] = []  # of every batch, the sum of its losses and their number
        self._validation_terms: list[Tensor] = []  # the same

    def setup(self, stage: str) -> None:
        """Begin the average with what the network was fitted to, and compile, in the process that trains."""
        if self.config.average is not None:
            self.averaged = copy.deepcopy(self.network).requires_grad_(False)
        if self.config.compile:
            self.network.compile(dynamic=True)

    @property
    def judged(self) -> Network:
        """What is validated, and kept if it is the best."""
        return self.network if self.averaged is None else self.averaged

    def configure_optimizers(self) -> Any:
        """The optimizer and the schedule of its learning rate."""
        config = self.config
        kind = OPTIMIZERS[config.optimizer]
        optimizer = kind(self.network.parameters(), lr=config.lr, weight_decay=config.weight_decay)
        if config.schedule == "constant":
            return optimizer
        schedule = (
            ReduceLROnPlateau(optimizer, self.task.direction, config.factor, config.patience)
            if config.schedule == "plateau"
            else LambdaLR(optimizer, self._cosine)
        )
        return {
            "optimizer": optimizer,
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
        network = self.network if self.training else self.judged
        output, pieces = run_network(network, batch)
        if pieces > 1 and self.training and has_batch_norm(network) and not self._is_told:
            self._is_told = True
            warnings.warn(
                f"max_rows: a batch was split into {pieces} pieces, and batch normalisation sees a piece at a time; for "
                "statistics of whole batches lower batch_size or raise transform.max_rows, or choose network.norm=layer",
                PiecesWarning,
                stacklevel=2,
            )
        return output.to(torch.promote_types(output.dtype, torch.float32))

    def on_train_epoch_start(self) -> None:
        """Let the epoch depend on its number only."""
        seed_all(self.config.seed, self.current_epoch, self.global_rank)
        if self.config.freeze:
            rest(self.network)  # after Lightning has set all of it to training
        self._terms = []
        self.lr = float(self.trainer.optimizers[0].param_groups[0]["lr"])

    def training_step(self, batch: Any, index: int) -> Tensor:
        """The loss of a batch."""
        total, known = self._loss_terms(self(batch), batch.y)
        if not self._batches.shares[True].counts(index):
            total, known = total * 0, known * 0
        self._terms.append(torch.stack([total.detach(), known]))
        everywhere = self.trainer.strategy.reduce(known.clone(), reduce_op="sum")
        return total * self.trainer.world_size / everywhere.clamp(min=1)

    def _loss_terms(self, output: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
        """The sum of the losses of all known targets, and how many they are; classes are smoothed in training alone."""
        target = self.scaling.standardise(y) if self.task.has_numbers else y
        smoothing = self.config.smoothing if self.training else 0.0
        return task_loss(self.task, self.loss_name, output, target, self.weights, smoothing)

    def on_train_batch_end(self, outputs: Any, batch: Any, batch_idx: int) -> None:
        """Follow the weights, and what batch normalisation has seen, with their running mean."""
        if self.averaged is not None and self.config.average is not None:
            steps = self.trainer.global_step
            update_average(self.averaged, self.network, min(self.config.average, steps / (AVERAGE_DELAY + steps)))

    def validation_step(self, batch: Any, index: int) -> None:
        """Remember the outputs of a batch."""
        mine = slice(None) if self._batches.shares[False].counts(index) else slice(0)
        output = self(batch)[mine]
        y = batch.y[mine]
        self.scores.update(output, y)
        self._validation_terms.append(torch.stack(self._loss_terms(output, y)))

    def on_validation_epoch_end(self) -> None:
        """Judge all outputs together."""
        self.metrics = self.scores.compute()
        self.scores.reset()
        self.validation_loss = self._mean_loss(self._validation_terms)
        self._validation_terms = []

    def on_train_epoch_end(self) -> None:
        """Finish the epoch: its loss over all processes, and the learning rate of the next."""
        self.loss = self._mean_loss(self._terms)
        for schedule in self.trainer.lr_scheduler_configs:
            if isinstance(schedule.scheduler, ReduceLROnPlateau):
                schedule.scheduler.step(self.metrics[self.task.metric])
            else:
                schedule.scheduler.step()

    def _mean_loss(self, terms: list[Tensor]) -> float:
        """The mean over all batches and all processes."""
        total, known = self.trainer.strategy.reduce(torch.stack(terms).double().sum(0), reduce_op="sum").tolist()
        return float(total / max(1, known))

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
