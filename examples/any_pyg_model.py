r"""Make your PyG model count.

You have a model of PyTorch Geometric that takes `edge_attr`. Two lines give it the structural encoding, and it counts
what it could not before. Here two of PyG's own, PNA and GAT, learn how many triangles go through each node of random
graphs, with the encoding and without.
"""

# %% [markdown]
# ## Graphs and targets
#
# `StructuralEncoding` is an ordinary transform: it adds three arrays to a `Data` or to a whole `Batch`, one sparse
# row for each edge. Exact counts make the targets.

# %%
from collections.abc import Callable

import torch
from torch import Tensor, nn
from torch_geometric.data import Data
from torch_geometric.nn import GAT, PNA
from torch_geometric.utils import degree

from escgnn import graphs
from escgnn.counting import count
from escgnn.transforms import StructuralEncoding

encoding = StructuralEncoding(hops=1)


def counted(seed: int) -> Data:
    """Random graphs, encoded, with the degree as feature and the triangles through each node as target."""
    view = graphs.counting_random(100, seed)
    data = encoding(Data(edge_index=torch.from_numpy(view.edge_index), num_nodes=view.num_nodes))
    data.x = degree(data.edge_index[0], data.num_nodes).unsqueeze(1)
    data.y = torch.from_numpy(count(view, "3-cycle", per="node")).float()
    return data


train = counted(seed=0)
test = counted(seed=1)
train

# %% [markdown]
# ## Two models, as they are
#
# Nothing in them knows of the encoding; they only have room for edge features of some size.

# %%
CHANNELS = 16
degrees = torch.bincount(train.x.long().flatten())


def pna(edge_dim: int | None) -> nn.Module:
    """Aggregates by sum and maximum."""
    scalers = ["identity", "attenuation"]
    return PNA(1, 32, 2, 1, aggregators=["sum", "max"], scalers=scalers, deg=degrees, edge_dim=edge_dim)


def gat(edge_dim: int | None) -> nn.Module:
    """Aggregates by attention."""
    return GAT(1, 32, 2, 1, v2=True, heads=4, edge_dim=edge_dim)


# %% [markdown]
# ## The two lines
#
# `with_structure` embeds each row, \(\sum_b \frac{c_b - \mu_b}{\sigma_b} \mathbf{W}_b\) with a learnt vector
# \(\mathbf{W}_b\) for every bin, and hands it to the model as `edge_attr`, beside your own edge features if there are
# any. `fit_structure` measures \(\mu_b\) and \(\sigma_b\) on the training graphs, once.

# %%
from escgnn.models import with_structure

wrapped = with_structure(pna(CHANNELS), encoding.num_bins, CHANNELS)
wrapped.fit_structure([train])
wrapped(train).shape

# %% [markdown]
# ## With and without
#
# Sixty steps of Adam for each, and the error on new graphs after every step, in standard deviations of the target: 1
# is as bad as always guessing.

# %%
STEPS = 60


def curve(model: nn.Module, predict: Callable[[Data], Tensor]) -> list[float]:
    """Mean absolute error on new graphs after every step, in standard deviations of the target."""
    mean = train.y.mean()
    std = train.y.std()
    optimiser = torch.optim.Adam(model.parameters(), lr=1e-2)
    errors = []
    for _ in range(STEPS):
        optimiser.zero_grad()
        (predict(train).flatten() - (train.y - mean) / std).abs().mean().backward()
        optimiser.step()
        with torch.no_grad():
            errors.append((predict(test).flatten() - (test.y - mean) / std).abs().mean().item())
    return errors


curves = {}
for build in (pna, gat):
    name = build.__name__.upper()
    torch.manual_seed(0)
    plain = build(None)
    curves[name, "without"] = curve(plain, lambda data, model=plain: model(data.x, data.edge_index))
    torch.manual_seed(0)
    wrapped = with_structure(build(CHANNELS), encoding.num_bins, CHANNELS)
    wrapped.fit_structure([train])
    curves[name, "with"] = curve(wrapped, wrapped)

# %%
from matplotlib.figure import Figure

figure = Figure(figsize=(9, 3.2), layout="constrained")
for axes, name in zip(figure.subplots(1, 2, sharey=True), ("PNA", "GAT"), strict=True):
    for which in ("without", "with"):
        axes.semilogy(curves[name, which], label=f"{which} structure")
    axes.set(title=f"{name} of PyG", xlabel="step", ylabel="error / deviation")
    axes.label_outer()
    axes.legend(frameon=False)
figure.savefig("any_pyg_model.png", dpi=130)
figure

# %%
for (name, which), errors in curves.items():
    print(f"{name} {which:7} structure: {sum(errors[-10:]) / 10:.2f} in the last ten steps")

# %% [markdown]
# PNA adds up what its edges bring, and counts. GAT only weighs its neighbours by `edge_attr` and never adds it up, so
# it gains less: how a model uses edge features decides what the encoding can do for it. One that would ignore them,
# such as PyG's `GIN`, is refused.
#
# In your own training loop, put the transform where the batches are made (`DataLoader` workers or `pre_transform`),
# and apply it last: rows belong to edges, and whatever removes edges afterwards would leave them behind.
# [Models](../models.md) has the networks that come with the library, with the encoding built in.
