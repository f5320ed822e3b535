"""PL-GNN, Policy-Learn: copies of the graph with one marked node each, which a network of its own chooses one by one.

Bevilacqua et al., Efficient Subgraph GNNs by Learning Effective Selection Policies, ICLR 2024.
"""

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional
from torch_geometric.data import Batch

from escgnn.bags import MAX_ROWS, Bag, copies_bag, rows_that_fit
from escgnn.layers import NORMS, FeatureEncoder, perceptron
from escgnn.models.choosing import best_rows, gumbel, straight_through
from escgnn.models.convs import CopyGINE
from escgnn.models.frame import Frame, check_shared


class PLGNN(Frame):
    r"""The graph as it is, and T copies of it with a marked node each; their mean over nodes and copies.

    At every step the selection network sees the copies there are, and gives a number to each node v; in training the next
    marked node is that of the largest :math:`(\mathrm{logit}_v + \mathrm{Gumbel}) / \tau`, with the gradient of their softmax.
    In evaluation it is the node of the largest logit: nothing is drawn. Of nodes with equal logits, as 1-WL does not tell
    them apart, it is the one with the lowest number; see `escgnn.models.choosing.best_rows`.

    The two networks have no weights in common. Inside, copies do not hear from each other; a second stream :math:`p`
    carries marks alone: :math:`h' = h + \mathrm{ReLU}(\mathrm{GINE}([h, p]))`, :math:`p' = \mathrm{ReLU}(\mathrm{GIN}(p))`, and
    :math:`h + p` at the end. Other than the authors', norms use running statistics in evaluation, so that a graph's prediction
    does not depend on its batch, and nodes are left out by chance per graph, never all of them.

    Args:
        out_channels: Numbers to predict for every graph.
        picks: Marked copies, T; none for plain message passing.
        node_features: What ``x`` holds, as for `FeatureEncoder`.
        edge_features: What ``edge_attr`` holds, likewise; every convolution has its own encoder.
        level: ``"graph"``: the paper does not define it for nodes or edges.
        hidden: Size of all vectors.
        layers: Number of rounds of both networks.
        norm: ``"batch"``, ``"layer"`` or ``"none"``.
        dropout: Share of values dropped after every round.
        temperature: :math:`\tau`; the authors try 0.33, 0.66, 1 and 2.
        drop_nodes: Share of nodes that cannot be chosen at a step of training; the authors try 0, 0.3 and 0.5.
        pool: How nodes make a graph: the paper's ``"mean"``, ``"sum"`` or ``"attention"``.
        max_rows: A batch whose T + 1 copies have more rows is refused, with fewer if vectors are
            longer than 64; see `rows_that_fit`.

    Shapes:
        A batch to (graphs, out_channels).

    >>> from torch_geometric.data import Data
    >>> triangle = Data(edge_index=torch.tensor([[0, 1, 1, 2, 2, 0], [1, 0, 2, 1, 0, 2]]), num_nodes=3)
    >>> PLGNN(out_channels=3).eval()(triangle).shape
    torch.Size([1, 3])
    """

    levels = ("graph",)

    def __init__(
        self,
        out_channels: int,
        *,
        picks: int = 2,
        node_features: Mapping[str, Any] | None = None,
        edge_features: Mapping[str, Any] | None = None,
        level: str = "graph",
        hidden: int = 64,
        layers: int = 6,
        norm: str = "batch",
        dropout: float = 0.0,
        temperature: float = 1.0,
        drop_nodes: float = 0.0,
        pool: str = "mean",
        max_rows: int = MAX_ROWS,
    ) -> None:
        super().__init__(locals())
        self.check(self.settings)
        self.picks = picks
        self.temperature = temperature
        self.drop_nodes = drop_nodes
        self.position = None
        shape: dict[str, Any] = {"layers": layers, "norm": norm, "dropout": dropout}
        shape |= {"node_features": node_features, "edge_features": edge_features}
        self.selection = Marked(hidden, **shape) if picks else None
        self.logit = perceptron(hidden, 2 * hidden, 1, bias=False) if picks else None  # softmax would take a bias away
        self.prediction = Marked(hidden, **shape)
        self.add_read_out(hidden, 0, 2 * hidden)

    @classmethod
    def check(cls, settings: Mapping[str, Any]) -> None:
        """Refuse values that mean nothing."""
        check_shared(settings)
        if settings.get("picks", 0) < 0:
            raise ValueError(f"picks: {settings['picks']}; expected an integer from 0")
        if settings.get("temperature", 1) <= 0:
            raise ValueError(f"temperature: {settings['temperature']}; expected a number above 0")
        if not 0 <= settings.get("drop_nodes", 0) < 1:
            raise ValueError(f"drop_nodes: {settings['drop_nodes']}; expected a share from 0 to below 1")

    @property
    def cannot_export(self) -> str:
        """Why it cannot be a program of its own."""
        return "PLGNN cannot be exported, as the sizes of its tensors depend on those of the graphs"

    def forward_tensors(self, tensors: Mapping[str, Tensor]) -> Tensor:
        """Predictions from plain tensors by name, those that `reads` lists."""
        data = Batch(**tensors)
        max_rows = rows_that_fit(self.settings["hidden"], self.settings["max_rows"])
        bag = copies_bag(data, self.picks + 1, max_rows=max_rows)  # first, so that what does not fit is refused at once
        parameter = next(self.parameters())
        marks = parameter.new_zeros(bag.num_nodes, 1)  # (N, 1): the graph as it is
        for step in range(self.picks):
            some = copies_bag(data, step + 1, max_rows=max_rows)
            marks = torch.cat([marks, self._pick(marks, some, tensors).unsqueeze(1)], 1)  # (N, step + 2)
        h = bag.to_nodes(self.prediction(marks, bag, tensors), "mean")  # (N, hidden)
        return self._read_out(h, tensors["edge_index"], None, tensors["batch"], bag.num_graphs)

    def _pick(self, marks: Tensor, bag: Bag, tensors: Mapping[str, Tensor]) -> Tensor:
        """The node of each graph to mark next, (N,) zeros and ones."""
        assert self.selection is not None and self.logit is not None
        batch = tensors["batch"]
        sizes = tensors["ptr"].diff()  # (G,)
        h = bag.to_nodes(self.selection(marks, bag, tensors), "mean")  # (N, hidden)
        mean = h.new_zeros(bag.num_graphs, h.size(1)).index_add(0, batch, h) / sizes.clamp_min(1).unsqueeze(1)
        logits = self.logit(h + mean[batch]).squeeze(1)  # (N,)
        out = marks.detach().sum(1) > 0  # (N,) those that were chosen before
        out = out & (sizes >= marks.size(1))[batch]  # or none would be left
        if self.training:
            out = out | self._dropped(out, batch, sizes)
            logits = (logits + gumbel(logits)) / self.temperature
        return straight_through(logits.masked_fill(out, -torch.inf), batch, sizes)

    def _dropped(self, out: Tensor, batch: Tensor, sizes: Tensor) -> Tensor:
        """A random share of nodes, (N,) truth values; never all of a graph that are left."""
        if not self.drop_nodes:
            return torch.zeros_like(out)
        luck = torch.rand(out.shape, device=out.device).masked_fill(out, -1.0)
        safe = best_rows(luck.unsqueeze(1), batch, torch.ones_like(sizes)).squeeze(1)
        return (luck < self.drop_nodes) & ~safe


class Marked(nn.Module):
    """Message passing on copies of graphs, with marks that are numbers, so that gradients reach them."""

    def __init__(
        self,
        channels: int,
        *,
        layers: int,
        norm: str,
        dropout: float,
        node_features: Mapping[str, Any] | None,
        edge_features: Mapping[str, Any] | None,
    ) -> None:
        super().__init__()
        self.dropout = dropout
        self.nodes = FeatureEncoder(**(node_features or {"kind": None, "sizes": ()}), channels=channels)
        self.mark = nn.Linear(1, channels, bias=False)
        self.start = nn.Linear(1, channels, bias=False)
        self.convs = nn.ModuleList(
            CopyGINE(2 * channels, channels, edge_features=edge_features, norm=norm) for _ in range(layers)
        )
        self.norms = nn.ModuleList(NORMS[norm](channels) for _ in range(layers))
        self.mark_convs = nn.ModuleList(CopyGINE(channels, norm=norm) for _ in range(layers))
        self.mark_norms = nn.ModuleList(NORMS[norm](channels) for _ in range(layers))

    def forward(self, marks: Tensor, bag: Bag, tensors: Mapping[str, Tensor]) -> Tensor:
        """Vectors of all copies, (M, channels), where ``marks`` (N, copies) has a column for each copy of a graph."""
        nodes = self.nodes(tensors["x"] if self.nodes.kind else None, bag.num_nodes)  # (N, channels)
        mark = marks[bag.node, bag.subgraph % marks.size(1)].unsqueeze(1)  # (M, 1)
        h = bag.lift(nodes) + self.mark(mark)  # (M, channels)
        p = self.start(mark)  # (M, channels)
        rounds = zip(self.convs, self.norms, self.mark_convs, self.mark_norms, strict=True)
        for conv, norm, mark_conv, mark_norm in rounds:
            new = norm(conv(torch.cat([h, p], 1), bag, tensors.get("edge_attr"))).relu()  # (M, channels)
            h = h + functional.dropout(new, self.dropout, self.training)
            p = mark_norm(mark_conv(p, bag)).relu()
        out: Tensor = h + p
        return out
