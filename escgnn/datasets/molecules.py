"""Molecules: SMILES into graphs with the atom and bond features of OGB or of ZINC. Needs RDKit."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from escgnn.datasets.bundle import Feature
from escgnn.datasets.reading import from_undirected
from escgnn.disk import Rejected
from escgnn.disk import rejected as shortened
from escgnn.files.smiles import chemistry, parse
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
    return reader(features)(smiles)


def read_smiles(texts: Iterable[str], features: FeatureSet = "ogb") -> Molecules:
    """Every molecule that can be read, and a report of the others, whose lines count from 1.

    >>> found = read_smiles(["CO", "C1CC", "O"])
    >>> found.rows, [(row.line, row.reason) for row in found.rejected]
    (array([0, 2]), [(2, 'not a SMILES string')])
    """
    read = reader(features)
    molecules, rows, rejected = [], [], []
    for row, text in enumerate(texts):
        try:
            molecules.append(read(text))
            rows.append(row)
        except ValueError as error:
            rejected.append(shortened(row + 1, text, str(error)))
    return Molecules(pack(molecules, features), np.array(rows, np.int64), tuple(rejected))


def pack(molecules: Sequence[MoleculeArrays], features: FeatureSet) -> GraphStore:
    """Molecules one after another."""
    atoms, bonds = (len(FEATURES[features][name].sizes) for name in ("x", "edge_attr"))
    return from_undirected(
        [len(molecule.x) for molecule in molecules],
        [len(molecule.edges) for molecule in molecules],
        np.concatenate([np.empty((0, 2), np.int64), *(molecule.edges for molecule in molecules)]),
        node={"x": np.concatenate([np.empty((0, atoms), np.int64), *(molecule.x for molecule in molecules)])},
        edge={
            "edge_attr": np.concatenate(
                [np.empty((0, bonds), np.int64), *(molecule.edge_attr for molecule in molecules)]
            )
        },
    )


def reader(features: FeatureSet) -> Callable[[str], MoleculeArrays]:
    """The function behind `smiles_to_graph`, for many calls."""
    if features not in FEATURES:
        raise ValueError(f"features: {features!r}; expected one of {', '.join(map(repr, FEATURES))}")
    Chem, rdBase = chemistry()

    def kekulize(molecule: Any) -> None:
        try:
            Chem.Kekulize(molecule, clearAromaticFlags=True, canonical=False)
        except TypeError:  # before RDKit 2026 there was no canonical form to avoid
            Chem.Kekulize(molecule, clearAromaticFlags=True)

    def read(text: str) -> MoleculeArrays:
        molecule = parse(text)
        if features == "zinc":
            with rdBase.BlockLogs():
                kekulize(molecule)
                molecule = Chem.MolFromSmiles(Chem.MolToSmiles(molecule), sanitize=False)
        return arrays(molecule, features)

    return read


def arrays(molecule: Any, features: FeatureSet) -> MoleculeArrays:
    """Features of an RDKit molecule."""
    atom_row, bond_row = (_ogb_atom, _ogb_bond) if features == "ogb" else (_zinc_atom, _zinc_bond)
    atoms, bonds = list(molecule.GetAtoms()), list(molecule.GetBonds())
    if not atoms:
        raise ValueError("the molecule has no atoms")
    ends = [(bond.GetBeginAtomIdx(), bond.GetEndAtomIdx()) for bond in bonds]
    width = len(FEATURES[features]["edge_attr"].sizes)
    return MoleculeArrays(
        np.array([atom_row(atom) for atom in atoms], np.int64),
        np.array(ends, np.int64).reshape(-1, 2),
        np.array([bond_row(bond) for bond in bonds], np.int64).reshape(-1, width),
    )


def _place(value: Any, choices: Sequence[Any], other: int) -> int:
    """Where a value stands among the known ones, else the number for all others."""
    return choices.index(value) if value in choices else other


def _ogb_atom(atom: Any) -> tuple[int, ...]:
    return (
        _place(atom.GetAtomicNum(), range(1, 119), 118),
        _place(str(atom.GetChiralTag()), CHIRALITY, 4),
        _place(atom.GetTotalDegree(), range(11), 11),
        _place(atom.GetFormalCharge(), range(-5, 6), 11),
        _place(atom.GetTotalNumHs(), range(9), 9),
        _place(atom.GetNumRadicalElectrons(), range(5), 5),
        _place(str(atom.GetHybridization()), HYBRIDIZATION, 5),
        int(atom.GetIsAromatic()),
        int(atom.IsInRing()),
    )


def _ogb_bond(bond: Any) -> tuple[int, ...]:
    return (
        _place(str(bond.GetBondType()), BOND_TYPE, 4),
        _place(str(bond.GetStereo()), STEREO, 5),
        int(bond.GetIsConjugated()),
    )


def _zinc_atom(atom: Any) -> tuple[int, ...]:
    charge, hydrogens = atom.GetFormalCharge(), atom.GetNumExplicitHs()
    key = " ".join(
        [atom.GetSymbol()] + [f"H{hydrogens}"] * bool(hydrogens) + ["+" if charge > 0 else "-"] * abs(charge)
    )
    if key not in ZINC_ATOM:
        raise ValueError(f"ZINC has no atom type for {key!r}")
    return (ZINC_ATOM[key],)


def _zinc_bond(bond: Any) -> tuple[int, ...]:
    return (_place(str(bond.GetBondType()), ("NONE", *BOND_TYPE[:3]), 0),)
