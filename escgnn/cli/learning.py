"""Commands that learn, and that use what was learnt: models, train, predict, evaluate, export, tune."""

from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from escgnn import terminal
from escgnn.cli.options import (
    INPUT_HELP,
    PRINTED,
    Address,
    Balance,
    BatchSize,
    Config,
    Dataset,
    Descriptors,
    EngineName,
    Ensemble,
    Epochs,
    Folds,
    Freeze,
    Hidden,
    InitFrom,
    Kind,
    Labels,
    Lr,
    Model,
    PartOfAll,
    RunFolder,
    Seconds,
    Seed,
    Settings,
    ShardRows,
    Smiles,
    Split,
    Targets,
    Workers,
    all_settings,
    file_path,
    folder_path,
    given_file,
    load_dataset,
    written_file,
)
from escgnn.cli.shards import end_of_shards, is_for_many, shard_options

Part = StrEnum("Part", ["train", "validation", "test", "all"])


def list_models(
    name: Annotated[str | None, typer.Argument(help="Show the settings and presets of this one.")] = None,
) -> None:
    """List the networks that can be trained: where they come from, what they read, and what a step takes."""
    from escgnn import training

    found = training.models(name)
    if name is None:
        terminal.show_models(found)
    else:
        terminal.show_model(found[0])


def train(
    dataset: Dataset,
    out: Annotated[Path, typer.Option("-o", "--out", help="Folder for the run.", callback=folder_path)],
    model: Model = None,
    config: Config = None,
    settings: Settings = None,
    epochs: Epochs = None,
    hidden: Hidden = None,
    lr: Lr = None,
    batch_size: BatchSize = None,
    seed: Seed = None,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with the run in the folder.")] = False,
    devices: Annotated[int | None, typer.Option(help="Processes or GPUs of each node that share every batch.")] = None,
    nodes: Annotated[int | None, typer.Option(help="Machines, on each of which torchrun or srun starts this.")] = None,
    ensemble: Ensemble = None,
    balance: Balance = None,
    init_from: InitFrom = None,
    freeze: Freeze = None,
    smiles: Smiles = None,
    targets: Targets = None,
    split: Split = None,
    folds: Folds = None,
    kind: Kind = None,
    labels: Labels = None,
    descriptors: Descriptors = None,
) -> None:
    """Train on a benchmark or on your own table; the run folder holds all there is to know."""
    from escgnn import training

    bundle = load_dataset(
        dataset,
        smiles=smiles,
        targets=targets,
        split=split,
        folds=folds,
        kind=kind,
        labels=labels,
        descriptors=descriptors,
    )
    if bundle.folds and ensemble is not None:
        raise typer.BadParameter("an ensemble of every fold is not trained; leave --folds or --ensemble out")
    overrides = all_settings(
        settings,
        model=model,
        epochs=epochs,
        hidden=hidden,
        lr=lr,
        batch_size=batch_size,
        seed=seed,
        devices=devices,
        nodes=nodes,
        balance=balance,
        init_from=None if init_from is None else f"'{init_from}'",
        freeze=freeze,
    )
    chosen = training.read_config(config, overrides, bundle=bundle)
    with terminal.still_alive(f"training on {bundle.name}") as sign:

        def watch(values: Sequence[float]) -> None:
            sign(_epochs(values))

        follow = watch if chosen.processes == 1 else None  # nobody can follow several
        found: training.FoldResult | training.EnsembleResult | training.Result
        if bundle.folds:
            found = training.fit_folds(bundle, chosen, out, resume=resume)
        elif ensemble is not None or (resume and training.is_ensemble(out)):
            found = training.fit_ensemble(bundle, chosen, out, ensemble, resume=resume, watch=follow)
        else:
            found = training.fit(bundle, chosen, out, resume=resume, watch=follow)
    if not training.is_first_process():
        return
    if isinstance(found, training.FoldResult):
        terminal.show_folds(found, out)
    else:
        terminal.show_result(found, out)


def _epochs(values: Sequence[float]) -> str:
    return f"{len(values)} epochs, the last with {values[-1]:.4g} by validation"


def predict(
    places: Annotated[
        list[str],
        typer.Argument(
            metavar="RUN... INPUT...",
            help=f"Folder of a run, an ensemble or a baseline; or several. Then what to predict for: {INPUT_HELP} Or one SMILES, "
            "or - for standard input: SMILES, or a table with a header. Several files, "
            "folders, patterns and addresses make a folder of results, a file for each.",
            show_default=False,
        ),
    ],
    output: Annotated[
        str,
        typer.Option(
            "-o", "--output", help="CSV, TSV or Parquet file to write, or folder for several files; - prints a CSV."
        ),
    ] = str(PRINTED),
    smiles: Smiles = None,
    workers: Workers = 0,
    max_seconds_per_graph: Seconds = None,
    interval: Annotated[
        float | None, typer.Option(help="Bounds that hold a number with this probability, such as 0.9.")
    ] = None,
    calibrated: Annotated[
        bool, typer.Option("--calibrated", help="Probabilities of classes that the validation rows bear out.")
    ] = False,
    similarity: Annotated[
        bool, typer.Option("--similarity", help="How close the nearest training molecule is, from 0 to 1.")
    ] = False,
    embedding: Annotated[
        bool, typer.Option("--embedding", help="The vectors that predictions are read off, too.")
    ] = False,
    engine: EngineName = "local",
    address: Address = None,
    part: PartOfAll = None,
    shard_rows: ShardRows = 1 << 20,
) -> None:
    """Predict for every row of files with a trained network; bad rows are kept and say why.

    The same command goes on with a folder of results; `escgnn status` tells how far it is. Exit code 3: some files failed.
    """
    from escgnn import baseline, training

    extras = training.Extras(interval, calibrated, similarity, embedding)
    runs, inputs = _runs_and_inputs(places)
    trained = [baseline.load_predictor(run) for run in runs]
    if is_for_many(inputs, output, part, engine):
        where = shard_options(part, engine, workers, address, shard_rows, output)
        limit = max_seconds_per_graph
        with terminal.progress_bar("predicting") as progress:
            done = training.predict_files(
                trained, inputs, extras=extras, smiles=smiles, max_seconds_per_graph=limit, progress=progress, **where
            )
        end_of_shards(done, predicts=True)
        return
    printed = Path(output) == PRINTED
    with (
        given_file(inputs[0]) as path,
        written_file(Path(output)) as place,
        terminal.progress_bar("predicting") as progress,
    ):
        summary = training.predict_file(
            trained,
            path,
            place,
            extras=extras,
            smiles=smiles,
            workers=workers,
            max_seconds_per_graph=max_seconds_per_graph,
            progress=progress,
        )
    if not printed:
        terminal.show_predictions(summary)
    elif summary.predicted < summary.rows:
        bad = summary.rows - summary.predicted
        terminal.show_warning(f"{bad:,} of {summary.rows:,} rows have no prediction; see status")


def _runs_and_inputs(places: Sequence[str]) -> tuple[list[Path], list[str]]:
    """The run folders, which come first, and what to predict for; the first is a run whatever it looks like."""
    from escgnn import baseline

    count = next((i for i, place in enumerate(places) if i and not baseline.is_predictor(place)), len(places))
    if count == len(places):
        raise typer.BadParameter(f"INPUT: none behind {places[-1]}; expected run folders, then files, a SMILES or -")
    return [Path(place) for place in places[:count]], [*places[count:]]


def evaluate(
    run: RunFolder,
    dataset: Dataset,
    part: Annotated[
        Part | None,
        typer.Option(help="Graphs to judge by; of a table that the run was not trained on all, else those for tests."),
    ] = None,
    fold: Annotated[int | None, typer.Option(help="Fold of a cross-validation, from 0.")] = None,
    smiles: Smiles = None,
    targets: Targets = None,
    split: Split = None,
    kind: Kind = None,
    labels: Labels = None,
    descriptors: Descriptors = None,
) -> None:
    """Judge a trained network on a dataset; on its own, by the split that it was trained with.

    A table of your own is read as the one that it was trained on: the same targets, kind and columns.
    """
    from escgnn import datasets, training

    trained = training.load_ensemble(run)
    is_sheet = datasets.is_own_file(dataset)
    bundle = load_dataset(
        dataset,
        training.table_options(trained, dataset),
        smiles=smiles,
        targets=targets,
        split=split,
        kind=kind,
        labels=labels,
        descriptors=descriptors,
    )
    judgement = training.judge(trained, bundle, part, fold=fold, is_sheet=is_sheet, is_split_chosen=split is not None)
    terminal.show_judged(judgement, bundle.name)


def export(
    run: RunFolder,
    output: Annotated[
        Path, typer.Option("-o", "--output", help="File to write: .onnx, or .pt2 of torch.export.", callback=file_path)
    ],
) -> None:
    """Write a trained network as a file that runs without this library; it reads encoded batches of any size."""
    from escgnn import training

    terminal.show_exported(training.export(training.load_run(run), output))


def tune(
    dataset: Dataset,
    out: Annotated[
        Path,
        typer.Option("-o", "--out", help="Folder for the search; an earlier one there goes on.", callback=folder_path),
    ],
    trials: Annotated[int, typer.Option(min=1, help="Trials in all.")] = 20,
    model: Model = None,
    config: Config = None,
    settings: Settings = None,
    epochs: Epochs = None,
    hidden: Hidden = None,
    lr: Lr = None,
    batch_size: BatchSize = None,
    seed: Seed = None,
    timeout: Annotated[float | None, typer.Option(help="Begin no further trial after so many seconds.")] = None,
    fold: Annotated[int | None, typer.Option(help="Fold of a cross-validation to search with; the first is 0.")] = None,
    prune: Annotated[bool, typer.Option(help="Cut trials short that are worse than half of the others.")] = True,
    smiles: Smiles = None,
    targets: Targets = None,
    split: Split = None,
    kind: Kind = None,
    labels: Labels = None,
) -> None:
    """Search for good settings by validation: radius, parts, width, depth and learning rate, unless you set them."""
    from escgnn import training, tuning

    bundle = load_dataset(dataset, smiles=smiles, targets=targets, split=split, kind=kind, labels=labels)
    if bundle.folds or fold is not None:
        bundle = bundle.fold(fold or 0)
    overrides = all_settings(
        settings, model=model, epochs=epochs, hidden=hidden, lr=lr, batch_size=batch_size, seed=seed
    )
    base = training.read_config(config, overrides, bundle=bundle)
    with terminal.still_alive(f"searching on {bundle.name}") as sign:

        def show(trial: tuning.Trial) -> None:
            terminal.show_trial(trial)
            sign(f"trial {trial.number} done")

        result = tuning.tune(
            bundle,
            out,
            trials=trials,
            base=base,
            fixed=[text.partition("=")[0].strip().rpartition(".")[2] for text in overrides],
            seed=seed or 0,
            timeout=timeout,
            prune=prune,
            progress=show,
        )
    terminal.show_best(result)
