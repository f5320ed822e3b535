"""The command line. A command reads its options, calls one function of the library and prints what it returns.

Everything heavy is imported inside the commands, so that ``escgnn --help`` answers at once.
"""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.table import Table

from escgnn import __version__

if TYPE_CHECKING:
    from escgnn.tables import Progress, Summary
    from escgnn.theorems import Verdict

app = typer.Typer(no_args_is_help=True, pretty_exceptions_enable=False, rich_markup_mode=None)
console = Console()

Input = typer.Argument(
    metavar="INPUT",
    help="graph6/sparse6 file; CSV, TSV or Parquet with columns graph, source, target or a column smiles; or a SMILES "
    "file. Text may be gzipped.",
    show_default=False,
)
Smiles = Annotated[str | None, typer.Option(help="Column with the SMILES, if it is not called smiles.")]
Strict = Annotated[bool, typer.Option("--strict", help="Stop at the first bad row.")]


def main() -> None:
    """Run a command; say in plain words what is wrong with its input."""
    try:
        app()
    except (ValueError, OSError, ImportError) as error:
        Console(stderr=True).print(f"[bold red]error:[/] {error}", highlight=False, soft_wrap=True)
        sys.exit(1)


@app.callback(invoke_without_command=True)
def root(version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False) -> None:
    """Graph neural networks that provably count substructures, at the cost of message passing."""
    if version:
        console.print(__version__)
        raise typer.Exit


@app.command()
def encode(
    source: Annotated[Path | None, Input] = None,
    output: Annotated[Path | None, typer.Option("-o", "--output", help="Parquet file to write.")] = None,
    hops: Annotated[int, typer.Option(help="Radius of the rooted subgraphs.")] = 2,
    parts: Annotated[
        str, typer.Option(help="Histograms, by commas; also: resistance, wedge, triangle, path.")
    ] = "degree,node,joint,edge",
    subgraph: Annotated[str, typer.Option(help="union, or balls as the authors' code has it.")] = "union",
    max_degree: Annotated[int, typer.Option(help="Degrees from here on share a bin.")] = 32,
    resistance_width: Annotated[float, typer.Option(help="Width of a resistance bin.")] = 0.5,
    nodes: Annotated[bool, typer.Option("--nodes", help="Encode the tuples (v, v), too.")] = False,
    max_nodes: Annotated[int | None, typer.Option(help="Largest subgraph; beyond it the radius shrinks.")] = None,
    smiles: Smiles = None,
    strict: Strict = False,
    describe: Annotated[bool, typer.Option("--describe", help="Print the bins and stop.")] = False,
) -> None:
    """Encode every edge of the graphs in a file: histograms of the subgraph rooted at it."""
    from escgnn.encoding import RootedEncoding

    encoding = RootedEncoding(
        hops,
        tuple(part.strip() for part in parts.split(",")),
        subgraph=subgraph,
        max_degree=max_degree,
        resistance_width=resistance_width,
        nodes=nodes,
        max_nodes=max_nodes,
    )
    if describe:
        render_bins(encoding.bins)
        return
    if source is None or output is None:
        raise typer.BadParameter("give the INPUT to read and the file to write, -o OUT.parquet (or --describe)")
    from escgnn.tables import encode_file

    with progress_bar(f"encoding {source.name}") as progress:
        summary = encode_file(source, output, encoding, smiles=smiles, strict=strict, progress=progress)
    render(summary)


@app.command()
def count(
    source: Annotated[Path, Input],
    output: Annotated[Path, typer.Option("-o", "--output", help="Parquet or CSV file to write.")],
    pattern: Annotated[
        str | None, typer.Option(help="A name such as 5-cycle, or edges such as '0-1 1-2 2-0 2-3'.")
    ] = None,
    per: Annotated[str, typer.Option(help="graph, node or edge.")] = "graph",
    induced: Annotated[bool, typer.Option("--induced", help="Count induced copies.")] = False,
    orbit: Annotated[str | None, typer.Option(help="Counted position: a node or an edge such as 2-3.")] = None,
    everything: Annotated[bool, typer.Option("--all", help="The benchmark's nine targets, per node.")] = False,
    smiles: Smiles = None,
    strict: Strict = False,
) -> None:
    """Count a substructure exactly in every graph of a file."""
    from escgnn.counting import read_orbit, read_pattern
    from escgnn.tables import count_file

    if everything == (pattern is not None):
        raise typer.BadParameter("give either --pattern or --all")
    with progress_bar(f"counting in {source.name}") as progress:
        summary = count_file(
            source,
            output,
            None if pattern is None else read_pattern(pattern),
            per=per,
            induced=induced,
            orbit=None if orbit is None else read_orbit(orbit),
            smiles=smiles,
            strict=strict,
            progress=progress,
        )
    render(summary, pattern)


@app.command()
def theory(
    labels: Annotated[list[str] | None, typer.Argument(metavar="[LABEL]...", help="LaTeX labels; all if none.")] = None,
    output: Annotated[Path, typer.Option("-o", "--output", help="Folder for the pictures.")] = Path("theory"),
    docs: Annotated[Path | None, typer.Option(help="Also write theory.md and errata.md to this folder.")] = None,
) -> None:
    """Check the paper's statements and draw the graphs that show them."""
    from escgnn import theorems
    from escgnn.theorems.pages import write_docs, write_pictures

    if docs is not None and labels:
        raise typer.BadParameter("the docs hold all statements; leave the labels out")
    verdicts = []
    for verdict in theorems.iterate(labels or ()):
        render_verdict(verdict)
        verdicts.append(verdict)
    pictures = write_pictures(verdicts, output) if docs is None else {"docs": write_docs(verdicts, docs)}
    for paths in pictures.values():
        console.print(*(f"written to {path}" for path in paths), sep="\n", highlight=False)


@contextmanager
def progress_bar(title: str) -> Iterator["Progress"]:
    """A bar on the terminal that follows the bytes read."""
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(title, total=None)
        yield lambda read, total: bar.update(task, completed=read, total=total)


def render(summary: "Summary", pattern: str | None = None) -> None:
    """What a run over a file came to."""
    if summary.totals:
        table = Table("pattern", "sum", "mean a graph", "mean a row", box=None, pad_edge=False)
        for name, total in summary.totals.items():
            means = (total / max(summary.graphs, 1), total / max(summary.rows, 1))
            table.add_row(pattern or name, f"{total:,}", *(f"{mean:,.4g}" for mean in means))
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
    console.print(f"written to {summary.output}", highlight=False)
    if summary.rejects is not None:
        console.print(f"bad rows are listed in {summary.rejects}", highlight=False, style="yellow")


def render_verdict(verdict: "Verdict") -> None:
    """A statement, its outcome, and what was seen."""
    colour = {"holds": "green", "holds with a correction": "yellow", "fails": "red"}[verdict.finding.outcome]
    head = f"[bold]{verdict.theorem.label}[/]  [{colour}]{verdict.finding.outcome}[/]  [dim]{verdict.seconds:.1f} s[/]"
    console.print(head, highlight=False)
    console.print(f"  [italic]{verdict.theorem.statement}[/]\n  {verdict.finding.text}\n", highlight=False)


def render_bins(bins: tuple[tuple[str | int, ...], ...]) -> None:
    """Every bin's number, part and label."""
    table = Table("bin", "part", "label", box=None, pad_edge=False)
    for number, (part, *label) in enumerate(bins):
        table.add_row(str(number), str(part), ", ".join(map(str, label)))
    console.print(table)


if __name__ == "__main__":
    main()
