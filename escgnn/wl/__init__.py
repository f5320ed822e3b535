r"""Exact Weisfeiler-Leman tests: 1-WL, k-WL, ESC-WL, m-WL inside rooted subgraphs, and search by singling nodes out.

A test colours the nodes, tuples or roots of graphs, round by round, until a round tells no more of them apart.
It distinguishes two graphs if their final colours differ as multisets. All graphs of a call share one numbering
of exact colours: no colour is a hash, and none is ranked within its own graph.

Convention. The paper counts dimensions obliviously: its k-WL is `ObliviousWL`, where 2-WL is as strong as 1-WL,
and 3-WL as strong as folklore 2-WL. `FolkloreWL(3)` tells the rook graph from the Shrikhande graph,
`ObliviousWL(3)` does not.

Loops and repeated edges of the input leave no trace. Graphs of different size are always distinguished.

Yan et al., An Efficient Subgraph GNN with Provable Substructure Counting Power, KDD 2024, `sec:power`.

>>> from escgnn import graphs, wl
>>> from escgnn.encoding import RootedEncoding
>>> wl.distinguishes(graphs.rook(4), graphs.shrikhande(), wl.ObliviousWL(3))
False
>>> wl.distinguishes(graphs.rook(4), graphs.shrikhande(), wl.ESCWL(RootedEncoding(hops=1)))
True
"""

from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from escgnn.graphs import Graph, as_graph, disjoint_union
from escgnn.wl.search import SearchWL
from escgnn.wl.systems import Ints, classes, refinements, renumber
from escgnn.wl.variants import ESCWL, FolkloreWL, ObliviousWL, OneWL, RootedWL, WLTest

__all__ = [
    "ESCWL",
    "FolkloreWL",
    "ObliviousWL",
    "OneWL",
    "RootedWL",
    "SearchWL",
    "WLTest",
    "colours",
    "distinguishes",
    "partition",
    "rounds",
    "side_by_side",
]


def colours(graphs: Any, test: WLTest, *, initial: ArrayLike | None = None) -> list[Ints]:
    """Final colours of every graph, one array each; equal numbers mean equal colours in all of them.

    Args:
        graphs: One graph or several, as `escgnn.graphs.as_graph` reads them.
        test: What to run; its docstring says what it colours, and in which order.
        initial: Integer colour of every node to start with, ``(nodes,)``, graph after graph.

    >>> from escgnn import graphs
    >>> colours([graphs.path(3), graphs.star(3)], OneWL())
    [array([0, 1, 0]), array([2, 3, 3, 3])]
    """
    *_, final = rounds(graphs, test, initial=initial)
    return final


def rounds(graphs: Any, test: WLTest, *, initial: ArrayLike | None = None) -> Iterator[list[Ints]]:
    """What `colours` gives at first, and after each round that tells more; the last ones are final.

    The arguments are those of `colours`. A number means nothing in another round.

    >>> from escgnn import graphs
    >>> [[colour.tolist() for colour in after] for after in rounds([graphs.path(4)], OneWL())]
    [[[0, 0, 0, 0]], [[0, 1, 1, 0]]]
    """
    graph = as_graph(graphs)
    system, first = test.start(graph, _checked_initial(graph, initial))
    bounds = [*pairwise(system.ptr.tolist())]
    for colour in refinements(system, first):
        yield [colour[start:stop] for start, stop in bounds]


def partition(graphs: Any, test: WLTest, *, initial: ArrayLike | None = None) -> Ints:
    """Class of each graph, numbered as they first appear; the test tells graphs of different classes apart.

    The arguments are those of `colours`.

    >>> from escgnn import graphs
    >>> partition([graphs.rook(4), graphs.cycle(16), graphs.shrikhande()], OneWL())
    array([0, 1, 0])
    """
    graph = as_graph(graphs)
    return classes(*test.start(graph, _checked_initial(graph, initial)))


def distinguishes(g: Any, h: Any, test: WLTest, *, initial: ArrayLike | None = None) -> bool:
    """Whether the test tells two graphs apart, each taken whole even if it stands for several side by side.

    ``initial`` holds the colours of the nodes of g, then those of h.
    """
    return bool(partition(side_by_side(g, h), test, initial=initial)[1])


def side_by_side(*graphs: Any) -> Graph:
    """Graphs as one view, each taken whole even if it stands for several side by side."""
    members = [as_graph(graph) for graph in graphs]
    sizes = [member.num_nodes for member in members]
    return replace(disjoint_union(members), ptr=np.array([0, *sizes]).cumsum())


def _checked_initial(graph: Graph, initial: ArrayLike | None) -> Ints:
    if initial is None:
        return np.zeros(graph.num_nodes, np.int64)
    given = np.asarray(initial)
    if given.shape != (graph.num_nodes,) or (given.size and given.dtype.kind not in "iu"):
        raise ValueError(
            f"initial: shape {given.shape}, dtype {given.dtype}; expected {graph.num_nodes} integers, one a node"
        )
    return renumber(given.astype(np.int64))
