"""What a trained run says of the graph on the page."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any
from warnings import catch_warnings, simplefilter

import networkx
import pyarrow.parquet as pq

from escgnn.explorer.reading import Subject
from escgnn.hub import name_of

if TYPE_CHECKING:  # so that looking at graphs does not load torch
    from escgnn.training import Ensemble, Extras, Predictor, Run

PREFIX = "pred_"  # of the columns that predictions stand in
LEVEL = 0.9  # with which probability an interval holds the answer
MOST_TAKEN_OUT = 150  # nodes, one by one; each leaves a graph that is encoded
Value = float | str | None


@dataclass(frozen=True)
class Line:
    """One number that a run predicts.

    Attributes:
        target: What it is of.
        value: The number, the probability of yes or of a class, or the most likely class; None if there is none.
        interval: Between which numbers the answer lies with probability 0.9; None where the run does not say.
    """

    target: str
    value: Value
    interval: tuple[float, float] | None = None


@dataclass(frozen=True)
class Prediction:
    """All that a run says of one graph.

    Attributes:
        run: What the run is called.
        lines: Its numbers.
        nodes: Of a task at node level, the numbers of each node, by target.
        atoms: How much lower an output would be without each node, by what it is called; None where the run does not say.
        similarity: That of the nearest training molecule, from 0 to 1; None where the run does not say.
        warning: What is doubtful about it.
    """

    run: str
    lines: tuple[Line, ...] = ()
    nodes: Mapping[str, Sequence[Value]] | None = None
    atoms: Mapping[str, Sequence[float]] | None = None
    similarity: float | None = None
    warning: str = ""

    def plain(self) -> dict[str, Any]:
        """Plain values for the page."""
        return asdict(self)


def predicted(run: "Run | Ensemble", subject: Subject) -> Prediction:
    """All that a run says of a graph, or in its warning why it says nothing; numbers are those of `escgnn predict`."""
    from escgnn.training import ensemble_of, predict_file

    name = _name(run)
    extras = _extras(run, subject)
    with TemporaryDirectory() as folder, catch_warnings(record=True) as caught:
        simplefilter("always")
        source = Path(folder, "graph.smi" if subject.smiles else "graph.g6")
        graph6: bytes = networkx.to_graph6_bytes(subject.graph.to_networkx(), header=False)
        source.write_bytes(subject.smiles.encode() if subject.smiles else graph6)
        try:
            predict_file(run, source, Path(folder, "predicted.parquet"), extras=extras)
        except ValueError as error:
            return Prediction(name, warning=str(error).replace(str(source), subject.title))
        table = pq.read_table(Path(folder, "predicted.parquet")).to_pydict()
        trouble = [status for status in table["status"] if status != "ok"]
        warning = "; ".join(trouble[:1] or [str(each.message) for each in caught])
        atoms = None if trouble else _without_each(run, source)
    if run.task.level == "node":
        nodes = {column.removeprefix(PREFIX): values for column, values in table.items() if column.startswith(PREFIX)}
        return Prediction(name, nodes=nodes, warning=warning)
    lines = _lines(ensemble_of(run), extras, {column: values[0] for column, values in table.items()})
    similarity = table["similarity"][0] if extras.similarity else None
    return Prediction(name, lines, atoms=atoms, similarity=similarity, warning=warning)


def _name(run: "Run | Ensemble") -> str:
    from escgnn.training import Run

    members = (run,) if isinstance(run, Run) else run.members
    how = f"epoch {members[0].epoch}" if len(members) == 1 else f"{len(members)} networks"
    return f"{name_of(run.folder)} ({members[0].name}, {how})"


def _extras(run: "Run | Ensemble", subject: Subject) -> "Extras":
    """What the run can say beside its predictions."""
    from escgnn.training import Extras, check_extras, ensemble_of

    def is_known(extras: Extras) -> bool:
        try:
            check_extras([ensemble_of(run)], extras)
        except ValueError:  # its targets are no numbers, or what it takes was not kept
            return False
        return True

    has_intervals = run.task.level == "graph" and is_known(Extras(interval=LEVEL))
    has_neighbours = bool(subject.smiles) and is_known(Extras(similarity=True))
    return Extras(interval=LEVEL if has_intervals else None, similarity=has_neighbours)


def _lines(predictor: "Predictor", extras: "Extras", row: Mapping[str, Any]) -> tuple[Line, ...]:
    """The numbers of one row, target by target: its value with its bounds, then the probabilities of its classes."""
    from escgnn.training import added_columns

    columns = added_columns(predictor, extras)
    lines = []
    for column in columns:
        if column.role in ("value", "class"):
            value = row[column.name]
            bounds = [row[one.name] for one in columns if one.role == "bound" and one.target == column.target]
            interval = (bounds[0], bounds[1]) if bounds and value is not None else None
            lines.append(Line(column.name.removeprefix(PREFIX), value, interval))
    return tuple(lines)


def _without_each(run: "Run | Ensemble", source: Path) -> dict[str, list[float]] | None:
    """How much lower every output would be without each node of the only graph of a file; None if that cannot be said."""
    from escgnn.explain import masked, names_of, units_of
    from escgnn.readers import GraphFile
    from escgnn.training import feature_set, given_graphs, read_given

    (rows,) = GraphFile(source).rows(None)
    graphs = given_graphs(run, read_given(rows, feature_set(run)))
    if run.task.level != "graph" or not 2 <= graphs.num_nodes_total <= MOST_TAKEN_OUT:
        return None
    try:
        lower = masked(run, graphs)[0]  # (nodes, outputs)
    except ValueError:  # what is left of the graph is too large, or nothing that the network can read
        return None
    if not lower.isfinite().all():
        return None
    named = zip(names_of(run.task), units_of(run.task), strict=True)
    names = [f"{name} ({unit})" if unit.startswith("log") else name for name, unit in named]
    return dict(zip(names, lower.T.tolist(), strict=True))
