"""Bags whose subgraphs keep all nodes and nearly all edges: nothing is cut, index arithmetic on the batch is enough."""

from dataclasses import replace
from typing import Any

import torch
from torch import Tensor

from escgnn.bags.guard import MAX_ROWS, check_rows
from escgnn.bags.view import Bag, Members, starts, stretch


def whole_bag(data: Any, *, max_rows: int = MAX_ROWS) -> Bag:
    """The whole graph once for every node: the null policy, and with ``identity`` as mark that of marked nodes.

    >>> from torch_geometric.data import Data
    >>> bag = whole_bag(Data(edge_index=torch.tensor([[0, 1], [1, 0]]), num_nodes=3))
    >>> bag.node.tolist(), bag.identity.tolist()
    ([0, 1, 2, 0, 1, 2, 0, 1, 2], [1, 0, 0, 0, 1, 0, 0, 0, 1])
    """
    members = Members(data)
    bag = _repeated(data, members, members.sizes, max_rows)
    root = torch.arange(members.num_nodes, device=bag.node.device)
    return replace(bag, root=root, centre=bag.start + root - members.node_start[bag.graph])


def graphs_bag(data: Any) -> Bag:
    """Every graph once, as it is, so that what works on bags works on it; columns stay in their order."""
    members = Members(data)
    device = data.edge_index.device
    return Bag(
        length=members.sizes,
        node=torch.arange(members.num_nodes, device=device),
        edge_index=data.edge_index,
        column=torch.arange(data.edge_index.size(1), device=device),
        graph=torch.arange(members.num_graphs, device=device),
        num_nodes=members.num_nodes,
        num_graphs=members.num_graphs,
    )


def copies_bag(data: Any, count: int, *, max_rows: int = MAX_ROWS) -> Bag:
    """The whole graph ``count`` times, without roots: OSAN's and Policy-Learn's. Copies of a graph follow each other."""
    if count < 1:
        raise ValueError(f"count: {count}; expected an integer >= 1")
    members = Members(data)
    return _repeated(data, members, torch.full_like(members.sizes, count), max_rows)


def node_deleted_bag(data: Any, *, max_rows: int = MAX_ROWS) -> Bag:
    """The graph once for every node, without that node's edges; the node stays, with its features."""
    bag = whole_bag(data, max_rows=max_rows)
    assert bag.root is not None
    removed = bag.root[bag.subgraph[bag.edge_index[1]]]  # (K,)
    touched = (data.edge_index[:, bag.column] == removed).any(0)  # (K,)
    return _without(bag, touched)


def edge_deleted_bag(data: Any, *, max_rows: int = MAX_ROWS) -> Bag:
    """The graph once for every undirected edge (u, v), u < v, in ascending order, without it: all its columns are gone.

    A loop is no such edge. A graph without edges is there once, as it is.
    """
    members = Members(data)
    low, high = data.edge_index.sort(0).values
    key = torch.where(low == high, -1, low * members.num_nodes + high)  # (E,) number of each column's undirected edge
    edge = torch.unique(key[key >= 0])  # ascending, so the edges of each graph follow each other
    number = torch.bincount(members.graph[edge // max(members.num_nodes, 1)], minlength=members.num_graphs)  # (G,)
    bag = _repeated(data, members, number.clamp_min(1), max_rows)
    removed = torch.full_like(bag.graph, -2)  # (S,)
    removed[(number > 0)[bag.graph]] = edge
    deleted = key[bag.column] == removed[bag.subgraph[bag.edge_index[1]]]  # (K,)
    return _without(bag, deleted)


def _repeated(data: Any, members: Members, times: Tensor, max_rows: int) -> Bag:
    """Every graph some times, ``times`` ``(G,)``."""
    check_rows(times * members.sizes, times * members.columns, max_rows)
    source, target = data.edge_index
    order = torch.sort(target * members.num_nodes + source, stable=True).indices  # by target, then source
    graph = torch.repeat_interleave(times)  # (S,)
    length = members.sizes[graph]
    start = starts(length)
    columns = members.columns[graph]  # (S,)
    column = order[stretch(members.column_start[graph], columns)]  # (K,)
    shift = (start - members.node_start[graph]).repeat_interleave(columns)  # (K,)
    return Bag(
        length=length,
        node=stretch(members.node_start[graph], length),
        edge_index=data.edge_index[:, column] + shift,
        column=column,
        graph=graph,
        num_nodes=members.num_nodes,
        num_graphs=members.num_graphs,
    )


def _without(bag: Bag, edge: Tensor) -> Bag:
    return replace(bag, edge_index=bag.edge_index[:, ~edge], column=bag.column[~edge])
