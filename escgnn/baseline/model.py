"""A baseline as a predictor: trees for each target, alone or averaged with networks; kept as arrays and plain values."""

import shutil
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save
from torch import Tensor

from escgnn import hub
from escgnn.baseline.trees import Trees
from escgnn.datasets import Descriptors, Feature
from escgnn.disk import atomic
from escgnn.metrics import out_channels
from escgnn.store import GraphStore
from escgnn.task import Task
from escgnn.training import (
    Calibration,
    Ensemble,
    Predictor,
    is_ensemble,
    is_run,
    load_ensemble,
    read_json,
    read_known,
    save_json,
)

ABOUT = "baseline.json"
TREES = "trees.safetensors"
NETWORK = "network"  # the folder with what it is averaged with
FORMAT = "escgnn baseline 1"
KINDS = ("random forest", "boosted trees")


@dataclass(frozen=True, eq=False)
class Baseline:
    """Trees on descriptors.

    Attributes:
        folder: Where it is kept.
        kind: ``"random forest"`` or ``"boosted trees"``.
        task: What it predicts.
        descriptors: What it reads.
        fill: What stands for an unknown descriptor: its mean over the training rows.
        trees: Those of each target.
        dataset: Name and hashes of what it was trained on.
        network: What it is averaged with; None for nothing.
        weight: Of the network in the average.
    """

    folder: Path
    kind: str
    task: Task
    descriptors: Descriptors
    fill: NDArray[np.float32]
    trees: tuple[Trees, ...]
    dataset: Mapping[str, str]
    network: Ensemble | None = None
    weight: float = 0.0

    @property
    def features(self) -> Mapping[str, Feature]:
        """What it reads of graphs, and its network of nodes and edges."""
        own = {"descriptors": Feature("dense", (self.descriptors.width,))}
        return own if self.network is None else {**self.network.features, **own}

    @property
    def transform(self) -> Any:
        """What its network wants done to every batch."""
        return None if self.network is None else self.network.transform

    @property
    def size(self) -> int:
        """It is one member."""
        return 1

    @cached_property
    def calibration(self) -> Calibration:
        """What the validation rows say."""
        return Calibration.read(self.folder / "calibration.safetensors", self.task)

    @cached_property
    def known(self) -> NDArray[np.uint8]:
        """Fingerprints of the training molecules."""
        return read_known(self.folder / "known.safetensors")

    @property
    def channels(self) -> int:
        """None: trees have no vectors."""
        raise ValueError(f"embedding: {self.folder} holds trees, which have no vectors")

    def embedding(self, graphs: GraphStore, batch_size: int) -> Tensor:
        """None: trees have no vectors."""
        raise ValueError(f"embedding: {self.folder} holds trees, which have no vectors")

    def answers(self, graphs: GraphStore, batch_size: int = 256) -> Tensor:
        """Predictions, ``(1, rows, outputs)``."""
        own = self.of_numbers(graphs.column("descriptors").numpy())  # (rows, outputs)
        if self.network is not None:
            other = self.network.answers(graphs, batch_size).mean(0)  # (rows, outputs)
            own = self.weight * other + (1 - self.weight) * own
        return own[None]

    def of_numbers(self, numbers: NDArray[np.float32]) -> Tensor:
        """What the trees alone say of descriptors, ``(rows, outputs)``: numbers in the targets' units, or probabilities."""
        filled = filled_in(numbers, self.fill)
        columns = [
            _probabilities(self.kind, single, torch.from_numpy(trees(filled)))
            for single, trees in zip(self.task.singles, self.trees, strict=True)
        ]
        return torch.cat(columns, 1)

    def save(self) -> None:
        """Write all of it into its folder; the network is copied, so that the folder is complete."""
        if self.network is not None:
            _copy(self.network, self.folder / NETWORK)
        arrays: dict[str, NDArray[Any]] = {"fill": self.fill}
        for place, trees in enumerate(self.trees):
            arrays |= trees.arrays(str(place))
        with atomic(self.folder / TREES) as draft:
            draft.write_bytes(save(arrays))
        about = {
            "format": FORMAT,
            "kind": self.kind,
            "task": asdict(self.task),
            "descriptors": asdict(self.descriptors),
            "dataset": dict(self.dataset),
            "weight": self.weight,
            "blended": self.network is not None,
        }
        save_json(about, self.folder / ABOUT)


def load_baseline(folder: str | PathLike[str]) -> Baseline:
    """What `Baseline.save` wrote.

    Raises:
        ValueError: A file is missing, damaged, or does not fit the others.
    """
    folder = Path(folder)
    about = read_json(folder / ABOUT)
    try:
        if about["format"] != FORMAT or about["kind"] not in KINDS or not 0 <= float(about["weight"]) <= 1:
            raise ValueError(
                f"format {about['format']!r:.40}, kind {about['kind']!r:.40}, weight {about['weight']!r:.40}"
            )
        task = Task.of(about["task"])
        descriptors = Descriptors.read(about["descriptors"])
        dataset = {str(name): str(value) for name, value in about["dataset"].items()}
    except (LookupError, TypeError, ValueError, AttributeError) as error:
        raise ValueError(f"{folder / ABOUT}: not a description of a baseline; {error!r:.200}") from error
    if not (folder / TREES).is_file():
        raise ValueError(f"{folder / TREES} is not there")
    try:
        with safe_open(folder / TREES, framework="numpy") as file:
            arrays = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118, it is no mapping
        if arrays["fill"].shape != (descriptors.width,):
            raise ValueError(f"fill: {arrays['fill'].shape}; expected {descriptors.width} numbers")
        trees = [
            Trees.read(arrays, str(place), descriptors.width, _outputs(about["kind"], single))
            for place, single in enumerate(task.singles)
        ]
    except (SafetensorError, LookupError, TypeError, ValueError) as error:
        raise ValueError(f"{folder / TREES} is damaged: {error}") from error
    network = load_ensemble(folder / NETWORK) if about.get("blended") else None
    fill = arrays["fill"].astype(np.float32)
    return Baseline(
        folder, about["kind"], task, descriptors, fill, tuple(trees), dataset, network, float(about["weight"])
    )


def is_predictor(folder: str | PathLike[str]) -> bool:
    """Whether a folder holds something that can predict, or is an address where something should."""
    return hub.is_address(folder) or Path(folder, ABOUT).is_file() or is_ensemble(folder) or is_run(folder)


def load_predictor(folder: str | PathLike[str]) -> Predictor:
    """Whatever a folder holds that can predict: a run, an ensemble, or a baseline.

    Raises:
        ValueError: A file is missing, damaged, or does not fit the others.
    """
    return load_baseline(folder) if Path(folder, ABOUT).is_file() else load_ensemble(folder)


def filled_in(numbers: NDArray[np.float32], fill: NDArray[np.float32]) -> NDArray[np.float32]:
    """Descriptors with what is unknown filled in."""
    return np.where(np.isfinite(numbers), numbers, fill).astype(np.float32)


def _outputs(kind: str, task: Task) -> int:
    """What the trees of a target give: a forest of classes gives the probability of each, boosted ones of two a single sum."""
    if task.kind == "binary":
        return 2 if kind == KINDS[0] else 1
    return out_channels(task)


def _probabilities(kind: str, task: Task, sums: Tensor) -> Tensor:
    if task.kind == "regression":
        return sums
    if kind == KINDS[0]:
        shares = sums / sums.sum(1, keepdim=True)  # which are rounded to single precision in the leaves
        return shares[:, 1:] if task.kind == "binary" else shares
    return sums.sigmoid() if task.kind == "binary" else sums.softmax(1)


def _copy(network: Ensemble, folder: Path) -> None:
    """Copy what `load_ensemble` reads."""
    for path in network.folder.rglob("*"):
        if path.name in ("model.json", "model.safetensors", "ensemble.json"):
            target = folder / path.relative_to(network.folder)
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, target)
