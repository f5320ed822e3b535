"""Named patterns by formula: from triangles and 4-cycles to everything that hangs on them.

No entry wraps unseen. Below ``MOST_EDGES`` every term of a formula, its node given, is pinned down by two
edges of the graph, hence at most 2**62; the binomials of stars know no such bound and are checked one by one.
"""

from collections.abc import Callable
from functools import partial
from math import comb

import numpy as np
from numpy.typing import NDArray

from escgnn.counting.patterns import SIZES, Pattern, is_named
from escgnn.counting.work import Per, Work, run_sums
from escgnn.kernels import counting as kernels

Column = NDArray[np.int64]
Formula = Callable[[Work], Column]

MOST_EDGES = 1 << 30

TARGETS = (
    "3-cycle",
    "4-cycle",
    "5-cycle",
    "6-cycle",
    "tailed-triangle",
    "chordal-cycle",
    "4-clique",
    "4-path",
    "triangle-rectangle",
)


def find(pattern: Pattern, level: str) -> Formula | None:
    """How to count at the default node orbit ("node"), at another ("other") or per "edge", if known."""
    if not is_named(pattern):
        return None
    if pattern.name.endswith("-star") and pattern.num_nodes > 2:
        return partial(STARS[level], k=pattern.num_nodes)
    return FORMULAS.get((pattern.name, level))


def targets(work: Work) -> Column:
    """The benchmark's nine targets, ``(nodes, 9)``: each piece is counted once."""
    triangle_edges = _cliques(work, k=3, per="edge")
    square_edges = _cycles(work, k=4, per="edge")
    triangles, squares = (_ends(work, edges) for edges in (triangle_edges, square_edges))
    chordal, houses = _corners(work, triangle_edges, square_edges).T
    five, six = _cycle_range(work, (5, 6)).T
    tailed = _tails(work, triangles)
    four_paths = _four_paths(work, triangles, squares)
    columns = (triangles, squares, five, six, tailed, chordal, _cliques(work, k=4), four_paths, houses)
    return np.stack(columns, axis=1)


def _cycle_range(work: Work, lengths: tuple[int, int], per: Per = "node") -> Column:
    """Cycles of each length, one column per length; the kernel meets each of them twice."""
    shortest, longest = lengths
    return (
        work.tally(
            lambda job, out: kernels.cycles(job.adjacency, job.roots, lengths, per == "edge", out),
            per,
            longest - shortest + 1,
        )
        // 2
    )


def _cycles(work: Work, k: int, per: Per = "node") -> Column:
    return _cycle_range(work, (k, k), per)[:, 0]


def _cliques(work: Work, k: int, per: Per = "node") -> Column:
    return work.tally(lambda job, out: kernels.cliques(job.adjacency, job.roots, k, per == "edge", out), per)[:, 0]


def _corners(work: Work, triangles: Column, squares: Column) -> Column:
    """Chordal cycles at a corner off the diagonal and houses at their apex, from counts per edge."""
    _check_size(work)
    return work.tally(
        lambda job, out: kernels.corners(job.adjacency, job.roots, triangles[job.edges], squares[job.edges], out),
        width=2,
    )


def _ends(work: Work, edges: Column) -> Column:
    """Cycles through each node, from those through each edge."""
    return run_sums(edges[work.graph.edge], work.graph.csr.indptr, 2)


def _around(work: Work, nodes: Column) -> Column:
    """Sum over the neighbours of each node."""
    return run_sums(nodes[work.graph.csr.indices], work.graph.csr.indptr)


def _walks(work: Work, k: int) -> Column:
    """Walks of k edges from each node that never turn back at once."""
    _check_size(work)
    d = work.graph.degrees
    walks = [d, _around(work, d) - d]
    while len(walks) < k:
        walks.append(_around(work, walks[-1]) - (d - 1) * walks[-2])
    return walks[k - 1]


def _tails(work: Work, triangles: Column) -> Column:
    """Triangles at the neighbours v that avoid u itself: T(v) less T(uv), and the latter sum to 2 T(u)."""
    return _around(work, triangles) - 2 * triangles


def _four_paths(work: Work, triangles: Column, squares: Column) -> Column:
    """Walks without turns, less those that close a triangle at either end or a 4-cycle."""
    closed: Column = squares + _around(work, triangles) + (work.graph.degrees - 3) * triangles
    return _walks(work, 4) - 2 * closed


def _binomials(n: Column, k: int) -> Column:
    """The binomial coefficients C(n, k), exact; numpy raises OverflowError for one that int64 cannot hold."""
    sizes, inverse = np.unique(n, return_inverse=True)
    return np.array([comb(size, k) for size in sizes.tolist()], np.int64)[inverse]


def _centres(work: Work, k: int) -> Column:
    return _binomials(work.graph.degrees, k - 1)


def _leaves(work: Work, k: int) -> Column:
    return _around(work, _fans(work, k))


def _spokes(work: Work, k: int) -> Column:
    both: Column = _fans(work, k)[work.graph.edges].sum(1)
    if (both < 0).any():
        raise OverflowError
    return both


def _fans(work: Work, k: int) -> Column:
    """Stars around each node that hold one given leaf. Isolated nodes have no leaf, so none is looked up."""
    return _binomials((work.graph.degrees - 1).clip(0), k - 2)


STARS = {"node": _centres, "other": _leaves, "edge": _spokes}

FORMULAS: dict[tuple[str, str], Formula] = {
    ("3-cycle", "node"): partial(_cliques, k=3),
    ("3-cycle", "edge"): partial(_cliques, k=3, per="edge"),
    **{(f"{k}-cycle", per): partial(_cycles, k=k, per=per) for k in SIZES["cycle"][1:] for per in ("node", "edge")},
    **{(f"{k}-clique", per): partial(_cliques, k=k, per=per) for k in SIZES["clique"] for per in ("node", "edge")},
    ("1-path", "node"): partial(_walks, k=1),
    ("2-path", "node"): partial(_walks, k=2),
    ("3-path", "node"): lambda work: _walks(work, 3) - 2 * _cliques(work, 3),
    ("4-path", "node"): lambda work: _four_paths(work, _cliques(work, 3), _cycles(work, 4)),
    ("tailed-triangle", "node"): lambda work: _tails(work, _cliques(work, 3)),
    ("chordal-cycle", "node"): lambda work: _corner_column(work, 0),
    ("triangle-rectangle", "node"): lambda work: _corner_column(work, 1),
}


def _check_size(work: Work) -> None:
    if work.graph.num_edges >= MOST_EDGES:
        raise OverflowError


def _corner_column(work: Work, column: int) -> Column:
    return _corners(work, _cliques(work, 3, "edge"), _cycles(work, 4, "edge"))[:, column]
