"""Graphs that may take long: known beforehand from their degrees, told, worked on alone, and given up when their time is over."""

import time
import warnings
from collections.abc import Callable, Iterator
from math import isfinite
from typing import Any

import numpy as np
from numpy.typing import NDArray

from escgnn.disk import Rejected, rejected
from escgnn.jobs.job import Part, Tally
from escgnn.kernels.threads import LongWorkWarning, TooLongError, watched
from escgnn.readers import Chunk, Parse, Rows, read_graphs

SPEED = 1e8  # steps a second, at the least
ALONE = 1.0  # seconds from which on, at this speed, a graph is worked on alone
WORRY = 30.0  # seconds from which on somebody should know
DAY = 86400.0


def check_seconds(seconds: float | None) -> None:
    """Complain about a limit that is none.

    Raises:
        ValueError: It is not a finite number above 0.
    """
    if seconds is not None and not (isfinite(seconds) and seconds > 0):
        raise ValueError(f"max_seconds_per_graph: {seconds}; expected a number above 0")


def of_graphs(
    piece: Rows | Chunk, work: Callable[[Chunk], Iterator[Part]], parse: Parse | None = None
) -> Iterator[Part]:
    """What the work makes of the graphs of a piece, and the rows of it that are none; ``parse`` makes graphs of texts."""
    bad: tuple[Rejected, ...] = ()
    chunk: Chunk | None
    if isinstance(piece, Rows):
        chunk, bad = read_graphs(piece, parse)
    else:
        chunk = piece
    if bad:
        yield Part(None, Tally(), bad)
    if chunk is not None:
        yield from work(chunk)


def in_time(
    chunk: Chunk, steps: NDArray[np.float64], seconds: float | None, work: Callable[[Chunk], Iterator[Part]]
) -> Iterator[Part]:
    """What the work makes of a chunk: graphs that may take long one by one, those between them together.

    Args:
        chunk: The graphs.
        steps: A bound on the steps that each takes.
        seconds: When to give up a graph, which is a bad row then, and of which nothing is left; None for never.
        work: What to do with some of the graphs.
    """
    done = 0
    for number in long_ones(steps, seconds):
        if number > done:
            yield from work(chunk.part(done, number))
        yield from _one(chunk.part(number, number + 1), steps[number], seconds, work)
        done = number + 1
    if done == 0:
        yield from work(chunk)
    elif done < len(steps):
        yield from work(chunk.part(done, len(steps)))


def long_ones(steps: NDArray[np.float64], seconds: float | None) -> list[int]:
    """The graphs that may take so long that each is worked on alone."""
    alone = ALONE if seconds is None else min(ALONE, seconds)
    found: list[int] = np.flatnonzero(steps > alone * SPEED).tolist()
    return found


def _one(chunk: Chunk, steps: float, seconds: float | None, work: Callable[[Chunk], Iterator[Part]]) -> Iterator[Part]:
    """The same for one graph. Where it may be given up, nothing is handed on before all is done."""
    name = f"graph {chunk.ids[0]}"
    warn_if_long(name, f"{chunk.graphs.num_nodes:,} nodes and {chunk.graphs.num_edges:,} edges", steps, seconds)
    if seconds is None:
        yield from _told(work(chunk), name)
        return
    try:
        with time_left(seconds, name):
            parts = [*work(chunk)]
    except TooLongError:
        parts = [Part(None, Tally(), (rejected(int(chunk.lines[0]), name, too_long(seconds)),))]
    yield from parts


def _told(parts: Iterator[Part], name: str) -> Iterator[Part]:
    """The same parts, each made while it is known which graph they are about."""
    while True:
        with time_left(None, name):
            part = next(parts, None)
        if part is None:
            return
        yield part


def time_left(seconds: float | None, about: str) -> Any:
    """A block that may take so many seconds; see `escgnn.kernels.threads.watched`."""
    until = None if seconds is None else time.monotonic() + seconds
    return watched(until=until, about=about)


def too_long(seconds: float) -> str:
    """Why a graph was given up."""
    return f"it takes longer than {seconds:g} s, the limit max_seconds_per_graph"


def warn_if_long(name: str, size: str, steps: float, seconds: float | None) -> None:
    """Say that a graph may take very long, if it may."""
    expected = steps / SPEED
    if expected < WORRY or (seconds is not None and seconds < WORRY):
        return
    if expected > DAY:
        words = "days"
    elif expected > DAY / 12:
        words = f"{expected / 3600:.0f} hours"
    else:
        words = f"{expected:,.0f} seconds"
    advice = "" if seconds is not None else "; max_seconds_per_graph (--max-seconds-per-graph) sets a limit"
    warnings.warn(f"{name}, with {size}, may take up to {words}{advice}", LongWorkWarning, stacklevel=2)
