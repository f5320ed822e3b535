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
    """Results of ``task(start, stop)`` over consecutive blocks of ``range(total)``, in order.

    The calling thread works, too, so that small jobs do not wait for another to wake up.
    """
    blocks = [(start, min(start + block, total)) for start in range(0, total, block)]
    threads = min(threads or count(), len(blocks))
    if threads <= 1:
        return [task(*bounds) for bounds in blocks]
    results: dict[int, T] = {}
    errors: dict[int, BaseException] = {}
    todo, taking = iter(range(len(blocks))), Lock()

    def work() -> None:
        while not errors:
            with taking:
                i = next(todo, None)
            if i is None:
                return
            try:
                results[i] = task(*blocks[i])
            except BaseException as error:
                errors[i] = error

    helpers = [_shared_pool().submit(work) for _ in range(threads - 1)]
    work()
    for helper in helpers:
        if not helper.cancel():  # it began
            helper.result()
    if errors:
        raise errors[min(errors)]  # blocks are taken in order, so this is the first that fails, for any timing
    return [results[i] for i in range(len(blocks))]


def _shared_pool() -> ThreadPoolExecutor:
    global _pool
    with _lock:
        if _pool is None:
            _pool = ThreadPoolExecutor(count(), thread_name_prefix="escgnn")
        return _pool
