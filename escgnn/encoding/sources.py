"""Where rows come from: the compiled kernel, or a part that counts by itself."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from escgnn.encoding.bin import Bin
from escgnn.encoding.cost import Lightness
from escgnn.encoding.labels import edge_codes, pair_codes
from escgnn.encoding.numbering import BinNumbers
from escgnn.encoding.parts import OwnPart
from escgnn.encoding.rows import BUFFER, NONE, Rows, borrow, forward, give_back, joined
from escgnn.encoding.settings import Settings
from escgnn.encoding.tables import Tables, edge_bins, kernel_tables, pair_bins, swap_table
from escgnn.graphs import Graph
from escgnn.kernels import threads as pool
from escgnn.kernels.encoding import Output, encode
from escgnn.kernels.resistance import MAX_CORE
from escgnn.kernels.rows import LARGEST_COUNT, link_columns, scatter

Roots = NDArray[np.int64]  # (roots, 2)
Blocks = Iterator[tuple[Roots, Rows]]


class Source(Protocol):
    """Rows of any roots; see `escgnn.encoding.RootedEncoding`."""

    @property
    def bins(self) -> tuple[Bin, ...]:
        """Bins of roots that are adjacent or equal."""
        ...

    @property
    def pair_bins(self) -> tuple[Bin, ...]:
        """The same, then those that only other roots can have."""
        ...

    def rows(self, graph: Graph, threads: int | None) -> Rows:
        """Rows of the columns of ``edge_index``."""
        ...

    def node_rows(self, graph: Graph, threads: int | None) -> Rows:
        """Rows of (v, v) for every node."""
        ...

    def pairs(self, graph: Graph, roots: Roots, threads: int | None) -> Rows:
        """Rows of any roots, whose bins are `pair_bins`."""
        ...

    def edge_blocks(self, graph: Graph, size: int) -> Blocks:
        """Both directions of so many edges at a time."""
        ...

    def node_blocks(self, graph: Graph, size: int) -> Blocks:
        """So many (v, v) at a time."""
        ...


class Pass(ABC):
    """One pass over the roots, each edge once: the row of (v, u) comes with that of (u, v)."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.is_light = Lightness(settings)

    @cached_property
    def bins(self) -> tuple[Bin, ...]:
        """Bins of adjacent and equal roots."""
        return edge_bins(self.settings)

    @cached_property
    def pair_bins(self) -> tuple[Bin, ...]:
        """The same, then those that only other roots can have."""
        return pair_bins(self.settings)

    def shared(self, graph: Graph) -> Any:
        """What all roots of a graph need, made once however many blocks they come in."""
        return None

    @abstractmethod
    def encode(
        self, graph: Graph, roots: Roots, threads: int | None, *, anywhere: bool = False, shared: Any = None
    ) -> list[Rows]:
        """Blocks of rows, those of (u, v) and (v, u) alternately.

        Args:
            graph: The graph.
            roots: Those to encode.
            threads: That do it at the same time.
            anywhere: Whether roots need not be adjacent or equal.
            shared: What `shared` gave for this graph, if it was asked already.
        """

    def from_kernel(
        self, fill: Callable[[Roots, Output], int], bins: int, graph: Graph, roots: Roots, threads: int | None
    ) -> list[Rows]:
        """Blocks that a kernel fills, in memory that may be used again once they are given back.

        Args:
            fill: Writes the rows of some roots, and says how many numbers they have.
            bins: The most that a row can have.
            graph: The graph.
            roots: All roots.
            threads: That fill blocks at the same time.
        """
        room = 2 * bins
        halt = pool.new_halt()
        is_long = not self.is_light(graph, len(roots))  # then somebody should look after it

        def task(start: int, stop: int) -> Rows:
            lengths = np.empty(2 * (stop - start), np.int32)
            numbers, counts = borrow(room * (stop - start) + 1)
            used = fill(roots[start:stop], Output(lengths, numbers, counts, halt))
            return Rows(lengths, numbers[:used], counts[:used], ())

        threads = threads or pool.count()
        size = block_size(len(roots), room, threads)
        return pool.over_blocks(task, len(roots), size, threads, halt=halt if is_long else None)

    def rows(self, graph: Graph, threads: int | None) -> Rows:
        """Rows of the columns of ``edge_index``."""
        loops = np.flatnonzero(graph.arc < 0)
        roots = np.concatenate([graph.edges, np.repeat(graph.edge_index[0, loops], 2).reshape(-1, 2)])
        blocks = self.encode(graph, roots, threads)
        lengths = np.concatenate([NONE, *(block.length for block in blocks)])
        row, following = np.empty((2, graph.arc.size), np.int64)
        first = np.empty(lengths.size, np.int64)
        link_columns(graph.edge_index, graph.arc, graph.edge, row, first, following)
        length = lengths[row]
        starts = length.cumsum(dtype=np.int64) - length
        result = np.empty((2, length.sum(dtype=np.int64)), np.int32)
        begins = np.cumsum([0, *(block.length.size for block in blocks)])

        def task(start: int, stop: int) -> None:
            for block, begin in zip(blocks[start:stop], begins[start:stop], strict=True):
                mine = first[begin : begin + block.length.size]
                scatter(block.length, mine, following, starts, block.bin, block.count, result)

        pool.over_blocks(task, len(blocks), 1, threads)
        give_back(blocks)
        return Rows(length, result[0], result[1], self.bins)

    def node_rows(self, graph: Graph, threads: int | None) -> Rows:
        """Rows of (v, v) for every node."""
        return forward(self.encode(graph, _twice(0, graph.num_nodes), threads), self.bins)

    def pairs(self, graph: Graph, roots: Roots, threads: int | None) -> Rows:
        """Rows of any roots."""
        return forward(self.encode(graph, roots, threads, anywhere=True), self.pair_bins)

    def edge_blocks(self, graph: Graph, size: int) -> Blocks:
        """Both directions of so many edges at a time."""
        shared = self.shared(graph)
        for roots in graph.edge_slices(size):
            both = np.stack([roots, roots[:, ::-1]], axis=1).reshape(-1, 2)
            yield both, joined(self.encode(graph, roots, None, shared=shared), self.bins)

    def node_blocks(self, graph: Graph, size: int) -> Blocks:
        """So many (v, v) at a time."""
        shared = self.shared(graph)
        for start in range(0, graph.num_nodes, size):
            roots = _twice(start, min(start + size, graph.num_nodes))
            yield roots, forward(self.encode(graph, roots, None, shared=shared), self.bins)


def _twice(start: int, stop: int) -> Roots:
    return np.repeat(np.arange(start, stop), 2).reshape(-1, 2)


def block_size(roots: int, room: int, threads: int) -> int:
    """Roots in a block whose rows take ``room`` numbers each: a share for every thread, but few are not worth another."""
    fair = -(-roots // (2 * threads))
    return max(min(fair, BUFFER // room), min(512, BUFFER // room), 1)


class CompiledPass(Pass):
    """All compiled parts at one radius, in one call of the kernel."""

    @cached_property
    def edge_tables(self) -> Tables:
        """What the kernel looks up for roots that are adjacent or equal."""
        return kernel_tables(self.settings, edge_codes(self.settings.radius), self.bins)

    @cached_property
    def pair_tables(self) -> Tables:
        """The same for roots anywhere."""
        return kernel_tables(self.settings, pair_codes(self.settings.radius), self.pair_bins)

    def encode(
        self, graph: Graph, roots: Roots, threads: int | None, *, anywhere: bool = False, shared: Any = None
    ) -> list[Rows]:
        """Blocks from the kernel, in memory that may be used again once they are given back."""
        tables = self.pair_tables if anywhere else self.edge_tables

        def fill(some: Roots, output: Output) -> int:
            used: int = encode(graph.csr, some, *tables, anywhere or None, output)
            if used < 0 and not output.halt[0]:
                u, v = some[-1 - used].tolist()
                raise ValueError(
                    f"resistance: the subgraph rooted at ({u}, {v}) has more than {MAX_CORE} nodes left when its tree "
                    "parts are removed, too many to solve; set max_nodes or lower hops"
                )
            return used

        return self.from_kernel(fill, tables[0].swap.size, graph, roots, threads)


class OwnPass(Pass):
    """One part that counts by itself."""

    def __init__(self, settings: Settings, part: OwnPart) -> None:
        super().__init__(settings)
        self.part = part

    @cached_property
    def bins(self) -> tuple[Bin, ...]:
        """Those of the part alone."""
        return tuple(name for name in edge_bins(self.settings) if name.part == self.part.name)

    @cached_property
    def pair_bins(self) -> tuple[Bin, ...]:
        """Those of the part alone."""
        return tuple(name for name in pair_bins(self.settings) if name.part == self.part.name)

    def encode(
        self, graph: Graph, roots: Roots, threads: int | None, *, anywhere: bool = False, shared: Any = None
    ) -> list[Rows]:
        """Blocks of what the part counts."""
        bins = self.pair_bins if anywhere else self.bins
        swap = swap_table(BinNumbers(bins))
        mirrored = swap.max(initial=-1) < len(bins)  # every bin has a twin, so (v, u) need not be counted

        def task(start: int, stop: int) -> Rows:
            here = roots[start:stop]
            counts = self._counts(graph, here, bins)
            other = counts[:, swap] if mirrored else self._counts(graph, here[:, ::-1], bins)
            both = np.stack([counts, other], axis=1).reshape(-1, len(bins))
            row, b = both.nonzero()
            length = np.bincount(row, minlength=len(both)).astype(np.int32)
            return Rows(length, b.astype(np.int32), both[row, b], ())

        threads = threads or pool.count()
        return pool.over_blocks(task, len(roots), block_size(len(roots), 2 * len(bins), threads), threads)

    def _counts(self, graph: Graph, roots: Roots, bins: Sequence[Bin]) -> NDArray[np.int32]:
        counts = np.asarray(self.part.count(graph, roots, self.settings, bins))
        if counts.shape != (len(roots), len(bins)) or counts.dtype.kind not in "iu" or counts.min(initial=0) < 0:
            raise ValueError(
                f"{self.part.name}: its counts have shape {counts.shape} and dtype {counts.dtype}; "
                f"expected integers from 0 on, {(len(roots), len(bins))}"
            )
        return np.minimum(counts, LARGEST_COUNT).astype(np.int32)
