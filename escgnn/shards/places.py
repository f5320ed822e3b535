"""Where files are: in folders of this machine, or at addresses such as ``s3://bucket/folder`` that `pyarrow.fs` knows."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from urllib.parse import urlsplit

import pyarrow as pa
from pyarrow import fs

from escgnn.disk import DRAFT, LOCK, atomic, sweep

MANIFEST = "_manifest.json"


def is_address(text: str) -> bool:
    """Whether a text is an address, and no path."""
    return "://" in text


def opened(address: str) -> tuple[Any, str, str]:
    """The file system of an address or path, the path within it, and what stands before paths of it in addresses.

    Raises:
        ValueError: There is no such file system.
    """
    if not is_address(address):
        return fs.LocalFileSystem(), str(Path(address).absolute()), ""
    bare, star, wild = address.partition("*")  # of which an address may hold none
    try:
        system, path = fs.FileSystem.from_uri(bare)
    except (ValueError, OSError, pa.ArrowException) as error:
        raise ValueError(f"{address}: {error}") from None
    slash = "/" if star and bare.endswith("/") and not path.endswith("/") else ""
    return system, f"{path}{slash}{star}{wild}", f"{urlsplit(bare).scheme}://"


@contextmanager
def local_copy(source: str) -> Iterator[Path]:
    """A file of this machine with the content of a source: itself, or a copy for the time being."""
    if not is_address(source):
        yield Path(source)
        return
    system, path, _ = opened(source)
    with TemporaryDirectory() as folder:
        held = Path(folder, Path(path).name)
        with system.open_input_stream(path, compression=None) as stream, held.open("wb") as file:
            shutil.copyfileobj(stream, file, 1 << 20)
        yield held


class ResultFolder:
    """A folder for results, here or at an address; every file in it is whole.

    Args:
        name: The folder; it is made when something is written.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self.is_local = not is_address(name)
        self._system: Any = None
        self._base = ""

    def __getstate__(self) -> dict[str, Any]:
        return {"name": self.name, "is_local": self.is_local, "_system": None, "_base": ""}  # as other processes get it

    @property
    def path(self) -> Path:
        """The folder, if it is one of this machine."""
        return Path(self.name)

    def make(self) -> None:
        """See to it that it is there.

        Raises:
            ValueError: It holds files of another kind.
        """
        system, base = self._place()
        system.create_dir(base, recursive=True)
        names = self.names()
        if MANIFEST not in names and any(not name.startswith(LOCK) for name in names):
            raise ValueError(f"{self.name} is not empty and holds no {MANIFEST}; choose another folder")

    def names(self) -> set[str]:
        """Names of the files in it, without those that are not whole yet."""
        system, base = self._place()
        found = system.get_file_info(fs.FileSelector(base, allow_not_found=True))
        return {info.base_name for info in found if info.is_file and not info.base_name.endswith(DRAFT)}

    def read(self, name: str) -> str:
        """The text of a file.

        Raises:
            FileNotFoundError: There is none of this name.
        """
        system, base = self._place()
        with system.open_input_stream(f"{base}/{name}", compression=None) as stream:
            return str(stream.read().decode())

    def write(self, name: str, text: str) -> None:
        """Write a text file."""
        with self.new_files(name) as path, atomic(path) as draft:
            draft.write_text(text, encoding="utf-8")

    def remove(self, name: str) -> None:
        """Remove a file, if it is there."""
        system, base = self._place()
        try:
            system.delete_file(f"{base}/{name}")
        except FileNotFoundError:
            return

    @contextmanager
    def new_files(self, name: str) -> Iterator[Path]:
        """A path to write a file to, whole; it, and what is written beside it, is in the folder when the block ends well."""
        if self.is_local:
            yield self.path / name
            return
        system, base = self._place()
        with TemporaryDirectory() as folder:
            yield Path(folder, name)
            for path in sorted(Path(folder).iterdir(), key=lambda path: path.name == name):  # the named one last
                draft = f"{base}/.{path.name}{DRAFT}"
                with path.open("rb") as file, system.open_output_stream(draft, compression=None) as stream:
                    shutil.copyfileobj(file, stream, 1 << 20)
                system.move(draft, f"{base}/{path.name}")

    def sweep(self) -> None:
        """Remove what processes that were killed have left."""
        if self.is_local and self.path.is_dir():
            sweep(self.path)

    def _place(self) -> tuple[Any, str]:
        if self._system is None:
            self._system, base, _ = opened(self.name)
            self._base = base.rstrip("/")
        return self._system, self._base
