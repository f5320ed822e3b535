"""One large file into many: text with its header, Parquet with its schema; graphs of an edge list stay whole."""

import gzip
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from os import PathLike
from pathlib import Path
from typing import Any, Self

import pyarrow as pa
import pyarrow.parquet as pq

from escgnn.disk import atomic, damage_named, is_unused, locked
from escgnn.readers import GraphFile, extension

LONGEST_RECORD = 100  # lines of one CSV record; more means that a quote was never closed
ROWS = 1 << 20
BATCH = 1 << 16  # rows of Parquet


def split_file(source: str | PathLike[str], folder: str | PathLike[str], rows: int = ROWS) -> list[Path]:
    """Cut a file into files of so many rows or lines, ``NAME-00000.csv`` and so on; they are read as it would be.

    Args:
        source: What `escgnn.readers.GraphFile` reads. Gzipped text becomes plain.
        folder: Where to, a folder that is not there or empty.
        rows: Of each; of an edge list a few more, as graphs stay whole.

    Raises:
        ValueError: There is something in the folder, or the file is damaged or none of graphs.
    """
    if rows < 1:
        raise ValueError(f"rows: {rows}; expected 1 or more")
    file = GraphFile(source)
    target = Path(folder)
    target.mkdir(parents=True, exist_ok=True)
    name = file.path.name.split(".")[0]
    kind = extension(file.path)
    with locked(target, "splitting a file"):
        if not is_unused(target):
            raise ValueError(f"{target} is not empty; choose another folder")
        paths = (target / f"{name}-{number:05d}{kind}" for number in range(10**9))
        graph = file.source.columns.index(_graph_column(file)) if file.format == "edges" else None
        if kind == ".parquet":
            return _split_parquet(file.path, paths, rows, graph)
        return _split_text(file, paths, rows, graph)


def _graph_column(file: GraphFile) -> str:
    return next(name for name in file.source.columns if name.lower() == "graph")


class _Pieces:
    """Files one after another, each opened when it has a row."""

    def __init__(self, paths: Iterator[Path], open_file: Callable[[Path], Any]) -> None:
        self.paths = paths
        self.open_file = open_file
        self.written: list[Path] = []
        self.current: Any = None
        self._stack = ExitStack()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: Any) -> None:
        self._stack.__exit__(*error)

    def begin(self) -> Any:
        """The file in hand, or the next one."""
        if self.current is None:
            path = next(self.paths)
            self.current = self._stack.enter_context(self.open_file(self._stack.enter_context(atomic(path))))
            self.written.append(path)
        return self.current

    def end(self) -> None:
        """The file in hand is whole."""
        self._stack.close()
        self.current = None


def _split_text(file: GraphFile, paths: Iterator[Path], rows: int, graph: int | None) -> list[Path]:
    delimiter = file.source.delimiter  # type: ignore[union-attr]
    held = 0
    within = 0  # lines of a record so far that a quote keeps open
    last: bytes | None = None
    opened = gzip.open if file.path.suffix.lower() == ".gz" else open
    with (
        damage_named(file.path),
        opened(file.path, "rb") as lines,
        _Pieces(paths, lambda path: path.open("wb")) as pieces,
    ):
        header = lines.readline() if file.is_table else b""
        for line in lines:
            if not line.strip():
                continue
            name = None if graph is None or within else _cell(line, delimiter, graph)
            is_new = graph is None or name != last
            if held >= rows and not within and is_new:
                pieces.end()
                held = 0
            out = pieces.begin()
            if held == 0:
                out.write(header)
            held += not within
            out.write(line if line.endswith(b"\n") else line + b"\n")
            if file.is_table:
                within = _still_open(line, within)
            last = name
    return pieces.written


def _still_open(line: bytes, within: int) -> int:
    """How many lines a record has that this one does not end; a quote that nothing closes is forgotten."""
    is_odd = line.count(b'"') % 2 == 1
    if bool(within) == is_odd or within >= LONGEST_RECORD:
        return 0
    return within + 1


def _cell(line: bytes, delimiter: str, place: int) -> bytes:
    cells = line.split(delimiter.encode())
    return cells[place].strip().strip(b'"') if place < len(cells) else b""


def _split_parquet(path: Path, paths: Iterator[Path], rows: int, graph: int | None) -> list[Path]:
    with damage_named(path), pq.ParquetFile(path) as file:
        schema = file.schema_arrow
        held = 0
        last: Any = None  # name of the graph before a batch
        with _Pieces(paths, lambda draft: pq.ParquetWriter(draft, schema, compression="zstd")) as pieces:
            for batch in file.iter_batches(BATCH):
                names = None if graph is None else batch.column(graph).to_pylist()
                start = 0
                while start < batch.num_rows:
                    cut = min(batch.num_rows, start + max(0, rows - held))
                    while names is not None and cut < len(names) and names[cut] == (names[cut - 1] if cut else last):
                        cut += 1
                    if cut > start:
                        pieces.begin().write_table(pa.Table.from_batches([batch.slice(start, cut - start)]))
                        held += cut - start
                    if cut < batch.num_rows:  # what follows belongs to the next file
                        pieces.end()
                        held = 0
                    start = cut
                last = None if names is None else names[-1]
    return pieces.written
