"""Jobs over files: what becomes of their graphs, whoever does the work.

>>> import pickle
>>> pickle.loads(pickle.dumps(Count("3-cycle", per="node")))
Count(pattern='3-cycle', per='node', induced=False, orbit=None, max_seconds=None)

A job is a frozen dataclass that can be sent to another process. `run` reads a file, lets an engine call the job on its chunks,
and writes the table that comes out. `escgnn.training.Predict` is a job, too; it needs torch, so it lives there.
"""

from escgnn.jobs.count import Count, count_file
from escgnn.jobs.encode import Encode, encode_file
from escgnn.jobs.job import SHOWN, Job, Part, Tally
from escgnn.jobs.long import check_seconds, long_ones, time_left, too_long, warn_if_long
from escgnn.jobs.stream import Progress, Summary, run
from escgnn.kernels.threads import LongWorkWarning, TooLongError

__all__ = [
    "SHOWN",
    "Count",
    "Encode",
    "Job",
    "LongWorkWarning",
    "Part",
    "Progress",
    "Summary",
    "Tally",
    "TooLongError",
    "check_seconds",
    "count_file",
    "encode_file",
    "long_ones",
    "run",
    "time_left",
    "too_long",
    "warn_if_long",
]
