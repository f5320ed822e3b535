"""Using a trained network: predictions for graphs, and metrics on a dataset."""

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch_geometric.data import Data

from escgnn.datasets import DatasetBundle
from escgnn.graphs import Graph, as_graph, disjoint_union
from escgnn.loader import Loader
from escgnn.store import GraphStore
from escgnn.training.positions import with_positions
from escgnn.training.runs import Run
from escgnn.training.scoring import out_channels, predictions, score

SPLITS = ("train", "validation", "test")


def predict(run: Run, graphs: Any, *, batch_size: int = 256, workers: int = 0) -> Tensor:
    """Predictions for every graph or, if the task is at node level, every node, ``(rows, outputs)``.

    Args:
        run: What `load_run` gives. If ``run.model`` was moved to another device, it works there.
        graphs: A `GraphStore`, or a list of PyG ``Data`` or of whatever `escgnn.graphs.as_graph` takes. They need the
            features that the network reads.
        batch_size: Graphs at a time.
        workers: Processes that cut and encode batches.

    Returns:
        Numbers in the units of the targets, or probabilities: of yes for each target, or of each class.

    Raises:
        ValueError: The graphs lack a feature, or have it in another form.
    """
    return predictions(run.task, run.scaling, outputs(run, as_store(graphs), batch_size, workers))


def evaluate(run: Run, bundle: DatasetBundle, split: str = "test", *, batch_size: int = 256) -> dict[str, float]:
    """The metrics of a trained network on a part of a dataset; see `score` for their names.

    Args:
        run: What `load_run` gives.
        bundle: The dataset; its task must be the one that the network was trained for.
        split: ``"train"``, ``"validation"`` or ``"test"``.
        batch_size: Graphs at a time.

    Raises:
        ValueError: The dataset does not suit the network.
    """
    if split not in SPLITS:
        raise ValueError(f"split: {split!r}; expected one of {', '.join(SPLITS)}")
    if bundle.task != run.task:
        raise ValueError(f"bundle: {bundle.name} asks for {bundle.task}, but {run.folder} answers {run.task}")
    graphs: GraphStore = getattr(bundle, split)
    return score(run.task, run.scaling, outputs(run, graphs, batch_size), graphs.column("y"))


def as_store(graphs: Any) -> GraphStore:
    """Graphs of many kinds as a store."""
    if isinstance(graphs, GraphStore):
        return graphs
    if isinstance(graphs, Graph):
        return store_of(graphs)
    if not isinstance(graphs, Sequence) or isinstance(graphs, str):
        raise ValueError(f"graphs: {type(graphs).__name__}; expected a GraphStore or a list of graphs")
    if graphs and isinstance(graphs[0], Data):
        return GraphStore.from_data_list(graphs)
    return store_of(disjoint_union([as_graph(graph) for graph in graphs]))


def store_of(graphs: Graph) -> GraphStore:
    """Graphs side by side as a store, both directions of every edge."""
    sizes = np.diff(graphs.ptr)
    owner = np.searchsorted(graphs.ptr, graphs.edges[:, 0], side="right") - 1
    pairs = graphs.edges - graphs.ptr[owner, None]
    columns = np.stack([pairs, pairs[:, ::-1]], axis=1).reshape(-1, 2).T
    return GraphStore(sizes, 2 * np.bincount(owner, minlength=sizes.size), columns)


def outputs(run: Run, graphs: GraphStore, batch_size: int = 256, workers: int = 0) -> Tensor:
    """What the network says, on the CPU."""
    for name, feature in run.features.items():
        width = graphs.fields[name].shape if name in graphs.fields else None
        wanted = (sum(feature.sizes) if feature.kind == "dense" else len(feature.sizes),)
        if width != wanted:
            found = "none" if width is None else f"shape {width}"
            raise ValueError(f"graphs: the network reads {name} of shape {wanted} for each row; there is {found}")
    device = next(run.model.parameters()).device
    answers = [torch.empty(0, out_channels(run.task))]
    graphs = with_positions(graphs, run.model.settings["positional"])
    loader = Loader(graphs, batch_size, transform=run.encoding, workers=workers)
    skip, strange = run.model.skip, 0
    with torch.inference_mode():
        for batch in loader:
            answers.append(run.model(batch.to(device)).float().cpu())
            if skip is not None:
                strange += skip.unseen(run.model.tensors(batch))
    if strange:
        warnings.warn(
            f"{strange} of {len(graphs)} graphs have shapes that no training graph had; count_skip may be wrong there",
            stacklevel=3,
        )
    return torch.cat(answers)
