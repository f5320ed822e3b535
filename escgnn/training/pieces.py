"""The input of `predict_file`, some rows at a time: tables of SMILES and graph files of every kind."""

import io
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from functools import partial
from multiprocessing import get_context
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from escgnn.datasets.molecules import FeatureSet, read_smiles
from escgnn.datasets.reading import from_members
from escgnn.disk import Rejected
from escgnn.files import GraphFile
from escgnn.files.sources import (
    DELIMITERS,
    LONGEST_RECORD,
    ParquetSource,
    Row,
    TextSource,
    csv_rows,
    extension,
    find_column,
)
from escgnn.graphs.graph6 import decode
from escgnn.store import GraphStore

CHUNK_ROWS, CHUNK_LETTERS = 2048, 1 << 20  # a piece ends at either

Found = tuple[GraphStore, dict[int, str]]  # graphs of the good texts, reasons of the others


class Piece(NamedTuple):
    """Some rows of the input.

    Attributes:
        columns: The input's own columns, to be kept; a pyarrow RecordBatch.
        lines: Where the rows stand in the file, from 1; 0 for the graphs of an edge list, which have many.
        texts: What says which graph it is: the SMILES, the graph6, or the graph's name.
        status: ``"ok"``, or why there is no graph.
        graphs: The graphs of the rows that are good, in their order.
        node_ids: What the file calls the nodes of these.
    """

    columns: Any
    lines: list[int]
    texts: list[str]
    status: list[str]
    graphs: GraphStore
    node_ids: NDArray[np.int64]


class Rows(NamedTuple):
    """Some rows before their graphs are read; ``trouble`` says what is wrong with a row itself, by number."""

    columns: Any
    lines: list[int]
    texts: list[str]
    trouble: dict[int, str]


class Pieces:
    """A file, read in pieces of bounded memory.

    Args:
        path: What `escgnn.files.GraphFile` reads.
        smiles: Column with the SMILES, if it is not called smiles.
        features: Feature set of molecules.
        workers: Processes that read molecules or graphs; none if 0.
        on_reject: Called with every row of an edge list that could not be read; others are kept, with their reason.
    """

    def __init__(
        self,
        path: str | PathLike[str],
        *,
        smiles: str | None,
        features: FeatureSet,
        workers: int,
        on_reject: Callable[[Rejected], None],
    ) -> None:
        self.path = Path(path)
        self._file = GraphFile(path, smiles=smiles, on_reject=on_reject)  # complains about what cannot be read
        self.format, self.total_bytes = self._file.format, self._file.total_bytes
        self._column = smiles or "smiles"
        self._source: GraphFile | TextSource | ParquetSource = self._file
        self._workers = workers
        self._read: Callable[[list[str]], Found] = read_graph6
        if self.format == "smiles":
            self._read = partial(read_molecules, features=features)

    @property
    def bytes_read(self) -> int:
        """How far reading has come, up to ``total_bytes``."""
        return self._source.bytes_read

    def __iter__(self) -> Iterator[Piece]:
        if self.format == "edges":
            return self._edge_pieces()
        kind = extension(self.path)
        rows = self._parquet_rows() if kind == ".parquet" else self._text_rows(DELIMITERS.get(kind, ""))
        return self._read_ahead(rows) if self._workers else (_piece(some, self._read(some.texts)) for some in rows)

    def _read_ahead(self, rows: Iterator[Rows]) -> Iterator[Piece]:
        """Read in other processes, a few pieces in advance; they come in their order."""
        waiting: deque[tuple[Rows, Future[Found]]] = deque()
        with ProcessPoolExecutor(self._workers, get_context("spawn")) as pool:
            for some in rows:
                waiting.append((some, pool.submit(self._read, some.texts)))
                if len(waiting) > 2 * self._workers:
                    first, found = waiting.popleft()
                    yield _piece(first, found.result())
            for some, found in waiting:
                yield _piece(some, found.result())

    def _edge_pieces(self) -> Iterator[Piece]:
        for chunk in self._file:
            count = chunk.graphs.num_graphs
            names = pa.record_batch([chunk.ids], ["graph"])
            texts = [str(name) for name in chunk.ids.to_pylist()]
            yield Piece(names, [0] * count, texts, ["ok"] * count, GraphStore.from_view(chunk.graphs), chunk.node_ids)

    def _parquet_rows(self) -> Iterator[Rows]:
        source = self._source = ParquetSource(self.path)
        place = source.columns.index(find_column(source, self._column))
        for first, batch in source.batches(source.columns):
            for start in range(0, batch.num_rows, CHUNK_ROWS):
                some = batch.slice(start, CHUNK_ROWS)
                texts = [text or "" for text in some.column(place).to_pylist()]
                yield Rows(some, [*range(first + start, first + start + len(texts))], texts, {})

    def _text_rows(self, delimiter: str) -> Iterator[Rows]:
        source = self._source = TextSource(self.path, delimiter)
        if delimiter:
            columns = source.columns
            place = columns.index(find_column(source, self._column))
            records = csv_rows(_lines(source), delimiter, len(columns), LONGEST_RECORD)
        else:
            columns, place = ["graph" if self.format == "graph6" else "smiles"], 0
            records = source.records()
        for rows in _chunks(records):
            cells = [[*map(_printable, row.cells), *[""] * len(columns)][: len(columns)] for row in rows]
            kept = pa.record_batch([pa.array(column, pa.string()) for column in zip(*cells, strict=True)], columns)
            trouble = {number: row.trouble for number, row in enumerate(rows) if row.trouble}
            texts = ["" if number in trouble else row[place] for number, row in enumerate(cells)]
            yield Rows(kept, [row.line for row in rows], texts, trouble)


def _piece(rows: Rows, found: Found) -> Piece:
    graphs, reasons = found
    reasons = {**reasons, **rows.trouble}
    status = [reasons.get(number, "ok") for number in range(len(rows.texts))]
    sizes = graphs.num_nodes.numpy()
    node_ids = np.arange(sizes.sum()) - np.repeat(sizes.cumsum() - sizes, sizes)
    return Piece(rows.columns, rows.lines, rows.texts, status, graphs, node_ids)


def read_molecules(texts: Sequence[str], features: FeatureSet) -> Found:
    """The graphs of SMILES, what follows a space left aside, and what is wrong with those that have none, by number."""
    found = read_smiles(texts, features)
    return found.graphs, {row.line - 1: row.reason for row in found.rejected}


def read_graph6(texts: Sequence[str]) -> Found:
    """The graphs of graph6 and sparse6 texts, and what is wrong with those that have none, by number."""
    members, reasons = [], {}
    for number, text in enumerate(texts):
        try:
            members.append(decode(text))
        except ValueError as error:
            reasons[number] = str(error)
    return from_members(members), reasons


def _lines(source: TextSource) -> Iterator[tuple[int, str]]:
    """The numbered lines below the header."""
    for line, block in source.blocks():
        for number, text in enumerate(io.BytesIO(block), line):
            yield number, text.decode("utf-8", "surrogateescape")


def _chunks(records: Iterator[Row]) -> Iterator[list[Row]]:
    held: list[Row] = []
    letters = 0
    for row in records:
        held.append(row)
        letters += len(row.text)
        if len(held) == CHUNK_ROWS or letters >= CHUNK_LETTERS:
            yield held
            held, letters = [], 0
    if held:
        yield held


def _printable(cell: str) -> str:
    """The text with bytes that are no UTF-8 as escapes."""
    return cell if cell.isascii() else cell.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
