"""Contract of every model: whatever the backbone and the options."""

import json
from functools import cache

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file
from torch import nn
from torch.testing import assert_close
from torch_geometric.data import Batch, Data
from torch_geometric.transforms import AddLaplacianEigenvectorPE, AddRandomWalkPE

from escgnn import graphs
from escgnn.counting import count
from escgnn.models import ESCGNN
from escgnn.models.backbones import BACKBONES
from escgnn.pools import POOLS
from escgnn.transforms import StructuralEncoding
from tests.strategies import odd_shapes

ENCODING = StructuralEncoding(2, nodes=True)
BASE = {"x", "edge_index", "edge_attr", "batch", "ptr", "laplacian_eigenvector_pe", "random_walk_pe", "environment"}
ADDED = {f"{prefix}_{part}" for prefix in ("esc", "esc_node") for part in ("len", "bin", "count")}
FEATURES = {
    "node_features": {"kind": "categorical", "sizes": [5, 3]},
    "edge_features": {"kind": "dense", "sizes": [2]},
}
ON = {"num_bins": ENCODING.num_bins}
CASES = {
    **{name: {"backbone": name, **FEATURES, **ON} for name in BACKBONES},
    **{f"{name}, no encoding": {"backbone": name, **FEATURES} for name in BACKBONES},
    **{f"{name}, no features": {"backbone": name, **ON} for name in BACKBONES},
    **{f"{name}, nothing": {"backbone": name} for name in BACKBONES},
    **{
        f"{name}, first layer only": {"backbone": name, **FEATURES, **ON, "structure_every_layer": False}
        for name in BACKBONES
    },
    **{f"{name}, nodes": {"backbone": name, **ON, "level": "node", "jumping": "concat"} for name in BACKBONES},
    **{f"{name}, edges": {"backbone": name, **ON, "level": "edge", "jumping": "sum"} for name in BACKBONES},
    **{f"{name}, layer norm": {"backbone": name, **ON, "norm": "layer", "pool": "mean"} for name in BACKBONES},
    **{f"{name}, no norm": {"backbone": name, **ON, "norm": "none", "pool": "attention"} for name in BACKBONES},
    **{f"{name}, virtual": {"backbone": name, **ON, "virtual_node": True, "node_tuples": True} for name in BACKBONES},
    "edges, nothing": {"level": "edge"},
    "not residual": {**ON, "residual": False, "structure_mlp": True, "node_tuples": True},
    "plain counts": {**ON, "structure_scale": "none", "level": "node"},
    "laplacian": {**ON, "backbone": "gps", "positional": {"kind": "laplacian", "size": 2}},
    "random walk": {"positional": {"kind": "random_walk", "size": 3}},
    "degrees": {**ON, "backbone": "pna", "degrees": [1, 4, 3]},
    "degrees, no edges": {**ON, "backbone": "pna", "degrees": [5]},
    "additive": {**ON, **FEATURES, "additive": True, "jumping": "concat", "pool": "sum+mean"},
    "environments": {**ON, **FEATURES, "environments": ["ring1", 2], "known_environments": 4},
    "known environments": {**ON, **FEATURES, "environments": [1, 2], "known_environments": 4, "known_at_start": True},
    "environments, nodes": {"environments": [1, 2], "level": "node"},
    "count skip": {**ON, **FEATURES, "count_skip": True},
    "count skip, nodes": {**ON, "count_skip": True, "level": "node"},
}
every_case = pytest.mark.parametrize("case", CASES)


def features(graph, seed=0):
    """A PyG graph with all that any model reads."""
    random = torch.Generator().manual_seed(seed)
    nodes, columns = graph.num_nodes, graph.edge_index.shape[1]
    return Data(
        x=torch.stack([torch.randint(0, size, (nodes,), generator=random) for size in (5, 3)], 1),
        edge_attr=torch.randn(columns, 2, generator=random),
        edge_index=torch.from_numpy(graph.edge_index),
        num_nodes=nodes,
        laplacian_eigenvector_pe=torch.randn(nodes, 2, generator=random),
        random_walk_pe=torch.rand(nodes, 3, generator=random),
        environment=torch.randint(0, 6, (nodes, 2), generator=random),
    )


def members(count=4):
    return [*graphs.molecule_like(count).split(), graphs.empty(1), graphs.path(2), graphs.empty(0), graphs.complete(4)]


def batch_of(views):
    return ENCODING(Batch.from_data_list([features(view, i) for i, view in enumerate(views)]))


@cache
def trained_on(count):
    """Made once, as nobody changes it."""
    return batch_of(members(count))


def built(case, seed=0, dtype=torch.float32):
    torch.manual_seed(seed)
    model = ESCGNN(3, hidden=8, layers=3, **CASES[case])
    model.fit_structure([trained_on(4)])
    if CASES[case].get("norm", "batch") == "batch":
        model(trained_on(20))  # running statistics
    return model.to(dtype)


def doubled(data):
    """All real numbers in double precision, so that only true differences are seen."""
    return data.apply(lambda value: value.double() if value.is_floating_point() else value)


def rows_of(model, data):
    return {"graph": data.num_graphs, "node": data.num_nodes, "edge": data.num_edges}[model.level]


@every_case
class TestContract:
    def test_equivariant(self, case):
        model, rng = built(case, dtype=torch.float64).eval(), np.random.default_rng(0)
        data = features(graphs.molecule_like(1))
        order, columns = rng.permutation(data.num_nodes), rng.permutation(data.num_edges)
        back = np.argsort(order)
        renamed = data.clone()
        renamed.edge_index = torch.from_numpy(order)[data.edge_index][:, columns]
        renamed.edge_attr = data.edge_attr[columns]
        for name in ("x", "laplacian_eigenvector_pe", "random_walk_pe", "environment"):
            renamed[name] = data[name][back]
        before, after = model(doubled(ENCODING(data))), model(doubled(ENCODING(renamed)))
        where = {"graph": slice(None), "node": back, "edge": columns}[model.level]
        assert_close(after, before[where])

    def test_batched_is_one_by_one(self, case):
        model, batch = built(case, dtype=torch.float64).eval(), doubled(batch_of(members()))
        single = [model(data) for data in batch.to_data_list()]
        assert_close(model(batch), torch.cat(single))
        assert model(batch).shape == (rows_of(model, batch), 3)

    def test_all_parameters_get_gradient(self, case):
        model, batch = built(case), batch_of(members())
        model(batch).square().sum().backward()
        for name, parameter in model.named_parameters():
            assert parameter.grad is not None and parameter.grad.isfinite().all() and parameter.grad.any(), name

    def test_saving_is_exact(self, case, tmp_path):
        model, batch = built(case).eval(), batch_of(members())
        save_file(model.state_dict(), tmp_path / "model.safetensors")
        again = ESCGNN(**json.loads(json.dumps(model.settings))).eval()
        assert again.settings == model.settings
        again.load_state_dict(load_file(tmp_path / "model.safetensors"))
        assert torch.equal(model(batch), again(batch))

    def test_deterministic(self, case):
        batch, results = batch_of(members()), []
        for _ in range(2):
            model = built(case, seed=1)
            out = model(batch)
            out.square().sum().backward()
            results.append([out, *(parameter.grad for parameter in model.parameters())])
        assert all(torch.equal(a, b) for a, b in zip(*results, strict=True))

    def test_reads_what_it_says(self, case):
        model, batch = built(case).eval(), batch_of(members())
        assert model.reads <= BASE | ADDED
        least = Batch(**{name: batch[name] for name in model.reads}, num_nodes=batch.num_nodes)
        assert torch.equal(model(least), model(batch))


@pytest.mark.parametrize("name", odd_shapes())
@pytest.mark.parametrize("backbone", BACKBONES)
def test_odd_shapes(backbone, name):
    for level in ("graph", "node", "edge"):
        model = ESCGNN(2, backbone=backbone, **ON, level=level, hidden=8, layers=2, virtual_node=True, pool="attention")
        data = batch_of([odd_shapes()[name]])
        for mode in (True, False):
            out = model.train(mode)(data)
            assert out.shape == (rows_of(model, data), 2)
            assert out.isfinite().all()


@pytest.mark.parametrize("backbone", BACKBONES)
def test_encoding_separates_what_plain_messages_cannot(backbone):
    pair = [
        Data(edge_index=torch.from_numpy(g.edge_index), num_nodes=16) for g in (graphs.rook(4), graphs.shrikhande())
    ]
    batch = doubled(ENCODING(Batch.from_data_list(pair)))
    plain, esc = (ESCGNN(4, backbone=backbone, num_bins=bins).double().eval() for bins in (None, ENCODING.num_bins))
    assert_close(*plain(batch))
    assert (esc(batch)[0] - esc(batch)[1]).abs().max() > 1e-6


@pytest.mark.parametrize(
    ("backbone", "options"),
    [
        *((backbone, FEATURES) for backbone in sorted({*BACKBONES} - {"gps"})),
        ("gin", {**ON, "virtual_node": True, "pool": "attention", "node_tuples": True}),
        ("gin", {**ON, "level": "edge", "structure_mlp": True}),
        ("mpnn", {**ON, "level": "edge", "pool": "sum+mean"}),
        ("pna", {**ON, "pool": "sum+mean", "virtual_node": True}),
    ],
)
def test_exported_program_takes_any_sizes(backbone, options):
    """With encoding and features: `test_onnx_takes_any_sizes`, made of such programs. Backbones know of no read-out."""
    model = ESCGNN(3, backbone=backbone, hidden=8, layers=2, **options).eval()
    program = model.export(batch_of(graphs.molecule_like(3).split())).module()
    for views in (members(9), [graphs.path(2)], [graphs.empty(1)], [graphs.empty(3)]):
        data = batch_of(views)
        assert_close(program(model.tensors(data)), model(data))


def test_gps_cannot_be_exported():
    with pytest.raises(ValueError, match="backbone: gps cannot be exported"):
        ESCGNN(1, backbone="gps").export(batch_of(members()))


@pytest.mark.parametrize("backbone", BACKBONES)
def test_half_precision(backbone):
    model = ESCGNN(3, backbone=backbone, **ON, hidden=8, virtual_node=True, node_tuples=True)
    with torch.autocast("cpu", torch.bfloat16):
        model(batch_of(members())).sum().backward()
    assert all(parameter.grad.isfinite().all() for parameter in model.parameters())


def test_reads_positional_encodings_of_pyg():
    walk, laplace = AddRandomWalkPE(4), AddLaplacianEigenvectorPE(3, is_undirected=True)
    data = walk(laplace(Data(edge_index=torch.from_numpy(graphs.petersen().edge_index), num_nodes=10)))
    for positional in ({"kind": "laplacian", "size": 3}, {"kind": "random_walk", "size": 4}):
        assert ESCGNN(2, positional=positional)(data).shape == (1, 2)


def test_structure_is_fitted_without_encoding_too():
    """There are no counts to measure then, but sums are in units of the mean size."""
    for level, fitted in (("graph", [2.0]), ("node", [])):
        model = ESCGNN(1, level=level)
        model.fit_structure([Data(num_nodes=1), Data(num_nodes=3)])
        assert [float(value) for name, value in model.state_dict().items() if name == "pool.size"] == fitted


def test_the_mean_size_is_measured_beside_means():
    model = ESCGNN(1, pool="sum+mean")
    model.prepare([Data(num_nodes=1), Data(num_nodes=3)], [], None)
    assert float(model.pool.sum.size) == 2


@pytest.mark.parametrize("pool", POOLS)
def test_without_a_norm(pool):
    """As networks were before there was one: the same parameters, and plain sums into the head."""
    model = ESCGNN(1, readout_norm=False, pool=pool, **ON)
    model.fit_structure([batch_of(members())])
    assert not [name for name in model.state_dict() if name.startswith(("final_norm", "pool.size"))]
    plain = POOLS[pool](64)
    plain.load_state_dict(model.pool.state_dict())
    h, batch = torch.randn(5, 64), torch.tensor([0, 0, 0, 1, 1])
    no_edges = torch.zeros(2, 0, dtype=torch.int64)
    assert_close(model._read_out(h, no_edges, None, batch, 2), model.head(plain(h, batch, 2)))


def shift_of_one_step(views, **options):
    """How far the first step of Adam moves the predictions of these graphs."""
    torch.manual_seed(0)
    model = ESCGNN(1, **ON, **options)
    data = batch_of(views)
    model.fit_structure([data])
    before = model(data)
    optimiser = torch.optim.Adam(model.head.parameters(), 1e-3)
    (before - before.detach() - 1).abs().mean().backward()
    optimiser.step()
    return float((model(data) - before).detach().abs().mean())


@pytest.mark.parametrize("options", [{}, {"layers": 10}, {"jumping": "sum"}, {"norm": "layer"}, {"backbone": "mpnn"}])
def test_one_step_moves_no_prediction_far(options):
    """However large the graphs are, and however many rounds add to the vectors; a plain sum is moved by deviations."""
    small, large = ([graphs.erdos_renyi(size, 6 / size, seed=i) for i in range(8)] for size in (20, 200))
    assert shift_of_one_step(small, **options) < 0.2
    assert shift_of_one_step(large, **options) < 0.2
    assert shift_of_one_step(large, readout_norm=False, **options) > 1


@pytest.mark.parametrize("level", ["node", "edge"])
def test_one_step_at_other_levels(level):
    views = [graphs.erdos_renyi(60, 0.1, seed=0)]
    for layers in (2, 12):
        assert shift_of_one_step(views, level=level, layers=layers) < 0.2


def test_twice_the_graph_is_twice_the_vector():
    model = ESCGNN(4, **ON, hidden=8, **FEATURES)
    model.fit_structure([batch_of(members())])
    model(batch_of(members(20)))  # running statistics
    model.head = nn.Identity()
    model = model.double().eval()
    one, two = features(graphs.molecule_like(1)), Batch.from_data_list([features(graphs.molecule_like(1))] * 2)
    twice = Data(x=two.x, edge_index=two.edge_index, edge_attr=two.edge_attr)
    assert_close(model(doubled(ENCODING(twice))), 2 * model(doubled(ENCODING(one))))


@pytest.mark.parametrize("additive", [True, False])
def test_contributions_of_nodes_add_up(additive):
    """Two graphs side by side are their sum, less the bias that both have: so where the perceptron reads nodes, not sums."""
    model = ESCGNN(4, **ON, hidden=8, additive=additive, **FEATURES)
    model.fit_structure([batch_of(members())])
    model(batch_of(members(20)))  # running statistics
    model = model.double().eval()
    parts = [features(graphs.molecule_like(seed)) for seed in (1, 2)]
    both = Batch.from_data_list(parts)
    union = Data(x=both.x, edge_index=both.edge_index, edge_attr=both.edge_attr)
    first, second, together = (model(doubled(ENCODING(data))) for data in (*parts, union))
    nothing = model.head(torch.zeros(1, model.pool.out_channels).double())
    assert torch.allclose(together + nothing, first + second) is additive


def test_contributions_add_up_to_graphs_alone():
    with pytest.raises(ValueError, match="additive: nodes add up to a graph, but the level is node"):
        ESCGNN(1, level="node", additive=True)


def test_learns_to_count():
    torch.manual_seed(0)
    view, encoding = graphs.counting_random(300), StructuralEncoding(1)
    data = encoding(Data(edge_index=torch.from_numpy(view.edge_index), num_nodes=view.num_nodes))
    y = torch.from_numpy(count(view, "3-cycle", per="node")).float().unsqueeze(1)
    y = (y - y.mean()) / y.std()
    model = ESCGNN(1, num_bins=encoding.num_bins, level="node", hidden=32, layers=2)
    model.fit_structure([data])
    optimiser = torch.optim.Adam(model.parameters(), 1e-2)
    for _ in range(150):
        optimiser.zero_grad()
        loss = (model(data) - y).abs().mean()
        loss.backward()
        optimiser.step()
    assert loss < 0.1


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"backbone": "gcn"}, "backbone: 'gcn'; expected one of gin, mpnn, gps, pna, pna-towers, gatedgcn"),
        ({"level": "pair"}, "level: 'pair'; ESCGNN is defined for graph, node, edge"),
        ({"jumping": "max"}, "jumping: 'max'; expected one of last, concat, sum"),
        ({"norm": None}, "norm: None; expected one of batch, layer, none"),
        ({"pool": "max"}, "pool: 'max'; expected one of sum, mean, attention"),
        ({"hidden": 0}, "hidden: 0; expected an integer from 1"),
        ({"layers": 2.5}, "layers: 2.5; expected an integer from 1"),
        ({"num_bins": 0}, "num_bins: 0; expected an integer from 1, or None"),
        ({"dropout": 1.0}, "dropout: 1.0; expected a share from 0 to below 1"),
        ({"node_features": {"kind": "dense"}}, "node_features: .*; expected the keys kind and sizes"),
        (
            {"node_features": {"kind": "text", "sizes": [1]}},
            "node_features, kind: 'text'; expected one of categorical, dense",
        ),
        ({"positional": {"kind": "laplacian"}}, "positional: .*; expected the keys kind and size,"),
        ({"node_tuples": True}, "node_tuples: True, but num_bins is None"),
        ({"structure_mlp": True}, "structure_mlp: True, but num_bins is None"),
        ({**ON, "structure_scale": "log"}, "structure_scale: 'log'; expected one of fitted, none"),
        ({"degrees": [1, 2]}, "degrees: given, but only pna and pna-towers read them"),
        ({"backbone": "gps", "hidden": 10}, "heads: 4 does not divide hidden, 10"),
        ({"backbone": "gps", "residual": False}, "residual: False, but gps is always residual"),
    ],
)
def test_wrong_options_are_refused(options, message):
    with pytest.raises(ValueError, match=message):
        ESCGNN(1, **options)


def test_missing_attributes_are_named():
    data = Data(edge_index=torch.from_numpy(graphs.cycle(4).edge_index), num_nodes=4)
    with pytest.raises(ValueError, match="data: no esc_bin, esc_count, esc_len, x; the model reads"):
        ESCGNN(1, **ON, node_features=FEATURES["node_features"])(data)
