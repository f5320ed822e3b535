"""From a name to graphs."""

import difflib
import hashlib
import inspect
import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import Any

from escgnn.datasets import isomorphism, ogb, qm9, synthetic, tables, tu, zinc
from escgnn.datasets.bundle import DatasetBundle
from escgnn.datasets.cache import cached
from escgnn.datasets.raw import obtain
from escgnn.datasets.registry import ENTRIES, Entry

PARSERS: dict[str, Callable[..., DatasetBundle]] = {
    "counting": synthetic.counting,
    "counting_random": synthetic.counting_random,
    "exp": isomorphism.exp,
    "csl": isomorphism.csl,
    "sr25": isomorphism.sr25,
    "brec": isomorphism.brec,
    "zinc": zinc.zinc,
    "zinc_cycles": zinc.zinc_cycles,
    "qm9": qm9.qm9,
    "qm9_20k": qm9.qm9_20k,
    "ogb": ogb.ogb,
    "tu": tu.tu,
}


def load(name: str | PathLike[str], root: str | PathLike[str] | None = None, **options: Any) -> DatasetBundle:
    """A benchmark by its name, or a user's own file by its path.

    Raw files are looked for below ``root``, then below ``ESCGNN_DATA``, then in the cache folder; else they are
    downloaded. What they hold is kept in the cache folder (``ESCGNN_CACHE``), so that the next time is quick.

    Args:
        name: A name that `listing` gives, or a table or graph file; see `tables.load_table` for the latter.
        root: Folder with raw files, and the folder to download to.
        options: Of that dataset: ``count`` and ``seed`` of counting-random, ``energies`` of qm9, ``targets``, ``smiles``,
            ``split`` and others of `tables.TableOptions` for a file.

    >>> load("counting-random", count=10, seed=1).statistics.graphs
    10

    Raises:
        ValueError: The name, an option or a raw file is not good, or a file is missing and cannot be downloaded.
    """
    if str(name) not in ENTRIES and Path(name).suffix:
        path = Path(root or "", name)
        if not path.is_file():
            raise FileNotFoundError(f"{path}: there is no such file, and no dataset of this name")
        _check_options(str(name), tables.TableOptions, options)
        if not options.get("targets"):
            raise ValueError(f"targets: name the columns of {path} to predict")
        return tables.load_table(path, tables.TableOptions(**options))
    entry = entry_of(str(name))
    parse = PARSERS[entry.parser]
    settings = {**_check_options(entry.name, parse, options), **options}
    raw = obtain(entry, root)
    sha256 = raw.sha256 if raw.paths else hashlib.sha256(json.dumps([entry.name, settings]).encode()).hexdigest()

    def build() -> DatasetBundle:
        return replace(parse(raw, **options), source=entry.source, sha256=sha256)

    return cached(sha256, settings, entry.name, build)


def entry_of(name: str) -> Entry:
    """The dataset of that name.

    Raises:
        ValueError: There is none.
    """
    if name in ENTRIES:
        return ENTRIES[name]
    near = difflib.get_close_matches(name, ENTRIES, 1)
    hint = f"did you mean {near[0]!r}?" if near else f"names are {', '.join(ENTRIES)}; or give the path of a file"
    raise ValueError(f"name: unknown dataset {name!r}; {hint}")


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
