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
    halt: NDArray[np.uint8],
    histogram: NDArray[np.int64],
) -> None:
    """Count wedges x-y-z, open or closed, and triangles; ``mark`` is zero before and after."""
    code, nodes = walk
    L = motifs.size
    for i in range(count):
        if i % 32 == 31 and halt[0]:
            return
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


class Around(NamedTuple):
    """Of each node, how many of its neighbours have which label; nodes in the order of the walk."""

    place: NDArray[np.int32]  # (nodes,) of a node in that order
    kinds: NDArray[np.int32]  # (nodes,) how many labels there are
    label: NDArray[np.int32]  # (nodes, L) these labels
    number: NDArray[np.int64]  # (nodes, L) their neighbours


@kernel
def make_around(num_nodes: int, motifs: Motifs) -> Around:
    """Room for all nodes; what is not written costs no memory."""
    shape = (num_nodes, motifs.size)
    return Around(
        np.empty(num_nodes, np.int32),
        np.empty(num_nodes, np.int32),
        np.empty(shape, np.int32),
        np.empty(shape, np.int64),
    )


@kernel
def look_around(csr: Csr, walk: Walk, count: int, ball: NDArray[np.uint8], motifs: Motifs, around: Around) -> None:
    """Count the neighbours of all nodes of the subgraph."""
    code, nodes = walk
    for i in range(count):
        x = nodes[i]
        around.place[x] = i
        kinds = 0
        for k in range(csr.indptr[x], csr.indptr[x + 1]):
            other = code[csr.indices[k]]
            if ball[code[x]] & ball[other]:
                label, j = motifs.label[other], 0
                while j < kinds and around.label[i, j] != label:
                    j += 1
                if j == kinds:
                    around.label[i, j] = label
                    around.number[i, j] = 0
                    kinds += 1
                around.number[i, j] += 1
        around.kinds[i] = kinds


@kernel
def tally_paths(
    csr: Csr,
    walk: Walk,
    count: int,
    ball: NDArray[np.uint8],
    motifs: Motifs,
    mark: NDArray[np.int32],
    around: Around,
    halt: NDArray[np.uint8],
    histogram: NDArray[np.int64],
) -> None:
    """Count 3-paths w-x-y-z, each once, by its middle edge, x having the larger degree.

    Products of neighbours by label, so that hubs cost no more than others, less the triangles w = z. Example: x has 3
    neighbours labelled p besides y, and y has 2 labelled q besides x: 6 paths p - x - y - q. If one node is next to both, it
    was w and z at once: one path less, and its label is both p and q.
    """
    code, nodes = walk
    L = motifs.size
    look_around(csr, walk, count, ball, motifs, around)
    for i in range(count):
        if i % 32 == 31 and halt[0]:
            return
        x = nodes[i]
        label_x, degree = motifs.label[code[x]], csr.indptr[x + 1] - csr.indptr[x]
        near_x = ball[code[x]]
        for k in range(csr.indptr[x], csr.indptr[x + 1]):
            mark[csr.indices[k]] = (near_x & ball[code[csr.indices[k]]]) != 0
        for k in range(csr.indptr[x], csr.indptr[x + 1]):
            y = csr.indices[k]
            lower = csr.indptr[y + 1] - csr.indptr[y]
            if mark[y] == 0 or lower > degree or (lower == degree and y > x):  # met from the other end
                continue
            j = around.place[y]
            near_y, label_y = ball[code[y]], motifs.label[code[y]]
            middle = label_x * L + label_y
            for a in range(around.kinds[i]):
                first = around.label[i, a]
                before = around.number[i, a] - (first == label_y)  # not y
                for b in range(around.kinds[j]):
                    last = around.label[j, b]
                    after = around.number[j, b] - (last == label_x)  # not x
                    histogram[motifs.path[(first * L * L + middle) * L + last]] += before * after
            for q in range(csr.indptr[y], csr.indptr[y + 1]):
                z = csr.indices[q]
                if mark[z] and near_y & ball[code[z]]:  # a triangle x, y, z
                    label = motifs.label[code[z]]
                    histogram[motifs.path[(label * L * L + middle) * L + label]] -= 1
        for k in range(csr.indptr[x], csr.indptr[x + 1]):
            mark[csr.indices[k]] = 0
