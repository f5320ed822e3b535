"""ESC-GNN and its rivals as scikit-learn estimators: SMILES or graphs in, numbers or classes out. Needs scikit-learn.

```python
model = ESCRegressor(hops=3, epochs=100).fit(smiles, solubility)
model.predict(["CCO", "c1ccccc1"])

search = GridSearchCV(ESCClassifier(), {"hops": [1, 2, 3]}, cv=5).fit(graphs, labels)
```
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from numbers import Integral
from tempfile import TemporaryDirectory
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from torch_geometric.data import Data

from escgnn import training
from escgnn.datasets import FEATURES, DatasetBundle, Feature, FeatureSet, Split, read_smiles
from escgnn.disk import Rejected
from escgnn.store import GraphStore
from escgnn.task import Task
from escgnn.training import as_store, checked, suited
from escgnn.zoo import recipe_of

try:
    from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
    from sklearn.utils import check_random_state, column_or_1d
    from sklearn.utils.multiclass import check_classification_targets
    from sklearn.utils.validation import check_is_fitted
except ImportError:
    raise ImportError("escgnn.estimators needs scikit-learn: pip install 'escgnn[sklearn]'") from None

SHOWN = 10  # bad rows of an error message


@dataclass(frozen=True, eq=False)
class Rows:
    """What the rows of X are: graphs, features and numbers of those that could be read, and what is wrong with the others."""

    graphs: GraphStore
    features: Mapping[str, Feature]
    good: NDArray[np.int64]
    bad: Sequence[Rejected]

    @property
    def count(self) -> int:
        """Rows in all."""
        return len(self.good) + len(self.bad)

    def complaint(self) -> str:
        """Which rows are bad, from 0, and why."""
        shown = "; ".join(f"row {row.line - 1} ({row.record}): {row.reason}" for row in self.bad[:SHOWN])
        more = f"; rows {', '.join(str(row.line - 1) for row in self.bad[SHOWN:])}" if len(self.bad) > SHOWN else ""
        return f"X: {len(self.bad)} of {self.count} rows cannot be read: {shown}{more}"


class ESCEstimator(BaseEstimator):
    """What both estimators share; `ESCRegressor` explains the arguments."""

    def __init__(
        self,
        *,
        model: str = "esc-gnn",
        hops: int | Sequence[int] = 2,
        parts: Sequence[str] = ("degree", "node", "joint", "edge"),
        types: Sequence[str] = (),
        backbone: str = "gin",
        hidden: int = 64,
        layers: int = 4,
        epochs: int = 50,
        batch_size: int = 128,
        lr: float = 1e-3,
        features: FeatureSet | None = "ogb",
        validation_fraction: float = 0.1,
        early_stopping: int | None = None,
        invalid: Literal["raise", "nan"] = "raise",
        random_state: Any = 0,
        workers: int = 0,
        verbose: bool = False,
    ) -> None:
        self.model = model
        self.hops = hops
        self.parts = parts
        self.types = types
        self.backbone = backbone
        self.hidden = hidden
        self.layers = layers
        self.epochs = epochs
        self.batch_size = batch_size
        self.lr = lr
        self.features = features
        self.validation_fraction = validation_fraction
        self.early_stopping = early_stopping
        self.invalid = invalid
        self.random_state = random_state
        self.workers = workers
        self.verbose = verbose

    def __sklearn_tags__(self) -> Any:
        """What scikit-learn should know: rows are texts or graphs, not vectors."""
        tags = super().__sklearn_tags__()
        tags.input_tags.string, tags.input_tags.two_d_array = True, False
        tags.target_tags.required = True
        tags.non_deterministic = self.random_state is None
        return tags

    def _train(self, X: Any, y: NDArray[Any], task: Task) -> None:
        """Train on all rows, in a folder that is gone afterwards; y is ``(rows, targets)``."""
        if self.invalid not in ("raise", "nan"):
            raise ValueError(f'invalid: {self.invalid!r}; expected "raise" or "nan"')
        rows = _read(X, self.features)
        if rows.bad:
            raise ValueError(rows.complaint())  # to leave rows of y out in silence would be worse
        if len(y) != rows.count:
            raise ValueError(f"y: {len(y)} rows, but X has {rows.count}")
        config = self._config()
        bundle = DatasetBundle(
            name=type(self).__name__,
            graphs=rows.graphs.with_fields(graph={"y": y}),
            task=task,
            features=rows.features,
            split=self._split(rows.count, config.seed),
        )
        with TemporaryDirectory(prefix="escgnn-") as folder:
            result = training.fit(bundle, config, folder, progress=self.verbose)
            self.run_ = training.load_run(folder)
        self.validation_score_ = result.validation[task.metric]

    def _config(self) -> training.TrainConfig:
        seed = self.random_state
        if not isinstance(seed, Integral):
            seed = check_random_state(seed).randint(2**31 - 1)
        names = ("epochs", "batch_size", "lr", "early_stopping", "workers")
        chosen = {
            "model": self.model,
            "transform": {name: _plain(getattr(self, name)) for name in ("hops", "parts", "types")},
            "network": {name: _plain(getattr(self, name)) for name in ("backbone", "hidden", "layers")},
            **{name: _plain(getattr(self, name)) for name in names},
            "seed": int(seed),
        }
        return checked(suited(chosen, recipe_of(self.model)))

    def _split(self, count: int, seed: int) -> Split:
        """Rows to learn from, and to choose the epoch by; how well it goes on others is for scikit-learn to find out."""
        if not 0 < self.validation_fraction < 1:
            raise ValueError(f"validation_fraction: {self.validation_fraction}; expected more than 0 and less than 1")
        held = max(1, round(self.validation_fraction * count))
        if held >= count:
            raise ValueError(f"X: {count} rows, {held} of them to choose the epoch by; there is nothing to learn from")
        order = np.random.default_rng(seed).permutation(count)
        return Split(train=np.sort(order[held:]), validation=np.sort(order[:held]), test=np.empty(0, np.int64))

    def _outputs(self, X: Any) -> NDArray[np.float64]:
        """What the network says of every row, ``(rows, outputs)``; not a number where a row cannot be read."""
        check_is_fitted(self, "run_")
        rows = _read(X, self.features)
        if rows.bad and self.invalid != "nan":
            raise ValueError(rows.complaint())
        fitted, given = (
            {name: feature.kind for name, feature in features.items()}
            for features in (self.run_.features, rows.features)
        )
        if fitted != given:
            raise ValueError(f"X: features {given or 'none'}, but the estimator was fitted with {fitted or 'none'}")
        known = training.predict(self.run_, rows.graphs, batch_size=self.batch_size, workers=self.workers).numpy()
        outputs = np.full((rows.count, known.shape[1]), np.nan)
        outputs[rows.good] = known
        return outputs


class ESCRegressor(RegressorMixin, ESCEstimator):
    """Predicts numbers of molecules or graphs with a graph neural network that counts substructures.

    Rows are SMILES texts, or graphs: PyG ``Data``, whose ``x`` and ``edge_attr`` are features (whole numbers categories,
    others measurements), or whatever `escgnn.graphs.as_graph` takes.

    Args:
        model: Name of a network of `escgnn.zoo.ZOO`. Of the next four arguments those count that it has.
        hops: Radius of the structural encoding, or several; see `escgnn.transforms.StructuralEncoding`. For networks on
            subgraphs, their radius.
        parts: The encoding's histograms.
        types: Attributes by which some of them count, such as ``("x", "edge_attr")``; of SMILES, elements and kinds of bonds.
        backbone: How ESC-GNN passes messages; see `escgnn.models.ESCGNN`.
        hidden: Size of its vectors.
        layers: Number of its rounds.
        epochs: Most epochs to train; the weights are those of the best one.
        batch_size: Graphs in a step.
        lr: Learning rate.
        features: Atom and bond features of SMILES, ``"ogb"`` or ``"zinc"``; None if texts are graph6, not SMILES.
        validation_fraction: Share of the rows to choose the epoch by, which are not learnt from.
        early_stopping: Stop when no epoch has been better for so many; None never does.
        invalid: What to predict for a SMILES that cannot be read: ``"raise"`` an error, or ``"nan"``. When fitting, it is
            always an error.
        random_state: Decides the initial weights, the order of the rows and the choice of those held back.
        workers: Processes that encode batches; none if 0.
        verbose: Show a bar.

    Attributes:
        run_: The trained network, as `escgnn.training.load_run` gives it; its folder is gone.
        validation_score_: Mean absolute error, or a classifier's accuracy, on the rows held back.

    >>> model = ESCRegressor(hidden=8, layers=1, epochs=1).fit(["C", "CC", "CCC", "CCO"], [1, 2, 3, 3])
    >>> model.predict(["CCN", "c1ccccc1"]).shape
    (2,)
    """

    def __sklearn_tags__(self) -> Any:
        """Several targets at once will do."""
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags

    def fit(self, X: Any, y: ArrayLike) -> Self:
        """Learn from rows and their numbers, ``(rows,)`` or ``(rows, targets)``; not a number is an unknown one.

        Raises:
            ValueError: Rows cannot be read, or an argument is not good.
        """
        targets = np.asarray(y, np.float32)
        if targets.ndim not in (1, 2) or np.isinf(targets).any():
            raise ValueError(f"y: shape {targets.shape}; expected finite numbers, (rows,) or (rows, targets)")
        table = targets if targets.ndim == 2 else targets[:, None]
        self._train(X, table, Task("graph", "regression", "mae", "min", tuple(f"y{i}" for i in range(table.shape[1]))))
        self._target_shape = targets.shape[1:]
        return self

    def predict(self, X: Any) -> NDArray[np.float64]:
        """Numbers for every row, in the form of the y that was learnt from.

        Raises:
            ValueError: Rows cannot be read, or lack features.
        """
        outputs = self._outputs(X)
        return outputs.reshape(len(outputs), *self._target_shape)


class ESCClassifier(ClassifierMixin, ESCEstimator):
    """Predicts classes of molecules or graphs with a graph neural network that counts substructures.

    Rows, arguments and attributes are those of `ESCRegressor`. A SMILES that cannot be read has no class: with
    ``invalid="nan"`` its probabilities are not numbers, but asking for its class is an error.

    Attributes:
        classes_: The classes, in the order of the columns of `predict_proba`.

    >>> model = ESCClassifier(hidden=8, layers=1, epochs=1).fit(["C", "CC", "CO", "O"], ["dry", "dry", "wet", "wet"])
    >>> model.predict_proba(["CCO"]).shape, model.classes_.tolist()
    ((1, 2), ['dry', 'wet'])
    """

    def fit(self, X: Any, y: ArrayLike) -> Self:
        """Learn from rows and their classes.

        Raises:
            ValueError: Rows cannot be read, there is one class only, or an argument is not good.
        """
        labels = column_or_1d(y, warn=True)
        check_classification_targets(labels)
        classes, number = np.unique(labels, return_inverse=True)
        if len(classes) < 2:
            raise ValueError(f"y: {len(classes)} class; there must be at least 2")
        task = Task("graph", "multiclass", "accuracy", "max", ("y",), len(classes))
        self._train(X, number.astype(np.int64).reshape(-1, 1), task)
        self.classes_ = classes
        return self

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Probability of every class for every row, ``(rows, classes)``.

        Raises:
            ValueError: Rows cannot be read, or lack features.
        """
        return self._outputs(X)

    def predict(self, X: Any) -> NDArray[Any]:
        """The most likely class of every row.

        Raises:
            ValueError: Rows cannot be read, or lack features.
        """
        probability = self.predict_proba(X)
        if len(bad := np.flatnonzero(np.isnan(probability).any(axis=1))):
            raise ValueError(f"X: rows {', '.join(map(str, bad))} cannot be read, so they have no class")
        chosen: NDArray[Any] = self.classes_[probability.argmax(axis=1)]
        return chosen


def _read(X: Any, features: FeatureSet | None) -> Rows:
    """The graphs of all rows; texts are SMILES unless there are no features to give them."""
    if isinstance(X, GraphStore):
        return _with_features(X)
    rows = _listed(X)
    if features is not None and any(isinstance(row, str) for row in rows):
        found = read_smiles(map(str, rows), features)  # a missing text is none that can be read
        return Rows(found.graphs, FEATURES[features], found.rows, found.rejected)
    are_data = {isinstance(row, Data) for row in rows}
    if len(are_data) > 1:
        raise ValueError("X: some rows are PyG Data and others are not, so that they would differ in features")
    graphs = as_store([_bare(row) for row in rows] if True in are_data else rows)
    if len(graphs) != len(rows):
        raise ValueError(f"X: {len(rows)} rows hold {len(graphs)} graphs; expected one in each")
    return _with_features(graphs)


def _listed(X: Any) -> list[Any]:
    """The rows of a list, an array or a data frame with a single column, which pipelines like."""
    if hasattr(X, "__array__") and hasattr(X, "shape"):
        X = np.asarray(X, object)
        if X.ndim != 1 and X.shape[1:] != (1,):
            raise ValueError(f"X: shape {X.shape}; expected one SMILES or graph for each row")
        X = X.ravel()
    if isinstance(X, str) or not len(X):
        raise ValueError(f"X: {X!r}; expected a list of SMILES or graphs")
    return list(X)


def _bare(data: Data) -> Data:
    """The graph with nothing but what the network may read."""
    kept = {name: data[name] for name in ("x", "edge_index", "edge_attr") if data.get(name) is not None}
    return Data(**kept, num_nodes=data.num_nodes)


def _with_features(graphs: GraphStore) -> Rows:
    """Graphs with their features as tables, and what these hold."""
    levels: dict[str, dict[str, Any]] = {"node": {}, "edge": {}}
    features = {}
    for name, level in (("x", "node"), ("edge_attr", "edge")):
        if name in graphs.fields:
            table = graphs.column(name).reshape(len(graphs.column(name)), -1)
            levels[level][name] = table
            if table.is_floating_point():
                features[name] = Feature("dense", (table.shape[1],))
            else:
                sizes = table.max(0).values + 1 if len(table) else table.new_ones(table.shape[1])
                features[name] = Feature("categorical", tuple(sizes.tolist()))
    return Rows(graphs.with_fields(**levels), features, np.arange(len(graphs)), ())


def _plain(value: Any) -> Any:
    """A setting as Python has it, where a search over parameters made it a number or an array of numpy's."""
    return value.tolist() if isinstance(value, np.generic | np.ndarray) else value
