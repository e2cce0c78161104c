"""Curves of progressives: at every meter the payback that certifying with that pay gives, exactly."""

from dataclasses import replace
from fractions import Fraction
from functools import reduce
from itertools import pairwise
from operator import add

import numpy as np
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from evaluator.cards import Deck
from evaluator.holds import build_tables, hold_block
from evaluator.meter import (
    Curve,
    break_even,
    meter_lines,
    part_of,
    summarise_curve,
    summarise_meter,
    whole_curve,
)
from evaluator.payback import Outcome, certify_rows
from evaluator.rules import Paytable, Progressive, Rules, Win
from evaluator.solve import solve
from evaluator.summary import summarise
from evaluator.symmetry import ProofError, canonical_classes
from tests.evaluator.plain_classifier import NINE_SIX, jacks_or_better
from tests.evaluator.small_games import ALL_FOUR, random_outcomes, small_games

# Shrinking would repeat whole enumerations for minutes.
few = settings(max_examples=6, deadline=None, phases=(Phase.explicit, Phase.reuse, Phase.generate))
ROYAL = 0
NINE_SIX_METER = Paytable("9/6", 5, tuple(map(Fraction, NINE_SIX)), progressive=Progressive(ROYAL, Fraction(4000), 0))
TINY = Fraction(1, 10**9)


def progressive(paytable, win, rate=Fraction(1, 100)):
    return replace(paytable, progressive=Progressive(win, paytable.pays[win], rate))


def with_meter(paytable, meter):
    """The paytable as it is under that meter."""
    win = paytable.progressive.win
    old = paytable.pays[win]
    on_deal = paytable.on_deal
    if on_deal is not None and on_deal[win] == old:
        on_deal = (*on_deal[:win], meter, *on_deal[win + 1 :])
    return replace(paytable, pays=(*paytable.pays[:win], meter, *paytable.pays[win + 1 :]), on_deal=on_deal)


def certified(tables, blocks, paytable):
    """The sums over some blocks, and the figures of a certificate."""
    outcome = reduce(add, (certify_rows(tables, block, paytable)[0] for block in blocks), Outcome.none_of(paytable))
    return outcome, summarise(outcome, tables.classes.deck, paytable, tables.ordered is not None)


def check(tables, blocks, paytable, low, high, meters):
    """The curve from `low` to `high` against certificates at its ends, around its break points, and at `meters`."""
    curve = reduce(add, (meter_lines(tables, block, paytable, low, high) for block in blocks))
    segments = summarise_curve(curve, tables.classes.deck, paytable, tables.ordered is not None)
    assert (segments[0].low, segments[-1].high) == (low, high)
    assert all(before.high == after.low for before, after in pairwise(segments))
    assert all(before.at(before.high) == after.payback for before, after in pairwise(segments))
    assert all(before.slope < after.slope for before, after in pairwise(segments))  # convex, and none is superfluous
    points = {low, high, *meters}
    for segment in segments[-12:]:
        points |= {segment.low, (segment.low + segment.high) / 2}
        points |= {point for point in (segment.low - TINY, segment.low + TINY) if low <= point <= high}
    win, outcomes = paytable.progressive.win, len(paytable.pays)
    for point in sorted(points):
        outcome, summary = certified(tables, blocks, with_meter(paytable, point))
        (here,) = part_of(segments, point, point)
        assert here.payback == summary.payback, point
        inside = [s for s in segments if s.low < point < s.high]
        if inside:  # every optimal strategy wins the meter equally often
            metered = outcome.combinations_min[win], outcome.by_line[win], outcome.combinations_max[win]
            if paytable.on_deal is not None:
                same = paytable.on_deal[win] == paytable.pays[win]
                metered = (outcome.by_line[win] + (outcome.by_line[outcomes + win] if same else 0),)
            assert set(metered) == {inside[0].combinations}
            assert inside[0].slope == Fraction(inside[0].combinations, summary.cycle * paytable.coins)
    return curve, segments


# --- small games ------------------------------------------------------------------------------------------------------

pay = st.fractions(min_value=0, max_value=12, max_denominator=3)


@st.composite
def small_meters(draw):
    """A small game with its tables, in two blocks, and any paytable with a meter."""
    game = draw(small_games(most_cards=11))
    wins = draw(st.integers(1, 3))
    classes, outcomes, _ = random_outcomes(game, wins, draw(st.integers(0, 2**32)))
    bonuses = np.array(draw(st.lists(st.integers(0, 1), min_size=len(outcomes), max_size=len(outcomes))), np.uint8)
    tables = build_tables(classes, outcomes, wins, bonuses)
    pays = draw(st.lists(pay, min_size=wins + 1, max_size=wins + 1))
    on_deal = draw(st.none() | st.lists(pay, min_size=wins + 1, max_size=wins + 1))
    win = draw(st.integers(0, wins - 1))
    if on_deal is not None and draw(st.booleans()):
        on_deal[win] = pays[win]
    dealt = None if on_deal is None else tuple(on_deal)
    paytable = Paytable("random", draw(st.integers(1, 5)), tuple(pays), dealt, (draw(pay), Fraction(0)))
    cut = len(outcomes) // 3
    return tables, [hold_block(tables, 0, cut), hold_block(tables, cut, len(outcomes))], progressive(paytable, win)


@few
@given(small_meters(), st.lists(st.fractions(0, 40, max_denominator=60), min_size=3, max_size=3))
def test_small_games_at_every_kind_of_point(drawn, meters):
    tables, blocks, paytable = drawn
    low, middle, high = sorted(meters)
    curve, _ = check(tables, blocks, paytable, low, high, [middle])
    # Neighbouring ranges have each break point once, and the order of blocks does not matter.
    left, right = (reduce(add, (meter_lines(tables, block, paytable, *ends) for block in reversed(blocks)))
                   for ends in ((low, middle), (middle, high)))  # fmt: skip
    assert curve.breaks == {**left.breaks, **right.breaks}
    assert not left.breaks.keys() & right.breaks.keys()
    assert left.combinations + sum(left.breaks.values()) == right.combinations
    assert curve == Curve.zero(low, high) + curve == whole_curve(tables, paytable, low, high, rows=7)


@few
@given(small_meters())
def test_small_games_break_even_exactly(drawn):
    tables, blocks, paytable = drawn
    summary, segments = summarise_meter(tables, paytable, rows=9)
    assert summary.payback == certified(tables, blocks, paytable)[1].payback
    even = break_even(segments)
    assert even == summary.break_even
    if even is None:
        assert certified(tables, blocks, with_meter(paytable, Fraction(0)))[1].payback > 1
    else:
        assert certified(tables, blocks, with_meter(paytable, even))[1].payback == 1
        if even:
            assert certified(tables, blocks, with_meter(paytable, even - min(even, TINY)))[1].payback < 1
        assert (even <= paytable.pays[paytable.progressive.win]) == (summary.payback >= 1)


@pytest.fixture(scope="module")
def twelve():
    """Twelve cards in three outcomes; nothing is won in most of them."""
    classes = canonical_classes(Deck(("2", "3", "4"), ("c", "d", "h", "s")), ALL_FOUR)
    outcomes = np.minimum(np.arange(len(classes.weights)) // 5, 2).astype(np.uint8)
    tables = build_tables(classes, outcomes, 2)
    return tables, [hold_block(tables, 0, len(outcomes))]


def test_a_pay_on_the_deal_is_on_the_meter_only_if_it_is_the_same(twelve):
    tables, blocks = twelve
    plain = Paytable("", 1, (Fraction(3), Fraction(1), Fraction(0)))
    same = progressive(replace(plain, on_deal=(Fraction(3), Fraction(2), Fraction(0))), 0)
    fixed = progressive(replace(plain, on_deal=(Fraction(4), Fraction(2), Fraction(0))), 0)
    ends = Fraction(2), Fraction(9)
    _, with_deal = check(tables, blocks, same, *ends, [Fraction(3), Fraction(4)])
    _, without = check(tables, blocks, fixed, *ends, [Fraction(3), Fraction(4)])
    assert with_deal[-1].slope > without[-1].slope


def test_a_win_that_optimal_play_at_the_reset_never_meets(twelve):
    tables, blocks = twelve
    paytable = progressive(Paytable("", 1, (Fraction(0), Fraction(0), Fraction(1, 2))), 0)
    summary, segments = summarise_meter(tables, paytable, rows=100)
    assert (summary.payback, summary.slope, segments[0].combinations) == (Fraction(1, 2), 0, 0)
    assert certified(tables, blocks, with_meter(paytable, summary.break_even))[1].payback == 1
    nothing = progressive(Paytable("", 1, (Fraction(0),) * 3), 0)
    assert summarise_meter(tables, nothing, rows=100)[0].break_even > 1


def test_numbers_beyond_64_bits(twelve):
    tables, blocks = twelve
    small = progressive(Paytable("", 1, (Fraction(3), Fraction(5), Fraction(1, 7))), 0)
    large = progressive(replace(small, pays=tuple(pay * 10**25 for pay in small.pays)), 0)
    curve, segments = check(tables, blocks, small, Fraction(0), Fraction(40), [])
    assert len(segments) > 2
    scaled, _ = check(tables, blocks, large, Fraction(0), Fraction(40) * 10**25, [])
    assert {Fraction(*at): rise for at, rise in scaled.breaks.items()} == {
        Fraction(*at) * 10**25: rise for at, rise in curve.breaks.items()
    }
    odd = Fraction(10**30 + 1, 10**29 + 3)
    check(tables, blocks, small, odd, odd, [])
    check(tables, blocks, small, odd, 4 * odd, [])


def test_order_matters():
    rules = Rules(
        Deck(("2", "3", "4", "5", "6"), ("c", "d", "h")),
        (),
        (
            Win("in order", "same(C1F){2} & same(C2F){3} & same(C3F){4} & same(C4F){5} & same(C5F){6}"),
            Win("three alike", "some(a,b,c: same(aF,bF,cF))"),
            Win("two pair", "some(a,b,c,d: same(aF,bF) & same(cF,dF) & !same(aF,cF))"),
        ),
    )
    tables = solve(rules).tables
    assert tables.ordered is not None
    count = len(tables.outcomes)
    blocks = [hold_block(tables, 0, count // 2), hold_block(tables, count // 2, count)]
    assert all(block.arrangements is not None for block in blocks)
    paytable = progressive(Paytable("", 1, (Fraction(20), Fraction(1), Fraction(1, 4), Fraction(0))), 0)
    _, segments = check(tables, blocks, paytable, Fraction(10), Fraction(60), [Fraction(20)])
    assert len(segments) > 2
    summary, _ = summarise_meter(tables, paytable, rows=20)
    assert certified(tables, blocks, with_meter(paytable, summary.break_even))[1].payback == 1


def test_faults(twelve):
    tables, blocks = twelve
    plain = Paytable("flat", 1, (Fraction(3), Fraction(1), Fraction(0)))
    with pytest.raises(ValueError, match="no win of paytable 'flat' is paid a meter"):
        meter_lines(tables, blocks[0], plain, Fraction(0), Fraction(1))
    for low, high in ((-1, 1), (2, 1)):
        with pytest.raises(ValueError, match=f"from 0 upwards, found {low} to {high}"):
            meter_lines(tables, blocks[0], progressive(plain, 0), Fraction(low), Fraction(high))
    with pytest.raises(ValueError, match="do not add up"):
        Curve.zero(Fraction(0), Fraction(1)) + Curve.zero(Fraction(0), Fraction(2))
    with pytest.raises(ProofError, match="deals of the curve: 0, expected 792"):
        summarise_curve(Curve.zero(Fraction(0), Fraction(1)), tables.classes.deck, plain)
    segments = summarise_curve(
        whole_curve(tables, progressive(plain, 0), Fraction(1), Fraction(2), 99), tables.classes.deck, plain
    )
    with pytest.raises(ValueError, match="0 to 2 is not within 1 to 2"):
        part_of(segments, Fraction(0), Fraction(2))
    assert break_even([replace(segments[0], payback=Fraction(0), slope=Fraction(1, 9))]) is None
    assert break_even([replace(segments[0], payback=Fraction(3, 2))]) is None


# --- 9/6 jacks or better ----------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def tables():
    classes = canonical_classes(Deck(), ALL_FOUR)
    return build_tables(classes, jacks_or_better(classes.hands[5]), wins=9)


@pytest.fixture(scope="module")
def wide(tables):
    """The segments from 4,000 to 10,000 credits for five."""
    curve = whole_curve(tables, NINE_SIX_METER, Fraction(4000), Fraction(10_000), rows=16_384)
    return summarise_curve(curve, Deck(), NINE_SIX_METER)


def test_nine_six_break_even(tables, wide):
    summary, segments = summarise_meter(tables, NINE_SIX_METER, rows=16_384)
    assert summary.payback == Fraction(1653526326983, 1661102543100)
    assert summary.slope == Fraction(493512264, 5 * 19933230517200)
    assert summary.break_even == Fraction(5 * 45110169982, 46219759) == break_even(wide)
    assert f"{float(summary.break_even):.2f}" == "4879.97"
    assert segments == part_of(wide, segments[0].low, segments[-1].high)
    assert len(part_of(wide, Fraction(4000), summary.break_even)) == 43
    assert len(wide) == 159  # 158 break points between 800 and 2,000 per credit
    one_coin = replace(
        NINE_SIX_METER, coins=1, pays=tuple(pay / 5 for pay in NINE_SIX_METER.pays),
        progressive=Progressive(ROYAL, Fraction(800), Fraction(0)),
    )  # fmt: skip
    assert summarise_meter(tables, one_coin, rows=50_000)[0].break_even * 5 == summary.break_even


@pytest.mark.parametrize("meter", [4000, 4880, 5000, 10_000])
def test_nine_six_at_some_meters(tables, wide, meter):
    paytable = with_meter(NINE_SIX_METER, Fraction(meter))
    outcome, summary = certified(tables, [hold_block(tables, 0, len(tables.outcomes))], paytable)
    (here,) = part_of(wide, Fraction(meter), Fraction(meter))
    assert here.payback == summary.payback
    assert outcome.combinations_min[ROYAL] <= here.combinations
    if meter < 10_000:  # just above the meter the steepest of the optimal strategies is optimal
        assert outcome.combinations_max[ROYAL] == here.combinations


@pytest.mark.slow
def test_nine_six_at_all_break_points_and_between_them(tables, wide):
    """Convex, and right at both ends and in the middle of every segment: right everywhere."""
    blocks = [hold_block(tables, start, start + 16_384) for start in range(0, len(tables.outcomes), 16_384)]
    for segment in wide:
        for meter in (segment.low, (segment.low + segment.high) / 2):
            assert certified(tables, blocks, with_meter(NINE_SIX_METER, meter))[1].payback == segment.at(meter)
