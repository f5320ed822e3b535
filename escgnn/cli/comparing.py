"""Commands that compare: baseline."""

from pathlib import Path
from typing import Annotated

import typer

from escgnn import terminal
from escgnn.cli.options import Descriptors, Kind, Labels, Smiles, Split, Targets, folder_path, load_dataset

MOLECULES = "morgan-count,rdkit"


def baseline(
    source: Annotated[
        str,
        typer.Argument(
            metavar="TABLE", help="Your own table of SMILES, or ogbg-molhiv or ogbg-molpcba.", show_default=False
        ),
    ],
    out: Annotated[
        Path | None,
        typer.Option("-o", "--out", help="Folder for the better trees, for escgnn predict.", callback=folder_path),
    ] = None,
    beside: Annotated[
        Path | None, typer.Option(help="A run on the same table; is it worth it?", callback=folder_path)
    ] = None,
    blend: Annotated[
        Path | None, typer.Option(help="The same, and keep the average of both.", callback=folder_path)
    ] = None,
    trees: Annotated[int, typer.Option(min=1, help="Trees of the forest, and rounds of boosting.")] = 300,
    leaf: Annotated[
        int, typer.Option(min=1, help="Rows in a leaf of the forest, at least; 2 or 3 for rare classes.")
    ] = 1,
    seed: Annotated[int, typer.Option(help="Of all that is left to chance.")] = 0,
    smiles: Smiles = None,
    targets: Targets = None,
    split: Split = None,
    kind: Kind = None,
    labels: Labels = None,
    descriptors: Descriptors = None,
) -> None:
    """Fit a random forest and boosted trees to fingerprints and descriptors, with the split and the metric of train."""
    from escgnn import datasets, training
    from escgnn.baseline import fit_baseline

    folder = beside or blend
    if beside is not None and blend is not None and beside != blend:
        raise typer.BadParameter("--beside and --blend name different runs; give one")
    if blend is not None and out is None:
        raise typer.BadParameter("--blend keeps the average in a folder; name it, -o FOLDER")
    run = None if folder is None else training.load_ensemble(folder)
    own = {} if run is None else training.table_options(run, source)
    if run is not None and datasets.is_own_file(source):
        own["split"] = "random"  # its own split is taken
    read = (None if run is None else ",".join(run.descriptors.chosen_by)) or MOLECULES
    bundle = load_dataset(
        source,
        own,
        smiles=smiles,
        targets=targets,
        split=split,
        kind=kind,
        labels=labels,
        descriptors=descriptors or read,
    )
    with terminal.still_alive(f"growing trees on {bundle.name}"):
        found = fit_baseline(bundle, out, beside=run, blend=blend is not None, trees=trees, leaf=leaf, seed=seed)
    terminal.show_comparison(found)
    if out is not None:
        terminal.show_written(out)
