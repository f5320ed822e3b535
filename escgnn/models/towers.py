"""What PNA and DGN share: neighbours aggregated in several ways, each scaled by how many there are, and layers of it."""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from math import log
from typing import Any, ClassVar

import torch
from torch import Tensor, nn
from torch.nn import functional

from escgnn.layers import NORMS, FeatureEncoder
from escgnn.models.frame import Frame, check_shared
from escgnn.models.heads import halving

AGGREGATORS = ("mean", "max", "min", "std")
DIRECTED = ("dir-av", "dir-dx")
SCALERS = ("identity", "amplification", "attenuation")
VARIANTS = ("towers", "simple")
LEAST_VARIANCE = 1e-5  # so that deviations have gradients where all neighbours agree


class DegreeScaled(nn.Module):
    r"""Aggregates messages in several ways, and scales each by degree.

    Scalers are 1 (``"identity"``), :math:`s = \log(d_v + 1) / \delta` (``"amplification"``) and :math:`1 / s`
    (``"attenuation"``), where :math:`\delta` is the mean of :math:`\log(d + 1)` over training nodes. Whatever the way, nothing is
    heard from no neighbours: 0.

    Directed ways weigh messages by a vector :math:`w_{uv}` for each edge: ``"dir-av"`` is :math:`\sum_u \|w_{uv}\| m_u`,
    ``"dir-dx"`` the length of :math:`\sum_u w_{uv} (m_u - h_v)`, channel by channel.

    Args:
        aggregators: Of ``"mean"``, ``"max"``, ``"min"``, ``"std"``, ``"dir-av"`` and ``"dir-dx"``.
        scalers: Of ``"identity"``, ``"amplification"`` and ``"attenuation"``.
        degrees: How many training nodes have degree 0, 1, 2, ...

    Shapes:
        Messages :math:`(E, channels)` to :math:`(N, blocks, channels)`.
    """

    def __init__(self, aggregators: Sequence[str], scalers: Sequence[str], degrees: Sequence[int]) -> None:
        super().__init__()
        self.aggregators = [*aggregators]
        self.scalers = [*scalers]
        self.blocks = len(self.aggregators) * len(self.scalers)
        logs = sum(number * log(degree + 1) for degree, number in enumerate(degrees))
        self.unit = logs / max(1, sum(degrees)) or 1.0  # graphs without edges have nothing to scale

    def forward(self, messages: Tensor, h: Tensor, target: Tensor, direction: Tensor | None = None) -> Tensor:
        """What every node hears.

        Args:
            messages: Of all edges, (E, channels).
            h: Vectors of all nodes, (N, channels).
            target: Who hears each message, (E,).
            direction: Weights of all edges, (E, width), for directed ways.
        """
        number = h.new_zeros(h.size(0), 1).index_add(0, target, h.new_ones(target.size(0), 1))  # (N, 1)
        ways = [self._aggregated(way, messages, h, target, number, direction) for way in self.aggregators]
        logs = torch.log(number + 1)  # (N, 1)
        more = torch.log(number.clamp_min(1) + 1)
        factors = {
            "identity": torch.ones_like(logs),
            "amplification": logs / self.unit,
            "attenuation": self.unit / more,
        }
        blocks = [way * factors[scaler] for scaler in self.scalers for way in ways]
        return torch.stack(blocks, 1)  # (N, blocks, channels)

    def _aggregated(
        self, way: str, messages: Tensor, h: Tensor, target: Tensor, number: Tensor, direction: Tensor | None
    ) -> Tensor:
        """What every node hears in one way, (N, channels)."""
        none = messages.new_zeros(h.size(0), messages.size(1))  # (N, channels)
        if way in ("max", "min"):
            index = target.unsqueeze(1).expand_as(messages)
            return none.scatter_reduce(0, index, messages, f"a{way}", include_self=False)
        if way in DIRECTED:
            assert direction is not None
            weight = direction.to(messages.dtype)  # (E, width)
            if way == "dir-av":
                return none.index_add(0, target, torch.linalg.vector_norm(weight, dim=1, keepdim=True) * messages)
            change = messages - h.index_select(0, target).to(messages.dtype)  # (E, channels)
            parts = [none.index_add(0, target, one.unsqueeze(1) * change) for one in weight.unbind(1)]
            length: Tensor = torch.linalg.vector_norm(torch.stack(parts, 1), dim=1)
            return length
        mean = none.index_add(0, target, messages) / number.clamp_min(1)
        if way == "mean":
            return mean
        square = none.index_add(0, target, messages.square()) / number.clamp_min(1)
        return torch.sqrt((square - mean.square()).relu() + LEAST_VARIANCE) * number.clamp_max(1)


class GroupedLinear(nn.Module):
    """A linear map for each of several groups of channels, (rows, groups, inputs) to (rows, groups * outputs)."""

    def __init__(self, groups: int, inputs: int, outputs: int, *, bias: bool = True) -> None:
        super().__init__()
        bound = inputs**-0.5  # as torch's own
        self.weight = nn.Parameter(torch.empty(groups, inputs, outputs).uniform_(-bound, bound))
        self.bias = nn.Parameter(torch.empty(groups * outputs).uniform_(-bound, bound)) if bias else None

    def forward(self, x: Tensor) -> Tensor:
        """The mapped rows."""
        groups = torch.bmm(x.transpose(0, 1), self.weight)  # (groups, rows, outputs)
        out = torch.cat(groups.unbind(0), 1)  # (rows, groups * outputs)
        return out if self.bias is None else out + self.bias


class TowerLayer(nn.Module):
    r"""Towers on slices of the vectors, then mixed: each has a message :math:`M(h_v, h_u, e_{uv})` and an update of its own.

    Linear maps of towers are the blocks of one map. So is M, as a sum of maps of sender, receiver and edge.

    Args:
        inputs: Size of the vectors of nodes.
        outputs: Size of the new ones.
        edge_channels: Size of the vectors of edges; None without them.
        towers: How many; they divide inputs and outputs.
        aggregation: How messages are aggregated.
        norm: ``"batch"``, ``"layer"`` or ``"none"``, before they are mixed.
        dropout: Share of values dropped there.
        residual: Whether the result is added to the vectors that came in.

    Shapes:
        :math:`(N, inputs)` to :math:`(N, outputs)`.
    """

    def __init__(
        self,
        inputs: int,
        outputs: int,
        edge_channels: int | None,
        towers: int,
        aggregation: DegreeScaled,
        *,
        norm: str = "none",
        dropout: float = 0.0,
        residual: bool = False,
    ) -> None:
        super().__init__()
        self.towers = towers
        self.dropout = dropout
        self.residual = residual
        self.width = inputs // towers
        self.sender = GroupedLinear(towers, self.width, self.width, bias=False)
        self.receiver = GroupedLinear(towers, self.width, self.width)
        self.edge = nn.Linear(edge_channels, inputs, bias=False) if edge_channels else None
        self.aggregation = aggregation
        self.update = GroupedLinear(towers, (aggregation.blocks + 1) * self.width, outputs // towers)
        self.norm = NORMS[norm](outputs)
        self.mix = nn.Linear(outputs, outputs)

    def forward(
        self,
        h: Tensor,
        edge_index: Tensor,
        edge: Tensor | None,
        unit: Tensor | None = None,
        direction: Tensor | None = None,
    ) -> Tensor:
        """New vectors of all nodes; ``unit`` is what they are multiplied by before the norm, (N, 1)."""
        source, target = edge_index[0], edge_index[1]
        slices = h.view(h.size(0), self.towers, self.width)  # (N, towers, width)
        messages = self.sender(slices)[source] + self.receiver(slices)[target]  # (E, inputs)
        if self.edge is not None:
            messages = messages + self.edge(edge)
        heard = self.aggregation(messages, h, target, direction)  # (N, blocks, inputs)
        both = torch.cat([h.unsqueeze(1), heard], 1)  # (N, 1 + blocks, inputs)
        apart = both.view(h.size(0), both.size(1), self.towers, self.width).transpose(
            1, 2
        )  # (N, towers, 1 + blocks, width)
        new = self.update(apart.flatten(2))  # (N, outputs)
        if unit is not None:
            new = new * unit
        new = functional.dropout(self.norm(new), self.dropout, self.training)
        new = functional.leaky_relu(self.mix(new))  # (N, outputs)
        return h + new if self.residual else new


class SimpleLayer(nn.Module):
    """A round without towers: vectors of neighbours are aggregated as they are. (N, inputs) to (N, outputs).

    Args:
        inputs: Size of the vectors of nodes.
        outputs: Size of the new ones; if it is the same, they are added to those before.
        aggregation: How neighbours are aggregated.
        norm: ``"batch"``, ``"layer"`` or ``"none"``.
        dropout: Share of values dropped.
    """

    def __init__(self, inputs: int, outputs: int, aggregation: DegreeScaled, norm: str, dropout: float) -> None:
        super().__init__()
        self.aggregation = aggregation
        self.update = nn.Linear(aggregation.blocks * inputs, outputs)
        self.norm = NORMS[norm](outputs)
        self.dropout = dropout
        self.residual = inputs == outputs

    def forward(
        self,
        h: Tensor,
        edge_index: Tensor,
        edge: Tensor | None,
        unit: Tensor | None = None,
        direction: Tensor | None = None,
    ) -> Tensor:
        """New vectors of all nodes; those of edges are not read."""
        messages = h.index_select(0, edge_index[0])  # (E, inputs)
        heard = self.aggregation(messages, h, edge_index[1], direction)  # (N, blocks, inputs)
        new = self.update(heard.flatten(1))  # (N, outputs)
        if unit is not None:
            new = new * unit
        new = self.norm(new).relu()
        new = h + new if self.residual else new
        return functional.dropout(new, self.dropout, self.training)


class AggregationNetwork(Frame):
    """What PNA and DGN are made of; they say which ways of aggregation there are, and their defaults."""

    measures = ("degrees",)
    ways: ClassVar[tuple[str, ...]] = AGGREGATORS

    def add_body(self) -> None:
        """Make all there is, by the settings."""
        self.check(self.settings)
        chosen = self.settings
        hidden = chosen["hidden"]
        last = chosen["last"] or hidden
        is_simple = chosen["variant"] == "simple"
        edge_features = None if is_simple else chosen["edge_features"]
        self.nodes = FeatureEncoder(**(chosen["node_features"] or {"kind": None, "sizes": ()}), channels=hidden)
        self.edges = FeatureEncoder(**edge_features, channels=chosen["edge_hidden"]) if edge_features else None
        self.add_positions(hidden)
        edge_channels = chosen["edge_hidden"] if edge_features else None
        widths = [hidden] * chosen["layers"] + [last]
        self.layers = nn.ModuleList(self._layer(inputs, outputs, edge_channels) for inputs, outputs in pairwise(widths))
        self.add_read_out(last, edge_channels or 0, last)
        width = 2 * last + (edge_channels or 0) if chosen["level"] == "edge" else last
        self.head = halving(width, chosen["out_channels"])

    def _layer(self, inputs: int, outputs: int, edge_channels: int | None) -> nn.Module:
        chosen = self.settings
        aggregation = DegreeScaled(chosen["aggregators"], chosen["scalers"], chosen["degrees"] or ())
        if chosen["variant"] == "simple":
            return SimpleLayer(inputs, outputs, aggregation, chosen["norm"], chosen["dropout"])
        return TowerLayer(
            inputs,
            outputs,
            edge_channels,
            chosen["towers"],
            aggregation,
            norm=chosen["norm"],
            dropout=chosen["dropout"],
            residual=inputs == outputs,
        )

    @classmethod
    def check(cls, settings: Mapping[str, Any]) -> None:
        """Refuse values that mean nothing."""
        check_shared(settings, {"variant": VARIANTS})
        for name, known in (("aggregators", cls.ways), ("scalers", SCALERS)):
            given = settings.get(name, known)
            if isinstance(given, str) or not given or not {*given} <= {*known}:
                raise ValueError(f"{name}: {given!r}; expected one or more of {', '.join(known)}")
        for name in ("edge_hidden", "last", "towers"):
            value = settings.get(name)
            if value is not None and (not isinstance(value, int) or value < 1):
                raise ValueError(f"{name}: {value!r}; expected an integer from 1")
        towers = settings.get("towers", 1)
        for name in ("hidden", "last"):
            width = settings.get(name)
            if settings.get("variant") != "simple" and width and width % towers:
                raise ValueError(f"towers: {towers}; expected a divisor of {name}, which is {width}")

    @classmethod
    def measure(cls, settings: Mapping[str, Any], task: Any, graphs: Any) -> dict[str, Any]:
        """The degrees of the training graphs."""
        return {"degrees": torch.from_numpy(graphs.view().degrees).bincount().tolist()}

    @property
    def reads(self) -> frozenset[str]:
        """The attributes of a batch that the network reads."""
        return super().reads if self.edges is not None else super().reads - {"edge_attr"}

    def direction(self, tensors: Mapping[str, Tensor]) -> Tensor | None:
        """Weights of all edges, (E, width), for directed ways; None if there are none."""
        return None

    def forward_tensors(self, tensors: Mapping[str, Tensor]) -> Tensor:
        """Predictions from plain tensors by name, those that `reads` lists."""
        edge_index = tensors["edge_index"]
        batch = tensors["batch"]
        h = self.node_vectors(tensors)  # (N, hidden)
        edge = self.edge_vectors(tensors)  # (E, edge_hidden)
        direction = self.direction(tensors)  # (E, width)
        unit: Tensor | None = None
        if self.settings["graph_norm"]:
            sizes = tensors["ptr"].diff().to(h.dtype)  # (G,)
            unit = sizes.index_select(0, batch).rsqrt().unsqueeze(1)  # (N, 1)
        for layer in self.layers:
            h = layer(h, edge_index, edge, unit, direction)  # (N, hidden), at last (N, last)
        return self._read_out(h, edge_index, edge, batch, tensors["ptr"].numel() - 1)
