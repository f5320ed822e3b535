"""The rooted subgraph on its own: adjacency lists without the rest of the graph, for what goes over it several times."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from escgnn.kernels import kernel
from escgnn.kernels.graphs import Csr
from escgnn.kernels.rooted import Walk


class Subgraph(NamedTuple):
    """A copy of the rooted subgraph, nodes numbered in the order they were met, and two values at each node."""

    place: NDArray[np.int32]  # (nodes,) number within the subgraph of a node of the graph
    csr: Csr
    now: NDArray[np.int64]  # (nodes, 2) values that travel along edges: those of u and of v, or of (u, v) and (v, u)
    then: NDArray[np.int64]  # (nodes, 2) the same one step later


@kernel
def make_subgraph(csr: Csr, wanted: bool) -> Subgraph:
    """Memory for any subgraph, none if it is not wanted; what is not written costs nothing."""
    nodes = csr.indptr.size - 1 if wanted else 0
    arcs = csr.indices.size if wanted else 0
    return Subgraph(
        np.empty(nodes, np.int32),
        Csr(np.empty(nodes + 1, np.int64), np.empty(arcs, np.int32)),
        np.empty((nodes, 2), np.int64),
        np.empty((nodes, 2), np.int64),
    )


@kernel
def copy_subgraph(csr: Csr, walk: Walk, count: int, ball: NDArray[np.uint8], sub: Subgraph) -> None:
    """Copy the edges that the subgraph keeps: those whose ends lie in a common ball."""
    code, nodes = walk
    for i in range(count):
        sub.place[nodes[i]] = i
    sub.csr.indptr[0] = arcs = 0
    for i in range(count):
        w = nodes[i]
        mine = ball[code[w]]
        for k in range(csr.indptr[w], csr.indptr[w + 1]):
            x = csr.indices[k]
            if mine & ball[code[x]]:
                sub.csr.indices[arcs] = sub.place[x]
                arcs += 1
        sub.csr.indptr[i + 1] = arcs
