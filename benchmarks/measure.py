"""Timing and keeping: what every benchmark shares."""

import json
import os
import shlex
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from escgnn import provenance


def best_time(job: Callable[[], Any], repeats: int = 5) -> float:
    """Seconds of the fastest of some runs, after one that warms up compiler and caches."""
    job()
    seconds = []
    for _ in range(repeats):
        start = time.perf_counter()
        job()
        seconds.append(time.perf_counter() - start)
    return min(seconds)


def in_new_process(code: str, environment: dict[str, str], *arguments: str) -> tuple[float, str]:
    """Seconds and output of a new interpreter that runs this code."""
    start = time.perf_counter()
    result = subprocess.run(
        [sys.executable, "-c", code, *arguments],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=True,
    )
    return time.perf_counter() - start, result.stdout


def record(benchmark: str, figures: dict[str, Any]) -> None:
    """Append one run to `history.jsonl`, with what it takes to read it later; of paths of this machine the last name."""
    words = shlex.split(provenance.command())
    line = {
        "benchmark": benchmark,
        "time": provenance.now(),
        "commit": provenance.commit(),
        "command": shlex.join(Path(word).name if Path(word).is_absolute() else word for word in words),
        "cores": os.cpu_count(),
        "versions": provenance.versions(),
        "figures": figures,
    }
    with (Path(__file__).parent / "history.jsonl").open("a") as history:
        history.write(json.dumps(line) + "\n")
