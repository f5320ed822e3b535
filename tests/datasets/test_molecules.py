import csv
import gzip
from itertools import chain

import networkx
import numpy as np
import pytest
import torch
from networkx.algorithms.isomorphism import categorical_node_match

from escgnn import datasets
from escgnn.datasets import parse_molecules, values, zinc
from escgnn.datasets.molecules import (
    BOND_TYPE,
    CHIRALITY,
    HYBRIDIZATION,
    OGB_FEATURES,
    STEREO,
    ZINC_ATOMS,
    ZINC_FEATURES,
    _OgbColumns,
)
from escgnn.datasets.splits import scaffold_split
from escgnn.graphs import as_graph
from escgnn.readers import chemistry, parse, parse_smiles

MOLHIV_UNREADABLE = {137, 987, 12882, 18293, 30784, 30785, 35728}  # PROVENANCE: they break the rules of valence


@pytest.fixture(scope="module")
def molhiv_smiles(benchmark_data):
    with gzip.open(benchmark_data / "ogbg_molhiv/mapping/mol.csv.gz", "rt") as file:
        return [row["smiles"] for row in csv.DictReader(file)]


def test_ogb_features_equal_the_raw_files(load, molhiv_smiles):
    stored = load("ogbg-molhiv").graphs
    rows = [*range(0, 41127, 101), *MOLHIV_UNREADABLE]
    found = datasets.read_smiles([molhiv_smiles[row] for row in rows])
    assert {rows[reject.line - 1] for reject in found.rejected} == MOLHIV_UNREADABLE
    assert len(found.graphs) == 408
    for data, row in zip(found.graphs, found.rows, strict=True):
        other = stored[rows[row]]
        assert all(torch.equal(data[field], other[field]) for field in ("x", "edge_index", "edge_attr"))


def test_molhiv_has_the_official_split(load):
    bundle = load("ogbg-molhiv")
    parts = (bundle.train, bundle.validation, bundle.test)
    assert [len(part) for part in parts] == [32901, 4113, 4113]
    assert [int(part.column("y").sum()) for part in parts] == [1232, 81, 130]
    for field, feature in OGB_FEATURES.items():
        values = bundle.graphs.column(field)
        assert (values.min(0).values >= 0).all()
        assert (values.max(0).values < torch.tensor(feature.sizes)).all()
        assert bundle.features[field] == feature


def test_zinc_features_give_the_stored_graphs(load, benchmark_data):
    stored = load("zinc-12k").graphs
    lines = (benchmark_data / "zinc/zinc12k_smiles.txt").read_text().splitlines()
    found = datasets.read_smiles(lines[10000:10150], "zinc")
    assert not found.rejected
    same = categorical_node_match("x", None)
    for i, data in enumerate(found.graphs):
        ours, theirs = (with_types(member) for member in (data, stored[10000 + i]))
        assert networkx.is_isomorphic(ours, theirs, node_match=same)
    bonds, known = (np.bincount(store.column("edge_attr")[:, 0]) for store in (found.graphs, stored[10000:10150]))
    assert np.array_equal(bonds, known)  # whichever Kekule form, it has as many double bonds


def with_types(data):
    graph = as_graph(data).to_networkx()
    networkx.set_node_attributes(graph, dict(enumerate(data.x[:, 0].tolist())), "x")
    return graph


def test_one_molecule():
    x, edges, edge_attr = datasets.smiles_to_graph("C[N+](C)(C)CC#N")
    assert x[1].tolist() == [6, 0, 4, 6, 0, 0, 2, 0, 0]
    assert edges.tolist()[-1] == [5, 6]
    assert edge_attr[-1].tolist() == [2, 0, 0]
    assert datasets.smiles_to_graph("[NH3+]C[C@H](O)F", "zinc").x[:, 0].tolist() == [10, 0, 4, 1, 3]
    assert datasets.smiles_to_graph("CC(=O)[O-]", "zinc").x[:, 0].tolist() == [0, 0, 1, 7]
    assert datasets.smiles_to_graph("C").edges.shape == (0, 2)
    assert datasets.smiles_to_graph("*C").x[0, 0] == 118  # no element: other


def naive_ogb(molecule):
    """OGB's features as its ``smiles2graph`` reads them, an atom and a bond at a time."""

    def place(value, choices, other):
        return choices.index(value) if value in choices else other

    atoms = [
        [
            place(atom.GetAtomicNum(), [*range(1, 119)], 118),
            place(str(atom.GetChiralTag()), CHIRALITY, 4),
            place(atom.GetTotalDegree(), [*range(11)], 11),
            place(atom.GetFormalCharge(), [*range(-5, 6)], 11),
            place(atom.GetTotalNumHs(), [*range(9)], 9),
            place(atom.GetNumRadicalElectrons(), [*range(5)], 5),
            place(str(atom.GetHybridization()), HYBRIDIZATION, 5),
            int(atom.GetIsAromatic()),
            int(atom.IsInRing()),
        ]
        for atom in molecule.GetAtoms()
    ]
    bonds = [
        [
            place(str(bond.GetBondType()), BOND_TYPE, 4),
            place(str(bond.GetStereo()), STEREO, 5),
            int(bond.GetIsConjugated()),
        ]
        for bond in molecule.GetBonds()
    ]
    return atoms, bonds


def test_features_of_odd_molecules():
    """Values that OGB does not know share a place of their own; of stereo it is the last one."""
    from rdkit.Chem import BondStereo

    texts = [
        "*C",
        "[Fe+6]",
        "[U-7]",
        "[Og]",
        "N->[Fe]",
        "[SiH6-2]",
        "F/C=C\\F",
        "F[C@H](Cl)Br",
        "[2H]c1ccccc1",
        "[C]",
        "CC",
    ]
    molecules = [parse(text) for text in texts]
    next(molecules[-1].GetBonds()).SetStereo(BondStereo.STEREOATROPCW)
    columns = _OgbColumns()
    sizes = [columns.add(molecule) for molecule in molecules]
    x, edges, edge_attr = columns.arrays()
    atoms, bonds = ([*chain(*rows)] for rows in zip(*map(naive_ogb, molecules), strict=True))
    assert x.tolist() == atoms and edge_attr.tolist() == bonds and len(edges) == len(bonds)
    assert sizes == [(len(rows), len(others)) for rows, others in map(naive_ogb, molecules)]


def test_bad_molecules_are_rows_of_a_report(capfd):
    found = datasets.read_smiles(["CO", "C1CC", "", "C(C)(C)(C)(C)C", "C[Si](C)C"], "zinc")
    assert len(found.graphs) == 1
    assert [(row.line, row.reason) for row in found.rejected] == [
        (2, "not a SMILES string"),
        (3, "the SMILES is empty"),
        (4, "Explicit valence for atom # 0 C, 5, is greater than permitted"),
        (5, "ZINC has no atom type for 'Si'"),
    ]
    assert capfd.readouterr() == ("", "")
    strange = datasets.read_smiles(
        ["C\u00e9C", "CC\u4e2d", "CO m\u00e9thanol"]
    )  # RDKit reads the first two as C and CC
    assert strange.rows.tolist() == [2] and "outside ASCII" in strange.rejected[0].reason
    with_more = datasets.read_smiles(["CO |no extension|", "CO"])
    assert with_more.rows.tolist() == [0, 1], "what follows a space is a name, as in files"
    assert scaffold_split(["CO |no extension|"]).test.tolist() == [0]
    nothing = datasets.read_smiles(["?"])
    assert (len(nothing.graphs), len(nothing.rejected)) == (0, 1)
    with pytest.raises(ValueError, match="features: 'rdkit'; expected one of 'ogb', 'zinc'"):
        datasets.read_smiles([], "rdkit")


def test_scaffolds_stay_together_and_largest_come_first():
    smiles = ["CCO", "c1ccccc1C", "C1CCCC1O", "c1ccccc1CC", "C1CCCC1N", "c1ccccc1", "C1CC1", "CC", "c1ccncc1", "C1CCC1"]
    split = scaffold_split(smiles, (0.6, 0.2, 0.2))
    # benzenes (3), then by first molecule: chains (2) fill up to 5 of 6; cyclopentanes (2) do not fit any more
    assert [part.tolist() for part in split] == [[0, 1, 3, 5, 6, 7], [2, 4], [8, 9]]
    again = scaffold_split(smiles, (0.6, 0.2, 0.2))
    assert all(np.array_equal(a, b) for a, b in zip(split, again, strict=True))


def test_scaffold_split_of_many(molhiv_smiles):
    from rdkit.Chem.Scaffolds.MurckoScaffold import MurckoScaffoldSmiles

    smiles = [text for row, text in enumerate(molhiv_smiles[:600]) if row not in MOLHIV_UNREADABLE]
    split = scaffold_split(smiles)
    assert np.array_equal(np.sort(np.concatenate(split)), np.arange(len(smiles)))
    assert split.train.size <= 0.8 * len(smiles)
    scaffolds = [{MurckoScaffoldSmiles(smiles[row]) for row in part} for part in split]
    assert not scaffolds[0] & scaffolds[1]
    assert not (scaffolds[0] | scaffolds[1]) & scaffolds[2]


def test_cycles_of_zinc(load):
    bundle = load("zinc-cycles")
    assert bundle.targets == ("3-cycle", "4-cycle", "5-cycle", "6-cycle")
    assert bundle.features == ZINC_FEATURES
    data = bundle.graphs[0]
    assert data.y.shape == (data.num_nodes, 4)
    assert [len(part) for part in (bundle.train, bundle.validation, bundle.test)] == [10000, 1000, 1000]


def test_zinc_of_pyg_is_converted(load, tmp_path):
    bundle = load("zinc-12k")
    parts = [[with_flat_columns(data) for data in part[:20]] for part in (bundle.train, bundle.validation, bundle.test)]
    zinc.convert(*parts, tmp_path / "zinc/zinc12k.npz")
    again = datasets.load("zinc-12k", root=tmp_path)
    assert [len(part) for part in (again.train, again.validation, again.test)] == [20, 20, 20]
    for field in ("x", "edge_attr", "y"):
        assert torch.equal(again.test.column(field), bundle.test[:20].column(field))


def with_flat_columns(data):
    """As PyG's ZINC has them."""
    data.edge_attr, data.y = data.edge_attr[:, 0], data.y[0]
    return data


def test_scaffolds_that_take_rdkit_for_ever_are_refused():
    """A chain has no ring, and so no scaffold, however long it is; to take it off a ring costs its length to the third."""
    found = parse_molecules(["C1CC1" * 201, "CC", "C" * 10_000, "C1CC1" + "C" * 1000], "ogb", scaffolds=True)
    assert found.reasons == {
        0: "201 rings, too many for its scaffold; at most 200, or another split",
        3: "1,003 atoms, too many for its scaffold; at most 1,000, or another split",
    }
    assert [*found.scaffolds] == ["", ""]


def test_a_molecule_that_rdkit_refuses_midway_leaves_nothing(monkeypatch):
    """An absurd valence is noticed when a feature is asked for, after others were read."""
    Chem, _ = chemistry()
    monkeypatch.setattr(values, "pickles_are_known", lambda: False)

    def absurd(atom):
        if atom.GetAtomicNum() == 92:
            raise RuntimeError("Pre-condition Violation")
        return 0

    monkeypatch.setattr(Chem.Atom, "GetTotalNumHs", absurd)
    found = parse_molecules(["CC", "C[U]", "CO"], "ogb")
    assert found.good.tolist() == [0, 2] and len(found.node["x"]) == 4 and len(found.edges) == 2
    assert found.reasons == {1: "RDKit cannot read it: Pre-condition Violation"}


def asked(molecule):
    """RDKit's values, each asked for."""
    atoms = np.empty((molecule.GetNumAtoms(), len(values.ATOM_VALUES)), np.int64)
    bonds = np.empty((molecule.GetNumBonds(), len(values.BOND_VALUES)), np.int64)
    values.ask_for_values(molecule, atoms, bonds)
    return atoms, bonds


ODD = (
    *(
        "*C",
        "[*]C",
        "[CH3:1]C",
        "[2H]C([2H])O",
        "[13CH4]",
        "N->[Fe]",
        "[Fe+6]",
        "[U-7]",
        "[Og]",
        "[SiH6-2]",
        "C$C",
        "C~C",
    ),
    *(
        "F/C=C\\F",
        "F/C=C/F",
        "CC=CC",
        "F[C@H](Cl)Br",
        "C[S@](=O)N",
        "[C]",
        "[O]",
        "[H]O[H]",
        "[Na+].[Cl-]",
        "[nH]1cccc1",
    ),
    *(
        "C1CC1" * 60,
        "C" * 300,
        "C1CC2CC1C2",
        "OC1=CC=CC(=O)C=C1",
        "[cH-]1cccc1.[cH-]1cccc1.[Fe+2]",
        "CC(=O)O[Pb](C)(C)C",
    ),
)


@pytest.fixture(scope="module")
def some_molecules(molhiv_smiles):
    """Some hundred of a benchmark's, and odd ones."""
    Chem, rdBase = chemistry()
    with rdBase.BlockLogs():
        found = [Chem.MolFromSmiles(text) for text in [*molhiv_smiles[::97], *ODD]]
    return [molecule for molecule in found if molecule is not None]


def test_bytes_say_what_rdkit_says(some_molecules):
    """The twin asks for every value; most molecules must go the fast way, or it would be the same twice."""
    fast = 0
    for molecule in some_molecules:
        atoms, bonds = asked(molecule)
        read = (np.full_like(atoms, -9), np.full_like(bonds, -9))
        if values._read(molecule, *read):
            fast += 1
            assert all(map(np.array_equal, read, (atoms, bonds)))
        values.read_values(molecule, *read)
        assert all(map(np.array_equal, read, (atoms, bonds)))
    assert fast > 0.97 * len(some_molecules)


def test_damaged_bytes_are_not_believed_or_give_the_same(some_molecules):
    """Cut anywhere, they are refused; nothing is read or written beyond the arrays."""
    molecule = some_molecules[7]
    content = np.frombuffer(molecule.ToBinary(0), np.uint8)
    atoms, bonds = asked(molecule)
    read = (np.empty_like(atoms), np.empty_like(bonds))
    ended = [values.read_pickle(content[:length].copy(), *read) for length in range(content.size + 1)]
    assert ended[-1]
    for length in np.flatnonzero(ended).tolist():
        values.read_pickle(content[:length].copy(), *read)
        assert all(map(np.array_equal, read, (atoms, bonds))), "only what follows the rings may be missing"
    later = content.copy()
    later[8] += 1
    assert not values.read_pickle(later, *read), "another version"


def test_an_rdkit_that_writes_other_bytes_is_asked(monkeypatch, some_molecules):
    """The comparison at the start notices, whatever has changed."""

    def swapped(content, atoms, bonds):
        known = values_read(content, atoms, bonds)
        atoms[:, [1, 5]] = atoms[:, [5, 1]]
        return known

    values_read = values.read_pickle
    monkeypatch.setattr(values, "read_pickle", swapped)
    values.pickles_are_known.cache_clear()
    try:
        assert not values.pickles_are_known()
        for molecule in some_molecules[:5]:
            read = tuple(map(np.empty_like, asked(molecule)))
            values.read_values(molecule, *read)
            assert all(map(np.array_equal, read, asked(molecule)))
    finally:
        values.pickles_are_known.cache_clear()


def naive_zinc(smiles):
    """ZINC's types as RDKit tells them of the SMILES of a Kekule form, read once more; by the atoms of the first one."""
    Chem, rdBase = chemistry()
    molecule = parse(smiles)
    for atom in molecule.GetAtoms():
        atom.SetAtomMapNum(0)  # of a reaction, which says nothing about the atom
    with rdBase.BlockLogs():
        Chem.Kekulize(molecule, clearAromaticFlags=True, canonical=False)
        plain = Chem.MolFromSmiles(Chem.MolToSmiles(molecule), sanitize=False)
    order = [int(word) for word in molecule.GetProp("_smilesAtomOutputOrder").strip("[],").split(",")]
    types = {}
    for atom in plain.GetAtoms():
        charge = atom.GetFormalCharge()
        hydrogens = [f"H{atom.GetNumExplicitHs()}"] if atom.GetNumExplicitHs() else []
        words = " ".join([atom.GetSymbol(), *hydrogens, *["+" if charge > 0 else "-"] * abs(charge)])
        if words not in ZINC_ATOMS:
            raise ValueError(f"ZINC has no atom type for {words!r}")
        types[order[atom.GetIdx()]] = ZINC_ATOMS.index(words)
    kinds = {"SINGLE": 1, "DOUBLE": 2, "TRIPLE": 3}
    bonds = {
        frozenset((order[bond.GetBeginAtomIdx()], order[bond.GetEndAtomIdx()])): kinds.get(str(bond.GetBondType()), 0)
        for bond in plain.GetBonds()
    }
    return [types[atom] for atom in range(len(types))], bonds


TYPES = (
    *("CC#N", "c1ccc2ccccc2c1", "C1CC2CC1C2", "B", "BrCCB", "c1cc(Br)ccc1Cl", "C[PH2](C)C", "CP", "C[PH](C)=O", "CS"),
    *(
        "C[SH](=O)=O",
        "[nH]1cccc1",
        "c1cc[nH+]cc1",
        "C[N+](C)(C)[O-]",
        "[CH2]C",
        "[13CH3]C",
        "[13C](F)(F)(F)F",
        "OC(C)F",
    ),
    *(
        "C[C@H]1CC[C@@H](C)CC1",
        "C[S@](=O)c1ccccc1",
        "F[C@](Cl)(Br)I",
        "CC(C)[C@@H](N)C(=O)O",
        "[NH4+]",
        "[OH-]",
        "[O-2]",
    ),
)


def test_types_are_those_that_a_smiles_would_show(molhiv_smiles):
    """Atoms and bonds in RDKit's order, as with other features; the twin writes the SMILES and reads it once more."""
    texts = [*molhiv_smiles[::97], *ODD, *TYPES]
    found = parse_molecules(texts, "zinc")
    assert len(found.good) > 300 and found.reasons[texts.index("[O-2]")] == "ZINC has no atom type for 'O - -'"
    bare = parse_smiles([texts[number] for number in found.good])
    assert np.array_equal(bare.num_edges, found.num_edges)
    node = np.append(0, found.num_nodes.cumsum())
    edge = np.append(0, found.num_edges.cumsum())
    for place, number in enumerate(found.good.tolist()):
        types, bonds = naive_zinc(texts[number])
        mine = slice(edge[place], edge[place + 1])
        assert found.node["x"][node[place] : node[place + 1], 0].tolist() == types, texts[number]
        assert {*map(frozenset, bare.edges[mine].tolist())} == bonds.keys(), texts[number]
        kinds = found.edge["edge_attr"][mine, 0].tolist()
        assert dict(zip(map(frozenset, found.edges[mine].tolist()), kinds, strict=True)) == bonds, texts[number]
    for number, reason in found.reasons.items():
        with pytest.raises(ValueError) as error:
            naive_zinc(texts[number])
        assert str(error.value).split(" for ")[0] == reason.split(" for ")[0], texts[number]
