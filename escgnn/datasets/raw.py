"""Raw files: where they are, where they are downloaded from, and whether they are what they should be."""

import hashlib
import logging
import os
import re
import shutil
import urllib.request
import zipfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from http.client import HTTPException
from pathlib import Path
from tempfile import TemporaryDirectory

from filelock import FileLock
from platformdirs import user_cache_path

from escgnn.datasets.entry import Entry, RawFile
from escgnn.disk import atomic

LOG = logging.getLogger(__name__)
SUMS = "SHA256SUMS"  # of files that were accepted in a data folder, as sha256sum writes them
TIMEOUT = 60  # seconds without an answer


class DatasetError(ValueError):
    """A raw file is missing, damaged or not what it should be; the text says which, and what to do."""


@dataclass(frozen=True)
class Raw:
    """The raw files of a dataset, found and checked.

    Attributes:
        entry: The dataset.
        paths: Where each file is, by its own name; optional ones may lack.
        sha256: One hash of all of them.
    """

    entry: Entry
    paths: Mapping[str, Path]
    sha256: str


def cache_folder() -> Path:
    """The folder for downloads and parsed data: ``ESCGNN_CACHE``, else the user's cache folder."""
    return Path(os.environ.get("ESCGNN_CACHE") or user_cache_path("escgnn"))


def data_folders(root: str | os.PathLike[str] | None = None) -> list[Path]:
    """Where raw files are looked for, in this order: ``root``, ``ESCGNN_DATA``, the cache folder's ``data``."""
    named = [Path(folder) for folder in (root, os.environ.get("ESCGNN_DATA")) if folder]
    return [*named, cache_folder() / "data"]


def find(entry: Entry, root: str | os.PathLike[str] | None = None) -> Path | None:
    """The first data folder that holds every file that the dataset needs, and some file if all are optional."""
    for folder in data_folders(root):
        present = [file for file in entry.files if (folder / file.path).is_file()]
        if present and set(entry.needed) <= set(present):
            return folder
    return None


def obtain(entry: Entry, root: str | os.PathLike[str] | None = None) -> Raw:
    """The raw files of a dataset, downloaded if no data folder holds them.

    Raises:
        DatasetError: A file is missing and cannot be downloaded, or does not match its checksum.
    """
    folder = find(entry, root)
    if folder is None and entry.needed:
        folder = Path(root) if root else cache_folder() / "data"
        _download(entry, folder, data_folders(root))
    paths = {file: folder / file.path for file in entry.files if folder and (folder / file.path).is_file()}
    digests = {file: digest(path) for file, path in paths.items()}
    if folder:
        _check(folder, digests)
    whole = hashlib.sha256("".join(f"{value}  {file.path}\n" for file, value in digests.items()).encode())
    return Raw(entry, {file.name: path for file, path in paths.items()}, whole.hexdigest())


def digest(path: Path) -> str:
    """The sha256 of a file."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def is_accepted(file: RawFile, value: str, folder: Path) -> bool:
    """Whether a file with this hash may be used.

    Where several good copies circulate, as of OGB's files, the entry knows one. Another is accepted by a line in
    the folder's ``SHA256SUMS``, which a download writes and so may a user. A file that neither names is taken as it is.
    """
    known = _known(file, folder)
    return not known or value in known


def _known(file: RawFile, folder: Path) -> list[str]:
    """The hashes that a file may have: the entry's, and the one that the folder accepts."""
    hashes = (file.sha256, _accepted(folder).get(file.path))
    return [sha256 for sha256 in dict.fromkeys(hashes) if sha256]


def _check(folder: Path, digests: Mapping[RawFile, str]) -> None:
    for file, value in digests.items():
        if not is_accepted(file, value, folder):
            expected = " or ".join(_known(file, folder))
            raise DatasetError(
                f"{folder / file.path} is damaged, or another version: its sha256 is {value}, expected {expected}. "
                f"Put a good copy there, or remove it to have it downloaded; or, if you trust it, accept it: "
                f"(cd '{folder}' && sha256sum {file.path} >> {SUMS})"
            )


def accept(folder: Path, files: Iterable[str]) -> None:
    """Note the checksums of files that are good as they are."""
    sums = _accepted(folder) | {path: digest(folder / path) for path in files}
    with atomic(folder / SUMS) as draft:
        draft.write_text("".join(f"{value}  {path}\n" for path, value in sums.items()))


def _accepted(folder: Path) -> dict[str, str]:
    if not (folder / SUMS).is_file():
        return {}
    rows = re.findall(r"^([0-9a-f]{64}) [ *](?:\./)?(.+)$", (folder / SUMS).read_text(), re.MULTILINE)
    return {path: value for value, path in rows}


def _download(entry: Entry, folder: Path, looked: list[Path]) -> None:
    needed = entry.needed
    absent_by_place = [[file.path for file in needed if not (place / file.path).is_file()] for place in looked]
    absent = min(absent_by_place, key=len)  # of the folder that lacks least
    places = " or ".join(map(str, looked))
    missing = f"{entry.name}: {', '.join(absent)} not found; put what is missing, under this path, below {places}"
    if not all(file.url for file in needed):
        raise DatasetError(f"{missing}. There is no download: {entry.advice}")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with FileLock(folder / ".download.lock"):
            for url in dict.fromkeys(file.url for file in needed):
                group = [file for file in needed if file.url == url]
                if not all((folder / file.path).is_file() for file in group):  # else another process was faster
                    _fetch(url, [file for file in entry.files if file.url == url], folder)
    except (OSError, HTTPException, zipfile.BadZipFile, KeyError) as error:
        homes = ", ".join(dict.fromkeys(file.url for file in needed))
        raise DatasetError(f"{missing}. Downloading from {homes} failed: {error}") from error


def _fetch(url: str, files: list[RawFile], folder: Path) -> None:
    """Download a file, or an archive of several, of which optional ones may lack; they appear whole or not at all."""
    with TemporaryDirectory(prefix=".download-", dir=folder) as scratch:
        arrived = Path(scratch) / "arrived"
        _retrieve(url, arrived)
        if not files[0].member:
            known = files[0].sha256
            found = digest(arrived)
            if known and found != known:
                raise DatasetError(f"{url} is refused: its sha256 is {found}, expected {known}")
            _place(arrived, folder / files[0].path)
            return
        with zipfile.ZipFile(arrived) as archive:
            held = {*archive.namelist()}
            files = [file for file in files if file.member in held or not file.optional]
            for file in files:
                with archive.open(file.member) as source, (Path(scratch) / file.name).open("wb") as sink:
                    shutil.copyfileobj(source, sink)
        for file in files:
            _place(Path(scratch) / file.name, folder / file.path)
        accept(folder, [file.path for file in files])


def _retrieve(url: str, target: Path) -> None:
    LOG.info("downloading %s", url)
    request = urllib.request.Request(url, headers={"User-Agent": "escgnn"})  # some homes refuse the default one
    with urllib.request.urlopen(request, timeout=TIMEOUT) as source, target.open("wb") as sink:
        shutil.copyfileobj(source, sink)
        length = source.headers.get("Content-Length")
        if length and sink.tell() != int(length):
            raise OSError(f"the connection ended after {sink.tell()} of {length} bytes")


def _place(draft: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    draft.replace(target)
