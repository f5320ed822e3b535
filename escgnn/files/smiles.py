"""SMILES: a molecule as one line of text; its graph has the heavy atoms as nodes and the bonds as edges."""

from typing import Any

import numpy as np
from numpy.typing import NDArray


def chemistry() -> tuple[Any, Any]:
    """RDKit's modules ``Chem`` and ``rdBase``.

    Raises:
        ImportError: RDKit is not installed.
    """
    try:
        from rdkit import Chem, rdBase
    except ImportError:
        raise ImportError("reading molecules needs RDKit: pip install 'escgnn[chem]'") from None
    return Chem, rdBase


def parse(text: str) -> Any:
    """The RDKit molecule of a SMILES; what follows a space is taken for a name.

    >>> parse("CO methanol").GetNumAtoms()
    2

    Raises:
        ValueError: It is no SMILES, breaks the rules of valence, or has hydrogen only.
        ImportError: RDKit is not installed.
    """
    Chem, rdBase = chemistry()
    if not text.strip():
        raise ValueError("the SMILES is empty")
    smiles = text.split(maxsplit=1)[0]
    if not smiles.isascii():  # RDKit would read past such letters, and find another molecule
        raise ValueError("not a SMILES string: it has letters outside ASCII")
    with rdBase.BlockLogs():  # the error tells, not standard error
        molecule = Chem.MolFromSmiles(smiles)
        if molecule is None:
            unchecked = Chem.MolFromSmiles(smiles, sanitize=False)
            problems = Chem.DetectChemistryProblems(unchecked) if unchecked is not None else ()
            raise ValueError(problems[0].Message() if problems else "not a SMILES string")
    if not molecule.GetNumHeavyAtoms() and all(atom.GetAtomicNum() == 1 for atom in molecule.GetAtoms()):
        raise ValueError("the molecule has no heavy atoms")
    return molecule


def heavy_atoms(text: str) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The atoms' numbers and the bonds ``(m, 2)`` between them, from 0; hydrogen leaves no node, not even as an isotope.

    >>> heavy_atoms("CO methanol")
    (array([0, 1]), array([[0, 1]]))

    Raises:
        ValueError: As `parse` does.
    """
    molecule = parse(text)
    bonds = [(bond.GetBeginAtomIdx(), bond.GetEndAtomIdx()) for bond in molecule.GetBonds()]
    atoms, edges = np.arange(molecule.GetNumAtoms()), np.array(bonds, np.int64).reshape(-1, 2)
    if molecule.GetNumHeavyAtoms() == atoms.size:
        return atoms, edges
    heavy = np.array([atom.GetAtomicNum() != 1 for atom in molecule.GetAtoms()])
    return atoms[heavy], (np.cumsum(heavy) - 1)[edges[heavy[edges].all(axis=1)]]
