"""Sets of three nodes, how they hang together inside, and which of them are neighbours: what k-GNNs read."""

from itertools import combinations
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch_geometric.data import Data
from torch_geometric.transforms import BaseTransform

from escgnn.bags import MAX_ROWS, BagTooLargeError
from escgnn.graphs import Graph, as_graph
from escgnn.limits import whole
from escgnn.transforms.attaching import attach

Ints = NDArray[np.int64]


class Triples(BaseTransform):
    """Lists the sets of three nodes of each graph and their local neighbours.

    Two sets are local neighbours if they differ in one node, and the node that leaves is adjacent to the one that comes.

    Args:
        connected: Whether only sets that hang together are listed, as 1-2-3-GNN has it, or all.
        max_rows: A batch with more sets, pairs of neighbours or pairs of nodes is refused: `BagTooLargeError`.

    Adds:
        For every graph: triple_len, its number of sets. For every set: triple_member, its three nodes, numbered within the graph,
        ascending; triple_inside, how many of the other two each is adjacent to; triple_in, its number of neighbours. For every
        neighbour of each set in turn: triple_source, its number within the graph.

    >>> path = Data(edge_index=torch.tensor([[0, 1, 1, 2, 2, 3], [1, 0, 2, 1, 3, 2]]), num_nodes=4)
    >>> data = Triples()(path)
    >>> data.triple_member.tolist(), data.triple_inside.tolist(), data.triple_source.tolist()
    ([[0, 1, 2], [1, 2, 3]], [[1, 2, 1], [1, 2, 1]], [])
    >>> Triples(connected=False)(path).triple_source.tolist()  # {0, 1, 3} and {0, 2, 3} lie between
    [1, 0, 2, 1, 3, 2]
    """

    adds = frozenset({"triple_len", "triple_member", "triple_inside", "triple_in", "triple_source"})
    keepable = True

    def __init__(self, *, connected: bool = True, max_rows: int = MAX_ROWS) -> None:
        self.connected = connected
        self.max_rows = whole("max_rows", max_rows, 1)

    def forward(self, data: Any) -> Any:
        """Attach the arrays; `__call__` has made a shallow copy, so the caller's object stays as it was."""
        if not isinstance(data, Data):
            raise TypeError(f"data: cannot list sets of {type(data).__name__}; expected a PyG Data or Batch")
        view = as_graph(data)
        sizes = np.diff(view.ptr)
        self._check(sizes**2, "pairs of nodes")
        if not self.connected:
            self._check(sizes * (sizes - 1) * (sizes - 2) // 6, "sets of three nodes")
        members = _connected(view) if self.connected else _all(view)  # (S, 3)
        home = view.owner(members[:, 0])  # (S,)
        lengths = np.bincount(home, minlength=view.num_graphs)
        self._check(lengths, "sets of three nodes")
        target, source = _neighbours(view, members)
        self._check(np.bincount(home[target], minlength=view.num_graphs), "pairs of neighbouring sets")
        sets = np.concatenate([[0], lengths.cumsum()])
        arcs = np.searchsorted(target, sets)
        inward = np.bincount(target, minlength=len(members))
        arrays = {
            "triple_len": (lengths, np.arange(view.num_graphs + 1)),
            "triple_member": (members - view.ptr[home, None], sets),
            "triple_inside": (_inside(view, members), sets),
            "triple_in": (inward, sets),
            "triple_source": (source - sets[home[source]], arcs),
        }
        attach(data, arrays)
        return data

    def guard(self, batch: Any) -> Any:
        """The same batch, whose sets were kept, if it is small enough."""
        self._check((batch.ptr.diff() ** 2).numpy(), "pairs of nodes")
        self._check(batch.triple_len.numpy(), "sets of three nodes")
        self._check(batch._slice_dict["triple_source"].diff().numpy(), "pairs of neighbouring sets")
        return batch

    def _check(self, rows: Ints, what: str) -> None:
        total = int(rows.sum())
        if total > self.max_rows:
            raise BagTooLargeError(
                f"max_rows: these {rows.size:,} graphs have {total:,} {what}, the largest alone {int(rows.max()):,}; "
                f"expected at most {self.max_rows:,}: lower batch_size, or raise max_rows",
                torch.from_numpy(rows),
                self.max_rows,
            )

    def __repr__(self) -> str:
        return f"Triples(connected={self.connected}, max_rows={self.max_rows})"


def _connected(view: Graph) -> Ints:
    """Sets with two or three edges inside, ascending, (S, 3)."""
    indptr, indices = view.csr.indptr, view.csr.indices
    arc = np.arange(indices.size)
    centre = np.repeat(np.arange(view.num_nodes), view.degrees)  # of each arc
    later = indptr[centre + 1] - arc - 1  # how many neighbours of the same centre follow
    first = np.repeat(arc, later)
    second = first + 1 + _within(later)
    triples = np.stack([centre[first], indices[first], indices[second]], 1).astype(np.int64)
    triples.sort(1)
    return np.unique(triples, axis=0) if triples.size else triples.reshape(0, 3)


def _all(view: Graph) -> Ints:
    """All sets, ascending, (S, 3)."""
    known: dict[int, Ints] = {}
    blocks = [np.zeros((0, 3), np.int64)]
    for begin, size in zip(view.ptr[:-1].tolist(), np.diff(view.ptr).tolist(), strict=True):
        if size not in known:
            known[size] = np.array([*combinations(range(size), 3)], np.int64).reshape(-1, 3)
        blocks.append(known[size] + begin)
    return np.concatenate(blocks)


def _inside(view: Graph, members: Ints) -> Ints:
    """How many of the other two each member is adjacent to, (S, 3)."""
    keys = _arc_keys(view)
    joined = [_among(keys, members[:, i] * view.num_nodes + members[:, j]) for i, j in ((0, 1), (0, 2), (1, 2))]
    ab, ac, bc = (one.astype(np.int64) for one in joined)
    return np.stack([ab + ac, ab + bc, ac + bc], 1)


def _neighbours(view: Graph, members: Ints) -> tuple[Ints, Ints]:
    """Of every set in turn, the numbers of its local neighbours: (arcs,) twice."""
    n = np.int64(view.num_nodes)
    keys = (members[:, 0] * n + members[:, 1]) * n + members[:, 2]  # ascending, as the sets are
    targets, sources = [], []
    for leaves, stays in ((0, (1, 2)), (1, (0, 2)), (2, (0, 1))):
        gone = members[:, leaves]
        often = view.degrees[gone]
        target = np.repeat(np.arange(len(members)), often)
        comes = view.csr.indices[view.csr.indptr[gone][target] + _within(often)].astype(np.int64)
        left, right = (members[target, place] for place in stays)
        low = np.minimum(comes, left)
        high = np.maximum(comes, right)
        key = (low * n + (comes + left + right - low - high)) * n + high
        found = _among(keys, key) & (comes != left) & (comes != right)
        targets.append(target[found])
        sources.append(np.searchsorted(keys, key[found]))
    target, source = np.concatenate(targets), np.concatenate(sources)
    order = np.lexsort((source, target))
    return target[order], source[order]


def _arc_keys(view: Graph) -> Ints:
    """A number for each arc, ascending."""
    return np.repeat(np.arange(view.num_nodes), view.degrees) * view.num_nodes + view.csr.indices


def _among(ascending: Ints, wanted: Ints) -> NDArray[np.bool_]:
    """Which of these numbers are there."""
    if not ascending.size:
        return np.zeros(wanted.size, bool)
    place = np.searchsorted(ascending, wanted).clip(max=ascending.size - 1)
    found: NDArray[np.bool_] = ascending[place] == wanted
    return found


def _within(lengths: Ints) -> Ints:
    """0, 1, 2, ... for each of these lengths."""
    ends = lengths.cumsum()
    return np.arange(int(lengths.sum())) - np.repeat(ends - lengths, lengths)
