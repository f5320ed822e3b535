"""What checking a statement comes to."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal

from escgnn.graphs import Graph, layout
from escgnn.markup import drawing, table, tag

Outcome = Literal["holds", "holds with a correction", "fails"]


@dataclass(frozen=True, slots=True)
class Witness:
    """A graph that shows something, and the roots at which it does."""

    name: str
    graph: Graph
    roots: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Chart:
    """Lines over a common axis: ``lines[name]`` holds a number for each of ``x``."""

    x_label: str
    y_label: str
    x: tuple[float, ...]
    lines: dict[str, tuple[float, ...]]


@dataclass(frozen=True, slots=True)
class Table:
    """Rows of words under a head."""

    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True)
class Finding:
    """The outcome of a check, what exactly was seen, and what shows it."""

    outcome: Outcome
    text: str
    witnesses: tuple[Witness, ...] = ()
    chart: Chart | None = None
    table: Table | None = None


@dataclass(frozen=True, slots=True)
class Theorem:
    """A statement that can be run."""

    label: str  # of the paper's LaTeX source
    statement: str
    check: Callable[[], Finding]
    erratum: bool = False  # whether it corrects the paper or fills a gap


@dataclass(frozen=True, slots=True)
class Verdict:
    """A statement with its finding and the seconds it took."""

    theorem: Theorem
    finding: Finding
    seconds: float = field(compare=False)

    def _repr_html_(self) -> str:
        finding = self.finding
        witnesses = []
        for witness in finding.witnesses:
            points = layout(witness.graph.to_networkx()).tolist()
            picture = drawing(points, witness.graph.edges.tolist(), title=witness.name, marked=witness.roots)
            witnesses.append(
                tag("figure", picture, tag("figcaption", witness.name), style="display:inline-block;margin:4px")
            )
        return tag(
            "section",
            tag("h4", f"{self.theorem.label}: {finding.outcome}"),
            tag("blockquote", self.theorem.statement),
            tag("p", finding.text),
            table(finding.table.head, finding.table.rows) if finding.table else None,
            *witnesses,
        )
