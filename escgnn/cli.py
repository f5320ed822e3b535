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

app = typer.Typer(no_args_is_help=True, pretty_exceptions_enable=False, rich_markup_mode=None)
console = Console()

Input = Annotated[
    Path | None,
    typer.Argument(
        metavar="INPUT",
        help="graph6/sparse6 file; CSV, TSV or Parquet with columns graph, source, target or a column smiles; or a "
        "SMILES file. Text may be gzipped.",
        show_default=False,
    ),
]
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
    source: Input = None,
    output: Annotated[Path | None, typer.Option("-o", "--output", help="Parquet file to write.")] = None,
    hops: Annotated[int, typer.Option(help="Radius of the rooted subgraphs.")] = 2,
    parts: Annotated[str, typer.Option(help="Histograms, by commas; also: resistance.")] = "degree,node,joint,edge",
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


@contextmanager
def progress_bar(title: str) -> Iterator["Progress"]:
    """A bar on the terminal that follows the bytes read."""
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(title, total=None)
        yield lambda read, total: bar.update(task, completed=read, total=total)


def render(summary: "Summary") -> None:
    """What a run over a file came to."""
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


def render_bins(bins: tuple[tuple[str | int, ...], ...]) -> None:
    """Every bin's number, part and label."""
    table = Table("bin", "part", "label", box=None, pad_edge=False)
    for number, (part, *label) in enumerate(bins):
        table.add_row(str(number), str(part), ", ".join(map(str, label)))
    console.print(table)


if __name__ == "__main__":
    main()
