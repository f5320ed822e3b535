"""Which datasets there are, whether they are here, and whether they are what they should be."""

from dataclasses import dataclass
from os import PathLike
from pathlib import Path

from escgnn.datasets.bundle import Statistics
from escgnn.datasets.entry import Size
from escgnn.datasets.loading import DATASETS, entry_of, load
from escgnn.datasets.raw import digest, find, is_accepted
from escgnn.task import Task

TOLERANCE = 0.06  # of averages, some of which are published with one decimal


@dataclass(frozen=True)
class Listing:
    """One dataset in a list: its published size, and whether it can be had without a network."""

    name: str
    size: Size
    task: Task
    source: str
    present: bool


@dataclass(frozen=True)
class FileCheck:
    """One raw file: its hash, None if it is not there, the known one, and whether it may be used."""

    path: str
    sha256: str | None
    known: str | None
    good: bool


@dataclass(frozen=True)
class Verification:
    """What a look at a dataset found; without statistics if its files are missing or refused."""

    name: str
    folder: Path | None
    files: tuple[FileCheck, ...]
    published: Size
    statistics: Statistics | None

    @property
    def good(self) -> bool:
        """Whether the dataset loads and has the published size, averages to the decimals given."""
        found = self.statistics
        known = self.published
        return (
            found is not None
            and found.graphs == known.graphs
            and abs(found.nodes - known.nodes) < TOLERANCE
            and abs(found.edges - known.edges) < TOLERANCE
        )


def listing(root: str | PathLike[str] | None = None) -> list[Listing]:
    """Every dataset, without reading any."""
    return [
        Listing(entry.name, entry.size, entry.task, entry.source, is_present(entry.name, root))
        for entry in DATASETS.values()
    ]


def is_present(name: str, root: str | PathLike[str] | None = None) -> bool:
    """Whether a dataset can be had without a network: its files are here, or it is generated."""
    entry = entry_of(name)
    return not entry.needed or find(entry, root) is not None


def verify(name: str, root: str | PathLike[str] | None = None) -> Verification:
    """The checksums of a dataset's files, and its statistics after loading; nothing is downloaded."""
    entry = entry_of(name)
    folder = find(entry, root)
    checks = []
    for file in entry.files:
        path = folder and folder / file.path
        value = digest(path) if path and path.is_file() else None
        good = bool(folder and value and is_accepted(file, value, folder)) or (value is None and file.optional)
        checks.append(FileCheck(file.path, value, file.sha256, good))
    is_usable = all(check.good for check in checks)
    statistics = load(name, root).statistics if is_usable else None
    return Verification(name, folder, tuple(checks), entry.size, statistics)
