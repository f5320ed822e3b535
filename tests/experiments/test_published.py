"""What docs/errata.md says of published numbers, as far as it can be computed."""

import numpy as np
import pytest

from benchmarks.power import classes, outputs
from escgnn import datasets, wl
from escgnn.encoding import RootedEncoding
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


def test_imdb_b_is_the_same_with_two_and_three_hops(benchmark_data):
    """One node is joined to all others, so that nothing is farther than two."""
    members = datasets.load("imdb-b").graphs
    for start in range(0, len(members), 50):
        encodings = (RootedEncoding(hops, parts=("degree", "node", "joint", "edge")) for hops in (2, 3))
        two, three = (encoding.rows(members[start]) for encoding in encodings)
        assert all(two[row] == three[row] for row in range(0, len(two), 11))
    degrees = members.view().degrees
    most = np.maximum.reduceat(degrees, np.cumsum([0, *members.num_nodes[:-1]]))
    assert (most == members.num_nodes - 1).all()
    place = classification.COLUMNS.index("IMDB-B")
    assert classification.PUBLISHED_H2[place] != classification.PUBLISHED_H3[place]
