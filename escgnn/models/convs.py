"""The convolution inside subgraphs that networks on bags share."""

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from escgnn.bags import Bag
from escgnn.layers import NORMS, FeatureEncoder, perceptron

MARKS = ("none", "sender", "receiver")


class CopyGINE(nn.Module):
    r"""GINE on the copies of a bag: :math:`\mathrm{MLP}((1 + \epsilon) x_v + \sum_u w_{uv} \mathrm{ReLU}(x_u + e_{uv}))`.

    Hu et al., Strategies for Pre-training Graph Neural Networks, ICLR 2020. Features of edges are embedded here, once for
    every edge of the graphs, and then copied: a bag has many times as many. ``copies_bag(data, 1)`` is the graph as it is.

    With a mark it is a layer of ID-GNN, in which a subgraph's root has weights of its own (added to those of all nodes, so
    that they are an ordinary network if these are zero):

    - ``"sender"``: the root sends :math:`x_s + W x_s`;
    - ``"receiver"``: the root becomes :math:`\mathrm{MLP}(y_s) + \mathrm{MLP}'(y_s)`, y what it has received.

    Args:
        inputs: Size of the vectors of copies.
        outputs: Size of the result; that of the inputs if None.
        edge_features: What ``edge_attr`` holds, as for `FeatureEncoder`; None if it is not read.
        norm: ``"batch"``, ``"layer"`` or ``"none"``, inside the perceptron. None follows it: with ``"batch"`` the last map
            has no bias, as a norm should come next.
        hidden: Size inside the perceptron; that of the result if None.
        mark: Where roots differ from other nodes.

    Shapes:
        :math:`(M, inputs)` to :math:`(M, outputs)`.
    """

    def __init__(
        self,
        inputs: int,
        outputs: int | None = None,
        *,
        edge_features: Mapping[str, Any] | None = None,
        norm: str = "batch",
        hidden: int | None = None,
        mark: str = "none",
    ) -> None:
        super().__init__()
        outputs = outputs or inputs
        hidden = hidden or outputs
        self.mark = mark
        self.epsilon = nn.Parameter(torch.zeros(()))
        self.edges = FeatureEncoder(**edge_features, channels=inputs) if edge_features else None
        self.mlp = perceptron(inputs, hidden, outputs, norm, bias=norm != "batch")
        self.own: nn.Module | None = None
        if mark == "sender":
            self.own = nn.Linear(inputs, inputs, bias=False)
        elif mark == "receiver":
            self.own = perceptron(inputs, hidden, outputs, norm, bias=False)

    def forward(self, x: Tensor, bag: Bag, edge_attr: Tensor | None = None, *, weight: Tensor | None = None) -> Tensor:
        """New vectors of all copies.

        Args:
            x: Those there are, (M, inputs).
            bag: Which copies send to which.
            edge_attr: Features of the batch's own edges, (E, columns); not read without ``edge_features``.
            weight: Of each edge between copies, (K,); all 1 if None.
        """
        source, target = bag.edge_index
        sent = x
        if self.mark == "sender" and self.own is not None:
            roots = bag.at_centres(x)  # (S, inputs)
            sent = bag.add_at_centres(x, self.own(roots))  # (M, inputs)
        messages = sent.index_select(0, source)  # (K, inputs)
        if self.edges is not None and edge_attr is not None:
            edge = self.edges(edge_attr, edge_attr.size(0))  # (E, inputs)
            messages = messages.add_(edge.index_select(0, bag.column))  # in place, as these are the largest tensors
        messages = messages.relu_()
        if weight is not None:
            messages = messages * weight.unsqueeze(1)
        kept = x + self.epsilon * x  # (M, inputs)
        received = kept.scatter_add(0, target.unsqueeze(1).expand_as(messages), messages.to(kept.dtype))  # (M, inputs)
        out: Tensor = self.mlp(received)  # (M, outputs)
        if self.mark == "receiver" and self.own is not None:
            out = bag.add_at_centres(out, self.own(bag.at_centres(received)))
        return out


class CopyLayer(nn.Module):
    """`CopyGINE`, then normalisation, rectifier and dropout; with ``residual`` added to what came in."""

    def __init__(self, conv: CopyGINE, channels: int, norm: str, dropout: float, residual: bool) -> None:
        super().__init__()
        self.conv = conv
        self.norm = NORMS[norm](channels)
        self.dropout = dropout
        self.residual = residual

    def forward(self, x: Tensor, bag: Bag, edge_attr: Tensor | None = None, *, weight: Tensor | None = None) -> Tensor:
        """New vectors of all copies, (M, channels)."""
        out: Tensor = self.norm(self.conv(x, bag, edge_attr, weight=weight)).relu()
        out = functional.dropout(out, self.dropout, self.training)
        return x + out if self.residual else out
