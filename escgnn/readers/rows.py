"""Rows of tables and lines of text, some at a time; what they say of graphs is not looked at yet."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from escgnn.disk import damage_named
from escgnn.readers.sources import NOT_UTF8, ParquetSource, Row, TextSource, is_text, is_utf8

ROWS = 2048  # of a block
LETTERS = 1 << 16  # after which a block of text ends, however few its rows


@dataclass(frozen=True, slots=True, eq=False)
class Rows:
    """Some rows of a file, one after another.

    Attributes:
        first: Number of the first one, from 0; blank lines and headers are not counted, bad rows are.
        lines: Line of the text file, or row of the Parquet file, from 1.
        texts: What each says of its graph: the SMILES or the graph6; nothing if the row is bad.
        records: The row as it stands in a text file, for lists of bad rows; the text itself for Parquet.
        trouble: What is wrong with rows as such, by number within these.
        columns: The columns to keep, a pyarrow RecordBatch; cells of bad rows as far as they are there.
        holds: What the texts are, ``"smiles"`` or ``"graph6"``; nothing if none are wanted.
    """

    first: int
    lines: Sequence[int]
    texts: Sequence[str]
    records: Sequence[str]
    trouble: dict[int, str]
    columns: Any
    holds: str = ""


def read_rows(
    source: TextSource | ParquetSource,
    text: str | None,
    keep: Sequence[str] | None = (),
    *,
    holds: str = "",
    letters: int = LETTERS,
) -> Iterator[Rows]:
    """The rows of a file in blocks.

    Args:
        source: The file.
        text: Column that says what the graphs are, if some does; what to call the lines of a file that is no table.
        keep: Further columns that are wanted; None for all there are.
        holds: What the texts are.
        letters: Size at which a block ends, if it has not come to `ROWS` rows by then.
    """
    if isinstance(source, ParquetSource):
        return _parquet_rows(source, text, keep, holds)
    return _text_rows(source, text, keep, holds, letters)


def _text_rows(
    source: TextSource, text: str | None, keep: Sequence[str] | None, holds: str, letters: int
) -> Iterator[Rows]:
    columns = source.columns if source.delimiter else [text or ""]
    place = None if text is None else columns.index(text)
    kept = [*range(len(columns))] if keep is None else [columns.index(name) for name in keep]
    names = [columns[i] for i in kept]
    first = 0
    used = {*([] if place is None else [place]), *([] if keep is None else kept)}  # others may be in any encoding
    for rows in _blocks(source.records(), letters):
        trouble = {number: reason for number, row in enumerate(rows) if (reason := _trouble(row, used))}
        texts = [""] * len(rows)
        if place is not None:
            texts = ["" if number in trouble else row.cells[place] for number, row in enumerate(rows)]
        cells = [pa.array([_cell(row, i, i in used) for row in rows], pa.string()) for i in kept]
        yield Rows(
            first,
            [row.line for row in rows],
            texts,
            [row.text for row in rows],
            trouble,
            pa.record_batch(cells, names),
            holds,
        )
        first += len(rows)


def _blocks(rows: Iterator[Row], letters: int) -> Iterator[list[Row]]:
    held: list[Row] = []
    size = 0
    for row in rows:
        held.append(row)
        size += len(row.text)
        if len(held) == ROWS or size >= letters:
            yield held
            held = []
            size = 0
    if held:
        yield held


def _trouble(row: Row, used: set[int]) -> str:
    """What is wrong with a row, or with the text of the cells that are used."""
    if row.trouble or row.text.isascii():
        return row.trouble
    return "" if all(is_utf8(row.cells[place]) for place in used) else NOT_UTF8


def _cell(row: Row, place: int, is_used: bool) -> str:
    """A cell, empty if the row is too short; bytes that are no UTF-8 as escapes, or as Latin-1 where nobody looks at them."""
    cell = row.cells[place] if place < len(row.cells) else ""
    if cell.isascii() or is_utf8(cell):
        return cell
    content = cell.encode("utf-8", "surrogateescape")
    return content.decode("utf-8", "backslashreplace") if is_used else content.decode("latin-1")


def _parquet_rows(source: ParquetSource, text: str | None, keep: Sequence[str] | None, holds: str) -> Iterator[Rows]:
    wanted = source.columns if keep is None else [*dict.fromkeys([*([] if text is None else [text]), *keep])]
    for first, batch in source.batches(wanted):
        for start in range(0, batch.num_rows, ROWS):
            some = batch.slice(start, ROWS)
            lines = range(first + start, first + start + some.num_rows)
            used = [*([] if text is None else [text]), *(keep or ())]  # others may be in any encoding
            some, trouble = _readable(some, used)
            texts = [""] * some.num_rows
            records = texts
            if text is not None:
                with damage_named(source.path):
                    cells = some.column(some.schema.names.index(text)).to_pylist()
                records = [(cell or "").strip() for cell in cells]
                texts = ["" if number in trouble else record for number, record in enumerate(records)]
            kept = some if keep is None else some.select([*keep])
            yield Rows(lines.start - 1, lines, texts, records, trouble, kept, holds)


def _readable(batch: Any, used: Sequence[str]) -> tuple[Any, dict[int, str]]:
    """The same rows with all text as UTF-8, and what is wrong with those where a column that is used is none."""
    trouble: dict[int, str] = {}
    for place, (name, column) in enumerate(zip(batch.schema.names, batch.columns, strict=True)):
        if not is_text(column.type):
            continue
        try:
            column.validate(full=True)
        except pa.ArrowInvalid:
            wide = pa.types.is_large_string(column.type)
            cells = column.view(pa.large_binary() if wide else pa.binary()).to_pylist()
            texts = [None if cell is None else cell.decode("utf-8", "backslashreplace") for cell in cells]
            if name in used:
                bad = (row for row, cell in enumerate(cells) if cell is not None and not _is_utf8_bytes(cell))
                trouble |= dict.fromkeys(bad, NOT_UTF8)
            batch = batch.set_column(place, name, pa.array(texts, column.type))
    return batch, trouble


def _is_utf8_bytes(content: bytes) -> bool:
    try:
        content.decode()
    except UnicodeDecodeError:
        return False
    return True
