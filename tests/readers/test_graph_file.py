import gzip
import tempfile
from pathlib import Path

import networkx as nx
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from escgnn.disk import Rejected
from escgnn.readers import GraphFile
from tests.readers.reader import read


@st.composite
def random_graphs(draw):
    """A few networkx graphs, empty ones and a large one (whose size takes four characters) among them."""
    sizes = draw(st.lists(st.sampled_from([0, 1, 2, 5, 12, 70]), min_size=1, max_size=8))
    seed = draw(st.integers(0, 999))
    return [nx.gnp_random_graph(n, draw(st.sampled_from([0, 0.2, 0.7])), seed=seed + i) for i, n in enumerate(sizes)]


def plain(graphs):
    return [(i, list(g), sorted([min(e), max(e)] for e in g.edges)) for i, g in enumerate(graphs)]


@given(random_graphs(), st.booleans(), st.sampled_from([nx.to_graph6_bytes, nx.to_sparse6_bytes]), st.integers(0, 99))
def test_graph6_and_sparse6_round_trip(graphs, header, encode, chunk_size):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "graphs.g6")
        path.write_bytes(b"".join(encode(graph, header=header) for graph in graphs))
        assert read(path, chunk_size=chunk_size) == (plain(graphs), [])


def test_every_chunk_size_gives_the_same_graphs(tmp_path):
    graphs = [nx.gnp_random_graph(n, 0.4, seed=n) for n in (3, 0, 7, 1, 5, 9, 2)]
    path = tmp_path / "graphs.g6"
    path.write_bytes(b"".join(nx.to_graph6_bytes(graph, header=False) for graph in graphs))
    sizes = [graph.order() + graph.size() for graph in graphs]
    for chunk_size in range(1, sum(sizes) + 2):
        assert read(path, chunk_size=chunk_size)[0] == plain(graphs)
        for chunk in list(GraphFile(path, chunk_size=chunk_size))[:-1]:
            last = sizes[chunk.ids[-1].as_py()]
            assert chunk_size <= chunk.graphs.num_nodes + chunk.graphs.num_edges < chunk_size + last


def test_bad_graph6_lines_are_named_and_counted(tmp_path):
    path = tmp_path / "graphs.s6"
    path.write_bytes(b"\xef\xbb\xbf>>graph6<<Bw\r\n\r\nB\n:An\n  \nC~\xff\n&Bw\nBw")
    rejects = []
    file = GraphFile(path, on_reject=rejects.append)
    assert [chunk.ids.to_pylist() for chunk in file] == [[0, 2, 5]]
    assert rejects[1] == Rejected(6, "C~\\xff", "not UTF-8 text; save the file as UTF-8")
    assert [(row.line, row.record) for row in rejects] == [(3, "B"), (6, "C~\\xff"), (7, "&Bw")]
    assert "need 1" in rejects[0].reason and "not supported" in rejects[2].reason
    assert file.rejected == 3


def test_a_header_may_have_its_own_line(tmp_path):
    path = tmp_path / "graphs.graph6"
    path.write_text(">>graph6<<\nBw\n>>sparse6<<:An\n")
    assert [name for name, _, _ in read(path)[0]] == [0, 1]


def test_a_line_that_claims_too_many_nodes_is_bad(tmp_path):
    path = tmp_path / "graphs.s6"
    path.write_text(":~~~~~~~~\nBw\n")
    graphs, rejects = read(path)
    assert len(graphs) == 1 and rejects[0][0] == 1 and "at most" in rejects[0][1]


def test_strict_stops_at_the_first_bad_row(tmp_path):
    path = tmp_path / "graphs.g6"
    path.write_text("Bw\nB\nC\n")
    with pytest.raises(ValueError, match=r"graphs\.g6: line 2: graph6: 0 characters"):
        list(GraphFile(path, strict=True))


def test_reading_again_starts_again(tmp_path):
    path = tmp_path / "graphs.g6"
    path.write_text("Bw\nB\n")
    file = GraphFile(path)
    assert file.bytes_read == 0
    for _ in range(2):
        assert sum(chunk.graphs.num_graphs for chunk in file) == 1
        assert file.rejected == 1


def test_progress_grows_with_the_chunks(tmp_path):
    path = tmp_path / "graphs.g6"
    path.write_bytes(nx.to_graph6_bytes(nx.empty_graph(500), header=False) * 50)  # a megabyte
    file = GraphFile(path, chunk_size=5000)
    seen = [file.bytes_read for _ in file]
    assert len(seen) == 5 and seen == sorted(seen) and seen[0] < seen[-1] == file.total_bytes


@given(st.binary(min_size=1), st.sampled_from(["graphs.g6", "edges.csv", "table.csv", "molecules.smi", "x.parquet"]))
def test_any_bytes_are_graphs_rejects_or_a_clear_error(content, name):
    header = {"edges.csv": b"graph,source,target\n", "table.csv": b"id,smiles\n"}.get(name, b"")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, name)
        path.write_bytes(header + content)
        try:
            graphs, rejects = read(path)
            assert graphs or rejects
        except ValueError as error:
            clear = ("holds no graphs", "is damaged", "is UTF-16", "carriage returns only")
            assert any(text in str(error) for text in clear)


@pytest.mark.parametrize("name", ["graphs.g6", "edges.csv", "graphs.smi", "edges.parquet"])
def test_empty_files_hold_no_graphs(tmp_path, name):
    (tmp_path / name).touch()
    with pytest.raises(ValueError, match=rf"{name} is empty: it holds no graphs"):
        GraphFile(tmp_path / name)


@pytest.mark.parametrize("text", ["\n \n", ">>graph6<<\n"])
def test_blank_files_hold_no_graphs(tmp_path, text):
    (tmp_path / "graphs.g6").write_text(text)
    with pytest.raises(ValueError, match=r"graphs\.g6 holds no graphs"):
        list(GraphFile(tmp_path / "graphs.g6"))
    (tmp_path / "edges.csv.gz").write_bytes(gzip.compress(b""))
    with pytest.raises(ValueError, match=r"edges\.csv\.gz holds no graphs"):
        GraphFile(tmp_path / "edges.csv.gz")


def test_missing_files_are_named(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"nowhere\.g6"):
        GraphFile(tmp_path / "nowhere.g6")


@pytest.mark.parametrize("name", ["graphs.json", "graphs", "edges.parquet.gz", "archive.gz"])
def test_unknown_extensions_are_named(tmp_path, name):
    (tmp_path / name).write_text("Bw\n")
    with pytest.raises(ValueError, match=rf"{name}: .* expected \.g6, .*\.parquet"):
        GraphFile(tmp_path / name)


def test_gzip(tmp_path):
    path = tmp_path / "graphs.G6.GZ"
    path.write_bytes(gzip.compress(b"Bw\n") + gzip.compress(b"B\nC~\n"))
    graphs, rejects = read(path)
    assert [name for name, _, _ in graphs] == [0, 2] and [line for line, _ in rejects] == [2]


@pytest.mark.parametrize("name", ["graphs.g6.gz", "edges.csv.gz"])
def test_truncated_gzip_is_named(tmp_path, name):
    rows = ["C~"] * 999 if "g6" in name else ["graph,source,target", *(f"0,{i},{i * i}" for i in range(999))]
    whole = gzip.compress("\n".join(rows).encode())
    half = len(whole) // 2
    for damaged in (whole[:-4], whole[:half], whole[:half] + b"\0\0\0" + whole[half + 3 :], b"Bw\n"):
        (tmp_path / name).write_bytes(damaged)
        with pytest.raises(ValueError, match=rf"{name} is damaged: "):
            list(GraphFile(tmp_path / name))


@pytest.mark.parametrize("name", ["molecules.csv", "molecules.smi", "molecules.csv.gz"])
def test_text_of_other_systems_is_named(tmp_path, name):
    pack = gzip.compress if name.endswith("gz") else bytes
    for text, message in [
        ("smiles,y\nC,1\n".encode("utf-16"), "is UTF-16; save it as UTF-8"),
        ("\ufeffsmiles,y\n".encode("utf-16-be"), "is UTF-16; save it as UTF-8"),
        (b"smiles,y\rC,1\rCC,2\r", "ends its lines with carriage returns only; save it with line feeds"),
    ]:
        (tmp_path / name).write_bytes(pack(text))
        with pytest.raises(ValueError, match=rf"{name} {message}"):
            GraphFile(tmp_path / name)


@pytest.mark.parametrize(("name", "mark"), [("m.csv", ";"), ("m.csv", "\t"), ("m.tsv", ","), ("m.tsv", ";")])
def test_other_delimiters_are_read(tmp_path, name, mark):
    (tmp_path / name).write_text(f"smiles{mark}y\nCC{mark}1\nCCC{mark}2\n")
    file = GraphFile(tmp_path / name)
    assert [row for rows in file.rows(["y"]) for row in rows.columns.column(0).to_pylist()] == ["1", "2"]
    (tmp_path / name).write_text(f"graph{mark}source{mark}target\n0{mark}1{mark}2\n")
    (chunk,) = GraphFile(tmp_path / name)
    assert chunk.node_ids.tolist() == [1, 2]


@pytest.mark.parametrize(("name", "mark", "other"), [("m.csv", ",", ";"), ("m.tsv", "\t", ","), ("m.csv", ",", "\t")])
def test_other_marks_in_names_of_columns_are_letters(tmp_path, name, mark, other):
    (tmp_path / name).write_text(f"smiles{mark}y{other}z\nCC{mark}1\n")
    assert [rows.columns.column_names for rows in GraphFile(tmp_path / name).rows([f"y{other}z"])] == [[f"y{other}z"]]


def test_bars_are_named(tmp_path):
    (tmp_path / "m.csv").write_text("smiles|y\n")
    with pytest.raises(ValueError, match=r"m\.csv is separated by '\|'; save it with commas as \.csv, or with tabs as"):
        GraphFile(tmp_path / "m.csv")


@pytest.mark.parametrize(
    ("columns", "found"),
    [
        ("id,canonical_smiles", "canonical_smiles"),
        ("id,My SMILES here", "My SMILES here"),
        ("isomeric_smiles,other smiles,Canonical SMILES", "Canonical SMILES"),
    ],
)
def test_usual_names_of_the_smiles_column(tmp_path, columns, found):
    (tmp_path / "m.csv").write_text(f"{columns}\n" + ",".join("C" for _ in columns.split(",")) + "\n")
    with pytest.warns(UserWarning, match=f"m.csv: the SMILES are taken from the column '{found}'"):
        file = GraphFile(tmp_path / "m.csv")
    assert [*file]


def test_two_columns_that_may_be_it_are_told(tmp_path):
    (tmp_path / "m.csv").write_text("smiles a,smiles b\nC,C\n")
    with pytest.raises(ValueError, match="has no column 'smiles'"):
        GraphFile(tmp_path / "m.csv")


def test_only_columns_that_are_used_must_be_utf8(tmp_path):
    (tmp_path / "m.csv").write_bytes(b"smiles,name,y\nCC,M\xfcller,1\nC\xfc,x,2\nCCC,x,\xfc\n")
    file = GraphFile(tmp_path / "m.csv")
    (rows,) = file.rows(["y"])
    assert sorted(rows.trouble) == [1, 2]
    (rows,) = file.rows(None)
    assert rows.columns.column("name").to_pylist() == ["M\u00fcller", "x", "x"] and [*rows.trouble] == [1]
    (tmp_path / "e.csv").write_bytes(b"graph,source,target,name\n0,1,2,\xfc\n\xfc,1,2,x\n")
    rejects = []
    (chunk,) = GraphFile(tmp_path / "e.csv", on_reject=rejects.append)
    assert chunk.ids.to_pylist() == [0] and [row.line for row in rejects] == [3]


@pytest.mark.parametrize("kind", [pa.string(), pa.large_string(), pa.string_view()])
def test_text_of_parquet_that_is_not_utf8_is_a_bad_row(tmp_path, kind):
    binary = {pa.string(): pa.binary(), pa.large_string(): pa.large_binary(), pa.string_view(): pa.binary_view()}[kind]

    def text(*cells):
        return pa.array(cells, binary).view(kind)

    pq.write_table(
        pa.table({"smiles": text(b"CC", b"C\xff", None), "note": text(b"\xfc", b"a", b"b")}), tmp_path / "m.parquet"
    )
    rejects = []
    (chunk,) = GraphFile(tmp_path / "m.parquet", on_reject=rejects.append)
    assert chunk.ids.to_pylist() == [0]
    assert [(row.line, row.reason[:9]) for row in rejects] == [(2, "not UTF-8"), (3, "the SMILE")]
    (rows,) = GraphFile(tmp_path / "m.parquet").rows(None)
    assert rows.columns.column("note").to_pylist() == ["\\xfc", "a", "b"]


def test_an_edge_list_may_name_graphs_by_views(tmp_path):
    table = pa.table({"graph": pa.array(["a", "b"], pa.string_view()), "source": [1, 2], "target": [2, 3]})
    pq.write_table(table, tmp_path / "m.parquet")
    (chunk,) = GraphFile(tmp_path / "m.parquet")
    assert chunk.ids.to_pylist() == ["a", "b"] and chunk.lines.tolist() == [1, 2]


def test_graphs_know_their_lines_and_can_be_taken_out(tmp_path):
    (tmp_path / "m.smi").write_text("CC\n\nbad(\nCCC\nC1CC1C\n")
    (chunk,) = GraphFile(tmp_path / "m.smi")
    assert chunk.lines.tolist() == [1, 4, 5] and chunk.ids.to_pylist() == [0, 2, 3]
    for start, stop in ((0, 1), (1, 3), (0, 3), (2, 2)):
        part = chunk.part(start, stop)
        assert part.ids.to_pylist() == chunk.ids.to_pylist()[start:stop]
        assert part.lines.tolist() == chunk.lines.tolist()[start:stop]
        whole = [member.edges.tolist() for member in chunk.graphs.split()[start:stop]]
        assert [member.edges.tolist() for member in part.graphs.split()] == whole
        assert part.node_ids.size == part.graphs.num_nodes
