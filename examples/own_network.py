"""A network of your own, trained, resumed, used and exported like those of the library: PyG's GINE with s_uv in its messages.

Writes the run folder `own_network`, with the training curves in `own_network/curves.png`.
"""

# %% The network: hand the arguments on, say what it reads, and write forward
from collections.abc import Iterable
from typing import Any

import torch
from rich.console import Console
from torch import Tensor, nn
from torch_geometric.nn import MLP, GINEConv

from escgnn import datasets, training
from escgnn.layers import StructuralEmbedding
from escgnn.models import Network
from escgnn.training import Recipe
from escgnn.transforms import StructuralEncoding


class MyGINE(Network):
    """Predicts numbers of nodes; the data decides ``out_channels``, the encoding ``num_bins``, all else is a setting."""

    reads = frozenset({"edge_index", "batch", "ptr", *StructuralEncoding().adds})

    def __init__(self, out_channels: int, num_bins: int, *, hidden: int = 32, layers: int = 3) -> None:
        super().__init__(locals())
        self.start = nn.Parameter(torch.randn(1, hidden))
        self.structure = StructuralEmbedding(num_bins, hidden)
        self.convs = nn.ModuleList(GINEConv(MLP([hidden, hidden, hidden])) for _ in range(layers))
        self.head = nn.Linear(hidden, out_channels)

    def prepare(self, training: Iterable[Any], validation: Iterable[Any], transform: Any) -> None:
        """Measure the counts of the training graphs, before the first epoch."""
        self.structure.fit(training)

    def forward(self, batch: Any) -> Tensor:
        """A row for each node."""
        h = self.start.expand(batch.num_nodes, -1)  # (N, hidden)
        structure = self.structure(batch)  # (E, hidden)
        for conv in self.convs:
            h = h + conv(h, batch.edge_index, structure)  # (N, hidden)
        out: Tensor = self.head(h)  # (N, targets)
        return out


# %% Its recipe: what is done to each batch before the network sees it
recipe = Recipe(MyGINE, each=StructuralEncoding)

# %% Train, with the settings of the network and of its transform by name; a misspelt one would be refused
console = Console(width=100)
bundle = datasets.load("counting-random", count=150)
settings = ["network.hidden=24", "transform.hops=1", "lr=0.01", "batch_size=8"]
for epochs in (10, 30):  # the second time it goes on from the tenth epoch
    config = training.read_config(overrides=[*settings, f"epochs={epochs}"], bundle=bundle, recipe=recipe)
    result = training.fit(bundle, config, "own_network", resume=True, progress=False, recipe=recipe)
    console.print(f"{epochs} epochs: error of {result.test['norm-mae/3-cycle']:.3f} for triangles on new graphs")

# %% Use it: the folder holds weights and plain values, no code, so the recipe is needed again
try:
    training.load_run("own_network")
except ValueError as error:
    console.print(f"without the recipe: {error}")
run = training.load_run("own_network", recipe=recipe)
console.print(training.predict(run, bundle.test).shape, "numbers for the nodes of the test graphs")

# %% And as a program that needs neither this library nor PyG
exported = training.export(run, "own_network/model.pt2")
console.print("its inputs:", dict(exported.inputs))
