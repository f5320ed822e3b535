"""All settings of a training run: one model, read from YAML, overridden by ``key=value``."""

from collections.abc import Iterable, Iterator, Mapping
from os import PathLike
from pathlib import Path
from typing import Any, Literal

import yaml  # type: ignore[import-untyped]
from pydantic import BaseModel, ConfigDict, Field, ValidationError, ValidationInfo, field_validator, model_validator

from escgnn import limits, zoo
from escgnn.datasets import DatasetBundle, defaults
from escgnn.disk import atomic, damage_named
from escgnn.training.settings import BARE, completed, described, renamed, resolved, section, suited
from escgnn.zoo import Recipe, recipe_of

Loss = Literal["auto", "l1", "mse", "bce", "ce"]


class TrainConfig(BaseModel):
    """One training run. The settings never change, and there are no others.

    Earlier spellings (``encoding``, ``model`` with the network's settings, ``optimiser``) are understood, too.

    Attributes:
        model: Name of a row of `escgnn.zoo.ZOO`, or of the class of your own network.
        network: Arguments of the network, all of them but those that data and transforms decide.
        transform: Arguments of the transforms, such as `escgnn.transforms.StructuralEncoding`.
        loss: ``"auto"`` is L1 for numbers, binary cross-entropy for yes or no, cross-entropy for classes.
        optimizer: ``"adam"`` or ``"adamw"``.
        lr: Learning rate to begin with, or after the warm-up.
        weight_decay: Of the optimizer.
        schedule: ``"plateau"`` multiplies the learning rate by ``factor`` when the validation metric has not improved for
            more than ``patience`` epochs; ``"cosine"`` lets it rise for ``warmup`` epochs, then fall to 0; or ``"constant"``.
        patience: See ``schedule``.
        factor: See ``schedule``.
        warmup: See ``schedule``.
        epochs: Most epochs to train.
        early_stopping: Stop when the validation metric has not improved for so many epochs; None never does.
        batch_size: Graphs in a step, over all devices of all nodes together.
        select: The best epoch, whose weights are kept and judged, is the one with the best validation ``"metric"``, among
            equals by the validation loss; or the one with the least validation ``"loss"``; or the ``"last"``, where
            validation is too small to choose by.
        average: How much of the mean of the weights stays at every step; the mean is what is validated and kept. At first it is
            over fewer steps, a ninth of those so far. None for the weights themselves.
        gradient_clip: Largest norm of the gradient; None for no limit.
        seed: Decides the initial weights, the order of the graphs and dropout.
        precision: ``"32"``, ``"64"``, or mixed: ``"bf16-mixed"``, ``"16-mixed"``.
        compile: Compile the network with ``torch.compile``.
        accelerator: ``"auto"``, ``"cpu"``, ``"gpu"`` or another of Lightning's.
        devices: Processes or GPUs of each node that share every batch.
        nodes: Machines that do; torchrun or srun starts the processes if there are several.
        workers: Processes per device that cut and encode batches; none if 0.
        keep: Share of the free memory that encodings of training and validation graphs may take to be kept between epochs;
            with 0, or if they take more, every batch is encoded anew. It changes no number.
        balance: Whether rare classes weigh as much in the loss as frequent ones.
        smoothing: Share of each training row that belongs to all classes alike, whatever its class is: a network that has learnt
            its rows by heart is then less sure of others, and its validation loss says more.
        init_from: Folder of a run whose weights are taken to begin with, as far as they fit.
        freeze: Whether all of these stay as they are, and only what belongs to the targets is trained.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    model: str = zoo.DEFAULT
    network: dict[str, Any] = {}
    transform: dict[str, Any] = {}
    loss: Loss = "auto"
    optimizer: Literal["adam", "adamw"] = "adam"
    lr: float = Field(default=1e-3, gt=0, allow_inf_nan=False)
    weight_decay: float = Field(default=0.0, ge=0, allow_inf_nan=False)
    schedule: Literal["plateau", "cosine", "constant"] = "plateau"
    patience: int = Field(default=10, ge=0, le=limits.MOST_EPOCHS)
    factor: float = Field(default=0.9, gt=0, lt=1)
    warmup: int = Field(default=0, ge=0, le=limits.MOST_EPOCHS)
    epochs: int = Field(default=100, ge=1, le=limits.MOST_EPOCHS)
    early_stopping: int | None = Field(default=None, ge=1, le=limits.MOST_EPOCHS)
    batch_size: int = Field(default=128, ge=1, le=limits.MOST_GRAPHS)
    select: Literal["metric", "loss", "last"] = "metric"
    average: float | None = Field(default=0.998, ge=0, lt=1)
    gradient_clip: float | None = Field(default=None, gt=0, allow_inf_nan=False)
    seed: int = Field(default=0, ge=0, le=limits.MOST_SEED)
    precision: Literal["32", "64", "bf16-mixed", "16-mixed"] = "32"
    compile: bool = False
    accelerator: str = "auto"
    devices: int = Field(default=1, ge=1, le=limits.MOST_PROCESSES)
    nodes: int = Field(default=1, ge=1, le=limits.MOST_PROCESSES)
    workers: int = Field(default=0, ge=0, le=limits.MOST_PROCESSES)
    keep: float = Field(default=0.25, ge=0, le=1)
    balance: bool = False
    smoothing: float = Field(default=0.0, ge=0, lt=1)
    init_from: str | None = None
    freeze: bool = False

    @field_validator("precision", mode="before")
    @classmethod
    def _as_text(cls, precision: Any) -> Any:
        return str(precision) if isinstance(precision, int) else precision

    @model_validator(mode="before")
    @classmethod
    def _complete(cls, settings: Any, info: ValidationInfo) -> Any:
        """Complain about names that do not exist before anything else, and fill in what was not set."""
        if not isinstance(settings, Mapping):
            return settings
        own: Recipe | None = (info.context or {}).get("recipe")
        found = resolved(settings)
        recipe = own or recipe_of(found.get("model", zoo.DEFAULT))
        return {"model": recipe.name, **completed({**found, "model": recipe.name}, recipe, cls.model_fields)}

    def of(self, recipe: Recipe) -> "TrainConfig":
        """The same run of another recipe; this one must have no settings of a network or transform of its own.

        Raises:
            ValueError: It has some, which mean nothing to the other.
        """
        if self.model == recipe.name:
            return self
        chosen = {name: value for name, value in self if name not in ("model", "network", "transform")}
        if TrainConfig(**chosen) != self:
            raise ValueError(
                f"config: it is one of {self.model}, not of {recipe.name}; make it with read_config(..., recipe=recipe)"
            )
        return checked(chosen, recipe)

    @property
    def processes(self) -> int:
        """How many share every batch, on all nodes together."""
        return self.devices * self.nodes

    def to_yaml(self) -> str:
        """All settings, defaults too."""
        text: str = yaml.safe_dump(self.model_dump(mode="json"), sort_keys=False)
        return text

    def save(self, path: str | PathLike[str]) -> None:
        """Write the settings to a YAML file."""
        with atomic(path) as draft:
            draft.write_text(self.to_yaml())


EARLIER = {"average": None}  # of settings that a run may lack because it is older than they are: what it does
# Of a user's own data; a benchmark's settings are in its entry, see `escgnn.datasets.defaults`.
OWN_DATA = {"early_stopping": 30, "epochs": 200}
# Of a user's own molecules, as benchmarks/tables.py found by validation; in dense graphs cycles would take for ever.
OWN_MOLECULES = {
    **OWN_DATA,
    "network": {"pool": "sum+mean"},
    "transform": {"parts": ["degree", "node", "joint", "edge", "cycle"]},
}


def read_config(
    path: str | PathLike[str] | None = None,
    overrides: Iterable[str] | Mapping[str, Any] = (),
    *,
    bundle: DatasetBundle | None = None,
    recipe: Recipe | None = None,
) -> TrainConfig:
    """Settings from, one over the other: the defaults of the dataset, a preset, a YAML file, and ``key=value``.

    >>> read_config(overrides=["network.hidden=300", "model=gin"]).network["hidden"]
    300
    >>> read_config(overrides=["network.hiden=300"])
    Traceback (most recent call last):
    ...
    ValueError: unknown setting 'network.hiden'; did you mean 'network.hidden'?

    Args:
        path: The YAML file.
        overrides: Texts such as ``"network.hidden=300"``, in which what follows the sign is read as YAML; or values by name,
            those of a section within it. ``preset`` names settings that the model's recipe has, such as
            ``authors/zinc-12k``.
        bundle: The dataset to train on. Of its defaults those apply that the model has.
        recipe: That of your own network, if it is not a model of the zoo.

    Raises:
        ValueError: A setting does not exist or cannot have that value; or the file holds something else.
        OSError: The file cannot be read.
    """
    chosen: dict[str, Any] = {}
    layers = [] if path is None else [_read_yaml(Path(path))]
    layers += [overrides] if isinstance(overrides, Mapping) else [_nested(text) for text in overrides]
    for layer in layers:
        if isinstance(layer.get("encoding"), Mapping) and chosen.get("model") == BARE:
            del chosen["model"]  # the encoding is switched on again
        _merge(chosen, renamed(layer))
    preset = chosen.pop("preset", None)
    beneath = (
        {} if bundle is None else renamed(defaults(bundle.name) or _own_defaults(bundle, chosen.get("model"), recipe))
    )
    used = recipe
    if used is None:
        network = {**section(beneath, "network"), **section(chosen, "network")}  # decides which model BARE is
        used = recipe_of(resolved({"model": zoo.DEFAULT, **chosen, "network": network})["model"])
    settings = suited(beneath, used)
    for layer in _presets(used, preset):
        _merge(settings, renamed(layer))
    _merge(settings, chosen)
    return checked(settings, recipe)


def _own_defaults(bundle: DatasetBundle, model: Any, recipe: Recipe | None) -> Mapping[str, Any]:
    """Settings of a user's own data: those of molecules for our networks, and of other networks what their authors chose."""
    kind = recipe or recipe_of(model or zoo.DEFAULT)
    is_ours = kind.network is recipe_of(zoo.DEFAULT).network
    return OWN_MOLECULES if bundle.smiles and is_ours else OWN_DATA


def read_stored(path: str | PathLike[str], recipe: Recipe | None = None) -> TrainConfig:
    """Settings that `TrainConfig.save` wrote. It writes all of them, so one that is missing is newer than the file.

    Raises:
        ValueError: As `read_config` does.
        OSError: The file cannot be read.
    """
    stored = _stored(Path(path))
    try:
        used = recipe_of(stored.get("model", zoo.DEFAULT)) if recipe is None else recipe
        return checked({**EARLIER, **stored, "network": {**used.network.earlier, **section(stored, "network")}}, recipe)
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None


def continued(path: str | PathLike[str], config: TrainConfig, recipe: Recipe | None = None) -> TrainConfig:
    """The settings for a run that goes on: what is newer than the run keeps the meaning that it had when the run began.

    Only where it is the default; what somebody chose stays, and is refused if it is another setting.

    Args:
        path: The settings with which the run began.
        config: The settings with which it is to go on.
        recipe: That of your own network.
    """
    began = read_stored(path, recipe)
    kind = (recipe_of(config.model) if recipe is None else recipe).network
    network = dict(config.network)
    for name, before in kind.earlier.items():
        if began.network.get(name) == before and network.get(name) == zoo.arguments(kind)[name].default:
            network[name] = before
    others = {
        name: before
        for name, before in EARLIER.items()
        if getattr(began, name) == before and getattr(config, name) == TrainConfig.model_fields[name].default
    }
    return config.model_copy(update={**others, "network": network})


def _stored(path: Path) -> dict[str, Any]:
    """The settings of a file in today's spelling."""
    try:
        return resolved(_read_yaml(path))
    except TypeError as error:
        raise ValueError(f"{path}: not the settings of a run; {error}") from error


def checked(settings: Mapping[str, Any], recipe: Recipe | None = None) -> TrainConfig:
    """The settings, or a ValueError in one line."""
    try:
        return TrainConfig.model_validate(settings, context={"recipe": recipe})
    except ValidationError as error:
        raise ValueError(described(error)) from None


def _presets(recipe: Recipe, name: str | None) -> Iterator[Mapping[str, Any]]:
    """Settings that a recipe comes with: its defaults, and those of a preset."""
    yield recipe.presets.get("default", {})
    if name is not None:
        if name not in recipe.presets:
            known = ", ".join(recipe.presets) or "none"
            raise ValueError(f"preset: {name!r}; those of {recipe.name} are: {known}")
        yield recipe.presets[name]


def _nested(text: str) -> dict[str, Any]:
    """The setting that ``key=value`` names, inside its section."""
    key, sign, value = text.partition("=")
    if not sign:
        raise ValueError(f"{text!r}: expected key=value")
    nested: Any = _parse(value, text)
    for name in reversed(key.strip().split(".")):
        nested = {name: nested}
    found: dict[str, Any] = nested
    return found


def difference(old: TrainConfig, new: TrainConfig, ignore: Iterable[str] = ()) -> str | None:
    """The first setting that differs, with both its values; None if there is none."""
    before, after = flat(old.model_dump(mode="json")), flat(new.model_dump(mode="json"))
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
    with damage_named(path):
        text = path.read_text()
    settings = _parse(text, str(path))
    if settings is None:
        return {}
    if not isinstance(settings, dict):
        raise ValueError(f"{path}: expected settings by name, not {type(settings).__name__}")
    return settings


def _parse(text: str, where: str) -> Any:
    try:
        values = yaml.safe_load(text)
    except (yaml.YAMLError, ValueError) as error:
        raise ValueError(f"{where:.300}: not YAML; {' '.join(str(error).split())}") from None
    except RecursionError:
        raise limits.too_deep(f"{where:.300}") from None
    limits.check_nesting(values, f"{where:.300}")
    return values


def flat(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Settings of sections beside all others, by full name, such as ``network.hidden``."""
    found: dict[str, Any] = {}
    for name, value in settings.items():
        inner = flat(value) if isinstance(value, Mapping) else {}
        found |= {f"{name}.{key}": item for key, item in inner.items()} or {name: value}
    return found
