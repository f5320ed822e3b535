"""Where a number comes from: the command that was called, the commit and the versions of what computed it, and when."""

import platform
import shlex
import subprocess
import sys
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path

from escgnn import __version__

PACKAGES = ("torch", "torch_geometric", "lightning", "torchmetrics", "numpy", "numba")
CHANGED = "-dirty"  # behind a commit whose code was changed since


def command() -> str:
    """What was called, as a shell takes it; the program without its folder."""
    program, *arguments = sys.argv
    return shlex.join([Path(program).name, *arguments])


def versions() -> dict[str, str]:
    """Versions of what decides the numbers, by name."""
    ours = {"escgnn": __version__, "python": platform.python_version()}
    return ours | {name: metadata.version(name) for name in PACKAGES}


def now() -> str:
    """Date and time, UTC, to the second."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def commit() -> str | None:
    """The commit of this code, None if it does not run from a repository; ends in "-dirty" if the code has changed since."""
    package = Path(__file__).parent
    try:
        top, head = _git(package, "rev-parse", "--show-toplevel", "HEAD").split("\n")[:2]
        changes = _git(package, "status", "--porcelain", "--untracked-files=no", "--", ".")
    except (OSError, subprocess.SubprocessError):
        return None
    is_ours = Path(top, package.name).resolve() == package.resolve()
    if not is_ours:
        return None
    return head + CHANGED if changes else head


def _git(folder: Path, *arguments: str) -> str:
    command = ["git", "--no-optional-locks", "-C", str(folder), *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=10, check=True).stdout
