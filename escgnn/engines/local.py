"""Work on this machine: here and now, or in processes."""

import os
import pickle
import signal
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from multiprocessing import get_context
from threading import current_thread, main_thread
from typing import Any

from escgnn.engines.engine import Item, Result

_function: Callable[[Any], Iterable[Any]]  # of a worker process


class LocalEngine:
    """Runs a function in this process, or in others on the same machine.

    Args:
        workers: Processes; 0 works in this one, where results of an item come one by one and are never all in memory.

    Raises:
        ValueError: A negative number.
    """

    def __init__(self, workers: int = 0) -> None:
        if workers < 0:
            raise ValueError(f"workers: {workers}; expected 0 or more")
        self.workers = workers

    def map(self, function: Callable[[Item], Iterable[Result]], items: Iterable[Item]) -> Iterator[Result]:
        """Results in the order of the items; see `Engine.map`."""
        if self.workers:
            return self._in_processes(function, items)
        return (result for item in items for result in function(item))

    def _in_processes(self, function: Callable[[Item], Iterable[Result]], items: Iterable[Item]) -> Iterator[Result]:
        """Work some items ahead in other processes; the function is sent to each of them once."""
        waiting: deque[Future[list[Result]]] = deque()
        threads = max(1, (os.cpu_count() or 1) // self.workers)
        prepare = (_pickled(function, self.workers), threads)
        pool = ProcessPoolExecutor(self.workers, get_context("spawn"), _prepare_worker, prepare)
        is_over = False
        try:
            for item in items:
                waiting.append(pool.submit(_work, item))
                if len(waiting) > 2 * self.workers:
                    yield from waiting.popleft().result()
            while waiting:
                yield from waiting.popleft().result()
            is_over = True
        finally:
            if not is_over:  # nobody waits for what is under way
                for worker in [*(getattr(pool, "_processes", None) or {}).values()]:
                    worker.terminate()
            pool.shutdown(cancel_futures=True)


def _pickled(function: Callable[..., Any], workers: int) -> bytes:
    try:
        return pickle.dumps(function)
    except (pickle.PicklingError, AttributeError, TypeError) as error:
        raise ValueError(
            f"workers: {workers}; what they are to run cannot be sent to other processes ({error}): "
            "define its classes and functions at the top of a module, or use no workers"
        ) from error


def _prepare_worker(pickled: bytes, threads: int) -> None:
    """Keep the function; libraries that it loads share the cores with those of the other workers."""
    global _function
    if current_thread() is main_thread():  # as in every process of its own
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the parent, which ends its workers
    for name in ("OMP_NUM_THREADS", "NUMBA_NUM_THREADS"):
        os.environ.setdefault(name, str(threads))
    _function = pickle.loads(pickled)


def _work(item: Any) -> list[Any]:
    return [*_function(item)]
