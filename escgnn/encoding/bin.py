"""Names of bins: tuples as people write them, whose places have names of their own."""

from typing import Literal

Name = tuple[str | int, ...]  # what people write
Label = tuple[int, int]  # distances of a node to u and to v


class Bin(tuple[str | int, ...]):
    """Name of one bin, equal to the plain tuple, and printed and saved like it.

    First the radius, if an encoding has several, then the part, then words and numbers as the part defines them.

    >>> name = Bin("h2", "wedge", "open", 0, 1, 1, 0, 2, 1)
    >>> name.radius, name.part, name.words, name.labels
    (2, 'wedge', ('open',), ((0, 1), (1, 0), (2, 1)))
    >>> Bin("node", "u", 3).root, Bin("node", "u", 3).numbers
    ('u', (3,))
    >>> Bin("edge", 0, 1, 1, 0) == ("edge", 0, 1, 1, 0)
    True
    >>> Bin("joint", 0, 1, "t6").type, Bin("joint", 0, 1, "t6").labels
    (6, ((0, 1),))
    """

    __slots__ = ()

    def __new__(cls, *places: str | int) -> "Bin":
        """The bin that people write as these words and numbers between brackets."""
        return super().__new__(cls, places)

    def __getnewargs__(self) -> Name:
        return tuple(self)

    @property
    def radius(self) -> int | None:
        """The radius that it begins with, None if the encoding has one radius only, or the part needs none."""
        first = str(self[0])
        return int(first[1:]) if first[0] == "h" and first[1:].isdecimal() else None  # asked of every bin: no regex

    @property
    def inner(self) -> Name:
        """The name without the radius."""
        return self if self.radius is None else self[1:]

    @property
    def part(self) -> str:
        """The part of the encoding that it belongs to; ``"clipped"`` if it says which smaller radius was used."""
        return str(self[0] if self.radius is None else self[1])

    @property
    def label(self) -> Name:
        """What stands behind the part."""
        return self[1:] if self.radius is None else self[2:]

    @property
    def words(self) -> tuple[str, ...]:
        """The words behind the part."""
        return tuple([place for place in self.label if isinstance(place, str)])

    @property
    def numbers(self) -> tuple[int, ...]:
        """The numbers behind the part."""
        return tuple([place for place in self.label if isinstance(place, int)])

    @property
    def root(self) -> Literal["u", "v"] | None:
        """The root that it speaks of, None if of both."""
        if "u" in self.words:
            return "u"
        return "v" if "v" in self.words else None

    @property
    def labels(self) -> tuple[Label, ...]:
        """The numbers two by two: the labels of nodes, for parts that count by labels."""
        numbers = self.numbers
        return tuple(zip(numbers[::2], numbers[1::2], strict=True))

    @property
    def type(self) -> int | None:
        """The type of what it counts, a word such as ``t3``; None if it speaks of none."""
        found = [word for word in self.words if word[:1] == "t" and word[1:].isdecimal()]
        return int(found[0][1:]) if found else None

    def at(self, radius: int | None) -> "Bin":
        """The same bin of an encoding with several radii, None for a part that needs none."""
        return self if radius is None else Bin(f"h{radius}", *self)

    def other_root(self) -> "Bin":
        """The same bin of the other root, itself if it speaks of both."""
        swap = {"u": "v", "v": "u"}
        return Bin(*(swap.get(place, place) if isinstance(place, str) else place for place in self))
