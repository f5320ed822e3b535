import csv
from itertools import pairwise

import networkx
import numpy as np
import pytest

from escgnn import datasets
from escgnn.datasets import DatasetError, Raw, isomorphism
from escgnn.datasets.reading import read_npz
from escgnn.graphs import as_graph


def test_exp_pairs_and_folds(load):
    bundle = load("exp")
    y = bundle.graphs.column("y")[:, 0].numpy()
    assert (y[bundle.pairs[:, 0]] + y[bundle.pairs[:, 1]] == 1).all()
    assert bundle.graphs.column("x").unique().tolist() == [0, 1]
    assert np.array_equal(np.sort(np.concatenate([fold.test for fold in bundle.folds])), np.arange(1200))
    for fold in bundle.folds:
        assert [part.size for part in fold] == [972, 108, 120]
        for part in fold:
            assert y[part].mean() == 0.5
            assert {*part.tolist()} == {*(part ^ 1).tolist()}  # pairs stay together
    assert len(bundle.fold(3).test) == 120


def test_folds_are_chosen_first(load):
    with pytest.raises(ValueError, match=r"exp is judged by 10 folds; choose one with \.fold\(i\)"):
        _ = load("exp").train
    with pytest.raises(ValueError, match="10 folds, counted from 0"):
        load("exp").fold(10)
    with pytest.raises(ValueError, match="sr25 has no split"):
        _ = load("sr25").train


def test_csl_is_the_published_one(load, benchmark_data):
    bundle = load("csl")
    with np.load(benchmark_data / "csl/csl.npz") as file:
        published, y = file["edges"].reshape(150, 82, 2), file["y"]
    assert np.array_equal(bundle.graphs.column("y")[:, 0], y)
    for i in range(0, 150, 7):
        ours = as_graph(bundle.graphs[i]).to_networkx()
        assert networkx.could_be_isomorphic(ours, networkx.Graph(published[i].tolist()))
    for fold in bundle.folds:
        assert [part.size for part in fold] == [90, 30, 30]
        assert (np.bincount(y[fold.test]) == 3).all()
    lines = (benchmark_data / "csl/CSL_test.index").read_text().split()
    assert np.array_equal(bundle.folds[1].test, [int(i) for i in lines[1].split(",")])


def test_csl_without_files(empty_cache):
    bundle = datasets.load("csl")
    y = bundle.graphs.column("y")[:, 0].numpy()
    assert len(bundle.folds) == 5
    assert np.array_equal(np.sort(np.concatenate([fold.test for fold in bundle.folds])), np.arange(150))
    assert all((np.bincount(y[fold.test]) == 3).all() for fold in bundle.folds)
    copies = [as_graph(bundle.graphs[i]).edges for i in range(15)]
    assert not any(np.array_equal(a, b) for a, b in pairwise(copies))  # renamed


def test_sr25_is_strongly_regular(load):
    bundle = load("sr25")
    assert bundle.pairs.shape == (105, 2)
    for data in bundle.graphs:
        adjacency = networkx.to_numpy_array(as_graph(data).to_networkx())
        squares = adjacency @ adjacency
        assert np.array_equal(squares, 12 * np.eye(25) + 5 * adjacency + 6 * (1 - np.eye(25) - adjacency))


def test_brec_is_assembled_in_order(load, benchmark_data):
    bundle = load("brec")
    lines = (benchmark_data / "brec/brec_pairs.tsv").read_text().splitlines()
    rows = list(csv.DictReader(lines, delimiter="\t"))
    assert [row["category"] for row in rows] == list(bundle.categories)
    for (a, b), row in zip(bundle.pairs, rows, strict=True):
        assert np.array_equal(as_graph(bundle.graphs[a]).edges, as_graph(row["graph6_a"]).edges)
        assert np.array_equal(as_graph(bundle.graphs[b]).edges, as_graph(row["graph6_b"]).edges)


def harmful(folder):
    """An array of objects, one of which makes a file when it is unpickled, and that file."""
    trace = folder / "it ran"

    class Harm:
        def __reduce__(self):
            return (open, (str(trace), "w"))

    return np.array([Harm()], object), trace


def test_a_pickled_array_is_refused_and_not_run(tmp_path):
    array, trace = harmful(tmp_path)
    np.save(tmp_path / "evil.npy", array, allow_pickle=True)
    np.savez(tmp_path / "evil.npz", num_nodes=array)
    entry = next(entry for entry in isomorphism.ENTRIES if entry.name == "brec")
    raw = Raw(entry, {f"{stem}.npy": tmp_path / "evil.npy" for stem in isomorphism.BREC_CATEGORIES}, "")
    with pytest.raises(DatasetError, match=r"evil\.npy is damaged"):
        isomorphism.brec(raw)
    with pytest.raises(DatasetError, match=r"evil\.npz is damaged"):
        read_npz(tmp_path / "evil.npz")
    assert not trace.exists()


EXP = """2
2 1
0 1 1
1 1 0
3 0
1 1 1
0 2 0 2
0 1 1
"""


def test_exp_as_it_is_written(tmp_path):
    path = tmp_path / "exp.txt"
    path.write_text(EXP)
    entry = next(entry for entry in isomorphism.ENTRIES if entry.name == "exp")
    bundle = isomorphism.exp(Raw(entry, {path.name: path}, ""))
    assert bundle.graphs.num_nodes.tolist() == [2, 3]
    assert bundle.graphs.num_edges.tolist() == [2, 4]
    assert bundle.graphs.column("x")[:, 0].tolist() == [0, 1, 1, 0, 0]
    assert bundle.graphs.column("y")[:, 0].tolist() == [1, 0]
    assert bundle.pairs.tolist() == [[0, 1]]
    path.write_text("4\n" + EXP.removeprefix("2\n") * 2)
    assert isomorphism.exp(Raw(entry, {path.name: path}, "")).pairs.tolist() == [[0, 1], [2, 3]]
    for text in (EXP[:-6], EXP.replace("0 2 0 2", "0 2 0")):  # the last line is missing; a neighbour is
        path.write_text(text)
        with pytest.raises(DatasetError, match="graph 1 ends early"):
            isomorphism.exp(Raw(entry, {path.name: path}, ""))


def test_csl_with_files_of_something_else(tmp_path):
    entry = next(entry for entry in isomorphism.ENTRIES if entry.name == "csl")
    paths = {f"CSL_{subset}.index": tmp_path / f"{subset}.index" for subset in ("train", "val", "test")}
    numbers = [str(number) for number in range(150)]
    paths["CSL_train.index"].write_text(",".join(numbers[:90]))
    paths["CSL_val.index"].write_text(",".join(numbers[90:120]))
    paths["CSL_test.index"].write_text(",".join(numbers[120:]))
    (fold,) = isomorphism.csl(Raw(entry, paths, "")).folds
    assert fold.test.tolist() == list(range(120, 150))
    paths["CSL_test.index"].write_text(",".join([*numbers[120:149], "0"]))
    with pytest.raises(DatasetError, match="a fold does not hold every graph once"):
        isomorphism.csl(Raw(entry, paths, ""))
    ring = np.stack([np.arange(41), (np.arange(41) + 1) % 41], axis=1)
    y = np.repeat(np.arange(10), 15)
    np.savez(
        tmp_path / "csl.npz", num_nodes=np.full(150, 41), num_edges=np.full(150, 41), edges=np.tile(ring, (150, 1)), y=y
    )
    with pytest.raises(DatasetError, match="a spectrum differs from that of its class"):
        isomorphism.csl(Raw(entry, {"csl.npz": tmp_path / "csl.npz"}, ""))
