"""Using a trained network: predictions for graphs, and metrics on a dataset."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch_geometric.data import Data

from escgnn.datasets import DatasetBundle
from escgnn.graphs import Graph, as_graph, disjoint_union
from escgnn.metrics import as_outputs, predictions, score
from escgnn.models import Term
from escgnn.store import GraphStore
from escgnn.task import Task
from escgnn.training.ensemble import Ensemble
from escgnn.training.fingerprints import hash_graphs
from escgnn.training.folder import Run
from escgnn.training.running import BATCH, network_outputs

SUBSETS = ("train", "validation", "test", "all")


def predict(run: Run | Ensemble, graphs: Any, *, batch_size: int = BATCH, workers: int = 0) -> Tensor:
    """Predictions for every graph or, if the task is at node level, every node, ``(rows, outputs)``.

    Args:
        run: What `load_run` or `load_ensemble` gives, of which it is the mean. If ``run.model`` was moved to another device,
            it works there.
        graphs: A `GraphStore`, or a list of PyG ``Data`` or of whatever `escgnn.graphs.as_graph` takes. They need the
            features that the network reads.
        batch_size: Graphs at a time.
        workers: Processes that cut and encode batches.

    Returns:
        Numbers in the units of the targets, or probabilities: of yes for each target, or of each class.

    Raises:
        ValueError: The graphs lack a feature, or have it in another form; or one of them is too large.
    """
    return predictions(run.task, run.scaling, outputs(run, as_store(graphs), batch_size, workers))


def evaluate(
    run: Run | Ensemble, bundle: DatasetBundle, split: str = "test", *, batch_size: int = BATCH
) -> dict[str, float]:
    """The metrics of a trained network on a part of a dataset; see `score` for their names.

    Args:
        run: What `load_run` gives.
        bundle: The dataset; its task must be the one that the network was trained for. Classes are known by their names, and
            some may be missing.
        split: ``"train"``, ``"validation"``, ``"test"`` or ``"all"``.
        batch_size: Graphs at a time.

    Raises:
        ValueError: The dataset does not suit the network.
    """
    output, y = outputs_and_answers(run, bundle, split, batch_size=batch_size)
    return score(run.task, run.scaling, output, y)


def outputs_and_answers(
    run: Run | Ensemble, bundle: DatasetBundle, split: str = "test", *, batch_size: int = BATCH
) -> tuple[Tensor, Tensor]:
    """What a trained network says of a part of a dataset, ``(rows, outputs)``, and the targets, ``(rows, targets)``.

    Raises:
        ValueError: The dataset does not suit the network.
    """
    graphs = part_of(bundle, split)
    y = _answers(run, bundle, graphs)
    return outputs(run, graphs, batch_size), y


def part_of(bundle: DatasetBundle, split: str) -> GraphStore:
    """The graphs of a part of a dataset, or all."""
    if split not in SUBSETS:
        raise ValueError(f"split: {split!r}; expected one of {', '.join(SUBSETS)}")
    graphs: GraphStore = bundle.graphs if split == "all" else getattr(bundle, split)
    return graphs


def own_split(run: Run | Ensemble, bundle: DatasetBundle, *, given: bool = False) -> DatasetBundle | None:
    """The dataset with the split that the network was trained with; None if it was trained on other graphs.

    Args:
        run: What `load_run` gives.
        bundle: The dataset.
        given: Whether somebody chose its split, which must then be the run's own.

    Raises:
        ValueError: It is another one, so graphs of the training would be judged as if they were new.
    """
    if run.split is None or run.dataset.get("graphs") != hash_graphs(bundle.graphs):
        return None
    own = replace(bundle, split=run.split, folds=())
    if given and bundle.split is not None:
        for part, index in bundle.split._asdict().items():
            if not np.array_equal(np.unique(index), getattr(run.split, part)):
                raise ValueError(
                    f"split: {run.folder} was trained with another one of {bundle.name}, so that graphs it knows would be "
                    "judged; name none, and its own is used"
                )
    return own


def _answers(run: Run | Ensemble, bundle: DatasetBundle, graphs: GraphStore) -> Tensor:
    """The targets of graphs, classes in the order of the run."""
    asked, known = bundle.task, run.task
    y = graphs.column("y")
    _check_same(run, bundle, asked, known)
    if not known.parts:
        return _renumbered(run, bundle, asked, known, y)
    columns = [*torch.split(y, 1, 1)]
    for place, (theirs, ours) in enumerate(zip(asked.parts, known.parts, strict=True)):
        _check_same(run, bundle, theirs, ours)
        if ours.kind == "multiclass":
            classes = columns[place].nan_to_num(-1).long()
            numbers = _renumbered(run, bundle, theirs, ours, classes).to(y.dtype)
            columns[place] = numbers.where(numbers >= 0, torch.nan)
    return torch.cat(columns, 1)


def _check_same(run: Run | Ensemble, bundle: DatasetBundle, asked: Task, known: Task) -> None:
    """Complain if a dataset asks for something else than a network knows."""
    is_named = bool(asked.names and known.names)
    for name in ("level", "kind", "targets", *([] if is_named else ["classes"])):
        theirs, ours = getattr(asked, name), getattr(known, name)
        if theirs != ours:
            raise ValueError(f"bundle: {name} of {bundle.name}: {_words(theirs)}; {run.folder} has {_words(ours)}")


def _renumbered(run: Run | Ensemble, bundle: DatasetBundle, asked: Task, known: Task, y: Tensor) -> Tensor:
    """Classes of a dataset as the network numbers them."""
    if not (asked.names and known.names) or asked.names == known.names:
        return y
    if strange := [name for name in asked.names if name not in known.names]:
        raise ValueError(
            f"bundle: {bundle.name} has the classes {_words(strange)}, which {run.folder} does not know; "
            f"it knows {_words(known.names)}"
        )
    place = torch.tensor([*map(known.names.index, asked.names), -1])  # the last is that of unknown ones, -1
    return place[y]


def _words(value: Any) -> str:
    return str(value) if isinstance(value, str | int) else ", ".join(map(repr, value))


def as_store(graphs: Any) -> GraphStore:
    """Graphs of many kinds as a store."""
    if isinstance(graphs, GraphStore):
        return graphs
    if isinstance(graphs, Graph):
        return GraphStore.from_view(graphs)
    if not isinstance(graphs, Sequence) or isinstance(graphs, str):
        raise ValueError(f"graphs: {type(graphs).__name__}; expected a GraphStore or a list of graphs")
    if graphs and isinstance(graphs[0], Data):
        return GraphStore.from_data_list(graphs)
    return GraphStore.from_view(disjoint_union([as_graph(graph) for graph in graphs]))


def outputs(run: Run | Ensemble, graphs: GraphStore, batch_size: int = BATCH, workers: int = 0) -> Tensor:
    """What a network says, on the CPU; of several, what would give the mean of their predictions."""
    if isinstance(run, Ensemble):
        return as_outputs(run.task, run.scaling, run.answers(graphs, batch_size, workers).mean(0))
    return network_outputs(run, graphs, batch_size, workers)


def formulas(run: Run) -> dict[str, dict[Term, float]]:
    """What a trained network says exactly, target by target, where it says anything exactly: sums of counts.

    A target is the constant ``()`` plus the sum over all other terms of coefficient times count: ``("sum", *bin)`` is a bin
    summed over the edges of a node, and ``("sum of neighbours", *bin)`` that of its neighbours together; for graphs, summed
    over all nodes.

    Raises:
        ValueError: The network has no linear path.
    """
    found = run.model.formulas(run.transform)
    if found is None:
        raise ValueError(f"run: {run.folder} was trained without network.count_skip, so it has no formulas")
    restored = {}
    for place, terms in found.items():
        mean, std = run.scaling.mean[place], run.scaling.std[place]
        scaled = {term: coefficient * std for term, coefficient in terms.items()}
        restored[run.task.targets[place]] = {**scaled, (): scaled[()] + mean}
    return restored
