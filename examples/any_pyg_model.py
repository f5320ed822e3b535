"""Structure for models that know nothing of it: two of PyG's own learn to count triangles, with s_uv and without.

Writes the training curves to `any_pyg_model.png`.
"""

# %% Graphs, and the triangles at each node
from collections.abc import Callable

import matplotlib.pyplot as plt
import torch
from rich.console import Console
from rich.table import Table
from torch import Tensor, nn
from torch_geometric.data import Data
from torch_geometric.nn import GAT, PNA
from torch_geometric.utils import degree

from escgnn import graphs
from escgnn.counting import count
from escgnn.models import with_structure
from escgnn.transforms import StructuralEncoding

CHANNELS, STEPS = 16, 60
encoding = StructuralEncoding(hops=1)


def counted(seed: int) -> Data:
    """Random graphs, encoded, with the degree as feature and the triangles through each node as target."""
    view = graphs.counting_random(100, seed)
    data = encoding(Data(edge_index=torch.from_numpy(view.edge_index), num_nodes=view.num_nodes))
    data.x = degree(data.edge_index[0], data.num_nodes).unsqueeze(1)
    data.y = torch.from_numpy(count(view, "3-cycle", per="node")).float()
    return data


train, test = counted(seed=0), counted(seed=1)
mean, std = train.y.mean(), train.y.std()

# %% Two models of PyG; the wrapper embeds the structure and passes it as edge_attr
degrees = torch.bincount(train.x.long().flatten())


def pna(edge_dim: int | None) -> nn.Module:
    """Aggregates by sum and maximum."""
    aggregators, scalers = ["sum", "max"], ["identity", "attenuation"]
    return PNA(1, 32, 2, 1, aggregators=aggregators, scalers=scalers, deg=degrees, edge_dim=edge_dim)


def gat(edge_dim: int | None) -> nn.Module:
    """Aggregates by attention."""
    return GAT(1, 32, 2, 1, v2=True, heads=4, edge_dim=edge_dim)


# %% Train each with and without
def curve(model: nn.Module, predict: Callable[[Data], Tensor]) -> list[float]:
    """Mean absolute error on new graphs after every step, in standard deviations of the target."""
    optimiser = torch.optim.Adam(model.parameters(), lr=1e-2)
    errors = []
    for _ in range(STEPS):
        optimiser.zero_grad()
        (predict(train).flatten() - (train.y - mean) / std).abs().mean().backward()
        optimiser.step()
        with torch.no_grad():
            errors.append((predict(test).flatten() - (test.y - mean) / std).abs().mean().item())
    return errors


table = Table("model", "without structure", "with structure", title="Triangles: error on new graphs")
figure, axes = plt.subplots(1, 2, figsize=(9, 3.5), sharey=True, layout="constrained")
for axis, build in zip(axes, (pna, gat), strict=True):
    torch.manual_seed(0)
    model = build(None)
    plain = curve(model, lambda data, model=model: model(data.x, data.edge_index))
    wrapped = with_structure(build(CHANNELS), encoding.num_bins, CHANNELS)
    wrapped.fit_structure([train])
    structured = curve(wrapped, wrapped)
    name = build.__name__.upper()
    axis.semilogy(plain, label="without structure")
    axis.semilogy(structured, label="with structure")
    axis.set(title=f"{name} of PyG", xlabel="step", ylabel="normalised error" if build is pna else None)
    table.add_row(name, f"{plain[-1]:.3f}", f"{structured[-1]:.3f}")
axes[0].legend()
figure.savefig("any_pyg_model.png", dpi=130)
Console(width=100).print(table)
