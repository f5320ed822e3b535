"""The structural embedding for models of other people: any one that takes ``edge_attr``."""

import inspect
from collections.abc import Iterable
from typing import Any

import torch
from torch import Tensor, nn

from escgnn.layers import StructuralEmbedding


class WithStructure(nn.Module):
    """A model whose ``edge_attr`` is followed by the embedding of the structure; made by `with_structure`."""

    def __init__(self, model: nn.Module, num_bins: int, channels: int, edge_dim: int | None) -> None:
        super().__init__()
        parameters = inspect.signature(model.forward).parameters
        if "edge_attr" not in parameters or not getattr(model, "supports_edge_attr", True):  # PyG's GIN would ignore it
            raise ValueError(
                f"model: {type(model).__name__} makes no use of edge_attr, which is to carry the structure"
            )
        self.model = model
        self.edge_dim = edge_dim
        self.structure = StructuralEmbedding(num_bins, channels)
        self.arguments = frozenset(parameters)

    def fit_structure(self, batches: Iterable[Any]) -> None:
        """Measure the counts of the training graphs, so that they are standardised."""
        self.structure.fit(batches)

    def forward(self, data: Any) -> Tensor:
        """What the model gives for a batch: each of its arguments is the attribute of that name."""
        edge_attr = self.structure(data)  # (E, channels)
        if self.edge_dim is not None:
            features = data.edge_attr.view(len(edge_attr), self.edge_dim)  # (E, edge_dim)
            edge_attr = torch.cat([features, edge_attr], 1)  # (E, edge_dim + channels)
        arguments = {name: data[name] for name in self.arguments & {*data.keys()}}
        out: Tensor = self.model(**{**arguments, "edge_attr": edge_attr})
        return out


def with_structure(model: nn.Module, num_bins: int, channels: int, *, edge_dim: int | None = None) -> WithStructure:
    """Give any PyG model that takes ``edge_attr`` the structural embedding of every edge.

    Args:
        model: A model built for edge features of size ``channels``, or ``edge_dim + channels``.
        num_bins: Bins of the encoding.
        channels: Size of the embedding.
        edge_dim: Size of the edge features that the data has and that come first; None to use none.

    Returns:
        A model that takes a batch with ``esc_len``, ``esc_bin`` and ``esc_count``; see its ``fit_structure``.

    >>> from escgnn import graphs
    >>> from escgnn.transforms import StructuralEncoding
    >>> from torch_geometric.data import Data
    >>> from torch_geometric.nn import GAT
    >>> encoding = StructuralEncoding(hops=1)
    >>> edge_index = torch.from_numpy(graphs.petersen().edge_index)
    >>> data = encoding(Data(x=torch.ones(10, 1), edge_index=edge_index))
    >>> model = with_structure(GAT(1, 16, num_layers=2, out_channels=3, edge_dim=8), encoding.num_bins, channels=8)
    >>> model(data).shape
    torch.Size([10, 3])
    """
    return WithStructure(model, num_bins, channels, edge_dim)
