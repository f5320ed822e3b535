"""Compiled loops. A kernel takes arrays and fills arrays; it knows no torch, no files and no options.

`kernel` holds the compiler flags, and keeps compiled code between runs without numba's two pitfalls: numba notices
an edit of the file that holds a function but not of the kernels it calls, and two processes that save at once may
swap each other's code. Here the folder's name hashes every kernel's source, and a file lock guards each save.
"""

import hashlib
import os
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

import filelock
import platformdirs

_threads = os.environ.get("NUMBA_NUM_THREADS", "1").strip()
if not (_threads.isascii() and _threads.isdigit() and int(_threads)):  # numba itself would warn with a traceback
    raise ValueError(f"NUMBA_NUM_THREADS: {_threads!r}; expected an integer from 1, or that it is not set")

import numba  # noqa: E402, it reads the variable
from numba.core import caching  # noqa: E402

F = TypeVar("F", bound=Callable[..., Any])


@cache
def _cache_folder() -> Path:
    """One private folder per text of the kernels; numba itself tells versions and processors apart."""
    digest = hashlib.sha256(numba.__version__.encode())
    for source in sorted(Path(__file__).parent.glob("*.py")):
        digest.update(source.read_bytes())
    return Path(platformdirs.user_cache_dir("escgnn")) / f"kernels-{digest.hexdigest()[:16]}"


class _Locator(caching._CacheLocator):
    """Tells numba where a kernel's code is kept and when it is stale: never, for the folder changes instead."""

    def __init__(self, name: str) -> None:
        self.name = name

    def get_cache_path(self) -> str:
        return str(_cache_folder())

    def get_source_stamp(self) -> str:
        return _cache_folder().name

    def get_disambiguator(self) -> str:
        return self.name

    @classmethod
    def from_function(cls, function: Callable[..., Any], file: str) -> "_Locator":
        return cls(Path(file).stem)


class _Store(caching.CompileResultCacheImpl):
    _locator_classes = (_Locator,)


class _KernelCache(caching.FunctionCache):
    """A cache that is at worst useless: a file that cannot be read or written means compiling once more."""

    _impl_class = _Store

    def load_overload(self, signature: Any, target: Any) -> Any:
        try:
            return super().load_overload(signature, target)
        except Exception:
            return None

    def save_overload(self, signature: Any, data: Any) -> None:
        try:
            folder = _cache_folder()
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            with filelock.FileLock(folder / "lock"):
                try:
                    super().save_overload(signature, data)
                except Exception:  # what lies there cannot be read: begin anew
                    self.flush()
                    super().save_overload(signature, data)
        except Exception:
            return


def kernel(function: F) -> F:
    """Compile on first call, release the interpreter lock, keep the code for the next process."""
    compiled = numba.njit(nogil=True)(function)
    if not numba.config.DISABLE_JIT:
        compiled._cache = _KernelCache(function)
    return compiled  # type: ignore[no-any-return]
