"""Folders of runs on the Hugging Face hub: a few named files of plain values and weights, never one that could run code."""

import re
import sys
from collections.abc import Mapping
from importlib import import_module
from os import PathLike
from pathlib import Path
from typing import Any

from escgnn import disk

SCHEME = "hf:/"  # of an address such as hf://user/name; a Path makes one stroke of two
NAMES = (
    "model.json",
    "model.safetensors",
    "config.yaml",
    "metrics.csv",
    "result.json",
    "calibration.safetensors",
    "ensemble.json",
)
CARD = "README.md"
PATTERNS = [pattern for name in NAMES for pattern in (name, f"member*/{name}")]
NAME = re.compile(r"[\w.-]{1,96}/[\w.-]{1,96}", re.ASCII)

# Through which versions of huggingface_hub speak; a broken connection is no OSError of theirs.
CLIENTS = ("httpx", "httpx2")


def is_address(folder: str | PathLike[str]) -> bool:
    """Whether it names a folder on the hub."""
    return str(folder).startswith(SCHEME)


def name_of(folder: str | PathLike[str]) -> str:
    """What a run is called: as its folder, but on the hub, and where it was downloaded from there, as its repository.

    >>> name_of("hf://user/logp@main"), name_of("cache/models--user--logp/snapshots/0a1b2c"), name_of("runs/logp")
    ('logp', 'logp', 'logp')
    """
    if is_address(folder):
        return _repository(folder)[0].rpartition("/")[2]
    path = Path(folder).resolve()
    is_snapshot = path.parent.name == "snapshots" and path.parents[1].name.startswith("models--")
    return path.parents[1].name.rpartition("--")[2] if is_snapshot else path.name


def located(folder: str | PathLike[str]) -> Path:
    """The folder on this machine; of ``hf://user/name``, or ``hf://user/name@revision``, one that was downloaded.

    Only the files of a run are fetched, which are JSON, YAML, CSV and safetensors.

    Raises:
        ValueError: The address is none, or there is no such repository.
        ImportError: ``huggingface_hub`` is not installed.
    """
    if not is_address(folder):
        return Path(folder)
    name, revision = _repository(folder)
    hub = _hub()
    try:
        found = hub.snapshot_download(_checked(name), revision=revision or None, allow_patterns=PATTERNS)
    except _errors(hub) as error:
        raise ValueError(f"{folder}: {' '.join(str(error).split()):.300}") from error
    return Path(found)


def push(folder: str | PathLike[str], name: str, card: str, *, private: bool = False) -> str:
    """Put a run on the hub with its card; the address to load it from.

    Checkpoints, fingerprints of training molecules and pictures stay where they are.

    Args:
        folder: The run folder, or that of an ensemble.
        name: ``user/name`` of the repository, made if it is not there.
        card: Its README.
        private: Whether only you may see it.

    Raises:
        ValueError: The name is none, the folder holds no run, or the hub refused.
        ImportError: ``huggingface_hub`` is not installed.
    """
    files = files_of(Path(folder))
    if not any(place.endswith("model.safetensors") for place in files):
        raise ValueError(f"{folder}: no model.safetensors; a run folder has it once the first epoch is over")
    hub = _hub()
    _checked(name)
    try:
        hub.create_repo(name, private=private, exist_ok=True)
        operations = [hub.CommitOperationAdd(place, str(path)) for place, path in files.items()]
        operations.append(hub.CommitOperationAdd(CARD, card.encode()))
        hub.create_commit(name, operations, commit_message="A run of escgnn")
    except _errors(hub) as error:
        raise ValueError(f"{name}: {' '.join(str(error).split()):.300}") from error
    return f"hf://{name}"


def files_of(folder: Path) -> Mapping[str, Path]:
    """The files of a run that are shared, by their place in the folder."""
    found = [path for pattern in PATTERNS for path in sorted(folder.glob(pattern)) if path.is_file()]
    return {path.relative_to(folder).as_posix(): path for path in found}


def write_card(card: str, path: str | PathLike[str]) -> Path:
    """Write a card to a file, whole or not at all."""
    with disk.atomic(path) as draft:
        draft.write_text(card, encoding="utf-8")
    return Path(path)


def _repository(address: str | PathLike[str]) -> tuple[str, str]:
    """The repository and the revision of an address, which may be empty."""
    name, _, revision = str(address).removeprefix(SCHEME).strip("/").partition("@")
    return name, revision


def _checked(name: str) -> str:
    if not NAME.fullmatch(name):
        raise ValueError(f"name: {name!r:.100}; expected user/name, of letters, digits, dots and hyphens")
    return name


def _hub() -> Any:
    try:
        return import_module("huggingface_hub")
    except ImportError:
        raise ImportError("the hub needs huggingface_hub: pip install 'escgnn[hub]'") from None


def _errors(hub: Any) -> tuple[type[Exception], ...]:
    """What may go wrong on the way."""
    clients = [sys.modules[name].HTTPError for name in CLIENTS if name in sys.modules]
    return (hub.errors.HfHubHTTPError, OSError, *clients)
