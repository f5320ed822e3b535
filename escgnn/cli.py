"""The command line. A command reads its options, calls one function of the library and prints what it returns.

Everything heavy is imported inside the commands, so that ``escgnn --help`` answers at once.
"""

import inspect
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.markup import escape
from typer.core import TyperCommand

from escgnn import __version__, terminal

app = typer.Typer(no_args_is_help=True, pretty_exceptions_enable=False, rich_markup_mode=None)

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
        Console(stderr=True).print(f"[bold red]error:[/] {escape(str(error))}", highlight=False, soft_wrap=True)
        sys.exit(1)


@app.callback(invoke_without_command=True)
def root(version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False) -> None:
    """Graph neural networks that provably count substructures, at the cost of message passing."""
    if version:
        terminal.console.print(__version__)
        raise typer.Exit


class EncodeCommand(TyperCommand):
    """A command whose help names the parts, which the library knows; it is loaded for that help only."""

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write the help."""
        from escgnn.encoding import PARTS

        (option,) = (param for param in self.params if param.name == "parts")
        option.help = f"Histograms, by commas, out of {', '.join(PARTS)}."  # type: ignore[attr-defined]
        super().format_help(ctx, formatter)


@app.command(cls=EncodeCommand)
def encode(
    source: Annotated[Path | None, Input] = None,
    output: Annotated[Path | None, typer.Option("-o", "--output", help="Parquet file to write.")] = None,
    hops: Annotated[str, typer.Option(help="Radius of the rooted subgraphs, or several: 1,2,3.")] = "2",
    parts: Annotated[str, typer.Option()] = "degree,node,joint,edge",
    subgraph: Annotated[str, typer.Option(help="union, or balls as the authors' code has it.")] = "union",
    max_degree: Annotated[int, typer.Option(help="Degrees from here on share a bin.")] = 32,
    resistance_width: Annotated[float, typer.Option(help="Width of a resistance bin.")] = 0.5,
    nodes: Annotated[bool, typer.Option("--nodes", help="Encode the tuples (v, v), too.")] = False,
    max_nodes: Annotated[int | None, typer.Option(help="Largest subgraph; beyond it the radius shrinks.")] = None,
    walk_length: Annotated[int, typer.Option(help="Edges of the longest walks of the part walk.")] = 6,
    cycle_length: Annotated[int, typer.Option(help="Nodes of the longest cycles of the part cycle, at most 8.")] = 8,
    colour_rounds: Annotated[int, typer.Option(help="Rounds of 1-WL of the part colour.")] = 2,
    colour_bins: Annotated[int, typer.Option(help="Number of hashed colours of the part colour.")] = 64,
    smiles: Smiles = None,
    strict: Strict = False,
    describe: Annotated[bool, typer.Option("--describe", help="Print the bins and stop.")] = False,
) -> None:
    """Encode every edge of the graphs in a file: histograms of the subgraph rooted at it."""
    from escgnn.encoding import RootedEncoding

    encoding = RootedEncoding(
        _radii(hops),
        tuple(part.strip() for part in parts.split(",")),
        subgraph=subgraph,
        max_degree=max_degree,
        resistance_width=resistance_width,
        nodes=nodes,
        max_nodes=max_nodes,
        walk_length=walk_length,
        cycle_length=cycle_length,
        colour_rounds=colour_rounds,
        colour_bins=colour_bins,
    )
    if describe:
        terminal.show_bins(encoding.bins)
        return
    if source is None or output is None:
        raise typer.BadParameter("give the INPUT to read and the file to write, -o OUT.parquet (or --describe)")
    from escgnn.tables import encode_file

    with terminal.progress_bar(f"encoding {source.name}") as progress:
        summary = encode_file(source, output, encoding, smiles=smiles, strict=strict, progress=progress)
    terminal.show_summary(summary)


def _radii(text: str) -> int | tuple[int, ...]:
    """One radius, or several between commas."""
    try:
        first, *others = (int(word) for word in text.split(","))
    except ValueError:
        raise ValueError(f"hops: {text!r}; expected a number such as 2, or several such as 1,2,3") from None
    return (first, *others) if others else first


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
    with terminal.progress_bar(f"counting in {source.name}") as progress:
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
    terminal.show_summary(summary, pattern)


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
        terminal.show_verdict(verdict)
        verdicts.append(verdict)
    pictures = write_pictures(verdicts, output) if docs is None else {"docs": write_docs(verdicts, docs)}
    for paths in pictures.values():
        terminal.console.print(*(f"written to {path}" for path in paths), sep="\n", highlight=False)


@app.command("datasets")
def list_datasets(
    name: Annotated[str | None, typer.Argument(help="Verify this one and print its statistics.")] = None,
    root: Annotated[Path | None, typer.Option(help="Folder to look for raw files in first.")] = None,
    tables: Annotated[
        bool, typer.Option("--tables", help="The paper's tables about its datasets, beside ours.")
    ] = False,
) -> None:
    """List the benchmarks, whether they are here, and what is in them."""
    from escgnn import datasets

    if name is not None:
        terminal.show_verification(datasets.verify(name, root))
        if tables:
            terminal.show_substructures(name, datasets.substructure_table(name, root))
    elif tables:
        terminal.show_sizes(datasets.size_table(root))
    else:
        terminal.show_datasets(datasets.listing(root))


Dataset = Annotated[
    str, typer.Argument(metavar="DATASET", help="A name from escgnn datasets, or a table or graph file.")
]
Targets = Annotated[str | None, typer.Option(help="Target columns of your own table, by commas.")]
Split = Annotated[str | None, typer.Option(help="Of your own table: scaffold, random, column:NAME or file:PATH.")]
Kind = Annotated[
    str | None,
    typer.Option(
        help="Of your own targets: regression, binary, multilabel or multiclass; by default what they look like."
    ),
]
Labels = Annotated[Path | None, typer.Option(help="Table with the targets of a graph file.")]

Config = Annotated[Path | None, typer.Option(help="YAML file with settings.")]
Settings = Annotated[list[str] | None, typer.Option("--set", help="key=value, e.g. model.hidden=300; may be repeated.")]
RunFolder = Annotated[Path, typer.Argument(metavar="RUN", help="Folder of a run.")]


def on_dataset(command: Callable[..., None]) -> Callable[..., None]:
    """The command with ``bundle`` given by a dataset's name and, for a user's own table, the options of `_load`.

    Rows of the table that cannot be used are shown before it runs.
    """
    loading = {
        name: option.replace(kind=option.KEYWORD_ONLY) for name, option in inspect.signature(_load).parameters.items()
    }
    own = inspect.signature(command).parameters
    first = [
        loading["dataset"] if name == "bundle" else own[name].replace(kind=inspect.Parameter.KEYWORD_ONLY)
        for name in own
    ]
    options = [*first, *(option for name, option in loading.items() if name != "dataset")]

    def run(**given: Any) -> None:
        bundle = _load(**{name: given.pop(name) for name in loading})
        terminal.show_rejected(bundle.rejected)
        command(bundle=bundle, **given)

    run.__name__, run.__doc__ = command.__name__, command.__doc__
    run.__signature__ = inspect.Signature(options)  # type: ignore[attr-defined]
    run.__annotations__ = {option.name: option.annotation for option in options}
    return run


def _load(
    dataset: Dataset,
    smiles: Smiles = None,
    targets: Targets = None,
    split: Split = None,
    kind: Kind = None,
    labels: Labels = None,
) -> Any:
    """A dataset, with those options of a user's own table that were given."""
    from escgnn import datasets

    columns = [name.strip() for name in targets.split(",")] if targets else None
    given: dict[str, Any] = {"smiles": smiles, "targets": columns, "split": split, "kind": kind, "labels": labels}
    return datasets.load(dataset, **{name: value for name, value in given.items() if value is not None})


@app.command()
@on_dataset
def train(
    bundle: Any,
    out: Annotated[Path, typer.Option("-o", "--out", help="Folder for the run.")],
    config: Config = None,
    settings: Settings = None,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with the run in the folder.")] = False,
    devices: Annotated[int | None, typer.Option(help="Processes or GPUs that share every batch.")] = None,
) -> None:
    """Train on a benchmark or on your own table; the run folder holds all there is to know."""
    from escgnn import training

    overrides = [*(settings or ()), *([] if devices is None else [f"devices={devices}"])]
    chosen = training.read_config(config, overrides, bundle=bundle)
    if bundle.folds:
        terminal.show_folds(training.fit_folds(bundle, chosen, out, resume=resume), out)
    else:
        terminal.show_result(training.fit(bundle, chosen, out, resume=resume), out)


@app.command()
def predict(
    run: RunFolder,
    source: Annotated[Path, Input],
    output: Annotated[Path, typer.Option("-o", "--output", help="CSV or Parquet file to write.")],
    smiles: Smiles = None,
    workers: Annotated[
        int, typer.Option(min=0, help="Processes that read molecules; worth it from some ten thousand rows.")
    ] = 0,
) -> None:
    """Predict for every row of a file with a trained network; bad rows are kept and say why."""
    from escgnn import training

    with terminal.progress_bar(f"predicting for {source.name}") as progress:
        summary = training.predict_file(
            training.load_run(run), source, output, smiles=smiles, workers=workers, progress=progress
        )
    terminal.show_predictions(summary)


@app.command()
@on_dataset
def evaluate(
    run: RunFolder,
    bundle: Any,
    part: Annotated[str, typer.Option(help="train, validation or test.")] = "test",
    fold: Annotated[int | None, typer.Option(help="Fold of a cross-validation, from 0.")] = None,
) -> None:
    """Judge a trained network on a dataset."""
    from escgnn import training

    if bundle.folds and fold is None:
        raise typer.BadParameter(f"{bundle.name} is judged by {len(bundle.folds)} folds; choose one with --fold")
    chosen = bundle if fold is None else bundle.fold(fold)
    terminal.show_metrics(training.evaluate(training.load_run(run), chosen, part))


@app.command()
def export(
    run: RunFolder,
    output: Annotated[Path, typer.Option("-o", "--output", help="File to write: .onnx, or .pt2 of torch.export.")],
) -> None:
    """Write a trained network as a file that runs without this library; it reads encoded batches of any size."""
    from escgnn import training

    terminal.show_exported(training.export(training.load_run(run), output))


@app.command()
@on_dataset
def tune(
    bundle: Any,
    out: Annotated[Path, typer.Option("-o", "--out", help="Folder for the search; an earlier one there goes on.")],
    trials: Annotated[int, typer.Option(help="Trials in all.")] = 20,
    config: Config = None,
    settings: Settings = None,
    timeout: Annotated[float | None, typer.Option(help="Begin no further trial after so many seconds.")] = None,
    prune: Annotated[bool, typer.Option(help="Cut trials short that are worse than half of the others.")] = True,
) -> None:
    """Search for good settings by validation: radius, parts, width, depth and learning rate."""
    from escgnn import training, tuning

    base = training.read_config(config, settings or (), bundle=bundle)
    result = tuning.tune(
        bundle, out, trials=trials, base=base, timeout=timeout, prune=prune, progress=terminal.show_trial
    )
    terminal.show_best(result)


@app.command()
def reproduce(
    name: Annotated[
        str,
        typer.Argument(
            metavar="NAME",
            help="counting, generalisation, ablation, isomorphism, brec, molecules, parts, substructures, statistics, efficiency "
            "or storage.",
        ),
    ],
    budget: Annotated[
        str, typer.Option(help="smoke to see that it runs, hour for two cores, paper for a GPU.")
    ] = "hour",
    seeds: Annotated[int, typer.Option(min=1, help="Runs of everything that is trained.")] = 1,
    rows: Annotated[
        list[str] | None, typer.Option("--row", help="Only this row of the tables; may be repeated.")
    ] = None,
    results: Annotated[Path, typer.Option(help="Folder of the records.")] = Path("results"),
    work: Annotated[Path, typer.Option(help="Folder for what a stopped run goes on from.")] = Path("runs"),
) -> None:
    """Run what is missing of a table of the paper; every run leaves a record."""
    from escgnn import experiments
    from escgnn.report import build

    experiment = experiments.find(name)
    experiments.reproduce(
        experiment,
        budget,
        seeds=seeds,
        rows=rows or (),
        results=results,
        work=work,
        report=terminal.show_record,
    )
    terminal.show_report(build(results, [experiment]))


@app.command()
def report(
    output: Annotated[Path | None, typer.Option("-o", "--output", help="File to write: .html or .md.")] = None,
    results: Annotated[Path, typer.Option(help="Folder of the records.")] = Path("results"),
) -> None:
    """Show all recorded runs beside the paper's numbers, on the terminal or as one page."""
    from escgnn.report import build, write

    if output is None:
        terminal.show_report(build(results))
    else:
        terminal.console.print(f"written to {write(results, output)}", highlight=False)


if __name__ == "__main__":
    main()
