"""Jobs over many files: each file, or some row groups of one, is a shard, and each shard makes one file of results.

```python
run_shards(Encode(RootedEncoding(2)), ["in/*.parquet"], "out", engine=LocalEngine(8))
```

A folder of results holds ``_manifest.json``, what is to be done, and for every shard ``part-00017.parquet``, perhaps the list
of its bad rows ``part-00017.rejected.csv``, and ``part-00017.done.json``, which comes last. Files are written whole or not at
all, so the same call goes on wherever an earlier one stopped, on whatever machine; another one is refused. Engines only decide
where a shard is worked on: the results are the same, byte for byte.
"""

from escgnn.shards.inputs import ROWS, Shard, find_shards
from escgnn.shards.manifest import Done, Failed
from escgnn.shards.places import ResultFolder, is_address, local_copy
from escgnn.shards.running import ShardSummary, read_part, run_shards
from escgnn.shards.splitting import split_file
from escgnn.shards.status import Status, read_status

__all__ = [
    "ROWS",
    "Done",
    "Failed",
    "ResultFolder",
    "Shard",
    "ShardSummary",
    "Status",
    "find_shards",
    "is_address",
    "local_copy",
    "read_part",
    "read_status",
    "run_shards",
    "split_file",
]
