"""Commands that learn, and that use what was learnt: train, predict, evaluate, export, tune."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from escgnn import terminal
from escgnn.cli.options import Config, Input, RunFolder, Settings, Smiles, Source, a_file, a_folder, on_dataset

Part = StrEnum("Part", ["train", "validation", "test", "all"])


@on_dataset
def train(
    source: Source,
    out: Annotated[Path, typer.Option("-o", "--out", help="Folder for the run.", callback=a_folder)],
    config: Config = None,
    settings: Settings = None,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with the run in the folder.")] = False,
    devices: Annotated[int | None, typer.Option(help="Processes or GPUs that share every batch.")] = None,
) -> None:
    """Train on a benchmark or on your own table; the run folder holds all there is to know."""
    from escgnn import training

    bundle = source.load()
    overrides = [*(settings or ()), *([] if devices is None else [f"devices={devices}"])]
    chosen = training.read_config(config, overrides, bundle=bundle)
    if bundle.folds:
        terminal.show_folds(training.fit_folds(bundle, chosen, out, resume=resume), out)
    else:
        terminal.show_result(training.fit(bundle, chosen, out, resume=resume), out)


def predict(
    run: RunFolder,
    source: Annotated[Path, Input],
    output: Annotated[Path, typer.Option("-o", "--output", help="CSV or Parquet file to write.", callback=a_file)],
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


@on_dataset
def evaluate(
    run: RunFolder,
    source: Source,
    part: Annotated[
        Part | None,
        typer.Option(help="Graphs to judge by; of a table that the run was not trained on all, else those for tests."),
    ] = None,
    fold: Annotated[int | None, typer.Option(help="Fold of a cross-validation, from 0.")] = None,
) -> None:
    """Judge a trained network on a dataset; on its own, by the split that it was trained with."""
    from escgnn import training
    from escgnn.training import own_split, part_of

    trained = training.load_run(run)
    is_table, is_split = "targets" in source.given, "split" in source.given
    bundle = source.load(**({"kind": trained.task.kind} if is_table else {}))
    given = bundle if fold is None else bundle.fold(fold)
    own = own_split(trained, given, given=fold is not None or is_split)
    chosen = part or (Part.all if own is None and is_table and not is_split else Part.test)
    if own is None and given.folds and chosen != Part.all:
        raise typer.BadParameter(f"{bundle.name} is judged by {len(bundle.folds)} folds; choose one with --fold")
    judged = own or given
    metrics = training.evaluate(trained, judged, chosen)
    terminal.show_judged(metrics, len(part_of(judged, chosen)), chosen, bundle.name, own is not None)


def export(
    run: RunFolder,
    output: Annotated[
        Path, typer.Option("-o", "--output", help="File to write: .onnx, or .pt2 of torch.export.", callback=a_file)
    ],
) -> None:
    """Write a trained network as a file that runs without this library; it reads encoded batches of any size."""
    from escgnn import training

    terminal.show_exported(training.export(training.load_run(run), output))


@on_dataset
def tune(
    source: Source,
    out: Annotated[
        Path,
        typer.Option("-o", "--out", help="Folder for the search; an earlier one there goes on.", callback=a_folder),
    ],
    trials: Annotated[int, typer.Option(help="Trials in all.")] = 20,
    config: Config = None,
    settings: Settings = None,
    timeout: Annotated[float | None, typer.Option(help="Begin no further trial after so many seconds.")] = None,
    fold: Annotated[int | None, typer.Option(help="Fold of a cross-validation to search with; the first is 0.")] = None,
    prune: Annotated[bool, typer.Option(help="Cut trials short that are worse than half of the others.")] = True,
) -> None:
    """Search for good settings by validation: radius, parts, width, depth and learning rate."""
    from escgnn import training, tuning

    bundle = source.load()
    if bundle.folds or fold is not None:
        bundle = bundle.fold(fold or 0)
    base = training.read_config(config, settings or (), bundle=bundle)
    result = tuning.tune(
        bundle, out, trials=trials, base=base, timeout=timeout, prune=prune, progress=terminal.show_trial
    )
    terminal.show_best(result)
