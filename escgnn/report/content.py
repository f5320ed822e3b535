"""What a report says, before it is laid out: tables, gaps and where the numbers come from."""

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

from escgnn.provenance import CHANGED
from escgnn.records import BUDGETS, Chapter, Record, Table
from escgnn.report.selection import Entry, choose, published_digits

MEANING = {
    "smoke": "proves that it runs, nothing else",
    "hour": "shorter than in the paper",
    "paper": "as long as in the paper",
}
BETTER = {"lower": "lower is better ↓", "higher": "higher is better ↑", "same": "should be the same as the paper's"}
START = "escgnn reproduce counting --budget smoke"
TIMES = "\N{MULTIPLICATION SIGN}"
DASH = "\N{EN DASH}"


@dataclass(frozen=True)
class Section:
    """A table with what was found for each of its cells."""

    experiment: str
    table: Table
    entries: Mapping[tuple[str, str], Entry]

    def row(self, row: str) -> list[Entry]:
        """The cells of a row, in the order of the columns."""
        return [self.entries[row, column] for column in self.table.columns]

    def budgets(self, row: str | None = None) -> list[str]:
        """The budgets of a row's numbers, or of all, the most telling first."""
        found = {entry.budget for entry in (self.row(row) if row is not None else self.entries.values())}
        return [budget for budget in reversed(BUDGETS) if budget in found]

    def seeds(self, row: str) -> str:
        """How many seeds the means of a row are over, from the fewest to the most."""
        counts = [len(entry.seeds) for entry in self.row(row) if entry.seeds]
        return DASH.join(map(str, sorted({min(counts), max(counts)}))) if counts else ""

    def effort(self, row: str) -> str:
        """Epochs and processor time of the runs that a row's numbers come from, for one seed, and how many parameters they have.

        Nothing if none trained; what was not recorded is left out.
        """
        runs = unique(run for entry in self.row(row) for run in entry.chosen)
        seeds = len({run.seed for run in runs})
        epochs = sum(run.epochs for run in runs)
        seconds = math.fsum(run.cpu_seconds for run in runs)
        words = [many(round(epochs / seeds), "epoch")] if epochs else []
        words += [f"{duration(seconds / seeds)} CPU"] if epochs and seconds else []
        sizes = sorted({int(run.config["parameters"]) for run in runs if "parameters" in run.config})
        words += (
            [f"{DASH.join(f'{size:,}' for size in dict.fromkeys((sizes[0], sizes[-1])))} parameters"] if sizes else []
        )
        return ", ".join(words)

    def runs(self, budget: str) -> list[Record]:
        """The runs of a budget that the table's numbers were chosen from, each once."""
        return unique(run for e in self.entries.values() if e.budget == budget for run in e.among)

    @property
    def measure(self) -> str:
        """What the table's numbers are, and which are better."""
        metric = self.table.metric
        return f"{metric[:1].upper()}{metric[1:]}; {BETTER[self.table.better]}."

    @property
    def filled(self) -> list[Entry]:
        """The cells that have a number of ours."""
        return [entry for entry in self.entries.values() if entry.chosen]


@dataclass(frozen=True)
class Gap:
    """Cells of a table without a number, and why."""

    table: Table
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    why: str

    @property
    def cells(self) -> str:
        """Rows and columns in words."""
        rows = "all rows" if self.rows == self.table.rows else ", ".join(self.rows)
        return rows if self.columns == self.table.columns else f"{rows}: {', '.join(self.columns)}"


@dataclass(frozen=True)
class Content:
    """What a report says.

    Attributes:
        chapters: The experiments to show.
        records: All that were read; those of other experiments are named, and counted.
        generated: When.
    """

    chapters: tuple[Chapter, ...]
    records: tuple[Record, ...]
    generated: str

    @cached_property
    def sections(self) -> list[Section]:
        """Every table once."""
        sections: dict[str, Section] = {}
        for chapter in self.chapters:
            for table in chapter.tables:
                cells = {(r, c): choose(table, r, c, self.records) for r in table.rows for c in table.columns}
                sections.setdefault(table.label, Section(chapter.name, table, cells))
        return list(sections.values())

    @cached_property
    def gaps(self) -> list[Gap]:
        """Every cell without a number, those of a table with the same reason together."""
        gaps = []
        for section in self.sections:
            rows: dict[tuple[tuple[str, ...], str], list[str]] = {}
            for row in section.table.rows:
                reasons: dict[str, list[str]] = {}
                for entry in section.row(row):
                    if not entry.chosen:
                        reasons.setdefault(self.why(section, entry), []).append(entry.column)
                for why, columns in reasons.items():
                    rows.setdefault((tuple(columns), why), []).append(row)
            gaps += [Gap(section.table, tuple(names), columns, why) for (columns, why), names in rows.items()]
        return gaps

    def why(self, section: Section, entry: Entry) -> str:
        """Why a cell has no number."""
        label = section.table.label
        mine = [record for record in self.records if record.row == entry.row]
        failed = [record for record in mine if record.error is not None and record.experiment == section.experiment]
        if failed:
            last = failed[-1]
            where = f"{last.variant}, {last.budget}" if last.variant else last.budget
            return f"failed ({where}): {last.error}"
        if any(record.error is None and entry.column in record.values.get(label, {}) for record in mine):
            return "run, but the value is not a finite number"
        return "no record"

    @cached_property
    def failed(self) -> list[Record]:
        """Runs that failed."""
        return [record for record in self.records if record.error is not None]

    @cached_property
    def smaller(self) -> list[tuple[str, Table, tuple[str, ...]]]:
        """Budgets smaller than the paper's: each with a table and the rows that have numbers of it."""
        return [
            (budget, section.table, rows)
            for section in self.sections
            for budget in BUDGETS[:-1]
            if (rows := tuple(row for row in section.table.rows if budget in section.budgets(row)))
        ]

    @cached_property
    def notes(self) -> dict[str, list[str]]:
        """What runs have to say, and which runs say it."""
        notes: dict[str, list[str]] = {}
        for record in self.records:
            if record.note:
                names = notes.setdefault(record.note, [])
                who = f"{record.experiment}, {record.row}"
                if who not in names:
                    names.append(who)
        return notes

    @cached_property
    def unplaced(self) -> list[Record]:
        """Good runs whose numbers stand in no table here, such as those of an experiment that was removed."""
        places = {(section.table.label, row) for section in self.sections for row in section.table.rows}
        good = [record for record in self.records if record.error is None]
        return [record for record in good if not any((label, record.row) in places for label in record.values)]

    @cached_property
    def commits(self) -> list[str]:
        """Of the code that ran."""
        return list(dict.fromkeys(record.commit for record in self.records if record.commit))

    @cached_property
    def versions(self) -> dict[str, list[str]]:
        """By name, all versions that any run had."""
        versions: dict[str, list[str]] = {}
        for name, version in sorted({pair for record in self.records for pair in record.versions.items()}):
            versions.setdefault(name, []).append(version)
        return versions


def unique(records: Iterable[Record]) -> list[Record]:
    """Each run once: one that fills many cells took its time once."""
    return list({record.path: record for record in records}.values())


def runs_text(runs: Iterable[Record]) -> str:
    """How many runs, of how many seeds, in what time.

    >>> runs_text([Record("counting", "GIN", "hour", seed=seed, seconds=600) for seed in range(3)])
    '3 runs, 3 seeds, 30 min'
    """
    runs = list(runs)
    seeds = len({run.seed for run in runs})
    seconds = sum(run.seconds for run in runs)
    return f"{many(len(runs), 'run')}, {many(seeds, 'seed')}, {duration(seconds)}"


def commands(runs: Iterable[Record]) -> Iterator[str]:
    """What was called, each command once."""
    yield from dict.fromkeys(run.command for run in runs if run.command)


def short(commit: str) -> str:
    """The first digits of a commit, and whether the code was changed since.

    >>> short("6b6fba26b6fba26b6fba2-dirty")
    '6b6fba26b6-dirty'
    """
    digits = commit.removesuffix(CHANGED)[:10]
    return f"{digits}{CHANGED}" if commit.endswith(CHANGED) else digits


def variants_text(entry: Entry) -> str:
    """The chosen variants, with their seeds if these differ."""
    named = {variant or "only variant": seeds for variant, seeds in entry.variants.items()}
    if len(named) == 1:
        return next(iter(named))
    return "; ".join(f"{variant} (seed {', '.join(map(str, seeds))})" for variant, seeds in named.items())


def number(value: float, digits: int) -> str:
    """A value to so many digits after the point, as far as five digits tell; to two if these would be noughts only.

    >>> number(0.0074, 4), number(68.3821, 6), number(0.00001234, 4), number(249456, 1), number(0, 2)
    ('0.0074', '68.382', '1.2e-05', '249,456', '0.00')
    """
    if value and not round(value, digits):
        return f"{value:.1e}"
    before = math.floor(math.log10(abs(value))) + 1 if value else 1
    return f"{value:,.{max(0, min(digits, 5 - before))}f}"


def published(value: float, table: Table) -> str:
    """The paper's number; with no more digits than it has, where ours should be the same."""
    if table.better != "same":
        return number(value, table.digits)
    return f"{value:,.{published_digits(value, table.digits)}f}"


def ratio(value: float) -> str:
    """How many times the paper's number.

    >>> ratio(0.0123), ratio(1.086), ratio(12.31), ratio(1234)
    ('0.012×', '1.09×', '12.3×', '1,234×')
    """
    if 0 < value < 0.1:
        return f"{value:.2g}{TIMES}"
    if value < 10:
        return f"{value:.2f}{TIMES}"
    return f"{value:.1f}{TIMES}" if value < 100 else f"{value:,.0f}{TIMES}"


def duration(seconds: float) -> str:
    """A time in the unit that suits it.

    >>> duration(0.25), duration(42), duration(1800), duration(9000)
    ('0.2 s', '42 s', '30 min', '2.5 h')
    """
    if seconds < 10:
        return f"{seconds:.1f} s"
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


def many(count: int, noun: str) -> str:
    """A number of things.

    >>> many(1, "run"), many(1200, "run")
    ('1 run', '1,200 runs')
    """
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"
