"""From an edge list of any length to a file of adjacency lists, in memory that does not grow with the edges."""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO

import numpy as np
from numpy.typing import NDArray

from escgnn.disk import RejectLog, check_output
from escgnn.graphs import Graph, LeanGraph
from escgnn.huge.array_file import check_arrays, open_arrays, writing
from escgnn.huge.edge_list import COLUMNS, EdgeList, Pairs
from escgnn.kernels.building import count_ends, end_of_range, place_arcs, sort_lists
from escgnn.kernels.graphs import Csr

KIND = "graph"
ARRAYS = {"indices": np.int32, "indptr": np.int64, "forward": np.int64}
MEMORY = 1 << 28  # bytes of adjacency lists that are sorted at a time
SCANNED = 1 << 20  # pairs that are looked at at a time
SPARSE = 64  # nodes for each edge, from which on ids are taken for names

Progress = Callable[[int, int, str], None]  # bytes read, bytes in all, what else there is to say


@dataclass(frozen=True, slots=True)
class GraphSummary:
    """What became of an edge list.

    Attributes:
        nodes: Of the graph, those without edges too.
        edges: Of the graph, each once.
        loops: Rows that join a node to itself, and leave no trace.
        repeats: Rows that name an edge that another row names, in either direction.
        rejected: Bad rows.
        seconds: It took.
        output: The file.
        rejects: List of the bad rows; None if there are none.
    """

    nodes: int
    edges: int
    loops: int
    repeats: int
    rejected: int
    seconds: float
    output: Path
    rejects: Path | None


def build_graph(
    source: str | PathLike[str],
    output: str | PathLike[str],
    *,
    columns: tuple[str, str] = COLUMNS,
    num_nodes: int | None = None,
    memory: int = MEMORY,
    strict: bool = False,
    progress: Progress | None = None,
) -> GraphSummary:
    """Make a file of adjacency lists out of an edge list, which `open_graph` opens.

    The list is read once and kept, 8 bytes a row, in a temporary file beside the output. That is looked through once to count,
    then once for every ``memory`` bytes of adjacency lists (8 bytes an edge). Memory is 24 bytes a node, ``memory`` or the list
    of the largest hub, and what reading takes.

    Args:
        source: CSV, TSV or Parquet, see `EdgeList`.
        output: File to write, usually called .escg.
        columns: Names of the columns with the two ends.
        num_nodes: How many nodes there are; by default one more than the largest id.
        memory: Bytes of adjacency lists to sort at a time.
        strict: Whether the first bad row raises; else they are listed beside the output.
        progress: Told how far it is.

    Raises:
        OSError: A file cannot be read or written.
        ValueError: The input is no edge list, or its ids are no numbers of nodes.
    """
    begin = time.monotonic()
    tell = progress or (lambda read, size, inside: None)
    check_output(source, output)
    folder = Path(output).resolve().parent
    if not folder.is_dir():
        raise ValueError(f"{output}: the folder {folder} does not exist")
    with RejectLog(output) as log, TemporaryFile(dir=folder) as spool:
        edges = EdgeList(Path(source), columns, num_nodes=num_nodes, strict=strict, on_reject=log)
        rows, largest = _spool(edges, spool, tell)
        if not rows:
            raise ValueError(f"{source} holds no edges; {edges.rejected:,} rows are bad (strict tells why)")
        if num_nodes is None:
            num_nodes = largest + 1
            if num_nodes > SPARSE * max(rows, 1 << 16):
                raise ValueError(
                    f"{source}: node ids run up to {largest:,}, but there are {rows:,} edges; "
                    "number the nodes from 0 on, or say how many there are (num_nodes)"
                )
        loops, kept = _write(
            spool, num_nodes, max(1, memory // 4), output, lambda words: tell(edges.size, edges.size, words)
        )
    rejects = None if log.is_empty else log.path
    seconds = time.monotonic() - begin
    return GraphSummary(num_nodes, kept, loops, rows - loops - kept, edges.rejected, seconds, Path(output), rejects)


def open_graph(path: str | PathLike[str], *, check: bool = False) -> LeanGraph:
    """The graph in a file, mapped into memory: 8 bytes an edge and 16 a node, of which only what is looked at is read.

    Args:
        path: What `build_graph` or `write_graph` wrote.
        check: Whether to read all of it and compare checksums.

    Raises:
        OSError: The file does not exist or cannot be opened.
        ValueError: It is damaged, or no such file.
    """
    if check:
        check_arrays(path)
    arrays, facts = open_arrays(path, KIND, ARRAYS)
    csr = Csr(arrays["indptr"], arrays["indices"])
    forward: NDArray[np.int64] = arrays["forward"]
    ends = (csr.indices.size, csr.indices.size // 2)
    for name, pointers, end in zip(("indptr", "forward"), (csr.indptr, forward), ends, strict=True):
        is_rising = pointers.size and pointers[0] == 0 and pointers[-1] == end and not (np.diff(pointers) < 0).any()
        if not is_rising or pointers.size != csr.indptr.size:
            raise ValueError(f"{path} is damaged: {name} does not rise from 0 to {end}; make the file again")
    return LeanGraph(csr, forward, facts["checksum"])


def write_graph(graph: Graph, output: str | PathLike[str]) -> None:
    """Write a graph that is in memory as a file for `open_graph`."""
    lean = graph if isinstance(graph, LeanGraph) else LeanGraph(graph.csr)
    with writing(output, KIND) as file:
        file.append("indices", lean.csr.indices)
        file.append("indptr", lean.csr.indptr)
        file.append("forward", lean.forward)
        file.facts = {"checksum": lean.checksum}


def _spool(edges: EdgeList, spool: IO[bytes], tell: Progress) -> tuple[int, int]:
    """Keep all pairs as numbers; return how many there are, and the largest."""
    rows = 0
    largest = -1
    for pairs in edges:
        spool.write(np.ascontiguousarray(pairs).data)
        rows += len(pairs)
        largest = max(largest, int(pairs.max(initial=-1)))
        tell(edges.bytes_read, edges.size, "")
    return rows, largest


def _scanned(spool: IO[bytes]) -> Iterator[Pairs]:
    """All pairs again, in memory that is used again."""
    buffer = np.empty((SCANNED, 2), np.int32)
    spool.seek(0)
    while size := spool.readinto(buffer.data.cast("B")):  # type: ignore[attr-defined]
        yield buffer[: size // 8]


def _lists(spool: IO[bytes], low: int, degree: NDArray[np.int64], larger: NDArray[np.int64]) -> NDArray[np.int32]:
    """The adjacency lists of nodes from ``low`` on, one after the other; their ``degree`` and ``larger`` are put right."""
    following = degree.cumsum()
    following -= degree
    neighbours = np.empty(degree.sum(), np.int32)
    for pairs in _scanned(spool):
        place_arcs(pairs, low, following, neighbours)
    kept = sort_lists(low, degree, larger, neighbours)
    return neighbours[:kept]


def _write(
    spool: IO[bytes], num_nodes: int, most: int, output: str | PathLike[str], tell: Callable[[str], None]
) -> tuple[int, int]:
    """Write the graph, at most so many neighbours at a time; return the number of loops, and of edges."""
    degree = np.zeros(num_nodes, np.int64)
    larger = np.zeros(num_nodes, np.int64)
    loops = 0
    for pairs in _scanned(spool):
        loops += count_ends(pairs, degree)
    with writing(output, KIND) as file:
        file.append("indices", np.empty(0, np.int32))
        low = 0
        while low < num_nodes:
            tell(f"sorting the lists of node {low:,} of {num_nodes:,}")
            high = end_of_range(degree, low, most)
            file.append("indices", _lists(spool, low, degree[low:high], larger[low:high]))
            low = high
        file.facts = {"checksum": file.checksum("indices")}
        for name, counts in (("indptr", degree), ("forward", larger)):
            np.cumsum(counts, out=counts)
            file.append(name, np.zeros(1, np.int64))
            file.append(name, counts)
    return loops, int(larger[-1]) if num_nodes else 0
