"""Molecules: SMILES into graphs with the atom and bond features of OGB or of ZINC. Needs RDKit."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from escgnn.datasets.bundle import Feature
from escgnn.datasets.reading import from_parsed
from escgnn.disk import Rejected
from escgnn.disk import rejected as shortened
from escgnn.readers import Parsed, bonds, chemistry, parse
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
    good = []
    sizes = []
    ends: list[tuple[int, int]] = []
    atom_rows: list[tuple[int, ...]] = []
    bond_rows: list[tuple[int, ...]] = []
    found_scaffolds = []
    reasons = {}
    for number, text in enumerate(texts):
        try:
            molecule = parse(text)
            scaffold = scaffold_of(molecule) if scaffolds else ""
            atoms, its_bonds, its_ends = _ogb_rows(molecule) if features == "ogb" else _zinc_rows(molecule)
        except ValueError as error:
            reasons[number] = str(error)
            continue
        good.append(number)
        sizes.append((len(atoms), len(its_bonds)))
        ends += its_ends
        atom_rows += atoms
        bond_rows += its_bonds
        found_scaffolds.append(scaffold)
    num_nodes, num_edges = np.array(sizes, np.int64).reshape(-1, 2).T
    widths = {name: len(feature.sizes) for name, feature in FEATURES[features].items()}
    return Parsed(
        good=np.array(good, np.int64),
        num_nodes=num_nodes,
        num_edges=num_edges,
        edges=np.array(ends, np.int64).reshape(-1, 2),
        reasons=reasons,
        node={"x": np.array(atom_rows, np.int64).reshape(-1, widths["x"])},
        edge={"edge_attr": np.array(bond_rows, np.int64).reshape(-1, widths["edge_attr"])},
        scaffolds=found_scaffolds if scaffolds else (),
    )


def scaffold_of(molecule: Any) -> str:
    """The SMILES of a molecule's Bemis-Murcko scaffold, empty if it has no ring."""
    from rdkit.Chem.Scaffolds.MurckoScaffold import MurckoScaffoldSmiles

    scaffold: str = MurckoScaffoldSmiles(mol=molecule, includeChirality=False)  # type: ignore[no-untyped-call]
    return scaffold


AtomRows = list[tuple[int, ...]]
BondRows = list[tuple[int, ...]]
Ends = list[tuple[int, int]]


def _ogb_rows(molecule: Any) -> tuple[AtomRows, BondRows, Ends]:
    """Features of atoms and of bonds as OGB has them, and the bonds."""
    places = _ogb_places()
    atoms = [_ogb_atom(atom, places) for atom in molecule.GetAtoms()]
    return atoms, [_ogb_bond(bond, places) for bond in molecule.GetBonds()], bonds(molecule)


@cache
def _ogb_places() -> dict[str, dict[Any, int]]:
    """Where each of RDKit's values stands among those that OGB knows."""
    Chem, _ = chemistry()
    return {
        "chirality": {getattr(Chem.ChiralType, name): place for place, name in enumerate(CHIRALITY)},
        "hybridization": {getattr(Chem.HybridizationType, name): place for place, name in enumerate(HYBRIDIZATION)},
        "bond": {getattr(Chem.BondType, name): place for place, name in enumerate(BOND_TYPE)},
        "stereo": {getattr(Chem.BondStereo, name): place for place, name in enumerate(STEREO)},
    }


def _ogb_atom(atom: Any, places: dict[str, dict[Any, int]]) -> tuple[int, ...]:
    element = atom.GetAtomicNum()
    charge = atom.GetFormalCharge()
    return (
        element - 1 if 1 <= element <= 118 else 118,
        places["chirality"].get(atom.GetChiralTag(), 4),
        min(atom.GetTotalDegree(), 11),
        charge + 5 if -5 <= charge <= 5 else 11,
        min(atom.GetTotalNumHs(), 9),
        min(atom.GetNumRadicalElectrons(), 5),
        places["hybridization"].get(atom.GetHybridization(), 5),
        int(atom.GetIsAromatic()),
        int(atom.IsInRing()),
    )


def _ogb_bond(bond: Any, places: dict[str, dict[Any, int]]) -> tuple[int, ...]:
    return (
        places["bond"].get(bond.GetBondType(), 4),
        places["stereo"].get(bond.GetStereo(), 5),
        int(bond.GetIsConjugated()),
    )


def _zinc_rows(molecule: Any) -> tuple[AtomRows, BondRows, Ends]:
    """Types of atoms and of bonds as ZINC has them, and the bonds: of a Kekule form, in the order of its SMILES."""
    Chem, rdBase = chemistry()
    with rdBase.BlockLogs():
        _kekulize(Chem, molecule)
        plain = Chem.MolFromSmiles(Chem.MolToSmiles(molecule), sanitize=False)
    atoms = [_zinc_atom(atom) for atom in plain.GetAtoms()]
    kinds = ("NONE", *BOND_TYPE[:3])
    types = [str(bond.GetBondType()) for bond in plain.GetBonds()]
    return atoms, [(kinds.index(kind) if kind in kinds else 0,) for kind in types], bonds(plain)


def _kekulize(Chem: Any, molecule: Any) -> None:
    try:
        Chem.Kekulize(molecule, clearAromaticFlags=True, canonical=False)
    except TypeError:  # before RDKit 2026 there was no canonical form to avoid
        Chem.Kekulize(molecule, clearAromaticFlags=True)


def _zinc_atom(atom: Any) -> tuple[int, ...]:
    charge = atom.GetFormalCharge()
    hydrogens = atom.GetNumExplicitHs()
    words = [atom.GetSymbol()]
    if hydrogens:
        words.append(f"H{hydrogens}")
    words += ["+" if charge > 0 else "-"] * abs(charge)
    key = " ".join(words)
    if key not in ZINC_ATOM:
        raise ValueError(f"ZINC has no atom type for {key!r}")
    return (ZINC_ATOM[key],)
