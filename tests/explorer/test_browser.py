"""Every panel in a real browser, by mouse and by keyboard, at a desk, on a phone and on paper."""

import json
from threading import Thread

import networkx as nx
import pytest

from escgnn import graphs
from escgnn.encoding import PARTS, RootedEncoding
from escgnn.explorer import Line, Prediction, Server, compare, read, view
from tests import browser

CAFFEINE = "CN1C=NC2=C1C(=O)N(C(=O)N2C)C"
BINS = """[...document.querySelectorAll('.bin')].map(bin => {
  bin.focus();
  return [bin.closest('.part').dataset.part, Number(bin.querySelector('.count').textContent),
    document.querySelectorAll('.member').length];
})"""


@pytest.fixture(scope="module")
def tab(tmp_path_factory):
    with browser.Tab(tmp_path_factory.mktemp("browser")) as opened:
        yield opened


@pytest.fixture
def show(tab, tmp_path):
    """Opens a page; afterwards nothing may have been complained of."""

    def opened(page, width=1280):
        page.save(tmp_path / "page.html")
        tab.complaints.clear()
        tab.resize(width)
        tab.goto((tmp_path / "page.html").as_uri())
        return tab

    yield opened
    assert tab.complaints == []
    assert tab.js("document.documentElement.scrollWidth <= innerWidth")


@pytest.fixture(scope="module")
def server():
    made = Server(read("0-1 1-2 2-0 2-3"), RootedEncoding(1))
    made.warm_up()
    thread = Thread(target=made.serve)
    thread.start()
    yield made
    made.stop()
    thread.join()


@pytest.fixture
def live(tab, server):
    tab.complaints.clear()
    tab.resize(1280)
    tab.goto(server.url)
    tab.until("document.querySelectorAll('.bin').length > 0")
    yield tab
    assert [words for words in tab.complaints if "400 (Bad Request)" not in words] == []  # a browser notes refusals


def root_of(tab):
    return tab.text(".side h3")


def test_an_edge_is_rooted_by_mouse(show):
    tab = show(view(CAFFEINE))
    tab.click('.edge[data-u="3"][data-v="4"]')
    assert root_of(tab) == "Root: u = N 3, v = C 4"
    assert tab.text('.node[data-node="3"] .tag') == "u 0,1"
    assert tab.text('.node[data-node="4"] .tag') == "v 1,0"
    assert tab.number(".node.outside") == 14 - tab.number(".node:not(.outside)") > 0
    assert tab.js("document.querySelector('.edge.root').getAttribute('aria-pressed')") == "true"
    assert tab.number(".edge[aria-pressed=true]") == 1
    tab.click(".swap")
    assert root_of(tab) == "Root: u = C 4, v = N 3"
    assert "5-cycle1" in tab.text(".side table").replace(" ", "")


def test_an_edge_is_rooted_by_keyboard(show):
    tab = show(view("0-1 1-2 2-0 2-3"))
    tab.js("document.querySelector('.edge[tabindex=\"0\"]').focus()")
    tab.key("ArrowRight", 3)
    assert tab.js("document.activeElement.getAttribute('aria-label')") == "edge 2 to 3"
    tab.key("Enter")
    assert root_of(tab) == "Root: u = 2, v = 3"
    tab.key("Home")
    tab.key(" ")
    assert root_of(tab) == "Root: u = 0, v = 1"
    assert tab.number(".edge[tabindex='0']") == 1
    assert "Root 0, 1" in tab.text("[role=status]")


@pytest.mark.parametrize("part", PARTS)
def test_a_bin_lights_up_as_many_things_as_it_counts(show, part):
    """Of every bin at a root, by focus: the shapes drawn over the picture are as many as the kernel counted."""
    graph = graphs.erdos_renyi(9, 0.4, 2)
    encoding = RootedEncoding(2, (part,), walk_length=4)
    tab = show(view(graph, 2, (part,), roots=[(0, 2)], walk_length=4))
    expected = [count for _, count in encoding.row(graph, 0, 2).items()]
    seen = tab.js(BINS)
    assert [count for _, count, _ in seen] == expected
    assert [lit for *_, lit in seen] == expected


def test_a_bin_lights_up_by_mouse_and_can_be_kept(show):
    tab = show(view(graphs.cycle(6), 2, ("edge",)))
    assert tab.number(".member") == 0
    tab.hover(".bin:nth-child(2)")
    lit = tab.number(".member")
    assert lit == int(tab.text(".bin:nth-child(2) .count"))
    assert tab.text(".said").startswith(f"{lit} edge{'s' if lit > 1 else ''} between labels")
    tab.hover(".bin:nth-child(1)")
    assert tab.text(".said").startswith("1 edge between labels (0,1) and (1,0): ")
    tab.hover("h2")
    assert tab.number(".member") == 0
    tab.click(".bin:nth-child(3)")
    tab.hover("h2")
    assert tab.number(".member") == int(tab.text(".bin:nth-child(3) .count"))
    assert tab.js("document.querySelector('.bin:nth-child(3)').getAttribute('aria-pressed')") == "true"
    tab.key("ArrowUp")
    assert tab.js("document.activeElement === document.querySelector('.bin:nth-child(2)')")


def test_rings_and_walks_have_shapes_of_their_own(show):
    tab = show(view(graphs.cycle(6), 2, ("cycle", "walk"), roots=[(0, 1)]))
    tab.hover("[data-part=cycle] .bin")
    assert tab.js("document.querySelector('.member').tagName") == "polygon"
    assert tab.number(".edge.lit") == 6
    tab.hover("[data-part=walk] .bin")
    assert tab.js("document.querySelector('.member').tagName") == "polyline"


def test_nodes_can_be_roots(show):
    tab = show(view(graphs.petersen(), 1, roots=[(2, 2), (0, 7)]))
    tab.click('.node[data-node="2"]')
    assert root_of(tab) == "Root: node u = v = 2"
    assert tab.number(".swap") == 0
    assert tab.number(".edge[role]") == int(graphs.petersen().has_edge(0, 7))


def test_two_graphs_by_mouse_and_keyboard(show):
    tab = show(compare("rook"))
    assert [tab.text(f".test:nth-of-type({i}) b") for i in range(1, 6)] == ["=", "=", "≠", "=", "≠"]
    assert "ESC-WL, h = 1, round 1 of 1" in tab.text(".said")
    assert tab.number(".node.odd") == 32
    assert tab.number(".node.first") == 1
    tab.click(".rounds button")
    assert "round 0 of 1: 1 colour of nodes; the graphs look the same" in tab.text(".said")
    assert tab.number(".node.odd") == tab.number(".node.first") == 0
    tab.js("document.querySelector('#round').focus()")
    tab.key("ArrowRight")
    assert "told apart" in tab.text(".said")
    tab.click(".test:nth-of-type(1) input")
    assert tab.text(".said").startswith("1-WL, round 0 of 0")
    tab.key("ArrowDown")
    assert tab.text(".said").startswith("3-WL")


def test_a_prediction_with_all_that_a_run_may_say(show):
    given = Prediction(
        "mine",
        (Line("logP", 1.5, (1.25, 2.0)), Line("class", "red")),
        atoms={"logP": [0.5, -0.25, 0.001]},
        similarity=0.625,
        warning="far away",
    )
    tab = show(view("CCO", run=given))
    assert "90 % intervallogP1.51.25 to 2classred" in tab.text(".prediction table")
    assert tab.text(".prediction .warning") == "far away"
    assert "similarity 0.63" in tab.text(".prediction")
    tab.click(".prediction button")
    assert [tab.text(f'.node[data-node="{i}"] .tag') for i in range(3)] == ["0.50", "-0.25", "0.00"]
    said = "How much lower logP would be without each node. Most at C 0: 0.50, C 1: -0.25, O 2: 0.00"
    assert tab.text(".said") == said
    assert tab.number(".node.outside") == tab.number(".edge.root") == 0
    tab.js("document.querySelector('.edge[tabindex=\"0\"]').focus()")
    tab.key("Enter")
    assert tab.text('.node[data-node="0"] .tag') == "u 0,1"
    tab.js("document.querySelector('.prediction button').focus()")
    tab.key("Enter")
    assert tab.text(".said") == said


def test_a_prediction_for_every_node(show):
    given = Prediction("mine", nodes={"size": [1.0, 20.0], "class": ["red", "blue"]})
    tab = show(view("0-1", run=given))
    assert tab.number(".prediction table") == 0
    tab.click(".prediction button:nth-child(2)")
    assert [tab.text(f'.node[data-node="{i}"] .tag') for i in range(2)] == ["red", "blue"]
    tab.click(".prediction button:nth-child(1)")
    assert [tab.text(f'.node[data-node="{i}"] .tag') for i in range(2)] == ["1", "20"]


INSIDE = """[...document.querySelectorAll('svg.graph .tag')].filter(tag => {
  const own = tag.getBoundingClientRect(), all = tag.closest('svg').getBoundingClientRect();
  return own.width && (own.left < all.left || own.right > all.right || own.top < all.top || own.bottom > all.bottom);
}).map(tag => tag.textContent)"""


@pytest.mark.parametrize("given", [CAFFEINE, "CC", "0-1 1-2 2-0 2-3", ">>graph6<<IheA@GUAo", "C" * 80])
def test_labels_are_inside_the_picture(show, given):
    tab = show(view(given, roots=[(0, 1), (1, 2)] if len(given) > 2 else None))
    assert tab.js(INSIDE) == []


def test_on_a_phone_a_bin_and_what_it_counts_are_seen_together(show):
    tab = show(view(CAFFEINE), 375)
    tab.resize(375, 720)
    tab.click("[data-part=edge] .bin:last-child")
    tab.key("ArrowUp", 3)
    tab.key("ArrowDown", 3)
    seen = "(e => { const box = e.getBoundingClientRect(); return box.top >= 0 && box.bottom <= innerHeight })"
    assert tab.js(f"{seen}(document.querySelector('svg.graph'))")
    assert tab.js(f"{seen}(document.querySelector('[data-part=edge] .bin:last-child'))")
    assert tab.number(".member") == int(tab.text("[data-part=edge] .bin:last-child .count"))


def test_a_script_in_a_name_is_a_name(show):
    evil = "<img src=x onerror=alert(1)>"
    tab = show(view(nx.Graph([(evil[:24], "</script>")]), title=evil))
    assert tab.text("h2") == evil
    assert tab.number("img") == 0
    assert tab.number("script") == 4


@pytest.mark.parametrize("width", [375, 1280])
def test_phones_and_desks(show, tmp_path, width):
    for page in (view(CAFFEINE, 2, tuple(PARTS), roots=[(0, 1)]), compare("c15")):
        tab = show(page, width)
        assert tab.js("document.documentElement.scrollWidth") <= width
        assert tab.js("[...document.querySelectorAll('svg.graph')].every(e => e.getBoundingClientRect().width > 200)")
        tab.screenshot(tmp_path / "seen.png")
        assert (tmp_path / "seen.png").stat().st_size > 10_000


def test_paper(show):
    for page in (view(CAFFEINE), compare("c15")):
        paper = show(page).pdf()
        assert paper.startswith(b"%PDF")
        assert len(paper) > 10_000


def test_a_notebooks_frame_runs_it(tab, tmp_path):
    frame = tmp_path / "notebook.html"
    frame.write_text(
        f"<!DOCTYPE html><meta charset=utf-8><body>{view('0-1 1-2')._repr_html_()}</body>", encoding="utf-8"
    )
    tab.complaints.clear()
    tab.goto(frame.as_uri())
    box = tab.js("(b => [b.x, b.y, b.width, b.height])(document.querySelector('iframe').getBoundingClientRect())")
    assert box[2] > 600 and box[3] == 720
    assert tab.js_in_frame("document.querySelectorAll('.bin').length") > 5
    assert tab.complaints == []


def test_a_script_that_fails_is_noticed(tab, tmp_path):
    bad = tmp_path / "bad.html"
    bad.write_text("<!DOCTYPE html><body><img src=none.png><script>console.error('so'); nothing.here</script></body>")
    tab.complaints.clear()
    tab.goto(bad.as_uri())
    assert len(tab.complaints) == 3
    tab.complaints.clear()


def ask(tab, text, kind="auto"):
    tab.type("#text", text)
    tab.js(f"document.querySelector('form select').value = {json.dumps(kind)}")
    tab.click("form [type=submit]")
    tab.until("!document.querySelector('form [type=submit]').disabled")


def test_live_texts(live):
    ask(live, "0-1 1-2 2-3 3-0")
    assert live.text("#stage h2") == "0-1 1-2 2-3 3-0"
    live.click('.edge[data-u="2"]')
    live.until("document.querySelector('.side h3').textContent === 'Root: u = 2, v = 3'")
    live.hover("[data-part=edge] .bin:nth-of-type(1)")
    assert live.number(".member") == int(live.text("[data-part=edge] .bin .count"))
    live.click('.node[data-node="1"]')
    live.until("document.querySelector('.side h3').textContent === 'Root: node u = v = 1'")
    ask(live, "CCO")
    assert live.number("#stage .node") == 3
    ask(live, "C1CC")
    assert live.text("form .said") == "not a SMILES string"
    assert live.number("#stage .node") == 3
    ask(live, " ".join(f"{i}-{i + 1}" for i in range(100_000)))
    assert "bytes were sent; at most" in live.text("form .said")
    live.complaints[:] = [words for words in live.complaints if "413" not in words]
    ask(live, "<script>alert(1)</script> <b>", "edges")
    assert live.text('.node[data-node="1"]').startswith("<b>")


def test_live_parts_and_radius(live):
    live.click("input[value=cycle]")
    live.type("form input[inputmode]", "1,2")
    ask(live, "c1ccccc1")
    parts = live.js("[...document.querySelectorAll('#stage .part')].map(part => part.dataset.part)")
    assert "h1 edge" in parts and "h2 edge" in parts and "cycle" in parts
    live.type("form input[inputmode]", "9")
    ask(live, "c1ccccc1")
    assert live.text("form .said") == "hops: [9]; the explorer takes 1 to 6"


def test_live_drawing_by_mouse(live):
    live.click(".drawing summary")
    x, y = live.place(".canvas")
    for dx, dy in ((-60, -40), (60, -40), (0, 50)):
        live.click_at(x + dx, y + dy)
    assert live.number(".canvas .node") == 3
    for u, v in ((1, 2), (2, 3), (1, 3)):
        live.click(f".canvas .node:nth-of-type({u})")
        live.click(f".canvas .node:nth-of-type({v})")
    assert live.number(".canvas .bond") == 3
    live.click(".use")
    live.until(
        "document.querySelectorAll('#stage .edge').length === 3 && document.querySelectorAll('#stage .node').length === 3"
    )
    assert live.js("document.querySelector('#text').value") == "0, 1, 2, 0-1, 1-2, 0-2"


def test_live_drawing_by_keyboard(live):
    live.click(".drawing summary")
    live.js("document.querySelector('.drawing .row button').focus()")
    for _ in range(3):
        live.js("document.querySelector('.drawing .row button').focus()")
        live.key("Enter")
    assert live.number(".canvas .node") == 3
    live.key("Enter")  # the last node has the focus, and is picked
    live.key("ArrowLeft")
    live.key("Enter")
    assert live.text(".drawing .said") == "Edge 1-2 added."
    live.key("ArrowLeft")
    live.key("Delete")
    assert live.number(".canvas .node") == 2
    assert live.number(".canvas .bond") == 1
    live.js("document.querySelector('.use').focus()")
    live.key("Enter")
    live.until(
        "document.querySelectorAll('#stage .node').length === 2 && document.querySelectorAll('#stage .edge').length === 1"
    )


def test_live_pairs(live):
    assert live.js("[...document.querySelectorAll('[role=tab]')].map(e => e.getAttribute('aria-selected'))") == [
        "true",
        "false",
    ]
    live.click("[role=tab]:nth-child(2)")
    live.click("section:not([hidden]) [type=submit]")
    live.until("document.querySelectorAll('#pair .test').length === 4")
    assert live.text("#pair h2") == "rook graph, 4 x 4 and Shrikhande graph"
    live.js("(e => { e.value = ''; e.dispatchEvent(new Event('change')) })(document.querySelector('#preset'))")
    live.type("#own textarea:nth-child(1)", "0-1 1-2 2-0")
    live.type("#own textarea:nth-child(2)", "0-1 1-2")
    live.click("section:not([hidden]) [type=submit]")
    live.until("document.querySelector('#pair h2').textContent.includes('0-1')")
    assert live.number("#pair .test.told") == 4
    live.key("Tab")
    live.js("document.querySelector('[role=tab][tabindex=\"0\"]').focus()")
    live.key("ArrowLeft")
    live.key("Enter")
    assert live.js("document.querySelector('#stage').checkVisibility()")


def test_everything_that_can_be_used_has_a_name(live):
    """For screen readers: the browser's own tree of what is on the page."""
    live.click(".drawing summary")
    live.click(".drawing .row button")
    for panel in (1, 2):
        live.click(f"[role=tab]:nth-child({panel})")
        if panel == 2:
            live.click("section:not([hidden]) [type=submit]")
            live.until("document.querySelectorAll('#pair .test').length === 4")
        tree = live.call("Accessibility.getFullAXTree")["nodes"]
        roles = {"button", "textbox", "combobox", "checkbox", "radio", "slider", "spinbutton", "tab"}
        used = [node for node in tree if not node["ignored"] and node["role"]["value"] in roles]
        assert {node["role"]["value"] for node in used} >= {"button", "tab", "checkbox", "combobox"}
        assert [node for node in used if not node["name"]["value"].strip()] == []


def test_live_on_a_phone(live):
    live.resize(375)
    assert live.js("document.documentElement.scrollWidth") <= 375
    live.click("[role=tab]:nth-child(2)")
    assert live.js("document.documentElement.scrollWidth") <= 375
