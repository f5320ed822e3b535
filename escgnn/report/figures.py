"""The figures of a report: learning curves, predicted against true values, error against hops."""

from collections.abc import Iterable, Sequence

from escgnn.records import BUDGETS, Record
from escgnn.report.charts import COLOURS, Point, Series, chart
from escgnn.report.findings import Section, unique
from escgnn.report.markup import Markup
from escgnn.report.selection import Entry, choose

CURVE_POINTS, SCATTER_POINTS = 150, 400  # more would not be seen, and the page should stay small


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
    for run in records:
        if run.experiment == experiment and run.error is None and len(run.curve) > 1:
            label = min(run.values, key=lambda label: ":" not in label, default=experiment)  # the paper's own first
            groups.setdefault(label, {}).setdefault(run.row, []).append(run)
    charts = []
    for label, found in groups.items():
        best = {row: _most_telling(found[row]) for row in sorted(found, key=lambda r: _place(order, r))}
        if all(len({run.variant for run in runs}) == 1 for runs in best.values()):
            panels = {"all rows": best} if len(best) > 1 else dict.fromkeys(best, best)
        else:
            panels = {row: _by_variant(row, runs) for row, runs in best.items()}
        for title, lines in panels.items():
            budgets = dict.fromkeys(run.budget for runs in lines.values() for run in runs)
            names = list(lines)
            for start in range(0, len(names), COLOURS):  # each line of a chart has a colour of its own
                part = {name: lines[name] for name in names[start : start + COLOURS]}
                charts.append(_curves(f"{label}: {title}, {' / '.join(budgets)}", part))
    return charts


def scatters(section: Section) -> dict[str, list[Markup]]:
    """By row, a chart for each column: predictions of the chosen runs against the truth, on test data."""
    charts: dict[str, list[Markup]] = {}
    for row in section.table.rows:
        for entry in section.row(row):
            points = [(float(x), float(y)) for run in entry.runs for x, y in run.scatter.get(entry.column, ())]
            if points:
                points = _thinned(points, SCATTER_POINTS)
                colour = section.table.rows.index(row)
                drawn = chart(
                    entry.column,
                    [Series(points, "dots", colour=colour)],
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
        series, rings = [], []
        entries = [entry for row in section.table.rows if len(hops_of(entry := section.entries[row, column])) > 1]
        for entry in entries:
            colour = section.table.rows.index(entry.row)
            name = entry.row if len(entries) > 1 else ""
            by_hops = {h: choose(entry.table, entry.row, column, runs) for h, runs in hops_of(entry).items()}
            points = [(float(h), one.mean) for h, one in by_hops.items() if one.mean is not None]
            chosen = {hops(run) for run in entry.runs}
            series.append(Series(points, "marks", name, colour))
            rings.append(Series([point for point in points if int(point[0]) in chosen], "rings", colour=colour))
            if len(entries) == 1 and entry.paper is not None:
                series.append(Series([(points[0][0], entry.paper), (points[-1][0], entry.paper)], "rule", "paper"))
        if series:
            charts.append(chart(column, [*series, *rings], x_label="hops", y_label="error, log", log=True, whole=True))
    return charts


def hops(record: Record) -> int | None:
    """The radius of the encoding that a run used."""
    encoding = record.config.get("transform", record.config.get("encoding"))  # records have had both names
    value = encoding.get("hops") if isinstance(encoding, dict) else None
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def hops_of(entry: Entry) -> dict[int, list[Record]]:
    """A cell's runs by their hops."""
    groups: dict[int, list[Record]] = {}
    for run in sorted((run for run in entry.among if hops(run) is not None), key=lambda run: hops(run) or 0):
        groups.setdefault(hops(run) or 0, []).append(run)
    return groups


def _curves(title: str, lines: dict[str, list[Record]]) -> Markup:
    """Validation values over epochs; losses where a run has none."""
    runs = [run for group in lines.values() for run in group]
    measure = "validation" if all(_points(run, "validation") for run in runs) else "loss"
    series = [
        Series(_thinned(_points(run, measure), CURVE_POINTS), "line", name if i == 0 else "", colour)
        for colour, (name, group) in enumerate(lines.items())
        for i, run in enumerate(group)
    ]
    return chart(title, series, x_label="epoch", y_label=f"{measure}, log", log=True)


def _points(run: Record, measure: str) -> list[Point]:
    pairs = [(point.get("epoch"), point.get(measure)) for point in run.curve]
    return [(x, y) for x, y in pairs if x is not None and y is not None and y > 0]


def _most_telling(runs: Sequence[Record]) -> list[Record]:
    level = max(BUDGETS.index(run.budget) for run in runs)
    return unique(run for run in runs if run.budget == BUDGETS[level])


def _by_variant(row: str, runs: Sequence[Record]) -> dict[str, list[Record]]:
    names = sorted({run.variant for run in runs})
    return {name or row: [run for run in runs if run.variant == name] for name in names}


def _place(order: Sequence[str], row: str) -> int:
    return order.index(row) if row in order else len(order)


def _thinned(points: Sequence[Point], limit: int) -> list[Point]:
    """At most about so many of the points, evenly, the last always."""
    step = -(-len(points) // limit) or 1
    return [*points[:-1:step], points[-1]] if points else []
