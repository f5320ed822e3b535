"""What a dataset is: a name, raw files, what is asked, how large it is, how it is read and how it is trained."""

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import PurePath
from typing import Any, NamedTuple

from escgnn.datasets.bundle import DatasetBundle
from escgnn.task import Task

PICKLED = "its public copies are pickles, which can run code and are not opened here"


@dataclass(frozen=True)
class RawFile:
    """A file that a dataset is read from.

    Attributes:
        path: Where it stands below a data folder.
        url: Where it can be downloaded from: itself or, with ``member``, a zip archive that holds it.
        member: Its name in the archive.
        sha256: Hash of the known copy; None where nobody has seen one. Archives are not checked as a whole.
        optional: Whether the dataset can be had without it.
    """

    path: str
    url: str = ""
    member: str = ""
    sha256: str | None = None
    optional: bool = False

    @property
    def name(self) -> str:
        """The file's own name."""
        return PurePath(self.path).name


class Size(NamedTuple):
    """Number of graphs, and their average numbers of nodes and of undirected edges."""

    graphs: int
    nodes: float
    edges: float


@dataclass(frozen=True)
class Entry:
    """All that `escgnn` knows of one dataset.

    Attributes:
        name: What `load` calls it.
        parse: Reads it: takes the `Raw` files, and options as keyword-only arguments, and gives a `DatasetBundle`.
        task: What is predicted and how it is judged.
        size: Published size.
        source: Where it comes from.
        files: What it is read from; a dataset without any is generated.
        advice: What to do where a file has no address to download it from.
        defaults: Settings to train with, as in a YAML file, where they differ from those of `TrainConfig`.
        version: Of ``parse``: raise it when the same files give another result, so that what is cached is made again.

    Raises:
        ValueError: The name is none, two files have the same, or a file can neither be downloaded nor is there advice.
    """

    name: str
    parse: Callable[..., DatasetBundle]
    task: Task
    size: Size
    source: str
    files: tuple[RawFile, ...] = ()
    advice: str = ""
    defaults: Mapping[str, Any] = field(default_factory=dict, hash=False)
    version: int = 1

    def __post_init__(self) -> None:
        if not self.name or PurePath(self.name).name != self.name:
            raise ValueError(f"name: {self.name!r}; expected a word without slashes")
        for name, times in Counter(file.name for file in self.files).items():
            if times > 1:
                raise ValueError(f"files: {times} files of {self.name} are called {name}; expected different names")
        for file in self.needed:
            if not file.url and not self.advice:
                raise ValueError(f"advice: {file.path} of {self.name} has no url; expected where to get it instead")

    @property
    def needed(self) -> tuple[RawFile, ...]:
        """The files that the dataset cannot be had without."""
        return tuple(file for file in self.files if not file.optional)


def raw_files(
    folder: str,
    checksums: Mapping[str, str | None],
    *,
    home: str = "",
    archive: str = "",
    inside: str = "",
    optional: bool = False,
) -> tuple[RawFile, ...]:
    """Several files of one folder with the same home.

    Args:
        folder: Where they stand below a data folder.
        checksums: The sha256 of each, None where nobody has seen it, by its name below the folder.
        home: The address that, with a slash and its name, downloads a file.
        archive: The address of a zip archive that holds them all.
        inside: What precedes their names in the archive.
        optional: Whether the dataset can be had without them.
    """
    files = []
    for name, sha256 in checksums.items():
        url = f"{home}/{name}" if home else archive
        member = f"{inside}{name}" if archive else ""
        files.append(RawFile(f"{folder}/{name}", url, member, sha256, optional))
    return tuple(files)
