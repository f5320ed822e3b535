"""What there is to train: the rows of the zoo, with all that can be set."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from escgnn.training.config import flat, read_config
from escgnn.zoo import ZOO, Recipe, recipe_of


@dataclass(frozen=True)
class ModelListing:
    """A row of the zoo.

    Attributes:
        name: What ``model`` is set to.
        network: Its class.
        paper: Where it comes from.
        cost: What a step takes.
        transforms: What is done to the graphs, by class, each batch first.
        reads: What of a batch it reads, beside edges and the features that the dataset has.
        settings: Defaults by name, as ``--set`` takes them.
        presets: Settings by name of the preset.
    """

    name: str
    network: str
    paper: str
    cost: str
    transforms: tuple[str, ...]
    reads: tuple[str, ...]
    settings: Mapping[str, Any]
    presets: Mapping[str, Mapping[str, Any]]

    @property
    def cited(self) -> str:
        """Who and when, without the title.

        >>> models("esc-gnn")[0].cited
        'Yan et al., KDD 2024'
        """
        words = [one.split(", ") for one in self.paper.split("; ")]
        return "; ".join(", ".join(dict.fromkeys((own[0], own[-1]))) for own in words)


def models(name: str | None = None) -> list[ModelListing]:
    """Every row of the zoo, or the one of that name.

    >>> [one.cost for one in models("gin")]
    ['E: a message for every edge']

    Raises:
        ValueError: There is none of that name.
    """
    chosen = ZOO if name is None else {name: recipe_of(name)}
    return [_listed(one, recipe) for one, recipe in chosen.items()]


def _listed(name: str, recipe: Recipe) -> ModelListing:
    config = read_config(overrides={"model": name})
    made = [one for one in recipe.transforms(config.transform) if one is not None]
    return ModelListing(
        name=name,
        network=recipe.network.__name__,
        paper=recipe.paper,
        cost=recipe.cost,
        transforms=tuple(type(one).__name__ for one in made),
        reads=tuple(sorted({array for one in made for array in getattr(one, "adds", ())})),
        settings=flat({"network": config.network, "transform": config.transform}),
        presets={preset: flat(settings) for preset, settings in recipe.presets.items()},
    )
