"""What RDKit says of the atoms and bonds of a molecule, as numbers.

Two ways to the same: to ask for every property of every atom, and to read the bytes that RDKit makes of a molecule, which takes a
tenth of the time. RDKit promises nothing about these bytes, so `pickles_are_known` compares both before the second is used.
"""

from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from escgnn.kernels.pickles import read_pickle
from escgnn.readers import chemistry

ATOM_VALUES = (
    *("GetAtomicNum", "GetChiralTag", "GetTotalDegree", "GetFormalCharge", "GetTotalNumHs", "GetNumRadicalElectrons"),
    *("GetHybridization", "GetIsAromatic", "IsInRing", "GetIsotope", "GetTotalValence"),
)
BOND_VALUES = ("GetBeginAtomIdx", "GetEndAtomIdx", "GetBondType", "GetStereo", "GetIsConjugated")
SAMPLES = (
    *(
        "C",
        "[Fe+6]",
        "[U-3]",
        "[Og]",
        "N->[Fe]",
        "[SiH6-2]",
        "F/C=C\\F",
        "F/C=C/F",
        "F[C@H](Cl)Br",
        "F[C@@H](Cl)Br",
        "[C]",
    ),
    *(
        "[2H]c1ccccc1",
        "C#CC=CC",
        "[nH]1cccc1",
        "C1CC1C1CC1",
        "[O]",
        "[13CH4]",
        "FS(F)(F)(F)(F)F",
        "FP(F)(F)(F)F",
        "[Na+].[Cl-]",
    ),
    *("C1CC2CC1C2", "c1ccc2ccccc2c1", "O=C1C=CC(=O)C=C1", "CC=NO", "[CH2-][NH+]=C", "C[C@H]1CC[C@@H](O)CC1", "C$C"),
)
BLOCK = 1 << 14  # rows


class Pile:
    """Rows of numbers, some more at a time; a few large arrays, as many small ones would cost more than what fills them."""

    def __init__(self, columns: int) -> None:
        self._full: list[NDArray[np.int64]] = []
        self._block = np.empty((0, columns), np.int64)
        self._used = 0

    def room(self, rows: int) -> NDArray[np.int64]:
        """Place for further rows, which count once they are kept."""
        if self._used + rows > len(self._block):
            self._full.append(self._block[: self._used])
            self._block = np.empty((max(rows, BLOCK), self._block.shape[1]), np.int64)
            self._used = 0
        return self._block[self._used : self._used + rows]

    def keep(self, rows: int) -> None:
        """The rows that there was room for are filled."""
        self._used += rows

    def rows(self) -> NDArray[np.int64]:
        """All rows that are kept."""
        return np.concatenate([*self._full, self._block[: self._used]])


def read_values(molecule: Any, atoms: NDArray[np.int64], bonds: NDArray[np.int64]) -> None:
    """Write RDKit's values for atoms and bonds, `ATOM_VALUES` and `BOND_VALUES`, each in a column.

    Raises:
        RuntimeError: RDKit refuses to say something about a molecule that makes no sense.
    """
    if not pickles_are_known() or not _read(molecule, atoms, bonds):
        ask_for_values(molecule, atoms, bonds)


def ask_for_values(molecule: Any, atoms: NDArray[np.int64], bonds: NDArray[np.int64]) -> None:
    """The same, each value asked for."""
    Chem, _ = chemistry()
    its_atoms = [*molecule.GetAtoms()]
    its_bonds = [*molecule.GetBonds()]
    for column, name in enumerate(ATOM_VALUES):
        atoms[:, column] = [*map(getattr(Chem.Atom, name), its_atoms)]
    for column, name in enumerate(BOND_VALUES):
        bonds[:, column] = [*map(getattr(Chem.Bond, name), its_bonds)]


def _read(molecule: Any, atoms: NDArray[np.int64], bonds: NDArray[np.int64]) -> bool:
    """The same out of the molecule's bytes; False where these hold something unusual."""
    content = np.frombuffer(molecule.ToBinary(0), np.uint8)  # without the properties that people attach
    return read_pickle(content, atoms, bonds)


@cache
def pickles_are_known() -> bool:
    """Whether the bytes of this RDKit say what its functions say, for molecules that have all there is."""
    Chem, rdBase = chemistry()
    with rdBase.BlockLogs():
        molecules = [Chem.MolFromSmiles(text) for text in SAMPLES]
    for molecule in molecules:
        read = (
            Pile(len(ATOM_VALUES)).room(molecule.GetNumAtoms()),
            Pile(len(BOND_VALUES)).room(molecule.GetNumBonds()),
        )
        asked = (np.empty_like(read[0]), np.empty_like(read[1]))
        ask_for_values(molecule, *asked)
        if not _read(molecule, *read) or not all(map(np.array_equal, read, asked)):
            return False
    return True
