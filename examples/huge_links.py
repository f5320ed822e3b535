"""Link prediction on one graph: rows of candidate pairs beside common neighbours, Adamic-Adar and an MLP of these.

Writes the graph, its encoding and `huge_links.png`. Edges to be predicted are taken out before the graph is built: nothing may
tell of them.
"""

# %% A graph without a fifth of its edges, and as many pairs that are none: half anywhere, half within a group
from collections.abc import Callable, Iterable
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import torch
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table
from torch import Tensor, nn
from torch.nn.functional import binary_cross_entropy_with_logits
from torch_geometric.data import Data
from torchmetrics.functional.classification import binary_auroc, binary_roc

from escgnn import graphs
from escgnn.encoding import RootedEncoding
from escgnn.graphs import LeanGraph
from escgnn.huge import PairLoader, PlantedGroups, encode_graph, open_graph, write_graph
from escgnn.huge.planted import GROUP
from escgnn.layers import StructuralEmbedding, perceptron
from escgnn.models import ESCGNN

GROUPS = 250
EPOCHS = 8
rng = np.random.default_rng(0)
planted = PlantedGroups(GROUPS, noise=0.25)  # a ninth of all edges is left to chance
pairs = np.concatenate([*planted.edges()])
everything = graphs.from_edges(pairs[pairs[:, 0] != pairs[:, 1]], planted.num_nodes)
edges = rng.permutation(everything.edges)
hidden, kept = np.split(edges, [len(edges) // 5])
write_graph(graphs.from_edges(kept, planted.num_nodes), "graph.escg")
graph = open_graph("graph.escg")

anywhere = rng.integers(planted.num_nodes, size=(len(hidden), 2))
place = rng.integers(planted.num_nodes, size=len(hidden))
mate = place // GROUP * GROUP + (place + rng.integers(1, GROUP, size=len(hidden))) % GROUP
within = planted.names[np.stack([place, mate], axis=1)]
others = rng.permutation(np.concatenate([anywhere, within]))
others = others[(others[:, 0] != others[:, 1]) & (LeanGraph(everything.csr).edge_ids(others) < 0)][: len(hidden)]
candidates = np.concatenate([hidden, others])
labels = torch.cat([torch.ones(len(hidden)), torch.zeros(len(others))])
order = torch.from_numpy(rng.permutation(len(candidates)))
train, test = order.split([len(order) // 2, len(order) - len(order) // 2])


# %% What others look at: common neighbours, all alike, or those with few neighbours more (Adamic and Adar)
def by_hand(pairs: NDArray[np.int64]) -> Tensor:
    """Of every pair: common neighbours, Adamic-Adar, and both degrees."""
    found = []
    for u, v in pairs.tolist():
        common = np.intersect1d(graph.neighbours(u), graph.neighbours(v), assume_unique=True)
        weights = 1 / np.log(graph.degrees[common])  # at least two, u and v
        found.append((common.size, weights.sum(), graph.degrees[u], graph.degrees[v]))
    return torch.tensor(found, dtype=torch.float32)  # (pairs, 4)


# %% What we look at: the subgraph around both ends, and what a network knows of each end from the rows around it
encoding = RootedEncoding(hops=1, max_nodes=1000)
rows = encode_graph(graph, encoding, "graph.escr")


class PairNetwork(nn.Module):
    """A score for each pair from its own row, and perhaps from vectors of both ends.

    Args:
        ends: A network of level ``"node"`` with 16 outputs, or None.
    """

    def __init__(self, ends: ESCGNN | None = None) -> None:
        super().__init__()
        self.ends = ends
        self.structure = StructuralEmbedding(len(encoding.pair_bins), 32, prefix="pair")
        self.head = nn.Sequential(nn.ReLU(), perceptron(32 if ends is None else 48, 32, 1))

    def forward(self, batch: Data) -> Tensor:
        """Logits."""
        h = self.structure(batch)  # (pairs, 32)
        if self.ends is not None:
            u, v = self.ends(batch)[batch.edge_label_index]  # (pairs, 16) each
            h = torch.cat([h, u * v], 1)  # (pairs, 48)
        out: Tensor = self.head(h).squeeze(1)  # (pairs,)
        return out


def fit(network: nn.Module, batches: Callable[[], Iterable[tuple[Any, Tensor]]]) -> None:
    """Some epochs of Adam; every call of ``batches`` is an epoch."""
    optimiser = torch.optim.Adam(network.parameters(), lr=3e-3)
    for _ in range(EPOCHS):
        for given, wanted in batches():
            optimiser.zero_grad()
            binary_cross_entropy_with_logits(network(given).view(-1), wanted).backward()
            optimiser.step()


def scores_of_rows(fan_outs: list[int]) -> Tensor:
    """Of the test pairs, by a network trained on the others; with fan-outs it sees neighbourhoods, too."""
    options = {"fan_outs": fan_outs, "pair_encoding": encoding, "rows": rows}
    loader = PairLoader(graph, candidates[train.numpy()], labels=labels[train], shuffle=True, **options)
    ends = ESCGNN(16, num_bins=rows.num_bins, level="node", layers=2, hidden=32) if fan_outs else None
    network = PairNetwork(ends)
    network.structure.fit(loader)
    if ends is not None:
        ends.fit_structure(loader)
    fit(network, lambda: ((batch, batch.edge_label) for batch in loader))
    network.eval()
    with torch.no_grad():
        return torch.cat([network(batch) for batch in PairLoader(graph, candidates[test.numpy()], **options)])


def scores_of_numbers(numbers: Tensor) -> Tensor:
    """The same by a perceptron of common neighbours, Adamic-Adar and degrees."""
    scaled = (numbers - numbers[train].mean(0)) / numbers[train].std(0)
    network = perceptron(numbers.size(1), 32, 1)
    fit(network, lambda: ((scaled[chunk], labels[chunk]) for chunk in train.split(256)))
    with torch.no_grad():
        out: Tensor = network(scaled[test]).squeeze(1)
        return out


# %% Side by side
torch.manual_seed(0)
numbers = by_hand(candidates)
scores = {
    "common neighbours": numbers[test, 0],
    "Adamic-Adar": numbers[test, 1],
    "MLP of both and degrees": scores_of_numbers(numbers),
    "rows of pairs": scores_of_rows([]),
    "and neighbourhoods": scores_of_rows([5, 5]),
}
truth = labels[test].long()
table = Table("", "area under ROC curve", title=f"{len(test):,} pairs, half of them hidden edges")
figure, axis = plt.subplots(figsize=(5, 4), layout="constrained")
for name, score in scores.items():
    probability = torch.sigmoid(score - score.mean())  # what torchmetrics wants; the order is the same
    area = binary_auroc(probability, truth).item()
    false, true, _ = binary_roc(probability, truth)
    axis.plot(false, true, label=f"{name}: {area:.3f}")
    table.add_row(name, f"{area:.3f}")
axis.set(xlabel="false positives", ylabel="true positives", title="Which pairs are edges?")
axis.legend(loc="lower right")
figure.savefig("huge_links.png", dpi=130)
Console(width=100).print(table)
