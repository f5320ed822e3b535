"""Positional encodings, which belong to whole graphs and are therefore computed once, before batches are cut."""

from typing import Any

import torch
from torch import Tensor
from torch.nn import functional
from torch_geometric.data import Data
from torch_geometric.transforms import AddLaplacianEigenvectorPE, AddRandomWalkPE

from escgnn.layers import POSITIONAL
from escgnn.store import GraphStore


def with_positions(graphs: GraphStore, positional: dict[str, Any] | None) -> GraphStore:
    """The graphs with the column that a network with this setting reads; itself if it reads none.

    A graph with fewer nodes than there are eigenvectors has zeros in place of those it does not have. The largest entry
    of an eigenvector is made positive, so that the same graph always has the same.
    """
    if positional is None or not len(graphs):
        return graphs
    kind, size = positional["kind"], positional["size"]
    with torch.random.fork_rng(devices=[]):  # PyG draws signs
        rows = [_laplacian(data, size) if kind == "laplacian" else _random_walk(data, size) for data in graphs]
    return graphs.with_fields(node={POSITIONAL[kind]: torch.cat(rows)})


def _laplacian(data: Data, size: int) -> Tensor:
    found = max(0, min(size, int(data.num_nodes) - 1))
    if not found:
        return torch.zeros(data.num_nodes, size)
    bare = Data(edge_index=data.edge_index, num_nodes=data.num_nodes)
    vectors: Tensor = AddLaplacianEigenvectorPE(found, attr_name=None, is_undirected=True)(bare).x
    largest = vectors.gather(0, vectors.abs().argmax(0, keepdim=True))
    return functional.pad(vectors * largest.sign(), (0, size - found))


def _random_walk(data: Data, size: int) -> Tensor:
    bare = Data(edge_index=data.edge_index, num_nodes=data.num_nodes)
    chances: Tensor = AddRandomWalkPE(size, attr_name=None)(bare).x
    return chances
