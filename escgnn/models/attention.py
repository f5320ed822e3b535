"""Attention between all nodes of each graph of a batch, with little padding."""

from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional


class Room(NamedTuple):
    """Places for the nodes of some graphs: one graph a line, padded to the largest of them.

    Attributes:
        places: The node at each place, any where there is none, (lines, width).
        is_empty: Where there is none, (lines, width).
        apart: Which two places of all lines must not hear of each other, (width, width); None if all may.
    """

    places: Tensor
    is_empty: Tensor
    apart: Tensor | None = None


def rooms_of(ptr: Tensor, batch: Tensor) -> list[Room]:
    """Rooms for all graphs of a batch: those of 1, of 2, of 3 to 4, of 5 to 8 nodes, and so on.

    So a graph has at most twice as many places as nodes, whatever stands beside it. In a program that is exported the number of
    rooms cannot depend on the data: there all nodes share one, in which those of other graphs are not heard.

    >>> [room.places.tolist() for room in rooms_of(torch.tensor([0, 3, 4, 8]), torch.tensor([0, 0, 0, 1, 2, 2, 2, 2]))]
    [[[3]], [[0, 1, 2, 0], [4, 5, 6, 7]]]

    Args:
        ptr: Where each graph's nodes begin, (G + 1,).
        batch: The graph of each node, (N,).
    """
    if _is_exported():
        everyone = torch.arange(batch.numel(), device=batch.device).unsqueeze(0)  # (1, N)
        return [Room(everyone, torch.zeros_like(everyone, dtype=torch.bool), batch.unsqueeze(1) != batch)]
    sizes = ptr.diff()
    found = []
    least = 0
    most = 1
    while least < _largest(sizes):
        chosen = (sizes > least) & (sizes <= most)
        if bool(chosen.any()):
            size = sizes[chosen].unsqueeze(1)  # (lines, 1)
            column = torch.arange(_largest(size), device=ptr.device)  # (width,)
            is_empty = column >= size  # (lines, width)
            places = (ptr[:-1][chosen].unsqueeze(1) + column).masked_fill(is_empty, 0)
            found.append(Room(places, is_empty))
        least = most
        most = 2 * most
    return found


def _is_exported() -> bool:
    """Whether a program is made of what runs now; torch has told this from compiling since 2.7."""
    ask = getattr(torch.compiler, "is_exporting", torch.compiler.is_compiling)
    return bool(ask())


def _largest(sizes: Tensor) -> int:
    return int(sizes.max()) if sizes.numel() else 0


class GraphAttention(nn.Module):
    """Attention of several heads between all nodes of a graph, (N, channels) to (N, channels).

    Args:
        channels: Size of all vectors.
        heads: How many, a divisor of ``channels``.
        dropout: Share of weights dropped.
    """

    def __init__(self, channels: int, heads: int, dropout: float) -> None:
        super().__init__()
        self.inside = nn.MultiheadAttention(channels, heads, dropout=dropout, batch_first=True)

    def forward(self, h: Tensor, rooms: list[Room]) -> Tensor:
        """What every node hears."""
        if _is_exported():
            ((places, _, apart),) = rooms
            alone = h[places]  # (1, N, channels)
            heard, _ = self.inside(alone, alone, alone, attn_mask=apart, need_weights=False)
            everyone: Tensor = heard.squeeze(0)  # (N, channels)
            return everyone
        asked = functional.linear(h, self.inside.in_proj_weight, self.inside.in_proj_bias)  # (N, 3 channels)
        found = [h[:0]]
        order = [h.new_zeros(0, dtype=torch.int64)]
        for places, is_empty, _ in rooms:
            lines = asked.index_select(0, places.flatten()).view(*places.shape, -1)  # (lines, width, 3 channels)
            is_node = (~is_empty).flatten()  # (lines * width,)
            found.append(self._heard(lines, is_empty).flatten(0, 1)[is_node])
            order.append(places.flatten()[is_node])
        heard = h.new_empty(h.shape).index_copy(0, torch.cat(order), torch.cat(found))  # (N, channels)
        out: Tensor = self.inside.out_proj(heard)
        return out

    def _heard(self, lines: Tensor, is_empty: Tensor) -> Tensor:
        """Weighted means of values, (lines, width, channels), of queries, keys and values in a row.

        As in torch, whose own functions ask for places that hear of nobody, of which there are none, and draw what is dropped
        in four times the time.
        """
        heads = self.inside.num_heads
        count, width, _ = lines.shape
        split = lines.view(count, width, 3, heads, -1).permute(2, 0, 3, 1, 4)  # (3, lines, heads, width, size)
        query, key, value = split.reshape(3, count * heads, width, -1)
        silent = torch.zeros_like(is_empty, dtype=lines.dtype).masked_fill(is_empty, float("-inf"))  # (lines, width)
        silent = silent.repeat_interleave(heads, 0).unsqueeze(1)  # (lines * heads, 1, width)
        scores = torch.baddbmm(silent, query, key.transpose(1, 2), alpha=query.size(2) ** -0.5)
        weights = self._dropped(scores.softmax(2))  # (lines * heads, width, width)
        heard: Tensor = (weights @ value).view(count, heads, width, -1).transpose(1, 2)  # (lines, width, heads, size)
        return heard.flatten(2)

    def _dropped(self, weights: Tensor) -> Tensor:
        share = self.inside.dropout
        if not self.training or not share:
            return weights
        kept: Tensor = (torch.rand_like(weights) >= share) / (1 - share)
        return weights * kept
