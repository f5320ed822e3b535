"""Which edges lie on a cycle: all but the bridges, without which a component would fall apart; and types that know it."""

import numpy as np
from numpy.typing import NDArray

from escgnn.kernels import kernel
from escgnn.kernels.graphs import Csr, Types
from escgnn.kernels.typed import hash_rows, refine


@kernel
def on_cycles(csr: Csr) -> NDArray[np.bool_]:
    """Whether each arc lies on a cycle of any length, (arcs,); in linear time.

    A walk goes as deep as it can, and numbers nodes as it meets them. What hangs below a node w is on no cycle with the edge that
    led to w, a bridge, if no edge leads from there to a node that was met before w.
    """
    nodes = csr.indptr.size - 1
    found = np.ones(csr.indices.size, np.bool_)
    met = np.full(nodes, -1, np.int64)
    earliest = np.empty(nodes, np.int64)  # of nodes that an edge from w, or from below w, leads to
    todo = csr.indptr[:-1].copy()  # the next arc to try of each node
    down, up = np.empty(nodes, np.int64), np.empty(nodes, np.int64)  # arcs between a node and the one before it
    path = np.empty(nodes, np.int64)
    count = 0
    for root in range(nodes):
        if met[root] >= 0:
            continue
        path[0], depth = root, 0
        met[root] = earliest[root] = count
        count += 1
        while depth >= 0:
            w = path[depth]
            if todo[w] < csr.indptr[w + 1]:
                k = todo[w]
                todo[w] += 1
                x = csr.indices[k]
                if depth > 0 and x == path[depth - 1]:
                    up[w] = k
                elif met[x] >= 0:
                    earliest[w] = min(earliest[w], met[x])
                else:
                    met[x] = earliest[x] = count
                    count += 1
                    down[x] = k
                    depth += 1
                    path[depth] = x
                continue
            depth -= 1
            if depth < 0:
                continue
            if earliest[w] == met[w]:
                found[down[w]] = found[up[w]] = False
            before = path[depth]
            earliest[before] = min(earliest[before], earliest[w])
    return found


def types_by_cycles(csr: Csr, types: Types) -> Types:
    """Types of nodes and edges that know cycles, and not where on a cycle an edge of which type is.

    A node is what it was, with the types of its edges and whether it is on a cycle; edges on cycles are all of one kind, others
    as they were. So single and double bonds that take turns around a ring may change places: all Kekulé forms of a molecule
    are the same.
    """
    is_round = on_cycles(csr)
    owner = np.repeat(np.arange(csr.indptr.size - 1), np.diff(csr.indptr))
    on_any = np.bincount(owner, is_round, csr.indptr.size - 1) > 0
    own_edges = refine(csr, Types(np.zeros_like(types.node), types.arc), 1)
    node = hash_rows(np.stack([types.node, own_edges, on_any.astype(np.int64)], 1))
    return Types(node, np.where(is_round, 0, types.arc + 1))
