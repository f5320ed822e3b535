"""Commands about one huge graph: graph, and encode of what that wrote."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from escgnn import terminal
from escgnn.cli.options import Strict, file_path

if TYPE_CHECKING:  # so that help is printed without loading what it is about
    from escgnn.encoding import RootedEncoding
    from escgnn.huge import GraphSummary

SUFFIX = ".escg"
MEGABYTE = 10**6


def graph(
    source: Annotated[
        Path,
        typer.Argument(
            metavar="INPUT",
            help="CSV, TSV or Parquet with a row for each edge, columns source and target. Text may be gzipped.",
            show_default=False,
            callback=file_path,
        ),
    ],
    output: Annotated[
        Path, typer.Option("-o", "--output", help=f"File to write, such as graph{SUFFIX}.", callback=file_path)
    ],
    columns: Annotated[str, typer.Option(help="Columns with the two ends.")] = "source,target",
    nodes: Annotated[
        int | None, typer.Option(min=0, help="Number of nodes.", show_default="the largest id and one")
    ] = None,
    memory: Annotated[int, typer.Option(min=1, help="MiB of adjacency lists to sort at a time.")] = 256,
    strict: Strict = False,
) -> None:
    """Make adjacency lists of the edges of one huge graph, in memory that does not grow with them.

    `escgnn encode OUT.escg -o OUT.escr` then encodes its edges; `escgnn.huge` learns on both.
    """
    from escgnn.huge import build_graph

    ends = [name.strip() for name in columns.split(",")]
    if len(ends) != 2:
        raise typer.BadParameter(f"{columns!r}; expected two names, such as source,target", param_hint="'--columns'")
    with terminal.progress_bar(f"reading {source.name}") as progress:
        summary = build_graph(
            source,
            output,
            columns=(ends[0], ends[1]),
            num_nodes=nodes,
            memory=memory << 20,
            strict=strict,
            progress=progress,
        )
    _show_graph(summary)


def encode_huge(source: Path, output: str, encoding: "RootedEncoding", unused: Sequence[str]) -> None:
    """Encode the edges of a graph that `graph` wrote; options that mean nothing for it are refused."""
    from escgnn.huge import encode_graph, open_graph

    if unused:
        raise typer.BadParameter(f"{', '.join(unused)}: for files of many graphs; {source} is one graph, leave it out")
    if Path(output).exists() and Path(output).samefile(source):
        raise ValueError(f"{output}: it would replace the input; choose another output")
    opened = open_graph(source, check=True)  # all of it is read anyway
    with terminal.progress_bar(f"encoding {source.name}") as progress:
        store = encode_graph(opened, encoding, output, progress=progress)
    share = store.nbytes / max(1, store.num_edges)
    _tell(f"{len(store):,} rows of {store.num_bins:,} bins, {share:.0f} bytes an edge")
    terminal.show_written(Path(output))


def _show_graph(summary: "GraphSummary") -> None:
    _tell(f"{summary.nodes:,} nodes, {summary.edges:,} edges; {summary.seconds:.1f} s")
    _tell(f"{summary.loops:,} loops, {summary.repeats:,} repeats and {summary.rejected:,} bad rows left out")
    size = summary.output.stat().st_size
    _tell(f"{size / MEGABYTE:,.1f} MB, {size / max(1, summary.edges):.1f} bytes an edge")
    terminal.show_written(summary.output)
    if summary.rejects is not None:
        _tell(f"bad rows are listed in {summary.rejects}", style="yellow")


def _tell(text: str, style: str | None = None) -> None:
    terminal.console.print(text, style=style, highlight=False, markup=False, soft_wrap=True)
