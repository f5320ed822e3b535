"""All settings of a training run: one model, read from YAML, overridden by ``key=value``."""

import difflib
from collections.abc import Iterable, Iterator, Mapping
from os import PathLike
from pathlib import Path
from typing import Any, Literal, Self, get_args

import yaml  # type: ignore[import-untyped]
from pydantic import BaseModel, ConfigDict, Field, ValidationError, ValidationInfo, field_validator, model_validator

from escgnn.datasets import DatasetBundle
from escgnn.files import atomic
from escgnn.models.settings import EARLIER
from escgnn.transforms import StructuralEncoding

Loss = Literal["auto", "l1", "mse", "bce", "ce"]


class Section(BaseModel):
    """Settings that belong together; they never change, and there are no others."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class EncodingConfig(Section):
    """The structural encoding; see `escgnn.transforms.StructuralEncoding`. ``nodes`` gives the model node 2-tuples."""

    hops: int | tuple[int, ...] = 2
    parts: tuple[str, ...] = ("degree", "node", "joint", "edge")
    subgraph: str = "union"
    max_degree: int = 32
    resistance_width: float = 0.5
    nodes: bool = False
    max_nodes: int | None = None
    walk_length: int = 6
    cycle_length: int = 8
    colour_rounds: int = 2
    colour_bins: int = 64

    @field_validator("hops", "parts", mode="before")
    @classmethod
    def _by_commas(cls, value: Any, field: ValidationInfo) -> Any:
        listed = isinstance(value, str) and (field.field_name == "parts" or "," in value)
        return tuple(item.strip() for item in value.split(",")) if listed else value

    @model_validator(mode="after")
    def _good(self) -> Self:
        self.build()  # complains
        return self

    def build(self) -> StructuralEncoding:
        """The encoding."""
        return StructuralEncoding(**self.model_dump())


class PositionalConfig(Section):
    """A positional encoding of nodes: Laplacian eigenvectors, or the chances that a walk of each length returns."""

    kind: Literal["laplacian", "random_walk"]
    size: int = Field(default=8, ge=1)


class ModelConfig(Section):
    """The network; see `escgnn.models.ESCGNN`. What the dataset and the encoding decide is not set here."""

    backbone: str = "gin"
    hidden: int = Field(default=64, ge=1)
    layers: int = Field(default=5, ge=1)
    jumping: str = "last"
    residual: bool = True
    virtual_node: bool = False
    norm: str = "batch"
    dropout: float = Field(default=0.0, ge=0, lt=1)
    pool: str = "sum"
    readout_norm: bool = True
    heads: int = Field(default=4, ge=1)
    positional: PositionalConfig | None = None
    structure_every_layer: bool = True
    structure_scale: str = "fitted"
    structure_mlp: bool = False
    count_skip: bool = False


class TrainConfig(Section):
    """One training run.

    Attributes:
        encoding: The structural encoding; None trains the same network without it, the paper's MPNN.
        model: The network.
        loss: ``"auto"`` is L1 for numbers, binary cross-entropy for yes or no, cross-entropy for classes.
        optimiser: ``"adam"`` or ``"adamw"``.
        lr: Learning rate to begin with, or after the warm-up.
        weight_decay: Of the optimiser.
        schedule: ``"plateau"`` multiplies the learning rate by ``factor`` when the validation metric has not improved for
            more than ``patience`` epochs; ``"cosine"`` lets it rise for ``warmup`` epochs, then fall to 0; or ``"constant"``.
        patience: See ``schedule``.
        factor: See ``schedule``.
        warmup: See ``schedule``.
        epochs: Most epochs to train.
        early_stopping: Stop when the validation metric has not improved for so many epochs; None never does.
        batch_size: Graphs in a step, over all devices together.
        average: How much of the mean of the weights stays at every step; the mean is what is validated and kept. At first it is
            over fewer steps, a ninth of those so far. None for the weights themselves.
        gradient_clip: Largest norm of the gradient; None for no limit.
        seed: Decides the initial weights, the order of the graphs and dropout.
        precision: ``"32"``, ``"64"``, or mixed: ``"bf16-mixed"``, ``"16-mixed"``.
        compile: Compile the network with ``torch.compile``.
        accelerator: ``"auto"``, ``"cpu"``, ``"gpu"`` or another of Lightning's.
        devices: Processes or GPUs that share every batch.
        workers: Processes per device that cut and encode batches; none if 0.
    """

    encoding: EncodingConfig | None = EncodingConfig()
    model: ModelConfig = ModelConfig()
    loss: Loss = "auto"
    optimiser: Literal["adam", "adamw"] = "adam"
    lr: float = Field(default=1e-3, gt=0)
    weight_decay: float = Field(default=0.0, ge=0)
    schedule: Literal["plateau", "cosine", "constant"] = "plateau"
    patience: int = Field(default=10, ge=0)
    factor: float = Field(default=0.9, gt=0, lt=1)
    warmup: int = Field(default=0, ge=0)
    epochs: int = Field(default=100, ge=1)
    early_stopping: int | None = Field(default=None, ge=1)
    batch_size: int = Field(default=128, ge=1)
    average: float | None = Field(default=0.998, ge=0, lt=1)
    gradient_clip: float | None = Field(default=None, gt=0)
    seed: int = Field(default=0, ge=0)
    precision: Literal["32", "64", "bf16-mixed", "16-mixed"] = "32"
    compile: bool = False
    accelerator: str = "auto"
    devices: int = Field(default=1, ge=1)
    workers: int = Field(default=0, ge=0)

    @field_validator("precision", mode="before")
    @classmethod
    def _as_text(cls, precision: Any) -> Any:
        return str(precision) if isinstance(precision, int) else precision

    @model_validator(mode="before")
    @classmethod
    def _known(cls, settings: Any) -> Any:
        """Complain about names that do not exist before anything else, with the nearest that does."""
        for name in _names(settings) if isinstance(settings, Mapping) else ():
            if name not in SETTINGS:
                near = difflib.get_close_matches(name, SETTINGS, 1, cutoff=0.5)
                hint = f"did you mean {near[0]!r}?" if near else f"settings are {', '.join(SETTINGS)}"
                raise ValueError(f"unknown setting {name!r}; {hint}")
        return settings

    def to_yaml(self) -> str:
        """All settings, defaults too."""
        text: str = yaml.safe_dump(self.model_dump(mode="json"), sort_keys=False)
        return text

    def save(self, path: str | PathLike[str]) -> None:
        """Write the settings to a YAML file."""
        with atomic(path) as draft:
            draft.write_text(self.to_yaml())


def _fields(section: type[Section], prefix: str = "") -> Iterator[str]:
    """Names of all settings of a section and of those within it."""
    for name, field in section.model_fields.items():
        yield prefix + name
        for kind in (field.annotation, *get_args(field.annotation)):
            if isinstance(kind, type) and issubclass(kind, Section):
                yield from _fields(kind, f"{prefix}{name}.")


SETTINGS = tuple(_fields(TrainConfig))

# The paper's settings where they are a matter of taste, with the backbone and size that a CPU trains in reasonable time.
_COUNTING = {
    "encoding": {"hops": 2},
    "model": {"hidden": 128, "jumping": "concat", "residual": False},
    "lr": 5e-3,
    "epochs": 1000,
}
_ZINC = {
    "encoding": {"hops": 3, "parts": "degree,node,joint,edge,resistance", "nodes": True},
    "model": {"hidden": 64, "layers": 6},
    "optimiser": "adamw",
    "epochs": 300,
    "gradient_clip": 1.0,
}
_OGB = {
    "encoding": {"hops": 3},
    "model": {"hidden": 128, "virtual_node": True, "pool": "mean", "dropout": 0.5},
    "epochs": 100,
}
_QM9 = {
    "encoding": {"hops": 3, "parts": "degree,node,joint,edge,resistance"},
    "model": {"hidden": 128, "pool": "mean"},
    "epochs": 400,
}
_SEPARATION = {"encoding": {"hops": 3}, "model": {"layers": 4}, "batch_size": 32, "epochs": 100}
_SMALL = {"encoding": {"hops": 2}, "model": {"layers": 4, "dropout": 0.5}, "batch_size": 32, "epochs": 100}

DEFAULTS: dict[str, dict[str, Any]] = {
    **dict.fromkeys(("counting", "counting-random", "zinc-cycles"), _COUNTING),
    **dict.fromkeys(("zinc-12k", "zinc-250k"), _ZINC),
    **dict.fromkeys(("ogbg-molhiv", "ogbg-molpcba"), _OGB),
    **dict.fromkeys(("qm9", "qm9-20k"), _QM9),
    **dict.fromkeys(("exp", "exp-escgnn", "exp-rni"), _SEPARATION),
    "csl": {**_SEPARATION, "encoding": {"hops": 4}},
    **dict.fromkeys(("mutag", "ptc-mr", "proteins", "enzymes", "imdb-b"), _SMALL),
}
OWN_DATA = {"early_stopping": 30, "epochs": 200}


def read_config(
    path: str | PathLike[str] | None = None,
    overrides: Iterable[str] = (),
    *,
    bundle: DatasetBundle | None = None,
) -> TrainConfig:
    """Settings from, one over the other: the defaults of the dataset, a YAML file, and ``key=value``.

    >>> read_config(overrides=["model.hidden=300", "encoding=null"]).model.hidden
    300
    >>> read_config(overrides=["model.hiden=300"])
    Traceback (most recent call last):
    ...
    ValueError: unknown setting 'model.hiden'; did you mean 'model.hidden'?

    Args:
        path: The YAML file.
        overrides: Texts such as ``"model.hidden=300"``; what follows the sign is read as YAML.
        bundle: The dataset to train on.

    Raises:
        ValueError: A setting does not exist or cannot have that value; or the file holds something else.
        OSError: The file cannot be read.
    """
    settings: dict[str, Any] = {}
    if bundle is not None:
        _merge(settings, DEFAULTS.get(bundle.name, OWN_DATA))
    if path is not None:
        _merge(settings, _read_yaml(Path(path)))
    for text in overrides:
        key, sign, value = text.partition("=")
        if not sign:
            raise ValueError(f"{text!r}: expected key=value")
        nested: Any = _parse(value, text)
        for name in reversed(key.strip().split(".")):
            nested = {name: nested}
        _merge(settings, nested)
    return checked(settings)


def read_stored(path: str | PathLike[str]) -> TrainConfig:
    """Settings that `TrainConfig.save` wrote. It writes all of them, so one that is missing is newer than the file.

    Raises:
        ValueError: As `read_config` does.
        OSError: The file cannot be read.
    """
    settings: dict[str, Any] = {"average": None, "model": {**EARLIER}}
    _merge(settings, _read_yaml(Path(path)))
    return checked(settings)


def checked(settings: Mapping[str, Any]) -> TrainConfig:
    """The settings, or a ValueError in one line."""
    try:
        return TrainConfig.model_validate(settings)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(place) for place in first["loc"])
        what = first["msg"].removeprefix("Value error, ")
        got = f" (got {first['input']!r})" if first["loc"] and "Value error" not in first["msg"] else ""
        raise ValueError(f"{where}: {what}{got}" if where else what) from None


def difference(old: TrainConfig, new: TrainConfig, ignore: Iterable[str] = ()) -> str | None:
    """The first setting that differs, with both its values; None if there is none."""
    before, after = _flat(old.model_dump(mode="json")), _flat(new.model_dump(mode="json"))
    for name in dict.fromkeys((*before, *after)):
        if name not in ignore and before.get(name) != after.get(name):
            return f"{name} was {before.get(name)!r} and is {after.get(name)!r}"
    return None


def _merge(settings: dict[str, Any], more: Mapping[str, Any]) -> None:
    """Put further settings over those there are, sections piece by piece."""
    for name, value in more.items():
        if isinstance(value, Mapping) and isinstance(settings.get(name), dict):
            _merge(settings[name], value)
        else:
            settings[name] = {**value} if isinstance(value, Mapping) else value


def _read_yaml(path: Path) -> Mapping[str, Any]:
    settings = _parse(path.read_text(), str(path))
    if settings is None:
        return {}
    if not isinstance(settings, dict):
        raise ValueError(f"{path}: expected settings by name, not {type(settings).__name__}")
    return settings


def _parse(text: str, where: str) -> Any:
    try:
        return yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise ValueError(f"{where}: not YAML; {' '.join(str(error).split())}") from None


def _names(settings: Mapping[Any, Any]) -> Iterator[str]:
    """Names of all settings, those of sections too."""
    for name, value in settings.items():
        yield str(name)
        if isinstance(value, Mapping):
            yield from (f"{name}.{inner}" for inner in _names(value))


def _flat(settings: Mapping[str, Any]) -> dict[str, Any]:
    flat: dict[str, Any] = {}
    for name, value in settings.items():
        inner = _flat(value) if isinstance(value, Mapping) else {}
        flat |= {f"{name}.{key}": item for key, item in inner.items()} or {name: value}
    return flat
