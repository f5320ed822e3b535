"""Some columns of a table as texts, row by row, with the rows that cannot be read told apart."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from escgnn.datasets.raw import DatasetError
from escgnn.disk import Rejected, damage_named, rejected
from escgnn.readers import DELIMITERS, Rows, extension, find_column, open_source, read_rows


@dataclass(frozen=True)
class Sheet:
    """Some columns of a table.

    Attributes:
        path: The file.
        unit: What its lines are called.
        columns: The names by which the columns were asked for.
        records: Number of each row, from 0, bad ones counted.
        lines: Line of the text file, or row of the Parquet file, from 1.
        cells: What each row says, by column; an empty text where it says nothing.
        rejected: Rows that are none.
    """

    path: Path
    unit: str
    columns: Sequence[str]
    records: list[int] = field(default_factory=list)
    lines: list[int] = field(default_factory=list)
    cells: dict[str, list[str]] = field(default_factory=dict)
    rejected: list[Rejected] = field(default_factory=list)

    def add(self, rows: Rows) -> None:
        """Append the good ones of some rows, whose columns are those of the sheet; list the others."""
        good = [number for number in range(len(rows.lines)) if number not in rows.trouble]
        self.rejected.extend(rejected(rows.lines[i], rows.records[i], reason) for i, reason in rows.trouble.items())
        self.records.extend(rows.first + number for number in good)
        self.lines.extend(rows.lines[number] for number in good)
        for place, name in enumerate(self.columns):
            with damage_named(self.path):
                cells = rows.columns.column(place).to_pylist()
            self.cells.setdefault(name, []).extend(_text(cells[number]) for number in good)

    def quote(self, column: str, row: int) -> str:
        """A cell and where it stands, for messages."""
        return f"{self.path}: {self.unit} {self.lines[row]}: {column} is {self.cells[column][row][:30]!r}"


def read_sheet(path: Path, columns: Sequence[str], content: bytes) -> Sheet:
    """These columns of a .csv, .tsv or .parquet file with this content; a name may differ in upper and lower case.

    Raises:
        ValueError: It is no such file, a column is not there, or it is damaged.
    """
    kind = extension(path)
    if kind != ".parquet" and kind not in DELIMITERS:
        raise DatasetError(f"{path}: tables are read from {', '.join(DELIMITERS)} and .parquet")
    source = open_source(path, content)
    sheet = Sheet(path, source.unit, columns, cells={name: [] for name in columns})
    for rows in read_rows(source, None, [find_column(source, name) for name in columns]):
        sheet.add(rows)
    return sheet


def _text(cell: Any) -> str:
    return "" if cell is None else str(cell).strip()
