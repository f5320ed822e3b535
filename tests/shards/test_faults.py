"""What goes wrong where many files are worked on: each costs no more than it must, and the same call puts it right."""

import os
import signal
import subprocess
import sys
import time
from contextlib import contextmanager, suppress

import pytest

from escgnn import disk
from escgnn.engines import LocalEngine
from escgnn.shards import read_status, run_shards
from tests.shards.toys import MEASURE, Measure

PATIENCE = 60  # seconds


@pytest.fixture
def here(tmp_path):
    (tmp_path / "in").mkdir()
    for number in range(4):
        (tmp_path / "in" / f"{number}.smi").write_text("C\nCC\n" * (1 + number))
    return tmp_path


def call(here, workers=0, **options):
    return run_shards(Measure(here), [str(here / "in")], str(here / "out"), engine=LocalEngine(workers), **options)


@contextmanager
def begin(here, workers):
    """A process that works; it and its workers are gone behind the block, whatever happened."""
    process = subprocess.Popen(
        [sys.executable, "-c", MEASURE, str(here), str(workers)],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    with process:
        try:
            yield process
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)


def wait_for(here, pattern):
    """The first file of such a name, once there is one."""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        for path in here.glob(pattern):
            return path
        time.sleep(0.02)
    raise AssertionError(f"no {pattern} in {PATIENCE} s")


def all_done(here):
    """What was left is done by the same call, and nothing lies about."""
    (here / "go").touch()
    assert call(here).failed == ()
    status = read_status(str(here / "out"))
    assert (status.done, status.left, status.failed) == (4, 0, ())
    assert not [path.name for path in (here / "out").iterdir() if path.name.endswith((".draft", ".failed.json"))]


def test_a_worker_that_is_killed_costs_nothing(here):
    (here / "in/2.smi").write_text("S\n")
    with begin(here, 2) as process:
        os.kill(int(wait_for(here, "at-work-*").name.rpartition("-")[2]), signal.SIGKILL)
        (here / "go").touch()
        assert process.wait(PATIENCE) == 0
    assert read_status(str(here / "out")).done == 4
    all_done(here)


def test_a_file_that_kills_every_worker_fails_alone(here):
    (here / "in/1.smi").write_text("P\n")
    summary = call(here, workers=2)
    (failed,) = summary.failed
    assert failed.name == "part-00001" and "3 workers died of it, the last with exit code -9" in failed.reason
    status = read_status(str(here / "out"))
    assert (status.done, status.left, [one.source for one in status.failed]) == (3, 0, [str(here / "in/1.smi")])
    assert (here / "out/part-00001.failed.json").is_file()


def test_a_file_that_cannot_be_read_fails_alone_and_is_tried_again(here):
    good = (here / "in/1.smi").read_bytes()
    stamp = (here / "in/1.smi").stat()
    (here / "in/1.smi").write_bytes(b"\xff\xfe" + good[2:])  # UTF-16, it seems
    os.utime(here / "in/1.smi", ns=(stamp.st_atime_ns, stamp.st_mtime_ns))
    (failed,) = call(here).failed
    assert "1.smi is UTF-16; save it as UTF-8" in failed.reason
    assert (here / "out/part-00001.failed.json").is_file() and not (here / "out/part-00001.parquet").exists()
    (here / "in/1.smi").write_bytes(good)
    os.utime(here / "in/1.smi", ns=(stamp.st_atime_ns, stamp.st_mtime_ns))
    all_done(here)


def test_a_damaged_table_fails_alone(here):
    (here / "in/1.parquet").write_bytes(b"PAR1 and nothing else")
    (failed,) = call(here).failed
    assert "1.parquet is damaged" in failed.reason
    status = read_status(str(here / "out"))
    assert (status.done, status.left, [one.source for one in status.failed]) == (4, 0, [str(here / "in/1.parquet")])


def test_what_the_system_fails_at_is_tried_again(here):
    (here / "in/1.smi").write_text("O\n")
    assert call(here).failed == ()
    assert (here / "tried").read_text() == "xxx"
    assert '"attempts": 3' in (here / "out/part-00001.done.json").read_text()


def test_a_full_disk_ends_all_and_is_nobodys_fault(here):
    (here / "in/1.smi").write_text("F\n")
    with pytest.raises(OSError, match="No space left on device") as error:
        call(here)
    assert error.value.filename == str(here / "out")
    assert not (here / "out/part-00001.failed.json").exists()
    assert read_status(str(here / "out")).left == 3


@pytest.mark.parametrize("workers", [0, 2])
def test_ctrl_c_and_the_same_call(here, workers):
    (here / "in/2.smi").write_text("S\n")
    with begin(here, workers) as process:
        wait_for(here, "at-work-*")
        os.killpg(process.pid, signal.SIGINT)
        assert process.wait(PATIENCE) != 0
        assert process.stderr.read().count("KeyboardInterrupt") == 1
    assert read_status(str(here / "out")).left >= 1
    all_done(here)


def test_a_kill_of_all_and_the_same_call(here):
    (here / "in/2.smi").write_text("S\n")
    with begin(here, 1) as process:
        worker = int(wait_for(here, "at-work-*").name.rpartition("-")[2])
        os.killpg(process.pid, signal.SIGKILL)
        process.wait(PATIENCE)
    while disk._started(worker):  # a busy system takes its time to end it, and drafts of the living stay
        time.sleep(0.02)
    all_done(here)


def test_input_that_changes_meanwhile_leaves_no_results(here):
    (here / "in/2.smi").write_text("S\n")
    with begin(here, 1) as process:
        wait_for(here, "at-work-*")
        (here / "in/2.smi").write_text("CCC\n")
        (here / "go").touch()
        assert process.wait(PATIENCE) == 0
    (failed,) = read_status(str(here / "out")).failed
    assert "2.smi was changed while it was worked on" in failed.reason
    assert not (here / "out/part-00002.parquet").exists()
    with pytest.raises(ValueError, match="size of part-00002 was 2 and is 4 now"):
        call(here)


def test_input_that_is_removed_meanwhile(here):
    (here / "in/0.smi").write_text("S\n")
    with begin(here, 0) as process:
        wait_for(here, "at-work-*")
        (here / "in/3.smi").unlink()
        (here / "go").touch()
        assert process.wait(PATIENCE) == 0
    (failed,) = read_status(str(here / "out")).failed
    assert failed.reason == f"{here / 'in/3.smi'} is gone"


def test_two_calls_in_one_folder(here):
    """The second is refused, unless they are about different files."""
    (here / "in/2.smi").write_text("S\n")
    with begin(here, 0) as process:
        wait_for(here, "at-work-*")
        for part in ((1, 3), (0, 1), (0, 2)):  # the first would not have to wait, if it were let in
            with pytest.raises(ValueError, match="out: another process is working on these files there"):
                call(here, part=part)
        (here / "go").touch()
        assert process.wait(PATIENCE) == 0
    all_done(here)


def test_parts_side_by_side(here):
    (here / "in/2.smi").write_text("S\n")
    begun = subprocess.Popen(
        [sys.executable, "-c", MEASURE.replace("engine=", "part=(0, 2), engine="), str(here), "0"],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    with begun as process:
        wait_for(here, "at-work-*")
        assert call(here, part=(1, 2)).shards == 2
        with pytest.raises(ValueError, match="another process is working"):
            call(here, part=(2, 4))
        assert call(here, part=(1, 4)).skipped == 1
        (here / "go").touch()
        assert process.wait(PATIENCE) == 0
    all_done(here)


def test_a_strict_call_ends_at_the_first_bad_file(here):
    (here / "in/1.smi").write_bytes(b"\xff\xfeC\n")
    with pytest.raises(ValueError, match=r"part-00001: .*UTF-16"):
        call(here, strict=True)


def test_results_do_not_replace_what_is_read(here):
    (here / "part-00000.parquet").write_bytes(b"PAR1")
    (here / "_manifest.json").touch()
    with pytest.raises(ValueError, match=r"part-00000\.parquet|damaged"):
        run_shards(Measure(here), [str(here / "part-00000.parquet")], str(here))
    assert (here / "part-00000.parquet").read_bytes() == b"PAR1"
