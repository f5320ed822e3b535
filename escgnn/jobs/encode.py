"""Encoding every edge of every graph of a file."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa

from escgnn import __version__
from escgnn.encoding import RootedEncoding
from escgnn.engines import Engine
from escgnn.jobs.job import Part, Tally
from escgnn.jobs.stream import Progress, Summary, run
from escgnn.jobs.tables import graph_schema, named_nodes, with_graphs
from escgnn.readers import Chunk, GraphFile

LIST = pa.list_(pa.int32())


@dataclass(frozen=True)
class Encode:
    """The encoding of every edge, a row for each of its directions, as lists of bins and counts."""

    encoding: RootedEncoding
    totals: ClassVar[Sequence[str]] = ()

    @property
    def metadata(self) -> Mapping[str, str]:
        """The encoding and the names of its bins, as JSON."""
        return {"escgnn": __version__, "encoding": repr(self.encoding), "bins": json.dumps(self.encoding.bins)}

    def chunks(self, file: GraphFile) -> Iterator[Chunk]:
        """Graphs side by side."""
        return iter(file)

    def schema(self, first: Chunk | None) -> Any:
        """Which edge of which graph, and its row."""
        columns = [("source", pa.int64()), ("target", pa.int64()), ("bins", LIST), ("counts", LIST)]
        return graph_schema(first, columns)

    def __call__(self, chunk: Chunk) -> Iterator[Part]:
        """The rows of all edges, then of all nodes if the encoding has them."""
        schema = self.schema(chunk)
        for roots, rows in self.encoding.blocks(chunk.graphs):
            ends = pa.array(np.concatenate([[0], rows.length.cumsum()]).astype(np.int32))
            lists = [pa.ListArray.from_arrays(ends, pa.array(values)) for values in (rows.bin, rows.count)]
            owner = chunk.graphs.owner(roots[:, 0])
            batch = with_graphs(chunk, owner, [*named_nodes(chunk, roots), *lists], schema)
            yield Part(batch, Tally(rows=batch.num_rows))
        yield Part(None, Tally(graphs=chunk.graphs.num_graphs, edges=chunk.graphs.num_edges))


def encode_file(
    source: str | PathLike[str],
    output: str | PathLike[str],
    encoding: RootedEncoding,
    *,
    smiles: str | None = None,
    strict: bool = False,
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
        encoding: The encoding.
        smiles: Column with the SMILES, if it is not called smiles.
        strict: Stop at the first bad row.
        engine: Who works, out of `escgnn.engines`; this process if it is None.
        progress: Called now and then with the bytes read and their total.
    """
    if Path(output).suffix.lower() != ".parquet":
        raise ValueError(f"{output}: encodings are lists of bins and counts; write them to a .parquet file")
    job = Encode(encoding)
    return run(job, source, output, smiles=smiles, strict=strict, engine=engine, progress=progress)
