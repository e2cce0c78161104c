"""Sensitivity: the payback is linear in each pay up to the next change, and above that line beyond it."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from evaluator.cards import Deck, format_cards
from evaluator.holds import build_tables
from evaluator.rules import Paytable
from evaluator.sensitivity import pay_lines, sensitivities
from evaluator.sweep import collect_pays, sweep
from evaluator.symmetry import canonical_classes
from tests.evaluator.plain_classifier import NINE_SIX, jacks_or_better
from tests.evaluator.small_games import ALL_FOUR, random_outcomes, small_games

WINS = 3
few = settings(max_examples=12, deadline=None, phases=(Phase.explicit, Phase.reuse, Phase.generate))
pays = st.lists(
    st.one_of(st.integers(0, 5).map(Fraction), st.fractions(0, 9, max_denominator=4)), min_size=WINS, max_size=WINS
)


def with_pay(table, lines, by):
    """The paytable with one pay changed."""
    paid = [*table.pays, *(table.on_deal or ())]
    for line in lines:
        paid[line] += by
    outcomes = len(table.pays)
    return replace(table, pays=tuple(paid[:outcomes]), on_deal=tuple(paid[outcomes:]) if table.on_deal else None)


def won(tables, paytables):
    """Credits won in all combinations of the cycle."""
    collected = collect_pays(paytables)
    return [Fraction(number, collected.scale) for number in sweep(tables, collected).won]


def assert_linear(tables, table, found):
    base = won(tables, [table])[0]
    pay = (table.pays + (table.on_deal or ()))[found.lines[0]]
    for sign, slope, change in ((1, found.just_above, found.above), (-1, found.just_below, found.below)):
        distance = Fraction(10**6) if change is None else change.distance / table.scale
        reached = distance if sign > 0 else min(distance, pay)
        inside = [reached, reached / 3]
        beyond = reached + (Fraction(1, 1000) if sign > 0 else min(Fraction(1, 1000), pay - reached))
        asked = [with_pay(table, found.lines, sign * by) for by in (*inside, beyond)]
        values = won(tables, asked)
        assert values[:2] == [base + sign * by * slope for by in inside]
        if change is not None and beyond > distance:
            assert values[2] > base + sign * beyond * slope


@given(game=small_games(most_cards=14), paid=pays, dealt=st.one_of(st.none(), pays), seed=st.integers(0, 2**32))
@few
def test_linear_up_to_the_next_change(game, paid, dealt, seed):
    classes, outcomes, _ = random_outcomes(game, WINS, seed)
    tables = build_tables(classes, outcomes, WINS)
    table = Paytable("", 1, (*paid, Fraction(0)), None if dealt is None else (*dealt, Fraction(0)))
    whole = sensitivities(tables, table)
    middle = len(classes.weights) // 2
    parts = zip(sensitivities(tables, table, 0, middle), sensitivities(tables, table, middle), strict=True)
    assert whole == [before + after for before, after in parts]
    for found in whole:
        assert_linear(tables, table, found)


def test_pays_that_go_together():
    nothing = Fraction(0)
    assert pay_lines(Paytable("", 1, (Fraction(9), nothing))) == [(0,)]
    assert pay_lines(Paytable("", 1, (Fraction(9), Fraction(1)))) == [(0,), (1,)]
    assert pay_lines(Paytable("", 1, (Fraction(9), nothing), (Fraction(7), nothing))) == [(0,), (2,)]
    assert pay_lines(Paytable("", 1, (Fraction(9), nothing), (Fraction(9), nothing))) == [(0, 2)]


@pytest.fixture(scope="module")
def nine_six():
    classes = canonical_classes(Deck(), ALL_FOUR)
    tables = build_tables(classes, jacks_or_better(classes.hands[5]), wins=9)
    return sensitivities(tables, Paytable("9/6", 1, tuple(Fraction(pay, 5) for pay in NINE_SIX)))


def test_royal_flush_of_jacks_or_better(nine_six):
    """At 801 a hand like 2c Tc Td Jc Ac ties between a pair of tens and three to a royal: 288 deals."""
    royal = nine_six[0]
    assert (royal.combinations, royal.just_below, royal.just_above) == (493512264,) * 3
    assert (royal.above.distance, royal.above.deals) == (1, 288)
    assert format_cards(Deck(), list(royal.above.hand)) == "2c Tc Td Jc Ac"
    assert (royal.above.before, royal.above.after) == (0b11011, 0b11010)
    assert (royal.below.distance, royal.below.deals) == (11, 2412)


def test_frequencies_are_those_of_the_certificate(nine_six):
    assert [found.combinations for found in nine_six[1:4]] == [2178883296, 47093167764, 229475482596]
    assert len(nine_six) == 9
    assert np.all([found.just_below <= found.combinations <= found.just_above for found in nine_six])
