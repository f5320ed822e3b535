"""Options that several commands have."""

import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer

from escgnn import terminal


def a_folder(path: Path | None) -> Path | None:
    """The folder that an option names, there or not; a file, or a place below one, is none."""
    for place in () if path is None else (path, *path.parents):
        if place.is_file():
            raise typer.BadParameter(f"{place} is a file; expected a folder")
    return path


def a_file(path: Path | None) -> Path | None:
    """The file that an option names, there or not; a folder is none."""
    if path is not None and path.is_dir():
        raise typer.BadParameter(f"{path} is a folder; expected a file")
    return path


Input = typer.Argument(
    metavar="INPUT",
    help="graph6/sparse6 file; CSV, TSV or Parquet with columns graph, source, target or a column smiles; or a SMILES "
    "file. Text may be gzipped.",
    show_default=False,
    callback=a_file,
)
Smiles = Annotated[str | None, typer.Option(help="Column with the SMILES, if it is not called smiles.")]
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
Labels = Annotated[Path | None, typer.Option(help="Table with the targets of a graph file.", callback=a_file)]

Config = Annotated[Path | None, typer.Option(help="YAML file with settings.", callback=a_file)]
Settings = Annotated[list[str] | None, typer.Option("--set", help="key=value, e.g. model.hidden=300; may be repeated.")]
RunFolder = Annotated[Path, typer.Argument(metavar="RUN", help="Folder of a run.", callback=a_folder)]


def on_dataset(command: Callable[..., None]) -> Callable[..., None]:
    """The command with ``bundle`` given by a dataset's name and, for a user's own table, the options of `load`."""
    loading = {
        name: option.replace(kind=option.KEYWORD_ONLY) for name, option in inspect.signature(load).parameters.items()
    }
    own = inspect.signature(command).parameters
    first = [
        loading["dataset"] if name == "bundle" else own[name].replace(kind=inspect.Parameter.KEYWORD_ONLY)
        for name in own
    ]
    options = [*first, *(option for name, option in loading.items() if name != "dataset")]

    def run(**given: Any) -> None:
        bundle = load(**{name: given.pop(name) for name in loading})
        command(bundle=bundle, **given)

    run.__name__, run.__doc__ = command.__name__, command.__doc__
    run.__signature__ = inspect.Signature(options)  # type: ignore[attr-defined]
    run.__annotations__ = {option.name: option.annotation for option in options}
    return run


def load(
    dataset: Dataset,
    smiles: Smiles = None,
    targets: Targets = None,
    split: Split = None,
    kind: Kind = None,
    labels: Labels = None,
) -> Any:
    """A dataset, with those options of a user's own table that were given; its rows that cannot be used are shown."""
    from escgnn import datasets

    columns = [name.strip() for name in targets.split(",")] if targets else None
    given: dict[str, Any] = {"smiles": smiles, "targets": columns, "split": split, "kind": kind, "labels": labels}
    bundle = datasets.load(dataset, **{name: value for name, value in given.items() if value is not None})
    terminal.show_rejected(bundle.rejected)
    return bundle
