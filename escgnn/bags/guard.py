"""How large a bag may be: counted in rows, before anything of that size is made."""

from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor
from torch_geometric.data import Batch

WIDTH = 64  # of the rows that are counted
MAX_ROWS = 1 << 22  # so a tensor that holds a message for every edge between copies has 1 GiB in single precision


class BagTooLargeError(ValueError):
    """A batch whose bag would not fit; `split` makes batches of the same graphs that do.

    Attributes:
        rows: What each graph needs, ``(graphs,)``; None if it was raised in a worker process, which hands on the message only,
            or if nobody knows, as a search was given up.
        max_rows: What all of them together may need.
    """

    def __init__(self, message: str, rows: Tensor | None = None, max_rows: int = 0) -> None:
        super().__init__(message)
        self.rows = rows
        self.max_rows = max_rows


def rows_that_fit(width: int, max_rows: int = MAX_ROWS) -> int:
    """How many rows of this width are no more numbers than ``max_rows`` of width 64; narrower ones are not more.

    >>> rows_that_fit(64) == MAX_ROWS, rows_that_fit(256, 1000)
    (True, 250)
    """
    if width < 1:
        raise ValueError(f"width: {width}; expected an integer >= 1")
    return max_rows * WIDTH // max(width, WIDTH)


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
        max_rows,
    )


def split(batch: Batch, error: BagTooLargeError) -> Iterator[Any]:
    """The graphs of a batch in smaller batches, in order, each as large as the limit allows.

    Args:
        batch: What was too large.
        error: What was raised because of it.

    Raises:
        BagTooLargeError: A single graph is too large.
    """
    rows = error.rows
    if rows is None:
        raise error
    largest = int(rows.max())
    if largest > error.max_rows:
        raise BagTooLargeError(
            f"max_rows: graph {int(rows.argmax())} of {rows.numel():,} alone needs {largest:,} rows; expected at most "
            f"{error.max_rows:,}: leave it out, take fewer hops, or raise max_rows",
            rows,
            error.max_rows,
        )
    members = batch.to_data_list()
    piece: list[Any] = []
    used = 0
    for member, need in zip(members, rows.tolist(), strict=True):
        if piece and used + need > error.max_rows:
            yield Batch.from_data_list(piece)
            piece = []
            used = 0
        piece.append(member)
        used += need
    yield Batch.from_data_list(piece)
