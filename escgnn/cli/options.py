"""Options that several commands have."""

import inspect
from collections.abc import Callable
from dataclasses import dataclass
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
Settings = Annotated[
    list[str] | None, typer.Option("--set", help="key=value, e.g. model=gin or network.hidden=300; may be repeated.")
]
RunFolder = Annotated[Path, typer.Argument(metavar="RUN", help="Folder of a run.", callback=a_folder)]


@dataclass(frozen=True)
class Source:
    """A dataset that a command names, not yet loaded.

    Attributes:
        name: Of a benchmark, or of a table or graph file.
        given: The options that were given, as `escgnn.datasets.load` takes them.
    """

    name: str
    given: dict[str, Any]

    def load(self, **defaults: Any) -> Any:
        """The dataset; its rows that cannot be used are shown."""
        from escgnn import datasets

        bundle = datasets.load(self.name, **{**defaults, **self.given})
        terminal.show_rejected(bundle.rejected)
        return bundle


def on_dataset(command: Callable[..., None]) -> Callable[..., None]:
    """The command with ``source``, a `Source`, given by the arguments of `_source`."""
    naming = {
        name: option.replace(kind=option.KEYWORD_ONLY) for name, option in inspect.signature(_source).parameters.items()
    }
    own = inspect.signature(command).parameters
    first = [
        naming["dataset"] if name == "source" else own[name].replace(kind=inspect.Parameter.KEYWORD_ONLY)
        for name in own
    ]
    options = [*first, *(option for name, option in naming.items() if name != "dataset")]

    def run(**given: Any) -> None:
        source = _source(**{name: given.pop(name) for name in naming})
        command(source=source, **given)

    run.__name__, run.__doc__ = command.__name__, command.__doc__
    run.__signature__ = inspect.Signature(options)  # type: ignore[attr-defined]
    run.__annotations__ = {option.name: option.annotation for option in options}
    return run


def _source(
    dataset: Dataset,
    smiles: Smiles = None,
    targets: Targets = None,
    split: Split = None,
    kind: Kind = None,
    labels: Labels = None,
) -> Source:
    columns = [name.strip() for name in targets.split(",")] if targets else None
    given = {"smiles": smiles, "targets": columns, "split": split, "kind": kind, "labels": labels}
    return Source(dataset, {name: value for name, value in given.items() if value is not None})
