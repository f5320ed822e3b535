"""Neighbours of some nodes, and theirs in turn, at random: the small graph that a network needs for these nodes."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from escgnn.graphs import LeanGraph
from escgnn.kernels import threads as pool
from escgnn.kernels.sampling import number_nodes, sample_neighbours

ALL = -1  # instead of a number of neighbours
BLOCK = 1 << 10  # nodes of a thread's share
Numbers = NDArray[np.int64]


class Sample(NamedTuple):
    """A part of a graph, its nodes numbered anew; columns lead from a neighbour to the node that it was drawn for."""

    n_id: Numbers  # (nodes,) in the whole graph; those asked for come first, in their order
    edge_index: Numbers  # (2, edges) places in n_id
    e_id: Numbers  # (edges,) ids in the whole graph, as of `RowStore.take`


def sample(
    graph: LeanGraph,
    nodes: ArrayLike,
    fan_outs: Sequence[int],
    *,
    seed: int | Sequence[int] = 0,
    threads: int | None = None,
) -> Sample:
    """Draw neighbours of nodes, then of those that are new, and so on; as many rounds as there are numbers.

    Neighbours are drawn without replacement, every choice as likely as any other. What is drawn for a node depends on the seed,
    the round and the node alone: not on the nodes beside it, nor on the number of threads.

    Args:
        graph: Such as `open_graph` gives.
        nodes: Different nodes to begin with.
        fan_outs: How many neighbours of each node to draw in each round; -1 for all of them.
        seed: One or more integers from 0 on.
        threads: By default those that all kernels use.

    Raises:
        ValueError: There is no such node, or one is there twice; or a fan-out is below -1.

    >>> from escgnn.graphs import star
    >>> few = sample(LeanGraph(star(100).csr), [5], [10, 3])
    >>> few.n_id.size, few.edge_index[:, 0].tolist(), few.e_id[0].item()
    (5, [1, 0], 8)
    """
    start = _checked_nodes(nodes, graph.num_nodes)
    for fan_out in fan_outs:
        if isinstance(fan_out, bool) or not isinstance(fan_out, int | np.integer) or fan_out < ALL:
            raise ValueError(f"fan_outs: {fan_out!r}; expected integers from 0 on, or -1 for all neighbours")
    keys = np.random.SeedSequence(seed).generate_state(len(fan_outs), np.uint64)
    n_id = start
    frontier = start
    targets = np.arange(start.size)  # numbers of the frontier's nodes
    columns = [np.empty((2, 0), np.int64)]
    ids = [np.empty(0, np.int64)]
    for fan_out, key in zip(fan_outs, keys, strict=True):
        sampled, counts = _around(graph, frontier, int(fan_out), key, threads)
        number = np.empty(sampled.shape[1], np.int64)
        new = np.empty(sampled.shape[1], np.int64)
        found = number_nodes(n_id, sampled[0], number, new)
        columns.append(np.stack([number, np.repeat(targets, counts)]))
        ids.append(sampled[1])
        frontier = new[:found]
        targets = np.arange(n_id.size, n_id.size + found)
        n_id = np.concatenate([n_id, frontier])
    return Sample(n_id, np.concatenate(columns, axis=1), np.concatenate(ids))


def _around(
    graph: LeanGraph, nodes: Numbers, fan_out: int, key: np.uint64, threads: int | None
) -> tuple[Numbers, Numbers]:
    """Neighbours of each node with the ids of their edges, ``(2, all)``, and how many each node has."""
    degree = graph.csr.indptr[nodes + 1] - graph.csr.indptr[nodes]
    counts = degree if fan_out == ALL else np.minimum(degree, fan_out)
    begins = np.concatenate([np.zeros(1, np.int64), counts.cumsum()])
    sampled = np.empty((2, begins[-1]), np.int64)

    def task(start: int, stop: int) -> None:
        sample_neighbours(graph.csr, graph.forward, nodes[start:stop], key, begins[start : stop + 1], sampled)

    pool.over_blocks(task, nodes.size, BLOCK, threads)
    return sampled, counts


def _checked_nodes(nodes: ArrayLike, num_nodes: int) -> Numbers:
    start = np.asarray(nodes)
    if start.size == 0:
        return np.empty(0, np.int64)
    if start.ndim != 1 or start.dtype.kind not in "iu":
        raise ValueError(f"nodes: shape {start.shape}, dtype {start.dtype}; expected a list of integers")
    if start.min() < 0 or start.max() >= num_nodes:
        bad = start[(start < 0) | (start >= num_nodes)][0]
        raise ValueError(f"nodes: {bad}; expected nodes from 0 to {num_nodes - 1}")
    different, times = np.unique(start, return_counts=True)
    if different.size < start.size:
        raise ValueError(f"nodes: {different[times > 1][0]} is there {times.max()} times; expected different nodes")
    return start.astype(np.int64)
