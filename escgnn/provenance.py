"""Where a number comes from: the command that was called, the commit and the versions of what computed it, and when."""

import os
import platform
import re
import shlex
import subprocess
import sys
from collections.abc import Collection
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path

from platformdirs import user_cache_dir

from escgnn import __version__

PACKAGES = ("torch", "torch_geometric", "lightning", "torchmetrics", "numpy", "numba")
CHANGED = "-dirty"  # behind a commit whose code was changed since
THREADS = ("OMP_NUM_THREADS", "NUMBA_NUM_THREADS")
FOR_CONTRIBUTORS = "dev"  # the extra that says nothing of a user's machine
MISSING = "not installed"


def command(leave_out: Collection[str] = ()) -> str:
    """What was called, as a shell takes it; the program without its folder.

    Args:
        leave_out: Options, each with a value, that do not belong to it, such as folders of one machine.
    """
    program, *arguments = sys.argv
    kept = [Path(program).name]
    following = iter(arguments)
    for argument in following:
        if argument in leave_out:
            next(following, None)
        elif argument.partition("=")[0] not in leave_out:
            kept.append(argument)
    return shlex.join(kept)


def versions() -> dict[str, str]:
    """Versions of what decides the numbers, by name."""
    ours = {"escgnn": __version__, "python": platform.python_version()}
    return ours | {name: metadata.version(name) for name in PACKAGES}


def surroundings() -> dict[str, str]:
    """What a bug report should say, by name: versions, extras, system, threads and cache folders; the home folder is ``~``.

    Nothing is loaded for it, as loading may be what fails.
    """
    needed = _requirements()
    extras = {extra: names for extra, names in needed.items() if extra}
    complete = [extra for extra, names in extras.items() if MISSING not in map(_version, names)]
    found = {"escgnn": __version__, "commit": commit() or "none", "python": platform.python_version()}
    found |= {"system": platform.platform(), "cores": str(os.cpu_count())}
    found |= {name: os.environ.get(name, "not set") for name in THREADS}
    found |= {"data cache": _from_home(os.environ.get("ESCGNN_CACHE") or user_cache_dir("escgnn"))}
    found |= {"kernel cache": _from_home(user_cache_dir("escgnn"))}
    found |= {"extras": ", ".join(complete) or "none"}
    return found | {name: _version(name) for names in needed.values() for name in names}


def _requirements() -> dict[str, list[str]]:
    """Packages that this one needs, by the extra that they belong to, which is "" for those that are always needed."""
    try:
        stated = metadata.requires("escgnn") or []
    except metadata.PackageNotFoundError:  # a folder of sources
        return {"": [*PACKAGES]}
    found: dict[str, list[str]] = {}
    for text in stated:  # such as `rdkit>=2024.3; extra == "chem"`
        (name,) = re.findall(r"^[\w.-]+", text)
        (extra,) = re.findall(r"extra == [\"']([\w.-]+)", text) or [""]
        if extra != FOR_CONTRIBUTORS:
            found.setdefault(extra, []).append(name)
    return found


def _version(name: str) -> str:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return MISSING


def _from_home(folder: str) -> str:
    """A folder without the name of its user."""
    home = Path.home()
    path = Path(folder)
    return str(Path("~", path.relative_to(home))) if path.is_relative_to(home) else folder


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
