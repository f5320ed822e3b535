"""The command line. A command reads its options, calls one function of the library and prints what it returns.

Everything heavy is imported inside the commands, so that ``escgnn --help`` answers at once.
"""

import os
import sys
import warnings
from collections.abc import Callable
from typing import Annotated

import typer

from escgnn import __version__, terminal
from escgnn.cli import comparing, graphs, huge, learning, results, shards, understanding

NAME = "escgnn"
app = typer.Typer(no_args_is_help=True, pretty_exceptions_enable=False, rich_markup_mode=None)


@app.callback(invoke_without_command=True)
def root(
    version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False,
    verbose: Annotated[bool, typer.Option("--verbose", help="With --version: all that a bug report needs.")] = False,
) -> None:
    """Graph neural networks that provably count substructures, at the cost of message passing."""
    if verbose and not version:
        raise typer.BadParameter("it goes with --version", param_hint="--verbose")
    if verbose:
        from escgnn import provenance

        for name, value in provenance.surroundings().items():
            typer.echo(f"{name}: {value}")
        raise typer.Exit
    if version:
        typer.echo(__version__)
        raise typer.Exit


COMMANDS: dict[str, tuple[Callable[..., None], str]] = {  # and what the list of commands says of each, in a line
    "encode": (graphs.encode, "Encode every edge: histograms of its rooted subgraph."),
    "count": (graphs.count, "Count a substructure exactly."),
    "graph": (huge.graph, "Make adjacency lists of one huge graph, in files."),
    "status": (shards.status, "Tell how far a job over several files is."),
    "split": (shards.split, "Cut a large file into several."),
    "theory": (graphs.theory, "Check the paper's statements and draw their graphs."),
    "explore": (graphs.explore, "Look at graphs, encodings and predictions in a browser."),
    "datasets": (graphs.list_datasets, "List the benchmarks, and fetch what is missing."),
    "models": (learning.list_models, "List the networks that can be trained."),
    "train": (learning.train, "Train on a benchmark or on your own table."),
    "predict": (learning.predict, "Predict for every row of files."),
    "evaluate": (learning.evaluate, "Judge a trained network on a dataset."),
    "explain": (understanding.explain, "Draw what every atom adds to a prediction."),
    "card": (understanding.card, "Say what a run is, for those who did not train it."),
    "push": (understanding.push, "Put a run on the Hugging Face hub."),
    "export": (learning.export, "Write a network as a file that needs no escgnn."),
    "baseline": (comparing.baseline, "Fit trees on fingerprints: is a network better?"),
    "tune": (learning.tune, "Search for good settings by validation."),
    "reproduce": (results.reproduce, "Run what is missing of a table of the paper."),
    "report": (results.report, "Show recorded runs beside the paper's, or look at one."),
}
for name, (function, words) in COMMANDS.items():
    app.command(name, cls=graphs.EncodeCommand if function is graphs.encode else None, short_help=words)(function)


def main() -> None:
    """Run a command; say in plain words what is wrong with its input."""
    sys.argv[0] = NAME  # so that records name the command, however it was started
    warnings.showwarning = terminal.show_warning
    # Threads that spin for each other starve beside a busy process. torch reads this once, when a command loads it.
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
    try:
        app(prog_name=NAME)
    except (ValueError, OverflowError, OSError, ImportError, MemoryError) as error:
        terminal.show_error(error)
        sys.exit(1)
