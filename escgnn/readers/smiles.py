"""SMILES: a molecule as one line of text; its graph has the atoms that RDKit keeps as nodes and the bonds as edges."""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from escgnn.kernels.smiles import KINDS, read_bonds
from escgnn.readers.parsed import Parsed

MOST_LETTERS = 100_000  # of a SMILES, which take RDKit about a second
MOST_RINGS = 1000  # the same
BRACKETS = re.compile(r"\[[^\]]*\]")
RDKIT_ERRORS = (RuntimeError, OverflowError, MemoryError)  # what RDKit raises about molecules that make no sense
RING_MARK = re.compile(r"%\d\d|\d")  # either end of the bond that closes a ring


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


def told_by_rdkit(error: Exception) -> str:
    """What is wrong with a molecule, in one line; of absurd ones, such as with a valence beyond all bounds, RDKit says more."""
    if isinstance(error, ValueError):
        return str(error)
    words = [line.strip() for line in str(error).splitlines() if line.strip()]
    return f"RDKit cannot read it: {' '.join(words[:2]) or type(error).__name__}"[:200]


def parse(text: str) -> Any:
    """The RDKit molecule of a SMILES; what follows a space is taken for a name.

    Hydrogens leave no atom, but for those that RDKit keeps, such as isotopes: ``[2H]C`` has two atoms.

    >>> parse("CO methanol").GetNumAtoms(), parse("[2H]C").GetNumAtoms()
    (2, 2)

    Raises:
        ValueError: It is no SMILES, breaks the rules of valence, or has hydrogen only.
        ImportError: RDKit is not installed.
    """
    Chem, rdBase = chemistry()
    with rdBase.BlockLogs():  # the error tells, not standard error
        return _read(Chem, _checked(text))


def molecules(texts: Sequence[str], reasons: dict[int, str]) -> Iterator[tuple[int, Any]]:
    """The number and the RDKit molecule of every SMILES that is one; RDKit keeps quiet meanwhile.

    Args:
        texts: The SMILES; what follows a space is taken for a name.
        reasons: Filled with what is wrong with the others, by number.
    """
    Chem, _ = chemistry()
    return _each(texts, partial(_read, Chem), reasons)


def _each(texts: Sequence[str], read: Callable[[str], Any], reasons: dict[int, str]) -> Iterator[tuple[int, Any]]:
    _, rdBase = chemistry()
    with rdBase.BlockLogs():
        for number, text in enumerate(texts):
            try:
                molecule = read(_checked(text))
            except ValueError as error:
                reasons[number] = str(error)
                continue
            yield number, molecule


def _checked(text: str) -> str:
    """The SMILES of a line, if RDKit may see it."""
    smiles = first_word(text)
    if not smiles:
        raise ValueError("the SMILES is empty")
    _check_size(smiles)
    if not smiles.isascii():  # RDKit would read past such letters, and find another molecule
        raise ValueError("not a SMILES string: it has letters outside ASCII")
    return smiles


def _read(Chem: Any, smiles: str) -> Any:
    try:
        molecule = Chem.MolFromSmiles(smiles)
        if molecule is None:
            unchecked = Chem.MolFromSmiles(smiles, sanitize=False)
            problems = Chem.DetectChemistryProblems(unchecked) if unchecked is not None else ()
            raise ValueError(problems[0].Message() if problems else "not a SMILES string")
    except RDKIT_ERRORS as error:
        raise ValueError(told_by_rdkit(error)) from None
    if not molecule.GetNumHeavyAtoms() and all(atom.GetAtomicNum() == 1 for atom in molecule.GetAtoms()):
        raise ValueError("the molecule has no heavy atoms")
    return molecule


def _bare_reader(Chem: Any) -> Callable[[str], Any]:
    """What reads atoms and bonds as `_read` does, and nothing else, which takes half the time.

    RDKit checks valences and finds double bonds for aromatic rings, which is what molecules fail at. Rings, aromaticity,
    hybridisation and stereochemistry change neither atoms nor bonds, and are left out. What has hydrogens, of which RDKit may
    keep some, and what fails is read by `_read`, so that all molecules and all reasons are the same.
    """
    written = Chem.SmilesParserParams()
    written.sanitize = False
    written.removeHs = False
    flags = Chem.SanitizeFlags
    repairs = flags.SANITIZE_CLEANUP | flags.SANITIZE_CLEANUP_ORGANOMETALLICS  # of what some write another way
    checks = repairs | flags.SANITIZE_PROPERTIES | flags.SANITIZE_KEKULIZE

    def read(smiles: str) -> Any:
        try:
            molecule = Chem.MolFromSmiles(smiles, written)
            is_whole = molecule is not None and 0 < molecule.GetNumAtoms() == molecule.GetNumHeavyAtoms()
            if is_whole and not Chem.SanitizeMol(molecule, checks, catchErrors=True):
                return molecule
        except RDKIT_ERRORS:
            pass
        return _read(Chem, smiles)

    return read


def first_word(text: str) -> str:
    """The SMILES of a line, without the name behind it; nothing if there is none."""
    words = text.split(maxsplit=1)
    return words[0] if words else ""


def _check_size(smiles: str) -> None:
    """Complain about what RDKit would read for minutes or hours, and nobody could stop it: rings cost their square."""
    if len(smiles) <= MOST_RINGS:  # each has a letter and a number
        return
    if len(smiles) > MOST_LETTERS:
        raise ValueError(f"a SMILES of {len(smiles):,} letters; at most {MOST_LETTERS:,} are read")
    rings = len(RING_MARK.findall(BRACKETS.sub("", smiles))) // 2
    if rings > MOST_RINGS:
        raise ValueError(f"a SMILES of {rings:,} rings; at most {MOST_RINGS:,} are read")


def bonds(molecule: Any) -> list[tuple[int, int]]:
    """The two atoms of every bond, as RDKit numbers them and in its order."""
    return [(bond.GetBeginAtomIdx(), bond.GetEndAtomIdx()) for bond in molecule.GetBonds()]


def parse_smiles(texts: Sequence[str]) -> Parsed:
    """The bare graphs of SMILES, and what is wrong with those that have none.

    >>> parse_smiles(["CO methanol", "C1CC"]).reasons
    {1: 'not a SMILES string'}

    Raises:
        ImportError: RDKit is not installed.
    """
    written = bonds_as_written([first_word(text) for text in texts])
    atoms = written.num_atoms.tolist()
    its_bonds = written.num_bonds.tolist()
    good = []
    num_nodes = []
    others: dict[int, NDArray[np.int64]] = {}  # bonds by RDKit, where it has other atoms than the text
    reasons: dict[int, str] = {}
    Chem, _ = chemistry()
    for number, molecule in _each(texts, _bare_reader(Chem), reasons):
        size = molecule.GetNumAtoms()
        if atoms[number] != size or its_bonds[number] != molecule.GetNumBonds():
            others[number] = np.sort(np.array(bonds(molecule), np.int64).reshape(-1, 2), axis=1)
        good.append(number)
        num_nodes.append(size)
    used = np.zeros(len(texts), bool)
    used[good] = True
    used[[*others]] = False
    edges = written.bonds[np.repeat(used, written.num_bonds)]
    num_edges = np.where(used, written.num_bonds, 0)
    if others:
        owner = np.repeat(np.arange(len(texts)), num_edges)
        num_edges[[*others]] = [len(pairs) for pairs in others.values()]
        owner = np.concatenate([owner, np.repeat([*others], num_edges[[*others]])])
        edges = np.concatenate([edges, *others.values()])[np.argsort(owner, kind="stable")]
    return Parsed(np.array(good, np.int64), np.array(num_nodes, np.int64), num_edges[good], edges, reasons)


@dataclass(frozen=True, slots=True, eq=False)
class Written:
    """The atoms and bonds of some SMILES as their letters say them; see `escgnn.kernels.smiles.read_bonds`.

    Attributes:
        num_atoms: Of each, ``(texts,)``; -1 if it is not understood.
        num_bonds: Of each, ``(texts,)``.
        bonds: The two atoms of each bond, the earlier one first, of all texts one after another, ``(bonds, 2)``.
    """

    num_atoms: NDArray[np.int64]
    num_bonds: NDArray[np.int64]
    bonds: NDArray[np.int64]


def bonds_as_written(smiles: Sequence[str]) -> Written:
    """The atoms and bonds of SMILES, none of which holds a space, whether they make sense or not.

    >>> bonds_as_written(["C1CC1"]).bonds.tolist()
    [[0, 1], [1, 2], [0, 2]]
    """
    letters = np.frombuffer("".join(f"{text}\n" for text in smiles).encode("ascii", "replace"), np.uint8)
    num_atoms = np.empty(len(smiles), np.int64)
    num_bonds = np.empty(len(smiles), np.int64)
    found = np.empty((letters.size, 2), np.int64)
    read_bonds(letters, KINDS, num_atoms, num_bonds, found)
    return Written(num_atoms, num_bonds, found[: num_bonds.sum()])
