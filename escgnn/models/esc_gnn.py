"""ESC-GNN: message passing in which every message carries a precomputed structural embedding.

Yan et al., An Efficient Subgraph GNN with Provable Substructure Counting Power, KDD 2024, Eq. `eq:ESC-GNN`.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
import torch
from torch import Tensor, nn

from escgnn.layers import SCALES, StructuralEmbedding, VirtualNode, fit_embeddings
from escgnn.models.backbones import BACKBONES, Shape
from escgnn.models.count_skip import CountSkip, part_ranks
from escgnn.models.environments import EnvironmentTable, KnownStart
from escgnn.models.frame import JUMPING, Frame, Term, check_shared

KNOWN_ENVIRONMENTS = 100_000
READ_DEGREES = ("pna", "pna-towers")
STRUCTURE_ONLY = {  # what means nothing without an encoding, with the defaults
    "node_tuples": False,
    "structure_every_layer": True,
    "structure_scale": "fitted",
    "structure_mlp": False,
    "count_skip": False,
}


class ESCGNN(Frame):
    r"""Message passing with the structural embedding :math:`s_{uv}` in every message, Eq. `eq:ESC-GNN`.

    .. math::
        h_v^{t+1} = W_1^t \Big( h_v^t, \sum_{u \in N(v)} W_2^t(h_u^t, h_v^t, e_{uv}, s_{uv}) \Big)

    The embedding is computed once and shared by all layers, so it costs one product per batch. Without ``num_bins`` this
    is the paper's MPNN baseline. Every argument is a plain value; `settings` holds them all.

    Args:
        out_channels: Numbers to predict for every graph, node or edge.
        backbone: ``"gin"``: messages :math:`\mathrm{ReLU}(h_u + e_{uv} + s_{uv})`; ``"mpnn"``: :math:`W_2` a perceptron
            of all four; ``"gps"``: ``gin`` beside attention; ``"pna"``; ``"pna-towers"``; ``"gatedgcn"``.
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
        pool: How nodes make a graph: ``"sum"``, ``"mean"``, both side by side (``"sum+mean"``), with logarithms of a few sums
            beside them (``"sum+mean+log"``), or ``"attention"``.
        additive: Whether a graph's prediction is linear in what its nodes contribute: the perceptron of the read-out is then
            applied to nodes, before they are pooled, and not to the pooled vector.
        readout_norm: Whether the vectors of nodes are normalised before they are read out, and sums, with the number of
            nodes beside them, are in units of the mean size that `fit_structure` measures. Residual streams only grow,
            and sums with them, so without it one step may move every prediction.
        heads: Attention heads of ``gps``, towers of ``pna-towers``.
        positional: A positional encoding added by PyG, ``{"kind": "laplacian" or "random_walk", "size": 8}``.
        structure_every_layer: Whether all rounds see the structure, or only the first.
        structure_scale: Whether counts are ``"fitted"`` by `fit_structure` or taken as they are, ``"none"``.
        structure_mlp: Whether two further layers follow the embedding.
        count_skip: Whether a linear path from the summed encoding to the output runs beside the network, for numbers of
            nodes or graphs; fit it with ``model.skip.fit``, as `escgnn.training` does. See `CountSkip`.
        degrees: Number of nodes of degree 0, 1, 2, ... in the training graphs, for ``pna`` and ``pna-towers``; those of
            molecules if None.
        descriptors: Numbers that each graph has beside its nodes and edges; see `DescriptorEncoder`.
        environments: The environments that nodes come with, ``Surroundings(...).environments``: each that is common
            among the training graphs then adds a number of its own to what the network says. See `EnvironmentTable`.
        known_environments: How many of them at most.
        known_at_start: Whether nodes start with which of their environments have a number, so that the network knows where it
            speaks alone.

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

    measures = ("degrees",)
    earlier: ClassVar[Mapping[str, Any]] = {"readout_norm": False}

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
        additive: bool = False,
        readout_norm: bool = True,
        heads: int = 4,
        positional: Mapping[str, Any] | None = None,
        structure_every_layer: bool = True,
        structure_scale: str = "fitted",
        structure_mlp: bool = False,
        count_skip: bool = False,
        degrees: Sequence[int] | None = None,
        descriptors: int = 0,
        environments: Sequence[int | str] = (),
        known_environments: int = KNOWN_ENVIRONMENTS,
        known_at_start: bool = False,
    ) -> None:
        super().__init__(locals())
        _check(self.settings)
        self.jumping = jumping
        self.structure_every_layer = structure_every_layer
        layer, self.join = BACKBONES[backbone]

        def structure(prefix: str) -> StructuralEmbedding:
            return StructuralEmbedding(num_bins or 0, hidden, scale=structure_scale, mlp=structure_mlp, prefix=prefix)

        self.add_features(hidden)
        self.structure = structure("esc") if num_bins else None
        self.node_structure = structure("esc_node") if node_tuples else None
        self.add_positions(hidden)
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
        self.add_read_out(width, shape(first=True).edge_channels or 0, hidden)
        self.environments = EnvironmentTable(known_environments, out_channels, level) if environments else None
        self.known_start = KnownStart(len(environments), hidden) if known_at_start else None

    @classmethod
    def check(cls, settings: Mapping[str, Any]) -> None:
        """Refuse values that mean nothing."""
        check_shared(settings, {"backbone": BACKBONES, "structure_scale": SCALES})

    @classmethod
    def measure(cls, settings: Mapping[str, Any], task: Any, graphs: Any) -> dict[str, Any]:
        """The degrees of the training graphs, for backbones that scale by them.

        Raises:
            ValueError: There is a ``count_skip``, but the targets are no numbers.
        """
        if settings.get("count_skip") and task.kind != "regression":
            raise ValueError(f"network.count_skip: it predicts numbers, but the targets are {task.kind}")
        if settings.get("backbone") not in READ_DEGREES:
            return {}
        return {"degrees": np.bincount(graphs.view().degrees).tolist()}

    @property
    def reads(self) -> frozenset[str]:
        """The attributes of a batch that the model reads."""
        names = {f"{embedding.prefix}_{part}" for embedding in self._embeddings for part in ("len", "bin", "count")}
        names |= {"environment"} if self.settings["environments"] else set()
        return super().reads | names

    @property
    def _embeddings(self) -> list[StructuralEmbedding]:
        return [embedding for embedding in (self.structure, self.node_structure) if embedding is not None]

    @property
    def cannot_export(self) -> str:
        """Why it cannot be a program of its own: PyG's attention asks the data for the size of the largest graph."""
        if self.settings["backbone"] == "gps":
            return "backbone: gps cannot be exported, as its tensors' sizes depend on the largest graph"
        return ""

    def fit_structure(self, batches: Iterable[Any]) -> None:
        """Measure the training graphs: their counts, which are standardised, and their mean size, the unit of sums."""
        if self._embeddings:
            fit_embeddings(self._embeddings, self.measured(batches))
        else:
            super().prepare(batches, (), None)

    def prepare(self, training: Iterable[Any], validation: Iterable[Any], transform: Any) -> None:
        """Fit the scale of the structure and, if there is one, the linear path."""
        self.fit_structure(training)
        if self.skip is not None:
            ranks = part_ranks(transform)
            self.skip.fit(lambda: self._with_targets(training), lambda: self._with_targets(validation), ranks)

    def _with_targets(self, batches: Iterable[Any]) -> Iterator[dict[str, Tensor]]:
        for batch in batches:
            yield {**self.tensors(batch), "y": batch.y}

    def conclude(self, validation: Iterable[Any]) -> bool:
        """For each target, keep what the network adds to the linear path only if it makes validation errors smaller."""
        if self.skip is None:
            return False
        errors = []
        for gate in (0.0, 1.0):
            self.skip.gate.fill_(gate)
            with torch.no_grad():
                wrong = [self(batch).float().double() - batch.y for batch in validation]
            errors.append(torch.cat(wrong).abs().nanmean(0))  # (targets,)
        self.skip.gate.copy_(errors[1] < errors[0])
        return True

    def doubts(self, data: Any) -> int:
        """How many graphs have bins that formulas of the linear path should weigh, but no training graph had."""
        return 0 if self.skip is None else self.skip.unseen(self.tensors(data))

    def formulas(self, transform: Any) -> dict[int, dict[Term, float]] | None:
        """What the linear path says where it holds exactly; see `CountSkip.formulas`."""
        return None if self.skip is None else self.skip.formulas(transform.bins)

    def forward_tensors(self, tensors: Mapping[str, Tensor]) -> Tensor:
        """Predictions from plain tensors by name, those that `reads` lists."""
        edge_index = tensors["edge_index"]  # (2, E)
        batch = tensors["batch"]  # (N,) the graph of each node
        num_graphs = tensors["ptr"].numel() - 1
        h = self.node_vectors(tensors)  # (N, hidden)
        if self.node_structure is not None:
            h = h + self.node_structure(tensors)  # (N, hidden)
        if self.environments is not None and self.known_start is not None:
            h = h + self.known_start(self.environments.are_known(tensors["environment"]))  # (N, hidden)
        h = self.add_position(h, tensors)  # (N, hidden)
        edge, later = self._edges(tensors)  # (E, hidden), or twice as wide where they stand side by side

        rounds: list[Tensor] = []
        virtual = self.virtual.expand(num_graphs, -1) if self.virtual is not None else None  # (G, hidden)
        for i, layer in enumerate(self.layers):
            if virtual is not None:
                virtual = self.exchanges[i - 1](virtual, h, batch) if i else virtual  # (G, hidden)
                h = h + virtual[batch]  # (N, hidden)
            h = layer(h, edge_index, later if i else edge, batch)  # (N, hidden)
            rounds.append(h)
        h = JUMPING[self.jumping](rounds)  # (N, width)
        described = tensors.get("descriptors")  # (G, descriptors)
        out = self._read_out(h, edge_index, edge, batch, num_graphs, described)  # (rows, out_channels)
        if self.environments is not None:
            added = self.environments(tensors["environment"])  # (N, channels)
            out = out + self.environments.pooled(added, batch, num_graphs)  # (rows, out_channels)
        return out if self.skip is None else self.skip(tensors, out)

    def _edges(self, tensors: Mapping[str, Tensor]) -> tuple[Tensor | None, Tensor | None]:
        """What the first layer gets of every edge, and what the others get."""
        features = self.edge_vectors(tensors)  # (E, hidden)
        if self.structure is None:
            return features, features
        structure: Tensor = self.structure(tensors)  # (E, hidden)
        edge = structure
        if features is not None:
            edge = features + structure if self.join == "sum" else torch.cat([features, structure], 1)
        return edge, edge if self.structure_every_layer else features


def _check(settings: Mapping[str, Any]) -> None:
    """Refuse values that mean nothing, or that contradict each other."""
    ESCGNN.check(settings)
    if settings["num_bins"] is not None and settings["num_bins"] < 1:
        raise ValueError(f"num_bins: {settings['num_bins']}; expected an integer from 1, or None for no encoding")
    for name, default in STRUCTURE_ONLY.items():
        if settings["num_bins"] is None and settings[name] != default:
            raise ValueError(f"{name}: {settings[name]}, but num_bins is None, so there is no encoding")
    if settings["count_skip"] and settings["level"] == "edge":
        raise ValueError("count_skip: sums are over the edges of nodes or graphs, but the level is edge")
    if not settings["environments"] and settings["known_environments"] != KNOWN_ENVIRONMENTS:
        raise ValueError("known_environments: given, but nodes have no environments; set transform.environments")
    if not settings["environments"] and settings["known_at_start"]:
        raise ValueError("known_at_start: True, but nodes have no environments; set transform.environments")
    if settings["degrees"] is not None and settings["backbone"] not in READ_DEGREES:
        raise ValueError(f"degrees: given, but only pna and pna-towers read them, not {settings['backbone']}")
    if settings["backbone"] in ("gps", "pna-towers") and settings["hidden"] % settings["heads"]:
        raise ValueError(f"heads: {settings['heads']} does not divide hidden, {settings['hidden']}")
    if settings["backbone"] == "gps" and not settings["residual"]:
        raise ValueError("residual: False, but gps is always residual")
