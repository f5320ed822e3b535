"""Every graph of a user's table gets the target of its own row, whatever is wrong with the rows around it."""

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from escgnn import datasets
from escgnn.datasets import tables
from escgnn.readers import rows

pytest.importorskip("rdkit")
COUNT = 23
BAD_LINES = (3, 9)  # a cell too many
BAD_SMILES = (5, 12)
UNKNOWN = (7, 13)  # no target


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch, tmp_path):
    monkeypatch.setattr(rows, "ROWS", 4)
    monkeypatch.setenv("ESCGNN_CACHE", str(tmp_path / "cache"))


def lines(skip=()):
    """Row i is a chain of i + 1 atoms, and its target says so."""
    for number in range(COUNT):
        smiles = "C1" if number in BAD_SMILES else "C" * (number + 1)
        target = "" if number in UNKNOWN else str(number + 1)
        extra = ",more" if number in BAD_LINES and number not in skip else ""
        yield f"{smiles},{target},{'test' if number % 2 else 'train'}{extra}"


def check(bundle, left_out):
    kept = [number + 1 for number in range(COUNT) if number not in left_out]
    assert bundle.graphs.num_nodes.tolist() == kept
    assert bundle.graphs.column("y")[:, 0].tolist() == kept
    return kept


def test_bad_rows_in_the_middle_shift_nothing(tmp_path):
    (tmp_path / "mine.csv").write_text("\n".join(["smiles,size,part", *lines()]))
    bundle = datasets.load(tmp_path / "mine.csv", targets=["size"], split="column:part")
    kept = check(bundle, {*BAD_LINES, *BAD_SMILES, *UNKNOWN})
    assert [row.line for row in bundle.rejected] == [
        number + 2 for number in sorted({*BAD_LINES, *BAD_SMILES, *UNKNOWN})
    ]
    assert bundle.split.train.tolist() == [place for place, size in enumerate(kept) if size % 2]
    assert bundle.split.test.tolist() == [place for place, size in enumerate(kept) if not size % 2]


def test_bad_rows_of_parquet_shift_nothing(tmp_path):
    cells = [line.split(",") for line in lines(skip=BAD_LINES)]
    columns = dict(zip(("smiles", "size", "part"), map(list, zip(*cells, strict=True)), strict=True))
    pq.write_table(pa.table(columns), tmp_path / "mine.parquet", row_group_size=5)
    bundle = datasets.load(tmp_path / "mine.parquet", targets=["size"])
    check(bundle, {*BAD_SMILES, *UNKNOWN})
    assert [row.line for row in bundle.rejected] == [number + 1 for number in sorted({*BAD_SMILES, *UNKNOWN})]


def test_bad_rows_of_labels_shift_nothing(tmp_path):
    """Labels in another order than the graphs, with bad lines between them; a message names the right line."""
    smiles = ["C1" if number in BAD_SMILES else "C" * (number + 1) for number in range(COUNT)]
    (tmp_path / "mine.smi").write_text("\n".join(smiles))
    labels = [f"{number},{number + 1}{',more' if number in BAD_LINES else ''}" for number in reversed(range(COUNT))]
    (tmp_path / "labels.csv").write_text("\n".join(["graph,size", *labels]))
    bundle = datasets.load(tmp_path / "mine.smi", targets=["size"], labels=tmp_path / "labels.csv")
    check(bundle, {*BAD_LINES, *BAD_SMILES})
    with pytest.raises(ValueError, match=r"labels\.csv: line 3: size is '22'; binary needs 0 and 1"):
        text = "\n".join(["graph,size", "22,1,more", *labels[1:]])
        (tmp_path / "labels.csv").write_text(text)
        datasets.load(tmp_path / "mine.smi", targets=["size"], labels=tmp_path / "labels.csv", kind="binary")


def test_scaffolds_are_those_of_the_rows_that_are_kept(tmp_path):
    table = ["smiles,y", "CC,", *["c1ccccc1C,1", "C1CCCCC1,2", "c1ccccc1,3", "C1CCCCC1O,4"]]
    (tmp_path / "mine.csv").write_text("\n".join(table))
    split = datasets.load(tmp_path / "mine.csv", targets=["y"], split="scaffold", fractions=(0.5, 0.0, 0.5)).split
    assert [subset.tolist() for subset in split] == [[0, 2], [], [1, 3]]


def test_graphs_that_the_file_of_the_split_does_not_name_are_left_out(tmp_path):
    (tmp_path / "mine.csv").write_text("smiles,y\nC,1\nCC,2\nCCC,3\n")
    (tmp_path / "split.csv").write_text("graph,split\n0,train\n2,test\n")
    split = datasets.load(tmp_path / "mine.csv", targets=["y"], split=f"file:{tmp_path / 'split.csv'}").split
    assert [subset.tolist() for subset in split] == [[0], [], [2]]


def test_names_of_single_rows_are_no_classes(tmp_path):
    (tmp_path / "mine.csv").write_text("smiles,name\nC,a\nCC,b\nCCC,b\n")
    with pytest.raises(ValueError, match="no graph can be used"):
        datasets.load(tmp_path / "mine.csv", targets=["name"])


def test_another_parser_does_not_read_what_the_first_cached(tmp_path, monkeypatch):
    (tmp_path / "mine.csv").write_text("smiles,y\nC,1\nCC,2\n")
    datasets.load(tmp_path / "mine.csv", targets=["y"])
    monkeypatch.setattr(tables, "PARSER", tables.PARSER + 1)
    datasets.load(tmp_path / "mine.csv", targets=["y"])
    assert len([*(tmp_path / "cache/parsed").glob("mine-*[!k]")]) == 2
