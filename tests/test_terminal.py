"""What commands print keeps its square brackets, which Rich would take for styles."""

import time
from pathlib import Path
from threading import Thread

import pytest

from escgnn import terminal
from escgnn.datasets import FileCheck, Moments, Size, Statistics, Verification
from escgnn.records import Record
from escgnn.theorems import Finding, Table, Theorem, Verdict
from escgnn.training import Judgement
from escgnn.tuning import Trial

ODD = "[/data/x] [red]"


@pytest.fixture
def printed(capsys, monkeypatch):
    """What a function prints, in one line."""
    monkeypatch.setattr(terminal.console, "width", 200)
    return lambda show, *arguments: show(*arguments) or " ".join(capsys.readouterr().out.split())


@pytest.fixture
def heard(capsys):
    """What is on stderr as soon as some words are among it; a minute is enough for them, whatever else runs."""

    def listen(words):
        seen = ""
        for _ in range(6000):
            seen += capsys.readouterr().err
            if words in seen:
                break
            time.sleep(0.01)
        return seen

    return listen


def test_a_sign_of_life_where_output_is_piped(heard, monkeypatch):
    """Lines on stderr while work goes on, with what was said last, and nobody who writes them when it is over."""
    signs = []

    def started(**options):
        signs.append(Thread(**options))
        return signs[-1]

    monkeypatch.setattr(terminal, "EVERY", 0.01)
    monkeypatch.setattr(terminal, "Thread", started)
    with terminal.progress_bar("encoding [x].g6") as progress:
        progress(1, 4, "graph 7: 35%")
        assert "encoding [x].g6: 25% read, graph 7: 35%, 0 s\n" in heard("graph 7")
    with terminal.still_alive("training") as sign:
        sign("3 epochs")
        assert "training: 3 epochs, " in heard("training: 3 epochs, ")
    for thread in signs:
        thread.join(timeout=60)
    assert [thread.is_alive() for thread in signs] == [False, False]


def test_short_work_says_nothing(capsys):
    with terminal.progress_bar("encoding") as progress:
        progress(1, 4, "")
    assert capsys.readouterr().err == ""


def test_records(printed):
    failed = Record("counting", "MPNN", "smoke", error=f"OSError: {ODD} missing")
    assert f"failed: OSError: {ODD} missing" in printed(terminal.show_record, failed, 1, 2)
    good = Record("counting", f"row {ODD}", "smoke", values={f"tab {ODD}": {f"name {ODD}": 1.0}})
    assert f"tab {ODD}: name {ODD} 1" in printed(terminal.show_record, good, 1, 2)


def test_trials(printed):
    trial = Trial(3, {"parts": ["edge"], "name": ODD}, 0.5, "", "complete")
    assert printed(terminal.show_trial, trial) == f"trial 3: 0.5 parts=['edge'], name={ODD}"


def test_verdicts(printed):
    found = Finding("holds", f"seen {ODD}", table=Table((f"head {ODD}",), ((f"cell {ODD}",),)))
    shown = printed(terminal.show_verdict, Verdict(Theorem("th:x", f"said {ODD}", lambda: found), found, 1.0))
    assert all(f"{word} {ODD}" in shown for word in ("said", "seen", "head", "cell"))


def test_verifications(printed):
    size, moments = Size(1, 2.0, 3.0), {f"target {ODD}": Moments(0.0, 1.0)}
    files = (FileCheck(f"file {ODD}", None, None, False),)
    found = Verification("mine", Path(f"folder {ODD}"), files, size, Statistics(*size, moments))
    shown = printed(terminal.show_verification, found)
    assert all(f"{word} {ODD}" in shown for word in ("file", "folder", "target"))


def test_metrics(printed):
    assert f"mae/{ODD}" in printed(terminal.show_metrics, {f"mae/{ODD}": 0.5})


def test_files(printed):
    assert printed(terminal.show_written, Path(f"a {ODD}"), Path("b")) == f"written to a {ODD} written to b"


def test_progress(capfd):
    with terminal.progress_bar(f"reading {ODD}") as progress:
        progress(1, 2, "")
    assert capfd.readouterr().err == "", "a file has no bar, nor the line that it stood on"


def test_complaints(capfd):
    terminal.show_error(ValueError(f"{ODD} is wrong"))
    terminal.show_error(FileExistsError(17, "File exists", ODD))
    terminal.show_error(OSError(28, "No space left on device", ODD))
    terminal.show_warning(UserWarning(f"{ODD} is odd"), UserWarning, "some.py", 3)
    full = (
        "no space left on device; make room and do it again, a training with --resume: what was whole before still is"
    )
    lines = [f"error: {ODD} is wrong", f"error: {ODD}: file exists", f"error: {ODD}: {full}", f"warning: {ODD} is odd"]
    assert capfd.readouterr().err.split("\n") == [*lines, ""]


@pytest.mark.parametrize(
    ("subset", "own", "words"),
    [
        ("test", False, "0.5 judged by 1,200 test graphs of a.csv"),
        ("test", True, "0.5 judged by 1,200 test graphs of a.csv, of the split that it was trained with"),
        ("all", True, "0.5 judged by all 1,200 graphs of a.csv, those that it was trained on too"),
    ],
)
def test_judged(printed, subset, own, words):
    judgement = Judgement({"mae": 0.5}, subset, 1200, own)
    assert printed(terminal.show_judged, judgement, "a.csv").endswith(words)
