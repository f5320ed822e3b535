"""The contract between networks and training, and what networks share: what comes before their body and after it."""

import json
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any, ClassVar, Protocol, runtime_checkable

import torch
from torch import Tensor, nn
from torch_geometric.data import Batch

from escgnn import limits
from escgnn.layers import (
    FEATURE_KINDS,
    NORMS,
    POSITIONAL,
    FeatureEncoder,
    PositionalEncoder,
    check_choice,
    perceptron,
)
from escgnn.models.descriptors import DescriptorEncoder
from escgnn.models.exporting import export_program
from escgnn.pools import POOLS, STEADY_POOLS

Term = tuple[str | int, ...]

JUMPING: dict[str, Callable[[list[Tensor]], Tensor]] = {
    "last": lambda rounds: rounds[-1],
    "concat": lambda rounds: torch.cat(rounds, 1),
    "sum": lambda rounds: sum(rounds[1:], rounds[0]),
}
CHOICES: dict[str, Collection[str]] = {
    "level": ("graph", "node", "edge"),
    "jumping": JUMPING,
    "norm": NORMS,
    "pool": POOLS,
}
DESCRIPTIONS: dict[str, tuple[str, Collection[str]]] = {  # what there is beside the kind, and the kinds
    "node_features": ("sizes", FEATURE_KINDS),
    "edge_features": ("sizes", FEATURE_KINDS),
    "positional": ("size", POSITIONAL),
}


@runtime_checkable
class Measuring(Protocol):
    """A block that has to see the training graphs before training."""

    def measured(self, batches: Iterable[Any]) -> Iterable[Any]:
        """The same batches; when all have passed, they are measured."""
        ...


class Network(nn.Module):
    """A network that training can build, train, resume, save and load: what each has to say, and what it may say.

    Derive from it, hand the arguments on in the first line, and write ``forward``; all else has a default.

    >>> class Sizes(Network):
    ...     def __init__(self, out_channels: int, *, bias: bool = True) -> None:
    ...         super().__init__(locals())
    ...         self.linear = nn.Linear(1, out_channels, bias)
    ...
    ...     def forward(self, batch):
    ...         return self.linear(batch.ptr.diff().float().unsqueeze(1))
    >>> Sizes(3).settings
    {'out_channels': 3, 'bias': True}

    Arguments that it does not have to be told are ``out_channels``, ``level``, ``node_features`` and ``edge_features``,
    which the data decides, what `measure` gives, and those with the name of an attribute of its transforms, such as
    ``num_bins``. All others are settings of a run, known by name and type from the signature.

    Args:
        arguments: ``locals()`` of the class's own ``__init__``: plain values.

    Attributes:
        settings: All arguments, as plain values: ``type(network)(**network.settings)`` builds it again.
        measures: Names of the arguments that `measure` may give.
        levels: Those it is defined for, of ``"graph"``, ``"node"`` and ``"edge"``.
        earlier: Of settings that a saved network may lack because it is older than they are, what it does.
    """

    measures: ClassVar[tuple[str, ...]] = ()
    levels: ClassVar[tuple[str, ...]] = ("graph", "node", "edge")
    earlier: ClassVar[Mapping[str, Any]] = {}

    def __init__(self, arguments: Mapping[str, Any]) -> None:
        super().__init__()
        given = {name: value for name, value in arguments.items() if name not in ("self", "__class__")}
        self.settings: dict[str, Any] = json.loads(json.dumps(given))
        if self.settings.get("level", self.levels[0]) not in self.levels:
            raise ValueError(
                f"level: {self.settings['level']!r}; {type(self).__name__} is defined for {', '.join(self.levels)}"
            )

    @classmethod
    def check(cls, settings: Mapping[str, Any]) -> None:
        """Refuse what was chosen for a run before anything else is done, with a ValueError; not all arguments are there yet."""

    @classmethod
    def measure(cls, settings: Mapping[str, Any], task: Any, graphs: Any) -> dict[str, Any]:
        """Further arguments, measured on the training graphs before the network is built, such as degrees.

        Args:
            settings: What was chosen for the run.
            task: The `escgnn.task.Task`.
            graphs: The training graphs, a `escgnn.store.GraphStore`.

        Raises:
            ValueError: The network does not suit the task.
        """
        return {}

    @property
    def reads(self) -> frozenset[str]:
        """The attributes of a batch that the network reads; one of your own names them, as a class attribute will do."""
        names = {"edge_index", "batch", "ptr"}
        if self.settings.get("node_features"):
            names.add("x")
        if self.settings.get("edge_features"):
            names.add("edge_attr")
        return frozenset(names)

    def tensors(self, data: Any) -> dict[str, Tensor]:
        """What the network reads of a batch, or of a single graph, which is a batch of one."""
        missing = self.reads - {"batch", "ptr"} - {*data.keys()}
        if missing:
            raise ValueError(f"data: no {', '.join(sorted(missing))}; the model reads {', '.join(sorted(self.reads))}")
        named = {name: data[name] for name in self.reads & {*data.keys()}}
        if "ptr" not in named:
            named["ptr"] = torch.tensor([0, data.num_nodes], device=data.edge_index.device)
            named["batch"] = named["ptr"].new_zeros(data.num_nodes)
        return named

    def forward(self, data: Any) -> Tensor:
        """Predictions for a PyG batch, or for a single graph: (graphs, nodes or edges, out_channels)."""
        return self.forward_tensors(self.tensors(data))

    def forward_tensors(self, tensors: Mapping[str, Tensor]) -> Tensor:
        """Predictions from plain tensors by name, those that `reads` lists; what is exported."""
        if type(self).forward is Network.forward:
            raise NotImplementedError(f"{type(self).__name__}: write forward or forward_tensors")
        out: Tensor = self.forward(Batch(**tensors))
        return out

    def prepare(self, training: Iterable[Any], validation: Iterable[Any], transform: Any) -> None:
        """Measure what has to be known before training. Nothing by default.

        Args:
            training: Batches of the training graphs, in the same order however often they are asked for; regression
                targets ``y`` are standardised.
            validation: The same of the validation graphs.
            transform: What was done to each batch; None if nothing was.
        """

    def conclude(self, validation: Iterable[Any]) -> bool:
        """Have a last word after training, with the best epoch's weights; True if anything changed.

        Args:
            validation: Batches of the validation graphs, as for `prepare`, with ``y`` in double precision.
        """
        return False

    def doubts(self, data: Any) -> int:
        """How many graphs of a batch have what no training graph had, so that predictions may be wrong there."""
        return 0

    def formulas(self, transform: Any) -> dict[int, dict[Term, float]] | None:
        """Outputs that are a sum of counts times coefficients, exactly; None if it is no such network."""
        return None

    @property
    def cannot_export(self) -> str:
        """Why it cannot be a program of its own, or nothing."""
        return ""

    def export(self, data: Any) -> torch.export.ExportedProgram:
        """The network as a program that runs without this library, on ``tensors(data)`` of any sizes.

        Args:
            data: An example, a batch of at least two graphs.

        Raises:
            ValueError: It cannot be one, as `cannot_export` says or torch found.
        """
        return export_program(self, data)


class Frame(Network):
    """A network that turns features into vectors, has a body of its own, and reads out graphs, nodes or edges.

    Weights are drawn in the order in which the parts are made, so each network says when: `add_features`, `add_positions`,
    then its body, then `add_read_out`. Which there are follows from its `settings`: ``node_features``, ``edge_features``,
    ``positional``, ``level``, ``pool``, ``additive``, and ``readout_norm``, which keeps training steady: see `SizedSumPool`.
    """

    @classmethod
    def check(cls, settings: Mapping[str, Any]) -> None:
        """Refuse values that mean nothing, of arguments that several networks have."""
        check_shared(settings)

    def add_features(self, hidden: int) -> None:
        """Make the encoders of nodes and edges."""
        node_features = self.settings.get("node_features")
        edge_features = self.settings.get("edge_features")
        self.nodes = FeatureEncoder(**(node_features or {"kind": None, "sizes": ()}), channels=hidden)
        self.edges = FeatureEncoder(**edge_features, channels=hidden) if edge_features else None

    def add_positions(self, hidden: int) -> None:
        """Make the encoder of positions."""
        positional = self.settings.get("positional")
        self.position = PositionalEncoder(**positional, channels=hidden) if positional else None

    def add_read_out(self, width: int, edge_width: int, hidden: int) -> None:
        """Make the last step, from vectors of nodes, and for a task of edges of these, too."""
        self.level: str = self.settings["level"]
        is_normed = self.settings.get("readout_norm", False)
        pooling = (STEADY_POOLS if is_normed else POOLS)[self.settings.get("pool", "sum")]
        is_additive = self.settings.get("additive", False)
        if is_additive and self.level != "graph":
            raise ValueError(f"additive: nodes add up to a graph, but the level is {self.level}")
        self.final_norm = NORMS[self.settings.get("norm", "batch")](width) if is_normed else nn.Identity()
        self.contribution = nn.Sequential(nn.Linear(width, hidden), nn.ReLU()) if is_additive else nn.Identity()
        width = hidden if is_additive else width
        self.pool = pooling(width) if self.level == "graph" else None
        inputs = self.pool.out_channels if self.pool is not None else width
        if self.level == "edge":
            inputs = 2 * width + edge_width
        descriptors = self.settings.get("descriptors", 0)
        if descriptors and self.level != "graph":
            raise ValueError(f"descriptors: {descriptors}, but they are of graphs, and the level is {self.level}")
        self.described = DescriptorEncoder(descriptors, hidden) if descriptors else None
        inputs += hidden if descriptors else 0
        outputs = self.settings["out_channels"]
        self.head = nn.Linear(inputs, outputs) if is_additive else self.make_head(inputs, hidden, outputs)

    def make_head(self, inputs: int, hidden: int, outputs: int) -> nn.Module:
        """What turns a vector into predictions."""
        return perceptron(inputs, hidden, outputs)

    @property
    def reads(self) -> frozenset[str]:
        """The attributes of a batch that the network reads."""
        names = super().reads if self.position is None else super().reads | {self.position.reads}
        return names | {"descriptors"} if self.settings.get("descriptors") else names

    def prepare(self, training: Iterable[Any], validation: Iterable[Any], transform: Any) -> None:
        """Measure the training graphs, if anything of the network has to know them: their mean size, for one."""
        if self._measuring():
            for _ in self.measured(training):
                pass

    def measured(self, batches: Iterable[Any]) -> Iterable[Any]:
        """The same batches; when all have passed, what has to be known of them is known."""
        for module in self._measuring():
            batches = module.measured(batches)
        return batches

    def _measuring(self) -> list[Measuring]:
        """Blocks that measure the training graphs: sums in units of their size, descriptors, environments."""
        return [module for module in self.modules() if module is not self and isinstance(module, Measuring)]

    def node_vectors(self, tensors: Mapping[str, Tensor]) -> Tensor:
        """Vectors of all nodes by their features, (N, hidden)."""
        out: Tensor = self.nodes(tensors["x"] if self.nodes.kind else None, tensors["batch"].numel())
        return out

    def edge_vectors(self, tensors: Mapping[str, Tensor]) -> Tensor | None:
        """Vectors of all edges by their features, (E, hidden); None if they have none."""
        if self.edges is None:
            return None
        out: Tensor = self.edges(tensors["edge_attr"], tensors["edge_index"].size(1))
        return out

    def add_position(self, h: Tensor, tensors: Mapping[str, Tensor]) -> Tensor:
        """Vectors of all nodes with those of their positions added, if there are any, (N, hidden)."""
        if self.position is None:
            return h
        num_graphs = tensors["ptr"].numel() - 1
        position: Tensor = self.position(tensors[self.position.reads], tensors["batch"], num_graphs)  # (N, hidden)
        return h + position

    def _read_out(
        self,
        h: Tensor,
        edge_index: Tensor,
        edge: Tensor | None,
        batch: Tensor,
        num_graphs: int,
        descriptors: Tensor | None = None,
    ) -> Tensor:
        h = self.contribution(self.final_norm(h))  # (N, width), or (N, hidden) if they add up
        if self.pool is not None:
            h = self.pool(h, batch, num_graphs)  # (G, width)
        if self.level == "edge":
            ends = [h.index_select(0, edge_index[0]), h.index_select(0, edge_index[1])]
            h = torch.cat(ends if edge is None else [*ends, edge], 1)  # (E, 2 width + edge width)
        if self.described is not None:
            h = torch.cat([h, self.described(descriptors)], 1)  # (G, width + hidden)
        out: Tensor = self.head(h)  # (rows, out_channels)
        return out


def check_shared(settings: Mapping[str, Any], choices: Mapping[str, Collection[str]] | None = None) -> None:
    """Refuse values that mean nothing, of those arguments that several networks have and this one, too.

    Args:
        settings: All arguments.
        choices: What further arguments may be.
    """
    for name, allowed in {**(choices or {}), **CHOICES}.items():
        if name in settings:
            check_choice(name, settings[name], allowed)
    for name, most in limits.MOST_OF.items():
        value = settings.get(name, 1)
        if not isinstance(value, int) or not 1 <= value <= most:
            raise ValueError(f"{name}: {value!r}; expected an integer from 1 to {most}")
    if not 0 <= settings.get("dropout", 0) < 1:
        raise ValueError(f"dropout: {settings['dropout']}; expected a share from 0 to below 1")
    for name, (size, kinds) in DESCRIPTIONS.items():
        value = settings.get(name)
        if value is not None:
            if {*value} != {"kind", size}:
                raise ValueError(f"{name}: {value}; expected the keys kind and {size}, or None")
            check_choice(f"{name}, kind", value["kind"], kinds)
