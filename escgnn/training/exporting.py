"""A trained network as one file that other programs run: ONNX, or a program of torch.export."""

import json
from collections.abc import Mapping
from copy import deepcopy
from dataclasses import asdict, dataclass
from functools import partial
from os import PathLike
from pathlib import Path
from typing import Any

import torch

from escgnn import __version__, graphs
from escgnn.disk import atomic
from escgnn.loader import Loader
from escgnn.metrics import predictions
from escgnn.models import export_program, size_of, to_onnx
from escgnn.store import GraphStore
from escgnn.training.folder import Run

SUFFIXES = (".onnx", ".pt2")
LEVELS = {"edge_attr": "edge", "descriptors": "graph"}  # of features; that of others is the node
ABOUT = "about.json"  # of a .pt2, among its extra files


@dataclass(frozen=True)
class Exported:
    """A file that was written.

    Attributes:
        path: Where it is.
        inputs: Type and sizes of every input, by name, such as ``int64 (nodes, 9)``.
        about: What the file says about itself: encoding, targets and so on.
    """

    path: Path
    inputs: Mapping[str, str]
    about: Mapping[str, str]


def export(run: Run, path: str | PathLike[str]) -> Exported:
    """Write a trained network as a file that runs without this library, on batches of any size.

    The inputs are the tensors that ``run.model.reads`` names, encoding included; the output is what `predict` gives for them:
    numbers in the targets' units, or probabilities. Encoding and targets stand in the file, in ONNX as ``metadata_props``,
    in a .pt2 as the extra file ``about.json``.

    Args:
        run: What `load_run` gives.
        path: A .onnx file, for onnxruntime and others; or a .pt2 file, for ``torch.export.load``. It is written whole or not
            at all.

    Raises:
        ValueError: The path ends in something else, or the network cannot be exported, as that of gps, whose attention has
            sizes that depend on the data.
        ImportError: ONNX is not installed.
    """
    path = Path(path)
    if path.suffix.lower() not in SUFFIXES:
        raise ValueError(f"{path}: networks are written to {' or '.join(SUFFIXES)}")
    model = deepcopy(run.model).cpu().eval()
    data = _example(run)
    with atomic(path) as draft:
        program = export_program(model, data, partial(predictions, run.task, run.scaling))
        about = _about(run)
        if path.suffix.lower() == ".onnx":
            to_onnx(program, run.task.level, about).save(draft, external_data=False)
        else:
            with draft.open("wb") as stream:  # or its name would have to end in .pt2
                torch.export.save(program, stream, extra_files={ABOUT: json.dumps(about, indent=2)})
    tensors = sorted(model.tensors(data).items())
    return Exported(path, {name: _form(name, tensor) for name, tensor in tensors}, about)


def _example(run: Run) -> Any:
    """A batch that has all that the network reads; what the numbers are does not matter."""
    store = GraphStore.from_view(graphs.molecule_like(3))
    rows = {"node": store.num_nodes_total, "edge": int(store.num_edges.sum()), "graph": len(store)}
    fields: dict[str, dict[str, Any]] = {"node": {}, "edge": {}, "graph": {}}
    for name, feature in run.features.items():
        level = LEVELS.get(name, "node")
        if feature.kind == "dense":
            fields[level][name] = torch.zeros(rows[level], sum(feature.sizes))
        else:
            fields[level][name] = torch.zeros(rows[level], len(feature.sizes), dtype=torch.int64)
    store = store.with_fields(**fields)
    store = store if run.once is None else run.once(store)
    return next(iter(Loader(store, len(store), transform=run.transform)))


def _about(run: Run) -> dict[str, str]:
    """What a user of the file has to know, as texts."""
    transform = {} if run.transform is None else {"encoding": repr(run.transform)}
    once = {} if run.once is None else {"once": repr(run.once)}
    return {
        "escgnn": __version__,
        "model": run.name,
        **transform,
        **once,
        "targets": json.dumps(run.task.targets),
        "task": json.dumps(asdict(run.task)),
        "features": json.dumps({name: asdict(feature) for name, feature in run.features.items()}),
        "descriptors": json.dumps(run.descriptors.names),
        "positional": json.dumps(run.model.settings.get("positional")),
        "dataset": json.dumps(dict(run.dataset)),
        "epoch": str(run.epoch),
    }


def _form(name: str, tensor: torch.Tensor) -> str:
    sizes = [str(size) for size in tensor.shape]
    sizes[int(name == "edge_index")] = size_of(name)
    return f"{str(tensor.dtype).removeprefix('torch.')} ({', '.join(sizes)})"
