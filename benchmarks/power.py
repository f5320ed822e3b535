"""What untrained networks of the zoo tell apart: random weights in double precision, sums everywhere, several seeds.

Two graphs are the same to a network if all its outputs agree to eight digits, whatever the seed. Any network with random weights
can only tell apart what its kind can; that it does tell apart what its kind can, is what is tested.

A network that has seen no data may be too nearly linear for that: most of its rectifiers are always on or always off, and
means of many copies wash out the rest. So with every other seed batch normalisation is given the statistics of some of the
graphs first, as a trained network would have them, and is then fixed: in `eval` a graph's outputs depend on the graph alone.

Deep networks on large graphs need more: a difference that arises late, at few nodes, is still lost in sums of thousands. `Waves`
puts steep sines in place of rectifiers, under which the smallest difference is a large one a layer later, and rounds them to
16 binary digits, so that sums of them are exact in any order: what is the same stays the same to the last bit, or nearly. A
network of width 4 is then as good as exact colours, at a hundredth of the cost; a renumbered copy of each graph is the control.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import torch
from torch import Tensor
from torch.nn import BatchNorm1d
from torch.overrides import TorchFunctionMode
from torch_geometric.data import Batch, Data

from escgnn.datasets import Feature
from escgnn.experiments.systems import with_known
from escgnn.graphs import Graph
from escgnn.models import Network
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
GAIN = 7.3  # of sines: many radians between values that differ by 1
DIGITS = 1 << 16  # what sines are rounded to a multiple of, its inverse
RECTIFIERS = {"relu", "relu_", "elu", "leaky_relu", "gelu", "silu"}  # functions of torch, or methods of tensors
ROOM = 50_000  # nodes times edges of the graphs of a batch: what is larger leaves the cache


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

    def network(self, seed: int) -> Network:
        """The untrained network of a seed."""
        torch.manual_seed(seed)
        kinds = {"task": self.task, "features": self.features, "graphs": self.store}
        return self.recipe.build(self.config.network, self.each, self.once, **kinds).double().eval()

    def answers(self, seed: int, graphs: Sequence[Data], chunk: int = 50) -> Tensor:
        """What the network of a seed says of each graph or node, ``(rows, 4)``."""
        model = self.network(seed)
        with torch.no_grad():
            if seed % 2 == 0:
                _settle(model, [*self._batches(self.sample, len(self.sample))])
            return torch.cat([run_network(model.eval(), batch)[0] for batch in self._batches(graphs, chunk)])

    def answers_by_waves(self, seed: int, graphs: Sequence[Data]) -> Tensor:
        """The same with sines in place of rectifiers."""
        model = self.network(seed)
        found = []
        with torch.inference_mode(), Waves():
            for some in together(graphs):
                found += [run_network(model, batch)[0] for batch in self._batches(some, len(some))]
        return torch.cat([torch.empty(0, len(TARGETS)), *found])

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
    """Within it, rectifiers are sines, ``sin(7.3 x)``, rounded to 16 binary digits."""

    def __torch_function__(
        self, func: Callable[..., Any], types: Any, args: Sequence[Any] = (), kwargs: Mapping[str, Any] | None = None
    ) -> Any:
        if getattr(func, "__name__", "") in RECTIFIERS:
            return torch.sin(GAIN * args[0]).mul_(DIGITS).round_().div_(DIGITS)
        return func(*args, **(kwargs or {}))


def together(graphs: Sequence[Data]) -> Iterator[list[Data]]:
    """The graphs in order, as many at a time as there is room for."""
    some: list[Data] = []
    taken = 0
    for graph in graphs:
        cost = graph.num_nodes * graph.num_edges
        if some and taken + cost > ROOM:
            yield some
            some, taken = [], 0
        some.append(graph)
        taken += cost
    if some:
        yield some


def pairs_apart_by_waves(asked: Sequence[Asked], graphs: Sequence[Data]) -> list[bool | None]:
    """As `pairs_apart`, by a network with sines of each kind in turn; None if a renumbered copy is not the same to it.

    A pair that one network tells apart is not asked for again, so the quickest should come first.
    """
    found: list[bool | None] = [None for _ in range(len(graphs) // 2)]
    for seed, kind in enumerate(asked):
        open_ = [pair for pair, is_apart in enumerate(found) if not is_apart]
        if not open_:
            break
        two = [graphs[2 * pair + side] for pair in open_ for side in (0, 1)]
        rows = kind.answers_by_waves(seed, two).unflatten(0, (-1, 2))  # (open, 2, 4)
        differ = [place for place, (first, second) in enumerate(rows) if gap(first, second) > APART]
        renamed = [renumbered(two[2 * place + side]) for place in differ for side in (0, 1)]
        copies = kind.answers_by_waves(seed, renamed).unflatten(0, (-1, 2))
        for pair in open_:
            found[pair] = False
        for place, own in zip(differ, copies, strict=True):
            is_sure = max(gap(one, other) for one, other in zip(rows[place], own, strict=True)) < SAME
            found[open_[place]] = True if is_sure else None
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
