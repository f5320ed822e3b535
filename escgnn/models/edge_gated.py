"""GatedGCN with a state of edges, which LGP-GNN and GraphGPS share."""

import torch
from torch import Tensor, nn
from torch.nn import functional

from escgnn.layers import NORMS


class EdgeGatedLayer(nn.Module):
    """GatedGCN with a state of edges: from (N, channels), (E, channels) to the same.

    Bresson and Laurent, Residual Gated Graph ConvNets, 2017; Dwivedi et al., Benchmarking Graph Neural Networks, JMLR 2023.

    Args:
        channels: Size of all vectors.
        norm: ``"batch"``, ``"layer"`` or ``"none"``.
        dropout: Share of values dropped.
        keep_edges: Whether there is a new state of edges; without it they stay as they are.
    """

    def __init__(self, channels: int, norm: str, dropout: float, *, keep_edges: bool = True) -> None:
        super().__init__()
        self.dropout = dropout
        self.sender = nn.Linear(channels, channels)
        self.receiver = nn.Linear(channels, channels)
        self.edge = nn.Linear(channels, channels)
        self.own = nn.Linear(channels, channels)
        self.value = nn.Linear(channels, channels)
        self.norm = NORMS[norm](channels)
        self.edge_norm = NORMS[norm](channels) if keep_edges else None

    def forward(self, h: Tensor, edge: Tensor, edge_index: Tensor) -> tuple[Tensor, Tensor]:
        """New vectors of all nodes and edges."""
        source, target = edge_index[0], edge_index[1]
        joint = self.sender(h)[source] + self.receiver(h)[target] + self.edge(edge)  # (E, channels)
        gate = joint.sigmoid()
        heard = torch.zeros_like(h).index_add(0, target, gate * self.value(h)[source])  # (N, channels)
        gates = torch.zeros_like(h).index_add(0, target, gate)
        new = self.norm(self.own(h) + heard / (gates + 1e-6)).relu()
        h = h + functional.dropout(new, self.dropout, self.training)
        if self.edge_norm is not None:
            edge = edge + functional.dropout(self.edge_norm(joint).relu(), self.dropout, self.training)
        return h, edge
