"""Datasets and settings so small that an epoch takes a few hundredths of a second."""

import numpy as np

from escgnn import graphs
from escgnn.counting import count
from escgnn.datasets import DatasetBundle, Feature, Split
from escgnn.store import GraphStore
from escgnn.task import Task
from escgnn.training import TrainConfig, checked

CONFIG = TrainConfig(
    transform={"hops": 1, "parts": ["node", "edge"]},
    network={"hidden": 8, "layers": 2, "dropout": 0.2},
    lr=0.01,
    epochs=4,
    batch_size=8,
    patience=0,
)
BARE = {"hidden": 8, "layers": 2, "dropout": 0.2}  # of other models
METRIC = {"regression": ("mae", "min"), "multiclass": ("accuracy", "max")}


def change(config=CONFIG, **settings):
    """The settings with some of them changed; those of the network as a dictionary, those of transforms all of them."""
    model = settings.get("model", config.model)
    same = {name: value for name, value in config if name not in ("network", "transform") or model == config.model}
    network = {**(config.network if model == config.model else BARE), **settings.pop("network", {})}
    return checked({**same, **settings, "network": network})


def bundle(kind="regression", *, level="graph", targets=2, missing=0.0, size=40, seed=0, metric=None, folds=0):
    """Random graphs that are asked for their triangles, whether in number, as a class, or as yes or no."""
    rng = np.random.default_rng(seed)
    members = [graphs.erdos_renyi(int(rng.integers(4, 9)), 0.5, seed=int(rng.integers(1 << 30))) for _ in range(size)]
    store = GraphStore.from_view(graphs.disjoint_union(members))
    triangles = np.concatenate([count(member, "3-cycle", per=level) for member in members])
    if kind in ("binary", "multiclass"):
        targets = 1
    noise = 0.3 * rng.normal(size=(len(triangles), targets))
    y = triangles[:, None] * np.arange(1, targets + 1) + noise + 100
    if kind == "multiclass":
        y = np.minimum(triangles[:, None], 2).astype(np.int64)
    elif kind != "regression":
        y = (y > np.median(y, axis=0)).astype(np.float32)
    if kind != "multiclass":
        y = y.astype(np.float32)
        y[rng.random(y.shape) < missing] = np.nan
    names, classes = tuple(f"t{i}" for i in range(targets)), 3 if kind == "multiclass" else 1
    name, direction = METRIC.get(kind, ("rocauc", "max"))
    x = rng.integers(0, 3, (store.num_nodes_total, 1))
    store = store.with_fields(
        **({"node": {"y": y, "x": x}} if level == "node" else {"node": {"x": x}, "graph": {"y": y}})
    )
    order = rng.permutation(size)
    half = size // 2
    split = Split(order[:half], order[half : half + half // 2], order[half + half // 2 :])
    return DatasetBundle(
        "tiny",
        store,
        Task(level, kind, metric or name, direction, names, classes),
        {"x": Feature("categorical", (3,))},
        None if folds else split,
        tuple(
            Split(*(np.roll(order, i * 7)[part] for part in np.split(np.arange(size), [half, half + half // 2])))
            for i in range(folds)
        ),
    )
