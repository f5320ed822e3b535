"""CIN: message passing on a complex of nodes, edges and rings.

Bodnar et al., Weisfeiler and Lehman Go Cellular: CW Networks, NeurIPS 2021.
"""

from collections.abc import Mapping
from typing import Any, ClassVar, NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional

from escgnn.layers import NORMS
from escgnn.models.frame import Frame, check_shared
from escgnn.models.pairs import pooled


class Complex(NamedTuple):
    """Where the cells of a batch are, and which lie on the boundary of which."""

    end: Tensor  # (M, 2), the nodes of each undirected edge
    ring: Tensor  # (T,), a ring for each of its edges
    member: Tensor  # (T,), that edge
    graphs: list[Tensor]  # the graph of each node, edge and ring: (N,), (M,), (R,)


class CIN(Frame):
    r"""Cells of three dimensions with vectors: nodes, edges, and rings, which are induced cycles.

    .. math::
        h_s' = C\Big(U_1\Big(h_s + \sum_{(t, c)} \mathrm{ReLU}(W (h_t, h_c))\Big), \;
        U_2\Big(h_s + \sum_{b \in \partial s} h_b\Big)\Big)

    where t are the other cells on the boundary of a cell c that s is on the boundary of, too: nodes hear from neighbours through
    edges, edges from the other edges of a ring through the ring. Each dimension has perceptrons of its own. A ring starts as the
    sum of its nodes. A graph is read off the pools of all dimensions, each through a layer of its own.

    A message depends on t and c alone, so a ring needs a row for each of its edges and not for each two of them: with
    :math:`m_{tc}` these messages, s hears :math:`\sum_c (\sum_t m_{tc} - m_{sc})`, which is the same sum. Features of an edge are
    the mean over its columns of ``edge_index``, so they should be the same for both directions, as those of bonds are.

    Args:
        out_channels: Numbers to predict for every graph or node.
        longest: Most nodes of a ring, ``transform.longest``; without rings there are two dimensions.
        node_features: What ``x`` holds, as for `escgnn.models.ESCGNN`.
        edge_features: What ``edge_attr`` holds; without, an edge starts as the sum of its nodes.
        level: ``"graph"`` or ``"node"``.
        hidden: Size of all vectors.
        layers: Number of rounds.
        norm: ``"batch"``, ``"layer"`` or ``"none"``.
        dropout: Share of values dropped after every round and before the last layer.
        pool: How the cells of a dimension make a vector: ``"sum"`` or ``"mean"``.

    Shapes:
        A batch to (graphs, out_channels) or (nodes, out_channels).
    """

    levels: ClassVar[tuple[str, ...]] = ("graph", "node")

    def __init__(
        self,
        out_channels: int,
        *,
        longest: int = 6,
        node_features: Mapping[str, Any] | None = None,
        edge_features: Mapping[str, Any] | None = None,
        level: str = "graph",
        hidden: int = 64,
        layers: int = 4,
        norm: str = "batch",
        dropout: float = 0.0,
        pool: str = "sum",
    ) -> None:
        super().__init__(locals())
        self.check(self.settings)
        self.dropout = dropout
        self.add_features(hidden)
        self.add_positions(hidden)
        dimensions = 3 if longest else 2
        self.layers = nn.ModuleList()
        for i in range(layers):
            # for nodes, the last round is of nodes alone, and the one before of nodes and edges
            heard = min(dimensions, layers - i) if level == "node" else dimensions
            self.layers.append(CellLayer(hidden, norm, dimensions, heard))
        self.reads_out = nn.ModuleList(
            nn.Linear(hidden, 2 * hidden) for _ in range(1 if level == "node" else dimensions)
        )
        self.last = nn.Linear(2 * hidden, out_channels)

    @classmethod
    def check(cls, settings: Mapping[str, Any]) -> None:
        """Refuse values that mean nothing."""
        check_shared(settings)
        if settings.get("pool", "sum") not in ("sum", "mean"):
            raise ValueError(f"pool: {settings['pool']!r}; expected one of sum, mean")

    @property
    def reads(self) -> frozenset[str]:
        """The attributes of a batch that the network reads."""
        rings = {"ring_len", "ring_edge"} if self.settings["longest"] else set()
        edges = {"cell_edge"} if self.edges is not None else set()
        return super().reads | {"cell_len", "cell_end"} | rings | edges

    def forward_tensors(self, tensors: Mapping[str, Tensor]) -> Tensor:
        """Predictions from plain tensors by name, those that `reads` lists."""
        num_graphs = tensors["ptr"].numel() - 1
        cells = self._complex(tensors)
        vectors = self._start(tensors, cells)  # (N, hidden), (M, hidden), (R, hidden)
        for layer in self.layers:
            vectors = [functional.dropout(h, self.dropout, self.training) for h in layer(vectors, cells)]
        if self.settings["level"] == "graph":
            how = self.settings["pool"]
            pools = zip(vectors, cells.graphs, strict=True)
            vectors = [pooled(h, graph, num_graphs, how) for h, graph in pools]  # (G, hidden) each
        read = [linear(h).relu() for linear, h in zip(self.reads_out, vectors, strict=True)]
        summed = torch.stack(read).sum(0)  # (G or N, 2 hidden)
        out: Tensor = self.last(functional.dropout(summed, self.dropout, self.training))  # (G or N, out_channels)
        return out

    def _complex(self, tensors: Mapping[str, Tensor]) -> Complex:
        """Numbers of cells within the batch in place of those within graphs."""
        edges, rings = tensors["cell_len"].unbind(1)  # (G,) each
        local = tensors["cell_end"]  # (M, 2)
        home = torch.repeat_interleave(edges, output_size=local.size(0))  # (M,)
        end = local + tensors["ptr"][home].unsqueeze(1)
        if not self.settings["longest"]:
            return Complex(end, home[:0], home[:0], [tensors["batch"], home])
        length = tensors["ring_len"]  # (R,)
        ring_home = torch.repeat_interleave(rings, output_size=length.size(0))  # (R,)
        ring = torch.repeat_interleave(length, output_size=tensors["ring_edge"].size(0))  # (T,)
        member = tensors["ring_edge"] + (edges.cumsum(0) - edges)[ring_home[ring]]  # (T,)
        return Complex(end, ring, member, [tensors["batch"], home, ring_home])

    def _start(self, tensors: Mapping[str, Tensor], cells: Complex) -> list[Tensor]:
        nodes = self.node_vectors(tensors)  # (N, hidden)
        both = nodes[cells.end].sum(1)  # (M, hidden)
        columns = self.edge_vectors(tensors)  # (E, hidden)
        edges = both
        if columns is not None:
            number = tensors["cell_len"][:, 0]  # (G,)
            own = tensors["cell_edge"]  # (E,)
            shift = (number.cumsum(0) - number)[tensors["batch"][tensors["edge_index"][0]]]  # (E,)
            row = torch.where(own < 0, both.size(0), own + shift)  # loops go to a row that is dropped
            sums = columns.new_zeros(both.size(0) + 1, columns.size(1)).index_add(0, row, columns)
            often = columns.new_zeros(both.size(0) + 1, 1).index_add(0, row, torch.ones_like(columns[:, :1]))
            edges = sums[:-1] / often[:-1].clamp_min(1)
        if not self.settings["longest"]:
            return [nodes, edges]
        halves = both.index_select(0, cells.member) / 2  # (T, hidden), as each node of a ring is on two of its edges
        rings = nodes.new_zeros(cells.graphs[2].size(0), nodes.size(1)).index_add(0, cells.ring, halves)
        return [nodes, edges, rings]


class CellLayer(nn.Module):
    """A round of `CIN`: vectors of the cells of each dimension to as many.

    Args:
        channels: Size of all vectors.
        norm: ``"batch"``, ``"layer"`` or ``"none"``.
        dimensions: How many there are.
        read: How many of them, from the first, have new vectors; those of others are left out.
    """

    def __init__(self, channels: int, norm: str, dimensions: int, read: int) -> None:
        super().__init__()
        through = min(
            read, dimensions - 1
        )  # rings, or edges if there are none, have nothing above them to hear through
        self.sender = nn.ModuleList(nn.Linear(channels, channels) for _ in range(through))
        self.carrier = nn.ModuleList(nn.Linear(channels, channels, bias=False) for _ in range(through))
        self.above = nn.ModuleList(_twice(channels, norm) for _ in range(read))
        self.below = nn.ModuleList(_twice(channels, norm) for _ in range(read))
        self.join = nn.ModuleList(_layer(2 * channels, channels, norm) for _ in range(read))

    def forward(self, vectors: list[Tensor], cells: Complex) -> list[Tensor]:
        """New vectors of all cells, by dimension."""
        new = []
        for i, (above, below, join) in enumerate(zip(self.above, self.below, self.join, strict=True)):
            h = vectors[i]
            upper = h + self._from_above(i, vectors, cells) if i < len(self.sender) else h  # (cells, channels)
            lower = h + _boundary(i, vectors, cells) if i else h
            new.append(join(torch.cat([above(upper), below(lower)], 1)))
        return new

    def _from_above(self, i: int, vectors: list[Tensor], cells: Complex) -> Tensor:
        """What nodes hear through edges, or edges through rings, (cells, channels)."""
        sent: Tensor = self.sender[i](vectors[i])
        carried: Tensor = self.carrier[i](vectors[i + 1])
        if i == 0:
            first, second = cells.end.unbind(1)  # (M,) each
            forth = (sent.index_select(0, first) + carried).relu()  # (M, channels)
            back = (sent.index_select(0, second) + carried).relu()
            return forth.new_zeros(vectors[0].shape).index_add(0, second, forth).index_add(0, first, back)
        messages = (sent.index_select(0, cells.member) + carried.index_select(0, cells.ring)).relu()  # (T, channels)
        sums = messages.new_zeros(vectors[2].shape).index_add(0, cells.ring, messages)  # (R, channels)
        others = sums.index_select(0, cells.ring) - messages  # (T, channels)
        return messages.new_zeros(vectors[1].shape).index_add(0, cells.member, others)


def _boundary(i: int, vectors: list[Tensor], cells: Complex) -> Tensor:
    """Sums over the two nodes of each edge, or over the edges of each ring, (cells, channels)."""
    if i == 1:
        return vectors[0][cells.end].sum(1)
    return vectors[1].new_zeros(vectors[2].shape).index_add(0, cells.ring, vectors[1].index_select(0, cells.member))


def _layer(inputs: int, outputs: int, norm: str) -> nn.Sequential:
    """A linear map, a norm and a rectifier; the bias stands before the norm, as in the authors' code."""
    return nn.Sequential(nn.Linear(inputs, outputs), NORMS[norm](outputs), nn.ReLU())


def _twice(channels: int, norm: str) -> nn.Sequential:
    return nn.Sequential(_layer(channels, channels, norm), _layer(channels, channels, norm))
