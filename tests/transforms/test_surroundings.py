"""Environments of all nodes of a store, against dictionaries, and positions beside them."""

import networkx
import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from escgnn import graphs
from escgnn.store import GraphStore
from escgnn.transforms import Positions, Surroundings
from tests import naive
from tests.strategies import messy_graphs, odd_shapes, relabelled

TYPES = ("x", "edge_attr")


def typed_store(view, seed=0):
    """A store of one graph whose nodes and edges are of three and two kinds; both columns of an edge are of one."""
    rng = np.random.default_rng(seed)
    x = rng.integers(0, 3, (view.num_nodes, 2))
    ends = np.sort(view.edge_index, 0)
    kinds = rng.integers(0, 2, (view.num_nodes, view.num_nodes))
    columns = {"node": {"x": x}, "edge": {"edge_attr": kinds[ends[0], ends[1]]}}
    return GraphStore([view.num_nodes], [view.edge_index.shape[1]], view.edge_index, **columns)


def expected(store, types, radii):
    """The same by the naive program, one row for each node."""
    data = store[0]
    graph = networkx.Graph()
    has_nodes, has_edges = any(name.startswith("x") for name in types), "edge_attr" in types
    column = 1 if "x:1" in types else 0
    graph.add_nodes_from((w, {"type": int(data.x[w, column]) if has_nodes else 0}) for w in range(data.num_nodes))
    for place, (u, v) in enumerate(data.edge_index.T.tolist()):
        if u != v:
            graph.add_edge(u, v, type=int(data.edge_attr[place]) if has_edges else 0)
    found = [
        naive.environments(naive.by_cycles(graph), int(radius[-1]))
        if isinstance(radius, str)
        else naive.environments(graph, radius)
        for radius in radii
    ]
    return [[numbers[w] for numbers in found] for w in range(data.num_nodes)]


@given(messy_graphs(), st.sampled_from([(), TYPES, ("x:1",), ("edge_attr",)]))
def test_numbers_are_those_of_the_naive_program(view, types):
    store = typed_store(view)
    radii = (2, "ring1", 0, 1, "ring0", "ring2")
    found = Surroundings(environments=radii, types=types)(store)
    assert found.column("environment").tolist() == expected(store, types, radii)


@pytest.mark.parametrize("shape", odd_shapes())
def test_odd_shapes(shape):
    store = typed_store(odd_shapes()[shape])
    radii = (1, 3, "ring2")
    rows = Surroundings(environments=radii, types=TYPES)(store).column("environment")
    assert rows.shape == (store.num_nodes_total, 3) and rows.dtype == torch.int64
    assert rows.tolist() == expected(store, TYPES, radii)


@given(relabelled())
def test_names_of_nodes_do_not_matter(drawn):
    view, order, _, renamed = drawn
    surroundings = Surroundings(environments=(1, 2, "ring1"))
    first, second = (surroundings(GraphStore.from_view(one)).column("environment") for one in (view, renamed))
    assert torch.equal(second[order], first)


def test_a_graph_has_the_same_numbers_alone_and_among_others():
    members = [graphs.path(4), graphs.empty(1), graphs.cycle(6), graphs.star(3)]
    together = GraphStore.from_view(graphs.disjoint_union(members))
    surroundings = Surroundings(environments=(1, 2, "ring2"))
    rows = torch.split(surroundings(together).column("environment"), [view.num_nodes for view in members])
    for view, found in zip(members, rows, strict=True):
        assert torch.equal(surroundings(GraphStore.from_view(view)).column("environment"), found)
    chosen = surroundings(together[[2, 0]])
    assert torch.equal(chosen.column("environment"), torch.cat([rows[2], rows[0]]))


def molecule(bonds):
    """A store of one molecule of carbon, from the orders of its bonds."""
    ends = np.array([*bonds, *((v, u) for u, v in bonds)]).T
    orders = np.array([*bonds.values()] * 2)
    nodes = int(ends.max()) + 1
    return GraphStore([nodes], [ends.shape[1]], ends, node={"x": np.full(nodes, 6)}, edge={"edge_attr": orders})


def test_forms_of_an_aromatic_molecule_are_the_same():
    """Toluene, its double bonds here or there; other bonds are told apart, and so are chains from rings."""
    ring = [(i, (i + 1) % 6) for i in range(6)]
    forms = [molecule({edge: 1 + (i + turn) % 2 for i, edge in enumerate(ring)} | {(0, 6): 1}) for turn in (0, 1)]
    for radius in (0, 1, 2, 3):
        first, second = (
            Surroundings(environments=(f"ring{radius}",), types=TYPES)(form).column("environment") for form in forms
        )
        assert torch.equal(first, second)
    plain = [Surroundings(environments=(2,), types=TYPES)(form).column("environment") for form in forms]
    assert not torch.equal(*plain), "so the test can fail"
    ethane, ethene = molecule({(0, 1): 1}), molecule({(0, 1): 2})
    hexane = molecule(dict.fromkeys(ring[:5], 1))
    cyclohexane, benzene = molecule(dict.fromkeys(ring, 1)), molecule({edge: 1 + i % 2 for i, edge in enumerate(ring)})
    middles = {
        int(Surroundings(environments=("ring1",), types=TYPES)(one).column("environment")[1, 0])
        for one in (ethane, ethene, hexane, cyclohexane, benzene)
    }
    assert len(middles) == 5


def test_positions_as_before():
    store = GraphStore.from_view(graphs.path(3))
    walks = {"kind": "random_walk", "size": 2}
    found = Surroundings(walks, environments=(1,))
    assert found.adds == {"random_walk_pe", "environment"} and found.positional == walks
    rows = found(store).column("random_walk_pe")
    assert torch.equal(rows, Positions(walks)(store).column("random_walk_pe"))
    assert Surroundings()(store) is store and Surroundings().adds == frozenset()
    assert repr(Surroundings(environments=[2])) == "Surroundings(None, environments=[2], types=())"


def test_a_radius_may_be_a_text():
    """As a list on the command line is, if one of it is."""
    assert Surroundings(environments=("ring1", "3")).environments == ["ring1", 3]


def test_what_makes_no_sense_is_refused():
    with pytest.raises(ValueError, match=r"environments: 2; expected a sequence of radii such as \(1, 2\)"):
        Surroundings(environments=2)
    with pytest.raises(ValueError, match="environments: -1; expected an integer from 0"):
        Surroundings(environments=(1, -1))
    with pytest.raises(ValueError, match=r"environments: \[1, 1\]; expected different ones"):
        Surroundings(environments=(1, 1))
    for text in ("ring", "-2", "ring-1", "ring²", "circle2"):
        with pytest.raises(ValueError, match=f"environments: '{text}'; expected a radius such as 2, or ring2"):
            Surroundings(environments=(text,))
    with pytest.raises(ValueError, match=r"environments: \['ring1', 'ring1'\]; expected different ones"):
        Surroundings(environments=("ring1", "ring01"))
    with pytest.raises(ValueError, match=r"environments: 100000; expected an integer from 0"):
        Surroundings(environments=("ring100000",))
    with pytest.raises(ValueError, match="types: 'x', but the graphs have no such attribute"):
        Surroundings(environments=(1,), types=("x",))(GraphStore.from_view(graphs.path(3)))
