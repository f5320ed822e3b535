"""Rows keep their numbers, lines and cells wherever blocks begin and end, and whichever rows between them are bad."""

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from escgnn.readers import GraphFile, open_source, read_rows, rows, sources

SMILES = ["C" * (1 + number % 5) for number in range(23)]
BAD = (4, 9, 10, 20)  # rows of text with a cell too many, or SMILES that are none


@pytest.fixture
def small_blocks(monkeypatch):
    monkeypatch.setattr(rows, "ROWS", 4)
    monkeypatch.setattr(sources, "BATCH", 10)


def write_parquet(path, smiles):
    names = [f"m{number}" for number in range(len(smiles))]
    pq.write_table(pa.table({"name": names, "smiles": smiles}), path, row_group_size=7)


def everything(path):
    """Number, line, text and name of every row, and what is wrong with bad ones, by number."""
    found = []
    trouble = {}
    for block in read_rows(open_source(path), "smiles", ["name"]):
        numbers = range(block.first, block.first + len(block.lines))
        names = block.columns.column(0).to_pylist()
        assert block.columns.schema.names == ["name"]
        found += zip(numbers, block.lines, block.texts, names, strict=True)
        trouble |= {block.first + number: reason for number, reason in block.trouble.items()}
    return found, trouble


def test_parquet_keeps_every_row_at_the_borders_of_blocks(tmp_path, small_blocks):
    write_parquet(tmp_path / "in.parquet", SMILES)
    found, trouble = everything(tmp_path / "in.parquet")
    assert found == [(number, number + 1, text, f"m{number}") for number, text in enumerate(SMILES)]
    assert trouble == {}


def test_text_keeps_every_row_at_the_borders_of_blocks(tmp_path, small_blocks):
    lines = ["name,smiles"]
    for number, text in enumerate(SMILES):
        lines.append(f"m{number},{text}" + (",more" if number in BAD else ""))
    (tmp_path / "in.csv").write_text("\n\n".join(lines))  # a blank line after each
    found, trouble = everything(tmp_path / "in.csv")
    texts = ["" if number in BAD else text for number, text in enumerate(SMILES)]
    assert found == [(number, 2 * number + 3, text, f"m{number}") for number, text in enumerate(texts)]
    assert trouble == dict.fromkeys(BAD, "has 3 cells, the header 2")


@pytest.mark.parametrize("extension", ["csv", "smi", "parquet"])
def test_graphs_are_called_by_the_number_of_their_row(tmp_path, small_blocks, extension):
    path = tmp_path / f"in.{extension}"
    smiles = ["C1" if number in BAD else text for number, text in enumerate(SMILES)]
    if extension == "parquet":
        write_parquet(path, smiles)
    else:
        path.write_text("\n".join([*(["smiles"] if extension == "csv" else []), *smiles]))
    rejects = []
    ids = []
    sizes = []
    for chunk in GraphFile(path, on_reject=rejects.append, chunk_size=11):
        ids += chunk.ids.to_pylist()
        sizes += chunk.graphs.ptr[1:].tolist() if len(chunk.ids) == 1 else [g.num_nodes for g in chunk.graphs.split()]
    good = [number for number in range(len(SMILES)) if number not in BAD]
    assert ids == good
    assert sizes == [len(SMILES[number]) for number in good]
    header = int(extension == "csv")
    assert [(row.line, row.record) for row in rejects] == [(number + 1 + header, "C1") for number in BAD]


def test_a_short_row_lacks_its_last_cells(tmp_path):
    (tmp_path / "in.csv").write_text("smiles,name\nC\nCC,two\n")
    found, trouble = everything(tmp_path / "in.csv")
    assert found == [(0, 2, "", ""), (1, 3, "CC", "two")]
    assert [*trouble] == [0]


def test_blocks_of_long_lines_have_fewer_rows(tmp_path):
    (tmp_path / "in.smi").write_text(("C" * 10 + "\n") * 8)
    blocks = read_rows(open_source(tmp_path / "in.smi"), "smiles", letters=25)
    assert [len(block.texts) for block in blocks] == [3, 3, 2]
