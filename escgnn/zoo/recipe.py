"""A network and its transforms as one thing that can be trained."""

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from inspect import Parameter, signature
from typing import Any

from escgnn.metrics import out_channels
from escgnn.models import Bounded, Network

FROM_DATA = ("out_channels", "level", "node_features", "edge_features", "descriptors")  # what a dataset decides


@dataclass(frozen=True)
class Recipe:
    """A network and what is done to the graphs before it sees them.

    Attributes:
        network: The class of the network.
        each: The class of the transform of every batch: it is called with a batch, and gives one. It should say what it adds, as
            the attribute ``adds``.
        once: The class of the transform of a whole dataset: it is called with a `GraphStore`, and gives one.
        fixed: Arguments of the network or its transforms that are no settings, because this row is what it is by them.
        paper: Where the network comes from.
        cost: What a step takes, in words: what its tensors have a row for.
        presets: Settings of a run by name, such as ``authors/zinc-12k``; those called ``default`` lie beneath all others.
    """

    network: type[Network]
    each: type | None = None
    once: Callable[..., Any] | None = None
    fixed: Mapping[str, Any] = field(default_factory=dict)
    paper: str = ""
    cost: str = ""
    presets: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not (isinstance(self.network, type) and issubclass(self.network, Network)):
            raise ValueError(f"network: {self.network!r}; expected a class derived from escgnn.models.Network")
        for name in ("each", "once"):
            kind = getattr(self, name)
            if not (kind is None or isinstance(kind, type)):
                raise ValueError(
                    f"{name}: {kind!r}; expected a class, whose arguments are the settings of the transform"
                )

    @property
    def name(self) -> str:
        """Its name in the zoo; that of the network's class if it is not there."""
        return next((name for name, recipe in _zoo().items() if recipe is self), self.network.__qualname__)

    def transforms(self, settings: Mapping[str, Any]) -> tuple[Any, Any]:
        """The transform of each batch and that of the store, None where there is none."""
        made = []
        for kind in (self.each, self.once):
            given = {**settings, **self.fixed}
            own = {} if kind is None else {name: given[name] for name in arguments(kind) if name in given}
            made.append(None if kind is None else kind(**own))
        return made[0], made[1]

    def decided(self, each: Any, once: Any) -> dict[str, Any]:
        """Arguments of the network that this row or its transforms decide."""
        known = arguments(self.network)
        found = {name: value for name, value in self.fixed.items() if name in known}
        for name in known:
            for transform in (each, once):
                if transform is not None and name not in found and hasattr(transform, name):
                    found[name] = getattr(transform, name)
        return found

    def options(self, each: Any, once: Any) -> dict[str, Parameter]:
        """Arguments of the network that are left to be set."""
        taken = {*FROM_DATA, *self.network.measures, *self.decided(each, once)}
        return {name: one for name, one in arguments(self.network).items() if name not in taken}

    def build(
        self, settings: Mapping[str, Any], each: Any, once: Any, *, task: Any, features: Mapping[str, Any], graphs: Any
    ) -> Network:
        """A new network for a task, its weights drawn from torch's random numbers.

        Args:
            settings: Arguments that were set.
            each: What `transforms` gives.
            once: The same.
            task: What it predicts.
            features: What nodes and edges hold, as a `escgnn.datasets.DatasetBundle` says it.
            graphs: The training graphs.

        Raises:
            ValueError: The settings do not suit the task, or each other.
        """
        given = {**settings, **self.decided(each, once)}
        described = {name: asdict(features[name]) if name in features else None for name in ("x", "edge_attr")}
        from_data = {
            "out_channels": out_channels(task),
            "level": task.level,
            "node_features": described["x"],
            "edge_features": described["edge_attr"],
        }
        known = arguments(self.network)
        if "descriptors" in features:
            if "descriptors" not in known:
                able = ", ".join(name for name, row in _zoo().items() if "descriptors" in arguments(row.network))
                raise ValueError(f"model: {self.name} reads no descriptors; those that do are {able}")
            from_data["descriptors"] = sum(features["descriptors"].sizes)
        given |= {name: value for name, value in from_data.items() if name in known}
        given |= self.network.measure(given, task, graphs)
        with Bounded():
            return self.network(**given)


def arguments(kind: Callable[..., Any]) -> dict[str, Parameter]:
    """The named arguments of a class."""
    unnamed = (Parameter.VAR_POSITIONAL, Parameter.VAR_KEYWORD)
    return {name: one for name, one in signature(kind).parameters.items() if one.kind not in unnamed}


def _zoo() -> Mapping[str, Recipe]:
    from escgnn.zoo.rows import ZOO  # which is made of recipes

    return ZOO
