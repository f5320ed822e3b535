import pickle

import networkx
import numpy as np
import pytest
import torch
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.utils import estimator_checks
from torch_geometric.data import Data

from escgnn import estimators, graphs
from escgnn.estimators import ESCClassifier, ESCRegressor
from escgnn.training import as_store, fitting

SMILES = ["C", "CC", "CCC", "CCO", "CO", "O", "c1ccccc1", "C1CC1", "CC(=O)O", "CN", "C#N", "c1ccncc1"]
ATOMS = np.array([1, 2, 3, 3, 2, 1, 6, 3, 4, 2, 2, 6], float)
KIND = np.where(ATOMS > 2, "large", "small")
CYCLES = [graphs.cycle(n) for n in (3, 4, 5, 6, 3, 4, 5, 6)]
SIZES = [3, 4, 5, 6, 3, 4, 5, 6]
TINY = {"hops": 1, "hidden": 8, "layers": 1, "epochs": 1, "batch_size": 4}


@pytest.fixture(autouse=True)
def no_pictures(monkeypatch):
    """Drawing takes longer than training."""
    monkeypatch.setattr(fitting, "draw_curves", lambda *_: None)


# Of scikit-learn's own checks, those that do not feed the estimator rows of numbers.
CHECKS = (
    "check_do_not_raise_errors_in_init_or_set_params",
    "check_estimator_cloneable",
    "check_estimator_repr",
    "check_estimator_tags_renamed",
    "check_get_params_invariance",
    "check_mixin_order",
    "check_no_attributes_set_in_init",
    "check_parameters_default_constructible",
    "check_set_params",
    "check_valid_tag_types",
)


@pytest.mark.parametrize("check", CHECKS)
@pytest.mark.parametrize("kind", [ESCRegressor, ESCClassifier])
def test_scikit_learn_contract(kind, check):
    getattr(estimator_checks, check)(kind.__name__, kind())


@pytest.mark.parametrize("kind", [ESCRegressor, ESCClassifier])
def test_arguments_are_kept_as_they_are(kind):
    model = kind(parts=["edge"], random_state=None)
    assert clone(model).get_params() == model.get_params()
    assert kind().set_params(hops=3).hops == 3
    for ask in ("predict", *(["predict_proba"] if kind is ESCClassifier else [])):
        with pytest.raises(NotFittedError):
            getattr(model, ask)(SMILES)


def test_numbers_of_smiles():
    model = ESCRegressor(**{**TINY, "hidden": 16, "epochs": 60, "lr": 0.01}).fit(SMILES, ATOMS)
    assert model.predict(SMILES).shape == (12,) and model.score(SMILES, ATOMS) > 0.5
    assert model.validation_score_ > 0 and not model.run_.folder.exists()
    assert_allclose(model.predict(np.array(SMILES)[:, None]), model.predict(SMILES))
    copy = pickle.loads(pickle.dumps(model))
    assert_array_equal(copy.predict(SMILES), model.predict(SMILES))


def test_counting_by_types():
    """Benzene and pyridine differ in what their ring is made of, which the encoding, too, says."""
    model = ESCRegressor(parts=["joint", "edge", "ring"], types=("x", "edge_attr"), **TINY).fit(SMILES, ATOMS)
    assert model.run_.transform.types == ("x", "edge_attr")
    again = ESCRegressor(parts=["joint", "edge", "ring"], types=("x", "edge_attr"), **TINY).fit(SMILES, ATOMS)
    assert_array_equal(model.predict(SMILES), again.predict(SMILES))
    plain = ESCRegressor(parts=["joint", "edge", "ring"], **TINY).fit(SMILES, ATOMS)
    assert plain.run_.transform.num_bins < model.run_.transform.num_bins


def test_equal_random_states_give_equal_results():
    a, b, c, d = (
        ESCRegressor(**TINY, random_state=state).fit(SMILES, ATOMS).predict(SMILES)
        for state in (1, np.int64(1), 2, np.random.RandomState(1))
    )
    assert_array_equal(a, b)
    assert np.abs(a - c).max() > 1e-3 and np.abs(a - d).max() > 1e-3


@pytest.mark.parametrize(("share", "held"), [(0.1, 1), (0.25, 3), (0.5, 6)])
def test_rows_held_back_are_not_learnt_from(monkeypatch, share, held):
    """Every row is either learnt from or held back to choose the epoch by; which ones, the seed says."""
    splits = []

    class EnoughError(Exception):
        pass

    def seen(bundle, *_, **__):
        splits.append(bundle.split)
        raise EnoughError

    monkeypatch.setattr(estimators.training, "fit", seen)
    for seed in (0, 0, 1):
        with pytest.raises(EnoughError):
            ESCRegressor(**TINY, validation_fraction=share, random_state=seed).fit(SMILES, ATOMS)
    for split in splits:
        assert len(split.validation) == held and not len(split.test)
        assert sorted([*split.train, *split.validation]) == [*range(12)]
    assert_array_equal(splits[0].validation, splits[1].validation)
    assert splits[0].validation.tolist() != splits[2].validation.tolist()


def test_several_targets_some_unknown():
    y = np.stack([ATOMS, -ATOMS], axis=1)
    y[0, 1] = np.nan
    model = ESCRegressor(**TINY).fit(SMILES, y)
    assert model.predict(SMILES[:5]).shape == (5, 2)
    assert ESCRegressor(**TINY).fit(SMILES, ATOMS[:, None]).predict(SMILES).shape == (12, 1)


@pytest.mark.parametrize(
    "labels", [KIND, KIND.astype(object), ATOMS.astype(int), ATOMS > 2], ids=lambda a: str(a.dtype)
)
def test_classes(labels):
    model = ESCClassifier(**TINY).fit(SMILES, labels)
    assert_array_equal(model.classes_, np.unique(labels))
    probability = model.predict_proba(SMILES)
    assert_allclose(probability.sum(1), 1)
    assert_array_equal(model.predict(SMILES), model.classes_[probability.argmax(1)])
    assert 0 <= model.score(SMILES, labels) <= 1


def as_data(graph, x):
    # what the network does not read may be anything
    return Data(x=x, edge_index=torch.from_numpy(graph.edge_index), y=torch.ones(1), name="graph")


@pytest.mark.parametrize(
    "rows",
    [
        CYCLES,
        [graph.to_networkx() for graph in CYCLES],
        [as_data(graph, torch.rand(graph.num_nodes, 3)) for graph in CYCLES],
        [as_data(graph, torch.arange(graph.num_nodes) % 3) for graph in CYCLES],
        [Data(edge_index=torch.from_numpy(graph.edge_index), num_nodes=graph.num_nodes) for graph in CYCLES],
        as_store(CYCLES),
    ],
    ids=["graphs", "networkx", "dense", "categorical", "bare", "store"],
)
def test_graphs(rows):
    model = ESCRegressor(**TINY).fit(rows, SIZES)
    assert_allclose(model.predict(rows)[:4], model.predict(rows)[4:], atol=2 if isinstance(rows[0], Data) else 1e-5)
    assert model.predict(rows[:2]).shape == (2,)


def test_graph6_needs_to_be_asked_for():
    texts = [networkx.to_graph6_bytes(graph.to_networkx(), header=False).decode().strip() for graph in CYCLES]
    model = ESCRegressor(**TINY, features=None).fit(texts, SIZES)
    assert_allclose(model.predict(texts), model.predict(CYCLES))


def test_bad_smiles_are_named():
    bad = ["CC", "C1CC", "CO", None]
    with pytest.raises(ValueError, match=r"2 of 4 rows cannot be read: row 1 \(C1CC\): .*; row 3 \(None\)"):
        ESCRegressor(**TINY, invalid="nan").fit(bad, [1, 2, 3, 4])
    model = ESCRegressor(**TINY).fit(SMILES, ATOMS)
    with pytest.raises(ValueError, match="row 1"):
        model.predict(bad)
    with pytest.raises(ValueError, match=r"; rows 10, 11$"):
        model.predict(["C1"] * 12)
    model.set_params(invalid="nan")
    assert_array_equal(np.isnan(model.predict(bad)), [False, True, False, True])
    assert_array_equal(model.predict(bad)[[0, 2]], model.predict(["CC", "CO"]))
    assert np.isnan(model.predict(["C1"])).all()


def test_bad_smiles_have_no_class():
    model = ESCClassifier(**TINY, invalid="nan").fit(SMILES, KIND)
    assert_array_equal(np.isnan(model.predict_proba(["CC", "C1CC"])), [[False] * 2, [True] * 2])
    with pytest.raises(ValueError, match="rows 1 cannot be read"):
        model.predict(["CC", "C1CC"])


def test_what_cannot_be_learnt_from():
    for settings, X, y, message in (
        ({}, SMILES, ATOMS[:5], "y: 5 rows, but X has 12"),
        ({}, SMILES, [np.inf] * 12, "finite"),
        ({}, SMILES, None, "finite"),
        ({}, [], [], "expected a list"),
        ({}, "CCO", [1], "expected a list"),
        ({}, ["C"], [1], "nothing to learn"),
        ({}, np.ones((3, 2)), [1, 2, 3], "one SMILES or graph"),
        ({}, [CYCLES[0], as_data(CYCLES[1], torch.ones(4, 1))], [1, 2], "differ in features"),
        ({}, [CYCLES, CYCLES], [1, 2], "2 rows hold 16 graphs"),
        ({"invalid": "drop"}, SMILES, ATOMS, "invalid: 'drop'"),
        ({"features": "none"}, SMILES, ATOMS, "features: 'none'"),
        ({"validation_fraction": 1}, SMILES, ATOMS, "validation_fraction: 1"),
        ({"hops": 0}, SMILES, ATOMS, "hops"),
        ({"backbone": "gan"}, SMILES, ATOMS, "backbone"),
    ):
        with pytest.raises(ValueError, match=message):
            ESCRegressor(**{**TINY, **settings}).fit(X, y)
    for labels, message in ((["a"] * 12, "1 class"), (ATOMS / 7, "continuous"), (np.ones((12, 2), int), "1d")):
        with pytest.raises(ValueError, match=message):
            ESCClassifier(**TINY).fit(SMILES, labels)


def test_features_must_be_those_of_fit():
    with pytest.raises(ValueError, match="fitted with none"):
        ESCRegressor(**TINY).fit(CYCLES, SIZES).predict(SMILES)
    with pytest.raises(ValueError, match="features none"):
        ESCRegressor(**TINY).fit(SMILES, ATOMS).predict(CYCLES)


def test_pipeline():
    strip = FunctionTransformer(lambda rows: [row.strip() for row in rows])
    model = Pipeline([("strip", strip), ("model", ESCClassifier(**TINY))]).fit([f" {text}" for text in SMILES], KIND)
    assert {*model.predict(SMILES)} <= {"large", "small"}


def test_grid_search():
    search = GridSearchCV(ESCRegressor(**TINY), {"hops": [1, 2]}, cv=2, error_score="raise").fit(SMILES, ATOMS)
    assert search.best_params_["hops"] in (1, 2) and search.predict(SMILES).shape == (12,)
    settings = {"hidden": np.arange(8, 10), "parts": [np.array(["edge"])]}
    GridSearchCV(ESCClassifier(**TINY), settings, cv=2, error_score="raise").fit(CYCLES, np.array(SIZES) > 4)


def test_cross_validation_on_a_store():
    assert cross_val_score(ESCRegressor(**TINY), as_store(CYCLES), SIZES, cv=2, error_score="raise").shape == (2,)


def test_any_network_of_the_zoo():
    model = ESCRegressor(model="ngnn", **TINY).fit(CYCLES, SIZES)
    assert model.run_.name == "ngnn"
    assert model.run_.transform.hops == 1
    assert model.predict(CYCLES).shape == (8,)
    with pytest.raises(ValueError, match="model: 'ngn'; did you mean 'ngnn'"):
        ESCRegressor(model="ngn", **TINY).fit(CYCLES, SIZES)
