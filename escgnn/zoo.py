"""The networks by name: each with its transforms, so that training names no network.

To add one, write ``models/<name>.py`` and add a row to `ZOO`; `tests/test_zoo.py` then holds it to the contract. A network
of your own needs no row: hand its `Recipe` to `escgnn.training`.

>>> ZOO["esc-gnn"].network.__name__, ZOO["esc-gnn"].each.__name__
('ESCGNN', 'StructuralEncoding')
"""

import difflib
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from inspect import Parameter, signature
from typing import Any

from escgnn import presets
from escgnn.metrics import out_channels
from escgnn.models import (
    DSSGNN,
    ESCGNN,
    GINAK,
    GSN,
    I2GNN,
    IDGNN,
    KGNN,
    LGPGNN,
    NGNN,
    OSAN,
    PLGNN,
    PPGN,
    SUN,
    Bounded,
    GraphormerGD,
    Network,
    OneGNN,
)
from escgnn.transforms import (
    ChoiceBags,
    ClosedWalks,
    PairDistances,
    PairRows,
    PatternCounts,
    PolicyBags,
    Positions,
    RootedNodes,
    RootedPairs,
    StructuralEncoding,
    Triples,
)

FROM_DATA = ("out_channels", "level", "node_features", "edge_features", "descriptors")  # what a dataset decides


@dataclass(frozen=True)
class Recipe:
    """A network and what is done to the graphs before it sees them.

    Attributes:
        network: The class of the network.
        each: The class of the transform of every batch: it is called with a batch, and gives one. It should say what it adds, as
            the attribute ``adds``.
        once: The class of the transform of a whole dataset: it is called with a `GraphStore`, and gives one.
        fixed: Arguments of the network or its transforms that are no settings, because this row is what it is by them.
        paper: Where the network comes from.
        cost: What a step takes, in words: what its tensors have a row for.
        presets: Settings of a run by name, such as ``authors/zinc-12k``; those called ``default`` lie beneath all others.
    """

    network: type[Network]
    each: type | None = None
    once: Callable[..., Any] | None = None
    fixed: Mapping[str, Any] = field(default_factory=dict)
    paper: str = ""
    cost: str = ""
    presets: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not (isinstance(self.network, type) and issubclass(self.network, Network)):
            raise ValueError(f"network: {self.network!r}; expected a class derived from escgnn.models.Network")
        for name in ("each", "once"):
            kind = getattr(self, name)
            if not (kind is None or isinstance(kind, type)):
                raise ValueError(
                    f"{name}: {kind!r}; expected a class, whose arguments are the settings of the transform"
                )

    @property
    def name(self) -> str:
        """Its name in the zoo; that of the network's class if it is not there."""
        return next((name for name, recipe in ZOO.items() if recipe is self), self.network.__qualname__)

    def transforms(self, settings: Mapping[str, Any]) -> tuple[Any, Any]:
        """The transform of each batch and that of the store, None where there is none."""
        made = []
        for kind in (self.each, self.once):
            given = {**settings, **self.fixed}
            own = {} if kind is None else {name: given[name] for name in arguments(kind) if name in given}
            made.append(None if kind is None else kind(**own))
        return made[0], made[1]

    def decided(self, each: Any, once: Any) -> dict[str, Any]:
        """Arguments of the network that this row or its transforms decide."""
        known = arguments(self.network)
        found = {name: value for name, value in self.fixed.items() if name in known}
        for name in known:
            for transform in (each, once):
                if transform is not None and name not in found and hasattr(transform, name):
                    found[name] = getattr(transform, name)
        return found

    def options(self, each: Any, once: Any) -> dict[str, Parameter]:
        """Arguments of the network that are left to be set."""
        taken = {*FROM_DATA, *self.network.measures, *self.decided(each, once)}
        return {name: one for name, one in arguments(self.network).items() if name not in taken}

    def build(
        self, settings: Mapping[str, Any], each: Any, once: Any, *, task: Any, features: Mapping[str, Any], graphs: Any
    ) -> Network:
        """A new network for a task, its weights drawn from torch's random numbers.

        Args:
            settings: Arguments that were set.
            each: What `transforms` gives.
            once: The same.
            task: What it predicts.
            features: What nodes and edges hold, as a `escgnn.datasets.DatasetBundle` says it.
            graphs: The training graphs.

        Raises:
            ValueError: The settings do not suit the task, or each other.
        """
        given = {**settings, **self.decided(each, once)}
        described = {name: asdict(features[name]) if name in features else None for name in ("x", "edge_attr")}
        from_data = {
            "out_channels": out_channels(task),
            "level": task.level,
            "node_features": described["x"],
            "edge_features": described["edge_attr"],
        }
        known = arguments(self.network)
        if "descriptors" in features:
            if "descriptors" not in known:
                able = ", ".join(name for name, row in ZOO.items() if "descriptors" in arguments(row.network))
                raise ValueError(f"model: {self.name} reads no descriptors; those that do are {able}")
            from_data["descriptors"] = sum(features["descriptors"].sizes)
        given |= {name: value for name, value in from_data.items() if name in known}
        given |= self.network.measure(given, task, graphs)
        with Bounded():
            return self.network(**given)


def arguments(kind: Callable[..., Any]) -> dict[str, Parameter]:
    """The named arguments of a class."""
    unnamed = (Parameter.VAR_POSITIONAL, Parameter.VAR_KEYWORD)
    return {name: one for name, one in signature(kind).parameters.items() if one.kind not in unnamed}


def recipe_of(name: str) -> Recipe:
    """The row of that name.

    >>> recipe_of("gpps")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    ValueError: model: 'gpps'; did you mean 'gps'? There are esc-gnn, gin, ...

    Raises:
        ValueError: There is none.
    """
    if isinstance(name, str) and name in ZOO:
        return ZOO[name]
    near = difflib.get_close_matches(str(name), ZOO, 1)
    hint = f"did you mean {near[0]!r}? " if near else ""
    raise ValueError(f"model: {name!r}; {hint}There are {', '.join(ZOO)}")


EDGES = "E: a message for every edge"
ATTENTION = "E + Σ n²: a message for every edge, and a weight for every two nodes"
BALLS = "Σ_v E(B(v)): a message for every edge of the ball around each node"
PAIRS = "Σ_v deg(v) E(B(v)): a message for every edge of the ball around each node, once for each neighbour"
WHOLES = "Σ n²: a row for every two nodes; Σ n E: a message for every node and edge, fewer in balls"
K_GNN = "Morris et al., Weisfeiler and Leman Go Neural: Higher-order Graph Neural Networks, AAAI 2019"
DROP = {"outside": "drop"}  # the subgraph is the ball, and nothing else


def _plain(backbone: str, paper: str, cost: str = EDGES) -> Recipe:
    """Message passing as it is, without the structural encoding."""
    off = {"backbone": backbone, "num_bins": None, "node_tuples": False}
    return Recipe(ESCGNN, once=Positions, fixed=off, paper=paper, cost=cost)


DEFAULT = "esc-gnn"
ZOO: dict[str, Recipe] = {
    "esc-gnn": Recipe(
        ESCGNN,
        each=StructuralEncoding,
        once=Positions,
        paper="Yan et al., An Efficient Subgraph GNN with Provable Substructure Counting Power, KDD 2024",
        cost=f"{EDGES}; structure is counted before",
    ),
    "gin": _plain("gin", "Hu et al., Strategies for Pre-training Graph Neural Networks, ICLR 2020"),
    "mpnn": _plain("mpnn", "Gilmer et al., Neural Message Passing for Quantum Chemistry, ICML 2017"),
    "gps": _plain(
        "gps", "Rampášek et al., Recipe for a General, Powerful, Scalable Graph Transformer, NeurIPS 2022", ATTENTION
    ),
    "pna": _plain("pna", "Corso et al., Principal Neighbourhood Aggregation for Graph Nets, NeurIPS 2020"),
    "gatedgcn": _plain("gatedgcn", "Bresson and Laurent, Residual Gated Graph ConvNets, 2017"),
    "id-gnn": Recipe(
        IDGNN,
        each=RootedNodes,
        fixed={**DROP, "resistance": False},
        paper="You et al., Identity-aware Graph Neural Networks, AAAI 2021",
        cost=BALLS,
        presets=presets.ID_GNN,
    ),
    "ngnn": Recipe(
        NGNN,
        each=RootedNodes,
        fixed=DROP,
        paper="Zhang and Li, Nested Graph Neural Networks, NeurIPS 2021",
        cost=BALLS,
        presets=presets.NGNN,
    ),
    "gin-ak": Recipe(
        GINAK,
        each=RootedNodes,
        fixed={**DROP, "resistance": False},
        paper="Zhao et al., From Stars to Subgraphs: Uplifting Any GNN with Local Structure Awareness, ICLR 2022",
        cost=BALLS,
        presets=presets.GIN_AK,
    ),
    "i2-gnn": Recipe(
        I2GNN,
        each=RootedPairs,
        paper="Huang et al., Boosting the Cycle Counting Power of Graph Neural Networks with I²-GNNs, ICLR 2023",
        cost=PAIRS,
        presets=presets.I2_GNN,
    ),
    "dss-gnn": Recipe(
        DSSGNN,
        each=PolicyBags,
        paper="Bevilacqua et al., Equivariant Subgraph Aggregation Networks, ICLR 2022",
        cost=f"{WHOLES}; with ED every edge in place of every node",
        presets=presets.DSS_GNN,
    ),
    "sun": Recipe(
        SUN,
        each=PolicyBags,
        paper="Frasca et al., Understanding and Extending Subgraph GNNs by Rethinking their Symmetries, NeurIPS 2022",
        cost=WHOLES,
        presets=presets.SUN,
    ),
    "osan": Recipe(
        OSAN,
        each=ChoiceBags,
        paper="Qian et al., Ordered Subgraph Aggregation Networks, NeurIPS 2022",
        cost="(T + 1) E: a message for every edge of the graph and of each of T chosen subgraphs",
        presets=presets.OSAN,
    ),
    "pl-gnn": Recipe(
        PLGNN,
        paper="Bevilacqua et al., Efficient Subgraph GNNs by Learning Effective Selection Policies, ICLR 2024",
        cost="(T² + 3 T + 2) / 2 E: a message for every edge of T + 1 copies, and of those before as T nodes are chosen",
        presets=presets.PL_GNN,
    ),
    "gsn": Recipe(
        GSN,
        once=PatternCounts,
        paper="Bouritsas et al., Improving GNN Expressivity via Subgraph Isomorphism Counting, TPAMI 2022",
        cost=f"{EDGES}; patterns are counted before",
        presets=presets.GSN,
    ),
    "ppgn": Recipe(
        PPGN,
        each=PairRows,
        paper="Maron et al., Provably Powerful Graph Networks, NeurIPS 2019",
        cost="Σ n²: a row for every two nodes; Σ n³: products of matrices",
        presets=presets.PPGN,
    ),
    "graphormer-gd": Recipe(
        GraphormerGD,
        each=PairDistances,
        paper="Zhang et al., Rethinking the Expressive Power of GNNs via Graph Biconnectivity, ICLR 2023",
        cost="Σ n²: a weight and a message for every two nodes, whose distances are measured before",
        presets=presets.GRAPHORMER_GD,
    ),
    "lgp-gnn": Recipe(
        LGPGNN,
        once=ClosedWalks,
        paper="Barceló et al., Graph Neural Networks with Local Graph Parameters, NeurIPS 2021",
        cost=f"{EDGES}; walks are counted before",
        presets=presets.LGP_GNN,
    ),
    "1-gnn": Recipe(
        OneGNN,
        fixed={"sets": [1]},
        paper=K_GNN,
        cost=f"{EDGES}, with a matrix each if it has features",
        presets=presets.ONE_GNN,
    ),
    "1-2-3-gnn": Recipe(
        KGNN,
        each=Triples,
        fixed={"sets": [1, 2, 3], "connected": True},
        paper=K_GNN,
        cost="Σ n²: a row for every two nodes; Σ n³: products of matrices; a row for every three nodes that hang together",
        presets=presets.ONE_TWO_THREE_GNN,
    ),
    "3-gnn": Recipe(
        KGNN,
        each=Triples,
        fixed={"sets": [3], "connected": False},
        paper=K_GNN,
        cost="Σ n³ / 6: a row for every three nodes; Σ n E: a message to each for each neighbour of one of them",
        presets=presets.THREE_GNN,
    ),
}


def without_transform(name: str, settings: Mapping[str, Any]) -> str:
    """The row with the same network and no transform of batches, where there is one with these settings.

    >>> without_transform("esc-gnn", {"backbone": "pna", "hidden": 8})
    'pna'

    Raises:
        ValueError: There is none.
    """
    recipe = recipe_of(name)
    if recipe.each is None:
        return name
    chosen = {key: one.default for key, one in arguments(recipe.network).items()} | {**settings}
    for other, row in ZOO.items():
        if row.network is recipe.network and row.each is None and row.fixed.items() <= chosen.items():
            return other
    raise ValueError(
        f"model: no row is {name} with {dict(settings)} and without its transform; there are {', '.join(ZOO)}"
    )
