import gzip
import itertools
import time

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from escgnn.readers import GraphFile, edge_lists, sources
from tests.readers.reader import read

HEADER = "graph,source,target\n"


def write(path, text):
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def test_nodes_are_renumbered_and_edges_undirected(tmp_path):
    rows = "7,30,10\n7,10,30\n7,9000000000000000000,10\n5,4,4\n5,4,4\n6,1,0\n6,1,1\n"
    path = write(tmp_path / "edges.csv", HEADER + rows)
    file = GraphFile(path)
    (chunk,) = file
    assert file.format == "edges" and chunk.ids.equals(pa.array([7, 5, 6], pa.int64()))
    assert chunk.node_ids.tolist() == [10, 30, 9000000000000000000, 4, 0, 1]
    assert chunk.graphs.ptr.tolist() == [0, 3, 4, 6]
    assert chunk.graphs.edges.tolist() == [[0, 1], [0, 2], [4, 5]]
    assert chunk.graphs.edge_index.shape == (2, 6)  # loops and repeats leave no column


edges = st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6)), min_size=1, max_size=8)


names = st.sampled_from(["{}", "-{}", "g{}", '"{}"', '"a ""{}"""', " {} "])


@given(st.lists(edges, min_size=1, max_size=6), names, st.integers(0, 50))
def test_any_edge_list(tmp_path_factory, graphs, name, chunk_size):
    folder = tmp_path_factory.mktemp("edges")
    rows = [f"{name.format(i)}, {u},{v}\n" for i, graph in enumerate(graphs) for u, v in graph]
    expected = [
        (sorted({*itertools.chain(*graph)}), sorted({(min(e), max(e)) for e in graph if e[0] != e[1]}))
        for graph in graphs
    ]
    path = write(folder / "edges.csv", HEADER + "".join(rows))
    got, rejects = read(path, chunk_size=chunk_size)
    assert [(nodes, [(u, v) for u, v in pairs]) for _, nodes, pairs in got] == expected
    assert not rejects


def test_every_chunk_size_gives_the_same_graphs(tmp_path):
    rows = [f"{g},{i},{i + 1}\n" for g, size in enumerate([3, 1, 5, 2, 4]) for i in range(size)]
    path = write(tmp_path / "edges.csv", HEADER + "".join(rows))
    whole = read(path)
    for chunk_size in range(1, 2 * len(rows) + 2):
        assert read(path, chunk_size=chunk_size) == whole
        sizes = [2 * chunk.graphs.num_edges for chunk in GraphFile(path, chunk_size=chunk_size)]
        assert all(chunk_size <= size < chunk_size + 10 for size in sizes[:-1])


BAD = {
    "0,1": "has 2 cells, the header 3",
    "0,1,2,3": "has 4 cells, the header 3",
    "0,1,": "target is empty",
    ",1,2": "graph is empty",
    "0,-1,2": "source -1 is negative",
    "0,1,2.0": "target '2.0' is not an integer",
    "0,0x1,2": "source '0x1' is not an integer",
    "0,1,+2": "target '+2' is not an integer",
    "0,1_0,2": "source '1_0' is not an integer",
    "0,--1,2": "source '--1' is not an integer",
    "0,1,99999999999999999999": "target 99999999999999999999 does not fit in 64 bits",
    "0,1," + "9" * 5000: "target " + "9" * 30 + " does not fit in 64 bits",
    "a,1,2": "graph 'a' is not an integer, as the first one is",
    '0,"1,2': "a quote is not closed, or is closed within a cell",
    '0,"1"3,2': "a quote is not closed, or is closed within a cell",
    "0,1\r1,2": "source '1\\r1' is not an integer",
    "0,1,2\udcff": "not UTF-8 text; save the file as UTF-8",
}


@pytest.mark.parametrize("row", BAD)
@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("few", [1, 1 << 15])
def test_bad_rows_are_named_by_line(tmp_path, row, end, few, monkeypatch):
    monkeypatch.setattr(edge_lists, "ROW_BY_ROW", few)
    lines = ["\ufeffgraph,source,target", "0,1,2", "", row, "0,2,3", "1,5,6", row, "1,6,7"]
    path = write(tmp_path / "edges.csv", end.join(lines).encode("utf-8", "surrogateescape"))
    graphs, rejects = read(path)
    assert graphs == [(0, [1, 2, 3], [[1, 2], [2, 3]]), (1, [5, 6, 7], [[5, 6], [6, 7]])]
    assert rejects == [(4, BAD[row]), (7, BAD[row])]
    with pytest.raises(ValueError) as error:
        list(GraphFile(path, strict=True))
    assert str(error.value) == f"{path}: line 4: {BAD[row]}"


def test_rejects_come_in_order_with_their_record(tmp_path):
    rejects = []
    path = write(tmp_path / "edges.csv", HEADER + "0,1,2\n1,1,2\n0,3,4\n1,x,2\n0,5,6\n" + "y" * 200)
    list(GraphFile(path, on_reject=rejects.append))
    assert [(row.line, row.record) for row in rejects] == [
        (4, "0,3,4"),
        (5, "1,x,2"),
        (6, "0,5,6"),
        (7, "y" * 79 + "…"),
    ]
    assert rejects[0].reason == "graph 0 began on line 2 and ended; sort the file by graph"


def test_a_graph_that_comes_back_does_not_end_the_one_between(tmp_path):
    path = write(tmp_path / "edges.csv", HEADER + "a,1,2\nb,1,2\na,2,3\nb,2,3\n")
    graphs, rejects = read(path, chunk_size=1)
    assert graphs == [("a", [1, 2], [[1, 2]]), ("b", [1, 2, 3], [[1, 2], [2, 3]])]
    assert [line for line, _ in rejects] == [4]


def test_the_first_graph_decides_between_numbers_and_text(tmp_path):
    path = write(tmp_path / "edges.csv", HEADER + "0,1\n,0,1\n007,0,1\nx,0,1\n")
    graphs, rejects = read(path)
    assert [name for name, _, _ in graphs] == [7] and [line for line, _ in rejects] == [2, 3, 5]
    path = write(tmp_path / "edges.csv", HEADER + "x,0,1\n007,0,1\n")
    assert [name for name, _, _ in read(path)[0]] == ["x", "007"]
    path = write(tmp_path / "edges.csv", HEADER + f"{2**70},0,1\n")
    assert [name for name, _, _ in read(path)[0]] == [str(2**70)]


def test_nothing_but_bad_rows_gives_no_graphs(tmp_path):
    path = write(tmp_path / "edges.csv", HEADER + "0,1\n0\n")
    assert read(path) == ([], [(2, "has 2 cells, the header 3"), (3, "has 1 cells, the header 3")])


def test_other_columns_and_other_orders(tmp_path):
    text = "Weight\tTARGET\tnote\tsource\tGraph\n0.5\t2\tµ\t1\t3\n0.5\t4\t\t1\t3\n\t\t\t\t\n"
    graphs, rejects = read(write(tmp_path / "edges.tsv", text))
    assert graphs == [(3, [1, 2, 4], [[1, 2], [1, 4]])] and rejects == [(4, "graph is empty")]


@pytest.mark.parametrize(
    ("header", "found"),
    [("a,b", "a, b"), ("0,1,2", "0, 1, 2"), ("graph,source", "graph, source")],
)
def test_missing_columns_are_named(tmp_path, header, found):
    path = write(tmp_path / "edges.csv", header + "\n")
    message = rf"edges\.csv has no column 'smiles'; its columns are {found}; name the column as smiles=\.\.\., or those"
    with pytest.raises(ValueError, match=message):
        GraphFile(path)


def test_columns_named_twice_are_refused_only_if_wanted(tmp_path):
    with pytest.raises(ValueError, match=r"edges\.csv has the column 'source' more than once: source, source; rename"):
        GraphFile(write(tmp_path / "edges.csv", "graph,source,source,target\n0,1,2,3\n"))
    assert GraphFile(write(tmp_path / "edges.csv", "graph,note,source,note,target\n0,,1,,2\n")).format == "edges"


def test_a_header_alone_holds_no_graphs(tmp_path):
    with pytest.raises(ValueError, match=r"edges\.csv holds no graphs"):
        list(GraphFile(write(tmp_path / "edges.csv", HEADER)))


@pytest.mark.parametrize("block", [1, 10, 64, 1 << 20])
@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_blocks_do_not_show(tmp_path, monkeypatch, block, pack):
    monkeypatch.setattr(sources, "BLOCK", block)
    rows = [f"{g},{i},{i + 1}" for g in range(4) for i in range(5)]
    rows[7] = "bad"
    rows[12] = '"2",3,7'
    path = tmp_path / ("edges.csv" if pack is bytes else "edges.csv.gz")
    path.write_bytes(pack((HEADER + "\n".join(rows)).encode()))
    graphs, rejects = read(path)
    assert [name for name, _, _ in graphs] == [0, 1, 2, 3] and rejects == [(9, "has 1 cells, the header 3")]
    assert sum(len(pairs) for _, _, pairs in graphs) == 19


odd_cell = st.text(st.sampled_from("0123456789-+x ._\"'\t\r\udcff\u0663\xa0"), max_size=4)
cell = st.one_of(st.integers(0, 9).map(str), odd_cell)
row = st.one_of(st.lists(st.integers(0, 9).map(str), min_size=3, max_size=3), st.lists(cell, max_size=4)).map(",".join)


@given(st.lists(row, min_size=1, max_size=30))
def test_fast_and_careful_agree(tmp_path_factory, rows):
    path = tmp_path_factory.mktemp("edges") / "edges.csv"
    path.write_bytes((HEADER + "9,0,1\n" + "\n".join(rows)).encode("utf-8", "surrogateescape"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(edge_lists, "ROW_BY_ROW", 1)
        fast = read(path)
        patch.setattr(edge_lists._TextTable, "_fast", lambda *_: None)
        assert read(path) == fast


@pytest.mark.parametrize("one_graph", [True, False])
def test_many_rows_are_quick(tmp_path, one_graph):
    pairs = np.random.default_rng(0).integers(0, 50_000, (200_000, 2))
    name = np.zeros(200_000, int) if one_graph else np.arange(200_000) // 20
    table = np.column_stack([name, pairs])
    path = tmp_path / "edges.csv"
    path.write_text(HEADER + "".join(f"{g},{u},{v}\n" for g, u, v in table.tolist()))
    list(GraphFile(write(tmp_path / "small.csv", HEADER + "0,1,2\n")))  # compiles
    start = time.perf_counter()
    chunks = list(GraphFile(path))
    assert time.perf_counter() - start < 5
    assert sum(chunk.graphs.num_graphs for chunk in chunks) == (1 if one_graph else 10_000)
    if one_graph:
        nodes = np.unique(pairs)
        assert np.array_equal(chunks[0].node_ids, nodes)
        loopless = np.sort(pairs[pairs[:, 0] != pairs[:, 1]], axis=1)
        assert np.array_equal(nodes[chunks[0].graphs.edges], np.unique(loopless, axis=0))


@pytest.mark.parametrize(
    ("kind", "names"),
    [
        (pa.int32(), [3, 3, 1]),
        (pa.uint64(), [2**64 - 1, 2**64 - 1, 1]),
        (pa.string(), ["b", "b", "a"]),
        (pa.large_string(), ["b", "b", "a"]),
    ],
)
def test_parquet_keeps_the_type_of_its_graphs(tmp_path, kind, names):
    table = pa.table({"graph": pa.array(names, kind), "target": [2, 3, 1], "x": [0.5] * 3, "source": [1, 1, 0]})
    pq.write_table(table, tmp_path / "edges.parquet")
    (chunk,) = GraphFile(tmp_path / "edges.parquet")
    assert chunk.ids.equals(pa.array([names[0], names[2]], kind))
    assert chunk.node_ids.tolist() == [1, 2, 3, 0, 1] and chunk.graphs.edges.tolist() == [[0, 1], [0, 2], [3, 4]]


def test_parquet_categories_are_text(tmp_path):
    graph = pa.array(["b", "b", "a"]).dictionary_encode()
    pq.write_table(pa.table({"graph": graph, "source": [0, 1, 0], "target": [1, 2, 1]}), tmp_path / "edges.parquet")
    assert [name for name, _, _ in read(tmp_path / "edges.parquet")[0]] == ["b", "a"]


def test_bad_parquet_rows_are_named_by_row(tmp_path, monkeypatch):
    monkeypatch.setattr(sources, "BATCH", 2)
    table = pa.table(
        {
            "graph": pa.array([0, None, 0, 1, 0, 1, 1]),
            "source": pa.array([1, 1, None, 1, 1, 2**64 - 1, 4], pa.uint64()),
            "target": pa.array([2, 2, 2, 3, 2, 2, -4]),
        }
    )
    pq.write_table(table, tmp_path / "edges.parquet")
    graphs, rejects = read(tmp_path / "edges.parquet")
    assert graphs == [(0, [1, 2], [[1, 2]]), (1, [1, 3], [[1, 3]])]
    assert rejects == [
        (2, "graph is empty"),
        (3, "source is empty"),
        (5, "graph 0 began on row 1 and ended; sort the file by graph"),
        (6, "source 18446744073709551615 does not fit in 64 bits"),
        (7, "target -4 is negative"),
    ]
    with pytest.raises(ValueError, match=r"edges\.parquet: row 2: graph is empty"):
        list(GraphFile(tmp_path / "edges.parquet", strict=True))


def test_parquet_columns_of_the_wrong_type_are_named(tmp_path):
    path = tmp_path / "edges.parquet"
    pq.write_table(pa.table({"graph": ["a"], "source": [1.0], "target": [2]}), path)
    with pytest.raises(ValueError, match=r"edges\.parquet: column source holds double; expected integers$"):
        GraphFile(path)
    pq.write_table(pa.table({"graph": [0.5], "source": [1], "target": [2]}), path)
    with pytest.raises(ValueError, match="column graph holds double; expected integers or text"):
        GraphFile(path)


def test_damaged_parquet_is_named(tmp_path):
    path = tmp_path / "edges.parquet"
    numbers = np.random.default_rng(0).integers(0, 10**9, 30_000)
    pq.write_table(pa.table({"graph": numbers // 10**6, "source": numbers, "target": numbers}), path)
    whole = path.read_bytes()
    for damaged in (whole[:1000], b"graph,source,target\n", whole[:4] + b"\xff" * 60 + whole[64:]):
        path.write_bytes(damaged)
        with pytest.raises(ValueError, match=r"edges\.parquet is damaged: "):
            list(GraphFile(path))
    pq.write_table(pa.table({"graph": numbers[:0], "source": numbers[:0], "target": numbers[:0]}), path)
    with pytest.raises(ValueError, match=r"edges\.parquet holds no graphs"):
        list(GraphFile(path))


def test_a_stray_carriage_return_makes_no_second_edge(tmp_path):
    (tmp_path / "in.csv").write_bytes(b"graph,source,target\n0,0,1\n0,1,2\r0,2,3\n0,3,4\n")
    found, rejects = read(tmp_path / "in.csv")
    assert found == [(0, [0, 1, 3, 4], [[0, 1], [3, 4]])]
    assert rejects == [(3, "has 5 cells, the header 3")]
