"""Options that several commands have."""

import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
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


PRINTED = Path("-")  # instead of a file to write
INPUT_HELP = (
    "graph6/sparse6 file; CSV, TSV or Parquet with columns graph, source, target or a column smiles; or a SMILES file. "
    "Text may be gzipped."
)
Inputs = typer.Argument(
    metavar="INPUT",
    help=f"{INPUT_HELP} Several files, folders, patterns such as 'in/*.parquet' and addresses such as s3://bucket/in make a "
    "folder of results, a file for each.",
    show_default=False,
)
Workers = Annotated[
    int, typer.Option(min=0, help="Processes that read and work; worth it from some ten thousand rows.")
]
EngineName = Annotated[str, typer.Option("--engine", help="Who works on several files: local, or ray.")]
Address = Annotated[
    str | None, typer.Option(help="Of the Ray cluster, such as auto; without one, Ray is started on this machine.")
]
PartOfAll = Annotated[
    str | None,
    typer.Option("--part", help="Of several files every n-th one, as k/n: for the k-th job of an array of n."),
]
ShardRows = Annotated[
    int,
    typer.Option("--shard-rows", min=1, help="Where a Parquet file has more rows, it makes several files of results."),
]
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
Split = Annotated[
    str | None,
    typer.Option(
        help="Of your own table: random, scaffold, sizes in per cent such as 80/10/10 or scaffold:80/10/10, column:NAME or "
        "file:PATH."
    ),
]
Kind = Annotated[
    str | None,
    typer.Option(
        help="Of your own targets: regression, binary, multilabel or multiclass, or of each by commas; by default what they "
        "look like."
    ),
]
Descriptors = Annotated[
    str | None,
    typer.Option(
        help="Numbers beside each molecule, by commas: morgan-count, feature-morgan-count, atom-pair-count, maccs, rdkit, and "
        "columns of your own table."
    ),
]
Labels = Annotated[Path | None, typer.Option(help="Table with the targets of a graph file.", callback=file_path)]

Config = Annotated[Path | None, typer.Option(help="YAML file with settings.", callback=file_path)]
Settings = Annotated[
    list[str] | None, typer.Option("--set", help="key=value, e.g. model=gin or network.hidden=300; may be repeated.")
]
Model = Annotated[str | None, typer.Option(help="A name from escgnn models: --set model=...")]
Epochs = Annotated[int | None, typer.Option(help="Most epochs to train: --set epochs=...")]
Hidden = Annotated[int | None, typer.Option(help="Size of the network's vectors: --set network.hidden=...")]
Lr = Annotated[float | None, typer.Option(help="Learning rate: --set lr=...")]
BatchSize = Annotated[int | None, typer.Option(help="Graphs in a step: --set batch_size=...")]
Seed = Annotated[int | None, typer.Option(help="Of all that is left to chance: --set seed=...")]
Ensemble = Annotated[
    int | None, typer.Option(help="Train so many networks, whose mean predicts; it says how sure it is.")
]
Folds = Annotated[int | None, typer.Option(help="Cross-validate your own table with so many folds.")]
Balance = Annotated[
    bool | None, typer.Option("--balance", help="Let rare classes weigh as much as others: --set balance=true")
]
InitFrom = Annotated[
    Path | None, typer.Option(help="Begin with the weights of this run: --set init_from=...", callback=folder_path)
]
Freeze = Annotated[
    bool | None, typer.Option("--freeze", help="Train only what belongs to the new targets: --set freeze=true")
]
RunFolder = Annotated[Path, typer.Argument(metavar="RUN", help="Folder of a run.", callback=folder_path)]


def all_settings(settings: Sequence[str] | None, **options: Any) -> list[str]:
    """The settings of a run as texts: those given as ``--set``, and those that have an option of their own.

    Raises:
        typer.BadParameter: One is given in both ways.
    """
    texts = [*(settings or ())]
    named = {text.partition("=")[0].strip(): text for text in texts}
    for option, value in options.items():
        keys = ("network.hidden", "model.hidden") if option == "hidden" else (option,)
        for key in keys:
            if value is not None and key in named:
                hint = f"--{option.replace('_', '-')}"
                raise typer.BadParameter(f"{value}, but there is --set {named[key]}, too; give one", param_hint=hint)
        if value is not None:
            texts.append(f"{keys[0]}={value}")
    return texts


@contextmanager
def given_file(source: str) -> Iterator[Path]:
    """The file that a command names; for ``-``, and for a SMILES where there is no such file, one that holds it meanwhile.

    Raises:
        typer.BadParameter: It is neither a file nor a SMILES, and has no extension as files have.
        ValueError: What the block says of the file that is held, as of the SMILES or of standard input.
    """
    path = Path(source)
    is_smiles = not path.exists() and source != "-" and is_smiles_text(source)
    if source != "-" and not is_smiles:
        if not path.exists() and not path.suffix:
            raise typer.BadParameter(f"{source!r} is neither a file that exists nor a SMILES", param_hint="'INPUT'")
        yield Path(str(file_path(path)))
        return
    with TemporaryDirectory() as folder:
        content = f"{source}\n".encode() if is_smiles else sys.stdin.buffer.read()
        first, _, _ = content.partition(b"\n")
        words = {word.strip().strip(b'"').lower() for word in re.split(rb"[,;\t]", first)}
        is_table = any(b"smiles" in word for word in words) or {b"graph", b"source", b"target"} <= words
        extension = ".csv" if is_table else ".smi"
        if content.startswith(b"PAR1"):
            extension = ".parquet"
        held = Path(folder, f"input{extension}")
        held.write_bytes(content)
        try:
            yield held
        except ValueError as error:
            called = source if is_smiles else "standard input"
            raise ValueError(str(error).replace(str(held), called)) from error


def is_smiles_text(text: str) -> bool:
    """Whether a word is a molecule, and not the name of a file that is missing."""
    from escgnn.readers import parse

    try:
        parse(text)
    except (ValueError, ImportError):
        return False
    return True


@contextmanager
def written_file(output: Path) -> Iterator[Path]:
    """The file to write; for ``-`` one that is printed at the end."""
    if output != PRINTED:
        yield output
        return
    with TemporaryDirectory() as folder:
        held = Path(folder, "output.csv")
        yield held
        sys.stdout.write(held.read_text(encoding="utf-8"))
        sys.stdout.flush()


def load_dataset(
    name: str,
    own: Mapping[str, Any] | None = None,
    *,
    targets: str | None,
    kind: str | None,
    descriptors: str | None = None,
    **options: Any,
) -> Any:
    """The dataset that a command names; its rows that cannot be used are shown.

    Args:
        name: Of a benchmark, or of a table or graph file.
        own: Options that are known without being given, and give way to those that are.
        targets: Columns, by commas.
        kind: Of the targets, or of each by commas.
        descriptors: Sets and columns, by commas.
        options: Further ones of `escgnn.datasets.load`; None is as if it were not there.
    """
    from escgnn import datasets

    kinds = _by_commas(kind)
    options |= {
        "targets": _by_commas(targets),
        "descriptors": _by_commas(descriptors),
        "kind": kinds[0] if kinds and len(kinds) == 1 else kinds,
    }
    given = {option: value for option, value in options.items() if value is not None}
    bundle = datasets.load(name, **{**(own or {}), **given})
    terminal.show_rejected(bundle.rejected)
    return bundle


def _by_commas(text: str | None) -> list[str] | None:
    return [name.strip() for name in text.split(",")] if text else None
