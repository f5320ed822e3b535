"""A table of environments beside a network: against dictionaries, in training, and after it."""

from collections import Counter
from dataclasses import replace

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch_geometric.data import Batch, Data

from escgnn import explain
from escgnn.models import ESCGNN
from escgnn.models.environments import LEAST_GRAPHS, NONE, EnvironmentTable
from escgnn.training import evaluate, fit, load_run, predict
from escgnn.transforms import Surroundings
from tests.training import tiny
from tests.training.tiny import change

SETTINGS = {"transform": {"hops": 1, "parts": ["edge"], "environments": [1, 2], "types": ["x"]}}


def graph_of(rows):
    """A graph without edges whose nodes have these environments, two each."""
    environment = torch.tensor(rows, dtype=torch.int64).reshape(-1, 2)
    return Data(edge_index=torch.zeros(2, 0, dtype=torch.int64), num_nodes=len(environment), environment=environment)


numbers = st.integers(0, 9) | st.sampled_from([2**40, 2**62 - 1])
some_graphs = st.lists(st.lists(st.tuples(numbers, numbers), max_size=4).map(graph_of), min_size=1, max_size=12)


def common(members):
    """How many graphs have each environment, of those that enough have."""
    having = Counter(number for one in members for number in {*one.environment.reshape(-1).tolist()})
    return {number: times for number, times in having.items() if times >= LEAST_GRAPHS}


@given(some_graphs, st.integers(1, 12))
def test_the_most_common_are_known(members, size):
    table = EnvironmentTable(size, 1, "graph")
    batches = [Batch.from_data_list(members[:5]), *members[5:]]
    assert len([*table.measured(batches)]) == len(batches)
    known = [number for number in table.known.tolist() if number != NONE]
    times = common(members)
    assert known == sorted({*known}) and table.known.tolist() == known + [NONE] * (size - len(known))
    assert len(known) == min(size, len(times)) and {*known} <= times.keys()
    left = [times[number] for number in times.keys() - {*known}]
    assert not left or min(times[number] for number in known) >= max(left)


@given(some_graphs, st.integers(1, 2), st.booleans())
def test_what_nodes_add_is_looked_up(members, targets, of_nodes):
    torch.manual_seed(0)
    table = EnvironmentTable(6, targets, "node" if of_nodes else "graph").double()
    batch = Batch.from_data_list(members)
    for block in (table, table.sum):
        if block is not None:
            assert len([*block.measured([batch])]) == 1
    torch.nn.init.normal_(table.weight)
    rows = dict(zip(table.known.tolist(), table.weight.tolist(), strict=True))
    rows.pop(NONE, None)
    nothing = [0.0] * table.weight.size(1)
    graphs_said = []
    nodes_said = []
    for one in members:
        said = []
        for node in one.environment.tolist():
            said.append([sum(values) for values in zip(*(rows.get(number, nothing) for number in node), strict=True)])
        nodes_said += said
        columns = torch.tensor(said, dtype=torch.float64).reshape(-1, table.weight.size(1))
        size = max(1.0, batch.num_nodes / len(members))
        summed = columns[:, :targets].sum(0) / size
        mean = columns[:, targets:].sum(0) / max(1, len(said)) if not of_nodes else 0
        graphs_said.append(summed + mean)
    added = table(batch.environment)
    torch.testing.assert_close(added, torch.tensor(nodes_said, dtype=torch.float64).reshape(added.shape))
    found = table.pooled(added, batch.batch, len(members))
    torch.testing.assert_close(found, added if of_nodes else torch.stack(graphs_said))


def test_at_first_nothing_is_added_and_edges_have_no_environments():
    table = EnvironmentTable(4, 2, "graph")
    table.know(torch.tensor([5, 5, 5, 7, 7, 9]))
    assert table.known.tolist() == [5, NONE, NONE, NONE]
    added = table(torch.tensor([[5], [7]]))
    assert not added.any()
    added.sum().backward()
    assert table.weight.grad.tolist() == [[1.0] * 4, *[[0.0] * 4] * 3]
    with pytest.raises(ValueError, match="environments: they belong to nodes, but the level is edge"):
        ESCGNN(1, environments=[1], level="edge")
    with pytest.raises(ValueError, match="known_environments: given, but nodes have no environments"):
        ESCGNN(1, known_environments=5)
    with pytest.raises(ValueError, match="known_at_start: True, but nodes have no environments"):
        ESCGNN(1, known_at_start=True)


@given(some_graphs)
def test_nodes_start_with_what_is_known(members):
    """Each known radius adds its vector at the start, and nothing else of an environment reaches the network."""
    torch.manual_seed(0)
    batch = Batch.from_data_list(members)
    batch.environment = batch.environment % 10  # so that larger numbers are not known
    model = ESCGNN(1, environments=[1, 2], known_environments=6, known_at_start=True, layers=1, hidden=4).eval()
    assert len([*model.environments.measured([batch])]) == 1
    known = {*model.environments.known.tolist()} - {NONE}
    told = [[float(number in known) for number in node] for node in batch.environment.tolist()]
    is_known = model.environments.are_known(batch.environment)
    assert is_known.tolist() == told
    start = model.known_start(is_known)
    rows = model.known_start.weight
    slow = [sum((row for row, yes in zip(rows, node, strict=True) if yes), torch.zeros(4)) for node in told]
    torch.testing.assert_close(start, torch.stack(slow) if slow else torch.zeros(0, 4))
    before = model(batch)
    batch.environment = torch.where(is_known.bool(), batch.environment, batch.environment + 100)  # others, unknown, too
    assert torch.equal(model(batch), before)
    with torch.no_grad():
        rows += 1.0
    assert batch.num_nodes == 0 or not is_known.any() or not torch.equal(model(batch), before)


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("environments")
    fit(tiny.bundle(size=120), change(**SETTINGS, network={"known_environments": 50}), folder, progress=False)
    return load_run(folder)


def test_from_training_to_predictions(run, tmp_path):
    """Weights of known environments are learnt and kept; a run goes on to the same; nothing else has to be given."""
    bundle = tiny.bundle(size=120)
    table = run.model.environments
    assert run.once.environments == [1, 2] and run.model.settings["environments"] == [1, 2]
    is_known = table.known != NONE
    assert 3 < int(is_known.sum()) <= 50 and table.weight[is_known].any(1).all() and not table.weight[~is_known].any()
    config = change(**SETTINGS, network={"known_environments": 50})
    fit(bundle, change(config, epochs=2), tmp_path, progress=False)
    fit(bundle, config, tmp_path, resume=True, progress=False)
    assert torch.equal(predict(load_run(tmp_path), bundle.test), predict(run, bundle.test))


def test_what_depends_on_environments_alone_is_learnt(tmp_path):
    """A number for each kind of atom's neighbourhood, added up, which a network of one channel cannot know."""
    bundle = tiny.bundle(size=400, targets=1)
    surroundings = load_surroundings(bundle)
    value = {number: i % 7 - 3.0 for i, number in enumerate(sorted({*surroundings.reshape(-1).tolist()}))}
    nodes = torch.tensor([value[number] for number in surroundings[:, 0].tolist()])
    owner = torch.repeat_interleave(torch.arange(len(bundle.graphs)), bundle.graphs.num_nodes)
    y = torch.zeros(len(bundle.graphs)).index_add(0, owner, nodes).unsqueeze(1)
    bundle = replace(bundle, graphs=bundle.graphs.with_fields(graph={"y": y}))
    transform = {"hops": 1, "parts": ["edge"], "types": ["x"]}
    errors = []
    for environments in ([], [0, 1]):
        config = change(
            transform={**transform, "environments": environments},
            network={"hidden": 1, "layers": 1, "dropout": 0.0},
            epochs=30,
            lr=0.1,
            schedule="cosine",
        )
        folder = tmp_path / str(len(environments))
        fit(bundle, config, folder, progress=False)
        errors.append(evaluate(load_run(folder), bundle, "validation")["mae"])
    assert errors[1] < 0.6 * errors[0]


def load_surroundings(bundle):
    """The environments of radius 1 of all nodes."""
    return Surroundings(environments=(1,), types=("x",))(bundle.graphs).column("environment")


@pytest.mark.parametrize("is_told", [False, True])
def test_explained(run, is_told, tmp_path):
    """What environments say is one of the sources, all of which add up; so is which of them are known."""
    if is_told:
        network = {"known_environments": 50, "known_at_start": True}
        fit(tiny.bundle(size=120), change(**SETTINGS, network=network), tmp_path, progress=False)
        run = load_run(tmp_path)
    for one in explain.integrated(run, tiny.bundle(size=120).test[:2]):
        assert one.by_source["environments"].abs().sum() > 0
        assert one.gap.abs().max() < 0.02 * (one.output - one.baseline).abs().max()


def test_other_targets_have_a_table_of_their_own(run, tmp_path):
    """What rests is the network; the table belongs to the targets, and begins anew with them."""
    bundle = tiny.bundle(size=120)
    bundle = replace(bundle, task=replace(bundle.task, targets=("a", "b")))
    config = change(**SETTINGS, network={"known_environments": 50}, epochs=1, lr=1e-12, init_from=str(run.folder))
    fit(bundle, change(config, freeze=True), tmp_path, progress=False)
    found = load_run(tmp_path).model.environments
    assert torch.equal(found.known, run.model.environments.known)
    assert found.weight.abs().max() < 1e-6 < run.model.environments.weight.abs().max()
