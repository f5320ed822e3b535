"""Where rows come from: text, plain or gzipped, and Parquet."""

import codecs
import csv
import difflib
import gzip
import io
from collections import deque
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import chain, islice
from pathlib import Path
from typing import IO, Any, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq

from escgnn.disk import damage_named

DELIMITERS = {".csv": ",", ".tsv": "\t"}
MARKS = "\t;,"  # that tables may have instead, the first that is there
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
    """A text file: a record in every line or, with a delimiter, a table below a header.

    Args:
        path: The file; gzipped if its name ends in .gz.
        delimiter: What stands between the cells of a table, unless its header has others only; nothing if every line is a
            record.
        content: The bytes of the file, if somebody has read them already; it is not opened then.

    Attributes:
        columns: Names in the header of a table.
    """

    unit = "line"

    def __init__(self, path: Path, delimiter: str = "", content: bytes | None = None) -> None:
        self.path = path
        self.delimiter = delimiter
        self.columns: list[str] = []
        self._content = content
        self._file: IO[bytes] | None = None
        with self._opened() as stream:
            first = stream.readline()
        self._file = None
        if first.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
            raise ValueError(f"{path} is UTF-16; save it as UTF-8")
        if b"\r" in first.strip() and not first.endswith(b"\n"):
            raise ValueError(f"{path} ends its lines with carriage returns only; save it with line feeds")
        if delimiter:
            header = first.decode("utf-8-sig", "backslashreplace")
            self.delimiter = delimiter = _delimiter(header, delimiter)
            self.columns = [name for row in csv_rows([(1, header)], delimiter, 0) for name in row.cells]

    @property
    def size(self) -> int:
        """Bytes of the file."""
        return self.path.stat().st_size if self._content is None else len(self._content)

    @property
    def bytes_read(self) -> int:
        """How far into the file reading has come."""
        if self._file is None:
            return 0
        return self.size if self._file.closed else self._file.tell()

    def records(self) -> Iterator[Row]:
        """Every record with all its cells, or its line if it is no table; blank lines and headers are no records."""
        if self.delimiter:
            yield from csv_rows(islice(self._lines(), 1, None), self.delimiter, len(self.columns), LONGEST_RECORD)
            return
        for line, text in self._lines():
            if cell := text.strip().removeprefix(">>graph6<<").removeprefix(">>sparse6<<"):
                yield Row(line, text, [cell], "" if is_utf8(text) else NOT_UTF8)

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
    def _opened(self) -> Iterator[Any]:
        with damage_named(self.path), self._raw() as self._file:
            if self.path.suffix.lower() == ".gz":
                with gzip.open(self._file) as stream:
                    yield stream
            else:
                yield self._file

    def _raw(self) -> IO[bytes]:
        return self.path.open("rb") if self._content is None else io.BytesIO(self._content)


class ParquetSource:
    """A Parquet file, read in batches of rows; memory holds a row group of the columns wanted.

    Args:
        path: The file.
        content: Its bytes, if somebody has read them already; it is not opened then.
        groups: The row groups to read, from the first to that before the second; all if None. Rows keep their numbers.
    """

    unit = "row"

    def __init__(self, path: Path, content: bytes | None = None, groups: tuple[int, int] | None = None) -> None:
        self.path = path
        self._content = content
        with damage_named(path), self._opened() as file:
            self.schema = pa.schema([field.with_type(_plain_type(field.type)) for field in file.schema_arrow])
            first, last = groups or (0, file.metadata.num_row_groups)
            sizes: list[int] = [file.metadata.row_group(group).num_rows for group in range(last)]
        self._groups = [*range(first, last)]
        self._rows_before = sum(sizes[:first])
        self._num_rows = sum(sizes[first:])
        self.columns: list[str] = self.schema.names
        self._rows_read = 0

    @property
    def size(self) -> int:
        """Bytes of the file."""
        return self.path.stat().st_size if self._content is None else len(self._content)

    @property
    def bytes_read(self) -> int:
        """The share of the file that the rows read so far make up."""
        return self.size * self._rows_read // max(1, self._num_rows)

    def check_type(self, column: str, *, integers: bool = False, text: bool = False) -> None:
        """Complain about a column that holds something else."""
        kind = self.schema.field(column).type
        kind = kind.value_type if pa.types.is_dictionary(kind) else kind
        if not ((integers and pa.types.is_integer(kind)) or (text and is_text(kind))):
            expected = [name for name, wanted in (("integers", integers), ("text", text)) if wanted]
            raise ValueError(f"{self.path}: column {column} holds {kind}; expected {' or '.join(expected)}")

    def batches(self, columns: list[str]) -> Iterator[tuple[int, Any]]:
        """Record batches, each with the number of its first row."""
        with damage_named(self.path), self._opened() as file:
            self._rows_read = 0
            for batch in file.iter_batches(BATCH, row_groups=self._groups, columns=columns):
                first = self._rows_before + self._rows_read + 1
                self._rows_read += batch.num_rows
                yield first, _with_plain_types(batch)

    def _opened(self) -> Any:
        source = self.path if self._content is None else pa.BufferReader(self._content)
        return pq.ParquetFile(source, pre_buffer=False)  # or all row groups would be read ahead, and kept


def is_text(kind: Any) -> bool:
    """Whether a pyarrow type is text."""
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


def _plain_type(kind: Any) -> Any:
    """The same type, of views that of what they look at: few functions take views."""
    if pa.types.is_string_view(kind):
        return pa.large_string()
    return pa.large_binary() if pa.types.is_binary_view(kind) else kind


def _with_plain_types(batch: Any) -> Any:
    kinds = [_plain_type(kind) for kind in batch.schema.types]
    if kinds == batch.schema.types:
        return batch
    columns = [
        column
        if column.type == kind
        else pa.array(column.cast(pa.binary_view()).to_pylist(), pa.large_binary()).view(kind)
        for column, kind in zip(batch.columns, kinds, strict=True)
    ]
    return pa.record_batch(columns, batch.schema.names)


def open_source(
    path: Path, content: bytes | None = None, groups: tuple[int, int] | None = None
) -> TextSource | ParquetSource:
    """The rows of a file, by its extension; of Parquet those of some row groups."""
    kind = extension(path)
    if kind == ".parquet":
        return ParquetSource(path, content, groups)
    return TextSource(path, DELIMITERS.get(kind, ""), content)


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
    if isinstance(source, TextSource) and len(columns) == 1 and "|" in columns[0]:
        raise ValueError(f"{path} is separated by '|'; save it with commas as .csv, or with tabs as .tsv")
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
            except csv.Error as error:
                ahead.extendleft(reversed(more))
                cells = []
                trouble = "a quote is not closed, or is closed within a cell"
                if "field limit" in str(error):
                    trouble = f"a cell in quotes has more than {csv.field_size_limit():,} letters"
        else:
            cells = text.rstrip("\r\n").split(delimiter)
        if not trouble and len(cells) != width:
            trouble = f"has {len(cells)} cells, the header {width}"
        yield Row(line, text, [cell.strip() for cell in cells], trouble)


def _delimiter(header: str, usual: str) -> str:
    """What stands between the cells: the usual mark, or another if the header has only that."""
    others = [mark for mark in MARKS if mark in header]
    return others[0] if others and usual not in header else usual


def is_utf8(text: str) -> bool:
    """Whether the text was read without errors, which would stand in it as lone surrogates."""
    return text.isascii() or not any("\udc80" <= character <= "\udcff" for character in text)
