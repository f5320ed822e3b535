"""Options that several commands have."""

from pathlib import Path
from typing import Annotated, Any

import typer

from escgnn import terminal


def folder_path(path: Path | None) -> Path | None:
    """The folder that an option names, which need not be there; a file, or a place below one, is none."""
    if path is None:
        return None
    for place in (path, *path.parents):
        if place.is_file():
            raise typer.BadParameter(f"{place} is a file; expected a folder")
    return path


def file_path(path: Path | None) -> Path | None:
    """The file that an option names, which need not be there; a folder is none."""
    if path is not None and path.is_dir():
        raise typer.BadParameter(f"{path} is a folder; expected a file")
    return path


Input = typer.Argument(
    metavar="INPUT",
    help="graph6/sparse6 file; CSV, TSV or Parquet with columns graph, source, target or a column smiles; or a SMILES "
    "file. Text may be gzipped.",
    show_default=False,
    callback=file_path,
)
Smiles = Annotated[str | None, typer.Option(help="Column with the SMILES, if it is not called smiles.")]
Seconds = Annotated[
    float | None,
    typer.Option(
        "--max-seconds-per-graph", help="Give up graphs that take longer; they are bad rows.", show_default="never"
    ),
]
Strict = Annotated[bool, typer.Option("--strict", help="Stop at the first bad row.")]

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
Labels = Annotated[Path | None, typer.Option(help="Table with the targets of a graph file.", callback=file_path)]

Config = Annotated[Path | None, typer.Option(help="YAML file with settings.", callback=file_path)]
Settings = Annotated[
    list[str] | None, typer.Option("--set", help="key=value, e.g. model=gin or network.hidden=300; may be repeated.")
]
RunFolder = Annotated[Path, typer.Argument(metavar="RUN", help="Folder of a run.", callback=folder_path)]


def load_dataset(name: str, *, targets: str | None, kind: str | None, **options: Any) -> Any:
    """The dataset that a command names; its rows that cannot be used are shown.

    Args:
        name: Of a benchmark, or of a table or graph file.
        targets: Columns, by commas.
        kind: Of the targets.
        options: Further ones of `escgnn.datasets.load`; None is as if it were not there.
    """
    from escgnn import datasets

    columns = [column.strip() for column in targets.split(",")] if targets else None
    options |= {"targets": columns, "kind": kind}
    given = {option: value for option, value in options.items() if value is not None}
    bundle = datasets.load(name, **given)
    terminal.show_rejected(bundle.rejected)
    return bundle
