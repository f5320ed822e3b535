"""Parsed data, kept as safetensors: found by what it was made from, written whole, made again if it is damaged."""

import hashlib
import json
import shutil
import warnings
import zlib
from collections.abc import Callable, Mapping
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

from filelock import FileLock
from safetensors import SafetensorError

from escgnn.datasets import bundle as bundles
from escgnn.datasets.bundle import DatasetBundle
from escgnn.datasets.raw import cache_folder


def cached(
    sha256: str, options: Mapping[str, Any], name: str, build: Callable[[], DatasetBundle], *, version: int = 1
) -> DatasetBundle:
    """What ``build`` makes of raw data with this hash, from the cache if it is there.

    Args:
        sha256: Hash of the raw data.
        options: What else the result depends on, as plain values.
        name: For people who look into the folder.
        build: Called if there is nothing, or nothing sound, in the cache.
        version: Of ``build``; what another one made is not taken.
    """
    key = hashlib.sha256(json.dumps([version, name, sha256, options], sort_keys=True).encode()).hexdigest()
    folder = cache_folder() / "parsed" / f"{name}-{key[:16]}"
    found = _read(folder)
    if found is not None:
        return found
    made: DatasetBundle | None = None
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        with FileLock(folder.with_suffix(".lock")):
            found = _read(folder)  # another process may have been faster
            if found is None:
                made = build()
                _write(made, folder)
                found = _read(folder)
    except OSError as error:  # a folder that cannot be written to costs time, not the dataset
        made = made or build()
        warnings.warn(f"{name} is not cached: {error}", stacklevel=2)
    return found or made or build()


def _read(folder: Path) -> DatasetBundle | None:
    try:
        sums = json.loads((folder / "checksums.json").read_text())
        if any(_checksum(folder / file) != value for file, value in sums.items()):
            return None
        return bundles.read(folder)
    except (OSError, ValueError, LookupError, TypeError, SafetensorError):
        return None


def _write(bundle: DatasetBundle, folder: Path) -> None:
    draft = Path(mkdtemp(prefix=".draft-", dir=folder.parent))
    try:
        bundles.save(bundle, draft)
        sums = {path.name: _checksum(path) for path in draft.iterdir()}
        (draft / "checksums.json").write_text(json.dumps(sums))
        shutil.rmtree(folder, ignore_errors=True)  # damaged, or it would have been read
        draft.rename(folder)
    finally:
        shutil.rmtree(draft, ignore_errors=True)


def _checksum(path: Path) -> int:
    """A quick check against accidents, not against malice: nothing that is read can run."""
    value = 0
    with path.open("rb") as stream:
        while block := stream.read(1 << 22):
            value = zlib.crc32(block, value)
    return value
