r"""BREC: 400 pairs of graphs, told apart by networks trained pair by pair, beside what is possible at all (exact ESC-WL).

The protocol is RPC of Wang and Zhang, An Empirical Study of Realized GNN Expressiveness, ICML 2024. Each pair has a network
of its own, which a contrastive loss teaches to map renamed copies :math:`G_i` and :math:`H_i` to different vectors. Then
Hotelling's :math:`T^2` test says whether the mean of :math:`f(G_i) - f(H_i)` is 0, and the same test on copies of G alone
shows whether it can be relied on.
"""

import json
import time
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from rich.console import Console
from rich.progress import track
from scipy.stats import f as f_distribution  # type: ignore[import-untyped]
from torch import Tensor
from torch.nn.functional import cosine_embedding_loss

from escgnn import wl
from escgnn.bags import BagTooLargeError
from escgnn.datasets import BREC_CATEGORIES, DatasetBundle, load
from escgnn.disk import atomic
from escgnn.encoding import RootedEncoding
from escgnn.experiments.experiment import Cell, Experiment, Outcome
from escgnn.experiments.systems import present, settings_of, with_known
from escgnn.experiments.trained import merged
from escgnn.models import ESCGNN, Network
from escgnn.records import Table
from escgnn.store import GraphStore
from escgnn.task import Task
from escgnn.training import Splitting, fit_normalisation, read_config, run_network
from escgnn.transforms import StructuralEncoding
from escgnn.zoo import recipe_of

CATEGORIES = tuple(BREC_CATEGORIES.values())
COLUMNS = (*CATEGORIES, "total")
EXTENDED = "ESC-GNN, extended"  # 1-WL inside subgraphs that hold nearly all of every graph
ENCODINGS: dict[str, dict[str, Any] | None] = {
    "ESC-GNN": {"hops": 1},
    "ESC-GNN, several hops": {"hops": [1, 2, 3, 4]},
    EXTENDED: {"hops": 16, "parts": ["joint", "colour"], "colour_rounds": 6, "colour_bins": 128},
    "MPNN": None,
}
RIVALS = present(("NGNN", "GIN-AK+", "I²-GNN", "PPGN", "GSN", "SUN"))
COPIES = 32
DIMENSION = 16  # of the vectors that networks give graphs
ALPHA = 0.05  # chance that a test of equal means fails
RIDGE = float(np.finfo(np.float32).eps)
LOOK_EVERY = 5  # epochs
FLAT = 1e-6  # T² of vectors that agree to ten digits: the same to the network, and no gradient leads away from there
PUBLISHED = {
    "I²-GNN": 281,
    "KP-GNN": 275,
    "3-WL": 270,
    "GSN": 254,
    "PPGN": 233,
    "SUN": 223,
    "GIN-AK+": 222,
    "NGNN": 166,
}


def threshold(copies: int, dimension: int) -> float:
    """The T² that equal means exceed with probability 0.05.

    >>> round(threshold(32, 16), 2)
    72.34
    """
    quantile = f_distribution.isf(ALPHA, dimension, copies - dimension)
    return float(dimension * (copies - 1) / (copies - dimension) * quantile)


BREC = Table(
    label="brec",
    title="BREC: pairs that a network tells apart",
    metric="pairs of 60, 50, 50, 100, 100, 20 and 20, of 400 in total",
    columns=COLUMNS,
    rows=(*ENCODINGS, *RIVALS),
    better="higher",
    paper={row: (*(None for _ in CATEGORIES), total) for row, total in PUBLISHED.items()},
    digits=0,
    note=f"Each pair is tested with {COPIES} renamed copies: T² above {threshold(COPIES, DIMENSION):.2f}, the F distribution's "
    f"threshold at {ALPHA} for {DIMENSION} numbers, counts if copies of one graph stay below it. A network gives all copies of "
    f"a graph one vector, so the variance is that of rounding; ({RIDGE:.1e} r)² is added to it, r the root mean square of the "
    "vectors: what float32 cannot show does not count. All is computed in float64. A pair is tested before training, too, with "
    "batch normalisation that has seen it, and "
    f"every {LOOK_EVERY} epochs; once told apart, it is not trained further (it is with the budget paper). Systems of the zoo, "
    "whose subgraphs are many times as large as a graph, first have a glance at two copies of each graph, but with the budget "
    f"paper: where T² is below {FLAT:.0e}, the loss, a cosine of equal vectors, is flat, and the pair counts as not told apart "
    "as it is; so do pairs with more rows than their max_rows allows, which the records count. The authors' "
    "code has no factor q in T² and a pseudo-inverse for the ridge. The parts of the extended row, and how rounds are read out "
    "in all rows, were chosen on these very pairs. Published totals: Wang and Zhang, ICML 2024.",
    sources={
        "I²-GNN": "pairs that did not fit into memory left out",
        "NGNN": "one hop, no labels",
        "GSN": "graphs of four nodes, induced, per edge",
        "PPGN": "5 x 32",
        "SUN": "less than the 251 pairs that its kind can tell apart with the same subgraphs",
    },
)
CEILING = Table(
    label="brec, exact",
    title="BREC, exact ceiling: pairs that ESC-WL with exact colours tells apart",
    metric=BREC.metric,
    columns=COLUMNS,
    rows=tuple(ENCODINGS),
    better="higher",
    digits=0,
    note="No training and no rounding: an upper bound for any network with this encoding. MPNN: 1-WL.",
)

# Rate, decay, epochs and batches are those of the benchmark's authors.
PROTOCOL = {"copies": COPIES, "dimension": DIMENSION, "lr": 1e-4, "weight_decay": 1e-4, "batch": 16}
BUDGETS: dict[str, dict[str, Any]] = {
    "smoke": {"hidden": 8, "layers": 2, "epochs": 1, "stop": True, "pairs": 1},
    "hour": {"hidden": 16, "layers": 4, "epochs": 20, "stop": True, "pairs": None},
    "paper": {"hidden": 32, "layers": 4, "epochs": 20, "stop": False, "pairs": None},
}

GLANCES: dict[str, dict[str, int]] = {"smoke": {"glance": 2}, "hour": {"glance": 2}, "paper": {}}  # copies, of a system
MOST_ROWS = 1 << 20  # of one graph, for a system with any other budget than paper


def cells(budget: str, seeds: int) -> Sequence[Cell]:
    """A cell trains all pairs of a row; exact tests once."""
    chosen = {**PROTOCOL, **BUDGETS[budget]}
    found = []
    for seed in range(seeds):
        for row, encoding in ENCODINGS.items():
            found.append(Cell(row, seed, "", {"encoding": encoding, **chosen}))
        for row in RIVALS:
            found.append(Cell(row, seed, "", {"system": _system(row, budget), **GLANCES[budget], **chosen}))
    for row, encoding in ENCODINGS.items():
        found.append(Cell(row, 0, "exact", {"encoding": encoding, "pairs": chosen["pairs"]}))
    return found


def _system(row: str, budget: str) -> dict[str, Any]:
    """The settings of a system of the zoo: as large as all others; with the budget paper, as its authors have it."""
    own = settings_of(row, "brec")
    if budget == "paper":
        return own
    size = {name: BUDGETS[budget][name] for name in ("hidden", "layers")}
    return with_known(merged(own, {"network": size}), {"max_rows": MOST_ROWS})


def run(cell: Cell, folder: Path, progress: bool) -> Outcome:
    """Train a network on every pair, or colour the pairs exactly, as the variant says."""
    bundle = load("brec")
    numbers = chosen_pairs(bundle, cell.settings["pairs"])
    if cell.variant == "exact":
        return Outcome({CEILING.label: _by_category(bundle, exact(bundle, numbers, cell.settings["encoding"]))})
    found = compare_all(bundle, numbers, cell, folder / "pairs.json", progress)
    limit = threshold(cell.settings["copies"], cell.settings["dimension"])
    apart = [number for number, each in found.items() if each.is_told_apart(limit)]
    return Outcome(
        values={BREC.label: _by_category(bundle, apart)},
        epochs=max((each.epochs for each in found.values()), default=0),
        seconds=sum(each.seconds for each in found.values()),
        note=_note(found, apart, cell.settings, limit),
    )


@dataclass(frozen=True)
class Comparison:
    """What a network says of a pair.

    Attributes:
        apart: T² between the two graphs.
        control: T² between copies of the first.
        epochs: Epochs trained.
        seconds: Time that it took.
        refused: Whether the pair is too large for the network, and so not told apart.
        flat: Whether a glance was enough to see that both graphs are the same to it.
    """

    apart: float
    control: float
    epochs: int = 0
    seconds: float = 0.0
    refused: bool = False
    flat: bool = False

    def is_told_apart(self, limit: float) -> bool:
        """Whether the graphs differ by more than the limit, and copies of one do not."""
        return self.apart > limit and self.control <= limit


def chosen_pairs(bundle: DatasetBundle, most: int | None) -> list[int]:
    """Numbers of the first so many pairs of every category, of all if None."""
    seen: Counter[str] = Counter()
    numbers = []
    for number, category in enumerate(bundle.categories):
        seen[category] += 1
        if most is None or seen[category] <= most:
            numbers.append(number)
    return numbers


def exact(bundle: DatasetBundle, numbers: Sequence[int], encoding: Mapping[str, Any] | None) -> list[int]:
    """Those of the pairs that ESC-WL tells apart, 1-WL if there is no encoding."""
    assert bundle.pairs is not None
    test = wl.OneWL() if encoding is None else wl.ESCWL(RootedEncoding(**encoding))
    kinds = wl.partition(bundle.graphs[bundle.pairs[numbers].ravel()].view(), test).reshape(-1, 2)
    return [number for number, (g, h) in zip(numbers, kinds, strict=True) if g != h]


def compare_all(
    bundle: DatasetBundle, numbers: Sequence[int], cell: Cell, path: Path, progress: bool
) -> dict[int, Comparison]:
    """Compare the pairs that the file does not have yet; it is written after each."""
    assert bundle.pairs is not None
    done = json.loads(path.read_text()) if path.exists() else {}
    console = Console(stderr=True)
    left = [number for number in numbers if str(number) not in done]
    for number in track(left, f"{cell.row}, pairs", console=console, disable=not progress, transient=True):
        g, h = (bundle.graphs[int(i)] for i in bundle.pairs[number])
        done[str(number)] = asdict(_compared(g, h, cell.settings, (cell.seed, number)))
        with atomic(path) as draft:
            draft.write_text(json.dumps(done, indent=0))
    return {number: Comparison(**done[str(number)]) for number in numbers}


def _compared(g: Any, h: Any, settings: Mapping[str, Any], seed: tuple[int, int]) -> Comparison:
    """What `compare` says; a pair that does not fit is not told apart."""
    try:
        return compare(g, h, settings, seed)
    except BagTooLargeError:
        return Comparison(apart=0.0, control=0.0, refused=True)


def compare(g: Any, h: Any, settings: Mapping[str, Any], seed: tuple[int, int]) -> Comparison:
    """Train a network to tell two graphs apart, and test whether it does.

    Args:
        g: A graph, as PyG ``Data``; only its edges are used.
        h: Another one.
        settings: Those of a cell.
        seed: Decides the copies and the first weights.
    """
    if "glance" in settings:
        found = _protocol(g, h, {**settings, "copies": settings["glance"], "epochs": 0}, seed)
        if found.apart < FLAT:
            return replace(found, flat=True)
    return _protocol(g, h, settings, seed)


def _protocol(g: Any, h: Any, settings: Mapping[str, Any], seed: tuple[int, int]) -> Comparison:
    """What the protocol says of two graphs, with as many copies and epochs as the settings have."""
    start = time.perf_counter()
    rng = np.random.default_rng(seed)
    torch.manual_seed(int(rng.integers(1 << 62)))
    store = GraphStore.concatenate([copies(graph, settings["copies"], rng) for graph in (g, h, g)])
    each, once = transforms(settings)
    store = store if once is None else once(store)
    blocks = np.arange(len(store)).reshape(3, -1)  # copies of g, of h, and others of g
    width = settings["batch"] // 2
    split = Splitting(each)
    batches: list[Any] = []  # of copies of both graphs
    controls: list[Any] = []  # of further ones of g
    for at in range(0, settings["copies"], width):
        ours, theirs, others = (block[at : at + width] for block in blocks)
        for kind, members in ((batches, np.concatenate([ours, theirs])), (controls, others)):
            kind.append(split(store.batch(members)))
    model = network(each, once, settings, store)
    model.prepare(batches, (), each)
    fit_normalisation(model, batches)
    optimizer = torch.optim.Adam(model.parameters(), lr=settings["lr"], weight_decay=settings["weight_decay"])
    found = _test(model, batches, controls)
    epochs = 0
    while epochs < settings["epochs"]:
        if settings["stop"] and found.is_told_apart(threshold(settings["copies"], settings["dimension"])):
            break
        _train(model, optimizer, batches)
        epochs += 1
        if epochs % LOOK_EVERY == 0 or epochs == settings["epochs"]:
            found = _test(model, batches, controls)
    return replace(found, epochs=epochs, seconds=time.perf_counter() - start)


def transforms(settings: Mapping[str, Any]) -> tuple[Any, Any]:
    """What is done to each batch, and to all graphs before, for the network of a cell."""
    if "system" in settings:
        config = read_config(overrides=settings["system"])
        return recipe_of(config.model).transforms(config.transform)
    return None if settings["encoding"] is None else StructuralEncoding(**settings["encoding"]), None


def network(each: Any, once: Any, settings: Mapping[str, Any], graphs: GraphStore) -> Network:
    """An untrained network, in float64: one of the zoo, or ours, built as those that count, whose rounds are all read out.

    Args:
        each: What `transforms` gives.
        once: The same.
        settings: Those of a cell.
        graphs: What the network may measure before it is built.
    """
    if "system" in settings:
        config = read_config(overrides=settings["system"])
        task = Task("graph", "regression", "mae", "min", tuple(map(str, range(settings["dimension"]))))
        return recipe_of(config.model).build(config.network, each, once, task=task, features={}, graphs=graphs).double()
    return ESCGNN(
        settings["dimension"],
        backbone="mpnn",
        num_bins=None if each is None else each.num_bins,
        hidden=settings["hidden"],
        layers=settings["layers"],
        norm="layer",
        jumping="concat",
        residual=False,
    ).double()


def copies(graph: Any, count: int, rng: np.random.Generator) -> GraphStore:
    """The graph so many times, each with its nodes renamed and its edges listed in another order."""
    edge_index = graph.edge_index.numpy()  # (2, columns)
    columns = edge_index.shape[1]
    nodes = graph.num_nodes
    names = rng.permuted(np.tile(np.arange(nodes), (count, 1)), axis=1)  # (count, nodes)
    places = rng.permuted(np.tile(np.arange(columns), (count, 1)), axis=1)  # (count, columns)
    renamed = np.take_along_axis(names[:, edge_index], places[:, None], axis=2)  # (count, 2, columns)
    return GraphStore(np.full(count, nodes), np.full(count, columns), renamed.swapaxes(0, 1).reshape(2, -1))


def t_squared(first: NDArray[np.float64], second: NDArray[np.float64]) -> float:
    r"""Hotelling's :math:`T^2 = q \bar d^\top (S + \lambda I)^{-1} \bar d` of the differences d of q pairs of vectors.

    The ridge :math:`\lambda` is the square of float32's rounding of the vectors' root mean square r,
    :math:`(1.2 \cdot 10^{-7} r)^2`: an exactly invariant network has differences without variance, and S would be singular.

    Shapes:
        Both :math:`(q, d)`.
    """
    size = float(np.sqrt((first**2 + second**2).mean() / 2))
    if size == 0:
        return 0.0
    difference = (first - second) / size
    mean = difference.mean(axis=0)
    spread = np.atleast_2d(np.cov(difference.T)) + RIDGE**2 * np.eye(mean.size)
    return float(len(difference) * mean @ np.linalg.solve(spread, mean))


def _train(model: Network, optimizer: torch.optim.Optimizer, batches: Iterable[Any]) -> None:
    """One epoch: in every batch, the vectors of the two graphs should not point the same way."""
    model.train()
    for batch in batches:
        first, second = run_network(model, batch)[0].chunk(2)
        loss: Tensor = cosine_embedding_loss(first, second, -first.new_ones(len(first)))
        optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        optimizer.step()


def _test(model: Network, batches: Iterable[Any], controls: Iterable[Any]) -> Comparison:
    """T² between the graphs, and between copies of the first one, by the network as it is."""
    model.eval()
    with torch.inference_mode():
        halves = [run_network(model, batch)[0].chunk(2) for batch in batches]
        others = torch.cat([run_network(model, batch)[0] for batch in controls]).numpy()
    first, second = (torch.cat(half).numpy() for half in zip(*halves, strict=True))
    return Comparison(apart=t_squared(first, second), control=t_squared(first, others))


def _by_category(bundle: DatasetBundle, apart: Sequence[int]) -> dict[str, float]:
    counts = Counter(bundle.categories[number] for number in apart)
    return {**{name: float(counts[name]) for name in CATEGORIES}, "total": float(len(apart))}


def _note(found: Mapping[int, Comparison], apart: Sequence[int], settings: Mapping[str, Any], limit: float) -> str:
    """The margins of the tests, so that a reader sees how clear they were."""
    told = [found[number].apart for number in apart]
    rest = [each.apart for number, each in found.items() if number not in {*apart}]
    unreliable = sum(not each.control <= limit for each in found.values())
    refused = sum(each.refused for each in found.values())
    flat = sum(each.flat for each in found.values())
    untrained = sum(found[number].epochs == 0 for number in apart)
    facts = [
        f"{len(found)} pairs, {settings['copies']} copies, {settings['dimension']} numbers, threshold {limit:.2f}",
        f"ridge ({RIDGE:.1e} r)²",
        f"{unreliable} pairs failed reliability",
        *([f"{refused} pairs were too large for the network"] if refused else []),
        *([f"{flat} pairs were the same at a glance"] if flat else []),
        f"{len(apart)} told apart, {untrained} of them before training",
    ]
    if told:
        facts.append(f"their least T² {min(told):.1e}")
    if rest:
        facts.append(f"the largest T² of the others {max(rest):.1e}")
    facts.append(f"of copies of one graph {max(each.control for each in found.values()):.1e}")
    return "; ".join(facts)


EXPERIMENT = Experiment("brec", (BREC, CEILING), cells, run)
