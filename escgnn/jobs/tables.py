"""Tables of results about graphs: columns that say which graph and which nodes a row is about."""

from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from escgnn.readers import Chunk, Rows


def graph_schema(first: Rows | Chunk | None, columns: list[Any]) -> Any:
    """The column ``graph``, of the type of the graphs' names, then these; rows are numbered."""
    names = first.ids.type if isinstance(first, Chunk) else pa.int64()
    return pa.schema([("graph", names), *columns])


def named_nodes(chunk: Chunk, nodes: NDArray[np.int64]) -> list[Any]:
    """What the file calls nodes ``(rows, columns)``, a pyarrow array for each column."""
    return [pa.array(chunk.node_ids[column]) for column in nodes.T]


def with_graphs(chunk: Chunk, owner: NDArray[np.int64], columns: list[Any], schema: Any) -> Any:
    """Columns behind the name of the graph that each row belongs to, as a pyarrow RecordBatch."""
    return pa.record_batch([chunk.ids.take(pa.array(owner)), *columns], schema=schema)
