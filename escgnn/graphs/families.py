"""Named families, and random ones that are the same for the same seed."""

from itertools import combinations, pairwise, product

import numpy as np

from escgnn.graphs.view import Graph, disjoint_union, from_edges
from escgnn.kernels.families import join_stubs, prefer_popular

COUNTING_RECIPE = ((10, 6), (15, 6), (20, 5), (30, 5))  # nodes and degree, each as likely as the others


def empty(n: int) -> Graph:
    """N nodes, no edges."""
    return from_edges([], n)


def path(n: int) -> Graph:
    """N nodes in a row."""
    return from_edges(pairwise(range(n)), n)


def cycle(n: int) -> Graph:
    """N nodes in a ring, n >= 3."""
    if n < 3:
        raise ValueError(f"n: {n}; a cycle has at least 3 nodes")
    return circulant(n, 1)


def star(leaves: int) -> Graph:
    """A centre, node 0, and its leaves."""
    return from_edges([(0, leaf) for leaf in range(1, leaves + 1)], leaves + 1)


def complete(n: int) -> Graph:
    """Every two of n nodes joined."""
    return from_edges(combinations(range(n), 2), n)


def complete_bipartite(left: int, right: int) -> Graph:
    """Every node of one side joined to every node of the other."""
    return from_edges(product(range(left), range(left, left + right)), left + right)


def circulant(n: int, *steps: int) -> Graph:
    """Node i joined to i + s modulo n for each step s; ``circulant(41, 1, s)`` are the graphs of CSL."""
    return from_edges([(i, (i + step) % n) for i in range(n) for step in steps], n)


def grid(rows: int, columns: int) -> Graph:
    """A rectangle of squares."""
    down = [(i, i + columns) for i in range((rows - 1) * columns)]
    across = [(i, i + 1) for i in range(rows * columns) if (i + 1) % columns]
    return from_edges(down + across, rows * columns)


def hypercube(dimension: int) -> Graph:
    """Bit strings, joined where one bit differs."""
    n = 1 << dimension
    return from_edges([(i, i ^ (1 << bit)) for i in range(n) for bit in range(dimension)], n)


def petersen() -> Graph:
    """The Petersen graph: pairs out of five, joined where disjoint."""
    pairs = list(combinations(range(5), 2))
    disjoint = [(i, j) for (i, p), (j, q) in combinations(enumerate(pairs), 2) if not {*p} & {*q}]
    return from_edges(disjoint, 10)


def rook(side: int) -> Graph:
    """Squares of a chess board, joined where a rook moves; ``rook(4)`` is strongly regular (16, 6, 2, 2)."""
    squares = list(product(range(side), repeat=2))
    moves = [(i, j) for (i, p), (j, q) in combinations(enumerate(squares), 2) if p[0] == q[0] or p[1] == q[1]]
    return from_edges(moves, side * side)


def shrikhande() -> Graph:
    """Strongly regular (16, 6, 2, 2) like ``rook(4)``, but without a 4-clique."""
    steps = [(0, 1), (1, 0), (1, 1)]
    edges = [(4 * a + b, 4 * ((a + da) % 4) + (b + db) % 4) for a, b in product(range(4), repeat=2) for da, db in steps]
    return from_edges(edges, 16)


def figure_1() -> Graph:
    """The 4-cycle v1 v2 v4 v3 of the paper's Figure 1, as nodes 0 to 3; its first root is the edge (0, 2)."""
    return from_edges([(0, 1), (0, 2), (1, 3), (2, 3)], 4)


def erdos_renyi(n: int, p: float, seed: int = 0) -> Graph:
    """Every two of n nodes joined with probability p."""
    rng = np.random.default_rng(seed)
    pairs = n * (n - 1) // 2
    chosen = rng.choice(pairs, rng.binomial(pairs, p), replace=False, shuffle=False) if pairs else np.empty(0, int)
    v = ((1 + np.sqrt(1 + 8 * chosen.astype(np.float64))) / 2).astype(np.int64)
    v -= v * (v - 1) // 2 > chosen  # the root of a large number may round up
    return from_edges(np.stack([chosen - v * (v - 1) // 2, v], axis=1), n)


def random_tree(n: int, seed: int = 0) -> Graph:
    """A recursive tree: each node joins one of those before it."""
    rng = np.random.default_rng(seed)
    return from_edges([(int(rng.integers(node)), node) for node in range(1, n)], n)


def random_regular(n: int, degree: int, seed: int | np.random.Generator = 0) -> Graph:
    """A random graph whose nodes all have the same degree."""
    if not 0 <= degree < max(n, 1) or n * degree % 2:
        raise ValueError(f"degree: no simple graph has {n} nodes of degree {degree}")
    rng = np.random.default_rng(seed)
    edges = np.empty((n * degree // 2, 2), np.int32)
    while degree and not join_stubs(np.repeat(np.arange(n, dtype=np.int32), degree), degree, rng, edges):
        pass
    return from_edges(edges, n)


def barabasi_albert(n: int, links: int, seed: int = 0) -> Graph:
    """A power-law graph: each new node joins ``links`` others, popular ones more often."""
    if not 1 <= links < n:
        raise ValueError(f"links: {links}; expected 1 to {n - 1}")
    edges = np.empty((links * (n - links), 2), np.int32)
    prefer_popular(n, links, np.random.default_rng(seed), edges)
    return from_edges(edges, n)


def counting_random(count: int, seed: int = 0) -> Graph:
    """Graphs of the counting benchmark's recipe: a random regular graph on n nodes less n edges, side by side."""
    rng = np.random.default_rng(seed)
    members = []
    for _ in range(count):
        n, degree = COUNTING_RECIPE[rng.integers(len(COUNTING_RECIPE))]
        edges = random_regular(n, degree, rng).edges
        members.append(from_edges(rng.permutation(edges)[n:], n))
    return disjoint_union(members)


def molecule_like(count: int, seed: int = 0) -> Graph:
    """Graphs that look like drug molecules (rings of five and six, fused or linked, with chains), side by side."""
    rng = np.random.default_rng(seed)
    return disjoint_union([_molecule(rng) for _ in range(count)])


def _molecule(rng: np.random.Generator) -> Graph:
    """Grow to about 25 atoms of degree at most 4, by atoms, linked rings and fused rings."""
    size = max(6, round(rng.normal(25, 9)))
    degree = [1, 1]
    edges = [(0, 1)]

    def join(u: int, v: int) -> None:
        edges.append((u, v))
        degree[u] += 1
        degree[v] += 1

    def chain(start: int, length: int) -> int:
        for _ in range(length):
            degree.append(0)
            join(start, len(degree) - 1)
            start = len(degree) - 1
        return start

    while len(degree) < size:
        kind = rng.choice(3, p=(0.8, 0.12, 0.08))
        ring = int(rng.choice((5, 6), p=(0.3, 0.7)))
        if kind == 2:
            u, v = edges[rng.integers(len(edges))]
            if degree[u] < 3 and degree[v] < 3:
                join(chain(u, ring - 2), v)
            continue
        atom = int(rng.integers(len(degree)))
        if degree[atom] > (2 if kind else 3):
            continue
        end = chain(atom, 1)
        if kind:
            join(chain(end, ring - 1), end)
    return from_edges(edges, len(degree))
