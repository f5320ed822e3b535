"""From edge lists to files of adjacency lists."""

import gzip

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from escgnn import graphs
from escgnn.huge import EdgeList, build_graph, building, open_graph, write_graph
from tests.strategies import odd_shapes

MESSY = [(3, 1), (1, 3), (0, 0), (5, 0), (1, 3), (2, 5), (5, 2)]  # loops, repeats, both directions, an isolated node


def write_list(path, pairs, header="source,target"):
    path.write_text("\n".join([header, *(f"{u},{v}" for u, v in pairs)]) + "\n")
    return path


def check_graph(found, expected):
    assert_array_equal(found.csr.indptr, expected.csr.indptr)
    assert_array_equal(found.csr.indices, expected.csr.indices)
    fresh = graphs.LeanGraph(expected.csr)
    assert_array_equal(found.forward, fresh.forward)
    assert found.checksum == fresh.checksum


def test_a_messy_list(tmp_path):
    source = write_list(tmp_path / "edges.csv", MESSY)
    told = []
    summary = build_graph(source, tmp_path / "g.escg", progress=lambda *words: told.append(words))
    assert (summary.nodes, summary.edges, summary.loops, summary.repeats, summary.rejected) == (6, 3, 1, 3, 0)
    assert summary.rejects is None and summary.output == tmp_path / "g.escg"
    check_graph(open_graph(tmp_path / "g.escg", check=True), graphs.from_edges([(1, 3), (0, 5), (2, 5)], 6))
    assert told[0] == (source.stat().st_size, source.stat().st_size, "")
    assert told[-1][2] == "sorting the lists of node 0 of 6"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["edges.csv", "g.escg"]


@given(st.integers(1, 30), st.data())
def test_any_list_in_any_memory(tmp_path_factory, n, data):
    node = st.integers(0, n - 1)
    pairs = data.draw(st.lists(st.tuples(node, node), min_size=1, max_size=80))
    folder = tmp_path_factory.mktemp("lists")
    source = write_list(folder / "edges.csv", pairs)
    summary = build_graph(
        source, folder / "g.escg", num_nodes=n, memory=data.draw(st.sampled_from([1, 16, 100, 1 << 20]))
    )
    expected = graphs.from_edges([pair for pair in pairs if pair[0] != pair[1]], n)
    check_graph(open_graph(folder / "g.escg"), expected)
    assert summary.edges == expected.num_edges
    assert summary.loops == sum(u == v for u, v in pairs)
    assert summary.edges + summary.loops + summary.repeats == len(pairs)


def test_more_pairs_than_are_looked_at_at_a_time(tmp_path, monkeypatch):
    monkeypatch.setattr(building, "SCANNED", 7)
    graph = graphs.barabasi_albert(200, 3, seed=2)
    order = np.random.default_rng(0).permutation(graph.num_edges)
    source = write_list(tmp_path / "edges.csv", graph.edges[order].tolist())
    build_graph(source, tmp_path / "g.escg", memory=400)
    check_graph(open_graph(tmp_path / "g.escg"), graph)


@pytest.mark.parametrize("name", [name for name in odd_shapes() if odd_shapes()[name].num_edges])
def test_odd_shapes(tmp_path, name):
    graph = odd_shapes()[name]
    source = write_list(tmp_path / "edges.csv", graph.edge_index.T.tolist())
    build_graph(source, tmp_path / "built.escg", num_nodes=graph.num_nodes, memory=64)
    check_graph(open_graph(tmp_path / "built.escg"), graph)
    write_graph(graph, tmp_path / "written.escg")
    assert (tmp_path / "built.escg").read_bytes() == (tmp_path / "written.escg").read_bytes()


@pytest.mark.parametrize("graph", [graphs.empty(0), graphs.empty(4), graphs.petersen()], ids=str)
def test_a_graph_in_memory_is_written_and_opened(tmp_path, graph):
    write_graph(graph, tmp_path / "g.escg")
    check_graph(open_graph(tmp_path / "g.escg", check=True), graph)


def test_all_kinds_of_files_give_the_same_bytes(tmp_path):
    graph = graphs.erdos_renyi(50, 0.2, seed=1)
    pairs = np.random.default_rng(0).permutation(graph.edges)
    text = "".join(f"{u},x,{v}\n" for u, v in pairs.tolist())
    (tmp_path / "a.csv").write_text(f"Source,weight,TARGET\n{text}")
    (tmp_path / "a.tsv").write_text(f"source\tweight\ttarget\r\n{text}".replace(",", "\t").replace("\n", "\r\n"))
    (tmp_path / "a.csv.gz").write_bytes(gzip.compress(f"source,weight,target\n{text}".encode()))
    quoted = "".join(f'"{u}","{v}"\n\n' for u, v in pairs.tolist())
    (tmp_path / "b.csv").write_text(f"source,target\n{quoted}")
    for kind, name in ((pa.int64(), "a"), (pa.uint16(), "b")):
        columns = {"target": pa.array(pairs[:, 1], kind), "source": pa.array(pairs[:, 0], kind).dictionary_encode()}
        pq.write_table(pa.table(columns), tmp_path / f"{name}.parquet", row_group_size=40)
    outputs = set()
    for source in [*tmp_path.iterdir()]:
        assert build_graph(source, tmp_path / "g.escg").rejected == 0
        outputs.add((tmp_path / "g.escg").read_bytes())
    write_graph(graph, tmp_path / "g.escg")
    assert outputs == {(tmp_path / "g.escg").read_bytes()}


def test_other_columns(tmp_path):
    source = write_list(tmp_path / "edges.csv", [(0, 1)], "from,to")
    assert build_graph(source, tmp_path / "g.escg", columns=("from", "to")).edges == 1
    with pytest.raises(ValueError, match=r"has no column 'source'.*an edge list begins with"):
        build_graph(source, tmp_path / "g.escg")


BAD = {
    "1": "has 1 cells, the header 2",
    "1,2,3": "has 3 cells, the header 2",
    "1,": "target is empty",
    "a,1": "source 'a' is not an integer",
    "0x3,1": "source '0x3' is not an integer",
    "1.5,1": "source '1.5' is not an integer",
    "1,-2": "target -2; expected a node from 0 to 9",
    "10,1": "source 10; expected a node from 0 to 9",
    "1,99999999999999999999": "target 99999999999999999999; expected a node from 0 to 9",
}


@pytest.mark.parametrize("row", BAD)
def test_a_bad_row_costs_itself_only(tmp_path, row):
    source = tmp_path / "edges.csv"
    source.write_text(f"source,target\n0,1\n{row}\n1,2\n")
    summary = build_graph(source, tmp_path / "g.escg", num_nodes=10)
    assert (summary.edges, summary.rejected) == (2, 1)
    assert summary.rejects.read_text().splitlines()[1].startswith("3,")
    assert BAD[row] in summary.rejects.read_text()
    with pytest.raises(ValueError, match=r"edges\.csv: line 3: "):
        build_graph(source, tmp_path / "other.escg", num_nodes=10, strict=True)
    assert not (tmp_path / "other.escg").exists()


def test_bad_rows_of_parquet(tmp_path):
    table = pa.table({"source": pa.array([0, None, 2, 3]), "target": pa.array([1, 1, -5, 4])})
    pq.write_table(table, tmp_path / "edges.parquet")
    summary = build_graph(tmp_path / "edges.parquet", tmp_path / "g.escg")
    assert (summary.edges, summary.nodes, summary.rejected) == (2, 5, 2)
    lines = summary.rejects.read_text().splitlines()
    assert lines[1] == '2,",1",source is empty'
    assert lines[2].startswith('3,"2,-5",target -5; expected a node from 0 to')


def test_a_list_of_good_rows_removes_the_list_of_bad_ones(tmp_path):
    build_graph(write_list(tmp_path / "edges.csv", [(0, 1), (0, "a")]), tmp_path / "g.escg")
    assert (tmp_path / "g.rejected.csv").exists()
    build_graph(write_list(tmp_path / "edges.csv", [(0, 1)]), tmp_path / "g.escg")
    assert not (tmp_path / "g.rejected.csv").exists()


def test_what_is_no_edge_list_is_refused(tmp_path):
    (tmp_path / "a.g6").write_text("Cl\n")
    with pytest.raises(ValueError, match=r"a\.g6: the edges of one graph are read from \.csv, \.tsv, \.parquet"):
        build_graph(tmp_path / "a.g6", tmp_path / "g.escg")
    for pairs, message in (
        ([], "holds no edges; 0 rows are bad"),
        ([("a", "b")] * 3, "holds no edges; 3 rows are bad"),
    ):
        with pytest.raises(ValueError, match=message):
            build_graph(write_list(tmp_path / "edges.csv", pairs), tmp_path / "g.escg")
    with pytest.raises(ValueError, match="node ids run up to 100,000,000, but there are 2 edges; number the nodes"):
        build_graph(write_list(tmp_path / "edges.csv", [(0, 10**8), (0, 1)]), tmp_path / "g.escg")
    pq.write_table(pa.table({"source": ["a"], "target": ["b"]}), tmp_path / "text.parquet")
    with pytest.raises(ValueError, match="column source holds string; expected integers"):
        build_graph(tmp_path / "text.parquet", tmp_path / "g.escg")
    with pytest.raises(ValueError, match="would replace the input"):
        build_graph(tmp_path / "edges.csv", tmp_path / "edges.csv")
    with pytest.raises(ValueError, match=r"g\.escg: the folder .*nowhere does not exist"):
        build_graph(tmp_path / "edges.csv", tmp_path / "nowhere" / "g.escg")
    assert not (tmp_path / "g.escg").exists()


def test_whole_or_not_at_all(tmp_path, monkeypatch):
    source = write_list(tmp_path / "edges.csv", [(0, 1)])
    build_graph(source, tmp_path / "g.escg")
    before = (tmp_path / "g.escg").read_bytes()

    def stop(*arguments):
        raise KeyboardInterrupt

    monkeypatch.setattr(building, "sort_lists", stop)
    write_list(source, [(0, 1), (1, 2)])
    with pytest.raises(KeyboardInterrupt):
        build_graph(source, tmp_path / "g.escg")
    assert (tmp_path / "g.escg").read_bytes() == before
    assert sorted(path.name for path in tmp_path.iterdir()) == ["edges.csv", "g.escg"]


def test_memory_does_not_grow_with_a_parquet_file(tmp_path):
    rng = np.random.default_rng(0)
    with pq.ParquetWriter(tmp_path / "edges.parquet", pa.schema({"source": pa.int64(), "target": pa.int64()})) as file:
        for _ in range(16):
            file.write(pa.table({name: rng.integers(2**31 - 1, size=50_000) for name in ("source", "target")}))
    edges = EdgeList(tmp_path / "edges.parquet")
    before = pa.total_allocated_bytes()
    held = [pa.total_allocated_bytes() - before for _ in edges]
    assert max(held) < edges.size / 3


def test_an_edge_list_is_read_again(tmp_path):
    edges = EdgeList(write_list(tmp_path / "edges.csv", [(0, 1), ("a", 1), (2, 3)]))
    for _ in range(2):
        assert [pairs.tolist() for pairs in edges] == [[[0, 1], [2, 3]]]
        assert edges.rejected == 1
        assert edges.bytes_read == edges.size
