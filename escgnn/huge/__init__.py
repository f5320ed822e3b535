"""One huge graph: adjacency lists and encodings in files that are mapped into memory, and learning on sampled neighbourhoods.

```python
from escgnn.encoding import RootedEncoding
from escgnn.huge import NeighbourLoader, build_graph, encode_graph, open_graph

build_graph("edges.parquet", "graph.escg")
graph = open_graph("graph.escg")
rows = encode_graph(graph, RootedEncoding(hops=1, max_nodes=1000), "graph.escr")
loader = NeighbourLoader(graph, train_nodes, [10, 10], rows=rows, y=classes, shuffle=True)
```

Names are loaded when they are first used: only the loaders need torch.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from escgnn.huge.batches import NeighbourLoader, PairLoader
    from escgnn.huge.building import GraphSummary, build_graph, open_graph, write_graph
    from escgnn.huge.edge_list import EdgeList
    from escgnn.huge.planted import PlantedGroups
    from escgnn.huge.row_store import RowStore, encode_graph
    from escgnn.huge.sampling import Sample, sample

__all__ = [
    "EdgeList",
    "GraphSummary",
    "NeighbourLoader",
    "PairLoader",
    "PlantedGroups",
    "RowStore",
    "Sample",
    "build_graph",
    "encode_graph",
    "open_graph",
    "sample",
    "write_graph",
]

_HOME = {
    "EdgeList": "edge_list",
    "GraphSummary": "building",
    "NeighbourLoader": "batches",
    "PairLoader": "batches",
    "PlantedGroups": "planted",
    "RowStore": "row_store",
    "Sample": "sampling",
    "build_graph": "building",
    "encode_graph": "row_store",
    "open_graph": "building",
    "sample": "sampling",
    "write_graph": "building",
}


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
