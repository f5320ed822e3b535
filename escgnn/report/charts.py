"""Small charts as SVG in the colours of the page, light or dark; lines are labelled where they end.

First how any chart is drawn, then those of a report: learning curves, predicted against true values, error against hops.
"""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from escgnn.markup import Markup, join, tag
from escgnn.records import BUDGETS, Record
from escgnn.report.content import Section, unique
from escgnn.report.labels import Box, apart, near
from escgnn.report.selection import Entry, choose

COLOURS = 8  # the page's style sheet names as many
CURVE_POINTS = 150  # more would not be seen, and the page should stay small
SCATTER_POINTS = 400
FAR = 15.0  # a label farther from its point has a line to it
Point = tuple[float, float]
Scale = Callable[[float], float]


@dataclass(frozen=True)
class Series:
    """Points that belong together.

    Attributes:
        points: Places in the units of the axes; in their order.
        kind: A ``"line"``, a line with ``"marks"``, ``"dots"`` alone, ``"rings"`` around marks, or a thin ``"rule"``.
        label: Stands at the last point.
        colour: Number of a colour; beyond the last they start again with dashes.
    """

    points: Sequence[Point]
    kind: Literal["line", "marks", "dots", "rings", "rule"] = "line"
    label: str = ""
    colour: int = 0

    @property
    def css(self) -> str:
        """Classes of the style sheet."""
        return "rule" if self.kind == "rule" else f"{self.kind} c{self.colour % COLOURS}"


@dataclass(frozen=True)
class Axis:
    """One axis: its range, its ticks, and where a value lies between 0 and 1."""

    low: float
    high: float
    ticks: tuple[float, ...]
    log: bool = False

    @classmethod
    def of(cls, values: Sequence[float], *, log: bool = False, whole: bool = False) -> "Axis":
        """An axis that holds all values, with two to six ticks, at whole numbers if asked."""
        low = min(values, default=1.0)
        high = max(values, default=1.0)
        if log:
            factor = 1.3 if high / low < 1.7 else 1.08
            low /= factor
            high *= factor
            return cls(low, high, _log_ticks(low, high), log=True)
        margin = (high - low) * 0.04 or abs(high) * 0.1 or 1.0
        low -= margin
        high += margin
        step = max(_step((high - low) / 4), 1.0 if whole else 0.0)
        first = math.ceil(low / step)
        return cls(low, high, tuple(i * step for i in range(first, math.floor(high / step) + 1)))

    def place(self, value: float) -> float:
        """0 at the low end, 1 at the high end."""
        if self.log:
            return math.log(value / self.low) / math.log(self.high / self.low)
        return (value - self.low) / (self.high - self.low)


def chart(title: str, series: Sequence[Series], **options: Any) -> Markup:
    """A chart with its title above it; options are those of `drawing`."""
    return tag("figure", tag("figcaption", title), drawing(title, series, **options))


def drawing(
    title: str,
    series: Sequence[Series],
    *,
    x_label: str = "",
    y_label: str = "",
    log: bool = False,
    whole: bool = False,
    square: bool = False,
    log_x: bool = False,
    anywhere: bool = False,
    size: tuple[int, int] = (275, 180),
) -> Markup:
    """A chart as SVG.

    Args:
        title: What it shows; screen readers are told it.
        series: What to draw, the last on top.
        x_label: Below the x axis.
        y_label: Above the y axis.
        log: Whether y is logarithmic; points at or below 0 are then left out.
        whole: Whether x takes whole numbers only.
        square: Whether both axes have the same range, with the diagonal drawn.
        log_x: Whether x is logarithmic; points at or below 0 are then left out.
        anywhere: Whether labels stand wherever there is room near their points, and not to the right.
        size: Width and height, about as many pixels.
    """
    series = [_finite(one, log, log_x) for one in series]
    points = [point for one in series for point in one.points]
    width, height = size
    if square:
        x = y = Axis.of([value for point in points for value in point], whole=whole)
        series = [Series([(x.low, x.low), (x.high, x.high)], "rule"), *series]
    else:
        x = Axis.of([value for value, _ in points], whole=whole, log=log_x)
        y = Axis.of([value for _, value in points], log=log)
    tick_width = max((len(_tick(t)) for t in y.ticks), default=1) * 6.2
    left = tick_width + 9
    labelled = [one for one in series if one.label and one.points]
    right = width - 10.0
    if not anywhere:
        right = min([right, *(_end(one, x, left, width) for one in labelled)])
    top = 20 if y_label else 10
    bottom = height - 32

    def across(value: float) -> float:
        return left + x.place(value) * (right - left)

    def up(value: float) -> float:
        return bottom - y.place(value) * (bottom - top)

    frame = Box(left, top, width, bottom)
    labels = _near_labels(labelled, across, up, frame) if anywhere else _labels(labelled, across, up, bottom)
    elements = [
        *(tag("path", d=f"M{left:.0f} {up(t):.1f}H{right:.0f}", class_="level") for t in y.ticks),
        *(tag("text", _tick(t), x=left - 5, y=up(t) + 3.5, class_="end") for t in y.ticks),
        *(tag("text", _tick(t), x=across(t), y=bottom + 14, class_="mid") for t in x.ticks),
        tag("text", x_label, x=(left + right) / 2, y=height - 4, class_="mid axis") if x_label else None,
        tag("text", y_label, x=0, y=9, class_="axis") if y_label else None,
        *(_drawn(one, across, up) for one in series if one.points),
        *labels,
    ]
    return tag(
        "svg",
        tag("title", title),
        join(elements),
        viewBox=f"0 0 {width} {height}",
        width=width,
        height=height,
        role="img",
        aria_label=title,
    )


def _end(one: Series, x: Axis, left: float, width: float) -> float:
    """Where the x axis may end at most, so that the label at the last point of a series has room."""
    room = width - len(one.label) * 7.2 - 12 - left
    return left + max(room, 1.0) / max(x.place(one.points[-1][0]), 0.01)


def _finite(one: Series, log: bool, log_x: bool) -> Series:
    tiny = 1e-99  # far below any error, and far above where ratios overflow
    least_x = tiny if log_x else -math.inf
    least_y = tiny if log else -math.inf
    finite = [(x, y) for x, y in one.points if math.isfinite(x) and math.isfinite(y)]
    points = [(x, y) for x, y in finite if x > least_x and y > least_y]
    return Series(points, one.kind, one.label, one.colour)


def _drawn(one: Series, across: Scale, up: Scale) -> Markup:
    """One path a series: dots are strokes of no length with round ends, which keeps a page of thousands small."""
    places = [f"{across(x):.1f} {up(y):.1f}" for x, y in one.points]
    line = "M" + "L".join(places)
    dots = "".join(f"M{place}h0" for place in places)
    dash = "5 3" if one.colour >= COLOURS else None
    if one.kind in ("line", "rule"):
        return tag("path", d=line if len(places) > 1 else dots, class_=one.css, stroke_dasharray=dash)
    if one.kind == "marks":
        thick = tag("path", d=dots, class_=f"dots c{one.colour % COLOURS}")
        return join([tag("path", d=line, class_=f"line c{one.colour % COLOURS}", stroke_dasharray=dash), thick])
    if one.kind == "rings":
        circles = (tag("circle", cx=across(x), cy=up(y), r=6) for x, y in one.points)
        return tag("g", *circles, class_=one.css)
    return tag("path", d=dots, class_=one.css)


def _labels(series: Sequence[Series], across: Scale, up: Scale, bottom: float) -> list[Markup]:
    """Labels beside the last points, moved apart where lines end close together."""
    heights = apart([up(one.points[-1][1]) + 3.5 for one in series], bottom)
    return [
        tag("text", one.label, x=across(one.points[-1][0]) + 9, y=y, class_=f"label {_ink(one)}")
        for one, y in zip(series, heights, strict=True)
    ]


def _near_labels(series: Sequence[Series], across: Scale, up: Scale, frame: Box) -> list[Markup]:
    """Labels near the last points, wherever there is room, with a line to those that had to go far."""
    points = [(across(one.points[-1][0]), up(one.points[-1][1])) for one in series]
    marked = [i for i, one in enumerate(series) if one.colour == 0]
    boxes = near(points, [one.label for one in series], frame, first=marked)
    found = []
    for one, (x, y), box in zip(series, points, boxes, strict=True):
        nearest = min(max(x, box.left), box.right)
        middle = (box.top + box.bottom) / 2
        if math.hypot(nearest - x, middle - y) > FAR:
            found.append(tag("path", d=f"M{x:.1f} {y:.1f}L{nearest:.1f} {middle:.1f}", class_="level"))
        found.append(tag("text", one.label, x=box.left, y=middle + 3.5, class_=f"label {_ink(one)}"))
    return found


def _ink(one: Series) -> str:
    return "axis" if one.kind == "rule" else f"t{one.colour % COLOURS}"


def _step(rough: float) -> float:
    """The next of 1, 2, 5, 10, 20, 50, ..."""
    power = 10.0 ** math.floor(math.log10(rough))
    return next((power * m for m in (1, 2, 5) if power * m >= rough), power * 10)


def _log_ticks(low: float, high: float) -> tuple[float, ...]:
    """Powers of ten, also their multiples where these are few, every so many where they are many."""
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    for least, factors in ((3, (1,)), (3, (1, 3)), (2, (1, 2, 5)), (2, (1, 1.5, 2, 3, 4, 5, 6, 7, 8, 9))):
        ticks = tuple(t for p in powers for m in factors if low <= (t := m * 10.0**p) <= high)
        if len(ticks) >= least:
            return ticks[:: 1 + (len(ticks) - 1) // 5]
    return tuple(float(f"{t:.2g}") for t in (low * (high / low) ** 0.1, low * (high / low) ** 0.9))


def _tick(value: float) -> str:
    """A tick's text without the noughts of floating point."""
    if abs(value) >= 10_000 or 0 < abs(value) < 0.001:
        return f"{value:.0e}".replace("e+0", "e").replace("e-0", "e-").replace("e+", "e")
    return f"{round(value, 10):g}"


def learning_curves(experiment: str, records: Iterable[Record], rows: Iterable[str] = ()) -> list[Markup]:
    """Charts of an experiment's runs, each row at its most telling budget: a line for each variant and seed.

    Runs that fill the same tables belong together. Rows without variants share a chart, in which they are compared;
    others have one each.

    Args:
        experiment: Its name.
        records: Runs; those of other experiments are left out.
        rows: The order of the rows; others follow.
    """
    order = [*rows]
    groups: dict[str, dict[str, list[Record]]] = {}
    for record in records:
        if record.experiment == experiment and record.error is None and len(record.curve) > 1:
            label = min(record.values, key=lambda label: ":" not in label, default=experiment)  # the paper's own first
            groups.setdefault(label, {}).setdefault(record.row, []).append(record)
    charts = []
    for label, found in groups.items():
        best = {row: _most_telling(found[row]) for row in sorted(found, key=lambda row: _place(order, row))}
        for title, lines in _panels(best).items():
            budgets = dict.fromkeys(record.budget for group in lines.values() for record in group)
            names = list(lines)
            for start in range(0, len(names), COLOURS):  # each line of a chart has a colour of its own
                shown = {name: lines[name] for name in names[start : start + COLOURS]}
                charts.append(_curves(f"{label}: {title}, {' / '.join(budgets)}", shown))
    return charts


def _panels(best: dict[str, list[Record]]) -> dict[str, dict[str, list[Record]]]:
    """By the title of its chart, the lines in it: one for all rows, if none has variants, or one for each row."""
    has_variants = any(len({record.variant for record in group}) > 1 for group in best.values())
    if has_variants:
        return {row: _by_variant(row, group) for row, group in best.items()}
    return {"all rows": best} if len(best) > 1 else dict.fromkeys(best, best)


def scatters(section: Section) -> dict[str, list[Markup]]:
    """By row, a chart for each column: predictions of the chosen runs against the truth, on test data."""
    charts: dict[str, list[Markup]] = {}
    for row in section.table.rows:
        for entry in section.row(row):
            pairs = [pair for record in entry.chosen for pair in record.scatter.get(entry.column, ())]
            points = thinned([(float(true), float(predicted)) for true, predicted in pairs], SCATTER_POINTS)
            if points:
                drawn = chart(
                    entry.column,
                    [Series(points, "dots", colour=section.table.rows.index(row))],
                    x_label="true",
                    y_label="predicted",
                    square=True,
                    size=(190, 200),
                )
                charts.setdefault(row, []).append(drawn)
    return charts


def hop_charts(section: Section) -> list[Markup]:
    """For each column, test error against the hops of the encoding; rings are around what validation chose."""
    if section.table.better != "lower":
        return []
    charts = []
    for column in section.table.columns:
        entries = [section.entries[row, column] for row in section.table.rows]
        compared = [entry for entry in entries if len(hops_of(entry)) > 1]
        series = []
        rings = []
        for entry in compared:
            colour = section.table.rows.index(entry.row)
            name = entry.row if len(compared) > 1 else ""
            points = _errors_by_hops(entry)
            chosen = {hops(record) for record in entry.chosen}
            series.append(Series(points, "marks", name, colour))
            rings.append(Series([(h, error) for h, error in points if h in chosen], "rings", colour=colour))
            if len(compared) == 1 and entry.paper is not None:
                ends = [(points[0][0], entry.paper), (points[-1][0], entry.paper)]
                series.append(Series(ends, "rule", "paper"))
        if series:
            charts.append(chart(column, [*series, *rings], x_label="hops", y_label="error, log", log=True, whole=True))
    return charts


def _errors_by_hops(entry: Entry) -> list[Point]:
    """Our number at each radius, if there were only the records with that radius."""
    points = []
    for radius, records in hops_of(entry).items():
        mean = choose(entry.table, entry.row, entry.column, records).mean
        if mean is not None:
            points.append((float(radius), mean))
    return points


def hops(record: Record) -> int | None:
    """The radius of the encoding that a run used."""
    encoding = record.config.get("transform", record.config.get("encoding"))  # records have had both names
    value = encoding.get("hops") if isinstance(encoding, dict) else None
    is_number = isinstance(value, int) and not isinstance(value, bool)
    return value if is_number else None


def hops_of(entry: Entry) -> dict[int, list[Record]]:
    """The records among which a cell's number was chosen, by their hops, the fewest first."""
    groups: dict[int, list[Record]] = {}
    for record in entry.among:
        radius = hops(record)
        if radius is not None:
            groups.setdefault(radius, []).append(record)
    return dict(sorted(groups.items()))


def _curves(title: str, lines: dict[str, list[Record]]) -> Markup:
    """Validation values over epochs; losses where a run has none."""
    everything = [record for group in lines.values() for record in group]
    measure = "validation" if all(_points(record, "validation") for record in everything) else "loss"
    series = []
    for colour, (name, group) in enumerate(lines.items()):
        for i, record in enumerate(group):
            label = name if i == 0 else ""
            series.append(Series(thinned(_points(record, measure), CURVE_POINTS), "line", label, colour))
    return chart(title, series, x_label="epoch", y_label=f"{measure}, log", log=True)


def _points(record: Record, measure: str) -> list[Point]:
    pairs = [(point.get("epoch"), point.get(measure)) for point in record.curve]
    return [(x, y) for x, y in pairs if x is not None and y is not None and y > 0]


def _most_telling(records: Sequence[Record]) -> list[Record]:
    budget = max((record.budget for record in records), key=BUDGETS.index)
    return unique(record for record in records if record.budget == budget)


def _by_variant(row: str, records: Sequence[Record]) -> dict[str, list[Record]]:
    variants: dict[str, list[Record]] = {}
    for record in sorted(records, key=lambda record: record.variant):
        variants.setdefault(record.variant or row, []).append(record)
    return variants


def _place(order: Sequence[str], row: str) -> int:
    return order.index(row) if row in order else len(order)


def thinned(points: Sequence[Point], limit: int) -> list[Point]:
    """At most about so many of the points, evenly, the last always."""
    if not points:
        return []
    step = math.ceil(len(points) / limit)
    return [*points[:-1:step], points[-1]]
