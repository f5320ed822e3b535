"""What docs/errata.md says of published numbers, as far as it can be computed."""

import numpy as np
import pytest

from benchmarks.power import classes, outputs
from escgnn import datasets, wl
from escgnn.experiments import classification, counting


@pytest.fixture(scope="module")
def bundle(benchmark_data):
    return datasets.load("counting")


def test_published_errors_of_4_cliques_are_those_of_zeros(bundle):
    y = bundle.test.column("y")[:, bundle.targets.index("4-clique")].double()
    error = float(y.abs().mean()) / bundle.scale["4-clique"].std
    place = counting.COLUMNS.index("4-clique")
    for row in ("MPNN", "PPGN"):
        assert counting.TAB_COUNT.paper[row][place] == pytest.approx(error, abs=1.1e-4)


def test_1_wl_does_not_bound_the_errors_of_counting(bundle):
    colours = np.concatenate(wl.colours(bundle.test.view(), wl.OneWL()))
    sizes = np.bincount(colours)
    assert (sizes[colours] == 1).mean() == pytest.approx(0.98, abs=0.005)
    y = bundle.test.column("y").double().numpy()
    order = np.argsort(colours, kind="stable")
    for group in np.split(y[order], np.cumsum(sizes)[:-1]):
        assert (group == group[0]).all()


def test_3_gnn_tells_all_graphs_of_sr25_apart(benchmark_data):
    members = [*datasets.load("sr25").graphs]
    for pool in ("sum", "max"):
        assert classes(outputs("3-gnn", members, {"layers": 2, "pool": pool}, seeds=2, chunk=5)) == 15


def test_oddities_of_tab_tu():
    paper = classification.TAB_TU.paper
    enzymes = classification.COLUMNS.index("ENZYMES")
    assert paper["SUN"][enzymes] == round(100 / 6, 1)
    assert paper["PPGN"][classification.COLUMNS.index("PTC-MR")] == paper["PPGN"][enzymes]
