"""Verdicts as pictures and as pages of the docs."""

from collections.abc import Iterable, Sequence
from pathlib import Path

from matplotlib.figure import Figure

from escgnn.disk import atomic
from escgnn.pictures import draw_graphs, draw_lines, save
from escgnn.theorems.verdict import Verdict

THEORY = """# Theory

The statements of the paper (Yan et al., *An Efficient Subgraph GNN with Provable Substructure Counting Power*, KDD 2024), run
as programs. This page is what `escgnn theory` found; labels are those of the paper's LaTeX source. k-WL is the oblivious
one, as in the paper: 1-WL = 2-WL, and 3-WL = folklore 2-WL ([more](wl.md)). A check on small graphs is evidence, not a proof.

| label | statement | outcome |
| --- | --- | --- |
"""
ERRATA = """# Errata

Where the paper, or the authors' published code, needs a correction, and the check that shows it. The first part is what
`escgnn theory` found.

"""
CONVENTIONS = """
## Conventions of the published experiments

Read off the published code and files; each matters when numbers are compared.

- **4-clique labels are doubled.** The benchmark's checker divides by 3 where three nodes have 6 orderings. Normalised
  errors are unaffected. The standard deviation of the true counts over the training and validation nodes is 0.1723
  (`tests/test_counting.py` checks all nine against the published graphs).
- **SR25 has 15 graphs, so 105 pairs**, not 150. The published test compares outputs of an untrained network in single
  precision, where permuted copies of one graph differ, too; exact ESC-WL separates all 15 at h = 1, 2, 3.
- **WL dimensions are oblivious** in the paper; in much of the literature "2-WL" means folklore 2-WL, the paper's 3-WL.
- **Resistance** is measured to the first root only and truncated without a tolerance in the published code, so renaming
  the nodes of a molecule changes rows. Here it is measured to both, with a tolerance.
- **The encoding of the published code** packs distances in base 6, so five hops collide, and stops at degree 200.

## Numbers of the published tables

What can be checked without the authors' runs; `tests/experiments/test_published.py` checks the first six.

- **`tab:exp`, 3-GNN, SR25**: 6.67 is not the bound of that network. Message passing between all sets of three nodes with local
  neighbours, as measured on EXP, tells all 15 graphs apart, untrained, with sums or with maxima. 6.67 is the bound of global
  neighbours, and CSL 95.7 is the published number of PPGN: the row is of three networks.
- **`tab:count`, 4-cliques**: 0.1645 of MPNN and 0.1646 of PPGN are what predicting 0 everywhere gives, 0.1645.
- **`tab:count` says nothing about 1-WL**: 98 % of the test nodes have a colour of 1-WL of their own, and nodes that share one
  have the same counts, so a network within 1-WL could have no error at all. Whoever is bad here does not generalise. So it does
  not follow, either, that the published GraphGPS had structural encodings because it is better than MPNN.
- **`tab:tu`, SUN, ENZYMES**: 16.7 ± 0.0 is the share of one class of six; its code has one logit for them.
- **`tab:tu`, PPGN**: PTC-MR and ENZYMES are the same text, 55.0 ± 6.4; one of them is probably a copy.
- **`tab:tu`, ESC-GNN, IMDB-B**: in every graph somebody knows all others, so that all nodes are within two of each other, and
  the subgraphs of radius 2 and 3 around an edge are the same, the whole graph. 72.0 with h = 2 and 73.7 with h = 3 are two runs
  of one network: differences of that size are chance.
- **`tab:mol`, ogbg-molhiv**: GIN's 77.07 ± 1.49 is GIN with a virtual node on the leaderboard of OGB (3,336,306 parameters;
  without it 75.58), while `tab:ab_struc` has 73.89 for its GIN. GSN's deviation is 1.00 there, not 0.01.
- **`tab:mol`, ZINC-12k** compares networks of about 95 thousand parameters (PNA, DGN) with some of 1.7 million (CIN, ESC-GNN);
  PNA and GSN have published 0.142 and 0.101 at four to five hundred thousand. `escgnn report` shows parameters beside the rows.
- **`tab:qm9`**: in the published code all columns know the lengths of bonds, and ESC-GNN's alone raw coordinates;
  `escgnn reproduce qm9` has a table for each.
- **`tab:count`, `tab:qm9`, rows of I²-GNN's script**: the best validation error is forgotten after ten epochs without a better
  one, so the reported epoch need not be the best; PPGN ran without a mask on padded batches, so that a graph's output depends
  on its batch.
"""


def write_pictures(verdicts: Iterable[Verdict], folder: Path) -> dict[str, list[Path]]:
    """A picture of each verdict's witnesses and one of its chart, by label."""
    folder.mkdir(parents=True, exist_ok=True)
    paths: dict[str, list[Path]] = {}
    for verdict in verdicts:
        for name, figure in _pictures(verdict).items():
            path = folder / f"{name}.png"
            save(figure, path)
            paths.setdefault(verdict.theorem.label, []).append(path)
    return paths


def write_docs(verdicts: Sequence[Verdict], folder: Path) -> list[Path]:
    """The pages ``theory.md`` and ``errata.md`` in a folder of docs, and their pictures in ``images/theory``."""
    pictures = write_pictures(verdicts, folder / "images" / "theory")
    pages = {"theory.md": theory_page(verdicts, pictures), "errata.md": errata_page(verdicts)}
    for name, text in pages.items():
        with atomic(folder / name) as draft:
            draft.write_text(text)
    return [folder / name for name in pages]


def theory_page(verdicts: Sequence[Verdict], pictures: dict[str, list[Path]]) -> str:
    """Every statement with its outcome, what was seen, and pictures."""
    table = "".join(
        f"| [`{v.theorem.label}`](#{_anchor(v)}) | {v.theorem.statement} | {v.finding.outcome} |\n" for v in verdicts
    )
    sections = []
    for verdict in verdicts:
        shown = "".join(
            f"![{verdict.theorem.label}](images/theory/{path.name})\n"
            for path in pictures.get(verdict.theorem.label, [])
        )
        sections.append(f"{_section(verdict)}\n{shown}")
    return THEORY + table + "\n" + "\n".join(sections)


def errata_page(verdicts: Iterable[Verdict]) -> str:
    """The statements that correct the paper, and the conventions of its experiments."""
    return ERRATA + "\n".join(_section(v) for v in verdicts if v.theorem.erratum) + CONVENTIONS


def _anchor(verdict: Verdict) -> str:
    return verdict.theorem.label.replace(":", "-").replace("_", "-").lower()


def _section(verdict: Verdict) -> str:
    head = f"## `{verdict.theorem.label}`: {verdict.finding.outcome} {{#{_anchor(verdict)}}}"
    table = verdict.finding.table
    lines = [table.head, ("---",) * len(table.head), *table.rows] if table else []
    shown = "".join(f"| {' | '.join(line)} |\n" for line in lines)
    return f"{head}\n\n> {verdict.theorem.statement}\n\n{verdict.finding.text}\n" + (f"\n{shown}" if shown else "")


def _pictures(verdict: Verdict) -> dict[str, Figure]:
    """By the name of its file, a picture of the witnesses and one of the chart, as far as there are any."""
    name = verdict.theorem.label.replace(":", "-")
    figures = {}
    if witnesses := verdict.finding.witnesses:
        figures[name] = draw_graphs([(witness.name, witness.graph, witness.roots) for witness in witnesses])
    if chart := verdict.finding.chart:
        figures[f"{name}-chart"] = draw_lines(chart.x, chart.lines, x_label=chart.x_label, y_label=chart.y_label)
    return figures
