"""Trees fitted to a table, judged as a network is, and beside one."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from escgnn.baseline.model import KINDS, Baseline, filled_in
from escgnn.baseline.trees import Trees, boosted_trees, forest_trees
from escgnn.datasets import DatasetBundle
from escgnn.metrics import Scaling, as_outputs, score
from escgnn.store import GraphStore
from escgnn.task import Task
from escgnn.training import Ensemble, calibrate, fingerprint, hash_graphs, own_split, plain, save_json

DESCRIPTORS = ("morgan-count", "rdkit")
TREES = 300
WEIGHTS = np.linspace(0, 1, 21)  # of a network in an average, that are tried
DRAWS = 300  # of the test rows, to see how sure a difference is
NETWORK = "network"
AVERAGE = "average"


class Growth(NamedTuple):
    """How trees are grown: their number, rows in a leaf of a forest at least, and the seed."""

    trees: int
    leaf: int
    seed: int


@dataclass(frozen=True)
class Comparison:
    """Scores of trees, and of a network beside them.

    Attributes:
        dataset: What was trained on.
        metric: Which of the metrics judges.
        direction: Whether a smaller or a larger one is better.
        scores: By name, the metric on validation and test rows.
        chosen: The trees that validation prefers.
        weight: Of the network in the average, by validation; None without one.
        difference: How much better the network is than the chosen trees on test rows, and the bounds that 95 % of redrawn
            test sets keep; None without a network or test rows.
    """

    dataset: str
    metric: str
    direction: str
    scores: Mapping[str, Mapping[str, float | None]]
    chosen: str
    weight: float | None = None
    difference: tuple[float, float, float] | None = None

    @property
    def verdict(self) -> str:
        """Whether the network is worth it, in words."""
        if self.difference is None:
            return f"better by validation: {self.chosen}"
        gain, low, high = self.difference
        how = "better" if gain > 0 else "worse"
        sure = f"its {self.metric} is {abs(gain):.4g} {how}; of redrawn test sets 95 % say {low:+.4g} to {high:+.4g}"
        if low > 0:
            return f"the network is worth it: {sure}"
        if high < 0:
            return f"the network is not worth it beside the {self.chosen}: {sure}"
        return f"the test rows cannot tell the network from the {self.chosen}: {sure}"


def fit_baseline(
    bundle: DatasetBundle,
    out: str | PathLike[str] | None = None,
    *,
    beside: Ensemble | None = None,
    blend: bool = False,
    trees: int = TREES,
    leaf: int = 1,
    seed: int = 0,
) -> Comparison:
    """Fit a random forest and boosted trees to the descriptors of a table, and judge them by its split and metric.

    Args:
        bundle: A table that was loaded with ``descriptors``, such as ``["morgan-count", "rdkit"]``.
        out: Folder for the trees that validation prefers, which `load_baseline` reads; None to keep nothing.
        beside: A network or an ensemble that was trained on the same table; the trees then have its split.
        blend: Whether what is kept is the average of both, with the weight that is best by validation.
        trees: Trees of the forest, and rounds of boosting.
        leaf: Rows in a leaf of the forest, at least: with two or three it ranks rare classes better.
        seed: Of all that is left to chance.

    Raises:
        ValueError: The table has no descriptors, the network was trained on other data, or the folder is not empty.
        ImportError: scikit-learn is not installed.
    """
    folder = None if out is None else Path(out)
    if folder is not None and folder.is_dir() and any(folder.iterdir()):
        raise ValueError(f"{folder} is not empty; choose another folder")
    if leaf < 1:
        raise ValueError(f"leaf: {leaf}; expected an integer from 1")
    if blend and beside is None:
        raise ValueError("blend: there is no network to average with")
    if "descriptors" not in bundle.features:
        raise ValueError(f"bundle: {bundle.name} has no descriptors; load it with descriptors={[*DESCRIPTORS]}")
    if beside is not None:
        own = own_split(beside, bundle)
        if own is None or beside.task.targets != bundle.task.targets:
            raise ValueError(
                f"beside: {beside.folder} was trained on another table, or other targets, than {bundle.name}"
            )
        _check_descriptors(beside, bundle)
        bundle = own
    growth = Growth(trees, leaf, seed)
    found = {kind: _fitted(kind, bundle, folder or Path(), growth) for kind in KINDS}
    answers = {kind: _answers(baseline, bundle) for kind, baseline in found.items()}
    scores = {kind: _scores(bundle, own) for kind, own in answers.items()}
    chosen = max(KINDS, key=lambda kind: _goodness(bundle, scores[kind]["validation"]))
    best = found[chosen]
    weight = None
    difference = None
    if beside is not None:
        answers[NETWORK] = {name: beside.answers(graphs).mean(0) for name, graphs in _judged(bundle).items()}
        scores[NETWORK] = _scores(bundle, answers[NETWORK])
        weight = _best_weight(bundle, answers[NETWORK]["validation"], answers[chosen]["validation"])
        answers[AVERAGE] = {
            name: weight * answers[NETWORK][name] + (1 - weight) * answers[chosen][name] for name in answers[chosen]
        }
        scores[AVERAGE] = _scores(bundle, answers[AVERAGE])
        if len(bundle.test):
            difference = _difference(bundle, answers[NETWORK]["test"], answers[chosen]["test"], seed)
        if blend:
            best = replace(best, network=beside, weight=weight)
    result = Comparison(bundle.name, bundle.task.metric, bundle.task.direction, scores, chosen, weight, difference)
    if folder is not None:
        folder.mkdir(parents=True, exist_ok=True)
        calibrate(best, bundle)
        save_json({**vars(result), "verdict": result.verdict}, folder / "result.json")
        best.save()  # last, so that a folder with it is complete
    return result


def _check_descriptors(beside: Ensemble, bundle: DatasetBundle) -> None:
    if beside.descriptors.width and beside.descriptors != bundle.descriptors:
        names = ",".join(beside.descriptors.chosen_by)
        raise ValueError(f"descriptors: {beside.folder} reads {names}; give the baseline the same")


def _fitted(kind: str, bundle: DatasetBundle, folder: Path, growth: Growth) -> Baseline:
    """The trees of one kind, target by target."""
    numbers = bundle.train.column("descriptors").numpy()
    known = np.isfinite(numbers)
    fill = np.where(known, numbers, 0).sum(0, dtype=np.float64) / np.maximum(known.sum(0), 1)
    x = filled_in(numbers, fill.astype(np.float32))
    y = bundle.train.column("y").numpy()
    targets = zip(bundle.task.singles, y.T, strict=True)
    trees = tuple(_grown(kind, task, x, column, growth) for task, column in targets)
    dataset = {
        "name": bundle.name,
        "content": fingerprint(bundle),
        "graphs": hash_graphs(bundle.graphs),
        "smiles": bundle.smiles,
    }
    return Baseline(folder, kind, bundle.task, bundle.descriptors, fill.astype(np.float32), trees, dataset)


def _grown(kind: str, task: Task, x: NDArray[np.float32], y: NDArray[Any], growth: Growth) -> Trees:
    """The trees of one target, fitted to the rows where it is known."""
    try:
        from sklearn import ensemble
    except ImportError:
        raise ImportError("baselines need scikit-learn: pip install 'escgnn[sklearn]'") from None
    is_number = task.kind == "regression"
    known = ~np.isnan(y) if is_number else y >= 0  # nothing compares with what is not a number
    if not known.any():
        raise ValueError(f"bundle: {task.targets[0]} is unknown in all training rows")
    target = y[known].astype(np.float64 if is_number else np.int64)
    classes = max(2, task.classes)
    if not is_number and len(np.unique(target)) < classes:
        raise ValueError(f"bundle: {task.targets[0]} lacks a class in the training rows; choose another split")
    if kind == KINDS[0]:
        settings = {
            "n_estimators": growth.trees,
            "min_samples_leaf": growth.leaf,
            "random_state": growth.seed,
            "n_jobs": -1,
            "max_features": 1 / 3 if is_number else "sqrt",
        }
        forest = (ensemble.RandomForestRegressor if is_number else ensemble.RandomForestClassifier)(**settings)
        return forest_trees(forest.fit(x[known], target), classes)
    chosen = ensemble.HistGradientBoostingRegressor if is_number else ensemble.HistGradientBoostingClassifier
    boosted = chosen(max_iter=growth.trees, early_stopping=False, random_state=growth.seed)
    return boosted_trees(boosted.fit(x[known], target))


def _judged(bundle: DatasetBundle) -> dict[str, GraphStore]:
    """The subsets that judge."""
    return {"validation": bundle.validation, "test": bundle.test}


def _answers(baseline: Baseline, bundle: DatasetBundle) -> dict[str, Tensor]:
    return {name: baseline.answers(graphs)[0] for name, graphs in _judged(bundle).items()}


def _score(bundle: DatasetBundle, values: Tensor, y: Tensor) -> float:
    scaling = Scaling.of(bundle)
    return score(bundle.task, scaling, as_outputs(bundle.task, scaling, values), y)[bundle.task.metric]


def _scores(bundle: DatasetBundle, answers: Mapping[str, Tensor]) -> dict[str, float | None]:
    """The metric of every subset; None where it is undefined."""
    graphs = _judged(bundle)
    found = {name: _score(bundle, values, graphs[name].column("y")) for name, values in answers.items() if len(values)}
    return plain(found)


def _goodness(bundle: DatasetBundle, value: float | None) -> float:
    """The metric so that more is better; what is undefined is worst."""
    if value is None or np.isnan(value):
        return -np.inf
    return value if bundle.task.direction == "max" else -value


def _best_weight(bundle: DatasetBundle, network: Tensor, trees: Tensor) -> float:
    """The weight of the network with which the average is best on validation rows."""
    y = bundle.validation.column("y")
    return float(max(WEIGHTS, key=lambda w: _goodness(bundle, _score(bundle, w * network + (1 - w) * trees, y))))


def _difference(bundle: DatasetBundle, network: Tensor, trees: Tensor, seed: int) -> tuple[float, float, float] | None:
    """How much better the network is on the test rows, and on 95 % of sets drawn from them; None if that is undefined."""
    y = bundle.test.column("y")
    sign = 1 if bundle.task.direction == "max" else -1
    rng = np.random.default_rng(seed)
    draws = [torch.arange(len(y)), *(torch.from_numpy(rng.integers(0, len(y), len(y))) for _ in range(DRAWS))]
    gains = np.array(
        [sign * (_score(bundle, network[rows], y[rows]) - _score(bundle, trees[rows], y[rows])) for rows in draws]
    )
    if np.isnan(gains[0]) or np.isnan(gains).mean() > 0.5:  # as of one class, which has no ROC AUC
        return None
    low, high = np.nanquantile(gains[1:], (0.025, 0.975))
    return float(gains[0]), float(low), float(high)
