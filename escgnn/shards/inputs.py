"""What is to be read: files, folders and patterns of names, cut into shards."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from pyarrow import fs

from escgnn.readers import FORMATS, extension
from escgnn.shards.places import is_address, opened

ROWS = 1 << 20  # of a shard, where a Parquet file has more
EDGE_LIST = {"graph", "source", "target"}
WILD = re.compile(r"\*\*/|\*|\?|\[[^\]]+\]")  # what stands for other letters in a pattern


@dataclass(frozen=True, slots=True)
class Shard:
    """A file, or row groups of one, that makes one file of results.

    Attributes:
        number: From 0, in the order of the sources.
        source: Path or address of the file.
        size: Its bytes.
        modified: When it was changed last, in nanoseconds.
        groups: The row groups, from the first to that before the second; None for the whole file.
        share: How much of the file that is.
    """

    number: int
    source: str
    size: int
    modified: int
    groups: tuple[int, int] | None = None
    share: float = 1.0

    @property
    def name(self) -> str:
        """What its files are called."""
        return f"part-{self.number:05d}"

    @property
    def bytes(self) -> int:
        """What there is to read."""
        return int(self.size * self.share)

    def check(self) -> None:
        """Complain if the file is not what it was.

        Raises:
            ValueError: It was changed or removed.
        """
        system, path, _ = opened(self.source)
        info = system.get_file_info(path)
        if not info.is_file:
            raise ValueError(f"{self.source} is gone")
        if (info.size, info.mtime_ns) != (self.size, self.modified):
            raise ValueError(f"{self.source} was changed while it was worked on; begin anew with another folder")


def find_shards(inputs: Sequence[str], rows: int = ROWS) -> list[Shard]:
    """The shards of files, folders (the files in them that can be read) and patterns such as ``in/*.csv``, in order of names.

    Args:
        inputs: Paths or addresses.
        rows: Where a Parquet file of this machine has more rows, shards are row groups of it that come to as many.

    Raises:
        ValueError: There are no such files.
    """
    files: dict[str, Any] = {}
    for text in inputs:
        found = dict(_files(text))
        if not found:
            raise ValueError(f"input: {text!r}; there is no such file, or none that can be read")
        files |= found
    shards: list[Shard] = []
    for source, info in sorted(files.items()):
        for groups, share in _pieces(source, rows):
            shards.append(Shard(len(shards), source, info.size, info.mtime_ns or 0, groups, share))
    return shards


def _files(text: str) -> Iterator[tuple[str, Any]]:
    """Files by name."""
    system, path, prefix = opened(text)
    info = system.get_file_info(path) if not WILD.search(path) or not is_address(text) else None
    if info is not None and info.is_file:
        yield f"{prefix}{path}", info
    elif info is not None and info.type == fs.FileType.Directory:
        for one in system.get_file_info(fs.FileSelector(path)):
            if one.is_file and _is_readable(one.base_name):
                yield f"{prefix}{one.path}", one
    elif WILD.search(path):
        wanted = re.compile(_as_expression(path))
        before = path[: WILD.search(path).start()]  # type: ignore[union-attr]
        base = before.rpartition("/")[0] or "/"
        below = path[len(base) :].strip("/")
        for one in system.get_file_info(fs.FileSelector(base, allow_not_found=True, recursive="/" in below)):
            if one.is_file and wanted.fullmatch(one.path):
                yield f"{prefix}{one.path}", one


def _is_readable(name: str) -> bool:
    """Whether a file in a folder is one of graphs, and none of those that commands write beside results."""
    return extension(Path(name)) in FORMATS and not name.startswith((".", "_")) and not name.endswith(".rejected.csv")


def _as_expression(pattern: str) -> str:
    """The regular expression of a pattern, whose stars do not pass slashes, but for two before one."""
    meanings = {"**/": "(?:.*/)?", "*": "[^/]*", "?": "[^/]"}
    words = []
    end = 0
    for wild in WILD.finditer(pattern):
        words += [re.escape(pattern[end : wild.start()]), meanings.get(wild[0], wild[0])]
        end = wild.end()
    return "".join([*words, re.escape(pattern[end:])])


def _pieces(source: str, rows: int) -> Iterator[tuple[tuple[int, int] | None, float]]:
    """Row groups of a large Parquet file, each with its share of all rows; None for a whole file."""
    if is_address(source) or extension(Path(source)) != ".parquet":
        yield None, 1.0
        return
    try:
        about = pq.read_metadata(source)
    except (pa.ArrowException, OSError):
        yield None, 1.0  # it fails alone, when somebody works on it
        return
    is_edge_list = {*(name.lower() for name in about.schema.names)} >= EDGE_LIST
    if about.num_rows <= rows or about.num_row_groups == 1 or is_edge_list:
        yield None, 1.0
        return
    first = 0
    held = 0
    for group in range(about.num_row_groups):
        held += about.row_group(group).num_rows
        if held >= rows or group == about.num_row_groups - 1:
            yield (first, group + 1), held / about.num_rows
            first = group + 1
            held = 0
