import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from escgnn import records
from escgnn.records import Record

FULL = Record(
    "counting",
    "ESC-GNN",
    "hour",
    seed=3,
    variant="h=2",
    values={"tab:count": {"3-cycle": 0.25, "4-cycle": None}},
    validation={"3-cycle": 0.125},
    config={"cell": {"set": ["epochs=3"]}, "encoding": {"hops": 2}},
    epochs=3,
    seconds=1.5,
    curve=({"epoch": 0, "loss": 1.0, "validation": 0.5},),
    scatter={"3-cycle": ((1.0, 1.25), (2.0, 2.0))},
    note="a note",
    command="escgnn reproduce counting",
    commit="0" * 40,
    versions={"torch": "2"},
    finished="2026-01-01T00:00:00+00:00",
)


def test_round_trip(tmp_path):
    path = records.write(FULL, tmp_path)
    assert path == tmp_path / "counting/hour/esc-gnn_h-2_seed3.json"
    (found,) = records.read(tmp_path)
    assert json.loads(json.dumps(vars(found))) == json.loads(json.dumps(vars(FULL)))
    assert found.path == FULL.path


def test_a_second_run_takes_the_place_of_the_first(tmp_path):
    records.write(Record("a", "row", "smoke", error="no data"), tmp_path)
    records.write(Record("a", "row", "smoke", values={"t": {"c": 1.0}}), tmp_path)
    (found,) = records.read(tmp_path)
    assert found.error is None
    assert [path.name for path in (tmp_path / "a" / "smoke").iterdir()] == ["row_seed0.json"]


def test_published_numbers_are_those_of_their_column():
    table = records.Table("tab:x", "x", "mae", ("a", "b"), ("ours",), paper={"theirs": (1.0, None), "ours": (2.0, 3.0)})
    assert [table.published(row, "b") for row in ("theirs", "ours", "nobody")] == [None, 3.0, None]
    assert table.published("ours", "a") == 2.0


def test_a_record_is_written_whole_or_not_at_all(tmp_path, monkeypatch):
    path = records.write(Record("a", "row", "smoke", note="first"), tmp_path)
    before = path.read_text()

    def full(draft, text):
        with draft.open("w") as stream:
            stream.write(text[:10])
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(type(path), "write_text", full)
    with pytest.raises(OSError, match="No space left"):
        records.write(Record("a", "row", "smoke", note="second"), tmp_path)
    assert path.read_text() == before and [*path.parent.iterdir()] == [path]


@given(st.floats())
def test_every_float_can_be_written(tmp_path_factory, value):
    folder = tmp_path_factory.mktemp("results")
    records.write(Record("a", "row", "smoke", values={"t": {"c": value}}), folder)
    (found,) = records.read(folder)
    kept = found.values["t"]["c"]
    if math.isfinite(value):
        assert kept == pytest.approx(value, rel=1e-5)
    else:
        assert kept is None


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("{", "not a record"),
        ("[]", "not a record"),
        ('{"experiment": "a"}', "not a record"),
        ('{"experiment": "a", "row": "r", "budget": "long"}', "expected one of smoke, hour, paper"),
        ('{"experiment": "b", "row": "r", "budget": "smoke"}', "do not rename"),
    ],
)
def test_a_file_that_is_no_record_is_named(tmp_path, text, problem):
    path = tmp_path / "a" / "smoke" / "r_seed0.json"
    path.parent.mkdir(parents=True)
    path.write_text(text)
    with pytest.raises(ValueError, match=problem) as caught:
        records.read(tmp_path)
    assert str(path) in str(caught.value)


def test_no_folder_no_records(tmp_path):
    assert records.read(tmp_path / "none") == []
