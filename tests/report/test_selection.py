from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from escgnn.records import BUDGETS
from escgnn.report import choose
from escgnn.report.selection import published_digits
from tests.report.examples import COUNT, EXACT, run

HIGHER = replace(COUNT, better="higher")
NUMBERS = st.floats(1e-4, 10)


@st.composite
def runs(draw):
    """Runs of some seeds and variants, of any budget, in any order."""
    keys = draw(
        st.lists(st.tuples(st.sampled_from(BUDGETS), st.integers(0, 3), st.integers(1, 4)), min_size=1, unique=True)
    )
    return [
        run(draw(NUMBERS), validation=draw(NUMBERS), budget=budget, seed=seed, variant=f"h={h}", seconds=draw(NUMBERS))
        for budget, seed, h in keys
    ]


def cell(records, table=COUNT, column="3-cycle"):
    return choose(table, "ESC-GNN", column, records)


def test_the_mean_uses_every_seed():
    entry = cell([run(value, seed=seed) for seed, value in enumerate((0.1, 0.2, 0.6))])
    assert entry.mean == pytest.approx(0.3)
    assert entry.best == 0.1
    assert entry.seeds == (0, 1, 2)
    assert entry.values == (0.1, 0.2, 0.6)


@given(runs())
def test_of_each_seed_the_run_with_the_best_validation_value_counts(records):
    entry = cell(records)
    level = max(BUDGETS.index(record.budget) for record in records)
    telling = [record for record in records if record.budget == BUDGETS[level]]
    best = {}
    for record in telling:
        score = record.validation["3-cycle"]
        if record.seed not in best or score < best[record.seed].validation["3-cycle"]:
            best[record.seed] = record
    scores = [record.validation["3-cycle"] for record in entry.chosen]
    assert sorted(scores) == sorted(record.validation["3-cycle"] for record in best.values())
    assert list(entry.seeds) == sorted(best)
    assert entry.budget == BUDGETS[level]
    assert len(entry.among) == len(telling)
    assert entry.mean == pytest.approx(sum(entry.values) / len(best))
    assert entry.best == min(entry.values)
    assert entry.seconds == pytest.approx(sum(record.seconds for record in entry.chosen))
    assert entry.search_seconds == pytest.approx(sum(record.seconds for record in telling))


@given(runs(), st.data(), st.sampled_from([COUNT, HIGHER, replace(COUNT, better="same")]))
def test_test_values_decide_nothing(records, data, table):
    changed = [replace(record, values={"tab:count": {"3-cycle": data.draw(NUMBERS)}}) for record in records]
    assert [r.path for r in cell(records, table).chosen] == [r.path for r in cell(changed, table).chosen]


@given(runs(), st.randoms(use_true_random=False))
def test_the_order_of_records_does_not_matter(records, random):
    shuffled = random.sample(records, len(records))
    assert cell(shuffled) == cell(records)


def test_direction():
    records = [run(0.5, validation=0.1, variant="h=1"), run(0.4, validation=0.2, variant="h=2")]
    assert cell(records).mean == 0.5
    assert cell(records, HIGHER).mean == 0.4
    seeds = [run(0.5, seed=0), run(0.7, seed=1)]
    assert cell(seeds, HIGHER).best == 0.7
    assert cell(seeds, replace(COUNT, better="same")).best == pytest.approx(0.6)


def test_seeds_may_choose_different_variants():
    records = [
        run(0.1, validation=0.1, seed=0, variant="h=1"),
        run(0.2, validation=0.2, seed=0, variant="h=2"),
        run(0.3, validation=0.2, seed=1, variant="h=1"),
        run(0.5, validation=0.1, seed=1, variant="h=2"),
    ]
    entry = cell(records)
    assert entry.variants == {"h=1": [0], "h=2": [1]}
    assert entry.mean == pytest.approx(0.3)


def test_a_validation_value_of_all_columns_stands_in():
    records = [
        replace(run(0.5, variant="h=1"), validation={"": 0.1}),
        replace(run(0.4, variant="h=2"), validation={"": 0.2, "4-cycle": 0.0}),
    ]
    assert cell(records).variants == {"h=1": [0]}


def test_a_run_without_validation_value_is_taken_only_if_there_is_no_other():
    only = run(0.4, variant="h=2")
    assert cell([only]).chosen == (only,)
    judged = run(0.9, validation=3.0, variant="h=3")
    assert cell([only, judged]).chosen == (judged,)
    assert cell([run(0.1, variant="b"), run(0.9, variant="a")]).variants == {"a": [0]}  # by name, not by value


def test_only_numbers_of_this_cell_count():
    records = [
        run(None),
        run(float("nan"), seed=1),
        run(0.1, row="MPNN"),
        run(0.1, column="4-cycle"),
        run(0.1, label="tab:other"),
        replace(run(0.1), error="ValueError"),
    ]
    entry = cell(records)
    assert entry.chosen == entry.among == ()
    assert entry.mean is entry.best is entry.budget is entry.ratio is entry.good is None
    assert entry.paper == 0.0074


def test_a_run_that_failed_does_not_lift_the_budget():
    entry = cell([run(0.1), replace(run(0.2, budget="paper"), error="ValueError")])
    assert entry.budget == "hour"


def test_records_of_other_experiments_count():
    entry = cell([replace(run(0.1), experiment="ablation")])
    assert entry.mean == 0.1


@pytest.mark.parametrize(
    ("table", "value", "good"),
    [
        (COUNT, 0.00744, True),  # 0.0074 as printed
        (COUNT, 0.00746, False),
        (COUNT, 0.001, True),
        (HIGHER, 0.00736, True),
        (HIGHER, 0.00734, False),
    ],
)
def test_at_least_as_good_to_the_digits_shown(table, value, good):
    assert cell([run(value)], table).good is good


def test_smoke_is_not_judged():
    assert cell([run(0.001, budget="smoke")]).good is None


@pytest.mark.parametrize(
    ("value", "good"), [(12.38, True), (12.3821, True), (12.385, True), (12.39, False), (12.374, False)]
)
def test_same_as_published(value, good):
    found = choose(EXACT, "zinc", "graphs", [run(value, row="zinc", column="graphs", label="tab:stat")])
    assert found.good is good


def test_ratio():
    assert cell([run(0.0148)]).ratio == pytest.approx(2)
    assert choose(COUNT, "MPNN", "4-cycle", [run(0.1, row="MPNN", column="4-cycle")]).ratio is None  # nothing published
    nought = replace(EXACT, paper={"zinc": (0.0,)})
    found = choose(nought, "zinc", "graphs", [run(0.0, row="zinc", column="graphs", label="tab:stat")])
    assert (found.ratio, found.good) == (None, True)


def test_published_digits_are_bounded():
    assert published_digits(0.123456789, 4) == 4
