r"""Counts read off the encoding: the formulas behind `th:count` and `th:count_ind`, corrected where they need it.

:math:`n(a,b\,|\,c,d)` is the number of edges of the subgraph rooted at (u, v) whose ends have the labels (a, b) and
(c, d); :math:`N_1(u)` the number of nodes at distance 1 of u. All formulas hold for every radius from 1 on.

>>> from escgnn import graphs
>>> from escgnn.encoding import RootedEncoding
>>> decode(graphs.petersen(), RootedEncoding(hops=1), "3-star")
array([30])
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from math import comb
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from escgnn.encoding import LARGEST_COUNT, Bin, RootedEncoding, Rows
from escgnn.graphs import Graph, as_graph

Counts = NDArray[np.int64]
Level = Literal["graph", "node", "edge"]


class Reader:
    """Reads bins of encoded roots, by name, one number a root."""

    def __init__(self, rows: Rows) -> None:
        self._rows = rows
        self._number = {name: b for b, name in enumerate(rows.bins)}
        self._owner = np.repeat(np.arange(len(rows)), rows.length)

    def bin(self, *name: str | int) -> Counts:
        """The counts in one bin."""
        counts = np.zeros(len(self._rows), np.int64)
        found = self._rows.bin == self._number[Bin(*name)]
        counts[self._owner[found]] = self._rows.count[found]
        return counts

    def closing(self, part: str) -> Counts:
        """Ways in which this part's paths close a cycle with the root: one end next to u, the other to v, no root inside.

        A path on l nodes closes a cycle of l + 2; each such cycle through uv leaves one such path when u and v are taken
        out, so nothing is counted twice.
        """
        weights = np.zeros(len(self._rows.bins), np.int64)
        for name, b in self._number.items():
            if name.part == part and all(0 not in label for label in name.labels):
                first, last = name.labels[0], name.labels[-1]
                weights[b] = (first[0] == last[1] == 1) + (last[0] == first[1] == 1)
        return np.bincount(self._owner, weights[self._rows.bin] * self._rows.count, len(self._rows)).astype(np.int64)

    def n(self, a: int, b: int, c: int, d: int) -> Counts:
        """Edges of the subgraph between labels (a, b) and (c, d), in either order."""
        first, second = sorted(((a, b), (c, d)))
        return self.bin("edge", *first, *second)

    def degree(self, root: Literal["u", "v"]) -> Counts:
        """Degree of a root: the nodes at distance 1."""
        if Bin("node", root, 1) in self._number:
            return self.bin("node", root, 1)
        side = "uv".index(root)
        counts = np.zeros(len(self._rows), np.int64)
        for name in self._number:
            if name.part == "joint" and name.labels[0][side] == 1:
                counts += self.bin(*name)
        return counts


@dataclass(frozen=True, slots=True)
class Formula:
    """One statement of what the encoding counts.

    Attributes:
        edge: The number at a rooted edge (u, v).
        node: What its sum over the neighbours of u is divided by to count at u, or None where that makes no sense.
        graph: What its sum over all rooted edges is divided by.
        means: What an edge or a node stands for in the copies counted there.
        parts: The parts that are read; ``"node"`` may be replaced by ``"joint"``.
        hops: The smallest radius at which it holds.
    """

    edge: Callable[[Reader], Counts]
    node: int | None
    graph: int
    means: str
    parts: tuple[str, ...] = ("edge",)
    hops: int = 1


def _four_cycles(r: Reader) -> Counts:
    return r.n(1, 2, 2, 1) + r.n(1, 1, 2, 1) + r.n(1, 1, 1, 2) + 2 * r.n(1, 1, 1, 1)


def _choose(n: Counts, k: int) -> Counts:
    values = {int(value): comb(max(int(value), 0), k) for value in np.unique(n)}
    if max(values.values(), default=0) > np.iinfo(np.int64).max:
        raise OverflowError(f"{k + 2}-star: there are more copies than int64 can count")
    return np.array([values[int(value)] for value in n], np.int64)


FORMULAS: dict[tuple[str, bool], Formula] = {
    ("3-cycle", False): Formula(lambda r: r.n(0, 1, 1, 1), 2, 6, "edge and node on the cycle"),
    ("4-cycle", False): Formula(_four_cycles, 2, 8, "edge and node on the cycle"),
    ("4-cycle", True): Formula(lambda r: r.n(1, 2, 2, 1), 2, 8, "edge and node on the cycle"),
    ("5-cycle", False): Formula(lambda r: r.closing("wedge"), 2, 10, "edge and node on the cycle", ("wedge",), hops=2),
    ("6-cycle", False): Formula(lambda r: r.closing("path"), 2, 12, "edge and node on the cycle", ("path",), hops=2),
    ("5-clique", False): Formula(
        lambda r: r.bin("triangle", 1, 1, 1, 1, 1, 1), 4, 20, "edge and node in the clique", ("triangle",)
    ),
    ("4-clique", False): Formula(lambda r: r.n(1, 1, 1, 1), 3, 12, "edge and node in the clique"),
    ("3-star", True): Formula(lambda r: r.n(0, 1, 1, 2), 2, 2, "u is the centre, v a leaf"),
    ("4-star", True): Formula(
        lambda r: _choose(r.n(0, 1, 1, 2), 2) - r.n(1, 2, 1, 2), 3, 3, "u is the centre, v a leaf"
    ),
    ("3-path", False): Formula(
        lambda r: (r.degree("u") - 1) * (r.degree("v") - 1) - r.n(0, 1, 1, 1),
        None,
        2,
        "the edge is in the middle",
        ("node", "edge"),
    ),
    ("3-path", True): Formula(
        lambda r: r.n(0, 1, 1, 2) * r.n(1, 0, 2, 1) - r.n(1, 2, 2, 1), None, 2, "the edge is in the middle"
    ),
    ("tailed-triangle", False): Formula(
        lambda r: r.n(1, 1, 1, 1) + r.n(1, 1, 2, 1) + r.n(2, 1, 2, 1), 1, 1, "u is the end of the tail u-v"
    ),
    ("chordal-cycle", False): Formula(
        lambda r: 2 * r.n(1, 1, 1, 1) + r.n(1, 1, 2, 1), 2, 4, "u is a corner off the diagonal, on both edges to it"
    ),
}


def formula_for(pattern: str, *, induced: bool = False) -> Formula:
    """The formula for a pattern; copies of complete patterns are induced anyway.

    Raises:
        ValueError: No formula counts it, with the names that have one.
    """
    star = re.fullmatch(r"(\d+)-star", pattern)
    if star and not induced and int(star[1]) >= 2:
        leaves = int(star[1]) - 1
        centres = leaves if leaves > 1 else 2  # both ends of an edge are centres
        return Formula(
            lambda r: _choose(r.degree("u") - 1, leaves - 1), leaves, centres, "u is the centre, v a leaf", ("node",)
        )
    if pattern in ("3-cycle", "4-clique", "5-clique"):
        induced = False
    if pattern == "3-clique":
        return FORMULAS["3-cycle", False]
    if (pattern, induced) not in FORMULAS:
        kind = "induced " if induced else ""
        known = ", ".join([*(name for name, i in FORMULAS if i == induced), *(() if induced else ("k-star", "4-path"))])
        raise ValueError(f"pattern: the encoding of an edge does not tell {kind}{pattern!r}; it tells {kind}{known}")
    return FORMULAS[pattern, induced]


def decode(
    graph: Any, encoding: RootedEncoding, pattern: str, *, per: Level = "graph", induced: bool = False
) -> Counts:
    """Number of copies of a pattern, read off the encoding alone (and sums of it over neighbours).

    Args:
        graph: Anything that `graphs.as_graph` reads.
        encoding: The encoding to read; it is refused if it lacks what the formula needs.
        pattern: 3-cycle, 4-cycle, 3-clique, 4-clique, k-star, 3-path, 4-path, tailed-triangle or chordal-cycle; with
            the parts beyond the paper also 5-cycle (wedge), 6-cycle (path) and 5-clique (triangle).
        per: ``"graph"``, ``"node"`` or ``"edge"`` (rooted, in the order of ``edge_index``); `Formula.means` says
            where the edge or node lies in the copies that are counted there.
        induced: Count induced copies: 3-cycle, 4-cycle, 4-clique, 3-star, 4-star or 3-path.

    Raises:
        ValueError: The encoding, the pattern or the level has no formula.
    """
    graph = as_graph(graph)
    if per not in ("graph", "node", "edge"):
        raise ValueError(f"per: {per!r}; expected 'graph', 'node' or 'edge'")
    if pattern == "4-path" and not induced:
        if per == "edge":
            raise ValueError("per: 4-paths are told at their ends; count them per 'node' or 'graph'")
        ends = _four_paths(graph, encoding)
        return ends if per == "node" else _per_graph(graph, ends) // 2
    formula = formula_for(pattern, induced=induced)
    values = formula.edge(_read(graph, encoding, formula.parts, pattern, formula.hops))
    values[graph.arc < 0] = 0
    if values.sum(dtype=np.float64) >= 2.0**63:
        raise OverflowError(f"{pattern}: there are more copies than int64 can count")
    if per == "edge":
        return values
    if per == "node" and formula.node is None:
        raise ValueError(f"per: the encoding tells {pattern!r} at its middle edge; count per 'edge' or 'graph'")
    sums = _per_node(graph, values)
    return sums // (formula.node or 1) if per == "node" else _per_graph(graph, sums) // formula.graph


def paths_between(
    graph: Any, encoding: RootedEncoding, pairs: ArrayLike, length: Literal[2, 3], *, induced: bool = False
) -> Counts:
    """Number of paths of 2 or 3 edges between nodes that are not adjacent, for each pair."""
    graph = as_graph(graph)
    roots = np.asarray(pairs, np.int64).reshape(-1, 2)
    for u, v in roots.tolist():
        if u == v or graph.has_edge(u, v):
            raise ValueError(f"pairs: {(u, v)} is {'one node' if u == v else 'an edge'}; expected nodes not adjacent")
    _check(encoding, ("edge",), f"{length}-paths between two nodes")
    read = _unclipped(encoding.pairs(graph, roots), encoding, f"{length}-paths between two nodes")
    if length == 2:
        return read.n(0, 2, 1, 1)
    if length != 3:
        raise ValueError(f"length: {length!r}; expected 2 or 3")
    return read.n(1, 2, 2, 1) if induced else _four_cycles(read)


def _four_paths(graph: Graph, encoding: RootedEncoding) -> Counts:
    """4-paths that begin at each node: non-backtracking walks of 4 steps less those that meet themselves."""
    read = _read(graph, encoding, ("edge",), "4-path")
    source, target = graph.edge_index
    once = _one_column_an_arc(graph)
    back = graph.reverse
    triangles = read.n(0, 1, 1, 1)[once]  # T(uv)
    at, to = source[once], target[once]
    per_node = np.zeros(graph.num_nodes, np.int64)

    def total(values: Counts, index: Counts) -> Counts:
        sums = per_node.copy()
        np.add.at(sums, index, values)
        return sums

    degree = total(np.ones_like(at), at)
    walks = np.ones_like(at)  # non-backtracking walks of k steps that begin with this arc
    for _ in range(3):
        walks = total(walks, at)[to] - walks[back]
    T = total(triangles, at) // 2
    C4 = total(_four_cycles(read)[once], at) // 2
    return total(walks, at) - 2 * T * (degree - 1) - 2 * C4 - total(2 * T[to] - triangles, at) + 2 * T


def _one_column_an_arc(graph: Graph) -> Counts:
    """A column that shows each arc, so that repeats count once."""
    column = np.empty(graph.csr.indices.size, np.int64)
    real = np.flatnonzero(graph.arc >= 0)
    column[graph.arc[real]] = real
    return column


def _per_node(graph: Graph, values: Counts) -> Counts:
    once = _one_column_an_arc(graph)
    sums = np.zeros(graph.num_nodes, np.int64)
    np.add.at(sums, graph.edge_index[0, once], values[once])
    return sums


def _per_graph(graph: Graph, values: Counts) -> Counts:
    return np.diff(np.concatenate([[0], values.cumsum()])[graph.ptr])


def _read(graph: Graph, encoding: RootedEncoding, parts: tuple[str, ...], what: str, hops: int = 1) -> Reader:
    _check(encoding, parts, what)
    if encoding.radius < hops:
        raise ValueError(f"encoding: {what} needs hops >= {hops}; it has hops={encoding.hops}")
    return _unclipped(encoding.rows(graph), encoding, what, hops)


def _unclipped(rows: Rows, encoding: RootedEncoding, what: str, hops: int = 1) -> Reader:
    """A reader of rows that say all that they should."""
    if rows.count.max(initial=0) == LARGEST_COUNT:
        raise OverflowError(f"{what}: a count of the encoding is at its limit, {LARGEST_COUNT}, and may be larger")
    read = Reader(rows)
    for radius in range(hops if encoding.max_nodes is not None else 0):
        if read.bin("clipped", radius).any():
            clip = f"max_nodes={encoding.max_nodes} leaves some roots {radius}"
            raise ValueError(f"encoding: {what} needs a radius of {hops}, but {clip}")
    return read


def _check(encoding: RootedEncoding, parts: tuple[str, ...], what: str) -> None:
    missing = [
        part for part in parts if part not in encoding.parts and (part != "node" or "joint" not in encoding.parts)
    ]
    if missing:
        raise ValueError(f"encoding: {what} needs the part {missing[0]!r}; it has {', '.join(encoding.parts)}")
    typed = [part for part in parts if part in encoding.parts and encoding.counts_by_types(part)]
    if typed:
        raise ValueError(f"encoding: {what} is read off the part {typed[0]!r} without types; leave it out of typed")
    if not isinstance(encoding.hops, int):
        raise ValueError(f"encoding: {what} is read off one radius; it has hops={encoding.hops}")
    if encoding.subgraph != "union":
        raise ValueError(f"encoding: {what} needs subgraph='union'; 'balls' drops edges that the formula counts")
