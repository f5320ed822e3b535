"""A user's own data: a table of SMILES with targets, or a file of graphs with a table of labels."""

import hashlib
import importlib.metadata
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from escgnn.datasets.bundle import DatasetBundle, Feature, Split
from escgnn.datasets.cache import cached
from escgnn.datasets.descriptors import Descriptors
from escgnn.datasets.molecules import FEATURES, FeatureSet, parse_molecules
from escgnn.datasets.raw import DatasetError
from escgnn.datasets.reading import from_members, from_parsed
from escgnn.datasets.sheets import Sheet, read_sheet
from escgnn.datasets.splits import (
    FRACTIONS,
    grouped_folds,
    grouped_split,
    labelled_split,
    random_split,
    stratified_folds,
)
from escgnn.datasets.targets import KINDS_OF_ONE, METRICS, read_targets
from escgnn.disk import Rejected
from escgnn.disk import rejected as shortened
from escgnn.readers import GraphFile, Parse, find_column, parse_graph6
from escgnn.store import GraphStore
from escgnn.task import Kind, Task

PARSER = 5  # its version; what an earlier one made is made again


@dataclass(frozen=True, kw_only=True)
class TableOptions:
    """What to make of a user's files.

    Attributes:
        targets: Columns to predict. An empty cell is an unknown value, and so are NA, N/A, NaN, null, None and -; a graph without
            any known one is left out.
        smiles: Column with the SMILES, if it is not called smiles.
        labels: Table with the targets, where the first file does not hold them. Its column ``graph`` says which graph is
            meant: by its name in an edge list, else by the number of its row or line, from 0, headers and blank lines
            not counted.
        split: ``"random"``; ``"scaffold"``, for molecules; ``"column:NAME"``, a column beside the targets that says
            train, valid or test; or ``"file:PATH"``, a table with the columns ``graph`` and ``split``. ``"70/10/20"`` is a
            random one with these per cent, and ``"scaffold:70/10/20"`` one by scaffolds.
        features: Feature set of molecules, ``"ogb"`` or ``"zinc"``.
        kind: Kind of task, or of each target: regression, binary or multiclass. By default binary or multilabel if all values
            are 0 or 1, multiclass if there is one target whose values are words and most of them occur again, else
            regression. Where a target of such words stands beside others, each has the kind of its own values.
        seed: For a random split.
        fractions: Sizes of the parts of a random or scaffold split.
        descriptors: Numbers beside the graph: sets such as ``"morgan-count"`` and ``"rdkit"``, and columns by name; see
            `Descriptors`.
        folds: Of a cross-validation instead of one split, random or by scaffolds; classes are dealt out evenly.
    """

    targets: Sequence[str]
    smiles: str | None = None
    labels: str | PathLike[str] | None = None
    split: str = "random"
    features: FeatureSet = "ogb"
    kind: Kind | Sequence[Kind] | None = None
    seed: int = 0
    fractions: tuple[float, float, float] = FRACTIONS
    descriptors: Sequence[str] = ()
    folds: int | None = None

    def __post_init__(self) -> None:
        if self.labels is not None:
            object.__setattr__(self, "labels", str(self.labels))  # a path would do as well, but is no plain value
        if isinstance(self.targets, str) or not self.targets:
            raise ValueError(f"targets: {self.targets!r}; expected a list of columns")
        name, times = Counter(self.targets).most_common(1)[0]
        if times > 1:
            raise ValueError(f"targets: {name!r} is named {times} times; name it once")
        self._read_fractions()
        method, _, detail = self.split.partition(":")
        if bool(detail) != (method in ("column", "file")) or method not in ("random", "scaffold", "column", "file"):
            raise ValueError(
                f'split: {self.split!r}; expected "random", "scaffold", "80/10/10", "scaffold:80/10/10", "column:NAME" or '
                '"file:PATH"'
            )
        if self.kind is not None and not isinstance(self.kind, str):
            self._check_kinds(tuple(self.kind))
        elif self.kind is not None and self.kind not in METRICS:
            raise ValueError(f"kind: {self.kind!r}; expected one of {', '.join(METRICS)}")
        if len(self.fractions) != 3 or min(self.fractions) < 0 or abs(sum(self.fractions) - 1) > 1e-9:
            raise ValueError(f"fractions: {self.fractions}; expected three that add up to 1")
        if self.folds is not None and (self.folds < 3 or self.split not in ("random", "scaffold")):
            raise ValueError(
                f"folds: {self.folds} by {self.split!r}; expected 3 or more, by a random split or by scaffolds"
            )
        if known := {*self.targets} & {*self.descriptors}:
            raise ValueError(f"descriptors: {known.pop()!r} is a target; what is to be predicted cannot be known")

    def _check_kinds(self, kinds: tuple[Kind, ...]) -> None:
        """Complain about kinds of single targets; where all are the same, that is the kind."""
        if len(kinds) != len(self.targets):
            raise ValueError(f"kind: {len(kinds)} kinds for {len(self.targets)} targets; expected one, or one for each")
        for kind in kinds:
            if kind not in KINDS_OF_ONE:
                raise ValueError(f"kind: {kind!r}; expected for each target one of {', '.join(KINDS_OF_ONE)}")
        if len({*kinds}) > 1:
            object.__setattr__(self, "kind", kinds)
        else:
            object.__setattr__(self, "kind", "multilabel" if kinds[0] == "binary" and len(kinds) > 1 else kinds[0])

    def _read_fractions(self) -> None:
        """Take sizes that the split names, as 80/10/10, for fractions."""
        method, _, detail = self.split.rpartition(":")
        if "/" not in detail or method not in ("", "random", "scaffold"):
            return
        try:
            numbers = [float(number) for number in detail.split("/")]
        except ValueError:
            numbers = []
        total = sum(numbers)
        if len(numbers) != 3 or min(numbers) < 0 or not any(math.isclose(total, whole) for whole in (1, 100)):
            raise ValueError(f"split: {self.split!r}; expected three numbers that add up to 100, such as 80/10/10")
        train, validation, test = (number / round(total) for number in numbers)
        if self.fractions not in (FRACTIONS, (train, validation, test)):
            raise ValueError(f"fractions: {self.fractions}, but split is {self.split!r}; name sizes once")
        object.__setattr__(self, "split", method or "random")
        object.__setattr__(self, "fractions", (train, validation, test))


@dataclass(frozen=True, eq=False)
class Graphs:
    """The graphs of a file.

    Attributes:
        store: The graphs.
        ids: What labels call each.
        lines: Where each stands in the file, from 1; 0 for the graphs of an edge list, which have many lines.
        texts: What reports call each.
        features: What is known of nodes and edges.
        scaffolds: Of molecules, if the split needs them.
    """

    store: GraphStore
    ids: list[str]
    lines: list[int]
    texts: list[str]
    features: Mapping[str, Feature]
    scaffolds: list[str]


def load_table(path: Path, options: TableOptions) -> DatasetBundle:
    """Graphs and targets from a user's files; rows that cannot be used are listed in ``rejected``, with reasons.

    Every file is read once: its bytes are hashed, to find out whether the cache has what they give, and parsed if not.

    Args:
        path: A table (.csv, .tsv, .parquet) with a column of SMILES, lines of SMILES (.smi), or graphs as graph6 lines or
            edge list: whatever `escgnn.readers.GraphFile` reads.
        options: The rest.

    Raises:
        ValueError: A column is missing, no graph can be used, or a file is damaged.
        OSError: A file cannot be opened.
    """
    others = (options.labels, options.split.partition("file:")[2])
    files = [path, *(Path(other) for other in others if other)]
    contents = {file: file.read_bytes() for file in dict.fromkeys(files)}
    digests = {file: hashlib.sha256(content).hexdigest() for file, content in contents.items()}
    sha256 = hashlib.sha256(" ".join(digests[file] for file in files).encode()).hexdigest()
    settings = {**asdict(options), "file": path.name, "rdkit": _rdkit_version(), "parser": PARSER}
    return cached(sha256, settings, path.name.split(".")[0], lambda: _build(path, contents, options, sha256))


def _build(path: Path, contents: Mapping[Path, bytes], options: TableOptions, sha256: str) -> DatasetBundle:
    rejected: list[Rejected] = []
    file = GraphFile(path, smiles=options.smiles, content=contents[path], on_reject=rejected.append)
    has_cells = file.is_table and file.format == "smiles"
    if not has_cells and not options.labels:
        raise ValueError(f'labels: {path} holds graphs and no targets; give a table with them as labels="..."')
    column = options.split.partition("column:")[2]
    descriptors = Descriptors.chosen(options.descriptors)
    if descriptors.of_molecules and file.format != "smiles":
        raise ValueError("descriptors: they are of molecules; these graphs are not read from SMILES")
    wanted = [*dict.fromkeys([*options.targets, *([column] if column else []), *descriptors.columns])]
    sheet = Sheet(path, file.source.unit, () if options.labels else wanted)
    graphs = _edge_list(file) if file.format == "edges" else _texts(file, sheet, options, rejected)
    if not graphs.ids and not rejected:
        raise DatasetError(f"{path} has no rows")
    if options.labels:
        sheet = read_sheet(Path(options.labels), ["graph", *wanted], contents[Path(options.labels)])
        answers = {name: row for row, name in enumerate(sheet.cells["graph"])}
        if len(answers) < len(sheet.cells["graph"]):
            twice = Counter(sheet.cells["graph"]).most_common(1)[0][0]
            raise ValueError(f"labels: {options.labels} has several rows for graph {twice}")
    else:
        answers = {str(record): row for row, record in enumerate(sheet.records)}
    y, task, problems = read_targets(sheet, options.targets, options.kind)
    kept = []
    for number, name in enumerate(graphs.ids):
        row = answers.get(name)
        reason = "it has no row in the table of labels" if row is None else problems.get(row)
        if reason:
            rejected.append(shortened(graphs.lines[number], graphs.texts[number], reason))
        else:
            kept.append(number)
    if not kept:
        reason, count = Counter(row.reason for row in rejected).most_common(1)[0]
        raise DatasetError(f"{path}: no graph can be used; {len(rejected)} rows are bad, {count} of them: {reason}")
    rows = [answers[graphs.ids[number]] for number in kept]
    columns = {"y": y[rows]}
    features = dict(graphs.features)
    texts = [graphs.texts[number] for number in kept] if file.format == "smiles" else []
    if descriptors.width:
        cells = {name: [sheet.cells[name][row] for row in rows] for name in descriptors.columns}
        columns["descriptors"] = descriptors.of(texts or [""] * len(kept), cells)
        features["descriptors"] = Feature("dense", (descriptors.width,))
        _check_known(descriptors, columns["descriptors"])
    split = None
    if not options.folds:
        split = _labelled(sheet, column, rows) if column else _split(graphs, kept, options, contents)
    return DatasetBundle(
        path.name,
        graphs.store[kept].with_fields(graph=columns),
        task,
        features,
        split,
        _folds(graphs, kept, columns["y"], task, options) if options.folds else (),
        rejected=tuple(sorted(rejected, key=lambda row: row.line)),
        source=str(path),
        sha256=sha256,
        smiles=file.text_column,
        texts=tuple(texts),
        descriptors=descriptors,
    )


def _check_known(descriptors: Descriptors, numbers: NDArray[np.float32]) -> None:
    for name, column in zip(descriptors.columns, numbers[:, -len(descriptors.columns) :].T, strict=False):
        if np.isnan(column).all():
            raise ValueError(f"descriptors: the column {name} holds no numbers")


def _texts(file: GraphFile, sheet: Sheet, options: TableOptions, rejected: list[Rejected]) -> Graphs:
    """The graphs of a file with a graph in every row; the cells that are wanted go into the sheet on the way."""
    is_molecule = file.format == "smiles"
    parse: Parse = parse_graph6
    if is_molecule:
        parse = partial(parse_molecules, features=options.features, scaffolds=options.split == "scaffold")
    stores = [from_parsed(parse([]))]
    features = FEATURES[options.features] if is_molecule else {}
    found = Graphs(stores[0], [], [], [], features, [])
    unread: list[Rejected] = []
    keep = [find_column(file.source, name) for name in sheet.columns]
    for rows in file.rows(keep):
        sheet.add(rows)
        graphs = parse(rows.texts)
        stores.append(from_parsed(graphs))
        found.scaffolds.extend(graphs.scaffolds)
        for number in graphs.good.tolist():
            name = str(rows.first + number)
            found.ids.append(name)
            found.lines.append(rows.lines[number])
            found.texts.append(rows.texts[number] if is_molecule else f"graph {name}")
        for number, reason in graphs.reasons.items():
            if number not in rows.trouble:
                text = rows.texts[number] if is_molecule else rows.records[number]
                unread.append(shortened(rows.lines[number], text, reason))
    rejected += sheet.rejected
    rejected += unread
    return replace(found, store=GraphStore.concatenate(stores))


def _edge_list(file: GraphFile) -> Graphs:
    """The graphs of an edge list."""
    stores = [from_members([])]
    ids: list[str] = []
    for chunk in file:
        stores.append(GraphStore.from_view(chunk.graphs))
        ids += map(str, chunk.ids.to_pylist())
    texts = [f"graph {name}" for name in ids]
    return Graphs(GraphStore.concatenate(stores), ids, [0] * len(ids), texts, {}, [])


def _split(graphs: Graphs, kept: list[int], options: TableOptions, contents: Mapping[Path, bytes]) -> Split:
    """The split of the graphs that are kept, unless a column says it."""
    if options.split == "random":
        return random_split(len(kept), options.fractions, options.seed)
    if options.split == "scaffold":
        return grouped_split(_scaffolds(graphs, kept), options.fractions)
    path = Path(options.split.removeprefix("file:"))
    sheet = read_sheet(path, ["graph", "split"], contents[path])
    rows = {name: row for row, name in enumerate(sheet.cells["graph"])}
    return _labelled(sheet, "split", [rows.get(graphs.ids[number], -1) for number in kept])


def _scaffolds(graphs: Graphs, kept: list[int]) -> list[str]:
    if not graphs.features:
        raise ValueError("split: scaffolds are of molecules; these graphs are not read from SMILES")
    return [graphs.scaffolds[number] for number in kept]


def _folds(graphs: Graphs, kept: list[int], y: NDArray[Any], task: Task, options: TableOptions) -> tuple[Split, ...]:
    """The splits of a cross-validation, by scaffolds or by chance."""
    count = options.folds or 0
    if count > len(kept):
        raise ValueError(f"folds: {count}, but only {len(kept)} rows can be used")
    if options.split == "scaffold":
        return grouped_folds(_scaffolds(graphs, kept), count)
    labels = y if task.kind in ("binary", "multiclass") else np.zeros(len(kept))
    return stratified_folds(labels, count, options.seed)


def _labelled(sheet: Sheet, column: str, rows: Sequence[int]) -> Split:
    """The split that these rows of a column say; a graph whose row is -1 is left out."""
    labels = ["" if row < 0 else sheet.cells[column][row] for row in rows]
    return labelled_split(labels, lambda number: sheet.quote(column, rows[number]))


def _rdkit_version() -> str:
    try:
        return importlib.metadata.version("rdkit")
    except importlib.metadata.PackageNotFoundError:
        return ""
