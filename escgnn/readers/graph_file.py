"""Graph files read in a stream: graph6, SMILES and edge lists."""

import warnings
from collections.abc import Callable, Iterator, Sequence
from os import PathLike
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from escgnn.disk import Rejected, rejected
from escgnn.readers.chunks import Chunk, pack
from escgnn.readers.edge_lists import COLUMNS, edge_chunks, parquet_rows, text_rows
from escgnn.readers.parsed import Parse, Parsed, parse_graph6
from escgnn.readers.rows import LETTERS, Rows, read_rows
from escgnn.readers.smiles import chemistry, parse_smiles
from escgnn.readers.sources import ParquetSource, TextSource, extension, find_column, open_source

USUAL = (
    "canonical_smiles",
    "isomeric_smiles",
    "smiles_string",
    "smi",
    "mol",
    "molecule",
    "structure",
)  # columns of SMILES
FORMATS = {
    **dict.fromkeys((".g6", ".s6", ".graph6", ".sparse6"), "graph6"),
    **dict.fromkeys((".smi", ".smiles", ".txt"), "smiles"),
    **dict.fromkeys((".csv", ".tsv", ".parquet"), "table"),
}


class GraphFile:
    """A file of graphs; iterating yields them in chunks of bounded memory.

    ========================================  ===========================================  =============
    file                                      a graph is                                   its id
    ========================================  ===========================================  =============
    .g6 .s6 .graph6 .sparse6                  a line of graph6 or sparse6                  record number
    .smi .smiles .txt                         a line of SMILES, then perhaps a name        record number
    .csv .tsv .parquet, column smiles         a row                                        record number
    .csv .tsv .parquet, graph source target   the rows that share a graph, in one stretch  graph
    ========================================  ===========================================  =============

    Text may be gzipped (``.csv.gz``). Records count from 0, bad ones too but not blank lines, so that results
    join with the input. A row that cannot be read is rejected and left out.

    In an edge list, the graphs of a CSV are int64 if the first one is, else text; Parquet keeps its type.
    Nodes are integers >= 0, renumbered in ascending order. Edges are undirected, each named once or more, in
    any direction; a loop adds its node but no edge. A bad row costs its graph an edge, not its place. The
    names of all graphs are remembered, so memory grows with their number; otherwise it is that of one chunk.

    Args:
        path: The file; its extension says what it holds, its columns what kind of table it is.
        smiles: Column with the SMILES of a table, if it is not called smiles in upper or lower case. By default also a usual
            name such as canonical_smiles, or the only one that holds the word; a warning says which.
        strict: Whether the first bad row raises instead.
        on_reject: Called with every bad row.
        chunk_size: Number of nodes and edges at which a chunk ends; graphs stay whole.
        content: The bytes of the file, if somebody has read them already; it is not opened then.
        groups: Of Parquet, the row groups to read, from the first to that before the second; all if None. Not of an edge list,
            whose graphs may go on in the next one.

    Attributes:
        format: "graph6", "smiles" or "edges".
        is_table: Whether rows have columns.
        total_bytes: Size of the file.
        rejected: Number of bad rows so far.

    Raises:
        OSError: The file does not exist or cannot be opened.
        ValueError: Its extension or its columns say nothing; or, also while reading: it is damaged, it holds
            no graphs, or a row is bad and reading strict.
        ImportError: It holds SMILES, and RDKit is not installed.
    """

    def __init__(
        self,
        path: str | PathLike[str],
        *,
        smiles: str | None = None,
        strict: bool = False,
        on_reject: Callable[[Rejected], None] | None = None,
        chunk_size: int = 1 << 17,
        content: bytes | None = None,
        groups: tuple[int, int] | None = None,
    ) -> None:
        self.path = Path(path)
        self.strict = strict
        self.on_reject = on_reject
        self.chunk_size = chunk_size
        self.rejected = 0
        self.total_bytes = self.path.stat().st_size if content is None else len(content)
        if not self.total_bytes:
            raise ValueError(f"{self.path} is empty: it holds no graphs")
        self.format = FORMATS[_checked_extension(self.path)]
        self.is_table = self.format == "table"
        self.source = open_source(self.path, content, groups)
        self._columns: list[str] = []
        if self.is_table:
            self._columns = _find_columns(self.source, smiles)
            self.format = "edges" if len(self._columns) == len(COLUMNS) else "smiles"
            if groups is not None and self.format == "edges":
                raise ValueError(f"groups: {groups}; {self.path} is an edge list, which is read as a whole")
        elif smiles is not None:
            raise ValueError(f"smiles: {smiles!r}, but {self.path} is no table with columns")
        if self.format == "smiles":
            chemistry()  # complains at once if RDKit is not there

    @property
    def bytes_read(self) -> int:
        """How far reading has come, up to ``total_bytes``."""
        return self.source.bytes_read

    @property
    def text_column(self) -> str:
        """The column of a table that holds the SMILES; nothing where there is none."""
        return self._columns[0] if self.is_table and self.format == "smiles" else ""

    def rows(self, keep: Sequence[str] | None = (), *, letters: int = LETTERS) -> Iterator[Rows]:
        """The rows in blocks, before their graphs are read; `read_rows` explains the arguments. Edge lists have none."""
        if self.format == "edges":
            raise ValueError(f"{self.path} is an edge list, whose graphs have many rows each; iterate over the file")
        lines = "graph" if self.format == "graph6" else "smiles"  # what to call the lines of a file without columns
        text = self._columns[0] if self.is_table else lines
        return read_rows(self.source, text, keep, holds=self.format, letters=letters)

    def unread(self) -> Iterator[Rows | Chunk]:
        """The file cut into pieces whose graphs `read_graphs` makes, wherever that is done; an edge list's are made already."""
        pieces: Iterator[Rows | Chunk] = iter(self) if self.format == "edges" else self.rows()
        empty = True
        for piece in pieces:
            empty = False
            yield piece
        if empty and not self.rejected:
            raise ValueError(f"{self.path} holds no graphs")

    def __iter__(self) -> Iterator[Chunk]:
        self.rejected = 0
        empty = True
        for chunk in self._chunks():
            empty = False
            yield chunk
        if empty and not self.rejected:
            raise ValueError(f"{self.path} holds no graphs")

    def _chunks(self) -> Iterator[Chunk]:
        if self.format != "edges":
            return pack(self._parsed_blocks(), self.chunk_size)
        if isinstance(self.source, TextSource):
            rows = text_rows(self.source, self._columns)
        else:
            rows = parquet_rows(self.source, self._columns)
        return edge_chunks(rows, self.source.unit, self.chunk_size, self.reject)

    def _parsed_blocks(self) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64], Parsed]]:
        """The record number and the line of each graph, and the graphs."""
        for rows in self.rows():
            graphs, bad = _parsed(rows)
            for row in bad:
                self.reject(row)
            yield rows.first + graphs.good, np.array(rows.lines, np.int64)[graphs.good], graphs

    def reject(self, row: Rejected) -> None:
        """Leave out a row, or a graph that nothing can be done with."""
        if self.strict:
            raise ValueError(f"{self.path}: {self.source.unit} {row.line}: {row.reason}") from None
        self.rejected += 1
        if self.on_reject is not None:
            self.on_reject(row)


def read_graphs(rows: Rows, parse: Parse | None = None) -> tuple[Chunk | None, tuple[Rejected, ...]]:
    """The graphs of some rows side by side, if there are any, and the rows that have none.

    Args:
        rows: The rows.
        parse: What makes graphs of their texts, if bare ones are not enough. Columns that it calls ``type`` are the types of
            nodes and edges.
    """
    graphs, bad = _parsed(rows, parse)
    block = (rows.first + graphs.good, np.array(rows.lines, np.int64)[graphs.good], graphs)
    whole = int(graphs.num_nodes.sum() + graphs.num_edges.sum()) + 1  # all in one chunk
    chunk = next(pack([block], whole), None)
    if chunk is not None and "type" in graphs.node:
        shift = np.repeat(np.cumsum(graphs.num_nodes) - graphs.num_nodes, graphs.num_edges)
        chunk = chunk.typed(graphs.edges + shift[:, None], graphs.node["type"], graphs.edge["type"])
    return chunk, bad


def _parsed(rows: Rows, parse: Parse | None = None) -> tuple[Parsed, tuple[Rejected, ...]]:
    """The graphs of rows, and the rows that have none, in their order."""
    if parse is None:
        parse = parse_smiles if rows.holds == "smiles" else parse_graph6
    graphs = parse(rows.texts)
    reasons = {**graphs.reasons, **rows.trouble}
    bad = (rejected(rows.lines[number], rows.records[number], reasons[number]) for number in sorted(reasons))
    return graphs, tuple(bad)


def _checked_extension(path: Path) -> str:
    """The extension that says what the file holds, if it is one that is read."""
    kind = extension(path)
    packed_table = kind == ".parquet" and path.suffix.lower() == ".gz"  # Parquet compresses by itself
    if kind not in FORMATS or packed_table:
        raise ValueError(
            f"{path}: files with the extension {path.suffix!r} are not read; expected {', '.join(FORMATS)}, "
            "or .gz after any of these but the last"
        )
    return kind


def _smiles_column(source: TextSource | ParquetSource) -> str:
    """The name of the column with the SMILES: "smiles", else a usual name, else the only one that speaks of SMILES."""
    lower = [name.lower() for name in source.columns]
    if "smiles" in lower:
        return "smiles"
    about = [name for name in source.columns if "smiles" in name.lower() and "|" not in name]
    usual = [name for known in USUAL for name in source.columns if name.lower().replace(" ", "_") == known]
    found = usual[:1] or (about if len(about) == 1 else [])
    if not found:
        return "smiles"  # which is not there, and finding it says so
    warnings.warn(f"{source.path}: the SMILES are taken from the column {found[0]!r}", stacklevel=2)
    return found[0]


def _find_columns(source: TextSource | ParquetSource, smiles: str | None) -> list[str]:
    """The three columns of an edge list, else the one with the SMILES."""
    if not source.columns:
        raise ValueError(f"{source.path} holds no graphs: it has no columns")
    is_edge_list = smiles is None and {*COLUMNS} <= {name.lower() for name in source.columns}
    wanted = COLUMNS if is_edge_list else (smiles or _smiles_column(source),)
    advice = "" if smiles else f"; name the column as smiles=..., or those of an edge list {', '.join(COLUMNS)}"
    found = [find_column(source, name, advice) for name in wanted]
    if isinstance(source, ParquetSource):
        for name in found:
            source.check_type(name, integers=is_edge_list, text=name == found[0])
    return found
