"""What a part of the encoding is. It comes in three forms, all described by `Part`.

A **compiled** part is counted by `escgnn.kernels.encoding.encode` while that has the rooted subgraph at hand: it has a kernel
of its own, called there, and a function that makes the kernel's tables, called in `escgnn.encoding.tables`. That is the form
for what must be quick.

A **typed** part is counted by `escgnn.kernels.typed.encode_typed`, which sees what kind nodes and edges are of: compiled, too,
but in a pass of its own, so that whoever has no types pays nothing for them. Its tables are made in `escgnn.encoding.typed`.
Some parts are compiled or typed, as the settings say: `Part.is_typed`.

An **own** part (`OwnPart`) counts all by itself, in one more pass over the roots, and its counts are put beside the others'.
That is the form to begin with, and the only one that can be added from outside the package.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from escgnn.encoding.bin import Bin, Label
from escgnn.encoding.settings import Settings
from escgnn.graphs import Graph


class Part(ABC):
    """One part of the encoding: which bins it has, and what becomes of them when u and v change places.

    Attributes:
        name: What its bins begin with, and what people write in ``parts``.
        counts: One line that says what it counts.
        options: The fields of `Settings` that are about it alone.
        needs_radius: False if it is the same at every radius; then it comes once when an encoding has several.
        met_twice: Whether the kernel meets everything from both ends, so that counts are halved.
    """

    name: ClassVar[str]
    counts: ClassVar[str]
    options: ClassVar[tuple[str, ...]] = ()
    needs_radius: ClassVar[bool] = True
    met_twice: ClassVar[bool] = False

    def is_typed(self, settings: Settings) -> bool:
        """Whether it is counted in the pass that sees types."""
        return settings.counts_by_types(self.name)

    @abstractmethod
    def bins(self, settings: Settings, labels: Sequence[Label]) -> Iterable[Bin]:
        """All its bins, in order, given the labels that nodes can have, ascending."""

    def mirror(self, name: Bin) -> Bin | None:
        """The bin of (v, u) that counts what this bin of (u, v) counts, None if no bin does: then both are counted."""
        return name


class OwnPart(Part):
    """A part that counts by itself.

    >>> from escgnn import graphs
    >>> from escgnn.encoding import PARTS, RootedEncoding
    >>> class Ends(OwnPart):
    ...     name = "ends"
    ...     counts = "the degree of either root"
    ...
    ...     def bins(self, settings, labels):
    ...         return [Bin("ends", "u"), Bin("ends", "v")]
    ...
    ...     def mirror(self, name):
    ...         return name.other_root()
    ...
    ...     def count(self, graph, roots, settings, bins):
    ...         return graph.degrees[roots]
    >>> PARTS["ends"] = Ends()
    >>> RootedEncoding(hops=1, parts=("ends", "joint")).row(graphs.star(3), 0, 1)
    {('ends', 'u'): 3, ('ends', 'v'): 1, ('joint', 0, 1): 1, ('joint', 1, 0): 1, ('joint', 1, 2): 2}
    >>> del PARTS["ends"]
    """

    @abstractmethod
    def count(
        self, graph: Graph, roots: NDArray[np.int64], settings: Settings, bins: Sequence[Bin]
    ) -> NDArray[np.integer]:
        """Counts ``(roots, bins)``, integers from 0 on; numbers beyond 2,147,483,647 read that.

        Several threads call it at once, each with other roots.

        Args:
            graph: All graphs, side by side.
            roots: The 2-tuples (u, v), ``(roots, 2)``: adjacent, equal or neither.
            settings: The options; ``settings.hops`` is one radius.
            bins: The bins to fill, as `bins` named them; more for roots that may be neither adjacent nor equal.
        """
