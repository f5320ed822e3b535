"""k-GNNs: message passing between sets of nodes.

Morris et al., Weisfeiler and Leman Go Neural: Higher-order Graph Neural Networks, AAAI 2019.
"""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import torch
from torch import Tensor, nn
from torch.nn import functional

from escgnn.models.frame import Network, check_shared
from escgnn.models.pairs import POOLS, Pairs, RawFeatures, pooled

TRIPLES = frozenset({"triple_len", "triple_member", "triple_inside", "triple_in", "triple_source"})


class KGNN(Network):
    r"""Rounds on nodes, then on sets of two and of three nodes; all are pooled and read side by side.

    .. math::
        f'(s) = \sigma\Big(f(s) W_1 + \sum_{t \in N(s)} f(t) W_2\Big)

    with local neighbours: sets that differ in one node, the exchanged nodes being adjacent. A set starts with its type and, if
    there are rounds on nodes, the mean of its nodes' vectors. The type is the sum over members of (how many of the others it is
    adjacent to) :math:`\otimes\, (1, x)`: as good as the isomorphism type of labelled sets of up to three nodes, and independent
    of the numbering, as that of the authors' code is not: it reads off the smallest and largest number whether three nodes are a
    triangle. Rounds on nodes are of this form, too, or, if edges have features, with a matrix :math:`W_2(e_{uv})` for each edge
    (`NNConv`), as the authors have it on QM9.

    Rows of the zoo are 1-GNN (``sets=[1]``), 1-2-3-GNN (``[1, 2, 3]``, three nodes if they hang together) and 3-GNN (``[3]``, all
    sets of three nodes), as its row on EXP was measured.

    Args:
        out_channels: Numbers to predict for every graph; for every node, if there are sets of one only.
        sets: Sizes of the sets.
        node_features: What ``x`` holds, as for `escgnn.models.ESCGNN`; categories become channels, one-hot.
        edge_features: What ``edge_attr`` holds, likewise; read by rounds on nodes.
        level: ``"graph"`` or, for `OneGNN`, ``"node"``.
        hidden: Size of all vectors.
        layers: Rounds on nodes; rounds on sets of three, if there are no others.
        set_layers: Rounds on sets of two and of three.
        first: Size of the vectors after the first round on nodes, 32 in the authors' runs; ``hidden`` if None.
        edge_hidden: Size inside the perceptron that makes the matrices of edges.
        aggregate: ``"sum"`` of neighbours, the paper's, or ``"mean"``, as in the authors' code, which is weaker; where edges
            have matrices it is a sum in any case, as theirs.
        pool: How sets of each size make a graph: ``"sum"``, ``"mean"`` as in the authors' code, or ``"max"`` as for 3-GNN.
        head: Widths inside the last perceptron.
        dropout: Share of values dropped inside it.

    Shapes:
        A batch to (graphs, out_channels) or (nodes, out_channels).
    """

    levels: ClassVar[tuple[str, ...]] = ("graph",)

    def __init__(
        self,
        out_channels: int,
        *,
        sets: Sequence[int] = (1, 2, 3),
        node_features: Mapping[str, Any] | None = None,
        edge_features: Mapping[str, Any] | None = None,
        level: str = "graph",
        hidden: int = 64,
        layers: int = 3,
        set_layers: int = 2,
        first: int | None = None,
        edge_hidden: int = 128,
        aggregate: str = "sum",
        pool: str = "sum",
        head: Sequence[int] = (64, 32),
        dropout: float = 0.0,
    ) -> None:
        super().__init__(locals())
        self.check(self.settings)
        self.sets = sorted({*sets})
        self.node_channels = RawFeatures(node_features)
        width = self.node_channels.channels
        has_edges = edge_features is not None and 1 in self.sets
        self.edge_channels = RawFeatures(edge_features) if has_edges else None
        self.nodes = nn.ModuleList()
        node_width = width
        for i in range(layers if 1 in self.sets else 0):
            out = first if i == 0 and first else hidden
            bonds = self.edge_channels.channels if self.edge_channels is not None else None
            self.nodes.append(SetConv(node_width, out, aggregate, bonds, edge_hidden))
            node_width = out
        lower = node_width if 1 in self.sets else 0
        types = 1 + width if node_features else 1
        rounds = layers if self.sets == [3] else set_layers
        self.pairs = nn.ModuleList()
        self.triples = nn.ModuleList()
        for size, convs in ((2, self.pairs), (3, self.triples)):
            for i in range(rounds if size in self.sets else 0):
                convs.append(SetConv(hidden if i else size * types + lower, hidden, aggregate))
        read = [node_width if size == 1 else hidden for size in self.sets]
        steps: list[nn.Module] = []
        inputs = sum(read)
        for inside in head:
            steps += [nn.Linear(inputs, inside), nn.ELU(), nn.Dropout(dropout)]
            inputs = inside
        self.head = nn.Sequential(*steps, nn.Linear(inputs, out_channels))

    @classmethod
    def check(cls, settings: Mapping[str, Any]) -> None:
        """Refuse values that mean nothing."""
        own = {"set_pool": settings.get("pool", "sum"), "aggregate": settings.get("aggregate", "sum")}
        others = {name: value for name, value in settings.items() if name not in ("pool", "aggregate")}
        check_shared({**others, **own}, {"set_pool": POOLS, "aggregate": ("sum", "mean")})
        sets = settings.get("sets", (1, 2, 3))
        if not sets or not {*sets} <= {1, 2, 3}:
            raise ValueError(f"sets: {sets!r}; expected one or more of 1, 2, 3")
        if settings.get("level") == "node" and {*sets} != {1}:
            raise ValueError(f"level: 'node'; {cls.__name__} with sets of {[*sets]} is defined for graph")

    @property
    def reads(self) -> frozenset[str]:
        """The attributes of a batch that the network reads."""
        names = super().reads if 1 in self.sets else super().reads - {"edge_attr"}
        return names | TRIPLES if 3 in self.sets else names

    @property
    def cannot_export(self) -> str:
        """Why it cannot be a program of its own: the sizes of graphs say which products there are."""
        if 2 in self.sets:
            return (
                "sets of two nodes cannot be exported, as graphs of equal size are multiplied together, "
                "and a program cannot ask for sizes"
            )
        return ""

    def forward_tensors(self, tensors: Mapping[str, Tensor]) -> Tensor:
        """Predictions from plain tensors by name, those that `reads` lists."""
        batch = tensors["batch"]
        graphs = tensors["ptr"].numel() - 1
        last = self.head[-1]
        assert isinstance(last, nn.Linear)
        x = self.node_channels(tensors.get("x"), batch.numel(), last.weight)  # (N, columns)
        vectors: Tensor | None = None
        read = []
        if 1 in self.sets:
            vectors = self._on_nodes(x, tensors)  # (N, hidden)
            read.append((vectors, batch))
        labels = torch.cat([torch.ones_like(x[:, :1]), x], 1) if self.node_channels.kind else x  # (N, 1 or 1 + columns)
        if 2 in self.sets:
            read.append(self._on_pairs(labels, vectors, tensors))
        if 3 in self.sets:
            read.append(self._on_triples(labels, vectors, tensors))
        if self.settings["level"] == "node":
            h = read[0][0]  # (N, hidden)
        else:
            how = self.settings["pool"]
            h = torch.cat([pooled(rows, graph, graphs, how) for rows, graph in read], 1)  # (G, sizes * hidden)
        out: Tensor = self.head(h)  # (rows, out_channels)
        return out

    def _on_nodes(self, h: Tensor, tensors: Mapping[str, Tensor]) -> Tensor:
        source, target = tensors["edge_index"]
        edge = None
        if self.edge_channels is not None:
            edge = self.edge_channels(tensors["edge_attr"], source.size(0), h)  # (E, columns)
        for conv in self.nodes:
            assert isinstance(conv, SetConv)
            h = conv.along(h, source, target, edge)  # (N, hidden)
        return h

    def _on_pairs(self, labels: Tensor, vectors: Tensor | None, tensors: Mapping[str, Tensor]) -> tuple[Tensor, Tensor]:
        """Vectors of all sets of two, in both orders but for the diagonal, and their graphs."""
        pairs = Pairs(tensors["ptr"])
        squares = pairs.equal_sizes()
        adjacent = pairs.adjacency(tensors["edge_index"], tensors["batch"], labels.dtype)  # (P, 1)
        off = (pairs.first != pairs.second).unsqueeze(1)  # (P, 1)
        adjacent = adjacent * off  # loops are no edges between two
        both = labels[pairs.first] + labels[pairs.second]  # (P, labels)
        h = torch.cat([both * (1 - adjacent), both * adjacent], 1)  # (P, 2 labels): degree 0 or 1 inside
        if vectors is not None:
            h = torch.cat([h, (vectors[pairs.first] + vectors[pairs.second]) / 2], 1)
        h = h * off
        swapped = pairs.swapped  # (P,)
        degree = torch.zeros_like(labels[:, :1]).index_add(0, pairs.first, adjacent)  # (N, 1)
        number = degree[pairs.first] + degree[pairs.second] - 2 * adjacent  # (P, 1) of neighbours
        for conv in self.pairs:
            one = pairs.product(adjacent, h, squares)  # (P, channels): the first node is exchanged
            h = (
                conv(h, one + one[swapped], number) * off
            )  # matrices are symmetric; those of a node with itself stay zero
        once = pairs.first < pairs.second  # (P,)
        return h[once], pairs.graph[once]

    def _on_triples(
        self, labels: Tensor, vectors: Tensor | None, tensors: Mapping[str, Tensor]
    ) -> tuple[Tensor, Tensor]:
        """Vectors of all sets of three, and their graphs."""
        length = tensors["triple_len"]  # (G,)
        inside = tensors["triple_inside"]  # (S, 3)
        graph = torch.repeat_interleave(length, output_size=inside.size(0))  # (S,)
        member = tensors["triple_member"] + tensors["ptr"][graph].unsqueeze(1)  # (S, 3)
        each = labels[member]  # (S, 3, labels)
        parts = [(each * (inside == degree).unsqueeze(2)).sum(1) for degree in range(3)]
        if vectors is not None:
            parts.append(vectors[member].mean(1))
        h = torch.cat(parts, 1)  # (S, 3 labels + hidden)
        source = tensors["triple_source"]  # (arcs,)
        target = torch.repeat_interleave(tensors["triple_in"], output_size=source.size(0))  # (arcs,)
        source = source + (length.cumsum(0) - length)[graph[target]]
        for conv in self.triples:
            assert isinstance(conv, SetConv)
            h = conv.along(h, source, target)  # (S, hidden)
        return h, graph


class OneGNN(KGNN):
    """Sets of one node: message passing, for graphs and nodes. Arguments are those of `KGNN`."""

    levels: ClassVar[tuple[str, ...]] = ("graph", "node")


class SetConv(nn.Module):
    """The formula of `KGNN`, (rows, inputs) to (rows, outputs): PyG's ``GraphConv``, or ``NNConv`` where edges have features.

    Args:
        inputs: Size of the vectors.
        outputs: Size of the new ones.
        aggregate: ``"sum"`` or ``"mean"`` over neighbours.
        edge_channels: Channels of edges; None without them.
        edge_hidden: Size inside the perceptron of edges.
    """

    def __init__(
        self, inputs: int, outputs: int, aggregate: str, edge_channels: int | None = None, edge_hidden: int = 128
    ) -> None:
        super().__init__()
        self.aggregate = aggregate
        self.own = nn.Linear(inputs, outputs)
        self.other: nn.Module = nn.Linear(inputs, outputs, bias=False)
        if edge_channels is not None:
            self.other = nn.Sequential(
                nn.Linear(edge_channels, edge_hidden), nn.ReLU(), nn.Linear(edge_hidden, inputs * outputs)
            )

    def forward(self, h: Tensor, heard: Tensor, number: Tensor) -> Tensor:
        """New vectors, given the sums over neighbours, (rows, inputs), and how many these are, (rows, 1)."""
        if self.aggregate == "mean":
            heard = heard / number.clamp_min(1)
        return functional.elu(self.own(h) + self.other(heard))  # (rows, outputs)

    def along(self, h: Tensor, source: Tensor, target: Tensor, edge: Tensor | None = None) -> Tensor:
        """New vectors, given who hears from whom, (arcs,) twice, and perhaps channels of the edges between."""
        sent = h.index_select(0, source)  # (arcs, inputs)
        if edge is None:
            number = h.new_zeros(h.size(0), 1).index_add(0, target, torch.ones_like(sent[:, :1]))  # (rows, 1)
            out: Tensor = self(h, torch.zeros_like(h).index_add(0, target, sent), number)
            return out
        own = self.own(h)  # (rows, outputs)
        matrices = self.other(edge).view(-1, h.size(1), own.size(1))  # (arcs, inputs, outputs)
        messages = torch.einsum("ei,eio->eo", sent, matrices)  # (arcs, outputs)
        return functional.elu(own.index_add(0, target, messages))
