"""Sums of decision trees as plain arrays: what scikit-learn grows, kept and used without running anything that is loaded."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
CELLS = 1 << 22  # of rows times trees that are walked at once
ARRAYS = ("feature", "threshold", "left", "right", "value", "roots", "start")


@dataclass(frozen=True, eq=False)
class Trees:
    """Trees side by side; a row falls in each to a leaf, and the sum of the leaves' values is what they say.

    Attributes:
        feature: The number that a node asks for, ``(nodes,)``.
        threshold: A row whose number is not above it goes left, in single precision.
        left: The node on the left, -1 for a leaf.
        right: The node on the right.
        value: What a leaf says, ``(nodes, outputs)``.
        roots: The first node of each tree.
        start: What is added to the sum, ``(outputs,)``.
    """

    feature: Array
    threshold: Array
    left: Array
    right: Array
    value: Array
    roots: Array
    start: Array

    def __call__(self, numbers: NDArray[np.float32]) -> NDArray[np.float64]:
        """What the trees say of rows, ``(rows, outputs)``."""
        found = np.tile(self.start, (len(numbers), 1))
        step = max(1, CELLS // max(1, len(self.roots)))
        for first in range(0, len(numbers), step):
            some = numbers[first : first + step]
            rows = np.arange(len(some))[:, None]
            node = np.tile(self.roots, (len(some), 1))  # (rows, trees)
            while (inner := self.left[node] >= 0).any():
                is_left = some[rows, self.feature[node]] <= self.threshold[node]
                node = np.where(inner, np.where(is_left, self.left[node], self.right[node]), node)
            found[first : first + step] += self.value[node].sum(1, dtype=np.float64)
        return found

    @classmethod
    def joined(cls, trees: Sequence[Mapping[str, Array]], start: Array) -> "Trees":
        """Trees of single arrays, whose nodes count from 0, as one."""
        sizes = [len(tree["left"]) for tree in trees]
        roots = np.cumsum([0, *sizes[:-1]])
        moved = {
            name: np.concatenate(
                [np.where(tree[name] < 0, -1, tree[name] + root) for tree, root in zip(trees, roots, strict=True)]
            )
            for name in ("left", "right")
        }
        feature, threshold, value = (
            np.concatenate([tree[name] for tree in trees]) for name in ("feature", "threshold", "value")
        )
        return cls(
            np.maximum(feature, 0).astype(np.int32),
            _not_above(threshold),
            moved["left"].astype(np.int32),
            moved["right"].astype(np.int32),
            value.astype(np.float32),
            roots.astype(np.int64),
            start.astype(np.float64),
        )

    def arrays(self, prefix: str) -> dict[str, Array]:
        """All arrays, named for a file."""
        return {f"{prefix}.{name}": np.ascontiguousarray(getattr(self, name)) for name in ARRAYS}

    @classmethod
    def read(cls, arrays: Mapping[str, Array], prefix: str, width: int, outputs: int) -> "Trees":
        """What `arrays` has named, checked so that no walk leaves them or goes on for ever.

        Raises:
            ValueError: They do not fit together.
        """
        found = cls(*(arrays[f"{prefix}.{name}"] for name in ARRAYS))
        nodes = len(found.feature)
        whole = [found.feature, found.left, found.right, found.roots]
        is_whole = all(np.issubdtype(array.dtype, np.integer) and array.ndim == 1 for array in whole)
        shapes = [array.shape for array in (found.left, found.right, found.threshold)] == [(nodes,)] * 3
        if not (is_whole and shapes and found.value.shape == (nodes, outputs) and found.start.shape == (outputs,)):
            raise ValueError(f"{prefix}: arrays of other types or sizes than trees have")
        inner = found.left >= 0
        place = np.arange(nodes)[inner]
        falls = (found.left[inner] > place).all() and (found.right[inner] > place).all()  # so every walk ends
        ends = (found.left < nodes).all() and (found.right[inner] < nodes).all()
        roots = ((found.roots >= 0) & (found.roots < nodes)).all()
        features = ((found.feature >= 0) & (found.feature < width)).all()
        finite = np.isfinite(found.value).all() and np.isfinite(found.start).all()
        if not (falls and ends and roots and features and finite):
            raise ValueError(f"{prefix}: nodes that lead nowhere, or numbers that are not finite")
        return found


def forest_trees(model: Any, width: int) -> Trees:
    """The trees of a fitted random forest of scikit-learn; of classes the mean of the probabilities, ``width`` of them."""
    grown = [estimator.tree_ for estimator in model.estimators_]
    classes = getattr(model, "classes_", None)
    trees = []
    for tree in grown:
        value = tree.value[:, 0, :] / len(grown)  # (nodes, classes that were seen)
        if classes is not None:
            share = value / np.maximum(value.sum(1, keepdims=True), 1e-300) / len(grown)
            value = np.zeros((len(value), width))
            value[:, classes.astype(int)] = share
        leaf = tree.children_left < 0
        trees.append(
            {
                "feature": tree.feature,
                "threshold": tree.threshold,
                "left": tree.children_left,
                "right": tree.children_right,
                "value": np.where(leaf[:, None], value, 0.0),
            }
        )
    return Trees.joined(trees, np.zeros(trees[0]["value"].shape[1]))


def boosted_trees(model: Any) -> Trees:
    """The trees of a fitted HistGradientBoosting model of scikit-learn: what it adds up before it makes probabilities."""
    start = np.asarray(model._baseline_prediction, np.float64).ravel()
    trees = []
    for grown in model._predictors:
        for output, predictor in enumerate(grown):
            nodes = predictor.nodes
            is_leaf = nodes["is_leaf"].astype(bool)
            value = np.zeros((len(nodes), len(start)))
            value[:, output] = np.where(is_leaf, nodes["value"], 0.0)
            trees.append(
                {
                    "feature": nodes["feature_idx"].astype(np.int64),
                    "threshold": nodes["num_threshold"],
                    "left": np.where(is_leaf, -1, nodes["left"].astype(np.int64)),
                    "right": np.where(is_leaf, -1, nodes["right"].astype(np.int64)),
                    "value": value,
                }
            )
    return Trees.joined(trees, start)


def _not_above(threshold: Array) -> NDArray[np.float32]:
    """The largest number of single precision that is not above each: for such numbers it divides as the original does."""
    with np.errstate(over="ignore"):
        rounded: NDArray[np.float32] = threshold.astype(np.float32)
    return np.where(rounded > threshold, np.nextafter(rounded, np.float32(-np.inf)), rounded)
