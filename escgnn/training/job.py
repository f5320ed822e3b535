"""Predictions for a file, row by row: streamed, every input row kept in its place, bad ones with the reason."""

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from os import PathLike
from typing import Any, ClassVar, NamedTuple, cast, get_args

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from escgnn.datasets import FEATURES, FeatureSet, from_parsed, parse_molecules
from escgnn.disk import Rejected
from escgnn.engines import Engine, LocalEngine
from escgnn.jobs import (
    SHOWN,
    Part,
    Progress,
    Summary,
    Tally,
    TooLongError,
    check_seconds,
    long_ones,
    time_left,
    too_long,
    warn_if_long,
)
from escgnn.jobs import run as run_job
from escgnn.metrics import out_channels
from escgnn.readers import Chunk, GraphFile, Parse, Rows, count_within, parse_graph6
from escgnn.shards import ROWS, ShardSummary, find_shards, local_copy, run_shards
from escgnn.store import GraphStore
from escgnn.task import Task
from escgnn.training.folder import ABOUT, WEIGHTS, Run
from escgnn.training.prediction import predict

NODES = 1 << 15  # of a batch
LETTERS = 1 << 20  # of a chunk, which has few rows then


class Given(NamedTuple):
    """A chunk of the input, its graphs read.

    Attributes:
        columns: The input's own columns, to be kept; a pyarrow RecordBatch.
        lines: Where the rows stand in the file, from 1; 0 for the graphs of an edge list, which have many.
        texts: What says which graph it is: the SMILES, the graph6, or the graph's name.
        status: ``"ok"``, or why there is no graph.
        graphs: The graphs of the rows that are good, in their order.
        node_ids: What the file calls the nodes of these.
    """

    columns: Any
    lines: Sequence[int]
    texts: Sequence[str]
    status: list[str]
    graphs: GraphStore
    node_ids: NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Predict:
    """A trained network's predictions for every row of a table with SMILES, or every graph of a graph file.

    Raises:
        ValueError: The network reads features that no file has.
    """

    run: Run
    max_seconds: float | None = None
    totals: ClassVar[Sequence[str]] = ()
    metadata: ClassVar[Mapping[str, str]] = {}

    @property
    def settings(self) -> Mapping[str, Any]:
        """The command, and all that its results depend on."""
        model = hashlib.sha256()
        for name in (ABOUT, WEIGHTS):
            model.update((self.run.folder / name).read_bytes())
        return {"command": "predict", "model": model.hexdigest(), "max_seconds_per_graph": self.max_seconds}

    def __post_init__(self) -> None:
        check_seconds(self.max_seconds)
        feature_set(self.run)  # complains before anything is read

    def chunks(self, file: GraphFile) -> Iterator[Rows | Chunk]:
        """Rows with all their columns, whose graphs are read where the network is; of an edge list whole graphs.

        Raises:
            ValueError: The network needs what the file does not have, a column would be there twice, or there are no rows.
        """
        if self.run.features and file.format != "smiles":
            needed = ", ".join(self.run.features)
            raise ValueError(f"{file.path} holds bare graphs, but the network reads {needed} of molecules")
        for name, _ in self._added():
            if file.is_table and file.format == "smiles" and name in file.source.columns:
                raise ValueError(f"{file.path}: has a column {name} already; rename it")
        return self._some(file)

    def _some(self, file: GraphFile) -> Iterator[Rows | Chunk]:
        chunks = iter(file) if file.format == "edges" else file.rows(None, letters=LETTERS)
        empty = True
        for chunk in chunks:
            empty = False
            yield chunk
        if empty:
            raise ValueError(f"{file.path} has no rows")

    def schema(self, first: Rows | Chunk | None) -> Any:
        """The columns of the input, then those of the predictions."""
        if isinstance(first, Rows):
            columns = first.columns.schema
            kept = [*zip(columns.names, columns.types, strict=True)]
        else:
            kept = [("graph", pa.int64() if first is None else first.ids.type)]
        return pa.schema(kept + self._added())

    def _added(self) -> list[tuple[str, Any]]:
        """Names and types of the columns behind those of the input."""
        task = self.run.task
        added: list[tuple[str, Any]] = []
        if task.level == "node":
            added.append(("node", pa.int64()))
        for single in task.singles:
            target = single.targets[0]
            if single.kind == "multiclass":
                names = _classes(single)
                added.append((f"pred_{target}", names.type))
                added += [(f"pred_{target}_{name}", pa.float64()) for name in names.to_pylist()]
            else:
                added.append((f"pred_{target}", pa.float64()))
        added.append(("status", pa.string()))
        return added

    def __call__(self, chunk: Rows | Chunk) -> Iterator[Part]:
        """The predictions for all rows of a chunk."""
        given = self._read(chunk)
        columns, status = _result(self.run, given, self.max_seconds)
        bad = [number for number, reason in enumerate(status) if reason != "ok"]
        problems = tuple(Rejected(given.lines[i], given.texts[i][:80], status[i]) for i in bad[:SHOWN])
        tally = Tally(graphs=len(status) - len(bad), rows=len(status), problems=problems)
        yield Part(pa.record_batch(columns, schema=self.schema(chunk)), tally)

    def _read(self, chunk: Rows | Chunk) -> Given:
        if isinstance(chunk, Chunk):
            names = pa.record_batch([chunk.ids], ["graph"])
            texts = [str(name) for name in chunk.ids.to_pylist()]
            store = GraphStore.from_view(chunk.graphs)
            return Given(names, [0] * len(texts), texts, ["ok"] * len(texts), store, chunk.node_ids)
        parse: Parse = parse_graph6
        if chunk.holds == "smiles":
            parse = partial(parse_molecules, features=feature_set(self.run))
        graphs = parse(chunk.texts)
        reasons = {**graphs.reasons, **chunk.trouble}
        status = [reasons.get(number, "ok") for number in range(len(chunk.texts))]
        node_ids = count_within(graphs.num_nodes)
        return Given(chunk.columns, chunk.lines, chunk.texts, status, from_parsed(graphs), node_ids)


def predict_file(
    run: Run,
    source: str | PathLike[str],
    output: str | PathLike[str],
    *,
    smiles: str | None = None,
    workers: int = 0,
    max_seconds_per_graph: float | None = None,
    engine: Engine | None = None,
    progress: Progress | None = None,
) -> Summary:
    """Predict for every row of a table with SMILES, or every graph of a graph file.

    The output has the columns of the input (``graph`` or ``smiles`` if it has none), then ``pred_`` and the name for every
    target, and ``status``: ``"ok"``, or why there is no prediction. Of several classes the most likely comes first, as the
    training table calls it, then the probability of each as ``pred_NAME_CLASS``; classes without names are numbers from 0. A
    task at node level has a row for each node, and its number as ``node``.

    Args:
        run: What `load_run` gives.
        source: What `escgnn.readers.GraphFile` reads; memory does not grow with its size.
        output: A .csv, .tsv or .parquet file, written whole or not at all.
        smiles: Column with the SMILES, if it is neither called as in the training table nor smiles.
        workers: Processes that read molecules, which takes longest, and predict; worth it from some ten thousand rows.
        max_seconds_per_graph: Graphs that take longer to encode have no prediction, and the reason.
        engine: Who works, out of `escgnn.engines`, instead of these processes.
        progress: Called now and then with the bytes read, their total and, while a graph takes long, how far it is.

    Raises:
        ValueError: The network needs what the file does not have, a column would be there twice, the file is damaged, or the
            output would replace it.
        OSError: A file cannot be opened.
    """
    who = LocalEngine(workers) if engine is None else engine
    column = smiles_column(run, source) if smiles is None else smiles
    return run_job(Predict(run, max_seconds_per_graph), source, output, smiles=column, engine=who, progress=progress)


def predict_files(
    run: Run,
    inputs: Sequence[str],
    folder: str,
    *,
    smiles: str | None = None,
    max_seconds_per_graph: float | None = None,
    rows: int = ROWS,
    **options: Any,
) -> ShardSummary:
    """The same for many files: one of predictions for each, in a folder; `escgnn.shards.run_shards` explains the rest.

    Args:
        run: What `load_run` gives.
        inputs: Files, folders, patterns and addresses.
        folder: Where predictions go.
        smiles: Column with the SMILES, if it is neither called as in the training table nor smiles.
        max_seconds_per_graph: Graphs that take longer to encode have no prediction, and the reason.
        rows: Where a Parquet file has more rows, its row groups are cut into shards of so many.
        options: Further ones of `escgnn.shards.run_shards`.
    """
    column = smiles
    if column is None:
        with local_copy(find_shards(inputs, rows)[0].source) as path:
            column = smiles_column(run, path)
    return run_shards(Predict(run, max_seconds_per_graph), inputs, folder, smiles=column, rows=rows, **options)


def smiles_column(run: Run, source: str | PathLike[str]) -> str | None:
    """What the training table calls the column with the SMILES, if the file has a column of this name."""
    name = run.dataset.get("smiles")
    if not name:
        return None
    try:
        GraphFile(source, smiles=name)
    except (ValueError, OSError):  # whoever reads the file will say what is wrong with it
        return None
    return name


def feature_set(run: Run) -> FeatureSet:
    """Which features of molecules the network reads; any will do if it reads none."""
    for name in get_args(FeatureSet):
        if run.features in ({}, FEATURES[name]):
            return cast(FeatureSet, name)
    raise ValueError(f"{run.folder}: the network reads features that are not made from SMILES: {dict(run.features)}")


def _classes(task: Task) -> Any:
    """What the classes are called: words, or numbers if they are written as such or have no names."""
    names = task.names or tuple(str(number) for number in range(task.classes))
    is_numbers = all(name.removeprefix("-").isdecimal() and name == str(int(name)) for name in names)
    if is_numbers:
        return pa.array([int(name) for name in names], pa.int64())
    return pa.array(names, pa.string())


def _result(run: Run, given: Given, seconds: float | None) -> tuple[list[Any], list[str]]:
    """The columns of the output, and the status of every input row."""
    names = [text for text, status in zip(given.texts, given.status, strict=True) if status == "ok"]
    values, reasons = _predict(run, given.graphs, names, seconds)
    status = [*given.status]
    good = np.flatnonzero([reason == "ok" for reason in status])
    for number, reason in reasons.items():
        status[good[number]] = reason
    is_nodes = run.task.level == "node"
    sizes = np.zeros(len(status), np.int64)
    sizes[good] = given.graphs.num_nodes.numpy() if is_nodes else 1
    for number in good[sizes[good] == 0].tolist():
        status[number] = "the graph has no nodes"
    times = np.maximum(sizes, 1)  # a row without predictions stays
    home = np.repeat(np.arange(len(status)), times)
    filled = np.repeat(sizes > 0, times)
    numbers = np.full((home.size, values.shape[1]), np.nan)
    numbers[filled] = values
    columns = [column.take(pa.array(home)) for column in given.columns.columns]
    if is_nodes:
        nodes = np.zeros(home.size, np.int64)
        nodes[filled] = given.node_ids
        columns.append(pa.array(nodes, mask=~filled))
    place = 0
    for single in run.task.singles:
        own = numbers[:, place : place + out_channels(single)]
        place += own.shape[1]
        if single.kind == "multiclass":
            columns.append(_classes(single).take(pa.array(own.argmax(1), mask=np.isnan(own[:, 0]))))
        columns += [pa.array(column, from_pandas=True) for column in own.T]  # what is not a number is left empty
    return [*columns, pa.array(status, pa.string()).take(pa.array(home))], status


def _predict(
    run: Run, graphs: GraphStore, names: Sequence[str], seconds: float | None
) -> tuple[NDArray[np.float64], dict[int, str]]:
    """Predictions for all graphs, not a number for those that have none, and the reasons of these."""
    size = min(256, max(1, int(NODES / max(1.0, graphs.mean_nodes)))) if len(graphs) else 1
    long: dict[int, float] = {}  # graphs that may take long, and their steps
    if len(graphs) and hasattr(run.transform, "expected_steps"):
        steps = run.transform.expected_steps(graphs.view())
        long = {number: steps[number] for number in long_ones(steps, seconds)}
    if not long:
        try:
            return predict(run, graphs, batch_size=size).numpy(), {}
        except ValueError:  # some graph is at fault: find out which
            pass
    values = [np.empty((0, out_channels(run.task)))]
    reasons = {}
    for number in range(len(graphs)):
        graph = graphs[[number]]
        name = f"graph {names[number]:.40}"
        if number in long:
            warn_if_long(name, f"{graph.num_nodes_total:,} nodes", long[number], seconds)
        try:
            with time_left(seconds if number in long else None, name):
                values.append(predict(run, graph).numpy())
        except (ValueError, TooLongError) as error:
            reasons[number] = str(error)
            if isinstance(error, TooLongError) and seconds is not None:
                reasons[number] = too_long(seconds)
            rows = graph.num_nodes_total if run.task.level == "node" else 1
            values.append(np.full((rows, values[0].shape[1]), np.nan))
    return np.concatenate(values), reasons
