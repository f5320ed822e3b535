"""Bins in the words of people: a short name for the list, and a sentence for whoever points at it."""

from collections.abc import Callable
from typing import NamedTuple

from escgnn.encoding import Bin, Label, RootedEncoding


class Words(NamedTuple):
    """How a bin is called.

    Attributes:
        heading: Under which it stands: its part, behind the radius if there are several.
        short: Its name there.
        long: What it counts, behind a number.
        size: How many nodes each of the things that it counts has.
    """

    heading: str
    short: str
    long: str
    size: int


def describe(name: Bin, encoding: RootedEncoding) -> Words:
    """A bin in words.

    >>> describe(Bin("h2", "edge", 0, 1, 1, 2), RootedEncoding((1, 2)))
    Words(heading='h2 edge', short='(0,1)-(1,2)', long='edges between labels (0,1) and (1,2)', size=2)
    """
    heading = name.part if name.radius is None else f"h{name.radius} {name.part}"
    if name.part not in WORDS:  # a part from outside the package
        text = " ".join(map(str, name.label))
        return Words(heading, text, f"in the bin {text}", 1)
    return Words(heading, *WORDS[name.part](name, encoding))


def _label(label: Label) -> str:
    return f"({label[0]},{label[1]})"


def _joined(name: Bin) -> str:
    return "-".join(map(_label, name.labels))


def _type(name: Bin) -> str:
    """What is said behind a thing of some type; nothing if the bin speaks of none."""
    return "" if name.type is None else f" of type {name.type}"


def _degree(name: Bin, encoding: RootedEncoding) -> tuple[str, str, int]:
    (d,) = name.numbers
    text = f"{d} or more" if d == encoding.max_degree else str(d)
    return f"degree {text}", f"nodes of degree {text} inside the subgraph", 1


def _node(name: Bin, encoding: RootedEncoding) -> tuple[str, str, int]:
    return f"d({name.root}) = {name.numbers[0]}", f"nodes at distance {name.numbers[0]} from {name.root}", 1


def _joint(name: Bin, encoding: RootedEncoding) -> tuple[str, str, int]:
    a, b = name.numbers
    kind = _type(name)
    return f"{_label((a, b))}{kind}", f"nodes{kind} at distance {a} from u and {b} from v", 1


def _edge(name: Bin, encoding: RootedEncoding) -> tuple[str, str, int]:
    first, second = name.labels
    kind = _type(name)
    return f"{_joined(name)}{kind}", f"edges{kind} between labels {_label(first)} and {_label(second)}", 2


def _resistance(name: Bin, encoding: RootedEncoding) -> tuple[str, str, int]:
    low = name.numbers[0] * encoding.resistance_width
    is_last = name.numbers[0] == int((encoding.radius + 1) / encoding.resistance_width + 1e-6)
    text = f"{low:g} or more" if is_last else f"{low:g} to {low + encoding.resistance_width:g}"
    return f"R({name.root}) {text}", f"nodes at resistance distance {text} from {name.root}", 1


def _wedge(name: Bin, encoding: RootedEncoding) -> tuple[str, str, int]:
    (kind,) = name.words
    return f"{_joined(name)}, {kind}", f"{kind} 2-paths along labels {_joined(name)}", 3


def _triangle(name: Bin, encoding: RootedEncoding) -> tuple[str, str, int]:
    return _joined(name), f"triangles with labels {_joined(name)}", 3


def _path(name: Bin, encoding: RootedEncoding) -> tuple[str, str, int]:
    return _joined(name), f"3-paths along labels {_joined(name)}", 4


def _walk(name: Bin, encoding: RootedEncoding) -> tuple[str, str, int]:
    start = name.root or "u"
    end = name.root or "v"
    edges = name.numbers[0]
    return f"{start} → {end}, {edges} edges", f"walks of {edges} edges from {start} to {end}", edges + 1


def _cycle(name: Bin, encoding: RootedEncoding) -> tuple[str, str, int]:
    length = name.numbers[0]
    return f"{length}-cycles", f"{length}-cycles of the whole graph through the root", length


def _ring(name: Bin, encoding: RootedEncoding) -> tuple[str, str, int]:
    length, *composition = name.numbers
    kind = f" of composition {composition[0]}" if composition else ""
    return (
        f"{length}-rings{kind}",
        f"rings of {length} nodes{kind} through the root, cycles that no edge cuts short",
        length,
    )


def _colour(name: Bin, encoding: RootedEncoding) -> tuple[str, str, int]:
    colour = name.numbers[0]
    return f"colour {colour}", f"nodes of colour {colour} after {encoding.colour_rounds} rounds of 1-WL", 1


def _alike(name: Bin, encoding: RootedEncoding) -> tuple[str, str, int]:
    like = name.root or "u"
    beside = "v" if like == "u" else "u"
    return (
        f"like {like}",
        f"other neighbours of {beside} that look like {like} after {encoding.alike_rounds} rounds of 1-WL",
        1,
    )


def _clipped(name: Bin, encoding: RootedEncoding) -> tuple[str, str, int]:
    radius = name.numbers[0]
    return (
        f"radius {radius}",
        f"subgraph cut at radius {radius}, a larger one has more than {encoding.max_nodes} nodes",
        2,
    )


WORDS: dict[str, Callable[[Bin, RootedEncoding], tuple[str, str, int]]] = {
    "degree": _degree,
    "node": _node,
    "joint": _joint,
    "edge": _edge,
    "resistance": _resistance,
    "wedge": _wedge,
    "triangle": _triangle,
    "path": _path,
    "walk": _walk,
    "cycle": _cycle,
    "ring": _ring,
    "colour": _colour,
    "alike": _alike,
    "clipped": _clipped,
}
