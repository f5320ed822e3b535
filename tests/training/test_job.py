"""Predictions for files: nothing is lost, nothing is fatal."""

import csv
import gzip
import weakref
from dataclasses import replace

import networkx
import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest

from escgnn import graphs
from escgnn.datasets import FEATURES, DatasetBundle, Feature, load, read_smiles
from escgnn.disk import Rejected
from escgnn.readers import rows as reading
from escgnn.training import evaluate, fit, job, load_run, predict, predict_file
from tests.training import tiny
from tests.training.tiny import change

SMILES = ["CCO", "c1ccccc1", "CC(=O)O", "CCN", "C1CCCCC1", "CC#N", "OCCO", "CCCC", "c1ccncc1", "CS", "N", "CCCl"] * 2


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("molecules")
    lines = ["smiles,weight,acid", *(f"{text},{len(text)},{int('O' in text)}" for text in SMILES)]
    (folder / "train.csv").write_text("\n".join(lines))
    bundle = load(folder / "train.csv", targets=["weight", "acid"], kind="regression")
    fit(bundle, change(epochs=1), folder / "run", progress=False)
    return load_run(folder / "run")


@pytest.fixture(scope="module")
def bare(tmp_path_factory):
    """Networks that read no features, by level and kind."""
    found = {}
    for level, kind in (("graph", "regression"), ("node", "regression"), ("graph", "multiclass")):
        folder, bundle = tmp_path_factory.mktemp("bare"), tiny.bundle(kind, level=level)
        fit(DatasetBundle("b", bundle.graphs, bundle.task, {}, bundle.split), change(epochs=1), folder, progress=False)
        found[level, kind] = load_run(folder)
    return found


def encode(graph):
    return networkx.to_graph6_bytes(graph.to_networkx(), header=False).decode().strip()


def read(path):
    with path.open(newline="") as stream:
        return [*csv.reader(stream)]


def test_a_graph_that_takes_too_long_has_no_prediction(bare, tmp_path):
    leaves = "".join(f"1,0,{leaf}\n" for leaf in range(1, 50_000))
    (tmp_path / "in.csv").write_text(f"graph,source,target\n0,0,1\n{leaves}2,3,4\n")
    run = bare["graph", "regression"]
    summary = predict_file(run, tmp_path / "in.csv", tmp_path / "out.tsv", max_seconds_per_graph=0.2)
    assert (summary.predicted, summary.rows) == (2, 3)
    status = [line.split("\t")[-1].strip('"') for line in (tmp_path / "out.tsv").read_text().splitlines()[1:]]
    assert status == ["ok", "it takes longer than 0.2 s, the limit max_seconds_per_graph", "ok"]


def test_one_line_of_megabytes_is_one_bad_row(run, tmp_path):
    (tmp_path / "in.csv").write_text(f'smiles\nCCO\n{"C" * 5_000_000}\n"{"C1CC1" * 1_000_000}"\nCCN\n')
    summary = predict_file(run, tmp_path / "in.csv", tmp_path / "out.parquet")
    assert pq.read_table(tmp_path / "out.parquet")["status"].to_pylist() == [
        "ok",
        "a SMILES of 5,000,000 letters; at most 100,000 are read",
        "a cell in quotes has more than 131,072 letters",
        "ok",
    ]
    assert summary.predicted == 2


def test_csv_with_broken_rows(run, tmp_path):
    (tmp_path / "in.csv").write_bytes(
        b"\xef\xbb\xbfid,SMILES,note\n"
        b'007,CCO,"a, ""b"""\n'
        b"8,C1CC,ring left open\n"
        b"9,,empty\n"
        b"\n"
        b"10,C(C)(C)(C)(C)C,valence\n"
        b"11,CCN\n"
        b'12,CCN,"two\nlines"\n'
        b"13,CC\xff,latin\n"
        b"14,c1ccccc1,\xc3\xa9\n"
        b"15,C\xc3\xa9C,strange letter\n"
        b"16,C1CCC1 cyclobutan\xc3\xa9,a name behind it\n"
    )
    seen = []
    summary = predict_file(run, tmp_path / "in.csv", tmp_path / "out.csv", progress=lambda *at: seen.append(at))
    header, *rows = read(tmp_path / "out.csv")
    assert header == ["id", "SMILES", "note", "pred_weight", "pred_acid", "status"]
    assert [row[0] for row in rows] == ["007", "8", "9", "10", "11", "12", "13", "14", "15", "16"]
    assert [row[-1] for row in rows if row[0] in ("007", "12", "14", "16")] == ["ok"] * 4
    assert rows[0][2] == 'a, "b"' and rows[5][2] == "two\nlines" and rows[7][2] == "é"
    bad = {row[0]: row for row in rows if row[-1] != "ok"}
    assert {*bad} == {"8", "9", "10", "11", "13", "15"}
    assert all(row[3:5] == ["", ""] for row in bad.values())
    assert "not a SMILES" in bad["8"][-1] and "empty" in bad["9"][-1] and "valence" in bad["10"][-1]
    assert bad["11"][-1] == "has 2 cells, the header 3" and "UTF-8" in bad["13"][-1]
    assert bad["15"][-1] == "not a SMILES string: it has letters outside ASCII"
    assert (summary.rows, summary.predicted, summary.rejects) == (10, 4, None)
    assert [problem.line for problem in summary.problems] == [3, 4, 6, 7, 10, 12]
    assert summary.problems[0] == Rejected(3, "C1CC", "not a SMILES string")
    assert seen[-1][0] == seen[-1][1] == (tmp_path / "in.csv").stat().st_size
    expected = predict(run, read_smiles(["CCO", "CCN", "c1ccccc1", "C1CCC1"]).graphs).numpy()
    found = np.array([[float(cell) for cell in row[3:5]] for row in rows if row[-1] == "ok"])
    np.testing.assert_allclose(found, expected, rtol=1e-6)


def test_rows_that_are_at_fault_say_why(run, tmp_path):
    """They keep the cells that have a column, whatever is wrong with them."""
    (tmp_path / "in.csv").write_bytes(b"id,smiles\n1,CCO,more\n2,CCO\n\xb5,CC\xb5\n4,[H][H]\n")
    predict_file(run, tmp_path / "in.csv", tmp_path / "out.csv")
    rows = read(tmp_path / "out.csv")[1:]
    assert [row[:2] for row in rows] == [["1", "CCO"], ["2", "CCO"], ["\u00b5", "CC\\xb5"], ["4", "[H][H]"]]
    assert [row[2] == "" for row in rows] == [True, False, True, True]
    assert [row[-1] for row in rows] == [
        "has 3 cells, the header 2",
        "ok",
        "not UTF-8 text; save the file as UTF-8",
        "the molecule has no heavy atoms",
    ]


def test_parquet_keeps_types(run, tmp_path):
    columns = {
        "number": pa.array([1, None, 3], pa.int32()),
        "smiles": pa.array(["CCO", None, "CC"]),
        "tags": pa.array([["a"], [], None], pa.list_(pa.string())),
    }
    pq.write_table(pa.table(columns), tmp_path / "in.parquet")
    summary = predict_file(run, tmp_path / "in.parquet", tmp_path / "out.parquet")
    table = pq.read_table(tmp_path / "out.parquet")
    assert table.column_names == ["number", "smiles", "tags", "pred_weight", "pred_acid", "status"]
    assert table.select(["number", "smiles", "tags"]).equals(pa.table(columns))
    assert table["pred_weight"].null_count == 1 and table["status"].to_pylist()[::2] == ["ok", "ok"]
    assert (summary.rows, summary.predicted) == (3, 2)


def test_other_ways_to_give_smiles(run, tmp_path):
    expected = predict(run, read_smiles(["CCO", "CCN"]).graphs).numpy()[:, 0]
    (tmp_path / "a.tsv").write_text("smiles\tmolecule\nx\tCCO\ny\tCCN\n")
    (tmp_path / "b.smi").write_text("CCO ethanol\n\nCCN\n")
    (tmp_path / "c.csv.gz").write_bytes(gzip.compress(b"Smiles\nCCO\nCCN\n"))
    for name, options in (("a.tsv", {"smiles": "molecule"}), ("b.smi", {}), ("c.csv.gz", {})):
        predict_file(run, tmp_path / name, tmp_path / "out.csv", **options)
        header, *rows = read(tmp_path / "out.csv")
        place = header.index("pred_weight")
        np.testing.assert_allclose([float(row[place]) for row in rows], expected, rtol=1e-6)
    predict_file(run, tmp_path / "b.smi", tmp_path / "out.csv")
    assert [row[0] for row in read(tmp_path / "out.csv")] == ["smiles", "CCO ethanol", "CCN"]


def test_graph6(bare, tmp_path):
    lines = [encode(graphs.cycle(5)), "C~~~~", encode(graphs.star(4)), ":~~~~~~~~"]
    (tmp_path / "in.g6").write_text("\n".join(lines) + "\n")
    summary = predict_file(bare["graph", "regression"], tmp_path / "in.g6", tmp_path / "out.csv")
    header, *rows = read(tmp_path / "out.csv")
    assert header == ["graph", "pred_t0", "pred_t1", "status"]
    assert [row[0] for row in rows] == lines
    assert rows[1][1:3] == ["", ""] and rows[1][-1] != "ok" and (summary.rows, summary.predicted) == (4, 2)
    assert "at most" in rows[3][-1], "a line may claim any number of nodes"
    expected = predict(bare["graph", "regression"], [graphs.cycle(5), graphs.star(4)]).numpy()
    np.testing.assert_allclose([float(row[1]) for row in rows[:3:2]], expected[:, 0], rtol=1e-6)


def test_edge_lists_and_nodes(bare, tmp_path):
    (tmp_path / "in.csv").write_text("graph,source,target\na,10,20\na,20,30\na,10,30\nb,1,x\nb,1,2\n")
    summary = predict_file(bare["node", "regression"], tmp_path / "in.csv", tmp_path / "out.csv")
    header, *rows = read(tmp_path / "out.csv")
    assert header == ["graph", "node", "pred_t0", "pred_t1", "status"]
    assert [row[:2] for row in rows] == [["a", "10"], ["a", "20"], ["a", "30"], ["b", "1"], ["b", "2"]]
    assert (summary.rows, summary.predicted) == (2, 2)
    assert [row[0] for row in read(summary.rejects)] == ["line", "5"]


def test_nodes_of_molecules_and_of_nothing(bare, tmp_path):
    node = bare["node", "regression"]
    (tmp_path / "in.csv").write_text("id,smiles\n1,CCO\n2,bad\n3,CN\n")
    predict_file(node, tmp_path / "in.csv", tmp_path / "out.csv")
    rows = read(tmp_path / "out.csv")[1:]
    nodes = [("1", "0"), ("1", "1"), ("1", "2"), ("2", ""), ("3", "0"), ("3", "1")]
    assert [(row[0], row[2]) for row in rows] == nodes
    (tmp_path / "in.g6").write_text(f"{encode(graphs.empty(0))}\n{encode(graphs.empty(2))}\n")
    summary = predict_file(node, tmp_path / "in.g6", tmp_path / "out.csv")
    assert [row[-1] for row in read(tmp_path / "out.csv")[1:]] == ["the graph has no nodes", "ok", "ok"]
    assert (summary.rows, summary.predicted) == (2, 1)


def test_classes(bare, tmp_path):
    (tmp_path / "in.g6").write_text(f"{encode(graphs.cycle(5))}\n?~\n")
    predict_file(bare["graph", "multiclass"], tmp_path / "in.g6", tmp_path / "out.parquet")
    table = pq.read_table(tmp_path / "out.parquet")
    assert table.column_names == ["graph", "pred_t0", "pred_t0_0", "pred_t0_1", "pred_t0_2", "status"]
    chances = [table[f"pred_t0_{i}"][0].as_py() for i in range(3)]
    assert sum(chances) == pytest.approx(1) and table["pred_t0"].to_pylist() == [int(np.argmax(chances)), None]


@pytest.mark.parametrize(
    ("labels", "options"),
    [(["salt", "sweet, or bitter", "sour"], {}), ([3, 7, -1], {"kind": "multiclass"})],
    ids=["words", "numbers"],
)
def test_classes_keep_their_names(tmp_path, labels, options):
    """A table with named classes comes back with these names, and can be judged."""
    columns = {"smiles": SMILES, "taste": [labels[len(text) % 3] for text in SMILES]}
    pa.csv.write_csv(pa.table(columns), tmp_path / "train.csv")
    bundle = load(tmp_path / "train.csv", targets=["taste"], **options)
    names = [str(label) for label in sorted(labels)]
    assert (bundle.task.kind, [*bundle.task.names]) == ("multiclass", names)
    fit(bundle, change(epochs=1), tmp_path / "run", progress=False)
    run = load_run(tmp_path / "run")
    assert run.task == bundle.task and evaluate(run, bundle)["accuracy"] >= 0

    predict_file(run, tmp_path / "train.csv", tmp_path / "out.parquet")
    table = pq.read_table(tmp_path / "out.parquet")
    assert table.column_names == ["smiles", "taste", "pred_taste", *(f"pred_taste_{name}" for name in names), "status"]
    likely = predict(run, read_smiles(SMILES).graphs).argmax(1).tolist()
    assert table["pred_taste"].to_pylist() == [sorted(labels)[number] for number in likely]
    predict_file(run, tmp_path / "train.csv", tmp_path / "out.csv")
    assert [row[2] for row in read(tmp_path / "out.csv")[1:]] == [names[number] for number in likely]


def test_one_graph_that_cannot_be_encoded_spoils_no_other(bare, tmp_path, monkeypatch):
    def encode_or_not(batch):
        if (batch.ptr.diff() == 7).any():
            raise ValueError("seven is too many")
        return original(batch)

    original = bare["graph", "regression"].transform
    run = replace(bare["graph", "regression"], transform=encode_or_not)
    lines = [encode(graphs.cycle(6)), "no graph", *(encode(graphs.cycle(n)) for n in (7, 8))]
    (tmp_path / "in.g6").write_text("\n".join(lines))
    summary = predict_file(run, tmp_path / "in.g6", tmp_path / "out.csv")
    first, unread, *others = (row[-1] for row in read(tmp_path / "out.csv")[1:])
    assert [first, *others] == ["ok", "seven is too many", "ok"] and unread not in ("ok", "seven is too many")
    assert summary.predicted == 2


def test_memory_does_not_grow_with_the_file(run, tmp_path, monkeypatch):
    """Never are more than two chunks alive: the one in hand, and the one before until it is replaced."""
    alive, most, sizes = weakref.WeakSet(), [], []
    original = job.from_parsed

    def counted(graphs):
        result = original(graphs)
        alive.add(result)
        most.append(len(alive))
        sizes.append(len(result))
        return result

    monkeypatch.setattr(job, "from_parsed", counted)
    monkeypatch.setattr(reading, "ROWS", 16)
    (tmp_path / "in.csv").write_text("smiles\n" + "CCO\n" * 330)
    predict_file(run, tmp_path / "in.csv", tmp_path / "out.csv")
    assert max(most) <= 2 and max(sizes) == 16 and sum(sizes) == 330
    assert len(read(tmp_path / "out.csv")) == 331


def test_workers(run, tmp_path, monkeypatch):
    """A process of its own, many chunks: the same file."""
    monkeypatch.setattr(reading, "ROWS", 16)
    (tmp_path / "in.csv").write_text(
        "smiles\n" + "".join(f"{'C' * (1 + i % 7)}{'(' * (i % 5 == 0)}\n" for i in range(330))
    )
    predict_file(run, tmp_path / "in.csv", tmp_path / "a.csv")
    predict_file(run, tmp_path / "in.csv", tmp_path / "b.csv", workers=1)
    assert (tmp_path / "a.csv").read_bytes() == (tmp_path / "b.csv").read_bytes()


def test_what_is_refused(run, bare, tmp_path):
    (tmp_path / "in.csv").write_text("smiles,status\nCCO,1\n")
    (tmp_path / "in.g6").write_text(encode(graphs.cycle(5)))
    (tmp_path / "empty.csv").write_text("smiles,other\n")
    strange = replace(run, features={"x": Feature("categorical", (3,))})
    for network, source, message in [
        (run, "in.csv", "has a column status already"),
        (run, "in.g6", "holds bare graphs, but the network reads x, edge_attr of molecules"),
        (run, "empty.csv", "has no rows"),
        (strange, "in.csv", "not made from SMILES"),
    ]:
        with pytest.raises(ValueError, match=message):
            predict_file(network, tmp_path / source, tmp_path / "out.csv")
    assert not (tmp_path / "out.csv").exists()


@pytest.mark.parametrize("name", FEATURES)
def test_a_network_may_read_nodes_alone(run, name):
    assert job.feature_set(replace(run, features={"x": FEATURES[name]["x"]})) == name
    assert job.feature_set(replace(run, features=FEATURES[name])) == name


def test_the_input_is_kept(run, tmp_path):
    content = "smiles\nCCO\n"
    for name in ("in.csv", "in.rejected.csv", "out.rejected.csv"):
        (tmp_path / name).write_text(content)
    for source in ("in.csv", "in.rejected.csv"):
        with pytest.raises(ValueError, match=rf"in\.csv: .* would replace the input .*{source}; choose another output"):
            predict_file(run, tmp_path / source, tmp_path / "in.csv")
    assert predict_file(run, tmp_path / "in.csv", tmp_path / "out.csv").rejects is None
    assert {path.read_text() for path in tmp_path.iterdir() if path.name != "out.csv"} == {content}
