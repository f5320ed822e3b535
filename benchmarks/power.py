"""What untrained networks of the zoo tell apart: random weights in double precision, sums everywhere, several seeds.

Two graphs are the same to a network if all its outputs agree to nine digits, whatever the seed. Any network with random weights
can only tell apart what its kind can; that it does tell apart what its kind can, is what is tested.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch import Tensor
from torch_geometric.data import Batch, Data

from escgnn.datasets import Feature
from escgnn.graphs import Graph
from escgnn.store import GraphStore
from escgnn.task import Task
from escgnn.training import TrainConfig, read_config
from escgnn.zoo import ZOO

SEEDS = 3
SAME = 1e-9
APART = 1e-6
# Sums keep what means may lose; six rounds are enough for colours to come to rest on the graphs here.
STRONG = {"hidden": 16, "layers": 6, "readout": "sum", "ball_pool": "sum", "pair_pool": "sum", "pool": "sum"}
TARGETS = tuple("abcd")


def as_data(view: Graph, x: Tensor | None = None) -> Data:
    """A graph for PyG, perhaps with features of nodes."""
    return Data(x=x, edge_index=torch.from_numpy(view.edge_index), num_nodes=view.num_nodes)


def settings_of(name: str, wanted: Mapping[str, Any]) -> TrainConfig:
    """A run of a row of the zoo, with those of the wanted settings that its network or transform has."""
    known = read_config(overrides={"model": name})
    network = {key: value for key, value in wanted.items() if key in known.network}
    transform = {key: value for key, value in wanted.items() if key in known.transform}
    return read_config(overrides={"model": name, "network": network, "transform": transform})


def outputs(
    name: str,
    graphs: Sequence[Data],
    settings: Mapping[str, Any] | None = None,
    *,
    hops: int | None = None,
    level: str = "graph",
    categories: Sequence[int] | None = None,
    seeds: int = SEEDS,
    chunk: int = 50,
) -> Tensor:
    """What untrained networks say of each graph or node, ``(rows, seeds * 4)``.

    Args:
        name: Of a row of the zoo.
        graphs: The graphs.
        settings: Of the network or its transform, over `STRONG`; names that neither has are left out.
        hops: Radius, if its transform has one.
        level: ``"graph"`` or ``"node"``.
        categories: Of the columns of ``x``, if it is read.
        seeds: How many networks.
        chunk: Graphs at a time.
    """
    recipe = ZOO[name]
    config = settings_of(name, {**STRONG, **({} if hops is None else {"hops": hops}), **(settings or {})})
    each, once = recipe.transforms(config.transform)
    features = {} if categories is None else {"x": Feature("categorical", tuple(categories))}
    task = Task(level, "regression", "mae", "min", TARGETS)
    store = GraphStore.from_data_list(list(graphs))  # what is measured, is measured on all
    chunks = [graphs[i : i + chunk] for i in range(0, len(graphs), chunk)]
    if once is None:
        batches = [Batch.from_data_list(list(some)) for some in chunks]
    else:
        batches = [once(GraphStore.from_data_list(list(some))).batch() for some in chunks]
    columns = []
    for seed in range(seeds):
        torch.manual_seed(seed)
        model = recipe.build(config.network, each, once, task=task, features=features, graphs=store).double().eval()
        with torch.no_grad():
            rows = [model(batch if each is None else each(batch)) for batch in batches]
        columns.append(torch.cat(rows))
    return torch.cat(columns, 1)


def gap(first: Tensor, second: Tensor) -> float:
    """The largest difference of two rows of outputs, as a share of their size."""
    size = first.abs() + second.abs() + 1e-12
    return float(((first - second).abs() / size).detach().max())


def are_apart(first: Tensor, second: Tensor) -> bool:
    """Whether two rows of outputs differ.

    Raises:
        ValueError: They differ by too little to be sure.
    """
    found = gap(first, second)
    if SAME < found < APART:
        raise ValueError(f"a difference of {found:.1e} is neither rounding nor a difference; take more rounds or seeds")
    return found >= APART


def classes(rows: Tensor) -> int:
    """How many different rows of outputs there are."""
    kept: list[Tensor] = []
    for row in rows:
        if all(are_apart(row, other) for other in kept):
            kept.append(row)
    return len(kept)
