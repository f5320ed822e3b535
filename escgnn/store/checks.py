"""What a store refuses: arrays that do not fit one another, and names that PyG would misread."""

from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch_geometric.data import Batch, Data

from escgnn.kernels.store import find_bad_column

LARGEST_SIZE = torch.iinfo(torch.int32).max
LEVELS = ("node", "edge", "graph")
MISREAD = ("index", "batch", "ptr", "face", "num_nodes")  # PyG shifts, stacks or sums what has this in its name
TAKEN = {*dir(Data), *dir(Batch)} - {"x", "edge_attr", "edge_weight", "y", "pos", "time"}


def checked_tensor(argument: str, values: Any) -> Tensor:
    """A plain tensor that shares the memory of what was given where it can."""
    try:
        if not isinstance(values, Tensor):
            array = np.asarray(values)
            values = torch.from_numpy(np.require(array, array.dtype.newbyteorder("="), ["C", "W"]))
        return torch.Tensor.contiguous(values.detach().cpu().as_subclass(Tensor))
    except (TypeError, ValueError, RuntimeError) as error:
        raise ValueError(f"{argument}: cannot be stored as a tensor ({error})") from error


def checked_integers(argument: str, values: Any) -> Tensor:
    """Integers of 32 bits as they are, others with 64."""
    numbers = checked_tensor(argument, values)
    if numbers.numel() and (numbers.is_floating_point() or numbers.is_complex() or numbers.dtype == torch.bool):
        raise ValueError(f"{argument}: dtype {numbers.dtype}; expected integers")
    return numbers if numbers.dtype == torch.int32 else numbers.long()


def checked_sizes(argument: str, values: Any) -> Tensor:
    """One size per graph, so small that sums cannot overflow."""
    sizes = checked_integers(argument, values).long()
    if sizes.dim() != 1 or (sizes < 0).any() or (sizes > LARGEST_SIZE).any():
        raise ValueError(f"{argument}: expected one number from 0 to {LARGEST_SIZE} for each graph")
    return sizes


def checked_columns(values: Any, start: Tensor, num_nodes: Tensor) -> Tensor:
    """Node ids that exist, in 32 bits."""
    columns = checked_integers("edge_index", values)
    if columns.shape != (2, start[-1]):
        raise ValueError(f"edge_index: shape {tuple(columns.shape)}; num_edges asks for (2, {int(start[-1])})")
    bad = find_bad_column(columns.numpy(), start.numpy(), num_nodes.numpy())
    if bad >= 0:
        graph = int(torch.searchsorted(start, bad, right=True)) - 1
        u, v = columns[:, bad].tolist()
        raise ValueError(f"edge_index: column {bad} is ({u}, {v}), but graph {graph} has {int(num_nodes[graph])} nodes")
    return columns.int()


def checked_rows(level: str, name: str, values: Any, start: Tensor) -> Tensor:
    """A column with a good name and a row for each of its level."""
    if not name.isidentifier() or name.startswith("_") or name in TAKEN or any(word in name for word in MISREAD):
        raise ValueError(f"{level}: PyG would misread a column called {name!r}; give it another name")
    column = checked_tensor(f"{level}: {name}", values)
    if not column.dim() or len(column) != start[-1]:
        raise ValueError(f"{level}: {name} has shape {tuple(column.shape)}; expected {int(start[-1])} rows")
    if column.dtype in (torch.uint16, torch.uint32, torch.uint64):
        raise ValueError(f"{level}: {name} has dtype {column.dtype}, of which torch cannot choose rows; give it a sign")
    return column


def guess_level(name: str, rows: list[int], expected: dict[str, list[int]]) -> str:
    """The level whose sizes the rows have; where several do, the one that the name suggests."""
    likely = "graph"
    if "edge" in name:
        likely = "edge"
    elif "node" in name or name in ("x", "pos"):
        likely = "node"
    for level in (likely, *LEVELS):
        if rows == expected[level]:
            return level
    raise ValueError(f"data_list: {name} has a row neither per node, nor per column of edge_index, nor per graph")
