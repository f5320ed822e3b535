"""What is around every node of a graph, found once, before batches are cut: positions, and environments by number."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch

from escgnn import limits
from escgnn.encoding import Settings, with_types
from escgnn.graphs import Types
from escgnn.kernels.typed import refine
from escgnn.store import GraphStore
from escgnn.transforms.positions import Positional, Positions


class Surroundings(Positions):
    """Adds what is around every node of a store: a positional encoding, and its environments of some radii.

    Two nodes have the same environment of radius t if the trees of t steps around them are the same; by types of atoms and bonds
    these are Morgan's. An environment is a number below 2 ** 62, the same in every graph, so that networks can learn something of
    each.

    Args:
        positional: As for `Positions`.
        environments: Radii, such as ``(1, 2, 3)``; none by default.
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
        self, positional: Positional | None = None, environments: Sequence[int] = (), types: Sequence[str] = ()
    ) -> None:
        super().__init__(positional)
        if isinstance(environments, str | int):
            raise ValueError(f"environments: {environments!r}; expected a sequence of radii such as (1, 2)")
        self.environments = [limits.whole("environments", radius, 0, limits.MOST_ROUNDS) for radius in environments]
        if len({*self.environments}) < len(self.environments):
            raise ValueError(f"environments: {self.environments}; expected different radii")
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
        kinds = view.types or Types(np.zeros(view.num_nodes, np.int64), np.zeros(view.csr.indices.size, np.int64))
        found = [refine(view.csr, kinds, radius) for radius in self.environments]
        return graphs.with_fields(node={"environment": torch.from_numpy(np.stack(found, 1))})  # (nodes, radii)

    def __repr__(self) -> str:
        return f"Surroundings({self.positional}, environments={self.environments}, types={self.types})"


def _held(graphs: GraphStore, attribute: str) -> Any:
    """What graphs hold under a name."""
    if attribute not in graphs.fields:
        raise ValueError(f"types: {attribute!r}, but the graphs have no such attribute; expected integers from 0 on")
    return graphs.column(attribute).numpy()
