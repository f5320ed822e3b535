"""What untrained networks of the zoo tell apart: random weights in double precision, sums everywhere, several seeds.

Two graphs are the same to a network if all its outputs agree to eight digits, whatever the seed. Any network with random weights
can only tell apart what its kind can; that it does tell apart what its kind can, is what is tested.

A network that has seen no data may be too nearly linear for that: most of its rectifiers are always on or always off, and
means of many copies wash out the rest. So with every other seed batch normalisation is given the statistics of some of the
graphs first, as a trained network would have them, and is then fixed: in `eval` a graph's outputs depend on the graph alone.

Deep networks on large graphs need more: a difference that arises late, at few nodes, is still lost in sums of thousands. `Waves`
puts sines in place of rectifiers, under which small differences grow from layer to layer. So does rounding; how much, a
renumbered copy of each graph tells, and only what is far above that is a difference.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import torch
from torch import Tensor
from torch.nn import BatchNorm1d, functional
from torch.overrides import TorchFunctionMode
from torch_geometric.data import Batch, Data

from escgnn.datasets import Feature
from escgnn.experiments.systems import with_known
from escgnn.graphs import Graph
from escgnn.store import GraphStore
from escgnn.task import Task
from escgnn.training import Splitting, TrainConfig, read_config, run_network
from escgnn.zoo import ZOO

SEEDS = 4
SAME = 1e-8
APART = 1e-6
# Sums keep what means may lose; six rounds are enough for colours to come to rest on the graphs here.
STRONG = {"hidden": 16, "layers": 6, "readout": "sum", "ball_pool": "sum", "pair_pool": "sum", "pool": "sum"}
TARGETS = tuple("abcd")
SAMPLE = 24  # graphs that statistics are taken of
LEAST_VARIANCE = 0.1  # or what is equal but for rounding would be blown up
GAINS = (2.0, 2.5)  # of sines, a network each: the steeper, the faster differences and rounding grow
ABOVE_ROUNDING = 1e3  # times the difference of renumbered copies
RECTIFIERS = {
    torch.relu,
    torch.relu_,
    functional.relu,
    functional.elu,
    functional.leaky_relu,
    functional.gelu,
    functional.silu,
}


def as_data(view: Graph, x: Tensor | None = None) -> Data:
    """A graph for PyG, perhaps with features of nodes."""
    return Data(x=x, edge_index=torch.from_numpy(view.edge_index), num_nodes=view.num_nodes)


def settings_of(name: str, wanted: Mapping[str, Any]) -> TrainConfig:
    """A run of a row of the zoo, with those of the wanted settings that its network or transform has."""
    return read_config(overrides=with_known({"model": name}, wanted))


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
    asked = Asked(name, graphs, settings, hops=hops, level=level, categories=categories)
    return torch.cat([asked.answers(seed, graphs, chunk) for seed in range(seeds)], 1)


class Asked:
    """Untrained networks of one kind, a new one for each seed, that are asked about graphs.

    Args:
        name: Of a row of the zoo.
        graphs: All graphs that there are, of which statistics are taken.
        settings: As for `outputs`, and so the others.
    """

    def __init__(
        self,
        name: str,
        graphs: Sequence[Data],
        settings: Mapping[str, Any] | None = None,
        *,
        hops: int | None = None,
        level: str = "graph",
        categories: Sequence[int] | None = None,
    ) -> None:
        self.recipe = ZOO[name]
        radius = {} if hops is None else {"hops": hops}
        self.config = settings_of(name, {**STRONG, **radius, **(settings or {})})
        self.each, self.once = self.recipe.transforms(self.config.transform)
        self.features = {} if categories is None else {"x": Feature("categorical", tuple(categories))}
        self.task = Task(level, "regression", "mae", "min", TARGETS)
        self.store = GraphStore.from_data_list(list(graphs))  # what is measured, is measured on all
        self.sample = list(graphs)[:: max(1, len(graphs) // SAMPLE)]

    def answers(self, seed: int, graphs: Sequence[Data], chunk: int = 50) -> Tensor:
        """What the network of a seed says of each graph or node, ``(rows, 4)``."""
        torch.manual_seed(seed)
        kinds = {"task": self.task, "features": self.features, "graphs": self.store}
        model = self.recipe.build(self.config.network, self.each, self.once, **kinds).double()
        with torch.no_grad():
            if seed % 2 == 0:
                _settle(model, [*self._batches(self.sample, len(self.sample))])
            return torch.cat([run_network(model.eval(), batch)[0] for batch in self._batches(graphs, chunk)])

    def _batches(self, graphs: Sequence[Data], chunk: int) -> Iterator[Any]:
        split = Splitting(self.each)
        for start in range(0, len(graphs), chunk):
            some = list(graphs[start : start + chunk])
            batch = (
                Batch.from_data_list(some) if self.once is None else self.once(GraphStore.from_data_list(some)).batch()
            )
            yield split(batch)


def _settle(model: torch.nn.Module, batches: Sequence[Any]) -> None:
    """Fix batch normalisation to the statistics of these graphs."""
    for part in model.modules():
        if isinstance(part, BatchNorm1d):
            part.eps = LEAST_VARIANCE
            part.momentum = None  # the mean over all batches
    model.train()
    for batch in batches:
        run_network(model, batch)


def pairs_apart(asked: Asked, graphs: Sequence[Data], seeds: int = SEEDS, chunk: int = 10) -> list[bool | None]:
    """Of graphs 2i and 2i + 1, whether they are told apart, by any seed; None if they differ by too little to be sure.

    A pair that one seed tells apart is not asked for again.
    """
    largest = [0.0 for _ in range(len(graphs) // 2)]
    for seed in range(seeds):
        open_ = [pair for pair, found in enumerate(largest) if found < APART]
        if not open_:
            break
        some = [graphs[2 * pair + side] for pair in open_ for side in (0, 1)]
        rows = asked.answers(seed, some, chunk)
        for place, pair in enumerate(open_):
            largest[pair] = max(largest[pair], gap(rows[2 * place], rows[2 * place + 1]))
    return [None if SAME < found < APART else found >= APART for found in largest]


class Waves(TorchFunctionMode):
    """Within it, rectifiers are sines: ``sin(gain * x)``."""

    def __init__(self, gain: float) -> None:
        super().__init__()
        self.gain = gain

    def __torch_function__(
        self, func: Callable[..., Any], types: Any, args: Sequence[Any] = (), kwargs: Mapping[str, Any] | None = None
    ) -> Any:
        if func in RECTIFIERS:
            return torch.sin(self.gain * args[0])
        return func(*args, **(kwargs or {}))


def pairs_apart_by_waves(asked: Asked, graphs: Sequence[Data], gains: Sequence[float] = GAINS) -> list[bool | None]:
    """As `pairs_apart`, by networks with sines; None if rounding alone may be as large in all of them.

    A pair that one network tells apart is not asked for again.
    """
    found: list[bool | None] = [None for _ in range(len(graphs) // 2)]
    for number, gain in enumerate(gains):
        open_ = [pair for pair, is_apart in enumerate(found) if not is_apart]
        if not open_:
            break
        some = []
        for pair in open_:
            two = graphs[2 * pair : 2 * pair + 2]
            some += [*two, *map(renumbered, two)]
        with Waves(gain):
            answers = asked.answers(2 * number, some, 8)  # even: statistics are taken first
        for pair, rows in zip(open_, answers.split(4), strict=True):
            rounding = max(gap(rows[0], rows[2]), gap(rows[1], rows[3]))
            difference = gap(rows[0], rows[1])
            if difference > max(APART, ABOVE_ROUNDING * rounding):
                found[pair] = True
            elif rounding < APART:
                found[pair] = False
    return found


def renumbered(graph: Data, seed: int = 0) -> Data:
    """The same graph with other numbers of nodes."""
    order = torch.randperm(graph.num_nodes, generator=torch.Generator().manual_seed(seed))
    x = None if graph.x is None else graph.x[order.argsort()]
    return Data(x=x, edge_index=order[graph.edge_index], num_nodes=graph.num_nodes)


def gap(first: Tensor, second: Tensor) -> float:
    """The largest difference of two rows of outputs, as a share of the largest output of the same network."""
    width = len(TARGETS) if first.numel() % len(TARGETS) == 0 else first.numel()
    size = (first.abs() + second.abs()).view(-1, width).max(1).values + 1e-12  # of each network
    differences = (first - second).abs().view(-1, width).max(1).values
    return float((differences / size).detach().max())


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
