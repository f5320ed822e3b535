"""Choices that networks learn: the best rows of each graph, and how gradients pass through such a choice."""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor
from torch_geometric.utils import softmax

Map = Callable[[Tensor], Tensor]


def best_rows(scores: Tensor, graph: Tensor, number: Tensor) -> Tensor:
    """Which rows are among the best of their graph, in every column by itself.

    Of rows with equal scores the first are taken, so that there are never more than asked for. Networks give equal scores
    to nodes that 1-WL does not tell apart; which of these is taken then depends on how nodes are numbered, unless it makes
    no difference, as where some symmetry of the graph exchanges them.

    >>> best_rows(torch.tensor([[1.0], [3.0], [2.0], [5.0]]), torch.tensor([0, 0, 0, 1]), torch.tensor([2, 1])).flatten().tolist()
    [False, True, True, True]

    Args:
        scores: (R, T).
        graph: Graph of each row, (R,), in any order.
        number: How many rows of each graph, (G,).

    Returns:
        Truth values, (R, T).
    """
    return ranks(scores, graph, number.size(0)) < number[graph].unsqueeze(1)


def ranks(scores: Tensor, graph: Tensor, num_graphs: int) -> Tensor:
    """The place of each row in its graph, (R, T): 0 for the best, in every column by itself.

    >>> ranks(torch.tensor([[1.0], [3.0], [2.0], [5.0]]), torch.tensor([0, 0, 0, 1]), 2).flatten().tolist()
    [2, 0, 1, 0]
    """
    by_score = torch.sort(scores, dim=0, descending=True, stable=True).indices  # (R, T)
    by_graph = torch.sort(graph[by_score], dim=0, stable=True)
    order = by_score.gather(0, by_graph.indices)  # (R, T) rows by graph, then score
    sizes = torch.bincount(graph, minlength=num_graphs)  # (G,)
    first = sizes.cumsum(0) - sizes
    place = torch.arange(graph.size(0), device=graph.device).unsqueeze(1) - first[by_graph.values]  # (R, T)
    return torch.zeros_like(order).scatter(0, order, place)


def best_forest(scores: Tensor, edge: Tensor, num_nodes: int) -> Tensor:
    """Which edges are in the spanning forest with the largest sum of scores, in every column by itself, (U, T).

    Borůvka's: every tree takes the best edge that leads out of it, until none does. Of equal scores the first is better.

    >>> square = torch.tensor([[0, 1], [1, 2], [2, 3], [0, 3]])
    >>> best_forest(torch.tensor([[4.0], [1.0], [3.0], [2.0]]), square, 4).flatten().tolist()
    [True, False, True, True]

    Args:
        scores: (U, T).
        edge: Both ends of each edge, (U, 2).
        num_nodes: N.
    """
    number, columns = scores.shape
    order = torch.sort(scores, dim=0, descending=True, stable=True).indices  # (U, T)
    every = torch.arange(number, device=edge.device).unsqueeze(1).expand_as(order)
    rank = torch.zeros_like(order).scatter(0, order, every).t().reshape(-1)  # (T U,) 0 for the best
    shift = num_nodes * torch.arange(columns, device=edge.device).view(-1, 1, 1)
    ends = (edge + shift).reshape(-1, 2)  # (T U, 2): columns as graphs side by side
    node = torch.arange(columns * num_nodes, device=edge.device)
    tree = node  # (T N,) the tree of each node, by one of its nodes
    chosen = torch.zeros_like(rank, dtype=torch.bool)
    while True:
        trees = tree[ends]  # (T U, 2)
        leads_out = trees[:, 0] != trees[:, 1]
        if not leads_out.any():
            return chosen.view(columns, number).t()
        out = trees[leads_out]  # (O, 2)
        place = rank[leads_out].unsqueeze(1).expand_as(out)  # (O, 2)
        best = torch.full_like(node, number).scatter_reduce(0, out.flatten(), place.flatten(), "amin")  # (T N,)
        is_best = best[out] == place  # (O, 2) of which of its two trees
        chosen[leads_out] |= is_best.any(1)
        joined = node.scatter(0, out[is_best], out.flip(1)[is_best])  # (T N,) the tree that each joins
        is_first = (joined[joined] == node) & (node < joined)  # of two that join each other
        joined = torch.where(is_first, node, joined)
        while not torch.equal(joined, joined[joined]):
            joined = joined[joined]
        tree = joined[tree]


def gumbel(like: Tensor) -> Tensor:
    """Gumbel(0, 1) noise of this shape, drawn from torch's own random numbers, which training seeds at every epoch."""
    uniform = torch.rand_like(like).clamp_min(torch.finfo(like.dtype).tiny)
    return -(-uniform.log()).clamp_min(torch.finfo(like.dtype).tiny).log()


class ImplicitMLE(torch.autograd.Function):
    r"""A choice :math:`z = \mathrm{Map}(\theta + \epsilon)` whose gradient is another choice away.

    Niepert et al., Implicit MLE, NeurIPS 2021: for a loss L,
    :math:`\partial L / \partial \theta := z - \mathrm{Map}(\theta - \beta \, \partial L / \partial z + \epsilon)`, with the
    same noise.
    """

    @staticmethod
    def forward(ctx: Any, theta: Tensor, noise: Tensor, choose: Map, beta: float) -> Tensor:
        """The choice, in the type of the scores."""
        chosen = choose(theta + noise).to(theta.dtype)
        ctx.save_for_backward(theta, noise, chosen)
        ctx.choose = choose
        ctx.beta = beta
        return chosen

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, None, None, None]:
        """What changes if the scores take a step against the gradient."""
        theta, noise, chosen = ctx.saved_tensors
        target = ctx.choose(theta - ctx.beta * grad + noise).to(theta.dtype)
        return chosen - target, None, None, None


class BothEnds(torch.autograd.Function):
    """Weights of edges, 1 where both ends are chosen; a node's gradient is the mean over the edges that end there.

    It is not that of the product, which would be zero wherever the other end is not chosen: so unchosen nodes learn, too.
    """

    @staticmethod
    def forward(ctx: Any, chosen: Tensor, edge_index: Tensor) -> Tensor:
        """From nodes (N, T) to edges (E, T)."""
        ctx.save_for_backward(edge_index)
        ctx.shape = chosen.shape
        return chosen[edge_index[0]] * chosen[edge_index[1]]

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, None]:
        """The mean over the edges that end in a node."""
        (edge_index,) = ctx.saved_tensors
        target = edge_index[1]
        total = grad.new_zeros(ctx.shape).index_add(0, target, grad)
        number = torch.bincount(target, minlength=ctx.shape[0]).clamp_min(1)
        return total / number.unsqueeze(1), None


class WithLoss(torch.autograd.Function):
    """Outputs as they are, with a further loss that is added to whatever loss the outputs go into."""

    @staticmethod
    def forward(ctx: Any, output: Tensor, loss: Tensor) -> Tensor:
        """The outputs."""
        ctx.save_for_backward(loss)
        return output.clone()

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, Tensor]:
        """The outputs' gradient, and 1 for the loss."""
        (loss,) = ctx.saved_tensors
        return grad, torch.ones_like(loss)


def implicit_mle(theta: Tensor, noise: Tensor, choose: Map, beta: float) -> Tensor:
    """A choice among rows with scores theta (R, T), as zeros and ones; see `ImplicitMLE`."""
    out: Tensor = ImplicitMLE.apply(theta, noise, choose, beta)  # type: ignore[no-untyped-call]
    return out


def both_ends(chosen: Tensor, edge_index: Tensor) -> Tensor:
    """Weights of edges (E, T) by the nodes chosen (N, T); see `BothEnds`."""
    out: Tensor = BothEnds.apply(chosen, edge_index)  # type: ignore[no-untyped-call]
    return out


def with_loss(output: Tensor, loss: Tensor) -> Tensor:
    """The outputs; their loss has another one added to it; see `WithLoss`."""
    out: Tensor = WithLoss.apply(output, loss)  # type: ignore[no-untyped-call]
    return out


def straight_through(logits: Tensor, batch: Tensor, sizes: Tensor) -> Tensor:
    """One node of each graph as zeros and a one, (N,); its gradient is that of the softmax over each graph.

    Args:
        logits: (N,); minus infinity for nodes that are out of the question, of which a graph may not consist.
        batch: Graph of each node, (N,).
        sizes: Nodes in each graph, (G,).
    """
    one = torch.ones_like(sizes)
    hard = best_rows(logits.detach().unsqueeze(1), batch, one).squeeze(1).to(logits.dtype)  # (N,)
    soft: Tensor = softmax(logits, batch, num_nodes=sizes.size(0))  # (N,)
    return hard + (soft - soft.detach())
