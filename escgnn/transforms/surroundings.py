"""What is around every node of a graph, found once, before batches are cut: positions, and environments by number."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch

from escgnn import limits
from escgnn.encoding import Settings, with_types
from escgnn.kernels.bridges import types_by_cycles
from escgnn.kernels.graphs import one_kind
from escgnn.kernels.typed import refine
from escgnn.store import GraphStore
from escgnn.transforms.positions import Positional, Positions

RING = "ring"  # before the radius of an environment that knows cycles


class Surroundings(Positions):
    """Adds what is around every node of a store: a positional encoding, and its environments of some radii.

    Two nodes have the same environment of radius t if the trees of t steps around them are the same; by types of atoms and bonds
    these are Morgan's. An environment is a number below 2 ** 62, the same in every graph, so that networks can learn something of
    each.

    Args:
        positional: As for `Positions`.
        environments: Radii, such as ``(1, 2, 3)``; none by default. ``"ring2"`` is an environment of radius 2 that knows which
            nodes and edges are on a cycle, and of the edges on cycles only what their ends know: their types without their
            places. Of molecules whose aromatic bonds are single and double ones in turn, it is the same for all such forms.
        types: Attributes that say what kind nodes and edges are of, as for `escgnn.transforms.StructuralEncoding`; without them
            all are alike at first.

    Adds:
        environment: a row for every node, with a number for each radius; and what `Positions` adds.

    >>> store = GraphStore([3], [4], [[0, 1, 1, 2], [1, 0, 2, 1]])
    >>> ends, middle, others = Surroundings(environments=(0, 1))(store).column("environment")
    >>> bool(ends[0] == middle[0]), bool(ends[1] == middle[1]), bool(ends[1] == others[1])
    (True, False, True)
    """

    def __init__(
        self, positional: Positional | None = None, environments: Sequence[int | str] = (), types: Sequence[str] = ()
    ) -> None:
        super().__init__(positional)
        if isinstance(environments, str | int):
            raise ValueError(f"environments: {environments!r}; expected a sequence of radii such as (1, 2)")
        self.environments = [_checked(one) for one in environments]
        if len({*self.environments}) < len(self.environments):
            raise ValueError(f"environments: {self.environments}; expected different ones")
        self.types = Settings(types=types).types

    @property
    def adds(self) -> frozenset[str]:
        """The columns, if there are any."""
        return super().adds | {"environment"} if self.environments else super().adds

    def __call__(self, graphs: GraphStore) -> GraphStore:
        """The graphs with the columns; themselves if there are none.

        Raises:
            ValueError: A graph has no such types.
        """
        graphs = super().__call__(graphs)
        if not self.environments:
            return graphs
        view = with_types(graphs.view(), self.types, lambda attribute: _held(graphs, attribute))
        plain = view.types or one_kind(view.csr)
        by_cycles = types_by_cycles(view.csr, plain) if any(map(_is_ring, self.environments)) else plain
        found = [
            refine(view.csr, by_cycles if _is_ring(one) else plain, int(str(one).removeprefix(RING)))
            for one in self.environments
        ]
        return graphs.with_fields(node={"environment": torch.from_numpy(np.stack(found, 1))})  # (nodes, environments)

    def __repr__(self) -> str:
        return f"Surroundings({self.positional}, environments={self.environments}, types={self.types})"


def _is_ring(environment: int | str) -> bool:
    return isinstance(environment, str)


def _checked(environment: int | str) -> int | str:
    """A radius, which may be written as a text; with ``ring`` before it, if it was."""
    if not isinstance(environment, str):
        return limits.whole("environments", environment, 0, limits.MOST_ROUNDS)
    digits = environment.removeprefix(RING)
    if not (digits.isascii() and digits.isdigit()):
        raise ValueError(f"environments: {environment!r}; expected a radius such as 2, or {RING}2")
    radius = limits.whole("environments", int(digits), 0, limits.MOST_ROUNDS)
    return radius if digits == environment else f"{RING}{radius}"


def _held(graphs: GraphStore, attribute: str) -> Any:
    """What graphs hold under a name."""
    if attribute not in graphs.fields:
        raise ValueError(f"types: {attribute!r}, but the graphs have no such attribute; expected integers from 0 on")
    return graphs.column(attribute).numpy()
