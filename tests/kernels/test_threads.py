import os
import signal
import time
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context
from threading import Barrier, Event

import pytest

from escgnn import graphs
from escgnn.encoding import RootedEncoding
from escgnn.kernels import threads


@pytest.mark.parametrize("total", [0, 1, 7, 100])
@pytest.mark.parametrize("block", [1, 3, 200])
@pytest.mark.parametrize("workers", [1, 4])
def test_blocks_come_in_order_and_cover_everything(total, block, workers):
    parts = threads.over_blocks(lambda start, stop: list(range(start, stop)), total, block, workers)
    assert [i for part in parts for i in part] == list(range(total))
    assert all(0 < len(part) <= block for part in parts)


def test_errors_reach_the_caller():
    def fail(start, stop):
        raise ValueError(f"block {start}")

    for workers in (1, 2, 4):
        with pytest.raises(ValueError, match="block 0"):
            threads.over_blocks(fail, 10, 2, workers)


def test_of_several_errors_the_first_is_told():
    """However they race: here both blocks have begun before either fails."""
    both = Barrier(2)

    def fail(start, stop):
        both.wait(timeout=60)
        raise ValueError(f"block {start}")

    with pytest.raises(ValueError, match="block 0"):
        threads.over_blocks(fail, 2, 1, 2)


def test_a_watch_ends_with_its_block():
    """Of work that takes longer than it takes to look at the clock."""

    def work(start, stop):
        time.sleep(2 * threads.TICK)
        return start

    with pytest.raises(threads.TooLongError), threads.watched(until=0.0):
        threads.over_blocks(work, 1, 1, halt=threads.new_halt())
    assert threads.over_blocks(work, 1, 1, halt=threads.new_halt()) == [0]


def test_ctrl_c_between_two_helpers_ends_the_first(monkeypatch):
    """It would go on for days otherwise, with nobody who waits for it, and Python waits for its thread before it ends."""
    halt, begun, ended = threads.new_halt(), Event(), Event()

    def work(start, stop):
        begun.set()
        for _ in range(2000):
            if halt[0]:
                ended.set()
                return
            time.sleep(0.01)

    class Interrupted(ThreadPoolExecutor):
        def submit(self, *args):
            if begun.is_set():
                raise KeyboardInterrupt
            future = super().submit(*args)
            begun.wait(60)
            return future

    with Interrupted(2) as pool:
        monkeypatch.setattr(threads, "_pool", pool)
        with pytest.raises(KeyboardInterrupt):
            threads.over_blocks(work, 2, 1, 2, halt=halt)
    assert ended.is_set()


def test_several_python_threads_at_once():
    graph, encoding = graphs.molecule_like(60), RootedEncoding(3)
    expected = encoding.rows(graph)
    with ThreadPoolExecutor(6) as pool:
        for rows in pool.map(lambda _: encoding.rows(graph, threads=2), range(24)):
            assert (rows.bin == expected.bin).all()
            assert (rows.count == expected.count).all()


@pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning")
def test_a_forked_child_makes_its_own_pool():
    graph, encoding = graphs.molecule_like(60), RootedEncoding(3)
    expected = encoding.rows(graph, threads=2)
    child = os.fork()
    if child == 0:
        signal.alarm(60)  # or a child that waits for threads that it does not have would wait for ever
        same = (encoding.rows(graph, threads=2).bin == expected.bin).all()
        os._exit(0 if same else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


@pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning")
def test_a_forked_child_does_not_wait_for_threads_of_its_parent():
    """Of long work the pool does all, so a pool without threads would never end it."""

    def long_work():
        return threads.over_blocks(lambda start, stop: stop - start, 4, 1, 2, halt=threads.new_halt())

    long_work()
    child = os.fork()
    if child == 0:
        signal.alarm(20)
        os._exit(0 if long_work() == [1] * 4 else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


@pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning")
@pytest.mark.parametrize("method", ["fork", "forkserver"])
def test_processes_encode_after_their_parent_has(method):
    """What has been used, with all that it keeps, can be sent to another process and used there."""
    graph, encoding = graphs.molecule_like(60), RootedEncoding((1, 3))
    expected = encoding.rows(graph, threads=2)
    with ProcessPoolExecutor(1, get_context(method)) as pool:
        rows = pool.submit(encoding.rows, graph, threads=2).result()
    assert (rows.bin == expected.bin).all() and (rows.count == expected.count).all()
