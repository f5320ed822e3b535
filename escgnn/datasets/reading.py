"""Raw files into arrays, and arrays into graphs; whatever is wrong with a file is told with its name."""

import io
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
from numpy.typing import ArrayLike, NDArray

from escgnn import disk
from escgnn.datasets.raw import DatasetError
from escgnn.readers import Parsed
from escgnn.store import GraphStore

Arrays = Mapping[str, NDArray[Any]]


# whatever a parser of a benchmark raises means that its file is damaged
damage_named = partial(disk.damage_named, causes=(Exception,), told_as=DatasetError)


def read_npz(path: Path) -> dict[str, NDArray[Any]]:
    """The arrays of a .npz file; pickled ones are refused."""
    content = io.BytesIO(path.read_bytes())  # so that what goes wrong from here on is the content's fault
    with damage_named(path), np.load(content, allow_pickle=False) as file:
        return dict(file)


def read_numbers(path: Path, dtype: type[np.number[Any]] = np.int64) -> NDArray[Any]:
    """A table of numbers without a header, gzipped or not, ``(rows, columns)``; floats may lack."""
    with damage_named(path):
        table = pa.csv.read_csv(path, pa.csv.ReadOptions(autogenerate_column_names=True))
        if not issubclass(dtype, np.floating) and any(not pa.types.is_integer(kind) for kind in table.schema.types):
            raise ValueError("it holds something else than integers")
        return np.stack([column.to_numpy() for column in table.columns], axis=1).astype(dtype)


def from_undirected(
    num_nodes: ArrayLike,
    num_edges: ArrayLike,
    edges: ArrayLike,
    *,
    node: Arrays | None = None,
    edge: Arrays | None = None,
    graph: Arrays | None = None,
) -> GraphStore:
    """Graphs from arrays that list every edge once, ``(edges, 2)``; its two directions will follow each other.

    Raises:
        ValueError: The arrays do not fit together.
    """
    pairs = np.asarray(edges)  # in the size they have, so that none wraps before it is checked
    return GraphStore(
        np.asarray(num_nodes, np.int64),
        2 * np.asarray(num_edges, np.int64),
        np.stack([pairs, pairs[:, ::-1]], axis=1).reshape(-1, 2).T,
        node=node,
        edge={name: np.repeat(values, 2, axis=0) for name, values in (edge or {}).items()},
        graph=graph,
    )


def categorical(*columns: ArrayLike) -> NDArray[np.int64]:
    """Columns of categories side by side, ``(rows, columns)``."""
    return np.stack([np.asarray(column, np.int64) for column in columns], axis=1)


def from_members(members: Sequence[tuple[int, NDArray[np.int64]]]) -> GraphStore:
    """Graphs one after another, each given as its number of nodes and its edges."""
    sizes = [num_nodes for num_nodes, _ in members]
    edges = [pairs for _, pairs in members]
    return from_undirected(sizes, [len(pairs) for pairs in edges], np.concatenate([np.empty((0, 2), np.int64), *edges]))


def from_parsed(graphs: Parsed) -> GraphStore:
    """The graphs that were read from texts, with their columns."""
    return from_undirected(graphs.num_nodes, graphs.num_edges, graphs.edges, node=graphs.node, edge=graphs.edge)
