"""graph6 and sparse6: one graph as one line of printable text (Brendan McKay's formats)."""

import numpy as np
from numpy.typing import NDArray

MOST_NODES = 2**31 - 1  # of one graph view
SPARSE_NODES = 10_000_000  # that sparse6 may claim whatever its length: some bytes must not ask for gigabytes of memory


def decode(text: str | bytes) -> tuple[int, NDArray[np.int64]]:
    """Number of nodes and edges ``(m, 2)`` of a graph6 or sparse6 line, with or without its header.

    >>> decode("Bw")
    (3, array([[0, 1],
           [0, 2],
           [1, 2]]))

    Raises:
        ValueError: The line is not a graph, or one of more nodes than fit.
    """
    try:
        line = (text.encode("ascii") if isinstance(text, str) else text).strip()
    except UnicodeEncodeError:
        raise ValueError("graph6: the line holds characters outside ASCII") from None
    line = line.removeprefix(b">>graph6<<").removeprefix(b">>sparse6<<")
    sparse = line.startswith(b":")
    if line.startswith((b"&", b";")):
        raise ValueError("graph6: directed and incremental formats (first character & or ;) are not supported")
    values = np.frombuffer(line[1:] if sparse else line, np.uint8).astype(np.int64) - 63
    if values.size == 0:
        raise ValueError("graph6: the line is empty")
    if values.min() < 0 or values.max() > 63:
        raise ValueError("graph6: the line holds characters outside ? to ~")
    num_nodes, used = _size(values)
    line_size = values.size
    if num_nodes > MOST_NODES:
        raise ValueError(f"graph6: {num_nodes} nodes; at most {MOST_NODES} fit")
    bits = np.unpackbits(values[used:].astype(np.uint8)[:, None], axis=1)[:, 2:].ravel()
    if sparse and num_nodes > SPARSE_NODES + 8 * line_size:
        raise ValueError(
            f"graph6: {num_nodes} nodes, almost all of them without an edge, in {line_size} characters; at most "
            f"{SPARSE_NODES} and 8 for each character are read"
        )
    return num_nodes, (_sparse_edges if sparse else _dense_edges)(num_nodes, bits)


def _size(values: NDArray[np.int64]) -> tuple[int, int]:
    """The node count at the start of a line, and how many characters it took: 1, 4 or 8."""
    if values[0] < 63:
        width = 1
    elif values.size > 1 and values[1] < 63:
        width = 4
    else:
        width = 8
    if values.size < width:
        raise ValueError("graph6: the line ends within the node count")
    digits = values[:1] if width == 1 else values[width // 4 : width]
    size = 0
    for digit in digits.tolist():
        size = 64 * size + digit
    return size, width


def _dense_edges(num_nodes: int, bits: NDArray[np.uint8]) -> NDArray[np.int64]:
    pairs = num_nodes * (num_nodes - 1) // 2
    if bits.size != -(-pairs // 6) * 6:
        raise ValueError(
            f"graph6: {bits.size // 6} characters after the node count; {num_nodes} nodes need {-(-pairs // 6)}"
        )
    if bits[pairs:].any():
        raise ValueError("graph6: the padding bits at the end are not zero")
    k = np.flatnonzero(bits[:pairs])  # pairs in the order (0,1), (0,2), (1,2), (0,3), ...
    v = ((1 + np.sqrt(1 + 8 * k)) / 2).astype(np.int64)
    u = k - v * (v - 1) // 2
    return np.stack([u, v], axis=1)[np.lexsort((v, u))]


def _sparse_edges(num_nodes: int, bits: NDArray[np.uint8]) -> NDArray[np.int64]:
    width = max(1, (num_nodes - 1).bit_length())
    steps = bits.size // (width + 1)
    words = bits[: steps * (width + 1)].reshape(steps, width + 1).astype(np.int64)
    numbers = words[:, 1:] @ (1 << np.arange(width - 1, -1, -1))
    edges = []
    current = 0
    for advance, number in zip(words[:, 0].tolist(), numbers.tolist(), strict=True):
        current += advance
        if current >= num_nodes or number >= num_nodes:
            break  # padding
        if number > current:
            current = number
        else:
            edges.append((number, current))
    return np.array(edges, np.int64).reshape(-1, 2)
