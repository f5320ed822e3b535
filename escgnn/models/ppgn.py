"""PPGN: matrices over all pairs of nodes, multiplied with each other.

Maron et al., Provably Powerful Graph Networks, NeurIPS 2019.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch import Tensor, nn

from escgnn.models.frame import Network, check_shared
from escgnn.models.pairs import POOLS, Pairs, RawFeatures, pooled

CHOICES = {"graph_pool": POOLS, "suffix": ("last", "rounds")}


class PPGN(Network):
    r"""Vectors of pairs of nodes; a block multiplies, channel by channel, the matrices that two perceptrons make of them.

    .. math::
        Z' = \mathrm{Linear}\big(Z, \mathrm{MLP}_1(Z) \, \mathrm{MLP}_2(Z)\big), \quad
        Z^0_{ij} = ([i \sim j], [i = j] \, x_i, e_{ij})

    The product runs over the third node, as folklore 2-WL does. A graph is the maxima of its diagonal and of the rest, a node v
    is :math:`Z_{vv}` beside the sum of its row and column without it, an edge both its pairs. Without features of nodes, the
    diagonal is 1, where the authors' counting runs have 0: pairs of a node with itself are told from others at once.
    There is no padding, so a graph's output does not depend on its batch, as it does in some published code.

    Args:
        out_channels: Numbers to predict for every graph, node or edge.
        node_features: What ``x`` holds, as for `escgnn.models.ESCGNN`; categories become channels, one-hot.
        edge_features: What ``edge_attr`` holds, likewise.
        level: Whether to predict for every ``"graph"``, ``"node"`` or ``"edge"``.
        hidden: Channels of all blocks.
        layers: Number of blocks.
        pool: What is read of a graph's diagonal and of the rest: ``"max"``, the paper's; ``"sum"`` and ``"mean"`` keep what
            a maximum loses.
        suffix: ``"last"``: a perceptron of the last block, as for QM9; ``"rounds"``: the sum over blocks of linear maps, as for
            graphs of TU.
        head: Widths inside the perceptron.
        block_relu: Whether a rectifier ends each block, as in the authors' TensorFlow code, not in their PyTorch code.
        scaled: Whether products are divided by the mean number of nodes of training graphs, the same for all graphs. Numbers
            square from block to block; the paper does not hold them back.
        mean_nodes: That number, measured.

    Shapes:
        A batch to (graphs, out_channels), (nodes, out_channels) or (edges, out_channels).
    """

    measures = ("mean_nodes",)

    def __init__(
        self,
        out_channels: int,
        *,
        node_features: Mapping[str, Any] | None = None,
        edge_features: Mapping[str, Any] | None = None,
        level: str = "graph",
        hidden: int = 64,
        layers: int = 3,
        pool: str = "max",
        suffix: str = "last",
        head: Sequence[int] = (512, 256),
        block_relu: bool = False,
        scaled: bool = False,
        mean_nodes: float = 1.0,
    ) -> None:
        super().__init__(locals())
        self.check(self.settings)
        self.node_channels = RawFeatures(node_features)
        self.edge_channels = RawFeatures(edge_features) if edge_features else None
        width = 1 + self.node_channels.channels + (self.edge_channels.channels if self.edge_channels else 0)
        scale = 1 / mean_nodes if scaled else 1.0
        self.blocks = nn.ModuleList(Block(hidden if i else width, hidden, scale, block_relu) for i in range(layers))
        if suffix == "rounds":
            self.heads = nn.ModuleList(nn.Linear(2 * hidden, out_channels) for _ in range(layers))
        else:
            self.heads = nn.ModuleList([_perceptron(2 * hidden, [*head], out_channels)])

    @classmethod
    def check(cls, settings: Mapping[str, Any]) -> None:
        """Refuse values that mean nothing."""
        others = {name: value for name, value in settings.items() if name != "pool"}  # it has one of its own
        check_shared({**others, "graph_pool": settings.get("pool", "max")}, CHOICES)

    @classmethod
    def measure(cls, settings: Mapping[str, Any], task: Any, graphs: Any) -> dict[str, Any]:
        """The mean size of the training graphs, if products are divided by it."""
        return {"mean_nodes": max(1.0, graphs.mean_nodes)} if settings["scaled"] else {}

    @property
    def cannot_export(self) -> str:
        """Why it cannot be a program of its own: the sizes of graphs say which products there are."""
        return "ppgn cannot be exported, as it multiplies graphs of equal size together, and a program cannot ask for sizes"

    def forward_tensors(self, tensors: Mapping[str, Tensor]) -> Tensor:
        """Predictions from plain tensors by name, those that `reads` lists."""
        pairs = Pairs(tensors["ptr"])
        squares = pairs.equal_sizes()
        diagonal = pairs.diagonal  # (N,)
        z = self._start(tensors, pairs, diagonal)  # (P, channels)
        rounds = []
        for block in self.blocks:
            z = block(z, pairs, squares)  # (P, hidden)
            rounds.append(z)
        read = rounds[-len(self.heads) :]
        vectors = [self._vectors(z, tensors, pairs, diagonal) for z in read]  # (rows, 2 hidden) each
        out: Tensor = self.heads[0](vectors[0])  # (rows, out_channels)
        for head, one in zip(self.heads[1:], vectors[1:], strict=True):
            out = out + head(one)
        return out

    def _start(self, tensors: Mapping[str, Tensor], pairs: Pairs, diagonal: Tensor) -> Tensor:
        edge_index = tensors["edge_index"]
        first = self.blocks[0]
        assert isinstance(first, Block)
        like = first.skip.weight
        adjacent = pairs.adjacency(edge_index, tensors["batch"], like.dtype)  # (P, 1)
        own = self.node_channels(tensors.get("x"), diagonal.numel(), like)  # (N, channels)
        channels = [adjacent, like.new_zeros(pairs.rows, own.size(1)).index_copy(0, diagonal, own)]
        if self.edge_channels is not None:
            edge = self.edge_channels(tensors["edge_attr"], edge_index.size(1), like)  # (E, channels)
            places = pairs.of_edges(edge_index, tensors["batch"])  # (E,)
            channels.append(like.new_zeros(pairs.rows, edge.size(1)).index_add(0, places, edge))
        return torch.cat(channels, 1)

    def _vectors(self, z: Tensor, tensors: Mapping[str, Tensor], pairs: Pairs, diagonal: Tensor) -> Tensor:
        """What is read of graphs, nodes or edges, (rows, 2 hidden)."""
        level = self.settings["level"]
        if level == "edge":
            there = pairs.of_edges(tensors["edge_index"], tensors["batch"])  # (E,)
            back = pairs.of_edges(tensors["edge_index"].flip(0), tensors["batch"])
            return torch.cat([z[there], z[back]], 1)
        own = z[diagonal]  # (N, hidden)
        if level == "node":
            sums = torch.zeros_like(own).index_add(0, pairs.first, z).index_add(0, pairs.second, z)
            return torch.cat([own, sums - 2 * own], 1)
        other = torch.ones(pairs.rows, dtype=torch.bool, device=z.device)
        other[diagonal] = False
        graphs = pairs.size.numel()
        how = self.settings["pool"]
        rest = pooled(z[other], pairs.graph[other], graphs, how)  # (G, hidden)
        return torch.cat([pooled(own, tensors["batch"], graphs, how), rest], 1)


class Block(nn.Module):
    """One block, from (P, inputs) to (P, channels)."""

    def __init__(self, inputs: int, channels: int, scale: float, relu: bool) -> None:
        super().__init__()
        self.scale = scale
        self.left = _perceptron(inputs, [channels, channels])
        self.right = _perceptron(inputs, [channels, channels])
        self.skip = nn.Linear(inputs + channels, channels)
        self.relu = nn.ReLU() if relu else nn.Identity()
        for one in self.modules():
            if isinstance(one, nn.Linear):
                nn.init.xavier_uniform_(one.weight)
                nn.init.zeros_(one.bias)

    def forward(self, z: Tensor, pairs: Pairs, squares: list[Tensor]) -> Tensor:
        """New vectors of all pairs."""
        product = pairs.product(self.left(z), self.right(z), squares) * self.scale  # (P, channels)
        out: Tensor = self.relu(self.skip(torch.cat([z, product], 1)))  # (P, channels)
        return out


def _perceptron(inputs: int, widths: list[int], outputs: int | None = None) -> nn.Sequential:
    """Linear maps, each followed by a rectifier, but for the one to ``outputs``."""
    layers: list[nn.Module] = []
    for width in widths:
        layers += [nn.Linear(inputs, width), nn.ReLU()]
        inputs = width
    if outputs is not None:
        layers.append(nn.Linear(inputs, outputs))
    return nn.Sequential(*layers)
