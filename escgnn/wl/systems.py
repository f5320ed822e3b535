"""What tests colour, and how refinement is run until it is stable."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from escgnn.kernels.graphs import Csr
from escgnn.kernels.numbering import number_multisets, number_rows
from escgnn.kernels.wl import isomorphism_types, refine_folklore, refine_nodes, refine_oblivious

MAX_WORDS = 1 << 28  # 2 GB in the worst case, when no two colours of a round are equal

Ints = NDArray[np.int64]


class System(Protocol):
    """Items that belong to graphs, and a round of refinement of their colours."""

    @property
    def ptr(self) -> Ints:
        """Where each graph's items begin, ``(graphs + 1,)``."""
        ...

    def refine(self, colour: Ints) -> Ints:
        """Colours after one round: never coarser, numbered from 0 on without gaps."""
        ...

    def take(self, keep: NDArray[np.bool_]) -> "System":
        """The system of some of the graphs."""
        ...


@dataclass(frozen=True)
class Nodes:
    """Nodes that hear from their neighbours, over arcs that may have labels."""

    csr: Csr
    ptr: Ints
    label: Ints = field(default_factory=lambda: np.empty(0, np.int64))  # (arcs,) or none

    def refine(self, colour: Ints) -> Ints:
        """One round of 1-WL."""
        return refine_nodes(self.csr, self.label, colour)

    def take(self, keep: NDArray[np.bool_]) -> "Nodes":
        """The nodes and arcs of some of the graphs."""
        degrees = np.diff(self.csr.indptr)
        nodes = np.repeat(keep, np.diff(self.ptr))
        arcs = np.repeat(nodes, degrees)
        place = (nodes.cumsum() - 1).astype(np.int32)
        csr = Csr(_offsets(degrees[nodes]), place[self.csr.indices[arcs]])
        return Nodes(csr, _take(self.ptr, keep), self.label[arcs] if self.label.size else self.label)


@dataclass(frozen=True)
class Tuples:
    """All k-tuples of nodes of each graph, in lexicographic order."""

    sizes: Ints  # nodes of each graph
    k: int
    folklore: bool

    @property
    def ptr(self) -> Ints:
        """Where each graph's tuples begin."""
        return _offsets(self.sizes**self.k)

    def refine(self, colour: Ints) -> Ints:
        """One round of k-WL."""
        return (refine_folklore if self.folklore else refine_oblivious)(self.sizes, self.k, colour)

    def take(self, keep: NDArray[np.bool_]) -> "Tuples":
        """The tuples of some of the graphs."""
        return Tuples(self.sizes[keep], self.k, self.folklore)


@dataclass(frozen=True)
class Settled:
    """Items whose first colours are final."""

    ptr: Ints

    def refine(self, colour: Ints) -> Ints:
        """Nothing to add."""
        return colour

    def take(self, keep: NDArray[np.bool_]) -> "Settled":
        """The items of some of the graphs."""
        return Settled(_take(self.ptr, keep))


def tuples(csr: Csr, ptr: Ints, initial: Ints, k: int, *, folklore: bool, argument: str = "k") -> tuple[Tuples, Ints]:
    """All k-tuples and their isomorphism types.

    Raises:
        ValueError: They are too many; ``argument`` is what the caller can lower.
    """
    system = Tuples(np.diff(ptr), k, folklore)
    sizes = system.sizes.astype(np.float64)  # whose powers may not fit in an integer
    count = int((sizes**k).sum())
    words = int((sizes ** (k + 1)).sum()) if folklore else (2 * k + 1) * count
    codes = 1 << 63 // k if folklore else MAX_WORDS  # k colours must fit in one number
    if words > MAX_WORDS or count > codes:
        raise ValueError(
            f"{argument}: {k}-WL of {sizes.size} graphs with up to {system.sizes.max()} nodes has {count} tuples and "
            f"{words} numbers a round; at most {codes} and {MAX_WORDS} fit. Give fewer or smaller graphs"
        )
    first = np.empty(count, np.int64)
    isomorphism_types(csr, ptr, k, initial, first)
    return system, first


def refinements(system: System, colour: Ints) -> Iterator[Ints]:
    """The first colours, then those after each round that splits some; the last ones are stable."""
    yield colour
    while (finer := system.refine(colour)).max(initial=-1) > colour.max(initial=-1):
        colour = finer
        yield colour


def classes(system: System, colour: Ints) -> Ints:
    """Number of each graph's class: equal if and only if the stable colours agree as multisets.

    Colours only ever split, so a graph unlike all others is done, and leaves.
    """
    result = np.empty(system.ptr.size - 1, np.int64)
    left = np.arange(result.size)
    used = 0
    while left.size:
        kind = number_multisets(system.ptr, colour)
        result[left] = used + kind  # for good, unless a later round says more
        used += kind.max() + 1
        shared = np.bincount(kind)[kind] > 1
        if not shared.all():
            left = left[shared]
            colour = renumber(colour[np.repeat(shared, np.diff(system.ptr))])
            system = system.take(shared)
        finer = system.refine(colour)
        if finer.max(initial=-1) == colour.max(initial=-1):
            break
        colour = finer
    return renumber(result)


def renumber(values: Ints) -> Ints:
    """The same numbers from 0 on without gaps, in order of first appearance."""
    return number_rows(np.arange(values.size + 1), values)


def join(*colourings: Ints) -> Ints:
    """One colour that stands for several at once."""
    width = len(colourings)
    return number_rows(width * np.arange(colourings[0].size + 1), np.stack(colourings, axis=1).ravel())


def _offsets(lengths: Ints) -> Ints:
    return np.concatenate([np.zeros(1, np.int64), lengths.cumsum()])


def _take(ptr: Ints, keep: NDArray[np.bool_]) -> Ints:
    return _offsets(np.diff(ptr)[keep])
