"""The one loop behind every job: a file is read, an engine works on its chunks, a table is written."""

import time
from collections.abc import Callable, Generator, Iterator
from contextlib import ExitStack, closing
from dataclasses import dataclass
from itertools import chain
from os import PathLike
from pathlib import Path
from typing import Any

from escgnn.disk import Rejected, RejectLog, TableWriter, check_output
from escgnn.engines import Engine, LocalEngine
from escgnn.jobs.job import Job, Tally
from escgnn.kernels.threads import watched
from escgnn.readers import GraphFile

Progress = Callable[[int, int, str], None]  # bytes read so far, bytes in all, and how far a graph is that takes long


@dataclass(frozen=True, slots=True)
class Summary:
    """What a job over a file came to.

    Attributes:
        graphs: Graphs that have a result.
        edges: Their edges; encoding and counting tell.
        rows: Rows of the table; of predictions the rows of the input, or graphs of an edge list, each of which is kept.
        rejected: Rows of the input that could not be read and are left out.
        seconds: Time taken.
        output: The table.
        rejects: The list of rows left out, if there are any.
        totals: Sums of the columns that count.
        problems: The first rows that stay without a prediction, where they stand and why.
    """

    graphs: int
    edges: int
    rows: int
    rejected: int
    seconds: float
    output: Path
    rejects: Path | None
    totals: dict[str, int]
    problems: tuple[Rejected, ...] = ()

    @property
    def predicted(self) -> int:
        """Graphs that have a prediction; the other rows have a reason."""
        return self.graphs


def run(
    job: Job[Any],
    source: str | PathLike[str],
    output: str | PathLike[str],
    *,
    smiles: str | None = None,
    strict: bool = False,
    engine: Engine | None = None,
    progress: Progress | None = None,
    groups: tuple[int, int] | None = None,
    before_writing: Callable[[], None] | None = None,
) -> Summary:
    """Do a job for a whole file: read in a stream, memory bounded by some chunks, written whole or not at all.

    Args:
        job: What to do.
        source: What `escgnn.readers.GraphFile` reads.
        output: A .parquet or .csv file. Bad rows are listed beside it in ``OUT.rejected.csv``.
        smiles: Column with the SMILES, if it is not called smiles.
        strict: Stop at the first bad row.
        engine: Who works; this process if it is None. The table is the same for every engine.
        progress: Called now and then with the bytes read, their total and, while a graph takes long, how far it is.
        groups: Of Parquet, the row groups to read, as `GraphFile` takes them.
        before_writing: Called when all is done, before files appear; what it raises keeps them from that.

    Raises:
        ValueError: The file is damaged or does not suit the job, or the output would replace it.
        OSError: A file cannot be opened.
    """
    check_output(source, output)
    start = time.perf_counter()
    with ExitStack() as stack:
        log = stack.enter_context(RejectLog(output))
        file = GraphFile(source, smiles=smiles, strict=strict, on_reject=log, groups=groups)
        chunks = stack.enter_context(closing(_generated(job.chunks(file))))
        first = next(chunks, None)
        table = stack.enter_context(TableWriter(output, job.schema(first), job.metadata))
        work = chain([] if first is None else [first], chunks)
        parts = stack.enter_context(closing(_generated((engine or LocalEngine()).map(job, work))))
        done = Tally()
        totals = dict.fromkeys(job.totals, 0)
        if progress is not None:
            stack.enter_context(watched(tell=_teller(progress, file)))
        for batch, tally, rejected in parts:
            done += tally
            for row in rejected:
                file.reject(row)
            if batch is not None:
                table.write(batch)
                for name in totals:
                    totals[name] += sum(batch[name].to_pylist())  # Python's integers do not overflow
            if progress is not None:
                progress(file.bytes_read, file.total_bytes, "")
        rejects = None if log.is_empty else log.path
        if before_writing is not None:
            before_writing()
    return Summary(
        graphs=done.graphs,
        edges=done.edges,
        rows=done.rows,
        rejected=file.rejected,
        seconds=time.perf_counter() - start,
        output=Path(output),
        rejects=rejects,
        totals=totals,
        problems=done.problems,
    )


def _teller(progress: Progress, file: GraphFile) -> Callable[[str, float], None]:
    """What is called while a graph takes long."""

    def tell(about: str, share: float) -> None:
        progress(file.bytes_read, file.total_bytes, f"{about}: {share:.0%}" if about else "")

    return tell


def _generated(items: Iterator[Any]) -> Generator[Any, None, None]:
    """The same items, from something that can be closed before they are all there."""
    yield from items
