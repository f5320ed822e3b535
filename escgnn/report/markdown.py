"""A report as GitHub Markdown, for the terminal and for the docs."""

from escgnn.report.content import (
    MEANING,
    START,
    Content,
    Section,
    commands,
    duration,
    many,
    number,
    published,
    runs_text,
    short,
)
from escgnn.report.costs import CAPTION
from escgnn.report.selection import Entry

LEGEND = (
    "Each cell: ours, the mean over seeds, with the paper's number in brackets. ✓ at least as good as the paper, "
    "= the same, ≠ not the same; smoke runs are not judged. Rows in italics are published numbers that were not run here."
)


def page(content: Content, picture: str | None = None) -> str:
    """All tables, and what was not run and why.

    Args:
        content: What to say.
        picture: Name of a file with the picture of all costs, to be shown first; None if there is none.
    """
    head = f"# Our numbers beside the paper's\n\n{_about(content)}\n\n"
    if picture is not None:
        head += f"![{CAPTION}]({picture})\n\n{CAPTION}\n\n"
    if not content.records:
        return f"{head}Nothing was run yet. Start with `{START}`.\n"
    shown = [section for section in content.sections if section.filled]
    return head + f"{LEGEND}\n\n" + "\n".join(map(_section, shown)) + "\n" + _gaps(content)


def _about(content: Content) -> str:
    facts = [f"Made by `escgnn report` on {content.generated}", many(len(content.records), "run")]
    if content.commits:
        facts.append(f"commit {', '.join(map(short, content.commits))}")
    facts += [f"{name} {', '.join(versions)}" for name, versions in content.versions.items()]
    return text(", ".join(facts)) + "."


def _section(section: Section) -> str:
    table = section.table
    lines = [
        f"## {text(table.title)} (`{table.label}`)",
        "",
        text(section.measure),
        "",
    ]
    lines += [line("", "budget", "seeds", "trained", *table.columns), line("---", *["---:"] * (len(table.columns) + 3))]
    for row in table.rows:
        budgets = " / ".join(section.budgets(row)) or "not run"
        lines.append(line(row, budgets, section.seeds(row), section.effort(row), *map(_cell, section.row(row))))
    for row in (row for row in table.paper if row not in table.rows):
        cells = ("" if value is None else f"({published(value, table)})" for value in table.paper[row])
        lines.append(line(Italic(row), Italic("published"), "", "", *cells))
    lines.append("")
    for budget in section.budgets():
        runs = section.runs(budget)
        called = ", ".join(f"`{' '.join(command.split())}`" for command in commands(runs))
        cost = "; ".join(filter(None, [runs_text(runs), called]))
        lines.append(f"Budget {budget} ({MEANING[budget]}): {cost}.")
    if table.note:
        lines += ["", text(table.note)]
    if table.sources:
        words = "; ".join(f"{row}: {about}" for row, about in table.sources.items())
        lines += ["", text(f"How the published numbers were made. {words}.")]
    return "\n".join(lines) + "\n"


class Italic(str):
    """A cell in italics."""

    __slots__ = ()


def _cell(entry: Entry) -> str:
    words = ["not run" if entry.mean is None else number(entry.mean, entry.table.digits)]
    if entry.paper is not None:
        words.append(f"({published(entry.paper, entry.table)})")
    if sign := mark(entry):
        words.append(sign)
    return " ".join(words)


def mark(entry: Entry) -> str:
    """How ours compares with the paper's, in one sign."""
    if entry.good is None:
        return ""
    if entry.table.better == "same":
        return "=" if entry.good else "≠"
    return "✓" if entry.good else ""


def _gaps(content: Content) -> str:
    lines = ["## What was not run, and why", ""]
    lines += [f"- `{g.table.label}`, {text(g.cells)}: {text(g.why)}" for g in content.gaps]
    for record in content.failed:
        name = " ".join(filter(None, [record.experiment, record.row, record.variant, f"seed {record.seed}"]))
        spent = f"{record.budget}, after {duration(record.seconds)}"
        lines.append(f"- failed: {text(name)} ({spent}): {text(record.error or '')}")
    for budget, table, rows in content.smaller:
        lines.append(f"- `{table.label}`: budget {budget}, {MEANING[budget]}: {text(', '.join(rows))}")
    lines += [f"- note: {text(note)} ({text('; '.join(who))})" for note, who in content.notes.items()]
    if content.unplaced:
        lines.append(f"- {many(len(content.unplaced), 'run')} not shown: no table here has a place for the numbers")
    if len(lines) == 2:
        lines.append("Nothing is missing.")
    return "\n".join(lines) + "\n"


def line(*cells: str) -> str:
    """A line of a table."""
    return f"| {' | '.join(_italic(cell) if isinstance(cell, Italic) else text(cell) for cell in cells)} |"


def _italic(cell: str) -> str:
    return f"*{text(cell)}*"


def text(words: str) -> str:
    """Words on one line, in which nothing is a tag, a link or the end of a cell."""
    plain = " ".join(words.split())
    for sign, safe in {"&": "&amp;", "<": "&lt;", "|": "\\|", "[": "\\[", "*": "\\*"}.items():
        plain = plain.replace(sign, safe)
    return plain
