"""Figures of a certificate from sums small enough to follow by hand."""

from dataclasses import replace
from fractions import Fraction

import pytest

from evaluator.cards import Deck
from evaluator.holds import cycle_factor
from evaluator.payback import Outcome
from evaluator.rules import Paytable
from evaluator.summary import CONFIDENCES, GAMES, LINES, summarise
from evaluator.symmetry import ProofError

DECK = Deck(faces=("2", "3", "4", "5", "6"), suits=("c", "d"))
CYCLE = DECK.hands * cycle_factor(DECK)  # 252 * 10
DOUBLE_OR_NOTHING = Paytable("double or nothing", 2, (Fraction(4), Fraction(0)))


def coin(wins: int, squared_means: int = 0) -> Outcome:
    """So many combinations of the cycle win four credits."""
    spread = (wins, CYCLE - wins)
    return Outcome(
        rows=1, deals=252, tied_deals=0, combinations=spread, combinations_min=spread, combinations_max=spread,
        deal_combinations=(100, 152), hits=wins, hits_min=wins, hits_max=wins, squares=16 * wins,
        squares_min=16 * wins, squares_max=16 * wins, squared_means=squared_means,
    )  # fmt: skip


def test_a_fair_coin():
    # All deals alike: L times the mean win of 2 credits, squared, for each of 252 deals.
    summary = summarise(coin(CYCLE // 2, 252 * (10 * 2) ** 2), DECK, DOUBLE_OR_NOTHING)
    assert (summary.payback, summary.variance, summary.house_edge) == (1, 1, 0)
    assert (summary.hit_frequency, summary.win_frequency, summary.push_frequency) == (Fraction(1, 2), Fraction(1, 2), 0)
    assert (summary.variance_between, summary.variance_within) == (0, 1)
    assert (summary.skewness, summary.excess_kurtosis) == ("0.000000000000", -2)
    assert summary.break_even_games is None
    assert summary.volatility == ((90, "1.645000000000"), (95, "1.960000000000"), (99, "2.576000000000"))
    assert [line.variance for line in summary.lines] == [Fraction(1, n) for n in LINES]
    assert summary.lines[1].standard_deviation == "0.447213595500"
    assert len(summary.bands) == len(CONFIDENCES) * len(GAMES)
    assert (summary.bands[1].low, summary.bands[1].high) == ("0.983550000000", "1.016450000000")
    assert [win.one_in for win in summary.wins] == [2, 2]
    assert [win.share for win in summary.wins] == [1, 0]


def test_a_rare_win():
    summary = summarise(coin(CYCLE // 10, 252 * (4 * 10) ** 2 // 10), DECK, DOUBLE_OR_NOTHING)
    p = Fraction(1, 10)
    assert (summary.payback, summary.variance) == (2 * p, 4 * p * (1 - p))
    assert (summary.variance_between, summary.variance_within) == (Fraction(9, 25), 0)  # known from the deal
    assert summary.skewness == "2.666666666667"  # (1 - 2p) / sqrt(p (1 - p))
    assert summary.excess_kurtosis == (1 - 6 * p * (1 - p)) / (p * (1 - p))
    assert summary.break_even_games == Fraction("1.96") ** 2 * Fraction(9, 25) / Fraction(16, 25)
    assert sum(win.variance_contribution for win in summary.wins) == summary.variance


def test_bands_do_not_fall_below_nothing():
    summary = summarise(coin(1), DECK, DOUBLE_OR_NOTHING)
    assert summary.bands[0].low == "0.000000000000"
    assert summary.bands[6].low > "0.0007"


def test_nothing_is_ever_paid():
    summary = summarise(coin(0), DECK, DOUBLE_OR_NOTHING)
    assert (summary.payback, summary.variance, summary.skewness, summary.excess_kurtosis) == (0, 0, None, None)
    assert (summary.wins[0].one_in, summary.wins[0].share) == (None, None)
    assert summary.break_even_games == 0


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"deals": 251}, "deals: 251, expected 252"),
        ({"deal_combinations": (100, 151)}, "deals of all outcomes: 251, expected 252"),
        ({"combinations": (1, 1)}, r"combinations: 2, expected 2520; combinations of line 0: 1 is not in 5 … 5"),
        ({"squares_max": 7}, "squares: 80 is not in 80 … 7"),
        ({"squares": 81, "squares_max": 81}, "do not add up"),
    ],
)
def test_sums_that_cannot_be_are_refused(change, message):
    with pytest.raises(ProofError, match=message):
        summarise(replace(coin(5), **change), DECK, DOUBLE_OR_NOTHING)


def outcome_of(*combinations, lines=None):
    """So many combinations of each line, the last of the draw nothing; deals and squares are left out of it."""
    per_line = combinations[:lines]
    return replace(
        coin(0), combinations=combinations, combinations_min=per_line, combinations_max=per_line,
        deal_combinations=(0,) * (len(combinations) - 1) + (252,),
    )  # fmt: skip


def summary_of(pays, combinations):
    pays = tuple(map(Fraction, pays))
    outcome = outcome_of(*combinations)
    squares = sum(n * int(pay) ** 2 for n, pay in zip(combinations, pays, strict=True))
    hits = sum(n for n, pay in zip(combinations, pays, strict=True) if pay)
    ranges = {"hits": hits, "hits_min": hits, "hits_max": hits}
    ranges |= {"squares": squares, "squares_min": squares, "squares_max": squares}
    return summarise(replace(outcome, **ranges), DECK, Paytable("some", 1, pays))


def test_the_highest_award_has_all_rows_that_pay_it():
    summary = summary_of([9, 2, 9, 0], [3, 1, 4, CYCLE - 8])
    assert (summary.top_award.wins, summary.top_award.pays, summary.top_award.combinations) == ((0, 2), 9, 7)
    assert (summary.top_award.probability, summary.top_award.one_in) == (Fraction(7, CYCLE), Fraction(CYCLE, 7))
    assert (summary.rarest_award.wins, summary.rarest_award.combinations) == ((1,), 1)


def test_an_award_that_never_comes():
    summary = summary_of([9, 2, 0], [0, 5, CYCLE - 5])
    assert (summary.top_award.wins, summary.top_award.one_in) == ((0,), None)
    assert summary.rarest_award.wins == (1,)
    assert summary_of([0, 0], [5, CYCLE - 5]).rarest_award is None
