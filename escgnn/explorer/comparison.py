"""Two graphs side by side: what each test sees of them, round by round, and where it sees a difference first."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from escgnn import wl
from escgnn.encoding import RootedEncoding
from escgnn.explorer.reading import Subject
from escgnn.graphs import Graph

MOST_WORK = 3e8  # tuples or colourings, times what one round of each takes
MOST_DEPTH = 4


def usual_tests(encoding: RootedEncoding) -> list[wl.WLTest]:
    """The tests that a comparison shows unless others are given."""
    return [wl.OneWL(), wl.ObliviousWL(3), wl.ESCWL(encoding), wl.SearchWL(1), wl.SearchWL(2)]


def compared(
    first: Subject, second: Subject, tests: Sequence[wl.WLTest], initial: Sequence[int] | None = None
) -> dict[str, Any]:
    """All tests on two graphs, as plain values.

    Args:
        first: One graph.
        second: The other.
        tests: What to run; one that would take too long is left out, and says so.
        initial: Colours of the nodes to start with, those of the first graph and then those of the second.
    """
    graphs = []
    for subject in (first, second):
        graphs.append(
            {
                "title": subject.title,
                "names": [*subject.names],
                "points": [[round(float(x), 3), round(float(y), 3)] for x, y in subject.points],
                "edges": subject.graph.edges.tolist(),
                "orders": [*subject.orders],
            }
        )
    return {"graphs": graphs, "tests": [_tested(first, second, test, initial) for test in tests]}


def _tested(first: Subject, second: Subject, test: wl.WLTest, initial: Sequence[int] | None) -> dict[str, Any]:
    try:
        _check_work(first, second, test)
        both = wl.side_by_side(first.graph, second.graph)
        rounds = [*wl.rounds(both, test, initial=None if initial is None else np.asarray(initial, np.int64))]
    except ValueError as error:
        return {"name": str(test), "trouble": str(error)}
    items = [_items(subject.graph, test) for subject in (first, second)]
    told = None
    for number, (g, h) in enumerate(rounds):
        surplus = Counter(g.tolist())
        surplus.subtract(Counter(h.tolist()))
        unequal = [colour for colour, times in surplus.items() if times]
        if unequal:
            told = {"round": number, **_first_place((g, h), unequal, items)}
            break
    alone = [np.flatnonzero((each == each[:, :1]).all(1)) for each in items]  # a node, or the tuple (v, v, ...)
    shown = [[colour[own].tolist() for colour, own in zip(after, alone, strict=True)] for after in rounds]
    return {"name": str(test), "rounds": shown, "told": told}


def _items(graph: Graph, test: wl.WLTest) -> NDArray[np.int64]:
    """The nodes, or tuples of nodes, that a test colours, in its order, ``(items, length)``."""
    nodes = np.arange(graph.num_nodes)
    if isinstance(test, wl.ObliviousWL | wl.FolkloreWL):
        return np.stack(np.meshgrid(*[nodes] * test.k, indexing="ij"), axis=-1).reshape(-1, test.k)
    if isinstance(test, wl.RootedWL) and test.k == 2 and not test.messages:
        pairs = np.concatenate([np.stack([nodes, nodes], 1), graph.edges, graph.edges[:, ::-1]])
        return pairs[np.lexsort((pairs[:, 1], pairs[:, 0]))]
    return nodes[:, None]


def _check_work(first: Subject, second: Subject, test: wl.WLTest) -> None:
    """Refuse tests that would keep people waiting.

    Raises:
        ValueError: It would.
    """
    nodes = max(first.graph.num_nodes, second.graph.num_nodes)
    edges = max(first.graph.num_edges, second.graph.num_edges)
    work = 0.0
    if isinstance(test, wl.ObliviousWL | wl.FolkloreWL):
        work = 200.0 * nodes**test.k
    elif isinstance(test, wl.SearchWL):
        work = float(nodes) ** min(test.depth, MOST_DEPTH + 1) * (nodes + edges)
    elif isinstance(test, wl.ESCWL):
        steps = sum(one.expected_steps(subject.graph).sum() for one in test.encodings for subject in (first, second))
        work = float(steps) / 10
    if work > MOST_WORK:
        raise ValueError(f"not run: on graphs of {nodes} nodes it may take minutes; call escgnn.wl for it")


def _first_place(colours: Sequence[Any], unequal: list[int], items: Sequence[NDArray[np.int64]]) -> dict[str, Any]:
    """The first node or tuple, of the first graph if it has one, whose colour is there more or less often in the other."""
    for side in (0, 1):
        found = np.flatnonzero(np.isin(colours[side], unequal))
        if found.size:
            return {"side": side, "nodes": items[side][found[0]].tolist()}
    raise AssertionError("colours that are not equally often there are nowhere")
