"""Folders that one process at a time may work in."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock, Timeout

LOCK = ".lock"


@contextmanager
def locked(folder: Path, doing: str) -> Iterator[None]:
    """Keep a folder, which must exist, for this process until the block ends, or the process is killed.

    Raises:
        ValueError: Another process has it; ``doing`` says in the message what for.
    """
    lock = FileLock(folder / LOCK, timeout=0)
    try:
        lock.acquire()
    except Timeout:
        raise ValueError(f"{folder}: another process is {doing} there") from None
    try:
        yield
    finally:
        lock.release()


def is_unused(folder: Path) -> bool:
    """Whether there is nothing in a folder but its lock."""
    return not {path.name for path in folder.iterdir()} - {LOCK}
