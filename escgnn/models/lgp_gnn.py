"""LGP-GNN: message passing whose nodes know how many closed walks begin there.

Barceló et al., Graph Neural Networks with Local Graph Parameters, NeurIPS 2021.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import torch
from torch import Tensor, nn

from escgnn.layers import LEAST_DEVIATION
from escgnn.models.edge_gated import EdgeGatedLayer
from escgnn.models.frame import Frame
from escgnn.models.heads import halving


class LGPGNN(Frame):
    r"""GatedGCN with a state of edges, on nodes that know homomorphism counts of cycles: :math:`(A^k)_{vv}`, closed walks.

    .. math::
        \hat e_{uv} = A h_u + B h_v + C e_{uv}, \quad
        \hat h_v = U h_v + \frac{\sum_u \sigma(\hat e_{uv}) \odot V h_u}{\sum_u \sigma(\hat e_{uv}) + 10^{-6}}, \quad
        h' = h + \mathrm{ReLU}(\mathrm{norm}(\hat h)), \quad e' = e + \mathrm{ReLU}(\mathrm{norm}(\hat e))

    The paper allows for any message passing and any patterns; this is the form of its best row on ZINC, 3- to 6-cycles, which
    has Laplacian eigenvectors beside (``transform.positional``). Counts grow with length by orders of magnitude: they enter as
    :math:`\log(1 + c)`, standardised over the nodes of training graphs. (The authors call theirs log-normalised; how they did it,
    they do not say.)

    Args:
        out_channels: Numbers to predict for every graph, node or edge.
        lengths: Of the walks, ``transform.lengths``; none for the backbone alone.
        node_features: What ``x`` holds, as for `escgnn.models.ESCGNN`.
        edge_features: What ``edge_attr`` holds.
        level: Whether to predict for every ``"graph"``, ``"node"`` or ``"edge"``.
        positional: A positional encoding of the transform.
        hidden: Size of all vectors.
        layers: Number of rounds.
        norm: ``"batch"``, ``"layer"`` or ``"none"``.
        dropout: Share of values dropped after every round.
        pool: How nodes make a graph: ``"sum"``, as in the authors' runs, ``"mean"`` or ``"attention"``.

    Shapes:
        A batch to (graphs, out_channels), (nodes, out_channels) or (edges, out_channels).
    """

    walk_mean: Tensor
    walk_deviation: Tensor

    def __init__(
        self,
        out_channels: int,
        *,
        lengths: Sequence[int] = (3, 4, 5, 6),
        node_features: Mapping[str, Any] | None = None,
        edge_features: Mapping[str, Any] | None = None,
        level: str = "graph",
        positional: Mapping[str, Any] | None = None,
        hidden: int = 70,
        layers: int = 16,
        norm: str = "batch",
        dropout: float = 0.0,
        pool: str = "sum",
    ) -> None:
        super().__init__(locals())
        self.check(self.settings)
        self.add_features(hidden)
        self.add_positions(hidden)
        self.walks = nn.Linear(len(lengths), hidden) if lengths else None
        self.register_buffer("walk_mean", torch.zeros(len(lengths)))
        self.register_buffer("walk_deviation", torch.ones(len(lengths)))
        self.start = nn.Parameter(torch.randn(1, hidden)) if self.edges is None else None
        self.layers = nn.ModuleList()
        for i in range(layers):
            is_read = i + 1 < layers or level == "edge"  # the last state of edges is not read otherwise
            self.layers.append(EdgeGatedLayer(hidden, norm, dropout, keep_edges=is_read))
        self.add_read_out(hidden, hidden, hidden)

    def make_head(self, inputs: int, hidden: int, outputs: int) -> nn.Module:
        """That of benchmarking-gnns."""
        return halving(inputs, outputs)

    @property
    def reads(self) -> frozenset[str]:
        """The attributes of a batch that the network reads."""
        return super().reads | ({"closed_walks"} if self.walks is not None else set())

    def prepare(self, training: Iterable[Any], validation: Iterable[Any], transform: Any) -> None:
        """Measure mean and deviation of the logarithms over the nodes of training graphs."""
        super().prepare(training, validation, transform)
        if self.walks is None:
            return
        nodes = 0
        sums = torch.zeros(2, self.walk_mean.numel(), dtype=torch.float64)
        for batch in training:
            logs = batch.closed_walks.cpu().double().log1p()  # (N, lengths)
            nodes += logs.size(0)
            sums += torch.stack([logs.sum(0), logs.square().sum(0)])
        mean, square = sums / max(nodes, 1)  # (lengths,) each
        self.walk_mean.copy_(mean)
        self.walk_deviation.copy_((square - mean**2).clamp_min(LEAST_DEVIATION**2).sqrt())

    def forward_tensors(self, tensors: Mapping[str, Tensor]) -> Tensor:
        """Predictions from plain tensors by name, those that `reads` lists."""
        edge_index = tensors["edge_index"]
        h = self.add_position(self.node_vectors(tensors), tensors)  # (N, hidden)
        if self.walks is not None:
            logs = tensors["closed_walks"].to(h.dtype).log1p()  # (N, lengths)
            h = h + self.walks((logs - self.walk_mean) / self.walk_deviation)  # (N, hidden)
        edge = self.edge_vectors(tensors)  # (E, hidden)
        if edge is None:
            assert self.start is not None
            edge = self.start.expand(edge_index.size(1), -1)
        for layer in self.layers:
            h, edge = layer(h, edge, edge_index)  # (N, hidden), (E, hidden)
        return self._read_out(h, edge_index, edge, tensors["batch"], tensors["ptr"].numel() - 1)
