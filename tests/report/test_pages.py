import re
from dataclasses import replace
from html.parser import HTMLParser

import pytest

from escgnn import records
from escgnn.experiments import EXPERIMENTS as ALL
from escgnn.markup import VOID
from escgnn.records import Record
from escgnn.report import Report, build, write
from escgnn.report.content import DASH, number
from tests.report.examples import COUNT, EXPERIMENTS, experiment, full, run

EVIL = "</title><script>alert(1)</script>\"'><img src=x onerror=alert(1)>&amp;|`"


class Checker(HTMLParser):
    """Every tag is closed, in order; text and attributes are kept."""

    def __init__(self):
        super().__init__()
        self.open, self.seen, self.ids, self.links, self.text = [], [], [], [], []

    def handle_starttag(self, tag, attrs):
        self.seen.append(tag)
        names = [name for name, _ in attrs]
        assert len(names) == len(set(names)), attrs
        self.ids += [value for name, value in attrs if name == "id"]
        self.links += [value for name, value in attrs if name in ("href", "src")]
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if "style" not in self.open:
            self.text.append(data)


def checked(page):
    checker = Checker()
    checker.feed(page)
    checker.close()
    assert checker.open == []
    assert len(checker.ids) == len(set(checker.ids))
    assert all(link.startswith("#") and link[1:] in checker.ids for link in checker.links)  # nothing from elsewhere
    assert not {"script", "link", "img", "iframe"} & set(checker.seen)
    return checker


def text_of(page):
    return " ".join(" ".join(checked(page).text).split())


@pytest.fixture
def results(tmp_path):
    for record in full():
        records.write(record, tmp_path / "results")
    return tmp_path / "results"


@pytest.fixture
def report(results):
    return build(results, EXPERIMENTS)


def test_the_page_shows_every_number(report):
    text = text_of(report.html())
    for section in report.sections:
        for entry in section.filled:
            assert number(entry.mean, section.table.digits) in text
    for numbers in COUNT.paper.values():
        assert all(f"{value:.4f}" in text for value in numbers if value is not None)
    assert "0.0105 best 0.0100 paper 0.0074 1.42\N{MULTIPLICATION SIGN}" in text
    assert "0.0013 ✓ best 0.0013 paper 0.0044 0.30\N{MULTIPLICATION SIGN}" in text
    assert "12.382 = paper 12.38" in text
    assert "0.4100 paper 0.3515" in text


def test_what_a_number_is_worth_stands_beside_it(report):
    page = report.html()
    text = text_of(page)
    assert "ESC-GNN hour 2 seeds" in text
    assert "MPNN smoke 1 seed" in text
    assert "proves that it runs, nothing else" in text
    assert "hour shorter than in the paper: 6 runs, 2 seeds, 60 min; escgnn reproduce counting --seeds 2" in text
    assert "variant chosen: h=1" in page
    assert "epochs: 40" in page
    assert "processor time: 3 min" in page
    assert f"2 seeds 80 epochs, 3 min CPU, 1,000{DASH}3,000 parameters" in text, "of both columns, for one seed"
    assert "published: a network per target" in text


def test_what_was_not_run_and_why(report):
    text = text_of(report.html()).split("What was not run, and why")[-1]
    assert "tab:count MPNN: 4-cycle: failed (hour): RuntimeError: out of memory" in text
    assert "tab:mol all rows: no record" in text
    assert "counting, MPNN, seed 1, hour , after 2.0 s: RuntimeError: out of memory" in text
    assert "smoke proves that it runs, nothing else: tab:count MPNN" in text
    assert "without hydrogen statistics, zinc" in text
    assert "counting, gone, seed 0, smoke" in text


def test_runs_without_a_place_and_budgets_below_the_papers(report):
    assert [record.row for record in report.unplaced] == ["gone"]
    assert "Runs that belong to no table" in text_of(report.html())
    smaller = [(budget, table.label, rows) for budget, table, rows in report.smaller]
    assert smaller == [("smoke", "tab:count", ("MPNN",)), ("hour", "tab:count", ("ESC-GNN",))]


def test_a_value_that_is_no_number_is_told_from_one_that_is_missing():
    one = [run(None, row="MPNN"), run(0.1)]
    reasons = {gap.rows + gap.columns: gap.why for gap in Report(EXPERIMENTS, tuple(one), "now").gaps}
    assert reasons["MPNN", "3-cycle"] == "run, but the value is not a finite number"
    assert reasons["ESC-GNN", "MPNN", "4-cycle"] == "no record"


def test_where_it_comes_from(report):
    text = text_of(report.html())
    assert "10 runs, 1 failed" in text
    assert "6b6fba26b6" in text
    assert "python 3.11, torch 2.4.1" in text
    assert "2025-01-02T03:04:05" in text


def test_a_run_counts_once_however_many_cells_it_fills(report):
    assert len(report.sections[0].runs("hour")) == 6


def test_changed_code_is_told():
    commit = "6b6fba2" * 5
    report = Report(EXPERIMENTS, (run(0.1, commit=commit), run(0.2, seed=1, commit=f"{commit}-dirty")), "now")
    assert text_of(report.html()).count("6b6fba26b6-dirty") == 2, "above, and beside the run"
    assert "commit 6b6fba26b6, 6b6fba26b6-dirty" in report.markdown()


def test_nothing_in_a_record_becomes_html(tmp_path):
    table = replace(
        COUNT, rows=(EVIL,), columns=(EVIL, "b"), title=EVIL, metric=EVIL, note=EVIL, paper={EVIL: (1.0, 2.0)}
    )
    curve = tuple({"epoch": e, "loss": 1.0, "validation": 0.5 + e} for e in range(3))
    base = Record("counting", EVIL, "hour", variant=EVIL, note=EVIL, command=EVIL, commit=EVIL, finished=EVIL)
    values = {"tab:count": {EVIL: 1.5}}
    scatter = {EVIL: ((1.0, 2.0), (2.0, 3.0))}
    good = replace(
        base, values=values, versions={EVIL: EVIL}, curve=curve, scatter=scatter, config={"encoding": {"hops": 1}}
    )
    other = replace(good, variant="h=2", config={"encoding": {"hops": 2}})
    runs = (good, other, replace(base, seed=1, error=EVIL))
    page = Report((experiment("counting", table),), runs, EVIL).html()
    checker = checked(page)
    assert EVIL in "".join(checker.text)
    assert "<script" not in page
    assert "<img" not in page
    assert "alert(1)>" not in page.replace("&gt;", "")


def test_markdown_cells_cannot_be_broken_out_of():
    table = replace(COUNT, rows=("a|b\n<b>",), paper={})
    lines = Report((experiment("counting", table),), (run(0.5, row="a|b\n<b>"),), "now").markdown().splitlines()
    assert "| a\\|b &lt;b> | hour | 1 |  | 0.5000 | not run |" in lines


def test_markdown(report):
    lines = report.markdown().splitlines()
    assert (
        f"| ESC-GNN | hour | 2 | 80 epochs, 3 min CPU, 1,000{DASH}3,000 parameters | 0.0105 (0.0074) | 0.0013 (0.0044) ✓ |"
        in lines
    )
    assert "| MPNN | smoke | 1 | 2 epochs | 0.4100 (0.3515) | not run |" in lines
    assert "| *PPGN* | *published* |  |  | (0.0005) | (0.0013) |" in lines
    assert "| zinc | paper | 1 |  | 12.382 (12.38) = |" in lines
    assert "- `tab:mol`, all rows: no record" in lines
    assert "- note: without hydrogen (statistics, zinc)" in lines
    tables = [line for line in lines if line.startswith("|")]
    assert {line.count("|") for line in tables} == {6, 7}
    assert "How the published numbers were made. PPGN: 96,001 parameters; ESC-GNN: a network per target." in lines


def test_a_number_that_should_be_the_same_and_is_not():
    other = Record("statistics", "zinc", "paper", 0, "", {"tab:stat": {"graphs": 12.5}})
    report = Report(EXPERIMENTS, (other,), "now")
    assert "12.500 ≠ paper 12.38" in text_of(report.html())
    assert "12.500 (12.38) ≠" in report.markdown()


def test_an_empty_folder_says_how_to_start(tmp_path):
    for folder in (tmp_path, tmp_path / "none"):
        report = build(folder, EXPERIMENTS)
        text = text_of(report.html())
        assert "Nothing was run yet" in text
        assert "escgnn reproduce counting --budget smoke" in text
        assert "0.0074" in text  # the paper's numbers are there already
        assert "escgnn reproduce counting --budget smoke" in report.markdown()


def test_all_experiments_of_the_paper_have_their_tables(tmp_path):
    report = build(tmp_path, ALL.values())
    labels = {table.label for one in ALL.values() for table in one.tables}
    assert {section.table.label for section in report.sections} == labels
    checked(report.html())


def test_a_damaged_record_is_named(results):
    path = results / "counting" / "hour" / "esc-gnn_h-1_seed0.json"
    path.write_text('{"experiment": ')
    with pytest.raises(ValueError, match=r"esc-gnn_h-1_seed0\.json: not a record of a run"):
        build(results, EXPERIMENTS)


def test_write(results, tmp_path):
    page = write(results, tmp_path / "out.html", EXPERIMENTS)
    assert page.read_text(encoding="utf-8").startswith("<!DOCTYPE html>")
    assert write(results, tmp_path / "out.md", EXPERIMENTS).read_text(encoding="utf-8").startswith("# ")
    with pytest.raises(ValueError, match=r"ends in \.html or \.md"):
        write(results, tmp_path / "out.pdf", EXPERIMENTS)
    assert sorted(path.name for path in tmp_path.glob("*out*")) == ["out.html", "out.md"]


def test_the_page_needs_nothing_else(report):
    page = report.html()
    assert not re.search(r"https?:|url\(|@import", page)
    assert len(page) < 100_000
