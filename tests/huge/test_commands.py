"""`escgnn graph`, and `escgnn encode` of what it wrote."""

import subprocess
import sys

import numpy as np
import pytest
from typer.testing import CliRunner

from escgnn import graphs
from escgnn.cli import app
from escgnn.encoding import RootedEncoding
from escgnn.huge import RowStore, open_graph


def run(*arguments):
    return CliRunner().invoke(app, [*map(str, arguments)])


@pytest.fixture
def edges(tmp_path):
    graph = graphs.barabasi_albert(50, 2, seed=0)
    text = "".join(f"{u},{v}\n" for u, v in graph.edges.tolist())
    (tmp_path / "edges.csv").write_text(f"a,b\n{text}x,1\n3,3\n")
    return tmp_path / "edges.csv"


def test_from_a_list_to_rows(edges, tmp_path):
    done = run("graph", edges, "-o", tmp_path / "g.escg", "--columns", "a,b", "--nodes", 60, "--memory", 1)
    assert done.exit_code == 0, done.output
    assert "60 nodes, 96 edges" in done.output
    assert "1 loops, 0 repeats and 1 bad rows left out" in done.output
    assert "bad rows are listed in" in done.output
    graph = open_graph(tmp_path / "g.escg")
    assert (graph.num_nodes, graph.num_edges) == (60, 96)
    done = run("encode", tmp_path / "g.escg", "-o", tmp_path / "g.escr", "--hops", 1, "--max-nodes", 20)
    assert done.exit_code == 0, done.output
    assert "192 rows of" in done.output
    store = RowStore(tmp_path / "g.escr", check=True)
    store.check_graph(graph)
    assert store.encoding == RootedEncoding(1, max_nodes=20)
    roots, rows = next(store.encoding.blocks(graph))
    assert len(roots) == 192
    assert np.array_equal(store.take(np.arange(192)).dense(), rows.dense())


def test_errors_are_told(edges, tmp_path):
    assert run("graph", edges, "-o", tmp_path / "g.escg", "--columns", "a").exit_code == 2
    done = run("graph", edges, "-o", tmp_path / "g.escg", "--columns", "a,b", "--strict")
    assert "line 98: a 'x' is not an integer" in str(done.exception)
    run("graph", edges, "-o", tmp_path / "g.escg", "--columns", "a,b")
    done = run("encode", tmp_path / "g.escg", "-o", tmp_path / "g.escg")
    assert "it would replace the input" in str(done.exception)
    done = run("encode", tmp_path / "g.escg", "-o", tmp_path / "g.escr", "--strict", "--workers", 2)
    assert done.exit_code == 2
    assert "--strict, --workers: for files of many graphs" in " ".join(done.output.split())
    (tmp_path / "x.escg").write_text("no graph")
    assert "no file of arrays" in str(run("encode", tmp_path / "x.escg", "-o", tmp_path / "x.escr").exception)


def test_torch_is_not_loaded(edges, tmp_path):
    code = "import sys; from escgnn.huge import build_graph, encode_graph, sample; print('torch' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
