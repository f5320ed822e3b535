"""Which graphs are learnt from and which are judged: every split the same for the same seed.

A split is three lists of graphs; a subset is one of them: training, validation or test.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence

import numpy as np
from numpy.typing import ArrayLike

from escgnn.datasets.bundle import Index, Split
from escgnn.datasets.molecules import scaffold_of
from escgnn.readers import parse

FRACTIONS = (0.8, 0.1, 0.1)
SUBSETS = {"train": 0, "training": 0, "val": 1, "valid": 1, "validation": 1, "dev": 1, "test": 2}  # as people call them


def random_split(count: int, fractions: Sequence[float] = FRACTIONS, seed: int = 0) -> Split:
    """A shuffled split; the subsets are rounded down and the last one takes what is left.

    >>> [subset.size for subset in random_split(15)]
    [12, 1, 2]
    """
    return _cut(np.random.default_rng(seed).permutation(count), fractions)


def labelled_split(labels: Iterable[str], quote: Callable[[int], str] = "label {}".format) -> Split:
    """The split that a label on every graph says: train, valid (val, validation) or test; an empty one leaves it out.

    Args:
        labels: The labels.
        quote: What a message calls the label of this number.

    >>> labelled_split(["train", "test", "", "Valid"]).validation
    array([3])

    Raises:
        ValueError: A label is another one.
    """
    subsets: list[list[int]] = [[], [], []]
    for row, label in enumerate(labels):
        name = label.strip().lower()
        if name and name not in SUBSETS:
            raise ValueError(f"{quote(row)}; expected train, valid or test")
        if name:
            subsets[SUBSETS[name]].append(row)
    return Split(*(np.array(subset, np.int64) for subset in subsets))


def numbered_split(numbers: ArrayLike) -> Split:
    """The split that a number on every graph says: 0 training, 1 validation, 2 test."""
    return Split(*(np.flatnonzero(np.asarray(numbers) == number) for number in range(3)))


def stratified_folds(labels: ArrayLike, count: int, seed: int = 0) -> tuple[Split, ...]:
    """Cross-validation: fold i is tested, fold i + 1 chooses, the others teach; every class is dealt out evenly.

    This is the protocol of Zhang and Li 2021, which the paper's `tab:tu` follows: 80 % / 10 % / 10 % for ten folds. For
    that of Xu et al. 2019, which has no validation graphs, join training and validation.
    """
    labels = np.asarray(labels).ravel()
    rng = np.random.default_rng(seed)
    shuffled = np.concatenate([rng.permutation(np.flatnonzero(labels == label)) for label in np.unique(labels)])
    blocks = [np.sort(shuffled[i::count]) for i in range(count)]
    return tuple(_fold(blocks, i, (i + 1) % count) for i in range(count))


def block_folds(size: int, count: int) -> tuple[Split, ...]:
    """Cross-validation over consecutive blocks: block i is tested, block i of what is left chooses, the others teach."""
    folds = []
    for i in range(count):
        test = _block(np.arange(size), i, count)
        rest = np.setdiff1d(np.arange(size), test)
        validation = _block(rest, i, count)
        folds.append(Split(np.setdiff1d(rest, validation), validation, test))
    return tuple(folds)


def scaffold_split(smiles: Sequence[str], fractions: Sequence[float] = FRACTIONS) -> Split:
    """Molecules with the same Bemis-Murcko scaffold stay together; see `grouped_split`."""
    return grouped_split([scaffold_of(parse(text)) for text in smiles], fractions)


def grouped_split(groups: Sequence[str], fractions: Sequence[float] = FRACTIONS) -> Split:
    """Graphs of the same group, such as molecules with the same scaffold, stay together; no seed, no chance.

    Groups are ordered by size, the largest first, and equal ones by their first member. Each goes to training if it
    fits there whole, else to validation if it fits, else to the test graphs. Molecules without a ring are one group.
    """
    room = [int(fraction * len(groups) + 1e-9) for fraction in fractions[:2]] + [len(groups)]
    subsets: list[list[int]] = [[], [], []]
    for rows in _largest_first(groups):
        home = next(i for i in range(3) if len(subsets[i]) + len(rows) <= room[i])
        subsets[home] += rows
    return Split(*(np.array(sorted(subset), np.int64) for subset in subsets))


def grouped_folds(groups: Sequence[str], count: int) -> tuple[Split, ...]:
    """Cross-validation in which graphs of the same group stay together: the largest group goes to the smallest block.

    >>> [fold.test.tolist() for fold in grouped_folds(["a", "b", "a", "c"], 3)]
    [[0, 2], [1], [3]]

    Raises:
        ValueError: There are fewer groups than folds.
    """
    members = _largest_first(groups)
    if len(members) < count:
        raise ValueError(
            f"folds: {count}, but there are only {len(members)} groups, such as scaffolds, to keep together"
        )
    blocks: list[list[int]] = [[] for _ in range(count)]
    for rows in members:
        min(blocks, key=len).extend(rows)
    arrays = [np.array(sorted(block), np.int64) for block in blocks]
    return tuple(_fold(arrays, i, (i + 1) % count) for i in range(count))


def _largest_first(groups: Sequence[str]) -> list[list[int]]:
    """The members of every group, those of equal groups in the order of their first."""
    members = defaultdict(list)
    for row, group in enumerate(groups):
        members[group].append(row)
    return sorted(members.values(), key=len, reverse=True)  # which is stable


def _cut(order: Index, fractions: Sequence[float]) -> Split:
    bounds = [int(sum(fractions[:i]) * order.size + 1e-9) for i in (1, 2)]
    return Split(*np.split(order, bounds))


def _block(order: Index, number: int, count: int) -> Index:
    """One of so many consecutive blocks of the same length; what is left over is in none."""
    length = order.size // count
    return order[number * length : (number + 1) * length]


def _fold(blocks: list[Index], test: int, validation: int) -> Split:
    others = [block for i, block in enumerate(blocks) if i not in (test, validation)]
    return Split(np.sort(np.concatenate(others)), blocks[validation], blocks[test])
