"""Pays on the deal, bonuses beside the draw, pays for nothing, fractions and coin levels, by trying everything."""

from dataclasses import replace
from fractions import Fraction
from functools import reduce
from operator import add
from random import Random

import numpy as np
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from evaluator.cards import Deck
from evaluator.holds import TIE_BREAKS, build_tables, hold_block
from evaluator.payback import Outcome, certify_rows
from evaluator.rules import Paytable
from evaluator.summary import summarise
from tests.evaluator.plain_play import MASKS, PLACES, Table, random_paytable
from tests.evaluator.small_games import SmallGame, random_outcomes
from tests.reference import hold_counts

GAMES = (
    SmallGame(Deck(("2", "3", "4", "5", "6"), ("c", "d")), ((0, 1),)),
    SmallGame(Deck(("2", "3", "4"), ("c", "d", "h"), jokers=1, extra=("4*",)), ((0, 1, 2),)),
    SmallGame(Deck(("2", "3"), ("c", "d"), decks=2, jokers=2), ((0, 1),)),
    SmallGame(Deck(("2", "3", "4"), ("c",), decks=4), ((0,),)),
)

many = settings(max_examples=30, deadline=None, phases=(Phase.explicit, Phase.reuse, Phase.generate))


class Small:
    """A small game with a random win and a random bonus for each class of hands."""

    def __init__(self, game, wins, bonuses, seed):
        self.game, self.bonuses = game, bonuses
        self.classes, outcomes, outcome_of = random_outcomes(game, wins, seed)
        rng = Random(seed + 1)
        self.bonus = np.array([rng.choice([rng.randint(0, bonuses), bonuses]) for _ in outcomes], np.uint8)
        self.tables = build_tables(self.classes, outcomes, wins, self.bonus if bonuses else None)
        deals = [tuple(hand) for hand in self.classes.hands[5].tolist()]
        self.counts = np.zeros((32, len(deals), wins + 1), int)
        self.distinct = np.zeros((32, len(deals)), bool)
        for row, deal in enumerate(deals):
            seen = set()
            for mask, counted in enumerate(hold_counts(game.cards, outcome_of.__getitem__, deal)):
                self.counts[mask, row] = [counted[i] for i in range(wins + 1)]
                kept = tuple(deal[i] for i in PLACES[mask])
                self.distinct[mask, row] = kept not in seen
                seen.add(kept)
        self.dealt = outcomes.astype(int)

    def certify(self, paytable, rule):
        """The sums over two blocks, and the holds that are played."""
        rows = len(self.dealt)
        parts = [hold_block(self.tables, 0, rows // 3), hold_block(self.tables, rows // 3, rows)]
        results = [certify_rows(self.tables, part, paytable, rule, all_holds=True) for part in parts]
        got = reduce(add, (outcome for outcome, _ in results), Outcome.none_of(paytable))
        return got, [strategy for _, strategy in results]

    def table(self, paytable):
        """The same by trying everything."""
        bonus = self.bonus.astype(int) if self.bonuses else np.zeros(len(self.dealt), int)
        return Table(self.counts, self.classes.weights, self.dealt, bonus, paytable, self.distinct)


def check(game, seed):
    rng = Random(seed)
    wins, bonuses = rng.randint(1, 3), rng.choice([0, 1, 2])
    small = Small(game, wins, bonuses, seed)
    for rule in TIE_BREAKS:
        paytable = random_paytable(rng, wins, bonuses)
        got, strategies = small.certify(paytable, rule)
        hold = np.concatenate([strategy.hold for strategy in strategies])
        expected = small.table(paytable)
        expected.check(got, hold, game.deck)
        optimal = np.concatenate([strategy.optimal_holds for strategy in strategies])
        assert all(((optimal >> np.uint32(mask) & 1) == expected.optimal[mask]).all() for mask in MASKS)
        check_strategy(expected, strategies, paytable)


def check_strategy(expected, strategies, paytable):
    """What the rows of a strategy say is won by the draw alone, without a bonus of the deal."""
    start = 0
    for strategy in strategies:
        for mask in MASKS:
            for row in range(len(strategy.hold)):
                pays = paytable.on_deal if mask == 31 and paytable.on_deal else paytable.pays
                counts = expected.counts[mask, start + row].tolist()
                won = sum(number * pay for number, pay in zip(counts, pays, strict=True))
                assert strategy.numerators[mask, row] == won * paytable.scale
                if mask == strategy.hold[row]:
                    assert strategy.ev_numerator[row] == won * paytable.scale
                    assert strategy.ev[row] == pytest.approx(float(won / sum(counts) / paytable.coins), rel=1e-15)
        start += len(strategy.hold)


@pytest.mark.parametrize("game", GAMES, ids=["one deck", "joker and odd card", "two decks", "four decks"])
def test_random_pays_by_trying_everything(game):
    for seed in range(2):
        check(game, seed)


@pytest.mark.slow
@many
@given(st.sampled_from(GAMES), st.integers(0, 2**32))
def test_more_random_pays_by_trying_everything(game, seed):
    check(game, seed)


@pytest.fixture(scope="module")
def small():
    return Small(GAMES[0], 2, 1, 5)


def certified(small, **changes):
    plain = Paytable("plain", 1, (Fraction(10), Fraction(2), Fraction(0)), None, (Fraction(0), Fraction(0)))
    paytable = replace(plain, **changes)
    return summarise(small.certify(paytable, "lowest-mask")[0], small.game.deck, paytable)


def test_a_bonus_changes_no_hold_and_adds_its_mean(small):
    plain, paid = certified(small), certified(small, bonuses=(Fraction(7, 2), Fraction(0)))
    share = Fraction(int(small.classes.weights[small.bonus == 0].sum()), small.game.deck.hands)
    assert 0 < share < 1
    assert paid.payback == plain.payback + share * Fraction(7, 2)
    assert [win.combinations for win in paid.wins] == [win.combinations for win in plain.wins]
    assert paid.wins[-1].on == "bonus"
    assert paid.wins[-1].probability == share
    assert all(win.variance_contribution is None for win in paid.wins)  # of a sum of two, it has no share of its own
    assert paid.variance_within == plain.variance_within
    assert paid.hit_frequency > plain.hit_frequency


def test_a_bonus_for_every_deal_is_a_pay_for_all(small):
    flat = Small(GAMES[0], 2, 1, 5)
    flat.bonus[:] = 0
    flat.tables = replace(flat.tables, bonuses=flat.bonus)
    paid, plain = certified(flat, bonuses=(Fraction(1), Fraction(0))), certified(small)
    assert paid.payback == plain.payback + 1
    assert paid.variance == plain.variance
    assert paid.hit_frequency == 1
    assert paid.push_frequency == plain.wins[2].probability


def test_a_pay_for_nothing_is_a_pay(small):
    lifted = certified(small, pays=(Fraction(11), Fraction(3), Fraction(1)))
    plain = certified(small)
    assert lifted.payback == plain.payback + 1
    assert lifted.variance == plain.variance
    assert (lifted.hit_frequency, lifted.push_frequency) == (1, lifted.wins[2].probability)
    assert [win.combinations for win in lifted.wins] == [win.combinations for win in plain.wins]


def test_the_same_pay_on_the_deal_only_splits_rows(small):
    plain = certified(small)
    split = certified(small, on_deal=(Fraction(10), Fraction(2), Fraction(0)))
    assert [win.on for win in split.wins] == ["draw"] * 3 + ["deal"] * 3 + ["bonus"]
    assert (split.payback, split.variance, split.tied_deals) == (plain.payback, plain.variance, plain.tied_deals)
    for drawn, dealt, both in zip(split.wins[:3], split.wins[3:6], plain.wins[:3], strict=True):
        assert drawn.combinations + dealt.combinations == both.combinations
        assert drawn.deal_combinations == dealt.deal_combinations == both.deal_combinations


def test_a_high_pay_on_the_deal_makes_players_stand(small):
    rich = certified(small, on_deal=(Fraction(1000), Fraction(1000), Fraction(0)))
    cycle = rich.cycle // rich.deals
    assert [win.combinations for win in rich.wins[3:5]] == [win.deal_combinations * cycle for win in rich.wins[3:5]]
    poor = certified(small, on_deal=(Fraction(0), Fraction(0), Fraction(0)))
    assert poor.payback < certified(small).payback < rich.payback


@pytest.mark.parametrize("coins", [1, 3, 7])
def test_pays_and_bet_times_the_same_number_change_nothing(small, coins):
    pays, bonus = (Fraction(10), Fraction(2), Fraction(1, 3)), (Fraction(2), Fraction(0))
    one = certified(small, pays=pays, bonuses=bonus)
    more = certified(small, coins=coins, pays=tuple(p * coins for p in pays), bonuses=tuple(p * coins for p in bonus))
    pays_apart = {"wins": (), "top_award": None, "rarest_award": None}
    assert replace(more, **pays_apart) == replace(one, **pays_apart)
    assert [replace(award, pays=award.pays / coins) for award in (more.top_award, more.rarest_award)] == [
        one.top_award, one.rarest_award,
    ]  # fmt: skip
    assert [win.pays / coins for win in more.wins] == [win.pays for win in one.wins]
