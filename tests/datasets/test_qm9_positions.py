import numpy as np
import pytest

from escgnn.datasets.qm9 import QM9_TARGETS
from escgnn.datasets.qm9_positions import RADII, STRETCH, near


@pytest.fixture(scope="module")
def ids(benchmark_data):
    """The numbers in QM9 of both parts: with positions, and with bonds."""
    with np.load(benchmark_data / "qm9/qm9_xyz_3000.npz") as file:
        positions = file["gdb_id"].tolist()
    with np.load(benchmark_data / "qm9/qm9_graphs_20k.npz") as file:
        bonds = {number: i for i, number in enumerate(file["gdb_id"].tolist())}
    skipped = {int(line) for line in (benchmark_data / "qm9/uncharacterized_ids.txt").read_text().split()}
    return [number for number in positions if number not in skipped], bonds


def test_what_both_parts_have_is_the_same(load, ids):
    """Positions give the bonds that the other part lists, and the same targets; orders of bonds are a matter of opinion."""
    bundle = load("qm9-3k")
    other = load("qm9-20k")
    names, places = ids
    gone = {row.record for row in bundle.rejected}
    kept = [number for number in names if f"gdb_{number}" not in gone]
    assert len(kept) == len(bundle.graphs) and len(gone) == 161
    shared = [(i, places[number]) for i, number in enumerate(kept) if number in places]
    assert len(shared) == 417
    same = 0
    for i, j in shared:
        mine = bundle.graphs[i]
        theirs = other.graphs[j]
        assert mine.x[:, [0, 1, 2, 3, 4, 5, 10]].equal(theirs.x[:, [0, 1, 2, 3, 4, 5, 10]])
        assert mine.y.numpy() == pytest.approx(theirs.y.numpy(), rel=2e-6, abs=2e-5)
        bonds, listed = (_by_ends(data) for data in (mine, theirs))
        assert bonds.keys() == listed.keys()
        same += bonds == listed
    assert same == 390


def _by_ends(data):
    return dict(zip(map(tuple, data.edge_index.T.tolist()), data.edge_attr[:, 0].tolist(), strict=True))


def test_positions_stay_with_their_atoms(load, benchmark_data):
    bundle = load("qm9-3k")
    assert bundle.targets == QM9_TARGETS and bundle.features["pos"].sizes == (3,)
    methane = bundle.graphs[0]
    assert methane.x[:, 5].tolist() == [6, 1, 1, 1, 1]
    lengths = (methane.pos[methane.edge_index[0]] - methane.pos[methane.edge_index[1]]).norm(dim=1)
    assert lengths.numpy() == pytest.approx(1.092, abs=1e-3)


def test_bound_atoms_are_near():
    rng = np.random.default_rng(0)
    for _ in range(20):
        z = rng.choice([*RADII], 6)
        pos = rng.normal(size=(6, 3)) * 1.5
        expected = [
            [u, v]
            for u in range(6)
            for v in range(u + 1, 6)
            if np.sqrt(((pos[u] - pos[v]) ** 2).sum()) < STRETCH * (RADII[int(z[u])] + RADII[int(z[v])])
        ]
        assert near(z, pos).tolist() == expected
