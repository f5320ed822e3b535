"""Several sources of rows as one: all radii of an encoding, and at each the kernel beside parts that count by themselves."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from escgnn import limits
from escgnn.encoding.bin import Bin
from escgnn.encoding.parts import PARTS, OwnPart
from escgnn.encoding.rows import Rows, side_by_side
from escgnn.encoding.settings import Settings
from escgnn.encoding.sources import Blocks, CompiledPass, OwnPass, Roots, Source
from escgnn.encoding.tables import edge_bins, pair_bins
from escgnn.encoding.typed import TypedPass
from escgnn.graphs import Graph


def source_of(settings: Settings) -> Source:
    """What computes the rows of an encoding."""
    if not isinstance(settings.hops, int):
        return SeveralRadii(settings)
    typed = [PARTS[part].is_typed(settings) for part in settings.parts]
    if all(typed) and settings.max_nodes is None:
        return TypedPass(settings)
    if any(typed) or any(isinstance(PARTS[part], OwnPart) for part in settings.parts):
        return PassesSideBySide(settings)
    return CompiledPass(settings)


class SideBySide(ABC):
    """Rows of the same roots from several sources, each root's put together.

    Attributes:
        settings: Of the whole.
        sources: By the radius that their bins begin with, or None for nothing.
    """

    settings: Settings
    sources: Sequence[tuple[int | None, Source]]

    @property
    @abstractmethod
    def bins(self) -> tuple[Bin, ...]:
        """The bins of all sources, in the order wanted."""

    @property
    @abstractmethod
    def pair_bins(self) -> tuple[Bin, ...]:
        """The same for roots anywhere."""

    @cached_property
    def _numbers(self) -> list[NDArray[np.int32]]:
        return [_numbers(self.bins, source.bins, radius) for radius, source in self.sources]

    @cached_property
    def _pair_numbers(self) -> list[NDArray[np.int32]]:
        return [_numbers(self.pair_bins, source.pair_bins, radius) for radius, source in self.sources]

    def rows(self, graph: Graph, threads: int | None) -> Rows:
        """Rows of the columns of ``edge_index``."""
        return self._merged([source.rows(graph, threads) for _, source in self.sources])

    def node_rows(self, graph: Graph, threads: int | None) -> Rows:
        """Rows of (v, v) for every node."""
        return self._merged([source.node_rows(graph, threads) for _, source in self.sources])

    def pairs(self, graph: Graph, roots: Roots, threads: int | None) -> Rows:
        """Rows of any roots."""
        pieces = [source.pairs(graph, roots, threads) for _, source in self.sources]
        return side_by_side(pieces, self._pair_numbers, self.pair_bins)

    def edge_blocks(self, graph: Graph, size: int) -> Blocks:
        """Both directions of so many edges at a time."""
        return self._zipped([source.edge_blocks(graph, size) for _, source in self.sources])

    def node_blocks(self, graph: Graph, size: int) -> Blocks:
        """So many (v, v) at a time."""
        return self._zipped([source.node_blocks(graph, size) for _, source in self.sources])

    def _zipped(self, blocks: Sequence[Blocks]) -> Blocks:
        for pieces in zip(*blocks, strict=True):
            roots = pieces[0][0]  # the same in all
            yield roots, self._merged([rows for _, rows in pieces])

    def _merged(self, pieces: Sequence[Rows]) -> Rows:
        return side_by_side(pieces, self._numbers, self.bins)


def _numbers(bins: Sequence[Bin], inner: Sequence[Bin], radius: int | None) -> NDArray[np.int32]:
    """The number that each bin of a source has among all."""
    number = {name: b for b, name in enumerate(bins)}
    return np.array([number[name.at(radius)] for name in inner], np.int32)


class SeveralRadii(SideBySide):
    """The encoding at each radius, then, once, the parts that are the same at all."""

    def __init__(self, settings: Settings) -> None:
        assert not isinstance(settings.hops, int)
        self.settings = settings
        here = tuple(part for part in settings.parts if PARTS[part].needs_radius)
        everywhere = tuple(part for part in settings.parts if not PARTS[part].needs_radius)
        sources: list[tuple[int | None, Source]] = []
        if here:
            sources += [(radius, source_of(settings.within(radius, here))) for radius in settings.hops]
        if everywhere:  # the smallest radius, as it does not matter; for the same reason nothing is clipped
            sources.append((None, source_of(settings.within(1, everywhere, max_nodes=None))))
        self.sources = sources

    @cached_property
    def bins(self) -> tuple[Bin, ...]:
        """Radius by radius."""
        names = (name.at(radius) for radius, source in self.sources for name in source.bins)
        return limits.at_most_bins(names, f"hops: {self.settings.hops}")

    @cached_property
    def pair_bins(self) -> tuple[Bin, ...]:
        """The same, then what only roots that are not adjacent can have, radius by radius."""
        more = (name.at(radius) for radius, source in self.sources for name in source.pair_bins)
        return tuple(dict.fromkeys((*self.bins, *more)))


class PassesSideBySide(SideBySide):
    """One radius: all compiled parts in one pass, all that see types in another, each other part in a pass of its own."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        own = {name: part for name in settings.parts if isinstance(part := PARTS[name], OwnPart)}
        typed = tuple(name for name in settings.parts if PARTS[name].is_typed(settings))
        compiled = tuple(name for name in settings.parts if name not in own and name not in typed)
        sources: list[tuple[int | None, Source]] = []
        if compiled or settings.max_nodes is not None:  # the kernel says which roots are clipped
            sources.append((None, CompiledPass(settings.within(settings.radius, compiled))))
        if typed:
            sources.append((None, TypedPass(settings.within(settings.radius, typed))))
        for name, part in own.items():
            sources.append((None, OwnPass(settings.within(settings.radius, (name,)), part)))
        self.sources = sources

    @cached_property
    def bins(self) -> tuple[Bin, ...]:
        """In the order of the parts."""
        return edge_bins(self.settings)

    @cached_property
    def pair_bins(self) -> tuple[Bin, ...]:
        """The same, then what only roots that are not adjacent can have."""
        return pair_bins(self.settings)
