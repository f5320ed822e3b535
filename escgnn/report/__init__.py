"""Records of runs as tables and figures beside the paper's numbers: one HTML page, or Markdown.

```python
write("results", "report.html", EXPERIMENTS.values())  # of `escgnn.experiments`
build("results", [my_experiment]).markdown()
```

Within a seed, validation values choose among the variants of a row; test values never do. Over the seeds every run counts.
"""

from collections.abc import Iterable
from datetime import UTC, datetime
from os import PathLike
from pathlib import Path

from escgnn import records
from escgnn.disk import atomic
from escgnn.records import Chapter
from escgnn.report import costs
from escgnn.report.charts import Series, chart, thinned
from escgnn.report.content import START, Content, Section, number, runs_text
from escgnn.report.html import page as html_page
from escgnn.report.layout import document, scrolling
from escgnn.report.markdown import page as markdown_page
from escgnn.report.selection import Entry, choose

__all__ = [
    "START",
    "Entry",
    "Report",
    "Section",
    "Series",
    "build",
    "chart",
    "choose",
    "document",
    "number",
    "runs_text",
    "scrolling",
    "thinned",
    "write",
]


class Report(Content):
    """What was run, laid out as a page."""

    def html(self) -> str:
        """One page that needs nothing else: no network, no scripts."""
        return html_page(self)

    def markdown(self, picture: str | None = None) -> str:
        """The tables in GitHub Markdown: ours with the paper's number in brackets; first a picture, if its file is named."""
        return markdown_page(self, picture)

    def picture(self) -> str | None:
        """Error against cost, all tables and systems, as an SVG picture; None where no processor time is known."""
        return costs.picture(self)


def build(results: str | PathLike[str], experiments: Iterable[Chapter]) -> Report:
    """Read all records below a folder; one that does not exist holds none.

    Args:
        results: The folder.
        experiments: What to show, such as ``escgnn.experiments.EXPERIMENTS.values()``.

    Raises:
        ValueError: A file in the folder is not a record; the message names it.
    """
    generated = f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC"
    return Report(tuple(experiments), tuple(records.read(results)), generated)


def write(results: str | PathLike[str], path: str | PathLike[str], experiments: Iterable[Chapter]) -> Path:
    """Write the report of a folder's records to a file, whole or not at all; beside a .md the picture that it shows, as .svg.

    Args:
        results: The folder of records.
        path: The file; its extension says which: .html or .md.
        experiments: What to show, such as ``escgnn.experiments.EXPERIMENTS.values()``.

    Raises:
        ValueError: Another extension, or a file in the folder is not a record.
    """
    target = Path(path)
    kind = target.suffix.lower()
    if kind not in (".html", ".md"):
        raise ValueError(f"{path}: expected a file that ends in .html or .md")
    report = build(results, experiments)
    drawn = report.picture() if kind == ".md" else None
    if drawn is not None:
        with atomic(target.with_suffix(".svg")) as draft:
            draft.write_text(drawn, encoding="utf-8")
    shown = target.with_suffix(".svg").name if drawn is not None else None
    page = report.html() if kind == ".html" else report.markdown(shown)
    with atomic(target) as draft:
        draft.write_text(page, encoding="utf-8")
    return target
