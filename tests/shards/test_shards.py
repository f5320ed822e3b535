"""Many files: what is made of them, that the same call goes on, and that nothing else may."""

import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from escgnn.encoding import RootedEncoding
from escgnn.engines import LocalEngine
from escgnn.jobs import Count, Encode, encode_file
from escgnn.shards import ResultFolder, find_shards, read_part, read_status, run_shards
from tests.shards.toys import Measure


def write_inputs(folder, count=4):
    (folder / "in").mkdir()
    for number in range(count):
        (folder / "in" / f"{number}.g6").write_text("Bw\nA_\nnonsense\x01\nDhc\n"[: 3 + 3 * number] + "\n")


@pytest.fixture
def here(tmp_path):
    write_inputs(tmp_path)
    return tmp_path


def content(folder, but=("seconds", "cpu_seconds", "finished", "host")):
    """All files, without what depends on the time."""
    found = {}
    for path in sorted(folder.iterdir()):
        if path.name.startswith(".lock"):
            continue
        found[path.name] = path.read_bytes()
        if path.name.endswith(".done.json"):
            found[path.name] = {name: value for name, value in json.loads(path.read_text()).items() if name not in but}
    return found


def test_each_file_makes_one_as_it_would_alone(here):
    job = Encode(RootedEncoding(1))
    summary = run_shards(job, [str(here / "in")], str(here / "out"))
    assert (summary.shards, summary.skipped, summary.failed, summary.graphs) == (4, 0, (), 1 + 2 + 2 + 2)
    for number in range(4):
        encode_file(here / "in" / f"{number}.g6", here / "alone.parquet", RootedEncoding(1))
        assert (here / "alone.parquet").read_bytes() == (here / "out" / f"part-0000{number}.parquet").read_bytes()
    assert summary.rejected == 2 and (here / "out/part-00003.rejected.csv").read_text().count("\n") == 2
    assert {path.name for path in (here / "out").iterdir() if path.suffix == ".json"} == {
        "_manifest.json",
        *(f"part-0000{number}.done.json" for number in range(4)),
    }


def test_engines_and_parts_give_the_same_files(here):
    """This process, processes of its own, three jobs of an array: byte for byte."""
    inputs = [str(here / "in")]
    job = Measure(here)
    run_shards(job, inputs, str(here / "a"))
    run_shards(job, inputs, str(here / "b"), engine=LocalEngine(2))
    for part in ("3/3", "1/3", "2/3"):
        run_shards(job, inputs, str(here / "c"), part=read_part(part))
    assert content(here / "a") == content(here / "b") == content(here / "c")


def test_the_same_call_goes_on(here):
    inputs = [str(here / "in")]
    run_shards(Measure(here), inputs, str(here / "out"), part=(1, 2))
    before = {path.name: path.stat().st_mtime_ns for path in (here / "out").glob("part-*")}
    assert read_status(str(here / "out")).left == 2
    summary = run_shards(Measure(here), inputs, str(here / "out"))
    assert (summary.shards, summary.skipped) == (4, 2)
    assert all((here / "out" / name).stat().st_mtime_ns == stamp for name, stamp in before.items())
    (here / "out/part-00002.done.json").unlink()  # as if it had been stopped there
    (here / "out/part-00001.parquet").unlink()
    (here / "out/part-00000.done.json").write_text("{")
    assert run_shards(Measure(here), inputs, str(here / "out")).skipped == 1
    forged = here / "out/part-00003.done.json"  # of results that were made with other settings
    forged.write_text(json.dumps({**json.loads(forged.read_text()), "digest": "0" * 16}))
    assert run_shards(Measure(here), inputs, str(here / "out")).skipped == 3
    status = read_status(str(here / "out"))
    assert (status.done, status.left, status.failed, status.graphs) == (4, 0, (), summary.graphs)
    assert status.command == "measure" and status.seconds_left == 0 and status.rate > 0
    files = content(here / "out", but=())
    spent = [files[f"part-0000{number}.done.json"]["cpu_seconds"] for number in range(4)]
    assert status.cpu_seconds == pytest.approx(sum(spent)) and min(spent) > 0


def test_other_settings_are_refused_with_the_first_difference(here):
    inputs = [str(here / "in")]
    run_shards(Encode(RootedEncoding(1)), inputs, str(here / "out"))
    for call, words in (
        (lambda out: run_shards(Encode(RootedEncoding(2)), inputs, out), "hops was 1 and is 2 now"),
        (lambda out: run_shards(Count("3-cycle"), inputs, out), "command was 'encode' and is 'count' now"),
        (
            lambda out: run_shards(Encode(RootedEncoding(1)), inputs, out, strict=True),
            "strict was False and is True now",
        ),
        (
            lambda out: run_shards(Encode(RootedEncoding(1)), [inputs[0] + "/1.g6"], out),
            r"source of part-00000 was '.*0\.g6'",
        ),
    ):
        with pytest.raises(ValueError, match=words):
            call(str(here / "out"))
    (here / "in/3.g6").write_text("Bw\n")
    with pytest.raises(ValueError, match="size of part-00003 was"):
        run_shards(Encode(RootedEncoding(1)), inputs, str(here / "out"))
    (here / "other").mkdir()
    (here / "other/mine.txt").touch()
    with pytest.raises(ValueError, match=r"other is not empty and holds no _manifest\.json"):
        run_shards(Encode(RootedEncoding(1)), inputs, str(here / "other"))
    (here / "out/_manifest.json").write_text('{"format": "escgnn shards 9"}')
    with pytest.raises(ValueError, match=r"_manifest\.json is damaged: its format is"):
        read_status(str(here / "out"))
    with pytest.raises(ValueError, match=r"there is no _manifest\.json"):
        read_status(str(here / "in"))


def test_files_folders_patterns_and_addresses(here):
    (here / "in/deep").mkdir()
    (here / "in/deep/x.g6").write_text("Bw\n")
    (here / "in/0.rejected.csv").write_text("line,record,reason\n")
    (here / "in/notes.md").touch()

    def names(*inputs):
        found = find_shards([text.replace("HERE", str(here)) for text in inputs])
        assert [shard.number for shard in found] == [*range(len(found))]
        return [shard.source.removeprefix("file://").removeprefix(f"{here}/in/") for shard in found]

    assert names("HERE/in") == ["0.g6", "1.g6", "2.g6", "3.g6"]
    assert names("HERE/in/2.g6", "HERE/in/[01].g6", "HERE/in/0.g6") == ["0.g6", "1.g6", "2.g6"]
    assert names("HERE/in/*.g6") == ["0.g6", "1.g6", "2.g6", "3.g6"]
    assert names("HERE/in/**/*.g6") == ["0.g6", "1.g6", "2.g6", "3.g6", "deep/x.g6"]
    assert names("HERE/in/?eep/*") == ["deep/x.g6"]
    assert names("file://HERE/in/*.g6") == names("file://HERE/in") == ["0.g6", "1.g6", "2.g6", "3.g6"]
    for wrong in ("HERE/in/9.g6", "HERE/in/*.csv.gz", "file://HERE/none"):
        with pytest.raises(ValueError, match="there is no such file, or none that can be read"):
            names(wrong)
    with pytest.raises(ValueError, match=r"nosuch://x"):
        names("nosuch://x")


def test_addresses_are_read_and_written(here):
    run_shards(Measure(here), [str(here / "in")], str(here / "a"))
    there = f"file://{here}/b"
    run_shards(Measure(here), [f"file://{here}/in/*.g6"], there)
    skipped = run_shards(Measure(here), [f"file://{here}/in/*.g6"], there).skipped
    assert skipped == read_status(there).done == 4
    tables = [{name: data for name, data in content(here / kind).items() if not name.endswith("json")} for kind in "ab"]
    assert tables[0] == tables[1] and len(tables[0]) == 4
    assert not [path for path in (here / "b").iterdir() if path.name.endswith(".draft")]
    ResultFolder(there).remove("nothing")


def test_row_groups_of_one_file(tmp_path):
    """Rows keep the numbers that they have in the file; together they are what the whole file gives."""
    smiles = ["C" * (1 + number % 9) if number % 10 else "C(" for number in range(100)]
    pq.write_table(pa.table({"smiles": smiles}), tmp_path / "in.parquet", row_group_size=8)
    job = Count("2-star", per="node")
    summary = run_shards(job, [str(tmp_path / "in.parquet")], str(tmp_path / "out"), rows=30, engine=LocalEngine(1))
    shards = find_shards([str(tmp_path / "in.parquet")], 30)
    assert [shard.groups for shard in shards] == [(0, 4), (4, 8), (8, 12), (12, 13)]
    assert sum(shard.share for shard in shards) == pytest.approx(1)
    run_shards(job, [str(tmp_path / "in.parquet")], str(tmp_path / "whole"))
    parts = [pq.read_table(tmp_path / "out" / f"part-0000{number}.parquet") for number in range(4)]
    assert pa.concat_tables(parts).equals(pq.read_table(tmp_path / "whole/part-00000.parquet"))
    assert summary.rejected == 10 and summary.totals["count"] == sum(
        pq.read_table(tmp_path / "whole/part-00000.parquet")["count"].to_pylist()
    )
    rejected = (tmp_path / "out/part-00001.rejected.csv").read_text()
    assert [line.split(",")[0] for line in rejected.splitlines()] == ["line", "41", "51", "61"]


def test_edge_lists_are_not_cut(tmp_path):
    table = pa.table({"graph": [0] * 50, "source": [*range(50)], "target": [*range(1, 51)]})
    pq.write_table(table, tmp_path / "in.parquet", row_group_size=5)
    (shard,) = find_shards([str(tmp_path / "in.parquet")], 10)
    assert shard.groups is None


@pytest.mark.parametrize("text", ["", "1", "5/4", "1/0", "-1/4", "a/b"])
def test_parts_that_are_none(text):
    with pytest.raises(ValueError, match=r"part: .*; expected k/n"):
        read_part(text)
