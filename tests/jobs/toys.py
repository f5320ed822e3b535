"""Small functions and jobs that can be sent to a process, which loads nothing heavy for them."""

import os
import signal
import time
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import ClassVar

import pyarrow as pa

from escgnn.disk import Rejected


@dataclass(frozen=True)
class Repeat:
    """Gives a number some times, and fails at one of them."""

    fails_at: int = -1

    def __call__(self, number):
        if number == self.fails_at:
            raise ArithmeticError(f"{number} is too much")
        for _ in range(number % 3):
            yield number


def variables(names):
    """What the environment of the process says under these names."""
    return [os.environ.get(name) for name in names]


@dataclass(frozen=True)
class Wait:
    """Takes long for the first item."""

    seconds: float

    def __call__(self, number):
        time.sleep(self.seconds if number == 0 else 0)
        yield number


@dataclass(frozen=True)
class Die:
    """Ends the process at one number, as a lack of memory would."""

    at: int

    def __call__(self, number):
        if number == self.at:
            os.kill(os.getpid(), signal.SIGKILL)
        yield number


@dataclass(frozen=True)
class DieOnce:
    """The same, but only the first time: a file remembers."""

    folder: Path

    def __call__(self, number):
        if number == 3 and not (self.folder / "3").exists():
            (self.folder / "3").touch()
            os.kill(os.getpid(), signal.SIGKILL)
        yield number


@dataclass(frozen=True)
class Failing:
    """A job about numbers, whatever the file; it finds a bad row, writes some others, and fails."""

    metadata: ClassVar = {}
    totals: ClassVar = ()

    def chunks(self, file):
        file.on_reject(Rejected(1, "x", "bad"))
        return iter(range(20))

    def schema(self, first):
        return pa.schema([("number", pa.int64())])

    def __call__(self, chunk):
        if chunk == 4:
            raise ArithmeticError(f"{chunk} is too much")
        yield pa.record_batch({"number": [chunk]}), SimpleNamespace(graphs=1, edges=0, rows=1, problems=()), ()


class Sleep:
    """Says who works, and then takes for ever."""

    def __call__(self, number):
        print(os.getpid(), flush=True)
        while True:
            time.sleep(number + 1)


class Interrupt:
    """Sends its own process what Ctrl-C sends, and works on."""

    def __call__(self, number):
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(0.1)
        yield number
