"""Ctrl-C ends a command soon, whatever runs, and leaves nothing behind; with real processes."""

import os
import signal
import subprocess
import sys

import networkx as nx

PATIENCE = 120  # seconds; without a way to be stopped the work would take days

WORKERS = """
import sys, time
from escgnn.engines import LocalEngine
from tests.jobs.toys import Sleep
for _ in LocalEngine(1).map(Sleep(), [0]):
    pass
"""


def begin(*command, cwd):
    return subprocess.Popen(
        [sys.executable, *map(str, command)],
        cwd=cwd,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,  # as a terminal does, whose Ctrl-C goes to the whole group
    )


def test_ctrl_c_ends_a_kernel_and_leaves_nothing(tmp_path):
    (tmp_path / "in.g6").write_bytes(nx.to_graph6_bytes(nx.complete_graph(120), header=False))
    command = ("-m", "escgnn.cli", "count", "in.g6", "--pattern", "8-cycle", "-o", "out.csv")
    with begin(*command, cwd=tmp_path) as process:
        assert "graph 0, with 120 nodes and 7,140 edges, may take up to days" in process.stderr.readline()
        os.killpg(process.pid, signal.SIGINT)
        assert process.wait(PATIENCE) != 0
        assert "Traceback" not in process.stderr.read()
    assert [path.name for path in tmp_path.iterdir()] == ["in.g6"]


def test_ctrl_c_ends_workers_at_once(tmp_path):
    with begin("-c", WORKERS, cwd=tmp_path) as process:
        worker = int(process.stdout.readline())
        os.killpg(process.pid, signal.SIGINT)
        assert process.wait(PATIENCE) != 0
        assert process.stderr.read().count("KeyboardInterrupt") == 1  # of the parent, whose workers do not hear of it
    try:
        os.kill(worker, 0)
    except ProcessLookupError:
        return
    raise AssertionError(f"the worker {worker} goes on")
