"""Predictions for a file, row by row: streamed, every input row kept in its place, bad ones with the reason."""

import time
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any, cast, get_args

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from escgnn.datasets.molecules import FEATURES, FeatureSet
from escgnn.disk import Rejected, RejectLog, TableWriter, check_output
from escgnn.metrics import out_channels
from escgnn.store import GraphStore
from escgnn.training.folder import Run
from escgnn.training.pieces import Piece, Pieces
from escgnn.training.prediction import predict

Progress = Callable[[int, int], None]  # bytes read so far, bytes in all
SHOWN = 10  # bad rows of a summary
NODES = 1 << 15  # of a batch


@dataclass(frozen=True)
class Summary:
    """What predicting for a file came to.

    Attributes:
        rows: Rows of the input, or graphs of an edge list.
        predicted: How many of them have predictions; the others have a reason.
        problems: The first rows without, where they stand and why.
        seconds: Time taken.
        output: The table.
        rejects: Table of the rows of an edge list that could not be read, if there were any.
    """

    rows: int
    predicted: int
    problems: tuple[Rejected, ...]
    seconds: float
    output: Path
    rejects: Path | None


def predict_file(
    run: Run,
    source: str | PathLike[str],
    output: str | PathLike[str],
    *,
    smiles: str | None = None,
    workers: int = 0,
    progress: Progress | None = None,
) -> Summary:
    """Predict for every row of a table with SMILES, or every graph of a graph file.

    The output has the columns of the input (``graph`` or ``smiles`` if it has none), then ``pred_`` and the name for every
    target, and ``status``: ``"ok"``, or why there is no prediction. Of several classes the most likely comes first, as the
    training table calls it, then the probability of each as ``pred_NAME_CLASS``; classes without names are numbers from 0. A
    task at node level has a row for each node, and its number as ``node``.

    Args:
        run: What `load_run` gives.
        source: What `escgnn.files.GraphFile` reads; memory does not grow with its size.
        output: A .csv or .parquet file, written whole or not at all.
        smiles: Column with the SMILES, if it is not called smiles.
        workers: Processes that read molecules, which takes longer than predicting; worth it from some ten thousand rows.
        progress: Called now and then with the bytes read and their total.

    Raises:
        ValueError: The network needs what the file does not have, a column would be there twice, the file is damaged, or the
            output would replace it.
        OSError: A file cannot be opened.
    """
    check_output(source, output)
    start = time.perf_counter()
    rows = predicted = 0
    problems: list[Rejected] = []
    table: TableWriter | None = None
    with ExitStack() as stack:
        log = stack.enter_context(RejectLog(output))
        pieces = Pieces(source, smiles=smiles, features=_feature_set(run), workers=workers, on_reject=log)
        if run.features and pieces.format != "smiles":
            raise ValueError(
                f"{source} holds bare graphs, but the network reads {', '.join(run.features)} of molecules"
            )
        for piece in pieces:
            if table is None:
                table = stack.enter_context(TableWriter(output, _schema(run, piece.columns.schema, source)))
            columns, status = _result(run, piece)
            table.write(pa.record_batch(columns, schema=table.schema))
            bad = [number for number, reason in enumerate(status) if reason != "ok"]
            rows, predicted = rows + len(status), predicted + len(status) - len(bad)
            problems += [Rejected(piece.lines[i], piece.texts[i][:80], status[i]) for i in bad[: SHOWN - len(problems)]]
            if progress is not None:
                progress(pieces.bytes_read, pieces.total_bytes)
        if table is None:
            raise ValueError(f"{source} has no rows")
    rejects = None if log.is_empty else log.path
    return Summary(rows, predicted, tuple(problems), time.perf_counter() - start, Path(output), rejects)


def _feature_set(run: Run) -> FeatureSet:
    """Which features of molecules the network reads; any will do if it reads none."""
    for name in get_args(FeatureSet):
        if run.features in ({}, FEATURES[name]):
            return cast(FeatureSet, name)
    raise ValueError(f"{run.folder}: the network reads features that are not made from SMILES: {dict(run.features)}")


def _schema(run: Run, columns: Any, source: Any) -> Any:
    """The columns of the output."""
    kept = [*zip(columns.names, columns.types, strict=True)]
    added: list[tuple[str, Any]] = [("node", pa.int64())] if run.task.level == "node" else []
    for target in run.task.targets:
        if run.task.kind == "multiclass":
            added += [(f"pred_{target}", _classes(run).type)]
            added += [(f"pred_{target}_{name}", pa.float64()) for name in _classes(run).to_pylist()]
        else:
            added += [(f"pred_{target}", pa.float64())]
    added += [("status", pa.string())]
    for name, _ in added:
        if name in columns.names:
            raise ValueError(f"{source}: has a column {name} already; rename it")
    return pa.schema(kept + added)


def _classes(run: Run) -> Any:
    """What the classes are called: words, or numbers if they are written as such or have no names."""
    names = run.task.names or tuple(str(number) for number in range(run.task.classes))
    is_numbers = all(name.removeprefix("-").isdecimal() and name == str(int(name)) for name in names)
    return pa.array([int(name) for name in names], pa.int64()) if is_numbers else pa.array(names, pa.string())


def _result(run: Run, piece: Piece) -> tuple[list[Any], list[str]]:
    """The columns of the output, and the status of every input row."""
    values, reasons = _predict(run, piece.graphs)
    status = [*piece.status]
    good = np.flatnonzero([reason == "ok" for reason in status])
    for number, reason in reasons.items():
        status[good[number]] = reason
    is_nodes = run.task.level == "node"
    sizes = np.zeros(len(status), np.int64)
    sizes[good] = piece.graphs.num_nodes.numpy() if is_nodes else 1
    for number in good[sizes[good] == 0].tolist():
        status[number] = "the graph has no nodes"
    times = np.maximum(sizes, 1)  # a row without predictions stays
    home, filled = np.repeat(np.arange(len(status)), times), np.repeat(sizes > 0, times)
    numbers = np.full((home.size, values.shape[1]), np.nan)
    numbers[filled] = values
    columns = [column.take(pa.array(home)) for column in piece.columns.columns]
    if is_nodes:
        nodes = np.zeros(home.size, np.int64)
        nodes[filled] = piece.node_ids
        columns.append(pa.array(nodes, mask=~filled))
    if run.task.kind == "multiclass":
        columns.append(_classes(run).take(pa.array(numbers.argmax(1), mask=np.isnan(numbers[:, 0]))))
    columns += [pa.array(column, from_pandas=True) for column in numbers.T]  # what is not a number is left empty
    return [*columns, pa.array(status, pa.string()).take(pa.array(home))], status


def _predict(run: Run, graphs: GraphStore) -> tuple[NDArray[np.float64], dict[int, str]]:
    """Predictions for all graphs, not a number for those that have none, and the reasons of these."""
    size = min(256, max(1, int(NODES / max(1.0, graphs.mean_nodes)))) if len(graphs) else 1
    try:
        return predict(run, graphs, batch_size=size).numpy(), {}
    except ValueError:  # some graph is at fault: find out which
        values, reasons = [np.empty((0, out_channels(run.task)))], {}
    for number in range(len(graphs)):
        graph = graphs[[number]]
        try:
            values.append(predict(run, graph).numpy())
        except ValueError as error:
            reasons[number] = str(error)
            values.append(
                np.full((graph.num_nodes_total if run.task.level == "node" else 1, values[0].shape[1]), np.nan)
            )
    return np.concatenate(values), reasons
