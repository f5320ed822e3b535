"""Graph files, read in a stream with their bad rows told apart, and tables written whole or not at all.

```python
with RejectLog("out.parquet") as log, TableWriter("out.parquet", schema) as table:
    for chunk in GraphFile("graphs.g6", on_reject=log):
        table.write(result(chunk))
```
"""

from escgnn.files.chunks import Chunk, Rejected
from escgnn.files.locking import is_unused, locked
from escgnn.files.reading import GraphFile
from escgnn.files.writing import RejectLog, TableWriter, atomic, check_output

__all__ = [
    "Chunk",
    "GraphFile",
    "RejectLog",
    "Rejected",
    "TableWriter",
    "atomic",
    "check_output",
    "is_unused",
    "locked",
]
