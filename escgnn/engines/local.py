"""Work on this machine: here and now, or in processes."""

import os
import pickle
import signal
import traceback
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from multiprocessing import get_context
from multiprocessing.connection import Connection, wait
from queue import SimpleQueue
from threading import Thread, current_thread, main_thread
from typing import Any

from escgnn.engines.engine import ATTEMPTS, Item, Lost, Result, WorkerLostError

THREADS = ("OMP_NUM_THREADS", "NUMBA_NUM_THREADS")  # variables that libraries read when they are loaded


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

    def map(
        self,
        function: Callable[[Item], Iterable[Result]],
        items: Iterable[Item],
        *,
        lost: Lost[Item, Result] | None = None,
        in_order: bool = True,
    ) -> Iterator[Result]:
        """What the function gives for every item; see `Engine.map`."""
        if self.workers:
            return _Processes(function, self.workers, lost, in_order).map(items)
        return (result for item in items for result in function(item))


@dataclass
class _Task:
    """An item on its way, and how many workers it has ended."""

    number: int
    item: Any
    deaths: int = 0


@dataclass
class _Slot:
    """A process, how to speak with it, and what it has not answered yet, the first of which it is at."""

    process: Any
    pipe: Connection
    tasks: deque[_Task] = field(default_factory=deque)


class _Processes:
    """A process for every slot, each with a pipe of its own, so that none can spoil what another says."""

    def __init__(
        self, function: Callable[[Any], Iterable[Any]], workers: int, lost: Lost[Any, Any] | None, in_order: bool
    ) -> None:
        self.pickled = _pickled(function, workers)
        self.workers = workers
        self.lost = lost
        self.in_order = in_order
        self.ahead = 2 if in_order else 1  # items a slot; where order does not matter, none waits behind a long one
        self.context = get_context("spawn")
        self.slots: list[_Slot] = []
        self.taken = 0  # items

    def map(self, items: Iterable[Any]) -> Iterator[Any]:
        """The results."""
        coming = (_Task(number, item) for number, item in enumerate(items))
        again: deque[_Task] = deque()  # whose worker died
        answers: dict[int, Any] = {}  # by number, until it is their turn
        turn = 0
        is_over = False
        try:
            while True:
                self._hand_out(coming, again, turn)
                if not any(slot.tasks for slot in self.slots):
                    break
                for task, answer in self._answered(again):
                    answers[task.number] = answer
                while answers and (turn in answers or not self.in_order):
                    answer = answers.pop(turn if self.in_order else next(iter(answers)))
                    turn += 1
                    if isinstance(answer, BaseException):
                        raise answer
                    yield from answer
            is_over = True
        finally:
            for slot in self.slots:
                slot.pipe.close()  # which ends a process that is idle
                if not is_over:  # nobody waits for what is under way
                    slot.process.terminate()
            for slot in self.slots:
                slot.process.join()

    def _hand_out(self, coming: Iterator[_Task], again: deque[_Task], turn: int) -> None:
        """Give every slot something to do, but not so much that results pile up before their turn."""
        for depth in range(1, self.ahead + 1):
            for place in range(self.workers):
                if place < len(self.slots) and len(self.slots[place].tasks) >= depth:
                    continue
                task = again.popleft() if again else self._following(coming, turn)
                if task is None:
                    return
                if place == len(self.slots):
                    self.slots.append(self._new_slot())
                self._send(self.slots[place], task)

    def _following(self, coming: Iterator[_Task], turn: int) -> _Task | None:
        """The next item; none while results of others wait for one that takes long."""
        if self.in_order and self.taken - turn >= 4 * self.workers:
            return None
        task = next(coming, None)
        self.taken += task is not None
        return task

    def _send(self, slot: _Slot, task: _Task) -> None:
        slot.tasks.append(task)
        with suppress(OSError):  # it is dead, which will be noticed when its answer is read
            slot.pipe.send_bytes(pickle.dumps(task.item))

    def _answered(self, again: deque[_Task]) -> list[tuple[_Task, Any]]:
        """Wait for some answers: results, or an error."""
        by_pipe = {slot.pipe: place for place, slot in enumerate(self.slots) if slot.tasks}
        found = []
        for pipe in wait([*by_pipe]):
            place = by_pipe[pipe]  # type: ignore[index]
            slot = self.slots[place]
            try:
                answer = pickle.loads(slot.pipe.recv_bytes())
            except (EOFError, OSError):
                found += self._replaced(place, again)
                continue
            found.append((slot.tasks.popleft(), answer))
        return found

    def _replaced(self, place: int, again: deque[_Task]) -> list[tuple[_Task, Any]]:
        """Put a new process in the place of one that died, of the first of its tasks as far as anybody knows."""
        slot = self.slots[place]
        slot.pipe.close()
        slot.process.join()
        at, *others = slot.tasks
        at.deaths += 1
        again.extendleft(reversed(others))
        self.slots[place] = self._new_slot()
        if at.deaths < ATTEMPTS:
            again.appendleft(at)
            return []
        reason = f"{ATTEMPTS} workers died of it, the last with exit code {slot.process.exitcode}"
        if self.lost is not None:
            return [(at, [*self.lost(at.item, reason)])]
        return [(at, WorkerLostError(f"item {at.number}: {reason}"))]

    def _new_slot(self) -> _Slot:
        ours, theirs = self.context.Pipe()
        threads = max(1, (os.cpu_count() or 1) // self.workers)
        process = self.context.Process(target=_serve, args=(theirs, self.pickled), daemon=True)
        with _cores_shared(threads):
            process.start()
        theirs.close()
        return _Slot(process, ours)


def _pickled(function: Callable[..., Any], workers: int) -> bytes:
    try:
        return pickle.dumps(function)
    except (pickle.PicklingError, AttributeError, TypeError) as error:
        raise ValueError(
            f"workers: {workers}; what they are to run cannot be sent to other processes ({error}): "
            "define its classes and functions at the top of a module, or use no workers"
        ) from error


def _serve(pipe: Connection, pickled: bytes) -> None:
    """Answer items until the pipe is closed; both directions have a thread, so that nobody waits while there is work."""
    if current_thread() is main_thread():
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the parent, which ends its workers
    items: SimpleQueue[bytes | None] = SimpleQueue()
    Thread(target=_receive, args=(pipe, items), daemon=True).start()
    function = pickle.loads(pickled)
    with ThreadPoolExecutor(1) as sender:
        while (item := items.get()) is not None:
            sender.submit(pipe.send_bytes, answer_to(function, item))


def _receive(pipe: Connection, items: "SimpleQueue[bytes | None]") -> None:
    try:
        while True:
            items.put(pipe.recv_bytes())
    except (EOFError, OSError):
        items.put(None)


@contextmanager
def _cores_shared(threads: int) -> Iterator[None]:
    """Let processes that begin now use so many threads, unless somebody has said otherwise.

    They must know before anything is loaded, and a new process first loads what the main module of this one has loaded.
    """
    added = [name for name in THREADS if name not in os.environ]
    os.environ.update(dict.fromkeys(added, str(threads)))
    try:
        yield
    finally:
        for name in added:
            del os.environ[name]


def answer_to(function: Callable[[Any], Iterable[Any]], item: bytes) -> bytes:
    """The results, or the error, as bytes."""
    try:
        return pickle.dumps([*function(pickle.loads(item))])
    except Exception as error:
        error.add_note(traceback.format_exc())
        try:
            return pickle.dumps(error)
        except Exception:
            return pickle.dumps(RuntimeError(f"{type(error).__name__}: {error}"))
