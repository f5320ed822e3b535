from pathlib import Path

import networkx as nx
import numpy as np
import pytest

from escgnn import counting, graphs, theorems, wl
from escgnn.encoding import RootedEncoding
from escgnn.theorems.encoding import ROOTED_PAIRS, rooted_pair
from escgnn.theorems.further import _summed
from escgnn.theorems.pages import errata_page, theory_page, write_docs, write_pictures
from escgnn.theorems.power import clique_family
from escgnn.theorems.samples import connected_patterns, miscounted, refines, small_graphs

DOCS = Path(__file__).parents[1] / "docs"


@pytest.fixture(scope="module")
def verdicts():
    return theorems.run()


def test_every_statement_of_the_paper_is_there():
    paper = {
        "rm:wl",
        "th:disab",
        "rm:de",
        "th:sub",
        "pro:sub",
        "rm:esc",
        "th:count",
        "th:count_ind",
        "th:iso",
        "th:reg",
    }
    assert paper <= {*theorems.THEOREMS}


def test_outcomes(verdicts):
    """What is known of each statement; a change here is news."""
    corrected = {"rm:esc", "th:count_ind", "sec:th_mp", "fig:5cycle"}
    for verdict in verdicts:
        expected = "holds with a correction" if verdict.theorem.label in corrected else "holds"
        assert verdict.finding.outcome == expected, verdict.finding.text


def test_docs_are_what_the_programs_find(verdicts, tmp_path):
    """Regenerate with: escgnn theory --docs docs."""
    for path in write_docs(verdicts, tmp_path):
        assert (DOCS / path.name).read_text() == path.read_text()
    shown = {path.name for path in (tmp_path / "images" / "theory").iterdir()}
    assert shown == {path.name for path in (DOCS / "images" / "theory").iterdir()}


def test_pictures_show_witnesses_and_charts(verdicts, tmp_path):
    pictures = write_pictures(verdicts, tmp_path / "new folder")
    assert {path.name for path in pictures["th:reg"]} == {"th-reg-chart.png"}
    assert {path.name for path in pictures["th:iso"]} == {"th-iso.png"}
    assert all(path.stat().st_size > 3000 for paths in pictures.values() for path in paths)


def test_tables_are_shown_whole(verdicts):
    tables = {v.theorem.label: v.finding.table for v in verdicts if v.finding.table}
    assert {*tables} == {"linear", "parts"}
    page = theory_page(verdicts, {})
    for table in tables.values():
        assert all(len(row) == len(table.head) for row in table.rows)
        assert all(f"| {' | '.join(row)} |" in page for row in (table.head, *table.rows))
    assert [row[1:] for row in tables["parts"].rows[:4]] == [("no",) * 4] * 4


def test_summed_encoding_by_its_definition():
    graph = graphs.disjoint_union(
        [graphs.erdos_renyi(8, 0.3, seed) for seed in range(4)]
    )  # some nodes have no neighbour
    assert (graph.degrees == 0).any()
    encoding = RootedEncoding(1, ("joint", "edge"))
    names, x, again = _summed(encoding, graph, graph)
    rows = encoding.rows(graph)
    for k, name in enumerate(names):
        summed = np.zeros(graph.num_nodes)
        for i, v in enumerate(graph.edge_index[1]):
            summed[v] += rows[i].get(name, 0)
        further = [sum(summed[u] for u, w in graph.edge_index.T if w == v) for v in range(graph.num_nodes)]
        np.testing.assert_array_equal(x[:, [k, len(names) + k]], np.stack([summed, further], axis=1))
    np.testing.assert_array_equal(x, again)


def test_pages_name_every_statement(verdicts):
    page = theory_page(verdicts, {})
    assert all(f"`{label}`" in page for label in theorems.THEOREMS)
    assert "th:count_ind" in errata_page(verdicts)
    assert "rm:de" not in errata_page(verdicts)


def test_unknown_label_is_named_with_the_nearest():
    with pytest.raises(ValueError, match=r"label: 'th:counts' is unknown; did you mean th:count\?"):
        theorems.run(["th:counts"])


@pytest.mark.parametrize("k", [2, 3, 4])
def test_clique_family_by_its_definition(k):
    for odd in range(k + 2):
        graph = clique_family(k, odd)
        assert graph.num_nodes == (k + 1) * 2 ** (k - 1)
        assert (graph.degrees == graph.degrees[0]).all()
        has_clique = counting.count(graph, f"{k + 1}-clique")[0] > 0
        assert has_clique == (odd % 2 == 0)


def test_clique_family_is_two_graphs_up_to_isomorphism():
    members = [clique_family(3, odd).to_networkx() for odd in range(5)]
    assert all(nx.is_isomorphic(a, b) for a, b in zip(members, members[2:], strict=False))
    assert not nx.is_isomorphic(members[0], members[1])


@pytest.mark.parametrize("name", ROOTED_PAIRS)
def test_rooted_pairs_share_every_part_at_the_root(name):
    G, H = rooted_pair(name)
    for hops in (1, 2, 3, 4):
        encoding = RootedEncoding(hops)
        assert encoding.row(G, 0, 1) == encoding.row(H, 0, 1)
        assert encoding.row(G, 1, 0) == encoding.row(H, 1, 0)


def test_a_claim_that_is_false_is_found_out():
    """1-WL does not count triangles; the question put to every test must notice."""
    members = [graphs.cycle(6), graphs.disjoint_union([graphs.cycle(3), graphs.cycle(3)])]
    _, _, wrong = miscounted([graphs.as_graph(m.to_networkx()) for m in members], wl.OneWL(), connected_patterns(3))
    assert wrong == (0, 1)


def test_refinement():
    assert refines(np.array([0, 1, 2]), np.array([0, 0, 1]))
    assert not refines(np.array([0, 0, 1]), np.array([0, 1, 2]))


def test_samples_are_what_they_say():
    assert [sum(g.num_nodes == n for g in small_graphs()) for n in range(1, 8)] == [1, 2, 4, 11, 34, 156, 1044]
    assert [len(connected_patterns(n)) for n in (2, 3, 4, 5)] == [1, 3, 9, 30]
