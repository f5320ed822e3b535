"""Tables of text, row by row, with the rows that cannot be read told apart."""

import gzip
import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import pyarrow.parquet as pq

from escgnn.datasets.reading import damage_named
from escgnn.files import Rejected
from escgnn.files.chunks import rejected
from escgnn.files.sources import DELIMITERS, LONGEST_RECORD, Row, csv_rows, extension, find_column


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


def read_sheet(path: Path, columns: Sequence[str]) -> Sheet:
    """These columns of a .csv, .tsv or .parquet file; a name may differ in upper and lower case.

    Raises:
        ValueError: A column is not there, or the file is damaged.
    """
    columns = list(dict.fromkeys(columns))
    sheet = Sheet([], [], {name: [] for name in columns}, [])
    with damage_named(path):
        read = _parquet if extension(path) == ".parquet" else _text
        for record, row in enumerate(read(path, columns)):
            if row.trouble:
                sheet.rejected.append(rejected(row.line, row.text, row.trouble))
                continue
            sheet.records.append(record)
            sheet.lines.append(row.line)
            for name, cell in zip(columns, row.cells, strict=True):
                sheet.cells[name].append(cell)
    return sheet


def _text(path: Path, columns: Sequence[str]) -> Iterator[Row]:
    if extension(path) not in DELIMITERS:
        raise LookupError(f"tables are read from {', '.join(DELIMITERS)} and .parquet")
    delimiter = DELIMITERS[extension(path)]
    content = path.read_bytes()
    if path.suffix.lower() == ".gz":
        content = gzip.decompress(content)
    lines = enumerate(io.TextIOWrapper(io.BytesIO(content), "utf-8-sig", "surrogateescape", newline="\n"), 1)
    header = next(csv_rows([next(lines, (1, ""))], delimiter, 0), Row(1, "", [])).cells
    places = [find_column(header, name) for name in columns]
    for row in csv_rows(lines, delimiter, len(header), LONGEST_RECORD):
        yield row if row.trouble else row._replace(cells=[row.cells[place] for place in places])


def _parquet(path: Path, columns: Sequence[str]) -> Iterator[Row]:
    with pq.ParquetFile(path) as file:
        header = file.schema_arrow.names
        names = [header[find_column(header, name)] for name in columns]
        table = file.read([*dict.fromkeys(names)])
    rows = zip(*(table.column(name).to_pylist() for name in names), strict=True)
    for line, row in enumerate(rows, 1):
        cells = ["" if cell is None else str(cell).strip() for cell in row]
        yield Row(line, ",".join(cells), cells)
