"""PNA as its authors run it: towers, or neighbours alone, with degrees measured on training graphs.

Corso et al., Principal Neighbourhood Aggregation for Graph Nets, NeurIPS 2020.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from escgnn.models.towers import AGGREGATORS, SCALERS, AggregationNetwork


class PNA(AggregationNetwork):
    r"""Mean, maximum, minimum and deviation of messages, each as it is, amplified and attenuated by the logarithm of the degree.

    .. math::
        h_v' = U\Big(h_v, \bigoplus_{u \in N(v)} M(h_v, h_u, e_{uv})\Big), \quad
        \bigoplus = \big(1, s, s^{-1}\big) \otimes \big(\mu, \max, \min, \sigma\big), \quad s = \log(d_v + 1) / \delta

    with :math:`\delta` the mean of :math:`\log(d + 1)` over nodes of training graphs. The backbone ``pna`` of
    `escgnn.models.ESCGNN` is PyG's form of it: one tower, sums as a fifth way, our norms and read-out.

    Args:
        out_channels: Numbers to predict for every graph, node or edge.
        node_features: What ``x`` holds, as for `escgnn.models.ESCGNN`.
        edge_features: What ``edge_attr`` holds; the simple variant does not read it.
        level: Whether to predict for every ``"graph"``, ``"node"`` or ``"edge"``.
        variant: ``"towers"``, as on ZINC: the formula above on slices of the vectors, mixed by a linear map; ``"simple"``, as on
            ogbg-molhiv: :math:`h_v' = h_v + \mathrm{ReLU}(U(\bigoplus_u h_u))`.
        hidden: Size of the vectors of nodes.
        last: Their size after the last round, if it is another.
        layers: Number of rounds.
        edge_hidden: Size of the vectors of edges.
        towers: How many.
        aggregators: Of ``"mean"``, ``"max"``, ``"min"`` and ``"std"``.
        scalers: Of ``"identity"``, ``"amplification"`` and ``"attenuation"``.
        graph_norm: Whether vectors are divided by the root of the number of nodes before they are normalised, as on ZINC.
        norm: ``"batch"``, ``"layer"`` or ``"none"``.
        dropout: Share of values dropped in every round.
        pool: How nodes make a graph: ``"sum"``, ``"mean"`` or ``"attention"``.
        degrees: Number of nodes of degree 0, 1, 2, ... in the training graphs, measured.

    Shapes:
        A batch to (graphs, out_channels), (nodes, out_channels) or (edges, out_channels).
    """

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
        edge_hidden: int = 48,
        towers: int = 4,
        aggregators: Sequence[str] = AGGREGATORS,
        scalers: Sequence[str] = SCALERS,
        graph_norm: bool = True,
        norm: str = "batch",
        dropout: float = 0.0,
        pool: str = "sum",
        degrees: Sequence[int] | None = None,
    ) -> None:
        super().__init__(locals())
        self.add_body()
