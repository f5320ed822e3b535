"""GSN: message passing that is told how many copies of chosen patterns go through every node or edge.

Bouritsas et al., Improving Graph Neural Network Expressivity via Subgraph Isomorphism Counting, TPAMI 2022.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from escgnn.counting import per_orbit
from escgnn.layers import NORMS, FeatureEncoder
from escgnn.models.frame import Frame, check_shared
from escgnn.models.heads import one_layer, wide_perceptron

VARIANTS = ("general", "gine")


class GSN(Frame):
    r"""Messages that see exact counts: :math:`x_v` of nodes, or :math:`x_{uv}` of edges, a number for each orbit of each pattern.

    .. math::
        m_v = \sum_{u \in N(v)} \mathrm{MLP}(h_v, h_u, x_v, x_u, e_{uv}), \quad h_v' = \mathrm{MLP}(h_v, m_v)

    with :math:`x_{uv}` in place of :math:`x_v, x_u` where edges are counted. Counts are one-hot over the values that training
    graphs have. The authors take the values of all graphs, test graphs included; here a value that no training graph had is taken
    for the next smaller one, so that the last bin is open. The paper's formula has counts in every layer; in the authors' runs
    the first alone sees them, which is the default here.

    On a benchmark that asks for these very counts it is given the answers.

    Args:
        out_channels: Numbers to predict for every graph, node or edge.
        vocabulary: Values of each column of ``pattern_count``, ascending; measured on training graphs.
        patterns: Whose copies were counted, ``transform.patterns``.
        per: Whether for each ``"node"`` or ``"edge"``, ``transform.per``.
        induced: Whether only induced copies, ``transform.induced``.
        node_features: What ``x`` holds, as for `escgnn.models.ESCGNN`.
        edge_features: What ``edge_attr`` holds.
        level: Whether to predict for every ``"graph"``, ``"node"`` or ``"edge"``.
        hidden: Size of all vectors.
        layers: Number of rounds.
        variant: ``"general"``: the formula above. ``"gine"``: the authors' network on ogbg-molhiv, OGB's GIN with embedded counts
            added to messages (of the sender, if nodes are counted), in which the last round has no rectifier.
        every_layer: Whether all rounds see the counts, or the first.
        virtual_node: Whether a further node of each graph hears from and sends to all others between rounds, as OGB has it.
        norm: ``"batch"``, ``"layer"`` or ``"none"``.
        dropout: Share of values dropped after every round.
        pool: How nodes make a graph: ``"sum"``, ``"mean"`` or ``"attention"``.
        linear_head: Whether a linear map reads out, as OGB has it, and not two layers.

    Shapes:
        A batch to (graphs, out_channels), (nodes, out_channels) or (edges, out_channels).
    """

    measures = ("vocabulary",)
    values: Tensor

    def __init__(
        self,
        out_channels: int,
        vocabulary: Sequence[Sequence[int]],
        *,
        patterns: Sequence[str] = ("3-cycle", "4-cycle", "5-cycle", "6-cycle"),
        per: str = "node",
        induced: bool = False,
        node_features: Mapping[str, Any] | None = None,
        edge_features: Mapping[str, Any] | None = None,
        level: str = "graph",
        hidden: int = 64,
        layers: int = 4,
        variant: str = "general",
        every_layer: bool = False,
        virtual_node: bool = False,
        norm: str = "batch",
        dropout: float = 0.0,
        pool: str = "sum",
        linear_head: bool = False,
    ) -> None:
        super().__init__(locals())
        self.check(self.settings)
        self.dropout = dropout
        self.add_features(hidden)
        self.position = None
        if level != "edge":
            self.edges = None  # layers have their own
        sizes = [len(values) for values in vocabulary]
        padded = torch.full((len(sizes), max(sizes, default=1)), torch.iinfo(torch.int64).max)
        for row, values in zip(padded, vocabulary, strict=True):
            row[: len(values)] = torch.tensor(values)
        self.register_buffer("values", padded, persistent=False)  # (columns, most values)
        self.layers = nn.ModuleList()
        self.norms = nn.ModuleList()
        layer = GeneralLayer if variant == "general" else GINELayer
        for i in range(layers):
            seen = sizes if i == 0 or every_layer else []
            self.layers.append(layer(hidden, norm, edge_features, seen, per))
            self.norms.append(NORMS[norm](hidden))
        self.virtual = nn.Parameter(torch.zeros(1, hidden)) if virtual_node else None
        exchanges = layers - 1 if virtual_node else 0
        self.exchanges = nn.ModuleList(wide_perceptron(hidden, norm, last=True) for _ in range(exchanges))
        self.add_read_out(hidden, hidden if self.edges is not None else 0, hidden)

    def make_head(self, inputs: int, hidden: int, outputs: int) -> nn.Module:
        """OGB's linear map, or two layers."""
        return (
            one_layer(inputs, outputs) if self.settings["linear_head"] else super().make_head(inputs, hidden, outputs)
        )

    @classmethod
    def check(cls, settings: Mapping[str, Any]) -> None:
        """Refuse values that mean nothing."""
        check_shared(settings, {"variant": VARIANTS, "per": ("node", "edge")})

    @classmethod
    def measure(cls, settings: Mapping[str, Any], task: Any, graphs: Any) -> dict[str, Any]:
        """The values that counts have in the training graphs."""
        counts = per_orbit(graphs.view(), settings["patterns"], per=settings["per"], induced=settings["induced"])
        return {"vocabulary": [np.unique(column).tolist() or [0] for column in counts.T]}

    @property
    def reads(self) -> frozenset[str]:
        """The attributes of a batch that the network reads."""
        return super().reads | {"pattern_count"}

    def places(self, counts: Tensor) -> Tensor:
        """Which value of the vocabulary each count is, the next smaller one if it is none of them, (rows, columns)."""
        found = torch.searchsorted(self.values, counts.T.contiguous(), right=True)  # (columns, rows)
        return (found - 1).clamp_min(0).T

    def forward_tensors(self, tensors: Mapping[str, Tensor]) -> Tensor:
        """Predictions from plain tensors by name, those that `reads` lists."""
        edge_index = tensors["edge_index"]
        batch = tensors["batch"]
        num_graphs = tensors["ptr"].numel() - 1
        h = self.node_vectors(tensors)  # (N, hidden)
        places = self.places(tensors["pattern_count"])  # (N or E, columns)
        virtual = self.virtual.expand(num_graphs, -1) if self.virtual is not None else None  # (G, hidden)
        for i, layer in enumerate(self.layers):
            if virtual is not None:
                h = h + virtual.index_select(0, batch)  # (N, hidden)
            new = self.norms[i](layer(h, edge_index, tensors.get("edge_attr"), places))  # (N, hidden)
            if self.settings["variant"] == "general" or i + 1 < len(self.layers):
                new = new.relu()
            new = functional.dropout(new, self.dropout, self.training)
            if virtual is not None and i < len(self.exchanges):
                heard = virtual.index_add(0, batch, h)  # (G, hidden)
                virtual = functional.dropout(self.exchanges[i](heard), self.dropout, self.training)  # (G, hidden)
            h = new
        return self._read_out(h, edge_index, self.edge_vectors(tensors), batch, num_graphs)


class GeneralLayer(nn.Module):
    """The formula of `GSN`, (N, channels) to (N, channels); the linear map of a one-hot vector is an embedding."""

    def __init__(
        self, channels: int, norm: str, edge_features: Mapping[str, Any] | None, sizes: Sequence[int], per: str
    ) -> None:
        super().__init__()
        self.per = per
        self.sender = nn.Linear(channels, channels, bias=False)
        self.receiver = nn.Linear(channels, channels, bias=norm != "batch")
        self.edges = FeatureEncoder(**edge_features, channels=channels) if edge_features else None
        self.counts = FeatureEncoder("categorical", sizes, channels) if sizes else None
        self.receiver_counts = FeatureEncoder("categorical", sizes, channels) if sizes and per == "node" else None
        self.norm = NORMS[norm](channels)
        self.message = nn.Linear(channels, channels)
        self.update = nn.Sequential(
            nn.Linear(2 * channels, channels, bias=norm != "batch"),
            NORMS[norm](channels),
            nn.ReLU(),
            nn.Linear(channels, channels, bias=norm != "batch"),
        )

    def forward(self, h: Tensor, edge_index: Tensor, edge_attr: Tensor | None, places: Tensor) -> Tensor:
        """New vectors of all nodes."""
        sent = self.sender(h)  # (N, channels)
        received = self.receiver(h)  # (N, channels)
        if self.counts is not None and self.receiver_counts is not None:
            sent = sent + self.counts(places, places.size(0))
            received = received + self.receiver_counts(places, places.size(0))
        joint = sent.index_select(0, edge_index[0]) + received.index_select(0, edge_index[1])  # (E, channels)
        if self.counts is not None and self.per == "edge":
            joint = joint + self.counts(places, places.size(0))
        if self.edges is not None and edge_attr is not None:
            joint = joint + self.edges(edge_attr, edge_attr.size(0))
        messages = self.message(self.norm(joint).relu())  # (E, channels)
        heard = h.new_zeros(h.shape).index_add(0, edge_index[1], messages)  # (N, channels)
        out: Tensor = self.update(torch.cat([h, heard], 1))  # (N, channels)
        return out


class GINELayer(nn.Module):
    """OGB's GIN without a weight of the node itself; counts are added to messages, as bonds are. (N, channels) to the same."""

    def __init__(
        self, channels: int, norm: str, edge_features: Mapping[str, Any] | None, sizes: Sequence[int], per: str
    ) -> None:
        super().__init__()
        self.per = per
        self.edges = FeatureEncoder(**edge_features, channels=channels) if edge_features else None
        self.counts = FeatureEncoder("categorical", sizes, channels) if sizes else None
        self.mlp = wide_perceptron(channels, norm)

    def forward(self, h: Tensor, edge_index: Tensor, edge_attr: Tensor | None, places: Tensor) -> Tensor:
        """New vectors of all nodes."""
        messages = h.index_select(0, edge_index[0])  # (E, channels)
        if self.edges is not None and edge_attr is not None:
            messages = messages + self.edges(edge_attr, edge_attr.size(0))
        if self.counts is not None:
            counts = self.counts(places, places.size(0))  # (N or E, channels)
            messages = messages + (counts if self.per == "edge" else counts.index_select(0, edge_index[0]))
        received = h.index_add(0, edge_index[1], messages.relu())  # (N, channels)
        out: Tensor = self.mlp(received)  # (N, channels)
        return out
