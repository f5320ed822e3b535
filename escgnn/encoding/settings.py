"""The options of the encoding, each with its default, its limits and one line for the command line, in this one list.

The arguments of `escgnn.encoding.RootedEncoding` and of `escgnn.transforms.StructuralEncoding`, the settings of a training
run and the options of ``escgnn encode`` are all read off `Settings`. This module loads next to nothing, so that help is quick.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import KW_ONLY, dataclass, field, fields
from math import isfinite
from numbers import Integral
from typing import Any

from escgnn import limits

SUBGRAPHS = ("union", "balls")
TYPED = ("joint", "edge", "ring", "colour", "alike")  # parts that can count by types
LONGEST_CYCLE = 8
LONGEST_RING = 16
TYPE_NAME = re.compile(r"[A-Za-z_]\w*(:\d+(\+\d+)*)?")  # an attribute, and perhaps which of its columns

Check = Callable[[str, Any], Any]  # from an option's name and what was given to what is meant, or ValueError


def whole(least: int, most: int) -> Check:
    """An integer within limits."""

    def check(name: str, value: Any) -> int:
        is_integer = isinstance(value, Integral) and not isinstance(value, bool)
        if not is_integer or not least <= value <= most:
            raise ValueError(f"{name}: {value!r}; expected an integer from {least} to {most}")
        return int(value)

    return check


def whole_or_none(least: int, most: int) -> Check:
    """An integer within limits, or None."""
    check = whole(least, most)
    return lambda name, value: None if value is None else check(name, value)


def one_of(*choices: str) -> Check:
    """One of some words."""

    def check(name: str, value: Any) -> str:
        if value not in choices:
            raise ValueError(f"{name}: {value!r}; expected one of {', '.join(choices)}")
        return str(value)

    return check


def width(name: str, value: Any) -> float:
    """A finite number above 0, and not so small that there is no end of bins."""
    if not (isfinite(value) and value >= limits.LEAST_WIDTH):
        raise ValueError(f"{name}: {value!r}; expected a number above 0, from {limits.LEAST_WIDTH:g} on")
    return float(value)


def yes_or_no(name: str, value: Any) -> bool:
    """A truth value."""
    return bool(value)


def radii(name: str, value: Any) -> int | tuple[int, ...]:
    """One radius, or several different ones."""
    check = whole(1, limits.MOST_HOPS)
    listed = isinstance(value, Sequence) or getattr(value, "ndim", 0) > 0  # or an array
    if isinstance(value, str) or not listed:
        return int(check(name, value))
    several = tuple(check(name, radius) for radius in value)
    if not several or len({*several}) < len(several):
        raise ValueError(f"{name}: {several!r}; expected one or more different radii")
    return several


def names_of_parts(name: str, value: Any) -> tuple[str, ...]:
    """Several words; whether there are such parts is for `escgnn.encoding.parts` to say."""
    if isinstance(value, str):
        raise ValueError(f"{name}: {value!r} is a string; expected a sequence such as ({value!r},)")
    return tuple(value)


def is_of_edges(name: str) -> bool:
    """Whether an attribute belongs to edges: PyG's rule, by its name."""
    return name.startswith("edge")


def names_of_types(name: str, value: Any) -> tuple[str, ...]:
    """At most one attribute of nodes and one of edges."""
    if isinstance(value, str):
        raise ValueError(f"{name}: {value!r} is a string; expected a sequence such as ({value!r},)")
    for one in value:
        if not isinstance(one, str) or not TYPE_NAME.fullmatch(one):
            raise ValueError(f"{name}: {one!r}; expected an attribute such as x, or columns of it such as x:0 or x:0+4")
    levels = [is_of_edges(one) for one in value]
    if len({*levels}) < len(levels):
        raise ValueError(f"{name}: {tuple(value)!r}; expected one attribute of nodes, one of edges (edge...), or both")
    return tuple(value)


def names_of_typed(name: str, value: Any) -> tuple[str, ...]:
    """Some of the parts that can count by types."""
    parts = names_of_parts(name, value)
    for part in parts:
        if part not in TYPED:
            raise ValueError(f"{name}: {part!r} does not count by types; expected some of {', '.join(TYPED)}")
    return parts


def option(default: Any, help_text: str, check: Check) -> Any:
    """A field of `Settings`: its default, what the command line says about it, and its limits."""
    return field(default=default, metadata={"help": help_text, "check": check})


@dataclass(frozen=True)
class Settings:
    """What an encoding is made of; `escgnn.encoding.RootedEncoding` explains each option at length."""

    hops: int | Sequence[int] = option(2, "Radius of the rooted subgraphs, or several: 1,2,3.", radii)
    parts: Sequence[str] = option(("degree", "node", "joint", "edge"), "Histograms, by commas.", names_of_parts)
    _: KW_ONLY
    subgraph: str = option("union", "union, or balls as the authors' code has it.", one_of(*SUBGRAPHS))
    max_degree: int = option(32, "Degrees from here on share a bin.", whole(0, limits.MOST_BINS - 1))
    resistance_width: float = option(0.5, "Width of a resistance bin.", width)
    nodes: bool = option(False, "Encode the tuples (v, v), too.", yes_or_no)
    max_nodes: int | None = option(
        None, "Largest subgraph; beyond it the radius shrinks.", whole_or_none(2, limits.MOST_NODES)
    )
    walk_length: int = option(6, "Edges of the longest walks of the part walk.", whole(2, limits.MOST_WALK))
    cycle_length: int = option(
        LONGEST_CYCLE,
        f"Nodes of the longest cycles of the part cycle, at most {LONGEST_CYCLE}.",
        whole(3, LONGEST_CYCLE),
    )
    colour_rounds: int = option(2, "Rounds of 1-WL of the part colour.", whole(0, limits.MOST_ROUNDS))
    colour_bins: int = option(64, "Number of hashed colours of the part colour.", whole(1, limits.MOST_BINS))
    ring_length: int = option(
        8, f"Nodes of the longest rings of the part ring, at most {LONGEST_RING}.", whole(3, LONGEST_RING)
    )
    ring_bins: int = option(
        64, "Number of hashed rings of each length, if types are given.", whole(1, limits.MOST_BINS)
    )
    alike_rounds: int = option(8, "Rounds of 1-WL of the part alike.", whole(0, limits.MOST_ROUNDS))
    types: Sequence[str] = option((), "Attributes that hold types of nodes and edges: x,edge_attr.", names_of_types)
    typed: Sequence[str] = option(TYPED, "Parts that count by types, if these are given.", names_of_typed)
    node_types: int = option(32, "Types of nodes in the part joint; from here on they begin anew.", whole(1, 1 << 16))
    edge_types: int = option(8, "Types of edges in the part edge; from here on they begin anew.", whole(1, 1 << 16))

    def __post_init__(self) -> None:
        for given in fields(Settings):
            check: Check = given.metadata["check"]
            object.__setattr__(self, given.name, check(given.name, getattr(self, given.name)))

    @property
    def radius(self) -> int:
        """The radius, or the largest."""
        return self.hops if isinstance(self.hops, int) else max(self.hops)

    def counts_by_types(self, part: str) -> bool:
        """Whether a part counts by types: ``joint`` by those of nodes, ``edge`` by those of edges, others by either."""
        if part not in self.typed:
            return False
        levels = {is_of_edges(name) for name in self.types}
        needed = {"joint": {False}, "edge": {True}}.get(part, {False, True})
        return not levels.isdisjoint(needed)

    def within(self, radius: int, parts: Sequence[str], **changed: Any) -> "Settings":
        """The same options for some of the parts at one radius."""
        options = {given.name: getattr(self, given.name) for given in fields(Settings) if given.kw_only}
        return Settings(radius, parts, **{**options, **changed})
