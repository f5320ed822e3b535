"""Tables of text, row by row, with the rows that cannot be read told apart."""

import gzip
import io
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import pyarrow.parquet as pq

from escgnn.datasets.reading import damage_named
from escgnn.files import Rejected
from escgnn.files.chunks import rejected
from escgnn.files.sources import LONGEST_RECORD, Row, csv_rows

DELIMITERS = {".csv": ",", ".tsv": "\t"}


@dataclass(frozen=True)
class Sheet:
    """Some columns of a table.

    Attributes:
        records: Number of each row, from 0, bad ones counted.
        lines: Line of the text file, or row of the Parquet file, from 1.
        cells: What each row says, by column; an empty text where it says nothing.
        rejected: Rows that are none.
    """

    records: list[int]
    lines: list[int]
    cells: dict[str, list[str]]
    rejected: list[Rejected]


def extension(path: Path) -> str:
    """The extension that says what a file holds, without .gz."""
    return Path(path.name.lower().removesuffix(".gz")).suffix


def read_sheet(path: Path, columns: Sequence[str]) -> Sheet:
    """These columns of a .csv, .tsv or .parquet file; a name may differ in upper and lower case.

    Raises:
        ValueError: A column is not there, or the file is damaged.
    """
    columns = list(dict.fromkeys(columns))
    sheet = Sheet([], [], {name: [] for name in columns}, [])
    with damage_named(path):
        header, rows = _parquet(path) if extension(path) == ".parquet" else _text(path)
        places = [_find(name, header, path) for name in columns]
        for record, row in enumerate(rows):
            if row.trouble:
                sheet.rejected.append(rejected(row.line, row.text, row.trouble))
                continue
            sheet.records.append(record)
            sheet.lines.append(row.line)
            for name, place in zip(columns, places, strict=True):
                sheet.cells[name].append(row.cells[place])
    return sheet


def _find(name: str, header: Sequence[str], path: Path) -> int:
    matches = [i for i, column in enumerate(header) if column == name]
    matches = matches or [i for i, column in enumerate(header) if column.lower() == name.lower()]
    if len(matches) != 1:
        raise LookupError(f"column {name!r} is not there once; the columns are {', '.join(header):.300}")
    return matches[0]


def _text(path: Path) -> tuple[list[str], Iterator[Row]]:
    if extension(path) not in DELIMITERS:
        raise LookupError(f"tables are read from {', '.join(DELIMITERS)} and .parquet")
    delimiter = DELIMITERS[extension(path)]
    content = path.read_bytes()
    if path.suffix.lower() == ".gz":
        content = gzip.decompress(content)
    lines = enumerate(io.TextIOWrapper(io.BytesIO(content), "utf-8-sig", "surrogateescape", newline="\n"), 1)
    header = next(csv_rows([next(lines, (1, ""))], delimiter, 0), Row(1, "", [])).cells
    return header, csv_rows(lines, delimiter, len(header), LONGEST_RECORD)


def _parquet(path: Path) -> tuple[list[str], Iterable[Row]]:
    table = pq.read_table(path)
    rows = zip(*(column.to_pylist() for column in table.columns), strict=True)
    cells = (["" if cell is None else str(cell).strip() for cell in row] for row in rows)
    return table.column_names, (Row(line, ",".join(row), row) for line, row in enumerate(cells, 1))
