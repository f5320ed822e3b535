r"""Scale out.

A library of molecules is many files, and the work on it takes many processes, perhaps many machines, and is stopped
now and then. This page cuts a file into pieces, works on them in two parts, as two machines would, and goes on where
it stopped. The pieces are small; the calls are the same for a thousand million rows.
"""

# %% [markdown]
# ## Pieces
#
# `escgnn split library.smi -o in/ --rows 1000000` cuts a large file between rows. A piece is a *shard*: it makes one
# file of results.

# %%
from pathlib import Path

from escgnn.shards import split_file

RINGS = ("C1CCCC1", "c1ccccc1", "c1ccc2ccccc2c1", "C1CC2CCC1C2", "C1CCC2(CC1)CCCC2")
chains = ["C" * length + ring for length in range(40) for ring in RINGS]
chains[57] = "C1CC"  # a ring that is never closed
Path("library.smi").write_text("\n".join(chains) + "\n")
pieces = split_file(Path("library.smi"), Path("in"), 50)
print(*(path.as_posix() for path in pieces), sep="\n")

# %% [markdown]
# ## A job, in parts
#
# A job is a value: what to do, with all its settings. It can be encoding (`Encode`), predicting (`training.Predict`)
# or, here, counting. Each of n calls does every n-th shard, in a folder that all of them see. That is all there is to
# a job array:
#
# ```sh
# #SBATCH --array=1-32
# escgnn count 'in/*.smi' -o out/ --pattern 5-cycle --part $SLURM_ARRAY_TASK_ID/$SLURM_ARRAY_TASK_COUNT
# ```

# %%
from escgnn.jobs import Count
from escgnn.shards import read_status, run_shards

job = Count("5-cycle")
first = run_shards(job, ["in"], "out", part=(0, 2))
print(f"the first machine did {first.shards} shards, {first.graphs} graphs; {first.totals['count']} 5-cycles so far")

status = read_status("out")
print(f"of all {status.shards} shards {status.done} are done, {status.left} are left")

# %% [markdown]
# ## Go on
#
# The second machine never came. Whoever gives the same call again, or the call for all parts, does what is left:
# results of a shard appear whole or not at all, and what is done stays. A bad row costs itself only, and is listed
# beside the results of its shard.

# %%
rest = run_shards(job, ["in"], "out")
print(f"{rest.shards} shards, {rest.skipped} of them done before")
print(f"{rest.graphs} graphs, {rest.rejected} bad row left out")
for path in sorted(Path("out").glob("*.rejected.csv")):
    print(path.as_posix(), "says:", path.read_text().splitlines()[-1])

# %% [markdown]
# Another setting in the same folder would mix results that do not belong together. It is refused, with the
# difference:

# %%
try:
    run_shards(Count("6-cycle"), ["in"], "out")
except ValueError as error:
    print(error)

# %% [markdown]
# Where a shard is worked on does not matter: in one process, in two parts, on a cluster, the files are the same, byte
# for byte.

# %%
run_shards(job, ["in"], "again")
names = sorted(path.name for path in Path("out").glob("*.parquet"))
print(names)
print("the same bytes:", all(Path("out", name).read_bytes() == Path("again", name).read_bytes() for name in names))

# %% [markdown]
# ## More hands
#
# `engine=LocalEngine(8)`, or `--workers 8`, is a process for each worker; one that dies is replaced, and its shard
# done again. `RayEngine(address="auto")`, or `--engine ray --address auto`, is a cluster. Inputs and results may be
# addresses such as `s3://library/*.parquet`. The results are ordinary tables:

# %%
import pyarrow.parquet
from matplotlib.figure import Figure

counts = [number for name in names for number in pyarrow.parquet.read_table(Path("out", name))["count"].to_pylist()]
figure = Figure(figsize=(6, 2.8), layout="constrained")
axes = figure.subplots()
numbers = sorted({*counts})
axes.bar([str(number) for number in numbers], [counts.count(number) for number in numbers], color="#3a6ea5")
axes.set(xlabel="5-cycles of a molecule", ylabel="molecules")
axes.spines[["top", "right"]].set_visible(False)
figure

# %% [markdown]
# [Many files, many machines](../scaling.md) says what is in the folder, what happens when a disk is full or a worker
# is killed, and what it costs.
