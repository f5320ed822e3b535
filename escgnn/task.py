"""What a model is asked, and how its answers are judged."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

Level = Literal["node", "graph", "pair"]
Kind = Literal["regression", "binary", "multiclass", "multilabel"]
Direction = Literal["min", "max"]


@dataclass(frozen=True)
class Task:
    """What is predicted, of what, and which number says how well.

    >>> Task("graph", "regression", "mae", "min", ("logP",)).classes
    1

    Attributes:
        level: Whether every node, every graph or every pair of graphs has an answer.
        kind: Numbers; one yes or no; one of several classes; or several times yes or no.
        metric: Name of the number that judges.
        direction: Whether a smaller or a larger one is better.
        targets: Names of what is predicted, one per column of ``y``.
        classes: Number of classes of a multiclass target; 1 for the other kinds.
        names: What the classes are called, if they are called anything.
    """

    level: Level
    kind: Kind
    metric: str
    direction: Direction
    targets: tuple[str, ...] = ()
    classes: int = 1
    names: tuple[str, ...] = field(default=(), repr=False)  # not in the repr, by which runs know their data

    def __post_init__(self) -> None:
        for name, kinds in (("level", Level), ("kind", Kind), ("direction", Direction)):
            if getattr(self, name) not in get_args(kinds):
                raise ValueError(f"{name}: {getattr(self, name)!r}; expected one of {', '.join(get_args(kinds))}")
        if (self.kind == "multiclass") != (self.classes > 1):
            raise ValueError(f"classes: {self.classes}; a multiclass task has at least 2, any other 1")
        if self.names and len(self.names) != self.classes:
            raise ValueError(f"names: {len(self.names)} of {self.classes} classes")

    @classmethod
    def of(cls, values: Mapping[str, Any]) -> "Task":
        """The task with these attributes, which may come from a file, as lists."""
        plain: dict[str, Any] = {name: tuple(v) if isinstance(v, list) else v for name, v in values.items()}
        return cls(**plain)
