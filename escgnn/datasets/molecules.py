"""Molecules: SMILES into graphs with the atom and bond features of OGB or of ZINC. Needs RDKit."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from escgnn.datasets.bundle import Feature
from escgnn.datasets.reading import from_parsed
from escgnn.datasets.values import ATOM_VALUES, BOND_VALUES, Pile, read_values
from escgnn.disk import Rejected
from escgnn.disk import rejected as shortened
from escgnn.kernels.atom_types import NO_TYPE, read_types
from escgnn.readers import RDKIT_ERRORS, Parsed, chemistry, molecules, told_by_rdkit
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
PLAIN = ("B", "C", "N", "O", "F", "P", "S", "Cl", "Br", "I")  # elements that SMILES write without brackets, if they can
LEAST = -128  # and most, of what RDKit may say of an atom; whatever is beyond is as unknown as these two
MOST = 255


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
    reasons: dict[int, str] = {}
    for number, molecule in molecules(texts, reasons):
        try:
            scaffold = scaffold_of(molecule) if scaffolds else ""
            size = columns.add(molecule)
        except (ValueError, *RDKIT_ERRORS) as error:
            reasons[number] = told_by_rdkit(error)
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
    """OGB's features of many molecules, RDKit's values for each until `arrays` looks all of them up at once."""

    def __init__(self) -> None:
        Chem, _ = chemistry()
        self._places = [
            _table({number: number - 1 for number in range(1, 119)}, 118),
            _table(_places(Chem.ChiralType, CHIRALITY), 4),
            _table({number: number for number in range(11)}, 11),
            _table({charge: charge + 5 for charge in range(-5, 6)}, 11),
            _table({number: number for number in range(9)}, 9),
            _table({number: number for number in range(5)}, 5),
            _table(_places(Chem.HybridizationType, HYBRIDIZATION), 5),
            _table({0: 0, 1: 1}, 1),
            _table({0: 0, 1: 1}, 1),
        ]
        self._bond_places = [
            _table(_places(Chem.BondType, BOND_TYPE), 4),
            _table(_places(Chem.BondStereo, STEREO), 5),
            _table({0: 0, 1: 1}, 1),
        ]
        self._atoms = Pile(len(ATOM_VALUES))
        self._bonds = Pile(len(BOND_VALUES))

    def add(self, molecule: Any) -> tuple[int, int]:
        """Append a molecule; its numbers of atoms and bonds."""
        atoms = self._atoms.room(molecule.GetNumAtoms())
        bonds = self._bonds.room(molecule.GetNumBonds())
        read_values(molecule, atoms, bonds)
        self._atoms.keep(len(atoms))  # now that nothing can go wrong any more
        self._bonds.keep(len(bonds))
        return len(atoms), len(bonds)

    def arrays(self) -> MoleculeArrays:
        """All atoms and bonds."""
        atoms = self._atoms.rows()
        bonds = self._bonds.rows()
        return MoleculeArrays(
            _looked_up(atoms, self._places), bonds[:, :2].copy(), _looked_up(bonds[:, 2:], self._bond_places)
        )


def _places(kinds: Any, names: Sequence[str]) -> dict[int, int]:
    """Where each of RDKit's values stands among these names."""
    return {int(getattr(kinds, name)): place for place, name in enumerate(names)}


def _table(places: Mapping[int, int], other: int) -> NDArray[np.int64]:
    """The place of every value from `LEAST` to `MOST`, whatever is not among these ``other``."""
    return np.array([places.get(value, other) for value in range(LEAST, MOST + 1)], np.int64)


def _looked_up(values: NDArray[np.int64], tables: list[NDArray[np.int64]]) -> NDArray[np.int64]:
    """The place of every value, ``(rows, columns)``."""
    index = np.clip(values, LEAST, MOST) - LEAST
    return np.stack([table[index[:, column]] for column, table in enumerate(tables)], axis=1)


class _ZincColumns:
    """ZINC's types of atoms and bonds of many molecules, those of a Kekule form."""

    def __init__(self) -> None:
        self._Chem, _ = chemistry()
        table = self._Chem.GetPeriodicTable()
        self._usual = np.zeros(MOST + 1, np.int64)
        for symbol in PLAIN:
            number = table.GetAtomicNumber(symbol)
            self._usual[number] = table.GetDefaultValence(number)
        self._types = np.full((MOST + 1, 4, 3), NO_TYPE)
        for place, (symbol, hydrogens, charge) in enumerate(map(_zinc_parts, ZINC_ATOMS)):
            self._types[table.GetAtomicNumber(symbol), hydrogens, charge + 1] = place
        self._bond_types = _table(_places(self._Chem.BondType, BOND_TYPE[:3]), -1) + 1
        self._atoms = Pile(len(ATOM_VALUES))
        self._bonds = Pile(len(BOND_VALUES))
        self._x = Pile(1)

    def add(self, molecule: Any) -> tuple[int, int]:
        """Append a molecule, if ZINC has all its atoms; its numbers of atoms and bonds."""
        _kekulize(self._Chem, molecule)
        atoms = self._atoms.room(molecule.GetNumAtoms())
        bonds = self._bonds.room(molecule.GetNumBonds())
        x = self._x.room(len(atoms))
        read_values(molecule, atoms, bonds)
        bad = read_types(atoms, self._usual, self._types, x)
        if bad >= 0:
            raise ValueError(f"ZINC has no atom type for {_as_zinc(molecule.GetAtomWithIdx(bad), int(x[bad, 0]))!r}")
        self._bonds.keep(len(bonds))
        self._x.keep(len(atoms))
        return len(atoms), len(bonds)

    def arrays(self) -> MoleculeArrays:
        """All atoms and bonds."""
        bonds = self._bonds.rows()
        return MoleculeArrays(self._x.rows(), bonds[:, :2].copy(), _looked_up(bonds[:, 2:3], [self._bond_types]))


def _zinc_parts(name: str) -> tuple[str, int, int]:
    """Element, hydrogens and charge of a type.

    >>> _zinc_parts("N H2 +")
    ('N', 2, 1)
    """
    symbol, *others = name.split()
    hydrogens = [int(word[1:]) for word in others if word[0] == "H"]
    return symbol, sum(hydrogens), others.count("+") - others.count("-")


def _as_zinc(atom: Any, hydrogens: int) -> str:
    """What ZINC would call an atom with so many hydrogens."""
    charge = atom.GetFormalCharge()
    words = [atom.GetSymbol()]
    if hydrogens:
        words.append(f"H{hydrogens}")
    words += ["+" if charge > 0 else "-"] * abs(charge)
    return " ".join(words)


def _kekulize(Chem: Any, molecule: Any) -> None:
    try:
        Chem.Kekulize(molecule, clearAromaticFlags=True, canonical=False)
    except TypeError:  # before RDKit 2026 there was no canonical form to avoid
        Chem.Kekulize(molecule, clearAromaticFlags=True)
