import csv
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest

from escgnn.disk import (
    DRAFT,
    Rejected,
    RejectLog,
    TableWriter,
    atomic,
    check_output,
    damage_named,
    is_unused,
    locked,
)
from escgnn.readers import GraphFile

SCHEMA = pa.schema({"graph": pa.int64(), "name": pa.string()})
BATCH = pa.record_batch({"graph": [1, 2], "name": ["a", 'b, "c"']}, SCHEMA)


def names(folder):
    return sorted(path.name for path in folder.iterdir())


@pytest.mark.parametrize("error", [RuntimeError, KeyboardInterrupt])
def test_atomic_is_all_or_nothing(tmp_path, error):
    path = tmp_path / "out.txt"
    with atomic(path) as draft:
        draft.write_text("old")
        assert draft.parent == tmp_path and not path.exists()
    assert path.read_text() == "old"
    with pytest.raises(error), atomic(path) as draft:
        draft.write_text("half")
        raise error
    assert path.read_text() == "old" and names(tmp_path) == ["out.txt"]


def test_drafts_of_the_dead_are_swept(tmp_path):
    """A kill leaves a draft; the next file written in the folder removes it, but neither drafts of the living nor others."""
    code = (
        "import os, sys; from escgnn.disk import atomic\n"
        "with atomic(sys.argv[1]) as draft: draft.write_text('half'); os._exit(1)"
    )
    subprocess.run([sys.executable, "-c", code, tmp_path / "killed.txt"], check=False)
    (left,) = tmp_path.iterdir()
    assert left.name.endswith(DRAFT)
    others = [tmp_path / name for name in (".mine.draft", f".a.00000000-1-2-12345678{DRAFT}", "b.1-2-12345678.draft")]
    for path in others:
        path.touch()
    with atomic(tmp_path / "a.txt") as living:
        living.write_text("a")
        with atomic(tmp_path / "b.txt") as draft:
            draft.write_text("b")
    assert names(tmp_path) == sorted(["a.txt", "b.txt", *(path.name for path in others)])


def test_the_number_of_a_dead_process_may_be_used_again(tmp_path):
    with atomic(tmp_path / "a.txt") as draft:
        draft.write_text("a")
        began = draft.name.split("-")[-2]
    assert began
    draft.with_name(draft.name.replace(f"-{began}-", "-1-")).touch()
    with atomic(tmp_path / "b.txt") as draft:
        draft.write_text("b")
    assert names(tmp_path) == ["a.txt", "b.txt"]


def test_tabs(tmp_path):
    with TableWriter(tmp_path / "out.tsv", SCHEMA) as table:
        table.write(BATCH)
    assert (tmp_path / "out.tsv").read_text().splitlines()[:2] == ['"graph"\t"name"', '1\t"a"']


def test_atomic_keeps_links(tmp_path):
    (tmp_path / "real.txt").write_text("old")
    (tmp_path / "link.txt").symlink_to("real.txt")
    with atomic(tmp_path / "link.txt") as draft:
        draft.write_text("new")
    assert (tmp_path / "link.txt").is_symlink() and (tmp_path / "real.txt").read_text() == "new"


def test_atomic_names_what_is_wrong_with_the_target(tmp_path):
    with pytest.raises(ValueError, match=r"the folder .*nowhere does not exist"), atomic(tmp_path / "nowhere" / "out"):
        pass
    with pytest.raises(ValueError, match="is a folder"), atomic(tmp_path):
        pass
    with pytest.raises(ValueError, match="/dev/null is not a file"), atomic("/dev/null"):
        pass


@pytest.mark.parametrize("extension", [".parquet", ".csv", ".CSV"])
def test_tables_round_trip(tmp_path, extension):
    path = tmp_path / f"out{extension}"
    with TableWriter(path, SCHEMA, {"encoding": "hops=2"}) as table:
        table.write(BATCH)
        table.write(pa.Table.from_batches([BATCH]))
        assert not path.exists()
    back = pq.read_table(path) if extension == ".parquet" else pyarrow.csv.read_csv(path)
    assert back.equals(pa.Table.from_batches([BATCH, BATCH])) and names(tmp_path) == [path.name]
    if extension == ".parquet":
        assert back.schema.metadata == {b"encoding": b"hops=2"}
        assert pq.read_metadata(path).row_group(0).column(0).compression == "ZSTD"


@pytest.mark.parametrize("extension", [".parquet", ".csv"])
@pytest.mark.parametrize("error", [RuntimeError, KeyboardInterrupt])
def test_tables_are_never_half_written(tmp_path, extension, error):
    path = tmp_path / f"out{extension}"
    path.write_text("old")
    with pytest.raises(error), TableWriter(path, SCHEMA) as table:
        table.write(BATCH)
        raise error
    assert path.read_text() == "old" and names(tmp_path) == [path.name]


def test_rows_of_another_schema_leave_nothing(tmp_path):
    with pytest.raises(ValueError), TableWriter(tmp_path / "out.parquet", SCHEMA) as table:
        table.write(pa.record_batch({"other": [1]}))
    assert names(tmp_path) == []


def test_an_empty_table_has_its_columns(tmp_path):
    with TableWriter(tmp_path / "out.csv", SCHEMA):
        pass
    assert (tmp_path / "out.csv").read_text() == '"graph","name"\n'


def test_lists_do_not_fit_in_csv(tmp_path):
    schema = pa.schema({"graph": pa.int64(), "bins": pa.list_(pa.int64())})
    with pytest.raises(ValueError, match=r"out\.csv: CSV cannot hold the lists in column bins"):
        TableWriter(tmp_path / "out.csv", schema)
    with TableWriter(tmp_path / "out.parquet", schema) as table:
        table.write(pa.record_batch({"graph": [1], "bins": [[1, 2]]}, schema))


@pytest.mark.parametrize("name", ["out.json", "out"])
def test_unknown_extensions_are_refused(tmp_path, name):
    with pytest.raises(ValueError, match=rf"{name}: tables are written to \.parquet, \.csv or \.tsv"):
        TableWriter(tmp_path / name, SCHEMA)


def test_rejects_are_listed_beside_the_results(tmp_path):
    (tmp_path / "in.g6").write_bytes(b'Bw\nB,"\nBw\n\xff\n')
    with RejectLog(tmp_path / "out.v1.parquet") as log:
        assert [chunk.ids.to_pylist() for chunk in GraphFile(tmp_path / "in.g6", on_reject=log)] == [[0, 2]]
    with (tmp_path / "out.v1.rejected.csv").open(newline="", encoding="utf-8") as file:
        header, *rows = csv.reader(file)
    assert header == ["line", "record", "reason"]
    assert [row[:2] for row in rows] == [["2", 'B,"'], ["4", "\\xff"]]
    assert names(tmp_path) == ["in.g6", "out.v1.rejected.csv"]


def test_a_stale_list_goes_only_with_a_good_run(tmp_path):
    stale, old = tmp_path / "out.rejected.csv", "line,record,reason\n"
    stale.write_text(old)
    with pytest.raises(RuntimeError), RejectLog(tmp_path / "out.parquet") as log:
        log(Rejected(1, "x", "bad"))
        raise RuntimeError
    assert stale.read_text() == old and names(tmp_path) == [stale.name]
    with RejectLog(tmp_path / "out.parquet"):
        pass
    assert names(tmp_path) == []


def test_what_is_no_list_of_bad_rows_stays(tmp_path):
    other = tmp_path / "out.rejected.csv"
    other.write_text("smiles\nC\n")
    with RejectLog(tmp_path / "out.csv") as log:
        assert log.is_empty
    with (
        pytest.raises(ValueError, match=r"out\.rejected\.csv is not a list of bad rows"),
        RejectLog(tmp_path / "out.csv") as log,
    ):
        log(Rejected(1, "x", "bad"))
    assert other.read_text() == "smiles\nC\n" and names(tmp_path) == [other.name]


def test_the_input_is_not_replaced(tmp_path):
    (tmp_path / "in.csv").touch()
    (tmp_path / "in.rejected.csv").touch()
    (tmp_path / "link.csv").symlink_to("in.csv")
    check_output(tmp_path / "in.csv", tmp_path / "out.csv")
    check_output(tmp_path / "missing.csv", tmp_path / "missing.csv")  # reading complains
    for source, output, message in [
        ("in.csv", "in.csv", r"in\.csv: it would replace the input .*in\.csv; choose another output"),
        ("link.csv", "in.csv", r"in\.csv: it would replace the input .*link\.csv"),
        (
            "in.rejected.csv",
            "in.parquet",
            r"in\.parquet: \S+in\.rejected\.csv, the list of its bad rows, would replace the",
        ),
    ]:
        with pytest.raises(ValueError, match=message):
            check_output(tmp_path / source, tmp_path / output)


def test_errors_name_the_path_as_it_was_given(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ValueError, match=r"^no/out\.csv: the folder no does not exist$"), atomic("no/out.csv"):
        pass
    Path("link.csv").symlink_to(tmp_path / "gone" / "out.csv")
    with (
        pytest.raises(ValueError, match=rf"^link\.csv: the folder {tmp_path}/gone does not exist$"),
        atomic("link.csv"),
    ):
        pass
    long = "x" * 300
    with pytest.raises(OSError, match="too long") as told, atomic(long) as draft:
        draft.write_text("")
    assert told.value.filename == long
    with pytest.raises(OSError, match=r"^cannot open out\.csv$"), atomic("out.csv") as draft:
        raise OSError(f"cannot open {draft}")  # as pyarrow says it, which knows no file name


def test_a_stale_list_stays_when_a_run_fails_before_any_bad_row(tmp_path):
    stale = tmp_path / "out.rejected.csv"
    stale.write_text("line,record,reason\n1,x,bad\n")
    with pytest.raises(RuntimeError), RejectLog(tmp_path / "out.parquet"):
        raise RuntimeError
    assert stale.read_text() == "line,record,reason\n1,x,bad\n"


def test_damage_is_what_parsers_say_and_not_what_the_system_says():
    with pytest.raises(ValueError, match=r"in\.csv is damaged: cut off"), damage_named("in.csv"):
        raise EOFError("cut off")
    with pytest.raises(ValueError, match="is damaged"), damage_named("in.csv"):
        raise OSError("no number")
    with pytest.raises(PermissionError), damage_named("in.csv"):
        raise PermissionError(13, "not yours")
    with pytest.raises(KeyError), damage_named("in.csv"):
        raise KeyError("a mistake of ours")


def test_a_folder_is_kept_for_one_and_given_back(tmp_path):
    for _ in range(2):
        with locked(tmp_path, "working"):
            with pytest.raises(ValueError, match="another process is resting there"), locked(tmp_path, "resting"):
                pass
            assert is_unused(tmp_path)
    (tmp_path / "more").touch()
    assert not is_unused(tmp_path)
