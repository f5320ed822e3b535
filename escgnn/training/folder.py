"""The run folder: what it holds, how it is written and read. Nothing in it that is loaded can run code."""

import json
import math
import re
import statistics
import zlib
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from os import PathLike
from pathlib import Path
from typing import Any

from safetensors import SafetensorError, safe_open
from safetensors.torch import save
from torch import Tensor

from escgnn import hub, limits, provenance, zoo
from escgnn.datasets import NO_DESCRIPTORS, DatasetBundle, Descriptors, Feature, Split
from escgnn.disk import atomic
from escgnn.metrics import Scaling, out_channels
from escgnn.models import Bounded, Network
from escgnn.task import Task
from escgnn.training.config import TrainConfig
from escgnn.training.fingerprints import fingerprint, hash_graphs, pack_split, unpack_split
from escgnn.training.settings import resolved
from escgnn.training.showing import folds_html, result_html, run_html
from escgnn.zoo import Recipe

CONFIG = "config.yaml"
METRICS = "metrics.csv"
CHECKPOINT = "last.ckpt"
WEIGHTS = "model.safetensors"
ABOUT = "model.json"
RESULT = "result.json"
CURVES = "curves.png"
CALIBRATION = "calibration.safetensors"
KNOWN = "known.safetensors"
FILES = (CONFIG, METRICS, CHECKPOINT, WEIGHTS, ABOUT, RESULT, CURVES, CALIBRATION)
FORMAT = "escgnn model 2"
FIRST_FORMAT = "escgnn model 1"  # of the time when there was one model
SPARE = 1 << 20  # numbers that a network may hold beyond those that are stored
NO_MODEL = "not a description of a model"

Metrics = Mapping[str, float | None]


@dataclass(frozen=True, eq=False)
class Run:
    """A trained network with what it takes to use it.

    Attributes:
        folder: Where it was read from.
        name: That of its model.
        model: The network, in evaluation mode.
        transform: What it wants done to every batch; None for nothing.
        once: What it wants done to a whole `GraphStore` beforehand; None for nothing.
        task: What it predicts.
        scaling: How its outputs relate to the targets.
        features: What it reads of nodes and edges, by name.
        dataset: Name and hashes of what it was trained on, and the column of the SMILES if it was a table.
        epoch: The epoch that the weights are of.
        split: Which of its dataset's graphs it was trained, chosen and judged with.
        descriptors: What it reads beside the graph.
    """

    folder: Path
    name: str
    model: Network
    transform: Any
    once: Any
    task: Task
    scaling: Scaling
    features: Mapping[str, Feature]
    dataset: Mapping[str, str]
    epoch: int
    split: Split | None = None
    descriptors: Descriptors = NO_DESCRIPTORS

    @property
    def encoding(self) -> Any:
        """The transform, by its earlier name."""
        return self.transform

    def _repr_html_(self) -> str:
        return run_html(self)


def describe(
    model: Network, recipe: Recipe, bundle: DatasetBundle, config: TrainConfig, scaling: Scaling
) -> dict[str, Any]:
    """What stands beside the weights, as plain values."""
    each, _ = recipe.transforms(config.transform)
    read = {name: feature for name, feature in bundle.features.items() if name in model.reads}
    return {
        "format": FORMAT,
        "model": config.model,
        "class": f"{type(model).__module__}.{type(model).__qualname__}",
        "network": model.settings,
        "transform": config.model_dump(mode="json")["transform"],
        "transform_repr": None if each is None else repr(each),
        "task": asdict(bundle.task),
        "scaling": asdict(scaling),
        "features": {name: asdict(feature) for name, feature in read.items()},
        "dataset": {
            "name": bundle.name,
            "sha256": bundle.sha256,
            "content": fingerprint(bundle),
            "graphs": hash_graphs(bundle.graphs),
            "smiles": bundle.smiles,
        },
        "split": None if bundle.split is None else pack_split(bundle.split, len(bundle.graphs)),
        "descriptors": asdict(bundle.descriptors) if "descriptors" in read else None,
        "versions": provenance.versions(),
    }


def save_weights(weights: Mapping[str, Tensor], path: Path, epoch: int) -> None:
    """Write weights, whole or not at all."""
    with atomic(path) as draft:
        draft.write_bytes(save({name: tensor.contiguous() for name, tensor in weights.items()}, {"epoch": str(epoch)}))


def save_json(values: Mapping[str, Any], path: Path) -> None:
    """Write plain values, whole or not at all."""
    with atomic(path) as draft:
        draft.write_text(json.dumps(values, indent=2, allow_nan=False) + "\n")


def load_run(folder: str | PathLike[str], recipe: Recipe | None = None) -> Run:
    """The trained network of a run folder, which may still be training; only ``model.json`` and the weights are read.

    Args:
        folder: The run folder; or ``hf://user/name`` for one on the Hugging Face hub.
        recipe: That of your own network; models of the zoo need none. No code comes from the folder.

    Raises:
        ValueError: A file is missing, damaged, or does not fit the other; or the network is not in the zoo.
    """
    folder = hub.located(folder)
    about = _read_about(folder / ABOUT)
    weights, epoch = _read_weights(folder / WEIGHTS)
    recipe = _recipe(folder, about, recipe)
    try:
        each, once = recipe.transforms(about["transform"])
        task = Task.of(about["task"])
        settings = {**recipe.network.earlier, **about["network"]}
        _check_settings(settings, {"out_channels": out_channels(task), "level": task.level}, "the task asks for")
        _check_settings(settings, recipe.decided(each, once), "the transform gives")
        with Bounded(2 * sum(tensor.numel() for tensor in weights.values()) + SPARE):
            model = recipe.network(**settings)
        run = Run(
            folder=folder,
            name=about["model"],
            model=model.eval(),
            transform=each,
            once=once,
            task=task,
            scaling=_scaling(about["scaling"], len(task.targets)),
            features={name: Feature(entry["kind"], tuple(entry["sizes"])) for name, entry in about["features"].items()},
            dataset=about["dataset"],
            epoch=epoch,
            split=unpack_split(about["split"]) if about.get("split") else None,
            descriptors=Descriptors.read(about.get("descriptors") or {}),
        )
    except (LookupError, TypeError, ValueError, AttributeError, RuntimeError, OverflowError, zlib.error) as error:
        raise ValueError(f"{folder / ABOUT}: {NO_MODEL}; {_words(error)}") from error
    try:
        _check_numbers(weights, model.state_dict())
        model.load_state_dict(weights)
    except ValueError as error:
        raise ValueError(f"{folder / WEIGHTS}: {error}") from error
    except RuntimeError as error:
        raise ValueError(f"{folder / WEIGHTS}: does not fit {ABOUT}; {' '.join(str(error).split()):.300}") from error
    return run


def _read_about(path: Path) -> dict[str, Any]:
    """The description of a network, one of the first format as if it were of today's."""
    about = read_json(path)
    try:
        if about["format"] == FORMAT:
            return about
        if about["format"] != FIRST_FORMAT:
            raise ValueError(f"its format is {about['format']!r}, not {FORMAT!r}")
        network = about.pop("model")
        chosen = {"backbone": network["backbone"], "positional": network["positional"]}
        settings = resolved({"encoding": about.pop("encoding"), "model": chosen})
        name = settings.get("model", zoo.DEFAULT)
        class_name = zoo.recipe_of(name).network.__qualname__
        return {**about, "model": name, "class": class_name, "network": network, "transform": settings["transform"]}
    except (LookupError, TypeError, ValueError, AttributeError) as error:
        raise ValueError(f"{path}: {NO_MODEL}; {_words(error)}") from error


def _words(error: Exception) -> str:
    """What an error says, in one line; of those that are not meant for users their name, too."""
    words = str(error) if isinstance(error, ValueError) else repr(error)
    return f"{' '.join(words.split()):.300}"


def _check_settings(settings: Mapping[str, Any], expected: Mapping[str, Any], why: str) -> None:
    """Refuse arguments of a network that contradict what else is known of them."""
    for name, value in json.loads(json.dumps(dict(expected))).items():
        if name in settings and settings[name] != value:
            raise ValueError(f"{name} of the network is {settings[name]!r:.80}, but {why} {value!r:.80}")


def _scaling(values: Mapping[str, Any], targets: int) -> Scaling:
    """How outputs relate to targets: finite numbers, one for each."""
    scaling = Scaling(**{name: tuple(map(float, numbers)) for name, numbers in values.items()})
    for name, numbers in vars(scaling).items():
        good = all(math.isfinite(number) and (number > 0 or name == "mean") for number in numbers)
        if not good or len(numbers) != targets:
            raise ValueError(
                f"scaling, {name}: {numbers!r:.80}; expected a finite number for each target, {targets} in all"
            )
    return scaling


def _check_numbers(weights: Mapping[str, Tensor], expected: Mapping[str, Tensor]) -> None:
    """Refuse weights that are no real numbers; `load_state_dict` would take all it can convert."""
    for name in weights.keys() & expected.keys():
        found = weights[name]
        like = expected[name]
        if found.is_floating_point() != like.is_floating_point() or found.is_complex():
            raise ValueError(f"{name} holds numbers of type {found.dtype}; expected {like.dtype}")
        if like.isfinite().all() and not found.isfinite().all():  # a network of one's own may mean infinity
            raise ValueError(f"{name} holds numbers that are not finite; the file is damaged, or training diverged")


def _recipe(folder: Path, about: Mapping[str, Any], given: Recipe | None) -> Recipe:
    """The recipe of a run: that of the zoo, unless one is given for a network of the same name."""
    name, class_name = str(about.get("model")), str(about.get("class"))
    if given is None:
        if name in zoo.ZOO:
            return zoo.ZOO[name]
        raise ValueError(
            f"{folder}: its network is {class_name}, which is not in the zoo; give its recipe, as in "
            f"load_run(folder, recipe=Recipe({class_name.rpartition('.')[2]}, ...))"
        )
    if given.network.__qualname__.rpartition(".")[2] != class_name.rpartition(".")[2]:
        raise ValueError(f"recipe: one of {given.network.__qualname__}, but the network of {folder} is {class_name}")
    return given


def read_json(path: Path) -> dict[str, Any]:
    """The values of a JSON file, or a ValueError that names it."""
    _exists(path)
    try:
        values = json.loads(path.read_text())
    except ValueError as error:
        raise ValueError(f"{path} is damaged: {error}") from error
    except RecursionError:
        raise limits.too_deep(str(path)) from None
    limits.check_nesting(values, str(path))
    if not isinstance(values, dict):
        raise ValueError(f"{path}: holds {type(values).__name__}; expected values by name")
    return values


def _read_weights(path: Path) -> tuple[dict[str, Tensor], int]:
    _exists(path)
    try:
        with safe_open(path, framework="pt") as file:
            epoch = (file.metadata() or {}).get("epoch", "-1")
            weights = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118, it is no mapping
    except (SafetensorError, RuntimeError, TypeError) as error:
        raise ValueError(f"{path} is damaged: {error}") from error
    if not re.fullmatch(r"-1|[0-9]{1,9}", epoch):
        raise ValueError(f"{path} is damaged: epoch {epoch!r:.80}; expected a number")
    return weights, int(epoch)


def _exists(path: Path) -> None:
    if not path.is_file():
        if (path.parent / "fold0").is_dir():
            raise ValueError(f"{path.parent} holds a cross-validation; choose a fold, such as {path.parent / 'fold0'}")
        if (path.parent / "member0").is_dir():
            raise ValueError(f"{path.parent} holds an ensemble; choose a member, such as {path.parent / 'member0'}")
        what = "is not there" if path.parent.is_dir() else "is not there, nor is its folder"
        raise ValueError(f"{path} {what}; a run folder has it once the first epoch is over")


@dataclass(frozen=True)
class Result:
    """One run: the epoch whose weights were kept, and the test metrics of the same weights.

    By default it has the best validation metric, among equals the smallest validation loss, and is the first of these; see
    ``select`` of `TrainConfig`.

    Two results are equal if the same numbers were computed, whenever that was and however long it took.

    Attributes:
        dataset: What was trained on.
        metric: Which of the metrics judges.
        best_epoch: From 0.
        epochs: Epochs trained.
        stopped: Why no more: ``"epochs"``, ``"early"``, or ``"diverged"`` if the loss was no longer a number.
        validation: Metrics of that epoch; several targets' as ``metric/target``, too. None if undefined.
        test: The same of the test graphs; empty if there were none.
        seed: Of the run.
        seconds: Spent on training and validation, by the clock.
        cpu_seconds: The same as processor time of all threads, which other work on the machine does not change; workers that
            make batches in processes of their own are not in it. 0 for epochs written before it was measured.
        command: What was called.
        versions: Of what decides the numbers.
        commit: Of this code, if known.
    """

    dataset: str
    metric: str
    best_epoch: int
    epochs: int
    stopped: str
    validation: Metrics
    test: Metrics
    seed: int
    seconds: float = field(compare=False, default=0.0)
    cpu_seconds: float = field(compare=False, default=0.0)
    command: str = field(compare=False, default_factory=provenance.command)
    versions: Mapping[str, str] = field(compare=False, default_factory=provenance.versions)
    commit: str | None = field(compare=False, default_factory=provenance.commit)

    @property
    def summary(self) -> str:
        """How it went, in words."""
        kept = f"the weights after {self.best_epoch + 1} of them are kept"
        return f"{self.epochs} epochs in {self.seconds:.0f} s; {kept}"

    def to_json(self) -> dict[str, Any]:
        """Plain values."""
        return asdict(self)

    def _repr_html_(self) -> str:
        return result_html(self)


@dataclass(frozen=True)
class FoldResult:
    """A cross-validation: mean and standard deviation over folds of the test metric, and the folds' own results.

    A fold in which the metric is undefined is left out of the two.
    """

    dataset: str
    metric: str
    mean: float
    std: float
    folds: tuple[Result, ...]

    @classmethod
    def of(cls, folds: Iterable[Result]) -> "FoldResult":
        """The summary of some folds, each of which counts the same."""
        folds = tuple(folds)
        metric = folds[0].metric
        values = [value for fold in folds if (value := fold.test.get(metric)) is not None]
        std = statistics.stdev(values) if len(values) > 1 else 0.0
        return cls(folds[0].dataset, metric, statistics.fmean(values), std, folds)

    def to_json(self) -> dict[str, Any]:
        """Plain values."""
        return {
            **{name: value for name, value in vars(self).items() if name != "folds"},
            "folds": [fold.to_json() for fold in self.folds],
        }

    def _repr_html_(self) -> str:
        return folds_html(self)


def read_result(folder: str | Path) -> Result:
    """The result of a run that has ended.

    Raises:
        ValueError: It is not there, or is damaged.
    """
    path = Path(folder, RESULT)
    try:
        return Result(**read_json(path))
    except TypeError as error:
        raise ValueError(f"{path}: not the result of a run; {error}") from error


def plain(metrics: Mapping[str, float]) -> dict[str, float | None]:
    """Metrics with None for what is not a number, which JSON does not know."""
    return {name: value if math.isfinite(value) else None for name, value in metrics.items()}
