"""Colours that begin with types are Morgan's environments: given the same invariants, RDKit parts atoms in the same way."""

import csv

import numpy as np
import pytest

from escgnn.datasets import parse_molecules
from escgnn.encoding import RootedEncoding, types_of
from escgnn.encoding.parts.colours import label_colours
from escgnn.graphs import from_edge_index
from escgnn.kernels.colours import COLOURS, mix
from escgnn.kernels.typed import refine

pytest.importorskip("rdkit")
from rdkit import Chem
from rdkit.Chem import rdFingerprintGenerator

INVARIANTS = "x:0+2+3+4+8"  # element, degree, charge, hydrogens, in a ring: those of RDKit, but for isotopes
RADII = (0, 1, 2, 3, 4)
FEW = [
    *("CCO", "c1ccccc1", "CC(=O)Oc1ccccc1C(=O)O", "CN1C=NC2=C1C(=O)N(C(=O)N2C)C", "[Na+].[Cl-]", "C1CCC2CCCCC2C1"),
    *("C1CCCC1C1CCCC1", "O=C1C=CC(=O)C=C1", "FC(F)(F)c1ccncc1", "C", "N->[Fe]", "C#CC=CC", "C1CC2CC1C2", "CC(C)(C)C"),
]


def typed(texts):
    """The molecules side by side, their types, and each as RDKit sees it."""
    found = parse_molecules(texts, "ogb")
    shift = np.repeat(found.num_nodes.cumsum() - found.num_nodes, found.num_edges)
    ends = found.edges + shift[:, None]
    graph = from_edge_index(np.concatenate([ends, ends[:, ::-1]]).T, int(found.num_nodes.sum()))
    bonds = types_of(found.edge["edge_attr"], "edge_attr")
    graph = graph.typed(types_of(found.node["x"], INVARIANTS), np.tile(bonds, 2))
    return graph, bonds, found, [Chem.MolFromSmiles(texts[number]) for number in found.good]


def spread(types):
    """A number of 32 bits for each, other numbers for other types."""
    kinds, place = np.unique(types, return_inverse=True)
    numbers = np.random.default_rng(0).integers(0, 2**32, len(kinds))
    assert len({*numbers.tolist()}) == len(kinds)
    return numbers[place].tolist()


def identifiers(molecules, atom_types, bond_types):
    """RDKit's number for every atom at every radius, -1 where it has none, ``(radii, atoms)``.

    Types are spread over 32 bits, since RDKit mixes small numbers so little that different environments get the same one.
    """
    generator = rdFingerprintGenerator.GetMorganGenerator(radius=RADII[-1], includeRedundantEnvironments=True)
    invariants, kinds = (spread(types) for types in (atom_types, bond_types))
    result = np.full((len(RADII), len(atom_types)), -1, np.int64)
    atom = bond = 0
    for molecule in molecules:
        output = rdFingerprintGenerator.AdditionalOutput()
        output.AllocateBitInfoMap()
        atoms, bonds = molecule.GetNumAtoms(), molecule.GetNumBonds()
        generator.GetSparseCountFingerprint(
            molecule,
            customAtomInvariants=invariants[atom : atom + atoms],
            customBondInvariants=kinds[bond : bond + bonds],
            additionalOutput=output,
        )
        for identifier, places in output.GetBitInfoMap().items():
            for place, radius in places:
                result[radius, atom + place] = identifier
        atom, bond = atom + atoms, bond + bonds
    return result


def same_partition(first, second):
    pairs = {*zip(first.tolist(), second.tolist(), strict=True)}
    return len(pairs) == len({*first.tolist()}) == len({*second.tolist()})


def check(texts):
    graph, bonds, _, molecules = typed(texts)
    expected = identifiers(molecules, graph.types.node, bonds)
    alone = graph.degrees == 0  # RDKit has but one environment for these
    sizes = []
    for radius in RADII:
        known = expected[radius] >= 0
        assert known[~alone].all()
        colours = refine(graph.csr, graph.types, radius)
        assert same_partition(colours[known], expected[radius, known])
        sizes.append(len({*colours[known].tolist()}))
    return sizes


def test_some_molecules():
    sizes = check(FEW)
    assert sizes == sorted(sizes) and sizes[0] < sizes[-1]


def test_thousands_of_molecules(benchmark_data):
    with (benchmark_data / "ogbg_molhiv" / "HIV.csv").open(newline="") as stream:
        texts = [row["smiles"] for row in csv.DictReader(stream)][::14]
    sizes = check(texts)
    assert len(texts) > 2900 and sizes[0] < sizes[1] < sizes[2] < sizes[3]


@pytest.mark.parametrize("radius", RADII[:3])
def test_the_root_is_counted_by_its_environment(radius):
    """The row of (v, v) has v where its environment and the label (0, 0) say, whatever the radius of the subgraph."""
    graph, *_ = typed(FEW)
    bins = 1 << 12
    encoding = RootedEncoding(1, ("colour",), types=("x", "edge_attr"), colour_rounds=radius, colour_bins=bins)
    rows = encoding.node_rows(graph)
    here = label_colours({3: (0, 0)})[3, 0]
    colours = refine(graph.csr, graph.types, radius)
    for v in range(graph.num_nodes):
        row = rows[v]
        assert sum(row.values()) == 1 + graph.degrees[v]
        assert row["colour", int(mix(int(colours[v] + here) & COLOURS)) % bins] >= 1
