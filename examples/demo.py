"""The structural encoding in a minute: the paper's Figure 1, then thousands of graphs a second.

Writes pictures to the folder `demo` and prints their paths.
"""

# %% The 4-cycle of Figure 1, rooted at the edge v1 v3
from pathlib import Path
from time import perf_counter

import torch
from rich.console import Console
from rich.table import Table
from torch_geometric.data import Data

from escgnn import graphs
from escgnn.pictures import draw_root
from escgnn.transforms import StructuralEncoding

console = Console(width=100)
out = Path("demo")
out.mkdir(exist_ok=True)

square = graphs.figure_1()
encoding = StructuralEncoding(hops=1)
table = Table("part", "label", "count", title="Figure 1, root v1 v3, h = 1")
for (part, *label), count in encoding.row(square, 0, 2).items():
    table.add_row(str(part), " ".join(map(str, label)), str(count))
console.print(table)
draw_root(square, 0, 2, encoding).savefig(out / "figure_1.png", dpi=130)

# %% Two fused rings, rooted at the bond they share
two_rings = graphs.from_edges([(0, 1), (1, 2), (2, 3), (3, 4), (4, 5), (5, 0), (5, 6), (6, 7), (7, 8), (8, 9), (9, 4)])
draw_root(two_rings, 4, 5, StructuralEncoding(hops=2)).savefig(out / "fused_rings.png", dpi=130)

# %% Embedded graphs, encoded as PyTorch Geometric data
samples = {
    "molecule-like": graphs.molecule_like(3000),
    "counting recipe": graphs.counting_random(3000),
    "one 3-regular graph": graphs.random_regular(20_000, 3),
}
table = Table("graphs", "number", "edges", "hops", "bins", "seconds", "graphs/s", "edges/s", title="Throughput")
for name, graph in samples.items():
    data = Data(edge_index=torch.from_numpy(graph.edge_index), num_nodes=graph.num_nodes)
    for hops in (1, 2, 3):
        encoding = StructuralEncoding(hops)
        encoding(data)  # the first call compiles or loads
        start = perf_counter()
        encoding(data)
        seconds = perf_counter() - start
        numbers = (graph.num_graphs / seconds, graph.num_edges / seconds)
        table.add_row(
            name, f"{graph.num_graphs:,}", f"{graph.num_edges:,}", str(hops), str(encoding.num_bins),
            f"{seconds:.3f}", *(f"{number:,.0f}" for number in numbers),
        )  # fmt: skip
console.print(table)
console.print("pictures:", *(str(path) for path in sorted(out.glob("*.png"))))
