"""Graph files in, tables of results out: streamed, memory bounded by a chunk, written whole or not at all."""

import json
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import chain, islice
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from escgnn import __version__
from escgnn.counting import TARGETS, count, count_all
from escgnn.disk import RejectLog, TableWriter, check_output
from escgnn.encoding import RootedEncoding
from escgnn.files import Chunk, GraphFile

Progress = Callable[[int, int], None]  # bytes read so far, bytes in all


@dataclass(frozen=True, slots=True)
class Summary:
    """What a run over a file came to."""

    graphs: int
    edges: int
    rows: int
    rejected: int
    seconds: float
    output: Path
    rejects: Path | None
    totals: dict[str, int]  # of every column that counts


def encode_file(
    source: str | PathLike[str],
    output: str | PathLike[str],
    encoding: RootedEncoding,
    *,
    smiles: str | None = None,
    strict: bool = False,
    progress: Progress | None = None,
) -> Summary:
    """Encode every edge of every graph of a file into a Parquet table.

    Its columns are ``graph``, ``source``, ``target`` (as the file calls them) and the lists ``bins`` and ``counts``.
    Both directions of an edge follow each other; ``nodes=True`` adds rows (v, v) behind each chunk's edges. The names
    of the bins, as JSON, and the encoding stand in the file's metadata.

    Args:
        source: What `escgnn.files.GraphFile` reads.
        output: A .parquet file. Bad rows are listed beside it in ``OUT.rejected.csv``.
        encoding: The encoding.
        smiles: Column with the SMILES, if it is not called smiles.
        strict: Stop at the first bad row.
        progress: Called after every chunk with the bytes read and their total.
    """
    metadata = {"escgnn": __version__, "encoding": repr(encoding), "bins": json.dumps(encoding.bins)}
    columns = [("source", pa.int64()), ("target", pa.int64()), ("bins", _LIST), ("counts", _LIST)]
    if Path(output).suffix.lower() != ".parquet":
        raise ValueError(f"{output}: encodings are lists of bins and counts; write them to a .parquet file")

    def results(chunk: Chunk) -> Iterator[Block]:
        for roots, rows in encoding.blocks(chunk.graphs):
            ends = pa.array(np.concatenate([[0], rows.length.cumsum()]).astype(np.int32))
            lists = [pa.ListArray.from_arrays(ends, pa.array(values)) for values in (rows.bin, rows.count)]
            yield _home(chunk, roots[:, 0]), [*_node_names(chunk, roots), *lists]

    return _stream(source, output, columns, metadata, results, smiles=smiles, strict=strict, progress=progress)


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
    progress: Progress | None = None,
) -> Summary:
    """Count a pattern in every graph of a file, into a Parquet or CSV table.

    Its columns are ``graph``; for ``per="node"`` also ``node``, for ``per="edge"`` also ``source`` and ``target`` (each
    edge once); and ``count``.

    Args:
        source: What `escgnn.files.GraphFile` reads.
        output: A .parquet or .csv file. Bad rows are listed beside it in ``OUT.rejected.csv``.
        pattern: What `escgnn.counting.count` takes; None for the benchmark's nine node-level targets, a column each.
        per: ``"graph"``, ``"node"`` or ``"edge"``.
        induced: Count induced copies.
        orbit: Position in the pattern, as in `escgnn.counting.count`.
        smiles: Column with the SMILES, if it is not called smiles.
        strict: Stop at the first bad row.
        progress: Called after every chunk with the bytes read and their total.
    """
    if pattern is None:
        per = "node"
    else:
        count([], pattern, per=per, induced=induced, orbit=orbit)  # type: ignore[arg-type]  # complain before reading
    names = {"graph": (), "node": ("node",), "edge": ("source", "target")}[per]
    counted = TARGETS if pattern is None else ("count",)
    metadata = {"escgnn": __version__, "pattern": str(pattern or "all"), "per": per, "induced": str(induced)}

    def results(chunk: Chunk) -> Iterator[Block]:
        graphs = chunk.graphs
        counts = (
            count_all(graphs)
            if pattern is None
            else count(graphs, pattern, per=per, induced=induced, orbit=orbit)[:, None]  # type: ignore[arg-type]
        )
        if per == "graph":
            where = np.empty((graphs.num_graphs, 0), np.int64)
            home = np.arange(graphs.num_graphs)
        else:
            once = np.flatnonzero(graphs.edge_index[0] < graphs.edge_index[1])
            where = np.arange(graphs.num_nodes)[:, None] if per == "node" else graphs.edge_index.T[once]
            counts = counts if per == "node" else counts[once]
            home = _home(chunk, where[:, 0])
        yield home, [*_node_names(chunk, where), *(pa.array(column) for column in counts.T)]

    columns = [(name, pa.int64()) for name in (*names, *counted)]
    return _stream(
        source, output, columns, metadata, results, smiles=smiles, strict=strict, progress=progress, totals=counted
    )


_LIST = pa.list_(pa.int32())
Block = tuple[NDArray[np.int64], list[Any]]  # number of each row's graph in its chunk; the columns behind ``graph``


def _home(chunk: Chunk, nodes: NDArray[np.int64]) -> NDArray[np.int64]:
    return np.searchsorted(chunk.graphs.ptr, nodes, side="right") - 1


def _node_names(chunk: Chunk, nodes: NDArray[np.int64]) -> list[Any]:
    """What the file calls these nodes, a column for each of theirs."""
    return [pa.array(chunk.node_ids[column]) for column in nodes.T]


def _stream(
    source: str | PathLike[str],
    output: str | PathLike[str],
    columns: list[tuple[str, Any]],
    metadata: dict[str, str],
    results: Callable[[Chunk], Iterator[Block]],
    *,
    smiles: str | None,
    strict: bool,
    progress: Progress | None,
    totals: Sequence[str] = (),
) -> Summary:
    """Run ``results`` over a file's chunks and write what it yields; add up the columns called ``totals``."""
    check_output(source, output)
    start = time.perf_counter()
    graphs = edges = rows = 0
    sums = dict.fromkeys(totals, 0)
    with ExitStack() as stack:
        log = stack.enter_context(RejectLog(output))
        file = GraphFile(source, smiles=smiles, strict=strict, on_reject=log)
        chunks = iter(file)
        first = list(islice(chunks, 1))  # the type of the graphs' names is known only now
        names = first[0].ids.type if first else pa.int64()
        schema = pa.schema([("graph", names), *columns])
        table = stack.enter_context(TableWriter(output, schema, metadata))
        for chunk in chain(first, chunks):
            graphs += chunk.graphs.num_graphs
            edges += chunk.graphs.num_edges
            for home, arrays in results(chunk):
                batch = pa.record_batch([chunk.ids.take(pa.array(home)), *arrays], schema=table.schema)
                table.write(batch)
                rows += batch.num_rows
                for name in totals:
                    sums[name] += sum(batch[name].to_pylist())  # Python's integers do not overflow
            if progress is not None:
                progress(file.bytes_read, file.total_bytes)
        rejects = None if log.is_empty else log.path
    return Summary(graphs, edges, rows, file.rejected, time.perf_counter() - start, Path(output), rejects, sums)
