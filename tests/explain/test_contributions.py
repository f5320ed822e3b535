"""What predictions owe to atoms and parts: it adds up, equals slow twins, and does not depend on the order of nodes."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from torch_geometric.data import Data

from escgnn import explain, zoo
from escgnn.explain.outputs import said
from escgnn.layers import StructuralEmbedding
from escgnn.metrics import Scaling
from escgnn.store import GraphStore
from escgnn.task import Task
from escgnn.training import Ensemble, Run, fit, load_run, network_outputs
from tests.test_zoo import settings_of
from tests.training import tiny
from tests.training.tiny import change


@pytest.fixture(scope="module", autouse=True)
def one_thread():
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    made = {}

    def run(kind="regression", **settings):
        key = (kind, repr(settings))
        if key not in made:
            bundle = tiny.bundle(kind, size=24)
            folder = tmp_path_factory.mktemp("run") / "run"
            fit(bundle, change(epochs=1, **settings), folder, progress=False)
            made[key] = load_run(folder), bundle.test[[0, 1, 2]]
        return made[key]

    return run


def relabelled(graph, order):
    """The graph with node order[i] as node i, and its edges in another order."""
    place = torch.empty(len(order), dtype=torch.int64)
    place[order] = torch.arange(len(order))
    shuffled = torch.randperm(graph.edge_index.size(1), generator=torch.Generator().manual_seed(1))
    return Data(x=graph.x[order], edge_index=place[graph.edge_index[:, shuffled]], num_nodes=graph.num_nodes)


@pytest.mark.parametrize("kind", ["regression", "binary", "multilabel", "multiclass"])
def test_gradients_add_up(trained, kind):
    run, graphs = trained(kind)
    for found in explain.integrated(run, graphs, steps=400):
        change_in_all = found.output - found.baseline
        assert change_in_all.abs().max() > 1e-3
        torch.testing.assert_close(found.total.sum(0), change_in_all, rtol=0.01, atol=1e-3)
        assert found.gap.abs().max() < 0.01 * change_in_all.abs().max() + 1e-3
        assert {"nodes", "encoding/node", "encoding/edge"} == {*found.nodes}
    torch.testing.assert_close(
        torch.stack([one.output for one in explain.integrated(run, graphs)]),
        said(run.task, run.scaling, network_outputs(run, graphs)),
        rtol=1e-4,
        atol=1e-5,
    )


def test_more_steps_add_up_better(trained):
    run, graphs = trained()
    gaps = [max(one.gap.abs().max() for one in explain.integrated(run, graphs, steps)) for steps in (2, 500)]
    assert gaps[1] < gaps[0] / 5


def test_the_baseline_reads_nothing(trained):
    """The same network whose embeddings are zero, and whose rows are all the mean."""
    run, graphs = trained()
    found = explain.integrated(run, graphs, steps=4)
    silent = load_run(run.folder)
    with torch.no_grad():
        silent.model.nodes.weight.zero_()
        silent.model.structure.weight.zero_()
    expected = said(run.task, run.scaling, network_outputs(silent, graphs))
    torch.testing.assert_close(torch.stack([one.baseline for one in found]), expected, rtol=1e-4, atol=1e-5)


def without(data, node):
    """A node taken out, slowly."""
    kept = [other for other in range(data.num_nodes) if other != node]
    number = {old: new for new, old in enumerate(kept)}
    pairs = [(u, v) for u, v in data.edge_index.T.tolist() if node not in (u, v)]
    edge_index = torch.tensor([(number[u], number[v]) for u, v in pairs], dtype=torch.int64).view(-1, 2).T
    return Data(x=data.x[kept], edge_index=edge_index, num_nodes=len(kept))


@pytest.mark.parametrize("kind", ["regression", "multiclass"])
def test_masking_equals_its_slow_twin(trained, kind):
    run, graphs = trained(kind)
    for number, found in enumerate(explain.masked(run, graphs)):
        data = graphs[number]
        whole = said(run.task, run.scaling, network_outputs(run, GraphStore.from_data_list([without(data, -1)])))
        rest = [GraphStore.from_data_list([without(data, node)]) for node in range(data.num_nodes)]
        expected = whole - torch.cat([said(run.task, run.scaling, network_outputs(run, one)) for one in rest])
        torch.testing.assert_close(found, expected, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("seed", range(100))
def test_graphs_without_a_node_equal_their_slow_twin(seed):
    """Loops, repeated edges and edges in any order, too."""
    rng = np.random.default_rng(seed)
    size = int(rng.integers(1, 8))
    edges = torch.from_numpy(rng.integers(0, size, (2, int(rng.integers(0, 12)))))
    features = torch.from_numpy(rng.normal(size=(size, 2)))
    data = Data(x=features, edge_index=edges, num_nodes=size)
    weights = torch.from_numpy(rng.normal(size=edges.size(1)))
    store = GraphStore(
        [size], [edges.size(1)], edges, node={"x": features}, edge={"weight": weights}, graph={"y": [float(seed)]}
    )
    found = explain.without_each_node(store)
    assert len(found) == size
    for node, one in enumerate(found):
        expected = without(data, node)
        assert one.edge_index.tolist() == expected.edge_index.tolist()
        assert one.x.tolist() == expected.x.tolist()
        assert one.weight.tolist() == weights[(edges != node).all(0)].tolist()
        assert one.y.tolist() == [seed]


def test_parts_equal_their_slow_twin(trained):
    """A part at its mean: rows are written with the mean in each of its bins."""
    run, graphs = trained()
    for number, found in enumerate(explain.masked_parts(run, graphs)):
        batch = run.transform(graphs.batch([number]))
        whole = said(run.task, run.scaling, run.model(batch)).detach()[0]
        assert {*found} == {"node", "edge"}
        for part, lower in found.items():
            other = batch.clone()
            mean = run.model.structure.mean
            bins, counts, lengths = [], [], []
            start = 0
            for length in batch.esc_len.tolist():
                row = dict(
                    zip(
                        *(values[start : start + length].tolist() for values in (batch.esc_bin, batch.esc_count)),
                        strict=True,
                    )
                )
                start += length
                row = {b: c for b, c in row.items() if run.transform.bins[b].part != part}
                row |= {b: float(mean[b]) for b, name in enumerate(run.transform.bins) if name.part == part}
                bins += [*row]
                counts += [*row.values()]
                lengths.append(len(row))
            other.esc_len = torch.tensor(lengths)
            other.esc_bin = torch.tensor(bins)
            other.esc_count = torch.tensor(counts)
            expected = whole - said(run.task, run.scaling, run.model(other)).detach()[0]
            torch.testing.assert_close(lower, expected, rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize("network", [{}, {"structure_mlp": True}])
def test_relabelling_moves_contributions_along(trained, network):
    run, graphs = trained(network=network)
    for number in range(len(graphs)):
        data = graphs[number]
        order = torch.randperm(data.num_nodes, generator=torch.Generator().manual_seed(number))
        mirror = GraphStore.from_data_list([relabelled(data, order)])
        mine = explain.integrated(run, graphs[[number]], steps=16)[0]
        theirs = explain.integrated(run, mirror, steps=16)[0]
        for source, values in mine.nodes.items():
            torch.testing.assert_close(values[order], theirs.nodes[source], rtol=1e-3, atol=1e-4)
        masked = explain.masked(run, graphs[[number]])[0]
        torch.testing.assert_close(masked[order], explain.masked(run, mirror)[0], rtol=1e-3, atol=1e-4)


def test_the_network_is_as_before(trained):
    run, graphs = trained(network={"structure_mlp": True})
    before = network_outputs(run, graphs)
    explain.integrated(run, graphs, steps=2)
    explain.masked_parts(run, graphs)
    assert torch.equal(network_outputs(run, graphs), before)
    assert all(module.dedup for module in run.model.modules() if isinstance(module, StructuralEmbedding))
    assert not any(module._forward_hooks or module._forward_pre_hooks for module in run.model.modules())
    assert all(weight.grad is None for weight in run.model.parameters())


def test_an_ensemble_has_the_mean(trained):
    run, graphs = trained()
    other = load_run(run.folder)
    with torch.no_grad():
        other.model.nodes.weight.mul_(-1)
    both = Ensemble(run.folder, (run, other))
    for function in (explain.masked, lambda *given: [one.total for one in explain.integrated(*given)]):
        mine, theirs, mean = (function(one, graphs)[0] for one in (run, other, both))
        torch.testing.assert_close(mean, (mine + theirs) / 2)


def test_what_cannot_be_explained(trained):
    run, graphs = trained()
    nodes = replace(run, task=Task("node", "regression", "mae", "min", ("t0", "t1")))
    with pytest.raises(ValueError, match="it predicts for each node; what can be explained is of graphs"):
        explain.masked(nodes, graphs)
    with pytest.raises(ValueError, match="steps: 0"):
        explain.integrated(run, graphs, 0)
    lonely = GraphStore([1], [0], np.empty((2, 0), np.int64), node={"x": [[1]]})
    assert explain.masked(run, lonely)[0].isnan().all()
    assert explain.integrated(run, lonely)[0].total.isfinite().all()
    large = GraphStore([501], [0], np.empty((2, 0), np.int64), node={"x": np.zeros((501, 1), np.int64)})
    with pytest.raises(ValueError, match="a graph of 501 nodes; at most 500"):
        explain.masked(run, large)


UNFOLLOWED = {"ppgn", "1-gnn", "1-2-3-gnn", "3-gnn"}
CHOOSING = {"osan", "pl-gnn"}  # what they choose jumps on the way, so that the gap says what is not accounted for


@pytest.mark.parametrize("name", zoo.ZOO)
def test_every_network(name):
    """Masking explains any; gradients add up for all that read nodes one by one, and the others say so."""
    bundle = tiny.bundle(size=6)
    config = settings_of(name)
    recipe = zoo.ZOO[name]
    each, once = recipe.transforms(config.transform)
    torch.manual_seed(0)
    model = recipe.build(config.network, each, once, task=bundle.task, features=bundle.features, graphs=bundle.graphs)
    as_it_is = Scaling((0.0, 0.0), (1.0, 1.0), (1.0, 1.0))
    run = Run(Path("run"), name, model.eval(), each, once, bundle.task, as_it_is, bundle.features, {}, 0)
    graph = bundle.graphs[[0]]
    masked = explain.masked(run, graph)[0]
    assert masked.shape == (graph.num_nodes_total, 2) and masked.isfinite().all()
    try:
        found = explain.integrated(run, graph, steps=200)[0]
    except ValueError as error:
        assert "take them out by masking" in str(error)
        assert name in UNFOLLOWED
        return
    assert name not in UNFOLLOWED
    size = (found.output - found.baseline).abs().max()
    assert found.gap.isfinite().all()
    assert name in CHOOSING or found.gap.abs().max() <= 0.05 * size + 1e-3
