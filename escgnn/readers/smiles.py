"""SMILES: a molecule as one line of text; its graph has the atoms that RDKit keeps as nodes and the bonds as edges."""

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray

from escgnn.readers.parsed import NO_EDGES, Parsed

MOST_LETTERS = 100_000  # of a SMILES, which take RDKit about a second
MOST_RINGS = 1000  # the same
BRACKETS = re.compile(r"\[[^\]]*\]")
RING_MARK = re.compile(r"%\d\d|\d")  # either end of the bond that closes a ring
LARGE = 256  # atoms from which on a matrix of all pairs costs more than a list of bonds


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


@contextmanager
def told_by_rdkit() -> Iterator[None]:
    """Turns what RDKit raises about absurd molecules, such as a valence beyond all bounds, into a ValueError of one line."""
    try:
        yield
    except (RuntimeError, OverflowError, MemoryError) as error:
        words = [line.strip() for line in str(error).splitlines() if line.strip()]
        raise ValueError(f"RDKit cannot read it: {' '.join(words[:2]) or type(error).__name__}"[:200]) from None


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
    if not text.strip():
        raise ValueError("the SMILES is empty")
    smiles = text.split(maxsplit=1)[0]
    _check_size(smiles)
    if not smiles.isascii():  # RDKit would read past such letters, and find another molecule
        raise ValueError("not a SMILES string: it has letters outside ASCII")
    with rdBase.BlockLogs(), told_by_rdkit():  # the error tells, not standard error
        molecule = Chem.MolFromSmiles(smiles)
        if molecule is None:
            unchecked = Chem.MolFromSmiles(smiles, sanitize=False)
            problems = Chem.DetectChemistryProblems(unchecked) if unchecked is not None else ()
            raise ValueError(problems[0].Message() if problems else "not a SMILES string")
    if not molecule.GetNumHeavyAtoms() and all(atom.GetAtomicNum() == 1 for atom in molecule.GetAtoms()):
        raise ValueError("the molecule has no heavy atoms")
    return molecule


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
    Chem, _ = chemistry()
    good = []
    num_nodes = []
    pairs = []  # of each molecule: the matrix that says which atoms are bonded, or the list of bonds of a large one
    reasons = {}
    for number, text in enumerate(texts):
        try:
            molecule = parse(text)
        except ValueError as error:
            reasons[number] = str(error)
            continue
        size = molecule.GetNumAtoms()
        good.append(number)
        num_nodes.append(size)
        pairs.append(Chem.GetAdjacencyMatrix(molecule) if size < LARGE else np.array(bonds(molecule)).reshape(-1, 2))
    sizes = np.array(num_nodes, np.int64)
    edges, num_edges = _edges_of(pairs, sizes)
    return Parsed(np.array(good, np.int64), sizes, num_edges, edges, reasons)


def _edges_of(pairs: list[NDArray[Any]], sizes: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The edges of all molecules, one after another, and the number of each one's; in few steps for all matrices at once.

    Of the matrices of two molecules with 2 and 3 atoms, the 4 + 9 cells stand in a row; cell 4 + 5 belongs to the second
    molecule and is its row 5 // 3 = 1 and column 5 % 3 = 2.
    """
    is_small = sizes < LARGE
    small = np.flatnonzero(is_small)
    begin = np.cumsum(sizes[small] ** 2) - sizes[small] ** 2  # first cell of each matrix
    cells = [pairs[i].ravel() for i in small.tolist()]
    set_cells = np.flatnonzero(np.concatenate([np.empty(0, np.int32), *cells]))
    home = np.searchsorted(begin, set_cells, side="right") - 1  # among the small ones, none of which has no atoms
    u, v = np.divmod(set_cells - begin[home], sizes[small][home])
    once = u < v
    edges = np.stack([u, v], axis=1)[once]
    owner = small[home[once]]
    if not is_small.all():
        large = np.flatnonzero(~is_small)
        edges = np.concatenate([edges, *(pairs[i] for i in large.tolist())])
        owner = np.concatenate([owner, np.repeat(large, [len(pairs[i]) for i in large.tolist()])])
        order = np.argsort(owner, kind="stable")
        edges = edges[order]
        owner = owner[order]
    return (edges if len(edges) else NO_EDGES), np.bincount(owner, minlength=sizes.size)
