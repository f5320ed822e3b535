"""What every job does."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol, TypeVar

from escgnn.disk import Rejected
from escgnn.readers import GraphFile

C = TypeVar("C")  # chunk
SHOWN = 10  # problems that are kept


@dataclass(frozen=True, slots=True)
class Tally:
    """What a job has done, to be added up.

    Attributes:
        graphs: Graphs that have a result.
        edges: Their edges.
        rows: Rows written for them; of predictions the rows of the input, each of which is kept.
        problems: The first rows without a result that stay in the table, where they stand and why.
    """

    graphs: int = 0
    edges: int = 0
    rows: int = 0
    problems: tuple[Rejected, ...] = ()

    def __add__(self, other: "Tally") -> "Tally":
        return Tally(
            self.graphs + other.graphs,
            self.edges + other.edges,
            self.rows + other.rows,
            (*self.problems, *other.problems)[:SHOWN],
        )


class Part(NamedTuple):
    """Some rows of a job's table, if any, what they stand for, and graphs that are left out."""

    batch: Any  # pyarrow.RecordBatch, or None
    tally: Tally
    rejected: tuple[Rejected, ...] = ()  # graphs that could be read, but not worked on


class Job(Protocol[C]):
    """Makes a table of a file, chunk by chunk."""

    @property
    def settings(self) -> Mapping[str, Any]:
        """The command, and all that its results depend on, as plain values."""
        ...

    @property
    def metadata(self) -> Mapping[str, str]:
        """Texts to keep beside the table, where there is a place for them."""
        ...

    @property
    def totals(self) -> Sequence[str]:
        """Columns of the table to add up."""
        ...

    def chunks(self, file: GraphFile) -> Iterator[C]:
        """The file, cut into what the job is called with; it complains here about a file that does not suit it."""
        ...

    def schema(self, first: C | None) -> Any:
        """The columns of the table, a pyarrow Schema; the first chunk shows the types, None means that there is no chunk."""
        ...

    def __call__(self, chunk: C) -> Iterator[Part]:
        """The table of a chunk, in parts of bounded size; this is what engines run."""
        ...
