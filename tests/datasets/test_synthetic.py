import numpy as np
import pytest

from escgnn import counting, datasets, graphs
from escgnn.counting import TARGETS
from escgnn.graphs import as_graph


def test_published_graphs_and_split(load, benchmark_data):
    bundle = load("counting")
    assert (len(bundle.train), len(bundle.validation), len(bundle.test)) == (1500, 1000, 2500)
    assert np.array_equal(np.sort(np.concatenate(bundle.split)), np.arange(5000))
    with np.load(benchmark_data / "count_synthetic/randomgraph.npz") as file:
        assert np.array_equal(bundle.split.train, file["train_idx"])
        first = file["edges"][: file["num_edges"][0]]
    data = bundle.graphs[0]
    assert np.array_equal(as_graph(data).edges, first)
    assert np.array_equal(data.y.numpy(), counting.count_all(data))
    assert bundle.features == {}


def test_random_graphs_need_no_file(empty_cache):
    bundle = datasets.load("counting-random", count=40, seed=3)
    assert (len(bundle.train), len(bundle.validation), len(bundle.test)) == (12, 8, 20)
    assert bundle.targets == TARGETS
    for data, member in zip(bundle.graphs, graphs.counting_random(40, 3).split(), strict=True):
        assert np.array_equal(as_graph(data).edges, member.edges)
        assert np.array_equal(data.y.numpy(), counting.count_all(member))


def test_the_seed_decides():
    same, again, other = (datasets.load("counting-random", count=10, seed=seed) for seed in (1, 1, 2))
    assert same.sha256 == again.sha256 != other.sha256
    assert np.array_equal(same.split.train, again.split.train)
    assert not np.array_equal(same.graphs.view().edges, other.graphs.view().edges)


def test_it_has_the_size_of_the_published_set():
    found = datasets.load("counting-random").statistics
    assert (found.graphs, round(found.nodes), round(found.edges)) == (5000, 19, 31)


def test_options():
    with pytest.raises(ValueError, match="seeds: counting-random has no such option; it has count, seed"):
        datasets.load("counting-random", seeds=1)
    with pytest.raises(ValueError, match="at least 1"):
        datasets.load("counting-random", count=0)
    with pytest.raises(ValueError, match="did you mean 'counting-random'"):
        datasets.load("counting-randm")
