"""What is to be done in a folder of results, and what was done: small files of JSON."""

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from itertools import zip_longest
from typing import Any, Self

from escgnn import __version__
from escgnn.shards.inputs import Shard
from escgnn.shards.places import MANIFEST, ResultFolder

FORMAT = "escgnn shards 1"
DONE = ".done.json"
FAILED = ".failed.json"


@dataclass(frozen=True, slots=True)
class Done:
    """What a shard came to: a few hundred bytes, which are all that comes back from where it was worked on.

    Attributes:
        name: Of the shard.
        digest: Of what was to be done, settings and source.
        graphs: Graphs that have a result.
        edges: Their edges.
        rows: Rows of the table.
        rejected: Rows of the input that are left out.
        totals: Sums of the columns that count.
        bytes: Read.
        seconds: Time taken.
        finished: When, in seconds since 1970.
        attempts: How many it took.
        host: The machine.
        cpu_seconds: Processor time of all threads, which other work on the machine does not change.
    """

    name: str
    digest: str
    graphs: int
    edges: int
    rows: int
    rejected: int
    totals: dict[str, int]
    bytes: int
    seconds: float
    finished: float
    attempts: int
    host: str
    cpu_seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class Failed:
    """Why a shard has no results.

    Attributes:
        name: Of the shard.
        source: Its file.
        reason: What is wrong.
        is_full: Whether it is the disk for the results that is full, which is no fault of the shard's.
    """

    name: str
    source: str
    reason: str
    is_full: bool = False


@dataclass(frozen=True, slots=True)
class Manifest:
    """What is to be done in a folder.

    Attributes:
        settings: Of the job, plain values.
        shards: The shards.
        version: Of this library.
    """

    settings: Mapping[str, Any]
    shards: Sequence[Shard]
    version: str = __version__

    def digest(self, shard: Shard) -> str:
        """A few letters that are others if anything about a shard's results may be."""
        text = json.dumps([self.version, self.settings, asdict(shard)], sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:16]

    def write(self, folder: ResultFolder) -> None:
        """Write it, or complain if the folder is for something else.

        Raises:
            ValueError: It is, with the first difference.
        """
        found = Manifest.read(folder)
        if found is None:
            folder.write(MANIFEST, json.dumps(self._plain(), indent=1) + "\n")
            return
        for name, there, here in found.differences(self):
            raise ValueError(
                f"{folder.name} was begun with other settings: {name} was {there!r} and is {here!r} now; "
                "choose another folder, or give the same command"
            )

    def differences(self, other: Self) -> Iterator[tuple[str, Any, Any]]:
        """What is not the same, by name."""
        pairs: list[tuple[str, Any, Any]] = [("version", self.version, other.version)]
        names = [*self.settings, *(name for name in other.settings if name not in self.settings)]
        pairs += [(name, self.settings.get(name), other.settings.get(name)) for name in names]
        for ours, theirs in zip_longest(self.shards, other.shards):
            about = (ours or theirs).name
            for field in fields(Shard):
                there, here = (None if shard is None else getattr(shard, field.name) for shard in (ours, theirs))
                pairs.append((f"{field.name} of {about}", there, here))
        for name, there, here in pairs:
            if there != here:
                yield name, there, here

    def _plain(self) -> dict[str, Any]:
        shards = [asdict(shard) for shard in self.shards]
        return {"format": FORMAT, "escgnn": self.version, "settings": self.settings, "shards": shards}

    @classmethod
    def read(cls, folder: ResultFolder) -> "Manifest | None":
        """That of a folder; None if it has none.

        Raises:
            ValueError: It is damaged, or of another version.
        """
        try:
            text = folder.read(MANIFEST)
        except FileNotFoundError:
            return None
        try:
            found = json.loads(text)
            if found["format"] != FORMAT:
                raise ValueError(f"its format is {found['format']!r}; expected {FORMAT!r}")
            shards = [
                Shard(**{**shard, "groups": None if shard["groups"] is None else tuple(shard["groups"])})
                for shard in found["shards"]
            ]
            return cls(found["settings"], shards, found["escgnn"])
        except (ValueError, KeyError, TypeError) as error:
            raise ValueError(f"{folder.name}/{MANIFEST} is damaged: {error}") from None


def plain(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Settings as JSON gives them back."""
    found: dict[str, Any] = json.loads(json.dumps(dict(settings)))
    return found


def read_done(folder: ResultFolder, name: str) -> Done | None:
    """What a shard came to, if its file is there and whole."""
    try:
        return Done(**json.loads(folder.read(f"{name}{DONE}")))
    except (FileNotFoundError, ValueError, TypeError):
        return None


def read_failed(folder: ResultFolder, name: str) -> Failed | None:
    """Why a shard failed, if it did."""
    try:
        return Failed(**json.loads(folder.read(f"{name}{FAILED}")))
    except (FileNotFoundError, ValueError, TypeError):
        return None


def write_done(folder: ResultFolder, done: Done) -> None:
    """Say that a shard is done."""
    folder.write(f"{done.name}{DONE}", json.dumps(asdict(done)) + "\n")
    folder.remove(f"{done.name}{FAILED}")


def write_failed(folder: ResultFolder, failed: Failed) -> None:
    """Say that a shard failed."""
    folder.write(f"{failed.name}{FAILED}", json.dumps(asdict(failed)) + "\n")
