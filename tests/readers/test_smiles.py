import re
import sys
from random import Random

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from escgnn.readers import GraphFile, bonds_as_written, chemistry, parse, parse_smiles
from tests.readers.reader import read

VALENCE = "Explicit valence for atom # 1 C, 6, is greater than permitted"
SYNTAX = "not a SMILES string"


def test_lines_of_smiles(tmp_path, capfd):
    path = tmp_path / "molecules.smi"
    path.write_text("CCO ethanol\r\n\r\nC1CC broken ring\r\nC\tmethane\r\nCC(C)(C)(C)(C)C\r\n[Na+].[Cl-]\r\nC=1CC=1")
    graphs, rejects = read(path)
    assert graphs == [
        (0, [0, 1, 2], [[0, 1], [1, 2]]),
        (2, [0], []),
        (4, [0, 1], []),
        (5, [0, 1, 2], [[0, 1], [0, 2], [1, 2]]),
    ]
    assert rejects == [(3, SYNTAX), (5, VALENCE)]
    assert capfd.readouterr() == ("", "")  # RDKit keeps quiet


def test_parse():
    assert parse("  CO methanol ").GetNumAtoms() == 2
    for text, reason in (
        ("", "empty"),
        (" \t", "empty"),
        ("C1CC", SYNTAX),
        ("C\u00e9", "ASCII"),
        ("CC(C)(C)(C)(C)C", VALENCE),
        ("[2H][H]", "no heavy atoms"),
    ):
        with pytest.raises(ValueError, match=reason):
            parse(text)


def test_letters_outside_ascii_are_no_smiles(tmp_path):
    """RDKit would read the first line as ethane."""
    path = tmp_path / "molecules.smi"
    path.write_text("CC\u4e2d\nCO m\u00e9thanol\n")
    graphs, rejects = read(path)
    assert graphs == [(1, [0, 1], [[0, 1]])]
    assert rejects == [(1, "not a SMILES string: it has letters outside ASCII")]


def test_the_atoms_that_rdkit_keeps_are_nodes(tmp_path):
    """Hydrogen leaves a node only as an isotope, as it does for a network."""
    path = tmp_path / "molecules.txt"
    path.write_text("[2H]OC([H])C\n*C\n[H][H]\n[CH4]\n[2H]C\n")
    graphs, rejects = read(path)
    assert graphs == [
        (0, [0, 1, 2, 3], [[0, 1], [1, 2], [2, 3]]),
        (1, [0, 1], [[0, 1]]),
        (3, [0], []),
        (4, [0, 1], [[0, 1]]),
    ]
    assert rejects == [(3, "the molecule has no heavy atoms")]


@pytest.mark.parametrize("chunk_size", [1, 5, 1000])
def test_tables_of_smiles(tmp_path, chunk_size):
    path = tmp_path / "molecules.csv"
    path.write_bytes(
        "\ufeffname,SMILES,note\n"
        "water,O,\n"
        'ethane,"CC","two\nlines, ""quoted"""\n'
        "empty, ,\n"
        "short,C\n"
        'open,"C,x\n'
        "\n"
        "last,CCC,x\n".encode()
        + b"latin,C,\xb5\n"
        + b'q"r,N,5" pipe\n'
    )
    graphs, rejects = read(path, chunk_size=chunk_size)
    assert [(name, len(nodes)) for name, nodes, _ in graphs] == [(0, 1), (1, 2), (5, 3), (6, 1), (7, 1)]
    assert rejects == [
        (5, "the SMILES is empty"),
        (6, "has 2 cells, the header 3"),
        (7, "a quote is not closed, or is closed within a cell"),
    ]


@pytest.mark.parametrize("text", ["C1CC1" * 1001, "C" * 100_001, "C%10CC%10" * 1001])
def test_what_would_take_rdkit_for_ever_is_refused(text):
    with pytest.raises(ValueError, match=r"a SMILES of 1.*; at most 1.* are read"):
        parse(text)


def test_digits_in_brackets_are_no_rings():
    assert parse("[13CH3]" + "[13CH2]" * 800 + "C").GetNumAtoms() == 802


def test_what_rdkit_raises_is_a_bad_row(monkeypatch):
    Chem, _ = chemistry()

    def absurd(*_, **__):
        raise RuntimeError("Pre-condition Violation\n\tvalence out of range\n\tViolation occurred on line 1")

    monkeypatch.setattr(Chem, "MolFromSmiles", absurd)
    assert parse_smiles(["C"]).reasons == {0: "RDKit cannot read it: Pre-condition Violation valence out of range"}


def test_a_quote_never_closed_costs_one_row(tmp_path):
    path = tmp_path / "molecules.csv"
    path.write_text('name,smiles\n"open,C\n' + "x,CC\n" * 300)
    graphs, rejects = read(path)
    assert [name for name, _, _ in graphs] == list(range(1, 301)) and [line for line, _ in rejects] == [2]


def test_the_column_can_be_named(tmp_path):
    path = tmp_path / "molecules.tsv"
    path.write_text("graph\tsource\ttarget\tcanonical\n0\t1\t2\tCCC\n")
    assert GraphFile(path).format == "edges"
    assert read(path, smiles="canonical")[0] == [(0, [0, 1, 2], [[0, 1], [1, 2]])]
    assert read(path, smiles="Canonical")[0]
    with pytest.raises(
        ValueError, match=r"has no column 'Structure'; its columns are graph, source, target, canonical$"
    ):
        GraphFile(path, smiles="Structure")
    with pytest.raises(ValueError, match=r"has no column 'kanonical'; did you mean 'canonical'\? Its columns are"):
        GraphFile(path, smiles="kanonical")


def test_a_column_needs_a_table(tmp_path):
    path = tmp_path / "molecules.smi"
    path.write_text("C\n")
    with pytest.raises(ValueError, match=r"smiles: 'x', but .*molecules\.smi is no table"):
        GraphFile(path, smiles="x")


def test_parquet(tmp_path):
    path = tmp_path / "molecules.parquet"
    pq.write_table(pa.table({"id": [1, 2, 3, 4], "Smiles": ["CC", None, "xx", "C"]}), path)
    graphs, rejects = read(path)
    assert [name for name, _, _ in graphs] == [0, 3] and rejects == [(2, "the SMILES is empty"), (3, SYNTAX)]
    with pytest.raises(ValueError, match=r"molecules\.parquet: row 2: the SMILES is empty"):
        list(GraphFile(path, strict=True))
    with pytest.raises(ValueError, match="column id holds int64; expected text"):
        GraphFile(path, smiles="id")


def test_bytes_that_are_no_text(tmp_path):
    path = tmp_path / "molecules.smi"
    path.write_bytes(b"CC\nC\xff\nC")
    graphs, rejects = read(path)
    assert [name for name, _, _ in graphs] == [0, 2] and rejects == [(2, "not UTF-8 text; save the file as UTF-8")]


def test_without_rdkit_the_error_says_what_to_install(tmp_path, monkeypatch):
    path = tmp_path / "molecules.smi"
    path.write_text("C\n")
    monkeypatch.setitem(sys.modules, "rdkit", None)
    with pytest.raises(ImportError, match=r"reading molecules needs RDKit: pip install 'escgnn\[chem\]'"):
        GraphFile(path)


PIECES = [
    *(
        "C",
        "N",
        "O",
        "c",
        "Cl",
        "Br",
        "[13C@@H]",
        "[NH+]",
        "[2H]",
        "[H]",
        "*",
        "F",
        "1",
        "2",
        "%12",
        "(",
        ")",
        "=",
        "#",
    ),
    *("/", "\\", ".", "-", "~", "->", "%(123)", "c1ccccc1", "C1CC1", "(=O)", "(C)", "[", "]", "B", "I", "$", "C(C)(C)"),
]


def random_smiles(random):
    """Letters at random, and some that make sense more often."""
    if random.random() < 0.5:
        return "".join(random.choices(PIECES, k=random.randint(1, 12)))
    chain = [
        *random.choices(
            ["C", "N", "O", "c1ccccc1", "C(=O)", "C(C)", "[C@@H](F)", "C=C", "C#C", "S"], k=random.randint(2, 9)
        )
    ]
    for mark in random.sample(["1", "2", "%11", "=3", "9"], random.randint(0, 2)):
        first, last = sorted(random.sample(range(len(chain) + 1), 2))
        chain[min(first, len(chain) - 1)] += mark
        chain[last - 1] += mark.strip("=")
    return random.choice(["", "", "[H]", "[2H]", "[Na+]."]) + "".join(chain)


def test_bonds_are_those_that_rdkit_finds():
    """Of thousands of random texts; the twin asks RDKit for the bonds of each."""
    random = Random(0)
    Chem, rdBase = chemistry()
    texts = [random_smiles(random) for _ in range(3000)]
    found = parse_smiles(texts)
    edge = np.append(0, found.num_edges.cumsum())
    with rdBase.BlockLogs():
        for place, number in enumerate(found.good.tolist()):
            molecule = Chem.MolFromSmiles(texts[number])
            expected = sorted(sorted((b.GetBeginAtomIdx(), b.GetEndAtomIdx())) for b in molecule.GetBonds())
            assert found.num_nodes[place] == molecule.GetNumAtoms()
            assert sorted(found.edges[edge[place] : edge[place + 1]].tolist()) == expected, texts[number]
        assert all(
            Chem.MolFromSmiles(texts[number]) is None or "heavy" in found.reasons[number] for number in found.reasons
        )
    assert len(found.good) > 700 and len(found.reasons) > 700


SYMBOL = re.compile(r"\[[^\]]*\]|->|.")
ODDITIES = SYMBOL.findall("CNOSPcnosb[nH][n+][N+][O-][S+][As][se][B-][c-][o+][Pt][Cu+2][Al][Na+]=#()12->[#1][H+]")
TANGLES = ["c1ccccc1", "c1ccc2ccccc2c1", "C1=CN2C=CC=CC2=C1", "O=c1cc[nH]cc1", "c1c[n+]([O-])ccc1", "B1C=CC=CC=1"]


def changed(random, text):
    """A SMILES with a few of its symbols replaced, added or left out."""
    symbols = SYMBOL.findall(text)
    for _ in range(random.randint(1, 2)):
        place = random.randrange(len(symbols))
        symbols[place : place + random.randint(0, 1)] = random.choices(ODDITIES, k=random.randint(0, 1))
    return "".join(symbols)


def test_all_that_is_wrong_with_a_molecule_is_found():
    """Bare graphs leave out most of what RDKit does; the twin reads whole molecules."""
    random = Random(1)
    texts = [changed(random, random.choice(TANGLES)) for _ in range(3000)]
    texts += ["c1[Pt][nH](C[O-])[As]ccc1", "[pH]12=CC=CC=C1N=C[Cu+2]2", "CN(=O)=O", "c1cccc1", "[H]", "*", "**", ""]
    found = parse_smiles(texts)
    sizes = dict(zip(found.good.tolist(), found.num_nodes.tolist(), strict=True))
    for number, text in enumerate(texts):
        try:
            molecule = parse(text)
        except ValueError as error:
            assert found.reasons[number] == str(error), text
        else:
            assert sizes[number] == molecule.GetNumAtoms(), text
    assert len(sizes) > 700 and len(found.reasons) > 700


def test_bonds_as_they_are_written():
    """Of rings, branches and parts, of marks that are used twice and of symbols before them; the twin asks RDKit."""
    Chem, _ = chemistry()
    for text in (
        "C1CC1C1CC1",
        "C2CC1CC2C1",
        "C1=CC=1",
        "C=1CC1",
        "C1CC=1",
        "C12CC1C2",
        "C%10CC%10C1CC1",
        "C1=C2C(CC1)C=C2.N",
    ):
        molecule = Chem.MolFromSmiles(text, sanitize=False)
        pairs = ((bond.GetBeginAtomIdx(), bond.GetEndAtomIdx()) for bond in molecule.GetBonds())
        assert sorted(map(tuple, bonds_as_written([text]).bonds.tolist())) == sorted(
            tuple(sorted(pair)) for pair in pairs
        )


def test_no_texts_and_texts_that_end_early():
    assert len(parse_smiles([]).edges) == 0
    written = bonds_as_written(["", "C%", "C%1", "[C", "C(", "C)", "C1", "1C", "C11", "C\u00e9", "CC"])
    assert written.num_atoms.tolist() == [0, *[-1] * 9, 2]
    assert written.num_bonds.tolist() == [*[0] * 10, 1]
