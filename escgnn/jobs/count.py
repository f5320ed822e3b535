"""Counting a pattern in every graph of a file."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from os import PathLike
from typing import Any, cast

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from escgnn import __version__
from escgnn.counting import TARGETS, count, count_all, expected_steps
from escgnn.engines import Engine
from escgnn.graphs import Graph
from escgnn.jobs.job import Part, Tally
from escgnn.jobs.long import check_seconds, in_time, of_graphs
from escgnn.jobs.stream import Progress, Summary, run
from escgnn.jobs.tables import graph_schema, named_nodes, with_graphs
from escgnn.readers import Chunk, GraphFile, Rows

PLACES = {"graph": (), "node": ("node",), "edge": ("source", "target")}  # columns that say what a row counts for


@dataclass(frozen=True)
class Count:
    """Exact counts of a pattern, or of the benchmark's nine targets at every node if there is none.

    Attributes:
        pattern: What `escgnn.counting.count` takes, or None.
        per: ``"graph"``, ``"node"`` or ``"edge"``.
        induced: Whether copies are induced.
        orbit: Position in the pattern, as in `escgnn.counting.count`.
        max_seconds: Graphs that take longer are left out.

    Raises:
        ValueError: They make no sense.
    """

    pattern: Any = None
    per: str = "graph"
    induced: bool = False
    orbit: Any = None
    max_seconds: float | None = None

    def __post_init__(self) -> None:
        check_seconds(self.max_seconds)
        if self.pattern is None:
            object.__setattr__(self, "per", "node")
        else:
            self._count([])  # complains before anything is read

    @property
    def totals(self) -> Sequence[str]:
        """The columns with the counts."""
        return TARGETS if self.pattern is None else ("count",)

    @property
    def settings(self) -> Mapping[str, Any]:
        """The command, and all that its results depend on."""
        words = {
            name: None if value is None else str(value) for name, value in asdict(self).items() if name != "max_seconds"
        }
        return {"command": "count", **words, "max_seconds_per_graph": self.max_seconds}

    @property
    def metadata(self) -> Mapping[str, str]:
        """What was counted."""
        pattern = str(self.pattern or "all")
        return {"escgnn": __version__, "pattern": pattern, "per": self.per, "induced": str(self.induced)}

    def chunks(self, file: GraphFile) -> Iterator[Rows | Chunk]:
        """Rows whose graphs are read where the work is done, which takes longest; of an edge list graphs side by side."""
        return file.unread()

    def schema(self, first: Rows | Chunk | None) -> Any:
        """Which graph, node or edge, and how many."""
        return graph_schema(first, [(name, pa.int64()) for name in (*PLACES[self.per], *self.totals)])

    def __call__(self, chunk: Rows | Chunk) -> Iterator[Part]:
        """The counts of all graphs, nodes or edges; of an edge once."""
        return of_graphs(chunk, self._of_graphs)

    def _of_graphs(self, chunk: Chunk) -> Iterator[Part]:
        steps = expected_steps(
            chunk.graphs, self.pattern, per=cast(Any, self.per), induced=self.induced, orbit=self.orbit
        )
        return in_time(chunk, steps, self.max_seconds, self._part)

    def _part(self, chunk: Chunk) -> Iterator[Part]:
        graphs = chunk.graphs
        counts = count_all(graphs) if self.pattern is None else self._count(graphs)[:, None]
        if self.per == "graph":
            nodes = np.empty((graphs.num_graphs, 0), np.int64)
            owner = np.arange(graphs.num_graphs)
        elif self.per == "node":
            nodes = np.arange(graphs.num_nodes)[:, None]
            owner = graphs.owner(nodes[:, 0])
        else:
            once = np.flatnonzero(graphs.edge_index[0] < graphs.edge_index[1])
            nodes = graphs.edge_index.T[once]
            owner = graphs.owner(nodes[:, 0])
            counts = counts[once]
        columns = [*named_nodes(chunk, nodes), *(pa.array(column) for column in counts.T)]
        batch = with_graphs(chunk, owner, columns, self.schema(chunk))
        yield Part(batch, Tally(graphs.num_graphs, graphs.num_edges, batch.num_rows))

    def _count(self, graphs: Graph | list[Any]) -> NDArray[np.int64]:
        return count(graphs, self.pattern, per=self.per, induced=self.induced, orbit=self.orbit)  # type: ignore[arg-type]


def count_file(
    source: str | PathLike[str],
    output: str | PathLike[str],
    pattern: Any = None,
    *,
    per: str = "graph",
    induced: bool = False,
    orbit: Any = None,
    smiles: str | None = None,
    strict: bool = False,
    max_seconds_per_graph: float | None = None,
    engine: Engine | None = None,
    progress: Progress | None = None,
) -> Summary:
    """Count a pattern in every graph of a file, into a Parquet or CSV table.

    Its columns are ``graph``; for ``per="node"`` also ``node``, for ``per="edge"`` also ``source`` and ``target`` (each
    edge once); and ``count``.

    Args:
        source: What `escgnn.readers.GraphFile` reads.
        output: A .parquet or .csv file. Bad rows are listed beside it in ``OUT.rejected.csv``.
        pattern: What `escgnn.counting.count` takes; None for the benchmark's nine node-level targets, a column each.
        per: ``"graph"``, ``"node"`` or ``"edge"``.
        induced: Count induced copies.
        orbit: Position in the pattern, as in `escgnn.counting.count`.
        smiles: Column with the SMILES, if it is not called smiles.
        strict: Stop at the first bad row.
        max_seconds_per_graph: Graphs that take longer are left out, as bad rows.
        engine: Who works, out of `escgnn.engines`; this process if it is None.
        progress: Called now and then with the bytes read, their total and, while a graph takes long, how far it is.
    """
    job = Count(pattern, per, induced, orbit, max_seconds_per_graph)
    return run(job, source, output, smiles=smiles, strict=strict, engine=engine, progress=progress)
