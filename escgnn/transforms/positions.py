"""Positional encodings, which belong to whole graphs and are therefore computed once, before batches are cut."""

from collections.abc import Callable, Mapping
from typing import Annotated, Any, Literal, NotRequired

import torch
from pydantic import Field
from torch import Tensor
from torch.nn import functional
from torch_geometric.data import Data
from torch_geometric.transforms import AddLaplacianEigenvectorPE, AddRandomWalkPE
from typing_extensions import TypedDict

from escgnn import limits
from escgnn.store import GraphStore


class Positional(TypedDict):
    """Which encoding: Laplacian eigenvectors, or the chances that a walk of each length returns; and how many of them."""

    kind: Literal["laplacian", "random_walk"]
    size: NotRequired[Annotated[int, Field(default=8, ge=1, le=limits.MOST_POSITIONS)]]


class Positions:
    """Adds a positional encoding to every node of a store.

    A graph with fewer nodes than there are eigenvectors has zeros in place of those it does not have. The largest entry
    of an eigenvector is made positive, so that the same graph always has the same.

    Args:
        positional: The kind and the size, 8 if it is not given; None for no encoding.

    Adds:
        laplacian_eigenvector_pe or random_walk_pe, as PyG calls them: a row of that size for every node.

    >>> store = GraphStore([3], [4], [[0, 1, 1, 2], [1, 0, 2, 1]])
    >>> Positions({"kind": "random_walk", "size": 2})(store).column("random_walk_pe")
    tensor([[0.0000, 0.5000],
            [0.0000, 1.0000],
            [0.0000, 0.5000]])
    """

    def __init__(self, positional: Positional | None = None) -> None:
        if positional is not None and positional["kind"] not in NAMES:
            raise ValueError(f"positional: {positional['kind']!r}; expected one of {', '.join(NAMES)}")
        self.positional: Mapping[str, Any] | None = None
        if positional is not None:
            size = limits.whole("positional, size", positional.get("size", 8), 1, limits.MOST_POSITIONS)
            self.positional = {**positional, "size": size}

    @property
    def adds(self) -> frozenset[str]:
        """The column, if there is one."""
        return frozenset() if self.positional is None else frozenset({NAMES[self.positional["kind"]]})

    def __call__(self, graphs: GraphStore) -> GraphStore:
        """The graphs with the column; themselves if there is none."""
        if self.positional is None or not len(graphs):
            return graphs
        kind = self.positional["kind"]
        with torch.random.fork_rng(devices=[]):  # PyG draws signs
            rows = [MAKERS[kind](data, self.positional["size"]) for data in graphs]
        return graphs.with_fields(node={NAMES[kind]: torch.cat(rows)})

    def __repr__(self) -> str:
        return f"Positions({self.positional})"


def _laplacian(data: Data, size: int) -> Tensor:
    found = max(0, min(size, int(data.num_nodes) - 1))
    if not found:
        return torch.zeros(data.num_nodes, size)
    bare = Data(edge_index=data.edge_index, num_nodes=data.num_nodes)
    vectors: Tensor = AddLaplacianEigenvectorPE(found, attr_name=None, is_undirected=True)(bare).x  # (N, found)
    largest = vectors.gather(0, vectors.abs().argmax(0, keepdim=True))  # (1, found)
    return functional.pad(vectors * largest.sign(), (0, size - found))  # (N, size)


def _random_walk(data: Data, size: int) -> Tensor:
    bare = Data(edge_index=data.edge_index, num_nodes=data.num_nodes)
    chances: Tensor = AddRandomWalkPE(size, attr_name=None)(bare).x  # (N, size)
    return chances


NAMES = {"laplacian": "laplacian_eigenvector_pe", "random_walk": "random_walk_pe"}
MAKERS: dict[str, Callable[[Data, int], Tensor]] = {"laplacian": _laplacian, "random_walk": _random_walk}
