"""Commands as people type them: what they print, and what they complain of."""

import io
import json
import os
import re
import subprocess
import sys
import warnings
from inspect import signature
from types import SimpleNamespace

import pyarrow.parquet as pq
import pytest
from networkx import complete_graph, to_graph6_bytes

from escgnn import __version__, datasets, training
from escgnn.cli import COMMANDS, main
from escgnn.cli.options import given_file
from escgnn.encoding import PARTS, RootedEncoding


@pytest.fixture
def process(tmp_path):
    """Runs a command line in an empty folder, as a process of its own: its exit code, what it prints, its complaints."""

    def run(*arguments):
        command = [sys.executable, "-m", "escgnn", *map(str, arguments)]
        return subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False, timeout=1800)

    return run


@pytest.fixture
def escgnn(tmp_path, monkeypatch, capsys):
    """The same command line in this process, where everything is loaded; what it prints, or complains of if it fails."""
    monkeypatch.chdir(tmp_path)

    def run(*arguments, check=True):
        monkeypatch.setattr(sys, "argv", ["escgnn", *map(str, arguments)])
        capsys.readouterr()
        with warnings.catch_warnings():  # which end a test, but not a command
            warnings.simplefilter("default")
            with pytest.raises(SystemExit) as end:
                main()
                sys.exit(0)
        printed, complaint = capsys.readouterr()
        assert (end.value.code == 0) == check, complaint
        return printed if check else complaint

    return run


def test_help_needs_nothing_heavy(tmp_path):
    code = (
        "import sys; from typer.testing import CliRunner; from escgnn.cli import app;"
        "result = CliRunner().invoke(app, ['--help']); assert result.exit_code == 0 and 'encode' in result.output;"
        "print([name for name in ('torch', 'numba', 'numpy', 'pyarrow', 'networkx') if name in sys.modules])"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "[]"


def test_a_process_of_its_own(process, tmp_path):
    """Exit codes, and what goes where."""
    assert process("--version").stdout.strip() == __version__
    assert process("count", "--help").stdout.split()[:3] == ["Usage:", "escgnn", "count"]
    (tmp_path / "in.g6").write_text("Bw\n")
    counted = process("count", "in.g6", "-o", "out.csv", "--pattern", "3-cycle")
    assert (counted.returncode, counted.stderr) == (0, "") and "written to out.csv" in counted.stdout
    failed = process("count", "missing.g6", "-o", "out.csv", "--pattern", "3-cycle")
    assert (failed.returncode, failed.stdout) == (1, "")
    assert failed.stderr == "error: missing.g6: no such file or directory\n"
    assert process("count", "--patern", "3-cycle").returncode == 2


def test_versions_for_a_bug_report(escgnn):
    printed = escgnn("--version", "--verbose").splitlines()
    assert printed[0] == f"escgnn: {__version__}"
    assert any(line.startswith("torch: ") for line in printed)
    assert "--verbose: it goes with --version" in " ".join(escgnn("--verbose", check=False).split())


def test_encode_molecules(escgnn, tmp_path):
    (tmp_path / "m.csv").write_text("id,SMILES\n1,CCO\n2,c1ccccc1\n3,C(\n")
    printed = escgnn("encode", "m.csv", "-o", "m.parquet", "--hops", "3", "--parts", "edge,resistance", "--nodes")
    assert "bad rows are listed in m.rejected.csv" in printed
    table = pq.read_table(tmp_path / "m.parquet")
    assert table.num_rows == 2 * (2 + 6) + 3 + 6
    assert b"hops=3, parts=('edge', 'resistance')" in table.schema.metadata[b"encoding"]


def test_encode_takes_every_option_of_the_library(escgnn, tmp_path):
    (tmp_path / "in.g6").write_text("Bw\n")
    lengths = ["--walk-length", "3", "--cycle-length", "4", "--colour-rounds", "1", "--colour-bins", "5"]
    escgnn("encode", "in.g6", "-o", "out.parquet", "--hops", "1, 2", "--parts", "walk,cycle,colour", *lengths)
    expected = RootedEncoding(
        (1, 2), ("walk", "cycle", "colour"), walk_length=3, cycle_length=4, colour_rounds=1, colour_bins=5
    )
    metadata = pq.read_table(tmp_path / "out.parquet").schema.metadata
    assert metadata[b"encoding"].decode() == repr(expected)
    offered = {name.lstrip("-").replace("-", "_") for name in re.findall(r"--[a-z-]+", escgnn("encode", "--help"))}
    assert offered > {*signature(RootedEncoding).parameters}


def test_molecules_are_encoded_by_types(escgnn, tmp_path):
    (tmp_path / "in.smi").write_text("CCO\n")
    parts = ["--parts", "joint,ring", "--types", "x, edge_attr", "--typed", "joint", "--node-types", "9"]
    escgnn("encode", "in.smi", "-o", "out.parquet", "--hops", "1", *parts)
    expected = RootedEncoding(1, ("joint", "ring"), types=("x", "edge_attr"), typed=("joint",), node_types=9)
    assert pq.read_table(tmp_path / "out.parquet").schema.metadata[b"encoding"].decode() == repr(expected)


def test_the_list_of_commands_is_not_cut_short(escgnn):
    printed = escgnn("--help")
    assert "..." not in printed.partition("Commands:")[2]
    assert {*COMMANDS} <= {line.split()[0] for line in printed.splitlines() if line.startswith("  ")}


def test_help_names_every_part(escgnn):
    assert {*PARTS} <= {*re.findall(r"\w+", escgnn("encode", "--help"))}


def test_the_defaults_of_encode_are_those_of_the_library(escgnn, tmp_path):
    (tmp_path / "in.g6").write_text("Bw\n")
    escgnn("encode", "in.g6", "-o", "out.parquet")
    assert pq.read_table(tmp_path / "out.parquet").schema.metadata[b"encoding"].decode() == repr(RootedEncoding())


def test_describe_prints_the_bins(escgnn):
    printed = escgnn("encode", "--describe", "--hops", "1", "--parts", "joint,edge")
    lines = printed.splitlines()
    assert len(lines) == 1 + 6 + 12 + 2
    assert lines[18].split(None, 2) == ["17", "edge", "2, 1, 2, 1"]
    assert lines[20] == "edge: edges by the labels of their ends"


def test_describe_tells_the_radius_from_the_part(escgnn):
    printed = escgnn("encode", "--describe", "--hops", "1,2", "--parts", "cycle,joint", "--cycle-length", "3")
    lines = [line.rstrip() for line in printed.splitlines()]
    assert lines[0].split() == ["bin", "radius", "part", "label"]
    assert lines[1].split(None, 3) == ["0", "1", "joint", "0, 0"]
    assert lines[15].split(None, 3) == ["14", "2", "joint", "3, 2"]
    assert lines[16].split() == ["15", "any", "cycle", "3"]


def test_count_by_name_and_by_edges(escgnn, tmp_path):
    (tmp_path / "in.g6").write_text("Bw\nC~\n")
    printed = escgnn("count", "in.g6", "--pattern", "3-cycle", "--per", "node", "-o", "out.csv")
    assert "15" in printed.splitlines()[1].split()
    by_name = (tmp_path / "out.csv").read_text()
    escgnn("count", "in.g6", "--pattern", "0-1 1-2 2-0", "--per", "node", "--orbit", "0", "-o", "out.csv")
    assert (tmp_path / "out.csv").read_text() == by_name
    assert by_name.splitlines()[:2] == ['"graph","node","count"', "0,0,1"]


def test_count_all(escgnn, tmp_path):
    (tmp_path / "in.g6").write_text("Bw\n")
    assert "triangle-rectangle" in escgnn("count", "in.g6", "--all", "-o", "out.csv")
    assert "triangle-rectangle" in escgnn("count", "in.g6", "--all", "--per", "node", "-o", "out.csv")


def test_a_graph_that_takes_too_long_and_names_with_brackets(escgnn, tmp_path):
    dense = to_graph6_bytes(complete_graph(120), header=False)
    (tmp_path / "[in].g6").write_bytes(dense + b"C~\n")
    limit = ["--max-seconds-per-graph", "0.2"]
    printed = escgnn("count", "[in].g6", "-o", "[red]out[1].csv", "--pattern", "8-cycle", *limit)
    assert "bad rows are listed in [red]out[1].rejected.csv" in printed
    assert (tmp_path / "[red]out[1].csv").read_text() == '"graph","count"\n1,0\n'
    assert "written to out[1].parquet" in escgnn(
        "encode", "[in].g6", "-o", "out[1].parquet", "--parts", "cycle", *limit
    )
    assert "longer than 0.2 s" in (tmp_path / "out[1].rejected.csv").read_text()


def test_many_files_a_stop_and_the_rest(escgnn, tmp_path):
    """Cut, half of an array, how far that is, the same command for the rest, and a file that fails: exit code 3."""
    (tmp_path / "all.csv").write_text("id,smiles\n" + "".join(f"{i},{'C' * (2 + i % 5)}\n" for i in range(50)))
    assert "5 files written to in" in escgnn("split", "all.csv", "-o", "in", "--rows", "10")
    command = ("count", "in/*.csv", "-o", "out/", "--pattern", "2-star")
    assert "3 of 3 files done" in escgnn(*command, "--part", "0/2")
    assert "count: 3 of 5 files done, 0 failed, 2 left" in escgnn("status", "out")
    printed = escgnn(*command, "--workers", "1")
    assert "5 of 5 files done, 3 of them earlier" in printed and "sum of count: 150" in printed
    assert "hops" not in escgnn("encode", "in", "-o", "out/", check=False)
    (tmp_path / "in/all-00002.csv").write_bytes(b"\xff\xfe")
    escgnn("count", "in", "-o", "other/", "--pattern", "2-star", check=False)
    printed = escgnn("status", "other")
    assert "4 of 5 files done, 1 failed, 0 left" in printed and "all-00002.csv is UTF-16" in printed


def test_failed_files_are_exit_code_3(process, tmp_path):
    (tmp_path / "a.smi").write_text("C\n")
    (tmp_path / "b.smi").write_bytes(b"\xff\xfe")
    done = process("count", "a.smi", "b.smi", "-o", "out", "--pattern", "3-cycle")
    assert done.returncode == 3 and "1 of 2 files done" in done.stdout and "b.smi is UTF-16" in done.stdout


def test_theory_prints_verdicts_and_draws(escgnn, tmp_path):
    printed = escgnn("theory", "th:iso", "sec:th_mp")
    assert "th:iso  holds" in printed
    assert "sec:th_mp  holds with a correction" in printed
    assert (tmp_path / "theory" / "th-iso.png").exists()


def test_datasets_are_listed_and_verified(escgnn, tmp_path, monkeypatch):
    monkeypatch.setenv("ESCGNN_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("ESCGNN_DATA", "")
    assert "counting-random" in escgnn("datasets")
    printed = escgnn("datasets", "csl")
    assert "41.000" in printed
    assert "82.000" in printed


def test_models_are_listed_and_shown(escgnn):
    printed = escgnn("models")
    assert "esc-gnn" in printed and "Yan et al., KDD 2024" in printed and "deg(v)" in printed
    assert "Provable" not in printed  # titles are for one network
    printed = escgnn("models", "i2-gnn")
    assert "Boosting the Cycle Counting Power" in printed and "ICLR 2023" in printed
    assert re.search(r"network.labels +distance", printed) and "bag_mate_hop" in printed
    assert "preset=authors/zinc-12k: transform.hops=3, transform.resistance=True, " in printed
    assert "model: 'i2gnn'; did you mean 'i2-gnn'?" in escgnn("models", "i2gnn", check=False)


def test_a_rival_is_trained_tuned_and_predicts(escgnn, tmp_path, monkeypatch):
    monkeypatch.setenv("ESCGNN_CACHE", str(tmp_path / "cache"))
    rows = [f"{'C' * n}{end},{n}" for n in range(1, 8) for end in ("O", "")]
    (tmp_path / "my.csv").write_text("smiles,length\n" + "\n".join(rows) + "\n")
    small = ["--set", "network.hidden=8", "--set", "network.layers=1", "--set", "epochs=1", "--set", "transform.hops=1"]
    own = ["--targets", "length", "--split", "random"]
    escgnn("train", "my.csv", "-o", "run", "--model", "i2-gnn", *own, *small)
    assert training.load_run(tmp_path / "run").name == "i2-gnn"
    assert "14 of 14 rows predicted" in escgnn("predict", "run", "my.csv", "-o", "out.csv")
    assert "best mae" in escgnn("tune", "my.csv", "-o", "search", "--trials", "1", "--model", "gin-ak", *own, *small)
    assert "model: gin-ak" in (tmp_path / "search/best.yaml").read_text()
    message = escgnn(
        "train", "my.csv", "-o", "no", "--model", "ngnn", *own, "--set", "transform.outside=keep", check=False
    )
    assert "unknown setting 'transform.outside'" in message


def test_train_stop_go_on_predict_and_judge(escgnn, tmp_path, monkeypatch):
    """A table of molecules with a bad row, from training to predictions for another table."""
    monkeypatch.setenv("ESCGNN_CACHE", str(tmp_path / "cache"))
    chains = [f"{'C' * n}{end},{n}" for n in range(1, 11) for end in ("O", "N", "")]
    (tmp_path / "my.csv").write_text("smiles,length\n" + "\n".join([*chains, "C(,3"]) + "\n")
    (tmp_path / "new.csv").write_text("name,smiles\na,CCCO\nb,oops(\nc,CC\n")
    small = ["--set", "network.hidden=8", "--set", "network.layers=2", "--set", "early_stopping=null"]
    own = ["--targets", "length", "--split", "random"]
    (tmp_path / "two.yaml").write_text("devices: 2\n")
    one = ["--config", "two.yaml", "--devices", "1"]
    printed = escgnn("train", "my.csv", "-o", "run", *own, *small, *one, "--set", "epochs=2")
    assert printed.count("line 32 left out") == 1
    assert "devices: 1" in (tmp_path / "run" / "config.yaml").read_text(), "the option beats the file"
    escgnn("train", "my.csv", "-o", "run", *own, *small, "--set", "epochs=3", "--resume")
    assert (tmp_path / "run" / "metrics.csv").read_text().count("\n") == 4
    printed = escgnn("evaluate", "run", "my.csv", *own)
    assert "mae" in printed and "line 32 left out" in printed
    checkpoint = tmp_path / "run" / "last.ckpt"
    checkpoint.write_bytes(checkpoint.read_bytes()[:1000])
    message = escgnn("train", "my.csv", "-o", "run", *own, *small, "--set", "epochs=3", "--resume", check=False)
    assert (
        message
        == "error: run/last.ckpt is damaged; train again in a new folder (model.safetensors can still be used)\n"
    )
    assert "2 of 3 rows predicted" in escgnn("predict", "run", "new.csv", "-o", "out.csv", "--workers", "1")
    lines = (tmp_path / "out.csv").read_text().splitlines()
    assert lines[0].replace('"', "") == "name,smiles,pred_length,status"
    assert [line.split(",")[-1].strip('"') == "ok" for line in lines[1:]] == [True, False, True]
    answer = lines[3].split(",")[2]
    for printed in (escgnn("predict", "run", "new.csv", "-o", "many/"), escgnn("status", "many")):
        assert "2 graphs, 3 rows written (1 without a prediction), 0 bad rows left out" in printed
    header, row = escgnn("predict", "run", "CC").splitlines()
    assert header == '"smiles","pred_length","status"'
    alone = row.removeprefix('"CC",').removesuffix(',"ok"')
    assert float(alone) == pytest.approx(float(answer), rel=1e-6), "batches round in their own way"
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO("name;smiles\nü;CC\n".encode())))
    printed = escgnn("predict", "run", "-", "-o", "-")
    assert printed.splitlines()[1] == f'"ü","CC",{alone},"ok"'
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(b"CC ethane\nC(\n")))
    escgnn("predict", "run", "-", "-o", "out.tsv")
    assert [line.split("\t")[-1] for line in (tmp_path / "out.tsv").read_text().splitlines()[:2]] == [
        '"status"',
        '"ok"',
    ]
    assert "missing.csv: no such file" in escgnn("predict", "run", "missing.csv", check=False)
    assert "'C(C' is neither a file that exists nor a SMILES" in escgnn("predict", "run", "C(C", check=False)
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(b"")))
    assert escgnn("predict", "run", "-", check=False) == "error: standard input is empty: it holds no graphs\n"
    printed = escgnn("export", "run", "-o", "model.onnx")
    assert "int64 (2, edges)" in printed and "written to model.onnx" in printed
    assert (tmp_path / "model.onnx").stat().st_size > 1000


def test_a_fold_is_judged(escgnn, tmp_path, monkeypatch):
    monkeypatch.setenv("ESCGNN_CACHE", str(tmp_path / "cache"))
    bundle = datasets.load("csl")
    small = training.read_config(overrides=["network.hidden=8", "network.layers=1", "epochs=1"], bundle=bundle)
    result = training.fit(bundle.fold(1), small, tmp_path / "fold1", progress=False)
    for own in ([], ["--fold", "1"]):
        printed = escgnn("evaluate", "fold1", "csl", *own)
        assert f"{result.test['accuracy']:.5g}" in printed.split()
        assert "judged by 30 test graphs of csl, of the split that it was trained with" in printed
    assert "trained with another one of csl" in escgnn("evaluate", "fold1", "csl", "--fold", "0", check=False)
    assert "csl has 5 folds, counted from 0" in escgnn("evaluate", "fold1", "csl", "--fold", "5", check=False)


def test_a_table_is_judged_by_what_the_run_does_not_know(escgnn, tmp_path, monkeypatch):
    """The run's own split if it was trained on the table, else all rows."""
    monkeypatch.setenv("ESCGNN_CACHE", str(tmp_path / "cache"))
    rings = [f"{'C' * n}C1{'C' * k}1,{n},{n % 3}" for n in range(4) for k in range(2, 12)]
    (tmp_path / "my.csv").write_text("smiles,length,other\n" + "\n".join(rings) + "\n")
    (tmp_path / "new.csv").write_text("smiles,length\nCCO,2\nCCCO,3\nCCCCO,4\n")
    small = ["--set", "network.hidden=8", "--set", "network.layers=1", "--set", "epochs=1"]
    own = ["--targets", "length"]
    escgnn("train", "my.csv", "-o", "run", *own, "--split", "scaffold", *small)
    tested = json.loads((tmp_path / "run" / "result.json").read_text())["test"]
    printed = escgnn("evaluate", "run", "my.csv", *own)
    assert f"{tested['mae']:.5g}" in printed.split()
    assert "graphs of my.csv, of the split that it was trained with" in printed
    assert escgnn("evaluate", "run", "my.csv") == printed, "the run knows its targets"
    assert escgnn("evaluate", "run", "my.csv", *own, "--split", "scaffold") == printed
    message = escgnn("evaluate", "run", "my.csv", *own, "--split", "random", check=False)
    assert "run was trained with another one of my.csv" in message and "name none, and its own is used" in message
    printed = escgnn("evaluate", "run", "my.csv", *own, "--part", "all")
    assert "judged by all 40 graphs of my.csv, those that it was trained on too" in printed
    assert "judged by all 3 graphs of new.csv\n" in escgnn("evaluate", "run", "new.csv", *own)
    assert "judged by 3 test graphs" not in escgnn("evaluate", "run", "new.csv", *own, "--split", "random")
    message = escgnn("evaluate", "run", "my.csv", *own, "--part", "tset", check=False)
    assert "Invalid value for '--part'" in message and "'tset' is not one of 'train'" in message
    message = escgnn("evaluate", "run", "my.csv", "--targets", "other", check=False)
    assert message == "error: bundle: targets of my.csv: 'other'; run has 'length'\n"


def test_targets_of_several_kinds_and_options_for_settings(escgnn, tmp_path, monkeypatch):
    """A table whose column of SMILES has a name of its own; what the run knows of it needs no second word."""
    monkeypatch.setenv("ESCGNN_CACHE", str(tmp_path / "cache"))
    chains = [
        f"{'C' * n}{end},{n},{int(end == 'O')},{colour}"
        for n in range(1, 11)
        for end, colour in (("O", "red"), ("N", "blue"))
    ]
    (tmp_path / "my.csv").write_text("mol,length,acid,colour\n" + "\n".join(chains) + "\n")
    (tmp_path / "new.csv").write_text("id,Mol,length,acid,colour\n1,CCO,2,1,red\n2,CCCN,3,0,blue\n3,CCN,,0,blue\n")
    (tmp_path / "other.csv").write_text("smiles\nCCO\n")
    own = ["--smiles", "mol", "--targets", "length,acid,colour", "--split", "60/20/20"]
    options = [
        "--model",
        "gin",
        "--epochs",
        "2",
        "--hidden",
        "8",
        "--lr",
        "0.00001",
        "--batch-size",
        "4",
        "--seed",
        "3",
    ]
    printed = escgnn("train", "my.csv", "-o", "run", *own, *options, "--set", "network.layers=1")
    assert "relative/length" in printed and "rocauc/acid" in printed and "accuracy/colour" in printed
    config = training.read_config(tmp_path / "run" / "config.yaml")
    assert (config.model, config.epochs, config.lr, config.batch_size, config.seed) == ("gin", 2, 1e-5, 4, 3)
    assert (config.network["hidden"], config.network["layers"]) == (8, 1)
    assert [len(subset) for subset in training.load_run(tmp_path / "run").split] == [12, 4, 4]
    assert "judged by 4 test graphs of my.csv, of the split" in escgnn("evaluate", "run", "my.csv")
    assert "judged by all 3 graphs of new.csv" in escgnn("evaluate", "run", "new.csv")
    assert "3 of 3 rows predicted" in escgnn("predict", "run", "new.csv", "-o", "out.csv")
    assert "1 of 1 rows predicted" in escgnn("predict", "run", "other.csv", "-o", "out.csv")
    message = escgnn("train", "my.csv", "-o", "b", *own, "--epochs", "2", "--set", "epochs=3", check=False)
    assert "--epochs: 2, but there is --set epochs=3, too; give one" in " ".join(message.split())
    message = escgnn("train", "my.csv", "-o", "b", *own, "--kind", "regression,binary", check=False)
    assert message == "error: kind: 2 kinds for 3 targets; expected one, or one for each\n"
    message = escgnn("train", "my.csv", "-o", "b", *own[:-1], "80/10", check=False)
    assert message == "error: split: '80/10'; expected three numbers that add up to 100, such as 80/10/10\n"


def test_folds_are_chosen(escgnn, tmp_path, monkeypatch):
    monkeypatch.setenv("ESCGNN_CACHE", str(tmp_path / "cache"))
    (tmp_path / "runs" / "fold0").mkdir(parents=True)
    (tmp_path / "in.g6").write_text("Bw\n")
    message = escgnn("predict", "runs", "in.g6", "-o", "out.csv", check=False)
    assert message == "error: runs holds a cross-validation; choose a fold, such as runs/fold0\n"
    small = ["--set", "epochs=1", "--set", "network.layers=1", "--trials", "1"]
    assert "best accuracy by validation" in escgnn("tune", "csl", "-o", "search", *small)
    assert "csl has 5 folds, counted from 0" in escgnn("tune", "csl", "-o", "other", "--fold", "7", check=False)


def test_warnings_are_one_line():
    code = "import warnings; from escgnn.cli import app, main; app.command()(lambda: warnings.warn('look [out]'));"
    command = [sys.executable, "-c", f"{code} import sys; sys.argv = ['escgnn', '<lambda>']; main()"]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert result.stderr == "warning: look [out]\n"


def test_classes_and_many_bad_rows(escgnn, tmp_path, monkeypatch):
    """Bad rows are counted, not only the first ones, and a reason with brackets stays as it is."""
    monkeypatch.setenv("ESCGNN_CACHE", str(tmp_path / "cache"))
    chains = [f"{'C' * n},{'long' if n > 10 else 'short'}" for n in range(1, 21)]
    (tmp_path / "my.csv").write_text("smiles,size\n" + "\n".join(chains) + "\n")
    (tmp_path / "new.csv").write_text("smiles\nCC\n" + "[C\n" * 30)
    small = ["--set", "network.hidden=8", "--set", "network.layers=1", "--set", "epochs=1"]
    assert "accuracy" in escgnn("train", "my.csv", "-o", "run", "--targets", "size", *small)
    printed = escgnn("predict", "run", "new.csv", "-o", "out.csv")
    assert "1 of 31 rows predicted" in printed
    assert "line 3 has no prediction: not a SMILES string" in printed and "and 25 more bad rows" in printed
    header, first, *_ = (tmp_path / "out.csv").read_text().replace('"', "").splitlines()
    assert header == "smiles,pred_size,pred_size_long,pred_size_short,status"
    assert first.split(",")[1] in ("long", "short")


def test_tune(escgnn, tmp_path, monkeypatch):
    monkeypatch.setenv("ESCGNN_CACHE", str(tmp_path / "cache"))
    rows = [*(f"{'C' * n},{n}" for n in range(1, 21)), "C(,1"]
    (tmp_path / "my.csv").write_text("smiles,length\n" + "\n".join(rows) + "\n")
    own = ["--targets", "length", "--split", "random", "--set", "epochs=1", "--set", "early_stopping=null"]
    printed = escgnn("tune", "my.csv", "-o", "search", "--trials", "2", *own)
    assert re.search(r"trial 0: [\d.]+  hops=", printed) and "best mae by validation" in printed
    assert "line 22 left out" in printed
    assert "best" in escgnn("tune", "my.csv", "-o", "search", "--trials", "3", "--no-prune", *own)
    assert (tmp_path / "search" / "best.yaml").exists()
    fixed = [
        "--trials",
        "1",
        "--hidden",
        "8",
        "--lr",
        "0.02",
        "--set",
        "transform.parts=edge",
        "--set",
        "network.layers=1",
    ]
    printed = escgnn("tune", "my.csv", "-o", "fixed", *own, *fixed)
    assert re.search(r"trial 0: [\d.]+  hops=\d\n", printed), "what is set is not searched for"
    best = training.read_config(tmp_path / "fixed" / "best.yaml")
    assert (best.network["hidden"], best.lr, best.transform["parts"]) == (8, 0.02, ("edge",))
    fixed += ["--set", "transform.hops=1"]
    assert "nothing is left to search for" in escgnn("tune", "my.csv", "-o", "none", *own, *fixed, check=False)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["encode", "missing.g6", "-o", "out.parquet"], "missing.g6"),
        (["encode", "in.g6", "-o", "no/such/folder/out.parquet"], "does not exist"),
        (["encode", "in.g6", "-o", "out.csv"], "out.csv: encodings are lists"),
        (["encode", "in.g6", "-o", "out.parquet", "--parts", "edges"], "parts: unknown part 'edges'"),
        (["encode", "in.g6", "-o", "out.parquet", "--hops", "0"], "hops: 0"),
        (["encode", "in.g6", "-o", "out.parquet", "--hops", "1,two"], "hops: '1,two'; expected a number such as 2"),
        (["encode", "in.g6", "-o", "out.parquet", "--strict"], "in.g6: line 2: graph6"),
        (["encode", "in.xyz", "-o", "out.parquet"], "in.xyz: files with the extension '.xyz' are not read"),
        (["encode", "in.g6"], "-o OUT.parquet"),
        (["encode", "--hop", "2"], "No such option"),
        (["count", "in.g6", "-o", "out.parquet"], "either --pattern or --all"),
        (["count", "in.g6", "-o", "out.parquet", "--pattern", "5-cicle"], "5-cycle"),
        (["count", "in.g6", "-o", "out.parquet", "--pattern", "3-cycle", "--per", "nodes"], "per: 'nodes'"),
        (["count", "in.g6", "-o", "out.parquet", "--pattern", "3-path", "--per", "node", "--orbit", "x"], "orbit: 'x'"),
        (["count", "in.g6", "-o", "out.parquet", "--all", "--per", "graph"], "leave --per, --induced and --orbit out"),
        (["count", "in.g6", "-o", "out.parquet", "--all", "--induced"], "leave --per, --induced and --orbit out"),
        (["count", "in.g6", "-o", "out.parquet", "--all", "--orbit", "5"], "leave --per, --induced and --orbit out"),
        (["count", "star.csv", "-o", "out.parquet", "--pattern", "40-star"], "error: pattern: 40-star has more copies"),
        (
            ["count", ".", "-o", "out.parquet", "--pattern", "3-cycle"],
            "several files make a folder of results; give one, such as -o results/",
        ),
        (["encode", "in.g6", "in.xyz", "-o", "out.parquet"], "several files make a folder of results"),
        (["encode", "in.g6", "-o", "out.parquet", "--part", "1/2"], "--part 1/2 make a folder of results"),
        (["encode", "in.g6", "-o", "out/", "--part", "3/2"], "part: '3/2'; expected k/n"),
        (["encode", "in.g6", "-o", "out/", "--engine", "spark"], "engine: 'spark'; expected one of local, ray"),
        (["encode", "none/*.g6", "-o", "out/"], "there is no such file, or none that can be read"),
        (["status", "."], "there is no _manifest.json"),
        (["split", "in.g6", "-o", "."], "is not empty; choose another folder"),
        (["train", "csl", "-o", "in.g6"], "'-o' / '--out': in.g6 is a file; expected a folder"),
        (["train", "csl", "-o", "in.g6/run"], "'-o' / '--out': in.g6 is a file; expected a folder"),
        (["train", "csl", "-o", "run", "--config", "."], "'--config': . is a folder; expected a file"),
        (["train", "csl", "-o", "run", "--config", "no.yaml"], "error: no.yaml: no such file or directory"),
        (["tune", "csl", "-o", "run", "--trials", "0"], "'--trials': Input should be greater than or equal to 1"),
        (["theory", "th:isomorphic"], "did you mean th:iso?"),
        (["datasets", "zinc12k"], "zinc-12k"),
        (["train", "counting-random", "-o", "run", "--set", "network.hiden=3"], "did you mean 'network.hidden'?"),
        (["train", "missing.csv", "-o", "run"], "missing.csv: there is no such file"),
        (["train", "missing[x].csv", "-o", "run"], "missing[x].csv: there is no such file"),
        (["train", "in.g6", "-o", "run"], "targets: name the columns"),
        (["train", "in.g6", "-o", "run", "--targets", "y", "--kind", "ranking"], "kind: 'ranking'; expected one of"),
        (["predict", "no-run", "in.g6", "-o", "out.csv"], "no-run"),
        (["export", "no-run", "-o", "model.onnx"], "no-run"),
    ],
)
def test_mistakes_are_told_in_plain_words(escgnn, tmp_path, arguments, message):
    (tmp_path / "in.g6").write_text("Bw\nB\x01\n")
    (tmp_path / "in.xyz").write_text("?\n")
    (tmp_path / "star.csv").write_text("graph,source,target\n" + "".join(f"0,0,{leaf}\n" for leaf in range(1, 100)))
    assert message in " ".join(escgnn(*arguments, check=False).split())
    assert not (tmp_path / "out.parquet").exists()


def test_explore_says_what_is_wrong(escgnn, tmp_path):
    (tmp_path / "two.g6").write_text("Bw\nC~\n")
    assert "not a SMILES string" in escgnn("explore", "C1CC", check=False)
    assert "hops: 'x'; expected a number" in escgnn("explore", "0-1", "--hops", "x", check=False)
    assert "unknown part 'edges'" in escgnn("explore", "0-1", "--parts", "edges", check=False)
    assert "row: 2; two.g6 has fewer graphs" in escgnn("explore", "two.g6", "--row", 2, check=False)
    assert "model.json is not there" in escgnn("explore", "0-1", "--run", "nowhere", check=False)


@pytest.mark.parametrize(("chosen", "found"), [(None, "PASSIVE"), ("ACTIVE", "ACTIVE")])
def test_threads_give_way(chosen, found):
    """Set before torch is loaded, which reads it once; what the user chose stays."""
    code = (
        "import atexit, os, sys; from escgnn.cli import main; assert 'torch' not in sys.modules;"
        "sys.argv = ['escgnn', '--version'];"
        "atexit.register(lambda: print(os.environ['OMP_WAIT_POLICY'])); main()"
    )
    environment = {name: value for name, value in os.environ.items() if name != "OMP_WAIT_POLICY"}
    environment |= {} if chosen is None else {"OMP_WAIT_POLICY": chosen}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    assert done.stdout.split()[-1] == found


def test_what_is_wrong_with_a_smiles_is_told_of_it(monkeypatch):
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(b"CC\n")))
    for source, called in (("CCO", "CCO"), ("-", "standard input")):
        with pytest.raises(ValueError, match=f"^{called}: no table$"), given_file(source) as held:
            raise ValueError(f"{held}: no table")
