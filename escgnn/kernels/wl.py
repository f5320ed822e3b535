"""Rounds of colour refinement, and the subgraphs in which some tests refine."""

import numpy as np
from numpy.typing import NDArray

from escgnn.kernels import kernel
from escgnn.kernels.graphs import Csr
from escgnn.kernels.numbering import number, open_book, sort
from escgnn.kernels.rooted import Walk, label_adjacent


@kernel
def refine_nodes(csr: Csr, label: NDArray[np.int64], colour: NDArray[np.int64]) -> NDArray[np.int64]:
    """One round of 1-WL: own colour, and the multiset of (arc's label, neighbour's colour); no labels, all alike."""
    book = open_book(colour.size, colour.size + csr.indices.size)
    result = np.empty_like(colour)
    colours = colour.max() + 1 if colour.size else 0
    row = np.empty(np.diff(csr.indptr).max() + 1 if colour.size else 0, np.int64)
    for v in range(colour.size):
        first, degree = csr.indptr[v], csr.indptr[v + 1] - csr.indptr[v]
        for k in range(degree):
            row[k] = colour[csr.indices[first + k]]
            if label.size:  # one number for the pair
                row[k] += label[first + k] * colours
        sort(row[:degree])
        row[degree] = colour[v]
        result[v] = number(book, row[: degree + 1])
    return result


@kernel
def isomorphism_types(
    csr: Csr, ptr: NDArray[np.int64], k: int, initial: NDArray[np.int64], result: NDArray[np.int64]
) -> None:
    """Number the k-tuples of each graph by their nodes' initial colours, and which are equal and adjacent."""
    width = k + k * (k - 1) // 2
    book = open_book(result.size, width * result.size)
    row = np.empty(width, np.int64)
    nodes = np.empty(k, np.int64)
    end = 0
    for g in range(ptr.size - 1):
        first, n = ptr[g], ptr[g + 1] - ptr[g]
        relation = np.zeros((n, n), np.uint8)  # 2 equal, 1 adjacent, 0 neither
        for u in range(n):
            relation[u, u] = 2
            for i in range(csr.indptr[first + u], csr.indptr[first + u + 1]):
                relation[u, csr.indices[i] - first] = 1
        for t in range(n**k):  # the tuple whose nodes are the digits of t to the base n
            rest = t
            for i in range(k - 1, -1, -1):
                nodes[i] = rest % n
                rest //= n
                row[i] = initial[first + nodes[i]]
            at = k
            for i in range(k):
                for j in range(i):
                    row[at] = relation[nodes[j], nodes[i]]
                    at += 1
            result[end] = number(book, row)
            end += 1


@kernel
def refine_oblivious(sizes: NDArray[np.int64], k: int, colour: NDArray[np.int64]) -> NDArray[np.int64]:
    """One round of oblivious k-WL: own colour and, place by place, the multiset over all nodes put there.

    That multiset is the same for the n tuples that differ in this place only, so it is sorted once. With n = 10 and k = 3,
    tuple 472 is (4, 7, 2); its second place has the stride 10, and 402, 412, ..., 492 differ from it there only.
    """
    widest = max(sizes.max(), k + 1) if sizes.size else k + 1
    bags = open_book(k * (sizes ** (k - 1)).sum(), k * colour.size)
    book = open_book(colour.size, (k + 1) * colour.size)
    bag = np.empty((k, widest ** (k - 1)), np.int64)
    row = np.empty(widest, np.int64)
    result = np.empty_like(colour)
    start = 0
    for n in sizes:
        for i in range(k):
            stride = n ** (k - 1 - i)
            for rest in range(n ** (k - 1)):
                base = start + rest // stride * stride * n + rest % stride  # a 0 put in at this place
                for w in range(n):
                    row[w] = colour[base + w * stride]
                sort(row[:n])
                bag[i, rest] = number(bags, row[:n])
        for t in range(n**k):
            for i in range(k):
                stride = n ** (k - 1 - i)
                row[i] = bag[i, t // (stride * n) * stride + t % stride]  # t without this place
            row[k] = colour[start + t]
            result[start + t] = number(book, row[: k + 1])
        start += n**k
    return result


@kernel
def refine_folklore(sizes: NDArray[np.int64], k: int, colour: NDArray[np.int64]) -> NDArray[np.int64]:
    """One round of folklore k-WL: own colour, and the multiset, over nodes w, of the k colours with w put in."""
    widest = sizes.max() if sizes.size else 0
    book = open_book(colour.size, (sizes**k * (sizes + 1)).sum())
    row = np.empty(widest + 1, np.int64)
    result = np.empty_like(colour)
    colours = colour.max() + 1 if colour.size else 0
    start = 0
    for n in sizes:
        for t in range(n**k):
            row[:n] = 0
            for i in range(k):
                stride = n ** (k - 1 - i)
                base = start + t - t // stride % n * stride  # the tuple with a 0 at this place
                for w in range(n):
                    row[w] = row[w] * colours + colour[base + w * stride]
            sort(row[:n])
            row[n] = colour[start + t]
            result[start + t] = number(book, row[: n + 1])
        start += n**k
    return result


@kernel
def rooted_subgraphs(
    csr: Csr, roots: NDArray[np.int64], hops: int, ptr: NDArray[np.int64], sub: Csr, inside: NDArray[np.int64]
) -> int:
    """Write the subgraphs rooted at adjacent or equal (u, v) side by side; return their number of arcs.

    ``inside`` says of each of their nodes which it is, and the code of its distances to u and v. Without room there,
    only say in ``ptr`` where each subgraph begins.
    """
    num_nodes = csr.indptr.size - 1
    walk = Walk(np.zeros(num_nodes, np.int32), np.empty(num_nodes, np.int32))
    place = np.empty(num_nodes, np.int64)
    arcs = 0
    ptr[0] = 0
    for r in range(roots.shape[0]):
        count, _ = label_adjacent(csr, roots[r, 0], roots[r, 1], hops, num_nodes, walk)
        ptr[r + 1] = ptr[r] + count
        for i in range(count):
            place[walk.nodes[i]] = ptr[r] + i
        for i in range(count):
            w = walk.nodes[i]
            for k in range(csr.indptr[w], csr.indptr[w + 1]):
                x = csr.indices[k]
                if walk.code[x]:
                    if inside.size:
                        sub.indices[arcs] = place[x]
                    arcs += 1
            if inside.size:
                sub.indptr[place[w] + 1] = arcs
                inside[place[w], 0] = w
                inside[place[w], 1] = walk.code[w]
        for i in range(count):
            walk.code[walk.nodes[i]] = 0
    return arcs
