"""How far a molecule is from what was learnt: the similarity to the nearest molecule of the training table."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save

from escgnn.datasets import fingerprints
from escgnn.disk import atomic

MOST_KNOWN = 50_000  # molecules that are kept, evenly out of the training table
BLOCK = 1024  # rows of a product of matrices


def save_known(texts: Sequence[str], path: Path) -> None:
    """Keep the fingerprints of training molecules, 256 bytes each, whole or not at all; none without RDKit.

    Molecules of a benchmark come with their features, so that they can be learnt where RDKit is not installed.
    """
    step = max(1, -(-len(texts) // MOST_KNOWN))
    try:
        found = fingerprints(texts[::step])
    except ImportError:
        return
    with atomic(path) as draft:
        draft.write_bytes(save({"fingerprints": found}))


def read_known(path: Path) -> NDArray[np.uint8]:
    """What `save_known` wrote, packed bits, ``(molecules, 256)``.

    Raises:
        ValueError: It is not there, or damaged.
    """
    if not path.is_file():
        raise ValueError(
            f"{path} is not there; only runs that were trained on a table of SMILES, with RDKit, know their molecules"
        )
    try:
        with safe_open(path, framework="numpy") as file:
            found: NDArray[Any] = file.get_tensor("fingerprints")
    except (SafetensorError, ValueError, TypeError) as error:
        raise ValueError(f"{path} is damaged: {error}") from error
    if found.dtype != np.uint8 or found.ndim != 2 or found.shape[1] != fingerprints([]).shape[1] or not len(found):
        raise ValueError(f"{path} is damaged: {found.dtype} {found.shape}; expected bytes, 256 for each molecule")
    return found


def similarity(texts: Sequence[str], known: NDArray[np.uint8]) -> NDArray[np.float64]:
    """Of every molecule the largest Tanimoto similarity to one that is known: 1 if it is one, by its fingerprint.

    It is the number of bits that both have divided by the number that any of the two has. A product of matrices of zeros and
    ones counts the former for all pairs at once.

    >>> similarity(["CCO", "CCN"], fingerprints(["OCC"])).round(2)
    array([1.  , 0.33])
    """
    best = np.zeros(len(texts))
    for start in range(0, len(texts), BLOCK):
        asked = _bits(fingerprints(texts[start : start + BLOCK]))  # (some, bits)
        nearest = best[start : start + BLOCK]
        for first in range(0, len(known), BLOCK):
            others = _bits(known[first : first + BLOCK])  # (others, bits)
            both = asked @ others.T  # (some, others), exact: numbers below 2^24
            any_of_two = asked.sum(1)[:, None] + others.sum(1)[None] - both
            np.maximum(nearest, (both / np.maximum(any_of_two, 1)).max(1), out=nearest)
    return best


def _bits(packed: NDArray[np.uint8]) -> NDArray[np.float32]:
    return np.unpackbits(packed, axis=1).astype(np.float32)
