"""Which records a number comes from: within a seed validation values decide, over the seeds all of them count."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal

from escgnn.records import BUDGETS, Record, Table


@dataclass(frozen=True)
class Entry:
    """One cell of a table: the paper's number and the records that give ours.

    Attributes:
        table: The table.
        row: Its row.
        column: Its column.
        among: Records with a number, all of the most telling budget there is.
        chosen: Those of them that validation chose, one for each seed; none if nothing was computed.
    """

    table: Table
    row: str
    column: str
    among: tuple[Record, ...] = ()
    chosen: tuple[Record, ...] = ()

    @property
    def values(self) -> tuple[float, ...]:
        """The number of each seed."""
        values = (_value(self.table, self.column, run) for run in self.chosen)
        return tuple(value for value in values if value is not None)

    @property
    def mean(self) -> float | None:
        """Ours: the mean over all seeds."""
        return math.fsum(self.values) / len(self.values) if self.values else None

    @property
    def best(self) -> float | None:
        """The best seed's number, by test value, to be shown beside the mean and never in its place."""
        if not self.values or self.table.better == "same":
            return self.mean
        return min(self.values) if self.table.better == "lower" else max(self.values)

    @property
    def budget(self) -> str | None:
        """What the runs were given."""
        return self.chosen[0].budget if self.chosen else None

    @property
    def seeds(self) -> tuple[int, ...]:
        """The seeds that the mean is over."""
        return tuple(run.seed for run in self.chosen)

    @property
    def variants(self) -> dict[str, list[int]]:
        """The chosen variants, each with its seeds."""
        variants: dict[str, list[int]] = {}
        for run in self.chosen:
            variants.setdefault(run.variant, []).append(run.seed)
        return variants

    @property
    def seconds(self) -> float:
        """Time that the chosen runs took."""
        return math.fsum(run.seconds for run in self.chosen)

    @property
    def cpu_seconds(self) -> float:
        """Processor time of the chosen runs; 0 if it was not measured."""
        return math.fsum(run.cpu_seconds for run in self.chosen)

    @property
    def search_seconds(self) -> float:
        """Time of all runs among which validation chose, the chosen ones included."""
        return math.fsum(run.seconds for run in self.among)

    @property
    def paper(self) -> float | None:
        """The published number."""
        return self.table.published(self.row, self.column)

    @property
    def ratio(self) -> float | None:
        """Ours divided by the paper's."""
        return self.mean / self.paper if self.mean is not None and self.paper else None

    @property
    def good(self) -> bool | None:
        """Whether ours is at least as good as the paper's, to the digits shown; None if there is nothing to say.

        Where it should be the same, it is if it rounds to what was published. A smoke run proves that it runs, nothing
        else, so it is not judged.
        """
        if self.mean is None or self.paper is None or self.budget == "smoke":
            return None
        if self.table.better == "same":
            return abs(self.mean - self.paper) <= 0.500001 * 10.0 ** -published_digits(self.paper, self.table.digits)
        ours = round(self.mean, self.table.digits)
        paper = round(self.paper, self.table.digits)
        return ours <= paper if self.table.better == "lower" else ours >= paper


def choose(table: Table, row: str, column: str, records: Iterable[Record]) -> Entry:
    """The runs that a cell's number comes from.

    Of the records with a number only those of the most telling budget count. Within each seed the best validation value
    decides; test values never do. Where no validation value tells variants apart, the first by name is taken.
    """
    found = [r for r in records if r.row == row and r.error is None and _value(table, column, r) is not None]
    budget = max((r.budget for r in found), key=BUDGETS.index, default="")
    among = sorted((r for r in found if r.budget == budget), key=lambda r: (r.seed, r.variant, r.experiment))
    seeds = dict.fromkeys(record.seed for record in among)
    chosen = [_best(table, column, [record for record in among if record.seed == seed]) for seed in seeds]
    return Entry(table, row, column, tuple(among), tuple(chosen))


def published_digits(value: float, most: int) -> int:
    """Digits after the point that a published number has, at most so many.

    >>> published_digits(68.38, 6), published_digits(12000.0, 6), published_digits(0.000024, 6)
    (2, 0, 6)
    """
    exponent = Decimal(str(value)).normalize().as_tuple().exponent
    return min(most, max(0, -exponent)) if isinstance(exponent, int) else most


def _best(table: Table, column: str, runs: Sequence[Record]) -> Record:
    scored = [(score, run) for run in runs if (score := _score(column, run)) is not None]
    if not scored or table.better == "same":
        return runs[0]
    best = min if table.better == "lower" else max
    _, run = best(scored, key=lambda pair: pair[0])
    return run


def _score(column: str, run: Record) -> float | None:
    """A run's validation value for a column; for all columns, if it has none of its own."""
    score = _number(run.validation.get(column))
    return _number(run.validation.get("")) if score is None else score


def _value(table: Table, column: str, run: Record) -> float | None:
    return _number(run.values.get(table.label, {}).get(column))


def _number(value: float | None) -> float | None:
    return value if value is not None and math.isfinite(value) else None
