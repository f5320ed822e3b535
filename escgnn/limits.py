"""How large settings may be, so that an absurd one is told before memory is taken for it. Nothing is loaded here.

Whoever needs more changes a number before use: ``escgnn.limits.MOST_NUMBERS = 1 << 30``.
"""

import shutil
from collections.abc import Iterable, Mapping
from itertools import islice
from numbers import Integral
from pathlib import Path
from typing import Any, TypeVar

T = TypeVar("T")

# Of an encoding
MOST_HOPS = 256
MOST_BINS = 1 << 20
MOST_WALK = 1000  # edges; counts are cut off at 2,147,483,647 long before
MOST_ROUNDS = 1000
LEAST_WIDTH = 1e-6
MOST_NODES = 2**31 - 1
MOST_ENTRIES = 1 << 26  # of a table in which a kernel looks bins up
MOST_POSITIONS = 1024

# Of a network
MOST_OF = {"out_channels": 1 << 20, "hidden": 1 << 16, "layers": 1000, "heads": 1024, "known_environments": 1 << 24}
MOST_NUMBERS = 1 << 28  # weights and all else that is kept; training takes some five times as much

# Of a run
MOST_SEED = 2**63 - 1
MOST_EPOCHS = 10**7
MOST_PROCESSES = 512
MOST_GRAPHS = 1 << 27  # of a split that a file holds
MOST_LEVELS = 50  # of lists and mappings within each other in a file
MOST_VALUES = 10**6  # of a file, those that it names several times counted as often

FREE = 1 << 30  # bytes of memory, where nobody says
UNITS = ("bytes", "kB", "MB", "GB", "TB", "PB", "EB")


def memory(size: int) -> str:
    """A number of bytes in words.

    >>> memory(4 * 10**16)
    '40 PB'
    """
    power = min((len(str(size)) - 1) // 3, len(UNITS) - 1)
    return f"{size / 1000**power:.3g} {UNITS[power]}" if len(str(size)) < 300 else "no end of memory"


def free_memory(*, shared: bool = False, root: Path = Path("/")) -> int:
    """Bytes that this process may still take: of the machine, and of the group of processes that it is in, such as a container.

    Args:
        shared: Whether they are for several processes.
        root: Where the system tells.
    """
    known = [_number(root / "proc/meminfo", "MemAvailable:", 1024)]
    group = root / "sys/fs/cgroup"
    limit = _number(group / "memory.max")
    used = _number(group / "memory.current")
    if limit is not None and used is not None:
        known.append(limit - used + (_number(group / "memory.stat", "inactive_file") or 0))  # files can be read again
    if shared and (root / "dev/shm").is_dir():
        known.append(shutil.disk_usage(root / "dev/shm").free)
    told = [number for number in known if number is not None]
    return max(0, min(told, default=FREE))


def _number(path: Path, name: str = "", unit: int = 1) -> int | None:
    """What a file of the system says, in the line with that name; None if it says nothing."""
    try:
        words = next(line.split() for line in path.read_text().splitlines() if line.startswith(name))
        return unit * int(words[1 if name else 0])
    except (OSError, StopIteration, ValueError, IndexError):
        return None


def whole(argument: str, value: Any, least: int, most: int | None = None) -> int:
    """An argument that has to be a whole number between these bounds.

    Raises:
        ValueError: It is none.
    """
    is_whole = isinstance(value, Integral) and not isinstance(value, bool)
    if not is_whole or value < least or (most is not None and value > most):
        expected = f"an integer >= {least}" if most is None else f"an integer from {least} to {most}"
        raise ValueError(f"{argument}: {value!r}; expected {expected}")
    return int(value)


def at_most_bins(names: Iterable[T], cause: str) -> tuple[T, ...]:
    """All names of bins; no more of them are made than there may be.

    Raises:
        ValueError: There are too many; ``cause`` says what of.
    """
    found = tuple(islice(names, MOST_BINS + 1))
    if len(found) > MOST_BINS:
        raise ValueError(f"{cause}: more than {MOST_BINS:,} bins; choose fewer")
    return found


def check_entries(entries: int, cause: str) -> None:
    """Refuse a table that would take too much memory.

    Raises:
        ValueError: It would; ``cause`` says what for.
    """
    if entries > MOST_ENTRIES:
        raise ValueError(f"{cause}: it needs a table of {memory(4 * entries)}; lower hops, or leave the part out")


def check_nesting(value: Any, where: str) -> None:
    """Refuse what a file holds if it is nested deeper than anybody writes by hand, or without end.

    Raises:
        ValueError: It is; ``where`` says in which file.
    """
    levels: Any = [value]
    seen = 0
    for _ in range(MOST_LEVELS):
        levels = [*islice((inner for outer in levels for inner in _inside(outer)), MOST_VALUES + 1)]
        seen += len(levels)
        if not levels:
            return
        if seen > MOST_VALUES:
            raise ValueError(f"{where}: holds more than {MOST_VALUES:,} values")
    raise too_deep(where)


def too_deep(where: str) -> ValueError:
    """What is said of a file in which lists or mappings lie too deep."""
    return ValueError(f"{where}: lists or mappings are nested more than {MOST_LEVELS} levels deep")


def _inside(value: Any) -> Iterable[Any]:
    if isinstance(value, Mapping):
        return value.values()
    return value if isinstance(value, list) else ()
