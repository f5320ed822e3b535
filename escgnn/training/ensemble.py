"""Several networks that were trained alike, as one predictor; one network is an ensemble of one."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from escgnn import hub
from escgnn.datasets import DatasetBundle, Descriptors, Feature, Split
from escgnn.metrics import Scaling, predictions
from escgnn.store import GraphStore
from escgnn.task import Task
from escgnn.training import folder as files
from escgnn.training.calibration import Calibration
from escgnn.training.folder import Run, load_run
from escgnn.training.neighbours import read_known, save_known
from escgnn.training.running import BATCH, channels_of, embedded, network_outputs
from escgnn.training.showing import members_html

ENSEMBLE = "ensemble.json"
MEMBER = "member{}"  # the folder of each
MOST_MEMBERS = 1000


class Predictor(Protocol):
    """What predictions for a file are made with."""

    @property
    def folder(self) -> Path:
        """Where it was read from."""

    @property
    def task(self) -> Task:
        """What it predicts."""

    @property
    def features(self) -> Mapping[str, Feature]:
        """What it reads of nodes, edges and graphs, by name."""

    @property
    def descriptors(self) -> Descriptors:
        """What it reads beside the graph."""

    @property
    def dataset(self) -> Mapping[str, str]:
        """What it was trained on."""

    @property
    def transform(self) -> Any:
        """What it wants done to every batch; None for nothing."""

    @property
    def calibration(self) -> Calibration:
        """What its validation rows say; a ValueError if that was not kept."""

    @property
    def known(self) -> NDArray[np.uint8]:
        """Fingerprints of its training molecules; a ValueError if they were not kept."""

    @property
    def size(self) -> int:
        """Number of members."""

    def answers(self, graphs: GraphStore, batch_size: int) -> Tensor:
        """Predictions of every member, ``(members, rows, outputs)``."""

    def embedding(self, graphs: GraphStore, batch_size: int) -> Tensor:
        """What it reads its predictions off, ``(rows, channels)``; a ValueError if there is no such thing."""

    @property
    def channels(self) -> int:
        """Numbers of an embedding; a ValueError if it has none."""


@dataclass(frozen=True, eq=False, repr=False)
class Ensemble:
    """Networks of the same settings and data, each with a seed of its own.

    Attributes:
        folder: Where they were read from.
        members: The networks, at least one.
    """

    folder: Path
    members: tuple[Run, ...]

    @property
    def task(self) -> Task:
        """What they predict."""
        return self.members[0].task

    @property
    def scaling(self) -> Scaling:
        """How their outputs relate to the targets."""
        return self.members[0].scaling

    @property
    def features(self) -> Mapping[str, Feature]:
        """What they read of nodes, edges and graphs, by name."""
        return self.members[0].features

    @property
    def descriptors(self) -> Descriptors:
        """What they read beside the graph."""
        return self.members[0].descriptors

    @property
    def dataset(self) -> Mapping[str, str]:
        """What they were trained on."""
        return self.members[0].dataset

    @property
    def split(self) -> Split | None:
        """Which graphs they were trained, chosen and judged with."""
        return self.members[0].split

    @property
    def transform(self) -> Any:
        """What they want done to every batch; None for nothing."""
        return self.members[0].transform

    @property
    def size(self) -> int:
        """Number of members."""
        return len(self.members)

    @cached_property
    def calibration(self) -> Calibration:
        """What the validation rows say of all members together."""
        return Calibration.read(self.folder / files.CALIBRATION, self.task)

    @cached_property
    def known(self) -> NDArray[np.uint8]:
        """Fingerprints of the training molecules."""
        return read_known(self.folder / files.KNOWN)

    def answers(self, graphs: GraphStore, batch_size: int = BATCH, workers: int = 0) -> Tensor:
        """Predictions of every member, ``(members, rows, outputs)``."""
        outputs = [network_outputs(member, graphs, batch_size, workers) for member in self.members]
        return torch.stack([predictions(self.task, self.scaling, output) for output in outputs])

    def embedding(self, graphs: GraphStore, batch_size: int = BATCH) -> Tensor:
        """The vectors that predictions are read off, those of all members side by side, ``(rows, channels)``."""
        return torch.cat([embedded(member, graphs, batch_size) for member in self.members], 1)

    @property
    def channels(self) -> int:
        """Numbers of an embedding."""
        return sum(map(channels_of, self.members))

    def __repr__(self) -> str:
        return f"Ensemble({str(self.folder)!r}, {len(self.members)} of {self.members[0].name})"

    def _repr_html_(self) -> str:
        return members_html(str(self.folder), self.members)


def calibrate(run: Predictor, bundle: DatasetBundle) -> None:
    """Write what the validation rows say of predictions, and which molecules were learnt from, beside the networks."""
    graphs = bundle.validation
    Calibration.of(run.task, run.answers(graphs, BATCH), graphs.column("y")).save(run.folder / files.CALIBRATION)
    if bundle.texts:
        save_known(bundle.texts_of("train"), run.folder / files.KNOWN)


def ensemble_of(run: Run | Predictor) -> Predictor:
    """A network as an ensemble of one; anything else as it is."""
    return Ensemble(run.folder, (run,)) if isinstance(run, Run) else run


def load_ensemble(folder: str | PathLike[str]) -> Ensemble:
    """The networks of an ensemble's folder, or the one of an ordinary run folder.

    Raises:
        ValueError: A file is missing, damaged, or does not fit the others.
    """
    folder = hub.located(folder)
    if not is_ensemble(folder):
        return Ensemble(folder, (load_run(folder),))
    members = tuple(load_run(folder / MEMBER.format(number)) for number in range(count_members(folder)))
    for member in members[1:]:
        for name in ("task", "scaling", "features", "descriptors", "name"):
            if getattr(member, name) != getattr(members[0], name):
                raise ValueError(f"{member.folder}: its {name} is another than that of {members[0].folder}")
    return Ensemble(folder, members)


def is_ensemble(folder: str | PathLike[str]) -> bool:
    """Whether a folder is that of an ensemble, which may still be in training."""
    return Path(folder, ENSEMBLE).is_file()


def is_run(folder: str | PathLike[str]) -> bool:
    """Whether a folder is that of a run, which may still be in training."""
    return Path(folder, files.ABOUT).is_file()


def count_members(folder: Path) -> int:
    """How many members an ensemble has, which may still be in training.

    Raises:
        ValueError: The folder does not say.
    """
    found = files.read_json(folder / ENSEMBLE).get("members")
    if not isinstance(found, int) or not 1 <= found <= MOST_MEMBERS:
        raise ValueError(f"{folder / ENSEMBLE}: members is {found!r:.40}; expected a number from 1 to {MOST_MEMBERS}")
    return found
