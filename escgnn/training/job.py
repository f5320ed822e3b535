"""Predictions for a file, row by row: streamed, every input row kept in its place, bad ones with the reason."""

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from os import PathLike
from typing import Any, ClassVar, NamedTuple, cast, get_args

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from escgnn.datasets import FEATURES, FeatureSet, from_parsed, parse_molecules
from escgnn.disk import Rejected
from escgnn.engines import Engine, LocalEngine
from escgnn.hub import name_of
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
from escgnn.readers import Chunk, GraphFile, Parse, Rows, count_within, find_column, parse_graph6
from escgnn.shards import ROWS, ShardSummary, find_shards, local_copy, run_shards
from escgnn.store import GraphStore
from escgnn.training.columns import NO_EXTRAS, Extras, added_columns, check_extras, filled_columns, values_of, width_of
from escgnn.training.ensemble import Predictor, ensemble_of
from escgnn.training.folder import Run

STORED = {".json", ".safetensors", ".npz"}  # files of a folder that predictions depend on
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
    """Trained networks' predictions for every row of a table with SMILES, or every graph of a graph file.

    Attributes:
        runs: What predicts; where there are several, the names of their columns begin with their folder's.
        max_seconds: Graphs that take longer to encode have no prediction.
        extras: What is wanted beside predictions.

    Raises:
        ValueError: A network reads features that no file has, or has not what is wanted beside its predictions; or of several
            one predicts for nodes, or two have the same name.
    """

    runs: tuple[Predictor, ...]
    max_seconds: float | None = None
    extras: Extras = NO_EXTRAS
    totals: ClassVar[Sequence[str]] = ()
    metadata: ClassVar[Mapping[str, str]] = {}

    @property
    def settings(self) -> Mapping[str, Any]:
        """The command, and all that its results depend on."""
        model = hashlib.sha256()
        for run in self.runs:
            for path in sorted(path for path in run.folder.rglob("*") if path.suffix in STORED):
                model.update(path.read_bytes())
        chosen = {name: value for name, value in asdict(self.extras).items() if value}
        return {"command": "predict", "model": model.hexdigest(), "max_seconds_per_graph": self.max_seconds, **chosen}

    def __post_init__(self) -> None:
        check_seconds(self.max_seconds)
        for run in self.runs:
            feature_set(run)  # complains before anything is read
            if len(self.runs) > 1 and run.task.level == "node":
                raise ValueError(f"{run.folder}: it predicts for nodes, which only one run at a time can do")
        if len({self._prefix(run) for run in self.runs}) < len(self.runs):
            names = ", ".join(str(run.folder) for run in self.runs)
            raise ValueError(f"runs: {names}; two have the same name, by which their columns are told apart")
        check_extras(self.runs, self.extras)

    @property
    def is_of_nodes(self) -> bool:
        """Whether there is a prediction for every node."""
        return self.runs[0].task.level == "node"

    def chunks(self, file: GraphFile) -> Iterator[Rows | Chunk]:
        """Rows with all their columns, whose graphs are read where the network is; of an edge list whole graphs.

        Raises:
            ValueError: The network needs what the file does not have, a column would be there twice, or there are no rows.
        """
        for run in self.runs:
            features = [name for name in run.features if name != "descriptors"]
            if (features or run.descriptors.of_molecules or self.extras.similarity) and file.format != "smiles":
                needed = ", ".join(features) or "descriptors"
                raise ValueError(f"{file.path} holds bare graphs, but the network reads {needed} of molecules")
            for name in run.descriptors.columns:
                if not file.is_table:
                    raise ValueError(f"{file.path}: no table, but the network reads the column {name}")
                find_column(file.source, name)
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
        added: list[tuple[str, Any]] = [("node", pa.int64())] if self.is_of_nodes else []
        for run in self.runs:
            added += [column[:2] for column in added_columns(run, self.extras, self._prefix(run))]
        return [*added, ("status", pa.string())]

    def _prefix(self, run: Predictor) -> str:
        return f"{name_of(run.folder)}." if len(self.runs) > 1 else ""

    def _told(self, run: Predictor, before: str, reason: str) -> str:
        """The first reason why a row has no prediction, and whose it is where others may have some."""
        if before != "ok" or reason == "ok":
            return before
        return f"{name_of(run.folder)}: {reason}" if len(self.runs) > 1 else reason

    def __call__(self, chunk: Rows | Chunk) -> Iterator[Part]:
        """The predictions for all rows of a chunk."""
        read: dict[str, Given] = {}  # by the features that are read
        filled = []
        status: list[str] = []
        for run in self.runs:
            features = feature_set(run)
            if features not in read:
                read[features] = read_given(chunk, features)
            given = read[features]
            found = _answered(run, given, self.max_seconds, self.extras)
            filled.append(found)
            status = status or given.status
            status = [self._told(run, *reasons) for reasons in zip(status, found.status, strict=True)]
        given = next(iter(read.values()))
        home = pa.array(filled[0].home)
        columns = [column.take(home) for column in given.columns.columns]
        if self.is_of_nodes:
            nodes = np.zeros(len(home), np.int64)
            is_filled = filled[0].is_filled
            nodes[is_filled] = given.node_ids
            columns.append(pa.array(nodes, mask=~is_filled))
        columns += [column for found in filled for column in found.columns]
        columns.append(pa.array(status, pa.string()).take(home))
        bad = [number for number, reason in enumerate(status) if reason != "ok"]
        problems = tuple(Rejected(given.lines[i], given.texts[i][:80], status[i]) for i in bad[:SHOWN])
        tally = Tally(graphs=len(status) - len(bad), rows=len(status), problems=problems)
        yield Part(pa.record_batch(columns, schema=self.schema(chunk)), tally)


def predict_file(
    run: Run | Predictor | Sequence[Run | Predictor],
    source: str | PathLike[str],
    output: str | PathLike[str],
    *,
    extras: Extras = NO_EXTRAS,
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
    task at node level has a row for each node, and its number as ``node``. An ensemble gives the mean of its members, and
    their deviation as ``pred_NAME_std``. Of several runs, every column begins with the name of the run's folder and a dot, and
    a row is ``"ok"`` if all of them predict.

    Args:
        run: What `load_run` or `load_ensemble` gives, or several of these.
        source: What `escgnn.readers.GraphFile` reads; memory does not grow with its size.
        output: A .csv, .tsv or .parquet file, written whole or not at all.
        extras: What is wanted beside predictions: intervals, similarities and so on.
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
    predictors = _predictors(run)
    column = smiles_column(predictors[0], source) if smiles is None else smiles
    job = Predict(predictors, max_seconds_per_graph, extras)
    return run_job(job, source, output, smiles=column, engine=who, progress=progress)


def predict_files(
    run: Run | Predictor | Sequence[Run | Predictor],
    inputs: Sequence[str],
    folder: str,
    *,
    smiles: str | None = None,
    max_seconds_per_graph: float | None = None,
    extras: Extras = NO_EXTRAS,
    rows: int = ROWS,
    **options: Any,
) -> ShardSummary:
    """The same for many files: one of predictions for each, in a folder; `escgnn.shards.run_shards` explains the rest.

    Args:
        run: What `predict_file` takes.
        inputs: Files, folders, patterns and addresses.
        folder: Where predictions go.
        smiles: Column with the SMILES, if it is neither called as in the training table nor smiles.
        max_seconds_per_graph: Graphs that take longer to encode have no prediction, and the reason.
        extras: What else to write; see `Extras`.
        rows: Where a Parquet file has more rows, its row groups are cut into shards of so many.
        options: Further ones of `escgnn.shards.run_shards`.
    """
    predictors = _predictors(run)
    column = smiles
    if column is None:
        with local_copy(find_shards(inputs, rows)[0].source) as path:
            column = smiles_column(predictors[0], path)
    job = Predict(predictors, max_seconds_per_graph, extras)
    return run_shards(job, inputs, folder, smiles=column, rows=rows, **options)


def _predictors(run: Run | Predictor | Sequence[Run | Predictor]) -> tuple[Predictor, ...]:
    several = [*run] if isinstance(run, Sequence) else [run]
    return tuple(ensemble_of(one) for one in several)


def smiles_column(run: Run | Predictor, source: str | PathLike[str]) -> str | None:
    """What the training table calls the column with the SMILES, if the file has a column of this name."""
    name = run.dataset.get("smiles")
    if not name:
        return None
    try:
        GraphFile(source, smiles=name)
    except (ValueError, OSError):  # whoever reads the file will say what is wrong with it
        return None
    return name


def feature_set(run: Run | Predictor) -> FeatureSet:
    """Which features of molecules the network reads; any will do if it reads none."""
    features = {name: feature for name, feature in run.features.items() if name != "descriptors"}
    for name in get_args(FeatureSet):
        if features.items() <= FEATURES[name].items():  # some networks read nodes alone
            return cast(FeatureSet, name)
    raise ValueError(f"{run.folder}: the network reads features that are not made from SMILES: {features}")


def read_given(chunk: Rows | Chunk, features: FeatureSet) -> Given:
    """The graphs of a chunk."""
    if isinstance(chunk, Chunk):
        names = pa.record_batch([chunk.ids], ["graph"])
        texts = [str(name) for name in chunk.ids.to_pylist()]
        store = GraphStore.from_view(chunk.graphs)
        return Given(names, [0] * len(texts), texts, ["ok"] * len(texts), store, chunk.node_ids)
    parse: Parse = parse_graph6
    if chunk.holds == "smiles":
        parse = partial(parse_molecules, features=features)
    graphs = parse(chunk.texts)
    reasons = {**graphs.reasons, **chunk.trouble}
    status = [reasons.get(number, "ok") for number in range(len(chunk.texts))]
    node_ids = count_within(graphs.num_nodes)
    return Given(chunk.columns, chunk.lines, chunk.texts, status, from_parsed(graphs), node_ids)


class Answered(NamedTuple):
    """What one predictor says of a chunk.

    Attributes:
        columns: Its columns, pyarrow arrays.
        status: ``"ok"`` for every row of the input, or why there is no prediction.
        home: The row of the input that every row of the output belongs to.
        is_filled: Whether a row of the output has a prediction, or could have had.
    """

    columns: list[Any]
    status: list[str]
    home: NDArray[np.int64]
    is_filled: NDArray[np.bool_]


def _answered(run: Predictor, given: Given, seconds: float | None, extras: Extras) -> Answered:
    """The columns of one predictor, and the status of every input row."""
    status = [*given.status]
    good = np.flatnonzero([reason == "ok" for reason in status])
    graphs = given_graphs(run, given)
    values, reasons = _predict(run, graphs, [given.texts[number] for number in good.tolist()], seconds, extras)
    for number, reason in reasons.items():
        status[good[number]] = reason
    sizes = np.zeros(len(status), np.int64)
    sizes[good] = given.graphs.num_nodes.numpy() if run.task.level == "node" else 1
    for number in good[sizes[good] == 0].tolist():
        status[number] = "the graph has no nodes"
    times = np.maximum(sizes, 1)  # a row without predictions stays
    home = np.repeat(np.arange(len(status)), times)
    filled = np.repeat(sizes > 0, times)
    numbers = np.full((home.size, values.shape[1]), np.nan)
    numbers[filled] = values
    texts = [given.texts[row] if is_filled else "" for row, is_filled in zip(home.tolist(), filled, strict=True)]
    return Answered(filled_columns(run, numbers, texts, extras), status, home, filled)


def given_graphs(run: Run | Predictor, given: Given) -> GraphStore:
    """The graphs of the good rows, with the descriptors that a predictor reads."""
    if not run.descriptors.width:
        return given.graphs
    good = np.flatnonzero([reason == "ok" for reason in given.status])
    return given.graphs.with_fields(graph={"descriptors": _described(run, given, good)})


def _described(run: Run | Predictor, given: Given, good: NDArray[np.int64]) -> NDArray[np.float32]:
    """The descriptors of the good rows."""
    cells = {}
    for name in run.descriptors.columns:
        known = {column.lower(): place for place, column in enumerate(given.columns.schema.names)}
        exact = given.columns.schema.get_field_index(name)
        column = given.columns.column(exact if exact >= 0 else known[name.lower()]).to_pylist()
        cells[name] = [column[number] for number in good]
    return run.descriptors.of([given.texts[number] for number in good.tolist()], cells)


def _predict(
    run: Predictor, graphs: GraphStore, names: Sequence[str], seconds: float | None, extras: Extras
) -> tuple[NDArray[np.float64], dict[int, str]]:
    """Predictions for all graphs, not a number for those that have none, and the reasons of these."""
    size = min(256, max(1, int(NODES / max(1.0, graphs.mean_nodes)))) if len(graphs) else 1
    long: dict[int, float] = {}  # graphs that may take long, and their steps
    if len(graphs) and hasattr(run.transform, "expected_steps"):
        steps = run.transform.expected_steps(graphs.view())
        long = {number: steps[number] for number in long_ones(steps, seconds)}
    if not long:
        try:
            return values_of(run, graphs, size, extras), {}
        except ValueError:  # some graph is at fault: find out which
            pass
    values = [np.empty((0, width_of(run, extras)))]
    reasons = {}
    for number in range(len(graphs)):
        graph = graphs[[number]]
        name = f"graph {names[number]:.40}"
        if number in long:
            warn_if_long(name, f"{graph.num_nodes_total:,} nodes", long[number], seconds)
        try:
            with time_left(seconds if number in long else None, name):
                values.append(values_of(run, graph, 1, extras))
        except (ValueError, TooLongError) as error:
            reasons[number] = str(error)
            if isinstance(error, TooLongError) and seconds is not None:
                reasons[number] = too_long(seconds)
            rows = graph.num_nodes_total if run.task.level == "node" else 1
            values.append(np.full((rows, values[0].shape[1]), np.nan))
    return np.concatenate(values), reasons
