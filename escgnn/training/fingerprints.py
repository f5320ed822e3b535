"""Hashes of the graphs that a run was trained with, and its split as a short text."""

import base64
import hashlib
import zlib
from collections.abc import Collection
from typing import Any

import numpy as np
from torch import Tensor

from escgnn import limits
from escgnn.datasets import DatasetBundle, Split
from escgnn.store import GraphStore


def fingerprint(bundle: DatasetBundle) -> str:
    """Hash of the graphs that are trained, chosen and judged with, in their order, and of what is asked of them."""
    digest = hashlib.sha256(repr((bundle.task, sorted(bundle.features.items()))).encode())
    for graphs in (bundle.train, bundle.validation, bundle.test):
        _add_graphs(digest, graphs)
    return digest.hexdigest()


def hash_graphs(graphs: GraphStore) -> str:
    """Hash of graphs in their order, whatever is asked of them."""
    digest = hashlib.sha256()
    _add_graphs(digest, graphs, ignore={"y", "descriptors"})
    return digest.hexdigest()


def _add_graphs(digest: Any, graphs: GraphStore, ignore: Collection[str] = ()) -> None:
    digest.update(f"{len(graphs)}".encode())
    for start in range(0, len(graphs), 4096):
        batch = graphs.batch(range(start, min(start + 4096, len(graphs))))
        for name, values in batch:
            if isinstance(values, Tensor) and name not in ignore:
                digest.update(f"{name} {values.dtype} {tuple(values.shape)}".encode())
                digest.update(values.contiguous().numpy().data)


def pack_split(split: Split, count: int) -> str:
    """A split of so many graphs as a short text.

    >>> unpack_split(pack_split(Split(np.array([2, 0]), np.array([1]), np.array([1])), 4)).train
    array([0, 2])
    """
    parts = np.zeros(count, np.uint8)
    for place, index in enumerate(split):
        parts[index] |= 1 << place
    return base64.b64encode(zlib.compress(parts.tobytes(), 9)).decode()


def unpack_split(text: str) -> Split:
    """The split, every part in order.

    Raises:
        ValueError: It is cut off, or of more graphs than anybody has.
    """
    unpacking = zlib.decompressobj()
    parts = np.frombuffer(unpacking.decompress(base64.b64decode(text), limits.MOST_GRAPHS), np.uint8)
    if not unpacking.eof:
        raise ValueError(f"split: damaged, or of more than {limits.MOST_GRAPHS:,} graphs")
    return Split(*(np.flatnonzero(parts & 1 << place) for place in range(len(Split._fields))))
