"""Files of large arrays, which are mapped, not read: a page that says what there is, then the arrays as they are in memory.

The first page holds `MAGIC`, the version, and a text in JSON with its length and CRC-32: the kind of the file, its facts, its
size in bytes, and dtype, length, place and CRC-32 of each array. Opening checks all of that and runs nothing; `check_arrays`
reads the arrays, too.
"""

import json
import mmap
import os
import struct
import sys
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from os import PathLike
from typing import IO, Any, NamedTuple

import numpy as np
from numpy.typing import DTypeLike, NDArray

from escgnn.disk import atomic

MAGIC = b"\x89ESCGNN\n"  # no text, and spoilt by whoever changes line ends
VERSION = 1
PAGE = 4096  # bytes before the first array; each array begins at a multiple of `STEP`
STEP = 64
PREFIX = struct.Struct("<8sIII")  # magic, version, bytes of JSON, their CRC-32
PIECE = 1 << 24  # bytes that are checked at a time
NO_RESERVE = getattr(mmap, "MAP_NORESERVE", 0x4000 if sys.platform == "linux" else 0)


class ArrayFile(NamedTuple):
    """What is in a file: arrays that lie in it, and facts about them."""

    arrays: dict[str, NDArray[Any]]
    facts: dict[str, Any]


class ArrayWriter:
    """Appends arrays piece by piece, one array after the other; `writing` gives one."""

    def __init__(self, file: IO[bytes], kind: str) -> None:
        self.kind = kind
        self.facts: dict[str, Any] = {}
        self._file = file
        self._arrays: dict[str, dict[str, Any]] = {}
        file.seek(PAGE)

    def append(self, name: str, values: NDArray[Any]) -> None:
        """Write values behind those that the array has; the first call for a name begins it and ends the one before."""
        if name not in self._arrays:
            place = -(-self._file.tell() // STEP) * STEP
            self._file.seek(place)
            self._arrays[name] = {"dtype": values.dtype.str, "length": 0, "place": place, "crc": 0}
        array = self._arrays[name]
        content = np.ascontiguousarray(values)
        array["length"] += content.size
        array["crc"] = zlib.crc32(content.data, array["crc"])
        self._file.write(content.data)

    def checksum(self, name: str) -> int:
        """CRC-32 of what an array has so far."""
        return int(self._arrays[name]["crc"])

    def finish(self) -> None:
        """Write the first page, when all arrays are there."""
        size = self._file.tell()
        self._file.truncate(size)  # an empty array at the end may begin behind it
        page = {"kind": self.kind, "facts": self.facts, "bytes": size, "arrays": self._arrays}
        text = json.dumps(page).encode()
        if PREFIX.size + len(text) > PAGE:
            raise ValueError(f"facts: {len(text):,} bytes of JSON; expected at most {PAGE - PREFIX.size:,}")
        self._file.seek(0)
        self._file.write(PREFIX.pack(MAGIC, VERSION, len(text), zlib.crc32(text)) + text)


@contextmanager
def writing(path: str | PathLike[str], kind: str) -> Iterator[ArrayWriter]:
    """A writer whose file appears, whole, when the block ends well."""
    with atomic(path) as draft, draft.open("wb") as file:
        writer = ArrayWriter(file, kind)
        yield writer
        writer.finish()


def open_arrays(path: str | PathLike[str], kind: str, dtypes: Mapping[str, DTypeLike]) -> ArrayFile:
    """The arrays of a file, mapped into memory: a page of it is read when somebody looks at it.

    Who writes to an array writes to a copy of that page, not to the file; so kernels compiled for plain arrays take them.

    Raises:
        OSError: The file does not exist or cannot be opened.
        ValueError: It is damaged, of another kind or of a later version; or it lacks one of the arrays in ``dtypes``.
    """
    with open(path, "rb") as file:  # noqa: PTH123 - a path or a string
        page = _first_page(path, file, kind)
        _check_places(path, page["arrays"], page["bytes"], dtypes)
        content = _mapped(file)
    arrays = {
        name: np.ndarray((array["length"],), array["dtype"], buffer=content, offset=array["place"])
        for name, array in page["arrays"].items()
    }
    return ArrayFile(arrays, page["facts"])


def check_arrays(path: str | PathLike[str]) -> None:
    """Read a whole file and compare every array with its CRC-32.

    Raises:
        ValueError: One differs, or the file cannot be opened at all.
    """
    with open(path, "rb") as file:  # noqa: PTH123
        page = _first_page(path, file, None)
        _check_places(path, page["arrays"], page["bytes"], {})
        for name, array in page["arrays"].items():
            left = array["length"] * np.dtype(array["dtype"]).itemsize
            found = 0
            file.seek(array["place"])
            while left:
                piece = file.read(min(left, PIECE))
                found = zlib.crc32(piece, found)
                left -= len(piece)
            if found != array["crc"]:
                raise ValueError(f"{path} is damaged: {name} is not what was written; make the file again")


def _first_page(path: str | PathLike[str], file: IO[bytes], kind: str | None) -> dict[str, Any]:
    """What the file says of itself, if that is sound."""
    size = os.fstat(file.fileno()).st_size
    start = file.read(PAGE)
    if start[: len(MAGIC)] != MAGIC:
        raise ValueError(f"{path}: no file of arrays of escgnn; expected one that `escgnn graph` or `encode` wrote")
    if len(start) < PREFIX.size:
        raise ValueError(f"{path} is damaged: it ends within its first page")
    _, version, length, crc = PREFIX.unpack(start[: PREFIX.size])
    if version != VERSION:
        raise ValueError(f"{path}: format version {version}; expected {VERSION}: use the escgnn that wrote it")
    text = start[PREFIX.size : PREFIX.size + length]
    if len(text) != length or zlib.crc32(text) != crc:
        raise ValueError(f"{path} is damaged: its first page is not what was written")
    page: dict[str, Any] = json.loads(text)
    if kind is not None and page["kind"] != kind:
        raise ValueError(f"{path} holds a {page['kind']}; expected a {kind}")
    if page["bytes"] != size:
        raise ValueError(f"{path} is damaged: it has {size:,} bytes; expected {page['bytes']:,}")
    return page


def _check_places(
    path: str | PathLike[str], arrays: Mapping[str, Mapping[str, Any]], size: int, dtypes: Mapping[str, DTypeLike]
) -> None:
    """Refuse arrays that would reach beyond the file, and files without the arrays wanted."""
    for name, array in arrays.items():
        end = array["place"] + array["length"] * np.dtype(array["dtype"]).itemsize
        if array["length"] and not PAGE <= array["place"] <= end <= size:
            raise ValueError(f"{path} is damaged: {name} does not lie within the file")
    for name, dtype in dtypes.items():
        if name not in arrays or np.dtype(arrays[name]["dtype"]) != np.dtype(dtype):
            raise ValueError(f"{path} is damaged: it has no array {name} of {np.dtype(dtype)}")


def _mapped(file: IO[bytes]) -> mmap.mmap:
    """The file in memory, private: pages are shared with other processes until they are written to, which nobody does."""
    if sys.platform == "win32":
        return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_COPY)
    # Without a reserve: else the system would want room for a copy of all of it.
    return mmap.mmap(file.fileno(), 0, flags=mmap.MAP_PRIVATE | NO_RESERVE, prot=mmap.PROT_READ | mmap.PROT_WRITE)
