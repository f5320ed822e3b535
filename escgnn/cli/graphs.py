"""Commands about graphs: encode, count, theory, explore, datasets."""

import inspect
from collections.abc import Callable
from dataclasses import Field, fields
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperCommand

from escgnn import terminal
from escgnn.cli.huge import SUFFIX, encode_huge
from escgnn.cli.options import (
    Address,
    EngineName,
    Inputs,
    PartOfAll,
    Seconds,
    ShardRows,
    Smiles,
    Strict,
    Workers,
    folder_path,
)
from escgnn.cli.shards import end_of_shards, is_for_many, shard_options
from escgnn.encoding import Settings

LISTS = ("hops", "parts", "types", "typed")  # options of the encoding that are several words or numbers


class EncodeCommand(TyperCommand):
    """A command whose help names the parts, which the library knows; it is loaded for that help only."""

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write the help."""
        from escgnn.encoding import PARTS

        (option,) = (param for param in self.params if param.name == "parts")
        option.help = f"Histograms, by commas, out of {', '.join(PARTS)}."  # type: ignore[attr-defined]
        super().format_help(ctx, formatter)


def _option(field: "Field[Any]") -> inspect.Parameter:
    """What the command line takes for an option of the encoding; lists are written with commas between."""
    default = field.default
    kind = field.type
    if field.name in LISTS:
        default = ",".join(map(str, default)) if isinstance(default, tuple) else str(default)
        kind = str
    switch = [f"--{field.name}"] if kind is bool else []  # without its --no- form
    annotation = Annotated[kind, typer.Option(*switch, help=field.metadata["help"])]  # type: ignore[valid-type]
    return inspect.Parameter(field.name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)


def _with_options_of_the_encoding(command: Callable[..., None]) -> Callable[..., None]:
    """The command with an option for every field of `Settings`, behind its output, in place of ``**options``."""
    parameters = []
    for parameter in inspect.signature(command).parameters.values():
        if parameter.kind is not inspect.Parameter.VAR_KEYWORD:
            parameters.append(parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY))
        if parameter.name == "output":
            parameters += [_option(field) for field in fields(Settings)]
    command.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    command.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return command


@_with_options_of_the_encoding
def encode(
    inputs: Annotated[list[str] | None, Inputs] = None,
    output: Annotated[
        str | None, typer.Option("-o", "--output", help="Parquet file to write, or folder for those of several files.")
    ] = None,
    smiles: Smiles = None,
    strict: Strict = False,
    max_seconds_per_graph: Seconds = None,
    workers: Workers = 0,
    engine: EngineName = "local",
    address: Address = None,
    part: PartOfAll = None,
    shard_rows: ShardRows = 1 << 20,
    describe: Annotated[bool, typer.Option("--describe", help="Print the bins and stop.")] = False,
    **options: Any,
) -> None:
    """Encode every edge of the graphs in files: histograms of the subgraph rooted at it.

    The same command goes on with a folder of results; `escgnn status` tells how far it is. Exit code 3: some files failed.
    """
    from escgnn.encoding import PARTS, RootedEncoding

    options["hops"] = _radii(options["hops"])
    for name in LISTS[1:]:
        options[name] = tuple(word.strip() for word in options[name].split(",") if word.strip())
    encoding = RootedEncoding(**options)
    if describe:
        terminal.show_bins(encoding.bins, {part: PARTS[part].counts for part in encoding.parts})
        return
    if not inputs or output is None:
        raise typer.BadParameter("give the INPUT to read and the file to write, -o OUT.parquet (or --describe)")
    if len(inputs) == 1 and inputs[0].endswith(SUFFIX):
        meant_for_many = {
            "--smiles": smiles,
            "--strict": strict,
            "--max-seconds-per-graph": max_seconds_per_graph,
            "--workers": workers,
            "--engine": engine != "local",
            "--address": address,
            "--part": part,
        }
        encode_huge(Path(inputs[0]), output, encoding, [name for name, value in meant_for_many.items() if value])
        return
    from escgnn.engines import named_engine
    from escgnn.jobs import Encode, encode_file
    from escgnn.shards import run_shards

    if is_for_many(inputs, output, part, engine):
        job = Encode(encoding, max_seconds_per_graph)
        where = shard_options(part, engine, workers, address, shard_rows, output)
        with terminal.progress_bar("encoding") as progress:
            done = run_shards(job, inputs, smiles=smiles, strict=strict, progress=progress, **where)
        end_of_shards(done)
        return
    source = Path(inputs[0])
    with terminal.progress_bar(f"encoding {source.name}") as progress:
        summary = encode_file(
            source,
            output,
            encoding,
            smiles=smiles,
            strict=strict,
            max_seconds_per_graph=max_seconds_per_graph,
            engine=named_engine(engine, workers, address),
            progress=progress,
        )
    terminal.show_summary(summary)


def _radii(text: str) -> int | tuple[int, ...]:
    """One radius, or several between commas."""
    try:
        first, *others = (int(word) for word in text.split(","))
    except ValueError:
        raise ValueError(f"hops: {text!r}; expected a number such as 2, or several such as 1,2,3") from None
    return (first, *others) if others else first


def count(
    inputs: Annotated[list[str], Inputs],
    output: Annotated[
        str, typer.Option("-o", "--output", help="Parquet or CSV file to write, or folder for those of several files.")
    ],
    pattern: Annotated[
        str | None, typer.Option(help="A name such as 5-cycle, or edges such as '0-1 1-2 2-0 2-3'.")
    ] = None,
    per: Annotated[str | None, typer.Option(help="graph, node or edge.", show_default="graph")] = None,
    induced: Annotated[bool, typer.Option("--induced", help="Count induced copies.")] = False,
    orbit: Annotated[str | None, typer.Option(help="Counted position: a node or an edge such as 2-3.")] = None,
    everything: Annotated[bool, typer.Option("--all", help="The benchmark's nine targets, per node.")] = False,
    smiles: Smiles = None,
    strict: Strict = False,
    max_seconds_per_graph: Seconds = None,
    workers: Workers = 0,
    engine: EngineName = "local",
    address: Address = None,
    part: PartOfAll = None,
    shard_rows: ShardRows = 1 << 20,
) -> None:
    """Count a substructure exactly in every graph of files.

    The same command goes on with a folder of results; `escgnn status` tells how far it is. Exit code 3: some files failed.
    """
    from escgnn.counting import read_orbit, read_pattern
    from escgnn.engines import named_engine
    from escgnn.jobs import Count, count_file
    from escgnn.shards import run_shards

    if everything == (pattern is not None):
        raise typer.BadParameter("give either --pattern or --all")
    if everything and (per not in (None, "node") or induced or orbit is not None):
        raise typer.BadParameter("--all counts subgraphs per node; leave --per, --induced and --orbit out")
    wanted = None if pattern is None else read_pattern(pattern)
    position = None if orbit is None else read_orbit(orbit)
    if is_for_many(inputs, output, part, engine):
        job = Count(wanted, per or "graph", induced, position, max_seconds_per_graph)
        where = shard_options(part, engine, workers, address, shard_rows, output)
        with terminal.progress_bar("counting") as progress:
            done = run_shards(job, inputs, smiles=smiles, strict=strict, progress=progress, **where)
        end_of_shards(done)
        return
    source = Path(inputs[0])
    with terminal.progress_bar(f"counting in {source.name}") as progress:
        summary = count_file(
            source,
            output,
            wanted,
            per=per or "graph",
            induced=induced,
            orbit=position,
            smiles=smiles,
            strict=strict,
            max_seconds_per_graph=max_seconds_per_graph,
            engine=named_engine(engine, workers, address),
            progress=progress,
        )
    terminal.show_summary(summary, pattern)


def theory(
    labels: Annotated[list[str] | None, typer.Argument(metavar="[LABEL]...", help="LaTeX labels; all if none.")] = None,
    output: Annotated[
        Path, typer.Option("-o", "--output", help="Folder for the pictures.", callback=folder_path)
    ] = Path("theory"),
    docs: Annotated[
        Path | None, typer.Option(help="Also write theory.md and errata.md to this folder.", callback=folder_path)
    ] = None,
) -> None:
    """Check the paper's statements and draw the graphs that show them."""
    from escgnn import theorems
    from escgnn.theorems import write_docs, write_pictures

    if docs is not None and labels:
        raise typer.BadParameter("the docs hold all statements; leave the labels out")
    verdicts = []
    for verdict in theorems.iterate(labels or ()):
        terminal.show_verdict(verdict)
        verdicts.append(verdict)
    pictures = write_pictures(verdicts, output) if docs is None else {"docs": write_docs(verdicts, docs)}
    for paths in pictures.values():
        terminal.show_written(*paths)


def list_datasets(
    name: Annotated[str | None, typer.Argument(help="Verify this one and print its statistics.")] = None,
    root: Annotated[
        Path | None, typer.Option(help="Folder to look for raw files in first.", callback=folder_path)
    ] = None,
    tables: Annotated[
        bool, typer.Option("--tables", help="The paper's tables about its datasets, beside ours.")
    ] = False,
) -> None:
    """List the benchmarks, whether they are here, and what is in them."""
    from escgnn import datasets

    if tables:
        from escgnn.experiments import statistics
    if name is not None:
        terminal.show_verification(datasets.verify(name, root))
        if tables:
            terminal.show_substructures(name, statistics.substructure_table(name, root))
    elif tables:
        terminal.show_sizes(statistics.size_table(root))
    else:
        terminal.show_datasets(datasets.listing(root))


def explore(
    graph: Annotated[
        str | None,
        typer.Argument(
            metavar="[GRAPH]",
            help="SMILES, graph6, edges such as '0-1 1-2', or a graph file; more can be typed into the page.",
            show_default=False,
        ),
    ] = None,
    run: Annotated[
        Path | None,
        typer.Option(
            help="Folder of a run or an ensemble, or hf://user/name, whose predictions are shown.", callback=folder_path
        ),
    ] = None,
    row: Annotated[int, typer.Option(min=0, help="Which graph of the file, from 0.")] = 0,
    hops: Annotated[str, typer.Option(help="Radius of the rooted subgraphs, or several: 1,2,3.")] = "2",
    parts: Annotated[str, typer.Option(help="Histograms, by commas.")] = "degree,node,joint,edge",
    port: Annotated[int, typer.Option(min=0, max=65535, help="Where to listen; 0 for any free port.")] = 0,
    no_browser: Annotated[bool, typer.Option("--no-browser", help="Only print the address.")] = False,
) -> None:
    """Look at graphs in a browser: click an edge, see its histograms and what they count; compare two graphs."""
    from escgnn import explorer
    from escgnn.encoding import RootedEncoding

    subject = None
    if graph is not None:
        subject = explorer.read_file(graph, row) if Path(graph).is_file() else explorer.read(graph)
    encoding = RootedEncoding(_radii(hops), tuple(part.strip() for part in parts.split(",")))
    trained = None
    if run is not None:
        from escgnn.training import load_ensemble

        trained = load_ensemble(run)
    server = explorer.Server(subject, encoding, run=trained, port=port)
    with terminal.still_alive("compiling what a click needs, which the next start finds done"):
        server.warm_up()
    typer.echo(f"ready at {server.url} (Ctrl-C ends it)")  # at once, for whoever waits for it
    if not no_browser:
        typer.launch(server.url)
    server.serve()
