"""What a model is asked, and how its answers are judged."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any, Literal, get_args

Level = Literal["node", "graph", "pair"]
Kind = Literal["regression", "binary", "multiclass", "multilabel", "mixed"]
Direction = Literal["min", "max"]


@dataclass(frozen=True)
class Task:
    """What is predicted, of what, and which number says how well.

    >>> Task("graph", "regression", "mae", "min", ("logP",)).classes
    1
    >>> number = Task("graph", "regression", "mae", "min", ("logP",))
    >>> answer = Task("graph", "binary", "rocauc", "max", ("active",))
    >>> Task.mixed([number, answer]).targets
    ('logP', 'active')

    Attributes:
        level: Whether every node, every graph or every pair of graphs has an answer.
        kind: Numbers; one yes or no; one of several classes; several times yes or no; or targets of several kinds.
        metric: Name of the number that judges.
        direction: Whether a smaller or a larger one is better.
        targets: Names of what is predicted, one per column of ``y``.
        classes: Number of classes of a multiclass target; 1 for the other kinds.
        names: What the classes are called, if they are called anything.
        parts: The tasks of a mixed one, each of one target; none of other kinds.
    """

    level: Level
    kind: Kind
    metric: str
    direction: Direction
    targets: tuple[str, ...] = ()
    classes: int = 1
    names: tuple[str, ...] = field(default=(), repr=False)  # not in the repr, by which runs know their data
    parts: tuple["Task", ...] = ()

    def __post_init__(self) -> None:
        for name, kinds in (("level", Level), ("kind", Kind), ("direction", Direction)):
            if getattr(self, name) not in get_args(kinds):
                raise ValueError(f"{name}: {getattr(self, name)!r}; expected one of {', '.join(get_args(kinds))}")
        if (self.kind == "multiclass") != (self.classes > 1):
            raise ValueError(f"classes: {self.classes}; a multiclass task has at least 2, any other 1")
        if self.names and len(self.names) != self.classes:
            raise ValueError(f"names: {len(self.names)} of {self.classes} classes")
        if (self.kind == "mixed") != bool(self.parts):
            raise ValueError(f"parts: {len(self.parts)}; a mixed task has some, any other none")
        if self.parts and self.targets != tuple(name for part in self.parts for name in part.targets):
            raise ValueError(f"targets: {self.targets}; expected those of the parts, in their order")
        for part in self.parts:
            if part.kind == "mixed" or part.level != self.level or len(part.targets) != 1:
                raise ValueError(f"parts: {part}; expected a task of one target and of the same level")

    def __repr__(self) -> str:
        """As it was before there were mixed tasks, where there is no part: runs know their data by it."""
        shown = [one.name for one in fields(self) if one.repr and (one.name != "parts" or self.parts)]
        return f"Task({', '.join(f'{name}={getattr(self, name)!r}' for name in shown)})"

    @property
    def has_numbers(self) -> bool:
        """Whether some target is a number, and so standardised."""
        return self.kind == "regression" or any(part.has_numbers for part in self.parts)

    @property
    def singles(self) -> tuple["Task", ...]:
        """The same task target by target, as several of one target each."""
        if self.parts:
            return self.parts
        kind: Kind = "binary" if self.kind == "multilabel" else self.kind
        return tuple(replace(self, kind=kind, targets=(name,)) for name in self.targets)

    @classmethod
    def mixed(cls, parts: Sequence["Task"]) -> "Task":
        """The task of several targets that are judged together: by the mean of their errors, relative to a constant's."""
        targets = tuple(name for part in parts for name in part.targets)
        return cls(parts[0].level, "mixed", "relative", "min", targets, parts=tuple(parts))

    @classmethod
    def of(cls, values: Mapping[str, Any]) -> "Task":
        """The task with these attributes, which may come from a file, as lists."""
        plain: dict[str, Any] = {name: tuple(v) if isinstance(v, list) else v for name, v in values.items()}
        plain["parts"] = tuple(part if isinstance(part, Task) else cls.of(part) for part in plain.get("parts", ()))
        return cls(**plain)
