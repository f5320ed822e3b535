"""A trained network at work: its outputs for graphs, and the vectors that it reads them off."""

import warnings
from typing import Any

import torch
from torch import Tensor, nn

from escgnn.loader import Loader
from escgnn.metrics import out_channels
from escgnn.store import GraphStore
from escgnn.training.folder import Run
from escgnn.training.pieces import Pieces, Splitting, run_network

BATCH = 256  # graphs at a time where nobody says


class UnseenShapesWarning(UserWarning):
    """Graphs have what no training graph had, so that a network that counts may be wrong there."""


def network_outputs(run: Run, graphs: GraphStore, batch_size: int = BATCH, workers: int = 0) -> Tensor:
    """What the network says, on the CPU, ``(rows, outputs)``.

    Raises:
        ValueError: The graphs lack a feature, or have it in another form.
    """
    for name, feature in run.features.items():
        width = graphs.fields[name].shape if name in graphs.fields else None
        wanted = (sum(feature.sizes) if feature.kind == "dense" else len(feature.sizes),)
        if width != wanted:
            found = "none" if width is None else f"shape {width}"
            raise ValueError(f"graphs: the network reads {name} of shape {wanted} for each row; there is {found}")
    graphs = graphs if run.once is None else run.once(graphs)
    device = next(run.model.parameters()).device
    answers = [torch.empty(0, out_channels(run.task))]
    doubtful = 0
    with torch.inference_mode():
        for batch in Loader(graphs, batch_size, transform=Splitting(run.transform), workers=workers):
            output, _ = run_network(run.model, batch.to(device))
            answers.append(output.float().cpu())
            doubtful += sum(map(run.model.doubts, batch if isinstance(batch, Pieces) else [batch]))
    if doubtful:
        warnings.warn(
            f"{doubtful} of {len(graphs)} graphs have shapes that no training graph had; predictions may be wrong there",
            UnseenShapesWarning,
            stacklevel=4,
        )
    return torch.cat(answers)


def head_of(run: Run) -> nn.Module:
    """The part of a network that reads its outputs off vectors.

    Raises:
        ValueError: It has no such part.
    """
    head = getattr(run.model, "head", None)
    if not isinstance(head, nn.Module):
        raise ValueError(f"embedding: the network of {run.folder} has no part called head, which would read it")
    return head


def embedded(run: Run, graphs: GraphStore, batch_size: int = BATCH) -> Tensor:
    """The vectors that the last part of a network reads, ``(rows, channels)``: of each graph, or node.

    Raises:
        ValueError: It has no such part, or the graphs lack a feature.
    """
    vectors: list[Tensor] = []

    def keep(_: nn.Module, inputs: Any) -> None:
        vectors.append(inputs[0].detach().float().cpu())

    hook = head_of(run).register_forward_pre_hook(keep)
    try:
        network_outputs(run, graphs, batch_size)
    finally:
        hook.remove()
    return torch.cat(vectors) if vectors else torch.empty(0, channels_of(run))


def channels_of(run: Run) -> int:
    """Numbers of the vectors that `embedded` gives."""
    first = next((part for part in head_of(run).modules() if isinstance(part, nn.Linear)), None)
    if first is None:
        raise ValueError(f"embedding: the network of {run.folder} has a head without a linear layer")
    return first.in_features
