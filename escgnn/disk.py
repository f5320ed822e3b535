"""Files written whole or not at all, lists of bad rows beside them, and folders that one process at a time may work in."""

import csv
import errno
import os
import platform
import re
import secrets
import zlib
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
from filelock import FileLock, Timeout

TEXT = {".csv": ",", ".tsv": "\t"}  # tables that are text, and what stands between their cells
HEADER = ("line", "record", "reason")  # of a list of bad rows
LOCK = ".lock"
DRAFT = ".draft"  # what the names of files end in that are not whole yet
HOST = f"{zlib.crc32(platform.node().encode()):08x}"  # processes of other machines are not ours to judge
DRAFT_NAME = re.compile(rf"\..*\.{HOST}-(\d+)-(\w*)-[0-9a-f]{{8}}{re.escape(DRAFT)}")  # process, and when that began


@dataclass(frozen=True, slots=True)
class Rejected:
    """A row that could not be read.

    Attributes:
        line: Line of the text file, or row of the Parquet file, from 1.
        record: What stands there, shortened.
        reason: What is wrong with it.
    """

    line: int
    record: str
    reason: str


def rejected(line: int, record: str, reason: str) -> Rejected:
    """The row with its text made short and printable, bytes that are no UTF-8 as escapes."""
    text = record[:81].encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace").strip()
    return Rejected(line, text if len(text) <= 80 else text[:79] + "…", reason)


@contextmanager
def damage_named(
    path: str | PathLike[str],
    causes: tuple[type[Exception], ...] = (EOFError, zlib.error, pa.ArrowException, UnicodeDecodeError),
    told_as: type[ValueError] = ValueError,
) -> Iterator[None]:
    """Turns what parsers say about broken data into one error that names the file.

    Args:
        path: The file.
        causes: What parsers raise. An `OSError` without a number is such, too; others are the system's own, such as no
            permission, and stay as they are.
        told_as: Kind of the error; one that is of this kind already stays as it is, if it is a kind of its own.
    """
    try:
        yield
    except Exception as error:
        is_known = isinstance(error, (*causes, OSError))
        is_told = told_as is not ValueError and isinstance(error, told_as)
        is_systems = isinstance(error, OSError) and error.errno is not None
        if not is_known or is_told or is_systems:
            raise
        raise told_as(f"{path} is damaged: {error}") from error


@contextmanager
def atomic(path: str | PathLike[str]) -> Iterator[Path]:
    """A path to write to, which takes the place of ``path`` if the block ends well and is removed if not.

    Errors of the system name ``path`` as it was given, not the draft nor the full path.

    Raises:
        ValueError: The target is not a file, or the folder it should be in does not exist.
    """
    try:
        with _replacing(path) as draft:
            yield draft
    except OSError as error:
        target = Path(path).resolve()
        draft_name = rf"{re.escape(str(target.with_name('.' + target.name)))}\.[\w-]+{re.escape(DRAFT)}"
        full_name = re.compile(rf"{draft_name}|{re.escape(str(target))}")

        def as_given(words: Any) -> Any:
            return full_name.sub(lambda _: str(path), words) if isinstance(words, str) else words

        error.args = tuple(map(as_given, error.args))
        if error.filename is not None:
            error.filename = as_given(str(error.filename))
        raise


@contextmanager
def _replacing(path: str | PathLike[str]) -> Iterator[Path]:
    """The same, but for the names in errors.

    Raises:
        ValueError: The target is not a file, or the folder it should be in does not exist.
        OSError: The disk is full; the error names ``path``, and what was there before still is.
    """
    target = Path(path).resolve()  # a link stays one
    if target.exists() and not target.is_file():
        raise ValueError(f"{path} is {'a folder' if target.is_dir() else 'not a file'}; expected a file to write")
    if not target.parent.is_dir():
        folder = target.parent if Path(path).parent.is_dir() else Path(path).parent  # where a link leads, if it is one
        raise ValueError(f"{path}: the folder {folder} does not exist")
    sweep(target.parent)
    draft = target.with_name(
        f".{target.name}.{HOST}-{os.getpid()}-{_started(os.getpid())}-{secrets.token_hex(4)}{DRAFT}"
    )
    try:
        yield draft
        draft.replace(target)
    except OSError as error:
        if not is_full(error):
            raise
        assert error.errno is not None
        raise OSError(error.errno, os.strerror(error.errno), str(path)) from error  # writing knows no names
    finally:
        draft.unlink(missing_ok=True)


def is_full(error: BaseException) -> bool:
    """Whether an error says that a disk, or one's share of it, is full."""
    return isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT)


def sweep(folder: Path) -> None:
    """Remove the drafts in a folder whose writers live no more, such as those that a kill left behind."""
    for path in folder.glob(f".*{DRAFT}"):
        ours = DRAFT_NAME.fullmatch(path.name)
        if ours is None or not path.is_file() or path.is_symlink():
            continue
        if _started(int(ours[1])) != ours[2]:
            with suppress(OSError):  # another process sweeps, too, or may do what we may not
                path.unlink()


def _started(process: int) -> str:
    """When a process began, in the system's own ticks; empty if there is none. Numbers of processes are used again."""
    if not Path("/proc/self/stat").exists():
        return "alive" if _is_alive(process) else ""
    try:
        status = Path(f"/proc/{process}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
    words = status.rpartition(")")[2].split()  # the process's own name, in brackets, may hold anything
    return (
        "" if words[0] in "ZX" else words[19]
    )  # one that is dead may stay on the list until somebody asks how it ended


def _is_alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True


def check_output(source: str | PathLike[str], output: str | PathLike[str]) -> None:
    """Complain if results, or the list of bad rows beside them, would replace the file that is read.

    Raises:
        ValueError: They would.
    """
    rejects = RejectLog(output).path
    for what, path in (("it", Path(output)), (f"{rejects}, the list of its bad rows,", rejects)):
        if path.exists() and path.samefile(source):
            raise ValueError(f"{output}: {what} would replace the input {source}; choose another output")


def _encodings(schema: Any) -> dict[str, Any]:
    """How Parquet is to write columns: numbers of graphs and nodes, which hardly change from row to row, as differences.

    To look every number up in a dictionary, and to note the least and the most of lists, would cost a fourth of all writing.
    """
    nested = [column for column in schema if pa.types.is_nested(column.type)]
    if not all(pa.types.is_list(column.type) and pa.types.is_primitive(column.type.value_type) for column in nested):
        return {}
    whole = [column.name for column in schema if pa.types.is_integer(column.type)]
    flat = [column.name for column in schema if column not in nested]
    lists = [f"{column.name}.list.element" for column in nested]
    return {
        "column_encoding": dict.fromkeys(whole, "DELTA_BINARY_PACKED"),
        "use_dictionary": [*(name for name in flat if name not in whole), *lists] or False,
        "write_statistics": flat,
    }


class TableWriter:
    """Writes batches of rows to a .parquet, .csv or .tsv file, which appears when the block ends well.

    ```python
    with TableWriter("out.parquet", schema, {"encoding": repr(encoding)}) as table:
        table.write(batch)
    ```

    Args:
        path: The file; its extension says which.
        schema: Columns and their types.
        metadata: Texts to keep in the file's schema; CSV has no place for them.

    Raises:
        ValueError: Another extension, or list columns in a CSV.
    """

    def __init__(self, path: str | PathLike[str], schema: Any, metadata: Mapping[str, str] | None = None) -> None:
        self.path = Path(path)
        self.schema = schema.with_metadata(dict(metadata)) if metadata else schema
        self._extension = self.path.suffix.lower()
        self._stack = ExitStack()
        self._writer: Any = None
        if self._extension != ".parquet" and self._extension not in TEXT:
            raise ValueError(f"{self.path}: tables are written to .parquet, .csv or .tsv")
        nested = [column.name for column in schema if pa.types.is_nested(column.type)]
        if nested and self._extension in TEXT:
            raise ValueError(
                f"{self.path}: {self._extension[1:].upper()} cannot hold the lists in column {', '.join(nested)}; write .parquet"
            )

    def __enter__(self) -> Self:
        with ExitStack() as stack:
            draft = stack.enter_context(atomic(self.path))
            if self._extension == ".parquet":
                writer = pq.ParquetWriter(draft, self.schema, compression="zstd", **_encodings(self.schema))
            else:
                options = pyarrow.csv.WriteOptions(delimiter=TEXT[self._extension])
                writer = pyarrow.csv.CSVWriter(draft, self.schema, write_options=options)
            self._writer = stack.enter_context(writer)
            self._stack = stack.pop_all()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stack.__exit__(kind, error, trace)

    def write(self, rows: Any) -> None:
        """Appends a pyarrow RecordBatch or Table."""
        self._writer.write(rows)


class RejectLog:
    """Lists bad rows in a CSV beside the results: ``out.rejected.csv`` beside ``out.parquet``.

    Give it to `escgnn.readers.GraphFile` as ``on_reject``. The file appears when the block ends well; without bad rows there
    is none, and one that an earlier run left is removed. A file of another kind is neither removed nor replaced.

    Args:
        path: The file with the results.

    Raises:
        ValueError: There is a bad row, but a file of another kind where it should be listed.
    """

    def __init__(self, path: str | PathLike[str]) -> None:
        self.path = Path(path).with_suffix(".rejected.csv")
        self._stack = ExitStack()
        self._writer: Any = None

    def __enter__(self) -> Self:
        return self

    @property
    def is_empty(self) -> bool:
        """Whether there was no bad row."""
        return self._writer is None

    def __call__(self, row: Rejected) -> None:
        """Adds a row."""
        if self._writer is None:
            if self.path.exists() and not self._is_stale():
                raise ValueError(f"{self.path} is not a list of bad rows, which would replace it; rename it")
            draft = self._stack.enter_context(atomic(self.path))
            file = self._stack.enter_context(draft.open("w", encoding="utf-8", newline=""))
            self._writer = csv.writer(file)
            self._writer.writerow(HEADER)
        self._writer.writerow([row.line, row.record, row.reason])

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stack.__exit__(kind, error, trace)
        if kind is None and self.is_empty and self._is_stale():
            self.path.unlink()

    def _is_stale(self) -> bool:
        """Whether there is a list that an earlier run left."""
        if not self.path.is_file():
            return False
        with self.path.open("rb") as file:
            return file.readline().strip() == ",".join(HEADER).encode()


class TakenError(ValueError):
    """Another process has what this one wants for itself."""


@contextmanager
def locked(folder: Path, doing: str, *, lock: str = LOCK) -> Iterator[None]:
    """Keep a folder, which must exist, for this process until the block ends, or the process is killed.

    Args:
        folder: The folder.
        doing: What for, in the message to others.
        lock: Name of the file that says so; of several in one folder each stands for some of what is there.

    Raises:
        TakenError: Another process has it.
    """
    own = FileLock(folder / lock, timeout=0)
    try:
        own.acquire()
    except Timeout:
        raise TakenError(f"{folder}: another process is {doing} there") from None
    try:
        yield
    finally:
        own.release()


def is_unused(folder: Path) -> bool:
    """Whether there is nothing in a folder but its lock."""
    return not {path.name for path in folder.iterdir()} - {LOCK}
