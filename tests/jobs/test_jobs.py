import json
import tracemalloc
from functools import partial

import networkx as nx
import numpy as np
import pyarrow.csv
import pyarrow.parquet as pq
import pytest

from escgnn import graphs
from escgnn.counting import TARGETS, count, count_all
from escgnn.disk import Rejected
from escgnn.encoding import RootedEncoding
from escgnn.jobs import SHOWN, Tally, count_file, encode_file, stream
from escgnn.readers import GraphFile


def write_graph6(path, members):
    path.write_bytes(b"".join(nx.to_graph6_bytes(g.to_networkx(), header=False) for g in members))


def named(row, bins):
    return {tuple(bins[b]): count for b, count in zip(row["bins"], row["counts"], strict=True)}


def test_every_edge_of_every_graph(tmp_path):
    members = [graphs.cycle(4), graphs.empty(3), graphs.petersen(), graphs.star(5)]
    write_graph6(tmp_path / "in.g6", members)
    encoding = RootedEncoding(2, nodes=True)
    seen = []
    summary = encode_file(tmp_path / "in.g6", tmp_path / "out.parquet", encoding, progress=lambda *s: seen.append(s))
    table = pq.read_table(tmp_path / "out.parquet")
    bins = json.loads(table.schema.metadata[b"bins"])
    assert eval(table.schema.metadata[b"encoding"].decode()).bins == encoding.bins == tuple(map(tuple, bins))
    assert seen[-1][0] == seen[-1][1] == (tmp_path / "in.g6").stat().st_size
    assert (summary.graphs, summary.edges, summary.rejected, summary.rejects) == (4, 24, 0, None)
    rows = {(row["graph"], row["source"], row["target"]): named(row, bins) for row in table.to_pylist()}
    assert len(rows) == summary.rows == table.num_rows == 2 * 24 + 4 + 3 + 10 + 6
    for (graph, u, v), row in rows.items():
        assert row == encoding.row(members[graph], u, v)


def test_graphs_and_nodes_keep_the_names_the_file_gives_them(tmp_path):
    (tmp_path / "in.csv").write_text("graph,source,target\nb,70,30\nb,30,10\na,5,6\n")
    encode_file(tmp_path / "in.csv", tmp_path / "out.parquet", RootedEncoding(1))
    table = pq.read_table(tmp_path / "out.parquet", columns=["graph", "source", "target"])
    assert [tuple(row.values()) for row in table.to_pylist()] == [
        ("b", 10, 30),
        ("b", 30, 10),
        ("b", 30, 70),
        ("b", 70, 30),
        ("a", 5, 6),
        ("a", 6, 5),
    ]


def test_bad_rows_are_listed_and_the_rest_is_done(tmp_path):
    (tmp_path / "in.g6").write_text("Bw\nnonsense\x01\nA_\n")
    summary = encode_file(tmp_path / "in.g6", tmp_path / "out.parquet", RootedEncoding(1))
    assert summary.rejected == 1
    assert summary.rejects == tmp_path / "out.rejected.csv"
    assert summary.rejects.read_text().splitlines()[1].startswith("2,")
    assert {*pq.read_table(tmp_path / "out.parquet")["graph"].to_pylist()} == {0, 2}


def test_nothing_is_written_by_halves(tmp_path):
    (tmp_path / "in.g6").write_text("Bw\nnonsense\x01\n")
    (tmp_path / "out.parquet").write_text("what was there")
    with pytest.raises(ValueError, match=r"in\.g6: line 2: graph6"):
        encode_file(tmp_path / "in.g6", tmp_path / "out.parquet", RootedEncoding(1), strict=True)
    assert (tmp_path / "out.parquet").read_text() == "what was there"
    assert {path.name for path in tmp_path.iterdir()} == {"in.g6", "out.parquet"}


def test_a_file_of_bad_rows_gives_an_empty_table(tmp_path):
    (tmp_path / "in.g6").write_text("\x01\n\x02\n")
    summary = encode_file(tmp_path / "in.g6", tmp_path / "out.parquet", RootedEncoding(1))
    assert (summary.graphs, summary.rows, summary.rejected) == (0, 0, 2)
    assert pq.read_table(tmp_path / "out.parquet").num_rows == 0


def test_the_input_is_kept(tmp_path):
    content = "smiles\nC1CC1\n"
    for name in ("in.csv", "in.rejected.csv", "in.parquet"):
        (tmp_path / name).write_text(content)
    for source in ("in.csv", "in.rejected.csv"):
        with pytest.raises(ValueError, match=rf"in\.csv: .* would replace the input .*{source}; choose another output"):
            count_file(tmp_path / source, tmp_path / "in.csv", "3-cycle")
    for source in ("in.rejected.csv", "in.parquet"):
        with pytest.raises(
            ValueError, match=rf"in\.parquet: .* would replace the input .*{source}; choose another output"
        ):
            encode_file(tmp_path / source, tmp_path / "in.parquet", RootedEncoding(1))
    assert {path.read_text() for path in tmp_path.iterdir()} == {content}


def test_only_parquet_holds_lists(tmp_path):
    (tmp_path / "in.g6").write_text("Bw\n")
    with pytest.raises(ValueError, match=r"out\.csv: encodings are lists"):
        encode_file(tmp_path / "in.g6", tmp_path / "out.csv", RootedEncoding(1))


def test_memory_does_not_grow_with_the_file(tmp_path):
    """Four times the graphs, the same peak: a chunk and a block, not the file."""
    line = nx.to_graph6_bytes(graphs.molecule_like(1).to_networkx(), header=False)
    peaks = []
    for copies in (6_000, 24_000):
        (tmp_path / "in.g6").write_bytes(line * copies)
        tracemalloc.start()
        encode_file(tmp_path / "in.g6", tmp_path / "out.parquet", RootedEncoding(1, ("joint",)))
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] < 1.5 * peaks[0]
    assert np.isfinite(peaks).all()


@pytest.mark.parametrize("extension", ["csv", "parquet"])
@pytest.mark.parametrize("per", ["graph", "node", "edge"])
def test_counts(tmp_path, per, extension):
    members = [graphs.petersen(), graphs.empty(2), graphs.complete(5), graphs.empty(0)]
    write_graph6(tmp_path / "in.g6", members)
    output = tmp_path / f"out.{extension}"
    summary = count_file(tmp_path / "in.g6", output, "5-cycle", per=per)
    table = pq.read_table(output) if extension == "parquet" else pyarrow.csv.read_csv(output)
    union = graphs.disjoint_union(members)
    expected = count(union, "5-cycle", per=per)
    names = {"graph": [], "node": ["node"], "edge": ["source", "target"]}[per]
    assert table.column_names == ["graph", *names, "count"]
    if per == "edge":
        once = union.edge_index[0] < union.edge_index[1]
        assert table["target"].to_pylist() == (union.edge_index[1, once] - np.repeat([0, 12], [15, 10])).tolist()
        assert table["graph"].to_pylist() == [0] * 15 + [2] * 10
        expected = expected[once]
    assert table["count"].to_pylist() == expected.tolist()
    assert summary.totals == {"count": expected.sum()}


def test_all_nine_targets(tmp_path):
    members = graphs.counting_random(5).split()
    write_graph6(tmp_path / "in.g6", members)
    count_file(tmp_path / "in.g6", tmp_path / "out.parquet")
    table = pq.read_table(tmp_path / "out.parquet")
    assert table.column_names == ["graph", "node", *TARGETS]
    numbers = np.stack([table[name].to_numpy() for name in TARGETS], axis=1)
    assert (numbers == count_all(graphs.disjoint_union(members))).all()


def test_a_pattern_that_makes_no_sense_is_refused_before_reading(tmp_path):
    with pytest.raises(ValueError, match="pattern"):
        count_file(tmp_path / "missing.g6", tmp_path / "out.csv", "9-cycle")


def test_the_first_problems_of_all_chunks_are_kept():
    """Ten of them, however many chunks have some, and in the order of the file."""
    rows = [Rejected(line, "x", "bad") for line in range(1, 28)]
    total = Tally()
    for start in range(0, 27, 4):
        total += Tally(graphs=1, edges=2, rows=4, problems=tuple(rows[start : start + 4]))
    assert total == Tally(graphs=7, edges=14, rows=28, problems=tuple(rows[:SHOWN]))
    assert SHOWN == 10


def test_totals_are_over_all_chunks(tmp_path, monkeypatch):
    lines = [f"{i},{u},{v}" for i, n in enumerate((3, 4, 5, 2, 4)) for u, v in graphs.complete(n).edges]
    (tmp_path / "in.csv").write_text("\n".join(["graph,source,target", *lines]))
    monkeypatch.setattr(stream, "GraphFile", partial(GraphFile, chunk_size=1))  # a chunk for every graph
    summary = count_file(tmp_path / "in.csv", tmp_path / "out.parquet", "3-cycle")
    assert pq.read_table(tmp_path / "out.parquet").to_pydict() == {"graph": [0, 1, 2, 3, 4], "count": [1, 4, 10, 0, 4]}
    assert (summary.graphs, summary.edges, summary.rows, summary.totals) == (5, 26, 5, {"count": 19})
    summary = encode_file(tmp_path / "in.csv", tmp_path / "out.parquet", RootedEncoding(1))
    assert (summary.graphs, summary.edges, summary.rows) == (5, 26, 52)
