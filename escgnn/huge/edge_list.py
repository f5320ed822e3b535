"""The pairs of one graph's edge list, a table of ``source, target``, read in a stream with its bad rows told apart."""

import csv
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.csv
from numpy.typing import NDArray

from escgnn.disk import Rejected, rejected
from escgnn.limits import MOST_NODES
from escgnn.readers import DELIMITERS, extension, find_column, open_source

COLUMNS = ("source", "target")
EXTENSIONS = (*DELIMITERS, ".parquet")
UNPLAIN = b'"xX'  # quotes, and numbers such as 0x10: rows with these are read one by one

Pairs = NDArray[np.int32]  # (pairs, 2)


class Row(NamedTuple):
    """The cells of a row that is read by itself, and what is wrong with it, if that is known."""

    line: int
    cells: list[str]
    trouble: str = ""


class EdgeList:
    """A CSV, TSV or Parquet file with a row for each edge of one graph; iterating yields pairs of nodes, some at a time.

    Nodes are integers from 0 on; edges are undirected, each named once or more, in any direction. Other columns are not read.
    Text may be gzipped. A row that cannot be used is rejected and left out.

    Args:
        path: The file.
        columns: Names of the two columns.
        num_nodes: How many nodes there are, if it is known: nodes beyond are bad rows.
        strict: Whether the first bad row raises instead.
        on_reject: Called with every bad row.

    Attributes:
        rejected: Number of bad rows so far.

    Raises:
        OSError: The file does not exist or cannot be opened.
        ValueError: It is no such table; or, also while reading: it is damaged, or a row is bad and reading strict.
    """

    def __init__(
        self,
        path: Path,
        columns: tuple[str, str] = COLUMNS,
        *,
        num_nodes: int | None = None,
        strict: bool = False,
        on_reject: Callable[[Rejected], None] | None = None,
    ) -> None:
        if extension(path) not in EXTENSIONS or path.name.lower().endswith(".parquet.gz"):
            raise ValueError(
                f"{path}: the edges of one graph are read from {', '.join(EXTENSIONS)}; text may be gzipped"
            )
        self.path = path
        self.strict = strict
        self.on_reject = on_reject
        self.rejected = 0
        self.source = open_source(path)
        self._last = MOST_NODES - 1 if num_nodes is None else num_nodes - 1
        advice = f"; an edge list begins with a line such as {','.join(COLUMNS)}"
        self._names = [find_column(self.source, name, advice) for name in columns]
        if hasattr(self.source, "check_type"):
            for name in self._names:
                self.source.check_type(name, integers=True)

    @property
    def size(self) -> int:
        """Bytes of the file."""
        return self.source.size

    @property
    def bytes_read(self) -> int:
        """How far reading has come, up to ``size``."""
        return self.source.bytes_read

    def __iter__(self) -> Iterator[Pairs]:
        self.rejected = 0
        if hasattr(self.source, "batches"):
            for first, batch in self.source.batches(self._names):
                yield self._of_batch(first, batch)
        else:
            for line, block in self.source.blocks():
                yield self._of_block(line, block)

    def _of_batch(self, first: int, batch: Any) -> Pairs:
        """The pairs of a batch of Parquet."""
        ends = [_numbers(batch.column(name)) for name in self._names]
        if any(end.null_count for end in ends):
            rows = zip(*(end.to_pylist() for end in ends), strict=True)
            texts = (["" if number is None else str(number) for number in row] for row in rows)
            return self._one_by_one(Row(line, cells) for line, cells in enumerate(texts, first))
        pairs = np.stack([end.to_numpy() for end in ends], axis=1)
        if self._is_good(pairs):
            return pairs.astype(np.int32)
        return self._one_by_one(Row(line, [*map(str, row)]) for line, row in enumerate(pairs.tolist(), first))

    def _of_block(self, line: int, block: bytes) -> Pairs:
        """The pairs of some lines of text, at once if all of them are as plain as can be."""
        names = [str(place) for place in range(len(self.source.columns))]
        wanted = [names[self.source.columns.index(name)] for name in self._names]
        delimiter = self._delimiter
        if not any(letter in block for letter in UNPLAIN):
            try:
                table = pyarrow.csv.read_csv(
                    pa.BufferReader(block),
                    pyarrow.csv.ReadOptions(use_threads=False, column_names=names),
                    pyarrow.csv.ParseOptions(delimiter=delimiter, quote_char=False),
                    pyarrow.csv.ConvertOptions(
                        include_columns=wanted, column_types=dict.fromkeys(wanted, pa.int64()), null_values=[]
                    ),
                )
                pairs = np.stack([column.to_numpy() for column in table.columns], axis=1)
                if self._is_good(pairs):
                    return pairs.astype(np.int32)
            except pa.ArrowInvalid:
                pass
        return self._one_by_one(self._rows(line, block))

    @property
    def _delimiter(self) -> str:
        return str(getattr(self.source, "delimiter", ","))

    def _is_good(self, pairs: NDArray[np.int64]) -> bool:
        return not pairs.size or bool(pairs.min() >= 0 and pairs.max() <= self._last)

    def _rows(self, line: int, block: bytes) -> Iterator[Row]:
        """The lines of a block that are not blank."""
        places = [self.source.columns.index(name) for name in self._names]
        for number, text in enumerate(block.decode("utf-8", "backslashreplace").split("\n"), line):
            if text.strip():
                cells = next(csv.reader([text.rstrip("\r")], delimiter=self._delimiter), [])
                if len(cells) == len(self.source.columns):
                    yield Row(number, [cells[place].strip() for place in places])
                else:
                    yield Row(number, cells, f"has {len(cells)} cells, the header {len(self.source.columns)}")

    def _one_by_one(self, rows: Iterator[Row]) -> Pairs:
        good = []
        for row in rows:
            trouble = row.trouble or self._trouble(row.cells)
            if trouble:
                self._reject(rejected(row.line, ",".join(row.cells), trouble))
            else:
                good.append([int(cell) for cell in row.cells])
        return np.array(good, np.int32).reshape(-1, 2)

    def _trouble(self, cells: list[str]) -> str:
        """What is wrong with a row, or nothing."""
        for name, cell in zip(self._names, cells, strict=True):
            if not cell:
                return f"{name} is empty"
            if not (cell.isascii() and cell.removeprefix("-").isdigit()):
                return f"{name} {cell[:30]!r} is not an integer"
            if len(cell) > 18 or not 0 <= int(cell) <= self._last:
                return f"{name} {cell[:30]}; expected a node from 0 to {self._last}"
        return ""

    def _reject(self, row: Rejected) -> None:
        if self.strict:
            raise ValueError(f"{self.path}: {self.source.unit} {row.line}: {row.reason}")
        self.rejected += 1
        if self.on_reject is not None:
            self.on_reject(row)


def _numbers(column: Any) -> Any:
    """A column of Parquet as int64; an unsigned number beyond that turns negative, and is bad like one."""
    plain = column.dictionary_decode() if pa.types.is_dictionary(column.type) else column
    return plain.cast(pa.int64(), safe=False)
