"""What pages hold: the library's own numbers, all of them, and no way for a name to become a script."""

import csv
import json
import re
from base64 import b64encode
from collections import Counter
from dataclasses import replace
from hashlib import sha256

import networkx as nx
import numpy as np
import pytest

from escgnn import decoding, explorer, graphs, wl
from escgnn.counting import count
from escgnn.encoding import PARTS, Bin, RootedEncoding
from escgnn.explorer import Line, Prediction, compare, predicted, presets, read, view
from escgnn.explorer import page as page_module
from escgnn.explorer.comparison import compared
from escgnn.explorer.scene import Scene
from escgnn.explorer.words import describe
from tests.pages import unpacked
from tests.training.test_old_runs import RUNS

FORMULAS = {(f"induced {name}" if induced else name): (name, induced) for name, induced in decoding.FORMULAS}
PAIRS = {
    "rook": (graphs.rook(4), graphs.shrikhande()),
    "c15": (graphs.circulant(15, 1, 4), graphs.circulant(15, 1, 6)),
    "same": (graphs.petersen(), graphs.permute(graphs.petersen(), [3, 1, 4, 0, 5, 9, 2, 6, 8, 7])),
    "sizes": (graphs.cycle(5), graphs.cycle(6)),
    "trees": (graphs.random_tree(9, 1), graphs.random_tree(9, 2)),
    "one node": (graphs.empty(1), graphs.empty(1)),
    "two components": (graphs.as_graph([graphs.cycle(3), graphs.cycle(3)]), graphs.cycle(6)),
}
TESTS = (
    wl.OneWL(),
    wl.ObliviousWL(2),
    wl.ObliviousWL(3),
    wl.FolkloreWL(2),
    wl.ESCWL(RootedEncoding(1)),
    wl.ESCWL(RootedEncoding(2, ("wedge", "cycle"))),
    wl.RootedWL(1, 1, 2),
    wl.RootedWL(2, 1, 1),
    wl.RootedWL(2, 1, 1, messages=True),
    wl.SearchWL(1),
    wl.SearchWL(2),
)


def rows_of(data, encoding):
    """The rows that a page holds, by root, and the members of each bin."""
    found = {}
    for root in data["roots"]:
        row = {}
        for number, times, flat in root["bins"]:
            heading, short, _, size = data["bins"][number]
            row[heading, short] = times
            assert len(flat) == times * size
        found[root["u"], root["v"]] = row
    return found


@pytest.mark.parametrize("seed", range(4))
def test_a_page_has_the_rows_of_every_edge(seed):
    graph = graphs.erdos_renyi(8, 0.4, seed)
    encoding = RootedEncoding(2, ("degree", "joint", "edge", "triangle", "cycle"))
    data = view(graph, 2, encoding.parts).data
    found = rows_of(data, encoding)
    edges = {(u, v) for pair in graph.edges.tolist() for u, v in (pair, pair[::-1])}
    assert found.keys() == edges
    for (u, v), row in found.items():
        expected = {describe(Bin(*name), encoding)[:2]: times for name, times in encoding.row(graph, u, v).items()}
        assert row == expected


@pytest.mark.parametrize("seed", range(4))
def test_counts_and_formulas_are_the_librarys(seed):
    graph = graphs.erdos_renyi(9, 0.5, seed)
    encoding = RootedEncoding(2, tuple(PARTS))
    data = view(graph, 2, tuple(PARTS)).data
    source, target = graph.edge_index
    formulas = [FORMULAS[name] for name, _ in data["formulas"]]
    assert {*formulas} == {*decoding.FORMULAS}
    exactly = {pattern: count(graph, pattern, per="edge") for pattern in data["patterns"]}
    read_off = {
        (name, induced): decoding.decode(graph, encoding, name, per="edge", induced=induced)
        for name, induced in formulas
    }
    for root in data["roots"]:
        column = np.flatnonzero((source == root["u"]) & (target == root["v"]))[0]
        for pattern, number in zip(data["patterns"], root["counts"], strict=True):
            assert number == exactly[pattern][column]
        for (pattern, induced), (value, same) in zip(formulas, root["decoded"], strict=True):
            assert value == read_off[pattern, induced][column]
            assert same is None or same == value
    exact = {name for (name, _), (_, same) in zip(data["formulas"], root["decoded"], strict=True) if same is not None}
    assert exact == {"3-cycle", "4-cycle", "5-cycle", "6-cycle", "4-clique"}


def test_nodes_and_pairs_can_be_roots():
    graph = graphs.petersen()
    data = view(graph, 1, roots=[(2, 2), (0, 1)]).data
    node, apart = data["roots"]
    assert node["counts"][data["patterns"].index("5-cycle")] == 6
    assert node["decoded"] == []
    assert not graph.has_edge(0, 1) or apart["counts"]
    with pytest.raises(ValueError, match="node ids run from 0 to 9"):
        view(graph, roots=[(0, 10)])


def test_formulas_are_left_out_where_rows_do_not_say_all():
    assert view(graphs.cycle(5), (1, 2)).data["formulas"] == []
    assert view(graphs.cycle(5), 2, subgraph="balls").data["formulas"] == []
    assert view(graphs.cycle(5), 2, ("degree",)).data["formulas"] == []
    clipped = view(graphs.star(5), 2, max_nodes=3).data
    assert all(root["decoded"] == [] for root in clipped["roots"])
    assert any(heading == "clipped" for heading, *_ in clipped["bins"])


@pytest.mark.parametrize("pair", PAIRS)
@pytest.mark.parametrize("test", TESTS, ids=str)
def test_verdicts_are_those_of_the_tests(pair, test):
    g, h = PAIRS[pair]
    (found,) = compared(read(g), read(h), [test])["tests"]
    assert (found["told"] is not None) == wl.distinguishes(g, h, test)
    assert len(found["rounds"]) >= 1
    for first, second in found["rounds"]:
        assert (len(first), len(second)) == (g.num_nodes, h.num_nodes)


@pytest.mark.parametrize("test", [test for test in TESTS if not isinstance(test, wl.ObliviousWL)], ids=str)
def test_the_first_difference_is_one(test):
    """Nothing differs in the rounds before, and in its round the node's colour is not there as often in the other graph."""
    g, h = graphs.erdos_renyi(8, 0.4, 3), graphs.erdos_renyi(8, 0.4, 8)
    (found,) = compared(read(g), read(h), [test])["tests"]
    told = found["told"]
    rounds = [*wl.rounds(wl.side_by_side(g, h), test)]
    for after in rounds[: told["round"]]:
        assert Counter(after[0].tolist()) == Counter(after[1].tolist())
    after = rounds[told["round"]]
    mine, other = (Counter(colour.tolist()) for colour in after)
    assert mine != other
    assert told["side"] == 0
    if len(told["nodes"]) == 1:
        (node,) = told["nodes"]
        odd = [mine[colour] != other[colour] for colour in after[0].tolist()]
        assert odd.index(True) == node
        assert found["rounds"][told["round"]][0] == after[0].tolist()


def test_the_first_tuple_is_named_by_its_nodes():
    g, h = PAIRS["c15"]
    (found,) = compared(read(g), read(h), [wl.ObliviousWL(3)])["tests"]
    rounds = [*wl.rounds(wl.side_by_side(g, h), wl.ObliviousWL(3))]
    colour, other = rounds[found["told"]["round"]]
    place = np.ravel_multi_index(found["told"]["nodes"], (15, 15, 15))
    assert (colour == colour[place]).sum() != (other == colour[place]).sum()
    earlier = colour[:place]
    assert all((colour == one).sum() == (other == one).sum() for one in np.unique(earlier))


def test_first_colours_count():
    g = graphs.path(3)
    (found,) = compared(read(g), read(g), [wl.OneWL()], [0, 0, 1, 0, 1, 0])["tests"]
    assert found["told"]["round"] == 1
    (found,) = compared(read(g), read(g), [wl.OneWL()], [0, 0, 1, 0, 0, 2])["tests"]
    assert found["told"] == {"round": 0, "side": 0, "nodes": [2]}


def test_a_test_that_would_take_long_says_so():
    big = read(graphs.cycle(300))
    names = {}
    for found in compared(big, big, [wl.OneWL(), wl.ObliviousWL(3), wl.SearchWL(4)])["tests"]:
        names[found["name"]] = found.get("trouble", "")
    assert names["1-WL"] == ""
    assert names["3-WL"].startswith("not run: on graphs of 300 nodes")
    assert names["1-WL with 4 nodes singled out"].startswith("not run")


def test_presets():
    assert presets.names() == ["rook", "c15", "csl", "exp", "brec"]
    assert presets.pair("csl").first.graph.num_nodes == 41
    for name in ("rooks", "rook 3", "exp x", "exp -1", ""):
        with pytest.raises(ValueError, match="preset: "):
            presets.pair(name)


def test_presets_of_benchmarks(benchmark_data):
    pair = presets.pair("exp 3")
    assert len(pair.initial) == pair.first.graph.num_nodes + pair.second.graph.num_nodes
    tests = {found["name"]: found["told"] for found in compare("exp 3", hops=2).data["tests"]}
    assert tests["1-WL"] is None and tests["ESC-WL, h = 2"] is not None
    assert compare("brec 170").title.startswith("Extension, pair 170, first")
    with pytest.raises(ValueError, match="preset: brec 400; its pairs are 0 to 399"):
        presets.pair("brec 400")


def test_presets_without_their_data(monkeypatch):
    monkeypatch.setattr("escgnn.datasets.is_present", lambda name: False)
    with pytest.raises(ValueError, match="the graphs of brec are not here; get them with escgnn datasets brec"):
        presets.pair("brec 3")


def test_names_stay_text():
    name = "</script><script>alert(1)</script>"
    page = view(nx.Graph([(name[:20], "b&b")]), title=name)
    found = unpacked(page.html)
    assert found.frame.count("</script>") == 2
    assert "alert(1)" not in re.sub(r"<title>.*?</title>", "", found.frame)
    assert json.loads(found.data)["title"] == name
    assert "&lt;/script&gt;" in found.frame


def test_a_page_takes_its_own_script_only():
    html = view("0-1").html
    found = unpacked(html)
    (policy,) = re.findall(r'Content-Security-Policy" content="([^"]*)"', html)
    (start,) = re.findall(r"<script>(.*?)</script>", html, re.S)
    script, style = re.fullmatch(
        "default-src 'none'; script-src (.*); style-src (.*); base-uri 'none'", policy
    ).groups()
    assert script.split() == [sha256_of(start), sha256_of(found.script)]
    assert style == sha256_of(found.style)
    assert not re.search(r'(src|href)="', found.frame)
    assert " on" not in re.findall(r"<body[^>]*>", html)[0]


def sha256_of(text):
    return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"


def test_pages_are_light():
    """A molecule with every bond in both directions, and a pair of graphs: what a letter may weigh."""
    assert len(view("CN1C=NC2=C1C(=O)N(C(=O)N2C)C").html) < 18_000
    assert len(compare("rook").html) < 12_000


def test_too_many_roots_for_a_page(monkeypatch):
    monkeypatch.setattr(page_module, "MOST_BYTES", 10_000)
    with pytest.raises(ValueError, match=r"roots: the page would take [\d,]+ bytes; choose some with roots="):
        _ = view(graphs.rook(4)).html
    assert view(graphs.rook(4), roots=[(0, 1)]).html


def test_a_graph_that_takes_long_is_refused():
    scene = Scene(read(graphs.complete(60)), RootedEncoding(2, ("path",)))
    with pytest.raises(ValueError, match="the encoding of 3,540 roots may take"):
        scene.roots(scene.all_roots())
    assert len(scene.roots([(0, 1)])["roots"]) == 1


def test_saving(tmp_path):
    page = compare("0-1 1-2", "0-1, 1-2, 2-0")
    page.save(tmp_path / "x.html")
    assert (tmp_path / "x.html").read_text() == page.html
    assert page.title == "0-1 1-2 and 0-1, 1-2, 2-0"


def test_a_run_predicts():
    from escgnn.training import load_run

    run = load_run(RUNS / "pna")
    found = predicted(run, read("CCO"))
    assert found.run.startswith("pna (")
    assert "reads" in found.warning or found.lines


def test_predictions_of_a_bare_network(tmp_path):
    from escgnn import explain
    from escgnn.training import as_store, fit, load_run, predict
    from tests.training import tiny

    bundle = tiny.bundle()
    fit(replace(bundle, features={}), tiny.change(epochs=1), tmp_path / "run", progress=False)
    run = load_run(tmp_path / "run")
    subject = read("0-1 1-2 2-0 2-3")
    found = predicted(run, subject)
    assert [line.target for line in found.lines] == ["t0", "t1"]
    assert [line.value for line in found.lines] == pytest.approx(predict(run, [subject.graph])[0].tolist())
    lower = explain.masked(run, as_store([subject.graph]))[0]  # (nodes, outputs)
    assert [*found.atoms] == ["t0", "t1"]
    for place, values in enumerate(found.atoms.values()):
        assert values == pytest.approx(lower[:, place].tolist())
    assert found.similarity is None and found.warning == ""
    json.dumps(view(subject, run=run).data["prediction"])
    (tmp_path / "run" / "calibration.safetensors").unlink(missing_ok=True)
    assert [line.interval for line in predicted(load_run(tmp_path / "run"), subject).lines] == [None, None]


def test_predictions_of_an_ensemble_have_bounds_and_neighbours(tmp_path):
    """What `escgnn predict --interval 0.9 --similarity` writes is what the page shows."""
    from escgnn import datasets
    from escgnn.training import Extras, fit_ensemble, load_ensemble, predict_file, read_config

    chains = ["C" * length + end for length in range(1, 12) for end in ("", "O", "N", "(=O)O")]
    rows = [f"{smiles},{len(smiles)},{len(smiles) % 3}" for smiles in chains]
    (tmp_path / "chains.csv").write_text("\n".join(["smiles,size,size_low", *rows]))
    bundle = datasets.load(str(tmp_path / "chains.csv"), targets=["size", "size_low"], split="random:50/40/10")
    config = read_config(overrides=["epochs=1", "network.hidden=8", "network.layers=1"], bundle=bundle)
    fit_ensemble(bundle, config, tmp_path / "run", 2, progress=False)
    run = load_ensemble(tmp_path / "run")
    found = predicted(run, read("CCCCO"))
    assert found.run == "run (esc-gnn, 2 networks)"
    (tmp_path / "one.csv").write_text("smiles\nCCCCO\n")
    predict_file(run, tmp_path / "one.csv", tmp_path / "told.csv", extras=Extras(interval=0.9, similarity=True))
    (told,) = csv.DictReader((tmp_path / "told.csv").read_text().splitlines())
    assert [line.target for line in found.lines] == ["size", "size_low"]
    assert found.lines[0].value == pytest.approx(float(told["pred_size"]))
    assert found.lines[1].value == pytest.approx(float(told["pred_size_low"]))  # a target, and no bound of the other
    low, high = found.lines[0].interval
    assert (low, high) == pytest.approx((float(told["pred_size_low_2"]), float(told["pred_size_high"])))
    assert low < found.lines[0].value < high
    assert found.similarity == pytest.approx(float(told["similarity"]))
    assert {len(values) for values in found.atoms.values()} == {5}
    assert predicted(run, read("[He]")).atoms is None  # nothing is left without it


def test_predictions_at_node_level(tmp_path):
    from escgnn.training import fit, load_run, predict
    from tests.training import tiny

    bundle = replace(tiny.bundle(level="node"), features={})
    fit(bundle, tiny.change(epochs=1), tmp_path / "run", progress=False)
    run = load_run(tmp_path / "run")
    subject = read("0-1 1-2 2-0 2-3")
    found = predicted(run, subject)
    assert found.lines == () and found.atoms is None
    for place, target in enumerate(("t0", "t1")):
        assert found.nodes[target] == pytest.approx(predict(run, [subject.graph])[:, place].tolist())


def test_a_prediction_can_be_given():
    given = Prediction("mine", (Line("logP", 1.5, (1.0, 2.0)),), atoms={"logP": [0.1, -0.2]})
    assert view("0-1", run=given).data["prediction"]["lines"] == (
        {"target": "logP", "value": 1.5, "interval": (1.0, 2.0)},
    )


def test_the_front_door():
    assert explorer.__all__ == sorted(explorer.__all__, key=lambda name: (not name[0].isupper(), name))
