"""Ways to pass messages, by name: what a layer does with the vectors of nodes, edge features and structure."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional
from torch_geometric.nn import GPSConv, PNAConv, ResGatedGraphConv

from escgnn.layers import NORMS, perceptron
from escgnn.models.towers import AGGREGATORS, SCALERS, DegreeScaled, TowerLayer

MOLECULE_DEGREES = (0, 20, 45, 30, 5)  # roughly, atoms of a drug by number of bonds

PYG_NORMS: dict[str, tuple[str | None, dict[str, Any]]] = {
    "batch": ("batch_norm", {"allow_single_element": True}),
    "layer": ("layer_norm", {"mode": "node"}),
    "none": (None, {}),
}


@dataclass(frozen=True)
class Shape:
    """What a layer is built from; `escgnn.models.ESCGNN` says what it means."""

    channels: int
    edge_channels: int | None
    norm: str
    dropout: float
    residual: bool
    heads: int
    degrees: Sequence[int] | None


class GINE(nn.Module):
    r""":math:`\mathrm{MLP}(h_v + \sum_u \mathrm{ReLU}(h_u + e_{uv} + s_{uv}))`.

    Hu et al., Strategies for Pre-training Graph Neural Networks, ICLR 2020.
    """

    def __init__(self, channels: int, norm: str) -> None:
        super().__init__()
        self.mlp = perceptron(channels, channels, channels, norm, bias=norm != "batch")

    def forward(self, h: Tensor, edge_index: Tensor, edge: Tensor | None) -> Tensor:
        """New vectors of all nodes."""
        messages = h.index_select(0, edge_index[0])  # (E, channels)
        if edge is not None:
            messages = messages.add_(edge)  # in place, as these are the largest tensors
        received = h.index_add(0, edge_index[1], messages.relu_())  # (N, channels), with the node itself
        out: Tensor = self.mlp(received)  # (N, channels)
        return out


class FullMessage(nn.Module):
    r""":math:`W_1(h_v, \sum_u W_2(h_u, h_v, e_{uv}, s_{uv}))` with perceptrons: Eq. `eq:ESC-GNN` as it stands.

    The last linear map of :math:`W_2` may as well follow the sum; there it is part of the first one of :math:`W_1`.
    """

    def __init__(self, shape: Shape) -> None:
        super().__init__()
        channels = shape.channels
        self.sender = nn.Linear(channels, channels, bias=False)
        self.receiver = nn.Linear(channels, channels)
        self.edge = nn.Linear(shape.edge_channels, channels, bias=False) if shape.edge_channels else None
        self.update = perceptron(2 * channels, channels, channels, shape.norm, bias=shape.norm != "batch")

    def forward(self, h: Tensor, edge_index: Tensor, edge: Tensor | None) -> Tensor:
        """New vectors of all nodes."""
        sent = self.sender(h).index_select(0, edge_index[0])  # (E, channels)
        messages = sent.add_(self.receiver(h).index_select(0, edge_index[1]))
        if self.edge is not None:
            messages = messages.add_(self.edge(edge))
        received = messages.new_zeros(h.shape).index_add(0, edge_index[1], messages.relu_())  # (N, channels)
        out: Tensor = self.update(torch.cat([h, received], 1))  # (N, channels)
        return out


class LocalLayer(nn.Module):
    """A convolution, then normalisation, rectifier and dropout; with ``residual`` added to what came in."""

    def __init__(self, conv: Any, shape: Shape) -> None:
        super().__init__()
        self.conv = conv
        self.norm = NORMS[shape.norm](shape.channels)
        self.dropout = shape.dropout
        self.residual = shape.residual

    def forward(self, h: Tensor, edge_index: Tensor, edge: Tensor | None, batch: Tensor) -> Tensor:
        """New vectors of all nodes."""
        out: Tensor = self.norm(self.conv(h, edge_index, edge)).relu()  # (N, channels)
        out = functional.dropout(out, self.dropout, self.training)
        return h + out if self.residual else out


class GPSLayer(nn.Module):
    """GINE beside attention between all nodes of a graph.

    Rampášek et al., Recipe for a General, Powerful, Scalable Graph Transformer, NeurIPS 2022.
    """

    def __init__(self, shape: Shape) -> None:
        super().__init__()
        norm, options = PYG_NORMS[shape.norm]
        conv = GINE(shape.channels, shape.norm)
        self.conv = GPSConv(shape.channels, conv, shape.heads, dropout=shape.dropout, norm=norm, norm_kwargs=options)

    def forward(self, h: Tensor, edge_index: Tensor, edge: Tensor | None, batch: Tensor) -> Tensor:
        """New vectors of all nodes."""
        if batch.numel() == 0:
            return h
        _, number = torch.unique_consecutive(batch, return_inverse=True)  # attention in an empty graph is not a number
        out: Tensor = self.conv(h, edge_index, number, edge=edge)
        return out


def _gin(shape: Shape) -> nn.Module:
    return LocalLayer(GINE(shape.channels, shape.norm), shape)


def _mpnn(shape: Shape) -> nn.Module:
    return LocalLayer(FullMessage(shape), shape)


def _pna(shape: Shape) -> nn.Module:
    """Corso et al., Principal Neighbourhood Aggregation for Graph Nets, NeurIPS 2020."""
    aggregators = ["sum", "mean", "min", "max", "std"]
    scalers = ["identity", "amplification", "attenuation"]
    degrees = shape.degrees or MOLECULE_DEGREES
    if not any(degrees[1:]):  # graphs without edges, by whose mean degree PyG would divide
        degrees = MOLECULE_DEGREES
    counts = torch.tensor(degrees)
    conv = PNAConv(shape.channels, shape.channels, aggregators, scalers, counts, shape.edge_channels)
    return LocalLayer(conv, shape)


def _pna_towers(shape: Shape) -> nn.Module:
    """The authors' form of the same, with as many towers as ``heads``; norms and residuals are those of all backbones."""
    aggregation = DegreeScaled(AGGREGATORS, SCALERS, shape.degrees or MOLECULE_DEGREES)
    return LocalLayer(TowerLayer(shape.channels, shape.channels, shape.edge_channels, shape.heads, aggregation), shape)


def _gatedgcn(shape: Shape) -> nn.Module:
    """Bresson and Laurent, Residual Gated Graph ConvNets, 2017."""
    return LocalLayer(ResGatedGraphConv(shape.channels, shape.channels, edge_dim=shape.edge_channels), shape)


class Backbone(NamedTuple):
    """How a layer is made, and whether it takes an edge's features and structure as a sum or side by side."""

    layer: Callable[[Shape], nn.Module]
    join: Literal["sum", "concat"]


BACKBONES = {
    "gin": Backbone(_gin, "sum"),
    "mpnn": Backbone(_mpnn, "concat"),
    "gps": Backbone(GPSLayer, "sum"),
    "pna": Backbone(_pna, "concat"),
    "pna-towers": Backbone(_pna_towers, "concat"),
    "gatedgcn": Backbone(_gatedgcn, "concat"),
}
