"""OGB's GIN, without and with a virtual node: the baselines of its leaderboards.

Hu et al., Open Graph Benchmark: Datasets for Machine Learning on Graphs, NeurIPS 2020; Xu et al., How Powerful are Graph Neural
Networks?, ICLR 2019.
"""

from collections.abc import Iterable, Mapping
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from escgnn.layers import NORMS, FeatureEncoder
from escgnn.models.frame import Frame, check_shared
from escgnn.models.heads import one_layer, wide_perceptron
from escgnn.models.normed_structure import NormedStructure, check_structure, fit_structures


class OGBGIN(Frame):
    r"""GIN with bonds embedded anew in every layer, parameter for parameter as OGB has it: 1,885,206 on ogbg-molhiv then.

    .. math::
        h_v' = \mathrm{ReLU}\Big(\mathrm{norm}\Big(\mathrm{MLP}\Big((1 + \epsilon) h_v +
        \sum_{u \in N(v)} \mathrm{ReLU}(h_u + e_{uv})\Big)\Big)\Big)

    The last layer has no rectifier. A virtual node, which begins at zero, is added to all nodes before a layer, and becomes
    :math:`\mathrm{MLP}(g + \sum_v h_v)` after it, of the vectors that went into the layer: 3,336,306 parameters then. (Today's
    OGB has one chirality more, and so one row of embeddings.)

    With ``num_bins`` it is the backbone that ESC-GNN's authors have on ogbg-molhiv: an embedding of the structure that all layers
    share, through a linear map in each.

    Args:
        out_channels: Numbers to predict for every graph, node or edge.
        num_bins: Bins of the structural encoding; None for none.
        node_features: What ``x`` holds, as for `escgnn.models.ESCGNN`.
        edge_features: What ``edge_attr`` holds.
        level: Whether to predict for every ``"graph"``, ``"node"`` or ``"edge"``.
        hidden: Size of all vectors.
        layers: Number of rounds.
        virtual_node: Whether there is one.
        norm: ``"batch"``, ``"layer"`` or ``"none"``.
        dropout: Share of values dropped after every round.
        pool: How nodes make a graph: ``"mean"``, as in OGB's runs, ``"sum"`` or ``"attention"``.
        structure_scale: Whether counts of the structural encoding are ``"fitted"`` or taken as they are, ``"none"``.

    Shapes:
        A batch to (graphs, out_channels), (nodes, out_channels) or (edges, out_channels).
    """

    def __init__(
        self,
        out_channels: int,
        *,
        num_bins: int | None = None,
        node_features: Mapping[str, Any] | None = None,
        edge_features: Mapping[str, Any] | None = None,
        level: str = "graph",
        hidden: int = 300,
        layers: int = 5,
        virtual_node: bool = False,
        norm: str = "batch",
        dropout: float = 0.5,
        pool: str = "mean",
        structure_scale: str = "fitted",
    ) -> None:
        super().__init__(locals())
        self.check(self.settings)
        self.dropout = dropout
        self.position = None
        self.add_features(hidden)
        start_as_ogb(self.nodes)
        if level != "edge":
            self.edges = None  # layers have their own
        self.structure = None
        if num_bins is not None:
            self.structure = NormedStructure(num_bins, hidden, nn.ReLU, norm, dropout, structure_scale)
        has_structure = num_bins is not None
        self.layers = nn.ModuleList(OGBLayer(hidden, norm, edge_features, has_structure) for _ in range(layers))
        self.norms = nn.ModuleList(NORMS[norm](hidden) for _ in range(layers))
        self.virtual = nn.Parameter(torch.zeros(1, hidden)) if virtual_node else None
        exchanges = layers - 1 if virtual_node else 0
        self.exchanges = nn.ModuleList(wide_perceptron(hidden, norm, last=True) for _ in range(exchanges))
        self.add_read_out(hidden, hidden if self.edges is not None else 0, hidden)

    def make_head(self, inputs: int, hidden: int, outputs: int) -> nn.Module:
        """OGB's linear map."""
        return one_layer(inputs, outputs)

    @classmethod
    def check(cls, settings: Mapping[str, Any]) -> None:
        """Refuse values that mean nothing."""
        check_shared(settings)
        check_structure(settings)

    @property
    def reads(self) -> frozenset[str]:
        """The attributes of a batch that the network reads."""
        return super().reads | (NormedStructure.reads if self.structure is not None else set())

    def prepare(self, training: Iterable[Any], validation: Iterable[Any], transform: Any) -> None:
        """Fit the scale of the structure, if there is one."""
        super().prepare(training, validation, transform)
        if self.structure is not None:
            fit_structures([self.structure], training)

    def forward_tensors(self, tensors: Mapping[str, Tensor]) -> Tensor:
        """Predictions from plain tensors by name, those that `reads` lists."""
        edge_index = tensors["edge_index"]
        batch = tensors["batch"]
        num_graphs = tensors["ptr"].numel() - 1
        structure = self.structure(tensors) if self.structure is not None else None  # (E, hidden)
        h = self.node_vectors(tensors)  # (N, hidden)
        virtual = self.virtual.expand(num_graphs, -1) if self.virtual is not None else None  # (G, hidden)
        for i, layer in enumerate(self.layers):
            if virtual is not None:
                h = h + virtual.index_select(0, batch)  # (N, hidden)
            new = self.norms[i](layer(h, edge_index, tensors.get("edge_attr"), structure))  # (N, hidden)
            if i + 1 < len(self.layers):
                new = new.relu()
            if virtual is not None and i < len(self.exchanges):
                heard = virtual.index_add(0, batch, h)  # (G, hidden)
                virtual = functional.dropout(self.exchanges[i](heard), self.dropout, self.training)  # (G, hidden)
            h = functional.dropout(new, self.dropout, self.training)
        return self._read_out(h, edge_index, self.edge_vectors(tensors), batch, num_graphs)


class OGBLayer(nn.Module):
    """The convolution of `OGBGIN`, (N, channels) to (N, channels)."""

    def __init__(self, channels: int, norm: str, edge_features: Mapping[str, Any] | None, has_structure: bool) -> None:
        super().__init__()
        self.edges = FeatureEncoder(**edge_features, channels=channels) if edge_features else None
        if self.edges is not None:
            start_as_ogb(self.edges)
        self.structure = nn.Linear(channels, channels) if has_structure else None
        self.epsilon = nn.Parameter(torch.zeros(1))
        self.mlp = wide_perceptron(channels, norm)

    def forward(self, h: Tensor, edge_index: Tensor, edge_attr: Tensor | None, structure: Tensor | None) -> Tensor:
        """New vectors of all nodes."""
        messages = h.index_select(0, edge_index[0])  # (E, channels)
        if self.edges is not None and edge_attr is not None:
            messages = messages + self.edges(edge_attr, edge_attr.size(0))
        if self.structure is not None and structure is not None:
            messages = messages + self.structure(structure)
        kept = (1 + self.epsilon) * h  # (N, channels)
        received = kept.index_add(0, edge_index[1], messages.relu())  # (N, channels)
        out: Tensor = self.mlp(received)  # (N, channels)
        return out


def start_as_ogb(encoder: FeatureEncoder) -> None:
    """Draw embeddings as OGB does, smaller ones where a column has more categories; those of other features stay."""
    if encoder.kind == "categorical":
        for table in torch.split(encoder.weight.data, encoder.sizes.tolist()):
            nn.init.xavier_uniform_(table)
