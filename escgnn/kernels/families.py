"""Random graphs whose edges depend on the edges before them."""

import numpy as np
from numpy.typing import NDArray

from escgnn.kernels import kernel


@kernel
def join_stubs(stubs: NDArray[np.int32], degree: int, rng: np.random.Generator, edges: NDArray[np.int32]) -> bool:
    """Pair ``stubs`` (each node ``degree`` times) into simple ``edges``; False if it got stuck (Steger, Wormald)."""
    joined = np.full((stubs.size // degree, degree), -1, np.int32)
    filled = np.zeros(stubs.size // degree, np.int32)
    left = stubs.size
    failures = 0
    while left > 0:
        i, j = rng.integers(0, left), rng.integers(0, left)
        u, v = stubs[i], stubs[j]
        if u == v or np.any(joined[u] == v):
            failures += 1
            if failures > 100 + 10 * degree * degree:
                return False
            continue
        failures = 0
        joined[u, filled[u]], joined[v, filled[v]] = v, u
        filled[u] += 1
        filled[v] += 1
        edges[left // 2 - 1, 0], edges[left // 2 - 1, 1] = u, v
        for k in (max(i, j), min(i, j)):
            left -= 1
            stubs[k] = stubs[left]
    return True


@kernel
def prefer_popular(num_nodes: int, links: int, rng: np.random.Generator, edges: NDArray[np.int32]) -> None:
    """Barabasi and Albert: a star on ``links + 1`` nodes, then each node joins ``links`` others by their degree."""
    written = 0
    for leaf in range(links):
        edges[written, 0], edges[written, 1] = leaf, links
        written += 1
    for node in range(links + 1, num_nodes):
        first = written
        while written < first + links:
            end = rng.integers(0, 2 * first)  # an end of a random edge is a node with odds by degree
            chosen = edges[end // 2, end % 2]
            if np.all(edges[first:written, 0] != chosen):
                edges[written, 0], edges[written, 1] = chosen, node
                written += 1
