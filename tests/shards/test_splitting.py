"""A large file cut into small ones: together they are what it was."""

import gzip
from itertools import chain

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest

from escgnn.shards import split_file
from tests.readers.reader import read


def graphs_of(paths):
    """All graphs, in order, without the numbers that rows have in their own file."""
    return [graph[1:] for path in paths for graph in read(path)[0]]


def check(source, folder, rows, pieces):
    paths = split_file(source, folder, rows)
    assert len(paths) == pieces and [path.name for path in paths] == sorted(path.name for path in folder.glob("[!.]*"))
    assert graphs_of(paths) == graphs_of([source])
    assert sum(len(read(path)[1]) for path in paths) == len(read(source)[1])
    return paths


@pytest.mark.parametrize("rows", [1, 3, 7, 100])
def test_lines(tmp_path, rows):
    (tmp_path / "in.smi").write_text("\n".join(["C" * (1 + i % 4) for i in range(20)] + ["C(", "", "CC"]))
    check(tmp_path / "in.smi", tmp_path / "out", rows, -(-22 // rows))


def test_gzipped_lines_become_plain(tmp_path):
    with gzip.open(tmp_path / "in.smi.gz", "wt") as file:
        file.write("C\nCC\nCCC\n")
    assert [path.name for path in check(tmp_path / "in.smi.gz", tmp_path / "out", 2, 2)] == [
        "in-00000.smi",
        "in-00001.smi",
    ]


@pytest.mark.parametrize("rows", [1, 2, 3, 4])
def test_records_of_several_lines_stay_whole(tmp_path, rows):
    (tmp_path / "in.csv").write_text('smiles,note\nC,a\nCC,"two\nlines, ""quoted""\nthree"\nCCC,b\nO,"one"\nN,c\n')
    paths = check(tmp_path / "in.csv", tmp_path / "out", rows, -(-5 // rows))
    assert all(path.read_text().startswith("smiles,note\n") for path in paths)


def test_a_quote_that_nothing_closes(tmp_path):
    (tmp_path / "in.csv").write_text('smiles,note\nC,"open\n' + "CC,x\n" * 300)
    paths = split_file(tmp_path / "in.csv", tmp_path / "out", 50)
    assert len(paths) > 3 and len(graphs_of(paths)) == 300


@pytest.mark.parametrize("rows", [1, 2, 3, 5, 100])
@pytest.mark.parametrize("batch", [1, 2, 1 << 16])
@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_graphs_of_an_edge_list_stay_whole(tmp_path, monkeypatch, rows, batch, kind):
    monkeypatch.setattr("escgnn.shards.splitting.BATCH", batch)
    graph = [0, 0, 0, 7, 7, 2, 4, 4, 4, 4]
    table = pa.table({"graph": graph, "source": [*range(10)], "target": [*range(1, 11)]})
    source = tmp_path / f"in.{kind}"
    if kind == "csv":
        pa.csv.write_csv(table, source)
    else:
        pq.write_table(table, source)
    paths = split_file(source, tmp_path / "out", rows)
    assert graphs_of(paths) == graphs_of([source])
    names = [[name for name, _, _ in read(path)[0]] for path in paths]
    assert [*chain(*names)] == [0, 7, 2, 4], "none of them twice"
    assert len(paths) == {1: 4, 2: 3, 3: 3, 5: 2, 100: 1}[rows]


def test_parquet_keeps_its_columns(tmp_path):
    table = pa.table({"id": [*range(9)], "smiles": ["C" * (i + 1) for i in range(9)]})
    pq.write_table(table, tmp_path / "in.parquet", row_group_size=2)
    paths = check(tmp_path / "in.parquet", tmp_path / "out", 4, 3)
    assert pa.concat_tables([pq.read_table(path) for path in paths]).equals(table)


def test_a_folder_that_is_used_is_refused(tmp_path):
    (tmp_path / "in.smi").write_text("C\n")
    with pytest.raises(ValueError, match=r"is not empty; choose another folder"):
        split_file(tmp_path / "in.smi", tmp_path)
    with pytest.raises(ValueError, match=r"rows: 0; expected 1 or more"):
        split_file(tmp_path / "in.smi", tmp_path / "out", 0)
