"""Types of atoms as ZINC has them: element, charge, and the hydrogens that a SMILES would write with it."""

import numpy as np
from numpy.typing import NDArray

from escgnn.kernels import kernel

NO_TYPE = -1


@kernel
def read_types(
    atoms: NDArray[np.int64], usual: NDArray[np.int64], types: NDArray[np.int64], x: NDArray[np.int64]
) -> int:
    """Write the type of every atom of a molecule; the number of the first that has none, or -1.

    A SMILES writes hydrogens with an atom in brackets only, and an atom in brackets if it is charged, chiral, an isotope or a
    radical, if it has hydrogens and not its usual valence, or if it is none of the elements that may do without: the carbon
    of ``C[C@H](F)Cl`` in brackets has one, the first carbon none, and the phosphorus of ``C[PH2](C)C`` two.

    Args:
        atoms: Values as `escgnn.kernels.pickles.read_pickle` writes them, ``(atoms, 11)``.
        usual: The usual valence of elements that may do without brackets; 0 for others, ``(256,)``.
        types: The type by element, hydrogens and charge + 1; `NO_TYPE` where there is none, ``(256, 4, 3)``.
        x: Filled with the types; where there is none, with the hydrogens that are written, ``(atoms, 1)``.
    """
    for atom in range(len(atoms)):
        number = atoms[atom, 0]
        charge = atoms[atom, 3]
        hydrogens = atoms[atom, 4]
        is_special = charge != 0 or atoms[atom, 1] != 0 or atoms[atom, 9] != 0 or atoms[atom, 5] != 0
        is_usual = hydrogens == 0 or atoms[atom, 10] == usual[number]
        if usual[number] > 0 and is_usual and not is_special:
            hydrogens = 0
        found = NO_TYPE
        if hydrogens < types.shape[1] and abs(charge) <= 1:
            found = types[number, hydrogens, charge + 1]
        if found == NO_TYPE:
            x[atom, 0] = hydrogens
            return atom
        x[atom, 0] = found
    return -1
