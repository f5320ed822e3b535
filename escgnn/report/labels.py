"""Where the labels of a chart stand: beside the ends of lines, or near points that lie anywhere."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

Place = tuple[float, float]

LINE = 11.5  # height of a label
LETTER = 7.0  # about the width of one
RADIUS = 6.0  # of a point with a ring
WAYS = ((1, 0), (-1, 0), (0, -1), (0, 1), (1, -1), (1, 1), (-1, -1), (-1, 1))  # from a point to its label
GAPS = (8.0, 13.0, 20.0, 28.0, 38.0, 50.0)


@dataclass(frozen=True)
class Box:
    """A rectangle of the chart; y grows downwards."""

    left: float
    top: float
    right: float
    bottom: float

    def overlap(self, other: "Box") -> float:
        """The area that two have in common.

        >>> Box(0, 0, 2, 2).overlap(Box(1, 1, 5, 5)), Box(0, 0, 2, 2).overlap(Box(3, 0, 4, 2))
        (1, 0.0)
        """
        across = min(self.right, other.right) - max(self.left, other.left)
        down = min(self.bottom, other.bottom) - max(self.top, other.top)
        return across * down if across > 0 and down > 0 else 0.0

    def outside(self, other: "Box") -> float:
        """The area of this one that the other does not hold."""
        return (self.right - self.left) * (self.bottom - self.top) - self.overlap(other)


def apart(heights: Sequence[float], bottom: float) -> list[float]:
    """Heights of labels that would stand at these, moved apart where they are close, none far below the bottom.

    >>> apart([50, 10, 12], bottom=100)
    [50, 10, 21.5]
    """
    order = sorted(range(len(heights)), key=lambda i: (heights[i], i))
    places: list[float] = []
    for i in order:
        places.append(max(heights[i], places[-1] + LINE) if places else heights[i])
    for k in reversed(range(len(places))):  # those pushed below the chart push the others up again
        limit = bottom + 3 if k == len(places) - 1 else places[k + 1] - LINE
        places[k] = min(places[k], limit)
    found = [0.0] * len(heights)
    for i, place in zip(order, places, strict=True):
        found[i] = place
    return found


def near(points: Sequence[Place], labels: Sequence[str], chart: Box, *, first: Iterable[int] = ()) -> list[Box]:
    """Rectangles for labels, each near its point, that cover neither each other nor any point, as far as there is room.

    Args:
        points: Where the points are.
        labels: The text of each.
        chart: What they should not leave.
        first: Numbers of points whose labels choose before all others.
    """
    taken = [Box(x - RADIUS, y - RADIUS, x + RADIUS, y + RADIUS) for x, y in points]
    found: dict[int, Box] = {}
    chosen = [*first]
    rest = [i for i in range(len(points)) if i not in chosen]
    for i in [*chosen, *sorted(rest, key=lambda i: points[i])]:
        boxes = [_box(points[i], way, gap, labels[i]) for gap in GAPS for way in WAYS]
        best = min(boxes, key=lambda box: sum(map(box.overlap, taken)) + box.outside(chart))  # the nearest of equals
        taken.append(best)
        found[i] = best
    return [found[i] for i in range(len(points))]


def _box(point: Place, way: tuple[int, int], gap: float, label: str) -> Box:
    """The rectangle of a label that lies that way from a point, so far from it."""
    across, down = way
    width = LETTER * len(label)
    slant = 0.7 if across and down else 1.0
    x = point[0] + slant * across * gap
    y = point[1] + slant * down * gap
    left = x + (across - 1) / 2 * width
    return Box(left, y - LINE / 2, left + width, y + LINE / 2)
