import numpy as np
import pytest
import torch
from torch_geometric.data import Data

from escgnn import datasets, graphs
from escgnn.loader import Loader
from escgnn.models import ESCGNN, CountSkip
from escgnn.training import evaluate, fit, formulas, load_run, predict, read_config
from escgnn.transforms import StructuralEncoding
from tests.training import tiny

ENCODING = StructuralEncoding(2)


def batches(count=60, seed=0, targets=None, level="node"):
    """Encoded graphs with targets made from their features, or given by a function of a batch."""
    bundle = datasets.load("counting-random", count=count, seed=seed)
    skip = CountSkip(ENCODING.num_bins, 1, level)
    found = []
    for batch in Loader(bundle.graphs, 16, transform=ENCODING):
        tensors = {name: batch[name] for name in ("edge_index", "batch", "ptr", "esc_len", "esc_bin", "esc_count")}
        found.append({**tensors, "y": targets(skip.features(tensors), batch)})
    return found


def fitted(level="node", targets=None, channels=2, rank=None, count=60):
    train, validation = batches(count, 0, targets, level), batches(30, 1, targets, level)
    skip = CountSkip(ENCODING.num_bins, channels, level)
    skip.fit(lambda: train, lambda: validation, rank)
    return skip, validation


@pytest.mark.parametrize("level", ["node", "graph"])
def test_linear_path_is_linear_in_the_features(level):
    skip = CountSkip(ENCODING.num_bins, 3, level)
    skip.weight.normal_()
    skip.bias.normal_()
    for tensors in batches(20, targets=lambda x, _: x[:, :1], level=level):
        stacked = torch.cat([skip.weight[:, :3], skip.weight[:, 3:]])
        torch.testing.assert_close(skip.linear(tensors), skip.features(tensors) @ stacked + skip.bias)


def test_features_are_sums_over_edges():
    graph = graphs.erdos_renyi(12, 0.3, seed=1)
    data = ENCODING(Data(edge_index=torch.from_numpy(graph.edge_index), num_nodes=12))
    tensors = {**data.to_dict(), "batch": torch.zeros(12, dtype=torch.int64), "ptr": torch.tensor([0, 12])}
    rows = ENCODING.dense(graph)
    near = np.zeros((12, ENCODING.num_bins))
    for (_, v), row in zip(graph.edge_index.T, rows, strict=True):
        near[v] += row
    far = np.zeros_like(near)
    for u, v in graph.edge_index.T:
        far[v] += near[u]
    np.testing.assert_array_equal(CountSkip(ENCODING.num_bins, 1, "node").features(tensors), np.hstack([near, far]))
    whole = CountSkip(ENCODING.num_bins, 1, "graph").features(tensors)
    np.testing.assert_array_equal(whole, np.hstack([near, far]).sum(0, keepdims=True))


@pytest.mark.parametrize("level", ["node", "graph"])
def test_formulas_are_found(level):
    bins = [ENCODING.bins.index(name) for name in (("edge", 1, 1, 1, 2), ("joint", 1, 1))]

    def targets(x, _):
        return torch.stack([2 * x[:, bins[0]] - 3 * x[:, bins[1]] + 1, x[:, ENCODING.num_bins + bins[1]] / 2], 1)

    skip, validation = fitted(level, targets)
    for tensors in validation:
        torch.testing.assert_close(skip.linear(tensors), tensors["y"], rtol=1e-6, atol=1e-5)
    assert skip.exact.all() and (skip.scale == 1e-6).all()
    assert int((skip.weight != 0).sum()) <= 8, "few bins"


def test_rank_decides_between_formulas():
    """Every node counts once in the joint histogram, so sums of it equal those of the distances to one root."""
    place = ENCODING.bins.index(("joint", 1, 1))
    rank = [int(name[0] == "joint") for name in ENCODING.bins]
    first, _ = fitted(targets=lambda x, _: x[:, [place, place]])
    assert first.weight[place, 0] == pytest.approx(1)
    for ranks in (rank, [1 - r for r in rank]):
        skip, validation = fitted(targets=lambda x, _: x[:, [place, place]], rank=ranks)
        for tensors in validation:
            torch.testing.assert_close(skip.linear(tensors), tensors["y"], rtol=1e-6, atol=1e-5)
        low = torch.tensor(ranks) == 0
        assert (skip.weight[low] != 0).any()


def test_where_there_is_no_formula_the_network_is_alone():
    generator = torch.Generator().manual_seed(0)
    place = ENCODING.bins.index(("joint", 1, 1))

    def targets(x, _):
        noise = torch.randn(len(x), generator=generator, dtype=torch.float64)
        return torch.stack([x[:, place], x[:, place] + 0.01 * noise], 1)

    skip, _ = fitted(targets=targets)
    assert skip.exact.tolist() == [True, False]
    assert skip.scale.tolist() == [1e-6, 1]
    assert skip.bias[1] == 0 and not skip.weight[:, 1::2].any()


@pytest.mark.parametrize("parts", [("joint",), ("node", "joint"), ENCODING.parts])
def test_what_is_almost_a_formula_is_none(parts):
    """The noise is small enough for a search, and too large for an end: it must not run into features that repeat."""
    generator = torch.Generator().manual_seed(0)
    encoding = StructuralEncoding(2, parts=parts)
    skip = CountSkip(encoding.num_bins, 1, "node")

    def noisy(seed):
        for batch in Loader(datasets.load("counting-random", count=60, seed=seed).graphs, 16, transform=encoding):
            x = skip.features(batch)[:, encoding.bins.index(("joint", 1, 1))]
            noise = torch.randn(len(x), generator=generator, dtype=torch.float64)
            yield {**batch.to_dict(), "y": (x / 3 + 2e-5 * noise).unsqueeze(1)}

    skip.fit(lambda: noisy(0), lambda: noisy(1))
    assert not skip.exact.any() and not skip.weight.any()


def test_a_formula_must_hold_on_validation_graphs():
    place = ENCODING.bins.index(("joint", 1, 1))
    train, validation = (batches(40, seed, lambda x, _: x[:, [place, place]]) for seed in (0, 1))
    for tensors in validation:
        tensors["y"] = tensors["y"] * torch.tensor([1, 1.001])
    skip = CountSkip(ENCODING.num_bins, 2, "node")
    skip.fit(lambda: train, lambda: validation)
    assert skip.exact.tolist() == [True, False]


def test_rows_with_unknown_targets_are_left_out():
    place = ENCODING.bins.index(("joint", 1, 1))

    def targets(x, _):
        y = x[:, [place, place]].clone()
        y[::3, 1] = torch.nan
        y[::3, 0] = 1e9  # of no use, as the other is unknown
        return y

    skip, _ = fitted(targets=targets)
    assert skip.weight[place, 0] == pytest.approx(1)
    assert torch.isfinite(skip.weight).all()


def test_gate_switches_the_network_off():
    skip = CountSkip(3, 2, "node")
    skip.gate.copy_(torch.tensor([0.0, 1.0]))
    skip.scale.fill_(0.5)
    tensors = {
        "edge_index": torch.empty(2, 0, dtype=torch.int64),
        "batch": torch.zeros(4, dtype=torch.int64),
        "ptr": torch.tensor([0, 4]),
        **{f"esc_{part}": torch.empty(0, dtype=torch.int32) for part in ("len", "bin", "count")},
    }
    assert skip(tensors, torch.ones(4, 2)).tolist() == [[0, 0.5]] * 4


@pytest.mark.parametrize(
    ("options", "problem"),
    [({"num_bins": None}, "there is no encoding"), ({"num_bins": 5, "level": "edge"}, "the level is edge")],
)
def test_where_it_means_nothing(options, problem):
    with pytest.raises(ValueError, match=f"count_skip.*{problem}"):
        ESCGNN(1, count_skip=True, **options)


def test_only_numbers(tmp_path):
    with pytest.raises(ValueError, match=r"network\.count_skip: it predicts numbers"):
        fit(tiny.bundle("binary"), tiny.change(network={"count_skip": True}), tmp_path, progress=False)


SETTINGS = ["network.count_skip=true", "network.hidden=8", "network.layers=2", "epochs=2", "transform.hops=2"]


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    bundle = datasets.load("counting-random", count=120)
    folder = tmp_path_factory.mktemp("skip")
    return bundle, folder, fit(bundle, read_config(overrides=SETTINGS, bundle=bundle), folder, progress=False)


def test_exact_targets_stay_exact_through_training(trained):
    bundle, folder, result = trained
    exact = {"3-cycle", "4-cycle", "tailed-triangle", "chordal-cycle", "4-clique", "4-path"}
    assert {name for name in bundle.targets if result.test[f"norm-mae/{name}"] < 1e-4} == exact
    assert {*formulas(load_run(folder))} == exact
    assert result.validation["norm-mae"] == evaluate(load_run(folder), bundle, "validation")["norm-mae"]


def test_the_theorem_is_found_in_the_data(trained):
    """`escgnn.theorems`: triangles and 4-cliques at a node are a half and a third of a bin summed over its edges."""
    found = formulas(load_run(trained[1]))
    for target, factor, name in (("3-cycle", 1 / 2, ("joint", 1, 1)), ("4-clique", 1 / 3, ("edge", 1, 1, 1, 1))):
        assert found[target].pop(()) == pytest.approx(0, abs=1e-4)
        ((term, coefficient),) = found[target].items()
        assert term == ("sum", *name)
        assert coefficient == pytest.approx(factor, abs=1e-5)


def test_resume_is_exact(trained, tmp_path):
    bundle, _, straight = trained
    config = read_config(overrides=SETTINGS, bundle=bundle)
    fit(bundle, config.model_copy(update={"epochs": 1}), tmp_path, progress=False)
    assert fit(bundle, config, tmp_path, resume=True, progress=False) == straight


def test_it_holds_for_larger_graphs(trained):
    from escgnn.counting import TARGETS, count_all
    from escgnn.experiments.generalisation import sample
    from escgnn.store import GraphStore
    from escgnn.training import predict

    run = load_run(trained[1])
    for family in ("larger", "barabasi-albert", "molecules"):
        members = sample(family, 30)
        errors = np.abs(predict(run, GraphStore.from_view(members)).numpy() - count_all(members)).max(axis=0)
        assert errors[TARGETS.index("4-cycle")] < 1e-3, family


def test_formulas_need_a_linear_path(tmp_path):
    fit(tiny.bundle(), tiny.change(epochs=1), tmp_path, progress=False)
    with pytest.raises(ValueError, match=r"was trained without network\.count_skip"):
        formulas(load_run(tmp_path))


def test_graphs_with_bins_that_no_training_graph_had_are_reported(tmp_path):
    """In sparse graphs no edge has three common neighbours that are a triangle."""
    bundle = datasets.load("counting-random", count=60)
    config = read_config(overrides=[*SETTINGS, "transform.parts=degree,joint,edge,wedge", "epochs=1"], bundle=bundle)
    fit(bundle, config, tmp_path, progress=False)
    run = load_run(tmp_path)
    new = {name for name, blind in zip(run.transform.bins, run.model.skip.blind, strict=True) if blind}
    assert ("wedge", "closed", 1, 1, 1, 1, 1, 1) in new and ("wedge", "open", 1, 1, 1, 2, 1, 1) not in new
    assert not any(name[0] == "degree" for name in new)  # of which no formula has need
    with pytest.warns(UserWarning, match="2 of 3 graphs have shapes that no training graph had"):
        predict(run, [graphs.complete(7), graphs.cycle(5), graphs.complete(5)])
