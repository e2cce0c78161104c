"""Certified sums: published figures of 9/6 Jacks or Better, and small games by trying every hold."""

from dataclasses import replace
from fractions import Fraction
from functools import reduce
from itertools import pairwise
from operator import add, mul

import numpy as np
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from evaluator.cards import Deck
from evaluator.holds import TIE_BREAKS, build_tables, hold_block
from evaluator.payback import Outcome, certify_rows
from evaluator.rules import Paytable
from evaluator.summary import summarise
from evaluator.symmetry import ProofError, canonical_classes
from tests.evaluator.plain_classifier import NINE_SIX, jacks_or_better
from tests.evaluator.small_games import ALL_FOUR, SmallGame, random_outcomes, small_games
from tests.reference import draws

# Shrinking would repeat whole enumerations for minutes.
few = settings(max_examples=6, deadline=None, phases=(Phase.explicit, Phase.reuse, Phase.generate))
NINE_SIX_TABLE = Paytable("9/6", 5, tuple(map(Fraction, NINE_SIX)))
COMBINATIONS = (
    493512264, 2178883296, 47093167764, 229475482596, 219554786160, 223837565784,
    1484003070324, 2576946164148, 4277372890968, 10872274993896,
)  # fmt: skip


@pytest.fixture(scope="module")
def tables():
    classes = canonical_classes(Deck(), ALL_FOUR)
    return build_tables(classes, jacks_or_better(classes.hands[5]), wins=9)


@pytest.fixture(scope="module")
def blocks(tables):
    edges = [0, 1, 5000, 40_000, 100_000, 134_459]
    return [hold_block(tables, start, stop) for start, stop in pairwise(edges)]


@pytest.fixture(scope="module")
def total(tables, blocks):
    return reduce(add, (certify_rows(tables, block, NINE_SIX_TABLE)[0] for block in blocks))


def test_jacks_or_better(total):
    summary = summarise(total, Deck(), NINE_SIX_TABLE)
    assert (total.rows, total.deals, total.tied_deals) == (134_459, 2_598_960, 876)
    assert total.combinations == COMBINATIONS
    assert summary.cycle == sum(COMBINATIONS) == 19_933_230_517_200
    assert summary.payback == Fraction(1653526326983, 1661102543100) == 1 - summary.house_edge
    assert summary.standard_deviation == "4.417541898736"
    assert [text[:6] for _, text in summary.volatility] == ["7.2668", "8.6583", "11.379"]
    bands = [(band.low[:6], band.high[:6]) for band in summary.bands if band.confidence == 90]
    assert bands[:3] == [("0.7656", "1.2252"), ("0.9227", "1.0681"), ("0.9724", "1.0184")]
    assert f"{float(summary.variance):.6f}" == "19.514676"
    # Break even where R + 1.96 sigma / sqrt(n) is 1.
    assert Fraction("1.96") ** 2 * summary.variance / summary.break_even_games == summary.house_edge**2
    assert sum(win.share for win in summary.wins) == 1
    assert summary.push_frequency == summary.wins[8].probability
    assert summary.win_frequency + summary.push_frequency == summary.hit_frequency == 1 - summary.wins[9].probability
    assert summary.lines[0].variance == summary.variance_between + summary.variance_within / 3
    assert summary.variance == summary.variance_between + summary.variance_within


def test_pays_of_any_size_and_denominator_give_the_same_play(tables, blocks, total):
    pays = [Fraction(pay, 7) for pay in NINE_SIX]
    huge = [Fraction(pay * 10**25) for pay in NINE_SIX]
    for scaled in (Paytable("sevenths", 5, tuple(pays)), Paytable("huge", 5, tuple(huge))):
        for block in blocks[:3]:
            outcome, strategy = certify_rows(tables, block, scaled, all_holds=True)
            base, played = certify_rows(tables, block, NINE_SIX_TABLE, all_holds=True)
            assert (strategy.hold == played.hold).all()
            assert (strategy.optimal_holds == played.optimal_holds).all()
            assert outcome.combinations == base.combinations
            factor = scaled.units[0] // NINE_SIX[0] if scaled.scale == 1 else 1
            assert outcome.squares == base.squares * factor**2
            assert outcome.squared_means == base.squared_means * factor**2
            assert (strategy.ev_numerator == played.ev_numerator.astype(object) * factor).all()
            assert (strategy.numerators == played.numerators.astype(object) * factor).all()
            ratio = strategy.ev * scaled.scale / factor
            assert np.allclose(ratio, played.ev)


def test_no_sum_wraps_where_only_some_of_them_need_python_integers(tables, blocks):
    # Everything pays the same: all holds are tied; values fit 64 bits, their squares times L do not.
    flat = Paytable("flat", 1, (Fraction(2 * 10**9),) * 10)
    outcome, strategy = certify_rows(tables, blocks[1], flat)
    expected = outcome.deals * tables.cycle_factor * (2 * 10**9) ** 2
    assert (outcome.squares_min, outcome.squares, outcome.squares_max) == (expected,) * 3
    assert outcome.squared_means == outcome.deals * (tables.cycle_factor * 2 * 10**9) ** 2
    assert strategy.ev_numerator.dtype == np.int64
    # The numerators are small, their denominator is not.
    tiny = Paytable("tiny", 5, tuple(Fraction(pay, 3**50) for pay in NINE_SIX))
    played = certify_rows(tables, blocks[1], NINE_SIX_TABLE)[1]
    strategy = certify_rows(tables, blocks[1], tiny)[1]
    assert np.allclose(strategy.ev * 3**50, played.ev, rtol=1e-12)


def test_cycles_beyond_64_bits():
    deck = Deck(decks=8, jokers=4)
    classes = canonical_classes(deck, ALL_FOUR)
    pairs = (np.diff(classes.hands[5].astype(int) // 4, axis=1) == 0).sum(axis=1)
    large = build_tables(classes, (4 - pairs).astype(np.uint8), wins=4)
    assert (large.cycle >= 2**63, large.counts[0].dtype) == (True, np.int64)
    paytable = Paytable("pairs", 1, tuple(Fraction(n) for n in (50, 10, 3, 1, 0)))
    outcome, strategy = certify_rows(large, hold_block(large, 0, 2000), paytable)
    assert sum(outcome.combinations) == outcome.deals * large.cycle_factor
    weights, numbers = classes.weights[:2000].tolist(), strategy.ev_numerator.tolist()
    means = [w * Fraction(n, d) for w, n, d in zip(weights, numbers, strategy.draws.tolist(), strict=True)]
    won = sum(map(mul, outcome.combinations, paytable.units))
    assert won == sum(means) * large.cycle_factor


def test_strategy_columns_agree(tables, blocks):
    _, strategy = certify_rows(tables, blocks[2], NINE_SIX_TABLE, all_holds=True)
    lines = np.arange(len(strategy.hold))
    assert (strategy.counts.sum(axis=1) == strategy.draws).all()
    assert (strategy.counts @ np.array(NINE_SIX) == strategy.ev_numerator).all()
    assert (strategy.numerators[strategy.hold, lines] == strategy.ev_numerator).all()
    assert (strategy.ev == strategy.ev_numerator / (strategy.draws * 5)).all()
    assert (strategy.optimal_holds >> strategy.hold & 1).all()
    assert certify_rows(tables, blocks[2], NINE_SIX_TABLE)[1].numerators is None


def figures_by_hand(game: SmallGame, outcome_of, units, deal):
    """For each hold of different cards, by its lowest mask: probability of each outcome, of a hit, mean squared win."""
    figures: dict[int, list[Fraction]] = {}
    seen = set()
    for mask in range(32):
        kept = tuple(card for i, card in enumerate(deal) if mask >> i & 1)
        if kept in seen:
            continue
        seen.add(kept)
        counts = [0] * len(units)
        for hand, ways in draws(game.cards, deal, mask):
            counts[outcome_of[hand]] += ways
        hits = sum(n for n, unit in zip(counts, units, strict=True) if unit > 0)
        squares = sum(n * unit**2 for n, unit in zip(counts, units, strict=True))
        figures[mask] = [Fraction(n, sum(counts)) for n in (*counts, hits, squares)]
    return figures


def check_rule(rule, table, paytable, parts, figures_of, weights):
    """Compare an `Outcome` and its `Strategy` with the choice made from the figures of every deal."""
    results = [certify_rows(table, part, paytable, rule) for part in parts]
    got = reduce(add, (outcome for outcome, _ in results), Outcome.zero(len(paytable.units)))
    low, high, chosen = ([Fraction(0)] * (len(paytable.units) + 2) for _ in range(3))
    tied, means, plays = 0, Fraction(0), []
    sign = {"lowest-mask": 0, "least-variance": 1, "most-variance": -1}[rule]
    for deal, figures in figures_of.items():
        value = {mask: sum(map(mul, f, paytable.units)) for mask, f in figures.items()}
        best = [mask for mask in figures if value[mask] == max(value.values())]
        hold = min((sign * figures[mask][-1], mask) for mask in best)[1]
        plays.append((hold, sum(1 << mask for mask in best)))
        tied += weights[deal] if len(best) > 1 else 0
        means += weights[deal] * value[hold] ** 2
        for i in range(len(low)):
            low[i] += weights[deal] * min(figures[mask][i] for mask in best)
            high[i] += weights[deal] * max(figures[mask][i] for mask in best)
            chosen[i] += weights[deal] * figures[hold][i]
    factor = table.cycle_factor
    assert [*got.combinations_min, got.hits_min, got.squares_min] == [x * factor for x in low]
    assert [*got.combinations, got.hits, got.squares] == [x * factor for x in chosen]
    assert [*got.combinations_max, got.hits_max, got.squares_max] == [x * factor for x in high]
    assert (got.deals, got.tied_deals, got.squared_means) == (sum(weights.values()), tied, means * factor**2)
    holds = np.concatenate([strategy.hold for _, strategy in results]).tolist()
    optimal = np.concatenate([strategy.optimal_holds for _, strategy in results]).tolist()
    assert plays == list(zip(holds, optimal, strict=True))
    return got


@few
@given(small_games(most_cards=11), st.lists(st.integers(0, 3), min_size=2, max_size=4), st.integers(0, 2**32))
def test_small_games_by_trying_every_hold(game, pays, seed):
    wins = len(pays) - 1
    classes, outcomes, outcome_of = random_outcomes(game, wins, seed)
    table = build_tables(classes, outcomes, wins)
    paytable = Paytable("random", 2, tuple(Fraction(pay, 3) for pay in pays))
    cut = len(outcomes) // 3
    parts = [hold_block(table, 0, cut), hold_block(table, cut, len(outcomes))]
    deals = map(tuple, classes.hands[5].tolist())
    figures_of = {deal: figures_by_hand(game, outcome_of, paytable.units, deal) for deal in deals}
    weights = game.classes_of(5)
    payback = set()
    for rule in TIE_BREAKS:
        total = check_rule(rule, table, paytable, parts, figures_of, weights)
        summary = summarise(total, game.deck, paytable)
        assert summary.variance_range[0] <= summary.variance <= summary.variance_range[1]
        assert min(summary.variance_between, summary.variance_within) >= 0
        payback.add(summary.payback)
        plain, large = (
            reduce(add, (certify_rows(table, part, Paytable("", 1, scaled), rule)[0] for part in parts))
            for scaled in (tuple(map(Fraction, pays)), tuple(Fraction(pay * 10**9) for pay in pays))
        )
        assert large.combinations == plain.combinations
        for name in ("squares", "squares_min", "squares_max"):  # each square fits 64 bits, L times it does not
            assert getattr(large, name) == getattr(plain, name) * 10**18
    assert len(payback) == 1


def test_a_game_that_pays_nothing(tables, blocks):
    free = Paytable("nothing", 1, (Fraction(0),) * 10)
    outcome, strategy = certify_rows(tables, blocks[1], free)
    assert (strategy.hold == 0).all()
    assert (strategy.optimal_holds == 2**32 - 1).all()
    assert outcome.tied_deals == outcome.deals
    assert (outcome.hits_max, outcome.squares_max) == (0, 0)
    assert outcome.combinations_min[9] < outcome.combinations[9] < outcome.combinations_max[9]


def test_outcomes_add_up(tables, blocks, total):
    whole, _ = certify_rows(tables, hold_block(tables, 0, 134_459), NINE_SIX_TABLE)
    assert whole == total == Outcome.zero(10) + total
    empty, _ = certify_rows(tables, hold_block(tables, 3, 3), NINE_SIX_TABLE)
    assert empty == Outcome.zero(10)
    with pytest.raises(ValueError, match="zip"):
        Outcome.zero(2) + Outcome.zero(3)


def test_sums_that_disagree_are_shown(tables, blocks, total):
    with pytest.raises(ProofError, match="deals: 2598959, expected 2598960"):
        summarise(replace(total, deals=total.deals - 1), Deck(), NINE_SIX_TABLE)
    with pytest.raises(ProofError, match="combinations: 19933230517199, expected 19933230517200"):
        summarise(replace(total, combinations=(total.combinations[0] - 1, *COMBINATIONS[1:])), Deck(), NINE_SIX_TABLE)
    with pytest.raises(ProofError, match="hits: 9060955523304 is not in 9060955523305"):
        summarise(replace(total, hits_min=total.hits + 1), Deck(), NINE_SIX_TABLE)
    block = replace(blocks[1], counts=blocks[1].counts[..., ::-1])
    with pytest.raises(ProofError, match=r"canonical hands 1 to 5000: .* expected"):
        certify_rows(tables, block, NINE_SIX_TABLE)
    with pytest.raises(ValueError, match="tie rule 'coin' is none of"):
        certify_rows(tables, blocks[0], NINE_SIX_TABLE, "coin")
