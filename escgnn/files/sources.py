"""Where rows come from: text, plain or gzipped, and Parquet."""

import csv
import gzip
import io
import zlib
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import chain, islice
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq

DELIMITERS = {".csv": ",", ".tsv": "\t"}
BLOCK = 1 << 20  # bytes of text
BATCH = 1 << 16  # rows of Parquet
LONGEST_RECORD = 100  # lines of one CSV record; more means that a quote was never closed


class Row(NamedTuple):
    """One record: its line (or row) from 1, its text, its cells, and what is wrong with it, if anything."""

    line: int
    text: str
    cells: list[str]
    trouble: str = ""


def extension(path: Path) -> str:
    """The extension that says what a file holds, in lower case and without .gz."""
    return Path(path.name.lower().removesuffix(".gz")).suffix


def find_column(columns: Sequence[str], name: str) -> int:
    """Where a column stands; if none has this very name, the one that differs in upper and lower case only.

    Raises:
        LookupError: There is no such column, or more than one.
    """
    places = [place for place, column in enumerate(columns) if column == name]
    places = places or [place for place, column in enumerate(columns) if column.lower() == name.lower()]
    if len(places) != 1:
        raise LookupError(f"column {name!r} is not there once; the columns are {', '.join(columns):.300}")
    return places[0]


class TextSource:
    """A text file: a record in every line or, with a delimiter, a table below a header."""

    unit = "line"

    def __init__(self, path: Path, delimiter: str = "") -> None:
        self.path = path
        self.delimiter = delimiter
        self.columns: list[str] = []
        self._file: io.BufferedReader | None = None
        if delimiter:
            with self._opened() as stream:
                header = stream.readline().decode("utf-8-sig", "backslashreplace")
            self._file = None
            self.columns = [name for row in csv_rows([(1, header)], delimiter, 0) for name in row.cells]

    @property
    def bytes_read(self) -> int:
        """How far into the file reading has come."""
        if self._file is None:
            return 0
        return self.path.stat().st_size if self._file.closed else self._file.tell()

    def records(self, column: str = "") -> Iterator[Row]:
        """Every record with one cell, the line or that column; blank lines and headers are no records."""
        if not self.delimiter:
            for line, text in self._lines():
                if cell := text.strip().removeprefix(">>graph6<<").removeprefix(">>sparse6<<"):
                    yield Row(line, text, [cell], "" if _is_utf8(text) else "not UTF-8 text")
            return
        place = self.columns.index(column)
        for row in csv_rows(islice(self._lines(), 1, None), self.delimiter, len(self.columns), LONGEST_RECORD):
            yield row._replace(cells=row.cells[place : place + 1])

    def blocks(self) -> Iterator[tuple[int, bytes]]:
        """The table below its header in blocks of whole lines, each with the number of its first line."""
        with self._opened() as stream:
            stream.readline()
            line = 2
            while block := stream.read(BLOCK) + stream.readline():
                yield line, block
                line += block.count(b"\n")

    def _lines(self) -> Iterator[tuple[int, str]]:
        with self._opened() as stream, io.TextIOWrapper(stream, "utf-8-sig", "surrogateescape", newline="\n") as text:
            yield from enumerate(text, 1)

    @contextmanager
    def _opened(self) -> Iterator[io.BufferedReader | gzip.GzipFile]:
        with _damage_named(self.path), self.path.open("rb") as self._file:
            if self.path.suffix.lower() == ".gz":
                with gzip.open(self._file) as stream:
                    yield stream
            else:
                yield self._file


class ParquetSource:
    """A Parquet file, read in batches of rows; memory holds a row group of the columns wanted."""

    unit = "row"

    def __init__(self, path: Path) -> None:
        self.path = path
        with _damage_named(path), pq.ParquetFile(path) as file:
            self.schema = file.schema_arrow
            self._num_rows: int = file.metadata.num_rows
        self.columns: list[str] = self.schema.names
        self._rows_read = 0

    @property
    def bytes_read(self) -> int:
        """The share of the file that the rows read so far make up."""
        return self.path.stat().st_size * self._rows_read // max(1, self._num_rows)

    def check_type(self, column: str, *, integers: bool = False, text: bool = False) -> None:
        """Complain about a column that holds something else."""
        kind = self.schema.field(column).type
        kind = kind.value_type if pa.types.is_dictionary(kind) else kind
        is_text = pa.types.is_string(kind) or pa.types.is_large_string(kind)
        if not ((integers and pa.types.is_integer(kind)) or (text and is_text)):
            expected = " or ".join(["integers"] * integers + ["text"] * text)
            raise ValueError(f"{self.path}: column {column} holds {kind}; expected {expected}")

    def records(self, column: str = "") -> Iterator[Row]:
        """Every row with one cell, of that column; a missing one is empty."""
        for first, batch in self.batches([column]):
            for line, cell in enumerate(batch.column(0).to_pylist(), first):
                yield Row(line, cell or "", [(cell or "").strip()])

    def batches(self, columns: list[str]) -> Iterator[tuple[int, Any]]:
        """Record batches, each with the number of its first row."""
        with _damage_named(self.path), pq.ParquetFile(self.path) as file:
            self._rows_read = 0
            for batch in file.iter_batches(BATCH, columns=columns):
                first = self._rows_read + 1
                self._rows_read += batch.num_rows
                yield first, batch


def csv_rows(lines: Iterable[tuple[int, str]], delimiter: str, width: int, span: int = 1) -> Iterator[Row]:
    """The records of numbered lines, each within ``span`` lines; blank lines are none.

    A quote that is never closed spoils its own line only: reading goes on with the next one.
    """
    more: list[tuple[int, str]] = []  # lines that the record takes after its first
    ahead: deque[tuple[int, str]] = deque()  # lines that a broken record gave back

    def all_lines() -> Iterator[tuple[int, str]]:
        for item in lines:
            yield item
            while ahead:
                yield ahead.popleft()

    def following() -> Iterator[str]:
        for item in islice(source, span - 1):
            more.append(item)
            yield item[1]

    source = all_lines()
    for line, text in source:
        if not text.strip(" \r\n"):
            continue
        trouble = ""
        if '"' in text:
            more.clear()
            try:
                cells = next(csv.reader(chain([text], following()), delimiter=delimiter, strict=True))
            except csv.Error:
                ahead.extendleft(reversed(more))
                cells, trouble = [], "a quote is not closed, or is closed within a cell"
        else:
            cells = text.rstrip("\r\n").split(delimiter)
        if not all(map(_is_utf8, cells or [text])):
            trouble = "not UTF-8 text"
        elif not trouble and len(cells) != width:
            trouble = f"{len(cells)} cells; expected {width}"
        yield Row(line, text, [cell.strip() for cell in cells], trouble)


def _is_utf8(text: str) -> bool:
    """Whether the text was read without errors, which would stand in it as lone surrogates."""
    return text.isascii() or not any("\udc80" <= character <= "\udcff" for character in text)


@contextmanager
def _damage_named(path: Path) -> Iterator[None]:
    """Turns what gzip and Parquet say about broken data into an error that names the file."""
    try:
        yield
    except (EOFError, zlib.error, pa.ArrowException) as error:
        raise ValueError(f"{path} is damaged: {error}") from error
    except OSError as error:
        if error.errno is not None:  # the system's own, such as no permission
            raise
        raise ValueError(f"{path} is damaged: {error}") from error
