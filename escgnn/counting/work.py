"""Sharing the counting among threads: whole graphs together, one large graph by its roots."""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from threading import Lock
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from escgnn.graphs import Graph
from escgnn.kernels import threads as pool
from escgnn.kernels.counting import Adjacency, Counts

Per = Literal["node", "edge"]

BLOCK = 2048  # nodes that keep a thread busy for a few milliseconds
PIECES = 64  # of long work, so that it shows how far it is


class Job(NamedTuple):
    """Some roots of some graphs."""

    adjacency: Adjacency
    roots: tuple[int, int]  # the first, and the step to the next
    nodes: slice  # which nodes of the whole it holds
    edges: slice


@dataclass(frozen=True, slots=True)
class Work:
    """A graph, or many, cut into jobs."""

    graph: Graph
    jobs: list[Job]
    threads: int | None
    halt: pool.Halt | None  # of work that may take long, where all jobs look at it

    def tally(self, fill: Callable[[Job, Counts], bool], per: Per = "node", width: int = 1) -> Counts:
        """Sum of the tables that ``fill(job, table)`` writes, one row per node or edge.

        Raises:
            OverflowError: A sum passes int64, or a job says that its own may have.
        """
        rows = self.graph.num_nodes if per == "node" else self.graph.num_edges
        total = np.zeros((rows, width), np.int64)
        lock = Lock()  # jobs of one large graph share rows

        def run(job: Job) -> bool:
            place = job.nodes if per == "node" else job.edges
            table = np.zeros((place.stop - place.start, width), np.int64)
            fits = fill(job, table)
            with lock:
                total[place] += table
                return fits and not (total[place] < 0).any()

        done = pool.over_blocks(lambda i, _: run(self.jobs[i]), len(self.jobs), 1, self.threads, halt=self.halt)
        if not all(done):
            raise OverflowError
        return total


def share(graph: Graph, threads: int | None = None, steps: float = 0.0) -> Work:
    """Cut into jobs of about ``BLOCK`` roots, or fewer where many steps are due. Counts are integers: the cut never shows."""
    is_long = steps > pool.LONG
    halt = pool.new_halt()
    indptr, indices = graph.csr
    rank = graph.degrees << 32 | np.arange(graph.num_nodes)
    goals = np.arange(0, graph.num_nodes + BLOCK, BLOCK).clip(max=graph.num_nodes)
    cuts = np.unique(graph.ptr[np.searchsorted(graph.ptr, goals)])
    jobs = []
    for low, high in pairwise(cuts.tolist()):
        first = indptr[low].item()
        last = indptr[high].item()
        local = indices[first:last] - np.int32(low)
        nodes = slice(low, high)
        edges = slice(first // 2, last // 2)
        adjacency = Adjacency(
            indptr[low : high + 1] - first, local, graph.edge[first:last] - edges.start, rank[nodes], halt
        )
        pieces = min(max(1, (high - low) // BLOCK), 4 * (threads or pool.count()))
        if is_long:
            pieces = min(high - low, max(pieces, PIECES))
        jobs += [Job(adjacency, (piece, pieces), nodes, edges) for piece in range(pieces)]
    return Work(graph, jobs, threads, halt if is_long else None)


def run_sums(values: NDArray[np.int64], bounds: NDArray[np.int64], divisor: int = 1) -> NDArray[np.int64]:
    """Sums of ``values[bounds[i]:bounds[i + 1]]``, each divided by a number known to divide it; values >= 0.

    Raises:
        OverflowError: A result passes int64. The sum before division may.
    """
    halves = np.stack([values >> 32, values & 0xFFFFFFFF])
    running = np.zeros((2, values.size + 1), np.int64)
    halves.cumsum(1, out=running[:, 1:])
    high, low = running[:, bounds[1:]] - running[:, bounds[:-1]]
    high += low >> 32
    low &= 0xFFFFFFFF
    high, rest = np.divmod(high, divisor)
    if (high >= 1 << 31).any():
        raise OverflowError
    sums: NDArray[np.int64] = (high << 32) + ((rest << 32) + low) // divisor
    return sums
