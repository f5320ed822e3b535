"""Commands about one run: explain, card, push."""

from pathlib import Path
from typing import Annotated, Any

import typer

from escgnn import terminal
from escgnn.cli.options import RunFolder, Smiles, file_path, folder_path, given_file, load_dataset

Data = Annotated[str | None, typer.Option(help="The data of the run: a table, or the name of a benchmark.")]
Trees = Annotated[
    Path | None, typer.Option("--baseline", help="Folder of a baseline to set beside it.", callback=folder_path)
]


def reviewed(run: Path, data: str | None) -> Any:
    """A run with its data; a benchmark's is found by its name."""
    from escgnn import datasets, training
    from escgnn.review import review

    trained = training.load_ensemble(run)
    name = trained.dataset.get("name", "") if data is None else data
    is_at_hand = data is not None or any(known.name == name and known.present for known in datasets.listing())
    if not is_at_hand:
        return review(trained)
    return review(trained, load_dataset(name, training.table_options(trained, name), targets=None, kind=None))


def card(
    run: RunFolder,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="Markdown file to write.", callback=file_path)
    ] = None,
    data: Data = None,
    baseline: Trees = None,
) -> None:
    """Say what a run is for those who did not train it: data, split, seeds, scores, coverage, limits; as Markdown."""
    from escgnn import hub
    from escgnn.review import card as written

    text = written(reviewed(run, data), baseline=baseline)
    if output is None:
        typer.echo(text, nl=False)
    else:
        terminal.show_written(hub.write_card(text, output))


def push(
    run: RunFolder,
    name: Annotated[str, typer.Argument(metavar="USER/NAME", help="Of the repository on the Hugging Face hub.")],
    data: Data = None,
    baseline: Trees = None,
    private: Annotated[bool, typer.Option("--private", help="Only you may see it.")] = False,
) -> None:
    """Put a run on the Hugging Face hub, with its card: weights and plain values, no checkpoint."""
    from escgnn import hub
    from escgnn.review import card as written

    text = written(reviewed(run, data), baseline=baseline)
    typer.echo(hub.push(run, name, text, private=private))


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
