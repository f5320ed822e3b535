"""Tests that single nodes out one after the other, as programs for graph isomorphism do."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from escgnn.graphs import Graph
from escgnn.kernels.graphs import Csr
from escgnn.kernels.search import search
from escgnn.wl.systems import MAX_WORDS, Ints, Nodes, System, renumber


@dataclass(frozen=True)
class SearchWL:
    r"""1-WL after up to ``depth`` nodes are singled out, one after the other, in every way. Colours nodes.

    Individualisation and refinement, the search of programs for graph isomorphism, cut off at a depth (McKay, Practical
    Graph Isomorphism, 1981). The first node singled out is v itself, whose colour this makes; the next ones are those of
    the smallest cell of the stable colouring that has two nodes or more, the first of them in an order that does not
    depend on names. The colour of v is the tree of all stable colourings met. Last comes 1-WL over the graph.

    Depth 1 is 1-WL rooted at nodes with unbounded radius; each further one multiplies the time by the size of a cell, n at
    worst and 2 to 8 as a rule. A colouring in which every node is alone is a drawing of the graph, so with ``depth`` as
    large as the graph the test is complete, and may take for ever. Depths are tried one by one: graphs that are told apart
    from all others are spared the next.

    Args:
        depth: Number of nodes singled out, at least 1.

    >>> from escgnn import graphs, wl
    >>> [wl.distinguishes(graphs.rook(4), graphs.shrikhande(), SearchWL(depth)) for depth in (1, 2)]
    [False, True]
    """

    depth: int

    def __post_init__(self) -> None:
        if isinstance(self.depth, bool) or not isinstance(self.depth, int | np.integer) or self.depth < 1:
            raise ValueError(f"depth: {self.depth!r}; expected an integer >= 1")

    def __str__(self) -> str:
        return f"1-WL with {self.depth} node{'s' if self.depth > 1 else ''} singled out"

    def start(self, graph: Graph, initial: Ints) -> tuple[System, Ints]:
        """Nodes by their initial colours."""
        return _Search(graph.csr, graph.ptr, initial, self.depth), initial


@dataclass
class _Search:
    """Nodes, and the depth they were last coloured at."""

    csr: Csr
    ptr: Ints
    initial: Ints
    depth: int
    reached: int = 0

    def refine(self, colour: Ints) -> Ints:
        """Colours at the next depth that tells more; behind the last one, a round of 1-WL."""
        while self.reached < self.depth:
            self.reached += 1
            finer = self._deeper()
            if finer.max(initial=-1) > colour.max(initial=-1):
                return finer
        return Nodes(self.csr, self.ptr).refine(colour)

    def _deeper(self) -> Ints:
        colour = np.empty(self.initial.size, np.int64)
        full = search(self.csr, self.ptr, self.initial, self.reached, MAX_WORDS, colour)
        if full >= 0:
            raise ValueError(
                f"depth: at depth {self.reached}, the colourings of {full + 1} of {self.ptr.size - 1} graphs take more than "
                f"{MAX_WORDS} numbers. Lower depth, or give fewer or smaller graphs"
            )
        return renumber(colour)

    def take(self, keep: NDArray[np.bool_]) -> "_Search":
        """The nodes of some of the graphs."""
        nodes = Nodes(self.csr, self.ptr).take(keep)
        initial = self.initial[np.repeat(keep, np.diff(self.ptr))]
        return _Search(nodes.csr, nodes.ptr, initial, self.depth, self.reached)
