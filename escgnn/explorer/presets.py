"""Pairs of graphs that are hard to tell apart, by name."""

from collections.abc import Callable
from typing import NamedTuple

from escgnn.explorer.reading import Subject, read
from escgnn.graphs import circulant, rook, shrikhande


class Pair(NamedTuple):
    """Two graphs, and the colours that their nodes have to start with, if any."""

    first: Subject
    second: Subject
    initial: list[int] | None = None


PLAIN: dict[str, Callable[[], Pair]] = {
    "rook": lambda: Pair(read(rook(4), title="rook graph, 4 x 4"), read(shrikhande(), title="Shrikhande graph")),
    "c15": lambda: Pair(read(circulant(15, 1, 4), title="C15(1,4)"), read(circulant(15, 1, 6), title="C15(1,6)")),
    "csl": lambda: Pair(read(circulant(41, 1, 2), title="CSL(41,2)"), read(circulant(41, 1, 3), title="CSL(41,3)")),
}
BENCHMARKS = {"exp": ("exp-rni", "exp-escgnn", "exp"), "brec": ("brec",)}  # of pairs by number, and who has copies


def names() -> list[str]:
    """What `pair` takes; behind ``exp`` and ``brec`` stands a number from 0, and their data must be at hand."""
    return [*PLAIN, *BENCHMARKS]


def pair(name: str) -> Pair:
    """The pair of that name.

    >>> pair("rook").second.title
    'Shrikhande graph'

    Raises:
        ValueError: There is none, or its data is not here.
    """
    word, _, number = name.strip().lower().partition(" ")
    if word in PLAIN and not number:
        return PLAIN[word]()
    if word not in BENCHMARKS or not (number or "0").isdecimal():
        raise ValueError(
            f"preset: {name!r:.60}; expected one of {', '.join(PLAIN)}, or exp or brec and a number from 0"
        )
    return _from_benchmark(word, int(number or 0))


def _from_benchmark(word: str, number: int) -> Pair:
    from escgnn import datasets  # which loads torch

    found = next((name for name in BENCHMARKS[word] if datasets.is_present(name)), None)
    if found is None:
        wanted = BENCHMARKS[word][0]
        raise ValueError(f"preset: the graphs of {word} are not here; get them with escgnn datasets {wanted}")
    bundle = datasets.load(found)
    assert bundle.pairs is not None
    if number >= len(bundle.pairs):
        raise ValueError(f"preset: {word} {number}; its pairs are 0 to {len(bundle.pairs) - 1}")
    members = [bundle.graphs[[int(index)]] for index in bundle.pairs[number]]
    initial = None
    if "x" in bundle.features:
        initial = [int(value) for member in members for value in member.column("x")[:, 0]]
    about = bundle.categories[number] if bundle.categories else word.upper()
    first, second = (member.view() for member in members)
    title = f"{about}, pair {number}"
    return Pair(read(first, title=f"{title}, first"), read(second, title=f"{title}, second"), initial)
