"""Graph files, read in a stream with their bad rows told apart.

```python
with RejectLog("out.parquet") as log, TableWriter("out.parquet", schema) as table:
    for chunk in GraphFile("graphs.g6", on_reject=log):
        table.write(result(chunk))
```
"""

from escgnn.files.chunks import Chunk
from escgnn.files.reading import GraphFile

__all__ = ["Chunk", "GraphFile"]
