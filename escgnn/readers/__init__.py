"""Files of graphs, read once from front to end, with their bad rows told apart.

One reader serves every command. `GraphFile` yields chunks of bare graphs side by side; its ``unread`` yields pieces that
`read_graphs` makes such chunks of, wherever the work is done, for encoding and counting; its ``rows`` yields rows with the
columns that are wanted, for learning and predicting, whose graphs a `Parse` function makes.

```python
with RejectLog("out.parquet") as log, TableWriter("out.parquet", schema) as table:
    for chunk in GraphFile("graphs.g6", on_reject=log):
        table.write(result(chunk))
```
"""

from escgnn.readers.chunks import Chunk, count_within
from escgnn.readers.graph_file import FORMATS, GraphFile, read_graphs
from escgnn.readers.parsed import Parse, Parsed, parse_graph6
from escgnn.readers.rows import Rows, read_rows
from escgnn.readers.smiles import (
    RDKIT_ERRORS,
    bonds,
    bonds_as_written,
    chemistry,
    molecules,
    parse,
    parse_smiles,
    told_by_rdkit,
)
from escgnn.readers.sources import DELIMITERS, extension, find_column, open_source

__all__ = [
    "DELIMITERS",
    "FORMATS",
    "RDKIT_ERRORS",
    "Chunk",
    "GraphFile",
    "Parse",
    "Parsed",
    "Rows",
    "bonds",
    "bonds_as_written",
    "chemistry",
    "count_within",
    "extension",
    "find_column",
    "molecules",
    "open_source",
    "parse",
    "parse_graph6",
    "parse_smiles",
    "read_graphs",
    "read_rows",
    "told_by_rdkit",
]
