"""Exact counts of patterns as columns of nodes or edges: what GSN reads."""

from collections.abc import Sequence
from typing import Any

import torch

from escgnn.counting import per_orbit
from escgnn.store import GraphStore

CYCLES = ("3-cycle", "4-cycle", "5-cycle", "6-cycle")


class PatternCounts:
    """Counts the copies of patterns through every node or edge of a store, apart for each position in a copy.

    Args:
        patterns: Names of patterns, as for `escgnn.counting.count`: ``3-cycle`` to ``8-cycle``, ``4-clique``, ...
        per: ``"node"`` or ``"edge"``.
        induced: Count only copies whose nodes the graph joins no further.

    Adds:
        pattern_count: a row for every node, or every column of ``edge_index``, with a number for each orbit of each pattern.

    >>> store = GraphStore([3], [6], [[0, 1, 1, 2, 0, 2], [1, 0, 2, 1, 2, 0]])
    >>> PatternCounts(["3-cycle", "4-cycle"])(store).column("pattern_count")
    tensor([[1, 0],
            [1, 0],
            [1, 0]])
    """

    adds = frozenset({"pattern_count"})

    def __init__(self, patterns: Sequence[str] = CYCLES, *, per: str = "node", induced: bool = False) -> None:
        if isinstance(patterns, str) or not patterns:
            raise ValueError(f"patterns: {patterns!r}; expected names of one pattern or more")
        self.patterns = [*patterns]
        self.per = per
        self.induced = induced
        per_orbit([(0, 1)], self.patterns, per=per, induced=induced)  # type: ignore[arg-type]  # refuses what makes no sense

    def __call__(self, graphs: GraphStore) -> GraphStore:
        """The graphs with the column."""
        counts: dict[str, Any] = {
            "pattern_count": torch.from_numpy(
                per_orbit(graphs.view(), self.patterns, per=self.per, induced=self.induced)  # type: ignore[arg-type]
            )
        }
        return graphs.with_fields(**{self.per: counts})

    def __repr__(self) -> str:
        return f"PatternCounts({self.patterns}, per={self.per!r}, induced={self.induced})"
