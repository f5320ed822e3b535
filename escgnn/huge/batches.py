"""Batches for learning on one huge graph: sampled neighbourhoods, with rows of the encoding of the whole graph."""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray
from torch import Tensor
from torch_geometric.data import Data

from escgnn.encoding import RootedEncoding, Rows
from escgnn.graphs import LeanGraph
from escgnn.huge.row_store import RowStore
from escgnn.huge.sampling import sample

Numbers = NDArray[np.int64]


class _Batches(ABC):
    """Batches of items in order or shuffled; every iteration is an epoch further, and what is drawn depends on seed and epoch."""

    def __init__(
        self,
        graph: LeanGraph,
        items: Numbers,
        fan_outs: Sequence[int],
        *,
        rows: RowStore | None,
        x: Any,
        batch_size: int,
        shuffle: bool,
        seed: int,
    ) -> None:
        if batch_size < 1:
            raise ValueError(f"batch_size: {batch_size}; expected an integer from 1 on")
        if rows is not None:
            rows.check_graph(graph)
        if x is not None and len(x) != graph.num_nodes:
            raise ValueError(f"x: {len(x):,} rows; expected one for each of {graph.num_nodes:,} nodes")
        self.graph = graph
        self.items = items
        self.fan_outs = tuple(fan_outs)
        self.rows = rows
        self.x = x
        self.batch_size = batch_size
        self.shuffle = shuffle
        self.seed = seed
        self.epoch = 0

    def set_epoch(self, epoch: int) -> None:
        """Say which epoch the next iteration is."""
        self.epoch = epoch

    def __len__(self) -> int:
        """Number of batches."""
        return -(-len(self.items) // self.batch_size)

    def __iter__(self) -> Iterator[Data]:
        epoch = self.epoch
        self.epoch += 1
        order = np.arange(len(self.items))
        if self.shuffle:
            order = np.random.default_rng((self.seed, epoch)).permutation(order)
        for number, start in enumerate(range(0, len(order), self.batch_size)):
            yield self._batch(order[start : start + self.batch_size], (self.seed, epoch, number))

    @abstractmethod
    def _batch(self, places: Numbers, seed: tuple[int, ...]) -> Data:
        """The batch of some items."""

    def _around(self, nodes: Numbers, seed: tuple[int, ...]) -> Data:
        """What a network reads of the neighbourhood of nodes, which come first."""
        part = sample(self.graph, nodes, self.fan_outs, seed=seed)
        data = Data(edge_index=torch.from_numpy(part.edge_index), num_nodes=part.n_id.size)
        data.n_id = torch.from_numpy(part.n_id)  # (N,)
        data.e_id = torch.from_numpy(part.e_id)  # (E,)
        if self.x is not None:
            data.x = _chosen(self.x, part.n_id)  # (N, features)
        if self.rows is not None:
            _attach(data, "esc", self.rows.take(part.e_id))
            if self.rows.encoding.nodes:
                _attach(data, "esc_node", self.rows.take_nodes(part.n_id))
        return data


class NeighbourLoader(_Batches):
    """Batches of nodes with their sampled neighbourhoods, as PyG ``Data``.

    The nodes of a batch come first in it: for a network of level ``"node"``, ``network(batch)[:batch.batch_size]`` are their
    outputs and ``batch.y`` their targets. The rows of edges are those of the whole graph, as `ESCGNN` reads them.

    Args:
        graph: Such as `open_graph` gives.
        nodes: Different nodes to make batches of.
        fan_outs: Neighbours to draw in each round, one round for each layer of the network; -1 for all.
        rows: The encoding of this graph.
        x: Features of all nodes, an array or tensor, which may be mapped from a file; only rows that are needed are read.
        y: Targets of all nodes, likewise.
        batch_size: Nodes in a batch; the last one may have fewer.
        shuffle: Whether every epoch has an order of its own.
        seed: Of the order and of what is drawn, together with the epoch and the number of the batch.

    Yields:
        ``Data`` with edge_index, num_nodes, n_id and e_id (nodes and directed edges in the whole graph), batch_size; x and y if
        given; esc_len, esc_bin, esc_count if there are rows, and esc_node_len, esc_node_bin, esc_node_count if they have nodes.

    Raises:
        ValueError: Rows of another graph, features or targets that are not one for each node, or options out of range.
    """

    def __init__(
        self,
        graph: LeanGraph,
        nodes: ArrayLike,
        fan_outs: Sequence[int],
        *,
        rows: RowStore | None = None,
        x: Any = None,
        y: Any = None,
        batch_size: int = 256,
        shuffle: bool = False,
        seed: int = 0,
    ) -> None:
        wanted = np.asarray(nodes).reshape(-1)
        super().__init__(graph, wanted, fan_outs, rows=rows, x=x, batch_size=batch_size, shuffle=shuffle, seed=seed)
        if y is not None and len(y) != graph.num_nodes:
            raise ValueError(f"y: {len(y):,} rows; expected one for each of {graph.num_nodes:,} nodes")
        self.y = y

    def _batch(self, places: Numbers, seed: tuple[int, ...]) -> Data:
        nodes = self.items[places]
        data = self._around(nodes, seed)
        data.batch_size = nodes.size
        if self.y is not None:
            data.y = _chosen(self.y, nodes)  # (batch_size, ...)
        return data


class PairLoader(_Batches):
    """Batches of pairs of nodes, to say which are edges, with the sampled neighbourhoods of both ends, as PyG ``Data``.

    Edges to be predicted must not be in the graph, or its rows tell: take them out before it is built.

    Args:
        graph: Such as `open_graph` gives, without the edges to be predicted.
        pairs: Ordered pairs of nodes ``(pairs, 2)``.
        fan_outs: Neighbours to draw in each round; none for a network that looks at the pairs alone.
        labels: A number for each pair, such as 1 for an edge and 0 for none.
        pair_encoding: What to compute of each pair itself: `RootedEncoding.pairs`, on the whole graph.
        rows: The encoding of this graph.
        x: Features of all nodes.
        batch_size: Pairs in a batch; the last one may have fewer.
        shuffle: Whether every epoch has an order of its own.
        seed: Of the order and of what is drawn, together with the epoch and the number of the batch.

    Yields:
        What `NeighbourLoader` yields but batch_size and y; edge_label_index, both ends of each pair by their place in the batch
        (2, pairs); edge_label if there are labels; pair_len, pair_bin and pair_count if there is a ``pair_encoding``, for
        ``StructuralEmbedding(len(pair_encoding.pair_bins), channels, prefix="pair")``.

    Raises:
        ValueError: Rows of another graph, pairs of nodes that do not exist, as many labels as there are not pairs, or options
            out of range.
    """

    def __init__(
        self,
        graph: LeanGraph,
        pairs: ArrayLike,
        fan_outs: Sequence[int] = (),
        *,
        labels: Any = None,
        pair_encoding: RootedEncoding | None = None,
        rows: RowStore | None = None,
        x: Any = None,
        batch_size: int = 256,
        shuffle: bool = False,
        seed: int = 0,
    ) -> None:
        wanted = np.asarray(pairs)
        graph.edge_ids(wanted)  # complains about what are no pairs of nodes
        super().__init__(graph, wanted, fan_outs, rows=rows, x=x, batch_size=batch_size, shuffle=shuffle, seed=seed)
        if labels is not None and len(labels) != len(wanted):
            raise ValueError(f"labels: {len(labels):,}; expected one for each of {len(wanted):,} pairs")
        self.labels = labels
        self.pair_encoding = pair_encoding

    def _batch(self, places: Numbers, seed: tuple[int, ...]) -> Data:
        pairs = self.items[places]
        ends, place = np.unique(pairs, return_inverse=True)
        data = self._around(ends, seed)
        data.edge_label_index = torch.from_numpy(place.reshape(-1, 2).T.copy())  # (2, pairs)
        if self.labels is not None:
            data.edge_label = _chosen(self.labels, places)  # (pairs, ...)
        if self.pair_encoding is not None:
            _attach(data, "pair", self.pair_encoding.pairs(self.graph, pairs))
        return data


def _chosen(values: Any, places: Numbers) -> Tensor:
    """Some rows of an array or tensor."""
    if isinstance(values, Tensor):
        return values[torch.from_numpy(places)]
    return torch.from_numpy(np.asarray(values)[places])


def _attach(data: Data, prefix: str, rows: Rows) -> None:
    data[f"{prefix}_len"] = torch.from_numpy(rows.length)  # (rows,)
    data[f"{prefix}_bin"] = torch.from_numpy(rows.bin)  # (nnz,)
    data[f"{prefix}_count"] = torch.from_numpy(rows.count)  # (nnz,)
