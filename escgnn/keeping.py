"""What a transform adds to graphs, made once and kept: a batch is then gathered, not computed again in every epoch.

>>> from escgnn.transforms import StructuralEncoding
>>> store = GraphStore([2, 2, 2], [2, 2, 2], [[0, 1, 0, 1, 0, 1], [1, 0, 1, 0, 1, 0]])
>>> kept = keep(store, StructuralEncoding(1), most_bytes=1000)
>>> kept.batch([2, 0])
DataBatch(edge_index=[2, 4], num_nodes=4, batch=[4], ptr=[3], esc_len=[4], esc_bin=[32], esc_count=[32])
>>> keep(store, StructuralEncoding(1), most_bytes=10) is None
True
"""

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.utils.data import Dataset
from torch_geometric.data import Batch

from escgnn.bags import BagTooLargeError, split
from escgnn.store import GraphStore

CHUNK = 1 << 17  # nodes and edges that are transformed together
DOUBT = 2  # a guess from the first graphs may be wrong by this factor
NARROW = (np.uint8, np.int16, np.int32)  # torch has no other small unsigned integers that it can compute with

Array = NDArray[Any]


class Column(NamedTuple):
    """One of the things that a transform adds, for all graphs."""

    name: str
    values: Tensor  # one graph's rows after another's, in the smallest type that holds them
    level: int  # which of the starts says where each graph's rows begin
    dtype: torch.dtype  # the type that the transform gives


class Kept(Dataset[Any]):
    """Graphs with what a transform added to each; a `Loader` takes it in place of the store, and no transform.

    Args:
        graphs: The graphs.
        columns: What was added, in the order of the transform.
        starts: Where the rows of every graph begin, ``(graphs + 1,)``, for each level.
        numbers: Which graphs of the columns these are; all of them if None.
    """

    def __init__(
        self, graphs: GraphStore, columns: Sequence[Column], starts: Sequence[Tensor], numbers: Array | None = None
    ) -> None:
        self.graphs = graphs
        self.columns = columns
        self.starts = starts
        self.numbers = np.arange(len(graphs)) if numbers is None else numbers

    @property
    def num_bytes(self) -> int:
        """Memory that the columns take."""
        return sum(column.values.nbytes for column in self.columns) + sum(start.nbytes for start in self.starts)

    def batch(self, indices: Any = slice(None)) -> Batch:
        """These graphs as one PyG batch, equal to what the transform makes of ``graphs.batch(indices)``."""
        batch = self.graphs.batch(indices)
        numbers = self.numbers[indices]
        cuts = [_cut(start.numpy(), numbers) for start in self.starts]
        out = batch._store
        for name, values, level, dtype in self.columns:
            pieces, bounds = cuts[level]
            whole = values.numpy()
            out[name] = torch.from_numpy(np.concatenate([whole[piece] for piece in pieces])).to(dtype)
            out._slice_dict[name] = bounds
            out._inc_dict[name] = None  # what is numbered is numbered within its graph
        return batch

    def __len__(self) -> int:
        return len(self.graphs)

    def __getitems__(self, indices: Sequence[int]) -> "Kept":
        """What torch's ``DataLoader`` asks for to make a batch."""
        return Kept(self.graphs[indices], self.columns, self.starts, self.numbers[indices])


def keep(graphs: GraphStore, transform: Any, most_bytes: float) -> Kept | None:
    """What a transform makes of graphs, to be kept; None if it cannot be, or would take too much memory.

    Args:
        graphs: The graphs.
        transform: What is done to a batch. Its class itself, not one that it derives from, must say ``keepable = True``: what it
            adds depends on each graph alone, is the same every time, and concatenates, numbered within its graph; and as
            ``adds`` the names. A batch says in ``_slice_dict`` which rows are whose. One that refuses large batches has a
            method ``guard`` that does so to a batch that was gathered.
        most_bytes: Memory that may be taken.
    """
    if not vars(type(transform)).get("keepable", False) or not len(graphs) or most_bytes <= 0:
        return None
    names: list[str] = []
    found: dict[str, list[Array]] = {}
    sizes: dict[str, list[Array]] = {}  # rows of every graph
    dtypes: dict[str, torch.dtype] = {}
    sized = (graphs.num_nodes + graphs.num_edges + 1).numpy()
    seen = 0
    used = 0
    try:
        for batch in _transformed(graphs, sized, transform):
            names = [name for name in batch.to_dict() if name in transform.adds]
            for name in names:
                values = _narrowed(batch[name].numpy())
                found.setdefault(name, []).append(values)
                sizes.setdefault(name, []).append(batch._slice_dict[name].diff().numpy())
                dtypes[name] = batch[name].dtype
                used += values.nbytes
            seen += int(batch.num_nodes + batch.num_edges + batch.num_graphs)
            if used > most_bytes or used * sized.sum() > DOUBT * most_bytes * seen:
                return None
    except BagTooLargeError:  # one graph alone; whoever trains with it will say so
        return None
    starts: list[Tensor] = []
    columns = []
    for name in names:
        start = torch.from_numpy(np.concatenate([[0], np.concatenate(sizes[name]).cumsum()]))
        level = next((i for i, other in enumerate(starts) if torch.equal(start, other)), len(starts))
        if level == len(starts):
            starts.append(start)
        whole = torch.from_numpy(np.concatenate(found.pop(name)))  # in the widest of their types
        columns.append(Column(name, whole, level, dtypes[name]))
    kept = Kept(graphs, columns, starts)
    return kept if kept.num_bytes <= most_bytes else None


def _transformed(graphs: GraphStore, sized: Array, transform: Any) -> Iterator[Any]:
    """All graphs in order, in batches of about the same size."""
    chunk = (sized.cumsum() - 1) // CHUNK
    bounds = [0, *(np.flatnonzero(np.diff(chunk)) + 1).tolist(), len(graphs)]
    for first, last in pairwise(bounds):
        batch = graphs[first:last].batch()
        try:
            yield transform(batch)
        except BagTooLargeError as error:
            for piece in split(batch, error):
                yield transform(piece)


def _narrowed(values: Array) -> Array:
    """Integers in the smallest type that holds them; other numbers as they are."""
    if values.dtype.kind not in "iu" or not values.size:
        return values.astype(np.uint8) if values.dtype.kind in "iu" else values
    least = int(values.min())
    most = int(values.max())
    for kind in NARROW:
        if np.iinfo(kind).min <= least and most <= np.iinfo(kind).max:
            return values.astype(kind)
    return values


def _cut(start: NDArray[np.int64], numbers: Array) -> tuple[list[slice], Tensor]:
    """Where the rows of these graphs are, and where each graph's will begin when they follow one another."""
    first = start[numbers]
    last = start[numbers + 1]
    bounds = torch.zeros(len(numbers) + 1, dtype=torch.int64)
    np.cumsum(last - first, out=bounds.numpy()[1:])
    return [slice(*ends) for ends in zip(first.tolist(), last.tolist(), strict=True)], bounds
