"""Splits: sizes that add up, labels as people write them, folds that do not overlap, groups that stay together."""

import numpy as np
import pytest

from escgnn.datasets import splits


def sizes(split):
    return [subset.size for subset in split]


@pytest.mark.parametrize(
    ("count", "fractions", "expected"),
    [
        (90, (0.7, 0.2, 0.1), [63, 18, 9]),  # in floating point 0.7 * 90 is just below 63
        (90, (0.1, 0.7, 0.2), [9, 63, 18]),
        (15, (0.8, 0.1, 0.1), [12, 1, 2]),
        (7, (0.0, 0.5, 0.5), [0, 3, 4]),
        (0, (0.8, 0.1, 0.1), [0, 0, 0]),
    ],
)
def test_fractions_are_rounded_down_but_not_by_floating_point(count, fractions, expected):
    assert sizes(splits.random_split(count, fractions, 3)) == expected
    everything = np.concatenate(splits.random_split(count, fractions, 3))
    assert sorted(everything.tolist()) == list(range(count))
    assert sizes(splits.grouped_split([str(number) for number in range(count)], fractions)) == expected


def test_random_splits_depend_on_their_seed():
    one, same, other = (splits.random_split(40, seed=seed).test.tolist() for seed in (1, 1, 2))
    assert one == same != other


def test_labels_as_people_write_them():
    labels = ["train", " Training", "val", "VALID", "validation", "dev", "test", ""]
    assert [subset.tolist() for subset in splits.labelled_split(labels)] == [[0, 1], [2, 3, 4, 5], [6]]
    with pytest.raises(ValueError, match="label 1; expected train, valid or test"):
        splits.labelled_split(["train", "holdout"])


def test_stratified_folds_teach_choose_and_test_apart():
    labels = np.repeat([0, 1, 2], [20, 10, 30])
    folds = splits.stratified_folds(labels, 5, seed=1)
    assert sorted(np.concatenate([fold.test for fold in folds]).tolist()) == list(range(60))
    for number, fold in enumerate(folds):
        assert sorted(np.concatenate(fold).tolist()) == list(range(60))
        assert np.array_equal(fold.validation, folds[(number + 1) % 5].test)
        assert np.bincount(labels[fold.test]).tolist() == [4, 2, 6]
    other = splits.stratified_folds(labels, 5, seed=2)
    assert not np.array_equal(folds[0].test, other[0].test)


def test_largest_groups_come_first_and_stay_whole():
    groups = [*"a", *"bbb", *"cc", *"dddd", *"e"]
    split = splits.grouped_split(groups, (0.6, 0.2, 0.2))  # room for 6, 2 and the rest of 11
    named = ["".join(groups[row] for row in subset) for subset in split]
    assert named == ["ccdddd", "ae", "bbb"]


def test_a_scaffold_has_no_handedness():
    pytest.importorskip("rdkit")
    left, right, flat = "C[C@@H]1CCCO1", "C[C@H]1CCCO1", "CC1CCCO1"
    bridged = ["C1C[C@@H]2CC[C@H]1O2", "C1C[C@H]2CC[C@@H]1O2", "C1CC2CCC1O2"]
    spiro = ["C1CC[C@]2(C1)CCCO2", "C1CC[C@@]2(C1)CCCO2", "C1CCC2(C1)CCCO2"]
    fused = ["C1CC[C@@H]2CNC[C@H]2C1", "C1CC[C@H]2CNC[C@H]2C1", "C1CCC2CNCC2C1"]
    for alike in ([left, right, flat], bridged, spiro, fused):
        assert len({splits.scaffold_of(splits.parse(text)) for text in alike}) == 1
        assert sizes(splits.scaffold_split([*alike, "CC"], (0.75, 0.0, 0.25))) == [3, 0, 1]
