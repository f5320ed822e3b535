"""Encoding every edge of every graph of a file."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import partial
from os import PathLike
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from escgnn import __version__
from escgnn.encoding import RootedEncoding, types_of
from escgnn.encoding import Rows as EncodedRows
from escgnn.engines import Engine
from escgnn.jobs.job import Part, Tally
from escgnn.jobs.long import check_seconds, in_time, of_graphs
from escgnn.jobs.stream import Progress, Summary, run
from escgnn.jobs.tables import graph_schema, named_nodes, with_graphs
from escgnn.kernels.threads import watched
from escgnn.readers import Chunk, GraphFile, Parsed, Rows

Blocks = Iterator[tuple[NDArray[np.int64], EncodedRows]]
LIST = pa.list_(
    pa.field("element", pa.int32(), nullable=False)
)  # that nothing is missing makes it a tenth cheaper to write
BLOCK = 1 << 16  # edges that are encoded at once
BLOCK_STEPS = 1e9  # steps after which a block ends, however few its edges


@dataclass(frozen=True)
class Encode:
    """The encoding of every edge, a row for each of its directions, as lists of bins and counts.

    Attributes:
        encoding: The encoding.
        max_seconds: Graphs that take longer are left out.
    """

    encoding: RootedEncoding
    max_seconds: float | None = None
    totals: ClassVar[Sequence[str]] = ()

    def __post_init__(self) -> None:
        check_seconds(self.max_seconds)

    @property
    def settings(self) -> Mapping[str, Any]:
        """The command, and all that its results depend on."""
        options = {option.name: getattr(self.encoding, option.name) for option in fields(self.encoding)}
        return {"command": "encode", **options, "max_seconds_per_graph": self.max_seconds}

    @property
    def metadata(self) -> Mapping[str, str]:
        """The encoding and the names of its bins, as JSON."""
        return {"escgnn": __version__, "encoding": repr(self.encoding), "bins": json.dumps(self.encoding.bins)}

    def chunks(self, file: GraphFile) -> Iterator[Rows | Chunk]:
        """Rows whose graphs are read where the work is done, which takes longest; of an edge list graphs side by side."""
        return file.unread()

    def schema(self, first: Rows | Chunk | None) -> Any:
        """Which edge of which graph, and its row."""
        lists = [pa.field(name, LIST, nullable=False) for name in ("bins", "counts")]
        columns = [pa.field("source", pa.int64()), pa.field("target", pa.int64()), *lists]
        return graph_schema(first, columns)

    def __call__(self, chunk: Rows | Chunk) -> Iterator[Part]:
        """The rows of all edges, then of all nodes if the encoding has them."""
        is_typed = isinstance(chunk, Rows) and chunk.holds == "smiles" and self.encoding.types
        return of_graphs(
            chunk, self._of_graphs, partial(typed_molecules, names=self.encoding.types) if is_typed else None
        )

    def _of_graphs(self, chunk: Chunk) -> Iterator[Part]:
        return in_time(chunk, self.encoding.expected_steps(chunk.graphs), self.max_seconds, self._encode)

    def _told(self, blocks: Blocks, span: float) -> Blocks:
        """The same blocks, each made while it is known what share of all comes before it."""
        begin = 0.0
        while True:
            with watched(begin=min(begin, 1.0), span=span):
                block = next(blocks, None)
            if block is None:
                return
            yield block
            begin += span

    def _encode(self, chunk: Chunk) -> Iterator[Part]:
        schema = self.schema(chunk)
        steps = self.encoding.expected_steps(chunk.graphs).sum()
        size = int(min(BLOCK, max(1, BLOCK_STEPS * (chunk.graphs.num_edges + 1) / (steps + 1))))
        for roots, rows in self._told(self.encoding.blocks(chunk.graphs, size), size / max(1, chunk.graphs.num_edges)):
            ends = pa.array(np.concatenate([[0], rows.length.cumsum()]).astype(np.int32))
            lists = [pa.ListArray.from_arrays(ends, pa.array(values), type=LIST) for values in (rows.bin, rows.count)]
            owner = chunk.graphs.owner(roots[:, 0])
            batch = with_graphs(chunk, owner, [*named_nodes(chunk, roots), *lists], schema)
            yield Part(batch, Tally(rows=batch.num_rows))
        yield Part(None, Tally(graphs=chunk.graphs.num_graphs, edges=chunk.graphs.num_edges))


def typed_molecules(texts: Sequence[str], names: Sequence[str]) -> Parsed:
    """The graphs of SMILES, whose atoms and bonds have the types that these columns of OGB's features hold.

    Raises:
        ValueError: There are no such columns; those of atoms are ``x``, those of bonds ``edge_attr``.
    """
    from escgnn.datasets import parse_molecules  # it needs torch

    found = parse_molecules(texts, "ogb")
    columns = {**found.node, **found.edge}
    node = np.zeros(len(found.node["x"]), np.int64)
    edge = np.zeros(len(found.edge["edge_attr"]), np.int64)
    for name in names:
        attribute = name.partition(":")[0]
        if attribute not in columns:
            raise ValueError(f"types: {name!r}; molecules have {', '.join(columns)}")
        if attribute in found.node:
            node = types_of(columns[attribute], name)
        else:
            edge = types_of(columns[attribute], name)
    return replace(found, node={"type": node}, edge={"type": edge})


def encode_file(
    source: str | PathLike[str],
    output: str | PathLike[str],
    encoding: RootedEncoding,
    *,
    smiles: str | None = None,
    strict: bool = False,
    max_seconds_per_graph: float | None = None,
    engine: Engine | None = None,
    progress: Progress | None = None,
) -> Summary:
    """Encode every edge of every graph of a file into a Parquet table.

    Its columns are ``graph``, ``source``, ``target`` (as the file calls them) and the lists ``bins`` and ``counts``.
    Both directions of an edge follow each other; ``nodes=True`` adds rows (v, v) behind each chunk's edges. The names
    of the bins, as JSON, and the encoding stand in the file's metadata.

    Args:
        source: What `escgnn.readers.GraphFile` reads.
        output: A .parquet file. Bad rows are listed beside it in ``OUT.rejected.csv``.
        encoding: The encoding. Its ``types`` are those of molecules: columns of ``x`` and ``edge_attr``, OGB's features of
            atoms and bonds, ``x`` alone being the element and ``edge_attr`` the kind of bond.
        smiles: Column with the SMILES, if it is not called smiles.
        strict: Stop at the first bad row.
        max_seconds_per_graph: Graphs that take longer are left out, as bad rows.
        engine: Who works, out of `escgnn.engines`; this process if it is None.
        progress: Called now and then with the bytes read, their total and, while a graph takes long, how far it is.
    """
    if Path(output).suffix.lower() != ".parquet":
        raise ValueError(f"{output}: encodings are lists of bins and counts; write them to a .parquet file")
    job = Encode(encoding, max_seconds_per_graph)
    return run(job, source, output, smiles=smiles, strict=strict, engine=engine, progress=progress)
