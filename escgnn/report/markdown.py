"""A report as GitHub Markdown, for the terminal and for the docs."""

from escgnn.report.findings import (
    MEANING,
    START,
    Findings,
    Section,
    commands,
    duration,
    many,
    number,
    published,
    runs_text,
    short,
)
from escgnn.report.selection import Entry

LEGEND = (
    "Each cell: ours, the mean over seeds, with the paper's number in brackets. ✓ at least as good as the paper, "
    "= the same, ≠ not the same; smoke runs are not judged. Rows in italics are published numbers that were not run here."
)


def page(findings: Findings) -> str:
    """All tables, and what was not run and why."""
    head = f"# Our numbers beside the paper's\n\n{_about(findings)}\n\n"
    if not findings.records:
        return f"{head}Nothing was run yet. Start with `{START}`.\n"
    shown = [section for section in findings.sections if section.filled]
    return head + f"{LEGEND}\n\n" + "\n".join(map(_section, shown)) + "\n" + _gaps(findings)


def _about(findings: Findings) -> str:
    facts = [f"Made by `escgnn report` on {findings.generated}", many(len(findings.records), "run")]
    if findings.commits:
        facts.append(f"commit {', '.join(map(short, findings.commits))}")
    facts += [f"{name} {', '.join(versions)}" for name, versions in findings.versions.items()]
    return text(", ".join(facts)) + "."


def _section(section: Section) -> str:
    table = section.table
    lines = [
        f"## {text(table.title)} (`{table.label}`)",
        "",
        text(section.measure),
        "",
    ]
    lines += [line("", "budget", "seeds", *table.columns), line("---", *["---:"] * (len(table.columns) + 2))]
    for row in table.rows:
        budgets = " / ".join(section.budgets(row)) or "not run"
        lines.append(line(row, budgets, section.seeds(row), *map(_cell, section.row(row))))
    for row in (row for row in table.paper if row not in table.rows):
        cells = ("" if value is None else f"({published(value, table)})" for value in table.paper[row])
        lines.append(line(Italic(row), Italic("published"), "", *cells))
    lines.append("")
    for budget in section.budgets():
        runs = section.runs(budget)
        called = ", ".join(f"`{' '.join(command.split())}`" for command in commands(runs))
        lines.append(f"Budget {budget} ({MEANING[budget]}): {runs_text(runs)}{'; ' if called else ''}{called}.")
    if table.note:
        lines += ["", text(table.note)]
    return "\n".join(lines) + "\n"


class Italic(str):
    """A cell in italics."""

    __slots__ = ()


def _cell(entry: Entry) -> str:
    parts = [number(entry.mean, entry.table.digits) if entry.mean is not None else "not run"]
    if entry.paper is not None:
        parts.append(f"({published(entry.paper, entry.table)})")
    return " ".join([*parts, *filter(None, [mark(entry)])])


def mark(entry: Entry) -> str:
    """How ours compares with the paper's, in one sign."""
    if entry.good is None:
        return ""
    return {True: "=", False: "≠"}[entry.good] if entry.table.better == "same" else "✓" if entry.good else ""


def _gaps(findings: Findings) -> str:
    lines = ["## What was not run, and why", ""]
    lines += [f"- `{g.table.label}`, {text(g.cells)}: {text(g.why)}" for g in findings.gaps]
    for record in findings.failed:
        name = " ".join(filter(None, [record.experiment, record.row, record.variant, f"seed {record.seed}"]))
        spent = f"{record.budget}, after {duration(record.seconds)}"
        lines.append(f"- failed: {text(name)} ({spent}): {text(record.error or '')}")
    for budget, table, rows in findings.smaller:
        lines.append(f"- `{table.label}`: budget {budget}, {MEANING[budget]}: {text(', '.join(rows))}")
    lines += [f"- note: {text(note)} ({text('; '.join(who))})" for note, who in findings.notes.items()]
    if findings.strays:
        lines.append(f"- {many(len(findings.strays), 'run')} not shown: no table here has a place for the numbers")
    return "\n".join(lines if len(lines) > 2 else [*lines, "Nothing is missing."]) + "\n"


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
