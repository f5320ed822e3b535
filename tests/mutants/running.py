"""Runs tests on a copy of the repository: each time in a fork of this process, in which what takes long is loaded already."""

import ctypes
import gc
import importlib.util
import itertools
import math
import multiprocessing
import os
import resource
import shutil
import signal
import sys
import tempfile
import time
import warnings
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from pathlib import Path

import numba
import psutil
import pytest
from hypothesis import Phase, settings

LIBRARIES = (
    *("numba", "torch", "torch_geometric.transforms", "torch_geometric.nn", "torch_geometric.loader"),
    *("lightning.pytorch.callbacks", "lightning.pytorch.strategies", "torchmetrics.functional.classification"),
    *("networkx.algorithms.isomorphism", "scipy.stats", "scipy.sparse.csgraph", "sklearn.metrics", "sklearn.pipeline"),
    *("sklearn.model_selection", "pyarrow.csv", "pyarrow.parquet", "pyarrow.compute", "pydantic.main", "rich.progress"),
    *("safetensors.torch", "rdkit.Chem.Scaffolds.MurckoScaffold", "optuna", "matplotlib.pyplot", "hypothesis"),
    *("safetensors.numpy", "igraph", "yaml", "typer.testing", "filelock", "platformdirs", "xdist.plugin"),
)
FORGOTTEN = ("escgnn", "tests", "benchmarks", "conftest")  # packages that a fork loads from its own copy
LEFT_OUT = (".git", ".venv", ".mutants", "__pycache__", ".*_cache", ".hypothesis", "site")
ENDLESS = "it never ends"
# Nobody asks why a test fails, so nothing is made smaller, compared or shown.
settings.register_profile(
    "mutants", deadline=None, database=None, report_multiple_bugs=False, phases=(Phase.explicit, Phase.generate)
)
OPTIONS = (
    *("-x", "-q", "--tb=no", "--assert=plain", "-p", "no:cacheprovider"),
    *("--hypothesis-profile=mutants", "--hypothesis-seed=0"),
)
STUCK = 240  # seconds after which a process that hardly works waits for what never comes
HARDLY = 2.0  # seconds of a processor that it works in that time, to look whether that has come
LOOK = 15  # seconds between two looks at how much work there was
MOST_BYTES = 6 << 30  # of memory that tests may take
PR_SET_PDEATHSIG = 1  # of Linux
GUESS = 1.0  # seconds that a test of which nothing is known is thought to take
SECONDS = itertools.count(math.ceil(time.time()))
Forks = multiprocessing.get_context("fork")


@dataclass(frozen=True)
class Trial:
    """What came of running some tests: the first that failed, nothing if none did, and the seconds of a processor it took."""

    failed: str
    seconds: float
    broken: str = ""  # why the tests could not be run


@dataclass(frozen=True)
class Manner:
    """How tests run.

    Attributes:
        patience: Seconds of a processor that they may take.
        interpreted: Whether kernels run as plain Python.
        apart: Whether what is compiled is kept apart, for these kernels are not the ones that people use.
    """

    patience: int
    interpreted: bool = False
    apart: bool = False


@dataclass(frozen=True)
class Order:
    """Which tests run, and which of them first: whoever may notice soon.

    Attributes:
        tests: What is collected, as pytest takes it.
        first: The test that noticed the last time.
        seconds: How long tests took at best, to pass or to fail, in seconds of a processor; the quickest come first.
        only: How the names of the tests to run begin; all run if there are none.
    """

    tests: tuple[str, ...]
    first: str = ""
    seconds: Mapping[str, float] = field(default_factory=dict)
    only: frozenset[str] = frozenset()

    def place(self, test: str) -> tuple[bool, float]:
        """Where a test stands: those with a smaller place come before it."""
        return test != self.first, self.seconds.get(test, self._guess(test))

    def _guess(self, test: str) -> float:
        """Seconds of a test of which nothing is known: those of the slowest with other parameters, but it may have no end."""
        name = test.partition("[")[0]
        return max([GUESS, *(took for other, took in self.seconds.items() if other.partition("[")[0] == name)])


class Watch:
    """Sees to the order of tests, tells how long they take, and remembers the first that fails or cannot be loaded."""

    def __init__(self, order: Order, sender: Connection) -> None:
        self.order = order
        self.sender = sender
        self.failed = ""
        self._before = 0.0  # seconds of a processor before the test that runs

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Called by pytest."""
        beginnings = tuple(self.order.only) or ("",)
        items[:] = [item for item in items if item.nodeid.startswith(beginnings)]
        items.sort(key=lambda item: self.order.place(item.nodeid))

    def pytest_runtest_logstart(self) -> None:
        """Called by pytest, before anything is set up for a test."""
        self._before = _processor()

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Called by pytest, for what is set up, the test, and what is taken down."""
        if report.failed:
            self.failed = self.failed or report.nodeid

    def pytest_runtest_logfinish(self, nodeid: str) -> None:
        """Called by pytest, after everything is taken down."""
        self.sender.send((nodeid, round(_processor() - self._before, 2)))

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
    """Tests that run in a fork, on a copy of the repository.

    Attributes:
        seconds: How long those tests took that have passed or failed.
    """

    def __init__(self, tree: Path, order: Order, manner: Manner) -> None:
        self.tree = tree
        self.seconds: dict[str, float] = {}
        self.patience = manner.patience
        self._end: tuple[int, str, float, str] | None = (
            None  # pytest's exit code, who failed, seconds, what was printed
        )
        self._heard, sender = Forks.Pipe(duplex=False)
        self._process: BaseProcess = Forks.Process(target=_work, args=(tree, order, manner, sender))
        self._process.start()
        sender.close()
        self._worked = 0.0  # seconds of a processor, when it was last looked at
        self._looked = time.perf_counter()  # when that was
        self._idle = 0.0  # seconds since there was work

    @property
    def sentinel(self) -> int:
        """What `wait` waits for."""
        return self._process.sentinel

    def trial(self) -> Trial | None:
        """What came of it; None if it goes on. One that waits for what never comes is ended, and has failed."""
        is_over = not self._process.is_alive() or self._is_stuck()
        self._listen()
        if not is_over:
            return None
        self.end()
        if self._process.exitcode in (-signal.SIGXCPU, -signal.SIGKILL):
            return Trial(ENDLESS, self.patience)
        if self._end is None:
            return Trial(f"the process died, {self._process.exitcode}", 0)
        code, failed, seconds, output = self._end
        if code not in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED, pytest.ExitCode.INTERRUPTED):
            return Trial("", seconds, output[-2000:])
        return Trial(failed, seconds)

    def end(self) -> None:
        """End it, and whatever it has started, also what is in sessions of its own."""
        assert self._process.pid is not None
        started = _family(self._process.pid)
        with suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        for one in started[1:]:
            with suppress(psutil.NoSuchProcess):
                one.kill()
        self._process.join()
        shutil.rmtree(_scratch(self.tree), ignore_errors=True)

    def _is_stuck(self) -> bool:
        """Whether it, and what it has started, has hardly worked for long, on however busy a machine."""
        passed = time.perf_counter() - self._looked
        if passed > LOOK:
            self._looked += passed
            self._idle += min(passed, 2 * LOOK)  # if nobody has looked for longer, both were paused
            worked = _work_of(self._process.pid or 0)
            if abs(worked - self._worked) > HARDLY:  # less, if somebody has ended
                self._worked = worked
                self._idle = 0.0
        return self._idle > STUCK

    def _listen(self) -> None:
        """Take what the fork has said: names and seconds of tests, and how it ended."""
        with suppress(EOFError):
            while self._heard.poll():
                said = self._heard.recv()
                if len(said) == 2:
                    self.seconds[said[0]] = said[1]
                else:
                    self._end = said


def finished(runs: list[Run]) -> list[tuple[Run, Trial]]:
    """Wait until some of these runs have ended, and give them."""
    while True:
        wait([run.sentinel for run in runs], timeout=1)
        done = [(run, trial) for run in runs if (trial := run.trial()) is not None]
        if done:
            return done


def _family(pid: int) -> list[psutil.Process]:
    """A process, and all that it has started; nothing if it has ended."""
    try:
        process = psutil.Process(pid)
        return [process, *process.children(recursive=True)]
    except psutil.NoSuchProcess:
        return []


def _work_of(pid: int) -> float:
    """Seconds of a processor that a process took, and those that it started."""
    total = 0.0
    for one in _family(pid):
        with suppress(psutil.NoSuchProcess):
            total += sum(one.cpu_times()[:4])  # also of those that have ended
    return total


def _processor() -> float:
    """Seconds of a processor that this process took, and those that it started."""
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system


def _scratch(tree: Path) -> Path:
    """Where the tests of a copy put what they need for a while."""
    return tree.with_suffix(".tmp")


def _work(tree: Path, order: Order, manner: Manner, sender: Connection) -> None:
    """In the fork: forget what was loaded from elsewhere, and run."""
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    os.setsid()  # whatever the tests start can be ended with them
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)  # and ends if whoever asked is gone
    resource.setrlimit(resource.RLIMIT_DATA, (MOST_BYTES, MOST_BYTES))  # lists without end are noticed soon
    resource.setrlimit(resource.RLIMIT_CPU, (math.ceil(_processor()) + manner.patience, resource.RLIM_INFINITY))
    output = tree.with_suffix(".log")
    with output.open("w") as stream:
        os.dup2(stream.fileno(), 1)
        os.dup2(stream.fileno(), 2)
    os.chdir(tree)
    _scratch(tree).mkdir(exist_ok=True)
    tempfile.tempdir = os.environ["TMPDIR"] = str(_scratch(tree))
    os.environ["PYTHONPATH"] = str(tree)
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # or every fork would compile everything again
    sys.dont_write_bytecode = False
    sys.path[:] = [str(tree), *(path for path in sys.path if path not in ("", str(Path(__file__).parents[2])))]
    for name in [*sys.modules]:
        if name.partition(".")[0] in FORGOTTEN:
            del sys.modules[name]
    if manner.apart:
        os.environ["XDG_CACHE_HOME"] = str(tree.with_suffix(".cache"))
    if manner.interpreted:
        os.environ["NUMBA_DISABLE_JIT"] = "1"
        numba.config.DISABLE_JIT = 1
    watch = Watch(order, sender)
    code = pytest.main([*OPTIONS, *order.tests], plugins=[watch])
    tested = importlib.util.find_spec("escgnn")
    if tested is None or not Path(str(tested.origin)).is_relative_to(tree):
        code = pytest.ExitCode.USAGE_ERROR
        print(f"{tested} was tested; expected the copy in {tree}")
    sys.stdout.flush()
    sender.send((code, watch.failed, round(_processor(), 1), output.read_text()))
