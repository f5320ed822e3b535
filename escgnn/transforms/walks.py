"""Closed walks from every node: homomorphisms of cycles, which LGP-GNN reads."""

from collections.abc import Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.sparse import csr_matrix  # type: ignore[import-untyped]

from escgnn.graphs import Graph
from escgnn.store import GraphStore
from escgnn.transforms.positions import Positional, Positions

CHUNK = 2048  # graphs; powers of one matrix for all of them would be large


class ClosedWalks(Positions):
    r"""Counts the closed walks of each length from every node of a store, :math:`(A^k)_{vv}`; loops and repeats do not count.

    These are the homomorphisms of a cycle with a root that send the root there. Positions may be added, too.

    Args:
        lengths: Lengths k of the walks, from 1; none for no column.
        positional: As for `Positions`.

    Adds:
        closed_walks: a row for every node, with a number for each length; and what `Positions` adds.

    >>> store = GraphStore([3], [6], [[0, 1, 1, 2, 0, 2], [1, 0, 2, 1, 2, 0]])
    >>> ClosedWalks([3, 4])(store).column("closed_walks")
    tensor([[2, 6],
            [2, 6],
            [2, 6]])
    """

    def __init__(self, lengths: Sequence[int] = (3, 4, 5, 6), positional: Positional | None = None) -> None:
        super().__init__(positional)
        whole = all(isinstance(k, int) and not isinstance(k, bool) and k > 0 for k in lengths)
        if not whole:
            raise ValueError(f"lengths: {lengths!r}; expected integers from 1")
        self.lengths = [*lengths]

    @property
    def adds(self) -> frozenset[str]:
        """The columns."""
        return super().adds | (frozenset({"closed_walks"}) if self.lengths else frozenset())

    def __call__(self, graphs: GraphStore) -> GraphStore:
        """The graphs with the columns.

        Raises:
            OverflowError: There may be more walks than int64 can count.
        """
        placed = super().__call__(graphs)
        if not self.lengths:
            return placed
        blocks = [graphs[i : i + CHUNK].view() for i in range(0, len(graphs), CHUNK)]
        rows = [np.zeros((0, len(self.lengths)), np.int64), *(closed_walks(view, self.lengths) for view in blocks)]
        return placed.with_fields(node={"closed_walks": torch.from_numpy(np.concatenate(rows))})

    def __repr__(self) -> str:
        return f"ClosedWalks({self.lengths}, {self.positional})"


def closed_walks(view: Graph, lengths: Sequence[int]) -> NDArray[np.int64]:
    """How many walks of each length end where they began, (nodes, lengths)."""
    longest = max(lengths)
    most = int(view.degrees.max(initial=0))
    if most**longest >= 2**63:
        raise OverflowError(
            f"lengths: {longest}; where a node has {most} neighbours there may be more walks than int64 can count"
        )
    n = view.num_nodes
    ones = np.ones(view.csr.indices.size, np.int64)
    powers = [csr_matrix((np.ones(n, np.int64), np.arange(n), np.arange(n + 1)), (n, n))]
    adjacency = csr_matrix((ones, view.csr.indices, view.csr.indptr), (n, n))
    for _ in range((longest + 1) // 2):
        powers.append(powers[-1] @ adjacency)
    # powers are symmetric, so the diagonal of a product of two is the row sums of their product number by number
    columns = [np.asarray(powers[k // 2].multiply(powers[k - k // 2]).sum(1)).ravel() for k in lengths]
    return np.stack(columns, 1).astype(np.int64)
