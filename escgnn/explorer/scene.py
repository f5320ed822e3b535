"""A graph and its rooted edges as plain values, for the page to show."""

from collections.abc import Iterable, Sequence
from dataclasses import fields
from functools import cached_property
from typing import Any

import numpy as np

from escgnn.counting import TARGETS, count, expected_steps
from escgnn.decoding import FORMULAS, Reader
from escgnn.encoding import LARGEST_COUNT, PARTS, Bin, RootedEncoding, Rows
from escgnn.explorer.members import MOST_LOOKED_AT, members, rooted
from escgnn.explorer.reading import Subject
from escgnn.explorer.words import describe

MOST_STEPS = 2e9  # about twenty seconds
STEPS_TO_LIST = 500  # as long as listing an edge of a subgraph takes
MOST_LOOKED_AT_IN_ALL = 2_000_000  # members of one part at all roots of a page, some seconds
LEAST_LOOKED_AT = 1_000
ON_THE_EDGE = "edge and node"  # how `Formula.means` begins where the count is that of copies through the edge

Root = tuple[int, int]


class Scene:
    """A graph to look at, with an encoding.

    Args:
        subject: The graph.
        encoding: What is counted at its roots.
    """

    def __init__(self, subject: Subject, encoding: RootedEncoding) -> None:
        self.subject = subject
        self.encoding = encoding

    @cached_property
    def _plain(self) -> Any:
        return self.subject.graph.to_networkx()

    @cached_property
    def _by_part(self) -> list[RootedEncoding]:
        """The encoding part by part: a kernel is compiled for each kind of part instead of for each choice of them."""
        same = {given.name: getattr(self.encoding, given.name) for given in fields(self.encoding) if given.kw_only}
        return [RootedEncoding(self.encoding.hops, (part,), **same) for part in self.encoding.parts]

    @cached_property
    def _counts(self) -> dict[str, tuple[Any, Any]]:
        """Copies of each pattern through edges (by the order of ``edge_index``) and nodes; those that take long are left out."""
        graph = self.subject.graph
        found = {}
        for pattern in TARGETS:
            if all(expected_steps(graph, pattern, per=per).sum() <= MOST_STEPS / 10 for per in ("edge", "node")):
                found[pattern] = (count(graph, pattern, per="edge"), count(graph, pattern, per="node"))
        return found

    def about(self) -> dict[str, Any]:
        """The graph, where its nodes are, and what is counted."""
        subject = self.subject
        return {
            "title": subject.title,
            "names": [*subject.names],
            "points": [[round(float(x), 3), round(float(y), 3)] for x, y in subject.points],
            "edges": subject.graph.edges.tolist(),
            "orders": [*subject.orders],
            "encoding": repr(self.encoding),
            "parts": {part: PARTS[part].counts for part in self.encoding.parts},
            "patterns": [*self._counts],
            "formulas": [
                [f"induced {name}" if induced else name, FORMULAS[name, induced].means]
                for name, induced in self._readable
            ],
        }

    def all_roots(self) -> list[Root]:
        """Every edge, in both directions."""
        edges = self.subject.graph.edges.tolist()
        return [root for u, v in edges for root in ((u, v), (v, u))]

    def roots(self, roots: Sequence[Root]) -> dict[str, Any]:
        """What is seen at each of these roots, and the words for all bins that are met there.

        Raises:
            ValueError: A root names a node that does not exist, or it would take too long.
        """
        edges = self.subject.graph.num_edges
        steps = float(self.encoding.expected_steps(self.subject.graph).sum()) * len(roots) / max(1, 2 * edges)
        steps += STEPS_TO_LIST * len(roots) * edges
        if steps > MOST_STEPS:
            raise ValueError(
                f"graph: the encoding of {len(roots):,} roots may take {steps / 1e8:,.0f} seconds; choose fewer parts or "
                "roots, or a smaller radius or graph"
            )
        look = max(LEAST_LOOKED_AT, min(MOST_LOOKED_AT, MOST_LOOKED_AT_IN_ALL // max(1, len(roots))))
        rows = self._rows(roots)
        read = self._decoded(rows)
        number = {name: b for b, name in enumerate(dict.fromkeys(name for row in rows for name in row))}
        seen = []
        for i, (u, v) in enumerate(roots):
            seen.append(self._root(u, v, rows[i], number, [int(column[i]) for column in read], look))
        return {"bins": [[*describe(name, self.encoding)] for name in number], "roots": seen}

    def _rows(self, roots: Sequence[Root]) -> list[dict[Bin, int]]:
        merged: list[dict[Bin, int]] = [{} for _ in roots]
        for encoding in self._by_part:
            rows = encoding.pairs(self.subject.graph, np.array(roots, np.int64).reshape(-1, 2))
            for i in range(len(roots)):
                merged[i].update({Bin(*name): value for name, value in rows[i].items()})
        return merged

    @cached_property
    def _readable(self) -> list[tuple[str, bool]]:
        """The patterns that formulas can read off this encoding, and whether their copies are induced."""
        encoding = self.encoding
        if not isinstance(encoding.hops, int) or encoding.subgraph != "union":
            return []
        has = {*encoding.parts, *(("node",) if "joint" in encoding.parts else ())}
        return [name for name, formula in FORMULAS.items() if {*formula.parts} <= has and encoding.hops >= formula.hops]

    def _decoded(self, rows: Sequence[dict[Bin, int]]) -> list[Any]:
        """What these formulas read off these very rows; nothing where a row does not say all."""
        largest = max((value for row in rows for value in row.values()), default=0)
        if largest == LARGEST_COUNT or any(name.part == "clipped" for row in rows for name in row):
            return []
        reader = Reader(_as_rows(rows, [name for own in self._by_part for name in own.pair_bins]))
        return [FORMULAS[name].edge(reader) for name in self._readable]

    def _root(
        self, u: int, v: int, row: dict[Bin, int], number: dict[Bin, int], decoded: Sequence[int], look: int
    ) -> dict[str, Any]:
        listed = members(self._plain, u, v, self.encoding, look=look)
        label = rooted(self._plain, u, v, self.encoding, self.encoding.radius).label
        bins = []
        for name, value in row.items():
            bins.append([number[name], value, [node for nodes in listed.get(name, ()) for node in nodes]])
        return {
            "u": u,
            "v": v,
            "labels": [[node, a, b] for node, (a, b) in label.items()],
            "bins": bins,
            "counts": self._through(u, v),
            "decoded": self._read_off(u, v, decoded),
        }

    def _through(self, u: int, v: int) -> list[int]:
        """Exact numbers of copies of each pattern through the edge, or at the node."""
        graph = self.subject.graph
        if u == v:
            return [int(at_node[u]) for _, at_node in self._counts.values()]
        if not graph.has_edge(u, v):
            return []
        source, target = graph.edge_index
        column = int(np.flatnonzero((source == u) & (target == v))[0])
        return [int(at_edge[column]) for at_edge, _ in self._counts.values()]

    def _read_off(self, u: int, v: int, decoded: Sequence[int]) -> list[list[int | None]]:
        """Of each formula its number, and the exact one where that is the number of copies through the edge."""
        if not self.subject.graph.has_edge(u, v):
            return []
        exact = dict(zip(self._counts, self._through(u, v), strict=True))
        lines: list[list[int | None]] = []
        for (pattern, induced), value in zip(self._readable, decoded, strict=False):
            is_same = FORMULAS[pattern, induced].means.startswith(ON_THE_EDGE) and not induced
            lines.append([value, exact.get(pattern) if is_same else None])
        return lines


def _as_rows(rows: Sequence[dict[Bin, int]], bins: Iterable[Bin]) -> Rows:
    """Rows by name as rows by number."""
    names = tuple(dict.fromkeys(bins))
    number = {name: b for b, name in enumerate(names)}
    return Rows(
        np.array([len(row) for row in rows], np.int32),
        np.array([number[name] for row in rows for name in row], np.int32),
        np.array([value for row in rows for value in row.values()], np.int32),
        names,
    )
