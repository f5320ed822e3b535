"""Resistance distances from both roots to every node of a rooted subgraph, every edge a unit resistor.

Leaves are peeled off first: their resistance is their neighbour's plus one, exactly. What remains is eliminated node
by node, fewest neighbours first, and put back in reverse. A node x that was eliminated while its neighbours k had
conductances g_k, with s their sum and p_k = g_k / s, has, for every y,

    R(x, y) = 1/s + sum_k p_k R(k, y) - sum_{k<l} p_k p_l R(k, l).

On rings and fused rings this is linear in the core, at worst cubic. Only additions of positive terms and one
subtraction, so rounding stays far below the tolerance of the bins.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from escgnn.kernels import kernel
from escgnn.kernels.graphs import Csr

MAX_CORE = 4096  # nodes; two dense matrices of this size take 256 MiB a thread
ROUNDING = 1e-6  # of a bin: exact multiples of the width are common, and rounding must not decide their bin


class ResistanceBins(NamedTuple):
    """Where counts of nodes by resistance go."""

    bins: NDArray[np.int32]  # (2, bins a root), the last one open
    width: float


@kernel
def peel(
    csr: Csr,
    nodes: NDArray[np.int32],
    code: NDArray[np.int32],
    ball: NDArray[np.uint8],
    place: NDArray[np.int32],
    fixed: NDArray[np.int64],
) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Remove leaves until none is left but the two ``fixed`` places; return their order and parents (-1: core)."""
    count = nodes.size
    degree = np.zeros(count, np.int32)
    parent = np.full(count, -1, np.int32)
    order = np.empty(count, np.int32)
    peeled = 0
    for i in range(count):
        w = nodes[i]
        for k in range(csr.indptr[w], csr.indptr[w + 1]):
            degree[i] += (ball[code[w]] & ball[code[csr.indices[k]]]) != 0
        if degree[i] == 1 and i != fixed[0] and i != fixed[1]:
            order[peeled] = i
            peeled += 1
    done = 0
    while done < peeled:
        leaf = order[done]
        done += 1
        w = nodes[leaf]
        degree[leaf] = 0
        for k in range(csr.indptr[w], csr.indptr[w + 1]):
            x = csr.indices[k]
            if ball[code[w]] & ball[code[x]] and degree[place[x]] > 0:
                parent[leaf] = place[x]
                degree[place[x]] -= 1
                if degree[place[x]] == 1 and place[x] != fixed[0] and place[x] != fixed[1]:
                    order[peeled] = place[x]
                    peeled += 1
    return order[:peeled], parent


@kernel
def eliminate(conductance: NDArray[np.float64], roots: int) -> NDArray[np.int32]:
    """Eliminate all but the first ``roots`` nodes; row x keeps x's conductances at the moment it went."""
    size = conductance.shape[0]
    degree = np.zeros(size, np.int32)
    for x in range(size):
        degree[x] = np.count_nonzero(conductance[x])
    order = np.arange(size).astype(np.int32)
    neighbours = np.empty(size, np.int32)
    for step in range(size - 1, roots - 1, -1):
        best = roots
        for i in range(roots, step + 1):
            if degree[order[i]] < degree[order[best]]:
                best = i
        order[step], order[best] = order[best], order[step]
        x = order[step]
        found = 0
        total = 0.0
        for k in range(size):
            if conductance[x, k] > 0:
                neighbours[found] = k
                total += conductance[x, k]
                found += 1
        for a in range(found):  # x goes, and every two of its neighbours k are joined instead: a star becomes a mesh
            k = neighbours[a]
            conductance[k, x] = 0.0
            degree[k] -= 1
            for b in range(found):
                other = neighbours[b]
                if k != other:
                    degree[k] += conductance[k, other] == 0
                    conductance[k, other] += conductance[x, k] * conductance[x, other] / total
    return order


@kernel
def put_back(conductance: NDArray[np.float64], order: NDArray[np.int32], roots: int) -> NDArray[np.float64]:
    """Resistances (2, size) to the first and the last root, after `eliminate`."""
    size = conductance.shape[0]
    between = np.zeros((size, size))  # between nodes that were neighbours when one of them went
    result = np.zeros((2, size))
    if roots == 2:
        apart = 1 / conductance[0, 1] if conductance[0, 1] > 0 else np.inf
        between[0, 1] = between[1, 0] = result[0, 1] = result[1, 0] = apart
    share = np.empty(size)
    neighbours = np.empty(size, np.int32)
    for step in range(roots, size):
        x = order[step]
        found = 0
        total = 0.0
        for k in range(size):
            if conductance[x, k] > 0:
                neighbours[found] = k
                total += conductance[x, k]
                found += 1
        base = 1 / total  # becomes 1/s - sum_{k<l} p_k p_l R(k, l), the same for every y
        for a in range(found):
            share[a] = conductance[x, neighbours[a]] / total
            for b in range(a):
                base -= share[a] * share[b] * between[neighbours[a], neighbours[b]]
        result[0, x] = result[1, x] = base
        for a in range(found):
            k = neighbours[a]
            reached = base
            for b in range(found):
                reached += share[b] * between[neighbours[b], k]
            between[x, k] = between[k, x] = reached
            result[0, x] += share[a] * result[0, k]
            result[1, x] += share[a] * result[1, k]
    return result


@kernel
def resistances(
    csr: Csr,
    nodes: NDArray[np.int32],
    roots: NDArray[np.int64],
    code: NDArray[np.int32],
    ball: NDArray[np.uint8],
    place: NDArray[np.int32],
) -> NDArray[np.float64]:
    """Resistances (2, nodes) to both roots; no columns if the core is too large. Infinite where nothing connects."""
    count = nodes.size
    for i in range(count):
        place[nodes[i]] = i
    fixed = np.array([place[roots[0]], place[roots[1]]])
    order, parent = peel(csr, nodes, code, ball, place, fixed)
    core = np.full(count, -1, np.int32)
    core[fixed[1]] = 1
    core[fixed[0]] = 0
    first = 1 + (roots[0] != roots[1])
    size = first
    for i in range(count):
        if parent[i] < 0 and core[i] < 0:
            core[i] = size
            size += 1
    if size > MAX_CORE:
        return np.empty((2, 0))
    conductance = np.zeros((size, size))
    for i in range(count):
        if core[i] >= 0:
            w = nodes[i]
            for k in range(csr.indptr[w], csr.indptr[w + 1]):
                x = csr.indices[k]
                if ball[code[w]] & ball[code[x]] and core[place[x]] >= 0:
                    conductance[core[i], core[place[x]]] = 1.0
    inner = put_back(conductance, eliminate(conductance, first), first)
    result = np.empty((2, count))
    for i in range(count):
        if core[i] >= 0:
            result[0, i] = inner[0, core[i]]
            result[1, i] = inner[first - 1, core[i]]
    for leaf in order[::-1]:  # hung back in reverse: one more unit resistor
        result[0, leaf] = result[0, parent[leaf]] + 1
        result[1, leaf] = result[1, parent[leaf]] + 1
    return result


@kernel
def tally_resistances(values: NDArray[np.float64], resistance: ResistanceBins, histogram: NDArray[np.uint32]) -> None:
    """Count nodes by resistance to either root."""
    last = resistance.bins.shape[1] - 1
    for side in range(2):
        for value in values[side]:
            place = min(value / resistance.width + ROUNDING, np.float64(last))  # infinite, too, is the last bin
            histogram[resistance.bins[side, int(place)]] += 1
