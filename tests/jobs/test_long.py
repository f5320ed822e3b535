"""Graphs that may take for ever: told beforehand, followed, and given up when their time is over."""

import time
import warnings

import networkx as nx
import pyarrow.parquet as pq
import pytest

from escgnn import graphs
from escgnn.counting import count
from escgnn.encoding import RootedEncoding
from escgnn.jobs import LongWorkWarning, count_file, encode_file, long
from escgnn.kernels import threads
from escgnn.kernels.threads import TooLongError, watched

LEAVES = 200_000


@pytest.fixture
def dense(tmp_path):
    """Three graphs, the second of which has more 8-cycles than anybody can meet."""
    members = [nx.complete_graph(4), nx.complete_graph(120), nx.cycle_graph(8)]
    path = tmp_path / "dense.g6"
    path.write_bytes(b"".join(nx.to_graph6_bytes(member, header=False) for member in members))
    return path


@pytest.fixture(scope="module")
def star(tmp_path_factory):
    """An edge, a star, another edge."""
    path = tmp_path_factory.mktemp("star") / "star.csv"
    leaves = "".join(f"1,0,{leaf}\n" for leaf in range(1, LEAVES))
    path.write_text(f"graph,source,target\n0,0,1\n{leaves}2,3,4\n")
    return path


def test_a_count_that_cannot_end_is_a_bad_row(dense, tmp_path):
    seen = set()
    summary = count_file(
        dense,
        tmp_path / "out.csv",
        "8-cycle",
        max_seconds_per_graph=0.3,
        progress=lambda read, total, inside: seen.add(inside),
    )
    assert (tmp_path / "out.csv").read_text().split() == ['"graph","count"', "0,0", "2,1"]
    assert (summary.graphs, summary.rejected) == (2, 1)
    assert summary.rejects.read_text().splitlines()[1:] == [
        '2,graph 1,"it takes longer than 0.3 s, the limit max_seconds_per_graph"'
    ]
    assert "graph 1: 0%" in seen
    with pytest.raises(ValueError, match=r"dense\.g6: line 2: it takes longer than 0\.3 s"):
        count_file(dense, tmp_path / "out.csv", "8-cycle", max_seconds_per_graph=0.3, strict=True)


def test_nothing_is_left_of_a_graph_that_was_given_up(star, tmp_path):
    summary = encode_file(star, tmp_path / "out.parquet", RootedEncoding(2), max_seconds_per_graph=0.3)
    assert pq.read_table(tmp_path / "out.parquet")["graph"].to_pylist() == [0, 0, 2, 2]
    assert (summary.graphs, summary.edges, summary.rejected) == (2, 2, 1)
    assert summary.rejects.read_text().splitlines()[1].startswith("3,graph 1,")


@pytest.mark.parametrize("seconds", [0, -1, float("nan"), float("inf")])
def test_limits_that_are_none(dense, tmp_path, seconds):
    with pytest.raises(ValueError, match=r"max_seconds_per_graph: .*; expected a number above 0"):
        count_file(dense, tmp_path / "out.csv", "3-cycle", max_seconds_per_graph=seconds)


def test_a_warning_names_the_graph(dense, tmp_path):
    def stop(read, total, inside):
        if inside:
            raise KeyboardInterrupt

    with (
        pytest.warns(
            LongWorkWarning, match="graph 1, with 120 nodes and 7,140 edges, may take up to days; max_seconds"
        ),
        pytest.raises(KeyboardInterrupt),
    ):
        encode_file(dense, tmp_path / "out.parquet", RootedEncoding(1, ("cycle",)), progress=stop)
    assert [path.name for path in tmp_path.iterdir()] == ["dense.g6"]


def test_long_graphs_alone_give_what_all_give_together(tmp_path, monkeypatch):
    path = tmp_path / "in.g6"
    members = [nx.gnp_random_graph(6 + i, 0.5, seed=i) for i in range(12)]
    path.write_bytes(b"".join(nx.to_graph6_bytes(member, header=False) for member in members))
    encoding = RootedEncoding(2, nodes=True)

    def table(name, **options):
        summary = encode_file(path, tmp_path / name, encoding, **options)
        found = pq.read_table(tmp_path / name).sort_by(
            [("graph", "ascending"), ("source", "ascending"), ("target", "ascending")]
        )
        return found.to_pylist(), (summary.graphs, summary.edges, summary.rows)

    expected = table("together.parquet")
    monkeypatch.setattr(long, "ALONE", 1e-5)
    assert table("alone.parquet") == table("limited.parquet", max_seconds_per_graph=100) == expected


every_search = pytest.mark.parametrize(
    "work",
    [
        lambda: count(graphs.complete(120), "8-cycle"),
        lambda: count(graphs.complete(150), "6-clique", per="edge"),
        lambda: count(graphs.complete(120), "6-path"),
        lambda: RootedEncoding(1, ("cycle",)).rows(graphs.complete(120)),
    ],
    ids=["cycles", "cliques", "match", "cycle"],
)


@every_search
def test_every_search_can_be_ended(work):
    with pytest.raises(TooLongError), watched(until=0.0):
        work()


@every_search
def test_a_search_that_nobody_follows_warns(work, monkeypatch):
    """As an error here, which ends it."""
    monkeypatch.setattr(threads, "PATIENCE", 0.0)
    with (
        warnings.catch_warnings(action="error", category=LongWorkWarning),
        pytest.raises(
            LongWorkWarning, match=r"after 0 s of work 0% is done: dense graphs take long, .*; Ctrl-C ends it"
        ),
    ):
        work()


def test_a_search_that_is_followed_does_not_warn(monkeypatch):
    monkeypatch.setattr(threads, "PATIENCE", 0.0)
    with pytest.raises(TooLongError), watched(until=time.monotonic() + 0.5):
        RootedEncoding(1, ("cycle",)).rows(graphs.complete(120))


def test_work_that_warned_goes_on(monkeypatch):
    monkeypatch.setattr(threads, "PATIENCE", 0.0)

    def task(start, stop):
        time.sleep(3 * threads.TICK)
        return start

    with pytest.warns(LongWorkWarning) as caught:
        assert threads.over_blocks(task, 4, 1, 2, halt=threads.new_halt()) == [0, 1, 2, 3]
    assert len(caught) == 1
