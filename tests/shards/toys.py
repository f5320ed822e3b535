"""Jobs that are quick to load and do to graphs what tests need."""

import os
import signal
import time
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import pyarrow as pa

from escgnn.jobs import Part, Tally


@dataclass(frozen=True)
class Measure:
    """The letters of every line; what it does at some lines is the fault to be tested.

    A line with ``P`` kills the process, one with ``F`` says that the disk is full, one with ``S`` takes for ever until there is a
    file ``go``, one with ``O`` has the system fail, the first two times.
    """

    folder: Path
    scale: int = 1
    totals: ClassVar = ("length",)
    metadata: ClassVar = {}

    @property
    def settings(self):
        return {"command": "measure", "scale": self.scale}

    def chunks(self, file):
        return file.rows()

    def schema(self, first):
        return pa.schema([("line", pa.int64()), ("length", pa.int64())])

    def __call__(self, rows):
        text = "".join(rows.texts)
        if "P" in text:
            os.kill(os.getpid(), signal.SIGKILL)
        if "F" in text:
            raise OSError(28, "No space left on device")
        if "O" in text:
            tried = self.folder / "tried"
            tried.write_text(tried.read_text() + "x" if tried.exists() else "x")
            if len(tried.read_text()) < 3:
                raise OSError(5, "Input/output error")
        if "S" in text:
            (self.folder / f"at-work-{os.getpid()}").touch()
            while not (self.folder / "go").exists():
                time.sleep(0.02)
        lengths = [self.scale * len(one) for one in rows.texts]
        batch = pa.record_batch([pa.array(rows.lines), pa.array(lengths)], schema=self.schema(rows))
        yield Part(batch, Tally(graphs=len(lengths), rows=len(lengths)))


MEASURE = """
import sys
from pathlib import Path
from escgnn.engines import LocalEngine
from escgnn.shards import run_shards
from tests.shards.toys import Measure
here = Path(sys.argv[1])
run_shards(Measure(here), [str(here / "in")], str(here / "out"), engine=LocalEngine(int(sys.argv[2])))
"""
