"""The parts walk, cycle and colour, and several radii at once, beyond what `test_rooted` asks of every part."""

import os
import subprocess
import sys
from collections import Counter
from functools import cache
from math import factorial, perm

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from escgnn import graphs, wl
from escgnn.counting import count
from escgnn.encoding import RootedEncoding
from escgnn.kernels import cycles
from escgnn.kernels.colours import COLOURS, mix
from tests import naive
from tests.strategies import messy_graphs

LENGTHS = range(3, 9)
CYCLES = RootedEncoding(1, ("cycle",))


@pytest.mark.parametrize("n", range(3, 11))
def test_cycles_of_complete_graphs(n):
    graph = graphs.complete(n)
    through_edge = {("cycle", k): perm(n - 2, k - 2) for k in LENGTHS if k <= n}
    assert CYCLES.rows(graph)[0] == CYCLES.row(graph, 1, 0) == through_edge
    assert CYCLES.node_rows(graph)[0] == {
        ("cycle", k): factorial(n - 1) // factorial(n - k) // 2 for k in LENGTHS if k <= n
    }


@pytest.mark.parametrize(
    "graph",
    [graphs.molecule_like(300, 2), graphs.barabasi_albert(60, 3), graphs.rook(4), graphs.random_regular(40, 4)],
    ids=["molecules", "power law", "rook", "regular"],
)
def test_cycles_are_those_that_counting_finds(graph):
    edges, nodes = CYCLES.rows(graph).dense(), CYCLES.node_rows(graph).dense()
    for k in LENGTHS:
        assert_array_equal(edges[:, k - 3], count(graph, f"{k}-cycle", per="edge"))
        assert_array_equal(nodes[:, k - 3], count(graph, f"{k}-cycle", per="node"))


@pytest.mark.parametrize("length", LENGTHS)
def test_cycles_need_no_radius(length):
    graph = graphs.cycle(length)
    for options in ({"hops": 1}, {"hops": 4}, {"hops": (1, 2)}, {"hops": 1, "subgraph": "balls"}):
        encoding = RootedEncoding(parts=("cycle",), **options)
        assert encoding.row(graph, 0, 1) == encoding.row(graph, 0, 0) == {("cycle", length): 1}
    clipped = RootedEncoding(2, ("cycle",), max_nodes=2).row(graph, 0, 1)
    assert clipped["cycle", length] == 1
    assert RootedEncoding(parts=("cycle",), cycle_length=max(length - 1, 3)).row(graph, 0, 1) == (
        {} if length > 3 else {("cycle", 3): 1}
    )


@given(messy_graphs(), st.data())
def test_roots_apart_count_the_cycles_that_an_edge_between_them_would_close(graph, data):
    u, v = (data.draw(st.integers(0, graph.num_nodes - 1)) for _ in range(2))
    closed = graphs.from_edges([*graph.edges.tolist(), (u, v), (v, u)], graph.num_nodes)
    assert CYCLES.row(graph, u, v) == CYCLES.row(closed, u, v)


def test_walks_saturate_and_never_wrap():
    """(A^k)_uv of the complete graph: ((n - 1)^k -+ 1) / n, far beyond 32 and 64 bits."""
    n, encoding = 40, RootedEncoding(1, ("walk",), walk_length=30)
    row = encoding.row(graphs.complete(n), 0, 1)
    for k in range(2, 31):
        assert row["walk", k] == min(((n - 1) ** k - (-1) ** k) // n, 2**31 - 1)
        assert row["walk", "u", k] == row["walk", "v", k] == min(((n - 1) ** k + (n - 1) * (-1) ** k) // n, 2**31 - 1)
    assert encoding.rows(graphs.complete(n)).count.min() > 0


@pytest.mark.parametrize("n", [46_341, 65_537])
def test_paths_saturate_and_never_wrap(n):
    """Between the leaves of a double star run n * n paths: the least n at which they pass 31 bits, and 32."""
    leaves = np.arange(2, 2 + 2 * n).reshape(2, n)
    hubs = np.repeat([[0], [1]], n, axis=1)
    star = graphs.from_edges(np.concatenate([[[0, 1]], np.stack([hubs, leaves], 2).reshape(-1, 2)]), 2 + 2 * n)
    encoding = RootedEncoding(1, ("path",))
    row = encoding.row(star, 0, 1)
    assert row["path", 1, 2, 0, 1, 1, 0, 2, 1] == 2**31 - 1 < n * n
    assert min(row.values()) > 0


def test_cycles_saturate_and_never_wrap(monkeypatch):
    """More than can be met one by one, so the search is told what it finds."""

    def find_many(csr, s, t, distance, queue, counts, halt):
        counts[:] = 2**40

    monkeypatch.setattr(cycles, "add_cycles", find_many)
    count_cycles = getattr(cycles.count_cycles, "py_func", cycles.count_cycles)
    search = cycles.CycleSearch(np.zeros(2, np.int8), np.zeros(2, np.int32), np.zeros(6, np.int64))
    histogram = np.zeros(6, np.uint32)
    bins = np.arange(6, dtype=np.int32)
    count_cycles(graphs.path(2).csr, 0, 1, bins, search, np.zeros(1, np.uint8), histogram)
    assert histogram.tolist() == [2**31 - 1] * 6


@given(messy_graphs(), st.integers(1, 4))
def test_walks_within_reach_are_those_of_the_whole_graph(graph, hops):
    encoding = RootedEncoding(hops, ("walk",), walk_length=2 * hops)
    powers = [np.linalg.matrix_power(graph_matrix(graph), k) for k in range(2 * hops + 1)]
    for (u, v), row in zip(graph.edge_index.T.tolist(), all_rows(encoding, graph), strict=True):
        for k in range(2, 2 * hops + 1):
            expected = (powers[k][u, v], powers[k][u, u], powers[k][v, v])
            assert tuple(row.get(("walk", *root, k), 0) for root in ("", "u", "v")) == expected


def graph_matrix(graph):
    matrix = np.zeros((graph.num_nodes, graph.num_nodes), np.int64)
    matrix[graph.edges[:, 0], graph.edges[:, 1]] = 1
    return matrix | matrix.T


def all_rows(encoding, graph):
    rows = encoding.rows(graph)
    return [rows[i] for i in range(len(rows))]


def test_mixing():
    """One to one; each bit of the input changes half of the output; and the same numbers for ever."""
    assert [mix(x) for x in (0, 1, 2, COLOURS)] == [naive.mix(x) for x in (0, 1, 2, COLOURS)]
    assert (mix(1), mix(2)) == (0x270F9955A3281E93, 0x105BDFE2B68C6AF9)
    rng = np.random.default_rng(0)
    values = [int(x) for x in rng.integers(0, COLOURS, 400)] + list(range(400))
    assert len({mix(x) for x in values}) == len({*values})
    for bit in range(62):
        flips = [mix(x) ^ mix(x ^ 1 << bit) for x in values]
        changed = np.array([[flip >> i & 1 for i in range(62)] for flip in flips]).mean(0)
        assert changed.min() > 0.3 and changed.max() < 0.7


@cache
def coloured(mode, rounds):
    """With so many bins that hashes hardly ever collide, which takes a while to number."""
    return RootedEncoding(2, ("colour",), subgraph=mode, colour_rounds=rounds, colour_bins=1 << 16)


@given(messy_graphs(), st.integers(0, 4), st.sampled_from(["union", "balls"]), st.data())
def test_colours_are_those_of_exact_refinement(graph, rounds, mode, data):
    """With bins enough, as many colours, as often, as when whole trees of labels are compared."""
    u, v = (data.draw(st.integers(0, graph.num_nodes - 1)) for _ in range(2))
    plain = graph.to_networkx()
    rooted = naive.subgraph(plain, u, v, 2, mode)
    distances = [nx.single_source_shortest_path_length(plain, root) for root in (u, v)]
    colour = {w: tuple(min(d.get(w, 3), 3) for d in distances) for w in rooted}
    for _ in range(rounds):
        trees = {w: (colour[w], tuple(sorted(colour[x] for x in rooted[w]))) for w in rooted}
        number = {tree: i for i, tree in enumerate({*trees.values()})}  # written out, a tree grows with every round
        colour = {w: number[trees[w]] for w in rooted}
    assert sorted(coloured(mode, rounds).row(graph, u, v).values()) == sorted(Counter(colour.values()).values())


def test_rows_are_the_same_without_the_compiler():
    code = (
        "from escgnn import graphs; from escgnn.encoding import RootedEncoding as E;"
        "print(E((1, 2), ('walk', 'cycle', 'ring', 'colour')).row(graphs.petersen(), 0, 1))"
    )
    results = [
        subprocess.run(
            [sys.executable, "-W", "error", "-c", code],
            env={**os.environ, "NUMBA_DISABLE_JIT": disable},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for disable in "01"
    ]
    assert results[0] == results[1] and "colour" in results[0] and "ring" in results[0]


def test_bins_of_several_radii():
    encoding = RootedEncoding((3, 1), ("node", "cycle", "joint"), cycle_length=4, max_nodes=9)
    inner = [RootedEncoding(h, ("node", "joint"), max_nodes=9) for h in (3, 1)]
    expected = [(f"h{one.hops}", *name) for one in inner for name in one.bins]
    assert encoding.bins == (*expected, ("cycle", 3), ("cycle", 4))
    assert encoding.num_bins == len(encoding.bins) < len(encoding.pair_bins) == len({*encoding.pair_bins})
    assert repr(encoding).startswith("RootedEncoding(hops=(3, 1), parts=('node', 'cycle', 'joint'), ")
    assert (encoding.radius, RootedEncoding(2).radius) == (3, 2)
    assert RootedEncoding([1, 2]).hops == (1, 2) and RootedEncoding(np.array([1, 2])).hops == (1, 2)


def test_several_radii_are_the_radii_side_by_side():
    graph = graphs.molecule_like(50, 3)
    dense = RootedEncoding((1, 3)).dense(graph)
    assert_array_equal(dense, np.hstack([RootedEncoding(h).dense(graph) for h in (1, 3)]))
    rows = RootedEncoding((1, 3)).pairs(graph, [(0, 9), (9, 0), (3, 3)])
    for start, stop in zip(np.cumsum([0, *rows.length[:-1]]), np.cumsum(rows.length), strict=True):
        assert (np.diff(rows.bin[start:stop]) > 0).all()


@pytest.mark.parametrize("part", ["cycle", "walk", "colour"])
def test_messages_that_carry_them_see_more_than_1_wl(part):
    """Two triangles are no hexagon, and decalin is not bicyclopentyl."""
    decalin = graphs.from_edges([*((i, (i + 1) % 10) for i in range(10)), (0, 5)], 10)
    rings = [(5 * ring + i, 5 * ring + (i + 1) % 5) for ring in range(2) for i in range(5)]
    triangles = graphs.disjoint_union([graphs.cycle(3), graphs.cycle(3)])
    for pair in ((decalin, graphs.from_edges([*rings, (0, 5)], 10)), (triangles, graphs.cycle(6))):
        assert not wl.distinguishes(*pair, wl.OneWL())
        assert wl.distinguishes(*pair, wl.ESCWL(RootedEncoding(2, (part,))))


def test_bins_of_pairs_ascend_with_several_radii():
    """Those that only pairs have come last among all bins, so that the rows of one radius are not one stretch."""
    graph = graphs.erdos_renyi(9, 0.3, 1)
    pairs = [(u, v) for u in range(9) for v in range(9)]
    for hops in ((1, 2), (2, 1, 3)):
        rows = RootedEncoding(hops, ("joint", "edge", "cycle")).pairs(graph, pairs)
        ends = rows.length.cumsum()
        for start, stop in zip(ends - rows.length, ends, strict=True):
            assert (np.diff(rows.bin[start:stop]) > 0).all()
        assert rows.dense().sum() == rows.count.sum()


@pytest.mark.parametrize("hops", [1, 2, (1, 2)])
def test_pairs_do_not_see_those_before_them(hops):
    graph = graphs.erdos_renyi(8, 0.25, 2)
    pairs = [(u, v) for u in range(8) for v in range(8)]
    encoding = RootedEncoding(hops, ("node", "joint"), max_nodes=6)
    rows = encoding.pairs(graph, pairs)
    assert [rows[i] for i in range(64)] == [encoding.row(graph, u, v) for u, v in pairs]
