"""Graph files in, tables of results out: streamed, memory bounded by a chunk, written whole or not at all."""

import json
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import chain, islice
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from escgnn import __version__
from escgnn.encoding import RootedEncoding
from escgnn.files import Chunk, GraphFile, RejectLog, TableWriter

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

    def results(chunk: Chunk) -> Iterator[tuple[np.ndarray[Any, Any], list[Any]]]:
        for roots, rows in encoding.blocks(chunk.graphs):
            ends = pa.array(np.concatenate([[0], rows.length.cumsum(dtype=np.int32)]).astype(np.int32))
            lists = [pa.ListArray.from_arrays(ends, pa.array(values)) for values in (rows.bin, rows.count)]
            yield roots[:, 0], [pa.array(chunk.node_ids[roots[:, 0]]), pa.array(chunk.node_ids[roots[:, 1]]), *lists]

    return _stream(source, output, columns, metadata, results, smiles=smiles, strict=strict, progress=progress)


_LIST = pa.list_(pa.int32())


def _stream(
    source: str | PathLike[str],
    output: str | PathLike[str],
    columns: list[tuple[str, Any]],
    metadata: dict[str, str],
    results: Callable[[Chunk], Iterator[tuple[np.ndarray[Any, Any], list[Any]]]],
    *,
    smiles: str | None,
    strict: bool,
    progress: Progress | None,
) -> Summary:
    """Run ``results`` over a file's chunks; it yields a node of each row's graph, and the columns behind ``graph``."""
    start = time.perf_counter()
    graphs = edges = rows = 0
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
            for nodes, arrays in results(chunk):
                home = np.searchsorted(chunk.graphs.ptr, nodes, side="right") - 1
                table.write(pa.record_batch([chunk.ids.take(pa.array(home)), *arrays], schema=table.schema))
                rows += len(nodes)
            if progress is not None:
                progress(file.bytes_read, file.total_bytes)
        rejects = log.path if file.rejected else None
    return Summary(graphs, edges, rows, file.rejected, time.perf_counter() - start, Path(output), rejects)
