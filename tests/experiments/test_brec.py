"""Hotelling's test against its formula, its control, and what networks can and cannot tell apart."""

import itertools
import json

import networkx as nx
import numpy as np
import pytest
import torch
from torch_geometric.data import Data

from escgnn import datasets, graphs
from escgnn.experiments import Cell, brec, reproduce
from escgnn.training import fit_normalisation
from escgnn.wl import OneWL, distinguishes

SETTINGS = {**brec.PROTOCOL, **brec.BUDGETS["hour"], "epochs": 2}
ENCODINGS = {row: brec.ENCODINGS[row] for row in ("ESC-GNN", brec.EXTENDED, "MPNN")}
LIMIT = brec.threshold(brec.COPIES, brec.DIMENSION)
NAMED = {
    "rook": graphs.rook(4),
    "shrikhande": graphs.shrikhande(),
    "petersen": graphs.petersen(),
    "random-regular": graphs.random_regular(14, 3, 1),
    "erdos-renyi": graphs.erdos_renyi(15, 0.3, 2),
    "tree": graphs.random_tree(12, 3),
    "no-edges": graphs.empty(4),
}


def data(graph):
    return Data(edge_index=torch.from_numpy(graph.edge_index.astype(np.int64)), num_nodes=graph.num_nodes)


def compare(g, h, row, seed=0, **changes):
    settings = {**SETTINGS, "encoding": ENCODINGS[row], **changes}
    return brec.compare(data(g), data(h), settings, (seed, 0))


def naive_t_squared(first, second):
    q, d = first.shape
    differences = [[first[i, k] - second[i, k] for k in range(d)] for i in range(q)]
    mean = [sum(row[k] for row in differences) / q for k in range(d)]
    spread = np.zeros((d, d))
    for a in range(d):
        for b in range(d):
            spread[a, b] = sum((row[a] - mean[a]) * (row[b] - mean[b]) for row in differences) / (q - 1)
    square = sum(float(x) ** 2 for vectors in (first, second) for x in vectors.ravel()) / (2 * q * d)
    spread += 2.0**-46 * square * np.eye(d)
    return q * np.array(mean) @ np.linalg.inv(spread) @ np.array(mean)


@pytest.mark.parametrize(("copies", "dimension"), [(32, 16), (10, 3), (5, 1)])
def test_t_squared_is_its_formula(copies, dimension):
    rng = np.random.default_rng(0)
    first, second = rng.normal(size=(2, copies, dimension))
    assert brec.t_squared(first, second) == pytest.approx(naive_t_squared(first, second))
    assert brec.t_squared(1e6 * first, 1e6 * second) == pytest.approx(brec.t_squared(first, second))


def test_t_squared_of_equal_means_exceeds_the_threshold_as_often_as_it_should():
    rng = np.random.default_rng(0)
    found = [brec.t_squared(*rng.normal(size=(2, brec.COPIES, brec.DIMENSION))) for _ in range(1000)]
    assert np.mean(np.array(found) > LIMIT) == pytest.approx(brec.ALPHA, abs=0.02)


def test_ridge_is_what_float32_can_show():
    vectors = np.ones((brec.COPIES, brec.DIMENSION))
    assert brec.t_squared(vectors, vectors) == 0
    assert brec.t_squared(0 * vectors, 0 * vectors) == 0
    assert brec.t_squared(vectors, vectors + 1e-9) < 1
    assert brec.t_squared(vectors, vectors + 1e-6) > LIMIT


def test_threshold_is_the_authors():
    assert pytest.approx(72.34, abs=0.005) == LIMIT


def test_copies_are_the_graph_renamed_and_relisted():
    graph = graphs.random_regular(10, 3, 0)
    store = brec.copies(data(graph), 5, np.random.default_rng(0))
    assert len(store) == 5
    seen = {tuple(copy.edge_index.ravel().tolist()) for copy in store}
    assert len(seen) == 5
    for copy in store:
        assert nx.is_isomorphic(graphs.as_graph(copy).to_networkx(), graph.to_networkx())


@pytest.mark.parametrize("row", ENCODINGS)
@pytest.mark.parametrize("name", NAMED)
def test_copies_of_one_graph_are_never_told_apart(name, row):
    for seed in range(2):
        found = compare(NAMED[name], NAMED[name], row, seed)
        assert found.apart < 1e-6 and found.control < 1e-6
        assert found.epochs == 2


@pytest.mark.parametrize("row", ENCODINGS)
def test_a_clear_difference_is_seen_by_all(row):
    found = compare(graphs.star(6), graphs.cycle(7), row)
    assert found.apart > 1e6 * LIMIT and found.control < 1e-6
    assert found.epochs == 0, "nothing is left to train"


def test_messages_alone_do_not_tell_regular_graphs_apart():
    rook, shrikhande = graphs.rook(4), graphs.shrikhande()
    assert not distinguishes(rook, shrikhande, OneWL())
    assert compare(rook, shrikhande, "MPNN").apart < 1e-6
    assert compare(rook, shrikhande, "ESC-GNN").apart > 1e6 * LIMIT


def test_without_stopping_every_pair_is_trained():
    found = compare(graphs.star(6), graphs.cycle(7), "ESC-GNN", stop=False)
    assert found.epochs == 2
    assert found.apart > LIMIT and found.control < 1e-6


def test_training_turns_vectors_apart():
    torch.manual_seed(0)
    model = brec.network(None, None, SETTINGS, None)
    store = brec.GraphStore.from_data_list([data(graphs.star(6)), data(graphs.cycle(7))])
    optimizer = torch.optim.Adam(model.parameters(), lr=SETTINGS["lr"])

    def cosine():
        with torch.inference_mode():
            return torch.cosine_similarity(*model(store.batch()), dim=0).item()

    before = cosine()
    for _ in range(80):  # steps of 20 epochs
        brec._train(model, optimizer, [store.batch()])
    assert before > 0.5 and cosine() < 0


def test_the_same_seed_gives_the_same():
    one, two = (compare(graphs.rook(4), graphs.shrikhande(), "ESC-GNN", 3) for _ in range(2))
    assert (one.apart, one.control) == (two.apart, two.control)
    other = compare(graphs.rook(4), graphs.shrikhande(), "ESC-GNN", 4)
    assert other.apart != one.apart


def test_a_run_that_was_stopped_goes_on(tmp_path, monkeypatch, benchmark_data):
    bundle = datasets.load("brec")
    cell = Cell("ESC-GNN", settings={**SETTINGS, "encoding": {"hops": 1}})
    numbers, path, compared = [0, 60, 61, 160], tmp_path / "pairs.json", []
    real = brec.compare

    def stopping(g, h, settings, seed):
        if len(compared) == 2:
            raise KeyboardInterrupt
        compared.append(seed[1])
        return real(g, h, settings, seed)

    monkeypatch.setattr(brec, "compare", stopping)
    with pytest.raises(KeyboardInterrupt):
        brec.compare_all(bundle, numbers, cell, path, False)
    assert [*json.loads(path.read_text())] == ["0", "60"]
    compared.clear()
    monkeypatch.setattr(brec, "compare", lambda *given: compared.append(given[3][1]) or real(*given))
    resumed = brec.compare_all(bundle, numbers, cell, path, False)
    assert compared == [61, 160]
    at_once = brec.compare_all(bundle, numbers, cell, tmp_path / "other.json", False)
    assert [(each.apart, each.control) for each in resumed.values()] == [
        (each.apart, each.control) for each in at_once.values()
    ]


def test_a_pair_that_fails_reliability_does_not_count(tmp_path, monkeypatch, benchmark_data):
    found = iter([(1e9, 0.0), (1e9, 1e3), (1.0, 0.0), (float("nan"), float("nan"))])
    monkeypatch.setattr(brec, "compare", lambda *_: brec.Comparison(*next(found), 0, 1.0))
    monkeypatch.setattr(brec, "chosen_pairs", lambda *_: [0, 60, 160, 260])
    cell = Cell("ESC-GNN", settings={**SETTINGS, "encoding": {"hops": 1}})
    outcome = brec.run(cell, tmp_path, False)
    assert outcome.values["brec"] == {**dict.fromkeys(brec.COLUMNS, 0.0), "Basic": 1.0, "total": 1.0}
    assert "2 pairs failed reliability" in outcome.note
    assert outcome.seconds == 4


def test_systems_of_the_zoo():
    """What the theory says: none of these but I²-GNN and GSN tells strongly regular graphs apart."""
    rook, shrikhande = graphs.rook(4), graphs.shrikhande()
    for row in brec.RIVALS:
        settings = {**SETTINGS, "system": brec._system(row, "hour"), "epochs": 0}
        found = brec.compare(data(rook), data(shrikhande), settings, (0, 0))
        assert found.control < 1e-6
        assert (found.apart > LIMIT) == (row in ("I²-GNN", "GSN")), row
    too_large = {**settings, "system": {"model": "ngnn", "transform": {"max_rows": 10}}}
    assert brec._compared(data(rook), data(shrikhande), too_large, (0, 0)).refused


def test_a_glance_is_enough_for_what_is_the_same_to_a_system():
    rook, shrikhande = data(graphs.rook(4)), data(graphs.shrikhande())
    (ngnn, i2_gnn) = (
        {**cell.settings, "epochs": 1}
        for cell in brec.cells("hour", 1)
        if cell.row in ("NGNN", "I²-GNN") and not cell.variant
    )
    assert ngnn["glance"] == i2_gnn["glance"] == 2
    same = brec.compare(rook, shrikhande, ngnn, (0, 0))
    assert same.flat and same.epochs == 0 and same.apart < brec.FLAT
    without = {key: value for key, value in ngnn.items() if key != "glance"}
    trained = brec.compare(rook, shrikhande, without, (0, 0))
    assert not trained.flat and trained.epochs == 1 and trained.apart < 1e-6, "nothing was missed"
    apart = brec.compare(rook, shrikhande, i2_gnn, (0, 0))
    assert not apart.flat and apart.is_told_apart(LIMIT)
    pieces = brec.merged(i2_gnn, {"system": {"transform": {"max_rows": 3 * 96 * 96}}})
    found = brec.compare(rook, shrikhande, pieces, (0, 0))  # batch normalisation saw pieces, not whole batches
    assert found.apart == pytest.approx(apart.apart, rel=0.1) and found.is_told_apart(LIMIT)
    assert all("glance" not in cell.settings for cell in brec.cells("paper", 1))


def latin_square_graph(product):
    """Cells of a table of a group, neighbours in the same row or column or with the same element: strongly regular."""
    size = len(product)
    cells = [(row, column, product[row][column]) for row in range(size) for column in range(size)]
    alike = [[sum(a == b for a, b in zip(one, other, strict=True)) == 1 for other in cells] for one in cells]
    return Data(edge_index=torch.tensor(alike).nonzero().T.contiguous(), num_nodes=len(cells))


def test_batch_normalisation_has_seen_the_graphs_before_the_first_test():
    """As it begins, all nodes of these are on one side of every rectifier, and the network counts walks alone."""
    elements = [*itertools.permutations(range(3))]
    symmetric = [[elements.index(tuple(a[i] for i in b)) for b in elements] for a in elements]
    cyclic = [[(a + b) % 6 for b in range(6)] for a in range(6)]
    (i2_gnn,) = (cell.settings for cell in brec.cells("hour", 1) if cell.row == "I²-GNN")
    g, h = latin_square_graph(cyclic), latin_square_graph(symmetric)
    for seed in range(3):
        assert brec._protocol(g, h, {**i2_gnn, "copies": 2, "epochs": 0}, (seed, 0)).apart > 1e6


def test_statistics_are_the_mean_over_batches():
    model = torch.nn.Sequential(torch.nn.BatchNorm1d(2, momentum=0.25), torch.nn.LayerNorm(2)).double()
    first, second = torch.randn(2, 7, 2, dtype=torch.float64)
    fit_normalisation(model, [first, second])
    assert model[0].running_mean.tolist() == pytest.approx(((first.mean(0) + second.mean(0)) / 2).tolist())
    assert model[0].running_var.tolist() == pytest.approx(((first.var(0) + second.var(0)) / 2).tolist())
    assert model[0].momentum == 0.25


def test_smoke_fills_both_tables(tmp_path, benchmark_data):
    rows = [*brec.ENCODINGS]
    results = tmp_path / "results"
    found = reproduce(brec.EXPERIMENT, "smoke", rows=rows, results=results, work=tmp_path / "work", progress=False)
    assert all(record.error is None for record in found)
    values = {(label, record.row): record.values[label] for record in found for label in record.values}
    for row in brec.ENCODINGS:
        for label in ("brec", "brec, exact"):
            assert tuple(values[label, row]) == brec.COLUMNS
            assert values[label, row]["total"] == sum(values[label, row][name] for name in brec.CATEGORIES)
    assert values["brec", "MPNN"]["total"] == values["brec, exact", "MPNN"]["total"] == 0
    assert values["brec", "ESC-GNN"] == values["brec, exact", "ESC-GNN"]


CEILINGS = {
    "ESC-GNN": (60, 50, 50, 95, 0, 20, 0, 275),
    "ESC-GNN, several hops": (60, 50, 50, 95, 4, 20, 0, 279),
    brec.EXTENDED: (60, 50, 50, 100, 44, 20, 0, 324),
    "MPNN": (0, 0, 0, 0, 0, 0, 0, 0),
}


@pytest.mark.parametrize("row", brec.ENCODINGS)
def test_exact_ceilings(row, tmp_path, benchmark_data):
    (cell,) = (each for each in brec.cells("hour", 1) if (each.row, each.variant) == (row, "exact"))
    assert tuple(brec.run(cell, tmp_path, False).values["brec, exact"].values()) == CEILINGS[row]


def test_categories_are_the_datasets(benchmark_data):
    assert tuple(dict.fromkeys(datasets.load("brec").categories)) == brec.CATEGORIES
