"""3,000 molecules of QM9 with the positions of their atoms; bonds are found from the distances.

Two atoms are bound if they are closer than 1.3 times the sum of their covalent radii; RDKit then finds the orders of the bonds.
Molecules for which it finds none are left out, and listed; so are, as ever, those that failed QM9's own check.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from escgnn.datasets.bundle import DatasetBundle, Feature
from escgnn.datasets.entry import Entry, RawFile, Size
from escgnn.datasets.molecules import BOND_TYPE
from escgnn.datasets.qm9 import DEFAULTS, FEATURES, TASK, Energies, atom_columns, task_of
from escgnn.datasets.raw import Raw
from escgnn.datasets.reading import categorical, damage_named, from_undirected, read_npz
from escgnn.datasets.splits import random_split
from escgnn.disk import rejected
from escgnn.readers import chemistry

RADII = {1: 0.31, 6: 0.76, 7: 0.71, 8: 0.66, 9: 0.57}  # Angstrom: Cordero et al., Dalton Transactions 2008
STRETCH = 1.3
UNCHARACTERISED = 3054  # molecules of the whole that failed the check
HYBRIDS = ("SP", "SP2", "SP3")


def qm9_3k(raw: Raw, *, energies: Energies = "total", seed: int = 0) -> DatasetBundle:
    """Molecules with the columns of `escgnn.datasets.qm9.qm9`, all of them known, and ``pos`` in Angstrom.

    Args:
        raw: The files.
        energies: ``"total"`` in Hartree, or ``"atomisation"`` in kcal/mol.
        seed: For the split, 80 % / 10 % / 10 %.
    """
    chem, rd_base = chemistry()
    task = task_of(raw.entry.task, energies)
    skipped = raw.paths["uncharacterized_ids.txt"]
    with damage_named(skipped):
        left_out = {int(line) for line in skipped.read_text().split()}
        if len(left_out) != UNCHARACTERISED:
            raise ValueError(f"it holds {len(left_out)} numbers; expected {UNCHARACTERISED}")
    path = raw.paths["qm9_xyz_3000.npz"]
    arrays = read_npz(path)
    with damage_named(path), rd_base.BlockLogs():
        names = arrays["target_names"].tolist()
        y = arrays["targets"][:, [names.index(name) for name in task.targets]]
        bounds = np.cumsum(arrays["num_nodes"].astype(np.int64))[:-1]
        elements = np.split(arrays["z"].astype(np.int64), bounds)
        places = np.split(arrays["pos"], bounds)
        kept = []
        found = []
        problems = []
        for i, number in enumerate(arrays["gdb_id"].tolist()):
            if number in left_out:
                continue
            try:
                found.append(_bonds(chem, elements[i], places[i]))
                kept.append(i)
            except ValueError as error:
                problems.append(rejected(i + 1, f"gdb_{number}", f"no orders of bonds: {error}"))
        edges, orders, flags = (list(each) for each in zip(*found, strict=True))
        sizes = [len(elements[i]) for i in kept]
        counts = [len(pairs) for pairs in edges]
        z = np.concatenate([elements[i] for i in kept])
        pairs = np.concatenate(edges)
        graphs = from_undirected(
            sizes,
            counts,
            pairs,
            node={
                "x": atom_columns(z, np.concatenate(flags), sizes, counts, pairs),
                "pos": np.concatenate([places[i] for i in kept]).astype(np.float32),
            },
            edge={"edge_attr": categorical(np.concatenate(orders))},
            graph={"y": y[kept].astype(np.float32)},
        )
    features = {**FEATURES, "pos": Feature("dense", (3,))}
    split = random_split(len(graphs), seed=seed)
    return DatasetBundle(raw.entry.name, graphs, task, features, split, rejected=tuple(problems))


def near(z: NDArray[np.int64], pos: NDArray[Any]) -> NDArray[np.int64]:
    """Atoms that are bound, ``(bonds, 2)``, the smaller number first."""
    radius = np.array([RADII[number] for number in z.tolist()])
    distance = np.linalg.norm(pos[:, None] - pos, axis=2)  # (atoms, atoms)
    return np.argwhere(np.triu(distance < STRETCH * (radius[:, None] + radius), 1))


def _bonds(
    chem: Any, z: NDArray[np.int64], pos: NDArray[Any]
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.bool_]]:
    """Bonds, their types from 0, and of each atom whether it is aromatic, sp, sp2, sp3.

    Raises:
        ValueError: RDKit finds no orders of the bonds.
    """
    from rdkit.Chem.rdDetermineBonds import DetermineBondOrders

    ends = near(z, pos)
    molecule = chem.RWMol()
    for number in z.tolist():
        atom = chem.Atom(number)
        atom.SetNoImplicit(True)  # all hydrogens are there
        molecule.AddAtom(atom)
    for u, v in ends.tolist():
        molecule.AddBond(u, v, chem.BondType.SINGLE)
    try:
        DetermineBondOrders(molecule, charge=0, embedChiral=False)
        chem.SanitizeMol(molecule)
    except Exception as error:  # RDKit has several kinds
        raise ValueError(" ".join(str(error).split())) from error
    types = [BOND_TYPE.index(str(bond.GetBondType())) for bond in molecule.GetBonds()]
    flags = [
        [atom.GetIsAromatic(), *(str(atom.GetHybridization()) == name for name in HYBRIDS)]
        for atom in molecule.GetAtoms()
    ]
    return ends, np.array(types, np.int64), np.array(flags, bool)


ENTRIES = (
    Entry(
        name="qm9-3k",
        parse=qm9_3k,
        task=TASK,
        size=Size(2777, 18.219, 18.815),
        source="3,000 molecules of QM9 with positions; bonds from distances",
        files=(
            RawFile(
                "qm9/qm9_xyz_3000.npz",
                sha256="0045bc0d14da7a081ffcc3136cd165fae52c7bfa2a4c50934ac9683c42e27ee5",
            ),
            RawFile(
                "qm9/uncharacterized_ids.txt",
                sha256="c9e981ed67315c6abed91451baecb3cadd1d6970f48dbf64432b38ccab80f057",
            ),
        ),
        advice="this part of QM9 has no public home; qm9 is the whole, with positions, and downloads",
        defaults=DEFAULTS,
    ),
)
