"""What systems reach for what they cost: error against processor time of an epoch, ours marked, with the Pareto front."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from escgnn.markup import Markup, join, tag
from escgnn.report.charts import Series, chart, drawing
from escgnn.report.content import Content, Section, unique
from escgnn.report.style import CHART_STYLE

OURS = "ESC-GNN"  # rows that begin so are ours
FEWEST = 3  # systems that a picture is worth
MARKED = 0  # number of the colour of ours
OTHERS = 7  # of all others
SIZE = (420, 300)
COLUMNS = 2  # of charts in the picture of all tables
LEAST = 1e-4  # errors below count as this
CAPTION = (
    "What a system reaches against what it costs: test error, or accuracy, and processor seconds of an epoch, at equal machine "
    "time but for rows whose table says otherwise. Ours in colour; no system beats those on the broken line in both. Errors "
    "below 0.0001 count as that."
)


@dataclass(frozen=True)
class Point:
    """A row of a table.

    Attributes:
        row: Its name.
        cost: Processor seconds of an epoch.
        value: The geometric mean of its errors over the columns; the mean where higher is better.
    """

    row: str
    cost: float
    value: float


def points(section: Section) -> list[Point]:
    """The rows that have a number in every column, and processor time; none of smoke runs."""
    found = []
    for row in section.table.rows:
        entries = section.row(row)
        runs = unique(run for entry in entries for run in entry.chosen)
        seconds = math.fsum(run.cpu_seconds for run in runs)
        epochs = sum(run.epochs for run in runs)
        values = [entry.mean for entry in entries if entry.mean is not None and entry.budget != "smoke"]
        if len(values) == len(entries) and seconds > 0 and epochs > 0:
            found.append(Point(row, seconds / epochs, _mean(values, section.table.better)))
    return found


def _mean(values: Sequence[float], better: str) -> float:
    if better == "lower":  # columns may differ in their units
        return math.exp(math.fsum(math.log(max(value, LEAST)) for value in values) / len(values))
    return math.fsum(values) / len(values)


def front(found: Sequence[Point], better: str) -> list[Point]:
    """The points that no other beats in both, by rising cost.

    >>> [point.row for point in front([Point("a", 1, 5), Point("b", 2, 6), Point("c", 3, 4)], "lower")]
    ['a', 'c']
    """
    best: list[Point] = []
    sign = 1 if better == "lower" else -1
    for point in sorted(found, key=lambda one: (one.cost, sign * one.value)):
        if not best or sign * point.value < sign * best[-1].value:
            best.append(point)
    return best


def _shown(content: Content) -> list[Section]:
    """The tables that compare ours with others, and have enough rows that were run."""
    return [section for section in content.sections if _compares(section) and len(points(section)) >= FEWEST]


def _compares(section: Section) -> bool:
    ours = [row.startswith(OURS) for row in section.table.rows]
    return section.table.better != "same" and any(ours) and not all(ours)


def _series(section: Section) -> list[Series]:
    found = points(section)
    line = Series([(one.cost, one.value) for one in front(found, section.table.better)], "rule")
    marks = []
    rings = []
    for one in found:
        is_ours = one.row.startswith(OURS)
        place = [(one.cost, one.value)]
        marks.append(Series(place, "dots", one.row, MARKED if is_ours else OTHERS))
        if is_ours:
            rings.append(Series(place, "rings", colour=MARKED))
    return [line, *marks, *rings]


def _layout(section: Section) -> dict[str, Any]:
    """Axes and size of the chart of a table, for `drawing`."""
    is_error = section.table.better == "lower"
    metric = section.table.metric.split(" in ")[0]  # units have no room
    mean = metric if len(section.table.columns) == 1 else f"mean over columns: {metric}"
    return {
        "x_label": "CPU seconds an epoch, log",
        "y_label": f"{mean}, log" if is_error else mean,
        "log": is_error,
        "log_x": True,
        "anywhere": True,
        "size": SIZE,
    }


def cost_chart(section: Section) -> Markup:
    """The chart of a table."""
    return chart(section.table.label, _series(section), **_layout(section))


def cost_charts(content: Content) -> list[Markup]:
    """A chart for every table with several systems whose processor time is known."""
    return [cost_chart(section) for section in _shown(content)]


def picture(content: Content) -> Markup | None:
    """All these charts as one SVG picture that needs nothing else; None if there are none."""
    sections = _shown(content)
    if not sections:
        return None
    width, height = SIZE
    step = height + 40
    panels = []
    for i, section in enumerate(sections):
        left = (i % COLUMNS) * (width + 20) + 10
        top = (i // COLUMNS) * step
        heading = tag("text", section.table.title.split(",")[0], x=left, y=top + 20, class_="heading")
        drawn = drawing(section.table.label, _series(section), **_layout(section))
        panels += [heading, tag("g", drawn, transform=f"translate({left} {top + 30})")]
    across = min(COLUMNS, len(sections)) * (width + 20)
    down = -(-len(sections) // COLUMNS) * step
    return tag(
        "svg",
        tag("title", CAPTION),
        tag("style", Markup(CHART_STYLE)),
        tag("rect", width=across, height=down, class_="page"),
        join(panels),
        xmlns="http://www.w3.org/2000/svg",
        viewBox=f"0 0 {across} {down}",
        width=across,
        height=down,
    )
