"""Node classification on one graph that need not fit in memory: files, rows of the whole graph, sampled neighbourhoods.

Writes the graph, its encoding and `huge_nodes.png`. GROUPS makes it larger: a million is 36 million edges.
"""

# %% A graph as a list of edges, written and read in a stream
import matplotlib.pyplot as plt
import numpy as np
import pyarrow as pa
import torch
from rich.console import Console
from torch.nn.functional import cross_entropy

from escgnn.disk import TableWriter
from escgnn.encoding import RootedEncoding
from escgnn.huge import NeighbourLoader, PlantedGroups, RowStore, build_graph, encode_graph, open_graph
from escgnn.models import ESCGNN

GROUPS = 200
FAN_OUTS = [5, 5]  # a number for each layer
EPOCHS = 5
console = Console(width=100)

planted = PlantedGroups(GROUPS)  # two classes of nodes, which only the cycles around them tell apart
schema = pa.schema({"source": pa.int64(), "target": pa.int64()})
with TableWriter("edges.parquet", schema) as table:
    for pairs in planted.edges():
        table.write(pa.table([pairs[:, 0], pairs[:, 1]], schema=schema))
summary = build_graph("edges.parquet", "graph.escg")
console.print(
    f"{summary.nodes:,} nodes, {summary.edges:,} edges; {summary.loops} loops, {summary.repeats} repeats left out"
)

# %% Its encoding, once, in blocks; hubs would be encoded at a smaller radius
graph = open_graph("graph.escg")
rows = encode_graph(graph, RootedEncoding(hops=1, max_nodes=1000), "graph.escr")
console.print(f"{rows.nbytes / graph.num_edges:.0f} bytes an edge; row of edge 0: {rows.take([0])[0]}")


# %% Train on sampled neighbourhoods, with the rows and without
def accuracies(rows: RowStore | None) -> list[float]:
    """The share of nodes not trained on that are classified right, after every epoch."""
    torch.manual_seed(0)
    order = np.random.default_rng(0).permutation(graph.num_nodes)
    half = order.size // 2
    train = NeighbourLoader(graph, order[:half], FAN_OUTS, rows=rows, y=planted.labels, shuffle=True)
    test = NeighbourLoader(graph, order[half:], FAN_OUTS, rows=rows, y=planted.labels)
    bins = rows.num_bins if rows is not None else None
    network = ESCGNN(2, num_bins=bins, level="node", layers=len(FAN_OUTS), hidden=32)
    network.fit_structure(train)
    optimiser = torch.optim.Adam(network.parameters(), lr=3e-3)
    found = []
    for _ in range(EPOCHS):
        network.train()
        for batch in train:
            optimiser.zero_grad()
            cross_entropy(network(batch)[: batch.batch_size], batch.y).backward()  # the batch's own nodes come first
            optimiser.step()
        network.eval()
        with torch.no_grad():
            right = [network(batch)[: batch.batch_size].argmax(1) == batch.y for batch in test]
        found.append(torch.cat(right).float().mean().item())
    return found


figure, axis = plt.subplots(figsize=(5, 3.5), layout="constrained")
for name, given in (("without structure", None), ("with structure", rows)):
    curve = accuracies(given)
    axis.plot(range(1, EPOCHS + 1), curve, "o-", label=name)
    console.print(f"{name}: {curve[-1]:.1%} of the other nodes right")
axis.set(xlabel="epoch", ylabel="accuracy", ylim=(0.4, 1.02), title="Two classes told apart by cycles")
axis.legend()
figure.savefig("huge_nodes.png", dpi=130)
