"""GraphGPS: message passing beside attention, on nodes that know their place.

Rampášek et al., Recipe for a General, Powerful, Scalable Graph Transformer, NeurIPS 2022.
"""

from collections.abc import Iterable, Mapping
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from escgnn.layers import NORMS, BatchNorm, FeatureEncoder
from escgnn.models.attention import GraphAttention, Room, rooms_of
from escgnn.models.backbones import GINE
from escgnn.models.edge_gated import EdgeGatedLayer
from escgnn.models.frame import Frame, check_shared
from escgnn.models.heads import halving, one_layer
from escgnn.models.normed_structure import NormedStructure, check_structure, fit_structures, structures_of

LOCALS = ("gine", "gatedgcn", "none")


class GraphGPS(Frame):
    r"""Message passing beside attention in every layer, as the authors run it: 423,717 parameters on ZINC.

    .. math::
        l = \mathrm{norm}(h + \mathrm{MPNN}(h, e)), \quad a = \mathrm{norm}(h + \mathrm{attention}(h)), \quad
        h' = \mathrm{norm}(l + a + \mathrm{MLP}(l + a))

    Encodings of the place of a node stand beside the vector of its features, in channels of their own: chances that random
    walks return, normalised, through a linear map; and entries of Laplacian eigenvectors, each with its eigenvalue through a
    perceptron, summed over eigenvectors, whose signs are drawn anew for every batch in training. Without both it tells apart
    what 1-WL does.

    With ``num_bins`` it is the backbone that ESC-GNN's authors have on ZINC: every layer has an embedding of the structure of its
    own, and adds it to the vectors of edges that all later layers see.

    Args:
        out_channels: Numbers to predict for every graph, node or edge.
        walks: Steps of the longest walks, ``transform.walks``; 0 for none.
        frequencies: How many eigenvectors, ``transform.frequencies``; 0 for none.
        num_bins: Bins of the structural encoding; None for none.
        node_features: What ``x`` holds, as for `escgnn.models.ESCGNN`.
        edge_features: What ``edge_attr`` holds.
        level: Whether to predict for every ``"graph"``, ``"node"`` or ``"edge"``.
        hidden: Size of all vectors.
        layers: Number of layers.
        local: ``"gine"``: GINE without a norm inside, as on ZINC; ``"gatedgcn"``: GatedGCN with a state of edges, as on
            ogbg-molhiv; ``"none"`` for attention alone, which does not see edges.
        heads: Attention heads, a divisor of ``hidden``.
        walk_channels: Of the vector of a node, how many are for walks; 7 of 16 if None.
        spectrum_channels: How many are for eigenvectors; an eighth if None.
        norm: ``"batch"``, ``"layer"`` or ``"none"``.
        dropout: Share of values dropped of what is added in every layer.
        attention_dropout: Share of attention weights dropped.
        pool: How nodes make a graph, as for `escgnn.models.ESCGNN`.
        additive: Whether a graph's prediction is linear in what its nodes contribute, likewise.
        readout_norm: Whether sums are taken in units of the mean size of graphs, and vectors normalised before, likewise.
        linear_head: Whether a linear map reads out, as on ogbg-molpcba, and not three layers of half the size each.
        structure_scale: Whether counts of the structural encoding are ``"fitted"`` or taken as they are, ``"none"``.

    Shapes:
        A batch to (graphs, out_channels), (nodes, out_channels) or (edges, out_channels).
    """

    def __init__(
        self,
        out_channels: int,
        *,
        walks: int = 20,
        frequencies: int = 0,
        num_bins: int | None = None,
        node_features: Mapping[str, Any] | None = None,
        edge_features: Mapping[str, Any] | None = None,
        level: str = "graph",
        hidden: int = 64,
        layers: int = 10,
        local: str = "gine",
        heads: int = 4,
        walk_channels: int | None = None,
        spectrum_channels: int | None = None,
        norm: str = "batch",
        dropout: float = 0.0,
        attention_dropout: float = 0.5,
        pool: str = "sum",
        additive: bool = False,
        readout_norm: bool = False,
        linear_head: bool = False,
        structure_scale: str = "fitted",
    ) -> None:
        super().__init__(locals())
        self.check(self.settings)
        self.position = None
        for_walks, for_spectrum = _channels(self.settings)
        self.add_features(hidden)
        described = node_features or {"kind": None, "sizes": ()}
        self.nodes = FeatureEncoder(**described, channels=hidden - for_walks - for_spectrum)
        if local == "none" and level != "edge":
            self.edges = None  # nobody would read them
        self.walks = WalkEncoder(walks, for_walks) if walks else None
        self.spectrum = SpectrumEncoder(for_spectrum) if frequencies else None
        needs_edges = local == "gatedgcn" and self.edges is None and num_bins is None
        self.start = nn.Parameter(torch.randn(1, hidden)) if needs_edges else None
        self.layers = nn.ModuleList()
        self.structures = nn.ModuleList()
        for i in range(layers):
            is_read = i + 1 < layers or level == "edge"  # the last state of edges is not read otherwise
            part = _local(local, hidden, norm, dropout, keep_edges=is_read)
            self.layers.append(GPSBlock(part, hidden, heads, norm, dropout, attention_dropout))
            if num_bins is not None:
                self.structures.append(NormedStructure(num_bins, hidden, nn.ELU, norm, dropout, structure_scale))
        has_edges = local == "gatedgcn" or self.edges is not None or num_bins is not None
        self.add_read_out(hidden, hidden if has_edges else 0, hidden)

    def make_head(self, inputs: int, hidden: int, outputs: int) -> nn.Module:
        """Three layers of half the size each, or one."""
        return one_layer(inputs, outputs) if self.settings["linear_head"] else halving(inputs, outputs)

    @classmethod
    def check(cls, settings: Mapping[str, Any]) -> None:
        """Refuse values that mean nothing."""
        check_shared(settings, {"local": LOCALS})
        check_structure(settings)
        hidden = settings["hidden"]
        if hidden % settings["heads"]:
            raise ValueError(f"heads: {settings['heads']}; expected a divisor of hidden, which is {hidden}")
        if not 0 <= settings["attention_dropout"] < 1:
            raise ValueError(f"attention_dropout: {settings['attention_dropout']}; expected a share from 0 to below 1")
        for name in ("walk_channels", "spectrum_channels"):
            if settings[name] is not None and settings[name] < 1:
                raise ValueError(f"{name}: {settings[name]}; expected an integer from 1, or None")
        taken = _channels(settings)
        if sum(taken) >= hidden:
            raise ValueError(
                f"hidden: {hidden}, of which {taken[0]} are for walks and {taken[1]} for eigenvectors; expected more, as the "
                "features of nodes need some, too"
            )
        if settings["local"] == "none" and settings["num_bins"] is not None:
            raise ValueError("local: 'none', but the structural encoding is one of edges, which attention does not see")

    @property
    def reads(self) -> frozenset[str]:
        """The attributes of a batch that the network reads."""
        names = {*super().reads}
        if self.walks is not None:
            names.add("walk_returns")
        if self.spectrum is not None:
            names |= {"laplacian_vectors", "laplacian_values"}
        return frozenset(names | (NormedStructure.reads if len(self.structures) else set()))

    def prepare(self, training: Iterable[Any], validation: Iterable[Any], transform: Any) -> None:
        """Fit the scale of the structure, if there is one."""
        super().prepare(training, validation, transform)
        if len(self.structures):
            fit_structures([*self.structures], training)

    def forward_tensors(self, tensors: Mapping[str, Tensor]) -> Tensor:
        """Predictions from plain tensors by name, those that `reads` lists."""
        edge_index = tensors["edge_index"]
        batch = tensors["batch"]
        rooms = rooms_of(tensors["ptr"], batch)
        h = self._nodes(tensors)  # (N, hidden)
        edge = self.edge_vectors(tensors)  # (E, hidden), or None
        if self.start is not None:
            edge = self.start.expand(edge_index.size(1), -1)
        structures = structures_of([*self.structures], tensors) if len(self.structures) else []  # (E, hidden) each
        for i, layer in enumerate(self.layers):
            if structures:
                edge = structures[i] if edge is None else edge + structures[i]
            h, edge = layer(h, edge, edge_index, rooms)  # (N, hidden), (E, hidden)
        return self._read_out(h, edge_index, edge, batch, tensors["ptr"].numel() - 1)

    def _nodes(self, tensors: Mapping[str, Tensor]) -> Tensor:
        """Vectors of all nodes: features, walks and eigenvectors beside each other."""
        parts = [self.node_vectors(tensors)]
        if self.walks is not None:
            parts.append(self.walks(tensors["walk_returns"].to(parts[0].dtype)))
        if self.spectrum is not None:
            vectors = tensors["laplacian_vectors"].to(parts[0].dtype)
            parts.append(self.spectrum(vectors, tensors["laplacian_values"].to(parts[0].dtype)))
        return torch.cat(parts, 1)


def _channels(settings: Mapping[str, Any]) -> tuple[int, int]:
    """How many channels of a node are for walks, and how many for eigenvectors."""
    walk = settings["walk_channels"]
    if walk is None:
        walk = max(1, 7 * settings["hidden"] // 16)
    spectrum = settings["spectrum_channels"]
    if spectrum is None:
        spectrum = max(1, settings["hidden"] // 8)
    return walk if settings["walks"] else 0, spectrum if settings["frequencies"] else 0


class WalkEncoder(nn.Module):
    """Chances that walks return, normalised, through a linear map: (N, walks) to (N, channels)."""

    def __init__(self, walks: int, channels: int) -> None:
        super().__init__()
        self.norm = BatchNorm(walks)
        self.linear = nn.Linear(walks, channels)

    def forward(self, returns: Tensor) -> Tensor:
        """Vectors of all nodes."""
        out: Tensor = self.linear(self.norm(returns))  # (N, channels)
        return out


class SpectrumEncoder(nn.Module):
    """Entries of eigenvectors with their eigenvalues, each through a perceptron, summed: (N, frequencies) twice to (N, channels).

    It knows nothing of signs: one for each eigenvector is drawn for all graphs of a batch in training, and otherwise they are
    taken as they are, so that a flipped eigenvector changes the result.
    """

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.mlp = nn.Sequential(nn.Linear(2, 2 * channels), nn.ReLU(), nn.Linear(2 * channels, channels), nn.ReLU())

    def forward(self, vectors: Tensor, values: Tensor) -> Tensor:
        """Vectors of all nodes."""
        if self.training:
            vectors = vectors * (2 * torch.randint(0, 2, vectors.shape[1:], device=vectors.device) - 1)
        both = torch.stack([vectors, values], 2)  # (N, frequencies, 2)
        there = (values >= 0).unsqueeze(2)  # small graphs have fewer
        out: Tensor = (self.mlp(both) * there).sum(1)  # (N, channels)
        return out


def _local(name: str, channels: int, norm: str, dropout: float, *, keep_edges: bool) -> nn.Module | None:
    if name == "gatedgcn":
        return EdgeGatedLayer(channels, norm, dropout, keep_edges=keep_edges)
    return GINE(channels, "none") if name == "gine" else None


class GPSBlock(nn.Module):
    """A layer of `GraphGPS`: from (N, channels), (E, channels) to the same.

    Args:
        local: The message passing; None for none.
        channels: Size of all vectors.
        heads: Attention heads.
        norm: ``"batch"``, ``"layer"`` or ``"none"``.
        dropout: Share of values dropped of what is added.
        attention_dropout: Share of attention weights dropped.
    """

    def __init__(
        self, local: nn.Module | None, channels: int, heads: int, norm: str, dropout: float, attention_dropout: float
    ) -> None:
        super().__init__()
        self.dropout = dropout
        self.local = local
        self.local_norm = NORMS[norm](channels) if local is not None else None
        self.attention = GraphAttention(channels, heads, attention_dropout)
        self.attention_norm = NORMS[norm](channels)
        self.mlp = nn.Sequential(
            nn.Linear(channels, 2 * channels), nn.ReLU(), nn.Dropout(dropout), nn.Linear(2 * channels, channels)
        )
        self.norm = NORMS[norm](channels)

    def forward(
        self, h: Tensor, edge: Tensor | None, edge_index: Tensor, rooms: list[Room]
    ) -> tuple[Tensor, Tensor | None]:
        """New vectors of all nodes and edges."""
        out: Tensor = self.attention_norm(h + self._dropped(self.attention(h, rooms)))  # (N, channels)
        if self.local is not None and self.local_norm is not None:
            if isinstance(self.local, EdgeGatedLayer):
                heard, edge = self.local(h, edge, edge_index)  # (N, channels), (E, channels); with h and dropout inside
            else:
                heard = h + self._dropped(self.local(h, edge_index, edge))  # (N, channels)
            out = out + self.local_norm(heard)
        return self.norm(out + self._dropped(self.mlp(out))), edge

    def _dropped(self, h: Tensor) -> Tensor:
        return functional.dropout(h, self.dropout, self.training)
