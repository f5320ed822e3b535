"""Runs tests on a copy of the repository: each time in a fork of this process, in which what takes long is loaded already."""

import gc
import importlib
import itertools
import math
import multiprocessing
import os
import resource
import shutil
import signal
import sys
import time
import warnings
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from pathlib import Path

import numba
import pytest

LIBRARIES = (
    *("numba", "torch", "torch_geometric.transforms", "torch_geometric.nn", "lightning.pytorch", "torchmetrics"),
    *("networkx", "scipy.stats", "pyarrow.csv", "pyarrow.parquet", "pyarrow.compute", "pydantic", "rich.progress"),
    *("safetensors.torch", "sklearn.base", "rdkit.Chem", "optuna", "matplotlib.pyplot", "hypothesis", "igraph", "yaml"),
)
FORGOTTEN = ("escgnn", "tests", "benchmarks", "conftest")  # packages that a fork loads from its own copy
LEFT_OUT = (".git", ".venv", ".mutants", "__pycache__", ".*_cache", ".hypothesis", "site")
ENDLESS = "it never ends"
STUCK = 600  # seconds after which a process that does nothing is ended
SECONDS = itertools.count(math.ceil(time.time()))
Forks = multiprocessing.get_context("fork")


@dataclass(frozen=True)
class Trial:
    """What came of running some tests: the first that failed, nothing if none did, and how long it took."""

    failed: str
    seconds: float
    broken: str = ""  # why the tests could not be run


class Watch:
    """Remembers the first test that fails, or the first file that cannot even be collected."""

    def __init__(self) -> None:
        self.failed = ""

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Called by pytest."""
        if report.failed:
            self.failed = self.failed or report.nodeid

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """Called by pytest."""
        if report.failed:
            self.failed = self.failed or f"{report.nodeid} cannot be loaded"


def load_libraries() -> None:
    """Load what every fork needs, except what is tested; a library that is not there is left to the tests."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name in LIBRARIES:
            try:
                importlib.import_module(name)
            except ImportError:
                continue
        numba.njit(lambda number: number)(1)  # the first call loads as much again
    gc.freeze()  # or every fork would look through all that is loaded, to see what is garbage


def copy_tree(root: Path, tree: Path) -> Path:
    """A copy of the repository without what git does not know."""
    shutil.copytree(root, tree, ignore=shutil.ignore_patterns(*LEFT_OUT), symlinks=True)
    return tree


def put(path: Path, text: str) -> None:
    """Change a file of a copy, and its second: by that and the size Python knows whether compiled code is still good."""
    path.write_text(text)
    later = next(SECONDS)
    os.utime(path, (later, later))


class Run:
    """Tests that run in a fork, on a copy of the repository."""

    def __init__(self, tree: Path, tests: tuple[str, ...], interpreted: bool, patience: int) -> None:
        self.tree = tree
        self.began = time.perf_counter()
        self._result, sender = Forks.Pipe(duplex=False)
        self._process: BaseProcess = Forks.Process(target=_work, args=(tree, tests, interpreted, patience, sender))
        self._process.start()
        sender.close()

    @property
    def sentinel(self) -> int:
        """What `wait` waits for."""
        return self._process.sentinel

    def trial(self) -> Trial | None:
        """What came of it; None if it goes on. One that takes far too long is ended, and has failed."""
        took = round(time.perf_counter() - self.began, 1)
        if self._process.is_alive() and took < STUCK:
            return None
        self.end()
        if self._process.exitcode in (-signal.SIGXCPU, -signal.SIGKILL):
            return Trial(ENDLESS, took)
        try:
            code, failed, output = self._result.recv()
        except EOFError:
            return Trial(f"the process died, {self._process.exitcode}", took)
        if code not in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED, pytest.ExitCode.INTERRUPTED):
            return Trial("", took, output[-2000:])
        return Trial(failed, took)

    def end(self) -> None:
        """End it, and whatever it has started."""
        assert self._process.pid is not None
        with suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.join()


def finished(runs: list[Run]) -> list[tuple[Run, Trial]]:
    """Wait until some of these runs have ended, and give them."""
    while True:
        wait([run.sentinel for run in runs], timeout=1)
        done = [(run, trial) for run in runs if (trial := run.trial()) is not None]
        if done:
            return done


def _work(tree: Path, tests: tuple[str, ...], interpreted: bool, patience: int, sender: Connection) -> None:
    """In the fork: forget what was loaded from elsewhere, and run."""
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    os.setsid()  # whatever the tests start can be ended with them
    used = math.ceil(time.process_time())
    resource.setrlimit(resource.RLIMIT_CPU, (used + patience, resource.RLIM_INFINITY))
    output = tree.with_suffix(".log")
    with output.open("w") as stream:
        os.dup2(stream.fileno(), 1)
        os.dup2(stream.fileno(), 2)
    os.chdir(tree)
    os.environ["PYTHONPATH"] = str(tree)
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # or every fork would compile everything again
    sys.dont_write_bytecode = False
    sys.path[:] = [str(tree), *(path for path in sys.path if path not in ("", str(Path(__file__).parents[2])))]
    for name in [*sys.modules]:
        if name.partition(".")[0] in FORGOTTEN:
            del sys.modules[name]
    if interpreted:
        os.environ["NUMBA_DISABLE_JIT"] = "1"
        numba.config.DISABLE_JIT = 1
    watch = Watch()
    options = ["-x", "-q", "-p", "no:cacheprovider", "--hypothesis-seed=0"]
    options += ["-W", "ignore::pytest.PytestAssertRewriteWarning"]  # of plugins, which are loaded already
    code = pytest.main([*options, *tests], plugins=[watch])
    import escgnn

    if not Path(escgnn.__file__).is_relative_to(tree):
        code = pytest.ExitCode.USAGE_ERROR
        print(f"{escgnn.__file__} was tested; expected the copy in {tree}")
    sys.stdout.flush()
    sender.send((code, watch.failed, output.read_text()))
