"""QM9: small organic molecules with hydrogens and twelve quantum-chemical targets, in the units of the original.

The four energies are totals in Hartree, as in the paper's `tab:qm9`, or atomisation energies in kcal/mol: the total less
the energies of the free atoms.
"""

from dataclasses import replace
from typing import Any, Literal, get_args

import numpy as np
import pyarrow as pa
import pyarrow.csv
from numpy.typing import ArrayLike, NDArray

from escgnn.datasets.bundle import DatasetBundle, Feature
from escgnn.datasets.entry import Entry, RawFile, Size, raw_files
from escgnn.datasets.molecules import BOND_TYPE
from escgnn.datasets.raw import Raw
from escgnn.datasets.reading import categorical, damage_named, from_undirected, read_npz
from escgnn.datasets.splits import random_split
from escgnn.readers import chemistry
from escgnn.task import Task

Energies = Literal["total", "atomisation"]

ATOMS = (1, 6, 7, 8, 9)
ENERGIES = slice(7, 11)  # u0, u298, h298, g298 among the targets
KCAL_PER_HARTREE = 627.509  # as in the published atomisation energies
FREE_ATOMS = np.array(  # Hartree: a row per atom of ATOMS, a column per energy
    [
        [-0.500273, -0.498857, -0.497912, -0.510927],
        [-37.846772, -37.845355, -37.844411, -37.861317],
        [-54.583861, -54.582445, -54.581501, -54.598897],
        [-75.064579, -75.063163, -75.062219, -75.079532],
        [-99.718730, -99.717314, -99.716370, -99.733544],
    ]
)
QM9_TARGETS = ("mu", "alpha", "homo", "lumo", "gap", "r2", "zpve", "u0", "u298", "h298", "g298", "cv")
TASK = Task("graph", "regression", "mae", "min", QM9_TARGETS)
DEFAULTS = {
    "encoding": {"hops": 3, "parts": "degree,node,joint,edge,resistance"},
    "model": {"hidden": 128, "pool": "mean"},
    "epochs": 400,
}
FEATURES = {"x": Feature("dense", (11,)), "edge_attr": Feature("categorical", (4,))}


def qm9(raw: Raw, *, energies: Energies = "total", seed: int = 0) -> DatasetBundle:
    """The whole dataset, converted as PyG does; the molecules that failed a consistency check are left out.

    Columns of ``x``: one-hot H C N O F, atomic number, aromatic, sp, sp2, sp3 (0 throughout, because PyG reads molecules
    without perceiving these), and hydrogens attached. ``edge_attr``: single, double, triple, aromatic. ``pos``: Angstrom.

    Args:
        raw: The files.
        energies: See above.
        seed: For the split, 80 % / 10 % / 10 %.
    """
    Chem, rdBase = chemistry()
    task = task_of(raw.entry.task, energies)
    table = raw.paths["gdb9.sdf.csv"]
    with damage_named(table):
        columns = pa.csv.read_csv(table)
        y = np.stack([columns[name].to_numpy() for name in task.targets], axis=1).astype(np.float32)
    skipped = raw.paths["uncharacterized.txt"]
    with damage_named(skipped):
        left_out = {int(line.split()[0]) - 1 for line in skipped.read_text().split("\n")[9:-2]}
    molecules = raw.paths["gdb9.sdf"]
    with damage_named(molecules), rdBase.BlockLogs():
        supplier = Chem.SDMolSupplier(str(molecules), removeHs=False, sanitize=False)
        if len(supplier) != len(y):
            raise ValueError(f"it holds {len(supplier)} molecules, but {table.name} has {len(y)} rows")
        kept = [i for i in range(len(y)) if i not in left_out]
        atoms, positions, edges, bonds = zip(*(_molecule(supplier[i]) for i in kept), strict=True)
        sizes = [len(numbers) for numbers in atoms]
        counts = [len(ends) for ends in edges]
        z = np.concatenate(atoms)
        pairs = np.concatenate(edges)
        graphs = from_undirected(
            sizes,
            counts,
            pairs,
            node={
                "x": atom_columns(z, np.zeros((z.size, 4)), sizes, counts, pairs),
                "pos": np.concatenate(positions).astype(np.float32),
            },
            edge={"edge_attr": categorical(np.concatenate(bonds))},
            graph={"y": y[kept]},
        )
    features = {**FEATURES, "pos": Feature("dense", (3,))}
    return DatasetBundle(raw.entry.name, graphs, task, features, random_split(len(graphs), seed=seed))


def qm9_20k(raw: Raw, *, energies: Energies = "total", seed: int = 0) -> DatasetBundle:
    """20,000 molecules of QM9, with the same columns as `qm9`; aromaticity and hybridisation are known, positions not.

    Args:
        raw: The file.
        energies: See above.
        seed: For the split, 80 % / 10 % / 10 %.
    """
    path = raw.paths["qm9_graphs_20k.npz"]
    arrays = read_npz(path)
    with damage_named(path):
        sizes = arrays["num_nodes"]
        counts = arrays["num_edges"]
        z = arrays["z"]
        edges = arrays["edges"]
        y = arrays["targets"]
        if energies == "total":
            owner = np.repeat(np.arange(sizes.size), sizes)
            present = np.stack([np.bincount(owner[z == atom], minlength=sizes.size) for atom in ATOMS], axis=1)
            y[:, ENERGIES] = y[:, ENERGIES] / KCAL_PER_HARTREE + present @ FREE_ATOMS
        graphs = from_undirected(
            sizes,
            counts,
            edges,
            node={"x": atom_columns(z, arrays["node_feat_int"][:, 8:12], sizes, counts, edges)},
            edge={"edge_attr": categorical(arrays["bond"] - 1)},
            graph={"y": y.astype(np.float32)},
        )
    task = task_of(raw.entry.task, energies)
    return DatasetBundle(raw.entry.name, graphs, task, FEATURES, random_split(len(graphs), seed=seed))


def task_of(task: Task, energies: Energies) -> Task:
    """The task with the energies asked for."""
    if energies not in get_args(Energies):
        raise ValueError(f"energies: {energies!r}; expected one of {', '.join(get_args(Energies))}")
    names = list(task.targets)
    if energies == "atomisation":
        names[ENERGIES] = [f"{name}_atom" for name in names[ENERGIES]]
    return replace(task, targets=tuple(names))


def _molecule(molecule: Any) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Atomic numbers, positions, bonds and their types, from 0, of an RDKit molecule."""
    if molecule is None:
        raise ValueError("a molecule cannot be read")
    bonds = list(molecule.GetBonds())
    types = [BOND_TYPE.index(str(bond.GetBondType())) for bond in bonds]
    ends = [(bond.GetBeginAtomIdx(), bond.GetEndAtomIdx()) for bond in bonds]
    return (
        np.array([atom.GetAtomicNum() for atom in molecule.GetAtoms()], np.int64),
        molecule.GetConformer().GetPositions(),
        np.array(ends, np.int64).reshape(-1, 2),
        np.array(types, np.int64),
    )


def atom_columns(
    z: NDArray[Any], flags: NDArray[Any], sizes: ArrayLike, counts: ArrayLike, edges: NDArray[Any]
) -> NDArray[np.float32]:
    """PyG's eleven columns; ``flags`` are the four that need chemistry."""
    nodes = np.asarray(sizes, np.int64)
    first = np.cumsum(nodes) - nodes  # node of each molecule
    u, v = (edges + np.repeat(first, np.asarray(counts, np.int64))[:, None]).T
    hydrogen = (z == 1).astype(np.int64)
    hydrogens = np.bincount(u, hydrogen[v], z.size) + np.bincount(v, hydrogen[u], z.size)
    one_hot = z[:, None] == np.array(ATOMS)
    return np.column_stack([one_hot, z, flags, hydrogens]).astype(np.float32)


ENTRIES = (
    Entry(
        name="qm9",
        parse=qm9,
        task=TASK,
        size=Size(130831, 18.0, 18.6),
        source="MoleculeNet's gdb9.sdf, as PyG reads it",
        files=(
            *raw_files(
                "qm9",
                {"gdb9.sdf": None, "gdb9.sdf.csv": None},
                archive="https://deepchemdata.s3-us-west-1.amazonaws.com/datasets/molnet_publish/qm9.zip",
            ),
            RawFile("qm9/uncharacterized.txt", url="https://ndownloader.figshare.com/files/3195404"),
        ),
        defaults=DEFAULTS,
    ),
    Entry(
        name="qm9-20k",
        parse=qm9_20k,
        task=TASK,
        size=Size(20000, 18.075, 18.699),
        source="20,000 molecules of QM9 with hydrogens, from the valid and test files of Gilmer et al. 2017",
        files=(
            RawFile(
                "qm9/qm9_graphs_20k.npz",
                sha256="9924296223b400a54f2763424ca3907b68ec4a851cb4e9eb16af42195d75c471",
            ),
        ),
        advice="this part of QM9 has no public home; qm9 is the whole and downloads",
        defaults=DEFAULTS,
    ),
)
