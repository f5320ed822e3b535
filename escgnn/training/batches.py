"""Batches for one process or several: every graph is seen once, and all processes together see the same batches."""

from collections.abc import Iterator

from lightning.pytorch import LightningDataModule
from torch.utils.data import Sampler, SequentialSampler

from escgnn.datasets import DatasetBundle
from escgnn.loader import Loader, Shuffle
from escgnn.store import GraphStore
from escgnn.training.config import TrainConfig


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
        self.sampler, self.batch_size, self.rank, self.world = sampler, batch_size, rank, world

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


class Batches(LightningDataModule):
    """The batches of a dataset for Lightning, encoded on the way."""

    def __init__(self, bundle: DatasetBundle, config: TrainConfig) -> None:
        super().__init__()
        self.bundle, self.config = bundle, config
        self.shares: dict[bool, Shares] = {}  # by whether they are for training

    def train_dataloader(self) -> Loader:
        """Batches to learn from, those of the current epoch first."""
        return self._loader(self.bundle.train, training=True)

    def val_dataloader(self) -> Loader:
        """Batches to choose the epoch by."""
        return self._loader(self.bundle.validation, training=False)

    def _loader(self, graphs: GraphStore, *, training: bool) -> Loader:
        assert self.trainer is not None
        order: Shuffle | SequentialSampler = SequentialSampler(graphs)
        if training:
            order = Shuffle(graphs, self.config.seed)
            order.set_epoch(self.trainer.current_epoch)  # Lightning does so only after it has asked for the first batch
        self.shares[training] = Shares(order, self.config.batch_size, self.trainer.global_rank, self.trainer.world_size)
        return loader(graphs, self.config, self.shares[training])


def loader(graphs: GraphStore, config: TrainConfig, shares: Shares | None = None) -> Loader:
    """Encoded batches of some graphs, by default in their order."""
    encoding = None if config.encoding is None else config.encoding.build()
    shares = shares or Shares(SequentialSampler(graphs), config.batch_size)
    return Loader(graphs, transform=encoding, workers=config.workers, batch_sampler=shares)
