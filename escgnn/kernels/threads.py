"""Kernels over a thread pool: safe after a fork, in spawned workers and from several threads at once.

numba's own parallel layers are none of these. Our kernels release the interpreter lock, so plain threads do, and the
result does not depend on how many there are: each block is computed alone and blocks are joined in order.

Work that may take long is left to the pool: the thread that asked for it only waits, so that it hears of Ctrl-C at once, and
sets the flag ``halt``, which kernels look at, when it is told to stop or when the time of `watched` is over. If nobody follows
such work, a warning says after a while that it goes on.
"""

import os
import time
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from threading import Lock, local
from typing import TypeVar

import numba
import numpy as np
from numpy.typing import NDArray

T = TypeVar("T")
Halt = NDArray[np.uint8]  # (1,), 0 as long as somebody waits for the work

TICK = 0.1  # seconds between two looks at the clock
PATIENCE = 30.0  # seconds of work that nobody follows until a warning
LONG = 3e7  # steps of work, some tenth of a second, from which on it is watched

_lock = Lock()
_pool: ThreadPoolExecutor | None = None
_thread = local()


class TooLongError(Exception):
    """Work was stopped because its time was over."""


class LongWorkWarning(UserWarning):
    """Work takes very long, or may."""


@dataclass(frozen=True)
class Watch:
    """Who looks after long work.

    Attributes:
        until: When to stop it, by `time.monotonic`; never if it is None.
        tell: Called about every `TICK` with what is worked on and the share of it that is done.
        about: What is worked on.
        begin: Share of it that was done before the next call of `over_blocks`.
        span: Share of it that such a call does.
    """

    until: float | None = None
    tell: Callable[[str, float], None] | None = None
    about: str = ""
    begin: float = 0.0
    span: float = 1.0


_watch: ContextVar[Watch] = ContextVar("watch", default=Watch())  # noqa: B039 - it is frozen


@contextmanager
def watched(
    *,
    until: float | None = None,
    tell: Callable[[str, float], None] | None = None,
    about: str | None = None,
    begin: float | None = None,
    span: float | None = None,
) -> Iterator[None]:
    """Long work in this block, and in this thread, ends at a time, and tells how far it is; what is None stays as it was.

    Raises:
        TooLongError: Its time was over.
    """
    given = {"until": until, "tell": tell, "about": about, "begin": begin, "span": span}
    token = _watch.set(replace(_watch.get(), **{name: value for name, value in given.items() if value is not None}))  # type: ignore[arg-type]
    try:
        yield
    finally:
        _watch.reset(token)


def new_halt() -> Halt:
    """A flag that is not set."""
    return np.zeros(1, np.uint8)


def _forget_pool() -> None:
    """A forked child inherits the pool object but none of its threads."""
    global _lock, _pool
    _lock, _pool = Lock(), None


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_pool)


def count() -> int:
    """Threads that kernels use: ``NUMBA_NUM_THREADS``, else the number of cores."""
    return int(numba.config.NUMBA_NUM_THREADS)


def over_blocks(
    task: Callable[[int, int], T], total: int, block: int, threads: int | None = None, *, halt: Halt | None = None
) -> list[T]:
    """Results of ``task(start, stop)`` over consecutive blocks of ``range(total)``, in order.

    The calling thread works, too, so that small jobs do not wait for another to wake up; with ``halt`` it waits.

    Args:
        task: What to do; it may be called from several threads at once.
        total: Number of items.
        block: Number of items of a block.
        threads: 1 to stay in one thread; by default `count`.
        halt: For work that may take long: the flag at which the task's kernels look.

    Raises:
        TooLongError: The time of `watched` was over; only with ``halt``.
    """
    blocks = [(start, min(start + block, total)) for start in range(0, total, block)]
    threads = min(threads or count(), len(blocks))
    is_watched = halt is not None and not getattr(_thread, "is_helper", False)  # who waits must not be waited for
    if threads <= 1 and not is_watched:
        return [task(*bounds) for bounds in blocks]
    results: dict[int, T] = {}
    errors: dict[int, BaseException] = {}
    todo, taking = iter(range(len(blocks))), Lock()

    def work() -> None:
        while not errors and not (halt is not None and halt[0]):
            with taking:
                i = next(todo, None)
            if i is None:
                return
            try:
                results[i] = task(*blocks[i])
            except BaseException as error:
                errors[i] = error

    def help_out() -> None:
        _thread.is_helper = True
        work()

    if is_watched:
        assert halt is not None
        helpers = _watch_over(help_out, threads, halt, lambda: len(results) / len(blocks))
    else:
        helpers = [_shared_pool().submit(help_out) for _ in range(threads - 1)]
        work()
    for helper in helpers:
        if not helper.cancel():  # it began
            helper.result()
    if errors:
        raise errors[min(errors)]  # blocks are taken in order, so this is the first that fails, for any timing
    return [results[i] for i in range(len(blocks))]


def _watch_over(work: Callable[[], None], threads: int, halt: Halt, share: Callable[[], float]) -> list[Future[None]]:
    """Have the pool work, and wait for all of it; whatever ends the waiting, from the first helper on, ends their work, too."""
    watch = _watch.get()
    is_told = watch != Watch()
    begin = time.monotonic()
    helpers: list[Future[None]] = []
    try:
        for _ in range(threads):
            helpers.append(_shared_pool().submit(work))
        while wait(helpers, timeout=TICK).not_done:
            if watch.until is not None and time.monotonic() > watch.until:
                raise TooLongError
            if watch.tell is not None:
                watch.tell(watch.about, min(watch.begin + watch.span * share(), 1.0))
            if not is_told and time.monotonic() - begin > PATIENCE:
                is_told = True
                _warn(share())
    except BaseException:
        halt[0] = 1
        for helper in helpers:
            helper.cancel()
        wait(helpers)
        raise
    return helpers


def _warn(share: float) -> None:
    advice = "dense graphs take long, above all for large patterns, the part cycle and many hops; Ctrl-C ends it"
    warnings.warn(f"after {PATIENCE:.0f} s of work {share:.0%} is done: {advice}", LongWorkWarning, stacklevel=2)


def _shared_pool() -> ThreadPoolExecutor:
    global _pool
    with _lock:
        if _pool is None:
            _pool = ThreadPoolExecutor(count(), thread_name_prefix="escgnn")
        return _pool
