"""The encoding of all edges of a huge graph in a file, from which rows are taken by the ids of edges."""

from collections.abc import Callable, Sequence
from dataclasses import fields
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from escgnn.encoding import PARTS, Bin, RootedEncoding, Rows, Settings
from escgnn.graphs import Graph, LeanGraph
from escgnn.huge.array_file import check_arrays, open_arrays, writing
from escgnn.kernels import threads as pool
from escgnn.kernels.row_store import MOST_BYTES, STRIDE, find_rows, mirror_rows, pack_rows, unpack_rows

KIND = "row store"
BLOCK = 1 << 14  # edges that are encoded at a time
TAKEN = 1 << 12  # rows of a thread's share

Numbers = NDArray[np.int64]


class RowStore:
    """Rows of an encoding for both directions of every edge, and perhaps for every node, in a file that is mapped into memory.

    Small numbers take a byte each: two bytes for each bin that is not empty, and one and a half for each row. The row of (v, u)
    is that of (u, v) with its bins renamed, so one of them is kept, unless the encoding has the part ``colour``, whose hashes
    have no such twins. `encode_graph` writes it.

    Args:
        path: The file.
        check: Whether to read all of it and compare checksums.

    Attributes:
        encoding: What the rows are of.
        num_edges: Of the graph.
        num_nodes: Of the graph.

    Raises:
        OSError: The file does not exist or cannot be opened.
        ValueError: It is damaged, or no such file; or its encoding has parts that this version does not know.
    """

    def __init__(self, path: str | PathLike[str], *, check: bool = False) -> None:
        if check:
            check_arrays(path)
        self.path = Path(path)
        arrays, facts = open_arrays(path, KIND, {"content": np.uint8, "starts": np.int64})
        self.encoding = RootedEncoding(**facts["encoding"])
        self.num_edges: int = facts["edges"]
        self.num_nodes: int = facts["nodes"]
        self._checksum: int = facts["checksum"]
        self._content: NDArray[np.uint8] = arrays["content"]
        self._starts: Numbers = arrays["starts"]
        self._swap = _swap(self.bins)
        if self._starts.size != -(-_kept(self.encoding, self._swap, self.num_edges, self.num_nodes) // STRIDE):
            raise ValueError(f"{path} is damaged: it has the beginnings of {self._starts.size:,} times {STRIDE} rows")

    @property
    def bins(self) -> tuple[Bin, ...]:
        """Name of every bin."""
        return self.encoding.bins

    @property
    def num_bins(self) -> int:
        """Number of bins."""
        return self.encoding.num_bins

    @property
    def nbytes(self) -> int:
        """Bytes of the rows and of where they begin."""
        return self._content.nbytes + self._starts.nbytes

    def __len__(self) -> int:
        """Number of rows that can be taken."""
        return 2 * self.num_edges + (self.num_nodes if self.encoding.nodes else 0)

    def __repr__(self) -> str:
        return f"RowStore({str(self.path)!r}, edges={self.num_edges}, {self.encoding})"

    def check_graph(self, graph: LeanGraph) -> None:
        """Refuse a graph that is not the one encoded.

        Raises:
            ValueError: It is another one.
        """
        if (graph.num_nodes, graph.num_edges, graph.checksum) != (self.num_nodes, self.num_edges, self._checksum):
            raise ValueError(
                f"rows: {self.path} was made of another graph, of {self.num_nodes:,} nodes and {self.num_edges:,} edges, "
                f"not of {graph}; encode this one"
            )

    def take(self, edge_ids: ArrayLike, *, threads: int | None = None) -> Rows:
        """Rows of directed edges by id, in the order asked for: 2k for edge k from its smaller end, 2k + 1 from its larger.

        Raises:
            ValueError: There is no such edge, or the file is damaged where its row should be.
        """
        ids = _checked("edge_ids", edge_ids, 2 * self.num_edges)
        if self._swap is None:
            return self._unpacked(ids, None, threads)
        return self._unpacked(ids >> 1, (ids & 1).astype(bool), threads)

    def take_nodes(self, nodes: ArrayLike, *, threads: int | None = None) -> Rows:
        """Rows of (v, v) by node.

        Raises:
            ValueError: The encoding has none, there is no such node, or the file is damaged where its row should be.
        """
        if not self.encoding.nodes:
            raise ValueError(f"nodes: {self.path} has rows of edges only; encode with nodes=True")
        first = self.num_edges * (2 if self._swap is None else 1)
        return self._unpacked(first + _checked("nodes", nodes, self.num_nodes), None, threads)

    def _unpacked(self, ids: Numbers, mirrored: NDArray[np.bool_] | None, threads: int | None) -> Rows:
        """Rows by their place in the file, some of them mirrored."""
        length = np.empty(ids.size, np.int32)
        places = np.empty(ids.size, np.int64)

        def find(start: int, stop: int) -> None:
            here = slice(start, stop)
            bad = find_rows(self._content, self._starts, ids[here], length[here], places[here])
            self._complain(ids, start, bad)

        pool.over_blocks(find, ids.size, TAKEN, threads)
        begins = (length.cumsum(dtype=np.int64) - length).astype(np.int64)
        rows = np.empty((2, length.sum(dtype=np.int64)), np.int32)

        def unpack(start: int, stop: int) -> None:
            here = slice(start, stop)
            bad = unpack_rows(self._content, length[here], places[here], begins[here], self.num_bins, rows)
            self._complain(ids, start, bad)
            if mirrored is not None and self._swap is not None:
                mirror_rows(length[here], mirrored[here], begins[here], self._swap, rows)

        pool.over_blocks(unpack, ids.size, TAKEN, threads)
        return Rows(length, rows[0], rows[1], self.bins)

    def _complain(self, ids: Numbers, start: int, bad: int) -> None:
        if bad >= 0:
            raise ValueError(f"{self.path} is damaged: row {ids[start + bad]} cannot be read; encode the graph again")


def encode_graph(
    graph: Graph,
    encoding: RootedEncoding,
    output: str | PathLike[str],
    *,
    block: int = BLOCK,
    progress: Callable[[int, int, str], None] | None = None,
) -> RowStore:
    """Encode all edges of a graph, block by block, into a file; the rows are those of `RootedEncoding.blocks`.

    Memory is one block, half a byte an edge, and what is looked at of the graph if that lies in a file.

    Args:
        graph: Such as `open_graph` gives.
        encoding: What to compute; with ``max_nodes`` hubs cost no more than that many nodes each.
        output: File to write, usually called .escr.
        block: Edges to encode at a time.
        progress: Told how many bytes of the graph's neighbours are done, four for each row, how many there are, and nothing else.

    Raises:
        OSError: The file cannot be written.
        ValueError: The encoding does not suit the graph.
    """
    lean = graph if isinstance(graph, LeanGraph) else LeanGraph(graph.csr)
    swap = _swap(encoding.bins)
    total = 2 * lean.num_edges + (lean.num_nodes if encoding.nodes else 0)
    starts = np.empty(-(-_kept(encoding, swap, lean.num_edges, lean.num_nodes) // STRIDE), np.int64)
    done = 0
    kept = 0
    end = 0
    with writing(output, KIND) as file:
        file.append("content", np.empty(0, np.uint8))
        for _, rows in encoding.blocks(lean, block):
            is_one_way = swap is not None and done < 2 * lean.num_edges  # rows of nodes come last, one each
            step = 2 if is_one_way else 1
            sizes = np.empty(len(rows) // step, np.int64)
            content = np.empty(MOST_BYTES * (2 * rows.bin.size + len(rows)), np.uint8)
            used = pack_rows(rows.length, rows.bin, rows.count, step, sizes, content)
            begins = end + sizes.cumsum() - sizes
            first = -(-kept // STRIDE)  # of the rows whose beginning is kept
            mine = begins[first * STRIDE - kept :: STRIDE]
            starts[first : first + mine.size] = mine
            file.append("content", content[:used])
            done += len(rows)
            kept += sizes.size
            end += used
            if progress is not None:
                progress(4 * done, 4 * total, "")
        file.append("starts", starts)
        file.facts = {
            "encoding": _plain(encoding),
            "nodes": lean.num_nodes,
            "edges": lean.num_edges,
            "checksum": lean.checksum,
        }
    return RowStore(output)


def _checked(argument: str, wanted: ArrayLike, end: int) -> Numbers:
    """Numbers below ``end``."""
    ids = np.asarray(wanted)
    if ids.size == 0:
        return np.empty(0, np.int64)
    if ids.ndim != 1 or ids.dtype.kind not in "iu":
        raise ValueError(f"{argument}: shape {ids.shape}, dtype {ids.dtype}; expected a list of integers")
    if ids.min() < 0 or ids.max() >= end:
        bad = ids[(ids < 0) | (ids >= end)][0]
        raise ValueError(f"{argument}: {bad}; expected numbers from 0 to {end - 1}")
    return ids.astype(np.int64)


def _kept(encoding: RootedEncoding, swap: NDArray[np.int32] | None, num_edges: int, num_nodes: int) -> int:
    """Rows that a file has."""
    return num_edges * (2 if swap is None else 1) + (num_nodes if encoding.nodes else 0)


def _swap(bins: Sequence[Bin]) -> NDArray[np.int32] | None:
    """The bin of (v, u) that counts what each bin of (u, v) counts; None if one has no such twin."""
    number = {name: b for b, name in enumerate(bins)}
    twins = []
    for name in bins:
        inner = Bin(*name.inner)
        twin = PARTS[name.part].mirror(inner) if name.part in PARTS else inner  # which radius was used is the same
        if twin is None:
            return None
        twins.append(number[twin.at(name.radius)])
    return np.array(twins, np.int32)


def _plain(encoding: RootedEncoding) -> dict[str, Any]:
    """The options of an encoding as JSON has them."""
    values = {option.name: getattr(encoding, option.name) for option in fields(Settings)}
    return {name: list(value) if isinstance(value, tuple) else value for name, value in values.items()}
