"""What a model is asked, and how its answers are judged."""

from dataclasses import dataclass
from typing import Literal, get_args

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
    """

    level: Level
    kind: Kind
    metric: str
    direction: Direction
    targets: tuple[str, ...] = ()
    classes: int = 1

    def __post_init__(self) -> None:
        for name, kinds in (("level", Level), ("kind", Kind), ("direction", Direction)):
            if getattr(self, name) not in get_args(kinds):
                raise ValueError(f"{name}: {getattr(self, name)!r}; expected one of {', '.join(get_args(kinds))}")
        if (self.kind == "multiclass") != (self.classes > 1):
            raise ValueError(f"classes: {self.classes}; a multiclass task has at least 2, any other 1")
