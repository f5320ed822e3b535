"""Many graphs as a few contiguous arrays, from which a PyG batch is cut without a Python loop over graphs.

>>> store = GraphStore([3, 2], [4, 2], [[0, 1, 1, 2, 0, 1], [1, 0, 2, 1, 1, 0]], graph={"y": [0.5, 1.5]})
>>> store[0]
Data(edge_index=[2, 4], y=[1], num_nodes=3)
>>> store.batch([1, 0, 1])
DataBatch(edge_index=[2, 8], y=[3], num_nodes=7, batch=[7], ptr=[4])
"""

import copy
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from os import PathLike
from typing import Any, NamedTuple, Self

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.utils.data import Dataset
from torch_geometric.data import Batch, Data
from torch_geometric.data.collate import collate

from escgnn.graphs import Graph, from_edge_index
from escgnn.kernels.store import find_bounds, join_columns, list_owners, list_rows
from escgnn.store.checks import LEVELS, checked_columns, checked_rows, checked_sizes, guess_level
from escgnn.store.file import read, write

EMPTY_BATCH = Batch(_base_cls=Data)  # a copy costs a tenth of a new one, for which PyG inspects signatures


class Field(NamedTuple):
    """What a column holds: a row of this shape and type for each node, each edge column or each graph."""

    level: str
    shape: tuple[int, ...]
    dtype: torch.dtype


class Cut(NamedTuple):
    """The rows of some graphs at one level, one after another."""

    rows: Tensor
    bounds: Tensor  # where each graph's rows begin and end, (graphs + 1,)


class GraphStore(Dataset[Any]):
    """Graphs as contiguous arrays with offsets; reads like a list of PyG ``Data``, and cuts whole batches.

    A slice, a list of numbers or a mask gives a store that shares the arrays. Arrays are taken as they are where
    they can be, so they should not be changed afterwards; nor should those of a ``Data`` that the store gives.

    Args:
        num_nodes: Nodes of each graph, ``(graphs,)``.
        num_edges: Columns of ``edge_index`` that belong to each graph, ``(graphs,)``.
        edge_index: Directed edges of all graphs, one after another, ``(2, columns)``; each graph's nodes begin at 0.
        node: Node columns by name, a row for every node of all graphs.
        edge: Edge columns by name, a row for every column of ``edge_index``.
        graph: Graph columns by name, a row for every graph.

    Attributes:
        metadata: Texts found in the file that the store was loaded from.

    Raises:
        ValueError: Sizes do not agree, a node does not exist, or PyG would misread a name.
    """

    def __init__(
        self,
        num_nodes: Any,
        num_edges: Any,
        edge_index: Any,
        *,
        node: Mapping[str, Any] | None = None,
        edge: Mapping[str, Any] | None = None,
        graph: Mapping[str, Any] | None = None,
    ) -> None:
        nodes, edges = checked_sizes("num_nodes", num_nodes), checked_sizes("num_edges", num_edges)
        if nodes.shape != edges.shape:
            raise ValueError(f"num_edges: {len(edges)} graphs, but num_nodes has {len(nodes)}")
        sizes = {"node": nodes, "edge": edges, "graph": torch.ones_like(nodes)}
        self._start = {level: torch.cat([size.new_zeros(1), size.cumsum(0)]) for level, size in sizes.items()}
        self._graphs = torch.arange(len(nodes))
        self._edge_index = checked_columns(edge_index, self._start["edge"], nodes)
        levels = {"node": node or {}, "edge": edge or {}, "graph": graph or {}}
        self._columns = {
            level: {name: checked_rows(level, name, values, self._start[level]) for name, values in columns.items()}
            for level, columns in levels.items()
        }
        for name, count in Counter(chain(*levels.values())).items():
            if count > 1:
                raise ValueError(
                    f"{name}: a column has one level, not {', '.join(k for k in levels if name in levels[k])}"
                )
        self.metadata: dict[str, str] = {}

    @classmethod
    def from_data_list(cls, data_list: Sequence[Data]) -> Self:
        """The store of these graphs, whose attributes must be tensors or numbers, the same ones in each.

        An attribute belongs to nodes, edges or graphs if it has a row for each in every graph. Where several would
        do, as for one lonely node, the name decides: ``x``, ``pos`` and ``..node..`` are for nodes, ``..edge..`` for
        edges, others for graphs.

        Raises:
            ValueError: No graphs, attributes that differ between them or that fit no level.
        """
        for i, data in enumerate(data_list):
            if "edge_index" not in data or {*data.keys()} != {*data_list[0].keys()}:
                raise ValueError(f"data_list: graph {i} is {data}; expected edge_index, and the same names in each")
            for name, value in data:
                if not isinstance(value, Tensor | int | float):
                    raise ValueError(f"data_list: {name} of graph {i} is neither a tensor nor a number")
        if not data_list:
            raise ValueError("data_list: no graphs")
        try:
            whole, slices, _ = collate(Data, list(data_list), increment=False, add_batch=False)
        except RuntimeError as error:
            raise ValueError(f"data_list: some graphs differ in the shape of an attribute ({error})") from error
        sizes = {name: rows.diff().tolist() for name, rows in slices.items()}
        expected = {
            "node": [data.num_nodes for data in data_list],
            "edge": sizes.pop("edge_index"),
            "graph": [1] * len(data_list),
        }
        levels: dict[str, dict[str, Any]] = {level: {} for level in LEVELS}
        for name, rows in sizes.items():
            levels[guess_level(name, rows, expected)][name] = whole[name]
        return cls(expected["node"], expected["edge"], whole.edge_index, **levels)

    @classmethod
    def concatenate(cls, stores: Sequence["GraphStore"]) -> Self:
        """The graphs of several stores, one after another; their columns must be the same.

        Raises:
            ValueError: No stores, or columns that differ.
        """
        for i, store in enumerate(stores):
            if store.fields != stores[0].fields:
                raise ValueError(f"stores: number {i} has columns {store.fields}, the first has {stores[0].fields}")
        if not stores:
            raise ValueError("stores: none given")
        return cls(
            torch.cat([store.num_nodes for store in stores]),
            torch.cat([store.num_edges for store in stores]),
            torch.cat([store.compact()._edge_index for store in stores], dim=1),
            **{
                level: {name: torch.cat([store.column(name) for store in stores]) for name in columns}
                for level, columns in stores[0]._columns.items()
            },
        )

    @classmethod
    def load(cls, path: str | PathLike[str]) -> Self:
        """The store in a file that `save` wrote, mapped into memory rather than read.

        Raises:
            ValueError: The file is damaged, or holds something else.
        """
        arrays, levels, metadata = read(path)
        try:
            store = cls(*arrays, **levels)
        except ValueError as error:
            raise ValueError(f"{path}: not a consistent store of graphs; {error}") from error
        store.metadata = metadata
        return store

    def save(self, path: str | PathLike[str], metadata: Mapping[str, str] | None = None) -> None:
        """Write the graphs to a safetensors file, whole or not at all, with some texts beside them."""
        store = self.compact()
        write(path, (store.num_nodes, store.num_edges, store._edge_index), store._columns, metadata or {})

    @property
    def fields(self) -> dict[str, Field]:
        """Name of every column, with its level, and the shape and type of a row."""
        return {
            name: Field(level, tuple(values.shape[1:]), values.dtype)
            for level, columns in self._columns.items()
            for name, values in columns.items()
        }

    @property
    def num_nodes(self) -> Tensor:
        """Nodes of each graph, ``(graphs,)``."""
        return self._start["node"].diff()[self._graphs]

    @property
    def num_edges(self) -> Tensor:
        """Columns of ``edge_index`` of each graph, ``(graphs,)``."""
        return self._start["edge"].diff()[self._graphs]

    @property
    def num_nodes_total(self) -> int:
        """Nodes of all graphs."""
        return int(self.num_nodes.sum())

    @property
    def mean_nodes(self) -> float:
        """Nodes of a graph on average."""
        return float(self.num_nodes.double().mean())

    @property
    def mean_edges(self) -> float:
        """Undirected edges of a graph on average: half the columns."""
        return float(self.num_edges.double().mean()) / 2

    def column(self, name: str) -> Tensor:
        """The rows of one column, for all graphs."""
        level = self.fields[name].level
        values = self._columns[level][name]
        return values if self._is_whole else values[self._cut(level, self._graphs.numpy()).rows]

    def with_fields(
        self,
        *,
        node: Mapping[str, Any] | None = None,
        edge: Mapping[str, Any] | None = None,
        graph: Mapping[str, Any] | None = None,
    ) -> "GraphStore":
        """A store of the same graphs with further columns, which take the place of those of the same name."""
        store = self.compact()
        added = {"node": node or {}, "edge": edge or {}, "graph": graph or {}}
        gone = {*chain(*added.values())}
        levels = {
            level: {name: values for name, values in columns.items() if name not in gone} | dict(added[level])
            for level, columns in store._columns.items()
        }
        return GraphStore(store.num_nodes, store.num_edges, store._edge_index, **levels)

    def compact(self) -> "GraphStore":
        """The same graphs in arrays of their own, if this store shares those of a larger one."""
        if self._is_whole:
            return self
        edge_index = self._edge_index[:, self._cut("edge", self._graphs.numpy()).rows]
        levels = {level: {name: self.column(name) for name in columns} for level, columns in self._columns.items()}
        return GraphStore(self.num_nodes, self.num_edges, edge_index, **levels)

    @classmethod
    def from_view(cls, graphs: Graph) -> "GraphStore":
        """Graphs side by side, both directions of every edge; loops and repeats leave no trace."""
        sizes = np.diff(graphs.ptr)
        owner = graphs.owner(graphs.edges[:, 0])
        pairs = graphs.edges - graphs.ptr[owner, None]
        columns = np.stack([pairs, pairs[:, ::-1]], axis=1).reshape(-1, 2).T
        return cls(sizes, 2 * np.bincount(owner, minlength=sizes.size), columns)

    def view(self) -> Graph:
        """All graphs side by side, as adjacency lists.

        Raises:
            ValueError: The edges are not symmetric.
        """
        graphs = self._graphs.numpy()
        ptr = self._cut("node", graphs).bounds
        edge_index = self._side_by_side(graphs, ptr, int(self.num_edges.sum()))
        return from_edge_index(edge_index.numpy(), int(ptr[-1]), ptr=ptr.numpy())

    def batch(self, indices: Any = slice(None)) -> Batch:
        """These graphs as one PyG batch, equal to ``Batch.from_data_list([store[i] for i in indices])``.

        Raises:
            ValueError: No graphs.
            IndexError: A graph that does not exist.
        """
        graphs = self._chosen(indices)
        if not graphs.size:
            raise ValueError("indices: a batch holds at least one graph")
        cuts = {level: self._cut(level, graphs) for level in LEVELS}
        ptr = cuts["node"].bounds
        owner = torch.empty_like(cuts["node"].rows)
        list_owners(ptr.numpy(), owner.numpy())
        unmoved = torch.zeros_like(ptr[1:])
        batch = copy.copy(EMPTY_BATCH)
        out, slices, shifts = batch._store, {}, {}
        for level, name, values in self._attributes():
            rows, slices[name] = cuts[level]
            if name == "edge_index":
                out[name], shifts[name] = self._side_by_side(graphs, ptr, len(rows)), ptr[:-1]
            else:
                out[name], shifts[name] = values.index_select(0, rows), unmoved
        out["num_nodes"], out["batch"], out["ptr"] = len(owner), owner, ptr.clone()
        out._num_nodes, out._num_graphs = ptr.diff().tolist(), graphs.size
        out._slice_dict, out._inc_dict = slices, shifts
        return batch

    def __len__(self) -> int:
        return len(self._graphs)

    def __getitem__(self, index: Any) -> Any:
        """One graph as PyG ``Data``, or a store of several: a slice, numbers or a mask."""
        graphs = self._chosen(index)
        if graphs.ndim:
            store = copy.copy(self)
            store._graphs = torch.from_numpy(graphs)
            return store
        data = Data()
        bounds = {level: start[int(graphs) : int(graphs) + 2].tolist() for level, start in self._start.items()}
        for level, name, values in self._attributes():
            rows = slice(*bounds[level])
            data[name] = values[:, rows].long() if name == "edge_index" else values[rows]
        data.num_nodes = bounds["node"][1] - bounds["node"][0]
        return data

    def __getitems__(self, indices: Sequence[int]) -> "GraphStore":
        """What torch's ``DataLoader`` asks for to make a batch."""
        return self[indices]  # type: ignore[no-any-return]

    def __iter__(self) -> Iterator[Data]:
        return (self[i] for i in range(len(self)))

    def __repr__(self) -> str:
        return f"GraphStore({len(self)} graphs, {self.num_nodes_total} nodes, columns {', '.join(self.fields)})"

    @property
    def _is_whole(self) -> bool:
        return torch.equal(self._graphs, self._start["graph"][:-1])

    def _attributes(self) -> Iterator[tuple[str, str, Tensor]]:
        """Level, name and values of everything a graph has, in the order in which PyG is told."""
        yield from (("node", name, values) for name, values in self._columns["node"].items())
        yield "edge", "edge_index", self._edge_index
        for level in ("edge", "graph"):
            yield from ((level, name, values) for name, values in self._columns[level].items())

    def _chosen(self, index: Any) -> NDArray[np.int64]:
        """Numbers of graphs in the arrays; without dimension for a single one."""
        if not isinstance(index, slice):
            index = np.asarray(index)
            index = index.astype(np.int64) if not index.size else index
            if index.ndim > 1 or index.dtype.kind not in ("iub" if index.ndim else "iu"):
                raise IndexError(f"graphs are chosen by number, slice, list of numbers or mask, not by {index!r}")
        return np.array(self._graphs.numpy()[index], order="C")

    def _cut(self, level: str, graphs: NDArray[np.int64]) -> Cut:
        start = self._start[level].numpy()
        bounds = torch.empty(graphs.size + 1, dtype=torch.int64)
        find_bounds(graphs, start, bounds.numpy())
        rows = torch.empty(int(bounds[-1]), dtype=torch.int64)
        list_rows(graphs, start, rows.numpy())
        return Cut(rows, bounds)

    def _side_by_side(self, graphs: NDArray[np.int64], ptr: Tensor, columns: int) -> Tensor:
        """The edges of these graphs, each graph's nodes following those of the graph before."""
        joined = torch.empty((2, columns), dtype=torch.int64)
        arrays = (tensor.numpy() for tensor in (self._start["edge"], self._edge_index, ptr, joined))
        join_columns(graphs, *arrays)
        return joined
