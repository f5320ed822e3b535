"""PyG batches cut from a `GraphStore`, transformed on the way, in the same order whoever cuts them.

>>> store = GraphStore([2, 2, 2], [2, 2, 2], [[0, 1, 0, 1, 0, 1], [1, 0, 1, 0, 1, 0]], graph={"y": [0, 1, 2]})
>>> for batch in Loader(store, batch_size=2):
...     print(batch)
DataBatch(edge_index=[2, 4], y=[2], num_nodes=4, batch=[4], ptr=[3])
DataBatch(edge_index=[2, 2], y=[1], num_nodes=2, batch=[2], ptr=[2])
"""

import io
import pickle
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sized
from itertools import islice
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.utils.data import DataLoader, RandomSampler, SequentialSampler, get_worker_info
from torch.utils.data.dataloader import _MultiProcessingDataLoaderIter

from escgnn.keeping import Kept
from escgnn.store import GraphStore


class Shuffle(RandomSampler):
    """The numbers of all graphs in random order: another one in every epoch, the same for the same seed and epoch.

    Every iteration is one epoch further, unless `set_epoch` says otherwise.
    """

    def __init__(self, graphs: Sized, seed: int) -> None:
        super().__init__(graphs)
        self.seed = seed
        self.epoch = 0

    def set_epoch(self, epoch: int) -> None:
        """Say which epoch the next iteration is."""
        self.epoch = epoch

    def __iter__(self) -> Iterator[int]:
        rng = np.random.default_rng((self.seed, self.epoch))
        self.epoch += 1
        return iter(rng.permutation(len(self)).tolist())


class Loader(DataLoader[Any]):
    """Iterates over PyG batches, each cut from the store in one go and then transformed, in workers if there are any.

    It is a ``DataLoader`` of torch with the usual samplers, so Lightning can put its own in their place. The batches
    and their order do not depend on the number of workers, and `state_dict` is all it takes to go on in the middle
    of an epoch. Workers stay for the next epoch.

    Args:
        dataset: The graphs; or with what a transform adds, made before, as `escgnn.keeping.keep` gives them.
        batch_size: Graphs in a batch; the last one may have fewer.
        shuffle: Whether every epoch has an order of its own, which depends on the seed and the epoch only.
        transform: What to do to a batch, such as ``StructuralEncoding``; workers need it to be picklable.
        workers: Processes that cut and transform; with none it is done as batches are asked for.
        seed: Which orders a shuffled loader takes.
        drop_last: Leave out a last batch that is not full.
        prefetch: Batches that each worker has ready in advance.
        sampler: Gives the numbers of graphs, in place of the loader's own order.
        batch_sampler: Gives lists of numbers, in place of ``batch_size``, ``drop_last`` and all orders.
        multiprocessing_context: How workers are started, such as ``"spawn"``; by default as Python does.

    Raises:
        ValueError: Options that exclude one another, or out of range.
    """

    def __init__(
        self,
        dataset: GraphStore | Kept,
        batch_size: int = 128,
        *,
        shuffle: bool = False,
        transform: Callable[[Any], Any] | None = None,
        workers: int = 0,
        seed: int = 0,
        drop_last: bool = False,
        prefetch: int = 2,
        sampler: Iterable[int] | None = None,
        batch_sampler: Iterable[list[int]] | None = None,
        multiprocessing_context: Any = None,
    ) -> None:
        if shuffle and not (sampler is None and batch_sampler is None):
            raise ValueError("shuffle: a sampler has an order of its own")
        if seed < 0:
            raise ValueError(f"seed: {seed}; expected an integer >= 0")
        self.transform = transform
        self.workers = workers
        self.seed = seed
        self.prefetch = prefetch
        if sampler is None and batch_sampler is None:  # kinds of sampler that Lightning knows how to distribute
            sampler = Shuffle(dataset, seed) if shuffle and len(dataset) else SequentialSampler(dataset)
        batching: dict[str, Any] = {"batch_size": batch_size, "sampler": sampler, "drop_last": drop_last}
        if batch_sampler is not None:
            batching = {"batch_sampler": batch_sampler, "sampler": sampler}
        super().__init__(
            dataset,
            collate_fn=_Cut(transform),
            num_workers=workers,
            prefetch_factor=prefetch if workers else None,
            persistent_workers=workers > 0,
            multiprocessing_context=multiprocessing_context,
            generator=torch.Generator().manual_seed(seed),  # or every epoch would draw from torch's own numbers
            **batching,
        )
        self._epoch, self._position, self._resume_at = self.epoch, 0, 0

    @property
    def epoch(self) -> int:
        """Number of the epoch that the next iteration is; 0 where the order is always the same."""
        return int(getattr(self.sampler, "epoch", 0))

    def set_epoch(self, epoch: int) -> None:
        """Say which epoch the next iteration is; without that it is one further every time."""
        if epoch != self._epoch:
            self._epoch, self._position, self._resume_at = epoch, 0, 0
        getattr(self.sampler, "set_epoch", lambda _: None)(epoch)

    def state_dict(self) -> dict[str, int]:
        """Where the latest iteration is: its epoch, and how many batches it has given."""
        if self._position == len(self):
            return {"epoch": self._epoch + 1, "position": 0}
        return {"epoch": self._epoch, "position": self._position}

    def load_state_dict(self, state: Mapping[str, int]) -> None:
        """Let the next iteration go on from there."""
        self.set_epoch(state["epoch"])
        self._position = self._resume_at = state["position"]

    def __iter__(self) -> Iterator[Any]:  # type: ignore[override]
        """Batches of one epoch."""
        first = self._resume_at if self.epoch == self._epoch else 0
        self._epoch, self._position, self._resume_at = self.epoch, first, 0
        return self._batches(islice(self._iterate(), first, None))

    def _iterate(self) -> Iterator[Any]:
        """The batches of torch, from workers if there are any."""
        try:
            with warnings.catch_warnings():
                warnings.filterwarnings("ignore", "Got pickle error")  # it is told below
                return super().__iter__()
        except (pickle.PicklingError, AttributeError, TypeError) as error:
            if "pickle" not in str(error):
                raise
            raise ValueError(
                f"transform: it cannot be sent to workers ({error}); define its class or function at the top of a "
                "module, or use no workers"
            ) from error

    def _batches(self, batches: Iterable[Any]) -> Iterator[Any]:
        try:
            for batch in batches:
                self._position += 1
                yield pickle.loads(batch) if self.workers else batch
        except Exception as error:
            # Left to the garbage collector, torch would wait five seconds for each worker.
            if isinstance(self._iterator, _MultiProcessingDataLoaderIter):
                self._iterator._shutdown_workers()
                self._iterator = None
            if isinstance(error, ValueError) and str(error).startswith(
                "Caught "
            ):  # by torch, which puts a report around it
                message = str(error).rpartition(f"{type(error).__name__}: ")[2].strip()
                raise type(error)(message) from error
            raise


class _Cut:
    """Makes the batch, in the process that asks for it."""

    def __init__(self, transform: Callable[[Any], Any] | None) -> None:
        self.transform = transform

    def __call__(self, graphs: Any) -> Any:
        batch = graphs.batch()
        if self.transform is not None:
            batch = self.transform(batch)
        if get_worker_info() is None:
            return batch
        parcel = io.BytesIO()
        _Pickler(parcel, protocol=5).dump(batch)
        return parcel.getvalue()


class _Pickler(pickle.Pickler):
    """Sends a batch as one run of bytes: torch would open shared memory for each of its many small tensors."""

    def reducer_override(self, value: Any) -> Any:
        if type(value) is Tensor:
            try:
                return torch.from_numpy, (value.numpy(),)
            except (TypeError, RuntimeError):  # numpy has no such tensors
                pass
        return NotImplemented
