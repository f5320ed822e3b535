"""OSAN: message passing on the graph and on a few of its subgraphs, which a network of its own chooses.

Qian et al., Ordered Subgraph Aggregation Networks, NeurIPS 2022: its data-driven variant, trained by implicit maximum likelihood.
"""

from collections.abc import Mapping
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional
from torch_geometric.data import Batch
from torch_geometric.utils import softmax

from escgnn.bags import MAX_ROWS, NODE_ARRAYS, copies_bag, node_bag, rows_that_fit
from escgnn.layers import NORMS, FeatureEncoder, perceptron
from escgnn.models.choosing import Map, best_forest, best_rows, both_ends, gumbel, implicit_mle, ranks, with_loss
from escgnn.models.convs import CopyGINE
from escgnn.models.frame import Frame, check_shared

CHOICES = ("node", "edge", "khop", "dual", "mst", "ordered")
OF_EDGES = ("edge", "mst")
OF_BALLS = ("khop", "dual")
ORDER_WIDTH = 32


class OSAN(Frame):
    r"""T chosen subgraphs and the whole graph: messages weighed by 0 or 1, and the mean of all of them.

    A first network gives every node or edge a row of scores :math:`\theta`, a column for each subgraph, and
    :math:`z = \mathrm{Map}(\theta + \epsilon)`, with Gumbel noise, says what is in it; `implicit_mle` gives gradients. In
    evaluation there is no noise: nothing is drawn. Of equal scores, as of nodes that 1-WL does not tell apart, the first
    are taken; see `escgnn.models.choosing.best_rows`.

    A second network, GINE with messages times :math:`z_u z_v`, runs on all copies: rounds
    :math:`(x + \mathrm{ReLU}(\mathrm{GINE}(x))) / \sqrt 2`, the mean over the nodes kept, three layers, the mean over
    subgraphs, and a linear map. Norms use running statistics in evaluation, so that a graph's prediction does not depend
    on its batch.

    With ``"ordered"`` no edge is left out. A chosen node knows which of the chosen it is adjacent to, the best first, a number
    for each, through a perceptron; of a node the sum over those subgraphs is taken that it is chosen in, and then the mean over
    nodes. (In the authors' code all subgraphs of a graph share these numbers by accident: those of the last.)

    Args:
        out_channels: Numbers to predict for every graph.
        policy: What is chosen: the best ``"node"``s or ``"edge"``s; ``"khop"``, the ball with the highest mean score, or
            ``"dual"``, all but that with the lowest (the node with the highest score stays), which read what
            `escgnn.transforms.ChoiceBags` cuts; ``"mst"``, the spanning tree with the highest scores of edges; or
            ``"ordered"``, the best nodes in their order, see below.
        picks: Subgraphs chosen, T.
        keep: How many nodes or edges to keep; or, below 0, how many to leave out. At least one is kept. Balls and trees do not
            read it, and ``"ordered"`` does not know how many of a graph are left, so it takes 1 or more only.
        node_features: What ``x`` holds, as for `FeatureEncoder`.
        edge_features: What ``edge_attr`` holds, likewise; every convolution has its own encoder.
        level: ``"graph"``: the paper does not define it for nodes or edges.
        hidden: Size of all vectors.
        layers: Rounds of the second network.
        first_layers: Rounds of the first.
        norm: ``"batch"``, ``"layer"`` or ``"none"``. What is left out takes part in batch norms, as in the authors' code.
        dropout: Share of values dropped after every round of the second network.
        beta: Step of `implicit_mle`; the authors have 1 for ``"mst"``.
        auxiliary: Weight of the divergence of :math:`\mathrm{softmax}_v \sum_t z_{vt}` from uniform, summed over graphs, so that
            subgraphs differ; the authors try 0.1, 1 and 10. It is no part of the loss that is reported.
        max_rows: A batch whose T + 1 copies have more rows is refused, with fewer if vectors are
            longer than 64; see `rows_that_fit`.

    Shapes:
        A batch to (graphs, out_channels).

    >>> from torch_geometric.data import Data
    >>> triangle = Data(edge_index=torch.tensor([[0, 1, 1, 2, 2, 0], [1, 0, 2, 1, 0, 2]]), num_nodes=3)
    >>> OSAN(out_channels=3, policy="edge").eval()(triangle).shape
    torch.Size([1, 3])
    """

    levels = ("graph",)

    def __init__(
        self,
        out_channels: int,
        *,
        policy: str = "node",
        picks: int = 3,
        keep: int = -1,
        node_features: Mapping[str, Any] | None = None,
        edge_features: Mapping[str, Any] | None = None,
        level: str = "graph",
        hidden: int = 64,
        layers: int = 4,
        first_layers: int = 3,
        norm: str = "batch",
        dropout: float = 0.0,
        beta: float = 10.0,
        auxiliary: float = 0.0,
        max_rows: int = MAX_ROWS,
    ) -> None:
        super().__init__(locals())
        self.check(self.settings)
        self.picks = picks
        self.policy = policy
        self.beta = beta
        self.dropout = dropout
        self.auxiliary = auxiliary
        self.position = None
        self.first = Scores(hidden, picks, first_layers, norm, node_features, edge_features)
        self.add_features(hidden)
        self.edges = None  # convolutions have their own
        self.order = perceptron(keep, ORDER_WIDTH, hidden, bias=False) if policy == "ordered" else None
        self.convs = nn.ModuleList(CopyGINE(hidden, edge_features=edge_features, norm=norm) for _ in range(layers))
        self.norms = nn.ModuleList(NORMS[norm](hidden) for _ in range(layers))
        steps = [step for _ in range(3) for step in (nn.Linear(hidden, hidden), nn.ReLU())]
        self.subgraphs = nn.Sequential(*steps)
        self.last = nn.Linear(hidden, out_channels)

    @classmethod
    def check(cls, settings: Mapping[str, Any]) -> None:
        """Refuse values that mean nothing."""
        check_shared(settings, {"policy": CHOICES})
        for name in ("picks", "first_layers"):
            if settings.get(name, 1) < 1:
                raise ValueError(f"{name}: {settings[name]}; expected an integer from 1")
        if settings.get("keep", 1) == 0:
            raise ValueError("keep: 0; expected how many to keep, or below 0 how many to leave out")
        if settings.get("policy") == "ordered" and settings.get("keep", 1) < 1:
            raise ValueError(f"keep: {settings['keep']}; expected an integer from 1, as nodes are put in order")
        if settings.get("beta", 1) <= 0:
            raise ValueError(f"beta: {settings['beta']}; expected a number above 0")
        if settings.get("auxiliary", 0) < 0:
            raise ValueError(f"auxiliary: {settings['auxiliary']}; expected a number from 0")

    @property
    def reads(self) -> frozenset[str]:
        """The attributes of a batch that the network reads."""
        return super().reads | (NODE_ARRAYS if self.policy in OF_BALLS else frozenset())

    @property
    def cannot_export(self) -> str:
        """Why it cannot be a program of its own."""
        return "OSAN cannot be exported, as the sizes of its tensors depend on those of the graphs"

    def forward_tensors(self, tensors: Mapping[str, Tensor]) -> Tensor:
        """Predictions from plain tensors by name, those that `reads` lists."""
        batch = tensors["batch"]
        max_rows = rows_that_fit(self.settings["hidden"], self.settings["max_rows"])
        bag = copies_bag(Batch(**tensors), self.picks + 1, max_rows=max_rows)
        which = bag.subgraph % (self.picks + 1)  # (M,) 0 for the whole graph
        scores = self.first(tensors)  # (N, T)
        kept = scores.new_ones(scores.size(0), self.picks)  # (N, T)
        if self.policy in OF_EDGES:
            edge, home, columns = undirected(tensors["edge_index"], batch)
            scores = scores[edge].sum(1)  # (U, T), of both ends
        else:
            home = batch
        noise = gumbel(scores) if self.training else torch.zeros_like(scores)
        if self.policy == "mst":
            choose: Map = partial(best_forest, edge=edge, num_nodes=batch.numel())
        else:
            choose = self._balls(tensors) if self.policy in OF_BALLS else self._map(home, bag.num_graphs)
        chosen = implicit_mle(scores, noise, choose, self.beta)  # (N or U, T)
        x = bag.lift(self.node_vectors(tensors))  # (M, hidden)
        if self.policy in OF_EDGES:
            weight = chosen[columns]  # (E, T)
        else:
            kept = chosen
            weight = both_ends(chosen, tensors["edge_index"])  # (E, T)
        if self.order is not None:
            place = ranks(scores.detach() + noise, batch, bag.num_graphs)  # (N, T)
            rows = adjacent_chosen(place, tensors["edge_index"], self.settings["keep"]).to(x.dtype)  # (N, T, keep)
            rows = torch.cat([torch.zeros_like(rows[:, :1]), rows], 1)  # (N, T + 1, keep)
            x = x + self.order(rows[bag.node, which])  # (M, hidden)
            weight = torch.ones_like(weight)

        weight = with_whole(weight)[bag.column, which[bag.edge_index[1]]]  # (K,)
        kept = with_whole(kept)[bag.node, which].unsqueeze(1)  # (M, 1)
        for conv, norm in zip(self.convs, self.norms, strict=True):
            new = norm(conv(x, bag, tensors.get("edge_attr"), weight=weight)).relu()  # (M, hidden)
            x = (x + functional.dropout(new, self.dropout, self.training)) / 2**0.5
        if self.order is not None:
            h = bag.to_nodes(x * kept)  # (N, hidden)
            size = tensors["ptr"].diff().clamp_min(1).unsqueeze(1)  # (G, 1)
            mean = h.new_zeros(bag.num_graphs, h.size(1)).index_add(0, batch, h) / size  # (G, hidden)
            out: Tensor = self.last(self.subgraphs(mean))  # (G, out_channels)
        else:
            number = bag.to_subgraphs(kept.detach()).clamp_min(1)  # (S, 1)
            z = self.subgraphs(bag.to_subgraphs(x * kept) / number)  # (S, hidden)
            out = self.last(bag.to_graphs(z, "mean"))  # (G, out_channels)
        if self.training and self.auxiliary:
            out = with_loss(out, self.auxiliary * from_uniform(chosen.sum(1), home, bag.num_graphs))
        return out

    def _map(self, home: Tensor, num_graphs: int) -> Map:
        """Keeps the best rows of each graph."""
        sizes = torch.bincount(home, minlength=num_graphs)  # (G,)
        keep: int = self.settings["keep"]
        number = (sizes + keep if keep < 0 else torch.full_like(sizes, keep)).clamp_min(1)  # (G,)
        return lambda scores: best_rows(scores, home, number)

    def _balls(self, tensors: Mapping[str, Tensor]) -> Map:
        """Keeps the ball of each graph with the highest mean score, or for ``dual`` all but that with the lowest."""
        bag = node_bag(Batch(**tensors))
        batch = tensors["batch"]
        one = torch.ones(bag.num_graphs, dtype=torch.long, device=bag.node.device)

        def ball(scores: Tensor, sign: int) -> Tensor:
            means = bag.to_subgraphs(bag.lift(scores), "mean")  # (N, T)
            roots = best_rows(sign * means, batch, one).to(scores.dtype)  # (N, T)
            return bag.to_nodes(bag.spread(roots)) > 0

        if self.policy == "khop":
            return lambda scores: ball(scores, 1)
        return lambda scores: ~ball(scores, -1) | best_rows(scores, batch, one)


class Scores(nn.Module):
    r"""Rows of T scores for all nodes: rounds of :math:`\sum_u \mathrm{ReLU}(W x_u + e_{uv}) / \sqrt{(d_u + 1)(d_v + 1)}`."""

    def __init__(
        self,
        channels: int,
        outputs: int,
        layers: int,
        norm: str,
        node_features: Mapping[str, Any] | None,
        edge_features: Mapping[str, Any] | None,
    ) -> None:
        super().__init__()
        self.nodes = FeatureEncoder(**(node_features or {"kind": None, "sizes": ()}), channels=channels)
        encoders = [FeatureEncoder(**edge_features, channels=channels) for _ in range(layers)] if edge_features else []
        self.edges = nn.ModuleList(encoders)
        self.linears = nn.ModuleList(nn.Linear(channels, channels) for _ in range(layers))
        self.norms = nn.ModuleList(NORMS[norm](channels) for _ in range(layers))
        self.head = nn.Linear(
            channels, outputs, bias=False
        )  # a bias would not change which are best, so none could learn
        if norm != "none":
            self.norms[-1].register_parameter("bias", None)

    def forward(self, tensors: Mapping[str, Tensor]) -> Tensor:
        """The scores, (N, T)."""
        source, target = tensors["edge_index"]
        num_nodes = tensors["batch"].numel()
        x = self.nodes(tensors["x"] if self.nodes.kind else None, num_nodes)  # (N, channels)
        degree = torch.bincount(target, minlength=num_nodes).to(x.dtype) + 1
        share = (degree[source] * degree[target]).rsqrt().unsqueeze(1)  # (E, 1)
        for i, (linear, norm) in enumerate(zip(self.linears, self.norms, strict=True)):
            messages = linear(x).index_select(0, source)  # (E, channels)
            if self.edges:
                messages = messages + self.edges[i](tensors["edge_attr"], source.size(0))
            x = norm(torch.zeros_like(x).index_add(0, target, messages.relu() * share).relu())  # (N, channels)
        out: Tensor = self.head(x)
        return out


def undirected(edge_index: Tensor, batch: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Both ends of each undirected edge (U, 2), its graph (U,), and for every column the number of its edge (E,)."""
    edge, columns = torch.unique(edge_index.sort(0).values, dim=1, return_inverse=True)
    return edge.t(), batch[edge[0]], columns


def adjacent_chosen(place: Tensor, edge_index: Tensor, keep: int) -> Tensor:
    """Which of the best ``keep`` nodes of its graph a node is adjacent to if it is one of them, (N, T, keep) zeros and ones.

    >>> path = torch.tensor([[0, 1, 1, 2], [1, 0, 2, 1]])
    >>> adjacent_chosen(torch.tensor([[2], [0], [1]]), path, 2).squeeze(1).tolist()
    [[0, 0], [0, 1], [1, 0]]

    Args:
        place: Of each node in the order of its graph, 0 for the best, (N, T).
        edge_index: (2, E).
        keep: How many are chosen.
    """
    source, target = edge_index
    picks = place.size(1)
    is_among = (place[source] < keep) & (place[target] < keep)  # (E, T)
    column, pick = is_among.nonzero(as_tuple=True)
    cell = (target[column] * picks + pick) * keep + place[source[column], pick]
    rows = place.new_zeros(place.numel() * keep).index_fill(0, cell, 1)
    return rows.view(-1, picks, keep)


def with_whole(chosen: Tensor) -> Tensor:
    """The whole graph, then those chosen: (rows, T) to (rows, T + 1)."""
    return torch.cat([torch.ones_like(chosen[:, :1]), chosen], 1)


def from_uniform(often: Tensor, home: Tensor, num_graphs: int) -> Tensor:
    """The divergence of the uniform distribution over the rows of each graph from their softmax, per row, summed."""
    chances = softmax(often, home, num_nodes=num_graphs)  # (rows,)
    size = torch.bincount(home, minlength=num_graphs)[home].to(often.dtype)  # (rows,)
    divergence: Tensor = ((-size.log() - chances.log()) / size.square()).sum()
    return divergence
