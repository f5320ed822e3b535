"""What commands print: tables, progress bars and plain words."""

import errno
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from threading import Event, Thread
from typing import TYPE_CHECKING

from rich.console import Console
from rich.markup import escape
from rich.table import Table

if TYPE_CHECKING:  # so that help is printed without loading what it is about
    from pathlib import Path

    from escgnn.baseline import Comparison
    from escgnn.datasets import Listing, Verification
    from escgnn.disk import Rejected
    from escgnn.encoding import Bin
    from escgnn.experiments import statistics
    from escgnn.jobs import Progress, Summary
    from escgnn.records import Record
    from escgnn.report import Report, Section
    from escgnn.theorems import Verdict
    from escgnn.training import EnsembleResult, Exported, FoldResult, Judgement, ModelListing, Result
    from escgnn.tuning import Trial, TuneResult

console = Console()
NARROW = 120  # tables of nine columns need about as much; a file has it, a terminal may wrap
WIDE = 160
EVERY = 30.0  # seconds between two signs of life where output is piped


def _tell(text: str, style: str | None = None) -> None:
    """A line as it is, brackets too, and never broken."""
    console.print(text, style=style, highlight=False, markup=False, soft_wrap=True)


def show_written(*paths: "Path") -> None:
    """The files that a command has written."""
    for path in paths:
        _tell(f"written to {path}")


def show_error(error: Exception) -> None:
    """What is wrong, on stderr; of the system's own errors the file and the words, without a number."""
    words = str(error)
    if isinstance(error, OSError) and error.strerror and error.filename is not None:
        words = f"{error.filename}: {error.strerror.lower()}"
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            words += "; make room and do it again, a training with --resume: what was whole before still is"
    _complain("[bold red]error:[/]", words)


def show_warning(message: Warning | str, *_: object, **__: object) -> None:
    """A warning as one line on stderr, without the code that it comes from; `warnings` calls this."""
    _complain("[yellow]warning:[/]", str(message))


def _complain(label: str, words: str) -> None:
    Console(stderr=True).print(label, escape(words), highlight=False, soft_wrap=True)


@contextmanager
def progress_bar(title: str) -> Iterator["Progress"]:
    """A bar on the terminal that follows the bytes read and what is inside a long graph; elsewhere a line now and then."""
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn

    errors = Console(stderr=True)
    if not errors.is_terminal:
        with still_alive(title) as sign:
            yield lambda read, total, inside: sign(_how_far(read, total, inside))
        return
    columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TimeRemainingColumn())
    with Progress(*columns, console=errors, transient=True) as bar:
        task = bar.add_task(escape(title), total=None)

        def update(read: int, total: int, inside: str) -> None:
            words = f"{title}, {inside}" if inside else title
            bar.update(task, completed=read, total=total, description=escape(words))

        yield update


def _how_far(read: int, total: int, inside: str) -> str:
    share = f"{read / max(total, 1):.0%} read"
    return f"{share}, {inside}" if inside else share


@contextmanager
def still_alive(title: str) -> Iterator[Callable[[str], None]]:
    """A line on stderr every `EVERY` seconds where that is no terminal, with what was said last; for long commands."""
    if Console(stderr=True).is_terminal:
        yield lambda words: None
        return
    begin = time.monotonic()
    over = Event()
    last = [""]

    def tell() -> None:
        while not over.wait(EVERY):
            said = f"{last[0]}, " if last[0] else ""
            print(f"{title}: {said}{time.monotonic() - begin:.0f} s", file=sys.stderr, flush=True)

    Thread(target=tell, daemon=True).start()
    try:
        yield lambda words: last.__setitem__(0, words)
    finally:
        over.set()


def show_summary(summary: "Summary", pattern: str | None = None) -> None:
    """What a run over a file came to."""
    if summary.totals:
        table = Table("pattern", "sum", "mean a graph", "mean a row", box=None, pad_edge=False)
        for name, total in summary.totals.items():
            means = (total / max(summary.graphs, 1), total / max(summary.rows, 1))
            table.add_row(escape(pattern or name), f"{total:,}", *(f"{mean:,.4g}" for mean in means))
        console.print(table)
    table = Table("graphs", "edges", "rows", "bad rows", "seconds", "graphs/s", "MB", box=None, pad_edge=False)
    table.add_row(
        f"{summary.graphs:,}",
        f"{summary.edges:,}",
        f"{summary.rows:,}",
        f"{summary.rejected:,}",
        f"{summary.seconds:.1f}",
        f"{summary.graphs / summary.seconds:,.0f}",
        f"{summary.output.stat().st_size / 1e6:.1f}",
    )
    console.print(table)
    _tell(f"written to {summary.output}")
    if summary.rejects is not None:
        _tell(f"bad rows are listed in {summary.rejects}", style="yellow")


def show_verdict(verdict: "Verdict") -> None:
    """A statement, its outcome, and what was seen."""
    colour = {"holds": "green", "holds with a correction": "yellow", "fails": "red"}[verdict.finding.outcome]
    label, statement, text = map(escape, (verdict.theorem.label, verdict.theorem.statement, verdict.finding.text))
    head = f"[bold]{label}[/]  [{colour}]{verdict.finding.outcome}[/]  [dim]{verdict.seconds:.1f} s[/]"
    console.print(head, highlight=False)
    console.print(f"  [italic]{statement}[/]\n  {text}\n", highlight=False)
    if verdict.finding.table:
        shown = Table(*map(escape, verdict.finding.table.head), box=None)
        for row in verdict.finding.table.rows:
            shown.add_row(*map(escape, row))
        console.print(shown, "")


def show_bins(bins: "Sequence[Bin]", counts: Mapping[str, str]) -> None:
    """Every bin's number, radius if there are several, part and label; then, by part, what it counts."""
    several = any(name.radius is not None for name in bins)
    radius = ["radius"] if several else []
    table = Table("bin", *radius, "part", "label", box=None, pad_edge=False)
    for number, name in enumerate(bins):
        at = [str(name.radius or "any")] if several else []
        table.add_row(str(number), *at, name.part, ", ".join(map(str, name.label)))
    console.print(table)
    for part, text in counts.items():
        _tell(f"{part}: {text}")


def show_datasets(rows: "Sequence[Listing]") -> None:
    """Every dataset, its size, what is asked of it, and whether it is here."""
    table = Table("name", "graphs", "nodes", "edges", "task", "metric", "here", box=None, pad_edge=False)
    if console.width > 100:
        table.add_column("from", no_wrap=True, overflow="ellipsis", max_width=console.width - 80)
    for row in rows:
        size = row.size
        task = row.task
        table.add_row(
            row.name,
            f"{size.graphs:,}",
            f"{size.nodes:.1f}",
            f"{size.edges:.1f}",
            f"{task.level} {task.kind}",
            f"{task.metric} {'↓' if task.direction == 'min' else '↑'}",
            "[green]yes[/]" if row.present else "no",
            *([row.source] if console.width > 100 else []),
        )
    console.print(table)


def show_models(rows: "Sequence[ModelListing]") -> None:
    """Every network that can be trained, what is done to its batches, what a step takes, and where it is from."""
    table = Table("name", "transform", "cost", box=None, pad_edge=False)
    table.add_column("paper", overflow="fold")
    for row in rows:
        transforms = ", ".join(name for name in row.transforms if name != "Surroundings") or "-"
        table.add_row(row.name, transforms, escape(row.cost.partition(":")[0] or "-"), escape(row.cited))
    console.print(table)
    _tell("escgnn models NAME shows what can be set; escgnn train DATASET --model NAME -o FOLDER trains it")


def show_model(row: "ModelListing") -> None:
    """One network: its paper, what it reads, its settings with their defaults, and its presets."""
    _tell(f"{row.name}: {row.paper}")
    _tell(f"cost: {row.cost or 'not told'}")
    _tell(f"reads: {', '.join(['edges', 'features that the dataset has', *row.reads])}")
    table = Table("setting", "default", box=None, pad_edge=False)
    for name, value in row.settings.items():
        shown = ", ".join(map(str, value)) if isinstance(value, tuple | list) else str(value)
        table.add_row(escape(name), escape(shown))
    console.print(table)
    for preset, settings in row.presets.items():
        _tell(f"preset={preset}: {', '.join(f'{name}={value}' for name, value in settings.items())}")


def show_verification(found: "Verification") -> None:
    """The files of a dataset with their checksums, and its statistics beside the published ones."""
    files = Table("file", "sha256", "", box=None, pad_edge=False)
    for check in found.files:
        files.add_row(escape(check.path), (check.sha256 or "-")[:16], _state(check.good, check.sha256 is not None))
    console.print(f"[bold]{escape(found.name)}[/] in {escape(str(found.folder or 'no folder'))}", highlight=False)
    console.print(files)
    if found.statistics is None:
        console.print("[red]not loaded[/]: files are missing or are not what they should be")
        return
    sizes = Table("", "graphs", "nodes", "edges", box=None, pad_edge=False)
    for name, size in (("found", found.statistics), ("published", found.published)):
        sizes.add_row(name, f"{size.graphs:,}", f"{size.nodes:.3f}", f"{size.edges:.3f}")
    console.print(sizes)
    targets = Table("target", "mean", "standard deviation", box=None, pad_edge=False)
    for name, moments in found.statistics.targets.items():
        targets.add_row(escape(name), f"{moments.mean:.6g}", f"{moments.std:.6g}")
    if targets.row_count:
        console.print(targets)


def _state(good: bool, present: bool) -> str:
    """What became of a file."""
    if good:
        return "[green]good[/]" if present else "optional"
    return "[red]refused[/]" if present else "[red]missing[/]"


def show_sizes(rows: "Sequence[statistics.SizeRow]") -> None:
    """`tab:stat`: sizes as loaded beside the paper's."""
    table = Table("tab:stat", "graphs", "paper", "nodes", "paper", "edges", "paper", "note", box=None, pad_edge=False)
    for row in rows:
        found = ("-", "-", "-")
        if row.found:
            found = (f"{row.found.graphs:,}", f"{row.found.nodes:.2f}", f"{row.found.edges:.2f}")
        paper = (f"{row.paper.graphs:,}", f"{row.paper.nodes}", f"{row.paper.edges}")
        table.add_row(row.name, *(cell for pair in zip(found, paper, strict=True) for cell in pair), row.note)
    console.print(table)


def show_substructures(name: str, rows: "Sequence[statistics.SubstructureRow]") -> None:
    """Average numbers of substructures beside the paper's."""
    table = Table(name, "a graph", "paper", "a node", "paper", "note", box=None, pad_edge=False)
    for row in rows:
        numbers = (row.per_graph, row.paper_per_graph, row.per_node, row.paper_per_node)
        table.add_row(row.pattern, *("-" if number is None else f"{number:.3g}" for number in numbers), row.note)
    console.print(table)


def show_rejected(rows: "Sequence[Rejected]", total: int | None = None, what: str = "left out") -> None:
    """The first bad rows of a user's table, what became of them, and how many there are."""
    for row in rows[:5]:
        place = f"line {row.line}" if row.line else row.record
        console.print(f"[yellow]{escape(place)} {what}:[/] {escape(row.reason)}", highlight=False, soft_wrap=True)
    more = (len(rows) if total is None else total) - len(rows[:5])
    if more > 0:
        console.print(f"[yellow]and {more:,} more bad rows[/]", highlight=False)


def show_metrics(metrics: "Mapping[str, float | None]") -> None:
    """Metrics by name."""
    table = Table("metric", "value", box=None, pad_edge=False)
    for name, value in metrics.items():
        table.add_row(escape(name), "undefined" if value is None else f"{value:.5g}")
    console.print(table)


def show_judged(judgement: "Judgement", name: str) -> None:
    """Metrics, and which graphs of the dataset of this name they are of."""
    show_metrics(judgement.metrics)
    if judgement.subset == "all":
        graphs = f"all {judgement.graphs:,} graphs of {name}"
        trained = "those that it was trained on too"
    else:
        graphs = f"{judgement.graphs:,} {judgement.subset} graphs of {name}"
        trained = "of the split that it was trained with"
    _tell(f"judged by {graphs}, {trained}" if judgement.own else f"judged by {graphs}")


def show_result(result: "Result | EnsembleResult", folder: "Path") -> None:
    """What a training came to."""
    console.print(result.summary, highlight=False)
    tested = ["test"] if result.test else []
    table = Table("metric", "validation", *tested, box=None, pad_edge=False)
    for name, value in result.validation.items():
        numbers = [value, *(result.test.get(name) for _ in tested)]
        table.add_row(escape(name), *("undefined" if number is None else f"{number:.5g}" for number in numbers))
    console.print(table)
    if not tested:
        _tell("there are no test graphs, so there are no test metrics")
    _tell(f"written to {folder}")


def show_comparison(found: "Comparison") -> None:
    """Scores of trees, and of a network beside them, and what follows from them."""
    table = Table(found.metric, "validation", "test", box=None, pad_edge=False)
    for name, scores in found.scores.items():
        numbers = (scores.get("validation"), scores.get("test"))
        table.add_row(name, *("-" if number is None else f"{number:.5g}" for number in numbers))
    console.print(table)
    _tell(found.verdict)


def show_folds(result: "FoldResult", folder: "Path") -> None:
    """What a cross-validation came to."""
    number = f"{result.mean:.5g} ± {result.std:.2g}"
    console.print(f"{result.metric}: {number} over {len(result.folds)} folds", highlight=False)
    _tell(f"written to {folder}")


def show_predictions(summary: "Summary") -> None:
    """How many rows have a prediction, and the first that have none."""
    speed = summary.rows / max(summary.seconds, 1e-9)
    console.print(f"{summary.predicted:,} of {summary.rows:,} rows predicted, {speed:,.0f} rows/s", highlight=False)
    show_rejected(summary.problems, summary.rows - summary.predicted, "has no prediction")
    if summary.rejects is not None:
        _tell(f"bad rows are listed in {summary.rejects}", style="yellow")
    _tell(f"written to {summary.output}")


def show_exported(exported: "Exported") -> None:
    """The inputs of an exported network, and where it is."""
    table = Table("input", "type and sizes", box=None, pad_edge=False)
    for name, form in exported.inputs.items():
        table.add_row(name, form)
    console.print(table)
    _tell(f"written to {exported.path}")


def show_trial(trial: "Trial") -> None:
    """One trial of a search."""
    outcome = f"[red]{escape(trial.error)}[/]" if trial.value is None else f"{trial.value:.5g}"
    outcome += " [yellow]pruned[/]" if trial.state == "pruned" else ""
    settings = escape(", ".join(f"{name}={value}" for name, value in trial.settings.items()))
    console.print(f"trial {trial.number}: {outcome}  [dim]{settings}[/]", highlight=False)


def show_best(result: "TuneResult") -> None:
    """Where the best settings of a search are."""
    console.print(
        f"best {result.metric} by validation: {result.best.value:.5g}, trial {result.best.number}", highlight=False
    )
    _tell(f"written to {result.folder / 'best.yaml'}")


def show_record(record: "Record", number: int, total: int) -> None:
    """What a cell of an experiment came to, its number and how many there are."""
    about = escape(f"{number}/{total} {record.row} {record.variant} seed {record.seed}, {record.seconds:,.0f} s")
    if record.error is not None:
        console.print(f"{about}: [red]failed[/]: {escape(record.error)}", highlight=False)
        return
    for label, values in record.values.items():
        numbers = ", ".join(f"{name} {value:.4g}" for name, value in values.items() if value is not None)
        console.print(f"{about}: {escape(f'{label}: {numbers}')}", highlight=False, soft_wrap=True)


def show_report(report: "Report") -> None:
    """Tables with our numbers, each above the paper's."""
    from escgnn.report import START, runs_text

    wide = console if console.is_terminal and console.width >= NARROW else Console(width=WIDE)
    if not report.records:
        console.print(f"nothing was run yet; try {START}", highlight=False)
    for section in report.sections:
        if section.filled:
            wide.print(_beside_the_paper(section))
            runs = [run for budget in section.budgets() for run in section.runs(budget)]
            console.print(runs_text(runs), highlight=False)
            console.print()


def _beside_the_paper(section: "Section") -> Table:
    from escgnn.report import number

    shown = section.table
    colours = {True: "[green]", False: "[yellow]", None: ""}
    table = Table(title=f"{shown.title} ({shown.label})", caption=section.measure, box=None)
    for column in ("", *shown.columns):
        table.add_column(column, overflow="fold", no_wrap=not column)
    for row in shown.rows:
        entries = section.row(row)
        ours = [
            "-" if entry.mean is None else colours[entry.good] + number(entry.mean, shown.digits) for entry in entries
        ]
        budgets = ", ".join(section.budgets(row)) or "not run"
        table.add_row(f"[bold]{escape(row)}[/] ({budgets})", *ours)
        paper = ["" if entry.paper is None else number(entry.paper, shown.digits) for entry in entries]
        if any(paper):
            table.add_row("  paper", *paper, style="dim")
    return table
