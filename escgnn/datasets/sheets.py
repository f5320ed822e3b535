"""Tables of text, row by row, with the rows that cannot be read told apart."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from escgnn.datasets.raw import DatasetError
from escgnn.disk import Rejected, rejected
from escgnn.files.sources import DELIMITERS, ParquetSource, TextSource, extension, find_column


@dataclass(frozen=True)
class Sheet:
    """Some columns of a table.

    Attributes:
        path: The file.
        unit: What its lines are called.
        records: Number of each row, from 0, bad ones counted.
        lines: Line of the text file, or row of the Parquet file, from 1.
        cells: What each row says, by column; an empty text where it says nothing.
        rejected: Rows that are none.
    """

    path: Path
    unit: str
    records: list[int]
    lines: list[int]
    cells: dict[str, list[str]]
    rejected: list[Rejected]

    def quote(self, column: str, row: int) -> str:
        """A cell and where it stands, for messages."""
        return f"{self.path}: {self.unit} {self.lines[row]}: {column} is {self.cells[column][row][:30]!r}"


def read_sheet(path: Path, columns: Sequence[str]) -> Sheet:
    """These columns of a .csv, .tsv or .parquet file; a name may differ in upper and lower case.

    Raises:
        ValueError: It is no such file, a column is not there, or it is damaged.
    """
    kind = extension(path)
    if kind != ".parquet" and kind not in DELIMITERS:
        raise DatasetError(f"{path}: tables are read from {', '.join(DELIMITERS)} and .parquet")
    source = ParquetSource(path) if kind == ".parquet" else TextSource(path, DELIMITERS[kind])
    names = {name: find_column(source, name) for name in columns}
    sheet = Sheet(path, source.unit, [], [], {name: [] for name in names}, [])
    for record, row in enumerate(source.records(*names.values())):
        if row.trouble:
            sheet.rejected.append(rejected(row.line, row.text, row.trouble))
            continue
        sheet.records.append(record)
        sheet.lines.append(row.line)
        for name, cell in zip(names, row.cells, strict=True):
            sheet.cells[name].append(cell)
    return sheet
