"""Sweeps: equal to certifying one paytable after the other, whatever is pruned and however large the numbers are."""

from dataclasses import replace
from fractions import Fraction
from functools import reduce
from operator import add
from random import Random

import numpy as np
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from evaluator.candidates import Candidates, best_sums, join, make_layout, narrow, number_type
from evaluator.cards import Deck
from evaluator.holds import build_tables, hold_block
from evaluator.payback import Outcome, certify_rows, line_units
from evaluator.rules import Paytable
from evaluator.sensitivity import sensitivities
from evaluator.sweep import Pays, collect_pays, open_candidates, sweep
from evaluator.symmetry import ProofError, canonical_classes
from tests.evaluator.plain_classifier import NINE_SIX, jacks_or_better
from tests.evaluator.small_games import ALL_FOUR, SmallGame, random_outcomes, small_games

few = settings(max_examples=10, deadline=None, phases=(Phase.explicit, Phase.reuse, Phase.generate))


@pytest.fixture(scope="module")
def tables():
    classes = canonical_classes(Deck(), ALL_FOUR)
    return build_tables(classes, jacks_or_better(classes.hands[5]), wins=9)


def certified(tables, paytables, step=4096):
    """The outcome of each paytable, one after the other, all holds looked at."""
    rows = len(tables.classes.weights)
    totals = [Outcome.none_of(table) for table in paytables]
    for start in range(0, rows, step):
        block = hold_block(tables, start, min(start + step, rows))
        totals = [total + certify_rows(tables, block, table)[0] for total, table in zip(totals, paytables, strict=True)]
    return totals


def assert_equal(tables, paytables, swept):
    scale = collect_pays(paytables).scale
    for i, (table, outcome) in enumerate(zip(paytables, certified(tables, paytables), strict=True)):
        factor = scale // table.scale
        paid = [line + bonus for bonus in table.bonus_units for line in line_units(table)]
        won = sum(number * unit for number, unit in zip(outcome.combinations, paid, strict=True))
        found = swept.won[i], swept.squares[i], swept.hits[i]
        assert found == (won * factor, outcome.squares * factor**2, outcome.hits)


amounts = st.one_of(
    st.integers(0, 6).map(Fraction),
    st.fractions(0, 30, max_denominator=6),
    st.sampled_from([Fraction(800), Fraction(4000)]),
)


@st.composite
def families(draw, wins=4, extra=amounts, most=12):
    """Paytables of one game that share some pays; perhaps with pays on the deal and bonuses."""
    size = draw(st.integers(1, most))
    on_deal, bonuses = draw(st.booleans()), draw(st.integers(0, 2))
    lines = (wins + 1) * (2 if on_deal else 1) + bonuses
    columns = [draw(st.one_of(extra.map(lambda pay: [pay] * size), st.lists(extra, min_size=size, max_size=size)))
               for _ in range(lines)]  # fmt: skip
    made = []
    for pays in zip(*columns, strict=True):
        dealt = pays[wins + 1 : 2 * wins + 2] if on_deal else None
        made.append(Paytable("", 1, pays[: wins + 1], dealt, (*pays[lines - bonuses :], Fraction(0))))
    return made


@given(game=small_games(most_cards=16), paytables=families(), seed=st.integers(0, 2**32))
@few
def test_every_paytable_is_as_if_certified(game, paytables, seed):
    classes, outcomes, _ = random_outcomes(game, 4, seed)
    bonuses = np.array([Random(seed).randrange(len(paytables[0].bonuses)) for _ in outcomes], np.uint8)
    small = build_tables(classes, outcomes, 4, bonuses)
    assert_equal(small, paytables, sweep(small, collect_pays(paytables)))


@given(
    game=small_games(most_cards=14),
    paytables=families(extra=st.sampled_from([Fraction(10**k) for k in (0, 5, 9, 12, 30)]), most=4),
    seed=st.integers(0, 2**32),
)
@few
def test_pays_beyond_floats_and_beyond_64_bits(game, paytables, seed):
    classes, outcomes, _ = random_outcomes(game, 4, seed)
    small = build_tables(classes, outcomes, 4, np.zeros(len(outcomes), np.uint8))
    plain = [replace(table, bonuses=(Fraction(0),)) for table in paytables]
    assert_equal(small, plain, sweep(small, collect_pays(plain)))


@pytest.mark.parametrize(("top", "kind"), [(10**6, np.float64), (10**9, np.int64), (10**12, object), (10**40, object)])
def test_the_type_is_proven_by_the_greatest_pay(tables, top, kind):
    """A float64 product of the same numbers would round; none is used for them."""
    rest = (*map(Fraction, NINE_SIX[1:9]), Fraction(0))
    pays = [Paytable("", 1, (Fraction(royal), *rest)) for royal in (1, top)]
    found = collect_pays(pays)
    opened = open_candidates(tables, make_layout(found.units, 10), 60_000, 60_500)
    assert len(opened.candidates)
    assert opened.candidates.worth.dtype == kind
    some = sweep(tables, found, 60_000, 60_500)
    block = hold_block(tables, 60_000, 60_500)
    for i, table in enumerate(pays):
        outcome, _ = certify_rows(tables, block, table)
        assert some.won[i] == sum(n * unit for n, unit in zip(outcome.combinations, table.units, strict=True))


def test_combinations_beyond_floats():
    """Six small decks: the undecided hands have more than 2^53 combinations, those of a part fewer."""
    classes = canonical_classes(Deck(decks=6, faces=tuple("TJQKA")), ALL_FOUR)
    outcomes = np.array([Random(row).randint(0, 2) for row in range(len(classes.weights))], np.uint8)
    large = build_tables(classes, outcomes, 2)
    paytables = [Paytable("", 1, tuple(map(Fraction, pays))) for pays in ((5, 4, 0), (5, 1, 0), (1, 7, 2))]
    opened = open_candidates(large, make_layout(collect_pays(paytables).units, 3))
    assert (large.cycle > 2**53, opened.decided) == (True, 0)
    assert opened.candidates.counts.dtype == np.int64
    part = open_candidates(large, make_layout(collect_pays(paytables).units, 3), 0, 100)
    assert part.candidates.counts.dtype == np.float64
    assert_equal(large, paytables, sweep(large, collect_pays(paytables)))


def test_draws_beyond_64_bits():
    """The same game with every draw counted 2^60 times."""
    classes, outcomes, _ = random_outcomes(SmallGame(Deck(faces=tuple("QKA")), ALL_FOUR), 2, 5)
    small = build_tables(classes, outcomes, 2)
    times = 2**60
    large = replace(
        small,
        cycle_factor=small.cycle_factor * times,
        cycle=small.cycle * times,
        multipliers=tuple(number * times for number in small.multipliers),
    )
    paytables = [Paytable("", 1, tuple(map(Fraction, pays))) for pays in ((5, 4, 0), (5, 1, 0), (1, 7, 2))]
    pays = collect_pays(paytables)
    assert (sweep(large, pays).won == sweep(small, pays).won * times).all()
    for table in paytables:
        few, many = sensitivities(small, table), sensitivities(large, table)
        assert [found.above for found in few] == [found.above for found in many]
        assert [found.combinations * times for found in few] == [found.combinations for found in many]


def test_bounds_of_number_types():
    for kind, bound in ((np.float64, 2**53 - 1), (np.int64, 2**63 - 1)):
        assert (number_type(bound), number_type(bound + 1) is kind) == (kind, False)
        assert int(kind(bound)) == bound
    assert int(np.float64(2**53 + 1)) != 2**53 + 1


# --- pruning ----------------------------------------------------------------------------------------------------------


@st.composite
def candidates(draw):
    """Any holds of a few hands, many of them equal, and a box with some points in it."""
    sizes = draw(st.lists(st.integers(1, 5), min_size=1, max_size=8))
    varied = draw(st.integers(1, 3))
    few_numbers = st.integers(0, 6)
    holds = sum(sizes)
    worth = draw(
        st.lists(st.lists(few_numbers, min_size=varied + 1, max_size=varied + 1), min_size=holds, max_size=holds)
    )
    low = [1, *draw(st.lists(few_numbers, min_size=varied, max_size=varied))]
    width = [0, *draw(st.lists(few_numbers, min_size=varied, max_size=varied))]
    points = [[a + draw(st.integers(0, w)) for a, w in zip(low, width, strict=True)] for _ in range(4)]
    kind = draw(st.sampled_from([np.float64, np.int64, object]))
    starts = np.cumsum([0, *sizes[:-1]])
    counts = np.array([[100 + i, i * i] for i in range(holds)])
    return (
        Candidates(np.repeat(np.arange(len(sizes)), sizes), starts, np.array(worth).astype(kind), counts.astype(kind)),
        (np.array(low), np.array(low) + np.array(width)),
        np.array(points),
    )


@given(candidates())
@settings(max_examples=200, deadline=None)
def test_narrowing_changes_nothing_inside_the_box(drawn):
    found, box, points = drawn
    left = narrow(found, box)
    assert ((left.decided + best_sums(left.candidates, points)) == best_sums(found, points)).all()
    assert len(left.candidates.starts) + left.hands == len(found.starts)
    assert (np.diff(left.candidates.starts, append=len(left.candidates)) > 1).all()


@given(candidates())
@settings(max_examples=100, deadline=None)
def test_the_best_of_equal_holds_is_the_first(drawn):
    found, _, points = drawn
    expected = []
    for point in points.tolist():
        total = [0, 0]
        for hand in range(len(found.starts)):
            holds = np.flatnonzero(found.hand == hand).tolist()
            worth = [sum(int(a) * b for a, b in zip(found.worth[h], point, strict=True)) for h in holds]
            taken = holds[worth.index(max(worth))]
            total = [total[0] + 100 + taken, total[1] + taken * taken]
        expected.append(total)
    assert best_sums(found, points).tolist() == expected


def test_joined_candidates_are_the_same(tables):
    layout = make_layout(collect_pays(grid(20)).units, 10)
    box = layout.points.min(axis=0), layout.points.max(axis=0)
    parts = [open_candidates(tables, layout, start, start + 1000).candidates for start in (0, 50_000, 100_000)]
    total = reduce(add, (best_sums(part, layout.points) for part in parts))
    joined = join(parts)
    assert (best_sums(joined, layout.points) == total).all()
    assert (narrow(joined, box).decided + best_sums(narrow(joined, box).candidates, layout.points) == total).all()


# --- 52 cards ---------------------------------------------------------------------------------------------------------


def grid(size, seed=7):
    """Random paytables of Jacks or Better from a wide box."""
    rng = Random(seed)
    ranges = ((250, 1000), (50, 100), (20, 40), (5, 10), (4, 8), (4, 5), (3, 3), (1, 2), (1, 1))
    return [Paytable("", 1, (*(Fraction(rng.randint(*r)) for r in ranges), Fraction(0))) for _ in range(size)]


def test_a_wide_box_leaves_few_holds(tables):
    paytables = grid(8)
    swept = sweep(tables, collect_pays(paytables))
    assert_equal(tables, paytables, swept)
    assert swept.rows == 134_459
    assert swept.holds / swept.rows < 1.5
    assert swept.decided / swept.rows > 0.6


@pytest.mark.slow
def test_200_random_paytables(tables):
    paytables = grid(200, seed=1)
    assert_equal(tables, paytables, sweep(tables, collect_pays(paytables)))


def test_parts_add_up(tables):
    pays = collect_pays(grid(70))
    whole = sweep(tables, pays, 0, 9000)
    parts = sweep(tables, pays, 0, 17) + sweep(tables, pays, 17, 9000)
    for name in ("won", "squares", "hits"):
        assert (getattr(whole, name) == getattr(parts, name)).all()
    assert (whole.rows, whole.holds, whole.decided) == (parts.rows, parts.holds, parts.decided)


# --- refusals ---------------------------------------------------------------------------------------------------------


def test_pays_that_do_not_fit(tables):
    with pytest.raises(ValueError, match="10 outcomes"):
        sweep(tables, Pays(1, np.ones((2, 9), int), np.zeros((2, 1), int)), 0, 5)
    with pytest.raises(ValueError, match="at least one paytable, none below 0"):
        Pays(1, np.array([[1, -1]]), np.zeros((1, 1), int))
    with pytest.raises(ValueError, match="at least one paytable"):
        Pays(1, np.zeros((0, 2), int), np.zeros((0, 1), int))


def test_combinations_that_do_not_add_up_are_refused(tables):
    wrong = replace(tables, multipliers=(*tables.multipliers[:5], tables.multipliers[5] - 1))
    with pytest.raises(ProofError, match="expected"):
        sweep(wrong, collect_pays(grid(2)), 134_000)
