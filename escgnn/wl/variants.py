"""The tests: values with readable names, that say what is coloured and how colours start."""

from dataclasses import dataclass
from typing import ClassVar, Protocol

import numpy as np

from escgnn.encoding import RootedEncoding, Rows
from escgnn.graphs import Graph
from escgnn.kernels.graphs import Csr
from escgnn.kernels.numbering import number_rows
from escgnn.kernels.wl import rooted_subgraphs
from escgnn.wl.systems import MAX_WORDS, Ints, Nodes, Settled, System, classes, join, renumber, tuples


class WLTest(Protocol):
    """A test; ``str`` gives its name."""

    def start(self, graph: Graph, initial: Ints) -> tuple[System, Ints]:
        """What to colour in these graphs, and its first colours, numbered from 0 on without gaps."""
        ...


@dataclass(frozen=True)
class OneWL:
    r"""1-WL: :math:`c_v \leftarrow (c_v, \{\!\!\{c_u : u \in N(v)\}\!\!\})`. Colours nodes."""

    def __str__(self) -> str:
        return "1-WL"

    def start(self, graph: Graph, initial: Ints) -> tuple[System, Ints]:
        """Nodes by their initial colours."""
        return Nodes(graph.csr, graph.ptr), initial


@dataclass(frozen=True)
class _TupleWL:
    k: int
    folklore: ClassVar[bool]

    def __post_init__(self) -> None:
        _check("k", self.k, (2, 3))

    def __str__(self) -> str:
        return f"folklore {self.k}-WL" if self.folklore else f"{self.k}-WL"

    def start(self, graph: Graph, initial: Ints) -> tuple[System, Ints]:
        """Tuples by their isomorphism types."""
        return tuples(graph.csr, graph.ptr, initial, self.k, folklore=self.folklore)


class ObliviousWL(_TupleWL):
    """The paper's k-WL. Colours k-tuples, in lexicographic order.

    A tuple starts with its isomorphism type: which of its nodes are equal, which adjacent, and their initial
    colours. For each place on its own it collects the multiset of the colours of the tuples with any node put there.

    Args:
        k: Length of the tuples, 2 or 3.
    """

    folklore = False


class FolkloreWL(_TupleWL):
    """Folklore k-WL, as strong as oblivious (k+1)-WL. Colours k-tuples, in lexicographic order.

    Tuples start as in `ObliviousWL`. They collect the multiset, over all nodes w, of the k colours that the tuple
    has with w put in its first, second, ..., last place.

    Args:
        k: Length of the tuples, 2 or 3.
    """

    folklore = True


@dataclass(frozen=True, init=False, repr=False, eq=False)
class ESCWL:
    r"""The most that ESC-GNN can see: 1-WL whose messages carry the encoding :math:`s_{uv}`. Colours nodes.

    Args:
        encodings: One encoding or more, whose rows are used together. One with ``nodes=True`` adds the row of
            (v, v) to the initial colour of v.
    """

    encodings: tuple[RootedEncoding, ...]

    def __init__(self, *encodings: RootedEncoding) -> None:
        if not encodings or not all(isinstance(encoding, RootedEncoding) for encoding in encodings):
            raise ValueError(f"encodings: {encodings!r}; expected one RootedEncoding or more")
        object.__setattr__(self, "encodings", encodings)

    def __repr__(self) -> str:
        return f"ESCWL({', '.join(map(repr, self.encodings))})"

    def __str__(self) -> str:
        return f"ESC-WL, h = {', '.join(map(_short, self.encodings))}"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ESCWL) and repr(self) == repr(other)

    def __hash__(self) -> int:
        return hash(repr(self))

    def start(self, graph: Graph, initial: Ints) -> tuple[System, Ints]:
        """Arcs by their rows, and nodes by theirs where asked."""
        proper = graph.arc >= 0
        label = np.empty(graph.csr.indices.size, np.int64)
        rows = join(*(_number_histograms(encoding.rows(graph)) for encoding in self.encodings))
        # u stands in v's list, over the arc (v, u), and sends s_uv. Bins of `colour` are hashes that (u, v) and (v, u) do
        # not share one to one, so s_vu would not do.
        label[graph.reverse[graph.arc[proper]]] = rows[proper]
        nodes = [_number_histograms(encoding.node_rows(graph)) for encoding in self.encodings if encoding.nodes]
        return Nodes(graph.csr, graph.ptr, label), join(initial, *nodes)


@dataclass(frozen=True)
class RootedWL:
    r"""The paper's framework, Eq. `eq:submpnn`: m-WL inside the subgraph rooted at each connected k-tuple.

    Colours connected k-tuples, in lexicographic order: for k = 1 nodes; for k = 2 the pairs (u, v) that are
    adjacent, in both directions, or equal. The subgraph is induced by the nodes within :math:`h` of a root. Inside,
    a node starts with its distances to the roots, as in the proof of `th:sub`; for m = 2 a pair of nodes starts
    with its isomorphism type and both nodes' distances. The colour of a k-tuple is the multiset of the stable
    colours of all m-tuples inside, that of a graph the multiset of the colours of its k-tuples.

    Two choices make no difference. Root marks instead of distances: 1-WL works the distances out. The term
    :math:`c_{\vec v, \vec v}` of the equation, left out here: no other node has a root's distances, so subgraphs
    with equal multisets have roots of equal colour.

    Args:
        k: Number of roots, 1 or 2.
        m: Dimension of the WL inside, 1 or 2 (oblivious, hence as strong as 1).
        hops: Radius :math:`h` of the subgraphs, at least 1.
        messages: Run 1-WL over the graph afterwards, which the paper's framework does not: node v starts with the
            colour of v or (v, v), and for k = 2 messages carry the colour of (u, v). Then nodes are coloured.
    """

    k: int
    m: int
    hops: int
    messages: bool = False

    def __post_init__(self) -> None:
        _check("k", self.k, (1, 2))
        _check("m", self.m, (1, 2))
        if isinstance(self.hops, bool) or not isinstance(self.hops, int | np.integer) or self.hops < 1:
            raise ValueError(f"hops: {self.hops!r}; expected an integer >= 1")

    def __str__(self) -> str:
        roots = "nodes" if self.k == 1 else "2-tuples"
        return f"{self.m}-WL rooted at {roots}, h = {self.hops}" + (", then 1-WL" if self.messages else "")

    def start(self, graph: Graph, initial: Ints) -> tuple[System, Ints]:
        """Roots by the classes of their subgraphs under m-WL, which is all there is to know of them."""
        nodes = np.arange(graph.num_nodes)
        roots = np.stack([nodes, nodes], axis=1)
        ptr = graph.ptr
        if self.k == 2:
            arcs = np.stack([np.repeat(nodes, graph.degrees), graph.csr.indices], axis=1)
            roots = np.concatenate([roots, arcs])
            roots = roots[np.lexsort((roots[:, 1], roots[:, 0]))]
            ptr = graph.ptr + graph.csr.indptr[graph.ptr]
        colour = classes(*self._inside(graph, roots, initial))
        if not self.messages:
            return Settled(ptr), colour
        equal = roots[:, 0] == roots[:, 1]
        return Nodes(graph.csr, graph.ptr, colour[~equal]), renumber(colour[equal])

    def _inside(self, graph: Graph, roots: Ints, initial: Ints) -> tuple[System, Ints]:
        """The rooted subgraphs side by side, as graphs of their own."""
        hops = min(self.hops, graph.num_nodes)
        ptr = np.empty(len(roots) + 1, np.int64)
        nothing = Csr(np.empty(0, np.int64), np.empty(0, np.int32))
        arcs = rooted_subgraphs(graph.csr, roots, hops, ptr, nothing, np.empty((0, 2), np.int64))
        size = int(ptr[-1])
        if size + arcs > MAX_WORDS:
            raise ValueError(
                f"hops: the subgraphs of {len(roots)} roots have {size} nodes and {arcs} arcs, together more than "
                f"{MAX_WORDS}. Lower hops, or give fewer or smaller graphs"
            )
        csr = Csr(np.zeros(size + 1, np.int64), np.empty(arcs, np.int32))
        inside = np.empty((size, 2), np.int64)
        rooted_subgraphs(graph.csr, roots, hops, ptr, csr, inside)
        node, distances = inside.T
        first = join(distances, initial[node])
        if self.m == 1:
            return Nodes(csr, ptr), first
        return tuples(csr, ptr, first, self.m, folklore=False, argument="m")


def _number_histograms(rows: Rows) -> Ints:
    """Equal numbers for equal rows."""
    ptr = np.concatenate([np.zeros(1, np.int64), rows.length.cumsum(dtype=np.int64)])
    return number_rows(ptr, rows.bin.astype(np.int64) << 32 | rows.count)


def _short(encoding: RootedEncoding) -> str:
    """The radius, and what is not as usual."""
    parts = encoding.parts if encoding.parts != RootedEncoding().parts else ()
    extras = [*parts, *(["(v, v)"] if encoding.nodes else [])]
    return f"{encoding.hops} [{', '.join(extras)}]" if extras else f"{encoding.hops}"


def _check(argument: str, value: int, allowed: tuple[int, ...]) -> None:
    if not isinstance(value, int | np.integer) or value not in allowed:
        raise ValueError(f"{argument}: {value!r}; expected one of {', '.join(map(str, allowed))}")
