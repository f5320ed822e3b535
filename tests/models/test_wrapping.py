import pytest
import torch
from torch.testing import assert_close
from torch_geometric.data import Batch, Data
from torch_geometric.nn import GAT, GIN, PNA, AttentiveFP, GCNConv

from escgnn import graphs
from escgnn.models import with_structure
from escgnn.transforms import StructuralEncoding

ENCODING = StructuralEncoding(2)


def batch(edge_dim=None):
    data = []
    for graph in graphs.molecule_like(4).split():
        data.append(Data(x=torch.randn(graph.num_nodes, 5), edge_index=torch.from_numpy(graph.edge_index)))
        if edge_dim is not None:
            data[-1].edge_attr = torch.randn(graph.edge_index.shape[1], edge_dim)
    return ENCODING(Batch.from_data_list(data))


MODELS = {
    "GAT": lambda size: GAT(5, 16, num_layers=2, out_channels=3, edge_dim=size),
    "PNA": lambda size: PNA(
        5, 16, 2, 3, edge_dim=size, aggregators=["sum", "max"], scalers=["identity"], deg=torch.tensor([0, 2, 3, 1])
    ),
    "AttentiveFP": lambda size: AttentiveFP(5, 16, 3, edge_dim=size, num_layers=2, num_timesteps=2),
}


@pytest.mark.parametrize("edge_dim", [None, 2])
@pytest.mark.parametrize("name", MODELS)
def test_models_of_pyg(name, edge_dim):
    torch.manual_seed(0)
    data, size = batch(edge_dim), (edge_dim or 0) + 8
    model = with_structure(MODELS[name](size), ENCODING.num_bins, 8, edge_dim=edge_dim)
    model.fit_structure([data])
    out = model(data)
    assert out.shape == (data.num_graphs if name == "AttentiveFP" else data.num_nodes, 3)
    out.square().sum().backward()
    assert model.structure.weight.grad.any()


def test_structure_follows_the_edge_features():
    data = batch(2)
    inner = GAT(5, 16, num_layers=1, out_channels=3, edge_dim=10)
    model = with_structure(inner, ENCODING.num_bins, 8, edge_dim=2)
    edge_attr = torch.cat([data.edge_attr, model.structure(data)], 1)
    assert_close(model(data), inner(data.x, data.edge_index, edge_attr=edge_attr))


@pytest.mark.parametrize("inner", [GIN(5, 16, 2), GCNConv(5, 3)], ids=["GIN", "GCNConv"])
def test_models_that_would_ignore_it_are_refused(inner):
    with pytest.raises(ValueError, match=f"model: {type(inner).__name__} makes no use of edge_attr"):
        with_structure(inner, ENCODING.num_bins, 8)
