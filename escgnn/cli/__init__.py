"""The command line. A command reads its options, calls one function of the library and prints what it returns.

Everything heavy is imported inside the commands, so that ``escgnn --help`` answers at once.
"""

import sys
import warnings
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


app.command(cls=graphs.EncodeCommand)(graphs.encode)
app.command()(graphs.count)
app.command()(huge.graph)
app.command()(shards.status)
app.command()(shards.split)
app.command()(graphs.theory)
app.command()(graphs.explore)
app.command("datasets")(graphs.list_datasets)
app.command("models")(learning.list_models)
app.command()(learning.train)
app.command()(learning.predict)
app.command()(learning.evaluate)
app.command()(understanding.explain)
app.command()(understanding.card)
app.command()(understanding.push)
app.command()(learning.export)
app.command()(comparing.baseline)
app.command()(learning.tune)
app.command()(results.reproduce)
app.command()(results.report)


def main() -> None:
    """Run a command; say in plain words what is wrong with its input."""
    sys.argv[0] = NAME  # so that records name the command, however it was started
    warnings.showwarning = terminal.show_warning
    try:
        app(prog_name=NAME)
    except (ValueError, OverflowError, OSError, ImportError, MemoryError) as error:
        terminal.show_error(error)
        sys.exit(1)
