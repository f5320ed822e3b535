"""The paper's statements as programs: each returns what holds, what does not, and the graphs that show it.

Yan et al., An Efficient Subgraph GNN with Provable Substructure Counting Power, KDD 2024. Labels are those of its LaTeX
source; theorem numbers differ between text and supplement.

>>> from escgnn import theorems
>>> theorems.run(["th:iso"])[0].finding.outcome
'holds'
"""

import difflib
import time
from collections.abc import Iterator, Sequence

from escgnn.theorems import encoding, further, power
from escgnn.theorems.pages import write_docs, write_pictures
from escgnn.theorems.verdict import Chart, Finding, Outcome, Table, Theorem, Verdict, Witness

__all__ = [
    "THEOREMS",
    "Chart",
    "Finding",
    "Outcome",
    "Table",
    "Theorem",
    "Verdict",
    "Witness",
    "iterate",
    "run",
    "write_docs",
    "write_pictures",
]

THEOREMS = {
    theorem.label: theorem
    for theorem in (
        Theorem("rm:wl", "m-WL (m >= 2) counts all connected substructures of up to m nodes.", power.wl_counts),
        Theorem(
            "th:disab",
            "For every m >= 2 there are graphs G, with an (m+1)-clique, and H, without, that m-WL cannot tell apart.",
            power.wl_misses_cliques,
        ),
        Theorem("rm:de", "Counting decomposes into counting over connected k-tuples.", power.counts_decompose),
        Theorem(
            "th:sub",
            "m-WL rooted at k-tuples counts all connected substructures of up to m + k nodes.",
            power.subgraph_gnns_count,
        ),
        Theorem(
            "pro:sub", "m-WL rooted at k-tuples is not more powerful than (m+k)-WL.", power.subgraph_gnns_are_bounded
        ),
        Theorem(
            "rm:esc",
            "ESC-GNN is less powerful than subgraph GNNs rooted at 2-tuples with an MPNN inside.",
            encoding.weaker_than_rooted_mpnn,
            erratum=True,
        ),
        Theorem(
            "th:count",
            "ESC-GNN counts up to 4-cycles, up to 4-cliques, stars of any size and up to 3-paths.",
            encoding.counts_subgraphs,
        ),
        Theorem(
            "th:count_ind",
            "ESC-GNN counts induced: up to 4-cycles, up to 4-cliques, up to 4-stars and up to 3-paths.",
            encoding.counts_induced,
            erratum=True,
        ),
        Theorem(
            "th:iso", "ESC-GNN is strictly more powerful than 2-WL and not less powerful than 3-WL.", encoding.beyond_wl
        ),
        Theorem(
            "th:reg",
            "At h = floor((1/2 + eps) log 2n / log(r-1)), ESC-GNN tells apart 1 - o(n^-1/2) of the pairs of r-regular graphs.",
            encoding.tells_regular_graphs_apart,
        ),
        Theorem(
            "sec:th_mp",
            "Message passing tells a 4-cycle and an edge from a path of 6 nodes; their 1-hop subgraphs do not.",
            encoding.message_passing_helps,
            erratum=True,
        ),
        Theorem(
            "fig:5cycle",
            "ESC-GNN cannot count 5-cycles, induced 5-cycles or induced 5-stars: pairs with the same encoding at a root.",
            encoding.rooted_counterexamples,
            erratum=True,
        ),
        Theorem(
            "circulants",
            "ESC-GNN cannot count 5-cycles, induced or not: C15(1,4) and C15(1,6).",
            encoding.whole_model_counterexample,
            erratum=True,
        ),
        Theorem(
            "ladder",
            "Beyond the paper: labelled paths on l nodes count (l+2)-cycles, for l = 1 to 4, and labelled triangles 5-cliques.",
            further.ladder,
        ),
        Theorem(
            "linear",
            "Beyond the paper: which of the benchmark's nine targets are linear in the summed encoding, by parts and radius.",
            further.linear_targets,
        ),
        Theorem(
            "parts",
            "Beyond the paper: which parts tell apart the pairs that the paper's encoding takes for equal.",
            further.parts_resolve,
        ),
        Theorem(
            "fig:ESC-GNN",
            "The published code's subgraph is not the paper's.",
            encoding.balls_miss_figure_1,
            erratum=True,
        ),
    )
}


def iterate(labels: Sequence[str] = ()) -> Iterator[Verdict]:
    """Check statements one by one, all if none is named, as `run` does.

    Raises:
        ValueError: A label is unknown.
    """
    for label in labels:
        if label not in THEOREMS:
            near = difflib.get_close_matches(label, THEOREMS, 1, cutoff=0.4)
            hint = f"did you mean {near[0]}? " if near else ""
            raise ValueError(f"label: {label!r} is unknown; {hint}there are {', '.join(THEOREMS)}")
    for label in labels or THEOREMS:
        start = time.perf_counter()
        finding = THEOREMS[label].check()
        yield Verdict(THEOREMS[label], finding, time.perf_counter() - start)


def run(labels: Sequence[str] = ()) -> list[Verdict]:
    """Check statements by their labels; all if none is named."""
    return list(iterate(labels))
