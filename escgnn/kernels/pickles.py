"""Atoms and bonds out of the bytes that RDKit makes of a molecule, ``Mol.ToBinary()``.

One call of RDKit's and one loop here cost a tenth of asking for every property of every atom. RDKit promises nothing about
these bytes: whoever uses this must see to it that they say what RDKit's own functions say, as `escgnn.datasets` does.
"""

import numpy as np
from numpy.typing import NDArray

from escgnn.kernels import kernel

HEADER = 30  # bytes: a mark, four numbers of the version, the numbers of atoms and bonds, a flag, the mark of atoms
VERSION = 8  # where the version stands
ATOMS = 20  # and the number of atoms
BONDS = 24
BEGIN_BONDS = 11  # mark of the bonds
BEGIN_RINGS = 66  # and of the rings
SP3 = 4  # what is meant where there is no hybridization
SINGLE = 1  # and no type of a bond
MOST = 255  # atoms, and bonds, whose numbers take a byte


@kernel
def read_pickle(content: NDArray[np.uint8], atoms: NDArray[np.int64], bonds: NDArray[np.int64]) -> bool:
    """Write RDKit's values for all atoms and bonds of a molecule; False if the bytes hold what is not known here.

    An atom is its number, flags, four bytes that say which values follow, and these; a bond its two ends, flags, and what
    these announce. ``06 40 68 00 00 00 03 03 01``: carbon, aromatic (40), then hybridization, valence and hydrogens (68).

    Args:
        content: The bytes.
        atoms: Filled with atomic number, chiral tag, degree with hydrogens, charge, hydrogens, radical electrons,
            hybridization, whether it is aromatic and in a ring, isotope, and valence with hydrogens; ``(atoms, 11)``.
        bonds: Filled with the first and the second atom, type, stereo, and whether it is conjugated; ``(bonds, 5)``.
    """
    if content.size <= HEADER or content[VERSION] != 16 or len(atoms) > MOST or len(bonds) > MOST:
        return False
    if content[ATOMS] != len(atoms) or content[BONDS] != len(bonds):
        return False
    at = _read_atoms(content, atoms)
    if at < 0 or at >= content.size or content[at] != BEGIN_BONDS:
        return False
    at = _read_bonds(content, at + 1, atoms, bonds)
    return at >= 0 and _read_rings(content, at, atoms)


@kernel
def _read_atoms(some: NDArray[np.uint8], atoms: NDArray[np.int64]) -> int:
    """Write all but degrees and rings; the place behind the atoms, or -1."""
    at = HEADER
    for atom in range(len(atoms)):
        if at + 6 > some.size:
            return -1
        flags = some[at + 1]
        told = np.int64(some[at + 2]) | np.int64(some[at + 3]) << 8
        if flags & ~0x60 or told & ~0x1FE or some[at + 4] or some[at + 5]:  # a query, a label, a number of a reaction
            return -1
        atoms[atom, 0] = some[at]
        atoms[atom, 7] = (flags >> 6) & 1
        at += 6
        value = np.zeros(8, np.int64)
        value[3] = SP3
        for bit in range(1, 8):
            if told >> bit & 1:
                if at >= some.size:
                    return -1
                value[bit] = np.int8(some[at])
                at += 1
        isotope = np.int64(0)
        if told & 0x100:
            if at + 4 > some.size or some[at + 2] or some[at + 3]:
                return -1
            isotope = np.int64(some[at]) | np.int64(some[at + 1]) << 8
            at += 4
        atoms[atom, 3] = value[1]
        atoms[atom, 1] = value[2]
        atoms[atom, 6] = value[3]
        atoms[atom, 4] = value[4] + value[6]  # hydrogens in brackets, and others
        atoms[atom, 5] = value[7]
        atoms[atom, 2] = atoms[atom, 4]
        atoms[atom, 8] = 0
        atoms[atom, 9] = isotope
        atoms[atom, 10] = value[5] + value[6]  # by bonds and hydrogens in brackets, and by others
    return at


@kernel
def _read_bonds(some: NDArray[np.uint8], at: int, atoms: NDArray[np.int64], bonds: NDArray[np.int64]) -> int:
    """Write the bonds, and add them to the degrees; the place behind them, or -1."""
    for bond in range(len(bonds)):
        if at + 3 > some.size:
            return -1
        flags = some[at + 2]
        bonds[bond, 0] = some[at]
        bonds[bond, 1] = some[at + 1]
        bonds[bond, 2] = SINGLE
        bonds[bond, 3] = 0
        bonds[bond, 4] = (flags >> 5) & 1
        at += 3
        if flags & ~0x6E or max(bonds[bond, 0], bonds[bond, 1]) >= len(atoms):
            return -1
        atoms[bonds[bond, 0], 2] += 1
        atoms[bonds[bond, 1], 2] += 1
        if flags & 0x08:
            if at >= some.size:
                return -1
            bonds[bond, 2] = some[at]
            at += 1
        if flags & 0x04:  # its direction
            at += 1
        if flags & 0x02:
            if at + 2 > some.size:
                return -1
            bonds[bond, 3] = some[at]
            at += 2 + int(some[at + 1])  # the atoms that it is about
    return at


@kernel
def _read_rings(some: NDArray[np.uint8], at: int, atoms: NDArray[np.int64]) -> bool:
    """Mark the atoms that are in a ring; whether all is well."""
    if at + 5 > some.size or some[at] != BEGIN_RINGS or some[at + 3] or some[at + 4]:
        return False
    rings = np.int64(some[at + 1]) | np.int64(some[at + 2]) << 8
    at += 5
    for _ in range(rings):
        if at >= some.size or at + 1 + np.int64(some[at]) > some.size:
            return False
        for k in range(at + 1, at + 1 + np.int64(some[at])):
            if some[k] >= len(atoms):
                return False
            atoms[some[k], 8] = 1
        at += 1 + int(some[at])
    return True
