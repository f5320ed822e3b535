"""Edge lists: tables of ``graph, source, target``, the rows of one graph one after the other."""

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray
from pyarrow import csv

from escgnn.disk import Rejected, rejected
from escgnn.readers.chunks import Chunk, side_by_side
from escgnn.readers.sources import NOT_UTF8, ParquetSource, Row, TextSource, csv_rows, is_utf8

COLUMNS = ("graph", "source", "target")
INTEGER = re.compile("-?[0-9]+")
ROW_BY_ROW = 1 << 15  # bytes: no block that is smaller is halved again


@dataclass(frozen=True, slots=True)
class EdgeRows:
    """The good rows of a piece of an edge list, and the bad ones beside them."""

    graph: Any  # pyarrow.Array
    pairs: NDArray[np.int64]  # (rows, 2)
    line: NDArray[np.int64]
    bad: list[Rejected]


def edge_chunks(
    pieces: Iterable[EdgeRows], unit: str, chunk_size: int, reject: Callable[[Rejected], None]
) -> Iterator[Chunk]:
    """Chunks of whole graphs, each ending with the graph that brings it to ``chunk_size``; a row counts two.

    Memory grows with the number of graphs: where each began is remembered, to tell one that comes back.
    """
    began: dict[Any, int] = {}
    ids: list[Any] = []
    held: list[tuple[int, NDArray[np.int64]]] = []  # place in ids, rows
    size = 0
    for rows in pieces:
        bad = list(rows.bad)
        for graph, run in _runs(rows.graph):
            if not ids or graph != ids[-1]:
                if graph in began:
                    reason = f"graph {graph} began on {unit} {began[graph]} and ended; sort the file by graph"
                    for line, (u, v) in zip(rows.line[run].tolist(), rows.pairs[run].tolist(), strict=True):
                        bad.append(rejected(line, f"{graph},{u},{v}", reason))
                    continue
                if ids and size >= chunk_size:
                    yield _chunk(pa.array(ids, rows.graph.type), [began[name] for name in ids], held)
                    ids = []
                    held = []
                    size = 0
                began[graph] = int(rows.line[run.start])
                ids.append(graph)
            held.append((len(ids) - 1, rows.pairs[run]))
            size += 2 * (run.stop - run.start)
        for row in sorted(bad, key=lambda row: row.line):
            reject(row)
    if ids:
        yield _chunk(pa.array(ids, rows.graph.type), [began[name] for name in ids], held)


def text_rows(source: TextSource, columns: list[str]) -> Iterator[EdgeRows]:
    """The rows of a CSV or TSV file."""
    table = _TextTable(source, columns)
    for line, block in source.blocks():
        yield from table.rows(line, block)


def parquet_rows(source: ParquetSource, columns: list[str]) -> Iterator[EdgeRows]:
    """The rows of a Parquet file."""
    for first, batch in source.batches(columns):
        graph, *ends = (_decoded(batch.column(name)) for name in columns)
        # an unsigned number beyond int64 turns negative, and is bad like one
        pairs = np.stack([end.cast(pa.int64(), safe=False).fill_null(-1).to_numpy() for end in ends], axis=1)
        named = graph.is_valid() if pa.types.is_integer(graph.type) else pc.not_equal(graph, "")
        good = named.fill_null(False).to_numpy(zero_copy_only=False) & (pairs >= 0).all(axis=1)
        bad = []
        for row in np.flatnonzero(~good).tolist():
            cells = ["" if column[row].as_py() is None else str(column[row]) for column in (graph, *ends)]
            try:
                _edge(*cells, numbered=False)  # a graph of the column's type is good
            except ValueError as error:
                bad.append(rejected(first + row, ",".join(cells), str(error)))
        yield EdgeRows(graph.filter(pa.array(good)), pairs[good], first + np.flatnonzero(good), bad)


class _TextTable:
    """Where the three columns stand in a text table, and whether its graphs are called by numbers or text."""

    def __init__(self, source: TextSource, columns: list[str]) -> None:
        self.delimiter = source.delimiter
        self.width = len(source.columns)
        self.places = [source.columns.index(name) for name in columns]
        self.kind: Any = None  # of the first graph, once a row names one
        ends = re.escape(self.delimiter) + r"\r\n"
        self.quoted = re.compile(rf'(?<![^{ends}])"([^"{ends}]*)"(?=[{ends}]|$)'.encode())  # without need

    def rows(self, line: int, block: bytes) -> Iterator[EdgeRows]:
        """The rows of a block, fast but for the few kilobytes around something unusual."""
        if self.kind is None:
            self.kind = self._first_kind(block)
        if fast := self._fast(line, block):
            yield fast
        elif len(block) < ROW_BY_ROW or not 0 < (half := block.find(b"\n", len(block) // 2) + 1) < len(block):
            yield self._careful(line, block)
        else:
            yield from self.rows(line, block[:half])
            yield from self.rows(line + block.count(b"\n", 0, half), block[half:])

    def _fast(self, line: int, block: bytes) -> EdgeRows | None:
        """The block as arrays; None unless every row is as plain as can be."""
        plain = self.quoted.sub(rb"\1", block) if b'"' in block else block
        if self.kind is None or b'"' in plain:
            return None
        names = [str(place) for place in range(self.width)]
        wanted = [names[place] for place in self.places]
        try:
            block.decode()
            table = csv.read_csv(
                pa.BufferReader(plain),
                csv.ReadOptions(use_threads=False, column_names=names),
                csv.ParseOptions(delimiter=self.delimiter, quote_char=False, ignore_empty_lines=False),
                csv.ConvertOptions(include_columns=wanted, column_types=dict.fromkeys(wanted, pa.string())),
            )
            columns = [pc.utf8_trim_whitespace(column.combine_chunks()) for column in table.columns]
            graph, *ends = map(_plain, columns, (self.kind, pa.int64(), pa.int64()))
        except ValueError:  # pyarrow's and Unicode's errors are such
            return None
        pairs = np.stack([end.to_numpy() for end in ends], axis=1)
        split = len(graph) != block.rstrip(b"\n").count(b"\n") + 1  # a line, by a stray carriage return
        if split or (pairs < 0).any():
            return None
        return EdgeRows(graph, pairs, line + np.arange(len(graph)), [])

    def _careful(self, line: int, block: bytes) -> EdgeRows:
        """The block row by row, bad rows aside."""
        edges = []
        lines = []
        bad = []
        numbered = self.kind == pa.int64()
        for row in self._split(line, block):
            try:
                if row.trouble:
                    raise ValueError(row.trouble)
                cells = [row.cells[place] for place in self.places]
                if not all(map(is_utf8, cells)):
                    raise ValueError(NOT_UTF8)
                edges.append(_edge(*cells, numbered=numbered))
                lines.append(row.line)
            except ValueError as error:
                bad.append(rejected(row.line, row.text, str(error)))
        graph, source, target = zip(*edges, strict=True) if edges else ((), (), ())
        pairs = np.array([source, target], np.int64).T
        return EdgeRows(pa.array(graph, self.kind or pa.string()), pairs, np.array(lines, np.int64), bad)

    def _first_kind(self, block: bytes) -> Any:
        for row in self._split(0, block):
            if not row.trouble and is_utf8(first := row.cells[self.places[0]]) and first:
                return pa.int64() if _is_int64(first) else pa.string()
        return None

    def _split(self, line: int, block: bytes) -> Iterator[Row]:
        texts = block.decode("utf-8", "surrogateescape").split("\n")
        return csv_rows(enumerate(texts, line), self.delimiter, self.width)


def _decoded(column: Any) -> Any:
    return column.dictionary_decode() if pa.types.is_dictionary(column.type) else column


def _plain(column: Any, kind: Any) -> Any:
    """The column as text, none of it empty, or as numbers; a ValueError if it is neither."""
    numbers = pa.types.is_integer(kind)
    # digits, after a sign or not: pyarrow by itself would read 0x10 too
    plain = pc.ascii_is_decimal(pc.ascii_ltrim(column, "-")) if numbers else pc.not_equal(column, "")
    if not pc.all(plain).as_py():
        raise ValueError
    return column.cast(kind)


def _edge(graph: str, source: str, target: str, *, numbered: bool) -> tuple[int | str, int, int]:
    """The three cells of an edge, or a ValueError that says which of them is wrong."""
    if not graph:
        raise ValueError("graph is empty")
    return _integer("graph", graph) if numbered else graph, _node("source", source), _node("target", target)


def _node(name: str, cell: str) -> int:
    if not cell:
        raise ValueError(f"{name} is empty")
    number = _integer(name, cell)
    if number < 0:
        raise ValueError(f"{name} {cell} is negative")
    return number


def _integer(name: str, cell: str) -> int:
    if not INTEGER.fullmatch(cell):
        like = ", as the first one is" if name == "graph" else ""
        raise ValueError(f"{name} {cell!r} is not an integer{like}")
    if not _is_int64(cell):
        raise ValueError(f"{name} {cell:.30} does not fit in 64 bits")
    return int(cell)


def _is_int64(cell: str) -> bool:
    # the length comes first, because Python refuses to read thousands of digits
    return len(cell) < 999 and bool(INTEGER.fullmatch(cell)) and -(2**63) <= int(cell) < 2**63


def _runs(graph: Any) -> Iterator[tuple[Any, slice]]:
    """The graphs in the order in which they come, and the rows of each."""
    if len(graph):
        change = pc.not_equal(graph[1:], graph[:-1]).to_numpy(zero_copy_only=False)
        bounds = [0, *(np.flatnonzero(change) + 1).tolist(), len(graph)]
        yield from zip(graph.take(pa.array(bounds[:-1])).to_pylist(), map(slice, bounds, bounds[1:]), strict=True)


def _chunk(ids: Any, lines: list[int], held: list[tuple[int, NDArray[np.int64]]]) -> Chunk:
    """The graphs of these rows, the nodes of each numbered in ascending order."""
    places, pieces = zip(*held, strict=True)
    home = np.repeat(places, [piece.size for piece in pieces])
    node = np.concatenate(pieces).ravel()
    order = np.lexsort((node, home))
    home = home[order]
    node = node[order]
    first = np.append(True, (home[1:] != home[:-1]) | (node[1:] != node[:-1]))
    number = np.empty_like(order)
    number[order] = np.cumsum(first) - 1
    sizes = np.bincount(home[first], minlength=len(ids))
    return side_by_side(ids, np.array(lines, np.int64), node[first], sizes, number.reshape(-1, 2))
