"""A report as one HTML page that needs nothing else: no network, no scripts."""

import re
from collections.abc import Iterable
from itertools import groupby

from escgnn.markup import Markup, join, tag
from escgnn.records import Record, Table
from escgnn.report.charts import hop_charts, learning_curves, scatters
from escgnn.report.content import (
    DASH,
    MEANING,
    START,
    TIMES,
    Content,
    Section,
    commands,
    duration,
    many,
    number,
    published,
    ratio,
    runs_text,
    short,
    variants_text,
)
from escgnn.report.costs import CAPTION, cost_charts
from escgnn.report.layout import document, scrolling
from escgnn.report.selection import Entry

MARKS = {
    ("same", True): ("=", "the same as in the paper"),
    ("same", False): ("≠", "not the same as in the paper"),
    ("other", True): ("✓", "at least as good as in the paper"),
}
LEGEND = (
    "Numbers in bold are ours. ✓ at least as good as the paper's, to the digits shown; where numbers should be the same, "
    f"= same and ≠ not. Smoke runs are not judged. 0.67{TIMES} is ours divided by the paper's."
)


def page(content: Content) -> str:
    """The whole page."""
    title = "ESC-GNN: our numbers beside the paper's"
    nothing = None if content.records else _nothing()
    rest = [_gaps(content), _runs(content)] if content.records else []
    sections = [_header(title, content), nothing, _contents(content), _experiments(content), *rest]
    return document(title, join(sections))


def _header(title: str, content: Content) -> Markup:
    judged = [e for section in content.sections for e in section.filled if e.good is not None]
    facts = {
        "Generated": content.generated,
        "Runs": f"{many(len(content.records), 'run')}, {len(content.failed)} failed",
        "Commits": ", ".join(map(short, content.commits)) or "none recorded",
        "Versions": ", ".join(f"{name} {' / '.join(v)}" for name, v in content.versions.items()) or "none recorded",
        "Time": f"{duration(sum(record.seconds for record in content.records))} of computing; as the clock went on the "
        "machine that ran it, which other work may have shared",
    }
    lede = (
        "The experiments of Yan et al., An Efficient Subgraph GNN with Provable Substructure Counting Power (KDD 2024), run "
        "again. Every number of ours comes from a record of a run; validation values chose it, and a mean is over all seeds."
    )
    if judged:
        good = sum(entry.good is True for entry in judged)
        lede += f" {good} of {len(judged)} numbers that can be judged are at least as good as the paper's."
    pairs = (tag("div", tag("dt", name), tag("dd", value)) for name, value in facts.items())
    return tag("header", tag("h1", title), tag("p", lede, class_="lede"), _glance(content), tag("dl", *pairs))


def _glance(content: Content) -> Markup | None:
    """What every system reaches for what it costs, on the first screen."""
    charts = cost_charts(content)
    if not charts:
        return None
    grid = tag("div", *charts, class_="charts wide")
    return tag("div", grid, tag("p", CAPTION, class_="cost"), role="group", aria_label="Error against cost")


def _contents(content: Content) -> Markup:
    """Table of contents and summary in one."""
    rows = []
    for section in content.sections:
        judged = [entry for entry in section.filled if entry.good is not None]
        good = f"{sum(entry.good is True for entry in judged)}/{len(judged)}" if judged else DASH
        link = tag("a", _prose(section.table.title), href=f"#{anchor(section.table.label)}")
        rows.append(
            tag(
                "tr",
                tag("th", link, tag("code", section.table.label), scope="row"),
                tag("td", f"{len(section.filled)}/{len(section.entries)}"),
                tag("td", good),
                tag("td", *map(_chip, section.budgets()), None if section.filled else "not run"),
            )
        )
    names = ("Table", "Run", "As good", "Budget")
    head = tag("thead", tag("tr", *(tag("th", name, scope="col") for name in names)))
    links = [("#gaps", "What was not run, and why"), ("#runs", "All runs")] if content.records else []
    table = scrolling("Contents", tag("table", _caption("Contents"), head, tag("tbody", *rows), class_="contents"))
    more = join((tag("a", text, href=to) for to, text in links), " · ")
    legend = join([*(join([_chip(budget), f"{meaning}. "]) for budget, meaning in MEANING.items()), LEGEND])
    below = [tag("p", legend, class_="cost"), tag("p", more, class_="more") if links else None]
    return tag("nav", tag("h2", "Contents"), table, *below, aria_label="Contents")


def _nothing() -> Markup:
    return tag(
        "section",
        tag("h2", "Nothing was run yet"),
        tag("p", "Start with ", tag("code", START), ", which takes minutes; then make this page again."),
    )


def _experiments(content: Content) -> Markup:
    chapters = []
    for name, group in groupby(content.sections, key=lambda section: section.experiment):
        sections = list(group)
        rows = dict.fromkeys(row for section in sections for row in section.table.rows)
        curves = learning_curves(name, content.records, rows)
        heading = tag("h2", name.capitalize(), tag("code", f"escgnn reproduce {name}", class_="label"))
        chapters.append(
            tag(
                "section",
                heading,
                *(_table(content, section) for section in sections),
                _figures("Learning curves", "One line for each variant and seed.", curves, name),
            )
        )
    return join(chapters)


def _table(content: Content, section: Section) -> Markup:
    """One table with its figures; folded if there is nothing of ours in it."""
    table = section.table
    what = tag("p", f"{section.measure} ", _prose(table.note), class_="what")
    grid = scrolling(table.title, _grid(content, section))
    if section.filled:
        shown = [grid, _budgets(section), _provenance(section), *_section_figures(section)]
    else:
        shown = [tag("details", tag("summary", "Not run; its rows and the paper's numbers"), grid)]
    return tag(
        "article",
        tag("h3", _prose(table.title), tag("code", table.label, class_="label")),
        what,
        *shown,
        id_=anchor(table.label),
    )


def _grid(content: Content, section: Section) -> Markup:
    table = section.table
    head = tag("thead", tag("tr", tag("td"), *(tag("th", column, scope="col") for column in table.columns)))
    rows = []
    for row in table.rows:
        entries = section.row(row)
        seeds = section.seeds(row)
        under = [*map(_chip, section.budgets(row)), tag("small", f"{seeds} seed" if seeds == "1" else f"{seeds} seeds")]
        effort = section.effort(row)
        source = table.sources.get(row)
        about = [effort or None, None if source is None else f"published: {source}"]
        below = [tag("small", words, class_="about") for words in about if words]
        name = tag("th", row, tag("div", *under) if seeds else None, *below, scope="row")
        rows.append(tag("tr", name, *(_cell(content, section, entry) for entry in entries)))
    others = [row for row in table.paper if row not in table.rows]
    rest = [
        tag("tr", tag("th", row, scope="row"), *(_number(value, table) for value in table.paper[row])) for row in others
    ]
    span = tag(
        "tr", tag("th", tag("span", "Published, not run here"), scope="rowgroup", colspan=len(table.columns) + 1)
    )
    published = tag("tbody", span, *rest, class_="published") if others else None
    caption = _caption(f"{table.title} ({table.label})")
    return tag("table", caption, head, tag("tbody", *rows), published, class_="grid")


def _cell(content: Content, section: Section, entry: Entry) -> Markup:
    digits = entry.table.digits
    paper = None if entry.paper is None else tag("small", f"paper {published(entry.paper, entry.table)}")
    if entry.mean is None or entry.best is None:
        why = content.why(section, entry)
        return tag(
            "td", tag("span", "failed" if why.startswith("failed") else "not run"), paper, class_="none", title=why
        )
    sign, meaning = MARKS.get(("same" if entry.table.better == "same" else "other", entry.good or False), ("", ""))
    shown = sign if entry.good is not None else ""
    best = f"best {number(entry.best, digits)}" if len(entry.chosen) > 1 and entry.table.better != "same" else None
    small = [best, paper, None if entry.ratio is None else ratio(entry.ratio)]
    return tag(
        "td",
        tag("b", number(entry.mean, digits)),
        tag("span", shown, class_="mark", role="img", aria_label=meaning) if shown else None,
        *(text if isinstance(text, Markup) else tag("small", text) for text in small if text),
        class_=_cell_class(entry),
        title=_provenance_text(entry),
    )


def _cell_class(entry: Entry) -> str | None:
    if entry.good:
        return "good"
    return "smoke" if entry.budget == "smoke" else None


def _number(value: float | None, table: Table) -> Markup:
    return tag("td", DASH if value is None else published(value, table))


def _provenance_text(entry: Entry) -> str:
    lines = {
        "budget": f"{entry.budget}: {MEANING[entry.budget or 'smoke']}",
        "seeds": ", ".join(map(str, entry.seeds)),
        "variant chosen": variants_text(entry),
        "epochs": _epochs(entry),
        "processor time": duration(entry.cpu_seconds) if entry.cpu_seconds else "not measured",
        "time": f"{duration(entry.seconds)} of {duration(entry.search_seconds)} with all variants",
    }
    return "\n".join(f"{name}: {value}" for name, value in lines.items())


def _epochs(entry: Entry) -> str:
    return ", ".join(dict.fromkeys(str(run.epochs) for run in entry.chosen))


def _budgets(section: Section) -> Markup:
    """What the table's numbers cost, and the commands that make them again."""
    lines = []
    for budget in section.budgets():
        runs = section.runs(budget)
        called = list(commands(runs))
        more = f" and {len(called) - 3} more, listed below" if len(called) > 3 else ""
        codes = join((tag("code", command) for command in called[:3]), ", ")
        text = f" {MEANING[budget]}: {runs_text(runs)}"
        lines.append(tag("p", _chip(budget), text, "; " if called else None, codes, more, class_="cost"))
    return join(lines)


def _provenance(section: Section) -> Markup:
    """Where each number comes from, for those who cannot hover; columns of the same runs together."""
    rows = []
    for row in section.table.rows:
        filled = [entry for entry in section.row(row) if entry.chosen]
        for _, group in groupby(filled, key=lambda e: ([r.path for r in e.chosen], [r.path for r in e.among])):
            same = list(group)
            cells = (
                ", ".join(entry.column for entry in same),
                same[0].budget,
                ", ".join(map(str, same[0].seeds)),
                variants_text(same[0]),
                _epochs(same[0]),
                duration(same[0].cpu_seconds) if same[0].cpu_seconds else DASH,
                duration(same[0].seconds),
                f"{duration(same[0].search_seconds)}, {many(len(same[0].among), 'run')}",
            )
            rows.append(tag("tr", tag("th", row, scope="row"), *(tag("td", cell) for cell in cells)))
    names = (
        "Row",
        "Columns",
        "Budget",
        "Seeds",
        "Variant chosen",
        "Epochs",
        "CPU time",
        "Time of the chosen",
        "Time of all variants",
    )
    return tag("details", tag("summary", "Which runs these are"), _list("Which runs these are", names, rows))


def _section_figures(section: Section) -> list[Markup | None]:
    text = (
        "Test error against the hops of the encoding, mean over seeds; of networks that differ in more, validation chose one for "
        "each number of hops. Rings are around what it chose in all."
    )
    figures = [_figures("Error against hops", text, hop_charts(section), section.table.title)]
    predictions = scatters(section)
    if predictions:
        what = "Test data, the runs that validation chose; the line is where they agree."
        figures += [tag("h4", "Predicted against true values"), tag("p", what, class_="what")]
    for row, charts in predictions.items():
        figures += [tag("h5", row), tag("div", *charts, class_="charts narrow")]
    return figures


def _figures(heading: str, text: str, charts: list[Markup], of: str) -> Markup | None:
    if not charts:
        return None
    grid = tag("div", *charts, class_="charts")
    return tag(
        "div", tag("h4", heading), tag("p", text, class_="what"), grid, role="group", aria_label=f"{heading}: {of}"
    )


def _gaps(content: Content) -> Markup:
    missing = [tag("li", tag("code", gap.table.label), f" {gap.cells}: {gap.why}") for gap in content.gaps]
    failed = [
        tag("li", tag("b", _name(r)), f", after {duration(r.seconds)}: ", tag("code", r.error or ""))
        for r in content.failed
    ]
    smaller = [
        tag("li", _chip(budget), f" {MEANING[budget]}: ", tag("code", table.label), f" {', '.join(rows)}")
        for budget, table, rows in content.smaller
    ]
    notes = [tag("li", note, tag("small", f" {'; '.join(who)}")) for note, who in content.notes.items()]
    unplaced = [tag("li", _name(record)) for record in content.unplaced]
    lists = {
        "Cells without a number": missing,
        "Runs that failed": failed,
        "Budgets smaller than the paper's": smaller,
        "Notes of runs": notes,
        "Runs that belong to no table": unplaced,
    }
    shown = [join([tag("h3", name), tag("ul", *items)]) for name, items in lists.items() if items]
    heading = tag("h2", "What was not run, and why")
    return tag("section", heading, *(shown or [tag("p", "Nothing is missing.")]), id_="gaps")


def _runs(content: Content) -> Markup:
    rows = []
    for record in content.records:
        cells = (
            str(record.epochs),
            duration(record.seconds),
            duration(record.cpu_seconds) if record.cpu_seconds else DASH,
            "failed" if record.error is not None else "good",
            record.finished,
            short(record.commit or ""),
            ", ".join(f"{name} {version}" for name, version in record.versions.items()),
        )
        command = tag("td", tag("code", record.command))
        rows.append(tag("tr", tag("th", _name(record), scope="row"), *(tag("td", cell) for cell in cells), command))
    names = ("Run", "Epochs", "Time", "CPU time", "Outcome", "Finished", "Commit", "Versions", "Command")
    fold = tag("summary", f"{many(len(rows), 'run')}: command, commit, seed, epochs, time, versions")
    return tag("section", tag("h2", "All runs"), tag("details", fold, _list("All runs", names, rows)), id_="runs")


def _name(record: Record) -> str:
    words = (record.experiment, record.row, record.variant, f"seed {record.seed}", record.budget)
    return ", ".join(word for word in words if word)


def _list(title: str, names: Iterable[str], rows: Iterable[Markup]) -> Markup:
    head = tag("thead", tag("tr", *(tag("th", name, scope="col") for name in names)))
    return scrolling(title, tag("table", _caption(title), head, tag("tbody", *rows), class_="list"))


def _prose(text: str) -> Markup:
    """Text in which names between backticks are code."""
    return join(tag("code", words) if i % 2 else words for i, words in enumerate(text.split("`")))


def _caption(text: str) -> Markup:
    return tag("caption", text, class_="unseen")


def _chip(budget: str) -> Markup:
    return tag("span", budget, class_=f"chip {budget}", title=MEANING[budget])


def anchor(label: str) -> str:
    """A table's place in the page.

    >>> anchor("tab:count_ab")
    'tab-count-ab'
    """
    return re.sub(r"[^a-z0-9]+", "-", label.lower()).strip("-")
