"""The paper's histograms of a rooted subgraph: nodes by degree, distances and labels, edges by the labels of their ends."""

import numpy as np
from numpy.typing import NDArray

from escgnn.kernels import kernel
from escgnn.kernels.graphs import Csr
from escgnn.kernels.rooted import Walk


@kernel
def tally(
    csr: Csr,
    walk: Walk,
    count: int,
    ball: NDArray[np.uint8],
    tables: tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.int32], NDArray[np.int32]],
    histogram: NDArray[np.uint32],
) -> int:
    """Count edges, nodes and degrees of the labelled subgraph; return the place of the top degree.

    Every edge is met from both ends. Neighbours outside have the code 0, whose ``ball`` is 0: they are added as nothing,
    without a branch.
    """
    code, nodes = walk
    edge, joint, node, degree = tables
    top = 0
    for i in range(count):
        w = nodes[i]
        label = code[w]
        mine = ball[label]
        found = 0
        for k in range(csr.indptr[w], csr.indptr[w + 1]):
            other = code[csr.indices[k]]
            kept = (mine & ball[other]) != 0
            histogram[edge[label, other]] += kept
            found += kept
        found = min(found, degree.size - 1)
        histogram[degree[found]] += 1
        top = max(top, found)
        histogram[joint[label]] += 1
        histogram[node[0, label]] += 1
        histogram[node[1, label]] += 1
    return top
