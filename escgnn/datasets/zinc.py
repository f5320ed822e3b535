"""ZINC: drug-like molecules with penalised solubility, and with the cycles through every atom.

Bonds and targets of the training molecules were rebuilt from SMILES with the recipe that gives the original test set
exactly; about two in a thousand may have another Kekule form of a ring than the original files.
"""

from collections.abc import Iterable
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from escgnn.counting import TARGETS, count_all
from escgnn.datasets.bundle import DatasetBundle
from escgnn.datasets.entry import PICKLED, Entry, RawFile, Size
from escgnn.datasets.molecules import ZINC_FEATURES
from escgnn.datasets.raw import Raw, accept
from escgnn.datasets.reading import categorical, damage_named, from_undirected, read_npz
from escgnn.datasets.splits import numbered_split
from escgnn.datasets.synthetic import DEFAULTS as COUNTING_DEFAULTS
from escgnn.disk import atomic
from escgnn.task import Task

SOURCE = "Dwivedi et al. 2023, benchmarking-gnns"
ADVICE = f"{PICKLED}; if you trust PyG's, escgnn.datasets.zinc.convert writes it in the format read here"
TASK = Task("graph", "regression", "mae", "min", ("penalised-logP",))
CYCLES_TASK = Task("node", "regression", "norm-mae", "min", TARGETS[:4])
DEFAULTS = {
    "encoding": {"hops": 3, "parts": "degree,node,joint,edge,resistance", "nodes": True},
    "model": {"hidden": 64, "layers": 6},
    "optimiser": "adamw",
    "epochs": 300,
    "gradient_clip": 1.0,
}


def zinc(raw: Raw) -> DatasetBundle:
    """The graphs with their one target."""
    (path,) = raw.paths.values()
    arrays = read_npz(path)
    with damage_named(path):
        graphs = from_undirected(
            arrays["num_nodes"],
            arrays["num_edges"],
            arrays["edges"],
            node={"x": categorical(arrays["x"])},
            edge={"edge_attr": categorical(arrays["bond"])},
            graph={"y": arrays["y"].astype(np.float32)[:, None]},
        )
        split = numbered_split(arrays["split"])
    return DatasetBundle(raw.entry.name, graphs, raw.entry.task, ZINC_FEATURES, split)


def zinc_cycles(raw: Raw) -> DatasetBundle:
    """The same graphs; the targets are the 3- to 6-cycles through every atom."""
    bundle = zinc(raw)
    y = count_all(bundle.graphs.view())[:, [TARGETS.index(name) for name in raw.entry.task.targets]]
    graphs = bundle.graphs.with_fields(node={"y": y.astype(np.float32)})
    return DatasetBundle(bundle.name, graphs, raw.entry.task, bundle.features, bundle.split)


def convert(train: Iterable[Any], validation: Iterable[Any], test: Iterable[Any], path: str | PathLike[str]) -> None:
    """Write PyG's ZINC into the file that is read here, ``zinc12k.npz`` or ``zinc250k.npz`` in a folder ``zinc``.

    PyG unpickles what it downloads, so this is left to those who trust it:

    ```python
    from torch_geometric.datasets import ZINC
    subsets = [ZINC("zinc-pyg", subset=True, split=split) for split in ("train", "val", "test")]
    convert(*subsets, "data/zinc/zinc12k.npz")
    ```

    Then load with ``root="data"``. The file's checksum is noted in ``data/SHA256SUMS``.
    """
    subsets = [list(subset) for subset in (train, validation, test)]
    molecules = [data for subset in subsets for data in subset]
    once = [data.edge_index[0] < data.edge_index[1] for data in molecules]
    edges = [data.edge_index[:, keep].T.numpy() for data, keep in zip(molecules, once, strict=True)]
    bonds = [data.edge_attr[keep].view(-1).numpy() for data, keep in zip(molecules, once, strict=True)]
    target = Path(path)
    target.parent.mkdir(parents=True, exist_ok=True)
    with atomic(target) as draft, draft.open("wb") as stream:
        np.savez_compressed(
            stream,
            num_nodes=np.array([data.num_nodes for data in molecules]),
            num_edges=np.array([len(pairs) for pairs in edges]),
            x=np.concatenate([data.x.view(-1).numpy() for data in molecules]).astype(np.int8),
            edges=np.concatenate(edges).astype(np.int8),
            bond=np.concatenate(bonds).astype(np.int8),
            y=np.array([float(data.y) for data in molecules], np.float32),
            split=np.repeat(np.arange(3, dtype=np.int8), [len(subset) for subset in subsets]),
        )
    accept(target.parents[1], [f"{target.parent.name}/{target.name}"])


SMALL_FILE = RawFile(
    "zinc/zinc12k.npz",
    sha256="9a402bbb41bb7f5d2bc9c9a81335e5d139584da433a74447e4628eaaf5d79688",
)
LARGE_FILE = RawFile(
    "zinc/zinc250k.npz",
    sha256="2468525ca359a43484cbec77082b012c752c4670912b8c36f51de035142e3795",
)
ENTRIES = (
    Entry(
        name="zinc-12k",
        parse=zinc,
        task=TASK,
        size=Size(12000, 23.155, 24.915),
        source=SOURCE,
        files=(SMALL_FILE,),
        advice=ADVICE,
        defaults=DEFAULTS,
    ),
    Entry(
        name="zinc-250k",
        parse=zinc,
        task=TASK,
        size=Size(249455, 23.151, 24.902),
        source=SOURCE,
        files=(LARGE_FILE,),
        advice=ADVICE,
        defaults=DEFAULTS,
    ),
    Entry(
        name="zinc-cycles",
        parse=zinc_cycles,
        task=CYCLES_TASK,
        size=Size(12000, 23.155, 24.915),
        source=f"{SOURCE}, cycles counted",
        files=(SMALL_FILE,),
        advice=ADVICE,
        defaults=COUNTING_DEFAULTS,
    ),
)
