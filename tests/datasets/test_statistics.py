"""Every dataset that is here has the published statistics."""

import pytest

from escgnn import datasets
from escgnn.datasets import tu

ABSENT = {"qm9", "ogbg-molpcba"}  # from the folder of raw data
PROVENANCE = {  # graphs, nodes, edges
    "counting": (5000, 18.800, 31.339),
    "exp": (1200, 44.447, 55.108),
    "exp-escgnn": (1200, 44.390, 55.073),
    "exp-rni": (1200, 48.702, 60.442),
    "csl": (150, 41, 82),
    "sr25": (15, 25, 150),
    "zinc-12k": (12000, 23.155, 24.915),
    "zinc-250k": (249455, 23.151, 24.902),
    "zinc-cycles": (12000, 23.155, 24.915),
    "qm9-20k": (20000, 18.075, 18.699),
    "ogbg-molhiv": (41127, 25.510, 27.468),
    "mutag": (188, 17.93, 19.79),
    "ptc-mr": (344, 14.29, 14.69),
    "proteins": (1113, 39.06, 72.82),
    "enzymes": (600, 32.63, 62.14),
    "imdb-b": (1000, 19.77, 96.53),
}
DEVIATIONS = (1.1715, 3.0478, 7.6137, 17.1356, 2.4642, 0.9723, 0.1723, 36.9943, 2.2969)


@pytest.mark.parametrize("name", PROVENANCE)
def test_statistics_are_those_of_the_source(load, name):
    found, (graphs, nodes, edges) = load(name).statistics, PROVENANCE[name]
    assert found.graphs == graphs
    decimals = 0.0051 if datasets.entry_of(name).parse is tu.tu else 0.00051
    assert found.nodes == pytest.approx(nodes, abs=decimals)
    assert found.edges == pytest.approx(edges, abs=decimals)


def test_an_absent_dataset_is_said_to_be(benchmark_data, empty_cache):
    found = datasets.verify("ogbg-molpcba", benchmark_data)
    assert not found.good
    assert found.folder is None
    assert {row.name for row in datasets.listing(benchmark_data) if not row.present} == ABSENT


def test_nothing_but_generated_datasets_is_present_without_files(empty_cache):
    assert {row.name for row in datasets.listing() if row.present} == {"counting-random", "csl"}


def test_deviations_of_the_nine_targets(load):
    bundle = load("counting")
    assert [round(moments.std, 4) for moments in bundle.scale.values()] == list(DEVIATIONS)
    published = load("counting", doubled_cliques=True)
    assert published.scale["4-clique"].std == pytest.approx(2 * bundle.scale["4-clique"].std)
    assert published.scale["4-path"] == bundle.scale["4-path"]


def test_moments_of_zinc(load):
    y = load("zinc-12k").statistics.targets["penalised-logP"]
    assert (round(y.mean, 4), round(y.std, 3)) == (0.0163, 2.009)
    for name, mean, std in (("train", 0.0151, 2.011), ("validation", 0.0315, 1.985), ("test", 0.0124, 2.017)):
        part = getattr(load("zinc-12k"), name).column("y").double()
        assert (round(float(part.mean()), 4), round(float(part.std(correction=0)), 3)) == (mean, std)
    big = load("zinc-250k")
    assert [part.size for part in big.split] == [220010, 24445, 5000]
    assert round(big.statistics.targets["penalised-logP"].std, 3) == 2.049
