"""Working on shards: which are left, who works on them, and what became of each."""

import platform
import re
import time
from collections import Counter
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from errno import ENOSPC
from math import gcd
from os import strerror
from pathlib import Path
from typing import Any

from escgnn.disk import LOCK, is_full, locked
from escgnn.engines import ATTEMPTS, Engine, LocalEngine
from escgnn.jobs import Job, run
from escgnn.shards.inputs import ROWS, Shard, find_shards
from escgnn.shards.manifest import Done, Failed, Manifest, plain, read_done, write_done, write_failed
from escgnn.shards.places import ResultFolder, local_copy

Progress = Callable[[int, int, str], None]  # bytes done, bytes in all, and how many shards that is
LOOK = 1.0  # seconds between two looks at what others have done
LOCK_NAME = re.compile(rf"{re.escape(LOCK)}-(\d+)-of-(\d+)")
WHOLE = (0, 1)  # part of all shards


@dataclass(frozen=True, slots=True)
class ShardSummary:
    """What a call for many files came to.

    Attributes:
        folder: The results.
        shards: Shards that this call was to do.
        skipped: How many of these were done already.
        failed: Those that have no results, and why.
        graphs: Graphs that have a result, in all shards that are done.
        edges: Their edges.
        rows: Rows written.
        rejected: Rows left out.
        totals: Sums of the columns that count.
        seconds: Time taken by this call.
    """

    folder: str
    shards: int
    skipped: int
    failed: tuple[Failed, ...]
    graphs: int
    edges: int
    rows: int
    rejected: int
    totals: dict[str, int]
    seconds: float


@dataclass(frozen=True)
class ShardWork:
    """What engines run: a shard in, a few hundred bytes out, and files in the folder."""

    job: Job[Any]
    folder: ResultFolder
    manifest: Manifest
    smiles: str | None
    strict: bool

    def __call__(self, shard: Shard) -> Iterator[Done | Failed]:
        """Work on a shard; what the system fails at is tried again, what is wrong with the input is not."""
        outcome: Done | Failed
        for attempt in range(1, ATTEMPTS + 1):
            try:
                outcome = self._done(shard, attempt)
                break
            except Exception as error:
                words = str(error) if isinstance(error, ValueError | OSError) else f"{type(error).__name__}: {error}"
                outcome = Failed(shard.name, shard.source, words, is_full(error))
                if not isinstance(error, OSError) or outcome.is_full:
                    break
        if isinstance(outcome, Failed) and not outcome.is_full:
            write_failed(self.folder, outcome)
        yield outcome

    def lost(self, shard: Shard, reason: str) -> Iterator[Failed]:
        """What becomes of a shard that ends whoever works on it."""
        failed = Failed(shard.name, shard.source, reason)
        write_failed(self.folder, failed)
        yield failed

    def _done(self, shard: Shard, attempt: int) -> Done:
        begin = time.perf_counter()
        begin_cpu = time.process_time()
        shard.check()
        with local_copy(shard.source) as source, self.folder.new_files(f"{shard.name}.parquet") as output:
            summary = run(
                self.job,
                source,
                output,
                smiles=self.smiles,
                strict=self.strict,
                groups=shard.groups,
                before_writing=shard.check,
            )
        done = Done(
            name=shard.name,
            digest=self.manifest.digest(shard),
            graphs=summary.graphs,
            edges=summary.edges,
            rows=summary.rows,
            rejected=summary.rejected,
            totals=summary.totals,
            bytes=shard.bytes,
            seconds=time.perf_counter() - begin,
            finished=time.time(),
            attempts=attempt,
            host=platform.node(),
            cpu_seconds=time.process_time() - begin_cpu,
        )
        write_done(self.folder, done)
        return done


def run_shards(
    job: Job[Any],
    inputs: Sequence[str],
    folder: str,
    *,
    smiles: str | None = None,
    strict: bool = False,
    engine: Engine | None = None,
    part: tuple[int, int] = WHOLE,
    rows: int = ROWS,
    progress: Progress | None = None,
) -> ShardSummary:
    """Do a job for many files, or go on with it: shards that are done stay as they are, those that failed are tried again.

    Args:
        job: What to do.
        inputs: What `find_shards` takes.
        folder: Where results go, a path or an address.
        smiles: Column with the SMILES, if it is not called smiles.
        strict: Stop at the first bad row.
        engine: Who works; this process if it is None.
        part: (k, n) for the shards k, k + n, k + 2n and so on: each of n calls does its own.
        rows: Where a Parquet file has more rows, its row groups are cut into shards of so many.
        progress: Called now and then with the bytes done, by whomever, their total, and a few words.

    Raises:
        ValueError: The folder is for something else, somebody works in it, or a row is bad and ``strict``.
        OSError: The disk for the results is full, or they cannot be written.
    """
    begin = time.perf_counter()
    settings = plain({**job.settings, "smiles": smiles, "strict": strict, "rows_of_a_shard": rows})
    manifest = Manifest(settings, find_shards(inputs, rows))
    place = ResultFolder(folder)
    place.make()
    _check_results(place, manifest)
    with ExitStack() as stack:
        if place.is_local:
            stack.enter_context(_locked(place.path, part))
        manifest.write(place)
        mine = [shard for shard in manifest.shards if shard.number % part[1] == part[0]]
        watch = Watch(place, manifest)
        watch.look()
        left = [shard for shard in mine if shard.name not in watch.done]
        work = ShardWork(job, place, manifest, smiles, strict)
        stack.callback(place.sweep)  # what a worker that was ended has left
        outcomes = (engine or LocalEngine()).map(work, left, lost=work.lost, in_order=False)
        if isinstance(outcomes, Generator):
            stack.callback(outcomes.close)  # nothing goes on in the background
        failed: list[Failed] = []
        watch.tell(progress)
        for outcome in outcomes:
            if isinstance(outcome, Failed):
                if outcome.is_full:
                    raise OSError(ENOSPC, strerror(ENOSPC), folder)
                if strict:
                    raise ValueError(f"{outcome.name}: {outcome.reason}")
                failed.append(outcome)
            else:
                watch.add(outcome)
            watch.tell(progress)
    done = [*watch.done.values()]
    return ShardSummary(
        folder=folder,
        shards=len(mine),
        skipped=len(mine) - len(left),
        failed=tuple(failed),
        graphs=sum(one.graphs for one in done),
        edges=sum(one.edges for one in done),
        rows=sum(one.rows for one in done),
        rejected=sum(one.rejected for one in done),
        totals=dict(sum((Counter(one.totals) for one in done), Counter())),
        seconds=time.perf_counter() - begin,
    )


def read_part(text: str) -> tuple[int, int]:
    """The part that ``k/n`` means, from 0; as job arrays count from 0 or from 1, 0 and n are the same one.

    >>> read_part("1/4"), read_part("4/4"), read_part("0/4")
    ((1, 4), (0, 4), (0, 4))

    Raises:
        ValueError: It means none.
    """
    found = re.fullmatch(r"(\d+)/(\d+)", text.strip())
    if found is None or int(found[2]) < 1 or int(found[1]) > int(found[2]):
        raise ValueError(f"part: {text!r}; expected k/n with k from 1 to n, or from 0 to n - 1")
    return int(found[1]) % int(found[2]), int(found[2])


class Watch:
    """What is done in a folder, by whomever, as its done-files say.

    Attributes:
        done: By name of the shard.
    """

    def __init__(self, folder: ResultFolder, manifest: Manifest) -> None:
        self.folder = folder
        self.digests = {shard.name: manifest.digest(shard) for shard in manifest.shards}
        self.total = sum(shard.bytes for shard in manifest.shards)
        self.done: dict[str, Done] = {}
        self._looked = 0.0

    def look(self) -> None:
        """Read the done-files that are new; those of other settings or sources do not count."""
        names = self.folder.names()
        for name, digest in self.digests.items():
            if name in self.done or f"{name}.done.json" not in names or f"{name}.parquet" not in names:
                continue
            found = read_done(self.folder, name)
            if found is not None and found.digest == digest:
                self.done[name] = found
        self._looked = time.monotonic()

    def add(self, done: Done) -> None:
        """One more, of which there is no need to read the file."""
        self.done[done.name] = done

    def tell(self, progress: Progress | None) -> None:
        """Say how far all is."""
        if progress is None:
            return
        if time.monotonic() - self._looked > LOOK:
            self.look()
        read = sum(one.bytes for one in self.done.values())
        progress(read, self.total, f"{len(self.done):,} of {len(self.digests):,} files")


def _check_results(place: ResultFolder, manifest: Manifest) -> None:
    """Complain if results would replace what is read."""
    if not place.is_local:
        return
    names = {f"{shard.name}.parquet" for shard in manifest.shards}
    for shard in manifest.shards:
        source = Path(shard.source)
        if source.parent == place.path.absolute() and source.name in names:
            raise ValueError(f"{place.name}: {source.name} would replace the input {source}; choose another folder")


@contextmanager
def _locked(folder: Path, part: tuple[int, int]) -> Iterator[None]:
    """Keep the shards of a part for this process; others may work on other parts.

    Raises:
        TakenError: Another process works on some of them.
    """
    doing = "working on these files"
    with locked(folder, doing, lock=f"{LOCK}-{part[0]}-of-{part[1]}"):
        for path in folder.glob(f"{LOCK}-*"):
            found = LOCK_NAME.fullmatch(path.name)
            other = (int(found[1]), int(found[2])) if found else part
            if other == part or (other[0] - part[0]) % gcd(other[1], part[1]):
                continue  # no shard is in both
            with locked(folder, doing, lock=path.name):
                pass
        yield
