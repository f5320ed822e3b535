"""The run folder: what it holds, how it is written and read. Nothing in it that is loaded can run code."""

import base64
import hashlib
import json
import platform
import subprocess
import zipfile
import zlib
from collections.abc import Collection, Mapping
from dataclasses import asdict, dataclass
from importlib import metadata
from os import PathLike
from pathlib import Path
from pickle import UnpicklingError
from typing import Any

import numpy as np
import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save
from torch import Tensor

from escgnn import __version__
from escgnn.datasets import DatasetBundle, Feature, Split
from escgnn.files import atomic
from escgnn.metrics import Task
from escgnn.models import ESCGNN
from escgnn.models.settings import EARLIER
from escgnn.store import GraphStore
from escgnn.training.config import TrainConfig
from escgnn.training.scoring import Scaling, out_channels
from escgnn.transforms import StructuralEncoding

CONFIG, METRICS, CHECKPOINT = "config.yaml", "metrics.csv", "last.ckpt"
WEIGHTS, ABOUT, RESULT, CURVES = "model.safetensors", "model.json", "result.json", "curves.png"
FILES = (CONFIG, METRICS, CHECKPOINT, WEIGHTS, ABOUT, RESULT, CURVES)
FORMAT = "escgnn model 1"
RECORDER = "Recorder"  # the part of a checkpoint that only ours have
FOREIGN = "is no checkpoint of escgnn; train in a new folder"


@dataclass(frozen=True, eq=False)
class Run:
    """A trained network with what it takes to use it.

    Attributes:
        folder: Where it was read from.
        model: The network, in evaluation mode.
        encoding: What it wants attached to every batch.
        task: What it predicts.
        scaling: How its outputs relate to the targets.
        features: What it reads of nodes and edges, by name.
        dataset: Name and hashes of what it was trained on.
        epoch: The epoch that the weights are of.
        split: Which of its dataset's graphs it was trained, chosen and judged with.
    """

    folder: Path
    model: ESCGNN
    encoding: StructuralEncoding | None
    task: Task
    scaling: Scaling
    features: Mapping[str, Feature]
    dataset: Mapping[str, str]
    epoch: int
    split: Split | None = None


def build_model(bundle: DatasetBundle, config: TrainConfig) -> ESCGNN:
    """A new network for a dataset, its weights drawn from torch's random numbers."""
    encoding = config.encoding
    degrees = np.bincount(bundle.train.view().degrees).tolist() if config.model.backbone == "pna" else None
    x, edge_attr = (asdict(bundle.features[name]) if name in bundle.features else None for name in ("x", "edge_attr"))
    return ESCGNN(
        out_channels(bundle.task),
        num_bins=None if encoding is None else encoding.build().num_bins,
        node_tuples=encoding is not None and encoding.nodes,
        node_features=x,
        edge_features=edge_attr,
        level=bundle.task.level,
        degrees=degrees,
        **config.model.model_dump(),
    )


def describe(model: ESCGNN, bundle: DatasetBundle, config: TrainConfig, scaling: Scaling) -> dict[str, Any]:
    """What stands beside the weights, as plain values."""
    encoding = config.encoding
    return {
        "format": FORMAT,
        "encoding": None if encoding is None else encoding.model_dump(mode="json"),
        "encoding_repr": None if encoding is None else repr(encoding.build()),
        "model": model.settings,
        "task": asdict(bundle.task),
        "scaling": asdict(scaling),
        "features": {name: asdict(bundle.features[name]) for name in ("x", "edge_attr") if name in bundle.features},
        "dataset": {
            "name": bundle.name,
            "sha256": bundle.sha256,
            "content": fingerprint(bundle),
            "graphs": hash_graphs(bundle.graphs),
        },
        "split": None if bundle.split is None else pack_split(bundle.split, len(bundle.graphs)),
        "versions": versions(),
    }


def save_weights(weights: Mapping[str, Tensor], path: Path, epoch: int) -> None:
    """Write weights, whole or not at all."""
    with atomic(path) as draft:
        draft.write_bytes(save({name: tensor.contiguous() for name, tensor in weights.items()}, {"epoch": str(epoch)}))


def save_json(values: Mapping[str, Any], path: Path) -> None:
    """Write plain values, whole or not at all."""
    with atomic(path) as draft:
        draft.write_text(json.dumps(values, indent=2, allow_nan=False) + "\n")


def load_run(folder: str | PathLike[str]) -> Run:
    """The trained network of a run folder, which may still be training; only ``model.json`` and the weights are read.

    Raises:
        ValueError: A file is missing, damaged, or does not fit the other.
    """
    folder = Path(folder)
    about = read_json(folder / ABOUT)
    weights, epoch = _read_weights(folder / WEIGHTS)
    try:
        if about["format"] != FORMAT:
            raise ValueError(f"its format is {about['format']!r}, not {FORMAT!r}")
        model = ESCGNN(**{**EARLIER, **about["model"]})
        run = Run(
            folder=folder,
            model=model.eval(),
            encoding=None if about["encoding"] is None else StructuralEncoding(**about["encoding"]),
            task=Task.of(about["task"]),
            scaling=Scaling(**{name: tuple(values) for name, values in about["scaling"].items()}),
            features={name: Feature(entry["kind"], tuple(entry["sizes"])) for name, entry in about["features"].items()},
            dataset=about["dataset"],
            epoch=epoch,
            split=unpack_split(about["split"]) if about.get("split") else None,
        )
    except (LookupError, TypeError, ValueError, AttributeError, zlib.error) as error:
        raise ValueError(f"{folder / ABOUT}: not a description of a model; {error!r}") from error
    try:
        model.load_state_dict(weights)
    except RuntimeError as error:
        raise ValueError(f"{folder / WEIGHTS}: does not fit {ABOUT}; {' '.join(str(error).split()):.300}") from error
    return run


def read_json(path: Path) -> dict[str, Any]:
    """The values of a JSON file, or a ValueError that names it."""
    _exists(path)
    try:
        values: dict[str, Any] = json.loads(path.read_text())
    except ValueError as error:
        raise ValueError(f"{path} is damaged: {error}") from error
    return values


def _read_weights(path: Path) -> tuple[dict[str, Tensor], int]:
    _exists(path)
    try:
        with safe_open(path, framework="pt") as file:
            epoch = int((file.metadata() or {}).get("epoch", -1))
            return {name: file.get_tensor(name) for name in file.keys()}, epoch  # noqa: SIM118, it is no mapping
    except SafetensorError as error:
        raise ValueError(f"{path} is damaged: {error}") from error


def _exists(path: Path) -> None:
    if not path.is_file():
        if (path.parent / "fold0").is_dir():
            raise ValueError(f"{path.parent} holds a cross-validation; choose a fold, such as {path.parent / 'fold0'}")
        what = "is not there" if path.parent.is_dir() else "is not there, nor is its folder"
        raise ValueError(f"{path} {what}; a run folder has it once the first epoch is over")


def fingerprint(bundle: DatasetBundle) -> str:
    """Hash of the graphs that are trained, chosen and judged with, in their order, and of what is asked of them."""
    digest = hashlib.sha256(repr((bundle.task, sorted(bundle.features.items()))).encode())
    for graphs in (bundle.train, bundle.validation, bundle.test):
        _add_graphs(digest, graphs)
    return digest.hexdigest()


def hash_graphs(graphs: GraphStore) -> str:
    """Hash of graphs in their order, whatever is asked of them."""
    digest = hashlib.sha256()
    _add_graphs(digest, graphs, ignore={"y"})
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
    """The split, every part in order."""
    parts = np.frombuffer(zlib.decompress(base64.b64decode(text)), np.uint8)
    return Split(*(np.flatnonzero(parts & 1 << place) for place in range(len(Split._fields))))


def versions() -> dict[str, str]:
    """Versions of what decides the numbers."""
    packages = ("torch", "torch_geometric", "lightning", "torchmetrics", "numpy", "numba")
    return {
        "escgnn": __version__,
        "python": platform.python_version(),
        **{name: metadata.version(name) for name in packages},
    }


def commit() -> str | None:
    """The commit of this code, if it runs from a repository; with "-dirty" behind it if the code has changed since."""
    package = Path(__file__).parents[1]
    try:
        top, head = _git(package, "rev-parse", "--show-toplevel", "HEAD").split("\n")[:2]
        changes = _git(package, "status", "--porcelain", "--untracked-files=no", "--", ".")
    except (OSError, subprocess.SubprocessError):
        return None
    is_ours = Path(top, package.name).resolve() == package.resolve()
    return head + "-dirty" * bool(changes) if is_ours else None


def _git(folder: Path, *arguments: str) -> str:
    command = ["git", "--no-optional-locks", "-C", str(folder), *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=10, check=True).stdout


def load_history(path: Path) -> dict[str, Any]:
    """What the checkpoint of a run says of its epochs.

    Raises:
        ValueError: It is damaged, or another program's.
    """
    checkpoint = read_values(path)
    if not isinstance(checkpoint, dict) or RECORDER not in checkpoint.get("callbacks", ()):
        raise ValueError(f"{path} {FOREIGN}")
    history: dict[str, Any] = checkpoint["callbacks"][RECORDER]
    return history


def read_values(path: Path) -> Any:
    """What torch has saved, as plain values.

    Raises:
        ValueError: It is damaged, or holds more than values.
    """
    try:
        return torch.load(path, map_location="cpu", weights_only=True)
    except (RuntimeError, ValueError, LookupError, TypeError, EOFError, UnpicklingError) as error:
        if isinstance(error, UnpicklingError) and zipfile.is_zipfile(path):  # it is whole, and holds more than values
            raise ValueError(f"{path} {FOREIGN}") from error
        raise ValueError(f"{path} is damaged; train again in a new folder ({WEIGHTS} can still be used)") from error
