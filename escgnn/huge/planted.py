"""Large random graphs with planted structure: what the nodes are shows in the cycles around them, and in nothing else."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

GROUP = 12  # nodes
STEPS = ((1, 2), (1, 5))  # by class: to which nodes of its ring each is joined, with triangles and without
AT_A_TIME = 1 << 14  # groups

Pairs = NDArray[np.int64]  # (pairs, 2)


class PlantedGroups:
    """Groups of 12 nodes, each of one of two classes, and random edges between all nodes.

    Inside its group every node has four neighbours: those 1 and 2 steps away on a ring in groups of class 0, which are full of
    triangles, and 1 and 5 steps away in class 1, which have none but many 4-cycles. So degrees say nothing about classes, nor
    does message passing without structure. Nodes are numbered at random. The same seed gives the same graph.

    Args:
        groups: Number of groups.
        noise: Random edges for each node, on average.
        seed: Of all that is left to chance.

    >>> planted = PlantedGroups(100, seed=1)
    >>> planted.num_nodes, sum(len(pairs) for pairs in planted.edges())
    (1200, 3600)
    """

    def __init__(self, groups: int, *, noise: float = 1.0, seed: int = 0) -> None:
        if groups < 1 or noise < 0:
            raise ValueError(f"groups: {groups}, noise: {noise}; expected at least 1 and 0")
        self.groups = groups
        self.noise = noise
        self.seed = seed

    @property
    def num_nodes(self) -> int:
        """Number of nodes."""
        return GROUP * self.groups

    @property
    def names(self) -> NDArray[np.int64]:
        """The node at each place: those of a group stand side by side, ``(nodes,)``."""
        return np.random.default_rng((self.seed, 0)).permutation(self.num_nodes)

    @property
    def labels(self) -> NDArray[np.int64]:
        """The class of each node."""
        labels = np.empty(self.num_nodes, np.int64)
        labels[self.names] = np.repeat(self._classes, GROUP)
        return labels

    @property
    def _classes(self) -> NDArray[np.int64]:
        return np.random.default_rng((self.seed, 1)).integers(len(STEPS), size=self.groups)

    def edges(self) -> Iterator[Pairs]:
        """All edges, those of some groups at a time; a random one may be a loop or repeat another."""
        names = self.names
        steps = np.array(STEPS)[self._classes]  # (groups, 2)
        place = np.arange(GROUP)
        for number, start in enumerate(range(0, self.groups, AT_A_TIME)):
            some = steps[start : start + AT_A_TIME]
            first = GROUP * np.arange(start, start + len(some))[:, None, None]
            source = np.broadcast_to(first + place[:, None], (len(some), GROUP, some.shape[1]))
            target = first + (place[:, None] + some[:, None, :]) % GROUP
            rng = np.random.default_rng((self.seed, 2, number))
            random = rng.integers(self.num_nodes, size=(round(GROUP * len(some) * self.noise), 2))
            inside = np.stack([source.reshape(-1), target.reshape(-1)], axis=1)
            yield names[rng.permutation(np.concatenate([inside, random]))]
