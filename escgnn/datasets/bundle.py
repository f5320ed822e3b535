"""What loading a dataset gives."""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from safetensors import safe_open
from safetensors.numpy import save_file

from escgnn.datasets.descriptors import NO_DESCRIPTORS, Descriptors
from escgnn.disk import Rejected
from escgnn.store import GraphStore
from escgnn.task import Task

Index = NDArray[np.int64]


@dataclass(frozen=True)
class Feature:
    """What the columns of a node or edge field hold, and so which encoder they need.

    Attributes:
        kind: ``"categorical"``: integers to embed, column by column; ``"dense"``: numbers to multiply.
        sizes: Categories of each categorical column; the number of columns of a dense field.
    """

    kind: Literal["categorical", "dense"]
    sizes: tuple[int, ...]


class Split(NamedTuple):
    """Three subsets of the graphs, by their numbers: to learn from, to choose by and to report on."""

    train: Index
    validation: Index
    test: Index


class Moments(NamedTuple):
    """Mean and unbiased standard deviation of a target, missing values left out."""

    mean: float
    std: float


@dataclass(frozen=True)
class Statistics:
    """The size of a dataset: graphs, their average numbers of nodes and undirected edges, and the targets' moments."""

    graphs: int
    nodes: float
    edges: float
    targets: dict[str, Moments]


@dataclass(frozen=True, eq=False, repr=False)
class DatasetBundle:
    """Graphs with what is asked of them.

    Attributes:
        name: What `load` calls it.
        graphs: All graphs. Their column ``y`` has a row for each graph or, for a task at node level, each node, and in it
            a number for each target: an integer for a class, else a float, which is not a number where unknown.
        task: What is predicted and how it is judged.
        features: The fields that a model may read and what they hold, by name: ``x``, ``edge_attr``, ``pos``.
            A dataset without ``x`` has no node features; a constant serves.
        split: Training, validation and test graphs, where the protocol is one split.
        folds: The splits of a cross-validation; see `fold`.
        pairs: Graphs to tell apart, ``(pairs, 2)``.
        categories: Category of each pair, where the benchmark has some.
        rejected: Rows of a user's table that could not be read, and why.
        source: Where the raw data comes from.
        sha256: Hash of the raw data, or of the recipe if the graphs are generated.
        smiles: The column of a user's table that the molecules stand in.
        texts: The SMILES of each graph, where they were read from such.
        descriptors: What the graphs' column ``descriptors`` holds, if there is one.
    """

    name: str
    graphs: GraphStore
    task: Task
    features: Mapping[str, Feature] = field(default_factory=dict)
    split: Split | None = None
    folds: tuple[Split, ...] = ()
    pairs: Index | None = None
    categories: tuple[str, ...] = ()
    rejected: tuple[Rejected, ...] = ()
    source: str = ""
    sha256: str = ""
    smiles: str = ""
    texts: tuple[str, ...] = ()
    descriptors: Descriptors = NO_DESCRIPTORS

    def __post_init__(self) -> None:
        if self.texts and len(self.texts) != len(self.graphs):
            raise ValueError(f"texts: {len(self.texts)} for {len(self.graphs)} graphs")
        splits = self.folds if self.split is None else (*self.folds, self.split)
        for split in splits:
            for name, subset in split._asdict().items():
                if subset.size and not 0 <= subset.min() <= subset.max() < len(self.graphs):
                    raise ValueError(f"{name}: it names a graph that does not exist; there are {len(self.graphs)}")

    def __repr__(self) -> str:
        task = self.task
        return f"DatasetBundle({self.name}: {len(self.graphs)} graphs, {task.level} {task.kind}, {task.metric})"

    @property
    def targets(self) -> tuple[str, ...]:
        """Names of the columns of ``y``."""
        return self.task.targets

    @cached_property
    def train(self) -> GraphStore:
        """The graphs to learn from."""
        return self._subset(self._only_split.train)

    @cached_property
    def validation(self) -> GraphStore:
        """The graphs to choose the epoch and the settings by."""
        return self._subset(self._only_split.validation)

    @cached_property
    def test(self) -> GraphStore:
        """The graphs to report on."""
        return self._subset(self._only_split.test)

    def fold(self, number: int) -> "DatasetBundle":
        """The dataset with one split of its cross-validation."""
        if not 0 <= number < len(self.folds):
            raise ValueError(f"number: {number}; {self.name} has {len(self.folds)} folds, counted from 0")
        return replace(self, split=self.folds[number], folds=())

    def described(self, descriptors: Sequence[str]) -> "DatasetBundle":
        """The dataset with numbers beside each molecule: sets such as ``"morgan-count"``; see `Descriptors`.

        Of molecules that RDKit refuses, as seven of ogbg-molhiv, they are unknown.

        Raises:
            ValueError: A set is unknown, or the SMILES are.
        """
        chosen = Descriptors.chosen(descriptors)
        if chosen.columns:
            raise ValueError(f"descriptors: {chosen.columns[0]!r}; {self.name} has no columns")
        if not self.texts:
            raise ValueError(f"descriptors: {self.name} has no SMILES that they could be made of")
        return replace(
            self,
            graphs=self.graphs.with_fields(graph={"descriptors": chosen.of(self.texts)}),
            features={**self.features, "descriptors": Feature("dense", (chosen.width,))},
            descriptors=chosen,
        )

    def texts_of(self, subset: str) -> list[str]:
        """The SMILES of the graphs of a subset, such as ``"train"``; none if they were not read from such."""
        index: Index = getattr(self._only_split, subset)
        return [self.texts[number] for number in index.tolist()] if self.texts else []

    @cached_property
    def statistics(self) -> Statistics:
        """Size and targets of all graphs together."""
        graphs = self.graphs
        return Statistics(len(graphs), graphs.mean_nodes, graphs.mean_edges, self._target_moments(graphs))

    @cached_property
    def scale(self) -> dict[str, Moments]:
        """The targets over training and validation graphs: what the normalised error divides by."""
        known = self._only_split
        return self._target_moments(self._subset(np.concatenate([known.train, known.validation])))

    def _subset(self, index: Index) -> GraphStore:
        graphs: GraphStore = self.graphs[index]
        return graphs

    def _target_moments(self, graphs: GraphStore) -> dict[str, Moments]:
        if self.task.level == "pair":
            return {}
        columns = graphs.column("y").double().numpy().T
        return {name: _moments(column) for name, column in zip(self.targets, columns, strict=True)}

    @property
    def _only_split(self) -> Split:
        if self.split is not None:
            return self.split
        if self.folds:
            raise ValueError(f"{self.name} is judged by {len(self.folds)} folds; choose one with .fold(i)")
        raise ValueError(f"{self.name} has no split: its {self.task.level}s are compared, nothing is learnt")


def _moments(column: NDArray[np.float64]) -> Moments:
    known = column[~np.isnan(column)]
    mean = float(known.mean()) if known.size else math.nan
    std = float(known.std(ddof=1)) if known.size > 1 else math.nan
    return Moments(mean, std)


def save(bundle: DatasetBundle, folder: Path) -> None:
    """Write the dataset into a folder, as numbers and plain text."""
    splits = {f"fold{i}": split for i, split in enumerate(bundle.folds)}
    if bundle.split is not None:
        splits["split"] = bundle.split
    arrays = {f"{key}.{name}": subset for key, split in splits.items() for name, subset in split._asdict().items()}
    if bundle.pairs is not None:
        arrays["pairs"] = bundle.pairs
    about = {
        "name": bundle.name,
        "task": asdict(bundle.task),
        "features": {name: asdict(feature) for name, feature in bundle.features.items()},
        "folds": len(bundle.folds),
        "categories": bundle.categories,
        "rejected": [asdict(row) for row in bundle.rejected],
        "source": bundle.source,
        "sha256": bundle.sha256,
        "smiles": bundle.smiles,
        "texts": bundle.texts,
        "descriptors": asdict(bundle.descriptors),
    }
    bundle.graphs.save(folder / "graphs.safetensors")
    contiguous = {key: np.ascontiguousarray(array, np.int64) for key, array in arrays.items()}
    save_file(contiguous, folder / "index.safetensors")
    (folder / "about.json").write_text(json.dumps(about))


def read(folder: Path) -> DatasetBundle:
    """The dataset that `save` wrote."""
    with safe_open(folder / "index.safetensors", "numpy") as file:
        arrays = {key: file.get_tensor(key) for key in file.keys()}  # noqa: SIM118, it is no dictionary
    about = json.loads((folder / "about.json").read_text())

    def split(key: str) -> Split:
        return Split(*(arrays[f"{key}.{name}"] for name in Split._fields))

    return DatasetBundle(
        name=about["name"],
        graphs=GraphStore.load(folder / "graphs.safetensors"),
        task=Task.of(about["task"]),
        features={
            name: Feature(feature["kind"], tuple(feature["sizes"])) for name, feature in about["features"].items()
        },
        split=split("split") if "split.train" in arrays else None,
        folds=tuple(split(f"fold{i}") for i in range(about["folds"])),
        pairs=arrays.get("pairs"),
        categories=tuple(about["categories"]),
        rejected=tuple(Rejected(**row) for row in about["rejected"]),
        source=about["source"],
        sha256=about["sha256"],
        smiles=about["smiles"],
        texts=tuple(about["texts"]),
        descriptors=Descriptors.read(about["descriptors"]),
    )
