"""Which graphs judge a trained network, so that none of its training is taken for new."""

from collections.abc import Mapping
from dataclasses import dataclass
from os import PathLike
from typing import Any

from escgnn.datasets import DatasetBundle, is_own_file
from escgnn.training.ensemble import Ensemble
from escgnn.training.folder import Run
from escgnn.training.job import feature_set, smiles_column
from escgnn.training.prediction import evaluate, own_split, part_of


@dataclass(frozen=True)
class Judgement:
    """Metrics of a trained network on a dataset, and which graphs they are of.

    Attributes:
        metrics: By name; see `escgnn.metrics.score`.
        subset: ``"train"``, ``"validation"``, ``"test"`` or ``"all"``.
        graphs: How many there are.
        own: Whether the network was trained on this dataset; it is then judged by the split that it was trained with.
    """

    metrics: Mapping[str, float]
    subset: str
    graphs: int
    own: bool


def table_options(run: Run | Ensemble, path: str | PathLike[str]) -> dict[str, Any]:
    """How `escgnn.datasets.load` reads a user's own file as the run's data were read: targets, their kind, and so on.

    A benchmark knows all that, but for descriptors.

    Raises:
        ValueError: The network reads features that no file has.
    """
    if not is_own_file(path):
        return {"descriptors": run.descriptors.chosen_by} if run.descriptors.width else {}
    task = run.task
    options: dict[str, Any] = {"targets": [*task.targets], "kind": [part.kind for part in task.parts] or task.kind}
    if {*run.features} - {"descriptors"}:
        options["features"] = feature_set(run)
    if run.descriptors.width:
        options["descriptors"] = run.descriptors.chosen_by
    if column := smiles_column(run, path):
        options["smiles"] = column
    return options


def judge(
    run: Run | Ensemble,
    bundle: DatasetBundle,
    subset: str | None = None,
    *,
    fold: int | None = None,
    is_sheet: bool = False,
    is_split_chosen: bool = False,
) -> Judgement:
    """Judge a trained network on a dataset; on the one that it was trained on, by the split of the training.

    Args:
        run: What `load_run` gives.
        bundle: The dataset.
        subset: ``"train"``, ``"validation"``, ``"test"`` or ``"all"``. By default the test graphs; all graphs of a user's own
            table, if the network was not trained on it and nobody chose a split.
        fold: Of a cross-validation, from 0.
        is_sheet: Whether the dataset is a user's own table.
        is_split_chosen: Whether somebody chose the split of ``bundle``; it must then be that of the training.

    Raises:
        ValueError: The dataset does not suit the network, was trained on with another split, or needs a fold.
    """
    given = bundle if fold is None else bundle.fold(fold)
    own = own_split(run, given, given=fold is not None or is_split_chosen)
    if subset is None:
        is_all_new = own is None and is_sheet and not is_split_chosen
        subset = "all" if is_all_new else "test"
    if own is None and given.folds and subset != "all":
        raise ValueError(f"fold: none given; {bundle.name} is judged by {len(bundle.folds)} folds, choose one, from 0")
    judged = given if own is None else own
    metrics = evaluate(run, judged, subset)
    return Judgement(metrics, subset, len(part_of(judged, subset)), own is not None)
