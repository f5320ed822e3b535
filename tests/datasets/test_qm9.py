import warnings

import numpy as np
import pyarrow.csv
import pytest
import torch
import torch_geometric.datasets
from rdkit import Chem
from rdkit.Chem import AllChem
from torch.nn.functional import one_hot

from escgnn import datasets
from escgnn.datasets import qm9
from escgnn.datasets.qm9 import QM9_TARGETS

COLUMNS = ["A", "B", "C", *QM9_TARGETS, "u0_atom", "u298_atom", "h298_atom", "g298_atom"]
MOLECULES = ["C", "c1ccccc1", "CC#N", "O=C=O", "C[NH3+]", "c1cc[nH]c1", "FC(F)=O", "O"]


@pytest.fixture
def raw_qm9(tmp_path):
    """Small molecules in the form of the raw files of QM9; the third is on the list of those to leave out."""
    folder = tmp_path / "qm9"
    folder.mkdir()
    rows = [",".join(["mol_id", *COLUMNS])]
    with Chem.SDWriter(str(folder / "gdb9.sdf")) as writer:
        for i, smiles in enumerate(MOLECULES):
            molecule = Chem.AddHs(Chem.MolFromSmiles(smiles))
            AllChem.EmbedMolecule(molecule, randomSeed=1)
            molecule.SetProp("_Name", f"gdb_{i + 1}")
            writer.write(molecule)
            rows.append(",".join([f"gdb_{i + 1}", *(str(100 * i + column) for column in range(19))]))
    (folder / "gdb9.sdf.csv").write_text("\n".join(rows) + "\n")
    header = "\n".join(["=" * 20] * 9)
    (folder / "uncharacterized.txt").write_text(f"{header}\n     3   CC#N   CC#N\n1 compounds\n")
    return folder


def test_equal_to_pyg(raw_qm9, tmp_path):
    ours = datasets.load("qm9", root=tmp_path)
    (tmp_path / "pyg").mkdir()
    raw_qm9.rename(tmp_path / "pyg/raw")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        theirs = torch_geometric.datasets.QM9(str(tmp_path / "pyg"))
    hartree = 27.2113825435
    units = np.array([1, 1, hartree, hartree, hartree, 1, hartree, hartree, hartree, hartree, hartree, 1])
    assert len(ours.graphs) == len(theirs) == len(MOLECULES) - 1
    for data, other in zip(ours.graphs, theirs, strict=True):
        assert torch.equal(data.x, other.x)
        assert torch.equal(data.pos, other.pos)
        assert data.y[0].numpy() * units == pytest.approx(other.y[0, :12].numpy(), rel=1e-6)
        ours_order, theirs_order = (np.lexsort(member.edge_index.numpy()[::-1]) for member in (data, other))
        assert torch.equal(data.edge_index[:, ours_order], other.edge_index[:, theirs_order])
        assert torch.equal(one_hot(data.edge_attr[ours_order, 0], 4), other.edge_attr[theirs_order].long())


def test_hydrogens_are_counted_at_either_end_of_a_bond():
    """Two molecules, O-H written in both ways, and H-C."""
    z = np.array([8, 1, 1, 1, 6])
    edges = np.array([[0, 1], [2, 0], [0, 1]])
    columns = qm9.atom_columns(z, np.zeros((5, 4)), [3, 2], [2, 1], edges)
    assert columns[:, -1].tolist() == [2, 0, 0, 0, 1]
    assert columns[:, 5].tolist() == z.tolist()


def test_energies(raw_qm9, tmp_path):
    total, atomisation = (datasets.load("qm9", root=tmp_path, energies=kind) for kind in ("total", "atomisation"))
    assert total.targets == QM9_TARGETS
    assert atomisation.targets[7:] == ("u0_atom", "u298_atom", "h298_atom", "g298_atom", "cv")
    assert total.graphs[1].y[0, 7:].tolist() == [110, 111, 112, 113, 114]
    assert atomisation.graphs[1].y[0, 7:].tolist() == [115, 116, 117, 118, 114]
    with pytest.raises(ValueError, match="energies: 'eV'; expected one of total, atomisation"):
        datasets.load("qm9", root=tmp_path, energies="eV")


def test_a_truncated_file_is_told(raw_qm9, tmp_path):
    lines = (raw_qm9 / "gdb9.sdf").read_text().splitlines()
    (raw_qm9 / "gdb9.sdf").write_text("\n".join(lines[: len(lines) // 2]))
    with pytest.raises(datasets.DatasetError, match=r"gdb9\.sdf is damaged: it holds \d molecules, .* 8 rows"):
        datasets.load("qm9", root=tmp_path)


def test_the_20k_molecules(load, benchmark_data):
    bundle = load("qm9-20k")
    assert [len(part) for part in (bundle.train, bundle.validation, bundle.test)] == [16000, 2000, 2000]
    assert np.array_equal(np.sort(np.concatenate(bundle.split)), np.arange(20000))
    x = bundle.graphs.column("x").numpy()
    with np.load(benchmark_data / "qm9/qm9_graphs_20k.npz") as file:
        stored = file["node_feat_int"]
        ids = file["gdb_id"]
        normalised = file["targets_normalised"]
    assert np.array_equal(x, stored[:, [0, 1, 2, 3, 4, 5, 8, 9, 10, 11, 13]])
    assert np.corrcoef(bundle.graphs.column("y")[:, 0], normalised[:, 0])[0, 1] == pytest.approx(1)
    table = pyarrow.csv.read_csv(benchmark_data / "qm9/qm9_deepchem_subset.csv.gz")
    names = table["mol_id"].to_pylist()
    places = {int(name.removeprefix("gdb_")): row for row, name in enumerate(names)}
    shared = [i for i, number in enumerate(ids.tolist()) if number in places]
    rows = [places[ids[i]] for i in shared]
    assert len(shared) > 3000
    for kind in ("total", "atomisation"):
        chosen = load("qm9-20k", energies=kind)
        y = chosen.graphs.column("y").numpy()[shared]
        known = np.stack([table[name].to_numpy()[rows] for name in chosen.targets], axis=1)
        assert y == pytest.approx(known, rel=2e-6, abs=2e-6)
