"""From a name to graphs. A new dataset is a module with `ENTRIES` and its place in `MODULES`, or a call of `register`."""

import difflib
import hashlib
import inspect
import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import Any

from escgnn.datasets import isomorphism, ogb, qm9, qm9_positions, synthetic, tables, tu, zinc
from escgnn.datasets.bundle import DatasetBundle
from escgnn.datasets.cache import cached
from escgnn.datasets.entry import Entry
from escgnn.datasets.raw import obtain

MODULES = (synthetic, isomorphism, zinc, qm9, qm9_positions, ogb, tu)  # in the order in which datasets are listed
DATASETS: dict[str, Entry] = {entry.name: entry for module in MODULES for entry in module.ENTRIES}


def load(name: str | PathLike[str], root: str | PathLike[str] | None = None, **options: Any) -> DatasetBundle:
    """A benchmark by its name, or a user's own file by its path.

    Raw files are looked for below ``root``, then below ``ESCGNN_DATA``, then in the cache folder; else they are
    downloaded. What they hold is kept in the cache folder (``ESCGNN_CACHE``), so that the next time is quick.

    Args:
        name: A name that `listing` gives, or a table or graph file; see `tables.load_table` for the latter.
        root: Folder with raw files, and the folder to download to.
        options: Of that dataset: ``count`` and ``seed`` of counting-random, ``energies`` of qm9, ``descriptors`` of
            ogbg-molhiv and ogbg-molpcba, ``targets``, ``smiles``, ``split`` and others of `tables.TableOptions` for a file.

    >>> load("counting-random", count=10, seed=1).statistics.graphs
    10

    Raises:
        ValueError: The name, an option or a raw file is not good, or a file is missing and cannot be downloaded.
    """
    if is_own_file(name):
        return _load_file(Path(root or "", name), options)
    entry = entry_of(str(name))
    settings = {**_check_options(entry.name, entry.parse, options), **options}
    raw = obtain(entry, root)
    sha256 = raw.sha256
    if not raw.paths:
        recipe = json.dumps([entry.name, settings])
        sha256 = hashlib.sha256(recipe.encode()).hexdigest()

    def build() -> DatasetBundle:
        return replace(entry.parse(raw, **options), source=entry.source, sha256=sha256)

    return cached(sha256, settings, entry.name, build, version=entry.version)


def is_own_file(name: str | PathLike[str]) -> bool:
    """Whether a name is that of a user's file, and not of a benchmark; the file need not be there.

    >>> is_own_file("molecules.csv"), is_own_file("zinc-12k")
    (True, False)
    """
    return str(name) not in DATASETS and bool(Path(name).suffix)


def register(*entries: Entry) -> None:
    """Make datasets of your own known by name, as long as the program runs, to `load`, `listing` and `verify`.

    Raises:
        ValueError: Another dataset has that name.
    """
    for entry in entries:
        if DATASETS.get(entry.name, entry) != entry:
            raise ValueError(f"name: {entry.name!r} is another dataset already; expected a new name")
        DATASETS[entry.name] = entry


def entry_of(name: str) -> Entry:
    """The dataset of that name.

    Raises:
        ValueError: There is none.
    """
    if name in DATASETS:
        return DATASETS[name]
    near = difflib.get_close_matches(name, DATASETS, 1)
    hint = f"did you mean {near[0]!r}?" if near else f"names are {', '.join(DATASETS)}; or give the path of a file"
    raise ValueError(f"name: unknown dataset {name!r}; {hint}")


def defaults(name: str) -> Mapping[str, Any]:
    """Settings to train a dataset with; none for a user's own file, and where nothing is learnt.

    >>> defaults("counting")["epochs"]
    1000
    """
    return DATASETS[name].defaults if name in DATASETS else {}


def _load_file(path: Path, options: Mapping[str, Any]) -> DatasetBundle:
    """The graphs and targets of a user's own file."""
    if not path.is_file():
        raise FileNotFoundError(f"{path}: there is no such file, and no dataset of this name")
    _check_options(str(path), tables.TableOptions, options)
    if not options.get("targets"):
        raise ValueError(f"targets: name the columns of {path} to predict")
    return tables.load_table(path, tables.TableOptions(**options))


def _check_options(name: str, function: Callable[..., Any], options: Mapping[str, Any]) -> dict[str, Any]:
    """Complain about options that the function does not have; else give those that it has, with their defaults."""
    known = {
        option.name: option.default
        for option in inspect.signature(function).parameters.values()
        if option.kind is option.KEYWORD_ONLY
    }
    for option in options:
        if option not in known:
            raise ValueError(f"{option}: {name} has no such option; it has {', '.join(known) or 'none'}")
    return known
