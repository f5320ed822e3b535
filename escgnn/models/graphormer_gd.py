"""Graphormer-GD: attention between all nodes, weighed by functions of their distances.

Zhang et al., Rethinking the Expressive Power of GNNs via Graph Biconnectivity, ICLR 2023.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional
from torch_geometric.utils import softmax

from escgnn.layers import FeatureEncoder
from escgnn.models.frame import Frame, check_shared
from escgnn.models.pairs import Pairs

READOUTS = ("token", "sum", "mean")
LEAST_WIDTH = 1e-2  # of a Gaussian; recalled from the authors' code
APART = 255  # steps between nodes of different components


class GraphormerGD(Frame):
    r"""Attention that distances multiply after the softmax, and add to before it; D are steps and resistances.

    .. math::
        Y_h = \big[\phi^1_h(D) \odot \mathrm{softmax}\big(X Q_h (X K_h)^\top / \sqrt{d} + \phi^2_h(D)\big)\big] X V_h

    As rows need not add up to 1, it can do what colour refinement by distances does: a node's new colour is the multiset of
    distances and colours of all nodes. Features of edges are added to :math:`\phi^2` of the two nodes that they join. (The
    authors add those along one shortest path, which depends on the numbering wherever there are two.)

    :math:`\phi` is a table over steps plus a perceptron of Gaussian kernels of :math:`a r + b`, r the resistance and a, b of
    the features of both nodes; nodes of different components have no kernels. All layers share :math:`\phi^1` and
    :math:`\phi^2`. Nodes start with their features and their degree.

    Args:
        out_channels: Numbers to predict for every graph, node or edge.
        distances: Which of ``"steps"`` and ``"resistance"``: ``transform.distances``.
        node_features: What ``x`` holds, as for `escgnn.models.ESCGNN`.
        edge_features: What ``edge_attr`` holds.
        level: Whether to predict for every ``"graph"``, ``"node"`` or ``"edge"``.
        hidden: Size of all vectors.
        layers: Number of blocks.
        heads: Attention heads, a divisor of ``hidden``.
        feed_forward: Size inside the perceptron of each block; that of vectors if None.
        kernels: Gaussians of the resistance.
        max_steps: The last entry of the table of steps, for all that are further away.
        max_degree: The last entry of the table of degrees, for all larger ones.
        readout: What a graph is: its ``"token"``, a further node, as in the paper, or the ``"sum"`` or ``"mean"`` of its nodes;
            there is no token then. Nor is there one for other levels.
        dropout: Share dropped of attention weights, of what is inside perceptrons and of what blocks add.

    Shapes:
        A batch to (graphs, out_channels), (nodes, out_channels) or (edges, out_channels).
    """

    def __init__(
        self,
        out_channels: int,
        *,
        distances: Sequence[str] = ("steps", "resistance"),
        node_features: Mapping[str, Any] | None = None,
        edge_features: Mapping[str, Any] | None = None,
        level: str = "graph",
        hidden: int = 80,
        layers: int = 12,
        heads: int = 8,
        feed_forward: int | None = None,
        kernels: int = 128,
        max_steps: int = 40,
        max_degree: int = 64,
        readout: str = "token",
        dropout: float = 0.0,
    ) -> None:
        super().__init__(locals())
        self.check(self.settings)
        self.level = level
        self.readout = readout
        self.position = None
        self.add_features(hidden)
        self.edges = FeatureEncoder(**edge_features, channels=heads) if edge_features else None
        self.degree = nn.Embedding(max_degree + 1, hidden)
        self.norm = nn.LayerNorm(hidden)
        factors = [
            DistanceFactor(distances, heads, kernels, max_steps, node_features),
            DistanceFactor(distances, heads, kernels, max_steps, node_features),
        ]
        self.factors = nn.ModuleList(factors)  # phi1 and phi2
        has_token = level == "graph" and readout == "token"
        self.token = nn.Parameter(torch.randn(1, hidden)) if has_token else None
        self.token_factors = nn.Parameter(torch.randn(2, heads)) if has_token else None
        inside = feed_forward or hidden
        self.layers = nn.ModuleList(GDLayer(hidden, heads, inside, dropout) for _ in range(layers))
        width = 2 * hidden if level == "edge" else hidden
        self.head = nn.Sequential(
            nn.Linear(width, hidden), nn.GELU(), nn.LayerNorm(hidden), nn.Linear(hidden, out_channels)
        )

    @classmethod
    def check(cls, settings: Mapping[str, Any]) -> None:
        """Refuse values that mean nothing."""
        check_shared(settings, {"readout": READOUTS})
        if settings["hidden"] % settings["heads"]:
            raise ValueError(f"heads: {settings['heads']}; expected a divisor of hidden, which is {settings['hidden']}")

    @property
    def reads(self) -> frozenset[str]:
        """The attributes of a batch that the network reads."""
        return super().reads | {f"pair_{name}" for name in self.settings["distances"]}

    def forward_tensors(self, tensors: Mapping[str, Tensor]) -> Tensor:
        """Predictions from plain tensors by name, those that `reads` lists."""
        batch = tensors["batch"]
        edge_index = tensors["edge_index"]
        num_graphs = tensors["ptr"].numel() - 1
        rows = tensors[f"pair_{self.settings['distances'][0]}"].size(0)
        pairs = Pairs(tensors["ptr"], rows)
        phi1 = self.factors[0](tensors, pairs)  # (P, heads)
        phi2 = self.factors[1](tensors, pairs)  # (P, heads)
        if self.edges is not None:
            edge = self.edges(tensors["edge_attr"], edge_index.size(1))  # (E, heads)
            phi2 = phi2.index_add(0, pairs.of_edges(edge_index, batch), edge)
        degree = torch.zeros_like(batch).index_add(0, edge_index[1], torch.ones_like(edge_index[1]))  # (N,)
        h = self.node_vectors(tensors) + self.degree(degree.clamp_max(self.settings["max_degree"]))  # (N, hidden)
        receiver, sender = pairs.first, pairs.second
        if self.token is not None and self.token_factors is not None:
            nodes = torch.arange(batch.numel(), device=batch.device)  # (N,)
            tokens = torch.arange(num_graphs, device=batch.device) + batch.numel()  # (G,)
            receiver = torch.cat([receiver, nodes, tokens[batch], tokens])  # (P + 2 N + G,)
            sender = torch.cat([sender, tokens[batch], nodes, tokens])
            own = self.token_factors.unsqueeze(1).expand(-1, 2 * batch.numel() + num_graphs, -1)
            phi1 = torch.cat([phi1, own[0]])  # (P + 2 N + G, heads)
            phi2 = torch.cat([phi2, own[1]])
            h = torch.cat([h, self.token.expand(num_graphs, -1)])  # (N + G, hidden)
        h = self.norm(h)
        for layer in self.layers:
            h = layer(h, receiver, sender, phi1, phi2)  # (N or N + G, hidden)
        if self.level == "graph":
            h = self._graphs(h, batch, num_graphs)  # (G, hidden)
        elif self.level == "edge":
            h = torch.cat([h[edge_index[0]], h[edge_index[1]]], 1)  # (E, 2 hidden)
        out: Tensor = self.head(h)  # (rows, out_channels)
        return out

    def _graphs(self, h: Tensor, batch: Tensor, num_graphs: int) -> Tensor:
        if self.readout == "token":
            return h[batch.numel() :]
        sums = h.new_zeros(num_graphs, h.size(1)).index_add(0, batch, h)  # (G, hidden)
        if self.readout == "sum":
            return sums
        sizes = h.new_zeros(num_graphs).index_add(0, batch, h.new_ones(h.size(0)))  # (G,)
        return sums / sizes.clamp_min(1).unsqueeze(1)


class DistanceFactor(nn.Module):
    r"""A function of distances, :math:`\phi`: a number for every pair and head, (P, heads)."""

    def __init__(
        self,
        distances: Sequence[str],
        heads: int,
        kernels: int,
        max_steps: int,
        node_features: Mapping[str, Any] | None,
    ) -> None:
        super().__init__()
        self.max_steps = max_steps
        self.steps = nn.Embedding(max_steps + 2, heads) if "steps" in distances else None  # the last one: no way
        self.resists = "resistance" in distances
        if self.resists:
            self.means = nn.Parameter(torch.rand(kernels) * 3)
            self.widths = nn.Parameter(torch.rand(kernels) * 3)
            self.line = nn.Parameter(torch.tensor([1.0, 0.0]))  # a and b
            self.ends = FeatureEncoder(**node_features, channels=2) if node_features else None
            if self.ends is not None:
                nn.init.zeros_(self.ends.weight)
            self.mlp = nn.Sequential(nn.Linear(kernels, kernels), nn.GELU(), nn.Linear(kernels, heads))

    def forward(self, tensors: Mapping[str, Tensor], pairs: Pairs) -> Tensor:
        """Numbers of all pairs."""
        parts: list[Tensor] = []
        if self.steps is not None:
            steps = tensors["pair_steps"].long()  # (P,)
            places = torch.where(steps == APART, self.max_steps + 1, steps.clamp_max(self.max_steps))
            parts.append(self.steps(places))  # (P, heads)
        if self.resists:
            parts.append(self.mlp(self._kernels(tensors, pairs)))
        return parts[0] if len(parts) == 1 else parts[0] + parts[1]

    def _kernels(self, tensors: Mapping[str, Tensor], pairs: Pairs) -> Tensor:
        """Gaussians of resistances, (P, kernels), all zero where there is no way."""
        resistance = tensors["pair_resistance"].to(self.means.dtype)  # (P,)
        is_joined = resistance.isfinite()
        resistance = torch.where(is_joined, resistance, 0)
        slope, shift = self.line[0], self.line[1]
        if self.ends is not None:
            own = self.ends(tensors["x"], tensors["batch"].numel())  # (N, 2)
            both = own[pairs.first] + own[pairs.second]  # (P, 2)
            slope = slope + both[:, 0]
            shift = shift + both[:, 1]
        value = (slope * resistance + shift).unsqueeze(1)  # (P, 1)
        width = self.widths.abs() + LEAST_WIDTH  # (kernels,)
        bells = torch.exp(-0.5 * ((value - self.means) / width).square()) / (2.5066 * width)  # (P, kernels)
        return bells * is_joined.unsqueeze(1)


class DistanceAttention(nn.Module):
    """The formula of `GraphormerGD` on rows for pairs, (N, channels) to (N, channels)."""

    def __init__(self, channels: int, heads: int, dropout: float = 0.0) -> None:
        super().__init__()
        self.heads = heads
        self.dropout = dropout
        self.query = nn.Linear(channels, channels)
        # a bias of all keys would add the same to all that a softmax compares
        self.key = nn.Linear(channels, channels, bias=False)
        self.value = nn.Linear(channels, channels)
        self.out = nn.Linear(channels, channels)

    def forward(self, h: Tensor, receiver: Tensor, sender: Tensor, phi1: Tensor, phi2: Tensor) -> Tensor:
        """What every node hears.

        Args:
            h: Vectors of nodes, (N, channels).
            receiver: For each pair, the node that hears, (P,).
            sender: The node that is heard, (P,).
            phi1: What weights are multiplied with after the softmax, (P, heads).
            phi2: What is added before it, (P, heads).
        """
        shape = (h.size(0), self.heads, h.size(1) // self.heads)
        query, key, value = (part(h).view(shape) for part in (self.query, self.key, self.value))  # (N, heads, d) each
        match = (query[receiver] * key[sender]).sum(2) / shape[2] ** 0.5  # (P, heads)
        weight = softmax(match + phi2, receiver, num_nodes=shape[0])  # (P, heads)
        weight = functional.dropout(weight, self.dropout, self.training) * phi1
        heard = h.new_zeros(shape).index_add(0, receiver, weight.unsqueeze(2) * value[sender])  # (N, heads, d)
        out: Tensor = self.out(heard.reshape(h.shape))  # (N, channels)
        return out


class GDLayer(nn.Module):
    """Attention and a perceptron, each added to what came in and then normalised, (N, channels) to (N, channels)."""

    def __init__(self, channels: int, heads: int, inside: int, dropout: float) -> None:
        super().__init__()
        self.dropout = dropout
        self.attention = DistanceAttention(channels, heads, dropout)
        self.attention_norm = nn.LayerNorm(channels)
        self.mlp = nn.Sequential(
            nn.Linear(channels, inside), nn.GELU(), nn.Dropout(dropout), nn.Linear(inside, channels)
        )
        self.norm = nn.LayerNorm(channels)

    def forward(self, h: Tensor, receiver: Tensor, sender: Tensor, phi1: Tensor, phi2: Tensor) -> Tensor:
        """New vectors of all nodes."""
        heard = self.attention(h, receiver, sender, phi1, phi2)  # (N, channels)
        h = self.attention_norm(h + functional.dropout(heard, self.dropout, self.training))
        out: Tensor = self.norm(h + functional.dropout(self.mlp(h), self.dropout, self.training))
        return out
