"""What networks on bags of subgraphs have in common: where copies are, and the moves between copies, nodes and subgraphs."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import torch
from torch import Tensor

from escgnn.bags.guard import check_rows

HOWS = ("sum", "mean")
# What a network that uses `node_bag` or `pair_bag` reads of a batch, and so what the transforms add.
NODE_ARRAYS = frozenset({"bag_len", "bag_member", "bag_hop", "bag_more", "bag_in", "bag_source", "bag_column"})
PAIR_ARRAYS = NODE_ARRAYS | {"bag_mates", "bag_mate_hop", "bag_mate_more"}


@dataclass(frozen=True, eq=False)
class Bag:
    r"""Subgraphs of the graphs of a batch, side by side: S of them, with M copies of nodes and K edges between copies.

    A network keeps one row for each copy, and alternates convolutions inside subgraphs, for which ``edge_index`` is made,
    with moves between copies (M), the batch's own nodes (N), subgraphs (S) and graphs (G):

    ================  ======  =========================================================================
    `lift`            N to M  every copy gets its node's row
    `spread`          S to M  every copy gets its subgraph's row
    `to_subgraphs`    M to S  sum or mean over the copies in a subgraph
    `to_nodes`        M to N  sum or mean over the copies of a node, in whichever subgraphs
    `at_centres`      M to S  the row of the root's copy; `at_mates`, that of its mate in bags of pairs
    `add_at_centres`  S to M  the root's copy gets its subgraph's row added to its own
    `swap`            M to M  the copy of v in the subgraph of k gets the row of k in that of v
    `to_roots`        S to N  sum or mean over the subgraphs of a root, in bags of pairs
    `to_graphs`       S to G  sum or mean over the subgraphs of a graph
    ================  ======  =========================================================================

    In a bag with a subgraph for each node, node k's is subgraph k. So ``lift`` takes rows of subgraphs, too: with
    x the row of copy (k, v), ``spread(at_centres(x))`` is that of (k, k) and ``lift(at_centres(x))`` that of (v, v).

    Example: the path 0 - 1 - 2 - 3 and its balls of one hop. Four subgraphs, ten copies, twelve edges between them::

        subgraph   0      1         2         3
        node       0 1    0 1 2     1 2 3     2 3
        hop        0 1    1 0 1     1 0 1     1 0
        copy       0 1    2 3 4     5 6 7     8 9

    >>> from torch_geometric.data import Batch, Data
    >>> from escgnn.transforms import RootedNodes
    >>> path = Data(edge_index=torch.tensor([[0, 1, 1, 2, 2, 3], [1, 0, 2, 1, 3, 2]]), num_nodes=4)
    >>> bag = node_bag(RootedNodes(hops=1)(path))
    >>> bag.subgraph.tolist(), bag.node.tolist()
    ([0, 0, 1, 1, 1, 2, 2, 2, 3, 3], [0, 1, 0, 1, 2, 1, 2, 3, 2, 3])
    >>> bag.centre.tolist()
    [0, 3, 6, 9]
    >>> bag.edge_index.tolist()
    [[1, 0, 3, 2, 4, 3, 6, 5, 7, 6, 9, 8], [0, 1, 2, 3, 3, 4, 5, 6, 6, 7, 8, 9]]
    >>> degree = torch.tensor([[1.0], [2.0], [2.0], [1.0]])
    >>> x = bag.lift(degree)  # (M, 1)
    >>> bag.to_subgraphs(x).flatten().tolist(), bag.to_nodes(torch.ones(10, 1)).flatten().tolist()
    ([3.0, 5.0, 5.0, 3.0], [2.0, 3.0, 3.0, 2.0])

    A network, then, is a few lines. NGNN: ``bag.to_graphs(bag.to_subgraphs(gnn(bag.lift(h) + label, bag.edge_index,
    edge_attr[bag.column])))``.

    Attributes:
        length: Copies in each subgraph, ``(S,)``.
        node: Node of the batch that each copy is a copy of, ``(M,)``; ascending inside a subgraph.
        edge_index: Source and target copies, ``(2, K)``, by target, then source.
        column: Column of the batch's ``edge_index`` that each edge is a copy of, ``(K,)``.
        graph: Graph of each subgraph, ``(S,)``.
        num_nodes: N.
        num_graphs: G.
        root: Root of each subgraph, ``(S,)``; None if subgraphs have none. So are the others that a bag does not have:
        centre: Copy of the root, ``(S,)``.
        mate: Copy of the mate, ``(S,)``, in bags of pairs.
        hop: Distance to the root, ``(M,)``, 255 outside.
        more: 1 where two neighbours or more are one step closer to the root, ``(M,)``.
        resistance: To the root, inside the subgraph, ``(M,)``.
        mate_hop: Like ``hop``, to the mate, inside the subgraph.
        mate_more: Like ``more``, to the mate.
        mate_resistance: To the mate, inside the subgraph.
    """

    length: Tensor
    node: Tensor
    edge_index: Tensor
    column: Tensor
    graph: Tensor
    num_nodes: int
    num_graphs: int
    root: Tensor | None = None
    centre: Tensor | None = None
    mate: Tensor | None = None
    hop: Tensor | None = None
    more: Tensor | None = None
    resistance: Tensor | None = None
    mate_hop: Tensor | None = None
    mate_more: Tensor | None = None
    mate_resistance: Tensor | None = None

    @property
    def num_copies(self) -> int:
        """M."""
        return self.node.size(0)

    @property
    def num_subgraphs(self) -> int:
        """S."""
        return self.length.size(0)

    @cached_property
    def subgraph(self) -> Tensor:
        """Subgraph of each copy, ``(M,)``, ascending."""
        return torch.repeat_interleave(self.length, output_size=self.num_copies)

    @cached_property
    def start(self) -> Tensor:
        """First copy of each subgraph, ``(S,)``."""
        return starts(self.length)

    @cached_property
    def is_centre(self) -> Tensor:
        """Whether each copy is that of its subgraph's root, ``(M,)``."""
        centre = self._required("centre")
        return torch.zeros_like(self.node, dtype=torch.bool).index_fill_(0, centre, True)

    @cached_property
    def identity(self) -> Tensor:
        """The mark of each copy, ``(M,)``: 1 the root, 2 its mate in bags of pairs, 0 all others."""
        mark = self.is_centre.long()
        if self.mate is not None:
            mark = mark.index_fill(0, self.mate, 2)
            mark = mark.masked_fill(self.is_centre, 1)  # a lone node is its own mate
        return mark

    @cached_property
    def transpose(self) -> Tensor:
        """The copy of k in the subgraph of v, for the copy of v in the subgraph of k, ``(M,)``: both exist or neither."""
        root = self._required("root")
        if root.size(0) != self.num_nodes or self.mate is not None:
            raise ValueError("swap: this bag does not have one subgraph for each node, so a copy need not have a twin")
        return torch.sort(self.node, stable=True).indices

    def lift(self, h: Tensor) -> Tensor:
        """Rows of nodes (N, d) to their copies (M, d)."""
        return h.index_select(0, self.node)

    def spread(self, z: Tensor) -> Tensor:
        """Rows of subgraphs (S, d) to their copies (M, d)."""
        return z.index_select(0, self.subgraph)

    def to_subgraphs(self, x: Tensor, how: str = "sum") -> Tensor:
        """Rows of copies (M, d) to subgraphs (S, d)."""
        return reduce(x, self.subgraph, self.num_subgraphs, how)

    def to_nodes(self, x: Tensor, how: str = "sum") -> Tensor:
        """Rows of copies (M, d) to the nodes they are copies of (N, d)."""
        return reduce(x, self.node, self.num_nodes, how)

    def at_centres(self, x: Tensor) -> Tensor:
        """Rows of copies (M, d) at the roots (S, d)."""
        return x.index_select(0, self._required("centre"))

    def add_at_centres(self, x: Tensor, z: Tensor) -> Tensor:
        """Rows of copies (M, d), at the roots with rows of subgraphs (S, d) added."""
        return x.index_add(0, self._required("centre"), z.to(x.dtype))

    def at_mates(self, x: Tensor) -> Tensor:
        """Rows of copies (M, d) at the roots' mates (S, d)."""
        return x.index_select(0, self._required("mate"))

    def swap(self, x: Tensor) -> Tensor:
        """Rows of copies (M, d), those of (k, v) and (v, k) exchanged."""
        return x.index_select(0, self.transpose)

    def to_roots(self, z: Tensor, how: str = "sum") -> Tensor:
        """Rows of subgraphs (S, d) to their roots (N, d)."""
        return reduce(z, self._required("root"), self.num_nodes, how)

    def to_graphs(self, z: Tensor, how: str = "sum") -> Tensor:
        """Rows of subgraphs (S, d) to graphs (G, d)."""
        return reduce(z, self.graph, self.num_graphs, how)

    def _required(self, name: str) -> Tensor:
        value: Tensor | None = getattr(self, name)
        if value is None:
            raise ValueError(f"{name}: the subgraphs of this bag have none; expected a bag of nodes or of pairs")
        return value


def node_bag(data: Any) -> Bag:
    """The bag that `escgnn.transforms.RootedNodes` has cut, from the arrays of a graph or batch."""
    members = Members(data)
    length = data.bag_len.long()  # (S,)
    copies = data.bag_member.size(0)
    edges = data.bag_source.size(0)
    if not torch.compiler.is_compiling():
        _check(members, length, data)
    subgraph = torch.repeat_interleave(length, output_size=copies)  # (M,)
    target = torch.repeat_interleave(data.bag_in.long(), output_size=edges)  # (K,)
    home = subgraph[target]  # (K,)
    source = data.bag_source + starts(length)[home]  # (K,)
    bag = Bag(
        length=length,
        node=data.bag_member + members.node_start[members.graph][subgraph],
        edge_index=torch.stack([source, target]),
        column=data.bag_column + members.column_start[members.graph][home],
        graph=members.graph,
        num_nodes=members.num_nodes,
        num_graphs=members.num_graphs,
        root=torch.arange(members.num_nodes, device=length.device),
        centre=_where_zero(data.bag_hop, subgraph, length.size(0)),
        hop=data.bag_hop.long(),
        more=data.bag_more.long(),
        resistance=data.bag_resistance if "bag_resistance" in data else None,
    )
    bag.__dict__["subgraph"] = subgraph  # it is known already
    return bag


def pair_bag(data: Any) -> Bag:
    """The bag that `escgnn.transforms.RootedPairs` has cut: the ball of every node once for each of its neighbours."""
    ball = node_bag(data)
    assert ball.centre is not None
    edges = counted(ball.subgraph[ball.edge_index[1]], ball.num_nodes)  # (N,)
    root = torch.repeat_interleave(data.bag_mates.long())  # (S,)
    length = ball.length[root]
    start = starts(length)
    copy = stretch(ball.start[root], length)  # (M,) of the ball
    edge = stretch(starts(edges)[root], edges[root])  # (K,) of the ball
    shift = (start - ball.start[root]).repeat_interleave(edges[root])  # (K,)
    return Bag(
        length=length,
        node=ball.node[copy],
        edge_index=ball.edge_index[:, edge] + shift,
        column=ball.column[edge],
        graph=ball.graph[root],
        num_nodes=ball.num_nodes,
        num_graphs=ball.num_graphs,
        root=root,
        centre=start + (ball.centre - ball.start)[root],
        mate=(data.bag_mate_hop == 0).nonzero().squeeze(1),
        hop=_taken(ball.hop, copy),
        more=_taken(ball.more, copy),
        resistance=_taken(ball.resistance, copy),
        mate_hop=data.bag_mate_hop.long(),
        mate_more=data.bag_mate_more.long(),
        mate_resistance=data.bag_mate_resistance if "bag_mate_resistance" in data else None,
    )


def check_bag(bag: Bag, max_rows: int) -> None:
    """Refuse a bag with more copies, or more edges between them, than ``max_rows``.

    Raises:
        BagTooLargeError: It has.
    """
    if max(bag.num_copies, bag.column.size(0)) > max_rows:
        home = bag.graph[bag.subgraph]  # (M,)
        check_rows(counted(home, bag.num_graphs), counted(home[bag.edge_index[1]], bag.num_graphs), max_rows)


class Members:
    """The graphs of a batch, or a single one: where their nodes and columns begin."""

    def __init__(self, data: Any) -> None:
        device = data.edge_index.device
        self.num_nodes: int = data.num_nodes  # no int(), or a program would keep this number
        ptr = getattr(data, "ptr", None)
        if ptr is None:
            ptr = torch.tensor([0, self.num_nodes], device=device)
        self.num_graphs = ptr.size(0) - 1
        self.sizes = ptr.diff()  # (G,)
        self.node_start = ptr[:-1]  # (G,)
        self.graph = torch.repeat_interleave(self.sizes, output_size=self.num_nodes)  # (N,)
        self.columns = counted(self.graph[data.edge_index[0]], self.num_graphs)  # (G,)
        self.column_start = starts(self.columns)  # (G,)


def starts(length: Tensor) -> Tensor:
    """Where each of some consecutive stretches begins.

    >>> starts(torch.tensor([2, 0, 3])).tolist()
    [0, 2, 2]
    """
    return length.cumsum(0) - length


def stretch(begin: Tensor, length: Tensor) -> Tensor:
    """Consecutive numbers from each begin on, one stretch after the other.

    >>> stretch(torch.tensor([5, 0]), torch.tensor([2, 3])).tolist()
    [5, 6, 0, 1, 2]
    """
    shift = (begin - starts(length)).repeat_interleave(length)
    return shift + torch.arange(shift.size(0), device=shift.device)


def counted(place: Tensor, size: int) -> Tensor:
    """How often each place from 0 to below ``size`` is there: ``bincount``, whose size a program could not know.

    >>> counted(torch.tensor([2, 0, 2]), 4).tolist()
    [1, 0, 2, 0]
    """
    return place.new_zeros(size).scatter_add(0, place, torch.ones_like(place))


def _where_zero(distance: Tensor, subgraph: Tensor, size: int) -> Tensor:
    """The copy at distance 0 in each subgraph, which there is once: ``nonzero``, whose size a program could not know."""
    copy = torch.arange(subgraph.size(0), device=subgraph.device)
    return copy.new_zeros(size).scatter_add(0, subgraph, torch.where(distance == 0, copy, 0))


def reduce(values: Tensor, place: Tensor, size: int, how: str) -> Tensor:
    """Sum or mean of the rows that share a place; zero where none does."""
    if how not in HOWS:
        raise ValueError(f"how: {how!r}; expected one of {', '.join(HOWS)}")
    total = values.new_zeros(size, *values.shape[1:]).index_add(0, place, values)
    if how == "sum":
        return total
    number = counted(place, size).clamp_min(1)
    return total / number.view(-1, *[1] * (values.dim() - 1))


def _taken(values: Tensor | None, place: Tensor) -> Tensor | None:
    return None if values is None else values[place]


def _check(members: Members, length: Tensor, data: Any) -> None:
    """Refuse arrays that do not belong to the graphs they are found on."""
    facts = {
        "bag_len": (length.size(0), members.num_nodes, "nodes"),
        "bag_member": (data.bag_member.size(0), int(length.sum()), "copies"),
        "bag_source": (data.bag_source.size(0), int(data.bag_in.sum()), "edges between copies"),
    }
    for name, (found, expected, what) in facts.items():
        if found != expected:
            raise ValueError(
                f"{name}: {found} numbers for {expected} {what}: nodes or edges were taken out or put in after the bag was "
                "cut; let RootedNodes or RootedPairs be the last transform"
            )
