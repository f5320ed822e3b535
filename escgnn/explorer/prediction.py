"""What a trained run says of the graph on the page."""

from collections.abc import Sequence
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
    from escgnn.training import Run

PREFIX = "pred_"  # of the columns that predictions stand in
Value = float | str | None


@dataclass(frozen=True)
class Line:
    """One number that a run predicts.

    Attributes:
        target: What it is of.
        value: The number, the probability of yes or of a class, or the most likely class; None if there is none.
        interval: Between which numbers the answer lies, with the run's own confidence; None where the run has none.
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
        atoms: How much each node adds to the first number; None where the run does not say.
        warning: What is doubtful about it.
    """

    run: str
    lines: tuple[Line, ...] = ()
    nodes: dict[str, list[Value]] | None = None
    atoms: Sequence[float] | None = None
    warning: str = ""

    def plain(self) -> dict[str, Any]:
        """Plain values for the page."""
        return asdict(self)


def predicted(run: "Run", subject: Subject) -> Prediction:
    """The prediction of a run for a graph, or in its warning why there is none; as `escgnn predict` has it."""
    from escgnn.training import predict_file

    name = f"{name_of(run.folder)} ({run.name}, epoch {run.epoch})"
    with TemporaryDirectory() as folder, catch_warnings(record=True) as caught:
        simplefilter("always")
        source = Path(folder, "graph.smi" if subject.smiles else "graph.g6")
        graph6: bytes = networkx.to_graph6_bytes(subject.graph.to_networkx(), header=False)
        source.write_bytes(subject.smiles.encode() if subject.smiles else graph6)
        try:
            predict_file(run, source, Path(folder, "predicted.parquet"))
        except ValueError as error:
            return Prediction(name, warning=str(error).replace(str(source), subject.title))
        table = pq.read_table(Path(folder, "predicted.parquet")).to_pydict()
    trouble = [status for status in table["status"] if status != "ok"]
    warning = "; ".join(trouble[:1] or [str(each.message) for each in caught])
    columns = {column.removeprefix(PREFIX): values for column, values in table.items() if column.startswith(PREFIX)}
    if run.task.level == "node":
        return Prediction(name, nodes=columns, warning=warning)
    return Prediction(name, tuple(Line(target, values[0]) for target, values in columns.items()), warning=warning)
