import gzip
import hashlib
import sys
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest
import torch

from escgnn import datasets
from escgnn.datasets import splits, tables
from escgnn.datasets.molecules import OGB_FEATURES, ZINC_FEATURES

TABLE = """name,SMILES,logS,active,part,kind
a,CCO,-0.5,1,train,alcohol
b,c1ccccc1,1.5,0,Valid,ring
c,C1CC,0.1,1,train,ring
d,C,,0,test,gas
e,CC,oops,,test,gas
f,O,0.25,1,,liquid
g,short
"""


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "mine.csv"
    path.write_text(TABLE)
    return path


def test_a_table_of_smiles(table):
    bundle = datasets.load(table, targets=["logS"])
    assert bundle.name == "mine.csv"
    assert (bundle.task.level, bundle.task.kind, bundle.task.metric) == ("graph", "regression", "mae")
    assert bundle.features == OGB_FEATURES
    assert bundle.graphs.column("y")[:, 0].tolist() == [-0.5, 1.5, 0.25]
    assert bundle.graphs.num_nodes.tolist() == [3, 6, 1]
    assert sum(map(len, (bundle.train, bundle.validation, bundle.test))) == 3
    assert [(row.line, row.reason) for row in bundle.rejected] == [
        (4, "not a SMILES string"),
        (5, "no target has a value"),
        (6, "logS: 'oops' is not a number"),
        (8, "has 2 cells, the header 6"),
    ]


def test_several_targets_may_lack_values(table):
    bundle = datasets.load(table, smiles="SMILES", targets=["logS", "active"], features="zinc")
    assert bundle.features == ZINC_FEATURES
    assert bundle.task.kind == "regression"
    assert np.array_equal(
        bundle.graphs.column("y"), np.array([[-0.5, 1], [1.5, 0], [np.nan, 0], [0.25, 1]]), equal_nan=True
    )
    assert bundle.statistics.targets["logS"].mean == pytest.approx(1.25 / 3)


def test_zeros_and_ones_are_classes(table):
    assert datasets.load(table, targets=["active"]).task.kind == "binary"
    assert datasets.load(table, targets=["active"], kind="regression").task.kind == "regression"
    table.write_text("smiles,a,b\nC,1,0\nCC,0,0\nCCC,0,1\n")
    both = datasets.load(table, targets=["a", "b"])
    assert both.task.kind == "multilabel"
    assert both.graphs.column("y").tolist() == [[1, 0], [0, 0], [0, 1]]


@pytest.mark.parametrize("kind", ["binary", "multilabel"])
@pytest.mark.parametrize("value", ["0.3", "1.2", "2", "-1"])
def test_yes_or_no_is_0_or_1(table, kind, value):
    table.write_text(f"smiles,a,b\nC,0,1\nCC,NA,0\nCCC,{value},1\n")
    message = (
        rf"mine\.csv: line 4: a is '{value}'; {kind} needs 0 and 1: kind='multiclass' takes all values for classes"
    )
    with pytest.raises(ValueError, match=message):
        datasets.load(table, targets=["b", "a"] if kind == "multilabel" else ["a"], kind=kind)


def test_words_are_not_yes_or_no(table):
    table.write_text("smiles,a,b\nC,-,1\nCC,yes,0\nCCC,no,oops\n")
    message = r"mine\.csv: line 3: a is 'yes'; binary needs 0 and 1: words are classes by themselves, without a kind"
    with pytest.raises(ValueError, match=message):
        datasets.load(table, targets=["a"], kind="binary")
    bundle = datasets.load(table, targets=["b"], kind="binary")
    assert [(row.line, row.reason) for row in bundle.rejected] == [(4, "b: 'oops' is not a number")]


@pytest.mark.parametrize("cell", ["", "NA", "n/a", " NaN ", "null", "NONE", "-"])
def test_unknown_values(table, cell):
    table.write_text(f"smiles,y,z,word\nC,1.5,{cell},a\nCC,{cell},2,b\nCCC,3,4,{cell}\nCCCC,5,6,a\nO,7,8,b\n")
    bundle = datasets.load(table, targets=["y", "z"])
    assert bundle.graphs.column("y")[:2].isnan().tolist() == [[False, True], [True, False]] and not bundle.rejected
    for targets, line in (["y"], 3), (["word"], 4):
        bundle = datasets.load(table, targets=targets)
        assert [(row.line, row.reason) for row in bundle.rejected] == [(line, "no target has a value")]
    assert bundle.task.names == ("a", "b")


def test_unknown_values_of_parquet(tmp_path):
    pq.write_table(pa.table({"smiles": ["C", "CC", "O"], "y": [0.5, float("nan"), None]}), tmp_path / "mine.parquet")
    assert len(datasets.load(tmp_path / "mine.parquet", targets=["y"]).rejected) == 2


def test_named_classes(table):
    bundle = datasets.load(table, targets=["kind"], kind="multiclass")
    assert (bundle.task.classes, bundle.task.metric) == (4, "accuracy")
    assert bundle.graphs.column("y")[:, 0].tolist() == [0, 3, 1, 1, 2]  # alcohol, gas, liquid, ring
    assert bundle.task.names == ("alcohol", "gas", "liquid", "ring")


def test_words_that_occur_again_are_classes(table):
    rows = "\n".join(f"{'C' * n},{'odd' if n % 2 else 'even'},mol{n},{n % 3}" for n in range(1, 9))
    table.write_text(f"smiles,parity,name,rest\n{rows}\n")
    bundle = datasets.load(table, targets=["parity"])
    assert (bundle.task.kind, bundle.task.names) == ("multiclass", ("even", "odd"))
    assert datasets.load(table, targets=["rest"]).task.kind == "regression"
    numbered = datasets.load(table, targets=["rest"], kind="multiclass")
    assert numbered.task.names == ("0", "1", "2")
    with pytest.raises(ValueError, match="8 rows are bad, 1 of them: name: 'mol1' is not a number"):
        datasets.load(table, targets=["name"])
    with pytest.raises(ValueError, match="is not a number"):
        datasets.load(table, targets=["parity", "rest"], kind="regression")
    table.write_text("smiles,same\nC,a\nCC,a\n")
    with pytest.raises(ValueError, match="same has 1 different values; classes are two or more"):
        datasets.load(table, targets=["same"], kind="multiclass")


def test_targets_beyond_all_numbers_are_bad_rows(table):
    """Single precision is what they are kept in; nan is an unknown value like an empty cell."""
    table.write_text("smiles,y,z\nC,1,2\nCC,inf,2\nCCC,1e60,2\nCCCC,nan,2\nCCCCC,3.4e38,-Infinity\nO,-3.4e38,\n")
    bundle = datasets.load(table, targets=["y", "z"])
    assert [(row.line, row.reason) for row in bundle.rejected] == [
        (3, "y: 'inf' is not a finite number"),
        (4, "y: '1e60' is not a finite number"),
        (6, "z: '-Infinity' is not a finite number"),
    ]
    expected = np.array([[1, 2], [np.nan, 2], [-3.4e38, np.nan]], np.float32)
    assert np.array_equal(bundle.graphs.column("y"), expected, equal_nan=True)


@pytest.mark.parametrize("cells", [("x", "2", "10", "-inf"), ("10", "-inf", "x", "2"), ("2", "x", "-inf", "10")])
def test_the_order_of_classes_does_not_depend_on_that_of_rows(table, cells):
    table.write_text("smiles,y\n" + "".join(f"{'C' * n},{cell}\n" for n, cell in enumerate(cells, 1)))
    assert datasets.load(table, targets=["y"], kind="multiclass").task.names == ("2", "10", "-inf", "x")


def test_splits(table, tmp_path):
    by_column = datasets.load(table, targets=["logS"], split="column:part").split
    assert [part.tolist() for part in by_column] == [[0], [1], []]  # the last one says nothing
    (tmp_path / "split.csv").write_text("graph,split\n0,test\n1,train\n5,val\n")
    by_file = datasets.load(table, targets=["logS"], split=f"file:{tmp_path / 'split.csv'}").split
    assert [part.tolist() for part in by_file] == [[1], [2], [0]]
    scaffolds = datasets.load(table, targets=["logS"], split="scaffold", fractions=(0.7, 0.0, 0.3)).split
    assert [part.tolist() for part in scaffolds] == [[0, 2], [], [1]]
    one, two = (datasets.load(table, targets=["logS"], seed=seed).split for seed in (0, 1))
    assert [part.tolist() for part in one] != [part.tolist() for part in two]


def test_sizes_of_a_split(table):
    """Fractions that binary numbers round: 0.7 of 90 are 63, and 0.07 of 100 are 7."""
    table.write_text("smiles,y\n" + "".join(f"{'C' * n},{n}\n" for n in range(1, 91)))
    for text, sizes in {"70/20/10": [63, 18, 9], "0.7/0.2/0.1": [63, 18, 9], "random:50/0/50": [45, 0, 45]}.items():
        split = datasets.load(table, targets=["y"], split=text).split
        assert [len(subset) for subset in split] == sizes
    same = datasets.load(table, targets=["y"], split="random", fractions=(0.7, 0.2, 0.1)).split
    assert np.array_equal(datasets.load(table, targets=["y"], split="70/20/10").split.train, same.train)
    for fractions, count, sizes in [((0.7, 0.2, 0.1), 90, [63, 18, 9]), ((0.07, 0.03, 0.9), 100, [7, 3, 90])]:
        assert [len(subset) for subset in splits.random_split(count, fractions)] == sizes
        assert [len(subset) for subset in splits.grouped_split([*map(str, range(count))], fractions)] == sizes
    table.write_text("smiles,y\nC1CC1,1\nC1CC1C,2\nC1CCC1,3\nCC1CCC1,4\nCCC1CCC1,5\n")
    by_scaffold = datasets.load(table, targets=["y"], split="scaffold:60/40/0").split
    assert [subset.tolist() for subset in by_scaffold] == [[2, 3, 4], [0, 1], []]


def test_labels_of_subsets_are_what_people_write(table):
    labels = ["train", "training", "val", "valid", "Validation", " dev ", "TEST", ""]
    table.write_text("smiles,y,part\n" + "".join(f"{'C' * n},{n},{label}\n" for n, label in enumerate(labels, 1)))
    split = datasets.load(table, targets=["y"], split="column:part").split
    assert [subset.tolist() for subset in split] == [[0, 1], [2, 3, 4, 5], [6]]


MIXED = "smiles,logP,active,colour\nC,0.5,1,red\nCC,,0,blue\nCCC,1.5,NA,red\nCCCC,-2,1,\nO,oops,1,blue\nN,,,\n"


@pytest.mark.parametrize("kind", [None, ["regression", "binary", "multiclass"]])
def test_targets_of_several_kinds(table, kind):
    table.write_text(MIXED)
    bundle = datasets.load(table, targets=["logP", "active", "colour"], kind=kind)
    task = bundle.task
    assert (task.kind, task.metric, task.direction) == ("mixed", "relative", "min")
    assert [part.kind for part in task.parts] == ["regression", "binary", "multiclass"]
    assert task.parts[2].names == ("blue", "red")
    nan = np.nan
    expected = np.array([[0.5, 1, 1], [nan, 0, 0], [1.5, nan, 1], [-2, 1, nan]])
    assert np.array_equal(bundle.graphs.column("y"), expected, equal_nan=True)
    assert [(row.line, row.reason) for row in bundle.rejected] == [
        (6, "logP: 'oops' is not a number"),
        (7, "no target has a value"),
    ]


def test_kinds_that_are_all_the_same_are_one(table):
    table.write_text(MIXED)
    for kinds, kind in {("binary", "binary"): "multilabel", ("regression", "regression"): "regression"}.items():
        targets = ["active", "twice"]
        assert tables.TableOptions(targets=targets, kind=kinds) == tables.TableOptions(targets=targets, kind=kind)
    both = datasets.load(table, targets=["active", "colour"], kind="multiclass").task
    assert [part.names for part in both.parts] == [("0", "1"), ("blue", "red")]


def test_the_file_is_read_again_when_it_changes(table):
    first = datasets.load(table, targets=["logS"])
    table.write_text(TABLE.replace("-0.5", "-0.75"))
    second = datasets.load(table, targets=["logS"])
    assert first.sha256 != second.sha256
    assert second.graphs[0].y.item() == -0.75


def test_other_forms_of_the_same_table(table, tmp_path):
    expected = datasets.load(table, targets=["logS"]).graphs.column("y")
    with gzip.open(tmp_path / "mine.csv.gz", "wt") as stream:
        stream.write(TABLE)
    (tmp_path / "mine.tsv").write_text(TABLE.replace(",", "\t"))
    rows = [line.split(",") for line in TABLE.splitlines()[1:-1]]
    columns = dict(zip(TABLE.splitlines()[0].split(","), map(list, zip(*rows, strict=True)), strict=True))
    columns["logS"] = [-0.5, 1.5, 0.1, None, None, 0.25]
    pq.write_table(pa.table(columns), tmp_path / "mine.parquet")
    for name in ("mine.csv.gz", "mine.tsv", "mine.parquet"):
        assert np.array_equal(datasets.load(name, root=tmp_path, targets=["logS"]).graphs.column("y"), expected)


def test_only_the_columns_wanted_are_read(tmp_path):
    """The other one could not be: its pages are broken."""
    path = tmp_path / "mine.parquet"
    pq.write_table(pa.table({"SMILES": ["CC", "C"], "other": ["a", "b"], "Y": [1.5, 2.5]}), path)
    other = pq.read_metadata(path).row_group(0).column(1)
    content = path.read_bytes()
    start, size = other.dictionary_page_offset, other.total_compressed_size
    path.write_bytes(content[:start] + b"\xff" * size + content[start + size :])
    assert datasets.load(path, targets=["y"]).graphs.column("y")[:, 0].tolist() == [1.5, 2.5]
    with pytest.raises(ValueError, match=r"mine\.parquet is damaged"):
        datasets.load(path, targets=["other"])


def test_graph_files_with_labels(tmp_path):
    (tmp_path / "graphs.g6").write_text("Bw\nnot a graph\nCl\nDhc\nA_\n")
    (tmp_path / "labels.csv").write_text("graph,y,part\n0,1,train\n2,0,test\n3,,test\n4,1,valid\n")
    labels = str(tmp_path / "labels.csv")
    bundle = datasets.load(tmp_path / "graphs.g6", targets=["y"], labels=labels, split="column:part")
    assert bundle.graphs.num_nodes.tolist() == [3, 4, 2]
    assert bundle.graphs.num_edges.tolist() == [6, 8, 2]
    assert bundle.features == {}
    assert [part.tolist() for part in bundle.split] == [[0], [2], [1]]
    assert {row.reason for row in bundle.rejected} >= {"no target has a value"}
    assert len(bundle.rejected) == 2


def test_edge_lists_with_labels(tmp_path):
    (tmp_path / "edges.csv").write_text("graph,source,target\nx,7,9\nx,9,8\ny,0,1\nz,5,5\n")
    (tmp_path / "labels.csv").write_text("graph,y\nz,0.5\nx,2\n")
    bundle = datasets.load(tmp_path / "edges.csv", targets=["y"], labels=str(tmp_path / "labels.csv"))
    assert bundle.graphs.column("y")[:, 0].tolist() == [2, 0.5]
    assert bundle.graphs[0].edge_index.tolist() == [[0, 2, 1, 2], [2, 0, 2, 1]]
    assert [(row.record, row.reason) for row in bundle.rejected] == [
        ("graph y", "it has no row in the table of labels")
    ]


def test_lines_of_smiles_with_labels(tmp_path):
    (tmp_path / "mine.smi").write_text("CCO ethanol\n\nC1CC\nC\n")
    (tmp_path / "labels.csv").write_text("graph,y\n0,1.5\n2,2.5\n")
    bundle = datasets.load(tmp_path / "mine.smi", targets=["y"], labels=str(tmp_path / "labels.csv"))
    assert bundle.graphs.column("y")[:, 0].tolist() == [1.5, 2.5]
    assert [(row.line, row.reason) for row in bundle.rejected] == [(3, "not a SMILES string")]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"targets": "logS"}, "targets: 'logS'; expected a list of columns"),
        (
            {"targets": ["logS2"]},
            r"csv has no column 'logS2'; did you mean 'logS'\? Its columns are name, SMILES, logS",
        ),
        ({"targets": ["weight"]}, "csv has no column 'weight'; its columns are name, SMILES, logS, active"),
        ({"targets": ["logS", "kind", "logS"]}, "targets: 'logS' is named 2 times; name it once"),
        ({"targets": ["logS"], "split": f"file:{__file__}"}, r"py: tables are read from \.csv, \.tsv and \.parquet"),
        ({"targets": ["logS"], "split": "column"}, "split: 'column'; expected \"random\""),
        ({"targets": ["logS"], "split": "time"}, "split: 'time'"),
        (
            {"targets": ["logS"], "split": "column:name"},
            r"mine\.csv: line 2: name is 'a'; expected train, valid or test",
        ),
        ({"targets": ["logS"], "kind": "ranking"}, "kind: 'ranking'; expected one of regression"),
        ({"targets": ["logS"], "fractions": (0.5, 0.2, 0.2)}, "three that add up to 1"),
        (
            {"targets": ["logS", "kind"], "kind": ["binary"]},
            "kind: 1 kinds for 2 targets; expected one, or one for each",
        ),
        (
            {"targets": ["logS", "kind"], "kind": ["binary", "multilabel"]},
            "kind: 'multilabel'; expected for each target",
        ),
        ({"targets": ["logS"], "split": "80/10"}, "split: '80/10'; expected three numbers that add up to 100"),
        ({"targets": ["logS"], "split": "scaffold:80/10/20"}, "split: 'scaffold:80/10/20'; expected three numbers"),
        ({"targets": ["logS"], "split": "a/b/c"}, "split: 'a/b/c'; expected three numbers"),
        ({"targets": ["logS"], "split": "70/20/10", "fractions": (0.5, 0.25, 0.25)}, "name sizes once"),
        ({"targets": ["name"]}, "no graph can be used"),
        ({"target": ["logS"]}, r"target: \S+mine.csv has no such option; it has targets, smiles, labels"),
        ({"targets": ["logS"], "smiles": "molecule"}, "csv has no column 'molecule'; its columns are name, SMILES"),
    ],
)
def test_what_makes_no_sense(table, options, message):
    with pytest.raises(ValueError, match=message):
        datasets.load(table, **options)


def test_a_header_alone(table):
    table.write_text("smiles,y\n")
    for kind in (None, "multiclass", "binary"):
        with pytest.raises(ValueError, match=r"mine\.csv has no rows$"):
            datasets.load(table, targets=["y"], kind=kind)


def test_columns_named_twice(table):
    table.write_text("smiles,y,y,Z,z\nC,1,2,3,4\n")
    assert datasets.load(table, targets=["z"]).graphs.column("y").tolist() == [[4]]
    with pytest.raises(ValueError, match=r"mine\.csv has the column 'y' more than once: y, y; rename all but one"):
        datasets.load(table, targets=["y"])


def test_labels_of_another_kind(table, tmp_path):
    """What a table of labels or a split lacks is told like what the first one lacks."""
    for text, message in [
        ("graph;split\n1;holdout\n", r"split\.csv: line 2: split is 'holdout'; expected train, valid or"),
        ("graph,part\n", r"split\.csv has no column 'split'; its columns are graph, part"),
        ("graph,split\n9,x\n1,train\n5,holdout\n", r"split\.csv: line 4: split is 'holdout'; expected train, valid or"),
    ]:
        (tmp_path / "split.csv").write_text(text)
        with pytest.raises(ValueError, match=message) as error:
            datasets.load(table, targets=["logS"], split=f"file:{tmp_path / 'split.csv'}")
        assert "damaged" not in str(error.value)


def test_graphs_need_labels(tmp_path):
    (tmp_path / "edges.csv").write_text("graph,source,target\nx,7,9\n")
    with pytest.raises(ValueError, match=r"labels: .* holds graphs and no targets"):
        datasets.load(tmp_path / "edges.csv", targets=["y"])
    (tmp_path / "labels.csv").write_text("graph,y\nx,1\nx,2\n")
    with pytest.raises(ValueError, match=r"labels\.csv has several rows for graph x"):
        datasets.load(tmp_path / "edges.csv", targets=["y"], labels=str(tmp_path / "labels.csv"))
    (tmp_path / "labels.csv").write_text("graph,y\nx,1\n")
    with pytest.raises(ValueError, match="scaffolds are of molecules"):
        datasets.load(tmp_path / "edges.csv", targets=["y"], labels=str(tmp_path / "labels.csv"), split="scaffold")
    with pytest.raises(FileNotFoundError, match=r"nowhere\.csv"):
        datasets.load(tmp_path / "nowhere.csv", targets=["y"])


def test_text_in_another_encoding(tmp_path):
    (tmp_path / "mine.smi").write_bytes(b"C\xb5\nCC\n")
    (tmp_path / "labels.csv").write_bytes(b"graph,y\n0,1\n1,2\n\xb5,3\n")
    bundle = datasets.load(tmp_path / "mine.smi", targets=["y"], labels=str(tmp_path / "labels.csv"))
    assert bundle.graphs.column("y").tolist() == [[2]]
    assert [row.record for row in bundle.rejected] == ["C\\xb5"]


def test_a_damaged_table_is_told(tmp_path):
    (tmp_path / "mine.csv.gz").write_bytes(gzip.compress(TABLE.encode())[:-12])
    with pytest.raises(ValueError, match=r"mine\.csv\.gz is damaged"):
        datasets.load(tmp_path / "mine.csv.gz", targets=["logS"])
    (tmp_path / "mine.parquet").write_bytes(b"PAR1 no more")
    with pytest.raises(ValueError, match=r"mine\.parquet is damaged"):
        datasets.load(tmp_path / "mine.parquet", targets=["logS"])


OPENED: list[str] = []
HOOKED: list[bool] = []  # once for all, as a hook cannot be removed


@pytest.fixture
def opened():
    """The files that this process opens, by name; a hook sees them all, whoever opens them in Python."""
    if not HOOKED:
        HOOKED.append(True)
        sys.addaudithook(lambda event, arguments: OPENED.append(str(arguments[0])) if event == "open" else None)
    OPENED.clear()
    return OPENED


@pytest.mark.parametrize("split", ["random", "scaffold", "column:part"])
def test_a_table_is_read_once_and_so_is_every_molecule(table, tmp_path, monkeypatch, opened, split):
    """Digest and parsing share one pass; targets, split and scaffolds are taken on the way."""
    from rdkit import Chem

    parsed = []
    original = Chem.MolFromSmiles

    def counted(smiles, **options):
        parsed.append(smiles)
        return original(smiles, **options)

    monkeypatch.setattr(Chem, "MolFromSmiles", counted)
    monkeypatch.setenv("ESCGNN_CACHE", str(tmp_path / "cache"))
    first = datasets.load(table, targets=["active"], split=split)
    assert opened.count(str(table)) == 1
    assert sorted(parsed) == sorted(["CCO", "c1ccccc1", "C1CC", "C1CC", "C", "CC", "O"])  # twice to tell what is wrong
    again = datasets.load(table, targets=["active"], split=split)
    assert opened.count(str(table)) == 2 and len(parsed) == 7, "the second time it is only hashed"
    assert torch.equal(first.graphs.column("x"), again.graphs.column("x"))


def test_labels_and_split_are_read_once(table, tmp_path, monkeypatch, opened):
    monkeypatch.setenv("ESCGNN_CACHE", str(tmp_path / "cache"))
    (tmp_path / "both.csv").write_text("graph,y,split\n0,1.5,train\n1,2.5,test\n")
    both = str(tmp_path / "both.csv")
    opened.clear()
    bundle = datasets.load(table, targets=["y"], labels=both, split=f"file:{both}")
    assert [opened.count(str(path)) for path in (table, both)] == [1, 1]
    assert bundle.graphs.column("y")[:, 0].tolist() == [1.5, 2.5]


def test_a_cache_of_earlier_versions_is_still_good(table, tmp_path, monkeypatch):
    """What is hashed, and how, has not changed since the first release; the folder's name shows."""
    monkeypatch.setenv("ESCGNN_CACHE", str(tmp_path))
    monkeypatch.setattr(tables, "_rdkit_version", lambda: "2025.1")
    bundle = datasets.load(table, targets=["logS"])
    assert bundle.sha256 == hashlib.sha256(hashlib.sha256(TABLE.encode()).hexdigest().encode()).hexdigest()
    assert [path.name for path in (tmp_path / "parsed").glob("mine-*[!k]")] == ["mine-d0b476bd92f10421"]


def test_lines_of_graph6_that_cannot_be_used_are_named(tmp_path):
    (tmp_path / "graphs.g6").write_text("not a graph\n\nBw\nCl\n")
    (tmp_path / "labels.csv").write_text("graph,y\n1,1\n")
    bundle = datasets.load(tmp_path / "graphs.g6", targets=["y"], labels=tmp_path / "labels.csv")  # a path, not a text
    assert [row.line for row in bundle.rejected] == [1, 4]


def test_moments_and_splits_of_a_bundle(table):
    """The normalised error divides by training and validation graphs; deviations are those of a sample."""
    table.write_text("smiles,y,part\nC,1,train\nCC,3,train\nCCC,8,valid\nCCCC,100,test\n")
    bundle = datasets.load(table, targets=["y"], split="column:part")
    assert bundle.scale["y"] == pytest.approx((4, 13**0.5))
    assert bundle.statistics.targets["y"] == pytest.approx((28, (6938 / 3) ** 0.5))
    for wrong in (4, -1):
        with pytest.raises(ValueError, match="test: it names a graph that does not exist; there are 4"):
            replace(bundle, split=bundle.split._replace(test=np.array([wrong])))
