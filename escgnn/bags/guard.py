"""How large a bag may be: counted in rows, before anything of that size is made."""

from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor
from torch_geometric.data import Batch

MAX_NUMBERS = 1 << 28  # of one tensor that holds a message for every edge between copies: 1 GiB in single precision
MAX_ROWS = MAX_NUMBERS // 64  # for a network 64 wide


class BagTooLargeError(ValueError):
    """A batch whose bag would not fit; `split` makes batches of the same graphs that do.

    Attributes:
        rows: What each graph needs, ``(graphs,)``; None if it was raised in a worker process, which hands on the message only,
            or if nobody knows, as a search was given up.
    """

    def __init__(self, message: str, rows: Tensor | None = None) -> None:
        super().__init__(message)
        self.rows = rows


def rows_that_fit(width: int, numbers: int = MAX_NUMBERS) -> int:
    """The ``max_rows`` for a network of this width.

    >>> rows_that_fit(64) == MAX_ROWS
    True
    """
    if width < 1:
        raise ValueError(f"width: {width}; expected an integer >= 1")
    return numbers // width


def check_rows(copies: Tensor, edges: Tensor, max_rows: int) -> None:
    """Refuse a bag in which copies or edges between copies, given for each graph, are more than ``max_rows``.

    Raises:
        BagTooLargeError: They are.
    """
    total_copies = int(copies.sum())
    total_edges = int(edges.sum())
    if max(total_copies, total_edges) <= max_rows:
        return
    rows = torch.maximum(copies, edges)
    largest = int(rows.argmax())
    raise BagTooLargeError(
        f"max_rows: the bag of these {rows.numel():,} graphs has {total_copies:,} copies of nodes and {total_edges:,} "
        f"edges between them, graph {largest} alone {int(copies[largest]):,} and {int(edges[largest]):,}; expected at "
        f"most {max_rows:,} of each: lower batch_size, take fewer hops, or raise max_rows",
        rows,
    )


def split(batch: Batch, rows: Tensor, max_rows: int) -> Iterator[Any]:
    """The graphs of a batch in smaller batches, in order, each as large as ``max_rows`` allows.

    For a loss that is a sum over graphs; batch normalisation sees the smaller batches.

    Args:
        batch: What was too large.
        rows: What each graph needs: `BagTooLargeError.rows`.
        max_rows: What a batch may need.

    Raises:
        ValueError: A single graph needs more.
    """
    largest = int(rows.max()) if rows.numel() else 0
    if largest > max_rows:
        raise ValueError(
            f"max_rows: graph {int(rows.argmax())} alone needs {largest:,} rows; expected at most {max_rows:,}: "
            "leave it out, take fewer hops, or raise max_rows"
        )
    members = batch.to_data_list()
    piece: list[Any] = []
    used = 0
    for member, need in zip(members, rows.tolist(), strict=True):
        if piece and used + need > max_rows:
            yield Batch.from_data_list(piece)
            piece = []
            used = 0
        piece.append(member)
        used += need
    if piece:
        yield Batch.from_data_list(piece)
