"""Rows for all ordered pairs of nodes of the same graph, n² for a graph of n nodes, without padding."""

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor, nn

POOLS = ("max", "sum", "mean")


class Pairs:
    """Where the pairs of a batch are: graph by graph, and (i, j) of a graph of n nodes in row i n + j of it.

    Maps of single pairs are then plain layers on rows. Products of matrices need squares: graphs of equal size are multiplied
    together, so a graph's result does not depend on those beside it.

    Args:
        ptr: Where each graph's nodes begin, (G + 1,).
        rows: How many pairs there are, if it is known: programs that are exported need it from a tensor's size.

    Attributes:
        first: Node i of each pair, (P,).
        second: Node j of each pair, (P,).
        graph: The graph of each pair, (P,).
        diagonal: The pair (v, v) of each node, (N,).

    >>> pairs = Pairs(torch.tensor([0, 2, 3]))
    >>> pairs.first.tolist(), pairs.second.tolist(), pairs.diagonal.tolist()
    ([0, 0, 1, 1, 2], [0, 1, 0, 1, 2], [0, 3, 4])
    """

    def __init__(self, ptr: Tensor, rows: int | None = None) -> None:
        self.ptr = ptr
        self.size = ptr.diff()  # (G,)
        self.end = (self.size * self.size).cumsum(0)  # (G,)
        self.start = self.end - self.size * self.size  # (G,)
        self.rows = int(self.end[-1]) if rows is None else rows
        self.graph = torch.repeat_interleave(self.size * self.size, output_size=self.rows)  # (P,)
        place = torch.arange(self.rows, device=ptr.device) - self.start[self.graph]  # (P,)
        n = self.size[self.graph]  # (P,)
        self.first = place // n + ptr[self.graph]
        self.second = place % n + ptr[self.graph]

    def row(self, first: Tensor, second: Tensor, graph: Tensor) -> Tensor:
        """The rows of these pairs, each of two nodes of that graph."""
        begin = self.ptr[graph]
        return self.start[graph] + (first - begin) * self.size[graph] + second - begin

    @property
    def diagonal(self) -> Tensor:
        """The pair (v, v) of each node, (N,)."""
        nodes = torch.arange(int(self.ptr[-1]), device=self.ptr.device)
        graph = torch.repeat_interleave(self.size, output_size=nodes.numel())
        return self.row(nodes, nodes, graph)

    @property
    def swapped(self) -> Tensor:
        """The pair (j, i) of each pair (i, j), (P,)."""
        return self.row(self.second, self.first, self.graph)

    def of_edges(self, edge_index: Tensor, batch: Tensor) -> Tensor:
        """The pair of each column of ``edge_index``, (E,)."""
        return self.row(edge_index[0], edge_index[1], batch[edge_index[0]])

    def adjacency(self, edge_index: Tensor, batch: Tensor, dtype: torch.dtype) -> Tensor:
        """1 where two nodes are adjacent, or a node has a loop, and 0 elsewhere, however often the edge is there: (P, 1)."""
        found = torch.zeros(self.rows, 1, dtype=dtype, device=edge_index.device)
        return found.index_fill(0, self.of_edges(edge_index, batch), 1)

    def equal_sizes(self) -> list[Tensor]:
        """For each size n that graphs have, the pairs of those graphs: (graphs, n, n)."""
        found = []
        for n in sorted({*self.size.tolist()}):
            if n:
                starts = self.start[self.size == n]  # (graphs,)
                within = torch.arange(n * n, device=starts.device)
                found.append((starts.unsqueeze(1) + within).view(-1, n, n))
        return found

    def product(self, left: Tensor, right: Tensor, squares: list[Tensor]) -> Tensor:
        """Products of matrices, one for each graph and channel: (P, channels or 1) twice to (P, channels).

        Args:
            left: The matrices.
            right: Those that they are multiplied with.
            squares: What `equal_sizes` gives, which is asked for once for all products of a batch.
        """
        channels = max(left.size(1), right.size(1))
        products = [right.new_empty(0, channels)]
        for places in squares:
            first = left[places].permute(0, 3, 1, 2)  # (graphs, channels, n, n)
            second = right[places].permute(0, 3, 1, 2)
            product = torch.matmul(first, second).permute(0, 2, 3, 1)  # (graphs, n, n, channels)
            products.append(product.reshape(-1, channels))
        order = torch.cat([self.first[:0], *(places.flatten() for places in squares)])  # (P,)
        return right.new_empty(self.rows, channels).index_copy(0, order, torch.cat(products))


class RawFeatures(nn.Module):
    """Features as channels, without weights: one-hot where they are categories, and as they are where they are numbers.

    Args:
        features: What there is, as for `escgnn.layers.FeatureEncoder`; None for a single channel of ones.

    Attributes:
        channels: How many there are.
    """

    def __init__(self, features: Mapping[str, Any] | None) -> None:
        super().__init__()
        self.kind = features["kind"] if features else None
        self.sizes = [*features["sizes"]] if features else [1]
        self.channels = sum(self.sizes)

    def forward(self, x: Tensor | None, rows: int, like: Tensor) -> Tensor:
        """The channels of all rows, of the type and on the device of ``like``: (rows, channels)."""
        if x is None:
            return like.new_ones(rows, 1)
        x = x.unsqueeze(1) if x.dim() == 1 else x  # (rows, columns)
        if self.kind == "dense":
            return x.to(like.dtype)
        if not torch.compiler.is_compiling() and ((x < 0) | (x >= x.new_tensor(self.sizes))).any():
            raise ValueError(f"features: a category is negative or too large for columns of {self.sizes}")
        columns = [x[:, i : i + 1] == torch.arange(size, device=x.device) for i, size in enumerate(self.sizes)]
        return torch.cat(columns, 1).to(like.dtype)


def pooled(rows: Tensor, graph: Tensor, graphs: int, how: str) -> Tensor:
    """Rows of each graph as one, by a way of `POOLS`; zero where a graph has none."""
    reduce = "amax" if how == "max" else how
    index = graph.unsqueeze(1).expand_as(rows)
    return rows.new_zeros(graphs, rows.size(1)).scatter_reduce(0, index, rows, reduce, include_self=False)
