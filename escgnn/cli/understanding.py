"""Commands about one run: explain."""

from pathlib import Path
from typing import Annotated

import typer

from escgnn import terminal
from escgnn.cli.options import RunFolder, Smiles, file_path, given_file


def explain(
    run: RunFolder,
    source: Annotated[
        str,
        typer.Argument(
            metavar="INPUT", help="Table with SMILES, lines of SMILES, one SMILES, or - for standard input."
        ),
    ],
    output: Annotated[Path, typer.Option("-o", "--output", help="Page to write: .html.", callback=file_path)],
    smiles: Smiles = None,
    rows: Annotated[int, typer.Option(min=1, help="Most rows to explain, the first ones.")] = 100,
) -> None:
    """Draw what every atom and every part of the encoding contributes to the predictions of a trained network."""
    from escgnn import training
    from escgnn.explain import explain_file

    trained = training.load_ensemble(run)
    with given_file(source) as path:
        found = explain_file(trained, path, output, smiles=smiles, rows=rows)
    terminal.show_rejected(found.rejected, what="has no explanation")
    terminal.show_written(found.path)
