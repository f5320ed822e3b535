"""A run as one HTML page that needs nothing else: no network, no scripts."""

from collections.abc import Iterable
from os import PathLike
from pathlib import Path

import numpy as np

from escgnn import depiction
from escgnn.disk import atomic
from escgnn.hub import name_of
from escgnn.markup import Markup, join, table, tag
from escgnn.report import Series, chart, document, scrolling, thinned
from escgnn.review.measuring import COVERAGE, Review, columns_of, precision_recall, reliability, roc
from escgnn.task import Task

WORST = 12  # molecules drawn for each target
POINTS = 400
STYLE = f"""{depiction.STYLE}
.molecules{{display:flex;flex-wrap:wrap;gap:1.5rem 2rem}}
.molecules figure{{min-width:min(100%,9rem);max-width:min(100%,16rem)}}
.molecules small{{display:block;overflow-wrap:anywhere}}
pre{{overflow-x:auto;font:.8rem/1.5 ui-monospace,monospace;background:var(--shade);padding:1rem;max-width:100%}}
@media print{{pre{{white-space:pre-wrap}}}}
"""
NO_DATA = "The data was not at hand, so there are no plots of predictions: name it, as in escgnn report RUN --data molecules.csv."


def write_page(review: Review, output: str | PathLike[str]) -> Path:
    """Write the page, whole or not at all.

    Raises:
        ValueError: The file does not end in .html.
    """
    target = Path(output)
    if target.suffix.lower() != ".html":
        raise ValueError(f"{output}: expected a file that ends in .html")
    content = page(review)
    with atomic(target) as draft:
        draft.write_text(content, encoding="utf-8")
    return target


def page(review: Review) -> str:
    """The whole page."""
    title = f"Run {name_of(review.run.folder)}"
    sections = [_header(title, review), _metrics(review), _curves(review)]
    if review.rows:
        parts = columns_of(review.run.task, review.predicted, review.judged[1])
        sections += [_target(review, place, single) for place, (single, _, _) in enumerate(parts)]
    settings = tag("details", tag("summary", "All settings"), tag("pre", review.settings), open=True)
    sections.append(tag("section", tag("h2", "Settings"), settings, id_="settings"))
    return document(title, join(sections), STYLE)


def _header(title: str, review: Review) -> Markup:
    run = review.run
    first = run.members[0]
    weights = sum(weight.numel() for weight in first.model.parameters())
    split = "unknown" if run.split is None else " / ".join(f"{len(part):,}" for part in run.split)
    facts = {
        "Network": f"{first.name}, {weights:,} weights" + (f", {run.size} members" if run.size > 1 else ""),
        "Predicts": ", ".join(f"{one.targets[0]} ({one.kind})" for one in run.task.singles),
        "Data": str(run.dataset.get("name", "unknown")),
        "Split": f"{split} graphs to learn from, to choose by, to report on",
        "Judged by": f"{review.rows:,} rows ({review.subset})" if review.rows else "what the run folder says",
        "Command": str(review.made.get("command", "unknown")),
        "Commit": str(review.made.get("commit") or "unknown"),
    }
    pairs = (tag("div", tag("dt", name), tag("dd", value)) for name, value in facts.items())
    note = None if review.rows else tag("p", NO_DATA, class_="what")
    return tag("header", tag("h1", title), note, tag("dl", *pairs))


def _metrics(review: Review) -> Markup:
    stored = {name: review.result.get(name) or {} for name in ("validation", "test")}
    names = [*dict.fromkeys([*review.metrics, *stored["test"], *stored["validation"]])]
    rows = []
    for name in names:
        found = review.metrics.get(name)
        shown = ["", ""] if found is None else [f"{found.value:.4g}", f"{found.low:.4g} to {found.high:.4g}"]
        rows.append([name, *shown, *(_number(stored[kind].get(name)) for kind in ("test", "validation"))])
    head = ("metric", review.subset, "95 % by bootstrap", "test, stored", "validation, stored")
    grid = scrolling("Metrics", table(head, rows)) if rows else tag("p", "It has not been judged yet.")
    held = [
        tag("p", f"Intervals of {COVERAGE:.0%} for {target} hold {share:.1%} of the rows.", class_="cost")
        for target, share in review.coverage.items()
    ]
    return tag("section", tag("h2", "Metrics"), grid, *held, id_="metrics")


def _number(value: object) -> str:
    return f"{value:.4g}" if isinstance(value, int | float) else ""


def _curves(review: Review) -> Markup | None:
    charts = []
    columns = dict.fromkeys(name for rows in review.curves for row in rows[:1] for name in row)
    for name in columns:
        if name not in ("epoch", "seconds", "cpu_seconds"):
            series = []
            for number, rows in enumerate(review.curves):
                points = [(row["epoch"], row[name]) for row in rows if name in row]
                series.append(Series(thinned(points, POINTS), "line", colour=number))
            charts.append(chart(name.replace("_", " "), series, x_label="epoch"))
    if not charts:
        return None
    return tag("section", tag("h2", "Learning curves"), tag("div", *charts, class_="charts"), id_="curves")


def _target(review: Review, place: int, single: Task) -> Markup:
    _, own, target = columns_of(review.run.task, review.predicted, review.judged[1])[place]
    known = ~target.isnan()
    truth = target[known].numpy()
    values = own[known].numpy()
    charts = plots(single, values, truth)
    bands = review.bands(place)
    if bands:
        points = [((band.low + band.high) / 2, band.error) for band in bands]
        series = [Series(points, "marks")]
        charts.append(
            chart("Error by similarity to the training set", series, x_label="Tanimoto", y_label="mean error")
        )
    grid = tag("div", *charts, class_="charts")
    rows = [[f"{band.low:g} to {band.high:g}", f"{band.rows:,}", f"{band.error:.4g}"] for band in bands]
    numbers = scrolling("Errors by similarity", table(("similarity", "rows", "mean error"), rows)) if rows else None
    heading = tag("h2", single.targets[0], tag("code", single.kind, class_="label"))
    return tag("section", heading, grid, numbers, _worst(review, place, single), id_=f"target{place}")


def plots(task: Task, values: np.ndarray, truth: np.ndarray) -> list[Markup]:
    """Charts of one target: predicted against true numbers; ROC, precision and reliability of yes or no; reliability of classes.

    Args:
        task: That of the target alone.
        values: Predictions, ``(rows, outputs)``.
        truth: Answers, ``(rows,)``, all known.
    """
    if not len(truth):
        return []
    if task.kind == "regression":
        pairs = thinned([*zip(truth.tolist(), values[:, 0].tolist(), strict=True)], POINTS)
        return [
            chart("Predicted against true", [Series(pairs, "dots")], x_label="true", y_label="predicted", square=True)
        ]
    if task.kind == "multiclass":
        best = values.argmax(1)
        points = reliability(values.max(1), (best == truth).astype(float))
        title = "How often the most likely class is right"
        return [chart(title, [Series(points, "marks")], x_label="probability", y_label="share", square=True)]
    scores = values[:, 0]
    both = 0 < truth.mean() < 1
    charts = [
        chart(
            "Reliability",
            [Series(reliability(scores, truth), "marks")],
            x_label="probability",
            y_label="share of yes",
            square=True,
        )
    ]
    if both:
        curve = Series(thinned(roc(scores, truth), POINTS), "line")
        charts.append(chart("ROC", [curve], x_label="share of no above", y_label="share of yes above", square=True))
        curve = Series(thinned(precision_recall(scores, truth), POINTS), "line")
        charts.append(chart("Precision and recall", [curve], x_label="recall", y_label="precision"))
    return charts


def _worst(review: Review, place: int, single: Task) -> Markup | None:
    if not review.texts:
        return None
    _, own, target = columns_of(review.run.task, review.predicted, review.judged[1])[place]
    errors = review.errors(place)
    figures = []
    for row in review.worst(place, WORST):
        smiles = review.texts[row]
        try:
            drawn = depiction.molecule(smiles, smiles[:80])
        except (ImportError, ValueError):  # too large to be seen, RDKit has no picture of it, or is not there
            drawn = tag("p", "no picture", class_="what")
        said = _said(single, own[row].tolist(), float(target[row]))
        near = "" if review.nearest is None else f", similarity {review.nearest[row]:.2f}"
        words = [tag("small", f"{said}; error {errors[row]:.3g}{near}"), tag("small", tag("code", smiles[:200]))]
        figures.append(tag("figure", drawn, *words))
    if not figures:
        return None
    return join([tag("h3", "The worst molecules"), tag("div", *figures, class_="molecules")])


def _said(task: Task, values: Iterable[float], target: float) -> str:
    numbers = [*values]
    if task.kind != "multiclass":
        return f"true {target:.4g}, predicted {numbers[0]:.4g}"
    names = task.names or tuple(map(str, range(task.classes)))
    best = int(np.argmax(numbers))
    return f"true {names[int(target)]}, predicted {names[best]} ({numbers[best]:.2f})"
