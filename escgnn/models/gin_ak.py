"""GIN-AK and GIN-AK+: every layer of message passing is a small network on the ball of each node.

Zhao et al., From Stars to Subgraphs: Uplifting Any GNN with Local Structure Awareness, ICLR 2022.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from escgnn.bags import MAX_ROWS, Bag
from escgnn.layers import NORMS, check_choice
from escgnn.models.bagged import Bagged, check_bagged
from escgnn.models.convs import CopyGINE, CopyLayer

TERMS = ("centroid", "subgraph", "context")
JOINS = ("concat", "add")
HOWS = ("sum", "mean")


class KernelLayer(nn.Module):
    """One layer: from vectors of nodes to copies, some rounds in the balls, and back to nodes in up to three ways.

    `GINAK` says what the settings mean.
    """

    def __init__(self, settings: Mapping[str, Any], hops: int) -> None:
        super().__init__()
        hidden = settings["hidden"]
        norm = settings["norm"]
        distance = settings["distance"] if settings["plus"] else 0
        self.terms = [*settings["terms"]] if settings["plus"] else ["centroid", "subgraph"]
        self.how: str = settings["ball_pool"]
        self.concat = settings["join"] == "concat"
        self.dropout: float = settings["dropout"]
        self.hops = nn.Embedding(hops + 1, distance) if distance else None
        self.inner = nn.ModuleList()
        for _ in range(settings["inner"]):
            conv = CopyGINE(hidden + distance, edge_features=settings["edge_features"], norm=norm)
            self.inner.append(CopyLayer(conv, hidden + distance, norm, settings["dropout"], residual=True))
        self.narrow = nn.Linear(hidden + distance, hidden) if distance else nn.Identity()
        pooled = [term for term in self.terms if term != "centroid"]
        self.maps = nn.ModuleDict({term: _map(hidden, norm) for term in pooled} if distance else {})
        self.gates = nn.ModuleDict({term: nn.Linear(distance, hidden) for term in self.terms} if distance else {})
        width = hidden * len(self.terms)
        self.last = nn.Linear(width, hidden, bias=norm != "batch") if self.concat else nn.Identity()
        self.norm = NORMS[norm](hidden)

    def forward(self, h: Tensor, bag: Bag, edge_attr: Tensor | None) -> Tensor:
        """New vectors of all nodes, (N, hidden)."""
        x = bag.lift(h)  # (M, hidden)
        hop = None
        if self.hops is not None:
            hop = self.hops(bag.hop)  # (M, distance)
            x = torch.cat([x, hop], 1)  # (M, hidden + distance)
        for layer in self.inner:
            x = layer(x, bag, edge_attr)
        x = self.narrow(x)  # (M, hidden)
        found = [self._back(term, x, hop, bag) for term in self.terms]  # (N, hidden) each
        out = self.last(torch.cat(found, 1)) if self.concat else sum(found[1:], found[0])  # (N, hidden)
        return h + functional.dropout(self.norm(out).relu(), self.dropout, self.training)

    def _back(self, term: str, x: Tensor, hop: Tensor | None, bag: Bag) -> Tensor:
        """What nodes get of copies, (N, hidden): of their own, of those in their ball, or of those of them in all balls."""
        if term == "centroid":
            centre = bag.at_centres(x)
            return centre if hop is None else centre * self.gates[term](bag.at_centres(hop)).sigmoid()
        if hop is not None:
            x = self.maps[term](x) * self.gates[term](hop).sigmoid()  # (M, hidden)
        return bag.to_subgraphs(x, self.how) if term == "subgraph" else bag.to_nodes(x, self.how)


def _map(hidden: int, norm: str) -> nn.Module:
    return nn.Sequential(nn.Linear(hidden, hidden, bias=norm != "batch"), NORMS[norm](hidden), nn.ReLU())


class GINAK(Bagged):
    r"""GIN as a kernel: a node's new vector is what GINE makes of its ball, and of it in the balls of others.

    .. math::
        c_{s,v} = \mathrm{GINE}([x \,\|\, D(d_{sv})])_v, \qquad
        x_v' = x_v + W \big[ c_{v,v} \odot g_0 \,\big\|\, \textstyle\sum_{u \in B(v)} T(c_{v,u}) \odot g_{d_{vu}}
        \,\big\|\, \sum_{s : v \in B(s)} T'(c_{s,v}) \odot g'_{d_{sv}} \big]

    the *centroid*, *subgraph* and *context* of GIN-AK+, gates g from the distance. GIN-AK without plus has the first two, without
    distances and gates. Copies live inside a layer only, so between layers all balls of a neighbourhood talk to each other.

    Args:
        out_channels: Numbers to predict for every graph, node or edge.
        hops: Radius of the balls, ``transform.hops``.
        node_features: What ``x`` holds, as for `escgnn.models.ESCGNN`.
        edge_features: What ``edge_attr`` holds; each round has its own embedding of them.
        level: Whether to predict for every ``"graph"``, ``"node"`` or ``"edge"``.
        hidden: Size of all vectors of nodes.
        layers: Number of layers.
        inner: Rounds of GINE in each.
        plus: GIN-AK+, or without it GIN-AK, which reads neither ``distance`` nor ``terms``.
        distance: Size of the embedding of distances.
        terms: What is brought back to nodes. On ogbg-molhiv the authors leave ``"subgraph"`` out.
        join: ``"concat"`` and a linear map, or ``"add"``, as the authors on ogbg-molhiv.
        ball_pool: ``"sum"`` or ``"mean"`` over copies.
        norm: ``"batch"`` (over copies, inside), ``"layer"`` or ``"none"``.
        dropout: Share of values dropped after every round.
        pool: How nodes make a graph: ``"sum"``, ``"mean"`` or ``"attention"``.
        max_rows: A bag with more copies or edges is refused, with fewer if vectors are longer than 64; see `rows_that_fit`.

    Shapes:
        A batch to (graphs, out_channels), (nodes, out_channels) or (edges, out_channels).
    """

    def __init__(
        self,
        out_channels: int,
        hops: int,
        *,
        node_features: Mapping[str, Any] | None = None,
        edge_features: Mapping[str, Any] | None = None,
        level: str = "graph",
        hidden: int = 64,
        layers: int = 4,
        inner: int = 1,
        plus: bool = True,
        distance: int = 16,
        terms: Sequence[str] = TERMS,
        join: str = "concat",
        ball_pool: str = "sum",
        norm: str = "batch",
        dropout: float = 0.0,
        pool: str = "sum",
        max_rows: int = MAX_ROWS,
    ) -> None:
        super().__init__(locals())
        self.check(self.settings)
        self.add_features(hidden)
        self.layers = nn.ModuleList(KernelLayer(self.settings, hops) for _ in range(layers))
        self.add_read_out(hidden, 0, hidden)

    @classmethod
    def check(cls, settings: Mapping[str, Any]) -> None:
        """Refuse values that mean nothing."""
        check_bagged(settings, {"join": JOINS, "ball_pool": HOWS})
        for name in ("inner", "distance"):
            if settings.get(name, 1) < 1:
                raise ValueError(f"{name}: {settings[name]}; expected an integer from 1")
        terms = settings.get("terms", TERMS)
        for term in terms:
            check_choice("terms", term, TERMS)
        if not terms or len({*terms}) < len(terms):
            raise ValueError(f"terms: {terms}; expected one or more of {', '.join(TERMS)}, each once")

    def vectors(self, h: Tensor, bag: Bag, edge_attr: Tensor | None) -> Tensor:
        """Vectors of all nodes after the last layer."""
        for layer in self.layers:
            h = layer(h, bag, edge_attr)  # (N, hidden)
        return h
