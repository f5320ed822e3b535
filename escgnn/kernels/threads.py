"""Kernels over a thread pool: safe after a fork, in spawned workers and from several threads at once.

numba's own parallel layers are none of these. Our kernels release the interpreter lock, so plain threads do, and the
result does not depend on how many there are: each block is computed alone and blocks are joined in order.
"""

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Lock
from typing import TypeVar

import numba

T = TypeVar("T")

_lock = Lock()
_pool: ThreadPoolExecutor | None = None


def _forget_pool() -> None:
    """A forked child inherits the pool object but none of its threads."""
    global _lock, _pool
    _lock, _pool = Lock(), None


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_pool)


def count() -> int:
    """Threads that kernels use: ``NUMBA_NUM_THREADS``, else the number of cores."""
    return int(numba.config.NUMBA_NUM_THREADS)


def over_blocks(task: Callable[[int, int], T], total: int, block: int, threads: int | None = None) -> list[T]:
    """Results of ``task(start, stop)`` over consecutive blocks of ``range(total)``, in order."""
    threads = threads or count()
    starts = range(0, total, block)
    stops = [min(start + block, total) for start in starts]
    if threads == 1 or len(stops) <= 1:
        return [task(start, stop) for start, stop in zip(starts, stops, strict=True)]
    global _pool
    with _lock:
        if _pool is None:
            _pool = ThreadPoolExecutor(count(), thread_name_prefix="escgnn")
        pool = _pool
    return list(pool.map(task, starts, stops))
