"""DGN: aggregation that knows a direction, along which the graph is longest.

Beaini et al., Directional Graph Networks, ICML 2021.
"""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import torch
from torch import Tensor

from escgnn.models.towers import AGGREGATORS, DIRECTED, SCALERS, AggregationNetwork

LEAST_STEP = 1e-9  # of eigenvectors of length 1; what is smaller is rounding


class DGN(AggregationNetwork):
    r"""PNA with ways of aggregation along the first eigenvector of the Laplacian that is not constant.

    .. math::
        w_{uv} = \frac{\phi_u - \phi_v}{\sum_{u'} \|\phi_{u'} - \phi_v\|}, \quad
        \mathrm{av}_v = \sum_u \|w_{uv}\| \, m_u, \quad \mathrm{dx}_v = \Big\| \sum_u w_{uv} (m_u - h_v) \Big\|

    Where the eigenvalue is simple, :math:`\phi_v` is a number, and this is the authors' formula: signs cancel. Where it repeats,
    as symmetry often wants it, theirs depends on the basis that a solver happens to find. Here :math:`\phi_v` is then the row of
    all eigenvectors of it, norms are Euclidean, and av and dx are functions of the projector to their space. Components have
    directions of their own, and where neighbours do not differ, weights are 0. See `escgnn.transforms.Directions`.

    Args:
        out_channels: Numbers to predict for every graph, node or edge.
        node_features: What ``x`` holds, as for `escgnn.models.ESCGNN`.
        edge_features: What ``edge_attr`` holds; the simple variant does not read it.
        level: Whether to predict for every ``"graph"``, ``"node"`` or ``"edge"``.
        variant: ``"towers"``, as on ZINC, or ``"simple"``, as on ogbg-molhiv: see `escgnn.models.PNA`.
        hidden: Size of the vectors of nodes.
        last: Their size after the last round, if it is another.
        layers: Number of rounds.
        edge_hidden: Size of the vectors of edges.
        towers: How many.
        aggregators: Of ``"mean"``, ``"max"``, ``"min"``, ``"std"``, ``"dir-av"`` and ``"dir-dx"``; without the last two this is
            PNA.
        scalers: Of ``"identity"``, ``"amplification"`` and ``"attenuation"``.
        graph_norm: Whether vectors are divided by the root of the number of nodes before they are normalised, as on ZINC.
        norm: ``"batch"``, ``"layer"`` or ``"none"``.
        dropout: Share of values dropped in every round.
        pool: How nodes make a graph: ``"sum"``, ``"mean"`` or ``"attention"``.
        degrees: Number of nodes of degree 0, 1, 2, ... in the training graphs, measured.

    Shapes:
        A batch to (graphs, out_channels), (nodes, out_channels) or (edges, out_channels).
    """

    ways: ClassVar[tuple[str, ...]] = (*AGGREGATORS, *DIRECTED)

    def __init__(
        self,
        out_channels: int,
        *,
        node_features: Mapping[str, Any] | None = None,
        edge_features: Mapping[str, Any] | None = None,
        level: str = "graph",
        variant: str = "towers",
        hidden: int = 64,
        last: int | None = None,
        layers: int = 4,
        edge_hidden: int = 16,
        towers: int = 4,
        aggregators: Sequence[str] = ("mean", "max", "min", "dir-av", "dir-dx"),
        scalers: Sequence[str] = SCALERS,
        graph_norm: bool = True,
        norm: str = "batch",
        dropout: float = 0.0,
        pool: str = "sum",
        degrees: Sequence[int] | None = None,
    ) -> None:
        super().__init__(locals())
        self.add_body()

    @property
    def is_directed(self) -> bool:
        """Whether any way of aggregation has a direction."""
        return not {*DIRECTED}.isdisjoint(self.settings["aggregators"])

    @property
    def reads(self) -> frozenset[str]:
        """The attributes of a batch that the network reads."""
        return super().reads | {"direction"} if self.is_directed else super().reads

    def direction(self, tensors: Mapping[str, Tensor]) -> Tensor | None:
        """Weights of all edges, (E, width); None if no way has a direction."""
        if not self.is_directed:
            return None
        source, target = tensors["edge_index"]
        phi = tensors["direction"]  # (N, width), columns that a graph does not need are zero
        if not torch.compiler.is_compiling():
            phi = phi[:, : max(1, int(phi.any(0).sum()))]
        step = phi[source] - phi[target]  # (E, width)
        length = torch.linalg.vector_norm(step, dim=1, keepdim=True)  # (E, 1)
        kept = length > LEAST_STEP
        length = length * kept
        total = length.new_zeros(phi.size(0), 1).index_add(0, target, length)  # (N, 1)
        weight: Tensor = step * kept / total.clamp_min(LEAST_STEP)[target]
        return weight
