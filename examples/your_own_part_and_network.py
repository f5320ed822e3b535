r"""Add a part and a network of your own.

Neither needs a change of the library. A part of the encoding is a class that names its bins and fills them; a network
is a PyTorch module that says what it reads. Both are then trained, resumed, used and exported like those that come
along.
"""

# %% [markdown]
# ## A part that sees bridges
#
# An edge is a bridge if nothing else joins its two sides. No radius shows that: the way around may be as long as the
# graph. So here is a part that looks at the whole graph. `bins` names what it counts, `mirror` which bin of \((v,
# u)\) counts the same, and `count` fills a matrix, a row for each root.

# %%
import networkx as nx
import numpy as np

from escgnn import graphs
from escgnn.encoding import PARTS, Bin, OwnPart, RootedEncoding


class Bridge(OwnPart):
    """Whether an edge is all that joins its two sides."""

    name = "bridge"
    counts = "1 if the edge is a bridge"
    needs_radius = False  # the same at every radius

    def bins(self, settings, labels):
        """One bin."""
        return [Bin("bridge")]

    def mirror(self, name):
        """It does not matter which end comes first."""
        return name

    def count(self, graph, roots, settings, bins):
        """A column of zeros and ones."""
        bridges = {frozenset(edge) for edge in nx.bridges(graph.to_networkx())}
        found = [frozenset(root) in bridges for root in roots.tolist()]
        return np.array(found, int).reshape(-1, 1)  # (roots, bins)


PARTS["bridge"] = Bridge()

# %%
lollipop = graphs.from_edges([(0, 1), (1, 2), (2, 3), (3, 4), (4, 0), (4, 5), (5, 6)])
encoding = RootedEncoding(hops=1, parts=("joint", "bridge"))
print("on the ring: ", encoding.row(lollipop, 2, 3))
print("on the stick:", encoding.row(lollipop, 4, 5))
lollipop

# %% [markdown]
# Every part has a slow and obvious twin in the tests. Here that is: take the edge out, and see whether its ends still
# hang together.

# %%
for seed in range(30):
    view = graphs.erdos_renyi(12, 0.15, seed)
    plain = view.to_networkx()
    for u, v in view.edges.tolist():
        rest = nx.restricted_view(plain, [], [(u, v)])
        assert (("bridge",) in encoding.row(view, u, v)) == (not nx.has_path(rest, u, v))
print("the same on 30 random graphs")

# %% [markdown]
# From now on the part has a name: `RootedEncoding`, `StructuralEncoding`, settings of a run
# (`transform.parts=edge,bridge`), Parquet files and threads know it. [The encoding](../encoding.md#adding-a-part)
# says how a part is compiled into the kernel, when it must be quick.
#
# ## A network
#
# Derive from `Network`, hand the arguments on, say what it reads, and write `forward`. The data decides
# `out_channels`, the encoding `num_bins`; every other argument becomes a setting with its default.

# %%
from collections.abc import Iterable
from typing import Any

import torch
from torch import Tensor, nn
from torch_geometric.nn import MLP, GINEConv

from escgnn.layers import StructuralEmbedding
from escgnn.models import Network
from escgnn.transforms import StructuralEncoding


class MyGINE(Network):
    """PyG's GINE with the structure in its messages; predicts numbers of nodes."""

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


# %% [markdown]
# Its recipe says what is done to each batch before it sees it. Then it is trained by settings, those of the network
# and of the transform by name; one that is misspelt is refused. The second time it goes on from the tenth epoch, to
# the same numbers as a run that was never stopped.

# %%
from escgnn import datasets, training
from escgnn.training import Recipe

recipe = Recipe(MyGINE, each=StructuralEncoding)
bundle = datasets.load("counting-random", count=150)
settings = ["network.hidden=24", "transform.hops=1", "transform.parts=joint,edge,bridge", "lr=0.01", "batch_size=8"]
for epochs in (10, 20):
    config = training.read_config(overrides=[*settings, f"epochs={epochs}"], bundle=bundle, recipe=recipe)
    result = training.fit(bundle, config, "own_network", resume=True, progress=False, recipe=recipe)
    print(f"{epochs} epochs: error of {result.test['norm-mae/3-cycle']:.2f} for triangles on new graphs")

# %% [markdown]
# ## Use it
#
# The folder holds weights and plain values, and no code, so the recipe is needed again.

# %%
try:
    training.load_run("own_network")
except ValueError as error:
    print("without the recipe:", error)
own = training.load_run("own_network", recipe=recipe)
training.predict(own, bundle.test).shape

# %% [markdown]
# And as a program that needs neither this library nor PyG:

# %%
exported = training.export(own, "own_network/model.pt2")
for name, shape in exported.inputs.items():
    print(f"{name:12} {shape}")

# %% [markdown]
# A network that others should find by name is a file and a row of the zoo; [models](../models.md) says which, and
# `tests/test_zoo.py` then holds it to the contract of all: the same for every numbering and batching, exact when
# resumed.
