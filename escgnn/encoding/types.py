"""Types of nodes and edges, read off whatever holds a graph."""

from collections.abc import Callable, Sequence
from typing import Any

import networkx
import numpy as np
from numpy.typing import NDArray

from escgnn.encoding.settings import is_of_edges
from escgnn.graphs import Graph, as_graph, disjoint_union
from escgnn.kernels.typed import hash_rows


def typed_graph(graph: Any, names: Sequence[str]) -> Graph:
    """The view of a graph with the types that these attributes hold; the plain view if there are none.

    A name may say which columns of an attribute count: ``x:4`` is one, ``x:0+4`` are two, whose values together, hashed, are the
    type. Without that it is the first column, the only one if there is no other.

    Args:
        graph: A PyG ``Data`` or ``Batch`` or a networkx graph that has the attributes, a `Graph` that has types already
            (`Graph.typed`), or a list of these.
        names: Those of the attributes, at most one of nodes and one of edges.

    Raises:
        ValueError: An attribute is not there, or holds no integers from 0 on.
    """
    if not names:
        return as_graph(graph)
    if isinstance(graph, Graph):
        if graph.types is None:
            raise ValueError(f"types: {tuple(names)!r}, but the graph has none; give them to it with Graph.typed")
        return graph
    if isinstance(graph, Sequence) and not isinstance(graph, str | bytes):
        return disjoint_union([typed_graph(member, names) for member in graph])
    view = as_graph(graph)
    return with_types(view, names, lambda attribute: _rows(graph, view, attribute))


def with_types(view: Graph, names: Sequence[str], rows: Callable[[str], Any]) -> Graph:
    """A view of a graph, or of several, with types.

    Args:
        view: The graph.
        names: Those of attributes, as for `typed_graph`; none for the view as it is.
        rows: What an attribute holds, by its name.

    Raises:
        ValueError: An attribute holds no integers from 0 on.
    """
    if not names:
        return view
    kinds = {is_of_edges(name): types_of(rows(name.partition(":")[0]), name) for name in names}
    return view.typed(kinds.get(False), kinds.get(True))


def types_of(rows: Any, name: str) -> NDArray[np.int64]:
    """One type a row.

    >>> types_of(np.array([[6, 0], [8, 1]]), "x")
    array([6, 8])

    Args:
        rows: What the attribute holds: an array with a row for each node, or for each column of ``edge_index``.
        name: The attribute, and which columns of it count.

    Raises:
        ValueError: It lacks a column, or does not hold integers from 0 on.
    """
    attribute, _, chosen = name.partition(":")
    values = np.asarray(rows)
    values = values[:, None] if values.ndim == 1 else values
    numbers = [int(number) for number in chosen.split("+")] if chosen else [0]
    if values.ndim != 2 or values.shape[1] <= max(numbers):
        raise ValueError(
            f"types: {name!r}, but {attribute} has the shape {values.shape}; expected {max(numbers) + 1} columns"
        )
    if values.size and (values.dtype.kind not in "iub" or values.min() < 0):
        raise ValueError(
            f"types: {name!r}, but {attribute} holds {values.dtype} from {values.min()}; expected integers >= 0"
        )
    taken = values[:, numbers].astype(np.int64)
    return taken[:, 0] if len(numbers) == 1 else hash_rows(taken)


def _rows(graph: Any, view: Graph, attribute: str) -> Any:
    """What an attribute of a graph holds."""
    if isinstance(graph, networkx.Graph):
        nodes = [*graph]
        try:
            if is_of_edges(attribute):
                return [graph.edges[nodes[u], nodes[v]][attribute] for u, v in view.edge_index.T.tolist()]
            return [graph.nodes[node][attribute] for node in nodes]
        except KeyError:
            raise _missing(attribute) from None
    held = getattr(graph, attribute, None)
    if held is None or not hasattr(held, "detach"):
        raise _missing(attribute)
    return held.detach().cpu().numpy()


def _missing(attribute: str) -> ValueError:
    what = "column of edge_index" if is_of_edges(attribute) else "node"
    return ValueError(
        f"types: {attribute!r}, but the graph has no such attribute; expected integers, a row for each {what}"
    )
