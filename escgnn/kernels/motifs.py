"""Wedges, triangles and 3-paths of a rooted subgraph by the labels of their nodes: the ladder beyond edges."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from escgnn.kernels import kernel
from escgnn.kernels.graphs import Csr
from escgnn.kernels.rooted import Walk


class Motifs(NamedTuple):
    """Where counts go. With L labels, tables are flat: ``(x * L + y) * L + z``, and so on; empty if nobody asked."""

    label: NDArray[np.int32]  # (codes,) number of a code's label, from 0 to L - 1
    size: int  # L
    wedge: NDArray[np.int32]  # (2 * L^3,) by its nodes in order, open ones first; each is met from both ends
    triangle: NDArray[np.int32]  # (L^3,)
    path: NDArray[np.int32]  # (L^4,)


@kernel
def tally_triples(
    csr: Csr,
    walk: Walk,
    count: int,
    ball: NDArray[np.uint8],
    motifs: Motifs,
    mark: NDArray[np.int32],
    histogram: NDArray[np.uint32],
) -> None:
    """Count wedges x-y-z, open or closed, and triangles; ``mark`` is zero before and after."""
    code, nodes = walk
    L = motifs.size
    for i in range(count):
        x = nodes[i]
        near_x = ball[code[x]]
        for k in range(csr.indptr[x], csr.indptr[x + 1]):
            mark[csr.indices[k]] = (near_x & ball[code[csr.indices[k]]]) != 0
        for k in range(csr.indptr[x], csr.indptr[x + 1]):
            y = csr.indices[k]
            if mark[y] == 0:
                continue
            near_y = ball[code[y]]
            first = motifs.label[code[x]] * L + motifs.label[code[y]]
            for j in range(csr.indptr[y], csr.indptr[y + 1]):
                z = csr.indices[j]
                if z == x or not near_y & ball[code[z]]:
                    continue
                place = first * L + motifs.label[code[z]]
                if motifs.wedge.size:
                    histogram[motifs.wedge[mark[z] * L * L * L + place]] += 1
                if motifs.triangle.size and mark[z] and x < y and y < z:
                    histogram[motifs.triangle[place]] += 1
        for k in range(csr.indptr[x], csr.indptr[x + 1]):
            mark[csr.indices[k]] = 0


@kernel
def tally_paths(
    csr: Csr, walk: Walk, count: int, ball: NDArray[np.uint8], motifs: Motifs, histogram: NDArray[np.uint32]
) -> None:
    """Count 3-paths w-x-y-z, each once, from its middle edge."""
    code, nodes = walk
    L = motifs.size
    for i in range(count):
        x = nodes[i]
        near_x = ball[code[x]]
        for k in range(csr.indptr[x], csr.indptr[x + 1]):
            y = csr.indices[k]
            near_y = ball[code[y]]
            if y < x or not near_x & near_y:
                continue
            middle = motifs.label[code[x]] * L + motifs.label[code[y]]
            for p in range(csr.indptr[x], csr.indptr[x + 1]):
                w = csr.indices[p]
                if w == y or not near_x & ball[code[w]]:
                    continue
                first = (motifs.label[code[w]] * L * L + middle) * L
                for q in range(csr.indptr[y], csr.indptr[y + 1]):
                    z = csr.indices[q]
                    if z != x and z != w and near_y & ball[code[z]]:
                        histogram[motifs.path[first + motifs.label[code[z]]]] += 1
