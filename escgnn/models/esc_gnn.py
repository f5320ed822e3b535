"""ESC-GNN: message passing in which every message carries a precomputed structural embedding.

Yan et al., An Efficient Subgraph GNN with Provable Substructure Counting Power, KDD 2024, Eq. `eq:ESC-GNN`.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import torch
from torch import Tensor, nn

from escgnn.layers import (
    NORMS,
    POOLS,
    FeatureEncoder,
    PositionalEncoder,
    SizedSumPool,
    StructuralEmbedding,
    VirtualNode,
    fit_embeddings,
    perceptron,
)
from escgnn.models.backbones import BACKBONES, Shape
from escgnn.models.count_skip import CountSkip
from escgnn.models.exporting import export_program
from escgnn.models.settings import JUMPING, check_settings


class ESCGNN(nn.Module):
    r"""Message passing with the structural embedding :math:`s_{uv}` in every message, Eq. `eq:ESC-GNN`.

    .. math::
        h_v^{t+1} = W_1^t \Big( h_v^t, \sum_{u \in N(v)} W_2^t(h_u^t, h_v^t, e_{uv}, s_{uv}) \Big)

    The embedding is computed once and shared by all layers, so it costs one product per batch. Without ``num_bins`` this
    is the paper's MPNN baseline. Every argument is a plain value; `settings` holds them all.

    Args:
        out_channels: Numbers to predict for every graph, node or edge.
        backbone: ``"gin"``: messages :math:`\mathrm{ReLU}(h_u + e_{uv} + s_{uv})`; ``"mpnn"``: :math:`W_2` a perceptron
            of all four; ``"gps"``: ``gin`` beside attention; ``"pna"``; ``"gatedgcn"``.
        num_bins: Bins of the encoding, ``StructuralEncoding(...).num_bins``; None for no encoding.
        node_features: What ``x`` holds, as for `FeatureEncoder`: ``{"kind": "categorical", "sizes": [28]}``,
            ``{"kind": "dense", "sizes": [7]}``; None if there is no ``x``.
        edge_features: What ``edge_attr`` holds, likewise.
        level: Whether to predict for every ``"graph"``, ``"node"`` or ``"edge"``, that is column of ``edge_index``.
        hidden: Size of all vectors.
        layers: Number of rounds.
        node_tuples: Whether nodes start with the embedding of :math:`(v, v)`, too.
        jumping: What is read out: the ``"last"`` round, all in a row (``"concat"``), or their ``"sum"``.
        residual: Whether a round is added to the one before; always so in ``gps``.
        virtual_node: Whether a further node hears from and sends to all others between rounds.
        norm: ``"batch"``, ``"layer"`` or ``"none"``.
        dropout: Share of values dropped after every round.
        pool: How nodes make a graph: ``"sum"``, ``"mean"`` or ``"attention"``.
        readout_norm: Whether the vectors of nodes are normalised before they are read out, and sums, with the number of
            nodes beside them, are in units of the mean size that `fit_structure` measures. Residual streams only grow,
            and sums with them, so without it one step may move every prediction; older saved networks are without.
        heads: Attention heads of ``gps``.
        positional: A positional encoding added by PyG, ``{"kind": "laplacian" or "random_walk", "size": 8}``.
        structure_every_layer: Whether all rounds see the structure, or only the first.
        structure_scale: Whether counts are ``"fitted"`` by `fit_structure` or taken as they are, ``"none"``.
        structure_mlp: Whether two further layers follow the embedding.
        count_skip: Whether a linear path from the summed encoding to the output runs beside the network, for numbers of
            nodes or graphs; fit it with ``model.skip.fit``, as `escgnn.training` does. See `CountSkip`.
        degrees: Number of nodes of degree 0, 1, 2, ... in the training graphs, for ``pna``; those of molecules if None.

    Shapes:
        A batch to (graphs, out_channels), (nodes, out_channels) or (edges, out_channels).

    >>> from escgnn import graphs
    >>> from torch_geometric.data import Data
    >>> from escgnn.transforms import StructuralEncoding
    >>> encoding = StructuralEncoding(hops=2)
    >>> data = encoding(Data(edge_index=torch.from_numpy(graphs.petersen().edge_index), num_nodes=10))
    >>> model = ESCGNN(out_channels=3, num_bins=encoding.num_bins)
    >>> model.fit_structure([data])
    >>> model.eval()(data).shape
    torch.Size([1, 3])
    """

    def __init__(
        self,
        out_channels: int,
        *,
        backbone: str = "gin",
        num_bins: int | None = None,
        node_features: Mapping[str, Any] | None = None,
        edge_features: Mapping[str, Any] | None = None,
        level: str = "graph",
        hidden: int = 64,
        layers: int = 5,
        node_tuples: bool = False,
        jumping: str = "last",
        residual: bool = True,
        virtual_node: bool = False,
        norm: str = "batch",
        dropout: float = 0.0,
        pool: str = "sum",
        readout_norm: bool = True,
        heads: int = 4,
        positional: Mapping[str, Any] | None = None,
        structure_every_layer: bool = True,
        structure_scale: str = "fitted",
        structure_mlp: bool = False,
        count_skip: bool = False,
        degrees: Sequence[int] | None = None,
    ) -> None:
        given = {name: value for name, value in locals().items() if name not in ("self", "__class__")}
        super().__init__()
        self.settings: dict[str, Any] = json.loads(json.dumps(given))
        check_settings(self.settings)
        self.level, self.jumping, self.structure_every_layer = level, jumping, structure_every_layer
        layer, self.join = BACKBONES[backbone]

        def structure(prefix: str) -> StructuralEmbedding:
            return StructuralEmbedding(
                num_bins or 0, hidden, scale=structure_scale, mlp=structure_mlp, dedup=structure_mlp, prefix=prefix
            )

        self.nodes = FeatureEncoder(**(node_features or {"kind": None, "sizes": ()}), channels=hidden)
        self.edges = FeatureEncoder(**edge_features, channels=hidden) if edge_features else None
        self.structure = structure("esc") if num_bins else None
        self.node_structure = structure("esc_node") if node_tuples else None
        self.position = PositionalEncoder(**positional, channels=hidden) if positional else None
        self.skip = CountSkip(num_bins or 0, out_channels, level) if count_skip else None

        def shape(first: bool) -> Shape:
            terms = bool(edge_features) + bool(num_bins and (first or structure_every_layer))
            edge_channels = hidden * (terms if self.join == "concat" else 1) if terms else None
            return Shape(hidden, edge_channels, norm, dropout, residual, heads, degrees)

        self.layers = nn.ModuleList(layer(shape(first=i == 0)) for i in range(layers))
        self.virtual = nn.Parameter(torch.zeros(1, hidden)) if virtual_node else None
        exchanges = layers - 1 if virtual_node else 0
        self.exchanges = nn.ModuleList(VirtualNode(hidden, norm, dropout) for _ in range(exchanges))
        width = hidden * (layers if jumping == "concat" else 1)
        self.final_norm = NORMS[norm](width) if readout_norm else nn.Identity()
        pooling = SizedSumPool if pool == "sum" and readout_norm else POOLS[pool]
        self.pool = pooling(width) if level == "graph" else None
        read = width + 1 if isinstance(self.pool, SizedSumPool) else width  # of what the head gets
        if level == "edge":
            read = 2 * width + (shape(first=True).edge_channels or 0)
        self.head = perceptron(read, hidden, out_channels)

    @property
    def reads(self) -> frozenset[str]:
        """The attributes of a batch that the model reads."""
        names = {"edge_index", "batch", "ptr"}
        names |= {"x"} if self.nodes.kind else set()
        names |= {"edge_attr"} if self.edges is not None else set()
        names |= {self.position.reads} if self.position is not None else set()
        for embedding in self._embeddings:
            names |= {f"{embedding.prefix}_{part}" for part in ("len", "bin", "count")}
        return frozenset(names)

    @property
    def _embeddings(self) -> list[StructuralEmbedding]:
        return [embedding for embedding in (self.structure, self.node_structure) if embedding is not None]

    def fit_structure(self, batches: Iterable[Any]) -> None:
        """Measure the training graphs: their counts, which are standardised, and their mean size, the unit of sums."""
        if isinstance(self.pool, SizedSumPool):
            batches = self.pool.measured(batches)
        fit_embeddings(self._embeddings, batches)

    def tensors(self, data: Any) -> dict[str, Tensor]:
        """What the model reads of a batch, or of a single graph, which is a batch of one."""
        missing = self.reads - {"batch", "ptr"} - {*data.keys()}
        if missing:
            raise ValueError(f"data: no {', '.join(sorted(missing))}; the model reads {', '.join(sorted(self.reads))}")
        named = {name: data[name] for name in self.reads & {*data.keys()}}
        if "ptr" not in named:
            named["ptr"] = torch.tensor([0, data.num_nodes], device=data.edge_index.device)
            named["batch"] = named["ptr"].new_zeros(data.num_nodes)
        return named

    def forward(self, data: Any) -> Tensor:
        """Predictions for a PyG batch, or for a single graph."""
        return self.forward_tensors(self.tensors(data))

    def forward_tensors(self, tensors: Mapping[str, Tensor]) -> Tensor:
        """Predictions from plain tensors by name, those that `reads` lists."""
        edge_index, batch, num_graphs = tensors["edge_index"], tensors["batch"], tensors["ptr"].numel() - 1
        h = self.nodes(tensors["x"] if self.nodes.kind else None, batch.numel())
        if self.node_structure is not None:
            h = h + self.node_structure(tensors)
        if self.position is not None:
            h = h + self.position(tensors[self.position.reads], batch, num_graphs)
        edge, later = self._edges(tensors)

        rounds: list[Tensor] = []
        virtual = self.virtual.expand(num_graphs, -1) if self.virtual is not None else None
        for i, layer in enumerate(self.layers):
            if virtual is not None:
                virtual = self.exchanges[i - 1](virtual, h, batch) if i else virtual
                h = h + virtual[batch]
            h = layer(h, edge_index, later if i else edge, batch)
            rounds.append(h)
        out = self._read_out(JUMPING[self.jumping](rounds), edge_index, edge, batch, num_graphs)
        return out if self.skip is None else self.skip(tensors, out)

    def export(self, data: Any) -> torch.export.ExportedProgram:
        """The model as a program that runs without this library, on ``tensors(data)`` of any sizes.

        Args:
            data: An example, a batch of at least two graphs.

        Raises:
            ValueError: The backbone is ``gps``: PyG's attention asks the data for the size of the largest graph.
        """
        return export_program(self, data)

    def _edges(self, tensors: Mapping[str, Tensor]) -> tuple[Tensor | None, Tensor | None]:
        """What the first layer gets of every edge, and what the others get."""
        features = None if self.edges is None else self.edges(tensors["edge_attr"], tensors["edge_index"].size(1))
        if self.structure is None:
            return features, features
        structure = edge = self.structure(tensors)
        if features is not None:
            edge = features + structure if self.join == "sum" else torch.cat([features, structure], 1)
        return edge, edge if self.structure_every_layer else features

    def _read_out(self, h: Tensor, edge_index: Tensor, edge: Tensor | None, batch: Tensor, num_graphs: int) -> Tensor:
        h = self.final_norm(h)  # (nodes, width)
        if self.pool is not None:
            h = self.pool(h, batch, num_graphs)
        if self.level == "edge":
            ends = [h.index_select(0, edge_index[0]), h.index_select(0, edge_index[1])]
            h = torch.cat(ends if edge is None else [*ends, edge], 1)
        out: Tensor = self.head(h)
        return out
