"""Ctrl-C ends a command soon, whatever runs, and leaves nothing behind; with real processes."""

import os
import signal
import subprocess
import sys
from contextlib import contextmanager, suppress
from dataclasses import replace

import networkx as nx

from escgnn.engines import LocalEngine
from escgnn.training import fit
from tests.jobs.toys import Interrupt
from tests.training import tiny

PATIENCE = 120  # seconds; without a way to be stopped the work would take days

WORKERS = """
import sys, time
from escgnn.engines import LocalEngine
from tests.jobs.toys import Sleep
for _ in LocalEngine(1).map(Sleep(), [0]):
    pass
"""


@contextmanager
def begun(*command, cwd):
    """A process of Python with a group of its own, as a terminal makes one: Ctrl-C goes to all of it. None outlives the block."""
    with subprocess.Popen(
        [sys.executable, *map(str, command)],
        cwd=cwd,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as process:
        try:
            yield process
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)


def read_until(stream, words):
    """The line that has these words, or the last one."""
    line = ""
    for line in stream:
        if words in line:
            break
    return line


def test_ctrl_c_ends_a_kernel_and_leaves_nothing(tmp_path):
    (tmp_path / "in.g6").write_bytes(nx.to_graph6_bytes(nx.complete_graph(120), header=False))
    command = ("-m", "escgnn", "count", "in.g6", "--pattern", "8-cycle", "-o", "out.csv")
    with begun(*command, cwd=tmp_path) as process:
        assert "graph 0, with 120 nodes and 7,140 edges, may take up to days" in process.stderr.readline()
        os.killpg(process.pid, signal.SIGINT)
        with suppress(subprocess.TimeoutExpired):
            process.wait(PATIENCE / 4)
        if (
            process.poll() is None
        ):  # Python drops the exception if it comes while something is finalised: pressed once more
            os.killpg(process.pid, signal.SIGINT)
        assert process.wait(PATIENCE) != 0
        assert "Traceback" not in process.stderr.read()
    assert [path.name for path in tmp_path.iterdir()] == ["in.g6"]


def test_ctrl_c_ends_predictions_of_workers(tmp_path):
    """While a worker is inside a kernel, with a star that would take it hours."""
    bundle = tiny.bundle(targets=1)
    bare = replace(bundle, features={})
    fit(bare, tiny.change(epochs=1, transform={"hops": 2}), tmp_path / "run", progress=False)
    leaves = "".join(f"0,0,{leaf}\n" for leaf in range(1, 100_000))
    (tmp_path / "in.csv").write_text(f"graph,source,target\n{leaves}")
    command = ("-m", "escgnn", "predict", "run", "in.csv", "-o", "out.csv", "--workers", "1")
    with begun(*command, cwd=tmp_path) as process:
        assert "graph 0, with 100,000 nodes, may take up to" in read_until(process.stderr, "may take up to")
        os.killpg(process.pid, signal.SIGINT)
        assert process.wait(PATIENCE) != 0
        assert "Traceback" not in process.stderr.read()  # it ends when nobody is left to write there
    assert {path.name for path in tmp_path.iterdir()} == {"in.csv", "run"}


def test_workers_do_not_hear_of_ctrl_c():
    """It is for the parent, which ends them."""
    assert [*LocalEngine(1).map(Interrupt(), [3, 4])] == [3, 4]


def test_ctrl_c_ends_workers_at_once(tmp_path):
    with begun("-c", WORKERS, cwd=tmp_path) as process:
        worker = int(process.stdout.readline())
        os.killpg(process.pid, signal.SIGINT)
        assert process.wait(PATIENCE) != 0
        assert process.stderr.read().count("KeyboardInterrupt") == 1  # of the parent, whose workers do not hear of it
    try:
        os.kill(worker, 0)
    except ProcessLookupError:
        return
    raise AssertionError(f"the worker {worker} goes on")
