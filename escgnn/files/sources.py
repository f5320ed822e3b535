"""Where rows come from: text, plain or gzipped, and Parquet."""

import codecs
import csv
import difflib
import gzip
import io
import zlib
from collections import deque
from collections.abc import Iterable, Iterator
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
NOT_UTF8 = "not UTF-8 text; save the file as UTF-8"


class Row(NamedTuple):
    """One record: its line (or row) from 1, its text, its cells, and what is wrong with it, if anything."""

    line: int
    text: str
    cells: list[str]
    trouble: str = ""


def extension(path: Path) -> str:
    """The extension that says what a file holds, in lower case and without .gz."""
    return Path(path.name.lower().removesuffix(".gz")).suffix


class TextSource:
    """A text file: a record in every line or, with a delimiter, a table below a header."""

    unit = "line"

    def __init__(self, path: Path, delimiter: str = "") -> None:
        self.path = path
        self.delimiter = delimiter
        self.columns: list[str] = []
        self._file: io.BufferedReader | None = None
        with self._opened() as stream:
            first = stream.readline()
        self._file = None
        if first.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
            raise ValueError(f"{path} is UTF-16; save it as UTF-8")
        if b"\r" in first.strip() and not first.endswith(b"\n"):
            raise ValueError(f"{path} ends its lines with carriage returns only; save it with line feeds")
        if delimiter:
            header = first.decode("utf-8-sig", "backslashreplace")
            self.columns = [name for row in csv_rows([(1, header)], delimiter, 0) for name in row.cells]

    @property
    def bytes_read(self) -> int:
        """How far into the file reading has come."""
        if self._file is None:
            return 0
        return self.path.stat().st_size if self._file.closed else self._file.tell()

    def records(self, *columns: str) -> Iterator[Row]:
        """Every record with the cells of these columns, or its line if it is no table; a bad one with all its cells.

        Blank lines and headers are no records.
        """
        if not self.delimiter:
            for line, text in self._lines():
                if cell := text.strip().removeprefix(">>graph6<<").removeprefix(">>sparse6<<"):
                    yield Row(line, text, [cell], "" if _is_utf8(text) else NOT_UTF8)
            return
        places = [self.columns.index(column) for column in columns]
        for row in csv_rows(islice(self._lines(), 1, None), self.delimiter, len(self.columns), LONGEST_RECORD):
            yield row if row.trouble else row._replace(cells=[row.cells[place] for place in places])

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

    def records(self, *columns: str) -> Iterator[Row]:
        """Every row with the cells of these columns as text; a missing one is empty."""
        for first, batch in self.batches([*dict.fromkeys(columns)]):
            with _damage_named(self.path):
                rows = [*zip(*(batch.column(name).to_pylist() for name in columns), strict=True)]
            for line, row in enumerate(rows, first):
                cells = ["" if cell is None else str(cell).strip() for cell in row]
                yield Row(line, ",".join(cells), cells)

    def batches(self, columns: list[str]) -> Iterator[tuple[int, Any]]:
        """Record batches, each with the number of its first row."""
        with _damage_named(self.path), pq.ParquetFile(self.path) as file:
            self._rows_read = 0
            for batch in file.iter_batches(BATCH, columns=columns):
                first = self._rows_read + 1
                self._rows_read += batch.num_rows
                yield first, batch


def find_column(source: TextSource | ParquetSource, name: str, advice: str = "") -> str:
    """The column of this name; if none has this very one, that which differs in upper and lower case only.

    Raises:
        ValueError: There is no such column, and ``advice`` says what to do; or there is more than one.
    """
    path, columns = source.path, source.columns
    found = [column for column in columns if column == name]
    found = found or [column for column in columns if column.lower() == name.lower()]
    if len(found) == 1:
        return found[0]
    if found:
        raise ValueError(f"{path} has the column {name!r} more than once: {', '.join(found)}; rename all but one")
    if isinstance(source, TextSource) and len(columns) == 1:
        for mark in ";\t|,":
            if mark in columns[0] and mark != source.delimiter:
                raise ValueError(f"{path} is separated by {mark!r}; save it with commas as .csv, or with tabs as .tsv")
    lower = {column.lower(): column for column in columns}
    near = difflib.get_close_matches(name.lower(), lower, 1)
    hint = f"did you mean {lower[near[0]]!r}? Its" if near else "its"
    raise ValueError(f"{path} has no column {name!r}; {hint} columns are {', '.join(columns) or 'none':.300}{advice}")


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
            trouble = NOT_UTF8
        elif not trouble and len(cells) != width:
            trouble = f"has {len(cells)} cells, the header {width}"
        yield Row(line, text, [cell.strip() for cell in cells], trouble)


def _is_utf8(text: str) -> bool:
    """Whether the text was read without errors, which would stand in it as lone surrogates."""
    return text.isascii() or not any("\udc80" <= character <= "\udcff" for character in text)


@contextmanager
def _damage_named(path: Path) -> Iterator[None]:
    """Turns what gzip and Parquet say about broken data into an error that names the file."""
    try:
        yield
    except (EOFError, zlib.error, pa.ArrowException, UnicodeDecodeError) as error:
        raise ValueError(f"{path} is damaged: {error}") from error
    except OSError as error:
        if error.errno is not None:  # the system's own, such as no permission
            raise
        raise ValueError(f"{path} is damaged: {error}") from error
