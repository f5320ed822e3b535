import pickle

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from safetensors.torch import save_file
from torch_geometric.data import Batch, Data
from torch_geometric.loader import DataLoader

from escgnn import graphs
from escgnn.store import Field, GraphStore
from escgnn.transforms import StructuralEncoding
from tests.strategies import odd_shapes

DTYPES = (torch.float32, torch.float64, torch.bfloat16, torch.int64, torch.uint8, torch.bool, torch.complex64)
SHAPES = ((), (1,), (3,), (2, 2), (0,))


@st.composite
def stores(draw, min_size=0, max_size=6):
    """Any sizes, directed edges, columns of any shape and type at every level."""
    sizes = draw(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 7)), min_size=min_size, max_size=max_size))
    num_nodes = [n for n, _ in sizes]
    num_edges = [e if n else 0 for n, e in sizes]
    rng = np.random.default_rng(draw(st.integers(0, 99)))
    edge_index = rng.integers(0, np.repeat(num_nodes, num_edges), (2, sum(num_edges)))
    columns = {}
    for level, rows in (("node", sum(num_nodes)), ("edge", sum(num_edges)), ("graph", len(sizes))):
        kinds = draw(st.lists(st.tuples(st.sampled_from(SHAPES), st.sampled_from(DTYPES)), max_size=2))
        columns[level] = {
            f"{level}_{i}": torch.from_numpy(rng.integers(0, 50, (rows, *shape))).to(dtype)
            for i, (shape, dtype) in enumerate(kinds)
        }
    return GraphStore(num_nodes, num_edges, edge_index, **columns)


@st.composite
def choices(draw):
    """A store and some of its graphs, in any order, repeats and negative numbers included."""
    store = draw(stores(min_size=1))
    number = st.integers(-len(store), len(store) - 1)
    return store, draw(st.lists(number, min_size=1, max_size=8))


def molecules(count=20):
    """A store like ZINC's."""
    members = graphs.molecule_like(count).split()
    edge_index = np.concatenate([member.edge_index for member in members], axis=1)
    nodes, edges = [member.num_nodes for member in members], [member.edge_index.shape[1] for member in members]
    x, kind, y = np.arange(sum(nodes))[:, None], np.arange(sum(edges)) % 4, np.arange(count, dtype=np.float32)
    return GraphStore(nodes, edges, edge_index, node={"x": x}, edge={"edge_attr": kind}, graph={"y": y})


def assert_same(a, b):
    """Two Data, or two Batch, equal in all that PyG keeps of them."""
    assert type(a) is type(b)
    assert {*a.keys()} == {*b.keys()}
    for key in a.keys():  # noqa: SIM118, a Data is no mapping
        x, y = torch.as_tensor(a[key]), torch.as_tensor(b[key])
        assert x.dtype == y.dtype, key
        assert torch.equal(x, y), key
    assert a.num_nodes == b.num_nodes
    assert a.num_edges == b.num_edges


def assert_same_stores(a, b):
    assert len(a) == len(b)
    assert a.fields == b.fields
    for one, other in zip(a, b, strict=True):
        assert_same(one, other)


@given(choices())
def test_a_batch_is_what_pyg_collates(choice):
    store, indices = choice
    members = [store[i] for i in indices]
    ours, theirs = store.batch(indices), Batch.from_data_list(members)
    assert_same(ours, theirs)
    assert list(ours._store) == list(theirs._store)
    assert ours.num_graphs == theirs.num_graphs == len(ours)
    assert ours._store._num_nodes == theirs._store._num_nodes
    for private in ("_slice_dict", "_inc_dict"):
        a, b = getattr(ours, private), getattr(theirs, private)
        assert list(a) == list(b)
        assert all(torch.equal(a[name], b[name]) and a[name].dtype == b[name].dtype for name in a)
    for i, (member, back) in enumerate(zip(members, ours.to_data_list(), strict=True)):
        assert_same(member, back)
        assert_same(member, ours[i])


@pytest.mark.parametrize("name", [name for name in odd_shapes() if name != "nothing"])
def test_odd_shapes(name):
    graph = odd_shapes()[name]
    store = GraphStore([graph.num_nodes], [graph.edge_index.shape[1]], graph.edge_index)
    data = Data(edge_index=torch.from_numpy(graph.edge_index), num_nodes=graph.num_nodes)
    assert_same(store[0], data)
    assert_same(store.batch([0, 0]), Batch.from_data_list([data, data]))


def test_batches_go_through_pyg_and_our_transform():
    store = molecules()
    encoding = StructuralEncoding(2)
    ours = encoding(store.batch([3, 1, 4]))
    theirs = encoding(Batch.from_data_list([store[3], store[1], store[4]]))
    assert_same(ours, theirs)
    assert_same(ours[1], encoding(store[1]))
    assert_same(pickle.loads(pickle.dumps(ours))[2], ours[2])
    assert_same(ours.clone()[0], ours[0])
    ours.ptr += 1  # not what the batch goes by
    assert_same(ours[1], theirs[1])


def test_pyg_loader_takes_a_store():
    store = molecules()
    batches = list(DataLoader(store, batch_size=8))
    assert [batch.num_graphs for batch in batches] == [8, 8, 4]
    assert_same(batches[1], store.batch(range(8, 16)))


def test_a_batch_holds_at_least_one_graph():
    for indices in ([], slice(0, 0), np.zeros(20, bool)):
        with pytest.raises(ValueError, match="indices: a batch holds at least one graph"):
            molecules().batch(indices)


@given(stores(min_size=1), st.data())
def test_every_way_to_choose_graphs(store, data):
    numbers = list(range(len(store)))
    part = data.draw(st.slices(len(store)))
    mask = data.draw(st.lists(st.booleans(), min_size=len(store), max_size=len(store)))
    picked = data.draw(st.lists(st.sampled_from(numbers)))
    for index, expected in (
        (part, numbers[part]),
        (mask, [i for i in numbers if mask[i]]),
        (torch.tensor(mask), [i for i in numbers if mask[i]]),
        (picked, picked),
        (np.array(picked, np.int32), picked),
        (torch.tensor(picked, dtype=torch.int64), picked),
    ):
        chosen = store[index]
        assert len(chosen) == len(expected)
        for i, graph in zip(expected, chosen, strict=True):
            assert_same(graph, store[i])


@given(stores(min_size=1), st.data())
def test_views_of_views(store, data):
    first = data.draw(st.lists(st.integers(-len(store), len(store) - 1), min_size=1, max_size=8))
    second = data.draw(st.lists(st.integers(-len(first), len(first) - 1), min_size=1, max_size=8))
    view = store[first][second]
    assert_same(view.batch(), store.batch([first[i] for i in second]))
    assert_same_stores(view, view.compact())
    assert view.num_nodes.tolist() == [graph.num_nodes for graph in view]
    assert view.num_edges.tolist() == [graph.num_edges for graph in view]


def test_views_share_the_arrays():
    store = molecules()
    view = store[5:][[1, 2]]
    assert view._columns is store._columns
    assert view[0].x.data_ptr() == store[6].x.data_ptr()
    assert store.compact() is store


@pytest.mark.parametrize("index", [20, -21, [0, 20], [-21], 1.0, [0.5], True, "x", [[0]], [True, False], None])
def test_graphs_that_do_not_exist(index):
    with pytest.raises(IndexError):
        molecules()[index]


def test_statistics_and_description():
    store = GraphStore([3, 1], [4, 0], [[0, 1, 1, 2], [1, 0, 2, 1]], node={"x": np.ones((4, 2), np.float32)})
    assert (store.num_nodes_total, store.mean_nodes, store.mean_edges) == (4, 2.0, 1.0)
    assert store.fields == {"x": Field("node", (2,), torch.float32)}
    assert repr(store) == "GraphStore(2 graphs, 4 nodes, columns x)"
    assert store[1:].num_nodes_total == 1
    assert_array_equal(store[1:].column("x"), [[1, 1]])


def test_the_view_is_all_graphs_side_by_side():
    store = molecules()[[4, 2, 4]]
    union = graphs.disjoint_union([graphs.as_graph(data) for data in store])
    assert_array_equal(store.view().edge_index, union.edge_index)
    assert_array_equal(store.view().ptr, union.ptr)
    assert store[:0].view().num_graphs == 0
    with pytest.raises(ValueError, match="not symmetric"):
        GraphStore([2], [1], [[0], [1]]).view()


def test_a_view_has_both_directions_of_every_edge():
    store = GraphStore.from_view(graphs.disjoint_union([graphs.path(3), graphs.empty(1), graphs.path(2)]))
    columns = [sorted(store[i].edge_index.T.tolist()) for i in range(3)]
    assert columns == [[[0, 1], [1, 0], [1, 2], [2, 1]], [], [[0, 1], [1, 0]]]


@given(stores(min_size=1))
def test_from_data_list_and_concatenate(store):
    assert_same_stores(GraphStore.from_data_list(list(store)), store)
    both = GraphStore.concatenate([store, store[::-1], store[:0]])
    assert_same_stores(both, store[[*range(len(store)), *reversed(range(len(store)))]])


def test_from_data_list_takes_numbers():
    edge_index = torch.tensor([[0, 1], [1, 0]])
    members = [Data(x=torch.ones(2, 3), edge_index=edge_index, y=i / 2, z=torch.tensor(i)) for i in range(3)]
    store = GraphStore.from_data_list(members)
    assert {name: field.level for name, field in store.fields.items()} == {"x": "node", "y": "graph", "z": "graph"}
    assert_same(store.batch([2, 0])[1], store[0])
    assert store.column("y").tolist() == [0, 0.5, 1]


def test_where_sizes_do_not_tell_names_do():
    """A node with a loop has one row of everything."""
    names = {"x": "node", "pos": "node", "node_kind": "node", "edge_attr": "edge", "y": "graph"}
    loop = Data(edge_index=torch.zeros(2, 1, dtype=torch.long), num_nodes=1, **dict.fromkeys(names, torch.ones(1, 1)))
    store = GraphStore.from_data_list([loop, loop])
    assert {name: field.level for name, field in store.fields.items()} == names


def test_lists_that_do_not_fit():
    pair = torch.tensor([[0, 1], [1, 0]])
    good = Data(edge_index=pair, x=torch.ones(2, 1))
    for bad, reason in (
        (Data(x=torch.ones(2, 1)), "data_list: graph 1 is"),
        (Data(edge_index=pair, x=torch.ones(2, 1), y=1), "data_list: graph 1 is"),
        (Data(edge_index=pair, x=torch.ones(2, 7)), "differ in the shape"),
    ):
        with pytest.raises(ValueError, match=reason):
            GraphStore.from_data_list([good, bad])
    for columns, reason in (
        ({"name": "benzene"}, "data_list: name of graph 0 is neither a tensor nor a number"),
        ({"both": {"a": torch.ones(2)}}, "data_list: both of graph 0 is neither"),
        ({"z": torch.ones(3)}, "data_list: z has a row neither"),
    ):
        with pytest.raises(ValueError, match=reason):
            GraphStore.from_data_list([Data(edge_index=pair, num_nodes=2, **columns)] * 2)
    with pytest.raises(ValueError, match="data_list: no graphs"):
        GraphStore.from_data_list([])
    with pytest.raises(ValueError, match="stores: number 1 has columns"):
        GraphStore.concatenate([molecules(), molecules().with_fields(graph={"w": np.ones(20)})])
    with pytest.raises(ValueError, match="stores: none"):
        GraphStore.concatenate([])


def test_further_columns():
    store = molecules()
    more = store.with_fields(node={"z": torch.arange(store.num_nodes_total)}, graph={"y": torch.ones(20, 2)})
    assert more.fields["y"] == Field("graph", (2,), torch.float32)
    assert {*more.fields} == {"x", "z", "edge_attr", "y"}
    assert more.column("x").data_ptr() == store.column("x").data_ptr()
    part = store[[7, 3]].with_fields(graph={"weight": [0.5, 2]}, node={"y": store[[7, 3]].column("x")})
    assert part.fields["y"].level == "node"
    assert part[1].weight.tolist() == [2]
    assert torch.equal(part[1].x, store[3].x)
    with pytest.raises(ValueError, match="graph: weight has shape"):
        store[:2].with_fields(graph={"weight": torch.ones(20)})


@given(stores(), st.booleans())
def test_files_give_back_what_was_saved(tmp_path_factory, store, reverse):
    path = tmp_path_factory.mktemp("store") / "graphs.safetensors"
    store = store[::-1] if reverse else store
    store.save(path, {"source": "here"})
    found = GraphStore.load(path)
    assert found.metadata == {"source": "here"}
    assert_same_stores(found, store)
    found.save(path)  # over the file that its arrays are mapped from
    assert_same_stores(found, store)
    assert GraphStore.load(path).metadata == {}


def test_files_that_are_not_stores(tmp_path):
    path = tmp_path / "graphs.safetensors"
    molecules().save(path)
    whole = path.read_bytes()
    for content in (whole[:-9], whole[:100], whole[:3], b"", b"not safetensors at all", whole + b"tail"):
        path.write_bytes(content)
        with pytest.raises(ValueError, match=r"graphs.safetensors: damaged, or not a safetensors file"):
            GraphStore.load(path)
    save_file({"weight": torch.ones(3)}, path)
    with pytest.raises(ValueError, match=r"graphs.safetensors: .* not a 'graph store 1'"):
        GraphStore.load(path)
    ids = torch.zeros((2, 2), dtype=torch.int32)
    good = {"num_nodes": torch.tensor([1]), "num_edges": torch.tensor([2]), "edge_index": ids}
    for change, reason in (
        ({"edge_index": ids + 1}, r"column 0 is \(1, 1\), but graph 0 has 1 nodes"),
        ({"num_edges": torch.tensor([1])}, "num_edges asks for"),
        ({"node.x": torch.ones(9)}, "node: x has shape"),
        ({"other": torch.ones(9)}, "'other' is missing or unknown"),
    ):
        save_file(good | change, path, {"escgnn": "graph store 1"})
        with pytest.raises(ValueError, match=f"graphs.safetensors: not a consistent store of graphs; .*{reason}"):
            GraphStore.load(path)
    with pytest.raises(FileNotFoundError):
        GraphStore.load(tmp_path / "nowhere")


def test_a_failed_save_leaves_what_was_there(tmp_path):
    path = tmp_path / "graphs.safetensors"
    values = torch.ones(3)  # the same memory under two names
    molecules(3).with_fields(graph={"y": values, "z": values}).save(path)
    with pytest.raises(TypeError):
        molecules(5).save(path, {"number": 3})
    assert len(GraphStore.load(path)) == 3
    assert list(tmp_path.iterdir()) == [path]


PAIR = [[0, 1], [1, 0]]


@pytest.mark.parametrize(
    ("arguments", "columns", "reason"),
    [
        (([2], [2, 0], PAIR), {}, "num_edges: 2 graphs, but num_nodes has 1"),
        (([2.0], [2], PAIR), {}, "num_nodes: dtype torch.float64"),
        (([[2]], [2], PAIR), {}, "num_nodes: expected one number"),
        (([-2], [2], PAIR), {}, "num_nodes: expected one number from 0 to 2147483647 for each graph"),
        (([2], [1 << 40], PAIR), {}, "num_edges: expected one number"),
        ((["two"], [2], PAIR), {}, "num_nodes: cannot be stored as a tensor"),
        (([2], [3], PAIR), {}, r"edge_index: shape \(2, 2\); num_edges asks for \(2, 3\)"),
        (([2], [2], [[0.0, 1], [1, 0]]), {}, "edge_index: dtype torch.float64"),
        (([2], [2], [[False, True], [True, False]]), {}, "edge_index: dtype torch.bool"),
        (([2], [2], [[0, -1], [1, 0]]), {}, r"edge_index: column 1 is \(-1, 0\), but graph 0 has 2 nodes"),
        (([1, 2, 3], [0, 0, 2], [[0, 1], [3, 0]]), {}, r"column 0 is \(0, 3\), but graph 2 has 3 nodes"),
        (([2], [2], [[0, 1 << 32], [1, 0]]), {}, r"column 1 is \(4294967296, 0\)"),
        (([2], [2], PAIR), {"node": {"x": [1.0]}}, r"node: x has shape \(1,\); expected 2 rows"),
        (([2], [2], PAIR), {"node": {"x": np.ones(2, np.uint16)}}, "node: x has dtype torch.uint16"),
        (([2], [2], PAIR), {"node": {"x": torch.eye(2).to_sparse()}}, "node: x: cannot be stored as a tensor"),
        (([2], [2], PAIR), {"graph": {"y": 1.0}}, r"graph: y has shape \(\); expected 1 rows"),
        (([2], [2], PAIR), {"edge": {"a": ["b", "c"]}}, "edge: a: cannot be stored as a tensor"),
        (([2], [2], PAIR), {"node": {"y": [1, 2]}, "graph": {"y": [1]}}, "y: a column has one level, not node, graph"),
    ],
)
def test_arrays_that_do_not_fit(arguments, columns, reason):
    with pytest.raises(ValueError, match=reason):
        GraphStore(*arguments, **columns)


@pytest.mark.parametrize(
    "name", ["edge_index", "node_index", "batch", "minibatch", "ptr", "surface", "num_nodes", "_x", "keys", "to", "a b"]
)
def test_names_that_pyg_would_misread(name):
    with pytest.raises(ValueError, match=f"node: PyG would misread a column called '{name}'"):
        GraphStore([2], [2], PAIR, node={name: [0, 1]})


def test_arrays_of_every_kind_are_taken():
    frozen = np.arange(2.0)
    frozen.setflags(write=False)
    plain = np.ones(2)
    columns = {"plain": plain, "frozen": frozen, "swapped": np.arange(2, dtype=">i4"), "strided": np.arange(4)[::2]}
    learnt = torch.ones(1, requires_grad=True)
    store = GraphStore([2], [2], torch.tensor(PAIR, dtype=torch.int16), node=columns, graph={"learnt": learnt})
    batch = store.batch([0, 0])
    for name, values in columns.items():
        assert batch[name].tolist() == 2 * values.tolist()
    assert batch.edge_index.dtype == torch.int64
    assert not batch.learnt.requires_grad
    assert store.column("plain").data_ptr() == plain.ctypes.data, "memory is shared where it can be"
