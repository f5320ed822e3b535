"""Arrays of any number of rows for each graph, put on a batch so that PyG can still take it apart."""

from collections.abc import Mapping
from typing import Any

import torch
from numpy.typing import NDArray
from torch_geometric.data import Batch


def attach(data: Any, arrays: Mapping[str, tuple[NDArray[Any], NDArray[Any]]]) -> None:
    """Store arrays on the data's device; in a batch also say which rows are whose, for ``to_data_list``.

    Args:
        data: A PyG ``Data`` or ``Batch``, which is changed.
        arrays: By name, the rows of all graphs, and where each graph's begin: (graphs + 1,).
    """
    for name, (rows, _) in arrays.items():
        data[name] = torch.from_numpy(rows).to(data.edge_index.device)
    slices = getattr(data, "_slice_dict", None)
    if isinstance(data, Batch) and slices is not None:
        added = {name: torch.from_numpy(starts) for name, (_, starts) in arrays.items()}
        data._slice_dict = {**slices, **added}
        data._inc_dict = {**data._inc_dict, **dict.fromkeys(added)}
