"""The linear path of `escgnn.models.CountSkip` in training: fitted before it, and the last word after it."""

from collections.abc import Iterator
from pathlib import Path

import torch
from torch import Tensor

from escgnn.datasets import DatasetBundle
from escgnn.metrics import Scaling
from escgnn.models import ESCGNN
from escgnn.store import GraphStore
from escgnn.training.batches import loader
from escgnn.training.config import TrainConfig
from escgnn.training.prediction import outputs
from escgnn.training.runs import Run, load_run

GATE = "skip.gate"

Term = tuple[str | int, ...]


def fit_skip(network: ESCGNN, bundle: DatasetBundle, config: TrainConfig, scaling: Scaling) -> None:
    """Fit the linear path on the training graphs; a formula must hold on the validation graphs, too."""
    assert network.skip is not None and config.encoding is not None
    encoding = config.encoding.build()
    parts = [next(word for word in name if word in encoding.parts or word == "clipped") for name in encoding.bins]
    rank = [encoding.parts.index(part) if part in encoding.parts else len(encoding.parts) for part in parts]

    def batches(graphs: GraphStore) -> Iterator[dict[str, Tensor]]:
        for batch in loader(graphs, config):
            yield {**network.tensors(batch), "y": scaling.standardise(batch.y)}

    network.skip.fit(lambda: batches(bundle.train), lambda: batches(bundle.validation), rank)


def choose_gate(folder: Path, bundle: DatasetBundle) -> Tensor:
    """For each target 1 if what the network adds to the linear path makes validation errors smaller, else 0."""
    run = load_run(folder)
    assert run.model.skip is not None
    y = run.scaling.standardise(bundle.validation.column("y").double())
    errors = []
    for gate in (0.0, 1.0):
        run.model.skip.gate.fill_(gate)
        errors.append((outputs(run, bundle.validation).double() - y).abs().nanmean(0))
    return (errors[1] < errors[0]).to(torch.float64)


def formulas(run: Run) -> dict[str, dict[Term, float]]:
    """What the linear path of a trained network says, target by target, where it holds exactly.

    A target is the constant ``()`` plus the sum over all other terms of coefficient times count: ``("sum", *bin)`` is a bin
    summed over the edges of a node, and ``("sum of neighbours", *bin)`` that of its neighbours together; for graphs, summed
    over all nodes.

    Raises:
        ValueError: The network has no linear path.
    """
    skip = run.model.skip
    if skip is None or run.encoding is None:
        raise ValueError(f"run: {run.folder} was trained without model.count_skip")
    bins, channels = run.encoding.bins, skip.out_channels
    found: dict[str, dict[Term, float]] = {}
    for place, target in enumerate(run.task.targets):
        if skip.exact[place]:
            std, mean = run.scaling.std[place], run.scaling.mean[place]
            terms: dict[Term, float] = {(): float(skip.bias[place]) * std + mean}
            for reach, column in (("sum", place), ("sum of neighbours", channels + place)):
                weights = skip.weight[:, column]
                terms |= {(reach, *bins[b]): float(weights[b]) * std for b in weights.nonzero()[:, 0].tolist()}
            found[target] = terms
    return found
