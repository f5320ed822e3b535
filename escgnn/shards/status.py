"""How far a folder of results is."""

import time
from dataclasses import dataclass

from escgnn.shards.manifest import FAILED, Failed, Manifest, read_failed
from escgnn.shards.places import MANIFEST, ResultFolder
from escgnn.shards.running import Watch


@dataclass(frozen=True, slots=True)
class Status:
    """How far a folder is.

    Attributes:
        folder: The folder.
        command: What is done there.
        shards: Shards in all.
        done: Shards that are done.
        failed: Shards that failed, and were not done since.
        graphs: Graphs that have a result.
        rows: Rows written.
        rejected: Rows of the input that are left out.
        rate: Graphs a second, from when the first of these shards began to when the last ended.
        seconds_left: What the rest takes at the rate of the bytes so far; None while nothing is known.
        hosts: The machines.
        cpu_seconds: Processor time of the shards that are done, without what it takes to start workers.
    """

    folder: str
    command: str
    shards: int
    done: int
    failed: tuple[Failed, ...]
    graphs: int
    rows: int
    rejected: int
    rate: float
    seconds_left: float | None
    hosts: tuple[str, ...]
    cpu_seconds: float

    @property
    def left(self) -> int:
        """Shards that nobody has ended."""
        return self.shards - self.done - len(self.failed)


def read_status(folder: str) -> Status:
    """How far a folder is, whoever works in it.

    Raises:
        ValueError: It is no folder of results.
    """
    place = ResultFolder(folder)
    manifest = Manifest.read(place)
    if manifest is None:
        raise ValueError(
            f"{folder}: there is no {MANIFEST}; expected the folder of an encode, count or predict of many files"
        )
    watch = Watch(place, manifest)
    watch.look()
    done = [*watch.done.values()]
    names = place.names()
    broken = [
        shard.name for shard in manifest.shards if shard.name not in watch.done and f"{shard.name}{FAILED}" in names
    ]
    failed = [found for name in broken if (found := read_failed(place, name)) is not None]
    span = max((one.finished for one in done), default=time.time())
    span -= min((one.finished - one.seconds for one in done), default=span)
    graphs = sum(one.graphs for one in done)
    read = sum(one.bytes for one in done)
    return Status(
        folder=folder,
        command=str(manifest.settings.get("command", "")),
        shards=len(manifest.shards),
        done=len(done),
        failed=tuple(failed),
        graphs=graphs,
        rows=sum(one.rows for one in done),
        rejected=sum(one.rejected for one in done),
        rate=graphs / max(span, 1e-9) if done else 0.0,
        seconds_left=span * (watch.total - read) / read if read else None,
        hosts=tuple(sorted({one.host for one in done})),
        cpu_seconds=sum(one.cpu_seconds for one in done),
    )
