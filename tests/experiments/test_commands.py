from typer.testing import CliRunner

from escgnn import records
from escgnn.cli import app
from escgnn.records import Record


def call(*arguments):
    return CliRunner(env={"COLUMNS": "200"}).invoke(app, [str(argument) for argument in arguments])


def test_reproduce_and_report(tmp_path):
    results, work = tmp_path / "results", tmp_path / "work"
    options = ("--budget", "smoke", "--results", results, "--work", work, "--row", "MPNN")
    result = call("reproduce", "ablation", *options)
    assert result.exit_code == 0, result.output
    assert "1/1 MPNN  seed 0" in result.output and "tab:count_ab_mp" in result.output
    assert "0.3631" in result.output, "the paper's number"
    (record,) = records.read(results)
    assert record.row == "MPNN" and record.error is None
    again = call("reproduce", "ablation", *options)
    assert again.exit_code == 0 and records.read(results) == [record], "nothing is run twice"

    page = tmp_path / "report.html"
    assert call("report", "--results", results, "-o", page).exit_code == 0
    assert "tab:count_ab" in page.read_text()
    shown = call("report", "--results", results)
    assert "MPNN (smoke)" in shown.output and "1 run, 1 seed" in shown.output


def test_unknown_names(tmp_path):
    result = call("reproduce", "conting", "--results", tmp_path)
    assert result.exit_code == 1 and "unknown experiment 'conting'" in str(result.exception)
    result = call("reproduce", "counting", "--row", "GNN", "--results", tmp_path)
    assert "has no row 'GNN'; it has 'ESC-GNN', 'MPNN'" in str(result.exception)


def test_failed_runs_are_shown(tmp_path, capsys):
    from escgnn import terminal

    terminal.show_record(Record("counting", "MPNN", "smoke", error="ValueError: no data"), 2, 3)
    assert "2/3 MPNN  seed 0, 0 s: failed: ValueError: no data" in capsys.readouterr().out


def test_nothing_to_report(tmp_path):
    assert "nothing was run yet; try escgnn reproduce" in call("report", "--results", tmp_path).output
