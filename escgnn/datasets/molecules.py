"""Molecules: SMILES into graphs with the atom and bond features of OGB or of ZINC. Needs RDKit."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from escgnn.datasets.bundle import Feature
from escgnn.datasets.reading import from_parsed
from escgnn.disk import Rejected
from escgnn.disk import rejected as shortened
from escgnn.readers import Parsed, bonds, chemistry, parse, told_by_rdkit
from escgnn.store import GraphStore

FeatureSet = Literal["ogb", "zinc"]

OGB_FEATURES = {
    "x": Feature("categorical", (119, 5, 12, 12, 10, 6, 6, 2, 2)),
    "edge_attr": Feature("categorical", (5, 6, 2)),
}
ZINC_FEATURES = {"x": Feature("categorical", (28,)), "edge_attr": Feature("categorical", (4,))}
FEATURES = {"ogb": OGB_FEATURES, "zinc": ZINC_FEATURES}

CHIRALITY = ("CHI_UNSPECIFIED", "CHI_TETRAHEDRAL_CW", "CHI_TETRAHEDRAL_CCW", "CHI_OTHER")
HYBRIDIZATION = ("SP", "SP2", "SP3", "SP3D", "SP3D2")
BOND_TYPE = ("SINGLE", "DOUBLE", "TRIPLE", "AROMATIC")
STEREO = ("STEREONONE", "STEREOZ", "STEREOE", "STEREOCIS", "STEREOTRANS", "STEREOANY")
ZINC_ATOMS = (
    *("C", "O", "N", "F", "C H1", "S", "Cl", "O -", "N H1 +", "Br", "N H3 +", "N H2 +", "N +", "N -", "S -", "I", "P"),
    *("O H1 +", "N H1 -", "O +", "S +", "P H1", "P H2", "C H2 -", "P +", "S H1 +", "C H1 -", "P H1 +"),
)
MOST_SCAFFOLD_RINGS = 200  # of a molecule; their number to the power of two to three is what a scaffold costs
MOST_SCAFFOLD_ATOMS = 1000  # the same: chains are taken off atom by atom
ZINC_BOND = {kind: number for number, kind in enumerate(BOND_TYPE[:3], 1)}
ZINC_ATOM = {key: number for number, key in enumerate(ZINC_ATOMS)}


class MoleculeArrays(NamedTuple):
    """One molecule: atom features, bonds (each once) and bond features."""

    x: NDArray[np.int64]
    edges: NDArray[np.int64]
    edge_attr: NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Molecules:
    """Many molecules: the graphs of those that could be read, their row numbers, and what is wrong with the others."""

    graphs: GraphStore
    rows: NDArray[np.int64]
    rejected: tuple[Rejected, ...]


def smiles_to_graph(smiles: str, features: FeatureSet = "ogb") -> MoleculeArrays:
    """Atoms and bonds of one molecule; hydrogens leave no node unless RDKit keeps them.

    Args:
        smiles: The molecule; what follows a space is taken for a name.
        features: ``"ogb"``: 9 atom and 3 bond columns, as OGB's ``smiles2graph`` has them. ``"zinc"``: one column each,
            28 atom types and bond types 1 to 3 of a Kekule form, which in fused rings depends on the RDKit version.

    >>> smiles_to_graph("C=O").edge_attr
    array([[1, 0, 0]])

    Raises:
        ValueError: It is no SMILES string, breaks the rules of valence, has hydrogen only, or holds an atom that ZINC does
            not have.
        ImportError: RDKit is not installed.
    """
    found = parse_molecules([smiles], features)
    if found.reasons:
        raise ValueError(found.reasons[0])
    return MoleculeArrays(found.node["x"], found.edges, found.edge["edge_attr"])


def read_smiles(texts: Iterable[str], features: FeatureSet = "ogb") -> Molecules:
    """Every molecule that can be read, and a report of the others, whose lines count from 1.

    >>> found = read_smiles(["CO", "C1CC", "O"])
    >>> found.rows, [(row.line, row.reason) for row in found.rejected]
    (array([0, 2]), [(2, 'not a SMILES string')])
    """
    texts = [*texts]
    found = parse_molecules(texts, features)
    rejected = tuple(shortened(number + 1, texts[number], reason) for number, reason in found.reasons.items())
    return Molecules(from_parsed(found), found.good, rejected)


def parse_molecules(texts: Sequence[str], features: FeatureSet, *, scaffolds: bool = False) -> Parsed:
    """The graphs of SMILES with the columns ``x`` and ``edge_attr``, and what is wrong with those that have none.

    Args:
        texts: The SMILES; what follows a space is taken for a name.
        features: Which features, as `smiles_to_graph` has them.
        scaffolds: Whether the Bemis-Murcko scaffold of each is wanted, too.

    Raises:
        ValueError: There are no such features.
        ImportError: RDKit is not installed.
    """
    if features not in FEATURES:
        raise ValueError(f"features: {features!r}; expected one of {', '.join(map(repr, FEATURES))}")
    chemistry()  # complains if RDKit is not there, whatever the texts
    columns = _OgbColumns() if features == "ogb" else _ZincColumns()
    good = []
    sizes = []
    found_scaffolds = []
    reasons = {}
    for number, text in enumerate(texts):
        try:
            molecule = parse(text)
            with told_by_rdkit():
                scaffold = scaffold_of(molecule) if scaffolds else ""
                size = columns.add(molecule)
        except ValueError as error:
            reasons[number] = str(error)
            continue
        good.append(number)
        sizes.append(size)
        found_scaffolds.append(scaffold)
    num_nodes, num_edges = np.array(sizes, np.int64).reshape(-1, 2).T
    found = columns.arrays()
    return Parsed(
        good=np.array(good, np.int64),
        num_nodes=num_nodes,
        num_edges=num_edges,
        edges=found.edges,
        reasons=reasons,
        node={"x": found.x},
        edge={"edge_attr": found.edge_attr},
        scaffolds=found_scaffolds if scaffolds else (),
    )


def scaffold_of(molecule: Any) -> str:
    """The SMILES of a molecule's Bemis-Murcko scaffold, empty if it has no ring.

    Raises:
        ValueError: It is so large, or has so many rings, that RDKit would be busy for minutes.
    """
    rings = molecule.GetRingInfo().NumRings()
    atoms = molecule.GetNumAtoms()
    if not rings:
        return ""
    if atoms > MOST_SCAFFOLD_ATOMS:
        raise ValueError(
            f"{atoms:,} atoms, too many for its scaffold; at most {MOST_SCAFFOLD_ATOMS:,}, or another split"
        )
    if rings > MOST_SCAFFOLD_RINGS:
        raise ValueError(f"{rings:,} rings, too many for its scaffold; at most {MOST_SCAFFOLD_RINGS}, or another split")
    from rdkit.Chem.Scaffolds.MurckoScaffold import MurckoScaffoldSmiles

    scaffold: str = MurckoScaffoldSmiles(mol=molecule, includeChirality=False)  # type: ignore[no-untyped-call]
    return scaffold


class _OgbColumns:
    """OGB's features of many molecules, a list of RDKit's values for each column until `arrays` looks all of them up at once."""

    def __init__(self) -> None:
        Chem, _ = chemistry()
        atom = Chem.Atom
        bond = Chem.Bond
        # of each column: who reads it, the place of each value that OGB knows, and the one that all others share
        self._atom_columns = [
            (atom.GetAtomicNum, {number: number - 1 for number in range(1, 119)}, 118),
            (atom.GetChiralTag, _places(Chem.ChiralType, CHIRALITY), 4),
            (atom.GetTotalDegree, {number: number for number in range(11)}, 11),
            (atom.GetFormalCharge, {charge: charge + 5 for charge in range(-5, 6)}, 11),
            (atom.GetTotalNumHs, {number: number for number in range(9)}, 9),
            (atom.GetNumRadicalElectrons, {number: number for number in range(5)}, 5),
            (atom.GetHybridization, _places(Chem.HybridizationType, HYBRIDIZATION), 5),
            (atom.GetIsAromatic, {0: 0, 1: 1}, 1),
            (atom.IsInRing, {0: 0, 1: 1}, 1),
        ]
        self._bond_columns = [
            (bond.GetBondType, _places(Chem.BondType, BOND_TYPE), 4),
            (bond.GetStereo, _places(Chem.BondStereo, STEREO), 5),
            (bond.GetIsConjugated, {0: 0, 1: 1}, 1),
        ]
        self._ends = (bond.GetBeginAtomIdx, bond.GetEndAtomIdx)
        self._x: list[list[int]] = [[] for _ in self._atom_columns]
        self._edge_attr: list[list[int]] = [[] for _ in self._bond_columns]
        self._edges: list[list[int]] = [[], []]

    def add(self, molecule: Any) -> tuple[int, int]:
        """Append a molecule; its numbers of atoms and bonds."""
        atoms = [*molecule.GetAtoms()]
        its_bonds = [*molecule.GetBonds()]
        of_atoms = [[*map(read, atoms)] for read, _, _ in self._atom_columns]
        of_bonds = [[*map(read, its_bonds)] for read, _, _ in self._bond_columns]
        ends = [[*map(read, its_bonds)] for read in self._ends]
        found = [*of_atoms, *of_bonds, *ends]  # all of them, before any is kept: RDKit may refuse to say one
        for values, new in zip([*self._x, *self._edge_attr, *self._edges], found, strict=True):
            values.extend(new)
        return len(atoms), len(its_bonds)

    def arrays(self) -> MoleculeArrays:
        """All atoms and bonds."""
        return MoleculeArrays(
            _looked_up(self._x, self._atom_columns),
            np.array(self._edges, np.int64).T,
            _looked_up(self._edge_attr, self._bond_columns),
        )


def _places(kinds: Any, names: Sequence[str]) -> dict[int, int]:
    """Where each of RDKit's values stands among these names."""
    return {int(getattr(kinds, name)): place for place, name in enumerate(names)}


def _looked_up(columns: list[list[int]], meanings: list[tuple[Any, dict[int, int], int]]) -> NDArray[np.int64]:
    """The place of every value, ``(rows, columns)``."""
    found = np.empty((len(columns[0]), len(columns)), np.int64)
    for number, (values, (_, places, other)) in enumerate(zip(columns, meanings, strict=True)):
        different, which = np.unique(np.array(values, np.int64), return_inverse=True)
        found[:, number] = np.array([places.get(value, other) for value in different.tolist()], np.int64)[which]
    return found


class _ZincColumns:
    """ZINC's types of atoms and bonds of many molecules: of a Kekule form, in the order of its SMILES."""

    def __init__(self) -> None:
        self._x: list[int] = []
        self._edge_attr: list[int] = []
        self._edges: list[tuple[int, int]] = []

    def add(self, molecule: Any) -> tuple[int, int]:
        """Append a molecule, if ZINC has all its atoms; its numbers of atoms and bonds."""
        Chem, rdBase = chemistry()
        with rdBase.BlockLogs():
            _kekulize(Chem, molecule)
            plain = Chem.MolFromSmiles(Chem.MolToSmiles(molecule), sanitize=False)
        atoms = [_zinc_atom(atom) for atom in plain.GetAtoms()]
        kinds = [str(bond.GetBondType()) for bond in plain.GetBonds()]
        self._x += atoms
        self._edge_attr += [ZINC_BOND.get(kind, 0) for kind in kinds]
        self._edges += bonds(plain)
        return len(atoms), len(kinds)

    def arrays(self) -> MoleculeArrays:
        """All atoms and bonds."""
        return MoleculeArrays(
            np.array(self._x, np.int64)[:, None],
            np.array(self._edges, np.int64).reshape(-1, 2),
            np.array(self._edge_attr, np.int64)[:, None],
        )


def _kekulize(Chem: Any, molecule: Any) -> None:
    try:
        Chem.Kekulize(molecule, clearAromaticFlags=True, canonical=False)
    except TypeError:  # before RDKit 2026 there was no canonical form to avoid
        Chem.Kekulize(molecule, clearAromaticFlags=True)


def _zinc_atom(atom: Any) -> int:
    charge = atom.GetFormalCharge()
    hydrogens = atom.GetNumExplicitHs()
    words = [atom.GetSymbol()]
    if hydrogens:
        words.append(f"H{hydrogens}")
    words += ["+" if charge > 0 else "-"] * abs(charge)
    key = " ".join(words)
    if key not in ZINC_ATOM:
        raise ValueError(f"ZINC has no atom type for {key!r}")
    return ZINC_ATOM[key]
